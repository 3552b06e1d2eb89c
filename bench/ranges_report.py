"""Measures ranges and allocations as objects, and prints the figures with their bars.

Compared servers run at the same time and take turns, and the order alternates. A ratio is the
median of the ratios of the rounds, so that other load on the machine hardly matters.
"""
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "e2e"))

import harness
import tools
from addresses import MERGE
from ranges import IP_RANGES, PORT_RANGES, PORTS, V4, ip_range
from services_report import Bench, allocated, median, post_all, resting_memory, wrong
from store_report import verdict

ROUNDS = 5
SECONDS = 2
CONNECTIONS = (64, 256)
ANY_NUMBER = ("--max-mutating-requests-inflight", "0")

FORMS_BAR = 1.0
BITMAPS = "--feature-gates=ClusterIPAllocatorAPI=false"
# The default, and the largest range that bitmaps support.
FORM_RANGES = ("10.96.0.0/16", "10.96.0.0/12")

MANY = 1_000
MANY_BAR = 0.90
MILLION = 1_000_000
MANY_CONNECTIONS = 64
MANY_ROUNDS = 15
MANY_SECONDS = 2
WIDE = "10.0.0.0/8"

STORED = (10, 1_000, 100_000)
STORED_PORTS = (10, 1_000)
COOL_DOWNS = (0, 60)
# A Service and its address; with a node port, the port too.
STORED_BARS = {"ClusterIP": 2, "NodePort": 3}
KEPT_KINDS = ("services", "ipaddresses", "nodeports.allocation.berth.io")


# --- Shared by the reports -----------------------------------------------------------------------


def cpu_seconds(server):
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(run, server):
    """Returns the result of `run`, with the server's processor time per request added."""
    before = cpu_seconds(server)
    load = run()
    load.cpu_us = (cpu_seconds(server) - before) / load.requests * 1e6
    return load


def in_turn(rounds, one, other):
    """Runs both `rounds` times. The order alternates. Returns a list of results for each."""
    loads = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            loads[which].append((one, other)[which]())
    return loads


def ratio(loads, others):
    return statistics.median(a.rate / b.rate for a, b in zip(loads, others))


def patch(server, path, **spec):
    answer = server.call("PATCH", path, {"spec": spec}, MERGE)
    assert answer.code == 200, answer


def delete_services(server, namespace="default"):
    """Deletes all Services at once, except the one of the server itself."""
    answer = server.call("DELETE", f"/api/v1/namespaces/{namespace}/services"
                         "?fieldSelector=metadata.name!%3Dkubernetes")
    assert answer.code == 200, answer


# --- Records and bitmaps -------------------------------------------------------------------------


def report_forms(bench):
    print("\nFORMS: creates with allocations in records (ClusterIPAllocatorAPI, the default) and "
          "in bitmaps")
    print(f"  {'store':>8} {'range':>13} {'connections':>12} {'records /s':>11} {'bitmaps /s':>11} "
          f"{'ratio':>6} {'p99 ms':>12} {'server µs each':>15}")
    for cidr in FORM_RANGES:
        with bench.server(cidr, flags=ANY_NUMBER) as on, \
                bench.server(cidr, flags=[*ANY_NUMBER, BITMAPS]) as off:
            compare_forms(bench, "embedded", cidr, on, off)
    if not shutil.which("etcd"):
        return print("  etcd is not installed")
    cidr = FORM_RANGES[0]
    with bench.etcd() as one, bench.etcd() as other, \
            bench.server(cidr, etcd=one, flags=ANY_NUMBER) as on, \
            bench.server(cidr, etcd=other, flags=[*ANY_NUMBER, BITMAPS]) as off:
        compare_forms(bench, "etcd", cidr, on, off)
    return None


def compare_forms(bench, store, cidr, on, off):
    for server in (on, off):
        post_all(server, "/api/v1/namespaces", [{"metadata": {"name": "bench"}}])
    for connections in CONNECTIONS:
        records, bitmaps = in_turn(ROUNDS, lambda: fresh_creates(bench, on, connections),
                                   lambda: fresh_creates(bench, off, connections))
        share = ratio(records, bitmaps)
        late, cost = (f"{median(records, field):.0f} / {median(bitmaps, field):.0f}"
                      for field in ("p99", "cpu_us"))
        print(f"  {store:>8} {cidr:>13} {connections:>12} {median(records):>11,.0f} "
              f"{median(bitmaps):>11,.0f} {share:>6.2f} {late:>12} {cost:>15}  "
              f"{verdict(share >= FORMS_BAR)} (bar: {FORMS_BAR:g}){wrong(records + bitmaps)}",
              flush=True)


def fresh_creates(bench, server, connections):
    """Measures creates in a range that is empty before and after."""
    load = measured(lambda: bench.create(server, connections, SECONDS, "bench"), server)
    delete_services(server, "bench")
    return load


# --- Stored objects ------------------------------------------------------------------------------


def stored_keys(server):
    """Returns {kind: number of keys} of a running server."""
    with tempfile.TemporaryDirectory() as folder:
        saved = os.path.join(folder, "now.snap")
        berth = [harness.BERTH, "snapshot"]
        subprocess.run([*berth, "save", "--data-dir", server.data_dir, saved], check=True,
                       capture_output=True)
        status = subprocess.run([*berth, "status", "-o", "json", saved], check=True,
                                capture_output=True).stdout
    return {each["kind"]: each["keys"] for each in json.loads(status)["kinds"]}


class Stock:
    """Services that were created and deleted, and their objects in the store."""

    def __init__(self, bench, stack, kind, count, cool_down):
        self.kind, self.count, self.cool_down = kind, count, cool_down
        self.server = stack.enter_context(bench.server(WIDE))
        for path in (f"{IP_RANGES}/{V4}", f"{PORT_RANGES}/{PORTS}"):
            patch(self.server, path, coolDownSeconds=cool_down)
        self.first = stored_keys(self.server)
        if kind == "ClusterIP":
            bench.fill(self.server, allocated(self.server) + count)
        else:
            bench.make(self.server, count, type=kind)
        self.there = self.added()
        delete_services(self.server)
        self.deleted = time.monotonic()
        self.left = self.added()
        self.gone_after = None if any(self.left.values()) else 0

    def added(self):
        now = stored_keys(self.server)
        return {kind: now.get(kind, 0) - self.first.get(kind, 0) for kind in {*now, *self.first}}

    def look(self):
        """Returns whether all objects are gone, and notes when."""
        if self.gone_after is None and not any(self.added().values()):
            self.gone_after = time.monotonic() - self.deleted
        return self.gone_after is not None

    def line(self):
        each = " ".join(f"{self.there.get(kind, 0) / self.count:>10.2f}" for kind in KEPT_KINDS)
        total, bar = sum(self.there.values()) / self.count, STORED_BARS[self.kind]
        left = sum(self.left.values())
        gone = "never" if self.gone_after is None else f"{self.gone_after:.0f} s"
        fine = (total <= bar and self.gone_after is not None
                and (left == 0 if self.cool_down == 0 else left <= (bar - 1) * self.count))
        return (f"  {self.kind:>10} {self.count:>9,} {self.cool_down:>7} s {each} {total:>7.2f} "
                f"{left:>13,} {gone:>10}  {verdict(fine)} (bar: {bar})")


def report_stored(bench):
    print("\nSTORED: objects per Service, what is left right after all are deleted at once, and "
          "when that is gone")
    print(f"  {'':>10} {'Services':>9} {'cool-down':>9} {'Service':>10} {'IPAddress':>10} "
          f"{'NodePort':>10} {'in all':>7} {'left in store':>13} {'gone after':>10}")
    with contextlib.ExitStack() as stack:
        stocks = [Stock(bench, stack, kind, count, cool_down)
                  for cool_down in reversed(COOL_DOWNS)
                  for kind, counts in (("ClusterIP", STORED), ("NodePort", STORED_PORTS))
                  for count in reversed(counts)]
        deadline = time.monotonic() + max(COOL_DOWNS) + harness.PATIENCE
        while not all([stock.look() for stock in stocks]) and time.monotonic() < deadline:
            time.sleep(1)
        for stock in sorted(stocks, key=lambda each: (each.kind, each.count, each.cool_down)):
            print(stock.line(), flush=True)


# --- A thousand ranges ---------------------------------------------------------------------------


def block(number):
    """Returns one of the 4,096 /20s of 10.0.0.0/8."""
    return f"10.{number >> 4}.{(number & 15) << 4}.0/20"


def range_name(number):
    return f"block-{number:04}"


def listed_ranges(server):
    """Returns (objects, milliseconds)."""
    begin = time.perf_counter()
    answer = server.call("GET", IP_RANGES)
    return answer.json["items"], (time.perf_counter() - begin) * 1e3


def make_ranges(server):
    """Adds MANY - 1 ranges of the same priority, so picks prefer the one with the most free."""
    begin = time.monotonic()
    patch(server, f"{IP_RANGES}/{V4}", priority=0)
    post_all(server, IP_RANGES, (ip_range(range_name(i), block(i)) for i in range(1, MANY)))
    return time.monotonic() - begin


def join_ranges(server):
    """Replaces all ranges by one range that has all their addresses."""
    begin = time.monotonic()
    patch(server, f"{IP_RANGES}/{V4}", range=WIDE)
    for i in range(1, MANY):
        answer = server.call("DELETE", f"{IP_RANGES}/{range_name(i)}")
        assert answer.code == 200, answer
    return time.monotonic() - begin


def report_million(bench):
    print(f"\nMILLION: {MILLION:,} allocations in {MANY:,} ranges, and the same in one")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as copy:
        with bench.server(block(0), folder=folder) as server:
            print(f"  {MANY:,} ranges made in {make_ranges(server):.1f} s", flush=True)
            begin = time.monotonic()
            bench.fill(server, MILLION)
            taken = time.monotonic() - begin
            print(f"  filled by creates in {taken:,.0f} s ({MILLION / taken:,.0f}/s)", flush=True)
            print_counters(server)
            print_lists(server)
            server.terminate()
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        with bench.server(block(0), folder=folder) as many, \
                bench.server(block(0), folder=copy) as one:
            print(f"  ready {many.ready_after:.1f} s after its start, with "
                  f"{resting_memory(many):,.0f} MiB of memory")
            print(f"  joined to one range, on a copy, in {join_ranges(one):.1f} s", flush=True)
            compare_ranges(bench, many, one)
            print_counters(many)


def print_counters(server):
    """Checks that the counts agree with the allocations once the last status is written."""
    begin = time.monotonic()
    wanted = allocated(server)

    def used():
        found = [each["status"] for each in listed_ranges(server)[0] if "status" in each]
        return found if sum(status["used"] for status in found) == wanted else None

    try:
        statuses = harness.wait_for(used)
    except AssertionError:
        found = sum(each.get("status", {}).get("used", 0) for each in listed_ranges(server)[0])
        print(f"  FAIL: {wanted:,} are allocated, but the ranges say {found:,}", flush=True)
        return
    each = [status["used"] for status in statuses]
    whole = all(status["used"] + status["free"] + status["reserved"] + status["cooling"]
                == int(status["total"]) for status in statuses)
    print(f"  status of all ranges together: {sum(each):,} used, which are those allocated, seen "
          f"after {time.monotonic() - begin:.1f} s; {min(each):,} to {max(each):,} in each  "
          f"{verdict(whole)}", flush=True)


def print_lists(server):
    runs = [listed_ranges(server) for _ in range(5)]
    taken = statistics.median(each[1] for each in runs)
    print(f"  LIST of {len(runs[0][0]):,} ranges: {taken:.0f} ms", end="")
    with tempfile.TemporaryDirectory() as home:
        env = harness.environment(HOME=home, KUBECONFIG=server.kubeconfig)
        for _ in range(2):  # The first one also runs discovery.
            begin = time.monotonic()
            lines = subprocess.run([tools.KUBECTL, "get", "ipr"], check=True, env=env,
                                   capture_output=True, text=True).stdout.splitlines()
            taken = time.monotonic() - begin
    return print(f"; kubectl get ipr: {taken * 1e3:.0f} ms, {len(lines):,} lines", flush=True)


def compare_ranges(bench, many, one):
    def create(server):
        return measured(lambda: bench.create(server, MANY_CONNECTIONS, MANY_SECONDS), server)

    loads, others = in_turn(MANY_ROUNDS, lambda: create(many), lambda: create(one))
    share = ratio(loads, others)
    print(f"  creates, {MANY_CONNECTIONS} connections: {median(loads):,.0f}/s in {MANY:,} ranges, "
          f"{median(others):,.0f}/s in one: {share:.0%}  {verdict(share >= MANY_BAR)} "
          f"(bar: {MANY_BAR:.0%}){wrong(loads + others)}")
    print(f"  of the server's time each: {median(loads, 'cpu_us'):.0f} and "
          f"{median(others, 'cpu_us'):.0f} µs; p99 {median(loads, 'p99'):.0f} and "
          f"{median(others, 'p99'):.0f} ms", flush=True)


REPORTS = {"ranges/forms": report_forms, "ranges/stored": report_stored,
           "ranges/million": report_million}


def report(build, pattern):
    wanted = [run for name, run in REPORTS.items() if pattern.search(name)]
    if wanted:
        print("\nRanges and allocations as objects: servers beside each other, in turn")
    for run in wanted:
        run(Bench(build))
