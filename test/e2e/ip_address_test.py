"""IPAddresses and ServiceCIDRs with kubectl: the output, the exit status, and what is refused.

    BERTH_BIN=build/release/berth python3 test/e2e/ip_address_test.py
"""

import collections
import json
import threading

import kubectls
from harness import SharedServerCase, main, wait_for
from kubectls import service

NETWORKING = "/apis/networking.k8s.io/v1"
INTERNAL = "internal.allocation.berth.io/chosen"
RANGE = ("--service-cluster-ip-range", "10.96.0.0/16")


def tearDownModule():
    kubectls.tell()


def address(name, labels=None, parent=None, **more):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
            "metadata": {"name": name, "labels": labels or {}, **more},
            "spec": {"parentRef": parent or {"group": "corp.io", "resource": "routers",
                                             "name": "r1"}}}


class Addresses:
    """Creates addresses and reads them without kubectl."""

    def address_url(self, name=""):
        return f"{NETWORKING}/ipaddresses" + (f"/{name}" if name else "")

    def find_address(self, name):
        answer = self.server.call("GET", self.address_url(name))
        self.assertIn(answer.code, (200, 404), answer)
        return answer.json if answer.code == 200 else None

    def reserve(self, name, **more):
        made = self.server.call("POST", self.address_url(), address(name, **more))
        self.assertEqual(made.code, 201, made)
        return made.json

    def services(self, name=""):
        return f"/api/v1/namespaces/{self.namespace}/services" + (f"/{name}" if name else "")

    def try_service(self, name, ip):
        document = service(name)
        document["spec"]["clusterIP"] = ip
        return self.server.call("POST", self.services(), document)

    def service_with(self, name, ip):
        """Creates a Service that has the address, and checks that a record says so."""
        made = self.try_service(name, ip)
        self.assertEqual((made.code, made.json["spec"]["clusterIPs"]), (201, [ip]), made)
        self.assertEqual(self.find_address(ip)["spec"]["parentRef"],
                         {"resource": "services", "namespace": self.namespace, "name": name})

    def held_by(self, name, ip):
        return (f'Operation cannot be fulfilled on ipaddresses.networking.k8s.io "{ip}": the '
                f'Service "{self.namespace}/{name}" has this address; to free the address, delete '
                "the Service or change it so that it has another one or none")


class Reservations(Addresses, kubectls.Verbs):
    """Addresses that a user keeps from Services."""

    FLAGS = RANGE

    def test_make_look_and_remove(self):
        path = self.file("ip.json", address("192.0.2.10", {"kept": "one"}))
        name = "ipaddress.networking.k8s.io/192.0.2.10"
        self.assertEqual(self.good("create", "-f", path), f"{name} created\n")
        self.assertEqual([line.split() for line in self.good("get", "ip", "-l", "kept=one")
                          .splitlines()],
                         [["NAME", "PARENTREF"], ["192.0.2.10", "routers.corp.io/r1"]])
        self.assertEqual(self.good("get", "ipaddresses", "192.0.2.10", "-o",
                                   "jsonpath={.spec.parentRef.resource}"), "routers")
        self.assertIn("AlreadyExists", self.bad("create", "-f", path))
        self.assertEqual(self.good("delete", "ip", "192.0.2.10").split()[-1], "deleted")
        self.assertIsNone(self.find_address("192.0.2.10"))
        self.assertIn("(NotFound)", self.bad("get", "ip", "192.0.2.10"))

    def test_describe(self):
        self.reserve("192.0.2.15", labels={"kept": "two"})
        described = self.good("describe", "ip", "192.0.2.15")
        for text in ("192.0.2.15", "kept=two", "corp.io", "routers", "r1"):
            self.assertIn(text, described)

    def test_names_are_addresses(self):
        for name, why in (("x", "must be a valid IP address"),
                          ("192.0.2.010", "must not have leading 0s"),
                          ("2001:DB8::1", 'must be in canonical form ("2001:db8::1")')):
            path = self.file("bad.json", address(name))
            err = self.bad("create", "-f", path)
            self.assertIn(f'The IPAddress "{name}" is invalid: metadata.name', err)
            self.assertIn(why, err)
        self.assertEqual(self.good("create", "-f", self.file("v6.json", address("2001:db8::1"))),
                         "ipaddress.networking.k8s.io/2001:db8::1 created\n")
        self.assertEqual(self.good("delete", "ip", "2001:db8::1").split()[-1], "deleted")

    def test_metadata_can_be_changed(self):
        self.reserve("192.0.2.20")
        self.good("label", "ip", "192.0.2.20", "a=b")
        self.good("annotate", "ip", "192.0.2.20", "c=d")
        self.good("patch", "ip", "192.0.2.20", "-p", '{"metadata":{"labels":{"e":"f"}}}')
        meta = self.find_address("192.0.2.20")["metadata"]
        self.assertEqual((meta["labels"], meta["annotations"]), ({"a": "b", "e": "f"}, {"c": "d"}))
        err = self.bad("patch", "ip", "192.0.2.20", "--type=merge", "-p",
                       '{"spec":{"parentRef":{"name":"r2"}}}')
        self.assertEqual(err, 'The IPAddress "192.0.2.20" is invalid: spec.parentRef: Invalid '
                              'value: {"Group":"corp.io","Resource":"routers","Namespace":"",'
                              '"Name":"r2"}: field is immutable')

    def test_apply(self):
        name = "ipaddress.networking.k8s.io/192.0.2.30"
        for flags in ((), ("--server-side", "--force-conflicts")):
            done = [self.good("apply", *flags, "-f", self.file("a.json", address(
                "192.0.2.30", {"round": label}))) for label in ("1", "2")]
            self.assertTrue(all(line.startswith(name) for line in done), done)
            self.assertEqual(self.find_address("192.0.2.30")["metadata"]["labels"],
                             {"round": "2"})
            other = address("192.0.2.30", parent={"resource": "pods", "name": "p"})
            self.assertIn("field is immutable",
                          self.bad("apply", *flags, "-f", self.file("b.json", other)))

    def test_watch(self):
        self.reserve("192.0.2.40", labels={"watched": "yes"})
        _, printed = self.follow("get", "ip", "-l", "watched=yes", "--watch-only")
        self.reserve("192.0.2.41", labels={"watched": "yes"})
        wait_for(lambda: "192.0.2.41" in printed())
        self.assertEqual(printed().split()[2:], ["192.0.2.41", "routers.corp.io/r1"])

    def test_explain(self):
        self.assertIn("canonical form", self.good("explain", "ip.metadata.name")
                      + self.good("explain", "ip"))
        self.assertIn("core group", " ".join(self.good("explain", "ip.spec.parentRef").split()))
        self.assertIn("one of each IP family",
                      " ".join(self.good("explain", "servicecidr.spec.cidrs").split()))

    def test_the_address_of_a_service_cannot_be_deleted(self):
        self.service_with("web", "10.96.0.50")
        err = self.bad("delete", "ip", "10.96.0.50")
        self.assertEqual(err.splitlines()[-1],
                         f"Error from server (Conflict): {self.held_by('web', '10.96.0.50')}")
        self.assertTrue(self.find_address("10.96.0.50"))
        self.good("label", "ip", "10.96.0.50", "still=mine")
        self.good("delete", "svc", "web")
        self.assertIsNone(self.find_address("10.96.0.50"), "it went with the Service")

    def test_a_range_is_made_and_goes(self):
        path = self.file("cidr.json", {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
                                       "metadata": {"name": "more"},
                                       "spec": {"cidrs": ["198.51.100.0/24"]}})
        self.good("create", "-f", path)
        self.assertIn("more", self.good("get", "servicecidr", "-o", "name"))
        self.good("delete", "servicecidr", "more")
        self.assertNotIn("more", self.good("get", "servicecidr", "-o", "name"))


class Plain(Addresses, SharedServerCase):
    """The same without kubectl, for what it has no command for."""

    FLAGS = RANGE

    def call(self, method, path, body=None, code=200, **headers):
        answer = self.server.call(method, path, body, headers)
        self.assertEqual(answer.code, code, answer)
        return answer.json

    def test_no_service_gets_a_reserved_address(self):
        self.reserve("10.96.0.55", finalizers=["corp.io/router"])
        taken = self.try_service("web", "10.96.0.55")
        self.assertEqual(taken.code, 422, taken)
        self.assertIn("provided IP is already allocated", taken.json["message"])
        self.call("DELETE", self.address_url("10.96.0.55"))
        self.assertEqual(self.try_service("web", "10.96.0.55").code, 422, "it is not gone yet")
        self.call("PATCH", self.address_url("10.96.0.55"), '{"metadata":{"finalizers":null}}',
                  **{"Content-Type": "application/merge-patch+json"})
        self.service_with("web", "10.96.0.55")

    def test_an_address_that_its_service_gave_back_is_free(self):
        self.service_with("web", "10.96.0.56")
        self.call("PATCH", self.services("web"),
                  '{"spec":{"type":"ExternalName","externalName":"x.io","clusterIP":null,'
                  '"clusterIPs":null}}', **{"Content-Type": "application/merge-patch+json"})
        self.assertIsNone(self.find_address("10.96.0.56"))
        # Created by hand for the same Service, which does not have the address, so it can be
        # deleted.
        self.reserve("10.96.0.56", parent={"resource": "services", "namespace": self.namespace,
                                           "name": "web"})
        self.call("DELETE", self.address_url("10.96.0.56"))

    def test_however_fast_a_service_comes_and_goes_its_address_is_not_deleted(self):
        over = threading.Event()
        codes = collections.Counter()

        def remove():
            while not over.is_set():
                codes[self.server.call("DELETE", self.address_url("10.96.0.57")).code] += 1
        others = [threading.Thread(target=remove) for _ in range(2)]
        for other in others:
            other.start()
        try:
            for _ in range(20):
                self.service_with("web", "10.96.0.57")
                self.call("DELETE", self.services("web"))
        finally:
            over.set()
            for other in others:
                other.join()
        self.assertLessEqual(set(codes), {404, 409})
        self.assertGreater(codes[409], 0)

    def test_a_collection_is_deleted_but_for_what_a_service_has(self):
        self.service_with("web", "10.96.0.60")
        self.call("PATCH", self.address_url("10.96.0.60"), '{"metadata":{"labels":{"all":"yes"}}}',
                  **{"Content-Type": "application/merge-patch+json"})
        self.reserve("192.0.2.60", labels={"all": "yes"})
        refused = self.call("DELETE", self.address_url() + "?labelSelector=all%3Dyes", code=409)
        self.assertEqual((refused["reason"], refused["message"]),
                         ("Conflict", self.held_by("web", "10.96.0.60")))
        self.assertEqual(refused["details"], {"name": "10.96.0.60", "group": "networking.k8s.io",
                                              "kind": "ipaddresses"})
        self.assertTrue(self.find_address("10.96.0.60"))
        self.call("PATCH", self.address_url("10.96.0.60"), '{"metadata":{"labels":null}}',
                  **{"Content-Type": "application/merge-patch+json"})
        self.call("DELETE", self.address_url() + "?labelSelector=all%3Dyes")
        self.assertIsNone(self.find_address("192.0.2.60"))

    def test_one_that_is_being_deleted_stays_until_its_finalizer_is_gone(self):
        self.reserve("192.0.2.70", finalizers=["corp.io/router"])
        marked = self.call("DELETE", self.address_url("192.0.2.70"))
        self.assertIn("deletionTimestamp", marked["metadata"])
        again = self.call("POST", self.address_url(), address("192.0.2.70"), 409)
        self.assertEqual(again["message"], "object is being deleted: ipaddresses.networking.k8s.io "
                                           '"192.0.2.70" already exists')
        self.call("PATCH", self.address_url("192.0.2.70"), '{"metadata":{"finalizers":null}}',
                  **{"Content-Type": "application/merge-patch+json"})
        self.assertIsNone(self.find_address("192.0.2.70"))

    def test_nobody_sees_or_sets_how_an_address_was_chosen(self):
        made = self.reserve("192.0.2.80", annotations={INTERNAL: "dynamic", "a": "b"})
        self.assertEqual(made["metadata"]["annotations"], {"a": "b"})
        put = address("192.0.2.80", annotations={INTERNAL: "dynamic", "a": "c"})
        self.assertNotIn(INTERNAL, json.dumps(self.call("PUT", self.address_url("192.0.2.80"),
                                                        put)))
        for way, query in (("merge-patch+json", ""), ("strategic-merge-patch+json", ""),
                           ("apply-patch+yaml", "?fieldManager=me&force=true")):
            patched = self.call("PATCH", self.address_url("192.0.2.80") + query, json.dumps(put),
                                **{"Content-Type": f"application/{way}"})
            self.assertNotIn("internal.allocation", json.dumps(patched), way)
        self.assertEqual(patched["metadata"]["annotations"], {"a": "c"})


globals().update(kubectls.cases(Reservations))


if __name__ == "__main__":
    main()
