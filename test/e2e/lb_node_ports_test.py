"""LoadBalancers with and without node ports (KEP-1864): with kubectl as its users would, and every
change of allocateLoadBalancerNodePorts and of the type as a table.

    BERTH_BIN=build/release/berth python3 test/e2e/lb_node_ports_test.py
"""


import kubectls
from addresses import (BITMAPS_FLAG, SERVICES, Audits, BitmapAudits, balancer, external, held,
                       node_ports, service)
from harness import SharedServerCase, main

DYNAMIC = range(30086, 32768)
DISABLE = '{"spec":{"allocateLoadBalancerNodePorts":false}}'
ENABLE = '{"spec":{"allocateLoadBalancerNodePorts":true}}'


def tearDownModule():
    kubectls.tell()


class NodePorts(Audits, kubectls.Verbs):
    """The user stories of the KEP."""

    def create(self, name, **more):
        self.good("create", "-f", self.file(f"{name}.json", balancer(name, **more)))
        return self.read(name)

    def take(self, name, port):
        """Returns whether another Service can get the port."""
        wanted = service(name, "NodePort", [{"port": 80, "nodePort": port}])
        answer = self.server.call("POST", f"/api/v1/namespaces/{self.namespace}/services", wanted)
        if answer.code == 422:
            self.assertIn("provided port is already allocated", answer.json["message"])
        else:
            self.assertEqual(answer.code, 201, answer)
        return answer.code == 201

    def remove_ports_by_edit(self, name):
        done, _ = self.edit("/nodePort:/d", resource=f"svc/{name}")
        self.assertEqual(done, (0, f"service/{name} edited\n", ""))

    def test_disabled_at_create(self):
        made = self.create("web", allocate=False, ports=2)
        self.assertEqual((node_ports(made), made["spec"]["allocateLoadBalancerNodePorts"]),
                         ([0, 0], False))
        self.assertTrue(made["spec"]["clusterIP"])
        self.assertEqual(self.good("get", "svc", "web").split("\n")[1].split()[4], "80/TCP,81/TCP")
        self.audit()

    def test_disabled_later_ports_are_kept(self):
        ports = node_ports(self.create("web", ports=2))
        self.assertTrue(all(port in DYNAMIC for port in ports), ports)
        self.good("patch", "svc", "web", "-p", DISABLE)
        self.assertEqual(node_ports(self.read("web")), ports)
        self.good("label", "svc", "web", "changed=again")
        self.assertEqual(node_ports(self.read("web")), ports)
        self.assertFalse(self.take("other", ports[0]))
        self.audit()

    def test_removed_by_edit(self):
        ports = node_ports(self.create("web", ports=2))
        # With allocation on, removed ports are filled in again.
        self.remove_ports_by_edit("web")
        self.assertEqual(node_ports(self.read("web")), ports)
        self.good("patch", "svc", "web", "-p", DISABLE)
        self.remove_ports_by_edit("web")
        self.assertEqual(node_ports(self.read("web")), [0, 0])
        self.audit()
        self.assertTrue(self.take("other", ports[0]))
        self.assertTrue(self.take("another", ports[1]))

    def test_apply_does_not_remove(self):
        manifest = self.file("web.json", balancer("web", ports=2))
        self.good("apply", "-f", manifest)
        ports = node_ports(self.read("web"))
        self.assertTrue(all(port in DYNAMIC for port in ports), ports)
        disabled = self.file("disabled.json", balancer("web", allocate=False, ports=2))
        for flags in ((), (), ("--server-side", "--force-conflicts")):
            self.good("apply", *flags, "-f", disabled)
            self.assertEqual(node_ports(self.read("web")), ports)
            self.assertFalse(self.read("web")["spec"]["allocateLoadBalancerNodePorts"])
        self.audit()

    def test_re_enabled(self):
        self.create("web", allocate=False, ports=2)
        self.good("patch", "svc", "web", "-p", ENABLE)
        ports = node_ports(self.read("web"))
        self.assertTrue(all(port in DYNAMIC for port in ports), ports)
        # It works with apply too, and a released port can be requested by hand.
        self.good("apply", "-f", self.file("other.json", balancer("other", allocate=False)))
        self.good("apply", "-f", self.file("other.json", balancer("other")))
        self.assertIn(node_ports(self.read("other"))[0], DYNAMIC)
        self.audit()

    def test_delete_frees_regardless(self):
        ports = node_ports(self.create("web"))
        self.good("patch", "svc", "web", "-p", DISABLE)
        self.good("delete", "svc", "web")
        self.audit()
        self.assertTrue(self.take("other", ports[0]))
        self.create("given", allocate=False, ports=[{"port": 80, "nodePort": 30033}])
        self.assertFalse(self.take("more", 30033))
        self.good("delete", "svc", "given")
        self.assertTrue(self.take("more", 30033))


globals().update(kubectls.cases(NodePorts))


class BitmapNodePortsTest(BitmapAudits, NodePorts, SharedServerCase):
    KUBECTL = kubectls.CURRENT
    FLAGS = (BITMAPS_FLAG,)


# The state of a Service, and what a PUT changes it to. "omitted" means that the client sends no
# node ports, and "kept" that it sends those it read. Afterwards it has the "same" ports as before,
# "none", or "new" ones.
CHANGES = (
    ("LB true", "LB true", "omitted", "same"),
    ("LB true", "LB true", "kept", "same"),
    ("LB true", "LB false", "omitted", "none"),
    ("LB true", "LB false", "kept", "same"),
    ("LB false", "LB true", "omitted", "new"),
    ("LB false", "LB false", "omitted", "none"),
    ("LB false, given", "LB false", "omitted", "none"),
    ("LB false, given", "LB false", "kept", "same"),
    ("LB false, given", "LB true", "kept", "same"),
    ("NP", "LB false", "omitted", "none"),
    ("NP", "LB false", "kept", "same"),
    ("NP", "LB true", "omitted", "same"),
    ("NP", "LB true", "kept", "same"),
    ("LB true", "NP", "omitted", "same"),
    ("LB true", "NP", "kept", "same"),
    ("LB false", "NP", "omitted", "new"),
    ("LB false, given", "NP", "kept", "same"),
    ("LB true", "CIP", "omitted", "none"),
    ("LB true", "CIP", "kept", "none"),
    ("LB false, given", "CIP", "omitted", "none"),
    ("LB false, given", "CIP", "kept", "none"),
    ("LB true", "EN", "omitted", "none"),
    ("LB true", "EN", "kept", "none"),
    ("LB false, given", "EN", "kept", "none"),
    ("NP", "CIP", "kept", "none"),
    ("CIP", "LB true", "omitted", "new"),
    ("CIP", "LB false", "omitted", "none"),
    ("EN", "LB true", "omitted", "new"),
    ("EN", "LB false", "omitted", "none"),
)
GIVEN = [{"name": "p0", "port": 80, "nodePort": 30001}, {"name": "p1", "port": 81}]


def form(name, word, ports=2):
    if word == "NP":
        return service(name, "NodePort", ports)
    if word == "CIP":
        return service(name, "ClusterIP", ports)
    if word == "EN":
        return external(name)
    return balancer(name, allocate=word != "LB false", ports=ports)


class MatrixTest(Audits, SharedServerCase):
    """Checks for each line the stored object, what others can take, and what a delete leaves."""

    def gone(self, name, values):
        """Deletes it, and checks that all its values are free."""
        self.done("DELETE", f"{SERVICES}/{name}")
        addresses, ports = values
        self.assertFalse(addresses & set(self.address_records()))
        self.assertFalse(ports & set(self.port_records()))

    def test_create(self):
        for allocate, ports, expected in (
                (True, 2, ["any", "any"]), (True, GIVEN, [30001, "any"]), (None, 2, ["any", "any"]),
                (False, 2, [0, 0]), (False, GIVEN, [30001, 0])):
            with self.subTest(allocate=allocate, ports=ports):
                made = self.made(balancer("web", allocate, ports))
                for got, want in zip(node_ports(made), expected, strict=True):
                    self.assertTrue(got in DYNAMIC if want == "any" else got == want, got)
                self.assertEqual(made["spec"]["allocateLoadBalancerNodePorts"],
                                 allocate is not False)
                self.audit()
                self.gone("web", held(made))

    def old(self, word):
        if word == "LB false, given":
            return self.made(balancer("web", False, [dict(GIVEN[0]),
                                                     {**GIVEN[1], "nodePort": 30002}]))
        return self.made(form("web", word))

    def change(self, before, after, sent, outcome):
        old = self.old(before)
        body = form("web", after)
        if "ports" in old["spec"]:
            body["spec"]["ports"] = [
                {field: value for field, value in port.items()
                 if field != "nodePort" or sent == "kept"} for port in old["spec"]["ports"]]
        new = self.done("PUT", f"{SERVICES}/web", body)
        now = node_ports(new)
        if outcome == "same":
            self.assertEqual(now, node_ports(old))
            self.assertTrue(all(now), now)
        elif outcome == "none":
            self.assertFalse(any(now), now)
        else:
            self.assertTrue(all(port in DYNAMIC for port in now), now)
            self.assertEqual(len(set(now)), 2)
        is_balancer = after.startswith("LB")
        self.assertEqual(new["spec"].get("allocateLoadBalancerNodePorts"),
                         after != "LB false" if is_balancer else None)
        if "EN" not in (before, after):
            self.assertEqual(new["spec"]["clusterIPs"], old["spec"]["clusterIPs"])
        self.audit()
        (old_ips, old_ports), (new_ips, new_ports) = held(old), held(new)
        self.gone("web", (old_ips | new_ips, old_ports | new_ports))

    def test_update(self):
        for line in CHANGES:
            with self.subTest(line):
                self.change(*line)


class BitmapMatrixTest(BitmapAudits, MatrixTest):
    FLAGS = (BITMAPS_FLAG,)


if __name__ == "__main__":
    main()
