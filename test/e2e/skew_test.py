"""Two servers on one etcd with different feature gates: one of them writes the status of ranges,
the ranges and `kubectl get replicas` show the difference, and changes that one of them could not
follow are refused.

    BERTH_BIN=build/release/berth python3 test/e2e/skew_test.py
"""

import json

import kubectls
from addresses import SERVICES, service
from harness import Case, main, wait_for
from ranges import (CIDRS, IP_RANGES, PORT_RANGES, PORTS, REPLICAS, V4, Ranges, condition, ip_range,
                    port_range)

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth-range-status"
OFF = "ServiceIPStaticSubrange=false,ServiceNodePortStaticSubrange=false"


class SkewCase(Ranges, Case):

    def setUp(self):
        super().setUp()
        self.url = self.etcd().url
        self.server = self.replica("on")
        self.other = self.replica("off", "--feature-gates", OFF)
        for path, name in ((IP_RANGES, V4), (PORT_RANGES, PORTS)):
            self.condition_is(path, name, "ReplicasAgree", "False", "GatesDiffer")

    def replica(self, data, *flags):
        return Case.server(self, "--etcd-servers", self.url,
                           "--service-cluster-ip-range=10.8.0.0/24", *flags, data=data)

    def names(self):
        """Returns the names of the replicas: that with all gates on, and the other one."""
        listed = self.server.call("GET", REPLICAS).json["items"]
        by_gate = {each["spec"]["gates"]["ServiceIPStaticSubrange"]: each["metadata"]["name"]
                   for each in listed}
        return by_gate["true"], by_gate["false"]

    def holder(self, server=None):
        return (server or self.server).call("GET", LEASE).json["spec"]["holderIdentity"]

    def events(self, path, since):
        """Returns the objects of all events since a resourceVersion."""
        answer = self.server.call("GET", f"{path}?watch=1&resourceVersion={since}&timeoutSeconds=1")
        return [json.loads(line)["object"] for line in answer.body.splitlines()]


class StatusTest(SkewCase):

    def test_one_writes_and_the_other_follows(self):
        self.assertEqual(self.holder(), self.names()[0], "the first one keeps the job")
        self.status(IP_RANGES, V4, used=1)
        since = self.server.call("GET", IP_RANGES).json["metadata"]["resourceVersion"]
        for i in range(4):
            self.made(service(f"s{i}"), server=(self.server, self.other)[i % 2])
            self.status(IP_RANGES, V4, self.other, used=i + 2)
        events = self.events(IP_RANGES, since)
        self.assertEqual([each["status"]["used"] for each in events], [2, 3, 4, 5])
        for each in events:
            self.assertIn("static", each["status"]["bands"])

    def test_another_takes_over_from_one_that_was_killed(self):
        self.server.process.kill()
        self.server.process.wait()
        self.made(service("s"), server=self.other)
        wait_for(lambda: self.get(IP_RANGES, V4, self.other)["status"]["used"] == 2)
        self.assertEqual(self.holder(self.other), next(
            each["metadata"]["name"] for each in self.other.call("GET", REPLICAS).json["items"]
            if each["spec"]["gates"]["ServiceIPStaticSubrange"] == "false"))
        self.assertNotIn("static", self.get(IP_RANGES, V4, self.other)["status"]["bands"])

    def test_another_takes_over_from_one_that_ends(self):
        off = self.names()[1]
        self.assertEqual(self.server.terminate(), 0)
        wait_for(lambda: self.holder(self.other) == off)
        self.made(service("s"), server=self.other)
        self.status(IP_RANGES, V4, self.other, used=2)


class ShownTest(SkewCase):

    def test_ranges_and_replicas_show_it_until_it_is_over(self):
        on, off = self.names()
        said = (f'ReplicasAgree=False: ServiceIPStaticSubrange is false on replica "{off}" and '
                f'true on replica "{on}"')
        both = "ServiceIPStaticSubrange={0},ServiceNodePortStaticSubrange={0}"
        wait_for(lambda: both.format("true") in self.kubectl("get", "replicas"))
        conditions = ('jsonpath={range .status.conditions[*]}{.type}={.status}: {.message}{"\\n"}'
                      "{end}")
        for self.KUBECTL in kubectls.BOTH:
            text = self.kubectl("get", "replicas")
            self.assertRegex(text, r"^NAME +VERSION +GATES +SKEW +AGE\n")
            self.assertRegex(text, rf"\n{on} +\S+ +all on +{both.format('true')} ")
            self.assertRegex(text, rf"\n{off} +\S+ +{OFF} +{both.format('false')} ")
            self.assertIn(said, self.kubectl("get", "ipr", V4, "-o", conditions).splitlines())
            self.assertIn("ReplicasAgree", self.kubectl("describe", "npr", PORTS))
        self.assertIn("other replicas run with other feature gates", self.server.output())

        self.assertEqual(self.other.terminate(), 0)
        for path, name in ((IP_RANGES, V4), (PORT_RANGES, PORTS)):
            wait_for(lambda path=path, name=name:
                     condition(self.get(path, name), "ReplicasAgree") is None)
        for self.KUBECTL in kubectls.BOTH:
            wait_for(lambda: "<none>" in self.kubectl("get", "replicas"))


class RefusedTest(SkewCase):

    def test_a_band_that_a_replica_cannot_honour(self):
        _, off = self.names()
        self.made(ip_range("blue", "10.9.0.0/24"), IP_RANGES)
        why = f'replica "{off}" runs with ServiceIPStaticSubrange=false and cannot honour spec.'
        for server in (self.server, self.other):
            for field, value in (("strict", True), ("staticBand", 40)):
                answer = self.change(IP_RANGES, "blue", server, **{field: value})
                self.assertEqual((answer.code, answer.json["reason"]), (409, "Conflict"), answer)
                self.assertIn(why + field, answer.json["message"])
            self.changed(IP_RANGES, "blue", server, staticBand=0)
            self.changed(IP_RANGES, "blue", server, staticBand=None)
        for self.KUBECTL in kubectls.BOTH:
            self.assertIn(why + "strict", self.kubectl_patch("ipr", "blue", spec={"strict": True},
                                                             fails=True))
        self.refused(409, f'replica "{off}" runs with ServiceNodePortStaticSubrange=false and '
                     "cannot honour spec.strict; start it without that first", "POST", PORT_RANGES,
                     port_range("web", "8000-8100", strict=True))
        self.assertEqual(self.other.terminate(), 0)
        self.changed(IP_RANGES, "blue", strict=True, staticBand=40)


class FamiliesTest(Ranges, Case):

    def test_without_dual_stack_the_first_of_two_cidrs_is_served(self):
        cidrs = ["10.8.0.0/24", "fd00:10:8::/112"]
        flags = ("--service-cluster-ip-range=" + ",".join(cidrs),)
        off = ("--feature-gates=IPv6DualStack=false",)
        for starts in (1, 2):  # A new store, and the same one later.
            self.server = Case.server(self, *flags, *off)
            for text in ("IPv6DualStack=false: Services get addresses of 10.8.0.0/24; "
                         "fd00:10:8::/112 is ignored.\n",
                         "the second CIDR of the flag is ignored, because the gate IPv6DualStack "
                         "is off flag=--service-cluster-ip-range served=10.8.0.0/24 "
                         "ignored=fd00:10:8::/112\n"):
                wait_for(lambda text=text, starts=starts:
                         self.server.output().count(text) == starts)
            self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], cidrs[:1])
            self.refused(422, "not configured for dual-stack", "POST", SERVICES,
                         service("dual", ipFamilyPolicy="RequireDualStack"))
            self.assertEqual(self.server.terminate(), 0)
        self.server = Case.server(self, *flags)
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], cidrs)
        self.made(service("dual", ipFamilyPolicy="RequireDualStack"))
        self.assertEqual(self.server.terminate(), 0)
        self.server = Case.server(self, *flags, *off)
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], cidrs, "it stays")


if __name__ == "__main__":
    main()
