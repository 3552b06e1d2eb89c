"""Runs `berth top` and `berth forecast` on files. BERTH_BIN is the path of the program.

    BERTH_BIN=build/release/berth python3 test/e2e/top_test.py
"""

import datetime
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

import terminals
import tools
from harness import BERTH, environment, main

NAMED = {"f:spec": {"f:clusterIP": {}}}
DRAWN = {"f:spec": {"f:type": {}}}


def berth(*args, stdin="", **changes):
    return subprocess.run([BERTH, *args], input=stdin, capture_output=True, encoding="utf-8",
                          env=environment(**changes), timeout=60)


def on_a_terminal(columns, *args, **changes):
    """Returns what the program prints on a terminal of this width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([BERTH, *args], stdin=subprocess.DEVNULL, stdout=follower,
                               env=environment(**changes))
    os.close(follower)
    shown = terminals.read_all(leader).decode("utf-8").replace("\r\n", "\n")
    assert process.wait(timeout=60) == 0
    return shown


def days_ago(days):
    time = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def service(name, address, node_port=None, days=None, fields=None, namespace="shop"):
    metadata = {"namespace": namespace, "name": name}
    if days is not None:
        metadata["creationTimestamp"] = days_ago(days)
    if fields is not None:
        metadata["managedFields"] = [{"manager": "helm", "fieldsV1": fields}]
    port = {"port": 80, **({"nodePort": node_port} if node_port else {})}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata,
            "spec": {"type": "NodePort" if node_port else "ClusterIP", "clusterIP": address,
                     "clusterIPs": [address], "ports": [port]}}


def service_cidr(*cidrs):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
            "metadata": {"name": "kubernetes"}, "spec": {"cidrs": list(cidrs)}}


def a_list(*items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def growing():
    """Returns a cluster that takes five addresses a day of a /24."""
    items = [service_cidr("10.96.0.0/24"),
             service("kubernetes", "10.96.0.1", days=300, fields=NAMED, namespace="default")]
    items += [service(f"web-{i:03}", f"10.96.0.{20 + i}", days=i / 5, fields=DRAWN)
              for i in range(150)]
    return a_list(*items, service("edge", "10.96.0.18", 30080, days=200, fields=DRAWN))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content, name="cluster.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
        return path

    def good(self, *args, **more):
        done = berth(*args, **more)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def bad(self, *args, **more):
        """Returns the only line on standard error of a run that is refused."""
        done = berth(*args, **more)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.rstrip("\n")


class TopTest(Case):
    def test_a_list_from_a_pipe(self):
        shown = self.good("top", "-f", "-", stdin=growing())
        self.assertRegex(shown, r"^standard input   \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n"
                                r"152 Services: 151 ClusterIP, 1 NodePort\n")
        self.assertRegex(shown, r"  !  10\.96\.0\.0/24 +█+░+ +59\.8%.* 152/254 +1/16 +151/238 "
                                r".*\+5/day +20 d\n")
        self.assertRegex(shown, r"! +the dynamic band of 10\.96\.0\.0/24 is full in about 17 days")
        self.assertRegex(shown, r"(?m)^  shop +151 +1 +151$")
        self.assertIn("30000-32767 is assumed, as Kubernetes' default", shown)
        self.assertIn("lower bound", shown)

    def test_yaml_documents_of_several_files(self):
        yaml = "\n---\n".join(json.dumps(each) for each in json.loads(growing())["items"][:40])
        first = self.file("# a comment\n" + yaml, "a.yaml")
        second = self.file(a_list(service("b", "10.96.0.250")), "b.json")
        shown = self.good("top", "-f", first, "-f", second)
        self.assertIn(f"{first}, {second}", shown)
        self.assertIn("40 Services", shown)

    def test_documents_for_scripts(self):
        path = self.file(growing())
        document = json.loads(self.good("top", "-f", path, "-o", "json"))
        self.assertEqual(document["kind"], "Top")
        self.assertEqual(document["serviceCount"], 152)
        top = document["ranges"][0]
        self.assertEqual((top["range"], top["name"], top["pool"], top["exact"]),
                         ("10.96.0.0/24", "kubernetes", "IPv4", True))
        self.assertEqual((top["taken"], top["free"], top["spill"]), (152, 102, 0))
        self.assertAlmostEqual(top["growth"]["perDay"], 5, delta=0.1)
        self.assertLess(top["growth"]["perDayLow"], 5)
        self.assertAlmostEqual(top["full"]["likely"]["days"], 102 / 5, delta=1)
        self.assertEqual({each["kind"] for each in document["attention"]},
                         {"FullSoon", "AssumedRange", "Spill"})
        yaml = self.good("top", "-f", path, "-o", "yaml")
        self.assertIn("kind: Top\n", yaml)
        # Every key is there, however little is known.
        little = json.loads(self.good("top", "-f", "-", "-o", "json",
                                      stdin=json.dumps(service_cidr("fd00::/64"))))
        self.assertEqual(little.keys(), document.keys())
        self.assertEqual(little["ranges"][0].keys(), top.keys())
        self.assertEqual(little["ranges"][0]["freeText"], str(2**64 - 1))

    def test_wide_has_all_columns(self):
        shown = self.good("top", "-f", self.file(growing()), "-o", "wide")
        self.assertRegex(shown, r"COOLING +EXCLUDED +NO SERVICE +NAMED IN DYNAMIC +STATE +SOURCE\n")
        self.assertRegex(shown, r"open +ServiceCIDR kubernetes\n")

    def test_terminals_of_every_width(self):
        path = self.file(growing())
        for columns in (40, 80, 120):
            shown = on_a_terminal(columns, "top", "-f", path, NO_COLOR="1")
            self.assertNotIn("\x1b", shown)
            self.assertLessEqual(max(map(len, shown.splitlines())), columns)
            self.assertIn("10.96.0.0/24", shown)
            self.assertEqual("STATIC" in shown, columns >= 80)
        self.assertIn("\x1b[33m", on_a_terminal(80, "top", "-f", path, TERM="xterm"))

    def test_a_range_that_is_full_although_it_looks_empty(self):
        path = os.path.join(tools.ROOT, "docs/examples/full.yaml")
        shown = " ".join(self.good("top", "-f", path).split())
        self.assertIn("!! 10.61.0.0/28 is full although Services hold only 3 of its 14 values; "
                      "7 are reserved and 4 have a record but no Service", shown)
        self.assertIn("berth verify lists the records without a Service", shown)
        self.assertRegex(shown, r"!! 10\.61\.0\.0/28 █+ 100\.0%.* full")

    def test_gaps_are_told(self):
        shown = " ".join(self.good("top", "-f", "-", stdin=a_list(service("a", "10.96.0.1"))).split())
        for text in ("10.96.0.0/24 is assumed", "--service-cidr", "IPAddresses are not in the files",
                     "Managed fields are not shown", "Creation times are not shown"):
            self.assertIn(text, shown)
        shown = self.good("top", "-f", "-", "--service-cidr", "10.96.0.0/16", "--node-port-range",
                          "30000-31000", stdin=a_list(service("a", "10.96.0.1")))
        self.assertNotIn("assumed", shown)

    def test_errors(self):
        self.assertIn("/does/not/exist: No such file", self.bad("top", "-f", "/does/not/exist"))
        self.assertIn("standard input: not a complete JSON document",
                      self.bad("top", "-f", "-", stdin='{"items":[{'))
        self.assertIn("line 3 cannot be read", self.bad("top", "-f", "-", stdin="[\n\n{\"a\":tru}]"))
        self.assertIn("it holds no Service", self.bad("top", "-f", "-", stdin="{}"))
        self.assertIn("standard input: ", self.bad("top", "-f", "-", stdin="\0\x01"))
        self.assertIn("must be table, wide, json or yaml",
                      self.bad("top", "-f", "-", "-o", "xml", stdin="{}"))
        self.assertIn("--node-port-range", self.good("top", "--help"))

    def test_flags_of_a_cluster_beside_a_file(self):
        for command in (("top",), ("whois", "80"), ("verify",)):
            done = berth(*command, "-f", "-", "--context", "prod", stdin="{}")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("-f reads files, and --context belongs to a running cluster; leave one of "
                          "them out", done.stderr)

    def test_a_pipe_in_small_parts(self):
        """A list that arrives slowly is the same list."""
        with subprocess.Popen([BERTH, "top", "-f", "-", "-o", "json"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=environment()) as process:
            text = growing().encode()
            for at in range(0, len(text), 701):
                process.stdin.write(text[at:at + 701])
                process.stdin.flush()
            shown, _ = process.communicate(timeout=60)
        self.assertEqual(json.loads(shown)["serviceCount"], 152)


class ForecastTest(Case):
    def test_when_and_what_if(self):
        path = self.file(growing())
        shown = self.good("forecast", "-f", path, "--range", "kubernetes", "--add", "700/week",
                          "--resize", "10.96.0.0/20")
        self.assertRegex(shown, r"10\.96\.0\.0/24   152 of 254 used   █+░+   59\.8%\n"
                                r"  Growth        \+5/day \(.* to .*\), by creation times of the "
                                r"last 28 days\n"
                                r"  Dynamic full  in about 17 days, on 2")
        self.assertRegex(shown, r"With 700/week more\n  Growth        \+105/day .*\n"
                                r"  Dynamic full  in about 20 hours, on ")
        self.assertRegex(shown, r"As 10\.96\.0\.0/20, with 700/week more\n"
                                r"  Values        4,094 usable, 3,942 free, ")
        self.assertIn("In the way    no value in use lies outside", shown)
        self.assertNotIn("30000-32767", shown)
        self.assertIn("lower bound", shown)

    def test_values_in_the_way_of_a_smaller_range(self):
        document = json.loads(self.good("forecast", "-f", self.file(growing()), "-o", "json",
                                        "--resize", "10.96.0.0/27"))
        resized = document["ranges"][0]["resized"][0]
        self.assertEqual(resized["blockerCount"], 139)
        self.assertEqual(resized["firstBlockers"][0],
                         {"value": "10.96.0.31", "service": "shop/web-011"})
        self.assertIsNone(document["ranges"][0]["withAdded"])

    def test_narrow_terminals(self):
        shown = on_a_terminal(40, "forecast", "-f", self.file(growing()), "--add", "20/day")
        plain = re.sub(r"\x1b\[\d+m", "", shown)
        self.assertLessEqual(max(map(len, plain.splitlines())), 40)

    def test_errors(self):
        path = self.file(growing())
        self.assertIn('--add "fast": must be a number of values per day, week, month or year',
                      self.bad("forecast", "-f", path, "--add", "fast"))
        self.assertIn('--range "x": there is no such range; the ranges are 10.96.0.0/24, 30000-32767',
                      self.bad("forecast", "-f", path, "--range", "x"))
        self.assertIn("there is no IPv6 range", self.bad("forecast", "-f", path, "--resize", "fd00::/64"))
        self.assertIn('--resize "abc"', self.bad("forecast", "-f", path, "--resize", "abc"))


if __name__ == "__main__":
    main()
