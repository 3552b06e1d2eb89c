"""Measures how Services get their addresses and prints the figures beside their bars.

TLS and the audit log on, fsync on, server and load on the same cores. Figures that are compared with
each other come from one run, in turn.
"""
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "e2e"))

import harness
from api_report import SCRIPTS, list_once
from store_report import verdict

ROUNDS = 3
SECONDS = 5
WIDE = "10.0.0.0/8"
DUAL = "10.0.0.0/8,fd00::/64"
CHURN_CONNECTIONS = 64

CREATE_BAR = 9_300
CREATE_P99_MS = 26
ETCD_BAR = 4_600
CHURN_BAR = 0.60
GROWTH_BAR = 0.90
ATTEMPTS_BAR = 1.05
MEMORY_BARS_MIB = {10_000: 54, 100_000: 200, 1_000_000: 1536}
LIST_BAR_MS = 1000

KINDS = {"ClusterIP": "", "NodePort": '"type":"NodePort",',
         "dual-stack": '"ipFamilyPolicy":"RequireDualStack",'}


class Load:
    """What wrk says of one run."""

    def __init__(self, server, script, connections, seconds, **env):
        command = ["wrk", "-t2", f"-c{max(connections, 2)}", f"-d{seconds}s", "--latency",
                   "-s", str(SCRIPTS / script), server.url]
        if connections == 1:
            command[1:3] = ["-t1", "-c1"]
        output = subprocess.run(command, check=True, capture_output=True, text=True,
                                env={**os.environ, "TOKEN": server.TOKEN, **env}).stdout
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
        self.requests = int(re.search(r"(\d+) requests in", output)[1])
        self.p50, self.p99 = (self.milliseconds(output, part) for part in ("50%", "99%"))
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
        self.bad = int(bad[1]) if bad else 0

    @staticmethod
    def milliseconds(output, part):
        number, unit = re.search(part + r"\s+([\d.]+)(us|ms|s)", output).groups()
        return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


def wrong(loads):
    bad = sum(load.bad for load in loads)
    return f"  FAIL: {bad} refused" if bad else ""


class Bench:
    def __init__(self, build):
        harness.BERTH = str(build / "berth")
        self.runs = 0

    @contextlib.contextmanager
    def server(self, cidrs=WIDE, ports="30000-32767", etcd=None, data="data", folder=None):
        with contextlib.ExitStack() as stack:
            folder = folder or stack.enter_context(tempfile.TemporaryDirectory())
            flags = ["--service-cluster-ip-range", cidrs, "--service-node-port-range", ports]
            if etcd:
                flags += ["--etcd-servers", etcd.url]
            server = harness.Server(folder, *flags, data=data)
            try:
                yield server
            finally:
                server.stop()

    @contextlib.contextmanager
    def etcd(self):
        with tempfile.TemporaryDirectory() as folder:
            etcd = harness.Etcd(folder)
            try:
                yield etcd
            finally:
                etcd.stop()

    def create(self, server, connections, seconds=SECONDS):
        self.runs += 1
        return Load(server, "create.lua", connections, seconds, BODY_TYPE="ClusterIP",
                    RUN=f"r{self.runs}")

    def churn(self, server, kind="ClusterIP", seconds=SECONDS):
        self.runs += 1
        return Load(server, "churn.lua", CHURN_CONNECTIONS, seconds, SPEC=KINDS[kind], HOLD="64",
                    RUN=f"c{self.runs}")

    def fill(self, server, wanted):
        """Creates until there are about so many; how many there are."""
        while True:
            there = metric(server, "kube_apiserver_clusterip_allocator_allocated_ips")
            if there >= wanted:
                return int(there)
            # By the clock, and so never far beyond it.
            self.create(server, 64, 1 if wanted - there < 30_000 else 3)


def metric(server, name):
    """The sum of its series."""
    text = server.call("GET", "/metrics").body.decode()
    return sum(float(value) for value in
               re.findall(rf"^{name}(?:{{[^}}]*}})? ([\d.e+]+)$", text, re.MULTILINE))


def median(loads, field="rate"):
    return statistics.median(getattr(load, field) for load in loads)


def report_create(bench):
    print(f"\nCREATE ClusterIP Services in {WIDE}  (kube-apiserver: 163/s at 1 connection, 144 at "
          "32, 65-93 at 100)")
    print(f"  {'connections':>12} {'per second':>10} {'p50 ms':>8} {'p99 ms':>8}")
    for connections in (1, 32, 100):
        with bench.server() as server:
            loads = [bench.create(server, connections) for _ in range(ROUNDS)]
        rate, late = median(loads), median(loads, "p99")
        bar = ""
        if connections == 100:
            bar = (f"  {verdict(rate >= CREATE_BAR)} (bar: {CREATE_BAR:,}/s)"
                   f"  {verdict(late < CREATE_P99_MS)} (bar: {CREATE_P99_MS} ms)")
        print(f"  {connections:>12} {rate:>10,.0f} {median(loads, 'p50'):>8.1f} {late:>8.1f}"
              f"{bar}{wrong(loads)}")


def report_churn(bench):
    print(f"\nCHURN: creates and deletes at constant fill, {CHURN_CONNECTIONS} connections")
    print(f"  {'':>12} {'requests/s':>10} {'of ClusterIP':>13}")
    with bench.server(DUAL, ports="20000-52767") as server:
        loads = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind in KINDS:
                loads[kind].append(bench.churn(server, kind))
    base = median(loads["ClusterIP"])
    for kind, runs in loads.items():
        share = median(runs) / base
        bar = "" if kind == "ClusterIP" else f"  {verdict(share >= CHURN_BAR)} (bar: {CHURN_BAR:.0%})"
        print(f"  {kind:>12} {median(runs):>10,.0f} {share:>13.0%}{bar}{wrong(runs)}")


def report_growth(bench):
    print("\nGROWTH: the rate of churn beside Services that are there  (kube-apiserver falls from "
          "163/s to 29/s by 9,853)")
    print(f"  {'Services':>12} {'requests/s':>10} {'of empty':>9} {'resident MiB':>13}")
    with bench.server() as server:
        empty = None
        for wanted in (0, *MEMORY_BARS_MIB):
            there = bench.fill(server, wanted)
            memory = server.memory_kib() / 1024
            runs = [bench.churn(server) for _ in range(ROUNDS)]
            empty = empty or median(runs)
            share = median(runs) / empty
            note = ""
            if wanted:
                bar = MEMORY_BARS_MIB[wanted]
                note = (f"  {verdict(share >= GROWTH_BAR)} (bar: {GROWTH_BAR:.0%})"
                        f"  {verdict(memory / there * wanted <= bar)} (bar: {bar} MiB for {wanted:,})")
            print(f"  {there:>12,} {median(runs):>10,.0f} {share:>9.0%} {memory:>13.1f}{note}"
                  f"{wrong(runs)}", flush=True)
            if wanted == 100_000:
                taken = statistics.median(list_once(server)[0] for _ in range(3))
                print(f"  {'':>12} LIST of them all: {taken:,.0f} ms  "
                      f"{verdict(taken < LIST_BAR_MS)} (bar: {LIST_BAR_MS:,} ms)")
    size = 2**16 - 2
    with bench.server("10.0.0.0/16") as server:
        empty = median([bench.churn(server) for _ in range(ROUNDS)])
        there = bench.fill(server, int(size * 0.97))
        while there < size * 0.99:  # The last part by hand, so as not to fill it up.
            names = [f"f{there + i}" for i in range(200)]
            for name in names:
                server.call("POST", "/api/v1/namespaces/default/services",
                            {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})
            there = metric(server, "kube_apiserver_clusterip_allocator_allocated_ips")
        runs = [bench.churn(server) for _ in range(ROUNDS)]
        share = median(runs) / empty
        print(f"  {'99 % of /16':>12} {median(runs):>10,.0f} {share:>9.0%}  "
              f"{verdict(share >= GROWTH_BAR)} (bar: {GROWTH_BAR:.0%}){wrong(runs)}")


def report_etcd(bench):
    print("\nON ETCD, one member on the same machine")
    with bench.etcd() as etcd, bench.server(etcd=etcd) as server:
        loads = [bench.create(server, 100) for _ in range(ROUNDS)]
        rate = median(loads)
        print(f"  create, 100 connections: {rate:,.0f}/s, p99 {median(loads, 'p99'):.0f} ms  "
              f"{verdict(rate >= ETCD_BAR)} (bar: {ETCD_BAR:,}/s){wrong(loads)}")
    print("  two replicas, both creating: attempts per create")
    with bench.etcd() as etcd, tempfile.TemporaryDirectory() as folder, \
            bench.server("10.0.0.0/16", etcd=etcd, folder=folder) as one, \
            bench.server("10.0.0.0/16", etcd=etcd, folder=folder, data="other") as two:
        size = 2**16 - 2
        for share in (0, 0.90, 0.99):
            there = bench.fill(one, int(size * share))
            before = [writes(server) for server in (one, two)]
            runs = both(bench, one, two)
            done, tried = (sum(writes(server)[i] - start[i] for server, start in
                               zip((one, two), before)) for i in (0, 1))
            attempts = (done + tried) / done
            bar = f"  {verdict(attempts <= ATTEMPTS_BAR)} (bar: {ATTEMPTS_BAR})" if share <= 0.9 else ""
            print(f"  {there:>8,} of {size:,} ({there / size:.0%}): {attempts:.4f}, "
                  f"{sum(run.rate for run in runs):,.0f} requests/s{bar}", flush=True)


def writes(server):
    """How many were committed, and how many had to be decided again."""
    return (metric(server, "berth_commit_committed_total"),
            metric(server, "berth_commit_conflicts_total"))


def both(bench, one, two):
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(bench.churn, (one, two)))


REPORTS = {"services/create": report_create, "services/churn": report_churn,
           "services/growth": report_growth, "services/etcd": report_etcd}


def report(build, pattern):
    wanted = [run for name, run in REPORTS.items() if pattern.search(name)]
    if wanted:
        print(f"\nServices and their addresses: medians of {ROUNDS} rounds of {SECONDS} s")
    for run in wanted:
        run(Bench(build))
