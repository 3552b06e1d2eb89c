"""Addresses and ports that are reserved, held, released and cooled down, on both engines.

    BERTH_BIN=build/release/berth python3 test/e2e/reservations_test.py
"""

import ipaddress
import random

from addresses import ADDRESSES, SERVICES, Audits, in_threads, node_ports, service
from harness import Case, main, wait_for

GROUP = "/apis/allocation.berth.io/v1alpha1"
FOR_WEB = {"reservedFor": {"namespace": "default", "name": "web"}}
RANGE, PORT_RANGE = "allocator.ipv4.k8s.io", "allocator.nodeport.k8s.io"


def decimal(ip):
    return str(int(ipaddress.ip_address(ip)))


class Reservations(Audits):
    """Uses `self.server`, whose ranges are 10.7.0.0/28 and 30000 to 30015."""

    FLAGS = ("--service-cluster-ip-range=10.7.0.0/28", "--service-node-port-range=30000-30015")

    def reserve(self, kind, name, code=201, **spec):
        answer = self.server.call("POST", f"{GROUP}/{kind}",
                                  {"metadata": {"name": name, "labels": {"mine": "yes"}},
                                   "spec": spec})
        self.assertEqual(answer.code, code, answer)
        return answer.json

    def find(self, kind, name):
        answer = self.server.call("GET", f"{GROUP}/{kind}/{name}")
        return answer.json if answer.code == 200 else None

    def state(self, kind, name):
        found = self.find(kind, name)
        return found and found["status"]["state"]

    def gone(self, name):
        answer = self.server.call("DELETE", f"{SERVICES}/{name}")
        self.assertEqual(answer.code, 200, answer)

    def refusal(self, body):
        answer = self.server.call("POST", SERVICES, body)
        self.assertEqual(answer.code, 422, answer)
        return answer.json["message"]

    def cool_down(self, seconds):
        for kind, name in (("ipranges", RANGE), ("nodeportranges", PORT_RANGE)):
            answer = self.server.call("PATCH", f"{GROUP}/{kind}/{name}",
                                      {"spec": {"coolDownSeconds": seconds}},
                                      {"Content-Type": "application/merge-patch+json"})
            self.assertEqual(answer.code, 200, answer)

    def test_what_is_reserved_returns_to_its_owner(self):
        ten = decimal("10.7.0.10")
        made = self.reserve("ipaddresses", ten, **FOR_WEB)
        port = self.reserve("nodeports", "30010", **FOR_WEB)
        self.assertEqual(made["spec"]["ipRangeRef"]["name"], RANGE)
        self.assertEqual(port["spec"]["nodePortRangeRef"]["name"], PORT_RANGE)
        self.assertIn("provided IP is reserved for the Service default/web",
                      self.refusal(service("other", clusterIP="10.7.0.10")))
        for _ in range(2):
            web = self.made(service("web", "NodePort"))
            self.assertEqual((web["spec"]["clusterIP"], node_ports(web)), ("10.7.0.10", [30010]))
            self.audit()
            self.assertEqual(self.state("ipaddresses", ten), "Allocated")
            refused = self.server.call("DELETE", f"{GROUP}/ipaddresses/{ten}")
            self.assertEqual(refused.code, 409, refused)
            self.assertIn("default/web", refused.json["message"])
            self.gone("web")
            for kind, name, before in (("ipaddresses", ten, made), ("nodeports", "30010", port)):
                after = self.find(kind, name)
                self.assertEqual(after["status"]["state"], "Reserved")
                for field in ("uid", "labels", "creationTimestamp"):
                    self.assertEqual(after["metadata"][field], before["metadata"][field])
        self.audit()
        self.assertEqual(self.server.call("DELETE", f"{GROUP}/ipaddresses/{ten}").code, 200)
        self.made(service("other", clusterIP="10.7.0.10"))

    def test_a_hold_that_is_redeemed_and_one_that_expires(self):
        redeemed, expired = decimal("10.7.0.3"), decimal("10.7.0.4")
        self.reserve("ipaddresses", redeemed, holdSeconds=3, **FOR_WEB)
        self.reserve("nodeports", "30003", holdSeconds=3, **FOR_WEB)
        web = self.made(service("web", "NodePort"))
        self.assertEqual((web["spec"]["clusterIP"], node_ports(web)), ("10.7.0.3", [30003]))
        for name, seconds in ((expired, 3), (decimal("10.7.0.5"), 600)):
            self.reserve("ipaddresses", name, holdSeconds=seconds,
                         reservedFor={"namespace": "default", "name": "nobody"})
        self.assertEqual(self.state("ipaddresses", decimal("10.7.0.5")), "Pending")
        self.assertIn("reserved for the Service default/nobody",
                      self.refusal(service("late", clusterIP="10.7.0.5")))
        # If the redeemed hold could still end, it would end before this one.
        wait_for(lambda: self.state("ipaddresses", expired) is None)
        self.made(service("late", clusterIP="10.7.0.4"))
        self.audit()
        self.assertEqual(self.state("nodeports", "30003"), "Allocated")
        self.gone("web")
        self.assertIsNone(self.state("ipaddresses", redeemed))
        self.audit()

    def test_what_cools_down_is_not_drawn_until_it_is_over(self):
        self.cool_down(600)
        self.made(service("a", "NodePort", [{"port": 80, "nodePort": 30005}],
                          clusterIP="10.7.0.5"))
        self.gone("a")
        five, six = decimal("10.7.0.5"), decimal("10.7.0.6")
        self.assertEqual((self.state("ipaddresses", five), self.state("nodeports", "30005")),
                         ("Free", "Free"))
        drawn = [self.made(service(f"s{i}")) for i in range(10)]
        self.assertNotIn("10.7.0.5", [each["spec"]["clusterIP"] for each in drawn])
        for i in range(10):
            self.gone(f"s{i}")
        self.audit()

        self.cool_down(2)
        self.made(service("b", clusterIP="10.7.0.5"))
        self.gone("b")
        self.made(service("c", clusterIP="10.7.0.5"))  # A Service may ask for it,
        self.made(service("d", clusterIP="10.7.0.6"))
        self.gone("d")
        wait_for(lambda: self.state("ipaddresses", six) is None)  # This began later.
        self.audit()  # and it keeps it.
        self.assertEqual(self.state("ipaddresses", five), "Allocated")
        self.cool_down(0)
        self.gone("c")
        self.assertIsNone(self.state("ipaddresses", five))

    def test_many_fight_for_what_is_reserved_for_one(self):
        nine = decimal("10.7.0.9")
        self.reserve("ipaddresses", nine, **FOR_WEB)
        outcomes = []

        def fight(worker):
            for _ in range(20):
                name = "web" if worker == 0 else f"w{worker}"
                answer = self.server.call("POST", SERVICES, service(name, clusterIP="10.7.0.9"))
                outcomes.append((worker, answer.code))
                if answer.code == 201:
                    self.gone(name)
        in_threads(4, fight)
        self.assertEqual({code for worker, code in outcomes if worker == 0}, {201})
        self.assertEqual({code for worker, code in outcomes if worker != 0}, {422})
        self.assertEqual(self.state("ipaddresses", nine), "Reserved")
        self.audit()

    def test_a_service_names_its_range(self):
        made = self.server.call("POST", f"{GROUP}/ipranges",
                                {"metadata": {"name": "blue"}, "spec": {"range": "10.8.0.0/24"}})
        self.assertEqual(made.code, 201, made)
        body = service("web")
        body["metadata"]["annotations"] = {"allocation.berth.io/ip-range": "blue"}
        ip = self.made(body)["spec"]["clusterIP"]
        self.assertTrue(ip.startswith("10.8.0."), ip)
        self.assertEqual(self.find("ipaddresses", decimal(ip))["spec"]["ipRangeRef"]["name"], "blue")
        body["metadata"] = {"name": "x", "annotations": {"allocation.berth.io/ip-range": "red"}}
        self.assertIn('metadata.annotations[allocation.berth.io/ip-range]: Invalid value: "red": '
                      'there is no range "red" of addresses', self.refusal(body))
        self.audit()

    def test_what_the_store_has_is_what_the_next_server_finds(self):
        self.cool_down(600)
        self.reserve("ipaddresses", decimal("10.7.0.2"), **FOR_WEB)
        self.reserve("ipaddresses", decimal("10.7.0.3"), holdSeconds=600, **FOR_WEB)
        self.made(service("a", clusterIP="10.7.0.4"))
        self.gone("a")
        before = self.server.call("GET", f"{GROUP}/ipaddresses").json["items"]
        self.assertEqual(sorted(each["status"]["state"] for each in before),
                         ["Allocated", "Free", "Pending", "Reserved"])
        self.again()
        self.assertEqual(self.server.call("GET", f"{GROUP}/ipaddresses").json["items"], before)
        self.assertIn("10.7.0.2: provided IP is reserved for the Service default/web",
                      self.refusal(service("b", clusterIP="10.7.0.2")))
        self.assertEqual(len(self.server.call("GET", ADDRESSES).json["items"]), 4)


class EmbeddedTest(Reservations, Case):
    def setUp(self):
        super().setUp()
        self.server = Case.server(self, *self.FLAGS)

    def again(self):
        self.server.stop()
        self.server = Case.server(self, *self.FLAGS)


class EtcdTest(Reservations, Case):
    def setUp(self):
        super().setUp()
        self.store = self.etcd()
        self.server = Case.server(self, "--etcd-servers", self.store.url, *self.FLAGS)

    def again(self):
        self.server.stop()
        self.server = Case.server(self, "--etcd-servers", self.store.url, *self.FLAGS)

    def test_two_replicas_take_and_give_back_the_same(self):
        other = Case.server(self, "--etcd-servers", self.store.url, *self.FLAGS, data="other")
        self.cool_down(1)
        ten = decimal("10.7.0.10")
        first = self.reserve("ipaddresses", ten, **FOR_WEB)
        self.reserve("nodeports", "30010", **FOR_WEB)
        codes = set()

        def fight(worker):
            chance = random.Random(worker)
            for _ in range(60):
                server = chance.choice((self.server, other))
                name = chance.choice(("web", "web", "a", "b"))
                if chance.random() < 0.5:
                    ip = chance.choice(("10.7.0.10", "10.7.0.11", "10.7.0.12", None))
                    port = chance.choice((30010, 30011, None))
                    ports = [{"port": 80, **({"nodePort": port} if port else {})}]
                    body = service(name, "NodePort", ports, clusterIP=ip)
                    answer = server.call("POST", SERVICES, body)
                    # So many values may be cooling that there is nothing left to pick.
                    full = answer.code == 500 and "range is full" in answer.json["message"]
                    codes.add(("create", "full" if full else answer.code))
                else:
                    codes.add(("delete", server.call("DELETE", f"{SERVICES}/{name}").code))
        in_threads(6, fight)
        self.assertLessEqual(codes, {("create", 201), ("create", 409), ("create", 422),
                                     ("create", "full"), ("delete", 200), ("delete", 404)})
        wait_for(lambda: {each["metadata"]["resourceVersion"] for each in
                          self.server.call("GET", ADDRESSES).json["items"]} ==
                 {each["metadata"]["resourceVersion"] for each in
                  other.call("GET", ADDRESSES).json["items"]})
        self.audit()
        self.audit(other)
        for server in (self.server, other):
            server.call("DELETE", f"{SERVICES}/web")
        after = self.find("ipaddresses", ten)
        self.assertEqual((after["status"]["state"], after["metadata"]["uid"]),
                         ("Reserved", first["metadata"]["uid"]))
        self.assertEqual(self.state("nodeports", "30010"), "Reserved")


if __name__ == "__main__":
    main()
