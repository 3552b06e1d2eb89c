"""Procedures that take several steps and a restart: replacing the default range as the Kubernetes
documentation has it, the same for the IPRange, two families to one and back, and the command that
makes range flags count once more.

    BERTH_BIN=build/release/berth python3 test/e2e/procedures_test.py
"""

import subprocess

import kubectls
from addresses import MERGE, SERVICES, service
from harness import BERTH, Case, Server, environment, main, wait_for
from ranges import (CIDRS, IP_RANGES, PORT_RANGES, PORTS, V4, V6, Ranges, address, cidr, inside,
                    ip_range)

OLD = "10.5.0.0/24"
NEW = "10.7.0.0/24"
SIX = "fd00:5::/64"


class Procedures(Ranges, Case):

    def serve(self, cidrs=None, *flags):
        ranges = [f"--service-cluster-ip-range={cidrs}"] if cidrs else []
        before = len(self.server.output()) if isinstance(self.server, Server) else 0
        self.server = Case.server(self, *ranges, *flags)
        self.started = self.server.output()[before:]  # All starts write to one file.

    def restart(self, cidrs=None, *flags):
        self.assertEqual(self.server.terminate(), 0)
        self.serve(cidrs, *flags)

    def drawn(self, name):
        """Creates a Service with kubectl, and returns the address that it gets."""
        self.kubectl("create", "service", "clusterip", name, "--tcp=80")
        return address(self.kubectl_json("service", name))

    def moved(self, name):
        """Creates a Service again, and returns its address."""
        self.kubectl("delete", "service", name)
        return self.drawn(name)

    def kubernetes_has(self, ip):
        def has():
            answer = self.server.call("GET", f"{SERVICES}/kubernetes")
            return answer.code == 200 and address(answer.json) == ip
        wait_for(has)

    def first_is(self, *cidrs):
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], list(cidrs))
        stored = {each["metadata"]["name"]: each["spec"]["range"]
                  for each in self.server.call("GET", IP_RANGES).json["items"]}
        self.assertEqual({stored.get(V4), stored.get(V6)} - {None}, set(cidrs))

    def says(self, *texts):
        """Checks that the start has said all of this in one line."""
        lines = self.started.splitlines()
        self.assertTrue(any(all(text in line for text in texts) for line in lines), lines)


class ReplaceTest(Procedures):
    """The default range is replaced, step by step."""

    def test_the_service_cidr(self):
        self.serve(OLD)
        self.assertTrue(inside(self.drawn("web"), OLD))
        self.kubectl_create(cidr("next", NEW))
        uid = self.kubectl_json("servicecidr", "kubernetes")["metadata"]["uid"]
        answer = self.server.call("DELETE", f"{CIDRS}/kubernetes")
        self.assertEqual(answer.code, 200, answer)
        self.kubectl("delete", "servicecidr", "kubernetes", "--wait=false")  # Once more.
        shown = self.kubectl_json("servicecidr", "kubernetes")
        self.assertIn("deletionTimestamp", shown["metadata"])
        self.condition_is(CIDRS, "kubernetes", "Ready", "False", "Terminating")
        self.condition_is(IP_RANGES, V4, "Ready", "False", "Draining")
        # Nothing new comes from it.
        self.assertTrue(all(inside(self.drawn(f"new-{i}"), NEW) for i in range(3)))
        self.assertIn("makes way for another range", self.kubectl_fails(
            "create", "service", "clusterip", "old", "--tcp=80", "--clusterip=10.5.0.9"))
        # A server with the new flag waits for the Services that are left.
        self.restart(NEW)
        self.says("asked=10.7.0.0/24 in_force=10.5.0.0/24", "takes over", "Service default/web")
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "10.5.0.1")
        self.assertTrue(inside(self.moved("web"), NEW))
        self.kubernetes_has("10.7.0.1")
        self.first_is(NEW)
        now = self.kubectl_json("servicecidr", "kubernetes")["metadata"]
        self.assertNotEqual(now["uid"], uid)
        self.assertNotIn("deletionTimestamp", now)
        self.kubectl("delete", "servicecidr", "next")
        self.audit()
        self.restart(NEW)
        self.assertNotIn("than the flag says", self.started)
        self.first_is(NEW)

    def test_the_ip_range(self):
        self.serve(OLD)
        self.drawn("web")
        self.kubectl_create(ip_range("next", NEW))
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        self.assertTrue(inside(self.moved("web"), NEW))
        # The old range is empty when the server starts, so it is taken over before it serves.
        self.restart(NEW)
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "10.7.0.1")
        self.first_is(NEW)
        self.assertNotIn("disabled", self.get(IP_RANGES, V4)["spec"])
        self.kubectl("delete", "ipr", "next")
        self.assertTrue(inside(self.drawn("late"), NEW))
        self.audit()

    def test_the_ip_range_without_a_restart(self):
        self.serve(OLD)
        self.drawn("web")
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        self.kubectl("delete", "service", "web", "kubernetes")
        self.kubectl_patch("ipr", V4, spec={"range": NEW, "disabled": None})
        self.first_is(NEW)
        self.assertTrue(inside(self.drawn("web"), NEW))
        self.kubernetes_has("10.7.0.1")
        self.audit()

    def test_the_default_of_the_flag(self):
        """A flag counts as set even if it says what it is by default."""
        usual = "10.96.0.0/16"
        self.serve(OLD)
        self.kubectl_patch("ipr", V4, spec={"disabled": True})
        self.restart()
        self.first_is(OLD)
        self.restart(usual)
        self.first_is(usual)
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "10.96.0.1")

    def test_going_back(self):
        self.serve(OLD)
        self.kubectl_create(cidr("next", NEW))
        self.kubectl("delete", "servicecidr", "kubernetes", "--wait=false")
        self.assertTrue(inside(self.drawn("a"), NEW))
        self.kubectl("patch", "servicecidr", "kubernetes", "--type=merge", "-p",
                     '{"metadata":{"finalizers":null}}')
        self.assertTrue(inside(self.drawn("b"), OLD))
        wait_for(lambda: self.server.call("GET", f"{CIDRS}/kubernetes").code == 200, 10)
        self.first_is(OLD)
        self.assertNotIn("deletionTimestamp", self.get(CIDRS, "kubernetes")["metadata"])
        self.kubectl("delete", "service", "a")
        self.kubectl("delete", "servicecidr", "next")
        self.audit()


globals().update(kubectls.with_old(ReplaceTest))


class ReplicasTest(Procedures):

    def test_one_server_after_the_other(self):
        url = self.etcd().url

        def start(name, cidrs):
            return Case.server(self, "--etcd-servers", url,
                               f"--service-cluster-ip-range={cidrs}", data=name)
        one, two = start("one", OLD), start("two", OLD)
        self.made(cidr("next", NEW), CIDRS, server=one)
        self.made(service("web"), server=two)
        self.assertEqual(one.call("DELETE", f"{CIDRS}/kubernetes").code, 200)
        self.assertTrue(inside(address(self.made(service("a"), server=two)), NEW))
        self.assertEqual(one.terminate(), 0)
        one = start("one", NEW)
        self.server = two  # It still has the old flag.
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "10.5.0.1")
        self.done("DELETE", f"{SERVICES}/web")
        self.kubernetes_has("10.7.0.1")
        self.first_is(NEW)
        self.assertTrue(inside(address(self.made(service("b"))), NEW))
        self.audit()
        self.audit(one)


class FamiliesTest(Procedures):
    """A server has two families, then one, then two again."""

    def dual(self, name):
        answer = self.server.call("POST", SERVICES, service(
            name, ipFamilyPolicy="RequireDualStack"))
        return answer.code == 201

    def test_by_flags(self):
        self.serve(OLD)
        self.assertFalse(self.dual("a"))
        self.restart(f"{OLD},{SIX}")  # A second family is added, as in Kubernetes.
        self.first_is(OLD, SIX)
        self.assertTrue(self.dual("a"))
        # With fewer flags nothing changes, and the start says what to do.
        self.restart(OLD)
        self.says(f"asked={OLD}", f"in_force={OLD},{SIX}", "berth reset-ranges")
        self.assertTrue(self.dual("b"))
        # A disabled family goes with the next start that does not name it, when it is empty.
        self.kubectl_patch("ipr", V6, spec={"disabled": True})
        self.assertFalse(self.dual("c"))
        self.restart(OLD)
        self.says("takes over", "(Service default/a)", "(Service default/b)")
        for name in "ab":
            self.done("PATCH", f"{SERVICES}/{name}",
                      {"spec": {"ipFamilyPolicy": "SingleStack"}}, headers=MERGE)
        wait_for(lambda: self.server.call("GET", f"{IP_RANGES}/{V6}").code == 404)
        self.first_is(OLD)
        self.restart(f"{OLD},{SIX}")
        self.assertTrue(self.dual("c"))
        self.audit()

    def test_by_objects(self):
        self.serve(f"{OLD},{SIX}")
        self.kubectl_patch("ipr", V6, spec={"disabled": True})
        self.assertFalse(self.dual("a"))
        self.first_is(OLD, SIX)
        self.kubectl_patch("ipr", V6, spec={"disabled": None})
        self.assertTrue(self.dual("a"))
        self.audit()


class ResetRangesTest(Procedures):

    def reset(self, *flags, store=None):
        """Returns the exit code and what is printed."""
        place = ["--store", store] if store else ["--data-dir", self.path("data")]
        done = subprocess.run([BERTH, "reset-ranges", *place, *flags], stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", env=environment(), timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_dry_run_refused_and_done(self):
        self.serve(OLD, "--service-node-port-range=30000-30007")
        self.made(service("web", "NodePort"))
        flags = f"--service-cluster-ip-range={NEW}", "--service-node-port-range=31000-31999"
        code, text = self.reset(*flags)
        self.assertEqual(code, 1)
        self.assertIn("is in use by berth", text)
        self.assertEqual(self.server.terminate(), 0)
        code, text = self.reset(*flags, "--yes")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"nothing was changed: .* \(Service default/web\)")
        self.serve(NEW)
        self.says(f"asked={NEW} in_force={OLD}", "berth reset-ranges")
        self.first_is(OLD)
        self.done("DELETE", f"{SERVICES}/web")
        self.assertEqual(self.server.terminate(), 0)
        for _ in range(2):  # It only says what it would do.
            code, text = self.reset(*flags)
            self.assertEqual(code, 0, text)
            self.assertRegex(text, rf"{V4} +{OLD} becomes {NEW}\n")
            self.assertRegex(text, r"default/kubernetes +10.5.0.1 becomes 10.7.0.1;")
            self.assertRegex(text, rf"{PORTS} +30000-30007 becomes 31000-31999\n")
            self.assertIn("Nothing is in the way", text)
        code, text = self.reset(*flags, "--yes")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.reset(*flags),
                         (0, "The first ranges are already those of the flags\n"))
        self.serve(NEW, "--service-node-port-range=31000-31999")
        self.assertNotIn("than the flag says", self.started)
        self.first_is(NEW)
        self.assertEqual(self.get(PORT_RANGES, PORTS)["spec"]["range"], "31000-31999")
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "10.7.0.1")
        self.audit()

    def test_two_families_to_one_and_back(self):
        self.serve(f"{OLD},{SIX}")
        self.made(service("six", ipFamilies=["IPv6"]))
        self.assertEqual(self.server.terminate(), 0)
        one, two = (f"--service-cluster-ip-range={each}" for each in (OLD, f"{SIX},{OLD}"))
        code, text = self.reset(one)
        self.assertEqual(code, 1)
        self.assertRegex(text, rf"{V6} +{SIX} is deleted\n")
        self.assertIn("(Service default/six)", text)
        self.serve(OLD)
        self.done("DELETE", f"{SERVICES}/six")
        self.assertEqual(self.server.terminate(), 0)
        self.assertEqual(self.reset(one, "--yes")[0], 0)
        self.serve(OLD)
        self.assertNotIn("than the flag says", self.started)
        self.first_is(OLD)
        self.assertEqual(self.server.terminate(), 0)
        code, text = self.reset(two, "--yes")
        self.assertEqual(code, 0, text)
        self.serve(f"{SIX},{OLD}")
        self.first_is(SIX, OLD)
        self.assertTrue(inside(address(self.made(service("a"))), SIX))
        self.assertEqual(address(self.get(SERVICES, "kubernetes")), "fd00:5::1")
        self.audit()

    def test_on_etcd_while_servers_run(self):
        url = self.etcd().url
        flags = "--etcd-servers", url
        self.serve(OLD, *flags)
        self.made(service("web"))
        store, wanted = f"etcd:{url}", f"--service-cluster-ip-range={NEW}"
        code, text = self.reset(wanted, "--yes", store=store)
        self.assertEqual(code, 1)
        self.assertIn("(Service default/web)", text)
        self.done("DELETE", f"{SERVICES}/web")
        code, text = self.reset(wanted, "--yes", store=store)
        self.assertEqual(code, 0, text)
        wait_for(lambda: self.get(CIDRS, "kubernetes")["spec"]["cidrs"] == [NEW])
        self.kubernetes_has("10.7.0.1")
        self.assertTrue(inside(address(self.made(service("web"))), NEW))
        self.audit()

    def test_wrong_arguments(self):
        for flags, says in (((), "give --service-cluster-ip-range"),
                            (("--service-cluster-ip-range=10.0.0.0",), "is not a valid cidr"),
                            (("--service-node-port-range=9-1",), "--service-node-port-range")):
            code, text = self.reset(*flags)
            self.assertEqual(code, 2, text)
            self.assertIn(says, text)


if __name__ == "__main__":
    main()
