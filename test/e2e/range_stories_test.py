"""What an operator does with ranges, each with kubectl and without a restart: a /64, a resize under
load, reservations, more node ports, reading along, several subnets, and another primary family.

    BERTH_BIN=build/release/berth python3 test/e2e/range_stories_test.py

STORY_SECONDS is how long the clients of the resize run: 2 by default, and 4 in the long form.
"""

import collections
import json
import os
import sys
import threading
import time

import kubectls
from addresses import SERVICES, Client, in_threads, node_ports, service
from harness import Case, main, wait_for
from ranges import (CIDRS, IP_RANGES, MOST, PORT_RANGES, PORTS, RESERVATIONS, V4, V6, Ranges,
                    address, annotated, decimal, inside, ip_range, reservation)

SECONDS = float(os.environ.get("STORY_SECONDS", 4 if os.environ.get("BERTH_LONG") else 2))
CLIENTS = 32


class Story(Ranges, Case):
    FLAGS = ()

    def setUp(self):
        super().setUp()
        self.server = super().server(*self.FLAGS)
        self.addCleanup(self.still_the_same, self.server.process.pid)

    def still_the_same(self, pid):
        """Checks that the server was not restarted and has not died."""
        self.assertEqual((self.server.process.pid, self.server.process.poll()), (pid, None))

    def tell(self, text):
        print(f"\n{self.id().rsplit('.', 1)[-1]}:\n{text.rstrip()}", file=sys.stderr)


class A64Test(Story):
    """1: a /64 for an end subnet."""

    FLAGS = ("--service-cluster-ip-range=fd00:10:96::/64",)

    def test_a_64(self):
        self.kubectl("create", "service", "clusterip", "web", "--tcp=80")
        web = self.kubectl_json("svc", "web")
        self.assertTrue(inside(address(web), "fd00:10:96::/64"), web)
        self.assertEqual(web["spec"]["ipFamilies"], ["IPv6"])
        # A bitmap would use the first 65,536 addresses. Here picks come from the whole /64.
        drawn = [address(self.made(service(f"s{i}"))) for i in range(20)]
        self.assertTrue(any(not inside(ip, "fd00:10:96::/108") for ip in drawn), drawn)
        self.kubectl("create", "service", "clusterip", "dns", "--tcp=53",
                     "--clusterip=fd00:10:96::a")
        self.assertEqual(self.holder("fd00:10:96::a"), "dns")

        status = self.status(IP_RANGES, V6, used=23)
        self.assertEqual(status["total"], str(2**64 - 1))
        self.assertEqual(status["free"], MOST)
        self.assertEqual(status["bands"]["static"]["first"], "fd00:10:96::1")
        self.assertEqual(status["bands"]["dynamic"]["last"], "fd00:10:96:0:ffff:ffff:ffff:ffff")
        table = self.kubectl("get", "ipr", V6)
        self.assertIn(str(2**64 - 1), table)
        self.tell(table)
        # Add a range for another subnet, and a larger one.
        self.kubectl_create(ip_range("subnet", "fd00:10:97::/64"))
        self.kubectl_create(ip_range("site", "fd00:11::/48"))
        for ip in ("fd00:10:97::1234", "fd00:11:0:42::1"):
            self.kubectl("create", "service", "clusterip", f"at-{ip.replace(':', '-')}",
                         "--tcp=80", f"--clusterip={ip}")
        self.assertEqual(self.status(IP_RANGES, "site", used=1)["total"], str(2**80 - 1))
        self.audit()


class ResizeTest(Story):
    """2: resize with zero downtime while 32 clients create and delete."""

    FLAGS = ("--service-cluster-ip-range=10.0.0.0/24",)

    def load(self, number, stop, counts, slowest):
        client = Client(self.server)
        mine = []
        for i in range(10**9):
            if stop.is_set():
                break
            name = f"s{number}-{i}"
            began = time.monotonic()
            answer = client.call("POST", SERVICES, service(name))
            slowest[number] = max(slowest[number], time.monotonic() - began)
            self.assertEqual(answer.code, 201, answer)
            mine.append(name)
            counts[number] += 1
            if len(mine) > 4:
                answer = client.call("DELETE", f"{SERVICES}/{mine.pop(0)}")
                self.assertEqual(answer.code, 200, answer)
                counts[number] += 1
        for name in mine:
            self.assertEqual(client.call("DELETE", f"{SERVICES}/{name}").code, 200)
        client.close()

    def resize(self, text):
        """Resizes with kubectl. A smaller range is refused as long as a Service has an address
        outside of it. Only the operator sees that refusal, not the clients."""
        code, _, err = self.run_kubectl(("patch", "ipr", V4, "--type=merge", "-p",
                                         json.dumps({"spec": {"range": text}})), None, None)
        if code != 0:
            self.assertIn("would be outside of every range", err)
        return code == 0

    def move(self, outcomes):
        """Moves back to the original range: another range serves meanwhile, and is drained and
        deleted."""
        self.kubectl_create(ip_range("meanwhile", "10.1.0.0/16"))
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        wait_for(lambda: self.resize("10.0.0.0/24"), 20)
        outcomes["made smaller"] += 1
        self.kubectl_patch("ipr", V4, spec={"disabled": None})
        self.kubectl_patch("ipr", "meanwhile", spec={"disabled": True})
        wait_for(lambda: self.run_kubectl(("delete", "ipr", "meanwhile"), None, None)[0] == 0, 20)
        outcomes["drained and deleted"] += 1

    def operate(self, outcomes):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or not outcomes["refused to be smaller"]:
            self.assertTrue(self.resize("10.0.0.0/16"))
            outcomes["made larger"] += 1
            time.sleep(0.05)
            outcomes["made smaller" if self.resize("10.0.0.0/24") else "refused to be smaller"] += 1
        self.move(outcomes)

    def test_resize_under_load(self):
        stop = threading.Event()
        counts, slowest, outcomes = [0] * CLIENTS, [0.0] * CLIENTS, collections.Counter()

        def work(number):
            if number < CLIENTS:
                return self.load(number, stop, counts, slowest)
            try:
                return self.operate(outcomes)
            finally:
                stop.set()
        in_threads(CLIENTS + 1, work)
        self.assertGreater(min(counts), 0)
        self.assertEqual(set(outcomes), {"made larger", "made smaller", "refused to be smaller",
                                         "drained and deleted"})
        self.tell(f"{sum(counts)} requests of {CLIENTS} clients, 0 failed, the slowest took "
                  f"{1000 * max(slowest):.0f} ms; ranges were " +
                  ", ".join(f"{count} times {what}" for what, count in outcomes.items()))
        self.assertEqual([name for _, name in self.services()], ["kubernetes"])
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], ["10.0.0.0/24"])
        self.assertEqual(self.status(IP_RANGES, V4, used=1)["total"], "254")
        self.audit()


class ReserveTest(Story):
    """3: addresses that no Service gets, or only one."""

    FLAGS = ("--service-cluster-ip-range=10.96.0.0/27",)

    def test_an_address_for_nobody(self):
        self.kubectl_create(reservation("10.96.0.20"))
        self.assertEqual(
            self.kubectl_json("ipaddresses.allocation.berth.io", decimal("10.96.0.20"))["status"]
            ["state"], "Reserved")
        self.assertIn("10.96.0.20", self.kubectl("get", "ipaddresses.networking.k8s.io"))
        complaint = self.kubectl_fails("create", "service", "clusterip", "a", "--tcp=80",
                                       "--clusterip=10.96.0.20")
        self.assertIn("failed to allocate IP 10.96.0.20: provided IP is reserved", complaint)
        # There are 30 usable addresses. default/kubernetes has one, and this one is reserved.
        drawn = {address(self.made(service(f"s{i}"))) for i in range(28)}
        self.assertNotIn("10.96.0.20", drawn)
        self.refused(500, "range is full", "POST", SERVICES, service("more"))
        status = self.status(IP_RANGES, V4, used=29, reserved=1, free=0)
        self.assertEqual(status["total"], "30")
        self.kubectl("delete", "ipaddresses.allocation.berth.io", decimal("10.96.0.20"))
        self.assertEqual(address(self.made(service("more"))), "10.96.0.20")
        self.audit()

    def test_the_dns_address_before_there_is_dns(self):
        name = decimal("10.96.0.10")
        self.kubectl_create(reservation("10.96.0.10", "kube-system/kube-dns"))
        complaint = self.kubectl_fails("create", "service", "clusterip", "kube-dns", "--tcp=53",
                                       "--clusterip=10.96.0.10", "-n", "default")
        self.assertIn("failed to allocate IP 10.96.0.10: provided IP is reserved for the Service "
                      "kube-system/kube-dns", complaint)
        # DNS may ask for it, but does not have to.
        for flags in (("--clusterip=10.96.0.10",), ()):
            self.kubectl("create", "service", "clusterip", "kube-dns", "--tcp=53", *flags,
                         "-n", "kube-system")
            dns = self.kubectl_json("svc", "kube-dns", "-n", "kube-system")
            self.assertEqual(address(dns), "10.96.0.10")
            record = self.get(RESERVATIONS, name)
            self.assertEqual(record["status"]["state"], "Allocated")
            self.assertEqual(record["status"]["service"],
                             {"namespace": "kube-system", "name": "kube-dns",
                              "uid": dns["metadata"]["uid"]})
            self.assertIn("kube-system/kube-dns", self.kubectl_fails(
                "delete", "ipaddresses.allocation.berth.io", name))
            self.kubectl("delete", "svc", "kube-dns", "-n", "kube-system")
            self.assertEqual(self.get(RESERVATIONS, name)["status"]["state"], "Reserved")
        table = self.kubectl("get", "ipaddresses.allocation.berth.io")
        self.assertRegex(table, r"10\.96\.0\.10 +Reserved +kube-system/kube-dns")
        self.tell(table)
        self.kubectl("delete", "ipaddresses.allocation.berth.io", name)
        self.kubectl("create", "service", "clusterip", "other", "--tcp=80",
                     "--clusterip=10.96.0.10", "-n", "default")


class MorePortsTest(Story):
    """4: the node ports are used up, and more are needed."""

    FLAGS = ("--service-node-port-range=30000-30007",)

    def test_more_ports(self):
        for i in range(8):
            self.made(service(f"s{i}", "NodePort"))
        complaint = self.kubectl_fails("create", "service", "nodeport", "more", "--tcp=80")
        self.assertIn("failed to allocate a nodePort: range is full", complaint)
        self.condition_is(PORT_RANGES, PORTS, "Exhausted", "True", "Exhausted")
        self.assertIn("Exhausted", self.kubectl("get", "npr"))

        self.kubectl_patch("npr", PORTS, spec={"range": "30000-30063"})
        self.kubectl("create", "service", "nodeport", "more", "--tcp=80")
        port, = node_ports(self.kubectl_json("svc", "more"))
        self.assertTrue(30016 <= port <= 30063, port)  # The bands are those of the new range.
        status = self.status(PORT_RANGES, PORTS, used=9, free=55)
        self.assertEqual(status["total"], "64")
        self.condition_is(PORT_RANGES, PORTS, "Exhausted", "False", "HasFree")
        table = self.kubectl("get", "npr")
        self.assertRegex(table, rf"{PORTS} +30000-30063 +64 +9 +55 +True")
        self.tell(table + self.kubectl("get", "np"))
        self.audit()


class ReadAlongTest(Story):
    """5: another component follows the range and every address, by a watch."""

    FLAGS = ("--service-cluster-ip-range=10.5.0.0/24",)

    def watch(self, *resource):
        """Runs kubectl as that component. Returns the events as they come."""
        process = self.start("get", *resource, "-w", "-o", "json", "--output-watch-events")
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        events = []

        def read():
            decoder, text = json.JSONDecoder(), ""
            while True:
                try:
                    piece = os.read(process.stdout.fileno(), 65536).decode()
                except (OSError, ValueError):
                    return
                if not piece:
                    return
                text += piece
                while text.strip():
                    try:
                        event, end = decoder.raw_decode(text.lstrip())
                    except ValueError:
                        break
                    text = text.lstrip()[end:]
                    events.append(event)
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return events

    @staticmethod
    def mirror(events):
        """Returns the objects that exist according to the events."""
        there = {}
        for event in list(events):
            name = event["object"]["metadata"]["name"]
            there[name] = event["object"]
            if event["type"] == "DELETED":
                del there[name]
        return there

    def test_by_watch(self):
        ranges = self.watch("ipr")
        cidrs = self.watch("servicecidr")
        addresses = self.watch("ipaddresses.allocation.berth.io")
        wait_for(lambda: ranges and cidrs and addresses)

        made = [self.made(service(f"s{i}")) for i in range(10)]
        self.made(service("wanted", clusterIP="10.5.0.9"))
        self.done("DELETE", f"{SERVICES}/s3")
        self.kubectl_patch("ipr", V4, spec={"range": "10.5.0.0/20"})
        expected = {decimal(address(each)): ("default", each["metadata"]["name"], "Dynamic")
                    for each in made if each["metadata"]["name"] != "s3"}
        expected[decimal("10.5.0.9")] = ("default", "wanted", "Static")
        expected[decimal("10.5.0.1")] = ("default", "kubernetes", "Static")

        def seen():
            return {name: (each["status"]["service"]["namespace"],
                           each["status"]["service"]["name"], each["status"]["chosen"])
                    for name, each in self.mirror(addresses).items()}
        wait_for(lambda: seen() == expected, 10)
        for each in self.mirror(addresses).values():
            self.assertEqual(each["spec"]["ipRangeRef"]["name"], V4)
            self.assertEqual(each["status"]["state"], "Allocated")
        wait_for(lambda: self.mirror(cidrs)["kubernetes"]["spec"]["cidrs"] == ["10.5.0.0/20"], 10)

        def shown():
            spec, status = (self.mirror(ranges)[V4][each] for each in ("spec", "status"))
            return spec["range"], spec["primary"], status["used"]
        wait_for(lambda: shown() == ("10.5.0.0/20", True, 11), 10)
        wait_for(lambda: self.mirror(ranges)[V4]["status"]["total"] == "4094", 10)
        self.tell(self.kubectl("get", "ipr,servicecidr,ipaddresses.allocation.berth.io"))


class SubnetsTest(Story):
    """6: several subnets with different characteristics; a Service chooses one."""

    FLAGS = ("--service-cluster-ip-range=10.60.0.0/24",)

    def where(self, obj):
        return {"10.60": "default", "10.61": "blue", "10.62": "green"}[address(obj)[:5]]

    def create(self, name, subnet):
        self.kubectl_create(annotated(service(name), ip_range=subnet))
        return self.kubectl_json("svc", name)

    def test_choose_a_subnet(self):
        self.kubectl_create(ip_range("blue", "10.61.0.0/28", priority=5, strict=True,
                                     staticBand=10))
        self.kubectl_create(ip_range("green", "10.62.0.0/24", priority=7,
                                    excluded=["10.62.0.128/25"]))
        self.assertEqual(self.where(self.create("a", "blue")), "blue")
        green = self.create("b", "green")
        self.assertEqual(self.where(green), "green")
        self.assertFalse(inside(address(green), "10.62.0.128/25"))
        record = self.get(RESERVATIONS, decimal(address(green)))
        self.assertEqual(record["spec"]["ipRangeRef"]["name"], "green")
        # Without a name, an address comes from the initial range. If that gives out nothing, it
        # comes from the range with the next priority.
        self.assertEqual(self.where(self.made(service("c"))), "default")
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        self.assertEqual(self.where(self.made(service("d"))), "green")
        self.kubectl_patch("ipr", "blue", spec={"priority": 8})
        self.assertEqual(self.where(self.made(service("e"))), "blue")
        self.kubectl_patch("ipr", V4, spec={"disabled": None})
        self.assertEqual(self.where(self.made(service("f"))), "default")
        # The static band of a strict range is only for requests by name: 4 of 14 are picked.
        for i in range(2):
            self.assertEqual(self.where(self.create(f"g{i}", "blue")), "blue")
        self.condition_is(IP_RANGES, "blue", "Exhausted", "True", "Exhausted")
        named = f'metadata.annotations[allocation.berth.io/ip-range]: Invalid value: "{{}}": '
        for subnet, why in (("blue", 'the range "blue" (10.61.0.0/28) is full'),
                            ("red", 'there is no range "red" of addresses'),
                            (PORTS, f'"{PORTS}" is no range of addresses but of ports')):
            complaint = self.kubectl_fails("create", "-f", "-",
                                           body=annotated(service("h"), ip_range=subnet))
            self.assertIn(named.format(subnet) + why, complaint)
        self.made(annotated(service("i", clusterIP="10.61.0.3"), ip_range="blue"))
        self.refused(422, 'the range "green" (10.62.0.0/24) does not have the address 10.61.0.4',
                     "POST", SERVICES,
                     annotated(service("j", clusterIP="10.61.0.4"), ip_range="green"))
        self.kubectl_patch("ipr", "green", spec={"disabled": True})
        complaint = self.kubectl_fails("create", "-f", "-",
                                       body=annotated(service("k"), ip_range="green"))
        self.assertIn(named.format("green") + 'the range "green" (10.62.0.0/24) is disabled',
                      complaint)
        self.tell(self.kubectl("get", "ipr", "-o", "wide"))
        self.audit()

    def test_the_emptier_of_two(self):
        self.kubectl_create(ip_range("blue", "10.61.0.0/28"))
        self.kubectl_create(ip_range("green", "10.62.0.0/27"))
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        drawn = [self.where(self.made(service(f"s{i}"))) for i in range(16)]
        self.assertEqual(drawn, ["green"] * 16)  # 30 are more than 14, until both are equal.
        more = [self.where(self.made(service(f"t{i}"))) for i in range(20)]
        self.assertEqual((more.count("blue"), more.count("green")), (10, 10))


class PrimaryTest(Story):
    """7: the other family becomes the primary one."""

    FLAGS = ("--service-cluster-ip-range=10.7.0.0/24,fd00:7::/64",)

    def families(self, name):
        return self.kubectl_json("svc", name)["spec"]["ipFamilies"]

    def test_change_the_primary_family(self):
        self.made(service("old"))
        self.made(service("old-dual", ipFamilyPolicy="PreferDualStack"))
        before = self.services()
        stop = threading.Event()
        failures, seen = [], set()

        def look():
            client = Client(self.server)
            while not stop.is_set():
                listed = client.call("GET", IP_RANGES).json["items"]
                primary = [each["metadata"]["name"] for each in listed
                           if each["spec"].get("primary")]
                if len(primary) != 1:
                    failures.append(primary)
                seen.update(primary)
            client.close()
        thread = threading.Thread(target=look)
        thread.start()
        try:
            for name in (V6, V4, V6, V4, V6):
                self.kubectl_patch("ipr", name, spec={"primary": True})
        finally:
            stop.set()
            thread.join()
        self.assertEqual((failures, seen), ([], {V4, V6}))

        self.assertEqual(self.services(), before)  # No Service has changed.
        self.kubectl("create", "service", "clusterip", "new", "--tcp=80")
        self.assertEqual(self.families("new"), ["IPv6"])
        self.made(service("new-dual", ipFamilyPolicy="PreferDualStack"))
        self.assertEqual(self.families("new-dual"), ["IPv6", "IPv4"])
        # Existing Services keep their order when they are changed, and when one becomes dual-stack.
        self.kubectl_patch("svc", "old-dual", spec={"sessionAffinity": "ClientIP"})
        self.assertEqual(self.families("old-dual"), ["IPv4", "IPv6"])
        self.kubectl_patch("svc", "old", spec={"ipFamilyPolicy": "RequireDualStack"})
        self.assertEqual(self.families("old"), ["IPv4", "IPv6"])
        self.assertEqual(address(self.kubectl_json("svc", "old")),
                         address(before["default", "old"]))
        self.assertIn("one range must be primary", self.kubectl_patch(
            "ipr", V6, spec={"primary": False}, fails=True))
        self.tell(self.kubectl("get", "ipr") + self.kubectl(
            "get", "svc", "-o", "custom-columns=NAME:.metadata.name,IPS:.spec.clusterIPs"))
        self.audit()


globals().update(kubectls.with_old(A64Test, ResizeTest, ReserveTest, MorePortsTest, ReadAlongTest,
                                   SubnetsTest, PrimaryTest))


if __name__ == "__main__":
    main()
