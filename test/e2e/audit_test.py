"""The auditor of a running server: what is damaged straight in etcd is noticed, repaired where that is
safe, and held where only a person can decide.

    BERTH_BIN=build/release/berth python3 test/e2e/audit_test.py

Most servers here check only when a test asks for it, so that the test sees the state before and
after each pass.
"""

import base64
import random
import re

from addresses import BERTH, BITMAPS_FLAG, PORTS, SERVICES, Audits, BitmapAudits, service
from harness import Case, main, wait_for

SPECS = "/registry/services/specs/default/"
ADDRESS_KEYS = "/registry/ipaddresses/"
PORT_KEYS = "/registry/allocation.berth.io/nodeports/"
EVENTS = "/api/v1/namespaces/default/events"
AUDIT = "/berth/v1/audit"
ASKED_ONLY = "--auditor-interval=0"


class Store:
    """What etcd has, as another client of it sees it."""

    def __init__(self, etcd):
        self.etcd = etcd

    def look(self, key):
        """Returns the value of a key and the revision that wrote it, or (None, 0)."""
        kvs = self.etcd.post("kv/range", key=self.coded(key)).get("kvs")
        return (base64.b64decode(kvs[0]["value"]), int(kvs[0]["mod_revision"])) if kvs else (None, 0)

    def get(self, key):
        return self.look(key)[0]

    def put(self, key, value):
        self.change({}, {key: value})

    def delete(self, key):
        self.change({}, {key: None})

    def change(self, seen, values):
        """Puts values by their keys, or deletes a key if None stands for its value. Does nothing
        if a key in `seen` has another revision. Returns whether it did."""
        changes = [{"request_delete_range": {"key": self.coded(key)}} if value is None else
                   {"request_put": {"key": self.coded(key),
                                    "value": base64.b64encode(value).decode()}}
                   for key, value in values.items()]
        compares = [{"key": self.coded(key), "target": "MOD", "mod_revision": str(revision)}
                    for key, revision in seen.items()]
        return self.etcd.post("kv/txn", compare=compares, success=changes).get("succeeded", False)

    def copy(self, source, target, *changes):
        """Puts the value of a key under another one, with texts replaced by others of the same
        length, so that lengths in it stay right. Returns whether it did."""
        value, revision = self.look(source)
        if value is None:
            return False
        for old, new in changes:
            assert len(old) == len(new), (old, new)
            value = value.replace(old.encode(), new.encode())
        return self.change({source: revision}, {target: value})

    def copy_service(self, source, target, *changes):
        """Writes a Service as a copy of another, whose name is as long. It has its own uid. Returns
        whether it did."""
        uid = re.search(rb"\*\$([0-9a-f-]{36})", self.get(SPECS + source) or b"")
        return uid is not None and self.copy(
            SPECS + source, SPECS + target, (source, target),
            (uid[1].decode(), f"{random.getrandbits(32):08x}{uid[1][8:].decode()}"), *changes)

    @staticmethod
    def coded(key):
        return base64.b64encode(key.encode()).decode()


class AuditCase(Audits, Case):
    FLAGS = ()

    def start(self, *flags, replicas=2):
        self.store = Store(self.etcd())
        self.flags = ("--etcd-servers", self.store.etcd.url, *self.FLAGS, *flags)
        self.replicas = [self.server(*self.flags, data=f"data{i}") for i in range(replicas)]
        self.one = self.replicas[0]

    def catch_up(self, server):
        """Waits until the server has seen all that others have written to etcd, which it does a
        moment later."""
        seen = server.call("GET", SERVICES)
        self.assertEqual(seen.code, 200, seen)

    def passed(self, server=None):
        """Lets the server check what is stored now. Returns its report."""
        server = server or self.one
        self.catch_up(server)
        asked = server.call("POST", AUDIT)
        self.assertEqual(asked.code, 202, asked)

        def report():
            now = server.call("GET", AUDIT).json
            return now if now["passes"] >= asked.json["asked"] else None
        return wait_for(report)

    def kinds(self, server=None):
        """Returns what the next pass finds, as "kind value" each."""
        return [f"{each['kind']} {each.get('value', '')}".strip()
                for each in self.passed(server)["findings"]]

    def made_with(self, name, ip, port=None):
        ports = [{"port": 80, **({"nodePort": port} if port else {})}]
        return self.made(service(name, "NodePort" if port else None, ports, clusterIP=ip),
                         server=self.one)

    def check_refused(self, ip):
        """Checks that no further Service can have the address, through any replica."""
        for server in self.replicas:
            self.catch_up(server)
            self.refused(422, "provided IP is already allocated", "POST", SERVICES,
                         service("thief", clusterIP=ip), server=server)

    def events(self, name):
        """Returns reason and message of the events about a Service."""
        listed = self.done("GET", EVENTS, server=self.one)["items"]
        return {(each["reason"], each["message"]) for each in listed
                if each["involvedObject"]["name"] == name}

    def metric(self, text):
        """Returns the sum over all replicas."""
        total = 0
        for server in self.replicas:
            lines = server.call("GET", "/metrics").body.decode().splitlines()
            total += sum(float(line.split()[-1]) for line in lines if line.startswith(text + " "))
        return total

    def consistent(self):
        """Returns status, reason and message of the range's condition, or None."""
        path = f"{BERTH}/ipranges/allocator.ipv4.k8s.io"
        conditions = self.done("GET", path, server=self.one)["status"]["conditions"]
        return next(((each["status"], each["reason"], each["message"]) for each in conditions
                     if each["type"] == "Consistent"), None)

    def check_all_is_well(self):
        for server in self.replicas:
            wait_for(lambda server=server: self.kinds(server) == [])
            self.audit(server)
            self.assertEqual(server.call("GET", "/readyz").code, 200)


class RecordsTest(AuditCase):

    def setUp(self):
        super().setUp()
        self.start(ASKED_ONLY)

    def test_a_lost_record(self):
        self.made_with("web", "10.96.0.10", 30010)
        self.assertEqual(self.kinds(), [])
        self.store.delete(ADDRESS_KEYS + "10.96.0.10")
        self.store.delete(PORT_KEYS + "30010")
        self.check_refused("10.96.0.10")
        self.assertIsNone(self.holder("10.96.0.10", self.one))
        self.assertEqual(self.kinds(), ["NoRecord 10.96.0.10", "NoRecord 30010"])
        self.assertEqual(self.one.call("GET", "/readyz").code, 200)
        self.assertEqual(self.metric('berth_audit_findings{kind="NoRecord"}'), 2)
        self.assertEqual(self.metric('berth_audit_repairs_total{kind="RecordMade"}'), 2)
        self.assertEqual(
            self.metric('apiserver_clusterip_repair_ip_errors_total{type="repair"}'), 1)
        for server in self.replicas:
            self.assertEqual(self.holder("10.96.0.10", server), "web")
        wait_for(lambda: self.events("web") == {
            ("ClusterIPNotAllocated", "Cluster IP [IPv4]: 10.96.0.10 is not allocated; repairing"),
            ("PortNotAllocated", "Port 30010 is not allocated; repairing")})
        self.check_all_is_well()
        self.assertEqual(self.metric('berth_audit_findings{kind="NoRecord"}'), 0)
        self.done("DELETE", f"{SERVICES}/web", server=self.one)
        self.made_with("new", "10.96.0.10", 30010)
        self.check_all_is_well()

    def test_a_service_written_straight_into_the_store(self):
        self.made_with("web-1", "10.96.0.21", 30021)
        self.store.copy_service("web-1", "web-2", ("10.96.0.21", "10.96.0.22"))
        self.check_refused("10.96.0.22")
        self.assertEqual(self.kinds(), ["NoRecord 10.96.0.22", "TwoOwners 30021"][::-1])
        for server in self.replicas:
            self.assertEqual(self.holder("10.96.0.22", server), "web-2")
        self.done("DELETE", f"{SERVICES}/web-1", server=self.one)
        self.assertEqual(self.kinds(), ["NoRecord 30021"])
        self.check_all_is_well()
        # While no server runs, and then at the start of one.
        for server in self.replicas:
            server.terminate()
        self.store.copy_service("web-2", "web-3", ("10.96.0.22", "10.96.0.23"))
        self.store.delete(SPECS + "web-2")
        self.one = self.server("--etcd-servers", self.store.etcd.url,
                               "--auditor-interval=1", data="again")
        self.replicas = [self.one]
        wait_for(lambda: self.holder("10.96.0.23", self.one) == "web-3")
        wait_for(lambda: self.holder("10.96.0.22", self.one) is None)
        self.check_all_is_well()

    def test_the_end_of_one_owner_leaves_the_record_of_the_other(self):
        self.made_with("web-1", "10.96.0.30")
        self.store.copy_service("web-1", "web-2")
        self.store.copy(ADDRESS_KEYS + "10.96.0.30", ADDRESS_KEYS + "10.96.0.30",
                        ("web-1", "web-2"))
        wait_for(lambda: self.holder("10.96.0.30", self.one) == "web-2")
        self.done("DELETE", f"{SERVICES}/web-1", server=self.one)
        for server in self.replicas:
            self.assertEqual(self.holder("10.96.0.30", server), "web-2")
        self.check_refused("10.96.0.30")
        self.check_all_is_well()

    def test_swapped_records(self):
        uids = [self.made_with(f"web-{i}", f"10.96.0.4{i}")["metadata"]["uid"] for i in (1, 2)]
        for i, j in ((0, 1), (1, 0)):
            key = f"{ADDRESS_KEYS}10.96.0.4{i + 1}"
            self.store.copy(key, key, (f"web-{i + 1}", f"web-{j + 1}"), (uids[i], uids[j]))
        self.check_refused("10.96.0.41")
        self.assertEqual(self.kinds(), ["WrongOwner 10.96.0.41", "WrongOwner 10.96.0.42"])
        self.assertEqual(self.metric('berth_audit_repairs_total{kind="RecordRewritten"}'), 2)
        self.assertEqual(self.holder("10.96.0.41", self.one), "web-1")
        self.check_all_is_well()

    def test_two_owners_wait_for_a_person(self):
        self.made_with("web-1", "10.96.0.50", 30050)
        self.store.copy_service("web-1", "web-2")
        for server in self.replicas * 2:
            self.assertEqual(self.kinds(server), ["TwoOwners 10.96.0.50", "TwoOwners 30050"])
        for name, other in (("web-1", "web-2"), ("web-2", "web-1")):
            said = ("was assigned to multiple services; please recreate service: Service "
                    f"default/{other} has it too")
            wait_for(lambda name=name, said=said: self.events(name) == {
                ("ClusterIPAlreadyAllocated", f"Cluster IP [IPv4]:10.96.0.50 {said}"),
                ("PortAlreadyAllocated", f"Port 30050 {said}")})
        self.check_refused("10.96.0.50")
        self.store.delete(ADDRESS_KEYS + "10.96.0.50")
        self.check_refused("10.96.0.50")
        wait_for(lambda: (self.consistent() or [""])[0] == "False")
        _, reason, message = self.consistent()
        self.assertEqual(reason, "TwoOwners")
        self.assertIn("belongs to 2 Services at once: default/web-1 and default/web-2", message)
        self.assertEqual(self.metric('berth_audit_findings{kind="TwoOwners"}'), 4)
        self.assertEqual(self.one.call("GET", "/readyz").code, 200)
        self.done("DELETE", f"{SERVICES}/web-1", server=self.one)
        self.check_refused("10.96.0.50")
        self.check_all_is_well()
        self.assertEqual(self.holder("10.96.0.50", self.one), "web-2")
        wait_for(lambda: self.consistent()[:2] == ("True", "NoFindings"))

    def test_a_record_whose_service_is_gone(self):
        self.made_with("web", "10.96.0.60", 30060)
        self.store.delete(SPECS + "web")
        wait_for(lambda: self.one.call("GET", f"{SERVICES}/web").code == 404)
        for _ in range(2):
            self.assertEqual(self.holder("10.96.0.60", self.one), "web")
            self.assertEqual(self.kinds(), ["Orphan 10.96.0.60", "Orphan 30060"])
        self.assertIsNone(self.holder("10.96.0.60", self.one))
        self.assertEqual(self.done("GET", PORTS, server=self.one)["items"], [])
        self.check_all_is_well()

    def test_who_may_ask(self):
        for method in ("GET", "POST"):
            self.assertEqual(self.one.call(method, AUDIT, token="plain-token").code, 403)
            self.assertEqual(self.one.call(method, AUDIT, token=None).code, 401)
        self.assertEqual(self.one.call("DELETE", AUDIT).code, 405)


class ContinuousTest(AuditCase):

    def test_nothing_needs_to_be_asked_for(self):
        self.start("--auditor-interval=1")
        self.made_with("web-1", "10.96.0.70", 30070)
        self.store.copy_service("web-1", "web-2", ("10.96.0.70", "10.96.0.71"))
        self.store.delete(ADDRESS_KEYS + "10.96.0.70")
        for ip, name in (("10.96.0.70", "web-1"), ("10.96.0.71", "web-2")):
            wait_for(lambda ip=ip, name=name: self.holder(ip, self.one) == name)
        self.assertEqual(self.metric('berth_audit_repairs_total{kind="RecordMade"}'), 2)
        wait_for(lambda: self.metric('berth_audit_findings{kind="TwoOwners"}') == 2)
        self.done("DELETE", f"{SERVICES}/web-2", server=self.one)
        wait_for(lambda: self.metric('berth_audit_findings{kind="TwoOwners"}') == 0)
        self.check_all_is_well()


class BitmapsTest(BitmapAudits, AuditCase):
    FLAGS = (BITMAPS_FLAG,)
    BITS = "/registry/ranges/serviceips"

    def test_lost_bits(self):
        self.start(ASKED_ONLY)
        before = self.store.get(self.BITS)
        self.made_with("web", "10.96.0.10")
        self.store.put(self.BITS, before)
        self.check_refused("10.96.0.10")
        # The repair of bitmaps may be faster than this pass.
        self.assertIn(self.kinds(), ([], ["NoRecord 10.96.0.10"]))
        wait_for(lambda: self.store.get(self.BITS) != before)
        self.check_all_is_well()

    def test_a_service_written_straight_into_the_store(self):
        self.start(ASKED_ONLY)
        self.made_with("web-1", "10.96.0.21")
        before = self.store.get(self.BITS)
        self.store.copy_service("web-1", "web-2", ("10.96.0.21", "10.96.0.22"))
        self.check_refused("10.96.0.22")
        self.passed()
        wait_for(lambda: self.store.get(self.BITS) != before)
        self.check_all_is_well()

    def test_two_owners_wait_for_a_person(self):
        self.start(ASKED_ONLY)
        self.made_with("web-1", "10.96.0.50")
        self.store.copy_service("web-1", "web-2")
        for server in self.replicas:
            self.assertEqual(self.kinds(server), ["TwoOwners 10.96.0.50"])
        for name, other in (("web-1", "web-2"), ("web-2", "web-1")):
            wait_for(lambda name=name, other=other: any(
                f"default/{other} has it too" in said for _, said in self.events(name)))
        wait_for(lambda: (self.consistent() or [""])[0] == "False")
        self.assertIn("default/web-1 and default/web-2", self.consistent()[2])
        self.check_refused("10.96.0.50")
        self.done("DELETE", f"{SERVICES}/web-1", server=self.one)
        self.check_refused("10.96.0.50")
        self.check_all_is_well()


if __name__ == "__main__":
    main()
