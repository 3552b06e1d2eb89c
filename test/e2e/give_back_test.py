"""Every way in which a Service is deleted or changes its type: values that it no longer has are
free at the same moment, and it keeps the others.

    BERTH_BIN=build/release/berth python3 test/e2e/give_back_test.py
"""

import json

from addresses import MERGE, Audits, balancer, external, held, node_ports, service
from harness import SharedServerCase, main, wait_for

STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
FIXED = {"ports": [{"name": "a", "port": 80, "nodePort": 30010},
                   {"name": "b", "port": 81, "nodePort": 30011}], "clusterIP": "10.96.0.20",
         "clusterIPs": ["10.96.0.20", "fd00:10:96::20"], "ipFamilyPolicy": "RequireDualStack",
         "externalTrafficPolicy": "Local", "healthCheckNodePort": 30012}


def full(name, **metadata):
    """Returns a Service that has every kind of value."""
    body = service(name, "LoadBalancer", **FIXED)
    body["metadata"].update(metadata)
    return body


class GiveBackTest(Audits, SharedServerCase):
    FLAGS = ("--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",)

    def setUp(self):
        super().setUp()
        self.path = f"/api/v1/namespaces/{self.namespace}/services"
        self.url = f"{self.path}/web"

    def tearDown(self):
        for space, name in self.audit():
            if space == self.namespace:
                self.done("DELETE", f"{self.path}/{name}")

    def make(self, **metadata):
        made = self.made(full("web", **metadata), self.path)
        self.assertEqual(held(made), ({"10.96.0.20", "fd00:10:96::20"}, {30010, 30011, 30012}))
        return made

    def all_free(self):
        """Checks that another Service can get all values at once, and the next one after that."""
        self.audit()
        self.made(full("next"), self.path)
        self.done("DELETE", f"{self.path}/next")

    def none_free(self):
        for body in (service("thief", clusterIP="10.96.0.20"),
                     service("thief", clusterIP="fd00:10:96::20", ipFamilies=["IPv6"]),
                     *(service("thief", "NodePort", [{"port": 1, "nodePort": port}])
                       for port in (30010, 30011, 30012))):
            self.refused(422, "is already allocated", "POST", self.path, body)

    def test_deletion(self):
        for query in ("", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan",
                      "?gracePeriodSeconds=30"):
            self.make()
            self.none_free()
            self.assertEqual(self.server.call("DELETE", self.url + query).code, 200)
            wait_for(lambda: self.server.call("GET", self.url).code == 404)
            self.all_free()

    def test_deletion_of_a_collection(self):
        self.make(labels={"gone": "yes"})
        self.made(service("stays", "NodePort"), self.path)
        self.done("DELETE", self.path + "?labelSelector=gone%3Dyes")
        self.all_free()
        self.assertEqual(self.server.call("GET", f"{self.path}/stays").code, 200)

    def test_deletion_of_the_namespace(self):
        space = "short-lived"
        self.made({"metadata": {"name": space}}, "/api/v1/namespaces")
        self.made(full("web"), f"/api/v1/namespaces/{space}/services")
        self.none_free()
        self.done("DELETE", f"/api/v1/namespaces/{space}")
        wait_for(lambda: self.server.call("GET", f"/api/v1/namespaces/{space}").code == 404)
        self.all_free()

    def test_deletion_with_the_owner(self):
        owner = self.made(service("owner", clusterIP="None"), self.path)
        self.make(ownerReferences=[{"apiVersion": "v1", "kind": "Service", "name": "owner",
                                    "uid": owner["metadata"]["uid"]}])
        self.done("DELETE", f"{self.path}/owner")
        wait_for(lambda: self.server.call("GET", self.url).code == 404)
        self.all_free()

    def test_the_last_finalizer_goes(self):
        none = {"metadata": {"finalizers": None}}
        for way in (lambda: self.done("PATCH", self.url, none, MERGE),
                    lambda: self.done("PATCH", f"{self.url}/status", none, MERGE),
                    lambda: self.done("PATCH", self.url, [{"op": "remove",
                                                           "path": "/metadata/finalizers"}],
                                      JSON_PATCH),
                    lambda: self.done("PUT", self.url, full("web"))):
            self.make(finalizers=["example.com/one", "example.com/two"])
            self.done("DELETE", self.url)
            self.done("PATCH", self.url, {"metadata": {"finalizers": ["example.com/two"]}}, MERGE)
            self.none_free()
            way()
            self.assertEqual(self.server.call("GET", self.url).code, 404)
            self.all_free()

    def test_it_becomes_an_external_name(self):
        spec = external("web")["spec"]
        clear = {field: None for field in ("clusterIP", "clusterIPs", "ipFamilies",
                                           "ipFamilyPolicy", "ports", "externalTrafficPolicy",
                                           "healthCheckNodePort")}
        for method, body, headers in (
                ("PUT", external("web"), None),
                ("PATCH", {"spec": spec}, MERGE),
                ("PATCH", {"spec": {**clear, **spec}}, MERGE),
                ("PATCH", {"spec": spec}, STRATEGIC),
                ("PATCH", [{"op": "replace", "path": "/spec/type", "value": "ExternalName"},
                           {"op": "add", "path": "/spec/externalName", "value": "example.com"}],
                 JSON_PATCH)):
            with self.subTest(body=body, headers=headers):
                self.make()
                now = self.done(method, self.url, body, headers)
                self.assertEqual((held(now), any(node_ports(now))), ((set(), set()), False))
                self.assertNotIn("clusterIP", now["spec"])
                self.all_free()
                # When it changes back, it has to ask again, like any other Service.
                self.made(service("other", clusterIP="10.96.0.20"), self.path)
                self.refused(422, "10.96.0.20: provided IP is already allocated", "PUT", self.url,
                             full("web"))
                self.done("DELETE", f"{self.path}/other")
                self.assertEqual(held(self.done("PUT", self.url, full("web"))), held(full("web")))
                self.none_free()
                self.done("DELETE", self.url)

    def test_it_becomes_less(self):
        """Only what the new type does not have is released."""
        v4, v6 = FIXED["clusterIPs"]
        for change, addresses, ports in (
                ({"type": "NodePort"}, {v4, v6}, {30010, 30011}),
                ({"type": "ClusterIP"}, {v4, v6}, set()),
                ({"externalTrafficPolicy": "Cluster"}, {v4, v6}, {30010, 30011}),
                ({"ipFamilyPolicy": "SingleStack"}, {v4}, {30010, 30011, 30012}),
                ({"ports": FIXED["ports"][1:]}, {v4, v6}, {30011, 30012})):
            with self.subTest(change):
                self.make()
                now = self.done("PATCH", self.url, {"spec": change}, MERGE)
                self.assertEqual(held(now), (addresses, ports))
                self.audit()
                self.done("DELETE", self.url)
                self.all_free()

    def test_numbers_change_places(self):
        self.make()
        ports = json.loads(json.dumps(FIXED["ports"]))
        ports[0]["nodePort"], ports[1]["nodePort"] = 30011, 30010
        self.assertEqual(node_ports(self.done("PATCH", self.url, {"spec": {"ports": ports}},
                                              MERGE)), [30011, 30010])
        self.none_free()

    def test_made_by_put_and_by_apply(self):
        made = self.server.call("PUT", self.url, full("web"))
        self.assertEqual((made.code, held(made.json)), (201, held(full("web"))), made)
        self.none_free()
        self.done("DELETE", self.url)
        made = self.server.call("PATCH", f"{self.url}?fieldManager=me", full("web"), APPLY)
        self.assertEqual((made.code, held(made.json)), (201, held(full("web"))), made)
        self.none_free()
        # What is no longer applied is removed.
        less = full("web")
        less["spec"]["ports"] = less["spec"]["ports"][:1]
        now = self.done("PATCH", f"{self.url}?fieldManager=me", less, APPLY)
        self.assertEqual(node_ports(now), [30010])
        self.made(service("other", "NodePort", [{"port": 1, "nodePort": 30011}]), self.path)

    def test_made_through_status(self):
        """A Service that is created in this way has taken nothing, and shows nothing."""
        self.made(service("owner", "NodePort", FIXED["ports"][:1], clusterIP="10.96.0.20"),
                  self.path)
        answer = self.server.call("PUT", f"{self.url}/status", full("web"))
        self.assertEqual(answer.code, 201, answer)
        self.assertEqual(held(self.done("GET", self.url)), (set(), set()))
        self.audit()
        self.done("DELETE", self.url)
        self.refused(422, "is already allocated", "POST", self.path,
                     service("thief", clusterIP="10.96.0.20"))

    def test_generated_names(self):
        names = set()
        for _ in range(5):
            body = balancer("x", ports=2)
            body["metadata"] = {"generateName": "many-"}
            names.add(self.made(body, self.path)["metadata"]["name"])
        self.assertEqual(len(names), 5)
        self.audit()


if __name__ == "__main__":
    main()
