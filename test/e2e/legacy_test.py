"""Allocations in bitmaps (ClusterIPAllocatorAPI=false), and the switch to records and back while
clients write and servers are killed.

    BERTH_BIN=build/release/berth python3 test/e2e/legacy_test.py
"""

import base64
import hashlib
import ipaddress
import random
import subprocess
import sys
import threading
import time

from addresses import ADDRESSES, MERGE, PORTS, SERVICES, Audits, Client, held, service
from harness import BERTH, Case, environment, long, main, wait_for

RANGES = "/registry/ranges/"
OFF = "--feature-gates=ClusterIPAllocatorAPI=false"
DUAL = "--service-cluster-ip-range=10.4.0.0/20,fd00:10:4::/108"
CLIENTS = 6


def fields(data):
    """Returns the fields of a protobuf message that hold bytes, the last one of each number."""
    found, at = {}, 0
    while at < len(data):
        tag, length = data[at], 0
        assert tag & 7 == 2, data
        at, shift = at + 1, 0
        while True:
            byte = data[at]
            at += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found[tag >> 3] = data[at:at + length]
        at += length
    return found


def bitmap(value):
    """Returns range and set bits of a stored RangeAllocation, which must be as Kubernetes writes
    it."""
    assert value.startswith(b"k8s\0") and value.endswith(b"\x1a\0\"\0"), value
    unknown = fields(value[4:])
    assert unknown[1] == b"\x0a\x02v1\x12\x0fRangeAllocation", value
    stored = fields(unknown[2])
    assert stored[1] == bytes.fromhex("0a0012001a0022002a00320038004200"), value
    assert not stored[3].startswith(b"\0"), "no zero bytes at the beginning"
    number = int.from_bytes(stored[3], "big")
    return stored[2].decode(), {i for i in range(number.bit_length()) if number >> i & 1}


def checksum(values):
    return hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:16]


class LegacyCase(Audits, Case):

    def stored(self, etcd, key):
        reply = etcd.post("kv/range", key=base64.b64encode((RANGES + key).encode()).decode())
        kvs = reply.get("kvs", [])
        return base64.b64decode(kvs[0]["value"]) if kvs else None

    def audit_bits(self, etcd, server=None):
        """Checks that bits are what Services hold, and that there are no records. Returns the
        Services."""
        services = self.services(server)
        addresses, ports = set(), set()
        for each in services.values():
            its_addresses, its_ports = held(each)
            self.assertFalse(its_addresses & addresses or its_ports & ports, "held twice")
            addresses |= its_addresses
            ports |= its_ports
        for path in (ADDRESSES, PORTS):
            self.assertEqual(self.done("GET", path, server=server)["items"], [])
        has = set()
        for key in ("serviceips", "secondaryserviceips"):
            value = self.stored(etcd, key)
            if value is None:
                continue
            text, bits = bitmap(value)
            first = ipaddress.ip_network(text)[1]
            has |= {str(first + bit) for bit in bits}
        self.assertEqual(has, addresses)
        text, bits = bitmap(self.stored(etcd, "servicenodeports"))
        self.assertEqual({int(text.split("-")[0]) + bit for bit in bits}, ports)
        return services

    def migrate(self, to, *where, code=0):
        ran = subprocess.run([BERTH, "migrate-allocations", "--to", to, *where],
                             capture_output=True, text=True, env=environment(), timeout=120)
        self.assertEqual(ran.returncode, code, ran)
        return ran

    def values(self, services):
        """Returns what each Service holds, whatever form the store keeps it in."""
        return {owner: (each["metadata"]["uid"], *map(sorted, held(each)))
                for owner, each in services.items()}


class Load:
    """Clients that create, change and delete Services until they are stopped. Any answer except
    success is a failure."""

    def __init__(self, servers, prefix):
        self.prefix = prefix
        self.servers, self.stop, self.answers, self.failures = servers, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(CLIENTS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def run(self, number):
        client = Client(self.servers[number % len(self.servers)])
        rand = random.Random(number)
        mine = []
        count = 0
        while not self.stop.is_set():
            count += 1
            name = f"{self.prefix}-{number}-{count}"
            if len(mine) < 20 or rand.random() < 0.4:
                mine.append(name)
                asked = ("POST", SERVICES, service(name, rand.choice((None, "NodePort")))), 201
            elif rand.random() < 0.5:
                name = mine.pop(rand.randrange(len(mine)))
                asked = ("DELETE", f"{SERVICES}/{name}"), 200
            else:
                kind = rand.choice(("ClusterIP", "NodePort"))
                asked = ("PATCH", f"{SERVICES}/{rand.choice(mine)}", {"spec": {"type": kind}},
                         {"Content-Type": "application/merge-patch+json"}), 200
            answer = client.call(*asked[0])
            self.answers += 1
            if answer.code != asked[1]:
                self.failures.append((asked, answer))
        client.close()


class BitmapsTest(LegacyCase):

    def test_services_are_in_bitmaps_as_kubernetes_has_them(self):
        etcd = self.etcd()
        server = self.server("--etcd-servers", etcd.url, OFF, DUAL)
        made = self.made(service("a", "NodePort", clusterIP="10.4.0.10",
                                 ipFamilyPolicy="RequireDualStack",
                                 ports=[{"port": 80, "nodePort": 30009}]), server=server)
        self.assertEqual(made["spec"]["clusterIPs"][0], "10.4.0.10")
        text, bits = bitmap(self.stored(etcd, "serviceips"))
        self.assertEqual((text, bits), ("10.4.0.0/20", {0, 9}), "default/kubernetes, and this")
        text, _ = bitmap(self.stored(etcd, "secondaryserviceips"))
        self.assertEqual(text, "fd00:10:4::/108")
        second = ipaddress.ip_address(made["spec"]["clusterIPs"][1])
        self.assertLess(int(second) - int(ipaddress.ip_address("fd00:10:4::")), 65536)
        self.audit_bits(etcd, server)
        self.refused(422, "provided IP is already allocated", "POST", SERVICES,
                     service("b", clusterIP="10.4.0.10"), server=server)
        self.refused(422, "does not match the current range", "POST", SERVICES,
                     service("b", clusterIP="10.5.0.10"), server=server)
        self.refused(422, "provided port is already allocated", "POST", SERVICES,
                     service("b", "NodePort", ports=[{"port": 80, "nodePort": 30009}]),
                     server=server)
        self.audit_bits(etcd, server)
        self.done("DELETE", f"{SERVICES}/a", server=server)
        self.audit_bits(etcd, server)

    def test_what_needs_records_is_refused(self):
        server = self.server(OFF)
        why = "berth migrate-allocations --to=records changes that"
        self.refused(409, why, "POST", ADDRESSES,
                     {"metadata": {"name": "10.96.0.9"}, "spec": {"parentRef": {
                         "group": "x", "resource": "y", "name": "z"}}}, server=server)
        self.refused(409, why, "POST", PORTS, {"metadata": {"name": "30100"}}, server=server)
        ranges = "/apis/allocation.berth.io/v1alpha1/ipranges"
        self.refused(409, why, "POST", ranges,
                     {"metadata": {"name": "more"}, "spec": {"range": "10.97.0.0/24"}},
                     server=server)
        self.refused(409, why, "PATCH", f"{ranges}/allocator.ipv4.k8s.io",
                     {"spec": {"range": "10.96.0.0/15"}},
                     {"Content-Type": "application/merge-patch+json"}, server=server)
        self.done("PATCH", f"{ranges}/allocator.ipv4.k8s.io", {"metadata": {"labels": {"a": "b"}}},
                  {"Content-Type": "application/merge-patch+json"}, server=server)

    def test_what_is_too_large_for_a_bitmap_is_refused_at_the_start(self):
        ran = subprocess.run([BERTH, "serve", "--data-dir", self.path("d"), OFF,
                              "--service-cluster-ip-range=10.0.0.0/11"], capture_output=True,
                             text=True, env=environment(), timeout=60)
        self.assertEqual(ran.returncode, 2, ran)
        self.assertIn("specified --service-cluster-ip-range is too large; for 32-bit addresses, "
                      "the mask must be >= 12", ran.stderr)

    def test_the_store_has_the_word_not_the_flag(self):
        server = self.server(OFF)
        self.made(service("a"), server=server)
        server.terminate()
        again = self.server("--feature-gates=ClusterIPAllocatorAPI=true",
                            data="data", port=server.port)
        self.made(service("b"), server=again)
        self.assertEqual(self.done("GET", ADDRESSES, server=again)["items"], [])
        events = self.done("GET", "/api/v1/namespaces/default/events", server=again)["items"]
        self.assertIn("--feature-gates asks for ClusterIPAllocatorAPI=true, but "
                      "ClusterIPAllocatorAPI=false is in force",
                      " ".join(each.get("message", "") for each in events))

    def test_a_bitmap_that_is_deleted_is_repaired_with_equal_bytes(self):
        etcd = self.etcd()
        server = self.server("--etcd-servers", etcd.url, OFF, DUAL)
        for i in range(30):
            self.made(service(f"s{i}", "NodePort", ipFamilyPolicy="RequireDualStack"),
                      server=server)
        for key in ("serviceips", "secondaryserviceips", "servicenodeports"):
            before = self.stored(etcd, key)
            etcd.post("kv/deleterange", key=base64.b64encode((RANGES + key).encode()).decode())
            wait_for(lambda key=key: self.stored(etcd, key))
            self.assertEqual(self.stored(etcd, key), before)
        wait_for(lambda: server.call("POST", SERVICES, service("more", "NodePort")).code == 201)
        self.audit_bits(etcd, server)


class MigrationTest(LegacyCase):

    def test_there_and_back_under_load_on_two_servers(self):
        etcd = self.etcd()
        flags = ("--etcd-servers", etcd.url, DUAL)
        servers = [self.server(*flags, data=name) for name in ("one", "two")]
        for i in range(200):
            self.made(service(f"s{i}", "NodePort" if i % 3 == 0 else None), server=servers[0])
        kept = {owner: value for owner, value in self.values(self.audit(servers[0])).items()}
        for turn, to in enumerate(("bitmaps", "records", "bitmaps", "records")):
            with Load(servers, f"load{turn}") as load:
                time.sleep(0.3)
                ran = self.migrate(to, "--kubeconfig", servers[1].kubeconfig)
                time.sleep(0.3)
            self.assertIn(f"Allocations are now kept as {to}", ran.stdout)
            self.assertEqual(load.failures, [])
            self.assertGreater(load.answers, 100)
            for server in servers:
                services = (self.audit_bits(etcd, server) if to == "bitmaps"
                            else self.audit(server))
                now = self.values(services)
                self.assertEqual({owner: now.get(owner) for owner in kept}, kept)
            print(f"to {to} during {load.answers} requests, none failed; what {len(now)} Services "
                  f"hold: {checksum(now)}, the {len(kept)} of before: "
                  f"{checksum({owner: now[owner] for owner in kept})}", file=sys.stderr)
        for key in ("serviceips", "secondaryserviceips", "servicenodeports"):
            self.assertIsNone(self.stored(etcd, key), "the old form is gone")

    def test_what_bitmaps_have_no_room_for_stops_it(self):
        server = self.server()
        ranges = "/apis/allocation.berth.io/v1alpha1"
        self.made({"metadata": {"name": "more"}, "spec": {"range": "10.97.0.0/24"}},
                  f"{ranges}/ipranges", server)
        self.made({"metadata": {"name": "web"}, "spec": {"range": "80"}},
                  f"{ranges}/nodeportranges", server)
        self.made(service("a", "NodePort", clusterIP="10.97.0.9",
                          ports=[{"port": 80, "nodePort": 80}]), server=server)
        self.done("PATCH", f"{ranges}/ipranges/allocator.ipv4.k8s.io",
                  {"spec": {"coolDownSeconds": 600}}, MERGE, server=server)
        self.made(service("gone"), server=server)
        self.done("DELETE", f"{SERVICES}/gone", server=server)
        before = self.values(self.audit(server))
        ran = self.migrate("bitmaps", "--data-dir", server.data_dir, code=1)
        self.assertNotIn("cooling", ran.stderr, "in a bitmap it is free")
        for blocker in ("range more (10.97.0.0/24) is not the only one of IPv4 addresses",
                        "range web (80) is not the only one of node ports",
                        "10.97.0.9 of Service default/a", "80 of Service default/a", "--force"):
            self.assertIn(blocker, ran.stderr)
        self.assertEqual(self.values(self.audit(server)), before)
        ran = self.migrate("bitmaps", "--force", "--data-dir", server.data_dir)
        self.assertIn("Left out: range more", ran.stdout)
        self.assertEqual(self.values(self.services(server)), before)

        def ready(path):
            conditions = self.done("GET", f"{ranges}/{path}", server=server)["status"]["conditions"]
            return next((each["status"], each["reason"]) for each in conditions
                        if each["type"] == "Ready")
        for path in ("ipranges/more", "nodeportranges/web"):
            wait_for(lambda: ready(path) == ("False", "NotInForce"))
        self.assertEqual(ready("ipranges/allocator.ipv4.k8s.io"), ("True", "Ready"))

        def told():
            events = self.done("GET", "/api/v1/namespaces/default/events", server=server)["items"]
            reasons = {each["reason"] for each in events}
            return {"ClusterIPOutOfRange", "PortOutOfRange"} <= reasons
        wait_for(told)
        self.migrate("records", "--data-dir", server.data_dir)
        self.assertEqual(self.values(self.audit(server)), before)
        for path in ("ipranges/more", "nodeportranges/web"):
            wait_for(lambda: ready(path) == ("True", "Ready"))

    def test_killed_in_the_middle_it_is_finished_or_taken_back(self):
        server = self.server(DUAL)
        for i in range(600):
            self.made(service(f"s{i}", "NodePort" if i % 3 == 0 else None), server=server)
        before = self.values(self.audit(server))
        rand = random.Random(7)
        target = "bitmaps"
        for turn in range(6):
            asked = server.call("POST", f"/berth/v1/allocations?to={target}")
            self.assertEqual(asked.code, 202, asked)
            time.sleep(rand.uniform(0.0, 0.15))
            server.process.kill()
            server.process.wait()
            if turn % 3 == 2:  # Without a server, the command works on the store itself.
                self.migrate(target, "--data-dir", server.data_dir)
            server = self.server(DUAL, data="data", port=server.port)
            self.made(service(f"t{turn}"), server=server)
            self.done("DELETE", f"{SERVICES}/t{turn}", server=server)
            if turn % 3 == 1:  # The switch is taken back.
                target = "records" if target == "bitmaps" else "bitmaps"
            self.migrate(target, "--data-dir", server.data_dir)
            self.assertEqual(self.values(self.services(server)), before)
            state = server.call("GET", "/berth/v1/allocations").json
            self.assertEqual((state["form"], state["running"]), (target, False))
            if target == "records":
                self.assertEqual(self.values(self.audit(server)), before)
            else:
                self.assertEqual(self.done("GET", ADDRESSES, server=server)["items"], [])
            target = "records" if target == "bitmaps" else "bitmaps"
        if state["form"] == "bitmaps":
            self.migrate("records", "--data-dir", server.data_dir)
        self.assertEqual(self.values(self.audit(server)), before)

    @long
    def test_a_server_that_starts_finishes_what_was_left(self):
        """It waits until the server that died would have continued, if it were alive."""
        server = self.server()
        for i in range(600):
            self.made(service(f"s{i}"), server=server)
        before = self.values(self.audit(server))
        asked = server.call("POST", "/berth/v1/allocations?to=bitmaps")
        self.assertEqual(asked.code, 202, asked)
        wait_for(lambda: server.call("GET", "/berth/v1/allocations").json["form"] != "records")
        server.process.kill()
        server.process.wait()
        server = self.server(data="data", port=server.port)

        def finished():
            answer = server.call("GET", ADDRESSES)
            form = server.call("GET", "/berth/v1/allocations").json["form"]
            return form == "bitmaps" and answer.json["items"] == []
        wait_for(finished)
        self.assertEqual(self.values(self.services(server)), before)


if __name__ == "__main__":
    main()
