"""Feature gates that are switched off and on again over restarts: existing objects do not change,
and only new decisions differ.

    BERTH_BIN=build/release/berth python3 test/e2e/gates_test.py
"""

import ipaddress
import subprocess

from addresses import (BITMAPS_GATE, SERVICES, Audits, BitmapAudits, Client, balancer, external,
                       in_threads, node_ports, service)
from harness import BERTH, Case, environment, main

FIELD = "allocateLoadBalancerNodePorts"
GATES = ("IPv6DualStack", "ServiceIPStaticSubrange", "ServiceLBNodePortControl",
         "ServiceNodePortStaticSubrange")
# A lower band has 16 of about 250 values. If 200 values are picked from all of them, at least one
# is in the lower band, except with a probability of 10^-10.
RANGES = ("--service-cluster-ip-range=10.8.0.0/24,fd00:10:8::/120",
          "--service-node-port-range=30000-30255")


def last_byte(ip):
    return int(ipaddress.ip_address(ip)) & 255


class GateCase(Audits, Case):
    RANGES = RANGES
    ALWAYS = ()  # Gates of each server.

    def start(self, *gates):
        """Starts a server on the same data as before. All other gates are on."""
        gates = (*self.ALWAYS, *gates)
        flags = ("--feature-gates", ",".join(gates)) if gates else ()
        if self.server is not None:
            self.assertEqual(self.server.terminate(), 0)
        self.server = Case.server(self, *self.RANGES, *flags)

    def setUp(self):
        super().setUp()
        self.server = None
        self.start()
        for body in (service("plain"), service("static", clusterIP="10.8.0.10"),
                     service("low", "NodePort", [{"port": 80, "nodePort": 30003}],
                             clusterIP="10.8.0.3"),
                     service("dual", "NodePort", 2, ipFamilyPolicy="RequireDualStack"),
                     service("prefer", ipFamilyPolicy="PreferDualStack",
                             ipFamilies=["IPv6", "IPv4"]),
                     service("six", ipFamilies=["IPv6"]), service("headless", clusterIP="None"),
                     external("name"), balancer("with", externalTrafficPolicy="Local"),
                     balancer("without", False),
                     balancer("given", False, [{"port": 80, "nodePort": 30010}])):
            self.made(body)
        self.before = self.bytes()

    def bytes(self):
        """Returns each Service as it is shown, by name."""
        return {name: self.server.call("GET", f"{SERVICES}/{name}").body
                for _, name in self.services()}

    def switch(self, *gates):
        """Restarts the server, and checks that nothing is different."""
        self.start(*gates)
        self.assertEqual(self.bytes(), self.before)
        self.audit()

    def drawn(self, count, **more):
        """Creates that many Services, and deletes them at once. Returns them."""
        client = Client(self.server)
        made = []
        for i in range(count):
            answer = client.call("POST", SERVICES, service(f"drawn-{i}", **more))
            self.assertEqual(answer.code, 201, answer)
            made.append(answer.json)
        self.audit()
        for each in made:
            client.call("DELETE", f"{SERVICES}/{each['metadata']['name']}")
        client.close()
        return made

    def rewrite_all(self):
        """Checks that all existing Services can be written again unchanged."""
        for _, name in self.services():
            now = self.done("GET", f"{SERVICES}/{name}")
            written = self.done("PUT", f"{SERVICES}/{name}", {
                **now, "metadata": {**now["metadata"], "labels": {"round": "again"}}})
            self.assertEqual(written["spec"], now["spec"])
        self.before = self.bytes()


class BandsTest(GateCase):

    def lower_addresses(self):
        """Returns the addresses of the lower band among 200 that the server picks."""
        return [each["spec"]["clusterIP"] for each in self.drawn(200)
                if last_byte(each["spec"]["clusterIP"]) <= 16]

    def lower_ports(self):
        return [port for each in self.drawn(10, kind="NodePort", ports=20)
                for port in node_ports(each) if port < 30016]

    def test_addresses(self):
        self.assertEqual(self.lower_addresses(), [])
        self.switch("ServiceIPStaticSubrange=false")
        self.assertGreater(len(self.lower_addresses()), 0)
        self.assertEqual(self.lower_ports(), [], "their gate is on")
        self.made(service("second", clusterIP="10.8.0.2"))
        self.done("DELETE", f"{SERVICES}/second")
        self.rewrite_all()
        self.switch()
        self.assertEqual(self.lower_addresses(), [])

    def test_ports(self):
        self.assertEqual(self.lower_ports(), [])
        self.switch("ServiceNodePortStaticSubrange=false")
        self.assertGreater(len(self.lower_ports()), 0)
        self.assertEqual(self.lower_addresses(), [], "their gate is on")
        self.rewrite_all()
        self.switch("ServiceNodePortStaticSubrange=true")
        self.assertEqual(self.lower_ports(), [])


class LoadBalancerTest(GateCase):

    def test_node_ports_are_a_choice_of_those_who_had_it(self):
        self.switch("ServiceLBNodePortControl=false")
        # New Services have no choice.
        for allocate in (False, True, None):
            made = self.made(balancer("new", allocate))
            self.assertNotIn(FIELD, made["spec"])
            self.assertTrue(all(node_ports(made)))
            kept = self.patched("new", {"spec": {FIELD: False}})
            self.assertNotIn(FIELD, kept["spec"])
            self.assertEqual(node_ports(kept), node_ports(made))
            self.done("DELETE", f"{SERVICES}/new")
        became = self.patched("plain", {"spec": {"type": "LoadBalancer", FIELD: False}})
        self.assertNotIn(FIELD, became["spec"])
        self.assertTrue(all(node_ports(became)))
        self.audit()
        # Services that have the field keep it. False stays false, and they may change it.
        more = self.patched("without", {"spec": {"ports": [{"name": "a", "port": 1},
                                                           {"name": "b", "port": 2}]}})
        self.assertEqual((more["spec"][FIELD], node_ports(more)), (False, [0, 0]))
        more = self.patched("without", {"spec": {FIELD: True}})
        self.assertEqual((more["spec"][FIELD], all(node_ports(more))), (True, True))
        kept = self.patched("without", {"spec": {FIELD: False}})
        self.assertEqual((kept["spec"][FIELD], node_ports(kept)), (False, node_ports(more)))
        gone = self.patched("given", {"spec": {"ports": [{"port": 80, "nodePort": None}]}})
        self.assertEqual((gone["spec"][FIELD], node_ports(gone)), (False, [0]))
        self.rewrite_all()

        self.switch()
        # A Service that was created without it shows none until it is written again. Then it has
        # the default.
        self.assertNotIn(FIELD, self.done("GET", f"{SERVICES}/plain")["spec"])
        written = self.patched("plain", {"metadata": {"labels": {"round": "on"}}})
        self.assertEqual(written["spec"][FIELD], True)
        self.assertEqual(node_ports(written), node_ports(became))
        self.assertEqual(node_ports(self.made(balancer("new", False))), [0])
        self.audit()


class DualStackTest(GateCase):

    def test_one_family_for_new_ones(self):
        self.switch("IPv6DualStack=false")
        self.refused(422, "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster "
                     "is not configured for dual-stack services", "POST", SERVICES,
                     service("new", ipFamilyPolicy="RequireDualStack"))
        self.refused(422, "IPv6 is not configured on this cluster", "POST", SERVICES,
                     service("new", clusterIP="fd00:10:8::20"))
        for policy in (None, "PreferDualStack", "SingleStack"):
            made = self.made(service("new", ipFamilyPolicy=policy))
            self.assertEqual((made["spec"]["ipFamilies"], len(made["spec"]["clusterIPs"])),
                             (["IPv4"], 1))
            self.done("DELETE", f"{SERVICES}/new")
        self.refused(422, "not configured for dual-stack", "PATCH", f"{SERVICES}/plain",
                     {"spec": {"ipFamilyPolicy": "RequireDualStack"}},
                     {"Content-Type": "application/merge-patch+json"})
        # Services that have two keep them, whatever else changes, and may release one.
        dual = self.done("GET", f"{SERVICES}/dual")
        kept = self.patched("dual", {"spec": {"ports": dual["spec"]["ports"][:1]}})
        self.assertEqual(kept["spec"]["clusterIPs"], dual["spec"]["clusterIPs"])
        self.rewrite_all()
        less = self.patched("dual", {"spec": {"ipFamilyPolicy": "SingleStack"}})
        self.assertEqual(less["spec"]["clusterIPs"], dual["spec"]["clusterIPs"][:1])
        self.assertNotIn(dual["spec"]["clusterIPs"][1], self.address_records())
        self.assertEqual(len(self.done("GET", f"{SERVICES}/prefer")["spec"]["clusterIPs"]), 2)
        self.before = self.bytes()

        self.switch()
        again = self.patched("dual", {"spec": {"ipFamilyPolicy": "RequireDualStack"}})
        self.assertEqual((len(again["spec"]["clusterIPs"]), again["spec"]["clusterIPs"][0]),
                         (2, dual["spec"]["clusterIPs"][0]))
        self.audit()


class InBitmaps(BitmapAudits):
    """The form of allocations that KEP-3070, KEP-3668 and KEP-1864 were written for."""

    ALWAYS = (BITMAPS_GATE,)


class BitmapBandsTest(InBitmaps, BandsTest):
    pass


class BitmapLoadBalancerTest(InBitmaps, LoadBalancerTest):
    pass


class BitmapDualStackTest(InBitmaps, DualStackTest):
    pass


class FlagsTest(Case):
    def test_unknown_gates_are_refused(self):
        for text, why in (
                ("Nope=true", "unrecognized feature gate: Nope; the known gates are "),
                (f"{GATES[0]}=false,nope=false",
                 "unrecognized feature gate: nope; the known gates are "),
                (GATES[0], f"missing bool value for {GATES[0]}"),
                (f"{GATES[0]}=maybe", f"invalid value of {GATES[0]}=maybe")):
            done = subprocess.run([BERTH, "serve", "--data-dir", self.path("data"),
                                   f"--feature-gates={text}"], capture_output=True, timeout=60,
                                  encoding="utf-8", env=environment(), check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(why, done.stderr)
            if "there are" in why:
                for gate in GATES:
                    self.assertIn(gate, done.stderr.partition("there are")[2])


class RangesTest(GateCase):
    def test_the_ranges_in_the_store_count(self):
        self.RANGES = ("--service-cluster-ip-range=10.9.0.0/16",
                       "--service-node-port-range=20000-20100")
        self.switch()
        for flag, asked, stored in (
                ("--service-cluster-ip-range", "10.9.0.0/16", "10.8.0.0/24,fd00:10:8::/120"),
                ("--service-node-port-range", "20000-20100", "30000-30255")):
            self.assertRegex(self.server.output(),
                             "the store has another range than the flag says, and the store's is "
                             f'in force flag={flag} asked="?{asked}"? in_force="?{stored}')
        made = self.made(service("new", "NodePort", ipFamilyPolicy="RequireDualStack"))
        self.assertTrue(made["spec"]["clusterIP"].startswith("10.8.0."), made)
        self.assertTrue(made["spec"]["clusterIPs"][1].startswith("fd00:10:8::"), made)
        self.assertIn(node_ports(made)[0], range(30016, 30256))
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("x", clusterIP="10.9.0.9"))
        self.audit()


class ReplicasTest(Audits, Case):
    def test_replicas_of_different_gates_do_not_collide(self):
        """They pick from different parts of the ranges, down to the last value."""
        url = self.etcd().url
        ranges = ("--service-cluster-ip-range=10.8.0.0/26", "--service-node-port-range=30000-30063")
        servers = [self.server("--etcd-servers", url, *ranges, "--feature-gates",
                               f"ServiceIPStaticSubrange={on},ServiceNodePortStaticSubrange={on}",
                               data=f"bands-{on}") for on in ("true", "false")]
        for name in range(3):
            made = [[], []]

            def fill(worker, made=made, name=name):
                client = Client(servers[worker % 2])
                for i in range(20):
                    answer = client.call("POST", SERVICES, service(f"s{name}-{worker}-{i}",
                                                                   "NodePort"))
                    if answer.code == 201:
                        made[worker % 2].append(answer.json)
                    else:
                        self.assertIn("range is full", answer.json["message"])
                client.close()
            in_threads(6, fill)
            both = made[0] + made[1]
            self.assertEqual(len({each["spec"]["clusterIP"] for each in both}), 61)
            self.assertEqual(len(both), 61, "all but that of default/kubernetes")
            for server in servers:
                self.audit(server)
            for each in both:
                self.done("DELETE", f"{SERVICES}/{each['metadata']['name']}", server=servers[0])


if __name__ == "__main__":
    main()
