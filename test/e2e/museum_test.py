"""Failures that Kubernetes has had with addresses and ports of Services, each provoked in the same
way. The number of a test is that of the issue or pull request in kubernetes/kubernetes. The last
ones were found while its answers were recorded.

    BERTH_BIN=build/release/berth python3 test/e2e/museum_test.py
"""

import collections
import re
import subprocess
import tempfile
import threading
import unittest

from addresses import (MERGE, SERVICES, Audits, Client, balancer, held, in_threads, node_ports,
                       service)
from harness import Case, Etcd, Server, environment, main, wait_for

DUAL = "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112"
TAKEN_IP = "provided IP is already allocated"
TAKEN_PORT = "provided port is already allocated"


def with_finalizer(body, *more):
    body["metadata"]["finalizers"] = ["example.com/wait", *more]
    return body


class Shared(Audits, unittest.TestCase):
    """Tests that share one server. Each of them removes its Services."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.server = Server(folder.name, *cls.FLAGS)
        cls.addClassCleanup(cls.server.stop)

    def tearDown(self):
        for _, name in self.audit():
            if name != "kubernetes":
                self.done("DELETE", f"{SERVICES}/{name}")
        self.assertEqual((len(self.address_records()), self.port_records()), (1, {}))

    def taken(self, body, message):
        return self.refused(422, message, "POST", SERVICES, body)


class MuseumTest(Shared):
    FLAGS = (DUAL,)

    def test_64349(self):
        """The loop that repairs allocations ignored healthCheckNodePort, so that another Service
        got the number. Here it is taken like any other number, also after the Service has changed.
        """
        made = self.made(balancer("web", externalTrafficPolicy="Local"))
        port = made["spec"]["healthCheckNodePort"]
        self.assertIn(port, self.port_records())
        for _ in range(2):
            self.taken(service("other", "NodePort", [{"port": 80, "nodePort": port}]), TAKEN_PORT)
            self.refused(500, f"failed to allocate requested HealthCheck NodePort {port}: "
                         + TAKEN_PORT, "POST", SERVICES,
                         balancer("other", externalTrafficPolicy="Local",
                                  healthCheckNodePort=port))
            self.patched("web", {"metadata": {"labels": {"changed": "yes"}}})
        self.patched("web", {"spec": {"externalTrafficPolicy": "Cluster"}})
        self.made(service("other", "NodePort", [{"port": 80, "nodePort": port}]))

    def test_91404(self):
        """One number for several protocols of a Service was mistaken for two Services with the same
        number, and reported as a conflict. Here it is one record, until the last protocol is
        removed.
        """
        ports = [{"name": protocol.lower(), "port": 53, "protocol": protocol, "nodePort": 30053}
                 for protocol in ("TCP", "UDP", "SCTP")]
        made = self.made(service("dns", "NodePort", ports))
        self.assertEqual(node_ports(made), [30053] * 3)
        shared = self.made(service("other", "NodePort", [
            {name: value for name, value in port.items() if name != "nodePort"}
            for port in ports]))
        self.assertEqual(len(set(node_ports(shared))), 1)
        self.assertEqual(len(self.port_records()), 2)
        for left in (2, 1):
            now = self.patched("dns", {"spec": {"ports": ports[:left]}})
            self.assertEqual(node_ports(now), [30053] * left)
            self.taken(service("x", "NodePort", [{"port": 80, "nodePort": 30053}]), TAKEN_PORT)
        self.patched("dns", {"spec": {"ports": [{"port": 53, "nodePort": 30054}]}})
        self.made(service("x", "NodePort", [{"port": 80, "nodePort": 30053}]))

    def test_104769(self):
        """The address of a Service that waited for a finalizer was kept up to nine minutes after
        the Service was deleted. Here it is available when the finalizer is removed, and no sooner.
        """
        one = service("one", "NodePort", [{"port": 80, "nodePort": 30769}], clusterIP="10.96.0.69")
        self.made(with_finalizer(one))
        marked = self.done("DELETE", f"{SERVICES}/one")
        self.assertIn("deletionTimestamp", marked["metadata"])
        self.taken(service("two", clusterIP="10.96.0.69"), TAKEN_IP)
        self.taken(service("two", "NodePort", [{"port": 80, "nodePort": 30769}]), TAKEN_PORT)
        self.audit()
        self.patched("one", {"metadata": {"finalizers": None}})
        self.made(service("two", "NodePort", [{"port": 80, "nodePort": 30769}],
                          clusterIP="10.96.0.69"))

    def test_120536(self):
        """When the last finalizer was removed through /status, as controllers of load balancers do,
        address and node port were not released. Here they are, in the same write.
        """
        self.made(with_finalizer(balancer("web", ports=[{"port": 80, "nodePort": 30536}],
                                          clusterIP="10.96.0.36", externalTrafficPolicy="Local",
                                          healthCheckNodePort=30537)))
        self.done("DELETE", f"{SERVICES}/web")
        self.done("PATCH", f"{SERVICES}/web/status",
                  {"metadata": {"finalizers": None}, "status": {"loadBalancer": {}}}, MERGE)
        self.made(service("again", "NodePort", [{"name": "a", "port": 80, "nodePort": 30536},
                                                {"name": "b", "port": 81, "nodePort": 30537}],
                          clusterIP="10.96.0.36"))

    def test_122381(self):
        """Node ports of a load balancer could not be removed although allocateLoadBalancerNodePorts
        was false: an update put them in again. Here they can be removed.
        """
        for i, remove in enumerate((
                lambda obj: self.done("PUT", f"{SERVICES}/web0", balancer("web0", False, 2)),
                lambda obj: self.patched("web1", {"spec": {"ports": [
                    {**port, "nodePort": None} for port in obj["spec"]["ports"]]}}),
                lambda obj: self.done("PATCH", f"{SERVICES}/web2", {"spec": {"ports": [
                    {"port": port["port"], "nodePort": None} for port in obj["spec"]["ports"]]}},
                    {"Content-Type": "application/strategic-merge-patch+json"}))):
            old = self.made(balancer(f"web{i}", ports=2))
            kept = self.patched(f"web{i}", {"spec": {"allocateLoadBalancerNodePorts": False}})
            self.assertEqual(node_ports(kept), node_ports(old))
            self.assertEqual(node_ports(remove(kept)), [0, 0])
            self.assertFalse(set(node_ports(old)) & set(self.port_records()))

    def test_136475(self):
        """A Service asked for two addresses, and the second was not available. The repeated error
        was that the first is already allocated: to the failed attempts. Here the error names the
        second, and the first stays free.
        """
        body = service("dns", ipFamilyPolicy="RequireDualStack", ipFamilies=["IPv4", "IPv6"],
                       clusterIP="10.96.0.11", clusterIPs=["10.96.0.11", "fd00::b"])
        for _ in range(10):
            self.taken(body, 'spec.clusterIPs: Invalid value: ["10.96.0.11","fd00::b"]: failed to '
                       "allocate IP fd00::b: the provided network does not match the current range")
        self.assertNotIn("10.96.0.11", self.address_records())
        body["spec"]["clusterIPs"][1] = "fd00:10:96::b"
        self.assertEqual(self.made(body)["spec"]["clusterIPs"], ["10.96.0.11", "fd00:10:96::b"])

    def test_node_ports_of_an_external_name_are_nobodys(self):
        """Node ports in an ExternalName were not reserved, but released when it was deleted, and
        trusted when its type changed: two Services had one number. Here they are ignored.
        """
        name = service("name", "ExternalName", [{"port": 80, "nodePort": 30003}],
                       externalName="example.com")
        self.made(name)
        self.made(service("owner", "NodePort", [{"port": 80, "nodePort": 30003}]))
        self.done("PUT", f"{SERVICES}/name", {**name, "metadata": {"name": "name",
                                                                   "labels": {"a": "b"}}})
        self.refused(422, TAKEN_PORT, "PUT", f"{SERVICES}/name",
                     service("name", "NodePort", [{"port": 80, "nodePort": 30003}]))
        # Whatever it shows, only what the client asks for now counts.
        became = self.patched("name", {"spec": {"type": "NodePort", "ports": [{"port": 80}]}})
        self.assertNotIn(node_ports(became)[0], (0, 30003))
        self.patched("name", {"spec": {"type": "ExternalName", "clusterIP": None,
                                       "clusterIPs": None,
                                       "ports": [{"port": 80, "nodePort": 30003}]}})
        self.done("DELETE", f"{SERVICES}/name")
        self.taken(service("third", "NodePort", [{"port": 80, "nodePort": 30003}]), TAKEN_PORT)

    def test_both_addresses_or_none(self):
        """When one family of a dual-stack Service failed, the other family's address was kept for a
        minute and more, and it was random which error was reported. Here the first address that is
        not available is reported, and nothing is kept.
        """
        self.made(service("four", clusterIP="10.96.0.181"))
        self.made(service("six", clusterIP="fd00:10:96::f0", ipFamilies=["IPv6"]))

        def wish(*ips):
            return service("both", ipFamilyPolicy="RequireDualStack", clusterIP=ips[0],
                           clusterIPs=list(ips))
        for _ in range(10):
            self.taken(wish("10.96.0.182", "fd00:10:96::f0"), "IP fd00:10:96::f0: " + TAKEN_IP)
            self.taken(wish("10.96.0.181", "fd00:10:96::f1"), "IP 10.96.0.181: " + TAKEN_IP)
            self.taken(wish("10.96.0.181", "fd00:10:96::f0"), "IP 10.96.0.181: " + TAKEN_IP)
            self.taken({**wish("10.96.0.182", "fd00:10:96::f1"),
                        "spec": {**wish("10.96.0.182", "fd00:10:96::f1")["spec"],
                                 "type": "NodePort", "ports": [{"port": 80, "nodePort": 1}]}},
                       "not in the valid range")
        self.made(wish("10.96.0.182", "fd00:10:96::f1"))

    def test_a_second_address_in_the_second_of_creation(self):
        """A Service that became dual-stack within a second of its creation lost the record of its
        new address, and another Service could get the same. Here the record stays.
        """
        for i in range(20):
            self.made(service(f"s{i}"))
            both = self.patched(f"s{i}", {"spec": {"ipFamilyPolicy": "RequireDualStack"}})
            second = both["spec"]["clusterIPs"][1]
            self.assertEqual(self.holder(second), f"s{i}")
            self.taken(service("thief", clusterIP=second, ipFamilies=["IPv6"]), TAKEN_IP)


class SmallRangeTest(Shared):
    """Uses a /27: 30 addresses of which 16 are in the lower band, all of them used in the end."""

    FLAGS = ("--service-cluster-ip-range=10.5.0.0/27", "--service-node-port-range=30000-30039")

    def test_87603(self):
        """Creates that failed after they had their address leaked it, until no address was left.
        Here a failed create has taken nothing: all addresses are available afterwards.
        """
        self.made(service("web", clusterIP="10.5.0.2"))

        def fail(worker):
            client = Client(self.server)
            for i in range(40):
                body, code, path = (
                    (service("web", "NodePort"), 409, SERVICES),
                    (service("web", clusterIP="10.5.0.3"), 409, SERVICES),
                    (service("x", clusterIP="10.5.0.3", sessionAffinity="Odd"), 422, SERVICES),
                    (service("x", "NodePort", [{"port": 80, "nodePort": 7}]), 422, SERVICES),
                    (service("x"), 404, "/api/v1/namespaces/none/services"))[(worker + i) % 5]
                answer = client.call("POST", path, body)
                self.assertEqual(answer.code, code, answer)
            client.close()
        in_threads(8, fail)
        addresses = {self.made(service(f"s{i}"))["spec"]["clusterIP"] for i in range(28)}
        self.assertEqual(len(addresses), 28)
        self.refused(500, "range is full", "POST", SERVICES, service("more"))

    def test_109927(self):
        """With the upper band full, dozens of Services got the first address of the lower one, that
        of default/kubernetes. Here every value is given out once, and then the range is full.
        """
        codes = collections.Counter()
        in_threads(40, lambda i: codes.update([self.server.call(
            "POST", SERVICES, service(f"s{i}", "NodePort")).code]))
        self.assertEqual(codes, {201: 29, 500: 11})
        services = self.audit()
        addresses = set().union(*(held(each)[0] for each in services.values()))
        self.assertEqual(addresses, {f"10.5.0.{i}" for i in range(1, 31)})
        self.assertEqual(self.holder("10.5.0.1"), "kubernetes")


class ReplicasTest(Audits, unittest.TestCase):
    """Two servers on one etcd."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.etcd = Etcd(cls.folder)
        cls.addClassCleanup(cls.etcd.stop)
        cls.one, cls.two = (cls.start(name, DUAL) for name in ("one", "two"))
        cls.server = cls.one

    @classmethod
    def start(cls, name, *flags):
        server = Server(cls.folder, "--etcd-servers", cls.etcd.url, *flags, data=name)
        cls.addClassCleanup(server.stop)
        return server

    def recreate(self, body):
        """Creates and deletes it repeatedly, each write through the other server than before."""
        for i in range(25):
            maker, remover = (self.one, self.two) if i % 2 else (self.two, self.one)
            self.made(body, server=maker)
            self.done("DELETE", f"{SERVICES}/{body['metadata']['name']}", server=remover)
            self.made(body, server=maker)
            self.done("DELETE", f"{SERVICES}/{body['metadata']['name']}", server=maker)
        self.audit()

    def test_85894(self):
        """A server did not know that another one had deleted a Service, and refused its node port
        as allocated. Here a server knows before it refuses.
        """
        self.recreate(service("proxy", "NodePort", [{"name": "proxy", "port": 443,
                                                     "nodePort": 30443}]))

    def test_92285(self):
        """After the DNS Service had been deleted its address was refused as allocated for a while,
        because a server's memory was older than the store. Here any server can allocate it at once.
        """
        self.recreate(service("kube-dns", clusterIP="10.96.0.10"))

    def test_114743(self):
        """Servers with different flags fought over the ranges: each freed what the other had
        allocated, and moved default/kubernetes. Here the store's range applies, and the log says
        so.
        """
        before = self.one.call("GET", f"{SERVICES}/kubernetes").json
        third = self.start("third", "--service-cluster-ip-range=192.168.0.0/24",
                           "--service-node-port-range=20000-20100")
        wait_for(lambda: third.call("GET", "/readyz").code == 200)
        for i in range(10):
            for server in (self.one, third):
                made = self.made(service(f"s{i}-{server.port}", "NodePort"), server=server)
                self.assertTrue(made["spec"]["clusterIP"].startswith("10.96."), made)
                self.assertIn(node_ports(made)[0], range(30086, 32768))
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("x", clusterIP="192.168.0.9"), server=third)
        self.assertEqual(third.call("GET", f"{SERVICES}/kubernetes").json, before)
        self.assertEqual(len(self.audit(third)), 21)
        for flag, asked, stored in (
                ("--service-cluster-ip-range", "192.168.0.0/24", "10.96.0.0/16,fd00:10:96::/112"),
                ("--service-node-port-range", "20000-20100", "30000-32767")):
            self.assertRegex(third.output(), f'flag={flag} asked="?{asked}"? in_force="?{stored}')
        third.terminate()
        for i in range(10):
            for port in (self.one.port, third.port):
                self.done("DELETE", f"{SERVICES}/s{i}-{port}")

    def test_37488(self):
        """A loop freed addresses of Services that were just being created: allocated, but not
        stored yet. Here a server that reads everything at its start does no harm.
        """
        made, gone, over = [], set(), threading.Event()

        def churn(client, worker):
            i = 0
            while not over.is_set():
                name = f"c{worker}-{i}"
                answer = client.call("POST", SERVICES, service(name, "NodePort"))
                self.assertEqual(answer.code, 201, answer)
                made.append(answer.json)
                if i % 3:
                    self.assertEqual(client.call("DELETE", f"{SERVICES}/{name}").code, 200)
                    gone.add(name)
                i += 1

        def work(worker):
            if worker < 4:
                churn(Client(self.one), worker)
                return
            try:
                for i in range(3):
                    self.start(f"reader{i}", DUAL).stop()
            finally:
                over.set()
        in_threads(5, work)
        there = self.audit()
        left = {each["metadata"]["name"]: each for each in made
                if each["metadata"]["name"] not in gone}
        self.assertGreater(len(left), 10)
        for name, each in left.items():
            self.assertEqual(there["default", name]["spec"], each["spec"])
            self.done("DELETE", f"{SERVICES}/{name}")


class RestartTest(Audits, Case):
    def test_139134(self):
        """After a restart the gauges of allocated addresses and ports read 0 until the next
        allocation. Here they are right at the first scrape.
        """
        flags = ("--service-cluster-ip-range=10.5.0.0/24",)
        server = self.server(*flags)
        for i in range(3):
            self.made(service(f"s{i}", "NodePort", 2), server=server)
        before = self.gauges(server)
        self.assertEqual(before, {"allocated_ips": 4, "available_ips": 250,
                                  "allocated_ports": 6, "available_ports": 2762})
        server.stop()
        self.assertEqual(self.gauges(self.server(*flags)), before)

    def gauges(self, server):
        text = server.call("GET", "/metrics").body.decode()
        return {name: int(float(value)) for name, value in re.findall(
            r"^kube_apiserver_(?:clusterip|nodeport)_allocator_(a\w+_(?:ips|ports))\S* (\S+)$",
            text, re.MULTILINE)}

    def test_141220(self):
        """A server ended by itself if allocations could not be repaired within a minute of its
        start: 177 times in a row. Here it waits for its store, and is ready when it has it.
        """
        etcd = self.etcd()
        server = self.server("--etcd-servers", etcd.url)

        def fill(worker):
            client = Client(server)
            for i in range(175):
                self.assertEqual(client.call("POST", SERVICES, service(
                    f"s{worker}-{i}", "NodePort")).code, 201)
            client.close()
        in_threads(4, fill)
        server.stop()
        command = etcd.process.args
        etcd.process.kill()
        etcd.process.wait()
        server.process = subprocess.Popen(server.command, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                          env=environment())
        with self.assertRaises(subprocess.TimeoutExpired):
            server.process.wait(2)
        etcd.process = subprocess.Popen(command, stdout=etcd.log, stderr=etcd.log)
        wait_for(server.ready)
        self.assertEqual(len(self.audit(server)), 701)
        self.made(service("more", "NodePort"), server=server)


if __name__ == "__main__":
    main()
