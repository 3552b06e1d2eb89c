"""`berth snapshot save` while a server runs: what is saved, and what the server does meanwhile."""

import json
import os
import subprocess
import threading

import harness
from harness import BERTH, environment


def berth(*args):
    return subprocess.run([BERTH, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", env=environment(), timeout=120)


# The keys that every server creates: four namespaces, a range of addresses (in two forms) and one
# of ports, the four fences, itself as a replica, default/kubernetes with its address, its Endpoints
# and its EndpointSlice.
FIRST_KEYS = 16
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/berth-range-status"


class OnlineSnapshotTest(harness.Case):
    def good(self, *args):
        done = berth(*args)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def fill(self, server, count, value=""):
        for i in range(count):
            made = server.call("POST", "/api/v1/namespaces", {
                "metadata": {"name": f"n{i:04}", "annotations": {"note": value}}})
            self.assertEqual(made.code, 201, made)

    def names(self, server):
        return [each["metadata"]["name"] for each in
                server.call("GET", "/api/v1/namespaces").json["items"]]

    def test_what_is_saved_can_be_restored_and_served(self):
        server = self.server()
        self.fill(server, 20)
        names = self.names(server)
        self.assertIn(f"Saved {FIRST_KEYS + 20} keys", self.good(
            "snapshot", "save", "--data-dir", server.data_dir, self.path("a.snap")))
        self.fill_one_more(server)
        self.good("snapshot", "restore", self.path("a.snap"), "--data-dir", self.path("again"))
        again = self.server(data="again")
        self.assertEqual(self.names(again), names)

    def fill_one_more(self, server):
        self.assertEqual(server.call("POST", "/api/v1/namespaces",
                                     {"metadata": {"name": "later"}}).code, 201)

    def test_it_is_of_one_revision_while_writes_go_on(self):
        server = self.server()
        self.fill(server, 40, "x" * 20000)
        stop = threading.Event()
        written = []

        def write():
            """Creates leases and namespaces in turn. At each revision there are as many of both, or
            one more lease. The store has all leases before the namespaces."""
            while not stop.is_set():
                for path in ("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                             "/api/v1/namespaces"):
                    answer = server.call("POST", path, {"metadata": {"generateName": "w-"}})
                    written.append(answer.code)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            harness.wait_for(lambda: len(written) > 2)
            for i in range(3):
                file = self.path(f"{i}.snap")
                self.good("snapshot", "save", "--kubeconfig", server.kubeconfig, file)
                status = json.loads(self.good("snapshot", "status", file, "-o", "json"))
                keys = {each["kind"]: each["keys"] for each in status["kinds"]}
                self.assertIn(keys["leases"] - (keys["namespaces"] - 44), (0, 1), keys)
        finally:
            stop.set()
            writer.join()
        self.assertEqual(set(written), {201})

    def test_only_administrators_may(self):
        server = self.server()
        self.assertEqual(server.call("GET", "/berth/v1/snapshot", token="plain-token").code, 403)
        self.assertEqual(server.call("GET", "/berth/v1/snapshot", token=None).code, 401)
        self.assertEqual(server.call("POST", "/berth/v1/snapshot").code, 405)

    def test_a_client_that_leaves_does_not_block_the_next(self):
        server = self.server()
        self.fill(server, 60, "x" * 200000)
        connection = server.connection()
        connection.request("GET", "/berth/v1/snapshot",
                           headers={"Authorization": f"Bearer {server.TOKEN}"})
        connection.getresponse().read(10)
        refused = server.call("GET", "/berth/v1/snapshot")
        self.assertEqual(refused.code, 429, refused)
        self.assertIn("another snapshot is being saved", refused.json["message"])
        self.assertEqual(refused.headers["retry-after"], "1")
        connection.close()
        harness.wait_for(lambda: server.call("GET", "/berth/v1/snapshot").code == 200)

    def test_nothing_is_left_when_it_fails(self):
        server = self.server()
        server.terminate()
        done = berth("snapshot", "save", "--kubeconfig", server.kubeconfig, self.path("a.snap"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot get a snapshot from {server.url}", done.stderr)
        self.assertEqual([name for name in os.listdir(self.folder) if "snap" in name], [])

    def test_a_server_on_etcd_is_saved_the_same_way(self):
        server = self.server("--etcd-servers", self.etcd().url)
        self.fill(server, 5)
        # On etcd a server also holds a Lease, which says that it writes the status of ranges.
        harness.wait_for(lambda: server.call("GET", LEASE).code == 200)
        self.assertIn(f"Saved {FIRST_KEYS + 6} keys", self.good(
            "snapshot", "save", "--kubeconfig", server.kubeconfig, self.path("a.snap")))


if __name__ == "__main__":
    harness.main()
