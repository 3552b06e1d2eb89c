"""`berth verify`: every source clean and damaged in every way, exit codes, formats and errors.

    BERTH_BIN=build/release/berth EDIT_STORE=build/release/test/edit_store \\
        FILL_STORE=build/release/test/fill_store python3 test/e2e/verify_test.py

Stores are damaged at rest: EDIT_STORE changes a data directory, and the gateway changes etcd.
"""

import copy
import json
import os
import pty
import shutil
import subprocess

import yaml

import terminals
from addresses import ADDRESSES, SERVICES, Client, external, service
from harness import BERTH, Case, environment, free_ports, main, wait_for
from legacy_test import Load
from ranges import (CIDRS, IP_RANGES, NODE_PORTS, PORT_RANGES, PORTS, RESERVATIONS, V4, Ranges,
                    annotated, cidr, ip_range, port_reservation, reservation)
from stores import Directory, EtcdStore, with_bits

FILL_STORE = os.path.abspath(os.environ.get("FILL_STORE", "build/release/test/fill_store"))
FLAGS = ("--service-cluster-ip-range=10.0.0.0/24", "--service-node-port-range=30000-30099")
BITMAPS = "--feature-gates=ClusterIPAllocatorAPI=false"

SERVICE_KEY = "/registry/services/specs/default/"
ADDRESS_KEY = "/registry/ipaddresses/"
PORT_KEY = "/registry/allocation.berth.io/nodeports/"
RANGE_KEY = "/registry/allocation.berth.io/ipranges/"
BITMAP_KEY = "/registry/ranges/"


def berth(*args, **changes):
    return subprocess.run([BERTH, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", env=environment(**changes), timeout=60)


class VerifyCase(Ranges, Case):
    """Tests on stores with some Services, of which `found` are the objects as the API showed them."""

    def verified(self, code, *args):
        done = berth("verify", *args, "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        document = json.loads(done.stdout)
        self.assertEqual(document["clean"], code == 0)
        return document

    def failed(self, *args, **changes):
        """Returns the only line on standard error of a run that could not look."""
        done = berth("verify", *args, **changes)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.rstrip("\n")

    def filled(self, *flags, records=True, ranges=FLAGS):
        """Starts a server and creates objects. Returns the server."""
        self.server = server = super().server(*ranges, *flags)
        self.made(service("a", clusterIP="10.0.0.100"))
        self.made(service("b", "NodePort", [{"name": "http", "port": 80, "nodePort": 30050}],
                          clusterIP="10.0.0.101"))
        self.made(service("c", "LoadBalancer", [{"port": 80, "nodePort": 30060}],
                          externalTrafficPolicy="Local", healthCheckNodePort=30070,
                          clusterIP="10.0.0.102"))
        if records:
            self.made(ip_range("small", "10.7.0.0/28"), IP_RANGES)
            self.made(ip_range("large", "10.7.0.0/24"), IP_RANGES)
            self.made(reservation("10.7.0.5", "default/later", ipRangeRef={"name": "small"}),
                      RESERVATIONS)
            self.made(port_reservation(30080, "default/later"), NODE_PORTS)
            self.made(ip_range("lone", "10.6.0.0/28"), IP_RANGES)
            self.made(reservation("10.6.0.5", "default/later"), RESERVATIONS)
        wait_for(lambda: self.get(IP_RANGES, V4)["status"].get("used") == 4)
        wait_for(lambda: self.get(PORT_RANGES, PORTS)["status"].get("used") == 3)
        if records:
            for name in ("small", "large", "lone"):
                wait_for(lambda name=name:
                         self.get(IP_RANGES, name)["status"].get("reserved") == 1)
        self.found = {each["metadata"]["name"]: each for path in
                      (SERVICES, IP_RANGES, ADDRESSES, NODE_PORTS)
                      for each in self.listed(path)}
        return server

    def listed(self, path):
        document = self.server.call("GET", path).json
        for each in document["items"]:
            each.update(apiVersion=document["apiVersion"],
                        kind=document["kind"].removesuffix("List"))
            del each["metadata"]["resourceVersion"]
            yield each

    def stored(self, name, change):
        """Returns an object as bytes for the store, changed."""
        each = copy.deepcopy(self.found[name])
        change(each)
        return json.dumps(each).encode()

    def thief(self, **spec):
        """Returns a Service like "a", with other values."""
        def change(each):
            each["metadata"].update(name="thief", uid="00000000-0000-4000-8000-000000000001")
            each["spec"].update(spec, clusterIPs=[spec["clusterIP"]])
        return self.stored("a", change)

    def check_damage(self, store, damage):
        """Damages the store in each way, looks at it and puts back what was there. `damage` has
        rows of a key, its new value (None to delete it), the kinds that are found and words that
        one message contains."""
        for number, (key, value, kinds, words) in enumerate(damage):
            with self.subTest(number=number, kinds=kinds, key=key):
                before = store.get(key)
                store.delete(key) if value is None else store.put(key, value)
                document = self.verified(1, *store.source)
                found = {each["kind"] for each in document["findings"]}
                self.assertEqual({kind for kind, count in document["counts"].items() if count},
                                 found)
                # Counts may be wrong as well, because no server has counted the damage.
                found -= {"WrongCount"} - kinds
                if kinds & {"OutOfRange", "Unusable"}:
                    found.discard("NoRecord")  # Whether such a value should have a record is moot.
                self.assertEqual(found, kinds, document)
                for each in document["findings"]:
                    self.assertTrue(each["message"] and each["advice"], each)
                self.assertTrue(any(all(word in each["message"] for word in words)
                                    for each in document["findings"]), document["findings"])
                store.delete(key) if before is None else store.put(key, before)
        self.verified(0, *store.source)

    def damage_to_services(self):
        """Returns damage that is the same for records and bitmaps."""
        return (
            (SERVICE_KEY + "thief", self.thief(clusterIP="10.0.0.100"), {"TwoOwners"},
             ("10.0.0.100", "default/a", "default/thief")),
            (SERVICE_KEY + "thief", self.thief(
                type="NodePort", clusterIP="None",
                ports=[{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30070}]),
             {"TwoOwners"}, ("30070", "default/c", "default/thief")),
            (SERVICE_KEY + "a", None, {"Orphan"}, ("10.0.0.100",)),
            (SERVICE_KEY + "thief", self.thief(clusterIP="10.9.9.9"), {"OutOfRange"},
             ("10.9.9.9", "default/thief", "in no range")),
            (SERVICE_KEY + "thief", self.thief(clusterIP="10.0.0.255"), {"Unusable"},
             ("10.0.0.255", "default/thief", "broadcast")),
            (RANGE_KEY + V4, self.stored(V4, lambda each: each["status"].update(used=77)),
             {"WrongCount"}, (V4, "77 used")),
            (SERVICE_KEY + "bad", b"k8s\0garbage", {"Undecodable"}, (SERVICE_KEY + "bad",)),
            ("/registry/namespaces/bad", b"{", {"Undecodable"}, ("/registry/namespaces/bad",)),
        )

    def damage_to_records(self):
        def parent(each):
            each["spec"]["parentRef"]["name"] = "b"

        def family(each):
            each["metadata"]["labels"]["ipaddress.kubernetes.io/ip-family"] = "IPv6"

        def uid(each):
            each["status"]["service"]["uid"] = "00000000-0000-4000-8000-000000000002"

        def address_uid(each):
            each["metadata"]["annotations"] = {
                "internal.allocation.berth.io/" + name: value for name, value in
                (("state", "Allocated"), ("uid", "00000000-0000-4000-8000-000000000002"))}

        def purpose(each):
            each["status"]["ports"][0]["port"] = 81

        def primary(each):
            each["spec"]["primary"] = True

        def elsewhere(each):
            each["spec"]["range"] = "10.8.0.0/28"
            each["status"] = {}

        return (
            (ADDRESS_KEY + "10.0.0.100", None, {"NoRecord"},
             ("10.0.0.100 of Service default/a has no record",)),
            (PORT_KEY + "30070", None, {"NoRecord"}, ("health check node port 30070",)),
            (ADDRESS_KEY + "10.0.0.100", self.stored("10.0.0.100", parent), {"WrongOwner"},
             ("10.0.0.100", "default/a", "default/b")),
            (ADDRESS_KEY + "10.0.0.100", self.stored("10.0.0.100", family), {"WrongFamily"},
             ("10.0.0.100", "IPv6")),
            (PORT_KEY + "30050", self.stored("30050", uid), {"WrongUid"},
             ("30050", "00000000-0000-4000-8000-000000000002")),
            (ADDRESS_KEY + "10.0.0.100", self.stored("10.0.0.100", address_uid), {"WrongUid"},
             ("10.0.0.100", "00000000-0000-4000-8000-000000000002")),
            (PORT_KEY + "30050", self.stored("30050", purpose), {"WrongPurpose"},
             ("30050", "81/TCP", "80/TCP")),
            (RANGE_KEY + "lone", None, {"LostReservation"},
             ("10.6.0.5", "default/later", "no Service can take it")),
            (RANGE_KEY + "lone", self.stored("lone", elsewhere),
             {"LostReservation"}, ("10.6.0.5", "no Service can take it")),
            (RANGE_KEY + "large", self.stored("large", primary), {"TwoPrimaries"}, (V4, "large")),
        )


class CleanTest(VerifyCase):
    def test_every_source_and_nothing_is_written(self):
        server = self.filled()
        snapshot = self.path("a.snap")
        self.assertEqual(berth("snapshot", "save", "--kubeconfig", server.kubeconfig,
                               snapshot).returncode, 0)
        running = self.verified(0, "--kubeconfig", server.kubeconfig)
        self.assertEqual(running["source"], server.url)
        server.terminate()
        store = Directory(server.data_dir)
        before = store.contents()
        at_rest = self.verified(0, *store.source)
        self.assertEqual(store.contents(), before)
        self.assertEqual(at_rest["source"], f"embedded:{server.data_dir}")
        saved = self.verified(0, "--snapshot", snapshot)
        self.assertEqual(saved["source"], f"snapshot:{snapshot}")
        # Four Services with the one of the server itself, three node ports, three reservations.
        expected = {"services": 4, "values": 7, "records": 10, "bits": 0}
        for document in (running, at_rest, saved):
            self.assertEqual({key: document["checked"][key] for key in expected}, expected)
            self.assertGreaterEqual(document["checked"]["ranges"], 4)
            self.assertEqual(document["allocations"], "records")
            self.assertGreater(document["revision"], 0)
            self.assertEqual((document["findings"], document["settling"]), ([], []))
        self.assertEqual((at_rest["notChecked"], saved["notChecked"]), ([], []))
        self.assertIn("Stored values that cannot be decoded", running["notChecked"])

    def test_etcd_while_a_server_uses_it(self):
        etcd = self.etcd()
        server = self.filled("--etcd-servers", etcd.url)
        self.assertEqual(self.verified(0, "--etcd-servers", etcd.url)["checked"]["records"], 10)
        server.terminate()
        store = EtcdStore(etcd)
        before = store.contents()
        self.assertEqual(self.verified(0, *store.source)["checked"]["values"], 7)
        self.assertEqual(store.contents(), before, "something was written")

    def test_whatever_requests_can_make_is_clean(self):
        self.server = super().server("--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112",
                                     "--service-node-port-range=30000-30099")
        self.made(ip_range("blue", "10.61.0.0/24", excluded=["10.61.0.9"]), IP_RANGES)
        self.made(cidr("extra", "10.62.0.0/24"), CIDRS)
        self.changed(IP_RANGES, V4, coolDownSeconds=600)
        self.changed(PORT_RANGES, PORTS, coolDownSeconds=600)
        self.made(reservation("10.0.0.9", "default/redeems"), RESERVATIONS)
        self.made(port_reservation(30003, "default/redeems"), NODE_PORTS)
        self.made(reservation("10.0.0.10", "default/later", holdSeconds=600), RESERVATIONS)
        self.made(reservation("10.0.0.11"), RESERVATIONS)
        self.made(service("redeems", "NodePort", [{"port": 80, "nodePort": 30003}],
                          clusterIP="10.0.0.9"))
        self.made(service("two-families", ipFamilyPolicy="RequireDualStack"))
        self.made(service("v6", ipFamilies=["IPv6"]))
        self.made(service("one-port", "NodePort", [
            {"name": name, "port": 53, "protocol": name.upper(), "nodePort": 30053}
            for name in ("udp", "tcp")]))
        self.made(service("balanced", "LoadBalancer", externalTrafficPolicy="Local"))
        self.made(service("headless", clusterIP="None"))
        self.made(external("elsewhere"))
        self.made(annotated(service("painted"), ip_range="blue"))
        self.made(service("in-extra", clusterIP="10.62.0.7"))
        self.made(service("cools", "NodePort"))
        self.done("DELETE", f"{SERVICES}/cools")
        self.changed(IP_RANGES, "blue", disabled=True)
        running = self.verified(0, "--kubeconfig", self.server.kubeconfig)
        self.server.terminate()
        at_rest = self.verified(0, "--data-dir", self.server.data_dir)
        self.assertEqual(running["checked"], at_rest["checked"])

    def test_ranges_that_have_changed(self):
        """The range that is stored with a record is a hint. The API shows the right one."""
        self.filled()
        self.done("DELETE", f"{IP_RANGES}/small")
        self.changed(IP_RANGES, "lone", range="10.6.0.0/24")
        wait_for(lambda: berth("verify", "--kubeconfig", self.server.kubeconfig).returncode == 0)
        self.server.terminate()
        self.verified(0, "--data-dir", self.server.data_dir)

    def test_lists_of_several_pages(self):
        self.filled(ranges=("--service-cluster-ip-range=10.0.0.0/16",))
        client = Client(self.server)
        for number in range(600):
            self.assertEqual(client.call("POST", SERVICES, service(f"s-{number}")).code, 201)
        client.close()
        document = self.verified(0, "--kubeconfig", self.server.kubeconfig)
        self.assertEqual((document["checked"]["services"], document["checked"]["records"]),
                         (604, 610))

    def test_bitmaps(self):
        server = self.filled(BITMAPS, records=False)
        running = self.verified(0, "--kubeconfig", server.kubeconfig)
        self.assertIn("Bitmaps", running["notChecked"])
        self.assertEqual(running["checked"]["values"], 7)
        server.terminate()
        at_rest = self.verified(0, "--data-dir", server.data_dir)
        self.assertEqual((at_rest["allocations"], at_rest["checked"]["bits"]), ("bitmaps", 7))


class DamageTest(VerifyCase):
    def test_records_in_a_directory(self):
        self.filled().terminate()
        self.check_damage(Directory(self.server.data_dir),
                          self.damage_to_services() + self.damage_to_records())

    def test_records_in_etcd(self):
        etcd = self.etcd()
        self.filled("--etcd-servers", etcd.url).terminate()
        self.check_damage(EtcdStore(etcd),
                          self.damage_to_services() + self.damage_to_records())

    def check_bitmaps(self, store):
        bits = with_bits(store.get(BITMAP_KEY + "serviceips"), lambda bits: bits & ~(1 << 99))
        more = with_bits(store.get(BITMAP_KEY + "servicenodeports"), lambda bits: bits | 1 << 33)
        self.check_damage(store, self.damage_to_services() + (
            (BITMAP_KEY + "serviceips", bits, {"NoRecord"},
             ("10.0.0.100 of Service default/a has no bit",)),
            (BITMAP_KEY + "servicenodeports", more, {"Orphan"}, ("30033",)),
        ))

    def test_bitmaps_in_a_directory(self):
        self.filled(BITMAPS, records=False).terminate()
        self.check_bitmaps(Directory(self.server.data_dir))

    def test_bitmaps_in_etcd(self):
        etcd = self.etcd()
        self.filled(BITMAPS, "--etcd-servers", etcd.url, records=False).terminate()
        self.check_bitmaps(EtcdStore(etcd))


class OutputTest(VerifyCase):
    def setUp(self):
        super().setUp()
        self.filled().terminate()
        self.store = Directory(self.server.data_dir)
        self.store.put(SERVICE_KEY + "thief", self.thief(clusterIP="10.0.0.100"))

    def test_text(self):
        done = berth("verify", *self.store.source)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, (
            rf"\Aembedded:{self.server.data_dir}   revision \d+, allocations as records\n\n"
            r"  Services               5\n  Addresses and ports    8\n  Records               10\n"
            r"  Ranges                 \d\n\n"
            r"TwoOwners \(1\): two Services have the same address or port\n"
            r"  The address 10\.0\.0\.100 belongs to 2 Services at once: default/a and "
            r"default/thief; IPAddress 10\.0\.0\.100 says that Service default/a has it\n"
            r"    → Decide which Service keeps it, .*: kubectl delete service thief -n default\n\n"
            r"1 finding\n\Z"))

    def test_yaml_says_what_json_says(self):
        document = self.verified(1, *self.store.source)
        done = berth("verify", *self.store.source, "-o", "yaml")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(yaml.safe_load(done.stdout), document)
        finding = document["findings"][0]
        self.assertEqual([(owner["namespace"], owner["name"]) for owner in finding["owners"]],
                         [("default", "a"), ("default", "thief")])
        self.assertEqual((finding["value"], finding["ownerCount"]), ("10.0.0.100", 2))
        self.assertEqual(finding["object"]["resource"], "ipaddresses")

    def test_a_snapshot_of_a_damaged_store(self):
        snapshot = self.path("a.snap")
        self.assertEqual(berth("snapshot", "save", *self.store.source, snapshot).returncode, 0)
        here, there = self.verified(1, *self.store.source), self.verified(1, "--snapshot", snapshot)
        for each in (here, there):
            del each["source"]
        self.assertEqual(here, there)

    def test_counts_that_a_killed_server_did_not_write(self):
        """The store was written after the counts, so a server was about to write them."""
        self.store.delete(SERVICE_KEY + "thief")
        self.store.put(RANGE_KEY + V4,
                       self.stored(V4, lambda each: each["status"].update(used=3)))
        self.assertEqual(self.verified(1, *self.store.source)["counts"]["WrongCount"], 1)
        self.store.put(SERVICE_KEY + "a", self.store.get(SERVICE_KEY + "a"))
        document = self.verified(0, *self.store.source)
        self.assertEqual([each["kind"] for each in document["settling"]], ["WrongCount"])
        self.assertIn("3 used where 4 are counted", berth("verify", *self.store.source).stdout)

    def test_a_server_repairs_what_the_advice_says(self):
        self.store.delete(SERVICE_KEY + "thief")
        self.store.delete(ADDRESS_KEY + "10.0.0.100")
        self.assertEqual(self.verified(1, *self.store.source)["counts"]["NoRecord"], 1)
        server = self.server_again()
        wait_for(lambda: berth("verify", "--kubeconfig", server.kubeconfig).returncode == 0)

    def test_two_owners_on_a_running_server(self):
        server = self.server_again()
        document = self.verified(1, "--kubeconfig", server.kubeconfig)
        self.assertEqual(document["counts"]["TwoOwners"], 1)
        self.assertEqual(server.call("DELETE", f"{SERVICES}/thief").code, 200)
        wait_for(lambda: berth("verify", "--kubeconfig", server.kubeconfig).returncode == 0)

    def server_again(self):
        self.server.stop()
        return super().server(*FLAGS)


class BusyTest(VerifyCase):
    def test_a_busy_server_is_clean(self):
        etcd = self.etcd()
        server = self.filled("--etcd-servers", etcd.url,
                             ranges=("--service-cluster-ip-range=10.0.0.0/16",))
        with Load([server], "busy") as load:
            self.verified(0, "--kubeconfig", server.kubeconfig)
            self.verified(0, "--etcd-servers", etcd.url)
        self.assertEqual(load.failures, [])
        self.assertGreater(load.answers, 0)

    def test_progress_on_a_terminal(self):
        subprocess.run([FILL_STORE, self.path("data"), "50000"], check=True, timeout=60)
        leader, follower = pty.openpty()
        process = subprocess.Popen([BERTH, "verify", "--data-dir", self.path("data")],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=follower, env=environment())
        os.close(follower)
        shown = terminals.read_all(leader)
        out = process.communicate(timeout=60)[0].decode()
        self.assertIn("  Services              50,000\n", out)
        self.assertRegex(shown, rb"berth verify: reading: [\d,]+ keys")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-100:])


class ErrorsTest(VerifyCase):
    def test_arguments(self):
        self.assertEqual(self.failed("--data-dir", "a", "--snapshot", "b"), (
            "berth verify: give only one of --kubeconfig (a running server), -f (files), "
            "--data-dir (a data directory), --snapshot (a file) and --etcd-servers (an etcd "
            "cluster); see berth verify --help"))
        self.assertEqual(self.failed("--snapshot", "a", "-o", "xml"), (
            'berth verify: -o "xml": must be table, wide, json or yaml; see berth verify '
            "--help"))

    def test_help(self):
        done = berth("verify", "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for word in ("--kubeconfig FILE", "--data-dir DIR", "--snapshot FILE",
                     "--etcd-servers URL[,URL...]", "table, wide, json or yaml", "-w,--watch", "1 for findings, 2 if it could not look"):
            self.assertIn(word, done.stdout)
        self.assertIn("\n  verify ", berth("--help").stdout)

    def test_a_directory_that_a_server_uses(self):
        server = super().server(*FLAGS)
        message = self.failed("--data-dir", server.data_dir)
        self.assertIn(f"{server.data_dir}/store is in use by berth (pid {server.process.pid}",
                      message)
        self.assertIn(f"berth verify --kubeconfig {server.kubeconfig}", message)
        self.assertEqual(server.call("GET", "/readyz").code, 200)

    def test_no_store(self):
        self.assertEqual(self.failed("--data-dir", self.path("none")),
                         f"berth verify: there is no store in {self.path('none')}")
        self.assertFalse(os.path.exists(self.path("none")))

    def test_snapshots_that_are_none(self):
        with open(self.path("a"), "wb") as file:
            file.write(os.urandom(100_000))
        self.assertEqual(self.failed("--snapshot", self.path("a")),
                         f'berth verify: "{self.path("a")}": is not a berth snapshot')
        self.assertIn("No such file", self.failed("--snapshot", self.path("b")))
        with open(os.path.join(os.path.dirname(__file__), "../../docs/examples/shop.snap"),
                  "rb") as file:
            whole = file.read()
        with open(self.path("c"), "wb") as file:
            file.write(whole[:-7])
        self.assertIn("damaged at byte", self.failed("--snapshot", self.path("c")))

    def test_etcd_that_cannot_be_reached_or_has_no_store(self):
        port = free_ports(1)[0]
        self.assertIn("nothing listens there",
                      self.failed("--etcd-servers", f"http://127.0.0.1:{port}"))
        etcd = self.etcd()
        store = EtcdStore(etcd)
        before = store.contents()
        self.assertIn("there is no store under the etcd prefix /registry",
                      self.failed("--etcd-servers", etcd.url))
        self.assertEqual(store.contents(), before)

    def test_an_unfinished_copy(self):
        etcd = self.etcd()
        self.filled("--etcd-servers", etcd.url).terminate()
        etcd.put("/registry/berth.io/copying", "migrating from embedded:/a, begun yesterday")
        self.assertIn("the store is incomplete: it holds an unfinished copy",
                      self.failed("--etcd-servers", etcd.url))

    def test_kubeconfigs(self):
        self.assertIn("--kubeconfig", self.failed("--kubeconfig", self.path("none")))
        server = super().server(*FLAGS)
        kubeconfig = self.path("kubeconfig")
        shutil.copy(server.kubeconfig, kubeconfig)
        server.stop()
        self.assertIn(f"cannot reach the server {server.url} (",
                      self.failed("--kubeconfig", kubeconfig))
        with open(kubeconfig, "w", encoding="utf-8") as file:
            file.write("garbage: [")
        self.assertIn("cannot be used", self.failed("--kubeconfig", kubeconfig))


if __name__ == "__main__":
    main()
