"""Keys that another program deletes or overwrites in etcd under a running `berth serve`.

    BERTH_BIN=build/release/berth python3 test/e2e/damaged_store_test.py
"""

import base64
import http.client
import json
import subprocess

from harness import Case, main, wait_for

SERVICES = "/api/v1/namespaces/default/services"
FORM = "/registry/berth.io/fence/allocations"
FENCES = [f"/registry/berth.io/fence/{pool}" for pool in ("ipv4", "ipv6", "nodeports")]
PORTS = "/registry/allocation.berth.io/nodeportranges/allocator.nodeport.k8s.io"
CIDR = "/registry/servicecidrs/kubernetes"
RANGE = "/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io"
NAMESPACES = [f"/registry/namespaces/{name}" for name in ("default", "kube-system", "kube-public")]
MARKER = "/registry/berth.io/mode"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def service(name):
    return {"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}


class Damage(Case):
    FLAGS = ()

    def setUp(self):
        super().setUp()
        self.store = self.etcd()
        self.one = self.server("--etcd-servers", self.store.url, *self.FLAGS)

    def stored(self, key):
        found = self.store.post("kv/range", key=encoded(key)).get("kvs", [])
        return base64.b64decode(found[0]["value"]) if found else None

    def delete(self, *keys):
        self.store.post("kv/txn", success=[{"requestDeleteRange": {"key": encoded(key)}}
                                           for key in keys])

    def wipe(self):
        self.store.post("kv/deleterange", key=encoded("/registry/"), range_end=encoded("/registry0"))

    def create(self, name):
        return self.one.call("POST", SERVICES, service(name))

    def readiness(self):
        try:
            return self.one.call("GET", "/readyz").body.decode()
        except (OSError, http.client.HTTPException):
            return ""

    def check_works(self, name):
        wait_for(self.one.ready)
        made = self.create(name)
        self.assertEqual(made.code, 201, made)
        return made.json

    def check_what_is_deleted(self):
        first = self.check_works("first")
        for keys in ([FORM], FENCES, [PORTS], [CIDR], [RANGE], [CIDR, RANGE], NAMESPACES,
                     [FORM, *FENCES, PORTS, CIDR, RANGE, *NAMESPACES]):
            self.delete(*keys)
            for key in keys:
                wait_for(lambda key=key: self.stored(key))
            made = self.check_works(f"after-{keys[0].rsplit('/', 1)[-1].replace('.', '-')}-{len(keys)}")
            self.assertNotEqual(made["spec"]["clusterIP"], first["spec"]["clusterIP"])
        self.assertIn("is made again", self.one.output())
        # Nothing of the Services was lost.
        items = self.one.call("GET", SERVICES).json["items"]
        addresses = {item["spec"]["clusterIP"] for item in items}
        self.assertEqual((len(items), len(addresses)), (10, 10))


class RecordsTest(Damage):
    def test_what_is_deleted_comes_back(self):
        self.check_what_is_deleted()

    def test_what_cannot_be_decoded_is_named(self):
        for i, key in enumerate((FORM, FENCES[0], FENCES[2], PORTS, CIDR, RANGE, NAMESPACES[0])):
            self.store.put(key, "garbage")
            said = f"what is stored under {key} cannot be decoded"
            wait_for(lambda: f"[-]essentials failed: {said}" in self.readiness())
            self.assertEqual(self.one.call("GET", "/readyz").code, 500)
            refused = self.create(f"refused-{i}")
            if key in (FORM, *FENCES, NAMESPACES[0]):
                self.assertEqual((refused.code, refused.json["message"]), (500, said))
            elif key == PORTS:
                self.assertIn("the store has no range of node ports", refused.json["message"])
            # The operator deletes it, and the server makes it again.
            self.delete(key)
            wait_for(lambda key=key: self.stored(key))
            self.check_works(f"after-{i}")

    def test_a_marker_that_cannot_be_understood(self):
        marker = self.stored(MARKER).decode()
        self.store.put(MARKER, "format=9\n")
        wait_for(lambda: f"[-]store failed: the marker {MARKER}" in self.readiness())
        refused = self.create("refused")
        self.assertEqual(refused.code, 503, refused)
        self.assertIn('it has format "9", this Berth reads format 1', refused.json["message"])
        self.store.put(MARKER, marker)
        self.check_works("after")

    def test_a_wiped_prefix_and_a_deleted_marker(self):
        old = self.check_works("first")["metadata"]["resourceVersion"]
        self.delete(MARKER)
        wait_for(lambda: self.stored(MARKER))
        self.check_works("second")
        self.assertEqual(self.one.call("GET", f"{SERVICES}/first").code, 200)
        self.wipe()
        wait_for(lambda: self.stored(MARKER))
        made = self.check_works("third")
        self.assertGreater(int(made["metadata"]["resourceVersion"]), int(old))
        names = [item["metadata"]["name"] for item in self.one.call("GET", SERVICES).json["items"]]
        self.assertEqual(names, ["kubernetes", "third"])
        for key in (FORM, *FENCES, PORTS, CIDR, RANGE, *NAMESPACES):
            self.assertTrue(self.stored(key), key)
        watch = self.one.call("GET", f"{SERVICES}?watch=1&timeoutSeconds=2&resourceVersion={old}")
        events = [json.loads(line) for line in watch.body.splitlines()]
        self.assertEqual([(each["type"], each["object"]["code"]) for each in events],
                         [("ERROR", 410)])
        self.assertIn("the store was wiped, and the store must be opened again", self.one.output())

    def test_another_etcd_takes_its_place(self):
        old = self.check_works("first")["metadata"]["resourceVersion"]
        args = list(self.store.process.args)
        args[args.index("--data-dir") + 1] = self.path("another")
        self.store.process.kill()
        self.store.process.wait()
        self.store.process = subprocess.Popen([*args, "--initial-cluster-token", "another"],
                                              stdout=self.store.log, stderr=self.store.log)
        self.store.wait(int(self.store.url.rpartition(":")[2]))
        wait_for(lambda: self.stored(MARKER))
        made = self.check_works("second")
        self.assertGreater(int(made["metadata"]["resourceVersion"]), int(old))
        self.assertEqual(self.one.call("GET", f"{SERVICES}/first").code, 404)


class BitmapsTest(Damage):
    FLAGS = ("--feature-gates", "ClusterIPAllocatorAPI=false")

    def test_what_is_deleted_comes_back(self):
        self.check_what_is_deleted()
        # The form is that of what the store holds, whatever the flag of a new store says.
        form = self.stored(FORM)
        self.delete(FORM)
        wait_for(lambda: self.stored(FORM))
        self.assertIn(b'"bitmaps"', form)
        self.assertIn(b'"bitmaps"', self.stored(FORM))


if __name__ == "__main__":
    main()
