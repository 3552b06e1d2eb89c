"""ServiceCIDRs: addresses come from them at once, and they are deleted when nothing depends on
them, not before.

    BERTH_BIN=build/release/berth python3 test/e2e/service_cidrs_test.py
"""

import kubectls
from addresses import ADDRESSES, MERGE, SERVICES, in_threads, service
from harness import Case, main, wait_for
from ranges import (CIDRS, FINALIZER, IP_RANGES, V4, V6, Ranges, address, cidr, condition, inside,
                    ip_range)


class CidrCase(Ranges, Case):

    def setUp(self):
        super().setUp()
        self.server = Case.server(self, "--service-cluster-ip-range=10.0.0.0/28")

    def is_gone(self, name, server=None):
        return (server or self.server).call("GET", f"{CIDRS}/{name}").code == 404

    def gone(self, name):
        wait_for(lambda: self.is_gone(name), 10)

    def looked_at(self):
        """Returns when the server has checked every deleted ServiceCIDR. It checks them in the
        order of their names, and removes one that nothing depends on."""
        self.made(cidr("zz-the-last", "10.99.0.0/24"), CIDRS)
        self.delete("zz-the-last")
        self.gone("zz-the-last")

    def said_what_becomes_of_it(self, name, server=None):
        """Returns whether it is deleted, or says that it waits for its addresses."""
        answer = (server or self.server).call("GET", f"{CIDRS}/{name}")
        return answer.code == 404 or condition(answer.json, "Ready") == ("False", "Terminating")

    def delete(self, name, server=None):
        answer = (server or self.server).call("DELETE", f"{CIDRS}/{name}")
        self.assertEqual(answer.code, 200, answer)


class KubectlTest(CidrCase):

    def test_one_that_is_in_use_goes_when_it_is_not(self):
        self.made(cidr("more", "10.1.0.0/24"), CIDRS)
        self.made(service("a", clusterIP="10.1.0.7"))
        self.made(service("b", clusterIP="10.1.0.8"))
        self.kubectl("delete", "servicecidr", "more", "--wait=false")
        self.condition_is(CIDRS, "more", "Ready", "False", "Terminating")
        shown = self.get(CIDRS, "more")
        self.assertIn("deletionTimestamp", shown["metadata"])
        self.assertEqual(
            [each["message"] for each in shown["status"]["conditions"] if each["type"] == "Ready"],
            ["There are still IPAddresses referencing the ServiceCIDR, please remove them or "
             "create a new ServiceCIDR"])
        # No new address comes from it. Existing ones stay and work.
        self.refused(422, "the provided network does not match the current range", "POST",
                     SERVICES, service("c", clusterIP="10.1.0.9"))
        self.patched("a", {"spec": {"sessionAffinity": "ClientIP"}})
        self.done("DELETE", f"{SERVICES}/a")
        self.looked_at()
        self.assertFalse(self.is_gone("more"))
        self.audit()
        self.done("DELETE", f"{SERVICES}/b")
        self.gone("more")

    def test_one_that_nobody_uses_goes_at_once(self):
        self.made(cidr("more", "10.1.0.0/24"), CIDRS)
        self.kubectl("delete", "servicecidr", "more")
        self.assertTrue(self.is_gone("more"))


globals().update(kubectls.with_old(KubectlTest))


class ServiceCidrsTest(CidrCase):

    def test_one_is_served_from_as_soon_as_it_is_made(self):
        made = self.made(cidr("more", "10.1.0.0/24"), CIDRS)
        self.assertEqual(made["metadata"]["finalizers"], [FINALIZER])
        self.made(service("a", clusterIP="10.1.0.7"))
        self.condition_is(CIDRS, "more", "Ready", "True", "")
        # Picks come from the first range as long as it has a free address, and then from this one.
        drawn = [address(self.made(service(f"s{i}"))) for i in range(20)]
        self.assertTrue(all(inside(ip, "10.0.0.0/28") for ip in drawn[:13]), drawn)
        self.assertTrue(all(inside(ip, "10.1.0.0/24") for ip in drawn[13:]), drawn)
        self.audit()

    def test_another_that_has_its_addresses_is_enough(self):
        self.made(cidr("small", "10.1.0.0/24"), CIDRS)
        self.made(cidr("large", "10.1.0.0/16"), CIDRS)
        self.made(service("a", clusterIP="10.1.0.7"))
        self.delete("small")
        self.gone("small")
        self.made(service("b", clusterIP="10.1.0.8"))
        self.delete("large")
        self.condition_is(CIDRS, "large", "Ready", "False", "Terminating")
        # A new range takes over.
        self.made(ip_range("instead", "10.1.0.0/20"), IP_RANGES)
        self.gone("large")
        self.made(service("c", clusterIP="10.1.0.9"))
        self.audit()

    def test_two_that_are_the_same_do_not_count_on_each_other(self):
        """Neither is deleted while an address needs one of them, in whatever order they are
        deleted."""
        for name in ("one", "two"):
            self.made(cidr(name, "10.1.0.0/24"), CIDRS)
        self.made(service("a", clusterIP="10.1.0.7"))
        in_threads(2, lambda number: self.delete(("one", "two")[number]))
        wait_for(lambda: all(map(self.said_what_becomes_of_it, ("one", "two"))))
        left = [name for name in ("one", "two") if not self.is_gone(name)]
        self.assertGreater(len(left), 0)
        for name in left:
            self.condition_is(CIDRS, name, "Ready", "False", "Terminating")
        self.assertEqual(self.holder("10.1.0.7"), "a")
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("b", clusterIP="10.1.0.8"))
        self.done("DELETE", f"{SERVICES}/a")
        for name in left:
            self.gone(name)

    def test_a_reservation_keeps_one(self):
        self.made(cidr("more", "10.1.0.0/24"), CIDRS)
        self.made({"metadata": {"name": "10.1.0.5"}, "spec": {"parentRef": {
            "resource": "things", "name": "x"}}}, ADDRESSES)
        self.delete("more")
        self.condition_is(CIDRS, "more", "Ready", "False", "Terminating")
        self.done("DELETE", f"{ADDRESSES}/10.1.0.5")
        self.gone("more")

    def test_one_that_can_serve_nothing(self):
        cidrs = {"all": "0.0.0.0/0", "one": "10.1.0.0/32", "two": "10.1.0.0/31",
                 "six": "fd00::1/128"}
        for name, text in cidrs.items():
            self.made(cidr(name, text), CIDRS)
        for name in cidrs:
            self.condition_is(CIDRS, name, "Ready", "False", "NoUsableAddress")
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("a", clusterIP="192.168.0.1"))
        self.refused(422, "this cluster is not configured for dual-stack", "POST", SERVICES,
                     service("dual", ipFamilyPolicy="RequireDualStack"))

    def test_a_second_family(self):
        """`kubernetes` gets it, and the same write creates its IPRange."""
        dual = service("dual", ipFamilyPolicy="RequireDualStack")
        self.refused(422, "not configured for dual-stack", "POST", SERVICES, dual)
        path = f"{CIDRS}/kubernetes"
        self.refused(422, "spec.cidrs[0]: Invalid value: \"10.0.0.0/24\": field is immutable",
                     "PATCH", path, {"spec": {"cidrs": ["10.0.0.0/24"]}}, MERGE)
        self.done("PATCH", path, {"spec": {"cidrs": ["10.0.0.0/28", "fd00:5::/64"]}}, MERGE)
        self.assertEqual(self.get(IP_RANGES, V6)["spec"], {"range": "fd00:5::/64"})
        self.assertEqual(self.get(IP_RANGES, V4)["spec"],
                         {"range": "10.0.0.0/28", "primary": True})
        made = self.made(dual)
        self.assertEqual(made["spec"]["ipFamilies"], ["IPv4", "IPv6"])
        self.refused(422, "field is immutable", "PATCH", path,
                     {"spec": {"cidrs": ["10.0.0.0/28"]}}, MERGE)
        # The IPRange grows, and the ServiceCIDR shows it.
        self.resized(V6, "fd00:5::/60")
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"],
                         ["10.0.0.0/28", "fd00:5::/60"])
        self.audit()

    def test_an_iprange_with_the_cidr_of_a_servicecidr(self):
        """The IPRange decides how addresses are given out, and each address exists once."""
        self.made(cidr("more", "10.1.0.0/28"), CIDRS)
        self.made(ip_range("more", "10.1.0.0/28", excluded=["10.1.0.5"], priority=1), IP_RANGES)
        self.refused(422, "is excluded", "POST", SERVICES, service("a", clusterIP="10.1.0.5"))
        self.made(service("a", clusterIP="10.1.0.6"))
        self.status(IP_RANGES, "more", used=1)
        self.done("DELETE", f"{IP_RANGES}/more")  # The ServiceCIDR still has it.
        self.made(service("b", clusterIP="10.1.0.5"))
        self.audit()

    def test_on_two_servers(self):
        url = self.etcd().url
        one, two = (Case.server(self, "--etcd-servers", url,
                                "--service-cluster-ip-range=10.0.0.0/28", data=name)
                    for name in ("one", "two"))
        for name in ("first", "second"):
            self.made(cidr(name, "10.1.0.0/24"), CIDRS, server=one)
        self.made(service("a", clusterIP="10.1.0.7"), server=two)
        in_threads(2, lambda number: self.delete(("first", "second")[number], (one, two)[number]))
        wait_for(lambda: all(self.said_what_becomes_of_it(name, one)
                             for name in ("first", "second")))
        left = [name for name in ("first", "second") if not self.is_gone(name, one)]
        self.assertGreater(len(left), 0)
        self.audit(one)
        self.done("DELETE", f"{SERVICES}/a", server=one)
        for name in left:
            wait_for(lambda each=name: self.is_gone(each, two), 10)


if __name__ == "__main__":
    main()
