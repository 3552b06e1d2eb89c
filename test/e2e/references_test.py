"""The range that a record names exists and contains its value, however ranges change, and a record
names the uid of its Service.

    BERTH_BIN=build/release/berth python3 test/e2e/references_test.py
"""

import json

from addresses import ADDRESSES, MERGE, SERVICES, service, version
from harness import Case, main
from ranges import (CIDRS, IP_RANGES, NODE_PORTS, PORT_RANGES, PORTS, RESERVATIONS, V4, Ranges,
                    annotated, cidr, decimal, ip_range, port_range, port_reservation, reservation)

APPLY = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


class ReferencesTest(Ranges, Case):

    def setUp(self):
        super().setUp()
        self.server = super().server("--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112",
                                     "--service-node-port-range=30000-30099")

    def address_range(self, ip):
        """Returns the name of the range as GET, LIST, a Table and a new watch show it."""
        return self.shown(RESERVATIONS, decimal(ip), "ipRangeRef")

    def port_range(self, port):
        return self.shown(NODE_PORTS, str(port), "nodePortRangeRef")

    def shown(self, path, name, field):
        seen = [self.get(path, name)]
        seen += [each for each in self.server.call("GET", path).json["items"]
                 if each["metadata"]["name"] == name]
        seen.append(self.watched(path, name))
        self.assertEqual(len(seen), 3)
        names = {each["spec"].get(field, {}).get("name") for each in seen}
        table = self.server.call("GET", f"{path}/{name}", None, TABLE).json
        column = [each["name"] for each in table["columnDefinitions"]].index("Range")
        cell = table["rows"][0]["cells"][column]
        names.add(None if cell == "<none>" else cell)
        self.assertEqual(len(names), 1, names)
        return names.pop()

    def watched(self, path, name):
        """Returns the object in the first event of a watch."""
        connection = self.server.connection()
        connection.request("GET", f"{path}?watch=1&fieldSelector=metadata.name%3D{name}",
                           headers={"Authorization": f"Bearer {self.server.TOKEN}"})
        event = json.loads(connection.getresponse().readline())
        connection.close()
        return event["object"]

    def test_a_range_that_goes_while_another_one_covers_it(self):
        self.made(ip_range("small", "10.7.0.0/28"), IP_RANGES)
        self.made(annotated(service("a"), ip_range="small"))
        ip = self.get(SERVICES, "a")["spec"]["clusterIP"]
        self.assertEqual(self.address_range(ip), "small")
        self.made(ip_range("large", "10.7.0.0/24"), IP_RANGES)
        self.made(ip_range("huge", "10.7.0.0/16"), IP_RANGES)
        self.assertEqual(self.address_range(ip), "small")
        self.done("DELETE", f"{IP_RANGES}/small")
        self.assertEqual(self.address_range(ip), "large")
        self.changed(IP_RANGES, "large", range="10.7.9.0/24")
        self.assertEqual(self.address_range(ip), "huge")
        self.made(cidr("small", "10.7.0.0/28"), CIDRS)
        self.assertEqual(self.get(RESERVATIONS, decimal(ip))["spec"]["ipRangeRef"],
                         {"apiGroup": "networking.k8s.io", "kind": "ServiceCIDR", "name": "small"})
        self.audit()

    def test_the_first_range_gives_values_up(self):
        """Its name is not stored with the records, since most values are of it."""
        self.made(service("a", clusterIP="10.0.0.200"))
        self.assertEqual(self.address_range("10.0.0.200"), V4)
        self.made(ip_range("upper", "10.0.0.128/25"), IP_RANGES)
        self.assertEqual(self.address_range("10.0.0.200"), V4)
        self.resized(V4, "10.0.0.0/25")
        self.assertEqual(self.address_range("10.0.0.200"), "upper")
        self.resized(V4, "10.0.0.0/16")
        self.assertEqual(self.address_range("10.0.0.200"), V4)
        self.audit()

    def test_ports(self):
        self.made(port_range("web", "80-90"), PORT_RANGES)
        self.made(service("a", "NodePort", [{"port": 80, "nodePort": 80}]))
        self.made(service("b", "NodePort", [{"port": 80, "nodePort": 30050}]))
        self.assertEqual((self.port_range(80), self.port_range(30050)), ("web", PORTS))
        self.made(port_range("low", "1-1000"), PORT_RANGES)
        self.made(port_range("high", "30020-40000"), PORT_RANGES)
        self.done("DELETE", f"{PORT_RANGES}/web")
        self.resized(PORTS, "30000-30010")
        self.assertEqual((self.port_range(80), self.port_range(30050)), ("low", "high"))
        self.audit()

    def test_reservations(self):
        """A range that the client named is kept as long as that is true."""
        self.made(ip_range("small", "10.7.0.0/28"), IP_RANGES)
        self.made(ip_range("large", "10.7.0.0/24"), IP_RANGES)
        self.made(reservation("10.7.0.5", ipRangeRef={"name": "large"}), RESERVATIONS)
        self.made({"metadata": {"name": "10.7.0.6"}, "spec": {"parentRef": {
            "group": "example.com", "resource": "routers", "name": "r"}}}, ADDRESSES)
        self.made({"metadata": {"name": "10.99.0.6"}, "spec": {"parentRef": {
            "group": "example.com", "resource": "routers", "name": "r"}}}, ADDRESSES)
        self.assertEqual(self.address_range("10.7.0.5"), "large")
        self.assertEqual(self.address_range("10.7.0.6"), "small")
        self.assertIsNone(self.address_range("10.99.0.6"))
        self.done("DELETE", f"{IP_RANGES}/large")
        self.assertEqual(self.address_range("10.7.0.5"), "small")
        self.audit()

    def test_a_port_is_updated_with_what_was_seen(self):
        self.made(port_range("web", "80-90"), PORT_RANGES)
        self.made(port_reservation(81, "default/later"), NODE_PORTS)
        self.made(port_range("low", "1-1000"), PORT_RANGES)
        self.done("DELETE", f"{PORT_RANGES}/web")
        path = f"{NODE_PORTS}/81"
        seen = self.get(NODE_PORTS, "81")
        self.assertEqual(seen["spec"]["nodePortRangeRef"]["name"], "low")
        self.assertEqual(version(self.done("PUT", path, seen)), version(seen), "nothing changes")
        seen["metadata"]["labels"] = {"a": "b"}
        self.assertEqual(self.done("PUT", path, seen)["spec"], seen["spec"])
        self.done("PATCH", path, {"metadata": {"labels": {"c": "d"}}}, MERGE)
        seen["spec"]["nodePortRangeRef"]["name"] = "web"
        del seen["metadata"]["resourceVersion"]
        self.refused(422, "spec.nodePortRangeRef: Invalid value", "PUT", path, seen)
        self.assertEqual(self.port_range(81), "low")

    def test_apply_what_was_seen(self):
        self.made(ip_range("small", "10.7.0.0/28"), IP_RANGES)
        self.made(port_range("web", "80-90"), PORT_RANGES)
        one = reservation("10.7.0.5", ipRangeRef={"name": "small"})
        other = port_reservation(82, nodePortRangeRef={"name": "web"})
        paths = (f"{RESERVATIONS}/{decimal('10.7.0.5')}?fieldManager=m",
                 f"{NODE_PORTS}/82?fieldManager=m")
        for path, body in zip(paths, (one, other)):
            self.assertEqual(self.server.call("PATCH", path, body, APPLY).code, 201)
        self.made(ip_range("large", "10.7.0.0/24"), IP_RANGES)
        self.made(port_range("low", "1-1000"), PORT_RANGES)
        self.done("DELETE", f"{IP_RANGES}/small")
        self.done("DELETE", f"{PORT_RANGES}/web")
        for path, body, code in zip(paths, (one, other), (405, 422)):
            self.assertEqual(self.server.call("PATCH", path, body, APPLY).code, code)
        one["spec"]["ipRangeRef"]["name"] = "large"
        other["spec"]["nodePortRangeRef"]["name"] = "low"
        for path, body in zip(paths, (one, other)):
            self.done("PATCH", path, body, APPLY)
        del one["spec"]["ipRangeRef"]
        self.done("PATCH", paths[0], one, APPLY)
        self.assertEqual((self.address_range("10.7.0.5"), self.port_range(82)), ("large", "low"))

    def test_the_uid_of_the_service(self):
        self.made(reservation("10.0.0.9", "default/a"), RESERVATIONS)
        uid = None
        for _ in range(2):
            made = self.made(service("a", ipFamilyPolicy="RequireDualStack"))
            self.assertNotEqual(made["metadata"]["uid"], uid)
            uid = made["metadata"]["uid"]
            for ip in made["spec"]["clusterIPs"]:
                self.assertEqual(self.get(RESERVATIONS, decimal(ip))["status"]["service"],
                                 {"namespace": "default", "name": "a", "uid": uid})
            self.done("DELETE", f"{SERVICES}/a")
            self.assertNotIn("service", self.get(RESERVATIONS, decimal("10.0.0.9"))["status"])
        stored = self.server.call("GET", f"{ADDRESSES}/10.0.0.1")
        self.assertNotIn("internal.allocation", stored.body.decode())
        self.audit()


if __name__ == "__main__":
    main()
