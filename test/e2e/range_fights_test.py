"""Ranges that shrink, grow, are deleted and created again while clients create and delete Services
in them, on one server and on two; and a server that dies in the middle of a shrink.

    BERTH_BIN=build/release/berth python3 test/e2e/range_fights_test.py

FIGHT_SECONDS is how long each fight lasts (default 3). FIGHT_PAUSE is how long operators wait at
most between two changes (default 0). FIGHT_SEED repeats the choices.
"""

import base64
import collections
import ipaddress
import os
import random
import re
import socket
import sys
import threading
import time

from addresses import MERGE, SERVICES, Client, held, history, in_threads, service, version
from harness import Case, main, wait_for
from ranges import (CIDRS, IP_RANGES, NODE_PORTS, PORT_RANGES, PORTS, RESERVATIONS, V4, Ranges,
                    address, ip_range, port_range, port_reservation, reservation)

SECONDS = float(os.environ.get("FIGHT_SECONDS", "3"))
SEED = int(os.environ.get("FIGHT_SEED", random.randrange(10**6)))
PAUSE = float(os.environ.get("FIGHT_PAUSE", "0"))
CLIENTS = 14
FITTING = ("drawn", "inside")
OUTSIDE = "would be outside of every range"

# Each range alternates between these two. Picked values lie in the upper part, which both have.
# Clients ask for values in the lower part of either.
LARGE_IPS, SMALL_IPS = ({"range": "10.3.0.0/24", "staticBand": 144},
                        {"range": "10.3.0.128/25", "staticBand": 16})
LARGE_PORTS, SMALL_PORTS = ({"range": "20000-20255", "staticBand": 144},
                            {"range": "20128-20255", "staticBand": 16})


def usable(text):
    """Returns the first and last value of a range, as numbers."""
    if "." not in text:
        first, _, last = text.partition("-")
        return int(first), int(last or first)
    network = ipaddress.ip_network(text)
    return int(network[1]), int(network[-2])


def values_of(obj):
    ips, ports = held(obj)
    return {("ip", int(ipaddress.ip_address(ip))) for ip in ips} | {("port", p) for p in ports}


class Gate:
    """A range that is made smaller (or deleted) and larger (or created) again and again. A refusal
    of one of its values is right if the range was closed at any moment between request and answer.
    """

    def __init__(self, path, name, large, small=None):
        self.path, self.name, self.large, self.small = path, name, large, small
        self.closed = []  # [from, to]
        self.counts = collections.Counter()

    def change(self, client, spec):
        if self.small:
            return client.call("PATCH", f"{self.path}/{self.name}", {"spec": spec}, MERGE)
        if spec is None:
            return client.call("DELETE", f"{self.path}/{self.name}")
        return client.call("POST", self.path, {"metadata": {"name": self.name}, "spec": spec})

    def work(self, servers, over, rand):
        clients = [Client(server) for server in servers]
        while not over():
            began = time.monotonic()
            answer = self.change(rand.choice(clients), self.small)
            if answer.code in (409, 422):
                assert OUTSIDE in answer.json["message"], answer
                self.counts["refused"] += 1
                time.sleep(rand.random() * PAUSE)
                continue
            assert answer.code == 200, answer
            self.counts["closed"] += 1
            self.closed.append([began, float("inf")])
            time.sleep(rand.random() * PAUSE)
            answer = self.change(rand.choice(clients), self.large)
            assert answer.code in (200, 201), answer
            self.closed[-1][1] = time.monotonic()
            time.sleep(rand.random() * PAUSE)
        for client in clients:
            client.close()

    def was_closed(self, began, ended):
        return any(since < ended and until > began for since, until in self.closed)


class FightCase(Ranges, Case):

    def prepare(self, server, cool_down):
        """Configures the ranges so that picks come from those that change."""
        self.server = server
        more = {"strict": True, **({"coolDownSeconds": cool_down} if cool_down else {})}
        self.changed(IP_RANGES, V4, priority=0)
        self.made(ip_range("fight", "10.3.0.0/24", staticBand=144, priority=10, **more), IP_RANGES)
        self.made(port_range("fight", "20000-20255", staticBand=144, **more), PORT_RANGES)
        self.changed(PORT_RANGES, PORTS, priority=-1)
        self.made(ip_range("extra", "10.4.0.0/27", priority=-1, **more), IP_RANGES)
        return [Gate(IP_RANGES, "fight", LARGE_IPS, SMALL_IPS),
                Gate(PORT_RANGES, "fight", LARGE_PORTS, SMALL_PORTS),
                Gate(IP_RANGES, "extra", {"range": "10.4.0.0/27", "priority": -1, **more})]

    def client(self, servers, gates, number, over, counts):
        """Each client asks only for its own values, so that no value is ever taken already."""
        rand = random.Random(SEED + number)
        client = Client(servers[number % len(servers)])
        mine = collections.deque()
        ips, ports, extra = gates
        for i in range(10**9):
            if over():
                break
            while len(mine) > 2 or mine and rand.random() < 0.5:
                answer = client.call("DELETE", f"{SERVICES}/{mine.popleft()}")
                self.assertEqual(answer.code, 200, answer)
            kinds = {
                "drawn": (None, service(f"d{number}-{i}", "NodePort")),
                "inside": (None, service(f"i{number}", "NodePort", [{
                    "port": 80, "nodePort": 20129 + number}], clusterIP=f"10.3.0.{129 + number}")),
                "address": (ips, service(f"a{number}", clusterIP=f"10.3.0.{1 + number}")),
                "port": (ports, service(f"p{number}", "NodePort", [{
                    "port": 80, "nodePort": 20000 + number}])),
                "extra": (extra, service(f"e{number}", clusterIP=f"10.4.0.{1 + number}"))}
            # If all clients did this, there would hardly be a moment without a value outside.
            gate, body = kinds[rand.choice(list(kinds) if number % 3 == 0 else FITTING)]
            if body["metadata"]["name"] in mine:
                continue
            began = time.monotonic()
            answer = client.call("POST", SERVICES, body)
            ended = time.monotonic()
            counts["slowest"] = max(counts["slowest"], ended - began)
            if answer.code == 201:
                mine.append(body["metadata"]["name"])
                counts["made"] += 1
                continue
            # Values that fit before and after are never refused.
            self.assertIsNotNone(gate, answer)
            self.assertEqual(answer.code, 422, answer)
            self.assertRegex(answer.json["message"], "does not match the current range|"
                             "provided port is not in the valid range")
            counts["refusals"].append((gate, began, ended))
        client.close()

    def fight(self, *servers, cool_down=0, kept=0):
        """`kept` is the number of clients that have a reservation for their permanent values."""
        gates = self.prepare(servers[0], cool_down)
        for i in range(kept):
            self.made(reservation(f"10.3.0.{129 + i}", f"default/i{i}"), RESERVATIONS)
            self.made(port_reservation(20129 + i, f"default/i{i}"), NODE_PORTS)
        listed = {path: servers[0].call("GET", path).json
                  for path in (SERVICES, IP_RANGES, PORT_RANGES)}
        counts = {"made": 0, "slowest": 0.0, "refusals": []}
        begin = time.monotonic()

        def over():
            """Returns whether the fight may end: each range was closed and refused at least once."""
            passed = time.monotonic() - begin
            enough = all(gate.counts["closed"] and gate.counts["refused"] for gate in gates)
            return passed > (SECONDS if enough else 10 * SECONDS)

        def work(number):
            if number < len(gates):
                gates[number].work(servers, over, random.Random(SEED - number - 1))
            else:
                self.client(servers, gates, number - len(gates), over, counts)
        in_threads(len(gates) + CLIENTS, work)
        for server in servers:
            self.audit(server)
        wrong = [(gate.name, began, ended) for gate, began, ended in counts["refusals"]
                 if not gate.was_closed(began, ended)]
        self.assertEqual(wrong, [])
        changes = self.replay(listed)
        print(f"\n{self.id().rsplit('.', 1)[-1]}, seed {SEED}: {counts['made']} Services, "
              f"{len(counts['refusals'])} refused, the slowest took "
              f"{1000 * counts['slowest']:.0f} ms; " +
              ", ".join(f"{gate.path.rsplit('/', 1)[-1]} {gate.name} closed "
                        f"{gate.counts['closed']} times, refused {gate.counts['refused']} times"
                        for gate in gates) + f"; {changes} changes of ranges", file=sys.stderr)
        self.assertGreater(counts["made"], CLIENTS)
        for gate in gates:
            self.assertGreater(gate.counts["closed"], 0)
            self.assertGreater(gate.counts["refused"], 0)
        for server in servers:
            for path in (IP_RANGES, PORT_RANGES):
                self.counts_are_right(path, "fight", server)
        self.clean_up(kept)

    def clean_up(self, kept):
        """Checks that in the end only reservations have records."""
        for _, name in self.services():
            if name != "kubernetes":
                self.done("DELETE", f"{SERVICES}/{name}")
        for path, reserved in ((RESERVATIONS, kept + 1), (NODE_PORTS, kept)):
            wait_for(lambda p=path, n=reserved: len(self.server.call("GET", p).json["items"]) == n,
                     10)
        for path in (IP_RANGES, PORT_RANGES):
            self.status(path, "fight", used=0, reserved=kept, cooling=0)

    def replay(self, listed):
        """Checks that at each revision, every value of a Service lies in an existing range. Returns
        how often ranges changed."""
        self.made(service("sentinel", clusterIP="None"))
        self.made(ip_range("sentinel", "192.0.2.0/24"), IP_RANGES)
        self.made(port_range("sentinel", "9"), PORT_RANGES)
        events = []
        for path, before in listed.items():
            start = version(before)
            events += [(0, {"type": "ADDED", "object": each}, path) for each in before["items"]]
            events += [(version(event["object"]), event, path)
                       for event in history(self.server, path, start, "sentinel")]
        spans, holdings, changes = {}, {}, 0
        for revision, group in self.by_revision(events):
            for event, path in group:
                obj = event["object"]
                uid, gone = obj["metadata"]["uid"], event["type"] == "DELETED"
                if path == SERVICES:
                    holdings[uid] = set() if gone else values_of(obj)
                    continue
                kind = "ip" if path == IP_RANGES else "port"
                span = None if gone else (kind, *usable(obj["spec"]["range"]))
                changes += span != spans.get(uid)
                spans[uid] = span
            if all(path == SERVICES for _, path in group):
                held_now = set().union(*(values_of(event["object"]) for event, _ in group
                                         if event["type"] != "DELETED"))
            else:
                held_now = set().union(*holdings.values())
            outside = [value for value in held_now if not any(
                span and span[0] == value[0] and span[1] <= value[1] <= span[2]
                for span in spans.values())]
            self.assertEqual(outside, [], f"at revision {revision}")
        return changes

    @staticmethod
    def by_revision(events):
        groups = collections.defaultdict(list)
        for revision, event, path in events:
            groups[revision].append((event, path))
        return sorted(groups.items())


class RangeFightTest(FightCase):

    def test_one_server(self):
        self.fight(Case.server(self))

    def test_one_server_on_etcd(self):
        self.fight(Case.server(self, "--etcd-servers", self.etcd().url))

    def test_two_servers_on_etcd(self):
        url = self.etcd().url
        self.fight(*(Case.server(self, "--etcd-servers", url, data=name)
                     for name in ("one", "two")))

    def test_values_that_cool_down_or_are_kept(self):
        self.fight(Case.server(self), cool_down=1, kept=CLIENTS // 2)

    def test_values_that_cool_down_or_are_kept_on_two_servers(self):
        url = self.etcd().url
        self.fight(*(Case.server(self, "--etcd-servers", url, data=name)
                     for name in ("one", "two")), cool_down=1, kept=CLIENTS // 2)

    def test_two_operators_want_different_things(self):
        """Several clients change one range at once: the changes are made in turn, and none is lost
        or refused."""
        url = self.etcd().url
        servers = [Case.server(self, "--etcd-servers", url, data=name) for name in ("one", "two")]
        first = self.get(IP_RANGES, V4, servers[0])["metadata"]["generation"]
        accepted = []

        def operate(number):
            client = Client(servers[number % 2])
            for i in range(10):
                size = 16 + (number + i) % 8
                answer = client.call("PATCH", f"{IP_RANGES}/{V4}",
                                     {"spec": {"range": f"10.96.0.0/{size}"}}, MERGE)
                self.assertEqual(answer.code, 200, answer)
                accepted.append(answer.json["metadata"]["generation"])
            client.close()
        in_threads(4, operate)
        last = self.get(IP_RANGES, V4, servers[1])
        self.assertEqual(max(accepted), last["metadata"]["generation"])
        self.assertEqual(set(range(first + 1, last["metadata"]["generation"] + 1)),
                         set(accepted) - {first})
        for server in servers:
            cidrs = self.get(CIDRS, "kubernetes", server)
            self.assertEqual(cidrs["spec"]["cidrs"], [last["spec"]["range"]])
            self.made(service(f"s{server.port}"), server=server)


class SlowLink:
    """Forwards bytes between a server and its etcd. Each piece to etcd is delayed by `delay`
    seconds, and is dropped once the link is cut."""

    def __init__(self, target):
        self.target, self.delay, self.cut = target, 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.join, args=(near,), daemon=True).start()

    def join(self, near):
        with near, socket.create_connection(self.target) as far:
            back = threading.Thread(target=self.pump, args=(far, near, False), daemon=True)
            back.start()
            self.pump(near, far, True)
            back.join()

    def pump(self, source, sink, slow):
        try:
            while data := source.recv(65536):
                if slow and self.delay:
                    time.sleep(self.delay)
                if not self.cut:
                    sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # Wakes the thread up.
        self.listener.close()


class DeathTest(Ranges, Case):

    @staticmethod
    def is_closed(etcd, pool="ipv4"):
        """Returns whether a change of ranges is in progress, according to etcd."""
        key = base64.b64encode(f"/registry/berth.io/fence/{pool}".encode()).decode()
        return any(b'"closing"' in base64.b64decode(each["value"])
                   for each in etcd.post("kv/range", key=key).get("kvs", []))

    def test_a_replica_dies_in_the_middle_of_a_shrink(self):
        etcd = self.etcd()
        host, port = re.match(r"http://(.*):(\d+)", etcd.url).groups()
        link = SlowLink((host, int(port)))
        self.addCleanup(link.close)
        flags = ("--service-cluster-ip-range=10.0.0.0/24",)
        self.server = living = Case.server(self, "--etcd-servers", etcd.url, *flags, data="one")
        dying = Case.server(self, "--etcd-servers", link.url, *flags, data="two")
        link.delay = 0.2
        outcome = []

        def shrink():
            try:
                outcome.append(dying.call("PATCH", f"{IP_RANGES}/{V4}",
                                          {"spec": {"range": "10.0.0.0/25"}}, MERGE).code)
            except OSError:
                outcome.append("cut off")
            except Exception as error:  # pylint: disable=broad-except
                outcome.append(type(error).__name__)
        thread = threading.Thread(target=shrink)
        thread.start()
        wait_for(lambda: self.is_closed(etcd), 10)
        link.cut = True  # What it has sent meanwhile must not arrive.
        dying.process.kill()
        dying.process.wait()
        died = time.monotonic()
        thread.join()
        self.assertNotEqual(outcome, [200])
        self.assertTrue(self.is_closed(etcd))

        # Requests that fit the intended range continue meanwhile. Others wait, and are not refused.
        for i in range(5):
            self.made(service(f"in-{i}", clusterIP=f"10.0.0.{2 + i}"))  # Not a picked one.
            self.made(service(f"drawn-{i}"))
        self.assertTrue(self.is_closed(etcd))
        self.made(service("out", clusterIP="10.0.0.200"))
        took = time.monotonic() - died
        self.assertFalse(self.is_closed(etcd))
        print(f"\nopened {took:.1f} s after the other died", file=sys.stderr)
        self.assertEqual(self.get(IP_RANGES, V4)["spec"]["range"], "10.0.0.0/24")
        answer = self.change(IP_RANGES, V4, range="10.0.0.0/25")
        self.assertEqual(answer.code, 422, answer)
        self.assertIn("10.0.0.200 (Service default/out)", answer.json["message"])
        self.done("DELETE", f"{SERVICES}/out")
        for i in range(5):
            self.done("DELETE", f"{SERVICES}/drawn-{i}")
        self.resized(V4, "10.0.0.0/25", server=living)
        self.audit()

    def test_a_server_with_its_own_store_dies_at_any_moment_of_one(self):
        """Afterwards the range has one of the two sizes, and is not closed for long."""
        rand = random.Random(SEED)
        flags = ("--service-cluster-ip-range=10.0.0.0/24",)
        self.server = Case.server(self, *flags)
        for i in range(6):
            name = self.made(service(f"s{i}", clusterIP=f"10.0.0.{20 + i}"))["metadata"]["name"]
            server = self.server

            def shrink(server=server):
                try:
                    for size in (25, 24) * 50:
                        server.call("PATCH", f"{IP_RANGES}/{V4}",
                                    {"spec": {"range": f"10.0.0.0/{size}"}}, MERGE)
                except Exception:  # pylint: disable=broad-except
                    pass  # It is dead.
            thread = threading.Thread(target=shrink)
            thread.start()
            time.sleep(0.05 + rand.random() * 0.05)
            server.process.kill()
            server.process.wait()
            thread.join()
            self.server = Case.server(self, *flags)
            shown = self.get(IP_RANGES, V4)
            self.assertIn(shown["spec"]["range"], ("10.0.0.0/24", "10.0.0.0/25"))
            self.assertEqual(self.get(CIDRS,
                                      "kubernetes")["spec"]["cidrs"], [shown["spec"]["range"]])
            self.assertEqual(shown["status"]["used"], i + 2)
            self.assertEqual(address(self.get(SERVICES, name)), f"10.0.0.{20 + i}")
        self.resized(V4, "10.0.0.0/24")
        self.made(service("out", clusterIP="10.0.0.200"))
        self.audit()


if __name__ == "__main__":
    main()
