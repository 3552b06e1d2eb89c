"""Runs `berth whois`, `berth map` and `berth blockers` on files and checks what they print.

    BERTH_BIN=build/release/berth python3 test/e2e/whois_test.py
"""

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

EXAMPLE = os.path.join(tools.ROOT, "docs/examples/cluster.yaml")
CODES = re.compile(r"\x1b\[[\d;]*m")


def berth(*args, stdin="", **changes):
    return subprocess.run([BERTH, *args], input=stdin, capture_output=True, encoding="utf-8",
                          env=environment(**changes), timeout=60)


def on_a_terminal(columns, *args, **changes):
    """Returns what the program prints on a pseudo-terminal of this width, and its exit status."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([BERTH, *args], stdin=subprocess.DEVNULL, stdout=follower,
                               env=environment(**changes))
    os.close(follower)
    output = terminals.read_all(leader)
    return output.decode("utf-8").replace("\r\n", "\n"), process.wait(timeout=60)


def service(namespace, name, *values, manager=None, **spec):
    """Returns a Service with these addresses and node ports, which the manager named, if one did."""
    ips = [value for value in values if isinstance(value, str)]
    ports = [{"port": 80 + i, "protocol": "TCP", "nodePort": value}
             for i, value in enumerate(value for value in values if isinstance(value, int))]
    owned = {"f:ports": {f'k:{{"port":{p["port"]},"protocol":"TCP"}}': {"f:nodePort": {}}
                         for p in ports}, "f:clusterIP": {}} if manager else {}
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": namespace, "name": name,
                         "creationTimestamp": "2026-01-02T03:04:05Z",
                         "managedFields": [{"manager": manager or "kubectl",
                                            "fieldsV1": {"f:spec": owned}}]},
            "spec": {"type": "NodePort" if ports else "ClusterIP", "clusterIP": ips[0] if ips else "",
                     "clusterIPs": ips, "ports": ports or [{"port": 80}], **spec}}


def cidr(name, *cidrs):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
            "metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}}


def address(name, parent):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
            "metadata": {"name": name,
                         "labels": {"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}},
            "spec": {"parentRef": {"resource": "services", "namespace": parent.split("/")[0],
                                   "name": parent.split("/")[1]}}}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, *objects):
        path = os.path.join(self.folder, "cluster.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, out)
        return path

    def runs(self, *args, status=0, **more):
        done = berth(*args, **more)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def bad(self, *args):
        """Returns the only line on standard error of a run with bad arguments."""
        done = berth(*args)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.rstrip("\n")

    def document(self, *args, status=0):
        return json.loads(self.runs(*args, "-o", "json", status=status))


class WhoisTest(Case):
    def test_every_notation_of_an_address(self):
        path = self.file(cidr("kubernetes", "10.96.0.0/16", "fd00::/112"),
                         service("shop", "web", "10.96.0.10", "fd00::a", 30080))
        for text in ("10.96.0.10", "10.96.0.10:443", "10.96.0.10/32", "fd00::a", "[fd00::a]",
                     "[fd00::a]:443", "fd00::a/128", "30080", ":30080"):
            with self.subTest(text):
                out = self.runs("whois", text, "-f", path)
                self.assertRegex(out, r"(10\.96\.0\.10|fd00::a|30080)   (IPv4|IPv6|node)")
                self.assertIn(", taken\n", out)
                self.assertIn("shop/web", out)

    def test_the_ports_that_a_user_hard_coded(self):
        """30088 and 30193 lie just above the static band, so a dynamic pick may take them."""
        path = self.file(service("kubernaut", "notification", "10.96.7.7", 30193))
        out = self.runs("whois", "30088", "30193", "30085", "-f", path, "--node-port-range",
                        "30000-32767")
        self.assertIn("30088   node port, free\n\n  Hard-code    No. It is in the dynamic band", out)
        self.assertIn("a chance of 1 in 2,681", " ".join(out.split()))
        self.assertIn("30193   node port, taken", out)
        self.assertIn("Origin      drawn by the allocator", out)
        self.assertIn("30085   node port, free\n\n  Hard-code    Yes.", out)

    def test_a_source_from_a_pipe(self):
        with open(EXAMPLE, encoding="utf-8") as example:
            out = self.runs("whois", "shop/web", "-f", "-", stdin=example.read())
        self.assertIn("30088         dynamic   30000-32767               named by helm", out)

    def test_conflicts_orphans_and_missing_records(self):
        path = self.file(cidr("kubernetes", "10.96.0.0/16"),
                         service("a", "one", "10.96.0.9"), service("b", "two", "10.96.0.9"),
                         service("a", "bare", "10.96.0.8"), address("10.96.0.9", "a/one"),
                         address("10.96.0.7", "a/gone"))
        answers = self.document("whois", "10.96.0.9", "10.96.0.8", "10.96.0.7", "-f", path)["answers"]
        twice, bare, orphan = (answer["value"] for answer in answers)
        self.assertEqual([owner["name"] for owner in twice["owners"]], ["one", "two"])
        self.assertEqual(bare["recordCheck"], "NoRecord")
        self.assertEqual((orphan["state"], orphan["recordCheck"]), ("taken", "Orphan"))
        out = self.runs("whois", "10.96.0.9", "10.96.0.8", "10.96.0.7", "-f", path)
        for text in ("TAKEN BY 2 SERVICES", "None, although a Service has it.",
                     "An orphan. IPAddress 10.96.0.7 names Service a/gone"):
            self.assertIn(text, out)

    def test_exit_status(self):
        self.runs("whois", "10.96.0.200", "shop", "web", "kubernetes", "-f", EXAMPLE)
        out = self.runs("whois", "shop/nosuch", "10.96.0.200", "-f", EXAMPLE, status=1)
        self.assertIn("shop/nosuch   not found", out)
        self.assertIn("10.96.0.200   IPv4 address, free", out)
        self.document("whois", "nosuch", "-f", EXAMPLE, status=1)

    def test_errors(self):
        for text, wanted in (("10.96.0.999", "this is not a valid address"),
                             ("99999999999999999999999999999999999999999", "from 1 to 65535"),
                             ("Shop/Web", "must be an address, a port, a Service (namespace/name), "
                                          "a namespace or a range"),
                             ("10.96.0.1/16", "must not have bits set beyond the prefix length; did "
                                              "you mean 10.96.0.0/16?")):
            with self.subTest(text):
                self.assertEqual(self.bad("whois", text, "-f", EXAMPLE),
                                 f'berth whois: "{text}": {wanted}'.replace(
                                     '"99999999999999999999999999999999999999999": ',
                                     '"99999999999999999999999999999999999999999": a port is a number '))
        self.assertIn("VALUE is missing", self.bad("whois", "-f", EXAMPLE))
        self.assertIn("No such file", self.bad("whois", "80", "-f", "/does/not/exist"))
        self.assertIn("must be table, wide, json or yaml",
                      self.bad("whois", "80", "-f", EXAMPLE, "-o", "xml"))

    def test_documents_have_all_keys(self):
        document = self.document("whois", "10.96.0.10", "10.96.0.11", "10.97.0.0", "30088", "shop",
                                 "web", "kubernetes", "nosuch", "-f", EXAMPLE, status=1)
        self.assertEqual(list(document), ["kind", "source", "readAt", "server", "version",
                                          "revision", "answers", "gaps"])
        self.assertEqual(len({tuple(answer) for answer in document["answers"]}), 1)
        values = [answer["value"] for answer in document["answers"] if answer["value"]]
        self.assertEqual(len({tuple(value) for value in values}), 1)
        self.assertEqual(len({tuple(value["hardCode"]) for value in values}), 1)
        self.assertEqual([value["state"] for value in values],
                         ["taken", "free", "outside", "taken"])
        self.assertIn("\n- asked: 10.96.0.10\n",
                      self.runs("whois", "10.96.0.10", "-f", EXAMPLE, "-o", "yaml"))

    def test_names_cannot_steer_the_terminal(self):
        path = self.file(cidr("kubernetes", "10.96.0.0/16"),
                         service("a", "x\x1b[2J", "10.96.0.9", manager="m\x1b[2J"))
        for question in ("10.96.0.9", "10.96.0.10", "a"):
            self.assertNotIn("\x1b", self.runs("whois", question, "-f", path))
        self.assertNotIn("\x1b", self.runs("blockers", "kubernetes", "-f", path, status=1))
        self.assertNotIn("\x1b", self.runs("map", "kubernetes", "--at", "10.96.0.9", "-f", path))


class MapTest(Case):
    def cells(self, *args):
        (drawn,) = self.document("map", *args)["maps"]
        return drawn["cells"]

    def test_a_list_without_a_range(self):
        out = self.runs("map", "-f", EXAMPLE)
        self.assertIn("kubernetes 10.96.0.0/20   5 of 4,094 addresses are not free (0.1%)\n", out)
        self.assertIn("30000-32767   1 of 2,768 ports are not free (<0.1%)\n", out)

    def test_cells_add_up_at_every_depth(self):
        for depth in range(4):
            cells = self.cells("kubernetes", "--at", "10.96.0.10", "--depth", str(depth), "-f",
                               EXAMPLE)
            self.assertEqual(sum(cell["size"] for cell in cells), max(16, 4096 // 16 ** depth))
            for cell in cells:
                self.assertEqual(cell["size"], sum(cell[state] for state in (
                    "free", "taken", "reserved", "cooling", "excluded")))
        whole = self.cells("kubernetes", "-f", EXAMPLE)
        self.assertEqual(sum(cell["taken"] for cell in whole), 4)
        self.assertEqual(sum(cell["reserved"] for cell in whole), 1)
        self.assertEqual(sum(cell["excluded"] for cell in whole), 2)

    def test_huge_ranges(self):
        path = self.file(cidr("six", "fd00::/64"), cidr("four", "10.0.0.0/8"),
                         service("a", "b", "10.1.2.3", "fd00::1:2:3"))
        for name, value in (("six", "fd00::1:2:3"), ("four", "10.1.2.3")):
            cells = self.cells(name, "-f", path)
            self.assertLessEqual(len(cells), 4096)
            self.assertEqual(sum(cell["taken"] for cell in cells), 1)
            out = self.runs("map", name, "--at", value, "-f", path)
            self.assertIn("A cell is 1 address", out)
            self.assertIn(f"▾ {value} a/b\n", out)

    def test_a_part_of_a_range(self):
        out = self.runs("map", "10.96.4.0/24", "-f", EXAMPLE)
        self.assertIn("The part 10.96.4.0 – 10.96.4.255.", out)
        self.assertIn("taken 1", out)

    def test_terminals_of_every_width(self):
        for columns in (40, 60, 80, 120):
            for name in ("kubernetes", "30000-32767"):
                for changes in ({}, {"NO_COLOR": "1"}, {"LANG": "C"}):
                    with self.subTest(columns=columns, name=name, **changes):
                        out, status = on_a_terminal(columns, "map", name, "-f", EXAMPLE, **changes)
                        self.assertEqual(status, 0)
                        plain = CODES.sub("", out)
                        self.assertLessEqual(max(map(len, plain.splitlines())), columns)
                        self.assertIn("dynamic band", plain)
                        self.assertEqual("▀" in out, not changes)
                        self.assertEqual("\x1b" in out, "NO_COLOR" not in changes)
                        if "LANG" in changes:
                            self.assertTrue(out.isascii())

    def test_errors(self):
        self.assertEqual(self.bad("map", "blue", "-f", EXAMPLE),
                         'berth map: "blue": no range has this name; the ranges are kubernetes '
                         "(10.96.0.0/20) and 30000-32767")
        self.assertIn("no range of the cluster contains it",
                      self.bad("map", "10.0.0.0/8", "-f", EXAMPLE))
        self.assertIn("must be an address or a port",
                      self.bad("map", "kubernetes", "--at", "x", "-f", EXAMPLE))
        self.assertIn("must be 0 to 32",
                      self.bad("map", "kubernetes", "--depth", "33", "-f", EXAMPLE))


class BlockersTest(Case):
    def test_exit_status(self):
        self.assertIn("No blockers", self.runs("blockers", "kubernetes", "--to", "10.96.0.0/16", "-f",
                                               EXAMPLE))
        self.runs("blockers", "kubernetes", "--to", "10.96.0.0/21", "-f", EXAMPLE, status=1)
        self.assertIn("--to", self.bad("blockers", "kubernetes", "--to", "80-90", "-f", EXAMPLE))
        self.assertIn("the ranges are", self.bad("blockers", "blue", "-f", EXAMPLE))
        self.assertIn("RANGE is missing", self.bad("blockers", "-f", EXAMPLE))

    def test_a_dual_stack_range_leaves_as_a_whole(self):
        path = self.file(cidr("kubernetes", "10.96.0.0/20", "fd00::/112"),
                         service("a", "b", "10.96.0.4", "fd00::4"))
        out = self.runs("blockers", "kubernetes", "--to", "10.96.0.0/21", "-f", path, status=1)
        self.assertIn("No address stands in the way.", out)
        self.assertNotIn("The change can be made now", out)
        self.assertIn("fd00::4", out)
        self.assertIn("Give --to for this family, too", out)
        out = self.runs("blockers", "kubernetes", "--to", "10.96.0.0/21", "--to", "fd00::/120",
                        "-f", path)
        self.assertEqual(out.count("The change can be made now."), 2)

    def test_who_is_in_the_way(self):
        (answer,) = self.document("blockers", "kubernetes", "-f", EXAMPLE, status=1)["answers"]
        self.assertEqual([(each["service"]["name"], each["effort"], each["obstacles"])
                          for each in answer["blockers"]],
                         [("kubernetes", "hard", ["ApiServer", "Named"]),
                          ("kube-dns", "hard", ["ClusterDns", "Named"]),
                          ("cart", "easy", ["Plain"]), ("web", "hard", ["Tool"])])
        self.assertEqual(answer["outcome"], "Waits")
        self.assertEqual(answer["efforts"], {"hard": 3, "medium": 0, "easy": 1})
        self.assertEqual(answer["leftBehind"], 1)
        self.assertTrue(answer["madeAgain"])

    def test_the_servers_make_their_range_again(self):
        again = "The API servers make the ServiceCIDR kubernetes again"
        path = self.file(cidr("kubernetes", "10.96.0.0/20", "fd00::/112"), cidr("extra", "10.97.0.0/24"))
        self.assertEqual(self.runs("blockers", "kubernetes", "-f", path).count(again), 1)
        self.assertNotIn(again, self.runs("blockers", "extra", "-f", path))

    def test_a_range_within_another_can_go(self):
        path = self.file(cidr("kubernetes", "10.96.0.0/16"), cidr("small", "10.96.4.0/24"),
                         service("a", "b", "10.96.4.4"), service("a", "c", "10.96.9.9"))
        self.runs("blockers", "small", "-f", path)
        out = self.runs("blockers", "kubernetes", "-f", path, status=1)
        self.assertIn("10.96.9.9", out)
        self.assertNotIn("10.96.4.4", out)

    def test_a_narrow_terminal(self):
        for args in (("blockers", "kubernetes"), ("whois", "10.96.0.10", "30089", "shop", "web")):
            out, _ = on_a_terminal(40, *args, "-f", EXAMPLE, NO_COLOR="1")
            self.assertLessEqual(max(map(len, out.splitlines())), 40, out)


if __name__ == "__main__":
    main()
