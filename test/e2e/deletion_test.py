"""The outcome of deletions: dependents, orphans, and namespaces with their contents.

    BERTH_BIN=build/release/berth python3 test/e2e/deletion_test.py

Uses kubectl where a user would wait for it. Runs on the embedded store, and with two servers on one
etcd.
"""

import json
import subprocess
import tempfile
import unittest

import kubectls
from harness import Answer, Case, Etcd, PATIENCE, Server, main, wait_for

NAMESPACES = "/api/v1/namespaces"
X = "example.com/x"


def owner(thing, blocking=True, **changes):
    """Returns an owner reference to it."""
    return {"apiVersion": "v1", "kind": "Service", "name": thing["metadata"]["name"],
            "uid": thing["metadata"]["uid"], "blockOwnerDeletion": blocking, **changes}


class Client:
    """Writes objects of a namespace through one connection, which the test closes."""

    def __init__(self, case, server, namespace):
        self.server = server
        self.namespace = namespace
        self.path = f"{NAMESPACES}/{namespace}/services"
        self.connection = server.connection()
        case.addCleanup(self.connection.close)

    def ask(self, method, path, body=None):
        self.connection.request(method, path, None if body is None else json.dumps(body),
                                {"Authorization": f"Bearer {self.server.TOKEN}",
                                 "Content-Type": "application/json"})
        return Answer(self.connection.getresponse())

    def send(self, method, path, body=None):
        answer = self.ask(method, path, body)
        if answer.code not in (200, 201, 202):
            raise AssertionError(f"{method} {path}: {answer}")
        return answer.json

    def update(self, path, edit, door=""):
        """Reads the object, edits it and writes it. Tries again after a conflict, as clients do,
        because the server's own controllers write at the same time."""
        def attempt():
            thing = self.send("GET", path)
            edit(thing)
            answer = self.ask("PUT", path + door, thing)
            if answer.code not in (200, 409):
                raise AssertionError(f"PUT {path}: {answer}")
            return answer.code == 200
        wait_for(attempt)

    def make(self, name, *owners, **metadata):
        metadata = {"name": name, "ownerReferences": list(owners), **metadata}
        return self.send("POST", self.path,
                         {"metadata": metadata, "spec": {"ports": [{"port": 80}]}})

    def get(self, name):
        return self.send("GET", f"{self.path}/{name}")

    def change(self, name, **metadata):
        self.update(f"{self.path}/{name}", lambda thing: thing["metadata"].update(metadata))

    def release(self, name):
        self.change(name, finalizers=[])

    def delete(self, name, policy):
        return self.send("DELETE", f"{self.path}/{name}", {"propagationPolicy": policy})

    def names(self):
        return [each["metadata"]["name"] for each in self.send("GET", self.path)["items"]]

    def owners(self, name):
        return [each["name"] for each in self.get(name)["metadata"].get("ownerReferences", [])]

    def condition(self, kind):
        status = self.send("GET", f"{NAMESPACES}/{self.namespace}")["status"]
        for each in status.get("conditions", []):
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return None

    def gone(self):
        """Returns whether the namespace no longer exists."""
        return self.server.call("GET", f"{NAMESPACES}/{self.namespace}").code == 404

    def wait_until_left(self, *names):
        try:
            wait_for(lambda: self.names() == list(names))
        except AssertionError:
            raise AssertionError(f"{self.names()} are left, not {names}") from None

    def wait_for_collector(self):
        """Waits until the collector has processed all earlier changes."""
        self.make("sentinel", owner({"metadata": {"name": "none", "uid": "none"}}))
        wait_for(lambda: "sentinel" not in self.names())


class Deletion(kubectls.Verbs):
    def setUp(self):
        super().setUp()
        self.client = Client(self, self.server, self.namespace)

    def begin(self, *args):
        """Starts a kubectl that runs until what it waits for has happened."""
        process = self.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process


class Cascade(Deletion):
    def test_background(self):
        a = self.client.make("a")
        b = self.client.make("b", owner(a))
        self.client.make("c", owner(b))
        self.client.make("free")
        self.assertIn('"a" deleted', self.good("delete", "svc", "a", "--cascade=background"))
        self.client.wait_until_left("free")

    def test_foreground(self):
        a = self.client.make("a")
        b = self.client.make("b", owner(a), finalizers=[X])
        self.client.make("c", owner(b))
        other = self.client.make("other")
        self.client.make("shared", owner(a), owner(other))
        process = self.begin("delete", "svc", "a", "--cascade=foreground")
        self.client.wait_until_left("a", "b", "other", "shared")
        self.assertEqual(self.client.get("a")["metadata"]["finalizers"], ["foregroundDeletion"])
        self.assertIn("deletionTimestamp", self.client.get("b")["metadata"])
        self.assertIsNone(process.poll())
        self.client.release("b")
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(self.client.names(), ["other", "shared"])
        self.assertEqual(self.client.owners("shared"), ["other"])

    def test_foreground_of_many(self):
        a = self.client.make("a")
        for i in range(300):
            self.client.make(f"b{i}", owner(a))
        self.good("delete", "svc", "a", "--cascade=foreground")
        self.assertEqual(self.client.names(), [])

    def test_orphan(self):
        a = self.client.make("a")
        self.client.make("b", owner(a))
        self.client.make("c", owner(a, blocking=False))
        self.good("delete", "svc", "a", "--cascade=orphan")
        self.client.wait_for_collector()
        self.assertEqual(self.client.names(), ["b", "c"])
        self.assertEqual(self.client.owners("b") + self.client.owners("c"), [])

    def test_collections(self):
        a = self.client.make("a", labels={"app": "x"})
        self.client.make("b", owner(a), labels={"app": "x"})
        self.client.make("c", owner(a))
        self.good("delete", "svc", "-l", "app=x", "--cascade=foreground")
        self.client.wait_until_left()

    def test_owners_in_a_circle(self):
        a = self.client.make("a")
        b = self.client.make("b", owner(a))
        c = self.client.make("c", owner(b))
        self.client.change("a", ownerReferences=[owner(c)])
        d = self.client.make("d")
        self.client.change("d", ownerReferences=[owner(d)])
        self.client.wait_for_collector()
        self.assertEqual(self.client.names(), ["a", "b", "c", "d"])
        self.good("delete", "svc", "a", "d", "--cascade=foreground")
        self.client.wait_until_left()

    def test_all_of_a_circle_at_once(self):
        a = self.client.make("a")
        b = self.client.make("b", owner(a))
        self.client.change("a", ownerReferences=[owner(b)])
        self.client.send("DELETE", self.client.path, {"propagationPolicy": "Foreground"})
        self.client.wait_until_left()

    def test_who_is_left_alone(self):
        gone = {"metadata": {"name": "gone", "uid": "gone"}}
        deployment = owner(gone, apiVersion="apps/v1", kind="Deployment")
        self.client.make("of-a-deployment", deployment)
        self.client.make("of-both", deployment, owner(gone))
        event = {"metadata": {"name": "e", "ownerReferences": [owner(gone)]},
                 "involvedObject": {"kind": "Service", "name": "x", "namespace": self.namespace}}
        self.client.send("POST", f"{NAMESPACES}/{self.namespace}/events", event)
        cluster = {"metadata": {"name": f"{self.namespace}-2", "ownerReferences": [owner(gone)]}}
        self.client.send("POST", NAMESPACES, cluster)
        self.client.wait_for_collector()
        self.assertEqual(self.client.names(), ["of-a-deployment", "of-both"])
        self.assertEqual(self.client.owners("of-both"), ["gone", "gone"])
        for path in (f"{NAMESPACES}/{self.namespace}/events/e", f"{NAMESPACES}/{self.namespace}-2"):
            self.assertEqual(self.server.call("GET", path).code, 200, path)

    def test_an_owner_elsewhere_is_none(self):
        elsewhere = Client(self, self.server, f"{self.namespace}-2")
        self.client.send("POST", NAMESPACES, {"metadata": {"name": elsewhere.namespace}})
        a = self.client.make("a")
        elsewhere.make("b", owner(a))
        elsewhere.wait_until_left()
        # An owner without a namespace may own objects in any namespace.
        space = self.client.send("GET", f"{NAMESPACES}/{elsewhere.namespace}")
        self.client.make("c", owner(space, kind="Namespace"))
        self.client.wait_for_collector()
        self.assertEqual(self.client.names(), ["a", "c"])
        self.good("delete", "ns", elsewhere.namespace)
        self.client.wait_until_left("a")


class Namespaces(Deletion):
    def fill(self, count):
        for i in range(count):
            self.client.make(f"s{i}")
        lease = "/apis/coordination.k8s.io/v1/namespaces"
        self.client.send("POST", f"{lease}/{self.namespace}/leases", {"metadata": {"name": "l"}})
        event = {"metadata": {"name": "e"},
                 "involvedObject": {"kind": "Service", "name": "s0", "namespace": self.namespace}}
        self.client.send("POST", f"{NAMESPACES}/{self.namespace}/events", event)

    def test_delete_returns(self):
        other = Client(self, self.server, "default")
        other.make("stays")
        self.fill(2000)
        self.assertIn(f'"{self.namespace}" deleted', self.good("delete", "ns", self.namespace))
        self.assertTrue(self.client.gone())
        for path in ("/api/v1/services", "/api/v1/events",
                     "/apis/coordination.k8s.io/v1/leases"):
            left = [each["metadata"]["namespace"]
                    for each in self.client.send("GET", path)["items"]]
            self.assertNotIn(self.namespace, left)
        self.assertIn("stays", other.names())
        # The name can be used again.
        self.good("create", "ns", self.namespace)
        self.client.make("a")
        self.client.wait_for_collector()
        self.assertEqual(self.client.names(), ["a"])

    def test_what_holds_it_is_said(self):
        self.fill(3)
        self.client.make("held", finalizers=[X, "example.com/y"])
        self.client.make("held-2", finalizers=[X])
        process = self.begin("delete", "ns", self.namespace)
        remaining = "NamespaceContentRemaining"
        wait_for(lambda: self.client.condition(remaining))
        self.assertEqual(self.client.names(), ["held", "held-2"])
        self.assertEqual(self.client.condition(remaining),
                         ("True", "SomeResourcesRemain",
                          "Some resources are remaining: services. has 2 resource instances"))
        self.assertEqual(self.client.condition("NamespaceFinalizersRemaining"),
                         ("True", "SomeFinalizersRemain",
                          "Some content in the namespace has finalizers remaining: "
                          "example.com/x in 2 resource instances, "
                          "example.com/y in 1 resource instances"))
        self.assertEqual(self.client.condition("NamespaceDeletionContentFailure"),
                         ("False", "ContentDeleted", "All content successfully deleted, "
                          "may be waiting on finalization"))
        described = self.good("describe", "ns", self.namespace)
        self.assertRegex(described, r"Status: +Terminating")
        if self.KUBECTL.minor >= 21:  # Older ones do not show conditions.
            self.assertRegex(described,
                             r"NamespaceContentRemaining +True .*"
                             r"Some resources are remaining: services. has 2 resource instances")
        self.client.release("held-2")
        wait_for(lambda: "services. has 1 " in self.client.condition(remaining)[2])
        self.assertIsNone(process.poll())
        self.client.release("held")
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertTrue(self.client.gone())
        self.assertEqual(self.server.output().count(f"namespace={self.namespace} "), 1)

    def test_nothing_new_meanwhile(self):
        self.client.make("held", finalizers=[X])
        self.good("delete", "ns", self.namespace, "--wait=false")
        self.assertRegex(self.good("get", "ns", self.namespace), " Terminating ")
        refused = self.server.call("POST", self.client.path, {
            "metadata": {"name": "new"}, "spec": {"ports": [{"port": 80}]}})
        self.assertEqual((refused.code, refused.json["details"]["causes"][0]["reason"]),
                         (403, "NamespaceTerminating"))
        self.client.release("held")
        wait_for(self.client.gone)

    def test_finalizers_of_others(self):
        path = f"{NAMESPACES}/{self.namespace}"
        self.client.update(path, lambda space: space["spec"]["finalizers"].append(
            "example.com/spec"), "/finalize")
        self.client.update(path, lambda space: space["metadata"].update(
            finalizers=["example.com/meta"]))
        self.client.make("a")
        process = self.begin("delete", "ns", self.namespace)
        wait_for(lambda: self.client.send("GET", path)["spec"]["finalizers"] ==
                 ["example.com/spec"])
        self.assertEqual(self.client.names(), [])
        self.assertEqual(self.client.condition("NamespaceContentRemaining"),
                         ("False", "ContentRemoved", "All content successfully removed"))
        self.client.update(path, lambda space: space["metadata"].update(finalizers=[]))
        self.assertIsNone(process.poll())
        self.client.update(path, lambda space: space["spec"].update(finalizers=[]), "/finalize")
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_cascades(self):
        """A namespace has no dependents here, so these end as soon as it is empty."""
        for policy in ("foreground", "orphan"):
            name = f"{self.namespace}-{policy}"
            self.client.send("POST", NAMESPACES, {"metadata": {"name": name}})
            inside = Client(self, self.server, name)
            inside.make("a")
            self.good("delete", "ns", name, f"--cascade={policy}")
            self.assertTrue(inside.gone())

    def test_waiting_for_dependents_ends_with_the_namespace(self):
        a = self.client.make("a")
        self.client.make("b", owner(a), finalizers=[X])
        self.client.delete("a", "Foreground")
        self.good("delete", "ns", self.namespace, "--wait=false")
        self.client.wait_until_left("b")
        self.client.release("b")
        wait_for(self.client.gone)


globals().update(kubectls.cases(Cascade, Namespaces))


class RestartTest(Case):
    def test_it_goes_on(self):
        first = self.server()
        client = Client(self, first, "shop")
        client.send("POST", NAMESPACES, {"metadata": {"name": "shop"}})
        for i in range(2000):
            client.make(f"s{i}")
        stays = Client(self, first, "default")
        a = stays.make("a")
        stays.make("b", owner(a), finalizers=[X])
        stays.delete("a", "Foreground")
        self.assertEqual(first.call("DELETE", f"{NAMESPACES}/shop").code, 200)
        first.process.kill()
        first.process.wait()
        again = self.server(port=first.port)
        wait_for(Client(self, again, "shop").gone)
        self.assertEqual(again.call("GET", f"{NAMESPACES}/shop/services").json["items"], [])
        stays = Client(self, again, "default")
        self.assertEqual(stays.names(), ["a", "b", "kubernetes"])
        stays.release("b")
        stays.wait_until_left("kubernetes")
        self.assertEqual(again.terminate(), 0)


class ReplicasTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        etcd = Etcd(folder.name)
        cls.addClassCleanup(etcd.stop)
        cls.replicas = []
        for name in ("one", "two"):
            replica = Server(folder.name, "--etcd-servers", etcd.url, data=name)
            cls.addClassCleanup(replica.stop)
            cls.replicas.append(replica)

    def clients(self, namespace):
        """Returns a client for each of the servers."""
        made = [Client(self, replica, namespace) for replica in self.replicas]
        if namespace != "default":
            made[0].send("POST", NAMESPACES, {"metadata": {"name": namespace}})
        return made

    def test_a_namespace_again_and_again(self):
        one, two = self.clients("again")
        for _ in range(3):
            for i in range(200):
                (one, two)[i % 2].make(f"s{i}")
            self.assertEqual(two.server.call("DELETE", f"{NAMESPACES}/again").code, 200)
            wait_for(one.gone)
            # Create it at once, while the other server may still be working on it.
            one.send("POST", NAMESPACES, {"metadata": {"name": "again"}})
            two.make("new")
            one.wait_for_collector()
            two.wait_for_collector()
            self.assertEqual(one.names(), ["new"])
            one.send("DELETE", f"{one.path}/new")

    def test_dependents(self):
        one, two = self.clients("dependents")
        for policy, left in (("Background", []), ("Foreground", []),
                             ("Orphan", [f"b{i}" for i in range(10)])):
            a = one.make("a")
            for i in range(10):
                two.make(f"b{i}", owner(a))
            one.delete("a", policy)
            two.wait_until_left(*left)
        self.assertEqual(two.owners("b3"), [])

    def test_the_other_finishes(self):
        one, two = self.clients("crash")
        for i in range(500):
            one.make(f"s{i}")
        two.make("held", finalizers=[X])
        one.send("DELETE", f"{NAMESPACES}/crash")
        one.server.process.kill()
        one.server.process.wait()
        two.wait_until_left("held")
        two.release("held")
        wait_for(two.gone)
        server = one.server
        self.replicas[0] = Server(server.folder, *server.command[-2:], data="one")
        self.addClassCleanup(self.replicas[0].stop)
        server.log.close()


if __name__ == "__main__":
    main()
