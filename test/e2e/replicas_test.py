"""Two `berth serve` on one etcd.

    BERTH_BIN=build/release/berth python3 test/e2e/replicas_test.py

The etcd is Debian's. The long form of the test of an outage takes half a minute, which is the time
limit of a write.
"""

import base64
import concurrent.futures
import json
import socket
import subprocess
import tempfile
import threading
import unittest

from harness import Case, Etcd, Server, long, main, wait_for

SERVICES = "/api/v1/namespaces/default/services"


def service(name, port=80):
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": port}]}}


def version(thing):
    return int(thing["metadata"]["resourceVersion"])


class Watch:
    """Events of a watch, collected by its own thread."""

    def __init__(self, server, path):
        self.events = []
        self.connection = server.connection(timeout=None)
        self.connection.request("GET", path,
                                headers={"Authorization": f"Bearer {server.TOKEN}"})
        self.response = self.connection.getresponse()
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        try:
            while line := self.response.readline():
                self.events.append(json.loads(line))
        except (OSError, ValueError, AttributeError):
            pass  # Either side has closed it.

    def seen(self):
        return [(event["type"], event["object"]["metadata"]["name"]) for event in self.events]

    def close(self):
        self.connection.sock.shutdown(socket.SHUT_RDWR)  # Wakes the thread up.
        self.thread.join()
        self.connection.close()


def keys_of(etcd, prefix):
    """Returns the keys below a prefix, as any other client of etcd sees them."""
    def encoded(text):
        return base64.b64encode(text.encode()).decode()
    found = etcd.post("kv/range", key=encoded(prefix), range_end=encoded(prefix + "\x7f"),
                      keys_only=True)
    return [base64.b64decode(each["key"]).decode() for each in found.get("kvs", [])]


def together(*works):
    """Runs all at the same time. Returns their results."""
    results = [None] * len(works)
    start = threading.Barrier(len(works))

    def run(i):
        start.wait()
        results[i] = works[i]()
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class ReplicasTest(unittest.TestCase):
    """Tests that share two servers and leave them unchanged. Each has its own Services."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.etcd = Etcd(folder.name)
        cls.addClassCleanup(cls.etcd.stop)
        cls.replicas = []
        for name in ("one", "two"):
            replica = Server(folder.name, "--etcd-servers", cls.etcd.url, data=name)
            cls.addClassCleanup(replica.stop)
            cls.replicas.append(replica)
        cls.one, cls.two = cls.replicas

    def test_read_your_writes_on_the_other(self):
        for i in range(40):
            writer, reader = self.replicas if i % 2 else self.replicas[::-1]
            name = f"mine-{i}"
            made = writer.call("POST", SERVICES, service(name))
            self.assertEqual(made.code, 201, made)
            found = reader.call("GET", f"{SERVICES}/{name}")
            self.assertEqual(found.body, made.body)
            at_least = f"resourceVersion={version(made.json)}"
            self.assertEqual(reader.call("GET", f"{SERVICES}/{name}?{at_least}").body, made.body)
            for query in ("", f"&{at_least}", f"&{at_least}&resourceVersionMatch=NotOlderThan"):
                listed = reader.call(
                    "GET", f"{SERVICES}?fieldSelector=metadata.name={name}{query}").json
                self.assertEqual(len(listed["items"]), 1, query)
                self.assertGreaterEqual(version(listed), version(made.json))
            changed = made.json
            changed["spec"]["ports"][0]["port"] = 81
            self.assertEqual(reader.call("PUT", f"{SERVICES}/{name}", changed).code, 200)
            self.assertEqual(writer.call("DELETE", f"{SERVICES}/{name}").code, 200)
            self.assertEqual(reader.call("GET", f"{SERVICES}/{name}").code, 404)

    def test_a_watch_sees_writes_through_both_in_order(self):
        start = version(self.one.call("GET", SERVICES).json)
        watches = [Watch(replica, f"{SERVICES}?watch=1&resourceVersion={start}")
                   for replica in self.replicas]
        for watch in watches:
            self.addCleanup(watch.close)
        expected = []
        for i in range(30):
            writer = self.replicas[i % 2]
            name = f"seen-{i // 3}"
            method, path = (("POST", SERVICES), ("PUT", f"{SERVICES}/{name}"),
                            ("DELETE", f"{SERVICES}/{name}"))[i % 3]
            if method == "PUT":
                changed = writer.call("GET", path).json
                changed["spec"]["ports"][0]["port"] = 81
            body = {"POST": service(name), "PUT": changed if method == "PUT" else None,
                    "DELETE": None}[method]
            answer = writer.call(method, path, body)
            self.assertIn(answer.code, (200, 201), answer)
            expected.append((("ADDED", "MODIFIED", "DELETED")[i % 3], name))
        for watch in watches:
            wait_for(lambda watch=watch: len(watch.events) >= len(expected))
            self.assertEqual(watch.seen(), expected)
            versions = [version(event["object"]) for event in watch.events]
            self.assertEqual(versions, sorted(set(versions)))
        self.assertEqual(watches[0].events, watches[1].events)

    def test_of_two_updates_one_wins(self):
        current = self.one.call("POST", SERVICES, service("contested", 1)).json
        for i in range(25):
            def update(replica, port, base=current):
                mine = json.loads(json.dumps(base))
                mine["spec"]["ports"][0]["port"] = port
                return replica.call("PUT", f"{SERVICES}/contested", mine)
            answers = together(lambda: update(self.one, 1000 + i),
                               lambda: update(self.two, 2000 + i))
            self.assertEqual(sorted(answer.code for answer in answers), [200, 409], answers)
            winner, loser = sorted(answers, key=lambda answer: answer.code)
            self.assertEqual((loser.json["reason"], loser.json["message"]),
                             ("Conflict", 'Operation cannot be fulfilled on services "contested": '
                              "the object has been modified; please apply your changes to the "
                              "latest version and try again"))
            for replica in self.replicas:
                self.assertEqual(replica.call("GET", f"{SERVICES}/contested").body, winner.body)
            current = winner.json

    def test_of_two_creates_one_wins(self):
        for i in range(25):
            path = f"{SERVICES}/first-{i}"
            answers = together(*(lambda replica=replica: replica.call(
                "POST", SERVICES, service(f"first-{i}")) for replica in self.replicas))
            self.assertEqual(sorted(answer.code for answer in answers), [201, 409], answers)
            winner, loser = sorted(answers, key=lambda answer: answer.code)
            self.assertEqual(loser.json["reason"], "AlreadyExists")
            gone = together(*(lambda replica=replica: replica.call("DELETE", path)
                              for replica in self.replicas))
            self.assertEqual(sorted(answer.code for answer in gone), [200, 404], gone)

    def test_keys_lie_where_kube_apiserver_puts_them(self):
        self.one.call("POST", SERVICES, service("keyed"))
        self.one.call("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                      {"metadata": {"name": "keyed"}, "spec": {"holderIdentity": "me"}})
        keys = keys_of(self.etcd, "/registry/")
        for key in ("/registry/services/specs/default/keyed", "/registry/leases/default/keyed",
                    "/registry/namespaces/default", "/registry/namespaces/kube-system",
                    "/registry/namespaces/kube-public"):
            self.assertIn(key, keys)


class PrefixTest(Case):
    def test_servers_of_different_prefixes_do_not_meet(self):
        etcd = self.etcd()
        one = self.server("--etcd-servers", etcd.url, "--etcd-prefix", "/team/a", data="one")
        two = self.server("--etcd-servers", etcd.url, "--etcd-prefix", "/team/b", data="two")
        self.assertEqual(one.call("POST", SERVICES, service("x")).code, 201)
        self.assertEqual(two.call("GET", f"{SERVICES}/x").code, 404)
        self.assertIn("/team/a/services/specs/default/x", keys_of(etcd, "/team/a/"))
        self.assertEqual(keys_of(etcd, "/registry/"), [])


class FailureTest(Case):
    def setUp(self):
        super().setUp()
        self.store = self.etcd()
        self.one = self.replica("one")
        self.two = self.replica("two")

    def replica(self, name, **more):
        return self.server("--etcd-servers", self.store.url, data=name, **more)

    def watch(self, server, path):
        watch = Watch(server, path)
        self.addCleanup(watch.close)
        return watch

    def test_one_is_killed_and_comes_back(self):
        watch = self.watch(self.two, f"{SERVICES}?watch=1")
        self.assertEqual(self.one.call("POST", SERVICES, service("before")).code, 201)
        self.one.process.kill()
        self.one.process.wait()
        self.assertEqual(self.two.call("POST", SERVICES, service("meanwhile")).code, 201)
        self.assertEqual(self.two.call("DELETE", f"{SERVICES}/before").code, 200)
        again = self.replica("one", port=self.one.port)
        self.assertEqual(again.call("GET", f"{SERVICES}/before").code, 404)
        self.assertEqual(again.call("GET", f"{SERVICES}/meanwhile").body,
                         self.two.call("GET", f"{SERVICES}/meanwhile").body)
        self.assertEqual(again.call("POST", SERVICES, service("after")).code, 201)
        wait_for(lambda: len(watch.events) == 5)
        self.assertEqual(watch.seen(), [("ADDED", "kubernetes"), ("ADDED", "before"),
                                        ("ADDED", "meanwhile"), ("DELETED", "before"),
                                        ("ADDED", "after")])
        # A server that is stopped ends cleanly, and the other stays.
        self.assertEqual(again.terminate(), 0)
        self.assertEqual(self.two.call("GET", "/readyz").code, 200)
        self.assertEqual(self.two.call("GET", f"{SERVICES}/after").code, 200)

    def test_etcd_is_away_for_a_while(self):
        failed = self.outage("?timeout=3s")
        self.assertEqual(failed.json["message"],
                         "Timeout: request did not complete within the allotted timeout")

    @long
    def test_etcd_is_away_for_as_long_as_a_write_is_given(self):
        failed = self.outage("")
        self.assertRegex(failed.json["message"],
                         "^etcd did not take the write within 30 s; it did not happen|"
                         "^Timeout: request did not complete within the allotted timeout$")
        if "it did not happen" in failed.json["message"]:
            self.assertEqual(self.two.call("GET", f"{SERVICES}/during").code, 404)

    def outage(self, query):
        """Stops etcd until a write with this query fails, and then starts it again. Returns the
        answer to that write."""
        self.assertEqual(self.one.call("POST", SERVICES, service("before")).code, 201)
        self.assertEqual(self.two.call("GET", f"{SERVICES}/before").code, 200)
        watch = self.watch(self.two, f"{SERVICES}?watch=1")
        wait_for(lambda: watch.events)
        command = self.store.process.args
        self.store.process.kill()
        self.store.process.wait()

        with concurrent.futures.ThreadPoolExecutor() as others:
            write = others.submit(self.one.call, "POST", SERVICES + query, service("during"))
            read = others.submit(self.two.call, "GET", f"{SERVICES}/before")
            self.check_while_etcd_is_away()
            failed, fresh = write.result(), read.result()
        self.assertEqual((fresh.code, fresh.json["reason"]), (503, "ServiceUnavailable"))
        self.assertIn("etcd: ", fresh.json["message"])
        self.assertEqual((failed.code, failed.json["reason"]), (504, "Timeout"))

        self.store.process = subprocess.Popen(command, stdout=self.store.log,
                                              stderr=self.store.log)
        for replica in (self.one, self.two):
            wait_for(lambda replica=replica: replica.call("GET", "/readyz").code == 200)
        self.assertEqual(self.one.call("POST", SERVICES, service("after")).code, 201)
        self.assertEqual(self.two.call("GET", f"{SERVICES}/after").code, 200)
        wait_for(lambda: ("ADDED", "after") in watch.seen())
        self.assertEqual(watch.seen()[::len(watch.events) - 1],
                         [("ADDED", "before"), ("ADDED", "after")])
        return failed

    def check_while_etcd_is_away(self):
        for replica in (self.one, self.two):
            wait_for(lambda replica=replica: replica.call("GET", "/readyz").code == 500)
            report = replica.call("GET", "/readyz").body.decode()
            # If the write had reached etcd before it stopped, its outcome is resolved first.
            self.assertRegex(report, r"\[-\]store failed: (etcd: .*connection refused|"
                                     r"writes wait until etcd says what became of earlier ones)")
            self.assertIn("[+]ping ok", report)
            self.assertEqual(replica.call("GET", "/livez").code, 200)
        # Reads that may be old are still answered.
        old = self.two.call("GET", f"{SERVICES}/before?resourceVersion=0")
        self.assertEqual(old.code, 200, old)


if __name__ == "__main__":
    main()
