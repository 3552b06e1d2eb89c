"""Dry runs of writes of Services: the values that they show are free and of the right band, the
outcome is that of the write itself, and nothing changes.

    BERTH_BIN=build/release/berth python3 test/e2e/dry_run_addresses_test.py
"""

import tempfile
import unittest

from addresses import (MERGE, SERVICES, Audits, balancer, external, held, node_ports, service,
                       version)
from harness import Server, main

DRY = "?dryRun=All"
V4, V6 = "10.6.0.0/27", "fd00:10:6::/123"


class DryRunTest(Audits, unittest.TestCase):
    """Uses ranges of 30 addresses, 31 of IPv6 and 48 ports, with 16 in each lower band."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.server = Server(folder.name, f"--service-cluster-ip-range={V4},{V6}",
                            "--service-node-port-range=31000-31047")
        cls.addClassCleanup(cls.server.stop)

    def tearDown(self):
        for _, name in self.audit():
            if name != "kubernetes":
                self.done("DELETE", f"{SERVICES}/{name}")

    def state(self):
        """Returns all objects with their versions. The version of a list changes with statuses of
        ranges."""
        listed = self.server.call("GET", "/api/v1/services").json["items"]
        return listed, self.address_records(), self.port_records()

    def dry(self, method, path, body=None, headers=None):
        """Returns the answer of a dry run, and checks that it has changed nothing."""
        before = self.state()
        answer = self.server.call(method, path + DRY, body, headers)
        self.assertEqual(self.state(), before)
        return answer

    def same(self, method, path, body=None, headers=None):
        """Makes a dry run, then the write. Checks that the outcomes are equal. Returns both
        objects."""
        dry = self.dry(method, path, body, headers)
        real = self.server.call(method, path, body, headers)
        self.assertEqual((dry.code, dry.headers.get("warning")),
                         (real.code, real.headers.get("warning")), (dry, real))
        if real.code >= 400:
            self.assertEqual(dry.json, real.json)
        return dry.json, real.json

    def free_and_upper(self, obj):
        """Checks that all values it shows are free, and that none lies in a lower band."""
        addresses, ports = held(obj)
        self.assertFalse(addresses & set(self.address_records()))
        self.assertFalse(ports & set(self.port_records()))
        for ip in addresses:
            last = int(ip.rpartition(":")[2] or "0", 16) if ":" in ip else int(ip.split(".")[-1])
            self.assertIn(last, range(17, 32 if ":" in ip else 31), ip)
        self.assertLessEqual(ports, set(range(31016, 31048)))
        return addresses, ports

    def test_create_shows_values_that_could_be_had(self):
        for kind, more, addresses, ports in (
                (None, {}, 1, 0), ("NodePort", {"ports": 3}, 1, 3),
                ("NodePort", {"ipFamilyPolicy": "RequireDualStack"}, 2, 1),
                ("LoadBalancer", {"externalTrafficPolicy": "Local", "ports": 2}, 1, 3),
                ("LoadBalancer", {"allocateLoadBalancerNodePorts": False}, 1, 0),
                (None, {"clusterIP": "None"}, 0, 0)):
            with self.subTest(kind=kind, more=more):
                answer = self.dry("POST", SERVICES, service("dry", kind, **more))
                self.assertEqual(answer.code, 201, answer)
                shown = self.free_and_upper(answer.json)
                self.assertEqual((len(shown[0]), len(shown[1])), (addresses, ports))
                # A client that asks for the shown values can get them.
                spec = answer.json["spec"]
                made = self.made(service(
                    "real", kind, **{**more, "ports": spec["ports"],
                                     "clusterIP": spec["clusterIP"],
                                     "clusterIPs": spec["clusterIPs"],
                                     "healthCheckNodePort": spec.get("healthCheckNodePort")}))
                self.assertEqual(held(made), shown)
                self.done("DELETE", f"{SERVICES}/real")

    def test_create_has_the_verdict_of_the_write(self):
        self.made(service("there", "NodePort", [{"port": 80, "nodePort": 31020}],
                          clusterIP="10.6.0.20"))
        self.made(service("six", clusterIP="fd00:10:6::14", ipFamilies=["IPv6"]))
        for body, code in (
                (service("x", clusterIP="10.6.0.20"), 422),
                (service("x", clusterIP="10.6.0.32"), 422),
                (service("x", clusterIP="10.6.0.0"), 422),
                (service("x", "NodePort", [{"port": 80, "nodePort": 31020}]), 422),
                (service("x", "NodePort", [{"port": 80, "nodePort": 80}]), 422),
                (service("x", "NodePort", [{"name": "a", "port": 80, "nodePort": 31021},
                                           {"name": "b", "port": 81, "nodePort": 31021}]), 422),
                (balancer("x", externalTrafficPolicy="Local", healthCheckNodePort=31020), 500),
                (service("x", ipFamilyPolicy="RequireDualStack", clusterIP="10.6.0.21",
                         clusterIPs=["10.6.0.21", "fd00:10:6::14"]), 422),
                (service("x", ipFamilyPolicy="Odd"), 422),
                (service("there", "NodePort", [{"port": 80, "nodePort": 31020}]), 409)):
            with self.subTest(body):
                self.assertEqual(self.same("POST", SERVICES, body)[1]["code"], code)

    def test_create_in_a_full_range(self):
        for i in range(24):
            self.made(service(f"p{i}", "NodePort", 2))
        for body in (service("x", "NodePort"), balancer("x"),
                     balancer("x", False, externalTrafficPolicy="Local")):
            self.assertEqual(self.same("POST", SERVICES, body)[1]["code"], 500)
        for i in range(5):
            self.made(service(f"s{i}"))
        dry, _ = self.same("POST", SERVICES, service("x"))
        self.assertIn("range is full", dry["message"])
        self.done("DELETE", f"{SERVICES}/p7")
        dry, real = self.same("POST", SERVICES, service("x"))
        self.assertEqual(dry["spec"]["clusterIP"], real["spec"]["clusterIP"], "there is one only")

    def test_update_and_patch(self):
        made = self.made(service("web"))
        for method, body, headers in (
                ("PUT", service("web", "NodePort", 2, ipFamilyPolicy="RequireDualStack"), None),
                ("PATCH", {"spec": {"type": "NodePort", "ipFamilyPolicy": "PreferDualStack",
                                    "ports": [{"name": "a", "port": 1},
                                              {"name": "b", "port": 2}]}}, MERGE)):
            answer = self.dry(method, f"{SERVICES}/web", body, headers)
            self.assertEqual(answer.code, 200, answer)
            spec = answer.json["spec"]
            self.assertEqual(spec["clusterIP"], made["spec"]["clusterIP"])
            self.assertNotIn(spec["clusterIPs"][1], self.address_records())
            self.assertLessEqual(set(node_ports(answer.json)), set(range(31016, 31048)))
            self.assertEqual(len(set(node_ports(answer.json))), 2)
        # Change it to ExternalName and back, as the write does.
        dry, real = self.same("PUT", f"{SERVICES}/web", external("web"))
        self.assertEqual(dry["spec"], real["spec"])
        dry, real = self.same("PUT", f"{SERVICES}/web", service("web", clusterIP="10.6.0.9"))
        self.assertEqual(dry["spec"], real["spec"])

    def test_update_has_the_verdict_of_the_write(self):
        self.made(service("other", "NodePort", [{"port": 80, "nodePort": 31020}],
                          clusterIP="10.6.0.20"))
        self.made(service("web", "NodePort", clusterIP="10.6.0.22"))
        url = f"{SERVICES}/web"
        for body, code in (
                (service("web", "NodePort", [{"port": 80, "nodePort": 31020}]), 422),
                (service("web", "NodePort", [{"port": 80, "nodePort": 1}]), 422),
                (service("web", "NodePort", clusterIP="10.6.0.21"), 422),
                ({**service("web"), "metadata": {"name": "web", "resourceVersion": "1"}}, 409)):
            with self.subTest(body):
                self.assertEqual(self.same("PUT", url, body)[1]["code"], code)
        self.made(external("name"))
        answer = self.same("PUT", f"{SERVICES}/name", service("name", clusterIP="10.6.0.20"))
        self.assertEqual(answer[1]["code"], 422)

    def test_server_side_apply(self):
        headers = {"Content-Type": "application/apply-patch+yaml"}
        before = self.state()
        answer = self.server.call("PATCH", f"{SERVICES}/web{DRY}&fieldManager=me",
                                  service("web", "NodePort"), headers)
        self.assertEqual(answer.code, 201, answer)
        self.free_and_upper(answer.json)
        self.assertEqual(self.state(), before)

    def test_delete_gives_nothing_back(self):
        made = self.made(service("web", "NodePort", clusterIP="10.6.0.5"))
        answer = self.dry("DELETE", f"{SERVICES}/web")
        self.assertEqual((answer.code, answer.json["metadata"]["uid"]),
                         (200, made["metadata"]["uid"]))
        self.assertEqual(self.dry("DELETE", SERVICES).code, 200)
        self.refused(422, "already allocated", "POST", SERVICES,
                     service("other", clusterIP="10.6.0.5"))
        self.refused(422, "already allocated", "POST", SERVICES + DRY,
                     service("other", clusterIP="10.6.0.5"))
        self.assertEqual(version(self.done("GET", f"{SERVICES}/web")), version(made))


if __name__ == "__main__":
    main()
