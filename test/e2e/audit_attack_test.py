"""An attack on the store while clients work and a replica is killed: records are deleted and swapped,
and Services are written, straight in etcd. No write through the API may add a second owner to a
value, and the next pass of every replica finds exactly the values that the attack gave two owners.

    BERTH_BIN=build/release/berth python3 test/e2e/audit_attack_test.py
"""

import http.client
import random
import sys
import threading
import time

from addresses import SERVICES, Client, held, history, in_threads, service, version
from audit_test import ADDRESS_KEYS, SPECS, AuditCase
from harness import long, main


class Attack:
    """Damages what the Services of clients hold. A server learns of a foreign write a moment later,
    and cannot respect what it has not seen. So the attack waits a second before it damages
    something new, and before clients ask for what it has written."""

    SETTLED = 1.0

    def __init__(self, store, server):
        self.store, self.server = store, server
        self.rand = random.Random(17)
        self.ways = {"records deleted": self.delete, "records swapped": self.swap,
                     "addresses doubled": self.double, "Services written": self.write}
        self.count = dict.fromkeys(self.ways, 0)
        # Servers do not choose these by themselves, and clients name only those that are written.
        self.free = [f"10.96.0.{i}" for i in range(11, 64)]
        self.written = []  # Addresses, and when they were written.
        self.known = {}    # When the Services of clients were first seen, by uid.
        self.targets, self.listed = [], 0

    def settled(self):
        """Returns name and address of the Services that all servers know by now."""
        now = time.monotonic()
        if now < self.listed + 0.2:
            return self.targets
        there = {each["metadata"]["uid"]: (each["metadata"]["name"], each["spec"]["clusterIP"])
                 for each in self.server.call("GET", SERVICES).json["items"]
                 if each["metadata"]["name"].startswith("c-")}
        self.known = {uid: self.known.get(uid, now) for uid in there}
        self.listed = now
        self.targets = [there[uid] for uid, since in self.known.items()
                        if now - since > self.SETTLED]
        return self.targets

    def written_before(self):
        now = time.monotonic()
        return [ip for ip, since in list(self.written) if now - since > self.SETTLED]

    def step(self):
        services = self.settled()
        if len(services) < 2:
            return
        way = self.rand.choice(sorted(self.ways))
        if self.ways[way](*self.rand.sample(services, 2)):
            self.count[way] += 1

    def seen(self, *names):
        return {SPECS + name: self.store.look(SPECS + name)[1] for name in names}

    def delete(self, one, _):
        seen = self.seen(one[0])
        return all(seen.values()) and self.store.change(seen, {ADDRESS_KEYS + one[1]: None})

    def swap(self, one, other):
        seen = self.seen(one[0], other[0])
        first, second = (self.store.get(ADDRESS_KEYS + each[1]) for each in (one, other))
        if not all(seen.values()) or not first or not second or len(one[1]) != len(other[1]):
            return False
        # Not in one transaction: both values note the same place in theirs, so servers would have to
        # read the whole store again.
        return self.store.change(seen, {ADDRESS_KEYS + one[1]: second.replace(
            other[1].encode(), one[1].encode())}) and self.store.change(seen, {
                ADDRESS_KEYS + other[1]: first.replace(one[1].encode(), other[1].encode())})

    def double(self, one, _):
        return self.store.copy_service(one[0], f"d{one[0][1:]}")

    def write(self, one, _):
        ip = next((each for each in self.free if len(each) == len(one[1])), None)
        if ip is None or not self.store.copy_service(one[0], f"w{one[0][1:]}", (one[1], ip)):
            return False
        self.free.remove(ip)
        self.written.append((ip, time.monotonic()))
        return True


class Clients:
    """Create and delete Services of their own, through all replicas. Half of them name an address,
    which another Service may have."""

    def __init__(self, replicas, attack):
        self.replicas, self.attack, self.stop, self.codes = replicas, attack, threading.Event(), {}

    def run(self, number):
        rand, mine, caller = random.Random(number), [], None
        for count in range(10_000):
            if self.stop.is_set():
                break
            asked = self.next(rand, mine, f"c-{number:02}-{count:04}")
            try:
                caller = caller or Client(self.replicas[number % len(self.replicas)])
                code = caller.call(*asked).code
            except (OSError, http.client.HTTPException):  # It was killed.
                caller, code = None, "none"
                time.sleep(0.1)
            if code == 201:
                mine.append(asked[2]["metadata"]["name"])
            self.codes[code] = self.codes.get(code, 0) + 1
        if caller:
            caller.close()

    def next(self, rand, mine, name):
        if len(mine) > 20 or (mine and rand.random() < 0.2):
            return "DELETE", f"{SERVICES}/{mine.pop(rand.randrange(len(mine)))}"
        written = self.attack.written_before()
        ip = None
        if written and rand.random() < 0.2:
            ip = rand.choice(written)
        elif rand.random() < 0.5:
            ip = f"10.96.1.{rand.randrange(10, 100)}"
        return "POST", SERVICES, service(name, clusterIP=ip)


class AttackTest(AuditCase):
    FLAGS = ("--service-cluster-ip-range=10.96.0.0/22", "--auditor-interval=1")

    def attack(self, clients, seconds):
        self.start(replicas=3)
        begin = version(self.done("GET", SERVICES, server=self.one))
        attack = Attack(self.store, self.one)
        load = Clients(self.replicas, attack)

        def attacker():
            end = time.monotonic() + seconds
            try:
                # A slow machine gets more time, so that each kind of attack happens.
                while time.monotonic() < end or (
                        not all(attack.count.values()) and time.monotonic() < end + 30):
                    if time.monotonic() > end - seconds / 2:
                        self.kill_once()
                    attack.step()
            finally:
                load.stop.set()
        in_threads(clients + 1, lambda i: attacker() if i == clients else load.run(i))
        # Clients may have deleted all originals of doubled Services. They leave this one alone.
        self.made(service("c-kept"), server=self.one)
        self.assertTrue(self.store.copy_service("c-kept", "d-kept"))
        self.made(service("last", clusterIP="None"), server=self.one)
        self.check_history(begin)
        print(f"{attack.count}; answers to clients: {load.codes}", file=sys.stderr)
        self.assertGreater(min(attack.count.values()), 0)
        self.assertLessEqual(set(load.codes), {"none", 200, 201, 404, 422})
        self.check_found()

    def kill_once(self):
        if self.killed:
            return
        self.killed = True
        old = self.replicas[2]
        old.process.kill()
        old.process.wait()
        self.replicas[2] = self.server(*self.flags, data="data2", port=old.port)

    def setUp(self):
        super().setUp()
        self.killed = False

    def check_history(self, begin):
        """Checks that no Service of a client got an address that another Service had."""
        owners, held_by = {}, {}
        for event in history(self.one, SERVICES, begin, "last"):
            name = event["object"]["metadata"]["name"]
            now = set() if event["type"] == "DELETED" else held(event["object"])[0]
            before = held_by.get(name, set())
            for ip in now - before:
                others = owners.setdefault(ip, set())
                if name.startswith("c-"):
                    self.assertEqual(others, set(), f"{name} got {ip}: {event}")
                others.add(name)
            for ip in before - now:
                owners[ip].discard(name)
            held_by[name] = now

    def check_found(self):
        """Checks that every replica finds the values with two owners, and nothing else after what
        can be repaired was repaired. Then decides, and all is well."""
        owners = {}
        for (_, name), each in self.services(self.one).items():
            for ip in held(each)[0]:
                owners.setdefault(ip, []).append(name)
        twice = {ip: names for ip, names in owners.items() if len(names) > 1}
        self.assertGreater(len(twice), 0)
        for server in self.replicas:
            found = self.passed(server)["findings"]
            self.assertEqual({each["value"] for each in found if each["kind"] == "TwoOwners"},
                             set(twice))
        for names in twice.values():
            for name in sorted(names)[1:]:
                self.done("DELETE", f"{SERVICES}/{name}", server=self.one)
        self.check_all_is_well()

    def test_attack(self):
        self.attack(clients=16, seconds=5)

    @long
    def test_long_attack(self):
        self.attack(clients=32, seconds=40)


if __name__ == "__main__":
    main()
