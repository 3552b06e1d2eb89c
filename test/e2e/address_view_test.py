"""IPAddresses of allocation.berth.io: a second view of one record, under another name.

    BERTH_BIN=build/release/berth python3 test/e2e/address_view_test.py
"""

import ipaddress

import kubectls
from harness import SharedServerCase, main, wait_for
from kubectls import service

VIEW = "/apis/allocation.berth.io/v1alpha1/ipaddresses"
STORED = "/apis/networking.k8s.io/v1/ipaddresses"
RESOURCE = "ipaddresses.allocation.berth.io"
ONE = "ipaddress.allocation.berth.io"


def tearDownModule():
    kubectls.tell()


def number(ip):
    return str(int(ipaddress.ip_address(ip)))


def reservation(ip, labels=None, **spec):
    return {"apiVersion": "allocation.berth.io/v1alpha1", "kind": "IPAddress",
            "metadata": {"name": number(ip), "labels": labels or {}}, "spec": spec}


class Addresses:
    def services(self, name=""):
        return f"/api/v1/namespaces/{self.namespace}/services" + (f"/{name}" if name else "")

    def service_with(self, name, ip):
        document = service(name)
        document["spec"]["clusterIP"] = ip
        made = self.server.call("POST", self.services(), document)
        self.assertEqual((made.code, made.json["spec"]["clusterIPs"]), (201, [ip]), made)

    def view(self, ip):
        return self.server.call("GET", f"{VIEW}/{number(ip)}")

    def stored(self, ip):
        return self.server.call("GET", f"{STORED}/{ip}")

    def reserve(self, ip, **more):
        made = self.server.call("POST", VIEW, reservation(ip, **more))
        self.assertEqual(made.code, 201, made)
        return made.json


class WithKubectl(Addresses, kubectls.Verbs):
    FLAGS = ("--service-cluster-ip-range", "10.96.0.0/16")

    def test_look_at_what_a_service_has(self):
        self.service_with("web", "10.96.0.20")
        name = number("10.96.0.20")
        shown = [line.split() for line in self.good("get", RESOURCE, name).splitlines()]
        columns = ["NAME", "ADDRESS", "STATE", "SERVICE", "RANGE", "SINCE"]
        self.assertEqual(shown[0], columns)
        self.assertEqual(shown[1][:4],
                         [name, "10.96.0.20", "Allocated", f"{self.namespace}/web"])
        wide = self.good("get", RESOURCE, name, "-o", "wide").split("\n")[0].split()
        self.assertEqual(wide, [*columns, "CHOSEN", "UNTIL", "AGE"])
        text = self.good("get", RESOURCE, name, "-o", "yaml")
        for line in ("apiVersion: allocation.berth.io/v1alpha1", "kind: IPAddress",
                     f'name: "{name}"', "address: 10.96.0.20", "state: Allocated",
                     "chosen: Static"):
            self.assertIn(line, text)
        self.assertNotIn("internal.allocation", text)
        self.assertIn(name, self.good("get", RESOURCE))
        self.assertEqual(self.good("get", RESOURCE, "-o", "name", "--field-selector",
                                   f"metadata.name={name}"), f"{ONE}/{name}\n")
        self.assertEqual(self.good("get", RESOURCE, "-o", "name", "--chunk-size=1"),
                         self.good("get", RESOURCE, "-o", "name"))

    def test_find_it_by_its_address(self):
        self.service_with("web", "10.96.0.22")
        by_address = ("--field-selector", "spec.address=10.96.0.22")
        rows = self.good("get", RESOURCE, *by_address).splitlines()
        self.assertEqual(len(rows), 2, rows)
        self.assertEqual(rows[1].split()[:4], [number("10.96.0.22"), "10.96.0.22", "Allocated",
                                               f"{self.namespace}/web"])
        self.assertEqual(self.good("get", RESOURCE, "-o", "name", "--field-selector",
                                   "spec.address=10.96.0.2"), "")
        self.assertIn("field label not supported: spec.addr",
                      self.bad("get", RESOURCE, "--field-selector", "spec.addr=10.96.0.22"))
        _, lines = self.follow("get", RESOURCE, *by_address, "-w", "--output-watch-events")
        wait_for(lambda: "ADDED" in lines())
        self.server.call("DELETE", self.services("web"))
        wait_for(lambda: "DELETED" in lines())
        self.assertEqual({line.split()[1] for line in lines().splitlines()[1:]},
                         {number("10.96.0.22")})

    def test_the_error_says_what_the_name_is(self):
        self.service_with("web", "10.96.0.23")
        for verb in ("get", "delete"):
            self.assertEqual(self.bad(verb, RESOURCE, "10.96.0.23").splitlines()[-1],
                             f'Error from server (NotFound): {RESOURCE} "10.96.0.23" not found; '
                             f'its name here is "{number("10.96.0.23")}"')

    def test_describe_what_a_service_has(self):
        """kubectl 1.32 asks for networking.k8s.io/v1beta1, and kubectl 1.20 does not know the
        kinds."""
        self.service_with("web", "10.96.0.24")
        for resource, name, parts in (
                ("ip", "10.96.0.24", ("Parent Ref", "services", self.namespace, "web")),
                ("servicecidr", "kubernetes", ("10.96.0.0/16", "Ready"))):
            code, out, err = self.run_it("describe", resource, name)
            self.assertEqual(code, 0, err)
            for part in (name, *parts):
                self.assertIn(part, out)
            if self.KUBECTL.minor == 32:
                self.assertRegex(err, r"^Warning: networking.k8s.io/v1beta1 \w+ is deprecated in "
                                      r"v1.34\+, unavailable in v1.37\+\n$")
        self.assertIn("Since:", self.good("describe", RESOURCE, number("10.96.0.24")))

    def test_a_refusal_names_the_holder(self):
        self.service_with("web", "10.96.0.25")
        since = self.view("10.96.0.25").json["status"]["since"]
        warning = f"Warning: 10.96.0.25 is held by Service {self.namespace}/web since {since}"
        create = ("create", "service", "clusterip", "other", "--clusterip=10.96.0.25", "--tcp=80")
        for flags in ((), ("--dry-run=server",)):
            lines = self.bad(*create, *flags).splitlines()
            self.assertEqual(lines[0], warning)
            self.assertTrue(lines[1].endswith("provided IP is already allocated"), lines)
        path = self.file("ip.json", reservation("10.96.0.25"))
        self.assertEqual(self.bad("create", "-f", path).splitlines()[0], warning)
        # A controller gets Kubernetes' answer and no more.
        refused = self.server.call("POST", f"/api/v1/namespaces/{self.namespace}/services", {
            "metadata": {"name": "other"},
            "spec": {"clusterIP": "10.96.0.25", "ports": [{"port": 80}]}})
        self.assertEqual((refused.code, refused.headers.get("warning")), (422, None))

    def test_the_short_name_is_the_other_ones(self):
        self.service_with("web", "10.96.0.21")
        for resource in ("ip", "ipaddresses", "ipaddress"):
            self.assertIn("PARENTREF", self.good("get", resource, "10.96.0.21"))

    def test_reserve_and_give_up(self):
        path = self.file("ip.json", reservation("10.96.0.30", {"kept": "one"}))
        name = number("10.96.0.30")
        self.assertEqual(self.good("create", "-f", path), f"{ONE}/{name} created\n")
        self.assertIn(f'{RESOURCE} "{name}" already exists', self.bad("create", "-f", path))
        shown = self.good("get", RESOURCE, "-l", "kept=one").splitlines()
        self.assertEqual(shown[1].split()[:4], [name, "10.96.0.30", "Reserved", "<none>"])
        document = service("web")
        document["spec"]["clusterIP"] = "10.96.0.30"
        self.assertEqual(self.server.call("POST", self.services(), document).code, 422)
        self.good("delete", "-f", path)
        self.assertEqual(self.stored("10.96.0.30").code, 404)
        self.assertIn("(NotFound)", self.bad("get", RESOURCE, name))
        self.assertEqual(self.server.call("POST", self.services(), document).code, 201)

    def test_what_a_service_has_is_not_deleted(self):
        self.service_with("web", "10.96.0.40")
        err = self.bad("delete", RESOURCE, number("10.96.0.40"))
        self.assertIn("(Conflict)", err)
        self.assertIn(f'"{number("10.96.0.40")}": the Service "{self.namespace}/web" has this '
                      "address", err)

    def test_nobody_changes_one(self):
        self.reserve("10.96.0.50")
        name = number("10.96.0.50")
        why = (f"{RESOURCE} cannot be changed: delete it and create another one, or change the "
               'metadata of ipaddresses.networking.k8s.io "10.96.0.50"')
        self.assertIn(why, self.bad("label", RESOURCE, name, "a=b"))
        self.assertIn(why, self.bad("patch", RESOURCE, name, "--type=merge", "-p",
                                    '{"spec":{"address":"10.96.0.51"}}'))
        self.assertIn(why, self.bad("replace", "-f", self.file("ip.json",
                                                               reservation("10.96.0.50"))))
        self.good("label", "ip", "10.96.0.50", "a=b")
        self.assertEqual(self.view("10.96.0.50").json["metadata"]["labels"], {"a": "b"})

    def test_server_side_apply(self):
        path = self.file("ip.json", reservation("10.96.0.55"))
        for answer in ("serverside-applied", "serverside-applied"):
            self.assertIn(answer, self.good("apply", "--server-side", "-f", path))
        self.assertEqual(self.view("10.96.0.55").json["status"]["state"], "Reserved")

    def test_watch(self):
        _, lines = self.follow("get", RESOURCE, "-w", "--output-watch-events")
        self.reserve("10.96.0.60")
        name = number("10.96.0.60")
        self.server.call("PATCH", f"{STORED}/10.96.0.60", {"metadata": {"labels": {"a": "b"}}},
                         {"Content-Type": "application/merge-patch+json"})
        self.server.call("DELETE", f"{VIEW}/{name}")
        own = lambda: [line.split()[0] for line in lines().splitlines() if name in line]
        wait_for(lambda: own() == ["ADDED", "MODIFIED", "DELETED"])

    def test_explain(self):
        text = self.good("explain", "ipaddresses.spec",
                         "--api-version=allocation.berth.io/v1alpha1")
        for field in ("address", "ipRangeRef", "reservedFor", "holdSeconds"):
            self.assertIn(field, text)

    def test_names_are_numbers(self):
        for name, why in (("10.96.0.70", f'which is "{number("10.96.0.70")}"'),
                          ("0174063626", "must not have leading 0s"),
                          ("web", "with digits only"),
                          (str(2 ** 128), "must not be greater than " + str(2 ** 128 - 1))):
            document = reservation("10.96.0.70")
            document["metadata"]["name"] = name
            err = self.bad("create", "-f", self.file("bad.json", document))
            self.assertIn(f'The IPAddress "{name}" is invalid: metadata.name', err)
            self.assertIn(why, err)
            self.assertIn("(NotFound)", self.bad("get", RESOURCE, name))


class OverHttp(Addresses, SharedServerCase):
    FLAGS = ("--service-cluster-ip-range", "10.96.0.0/16")

    def test_same_object(self):
        self.service_with("web", "10.96.1.20")
        shown, stored = self.view("10.96.1.20").json, self.stored("10.96.1.20").json
        for field in ("uid", "resourceVersion", "creationTimestamp", "labels"):
            self.assertEqual(shown["metadata"][field], stored["metadata"][field])
        self.assertEqual(shown["status"]["since"], stored["metadata"]["creationTimestamp"])

    def test_hold(self):
        made = self.reserve("10.96.1.30", reservedFor={"namespace": "a", "name": "b"},
                            holdSeconds=3600)
        self.assertEqual(made["status"]["state"], "Pending")
        self.assertIn("until", made["status"])
        self.assertEqual(self.stored("10.96.1.30").json["spec"]["parentRef"]["resource"],
                         "ipranges")
        self.assertNotIn("annotations", self.stored("10.96.1.30").json["metadata"])

    def test_bad_ones(self):
        for spec, field in (({"address": "10.96.1.41"}, "spec.address"),
                            ({"holdSeconds": 5}, "spec.reservedFor"),
                            ({"reservedFor": {"name": "x"}}, "spec.reservedFor.namespace"),
                            ({"reservedFor": {"namespace": "n", "name": "x"},
                              "holdSeconds": 86401}, "spec.holdSeconds"),
                            ({"ipRangeRef": {"kind": "Pod", "name": "x"}},
                             "spec.ipRangeRef.kind")):
            answer = self.server.call("POST", VIEW, reservation("10.96.1.40", **spec))
            self.assertEqual(answer.code, 422, answer)
            details = answer.json["details"]
            self.assertEqual((details["name"], details["group"], details["kind"]),
                             (number("10.96.1.40"), "allocation.berth.io", "IPAddress"))
            self.assertEqual([cause["field"] for cause in details["causes"]], [field])
        self.assertEqual(self.view("10.96.1.40").code, 404)

    def test_delete_some(self):
        for i in range(3):
            self.reserve(f"10.96.1.{50 + i}", labels={"group": "a" if i else "b"})
        gone = self.server.call("DELETE", f"{VIEW}?labelSelector=group%3Da")
        self.assertEqual(gone.code, 200, gone)
        self.assertEqual([item["metadata"]["name"] for item in gone.json["items"]],
                         [number("10.96.1.51"), number("10.96.1.52")])
        self.assertEqual(self.view("10.96.1.50").code, 200)
        self.assertEqual(self.stored("10.96.1.51").code, 404)

    def test_ipv6(self):
        wanted = reservation("2001:db8::5", ipRangeRef={"name": "blue"})
        answer = self.server.call("POST", VIEW, wanted)
        self.assertEqual(answer.code, 422, answer)
        self.assertIn('spec.ipRangeRef.name: Invalid value: "blue"', answer.json["message"])
        made = self.server.call("POST", "/apis/allocation.berth.io/v1alpha1/ipranges",
                                {"metadata": {"name": "blue"},
                                 "spec": {"range": "2001:db8::/64"}})
        self.assertEqual(made.code, 201, made)
        self.reserve("2001:db8::5", ipRangeRef={"name": "blue"})
        self.assertEqual(self.view("2001:db8::5").json["spec"],
                         {"address": "2001:db8::5",
                          "ipRangeRef": {"apiGroup": "allocation.berth.io", "kind": "IPRange",
                                         "name": "blue"}})
        gone = self.server.call("DELETE", f"{VIEW}/{number('2001:db8::5')}")
        self.assertEqual((gone.code, gone.json["details"]["name"]),
                         (200, number("2001:db8::5")))


globals().update(kubectls.cases(WithKubectl))


if __name__ == "__main__":
    main()
