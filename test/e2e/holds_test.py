"""Addresses and ports that are reserved, held for a while, or cooling down.

    BERTH_BIN=build/release/berth python3 test/e2e/holds_test.py

Holds and cool-downs last two or three seconds here, and the tests wait for their end.
"""

import datetime
import time

from addresses import ADDRESSES, SERVICES, in_threads, node_ports, service
from harness import PATIENCE, Case, main, wait_for
from ranges import (IP_RANGES, NODE_PORTS, PORT_RANGES, PORTS, RESERVATIONS, V4, Ranges, address,
                    decimal, ip_range, port_reservation, reservation)


class HoldCase(Ranges, Case):
    FLAGS = ("--service-cluster-ip-range=10.0.0.0/28", "--service-node-port-range=30000-30007")

    def setUp(self):
        super().setUp()
        self.server = Case.server(self, *self.FLAGS)

    def state(self, path, name, server=None):
        """Returns the state, or None if the value is free and has no record."""
        answer = (server or self.server).call("GET", f"{path}/{name}")
        self.assertIn(answer.code, (200, 404), answer)
        return answer.json["status"]["state"] if answer.code == 200 else None

    def address_state(self, ip, server=None):
        return self.state(RESERVATIONS, decimal(ip), server)

    def until(self, path, name):
        text = self.get(path, name)["status"]["until"]
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def taken(self, ip, name="other"):
        """Checks that no other Service can get it by asking for it."""
        return self.refused(422, f"failed to allocate IP {ip}: provided IP is reserved for the "
                            "Service", "POST", SERVICES, service(name, clusterIP=ip))


class HoldTest(HoldCase):

    def test_a_hold_is_redeemed(self):
        """The Service gets the address that was planned for it, although others come before it."""
        before = time.time()
        made = self.made(reservation("10.0.0.9", "default/web", holdSeconds=60), RESERVATIONS)
        after = time.time()
        self.assertEqual(made["status"]["state"], "Pending")
        until = self.until(RESERVATIONS, decimal("10.0.0.9"))
        self.assertTrue(before + 59 <= until <= after + 61, until)  # It has whole seconds.
        self.taken("10.0.0.9")
        drawn = [address(self.made(service(f"s{i}"))) for i in range(12)]
        self.assertNotIn("10.0.0.9", drawn)
        self.refused(500, "range is full", "POST", SERVICES, service("more"))
        self.assertEqual(address(self.made(service("web"))), "10.0.0.9")
        shown = self.get(RESERVATIONS, decimal("10.0.0.9"))
        self.assertEqual((shown["status"]["state"], shown["status"]["service"]["name"]),
                         ("Allocated", "web"))
        self.assertNotIn("until", shown["status"])
        self.audit()
        # The hold was for one use.
        self.done("DELETE", f"{SERVICES}/web")
        self.assertIsNone(self.address_state("10.0.0.9"))
        self.assertEqual(address(self.made(service("more"))), "10.0.0.9")
        self.audit()

    def test_a_hold_that_is_asked_for(self):
        self.made(reservation("10.0.0.9", "default/web", holdSeconds=60), RESERVATIONS)
        self.assertEqual(address(self.made(service("web", clusterIP="10.0.0.9"))), "10.0.0.9")
        self.audit()

    def test_a_hold_expires(self):
        began = time.monotonic()
        self.made(reservation("10.0.0.9", "default/web", holdSeconds=2), RESERVATIONS)
        self.made(port_reservation(30003, "default/web", holdSeconds=2), NODE_PORTS)
        wait_for(lambda: self.address_state("10.0.0.9") is None)
        self.assertGreater(time.monotonic() - began, 1)
        wait_for(lambda: self.state(NODE_PORTS, "30003") is None)
        self.made(service("other", "NodePort", [{"port": 80, "nodePort": 30003}],
                          clusterIP="10.0.0.9"))
        # A Service that comes too late gets another address.
        self.assertNotEqual(address(self.made(service("web"))), "10.0.0.9")
        self.status(IP_RANGES, V4, reserved=0, used=3)
        self.audit()

    def test_an_expired_hold_is_no_reason_to_be_refused(self):
        """This holds even before the expired record is removed."""
        self.made(reservation("10.0.0.9", "default/web", holdSeconds=1), RESERVATIONS)
        answers = []

        def ask():
            answers.append(self.server.call("POST", SERVICES, service("a", clusterIP="10.0.0.9")))
            return answers[-1].code == 201
        wait_for(ask)
        self.assertLessEqual({each.code for each in answers[:-1]}, {422})
        self.audit()

    def test_a_hold_of_a_port(self):
        self.made(port_reservation(30003, "default/web", holdSeconds=60), NODE_PORTS)
        self.assertEqual(self.state(NODE_PORTS, "30003"), "Pending")
        self.refused(422, "provided port is reserved for the Service default/web", "POST", SERVICES,
                     service("other", "NodePort", [{"port": 80, "nodePort": 30003}]))
        drawn = [node_ports(self.made(service(f"s{i}", "NodePort")))[0] for i in range(7)]
        self.assertNotIn(30003, drawn)
        self.assertEqual(node_ports(self.made(service("web", "NodePort"))), [30003])
        self.assertEqual(self.get(NODE_PORTS, "30003")["status"]["state"], "Allocated")
        self.done("DELETE", f"{SERVICES}/web")
        self.assertIsNone(self.state(NODE_PORTS, "30003"))
        self.audit()

    def test_a_hold_outlives_a_crash_and_still_ends(self):
        self.made(reservation("10.0.0.9", "default/web", holdSeconds=2), RESERVATIONS)
        self.made(reservation("10.0.0.10", "default/web-2", holdSeconds=60), RESERVATIONS)
        self.server.process.kill()
        self.server.process.wait()
        self.server = Case.server(self, *self.FLAGS)
        self.assertEqual(self.address_state("10.0.0.10"), "Pending")
        self.taken("10.0.0.10")
        wait_for(lambda: self.address_state("10.0.0.9") is None)
        self.assertEqual(address(self.made(service("web-2"))), "10.0.0.10")
        self.audit()

    def test_many_race_for_the_end_of_a_hold(self):
        self.made(reservation("10.0.0.9", "default/web", holdSeconds=1), RESERVATIONS)
        made = []

        def ask(number):
            end = time.monotonic() + PATIENCE
            while not made and time.monotonic() < end:
                answer = self.server.call("POST", SERVICES,
                                          service(f"s{number}", clusterIP="10.0.0.9"))
                self.assertIn(answer.code, (201, 422), answer)
                if answer.code == 201:
                    made.append(number)
        in_threads(8, ask)
        self.assertEqual(len(made), 1)
        self.audit()


class ReservationTest(HoldCase):

    def test_it_is_reserved_again_afterwards(self):
        self.made(reservation("10.0.0.9", "default/web"), RESERVATIONS)
        self.made(port_reservation(30003, "default/web"), NODE_PORTS)
        uid = self.get(RESERVATIONS, decimal("10.0.0.9"))["metadata"]["uid"]
        for _ in range(2):
            made = self.made(service("web", "NodePort"))
            self.assertEqual((address(made), node_ports(made)), ("10.0.0.9", [30003]))
            self.status(IP_RANGES, V4, reserved=0, used=2)
            self.audit()
            self.done("DELETE", f"{SERVICES}/web")
            self.assertEqual(self.address_state("10.0.0.9"), "Reserved")
            self.assertEqual(self.state(NODE_PORTS, "30003"), "Reserved")
            self.status(IP_RANGES, V4, reserved=1, used=1)
        self.taken("10.0.0.9")
        again = self.get(RESERVATIONS, decimal("10.0.0.9"))
        self.assertEqual(again["spec"]["reservedFor"], {"namespace": "default", "name": "web"})
        self.assertEqual(again["metadata"]["uid"], uid)
        # The same applies if the Service continues to exist without it.
        self.made(service("web", "NodePort"))
        self.patched("web", {"spec": {"type": "ClusterIP", "ports": [{"port": 80}]}})
        self.assertEqual(self.state(NODE_PORTS, "30003"), "Reserved")
        self.assertEqual(self.address_state("10.0.0.9"), "Allocated")
        self.done("DELETE", f"{SERVICES}/web")
        self.done("DELETE", f"{RESERVATIONS}/{decimal('10.0.0.9')}")
        self.made(service("other", clusterIP="10.0.0.9"))

    def test_of_another_namespace(self):
        """Only namespace and name together identify the Service that it is for."""
        self.made({"metadata": {"name": "team"}}, "/api/v1/namespaces")
        self.made(reservation("10.0.0.9", "team/web"), RESERVATIONS)
        self.taken("10.0.0.9", "web")
        self.assertNotEqual(address(self.made(service("web"))), "10.0.0.9")
        made = self.made(service("web"), "/api/v1/namespaces/team/services")
        self.assertEqual(address(made), "10.0.0.9")
        self.audit()

    def test_a_plan_tells_of_it(self):
        """A dry run returns what a create would get."""
        self.made(reservation("10.0.0.9", "default/web"), RESERVATIONS)
        dry = self.server.call("POST", f"{SERVICES}?dryRun=All", service("web"))
        self.assertEqual((dry.code, address(dry.json)), (201, "10.0.0.9"), dry)
        self.assertEqual(self.address_state("10.0.0.9"), "Reserved")
        before = self.server.call("GET", RESERVATIONS).json["items"]
        dry = self.server.call("POST", f"{RESERVATIONS}?dryRun=All", reservation("10.0.0.5"))
        self.assertEqual(dry.code, 201, dry)
        self.assertEqual(self.server.call("GET", RESERVATIONS).json["items"], before)

    def test_of_two_families_and_several_values(self):
        """A Service that has more reserved than it needs gets one value; the other stays reserved.
        """
        for ip in ("10.0.0.8", "10.0.0.9"):
            self.made(reservation(ip, "default/web"), RESERVATIONS)
        got = address(self.made(service("web")))
        self.assertIn(got, ("10.0.0.8", "10.0.0.9"))
        states = {self.address_state(ip) for ip in ("10.0.0.8", "10.0.0.9")}
        self.assertEqual(states, {"Allocated", "Reserved"})
        self.audit()

    def test_made_through_networking(self):
        self.made({"metadata": {"name": "10.0.0.9"}, "spec": {"parentRef": {
            "resource": "things", "name": "x"}}}, ADDRESSES)
        self.assertEqual(self.address_state("10.0.0.9"), "Reserved")
        self.refused(422, "provided IP is already allocated", "POST", SERVICES,
                     service("a", clusterIP="10.0.0.9"))
        self.status(IP_RANGES, V4, reserved=1, used=1)
        self.done("DELETE", f"{ADDRESSES}/10.0.0.9")
        self.made(service("a", clusterIP="10.0.0.9"))

    def test_the_smallest_range_is_the_one_that_is_named(self):
        self.made(ip_range("wide", "10.0.0.0/16"), IP_RANGES)
        self.made(ip_range("narrow", "10.0.0.0/29"), IP_RANGES)
        for ip, name in (("10.0.0.5", "narrow"), ("10.0.0.9", V4), ("10.0.9.9", "wide")):
            made = self.made(reservation(ip), RESERVATIONS)
            self.assertEqual(made["spec"]["ipRangeRef"],
                             {"apiGroup": "allocation.berth.io", "kind": "IPRange", "name": name})


class CoolDownTest(HoldCase):
    """A released value is not picked again for a while, but a Service may ask for it."""

    def test_addresses(self):
        self.changed(IP_RANGES, V4, coolDownSeconds=600)
        ips = [address(self.made(service(f"s{i}"))) for i in range(13)]
        self.done("DELETE", f"{SERVICES}/s0")
        self.done("DELETE", f"{SERVICES}/s1")
        self.assertEqual(self.address_state(ips[0]), "Free")
        self.status(IP_RANGES, V4, cooling=2, used=12)
        self.refused(500, "range is full", "POST", SERVICES, service("drawn"))
        self.assertEqual(address(self.made(service("asked", clusterIP=ips[1]))), ips[1])
        self.audit()
        # A value that is released later cools down for as long as the range says then.
        self.changed(IP_RANGES, V4, coolDownSeconds=2)
        began = time.monotonic()
        self.done("DELETE", f"{SERVICES}/s2")
        wait_for(lambda: self.server.call("POST", SERVICES, service("drawn")).code == 201)
        self.assertGreater(time.monotonic() - began, 1)
        self.assertEqual(self.holder(ips[2]), "drawn")
        self.status(IP_RANGES, V4, cooling=1, used=13)
        self.audit()

    def test_ports(self):
        self.changed(PORT_RANGES, PORTS, coolDownSeconds=600)
        ports = [node_ports(self.made(service(f"s{i}", "NodePort")))[0] for i in range(8)]
        self.done("DELETE", f"{SERVICES}/s0")
        self.done("DELETE", f"{SERVICES}/s1")
        self.assertEqual(self.state(NODE_PORTS, str(ports[0])), "Free")
        self.refused(500, "range is full", "POST", SERVICES, service("drawn", "NodePort"))
        made = self.made(service("asked", "NodePort", [{"port": 80, "nodePort": ports[1]}]))
        self.assertEqual(node_ports(made), [ports[1]])
        self.changed(PORT_RANGES, PORTS, coolDownSeconds=1)
        self.done("DELETE", f"{SERVICES}/s2")
        wait_for(lambda: self.server.call("POST", SERVICES,
                                          service("drawn", "NodePort")).code == 201)
        self.assertIn(ports[2], self.port_records())
        self.audit()

    def test_it_leaves_nothing_behind(self):
        """Once it is over there are as many objects as without it."""
        self.changed(IP_RANGES, V4, coolDownSeconds=1)
        for i in range(8):
            self.made(service(f"s{i}"))
        for i in range(8):
            self.done("DELETE", f"{SERVICES}/s{i}")
        wait_for(lambda: len(self.server.call("GET", ADDRESSES).json["items"]) == 1)
        self.status(IP_RANGES, V4, cooling=0, used=1, free=13)

    def test_without_one_an_address_is_free_at_once(self):
        ips = [address(self.made(service(f"s{i}"))) for i in range(13)]
        self.done("DELETE", f"{SERVICES}/s4")
        self.assertIsNone(self.address_state(ips[4]))
        self.assertEqual(address(self.made(service("next"))), ips[4])

    def test_a_range_can_be_made_smaller_over_what_cools_down(self):
        self.changed(IP_RANGES, V4, coolDownSeconds=60)
        self.made(service("a", clusterIP="10.0.0.14"))
        self.done("DELETE", f"{SERVICES}/a")
        self.assertEqual(self.address_state("10.0.0.14"), "Free")
        self.resized(V4, "10.0.0.0/29")
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("a", clusterIP="10.0.0.14"))

    def test_it_can_be_ended_by_hand(self):
        self.changed(IP_RANGES, V4, coolDownSeconds=60)
        self.made(service("a", clusterIP="10.0.0.14"))
        self.done("DELETE", f"{SERVICES}/a")
        self.done("DELETE", f"{RESERVATIONS}/{decimal('10.0.0.14')}")
        self.assertIsNone(self.address_state("10.0.0.14"))
        self.status(IP_RANGES, V4, cooling=0)


if __name__ == "__main__":
    main()
