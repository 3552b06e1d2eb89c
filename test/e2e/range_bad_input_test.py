"""Refusals of ranges, reservations and ServiceCIDRs: each has a message that says why, and nothing
is half-written.

    BERTH_BIN=build/release/berth python3 test/e2e/range_bad_input_test.py
"""


from addresses import ADDRESSES, MERGE, SERVICES, service
from harness import SharedServerCase, main
from ranges import (CIDRS, IP_RANGES, NODE_PORTS, PORT_RANGES, PORTS, REPLICAS, RESERVATIONS, V4,
                    Ranges, annotated, cidr, decimal, ip_range, port_range, port_reservation,
                    reservation)

KINDS = {IP_RANGES: "IPRange.allocation.berth.io", PORT_RANGES: "NodePortRange.allocation.berth.io",
         RESERVATIONS: "IPAddress.allocation.berth.io", NODE_PORTS: "NodePort.allocation.berth.io",
         CIDRS: "ServiceCIDR.networking.k8s.io"}


class RangeBadInputTest(Ranges, SharedServerCase):
    FLAGS = ("--service-cluster-ip-range=10.0.0.0/24", "--service-node-port-range=30000-30999")

    def setUp(self):
        super().setUp()
        self.before = self.everything()

    def everything(self):
        """Returns all specs, by path."""
        return {path: {each["metadata"]["name"]: each["spec"]
                       for each in self.server.call("GET", path).json["items"]}
                for path in (*KINDS, ADDRESSES, SERVICES)}

    def invalid(self, path, body, *problems):
        """Checks the errors of a create. Each problem is the field and the message about it."""
        answer = self.server.call("POST", path, body)
        self.assertEqual((answer.code, answer.json["reason"]), (422, "Invalid"), answer)
        self.assertTrue(answer.json["message"].startswith(
            f'{KINDS[path]} "{body["metadata"].get("name", "")}" is invalid: '), answer)
        self.assertEqual(len(answer.json["details"]["causes"]), len(problems), answer)
        for problem in problems:
            self.assertIn(problem, answer.json["message"])
        self.assertEqual(self.everything(), self.before)

    def test_ranges_of_addresses(self):
        for text, why in (
                ("10.1.0.1/16", "must not have bits set beyond the prefix length; the CIDR that "
                                'has this address is "10.1.0.0/16"'),
                ("fd00::1/64", "must not have bits set beyond the prefix length; the CIDR that has "
                               'this address is "fd00::/64"'),
                ("10.1.0.0/31", "a /31 has no address to give out"),
                ("10.1.0.1/32", "a /32 has no address to give out"),
                ("fd00::1/128", "a /128 has no address to give out"),
                ("0.0.0.0/0", "0.0.0.0/0 is every IPv4 address there is"),
                ("::/96", "no address of ::/96 is given out"),
                ("10.1.0.0/33", "must be a valid CIDR value"),
                ("10.1.0.0", "must be a valid CIDR value"),
                ("10.1.0.0-10.1.0.9", "must be a valid CIDR value"),
                ("010.1.0.0/16", "must not have leading 0s"),
                ("::ffff:10.1.0.0/112", "must not have an IPv4-mapped IPv6 address")):
            with self.subTest(text):
                self.invalid(IP_RANGES, ip_range("x", text),
                             f'spec.range: Invalid value: "{text}": {why}')
        self.invalid(IP_RANGES, ip_range("x", ""), "spec.range: Required value: the CIDR of the "
                     "range, (e.g. 10.9.8.0/24 or 2001:db8::/64)")
        self.invalid(IP_RANGES, ip_range(V4.replace("ipv4", "ipv6"), "10.1.0.0/16"),
                     "must be IPv6: the name allocator.ipv6.k8s.io is that of the IPv6 range")

    def test_ranges_of_ports(self):
        for text, why in (
                ("200-100", "must not end before it begins; from the smaller to the larger port it "
                            'is "100-200"'),
                ("0-100", 'must not have port 0, which means "no port" in a Service; the first one '
                          "is 1"),
                ("0", "must not have port 0"),
                ("1-65536", "must not have a port above 65535, which is the last one there is"),
                ("99999999999999999999", "must not have a port above 65535"),
                ("http", "must be a port or a range of ports, (e.g. 443 or 30000-32767)"),
                ("80,443", "must be a port or a range of ports"),
                ("-80", "must be a port or a range of ports"),
                ("080", "must not have leading 0s")):
            with self.subTest(text):
                self.invalid(PORT_RANGES, port_range("x", text),
                             f'spec.range: Invalid value: "{text}": {why}')

    def test_what_else_a_range_says(self):
        self.invalid(IP_RANGES, ip_range("x", "10.1.0.0/16", excluded=["10.1.0.1"] * 10_000),
                     "spec.excluded: Too many: 10000: must have at most 4096 items")
        self.invalid(IP_RANGES, ip_range("x", "10.1.0.0/16", excluded=["10.1.0.5/24", "nine"]),
                     "spec.excluded[0]: ", 'spec.excluded[1]: Invalid value: "nine": ')
        self.invalid(IP_RANGES, ip_range("x", "10.1.0.0/16", excluded=["fd00::1"]),
                     'spec.excluded[0]: Invalid value: "fd00::1": must be of the IP family of '
                     "spec.range, which is IPv4")
        self.invalid(PORT_RANGES, port_range("x", "80-90", excluded=["85-81"]),
                     'spec.excluded[0]: Invalid value: "85-81": must not end before it begins')
        self.invalid(IP_RANGES, ip_range("x", "10.1.0.0/28", staticBand=100),
                     "spec.staticBand: Invalid value: 100: a static band of 100 does not fit: the "
                     "range has 14 usable values")
        self.invalid(IP_RANGES, ip_range("x", "10.1.0.0/28", staticBand=-1, coolDownSeconds=86401),
                     "spec.staticBand: Invalid value: -1: must be greater than or equal to 0",
                     "spec.coolDownSeconds: Invalid value: 86401: must be between 0 and 86400, "
                     "inclusive")
        for field, value in (("priority", 2**63), ("priority", "high"), ("primary", "yes"),
                             ("excluded", "10.1.0.1")):
            answer = self.server.call("POST", IP_RANGES,
                                      ip_range("x", "10.1.0.0/16", **{field: value}))
            self.assertEqual(answer.code, 400, answer)
        self.assertEqual(self.everything(), self.before)

    def test_a_change_of_the_family(self):
        self.refused(422, 'spec.range: Invalid value: "fd00::/64": must stay IPv4: the IP family '
                     "of a range cannot be changed; create another IPRange for IPv6", "PATCH",
                     f"{IP_RANGES}/{V4}", {"spec": {"range": "fd00::/64"}}, MERGE)
        self.refused(422, "must not have bits set beyond the prefix length", "PATCH",
                     f"{IP_RANGES}/{V4}", {"spec": {"range": "10.0.0.1/16"}}, MERGE)
        self.refused(422, "must not end before it begins", "PATCH", f"{PORT_RANGES}/{PORTS}",
                     {"spec": {"range": "31000-30000"}}, MERGE)
        self.assertEqual(self.everything(), self.before)

    def test_names_of_addresses(self):
        for name, why in (
                ("340282366920938463463374607431768211456",
                 "must not be greater than 340282366920938463463374607431768211455, the number of "
                 "the last IPv6 address"),
                ("9" * 200, "must not be greater than"),
                ("10.0.0.7", 'must be the address as a decimal number, which is "167772167"'),
                ("0167772167", "must not have leading 0s"),
                ("-1", ""), ("dns", ""),
                (decimal("::ffff:10.0.0.7"), "must not be the number of an address of "
                                             "::ffff:0:0/96")):
            with self.subTest(name):
                body = reservation("10.0.0.7")
                body["metadata"]["name"] = name
                self.invalid(RESERVATIONS, body,
                             f'metadata.name: Invalid value: "{name}": {why}')
        nameless = reservation("10.0.0.7", address="10.0.0.7")
        del nameless["metadata"]["name"]
        self.invalid(RESERVATIONS, nameless, "metadata.name: Required value: it is the address as "
                     'a decimal number, "167772167"')
        self.invalid(RESERVATIONS, reservation("10.0.0.7", address="10.0.0.8"),
                     'spec.address: Invalid value: "10.0.0.8": must be "10.0.0.7", which the name '
                     '"167772167" stands for; the name of this address is "167772168"')

    def test_names_of_ports(self):
        for name in ("0", "65536", "080", "http", "99999999999999999999"):
            self.invalid(NODE_PORTS, port_reservation(name), f'metadata.name: Invalid value: '
                         f'"{name}": must be the number of a port, from 1 to 65535 and without '
                         "leading 0s, (e.g. 30080)")

    def test_reservations_outside(self):
        self.invalid(RESERVATIONS, reservation("192.168.0.1"),
                     'spec.address: Invalid value: "192.168.0.1": no range has this address')
        self.invalid(RESERVATIONS, reservation("10.0.0.0"), "no range has this address")
        self.invalid(RESERVATIONS, reservation("10.0.0.255"), "no range has this address")
        self.invalid(RESERVATIONS, reservation("192.168.0.1", ipRangeRef={"name": V4}),
                     f'spec.ipRangeRef.name: Invalid value: "{V4}": it is the range 10.0.0.0/24, '
                     "which does not have 192.168.0.1")
        self.invalid(RESERVATIONS, reservation("10.0.0.9", ipRangeRef={"name": "blue"}),
                     'spec.ipRangeRef.name: Invalid value: "blue": there is no such IPRange of '
                     "IPv4 addresses")
        self.invalid(RESERVATIONS, reservation("10.0.0.9", ipRangeRef={
            "apiGroup": "networking.k8s.io", "kind": "Thing", "name": V4}),
                     "spec.ipRangeRef.apiGroup: Unsupported value", "spec.ipRangeRef.kind: "
                     "Unsupported value")
        self.invalid(NODE_PORTS, port_reservation(80),
                     'metadata.name: Invalid value: "80": no range has this port')
        self.invalid(NODE_PORTS, port_reservation(80, nodePortRangeRef={"name": PORTS}),
                     "it is the range 30000-30999, which does not have 80")

    def test_reservations_of_what_is_taken(self):
        self.made(service("a", "NodePort", [{"port": 80, "nodePort": 30005}],
                          clusterIP="10.0.0.44"))
        self.addCleanup(self.done, "DELETE", f"{SERVICES}/a")
        for path, name in ((RESERVATIONS, decimal("10.0.0.44")), (NODE_PORTS, "30005")):
            body = {"metadata": {"name": name}, "spec": {}}
            answer = self.server.call("POST", path, body)
            self.assertEqual((answer.code, answer.json["reason"]), (409, "AlreadyExists"), answer)
            self.assertIn(f'"{name}" already exists', answer.json["message"])
            self.refused(409, 'the Service "default/a" has this', "DELETE", f"{path}/{name}")

    def test_holds(self):
        alone = ("spec.reservedFor: Required value: a hold is for a Service: name it, or leave "
                 "holdSeconds out to reserve without an end")
        self.invalid(RESERVATIONS, reservation("10.0.0.9", holdSeconds=5), alone)
        self.invalid(NODE_PORTS, port_reservation(30009, holdSeconds=5), alone)
        for seconds in (-1, 0, 86401):
            self.invalid(RESERVATIONS, reservation("10.0.0.9", "default/a", holdSeconds=seconds),
                         f"spec.holdSeconds: Invalid value: {seconds}: must be between 1 and "
                         "86400, inclusive")
        self.invalid(RESERVATIONS, reservation("10.0.0.9", "/"),
                     "spec.reservedFor.namespace: Required value",
                     "spec.reservedFor.name: Required value")
        self.invalid(RESERVATIONS, reservation("10.0.0.9", "Default/a_b"),
                     'spec.reservedFor.namespace: Invalid value: "Default"',
                     'spec.reservedFor.name: Invalid value: "a_b"')

    def test_service_cidrs(self):
        for cidrs, why in (
                (["10.1.0.0/33"], "spec.cidrs[0]: Invalid value: \"10.1.0.0/33\": must be a valid "
                                  "CIDR value"),
                (["fd00::/129"], "must be a valid CIDR value"),
                (["10.1.0.1/24"], "must not have bits set beyond the prefix length"),
                ([], "spec.cidrs: Required value: at least one CIDR required"),
                (["10.1.0.0/24", "10.2.0.0/24"], "may specify no more than one IP for each IP "
                                                 "family"),
                (["10.1.0.0/24", "fd00::/64", "fd01::/64"], "may only hold up to 2 values")):
            self.invalid(CIDRS, cidr("x", *cidrs), why)

    def test_annotations(self):
        path = "metadata.annotations[allocation.berth.io/ip-range]"
        self.refused(422, f'{path}: Invalid value: "Bad_Name": there is no range "Bad_Name" of '
                     "addresses", "POST", SERVICES, annotated(service("a"), ip_range="Bad_Name"))
        self.refused(422, 'metadata.annotations[allocation.berth.io/node-port-range]: Invalid '
                     'value: "none": there is no range "none" of ports', "POST", SERVICES,
                     annotated(service("a", "NodePort"), port_range="none"))
        self.assertEqual(self.everything(), self.before)

    def test_a_status_that_is_written_by_hand(self):
        """In a write of the object it is ignored. A write of the status is soon corrected."""
        right = self.get(IP_RANGES, V4)["status"]
        wrong = {"status": {"free": 7, "used": 9, "total": "3", "conditions": []}}
        kept = self.done("PATCH", f"{IP_RANGES}/{V4}", wrong, MERGE)
        self.assertEqual(kept["status"]["free"], right["free"])
        self.done("PATCH", f"{IP_RANGES}/{V4}/status", wrong, MERGE)
        self.status(IP_RANGES, V4, free=right["free"], used=right["used"], total=right["total"])
        self.assertEqual(len(self.get(IP_RANGES, V4)["status"]["conditions"]), 5)
        # A spec in a write of the status is ignored too.
        kept = self.done("PATCH", f"{IP_RANGES}/{V4}/status", {"spec": {"range": "10.0.0.0/28"}},
                         MERGE)
        self.assertEqual(kept["spec"]["range"], "10.0.0.0/24")
        # So is a status in a create.
        made = self.made({**ip_range("x", "10.1.0.0/16"), "status": {"free": 1}}, IP_RANGES)
        self.assertNotEqual(made.get("status", {}).get("free"), 1)
        self.status(IP_RANGES, "x", free=65534)
        self.done("DELETE", f"{IP_RANGES}/x")

    def test_what_is_written_by_the_server_only(self):
        replica = self.server.call("GET", REPLICAS).json["items"][0]
        name = replica["metadata"]["name"]
        for method, path, body in (("POST", REPLICAS, {"metadata": {"name": "x"}}),
                                   ("PUT", f"{REPLICAS}/{name}", replica),
                                   ("DELETE", f"{REPLICAS}/{name}", None),
                                   ("DELETE", REPLICAS, None)):
            answer = self.server.call(method, path, body)
            self.assertEqual(answer.code, 405, answer)

    def test_a_stale_change(self):
        """A client that writes on an outdated version gets a conflict."""
        old = self.get(PORT_RANGES, PORTS)
        self.resized(PORTS, "30000-31999")
        self.addCleanup(self.resized, PORTS, "30000-30999")
        old["spec"]["range"] = "30000-30500"
        answer = self.server.call("PUT", f"{PORT_RANGES}/{PORTS}", old)
        self.assertEqual((answer.code, answer.json["reason"]), (409, "Conflict"), answer)
        self.assertEqual(self.get(PORT_RANGES, PORTS)["spec"]["range"], "30000-31999")


if __name__ == "__main__":
    main()
