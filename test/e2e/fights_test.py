"""64 clients compete for the 14 addresses of a /28 and for 16 ports, on one server and on two. The
commits are read again as a history of revisions, and every answer is compared with it.

    BERTH_BIN=build/release/berth python3 test/e2e/fights_test.py

FIGHT_SECONDS is how long each fight lasts (default 3), with FIGHT_CLIENTS in the first half and an
eighth of them in the second. FIGHT_SEED repeats the clients' choices.
"""

import bisect
import collections
import os
import random
import re
import sys
import time

from addresses import (ADDRESSES, SERVICES, Audits, Client, balancer, external, held, history,
                       in_threads, service, version)
from harness import Case, main

SECONDS = float(os.environ.get("FIGHT_SECONDS", "3")) / 2
MOST_SECONDS = 60
SEED = int(os.environ.get("FIGHT_SEED", random.randrange(10**6)))
CLIENTS = int(os.environ.get("FIGHT_CLIENTS", "64"))
RANGES = ("--service-cluster-ip-range=10.3.0.0/28", "--service-node-port-range=30000-30015")
IPS = [f"10.3.0.{i}" for i in range(1, 15)]
PORTS = list(range(30000, 30016))
SENTINEL = "192.0.2.1"


def choice(rand, name, update=False):
    """Returns a Service, and how many dynamic ports it wants. An update cannot ask for another
    address."""
    if update and rand.random() < 0.2:
        return external(name), 0
    kind = rand.random()
    if kind < 0.2:
        return service(name), 0
    if kind < 0.5:
        return service(name, "NodePort"), 1
    if kind < 0.7:
        return service(name, "NodePort", 2), 2
    if kind < 0.8:
        return balancer(name, externalTrafficPolicy="Local"), 2
    if kind < 0.9 and not update:
        return service(name, clusterIP=rand.choice(IPS)), 0
    return service(name, "NodePort", [{"port": 80, "nodePort": rand.choice(PORTS)}]), 0


class Write:
    """A committed request, or a refusal."""

    def __init__(self, began, ended, answer, ports=0):
        self.began, self.ended, self.ports = began, ended, ports
        self.answer = answer.json
        self.code = answer.code
        self.revision = None


class Timeline:
    """Which Service had which value at which revision, from the events of a watch."""

    def __init__(self, start, events):
        self.revisions = [start]  # Each state holds from its revision on.
        self.free_ips = [len(IPS)]
        self.free_ports = [len(PORTS)]
        self.spans = collections.defaultdict(list)  # By value: [from, to] in revisions.
        self.deletions = {}  # By uid.
        self.changes = collections.defaultdict(list)  # By address: (revision, Service or None).
        owners, holdings = {}, {}
        by_revision = collections.defaultdict(list)
        for event in events:
            by_revision[version(event["object"])].append(event)
        for revision, these in sorted(by_revision.items()):
            for event in sorted(these, key=lambda each: each["type"] != "DELETED"):
                self.apply(event, revision, owners, holdings)
            self.revisions.append(revision)
            self.free_ips.append(len(IPS) - sum(isinstance(each, str) for each in owners))
            self.free_ports.append(len(PORTS) - sum(isinstance(each, int) for each in owners))

    def apply(self, event, revision, owners, holdings):
        obj = event["object"]
        uid, name = obj["metadata"]["uid"], obj["metadata"]["name"]
        before = holdings.get(uid, set())
        now = set() if event["type"] == "DELETED" else set().union(*held(obj))
        holdings[uid] = now
        if event["type"] == "DELETED":
            self.deletions[uid] = revision
        for value in before - now:
            assert owners.pop(value) == uid, f"{value} was not {name}'s"
            self.spans[value][-1][1] = revision
        for value in now - before:
            owner = owners.setdefault(value, uid)
            assert owner == uid, f"{value} is {name}'s and another's at revision {revision}"
            self.spans[value].append([revision, float("inf")])
        for value in before ^ now:
            if isinstance(value, str):
                self.changes[value].append((revision, name if value in now else None))

    def was_held(self, value, first, end):
        """Returns whether the value was held in any state from `first` to before `end`."""
        return any(since < end and until > first for since, until in self.spans[value])

    def fewest(self, free, first, end):
        since = bisect.bisect_right(self.revisions, first) - 1
        until = max(bisect.bisect_left(self.revisions, end), since + 1)
        return min(free[since:until])


class Judge:
    """Decides whether a refusal was right at any moment between request and answer."""

    def __init__(self, timeline, writes):
        self.timeline = timeline
        done = sorted((write.ended, write.revision) for write in writes)
        self.ends = [each[0] for each in done]
        self.newest = [max(each) for each in self.running(revision for _, revision in done)]
        begun = sorted(((write.began, write.revision) for write in writes), reverse=True)
        self.begins = [-each[0] for each in begun]
        self.oldest = [min(each) for each in self.running(revision for _, revision in begun)]

    @staticmethod
    def running(revisions):
        """Returns pairs of the minimum and the maximum so far."""
        low, high = float("inf"), 0
        for revision in revisions:
            low, high = min(low, revision), max(high, revision)
            yield low, high

    def window(self, refusal):
        """Returns the range of states that a refusal may be based on: not older than what was
        answered before the request, and not newer than what was asked for after the answer."""
        before = bisect.bisect_left(self.ends, refusal.began)
        first = self.newest[before - 1] if before else self.timeline.revisions[0]
        after = bisect.bisect_left(self.begins, -refusal.ended)
        end = self.oldest[after - 1] if after else float("inf")
        return first, end

    def is_right(self, refusal):
        first, end = self.window(refusal)
        message = refusal.answer["message"]
        taken = re.search(r"(?:failed to allocate IP |nodePort: Invalid value: )(\S+): provided \w+"
                          " is already allocated", message)
        if refusal.code == 422 and taken:
            value = taken[1] if "." in taken[1] else int(taken[1])
            return self.timeline.was_held(value, first, end)
        if refusal.code != 500:
            return False
        if "failed to allocate a serviceIP" in message:
            return self.timeline.fewest(self.timeline.free_ips, first, end) == 0
        return "range is full" in message and \
            self.timeline.fewest(self.timeline.free_ports, first, end) < refusal.ports


class FightTest(Audits, Case):

    def client(self, servers, number, is_over, writes, refusals):
        rand = random.Random(SEED + number)
        client = Client(servers[number % len(servers)])
        mine = {}
        for i in range(10**9):
            if is_over():
                break
            kind = rand.random()
            name = rand.choice(list(mine)) if mine and kind < 0.5 else f"s{number}-{i}"
            if name in mine and kind < 0.35:
                self.remove(client, name, mine.pop(name), writes)
                continue
            body, ports = choice(rand, name, name in mine)
            began = time.monotonic()
            answer = client.call("PUT", f"{SERVICES}/{name}", body) if name in mine else \
                client.call("POST", SERVICES, body)
            write = Write(began, time.monotonic(), answer, ports)
            if write.code not in (200, 201):
                refusals.append(write)
                continue
            write.revision = version(write.answer)
            if name not in mine or write.revision > version(mine[name]):
                writes.append(write)
            mine[name] = write.answer
        client.close()

    def remove(self, client, name, made, writes):
        began = time.monotonic()
        answer = client.call("DELETE", f"{SERVICES}/{name}")
        self.assertEqual(answer.code, 200, answer)
        write = Write(began, time.monotonic(), answer)
        write.answer = made
        writes.append(write)

    def fight(self, *servers):
        self.server = servers[0]
        # With few clients, the state between request and answer is known more exactly.
        for clients in (CLIENTS, max(CLIENTS // 8, 2)):
            self.round(servers, clients)
            self.remove_all([name for _, name in self.services() if name != "kubernetes"])
            self.done("DELETE", f"{ADDRESSES}/{SENTINEL}")
            for server in servers:
                self.assertEqual((list(self.address_records(server)), self.port_records(server)),
                                 (["10.3.0.1"], {}))
        self.finish(servers)

    def round(self, servers, clients):
        started = version(self.server.call("GET", SERVICES).json)
        first = list(self.services().values())
        writes, refusals = [], []
        began = time.monotonic()

        def competed():
            codes = {each.code for each in refusals}
            return len(writes) > clients and 500 in codes and 422 in codes

        def is_over():
            # On a busy machine the clients go on until they have really competed.
            passed = time.monotonic() - began
            return passed > SECONDS and competed() or passed > MOST_SECONDS

        in_threads(clients, lambda i: self.client(servers, i, is_over, writes, refusals))
        for server in servers:
            self.audit(server)
        timeline = self.timeline(started, first)
        for write in writes:
            if write.revision is None:
                write.revision = timeline.deletions[write.answer["metadata"]["uid"]]
        judge = Judge(timeline, writes)
        wrong = [(each.code, each.answer["message"], judge.window(each)) for each in refusals
                 if not judge.is_right(each)]
        codes = collections.Counter(each.code for each in refusals)
        print(f"\n{self.id().rsplit('.', 1)[-1]}, seed {SEED}: {clients} clients, "
              f"{len(writes)} writes, {codes[500]} times full, {codes[422]} times taken",
              file=sys.stderr)
        self.assertEqual(wrong, [], f"{len(wrong)} of {len(refusals)} refusals")
        self.assertTrue(competed())

    def timeline(self, started, first):
        """Returns the timeline of the Services. The records of addresses follow them."""
        self.made(service("sentinel", clusterIP="None"))
        self.made({"metadata": {"name": SENTINEL},
                   "spec": {"parentRef": {"resource": "things", "name": "x"}}}, ADDRESSES)
        events = history(self.server, SERVICES, started, "sentinel")
        at_start = [{"type": "ADDED", "object": each} for each in first]
        timeline = Timeline(started, at_start + events[:-1])
        records = collections.defaultdict(list)
        for event in history(self.server, ADDRESSES, started, SENTINEL)[:-1]:
            obj = event["object"]
            owner = obj["spec"]["parentRef"]["name"] if event["type"] == "ADDED" else None
            records[obj["metadata"]["name"]].append((version(obj), owner))
        for ip, changes in records.items():
            theirs = [each for each in timeline.changes[ip] if each[0] > started]
            self.assertEqual([owner for _, owner in changes], [owner for _, owner in theirs], ip)
            for (mine, _), (its, _) in zip(changes, theirs):
                low, high = sorted((mine, its))
                between = timeline.revisions[bisect.bisect_right(timeline.revisions, low):
                                             bisect.bisect_left(timeline.revisions, high)]
                self.assertEqual(between, [], "in one transaction with its Service")
        self.assertLessEqual(set(timeline.changes) - {"10.3.0.1"}, set(records))
        return timeline

    def finish(self, servers):
        """Checks that the last free value can be taken, and that one more cannot."""
        other = servers[-1]
        free = set(IPS) - set(self.address_records())
        for i in range(len(free)):
            self.made(service(f"fill-{i}"), server=servers[i % len(servers)])
        for server in servers:
            self.refused(500, "range is full", "POST", SERVICES, service("more"), server=server)
        self.remove_all([name for (_, name), each in self.services().items()
                         if held(each)[0] and name != "kubernetes"][:1])
        last, = set(IPS) - set(self.address_records(other))
        self.made(service("last", clusterIP=last), server=other)
        self.refused(500, "range is full", "POST", SERVICES, service("more"))

        self.remove_all([name for _, name in self.services() if name != "kubernetes"])
        for i in range(8):
            self.made(service(f"p{i}", "NodePort", 2), server=servers[i % len(servers)])
        for server in servers:
            self.refused(500, "failed to allocate a nodePort: range is full", "POST", SERVICES,
                         service("more", "NodePort"), server=server)
            self.audit(server)

    def remove_all(self, names):
        for name in names:
            self.done("DELETE", f"{SERVICES}/{name}")

    def test_one_server(self):
        self.fight(self.server(*RANGES))

    def test_one_server_on_etcd(self):
        self.fight(self.server("--etcd-servers", self.etcd().url, *RANGES))

    def test_two_servers_on_etcd(self):
        url = self.etcd().url
        self.fight(*(self.server("--etcd-servers", url, *RANGES, data=name)
                     for name in ("one", "two")))


if __name__ == "__main__":
    main()
