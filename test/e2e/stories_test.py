"""Stories of users that want certain addresses and ports, and of ranges that fill up.

    BERTH_BIN=build/release/berth python3 test/e2e/stories_test.py

The last test waits until default/kubernetes is created again, ten seconds after the first test
deleted it.
"""

import ipaddress
import tempfile
import unittest

from addresses import (BITMAPS_FLAG, SERVICES, Audits, BitmapAudits, Client, balancer, in_threads,
                       node_ports, service)
from harness import Case, Server, main, wait_for

KUBERNETES = f"{SERVICES}/kubernetes"


def setUpModule():
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    KubernetesTest.server = Server(folder.name)
    unittest.addModuleCleanup(KubernetesTest.server.stop)
    KubernetesTest.first = KubernetesTest.server.call("GET", KUBERNETES).json
    KubernetesTest.deleted = KubernetesTest.server.call("DELETE", KUBERNETES)


def load_tests(_loader, tests, _pattern):
    """Puts the test that waits last."""
    return unittest.TestSuite(sorted(tests, key=lambda each: "KubernetesTest" in str(each)))


def number(ip):
    return int(ipaddress.ip_address(ip))


class BandsTest(Audits, Case):
    """Hard-coded values lie in the lower bands, where picks do not go by themselves."""

    FLAGS = ()

    def test_dns_and_minio_after_300_others(self):
        server = self.server = Server(self.folder, *self.FLAGS)
        self.addCleanup(server.stop)
        made = []

        def create(worker):
            client = Client(server)
            for i in range(75):
                answer = client.call("POST", SERVICES, service(f"s-{worker}-{i}", "NodePort"))
                self.assertEqual(answer.code, 201, answer)
                made.append(answer.json)
            client.close()
        in_threads(4, create)

        addresses = [each["spec"]["clusterIP"] for each in made]
        ports = [node_ports(each)[0] for each in made]
        self.assertEqual((len(set(addresses)), len(set(ports))), (300, 300))
        self.assertGreaterEqual(min(map(number, addresses)), number("10.96.1.1"))
        self.assertLessEqual(max(map(number, addresses)), number("10.96.255.254"))
        self.assertGreaterEqual(min(ports), 30086)
        self.assertLessEqual(max(ports), 32767)
        # They are not consecutive: a value says nothing about the next one.
        self.assertGreater(len({port - 30086 >= 1341 for port in ports}), 1)

        dns = self.made({**service("kube-dns", clusterIP="10.96.0.10"),
                         "metadata": {"name": "kube-dns", "namespace": "kube-system"}},
                        "/api/v1/namespaces/kube-system/services")
        self.assertEqual(dns["spec"]["clusterIPs"], ["10.96.0.10"])
        minio = self.made(service("minio", "NodePort", [{
            "name": "api", "nodePort": 30009, "port": 9000, "protocol": "TCP",
            "targetPort": 9000}], selector={"app": "minio"}))
        self.assertEqual(node_ports(minio), [30009])
        self.assertEqual(len(self.audit()), 303)


class SpillTest(Audits, Case):
    """Uses a /27 and 48 ports: picks use the upper band as long as it has a free value, then the
    lower one, to the last value."""

    FLAGS = ()

    def setUp(self):
        super().setUp()
        self.server = Server(self.folder, "--service-cluster-ip-range=10.7.0.0/27",
                             "--service-node-port-range=31000-31047", *self.FLAGS)
        self.addCleanup(self.server.stop)

    def full(self, body, message, *warnings):
        """Checks that it is refused, with advice, and has taken nothing."""
        before = self.address_records(), self.port_records()
        answer = self.server.call("POST", SERVICES, body)
        self.assertEqual((answer.code, answer.json["reason"]), (500, "InternalError"), answer)
        self.assertEqual(answer.json["message"], f"Internal error occurred: {message}")
        self.assertEqual(answer.json["details"]["causes"], [{"message": message}])
        for warning in warnings:
            self.assertIn(warning, answer.headers["warning"])
        self.assertTrue(answer.headers["warning"].startswith("299 - "), answer.headers)
        self.assertEqual((self.address_records(), self.port_records()), before)

    def test_addresses(self):
        drawn = [self.made(service(f"s{i}"))["spec"]["clusterIP"] for i in range(29)]
        self.assertEqual({number(ip) for ip in drawn[:14]},
                         set(range(number("10.7.0.17"), number("10.7.0.31"))))
        # 10.7.0.1 belongs to default/kubernetes.
        self.assertEqual({number(ip) for ip in drawn[14:]},
                         set(range(number("10.7.0.2"), number("10.7.0.17"))))
        advice = ("range 10.7.0.0/27 (allocator.ipv4.k8s.io) is full: 14 of 14 in the dynamic band and 16 of "
                  "16 in the static band are taken; delete Services that are no longer needed")
        why = 'failed to allocate a serviceIP for Service "more": range is full'
        for kind in (None, "NodePort", "LoadBalancer"):
            self.full(service("more", kind), why, advice, "make the range larger")
        # A Service that needs no address can still be created.
        self.made(service("headless", clusterIP="None"))
        self.refused(422, "provided IP is already allocated", "POST", SERVICES,
                     service("more", clusterIP="10.7.0.20"))
        self.audit()
        # Any released value is the next one to be picked, from the upper band or the lower.
        for ip in ("10.7.0.29", "10.7.0.5", "10.7.0.17"):
            self.done("DELETE", f"{SERVICES}/{self.holder(ip)}")
            self.assertEqual(self.made(service(f"next-{number(ip)}"))["spec"]["clusterIP"], ip)
        self.full(service("more"), why, advice)

    def test_ports(self):
        drawn = []
        for i in range(23):
            drawn += node_ports(self.made(service(f"s{i}", "NodePort", 2)))
        drawn += node_ports(self.made(service("one", "NodePort")))
        # One port is left. That is too few for two, and this Service does not get half of what it
        # needs.
        advice = ("range 31000-31047 (allocator.nodeport.k8s.io) is full: 32 of 32 in the dynamic "
                  "band and 15 of 16 in the static band are taken")
        self.full(service("two", "NodePort", 2), "failed to allocate a nodePort: range is full",
                  advice)
        drawn += node_ports(self.made(service("last", "NodePort")))
        self.assertEqual(set(drawn[:32]), set(range(31016, 31048)))
        self.assertEqual(set(drawn[32:]), set(range(31000, 31016)))

        advice = advice.replace("15 of 16", "16 of 16")
        for kind in ("NodePort", "LoadBalancer"):
            self.full(service("more", kind), "failed to allocate a nodePort: range is full",
                      advice, "allocateLoadBalancerNodePorts: false", "make the range larger")
        self.full(balancer("more", False, externalTrafficPolicy="Local"),
                  "failed to allocate a HealthCheck NodePort 0: range is full", advice)
        self.made(balancer("without", False))
        self.made(service("plain"))
        self.refused(422, "provided port is already allocated", "POST", SERVICES,
                     service("more", "NodePort", [{"port": 80, "nodePort": 31007}]))
        self.audit()
        self.done("DELETE", f"{SERVICES}/last")
        self.assertEqual(node_ports(self.made(service("again", "NodePort"))), [drawn[-1]])

    def test_a_static_value_may_lie_anywhere(self):
        for ip, port in (("10.7.0.2", 31000), ("10.7.0.16", 31015), ("10.7.0.17", 31016),
                         ("10.7.0.30", 31047)):
            made = self.made(service(f"s{port}", "NodePort", [{"port": 80, "nodePort": port}],
                                     clusterIP=ip))
            self.assertEqual(node_ports(made), [port])
            self.assertEqual(made["spec"]["clusterIP"], ip)
        for ip in ("10.7.0.0", "10.7.0.31", "10.7.0.32", "10.6.255.255"):
            self.refused(422, f"failed to allocate IP {ip}: the provided network does not match "
                         "the current range", "POST", SERVICES, service("x", clusterIP=ip))
        for port in (30999, 31048, 80):
            self.refused(422, f"spec.ports[0].nodePort: Invalid value: {port}: provided port is "
                         "not in the valid range. The range of valid ports is 31000-31047",
                         "POST", SERVICES, service("x", "NodePort", [{"port": 80,
                                                                      "nodePort": port}]))
        self.audit()


class BitmapBandsTest(BitmapAudits, BandsTest):
    FLAGS = (BITMAPS_FLAG,)


class BitmapSpillTest(BitmapAudits, SpillTest):
    FLAGS = (BITMAPS_FLAG,)


class KubernetesTest(Audits, unittest.TestCase):
    """default/kubernetes has the first address of the range, and is created again. It was deleted
    before all other tests."""

    server = first = deleted = None

    def test_it_comes_back(self):
        self.assertEqual(self.first["spec"]["clusterIPs"], ["10.96.0.1"])
        self.assertEqual(self.first["metadata"]["labels"],
                         {"component": "apiserver", "provider": "kubernetes"})
        self.assertEqual(self.first["spec"]["ports"], [{
            "name": "https", "protocol": "TCP", "port": 443, "targetPort": self.server.port}])
        self.assertEqual(self.deleted.code, 200, self.deleted)
        wait_for(lambda: self.server.call("GET", KUBERNETES).code == 200, 15)
        again = self.server.call("GET", KUBERNETES).json
        self.assertNotEqual(again["metadata"]["uid"], self.first["metadata"]["uid"])
        self.assertEqual(again["spec"], self.first["spec"])
        self.audit()


if __name__ == "__main__":
    main()
