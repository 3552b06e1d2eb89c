"""Ranges that grow, shrink, are drained and deleted, one after the other and by two replicas.

    BERTH_BIN=build/release/berth python3 test/e2e/ranges_test.py
"""

import http.client
import threading
import time

import kubectls
from addresses import MERGE, SERVICES, in_threads, node_ports, service
from harness import Case, Server, free_ports, main, wait_for
from ranges import (CIDRS, IP_RANGES, PORT_RANGES, PORTS, REPLICAS, RESERVATIONS, V4, Ranges,
                    address, annotated, inside, ip_range, port_range, reservation)


class RangeCase(Ranges, Case):
    FLAGS = ("--service-cluster-ip-range=10.0.0.0/24",)

    def setUp(self):
        super().setUp()
        self.server = super().server(*self.FLAGS)


class SizeTest(RangeCase):

    def blocked(self, name, text, *blockers, path=IP_RANGES):
        """Checks that a change is refused, naming these, and that the range and its values are as
        before."""
        before = self.get(path, name)
        answer = self.change(path, name, range=text)
        self.assertEqual((answer.code, answer.json["reason"]), (422, "Invalid"), answer)
        what = "ports" if path == PORT_RANGES else "addresses"
        kind = "NodePortRange" if path == PORT_RANGES else "IPRange"
        self.assertEqual(
            answer.json["message"],
            f'{kind}.allocation.berth.io "{name}" is invalid: spec.range: Invalid value: "{text}": '
            f"{len(blockers)} of its {what} would be outside of every range: "
            f"{', '.join(blockers)}")
        self.assertEqual(answer.json["details"]["causes"][0]["field"], "spec.range")
        after = self.get(path, name)
        self.assertEqual((after["spec"], after["metadata"]["generation"]),
                         (before["spec"], before["metadata"]["generation"]))

    def test_larger_is_possible_and_smaller_with_nobody_outside(self):
        self.made(service("a", clusterIP="10.0.0.244"))
        grown = self.resized(V4, "10.0.0.0/16")
        self.assertEqual(grown["metadata"]["generation"], 2)
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], ["10.0.0.0/16"])
        # The band follows, and taken values stay.
        status = self.status(IP_RANGES, V4, used=2)
        self.assertEqual(status["bands"]["static"]["last"], "10.0.1.0")
        self.assertEqual(self.holder("10.0.0.244"), "a")
        self.assertGreater(int(address(self.made(service("b"))).split(".")[2]), 0)
        self.done("DELETE", f"{SERVICES}/b")

        self.blocked(V4, "10.0.0.0/28", "10.0.0.244 (Service default/a)")
        dry = self.server.call("PATCH", f"{IP_RANGES}/{V4}?dryRun=All",
                               {"spec": {"range": "10.0.0.0/28"}},
                               MERGE)
        self.assertEqual(dry.code, 422, dry)
        self.made(service("c", clusterIP="10.0.77.1"))
        self.done("DELETE", f"{SERVICES}/c")
        self.done("DELETE", f"{SERVICES}/a")
        self.resized(V4, "10.0.0.0/28")
        self.refused(422, "the provided network does not match the current range", "POST",
                     SERVICES, service("d", clusterIP="10.0.0.244"))
        self.assertTrue(inside(address(self.made(service("e"))), "10.0.0.0/28"))
        self.assertEqual(self.status(IP_RANGES, V4, used=2)["total"], "14")
        self.audit()

    def test_network_and_broadcast_addresses(self):
        """The last address of the smaller range cannot be held in it, and neither can the first."""
        self.made(service("last", clusterIP="10.0.0.127"))
        self.blocked(V4, "10.0.0.0/25", "10.0.0.127 (Service default/last)")
        self.done("DELETE", f"{SERVICES}/last")
        self.resized(V4, "10.0.0.0/25")
        self.made(ip_range("extra", "10.8.0.0/24"), IP_RANGES)
        self.made(service("first", clusterIP="10.8.0.128"))
        self.blocked("extra", "10.8.0.128/25", "10.8.0.128 (Service default/first)")

    def test_twenty_are_named_and_the_rest_counted(self):
        for i in range(100, 127):
            self.made(service(f"s{i}", clusterIP=f"10.0.0.{i}"))
        answer = self.change(IP_RANGES, V4, range="10.0.0.0/27")
        self.assertEqual(answer.code, 422, answer)
        message = answer.json["message"]
        self.assertIn("27 of its addresses would be outside of every range: ", message)
        self.assertEqual(message.count("(Service default/s"), 20)
        self.assertTrue(message.endswith(" and 7 more"), message)
        self.made(service("after", clusterIP="10.0.0.200"))  # The range is not closed.

    def test_another_range_may_cover_what_this_one_gives_up(self):
        self.made(service("a", clusterIP="10.0.0.200"))
        self.made(ip_range("upper", "10.0.0.128/25"), IP_RANGES)
        self.condition_is(IP_RANGES, "upper", "Overlapping", "True", "SharedValues")
        self.resized(V4, "10.0.0.0/25")
        self.condition_is(IP_RANGES, "upper", "Overlapping", "False", "Alone")
        self.assertEqual(self.status(IP_RANGES, "upper", used=1)["total"], "126")
        self.refused(409, '1 of its addresses would be outside of every range: 10.0.0.200 '
                     "(Service default/a)", "DELETE", f"{IP_RANGES}/upper")
        refused = self.server.call("DELETE", f"{IP_RANGES}/upper").json
        self.assertEqual((refused["reason"], refused["details"]["causes"]),
                         ("Conflict", [{"reason": "InUse",
                                        "message": "10.0.0.200 (Service default/a)"}]))
        self.resized(V4, "10.0.0.0/24")
        self.done("DELETE", f"{IP_RANGES}/upper")
        self.audit()

    def test_a_reservation_stands_in_the_way(self):
        self.made(reservation("10.0.0.99"), "/apis/allocation.berth.io/v1alpha1/ipaddresses")
        self.blocked(V4, "10.0.0.0/26", "10.0.0.99 (reserved)")

    def test_ports(self):
        self.made(service("a", "NodePort", [{"port": 80, "nodePort": 32000}]))
        self.blocked(PORTS, "30000-30999", "32000 (Service default/a)", path=PORT_RANGES)
        self.resized(PORTS, "30000-32000")
        self.resized(PORTS, "20000-40000")
        self.made(service("b", "NodePort", [{"port": 80, "nodePort": 20001}]))
        self.assertEqual(self.status(PORT_RANGES, PORTS, used=2)["total"], "20001")
        self.audit()

    def test_a_change_of_the_other_fields_takes_effect_at_once(self):
        self.changed(IP_RANGES, V4, excluded=["10.0.0.16/28", "10.0.0.200"], staticBand=4)
        self.refused(422, f'provided IP is excluded from the range "{V4}" (10.0.0.0/24)', "POST",
                     SERVICES, service("a", clusterIP="10.0.0.200"))
        status = self.status(IP_RANGES, V4, used=1)
        self.assertEqual((status["total"], status["bands"]["static"]["last"]),
                         (str(254 - 17), "10.0.0.4"))
        self.changed(IP_RANGES, V4, excluded=None)
        self.made(service("a", clusterIP="10.0.0.200"))
        # A Service keeps an address that is excluded later.
        self.changed(IP_RANGES, V4, excluded=["10.0.0.200"])
        self.audit()
        self.done("DELETE", f"{SERVICES}/a")
        self.refused(422, "provided IP is excluded", "POST", SERVICES,
                     service("a", clusterIP="10.0.0.200"))


class LifeTest(RangeCase):

    def test_reservations_that_nobody_can_redeem_are_told_of(self):
        self.made(ip_range("blue", "10.7.0.0/24", excluded=["10.7.0.8/30"]), IP_RANGES)
        told = self.server.call("POST", RESERVATIONS, reservation("10.7.0.9", "default/web"))
        self.assertEqual(told.code, 201, told)
        self.assertEqual(told.headers["warning"],
                         '299 - "10.7.0.9 is excluded from the range \\"blue\\": no Service can '
                         'take it until that changes"')
        self.refused(422, 'excluded from the range "blue"', "POST", SERVICES,
                     service("web", clusterIP="10.7.0.9"))
        self.assertNotIn("warning", self.change(IP_RANGES, "blue", excluded=[]).headers)
        told = self.change(IP_RANGES, "blue", disabled=True)
        self.assertEqual(told.headers["warning"],
                         '299 - "no Service can take what is reserved for it here until that '
                         'changes: 10.7.0.9 (default/web)"')
        told = self.server.call("POST", RESERVATIONS, reservation("10.7.0.10", "default/web"))
        self.assertIn('10.7.0.10 lies in the range \\"blue\\", which is disabled',
                      told.headers["warning"])
        self.changed(IP_RANGES, "blue", disabled=False)
        self.assertEqual(address(self.made(service("web"))), "10.7.0.9")
        self.audit()

    def test_what_is_always_there_is_not_deleted(self):
        for path, name in ((IP_RANGES, V4), (PORT_RANGES, PORTS)):
            self.refused(422, "this range is always there", "DELETE", f"{path}/{name}")
            self.refused(422, "this range is always there", "DELETE", path)
        # But it can be disabled. Then no value comes from it.
        self.changed(IP_RANGES, V4, disabled=True)
        self.refused(500, "range is full", "POST", SERVICES, service("a"))
        self.changed(IP_RANGES, V4, disabled=False)
        self.made(service("a"))
        self.changed(PORT_RANGES, PORTS, disabled=True)
        self.refused(500, "range is full", "POST", SERVICES, service("b", "NodePort"))

    def test_exactly_one_is_primary(self):
        self.made(ip_range("six", "fd00:1::/64"), IP_RANGES)
        self.refused(422, "spec.primary: Invalid value: false: one range must be primary; set "
                     "spec.primary of another one, which takes it from this one", "PATCH",
                     f"{IP_RANGES}/{V4}", {"spec": {"primary": False}},
                     MERGE)
        self.made(ip_range("seven", "fd00:2::/64", primary=True), IP_RANGES)
        self.assertNotIn("primary", self.get(IP_RANGES, V4)["spec"])
        self.assertEqual(self.made(service("a"))["spec"]["ipFamilies"], ["IPv6"])
        self.refused(409, "it is the primary range; make another one primary first", "DELETE",
                     f"{IP_RANGES}/seven")
        self.changed(IP_RANGES, "six", primary=True)
        self.assertEqual([each["metadata"]["name"]
                          for each in self.server.call("GET", IP_RANGES).json["items"]
                          if each["spec"].get("primary")], ["six"])

    def test_the_first_range_of_the_other_family_makes_the_cluster_dual_stack(self):
        dual = service("dual", ipFamilyPolicy="RequireDualStack")
        self.refused(422, "this cluster is not configured for dual-stack services", "POST",
                     SERVICES, dual)
        self.made(ip_range("six", "fd00:1::/64"), IP_RANGES)
        self.assertEqual(self.made(dual)["spec"]["ipFamilies"], ["IPv4", "IPv6"])
        self.done("DELETE", f"{SERVICES}/dual")
        self.changed(IP_RANGES, "six", disabled=True)
        self.refused(422, "this cluster is not configured for dual-stack services", "POST",
                     SERVICES, dual)
        self.changed(IP_RANGES, "six", disabled=False)
        self.made(dual)


class KubectlTest(RangeCase):

    def test_drain_a_range_to_nothing_and_delete_it(self):
        self.kubectl_create(ip_range("old", "10.44.0.0/28", priority=1))
        self.kubectl_patch("ipr", V4, spec={"priority": 0})  # Otherwise it comes before all others.
        made = [self.made(service(f"s{i}")) for i in range(4)]
        self.status(IP_RANGES, "old", used=4)
        free = next(ip for ip in (f"10.44.0.{i}" for i in range(1, 15))
                    if ip not in map(address, made))
        self.kubectl_patch("ipr", "old", spec={"disabled": True})
        self.assertTrue(inside(address(self.made(service("new"))), "10.0.0.0/24"))
        self.refused(422, 'provided IP is in the range "old" (10.44.0.0/28), which is disabled',
                     "POST", SERVICES, service("static", clusterIP=free))
        self.condition_is(IP_RANGES, "old", "Draining", "True", "Draining")
        self.assertIn("Draining", self.kubectl("get", "ipr", "old"))
        complaint = self.kubectl_fails("delete", "ipr", "old")
        self.assertIn("4 of its addresses would be outside of every range", complaint)
        # They still work: a Service of the range can be changed.
        self.patched("s0", {"spec": {"sessionAffinity": "ClientIP"}})
        for each in made:
            self.done("DELETE", f"{SERVICES}/{each['metadata']['name']}")
        self.condition_is(IP_RANGES, "old", "Draining", "True", "Drained")
        self.kubectl("delete", "ipr", "old")
        self.assertEqual(self.server.call("GET", f"{IP_RANGES}/old").code, 404)
        self.audit()

    def test_ports_80_and_443_beside_the_default_range(self):
        self.kubectl_create(port_range("http", "80"))
        self.kubectl_create(port_range("https", "443", disabled=True))
        for port in (80, 30080):
            self.made(service(f"s{port}", "NodePort", [{"port": 80, "nodePort": port}]))
        self.refused(422, 'provided port is in the range "https" (443), which is disabled', "POST",
                     SERVICES, service("tls", "NodePort", [{"port": 443, "nodePort": 443}]))
        self.refused(422, "provided port is already allocated", "POST", SERVICES,
                     service("other", "NodePort", [{"port": 80, "nodePort": 80}]))
        self.refused(422, "The range of valid ports is ", "POST", SERVICES,
                     service("other", "NodePort", [{"port": 80, "nodePort": 8080}]))
        self.kubectl_patch("npr", "https", spec={"disabled": False})
        tls = self.made(annotated(service("tls", "NodePort"), port_range="https"))
        self.assertEqual(node_ports(tls), [443])
        self.refused(422, 'the range "https" (443) is full', "POST", SERVICES,
                     annotated(service("more", "NodePort"), port_range="https"))
        # Other Services get ports from the default range.
        drawn = [node_ports(self.made(service(f"d{i}", "NodePort")))[0] for i in range(20)]
        self.assertGreaterEqual(min(drawn), 30000)
        self.status(PORT_RANGES, "http", used=1, free=0)
        self.assertIn("80 (Service default/s80)", self.kubectl_fails("delete", "npr", "http"))
        self.done("DELETE", f"{SERVICES}/s80")
        self.kubectl("delete", "npr", "http")
        self.audit()

    def test_one_with_a_finalizer(self):
        """It is deleted by the same rules, and gives out nothing while it waits."""
        body = ip_range("old", "10.44.0.0/28")
        body["metadata"]["finalizers"] = ["example.com/wait"]
        self.made(body, IP_RANGES)
        self.made(annotated(service("a"), ip_range="old"))
        self.refused(409, "1 of its addresses would be outside of every range", "DELETE",
                     f"{IP_RANGES}/old")
        self.done("DELETE", f"{SERVICES}/a")
        self.done("DELETE", f"{IP_RANGES}/old")
        self.condition_is(IP_RANGES, "old", "Terminating", "True", "Deleted")
        self.assertRegex(self.kubectl("get", "ipr", "old"), "old .* Terminating ")
        self.refused(422, 'the range "old" (10.44.0.0/28) is being deleted', "POST", SERVICES,
                     annotated(service("b"), ip_range="old"))
        self.done("PATCH", f"{IP_RANGES}/old", {"metadata": {"finalizers": None}}, MERGE)
        self.assertEqual(self.server.call("GET", f"{IP_RANGES}/old").code, 404)

    def test_apply_a_range(self):
        body = port_range("web", "8000-8100", excluded=["8080"])
        for command in (("apply", "-f", "-"), ("apply", "--server-side", "-f", "-")):
            for text in ("8000-8100", "8000-8200", "8000-8050"):
                body["spec"]["range"] = text
                self.kubectl(*command, "--force-conflicts" if len(command) > 3 else "--wait=false",
                             body=body)
                self.assertEqual(self.get(PORT_RANGES, "web")["spec"],
                                 {"range": text, "excluded": ["8080"]})
        generation = self.get(PORT_RANGES, "web")["metadata"]["generation"]
        self.kubectl("apply", "--server-side", "-f", "-", body=body)
        self.assertEqual(self.get(PORT_RANGES, "web")["metadata"]["generation"], generation)

    def test_what_kubectl_shows(self):
        text = self.kubectl("get", "ipr,npr,servicecidr,replicas")
        for pattern in (r"NAME +RANGE +PRIMARY +TOTAL +USED +FREE +READY +AGE\n",
                        rf"iprange\S+/{V4} +10\.0\.0\.0/24 +true +254 +1 +253 +True ",
                        r"NAME +RANGE +TOTAL +USED +FREE +READY +AGE\n",
                        rf"nodeportrange\S+/{PORTS} +30000-32767 +2768 +0 +2768 +True ",
                        r"servicecidr\S+/kubernetes +10\.0\.0\.0/24 ",
                        r"NAME +VERSION +GATES +SKEW +AGE\n",
                        r"replica\S+ +\d+\.\d+\.\d+ +all on +<none> "):
            self.assertRegex(text, pattern)
        for field in ("iprange.spec", "nodeportrange.spec", "iprange.status", "replica.spec",
                      "nodeport.spec"):
            self.assertIn("DESCRIPTION:", self.kubectl("explain", field))
        text = self.kubectl("explain", "iprange.spec")
        for field in ("range", "primary", "priority", "staticBand", "strict", "disabled",
                      "excluded", "coolDownSeconds"):
            self.assertRegex(text, rf"\n +{field}\t<")
        self.assertIn("10.0.0.0/24", self.kubectl("describe", "ipr", V4))


globals().update(kubectls.with_old(KubectlTest))


HOW = "changed through the API; to make the flags count, use berth reset-ranges"


class FlagsTest(Ranges, Case):
    """Flags apply only to the first start."""

    def events(self, server):
        return [(each["reason"], each["involvedObject"]["name"], each["message"])
                for each in server.call("GET", "/api/v1/namespaces/default/events").json["items"]]

    def test_flags_that_disagree_later(self):
        first = self.server("--service-cluster-ip-range=10.0.0.0/24",
                            "--service-node-port-range=30000-30999")
        before = {path: first.call("GET", path).json["items"] for path in (IP_RANGES, PORT_RANGES)}
        self.assertEqual(self.events(first), [])
        self.assertEqual(first.terminate(), 0)
        second = self.server("--service-cluster-ip-range=10.9.0.0/16",
                             "--service-node-port-range=31000-31999")
        for path, ranges in before.items():
            now = second.call("GET", path).json["items"]
            self.assertEqual([each["spec"] for each in now], [each["spec"] for each in ranges])
        self.assertEqual(sorted(self.events(second)), [
            ("KubernetesDefaultServiceCIDRInconsistent", "kubernetes",
             "--service-cluster-ip-range asks for 10.9.0.0/16, but 10.0.0.0/24 is in force: ranges "
             f"are {HOW}"),
            ("NodePortRangeInconsistent", PORTS,
             "--service-node-port-range asks for 31000-31999, but 30000-30999 is in force: ranges "
             f"are {HOW}")])
        made = self.made(service("a", "NodePort"), server=second)
        self.assertTrue(inside(address(made), "10.0.0.0/24"))
        self.assertLess(node_ports(made)[0], 31000)

    def test_what_was_changed_stays_changed(self):
        first = self.server("--service-cluster-ip-range=10.0.0.0/24")
        self.resized(V4, "10.0.0.0/20", server=first)
        self.made(ip_range("more", "10.8.0.0/24"), IP_RANGES, server=first)
        self.made(service("a", clusterIP="10.0.9.9"), server=first)
        first.process.kill()
        first.process.wait()
        second = self.server("--service-cluster-ip-range=10.0.0.0/24")
        self.assertEqual(self.get(IP_RANGES, V4, second)["spec"]["range"], "10.0.0.0/20")
        self.assertEqual(self.get(IP_RANGES, V4, second)["status"]["used"], 2)  # From the start.
        self.assertEqual(self.get(IP_RANGES, "more", second)["status"]["used"], 0)
        self.made(service("b", clusterIP="10.8.0.8"), server=second)
        self.audit(second)


class BootstrapTest(Ranges, Case):
    """A change of ranges while a server starts."""

    def test_the_first_start(self):
        """Before it is ready it refuses, or does what it is asked. It never does half of it."""
        port, = free_ports(1)
        made, answers = [], []

        def work(number):
            if number == 0:
                made.append(Case.server(self, "--service-cluster-ip-range=10.0.0.0/24", port=port))
                return
            early = Server.__new__(Server)  # To call it before it has started.
            early.port = port
            end = time.monotonic() + 10
            while time.monotonic() < end and not (answers and answers[-1].code == 200):
                try:
                    answers.append(early.call("PATCH", f"{IP_RANGES}/{V4}",
                                              {"spec": {"range": "10.0.0.0/20"}}, MERGE))
                except (OSError, http.client.HTTPException):
                    time.sleep(0.001)
        in_threads(2, work)
        self.assertEqual(answers[-1].code, 200, answers)
        for answer in answers[:-1]:
            self.assertIn(answer.code, (401, 404, 503), answer)
            self.assertEqual(answer.json["kind"], "Status")
        self.server = made[0]
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], ["10.0.0.0/20"])
        self.made(service("a", clusterIP="10.0.9.9"))
        self.audit()

    def test_another_replica_starts_meanwhile(self):
        url = self.etcd().url
        flags = ("--etcd-servers", url, "--service-cluster-ip-range=10.0.0.0/24")
        self.server = first = Case.server(self, *flags, data="first")
        stop, sizes = threading.Event(), []

        def work(number):
            if number == 0:
                try:
                    for i in range(4):
                        late = Case.server(self, *flags, data=f"late-{i}")
                        self.assertEqual(late.terminate(), 0)
                finally:
                    stop.set()
                return
            while not stop.is_set():
                sizes.append(20 + len(sizes) % 5)
                self.resized(V4, f"10.0.0.0/{sizes[-1]}", server=first)
        in_threads(2, work)
        self.assertGreater(len(sizes), 5)
        self.assertEqual(self.get(IP_RANGES, V4)["spec"]["range"], f"10.0.0.0/{sizes[-1]}")
        self.assertEqual(len(self.server.call("GET", IP_RANGES).json["items"]), 1)
        self.audit()


class ReplicasTest(Ranges, Case):

    def replica(self, url, name, *flags):
        return self.server("--etcd-servers", url, *flags, data=name)

    def test_two_start_with_different_flags(self):
        url = self.etcd().url
        made = {}

        def start(number):
            made[number] = self.replica(url, f"r{number}",
                                        f"--service-cluster-ip-range=10.{number}.0.0/24")
        in_threads(2, start)
        spec, = {self.get(IP_RANGES, V4, each)["spec"]["range"] for each in made.values()}
        winner = int(spec.split(".")[1])
        wanted = f"10.{1 - winner}.0.0/24"
        log = made[1 - winner].output()
        says = "than the flag says, and the store's is in force flag=--service-cluster-ip-range"
        self.assertIn(f'{says} asked={wanted} in_force={spec} help="ranges are {HOW}"\n', log)
        self.assertNotIn(says, made[winner].output())
        events = made[winner].call("GET", "/api/v1/namespaces/default/events").json["items"]
        self.assertEqual([each["message"] for each in events], [
            f"--service-cluster-ip-range asks for {wanted}, but {spec} is in force: ranges are "
            f"{HOW}"])
        for number, each in made.items():
            self.assertTrue(inside(address(self.made(service(f"s{number}"), server=each)), spec))
            self.audit(each)

    def test_a_change_holds_for_both(self):
        url = self.etcd().url
        one, two = (self.replica(url, name, "--service-cluster-ip-range=10.0.0.0/28")
                    for name in ("one", "two"))
        self.resized(V4, "10.0.0.0/16", server=one)
        self.made(service("a", clusterIP="10.0.200.1"), server=two)
        answer = self.change(IP_RANGES, V4, server=one, range="10.0.0.0/17")
        self.assertEqual(answer.code, 422, answer)
        self.done("DELETE", f"{SERVICES}/a", server=one)
        self.resized(V4, "10.0.0.0/17", server=two)
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("a", clusterIP="10.0.200.1"), server=one)
        for each in (one, two):
            listed = each.call("GET", REPLICAS).json["items"]
            self.assertEqual(len(listed), 2)
            self.status(IP_RANGES, V4, each, used=1)
        self.assertEqual(two.terminate(), 0)
        wait_for(lambda: len(one.call("GET", REPLICAS).json["items"]) == 1, 10)

    def test_a_replica_that_knows_one_family_only(self):
        url = self.etcd().url
        self.server = self.replica(url, "able")
        other = Case.server(self, "--etcd-servers", url, "--feature-gates=IPv6DualStack=false",
                            data="unable")
        replicas = self.server.call("GET", REPLICAS).json["items"]
        unable, = [each["metadata"]["name"] for each in replicas
                   if each["spec"]["gates"]["IPv6DualStack"] == "false"]
        self.assertIn("IPv6DualStack=false", self.kubectl("get", "replicas"))
        complaint = self.kubectl_fails("create", "-f", "-", body=ip_range("six", "fd00:6::/64"))
        self.assertIn(f'replica "{unable}" runs with IPv6DualStack=false', complaint)
        self.made(ip_range("four", "10.44.0.0/24"), IP_RANGES)  # Not a second family.
        self.assertEqual(other.terminate(), 0)
        self.kubectl_create(ip_range("six", "fd00:6::/64"))
        self.assertEqual(self.made(service("dual", ipFamilyPolicy="RequireDualStack"))
                         ["spec"]["ipFamilies"], ["IPv4", "IPv6"])


if __name__ == "__main__":
    main()
