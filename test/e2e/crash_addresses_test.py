"""kill -9 while Services of all types are created, changed and deleted: answered writes survive,
every value has one owner, and no record is left over.

    BERTH_BIN=build/release/berth python3 test/e2e/crash_addresses_test.py

CRASH_ROUNDS is how often the server is killed on each kind of store. The default is 4.
"""

import http.client
import os
import random
import subprocess
import sys
import threading
import time

from addresses import Audits, Client, balancer, external, in_threads, service
from harness import Case, main, wait_for

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "4"))
SEED = int(os.environ.get("CRASH_SEED", random.randrange(10**6)))
WORKERS = 6
PATH = "/api/v1/namespaces/crash/services"
FLAGS = ("--service-cluster-ip-range=10.4.0.0/20,fd00:10:4::/116",)
MANY = 400


def choice(rand, name):
    return rand.choice((
        lambda: service(name),
        lambda: service(name, "NodePort", 2),
        lambda: service(name, "NodePort", [{"port": 80, "nodePort": rand.randrange(30000, 30086)}]),
        lambda: service(name, clusterIP=f"10.4.0.{rand.randrange(2, 255)}"),
        lambda: service(name, "NodePort", ipFamilyPolicy="RequireDualStack"),
        lambda: balancer(name, externalTrafficPolicy="Local"),
        lambda: balancer(name, False),
        lambda: service(name, clusterIP="None"),
        lambda: external(name)))()


class Worker:
    """Writes its own Services, and records the answer about each."""

    def __init__(self, server, number, rand):
        self.server, self.rand, self.prefix = server, rand, f"s{number}"
        self.known = {}  # By name: the object in the answer, or None if it was deleted.
        self.unknown = set()  # Requests without an answer.
        self.answers = 0

    def run(self, stop):
        client = Client(self.server)
        i = 0
        while not stop.is_set():
            i += 1
            try:
                self.step(client, f"{self.prefix}-{i}")
            except (OSError, http.client.HTTPException):
                break
            self.answers += 1
        client.close()

    def step(self, client, name):
        mine = [name for name, obj in self.known.items() if obj]
        kind = self.rand.random()
        if kind < 0.5 or not mine:
            self.ask(client, name, 201, "POST", PATH, choice(self.rand, name))
            return
        name = self.rand.choice(mine)
        if kind < 0.8:
            self.ask(client, name, 200, "DELETE", f"{PATH}/{name}")
        else:
            # Another type releases what it does not need.
            self.ask(client, name, 200, "PUT", f"{PATH}/{name}", choice(self.rand, name))

    def ask(self, client, name, code, method, path, body=None):
        before = self.known.pop(name, None)
        self.unknown.add(name)
        answer = client.call(method, path, body)
        if answer.code == code:
            self.known[name] = answer.json if method != "DELETE" else None
        elif answer.code == 422 or "range is full" in answer.json["message"]:
            if before:
                self.known[name] = before  # It did not happen.
        else:
            assert answer.code in (503, 504), answer
            return  # The outcome is unknown.
        self.unknown.discard(name)


class CrashTest(Audits, Case):

    def setUp(self):
        super().setUp()
        self.rand = random.Random(SEED)
        self.count = 0
        self.answers = 0

    def tearDown(self):
        print(f"\n{self.id().rsplit('.', 1)[-1]}, seed {SEED}: {self.answers} answers",
              file=sys.stderr)

    def prepare(self, server):
        self.made({"metadata": {"name": "crash"}}, "/api/v1/namespaces", server)

    def round(self, servers, crash):
        """Writes through all of them until `crash` has finished."""
        workers = []
        for i in range(WORKERS):
            self.count += 1
            workers.append(Worker(servers[i % len(servers)], self.count,
                                  random.Random(self.rand.random())))
        stop = threading.Event()

        def run(i):
            if i < WORKERS:
                workers[i].run(stop)
                return
            try:
                time.sleep(self.rand.uniform(0.05, 0.3))
                crash()
            finally:
                stop.set()
        in_threads(WORKERS + 1, run)
        self.answers += sum(worker.answers for worker in workers)
        return workers

    def check(self, workers, *servers):
        for server in servers:
            there = {name: obj for (space, name), obj in self.audit(server).items()
                     if space == "crash"}
            for worker in workers:
                for name, obj in worker.known.items():
                    if obj is None:
                        self.assertNotIn(name, there, "its deletion was answered")
                    else:
                        self.assertIn(name, there, "its creation was answered")
                        for field in ("metadata", "spec"):
                            self.assertEqual(there[name][field], obj[field])
        # Make room for the next ones.
        if len(there) > MANY:
            self.done("DELETE", PATH, server=servers[0])
            self.assertEqual(len(self.audit(servers[0])), 1)

    def kill(self, server):
        server.process.kill()
        server.process.wait()

    def restart(self, server, *flags):
        """Starts a server on the same port with the same data."""
        return self.server(*flags, data=os.path.basename(server.data_dir), port=server.port)

    def test_embedded(self):
        server = self.server(*FLAGS)
        self.prepare(server)
        for _ in range(ROUNDS):
            workers = self.round([server], lambda: self.kill(server))
            server = self.restart(server, *FLAGS)
            self.check(workers, server)
        self.assertGreater(self.answers, ROUNDS * WORKERS)

    def test_one_of_two_on_etcd(self):
        flags = ("--etcd-servers", self.etcd().url, *FLAGS)
        victim, other = (self.server(*flags, data=name) for name in ("one", "two"))
        self.prepare(other)
        for _ in range(ROUNDS):
            workers = self.round([victim, other], lambda: self.kill(victim))
            victim = self.restart(victim, *flags)
            self.check(workers, victim, other)
        self.assertGreater(self.answers, ROUNDS * WORKERS)

    def test_etcd_itself(self):
        etcd = self.etcd()
        server = self.server("--etcd-servers", etcd.url, *FLAGS)
        self.prepare(server)

        def crash():
            command = etcd.process.args
            self.kill(etcd)
            etcd.process = subprocess.Popen(command, stdout=etcd.log, stderr=etcd.log)
            # Make some more writes once that is possible again.
            wait_for(lambda: server.call("GET", "/readyz").code == 200)
            time.sleep(0.1)
        for _ in range(max(ROUNDS // 4, 1)):
            self.check(self.round([server], crash), server)
        self.assertGreater(self.answers, WORKERS)


if __name__ == "__main__":
    main()
