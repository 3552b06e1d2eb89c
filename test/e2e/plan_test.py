"""Runs the real `berth` program and checks its output. BERTH_BIN is the path of the program.

    BERTH_BIN=build/release/berth python3 test/e2e/plan_test.py
"""

import json
import os
import pty
import random
import re
import signal
import subprocess
import tempfile
import unittest

import terminals
from harness import BERTH, environment, main

THREE = ["10.96.0.0/16", "fd00:10:96::/112", "30000-32767"]
INT64_MAX = 2**63 - 1


def berth(*args, stdin="", **changes):
    return subprocess.run([BERTH, *args], input=stdin, capture_output=True, encoding="utf-8",
                          env=environment(**changes), timeout=60)


def on_a_terminal(*args, **changes):
    """Returns what the program prints on a pseudo-terminal, and its exit status."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([BERTH, *args], stdin=subprocess.DEVNULL, stdout=follower,
                               env=environment(**changes))
    os.close(follower)
    output = terminals.read_all(leader)
    return output.decode("utf-8"), process.wait(timeout=60)


def service(name, ips, node_ports=(), kind="ClusterIP", **spec):
    ports = [{"port": 80, "protocol": p, "nodePort": n} for n in node_ports for p in ("TCP", "UDP")]
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "team", "name": name},
            "spec": {"type": kind, "clusterIP": ips[0] if ips else "", "clusterIPs": ips,
                     "ports": ports or [{"port": 80}], **spec}}


def export_of_a_thousand_services():
    """Returns an export as of `kubectl get svc -A -o json`, with everything that can be found in
    one."""
    rng = random.Random(1)
    hosts = rng.sample(range(257, 65535), 1000)
    ports = rng.sample(range(30086, 32768), 200)
    items = [service("kubernetes", ["10.96.0.1"]),
             service("dns", ["10.96.0.10", "fd00:10:96::a"]),
             service("headless", ["None"]),
             {"apiVersion": "v1", "kind": "Service",
              "metadata": {"namespace": "team", "name": "alias"},
              "spec": {"type": "ExternalName", "externalName": "example.org",
                       "ports": [{"port": 80, "nodePort": 30001}]}},
             service("copycat", ["10.96.0.10"]),
             service("stranger", ["10.97.0.1"]),
             service("broadcast", ["10.96.255.255"]),
             service("health", ["10.96.0.20"], [30000], "LoadBalancer", healthCheckNodePort=30002)]
    for i in range(1000 - len(items)):
        ips = [f"10.96.{hosts[i] >> 8}.{hosts[i] & 255}"]
        if i % 2:
            ips.append(f"fd00:10:96::{hosts[i]:x}")
        nodes = [ports[i // 5]] if i % 5 == 0 else []
        items.append(service(f"app-{i:03}", ips, nodes, "NodePort" if nodes else "ClusterIP"))
    assert len(items) == 1000
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content, name="used"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(content)
        return path

    def good(self, *args, **more):
        done = berth(*args, **more)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def bad(self, *args, **more):
        """Returns the only line on standard error of a run with bad arguments."""
        done = berth(*args, **more)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.rstrip("\n")

    def document(self, *args, **more):
        return json.loads(self.good("plan", *args, "-o", "json", **more))


class TableTest(Case):
    def test_three_ranges(self):
        out = self.good("plan", *THREE)
        for line in ("10.96.0.0/16   IPv4 addresses",
                     "  Size       65,536",
                     "  Usable     65,534",
                     "  Static     10.96.0.1 – 10.96.1.0          256",
                     "  Dynamic    10.96.1.1 – 10.96.255.254   65,278",
                     "  First      10.96.0.1    static band; by convention the kubernetes Service",
                     "  Tenth      10.96.0.10   static band; by convention cluster DNS",
                     "             10.96.255.255   broadcast address",
                     "fd00:10:96::/112   IPv6 addresses",
                     "  Static     fd00:10:96::1 – fd00:10:96::100         256",
                     "  Dynamic    fd00:10:96::101 – fd00:10:96::ffff   65,279",
                     "30000-32767   node ports",
                     "  Static     30000 – 30085      86",
                     "  Dynamic    30086 – 32767   2,682"):
            self.assertIn(line, out.splitlines())
        self.assertIn("Safe to hard-code: 10.96.0.1 to 10.96.1.0;", out)

    def test_bars_are_to_scale(self):
        bars = [line.strip() for line in self.good("plan", *THREE).splitlines() if "░" in line]
        self.assertEqual([(bar.count("█"), bar.count("░")) for bar in bars],
                         [(1, 87), (1, 87), (3, 85)])

    def test_lines_fit_a_hundred_columns(self):
        used = self.file(export_of_a_thousand_services())
        out = self.good("plan", *THREE, "2001:db8::/48", "::/0", "10.0.0.0/31", "--used", used)
        self.assertLessEqual(max(map(len, out.splitlines())), 100)
        self.assertNotRegex(out, r"(?m) +$")

    def test_nothing_usable_is_no_error(self):
        out = self.good("plan", "10.0.0.0/31")
        self.assertIn("Nothing in 10.0.0.0/31 can be allocated", out)
        self.assertIn("network address", out)
        self.assertIn("broadcast address", out)

    def test_huge_ranges_have_a_power_of_two(self):
        out = self.good("plan", "2001:db8::/48")
        self.assertIn("1,208,925,819,614,629,174,706,176 (2^80)", out)
        self.assertIn("2001:db8::1 – 2001:db8::100   256", out)

    def test_small_ranges_have_no_static_band(self):
        out = self.good("plan", "30000-30015")
        self.assertIn("none: the range has 16 values or fewer", out)
        self.assertRegex(out, r"none\s+is safe to hard-code without reserving it")

    def test_repeated_and_overlapping_ranges(self):
        out = self.good("plan", "10.0.0.0/8", "10.0.0.0/8", "10.1.0.0/16")
        self.assertEqual(out.count("IPv4 addresses"), 3)

    def test_static_band(self):
        self.assertIn("30000 – 30999   1,000",
                      self.good("plan", "30000-32767", "--static-band", "1000"))
        self.assertIn("none: --static-band 0 was given",
                      self.good("plan", "30000-32767", "--static-band", "0"))

    def test_ascii_without_a_utf8_locale(self):
        for changes in ({"LANG": "C"}, {"LANG": ""}, {"LC_ALL": "POSIX"}, {"LC_CTYPE": "C"}):
            with self.subTest(changes):
                out = self.good("plan", "30000-32767", **changes)
                self.assertTrue(out.isascii())
                self.assertIn("###...", out)
        for changes in ({"LC_ALL": "en_US.utf8", "LANG": "C"},
                        {"LC_CTYPE": "C.UTF-8", "LANG": "C"}):
            with self.subTest(changes):
                self.assertIn("███░░░", self.good("plan", "30000-32767", **changes))


class UsedTest(Case):
    def test_a_thousand_services(self):
        used = self.file(export_of_a_thousand_services())
        out = self.good("plan", *THREE, "--used", used)
        self.assertRegex(out, r"  BAND +TOTAL +USED +FREE +FULL\n  static +256 +3 +253 +1\.2% +█")
        self.assertIn("    10.96.0.10   team/dns, team/copycat\n", out)
        self.assertRegex(out, r"Used twice\n    10\.96\.0\.10   team/dns, team/copycat\n")
        self.assertIn("and 987 more; -o json lists all", out)
        self.assertIn("    30000   team/health\n    30002   team/health\n", out)
        self.assertNotIn("30001   team", out)
        self.assertIn("  10.96.255.255   10.96.0.0/16: broadcast address   team/broadcast\n", out)
        self.assertIn("  10.97.0.1       in none of the ranges             team/stranger\n", out)
        self.assertIn("1,000 Services with 1,695 values in use;", " ".join(out.split()))
        self.assertIn("1 used twice, 2 outside the ranges.", " ".join(out.split()))

    def test_a_thousand_services_as_json(self):
        used = self.file(export_of_a_thousand_services())
        document = self.document(*THREE, "--used", used)
        v4, v6, ports = (entry["usage"] for entry in document["ranges"])
        self.assertEqual(v4["staticBand"]["used"], 3)
        self.assertEqual(v4["dynamicBand"]["used"], 992)
        self.assertEqual(len(v4["dynamicBand"]["values"]), 992)
        self.assertEqual(v6["dynamicBand"]["used"], 496)
        self.assertEqual(ports["dynamicBand"]["used"], 199)
        self.assertEqual(v4["usedTwice"], [{"value": "10.96.0.10", "uses": [
            {"owner": "team/dns", "line": None}, {"owner": "team/copycat", "line": None}]}])
        for usage in (v4, v6, ports):
            for band in (usage["staticBand"], usage["dynamicBand"]):
                self.assertEqual(band["used"] + band["free"], band["size"])
                self.assertEqual(sum(run["size"] for run in band["freeRuns"]), band["free"])
        self.assertEqual([each["value"] for each in document["used"]["outside"]],
                         ["10.96.255.255", "10.97.0.1"])
        self.assertEqual(document["used"]["serviceCount"], 1000)
        self.assertEqual(document["used"]["source"], used)

    def test_a_list(self):
        used = self.file("# ours\r\n\r\n10.96.0.10 kube-system/kube-dns\r\n30080\tweb\n30080\n")
        out = self.good("plan", "10.96.0.0/16", "--used", used)
        self.assertIn("    10.96.0.10   kube-system/kube-dns\n", out)
        self.assertIn("1 node port in the file was not checked: no port range was given.\n", out)
        out = self.good("plan", "30000-32767", "--used", used)
        self.assertIn("    30080   web (line 4), line 5\n", out)
        self.assertIn("1 IPv4 address in the file was not checked: no IPv4 range was given.\n", out)

    def test_standard_input(self):
        out = self.good("plan", "30000-32767", "--used", "-", stdin="30001 a\n")
        self.assertIn("    30001   a\n", out)
        self.assertIn("standard input: a list with 1 value in use; none used twice, none outside the",
                      out)
        out = self.good("plan", *THREE, "--used", "-", stdin=export_of_a_thousand_services())
        self.assertIn("1,000 Services", out)

    def test_an_empty_file(self):
        self.assertIn("a list with 0 values in use.\n",
                      self.good("plan", "30000-32767", "--used", self.file("")))

    def test_bad_files(self):
        rows = [("10.0.0.1\n10.0.0.999\n", 'line 2: "10.0.0.999": must be a valid IP address'),
                ("70000", "line 1"),
                ("apiVersion: v1\nkind: List\n", "-o json"),
                ("{", "invalid JSON"),
                ('{"kind":"PodList"}', "PodList"),
                (json.dumps([service("x", [5])]),
                 "Service team/x: spec.clusterIPs[0]: must be a string, not a number"),
                (json.dumps([service("x", ["nonsense"])]), "Service team/x: spec.clusterIPs[0]"),
                (json.dumps([service("x", [], ["30000"])]), "spec.ports[0].nodePort"),
                ("[" * 100_000, "invalid JSON")]
        for content, wanted in rows:
            with self.subTest(content[:40]):
                path = self.file(content)
                message = self.bad("plan", "10.0.0.0/8", "--used", path)
                self.assertTrue(message.startswith(f'berth plan: --used: "{path}": '), message)
                self.assertIn(wanted, message)

    def test_files_that_cannot_be_read(self):
        self.assertIn('cannot read "/does/not/exist": No such file',
                      self.bad("plan", "80", "--used", "/does/not/exist"))
        self.assertIn("Is a directory", self.bad("plan", "80", "--used", self.folder))

    def test_files_that_are_too_large(self):
        path = self.file("")
        os.truncate(path, 256 * 1024 * 1024 + 1)
        self.assertIn("larger than 256 MiB", self.bad("plan", "80", "--used", path))


class DocumentTest(Case):
    def test_json(self):
        document = self.document(*THREE)
        self.assertEqual(list(document), ["ranges", "used"])
        self.assertIsNone(document["used"])
        v4, v6, ports = document["ranges"]
        self.assertEqual(list(v4), ["range", "kind", "first", "last", "size", "sizeText", "usable",
                                    "usableText", "staticBand", "dynamicBand", "firstAddress",
                                    "tenthAddress", "unusable", "advice", "usage"])
        self.assertEqual(v4["staticBand"], {"first": "10.96.0.1", "last": "10.96.1.0", "size": 256,
                                            "sizeText": "256", "emptyReason": None})
        self.assertEqual(v4["dynamicBand"]["last"], "10.96.255.254")
        self.assertEqual(v6["staticBand"]["last"], "fd00:10:96::100")
        self.assertEqual(v6["dynamicBand"]["last"], "fd00:10:96::ffff")
        self.assertEqual(ports["staticBand"]["size"], 86)
        self.assertEqual(ports["staticBand"]["last"], "30085")
        self.assertIsNone(ports["firstAddress"])
        self.assertEqual(v4["tenthAddress"], {"value": "10.96.0.10", "band": "static",
                                              "reason": None})

    def test_every_range_has_the_same_keys(self):
        ranges = self.document(*THREE, "::/0", "10.0.0.0/31", "0-16", "80")["ranges"]
        self.assertEqual(len({tuple(entry) for entry in ranges}), 1)
        self.assertEqual(len({tuple(entry[band]) for entry in ranges
                              for band in ("staticBand", "dynamicBand")}), 1)

    def test_large_numbers_saturate(self):
        (entry,) = self.document("2001:db8::/48")["ranges"]
        self.assertEqual(entry["size"], INT64_MAX)
        self.assertEqual(entry["sizeText"], str(2**80))
        self.assertEqual(entry["usableText"], str(2**80 - 1))
        self.assertEqual(entry["dynamicBand"]["sizeText"], str(2**80 - 257))
        (entry,) = self.document("::/0")["ranges"]
        self.assertEqual(entry["sizeText"], str(2**128))

    def test_yaml(self):
        """The keys, read line by line, must be those of the JSON document in the same order."""
        args = ["plan", *THREE, "--used", self.file("30000 a/b\n30000\n80\n10.96.0.1\n")]
        keys = []

        def collect(value):
            for key, inner in value.items() if isinstance(value, dict) else []:
                keys.append(key)
                collect(inner)
            for inner in value if isinstance(value, list) else []:
                collect(inner)

        collect(json.loads(self.good(*args, "-o", "json")))
        out = self.good(*args, "-o", "yaml")
        self.assertEqual(re.findall(r"(?m)^[ -]*([a-zA-Z]+):(?= |$)", out), keys)
        lines = out.splitlines()
        self.assertEqual(lines[0], "ranges:")
        self.assertEqual(lines[1], "- range: 10.96.0.0/16")
        self.assertIn("  kind: IPv6", lines)
        self.assertIn("    first: fd00:10:96::1", lines)
        self.assertIn("    size: 256", lines)
        self.assertIn('    sizeText: "256"', lines)
        self.assertIn("      - owner: a/b", lines)
        self.assertIn("used:", lines)

    def test_documents_have_no_colour_on_a_terminal(self):
        out, status = on_a_terminal("plan", "30000-32767", "-o", "json")
        self.assertEqual(status, 0)
        self.assertNotIn("\x1b", out)
        json.loads(out)


class MessageTest(Case):
    def test_bad_ranges(self):
        rows = [("10.0.0.1/16", "must not have bits set beyond the prefix length; did you mean "
                                "10.0.0.0/16?"),
                ("0-70000", "the port range cannot be greater than 65535: 0-70000"),
                ("nonsense", "must be a CIDR such as 10.96.0.0/16 or a port range such as "
                             "30000-32767"),
                ("10.96.0.10", "an address is not a range; add a prefix length, as in "
                               "10.96.0.0/16")]
        for text, wanted in rows:
            with self.subTest(text):
                self.assertEqual(self.bad("plan", text), f'berth plan: "{text}": {wanted}')

    def test_every_bad_range_is_reported(self):
        done = berth("plan", "10.0.0.1/16", "10.0.0.0/8", "0-70000")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 2)

    def test_a_static_band_that_does_not_fit(self):
        self.assertEqual(self.bad("plan", "10.0.0.0/24", "--static-band", "255"),
                         'berth plan: "10.0.0.0/24": a static band of 255 does not fit: the range '
                         "has 254 usable values")

    def test_bad_flags(self):
        commands = re.findall(r"(?m)^  ([a-z-]+) {2,}[A-Z]", self.good("--help").split("Subcommands:")[1])
        self.assertLess({"plan", "verify", "serve", "whois", "map", "blockers"}, set(commands))
        *others, last = commands
        rows = [((), f"berth: a command is missing: {', '.join(others)} or {last}; see berth --help"),
                (("plon",), f'berth: unknown command "plon"; the commands are {", ".join(others)} and '
                            f"{last}; see berth --help"),
                (("--nope",), 'berth: unknown flag "--nope"; see berth --help'),
                (("plan",), "berth plan: RANGE is missing: give a CIDR or a port range; see berth "
                            "plan --help"),
                (("plan", "80", "--nope"), 'berth plan: unknown flag "--nope"; see berth plan '
                                           "--help"),
                (("plan", "80", "-o", "xml"), 'berth plan: -o "xml": must be table, json or yaml; '
                                              "see berth plan --help"),
                (("plan", "80", "--used"), "berth plan: --used needs a value; see berth plan "
                                           "--help"),
                (("plan", "80", "--used", "a", "--used", "b"),
                 "berth plan: --used can be given only once; see berth plan --help"),
                (("plan", "80", "--static-band", "many"),
                 'berth plan: --static-band "many": must be a whole number of values, 0 or more; '
                 "see berth plan --help"),
                (("plan", "80", "--static-band", "-1"),
                 'berth plan: --static-band "-1": must be a whole number of values, 0 or more; '
                 "see berth plan --help")]
        for args, wanted in rows:
            with self.subTest(args):
                self.assertEqual(self.bad(*args), wanted)

    def test_version(self):
        out = self.good("version")
        self.assertRegex(out, r"^berth \d+\.\d+\.\d+\n$")
        self.assertEqual(self.good("--version"), out)

    def test_help_as_a_word(self):
        self.assertEqual(berth("help").stdout, berth("--help").stdout)

    def test_brackets_are_no_list(self):
        done = berth("plan", "[10.0.0.0/24,10.1.0.0/24]")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, 'berth: "[10.0.0.0/24,10.1.0.0/24]": must be a CIDR or a '
                                      'port range\n')

    def test_help(self):
        for args in (["--help"], ["plan", "--help"], ["serve", "-h"], ["version", "--help"]):
            with self.subTest(args):
                out = self.good(*args)
                self.assertIn("Example", out)
                self.assertIn("Usage: berth", out)
                self.assertLessEqual(max(map(len, out.splitlines())), 100)
        self.assertIn("kubectl get svc -A -o json | berth plan", self.good("plan", "--help"))


class TerminalTest(Case):
    def used(self):
        """Fills the static band of 30000-32767 to 94 % and the dynamic one to 82 %."""
        ports = [*range(30000, 30081), *range(30086, 32300)]
        return self.file("\n".join(map(str, ports)))

    def test_colour_on_a_terminal(self):
        out, status = on_a_terminal("plan", "30000-32767", "--used", self.used())
        self.assertEqual(status, 0)
        self.assertIn("\x1b[31m█", out)
        self.assertIn("\x1b[33m█", out)
        self.assertEqual(len(re.findall(r"\x1b\[[1-9]\d*m", out)), out.count("\x1b[0m"))

    def test_no_colour_where_it_is_not_wanted(self):
        self.assertNotIn("\x1b", self.good("plan", "30000-32767", "--used", self.used()))
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(changes):
                out, _ = on_a_terminal("plan", "30000-32767", "--used", self.used(), **changes)
                self.assertNotIn("\x1b", out)

    def test_owners_cannot_steer_the_terminal(self):
        used = self.file(json.dumps([service("x\x1b[2J\u009b2J", ["10.0.0.1"])]))
        out, _ = on_a_terminal("plan", "10.0.0.0/8", "--used", used, NO_COLOR="1")
        self.assertIn("team/x?[2J?2J", out)
        self.assertNotIn("\x1b", out)

    def test_a_closed_pipe_is_quiet(self):
        used = self.file(export_of_a_thousand_services())
        process = subprocess.Popen(
            [BERTH, "plan", *THREE, "--used", used, "-o", "json"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(),
            preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        self.assertEqual(process.stdout.readline(), b"{\n")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_full_disk_is_not(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BERTH, "plan", "80"], stdout=full, stderr=subprocess.PIPE,
                                  env=environment(), timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write to standard output: No space left", done.stderr)


if __name__ == "__main__":
    main()
