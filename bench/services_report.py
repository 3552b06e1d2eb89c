"""Measures how Services get their addresses and prints the figures with their bars.

TLS, the audit log and fsync are on. Server and load run on the same cores. Figures that are
compared with each other come from one run, in turn.
"""
import concurrent.futures
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "e2e"))

import harness
from api_report import JSON, SCRIPTS, list_once
from store_report import verdict

ROUNDS = 3
SECONDS = 5
WIDE = "10.0.0.0/8"
DUAL = "10.0.0.0/8,fd00::/64"
CHURN_CONNECTIONS = 64
CLIENTS = 8
REST_SECONDS = 6  # By then, memory that only writes need is released.
SIZE_OF_16 = 2**16 - 2

CREATE_BAR = 9_300
CREATE_P99_MS = 26
ETCD_BAR = 4_600
CHURN_BAR = 0.60
GROWTH_BAR = 0.90
ATTEMPTS_BAR = 1.05
MEMORY_BARS_MIB = {10_000: 54, 100_000: 200, 1_000_000: 1_536}
LIST_BAR_MS = 1000

KINDS = {"ClusterIP": "", "NodePort": '"type":"NodePort",',
         "dual-stack": '"ipFamilyPolicy":"RequireDualStack",'}


class Load:
    """The figures of one run of wrk."""

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
    def server(self, cidrs=WIDE, ports="30000-32767", etcd=None, data="data", folder=None,
               flags=()):
        with contextlib.ExitStack() as stack:
            folder = folder or stack.enter_context(tempfile.TemporaryDirectory())
            flags = ["--service-cluster-ip-range", cidrs, "--service-node-port-range", ports,
                     *flags]
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

    def create(self, server, connections, seconds=SECONDS, namespace="default"):
        self.runs += 1
        return Load(server, "create.lua", connections, seconds, BODY_TYPE="ClusterIP",
                    RUN=f"r{self.runs}", NS=namespace)

    def churn(self, server, kind="ClusterIP", seconds=SECONDS):
        self.runs += 1
        return Load(server, "churn.lua", CHURN_CONNECTIONS, seconds, SPEC=KINDS[kind], HOLD="64",
                    RUN=f"c{self.runs}")

    def fill(self, server, wanted):
        """Creates Services until exactly this many addresses are taken."""
        while (missing := wanted - allocated(server)) > 40_000:
            self.create(server, 64, min(20, missing // 25_000 + 1))
        self.make(server, max(missing, 0))

    def make(self, server, count, **spec):
        """Creates exactly this many Services."""
        self.runs += 1
        share, rest = divmod(count, CLIENTS)
        counts = [share + (1 if i < rest else 0) for i in range(CLIENTS)]
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda job: make_some(server, f"x{self.runs}-{job[0]}", job[1], spec),
                          enumerate(counts)))


def make_some(server, name, count, spec):
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec}
    post_all(server, "/api/v1/namespaces/default/services",
             ({"metadata": {"name": f"{name}-{number}"}, "spec": spec} for number in range(count)))


def post_all(server, path, objects):
    """Posts the objects one after the other on one connection."""
    connection = server.connection()
    headers = {"Authorization": f"Bearer {server.TOKEN}", "Content-Type": JSON}
    for each in objects:
        connection.request("POST", path, json.dumps(each), headers)
        response = connection.getresponse()
        body = response.read()
        assert response.status == 201, body
    connection.close()


def allocated(server):
    return int(metric(server, "kube_apiserver_clusterip_allocator_allocated_ips"))


def metric(server, name):
    """Returns the sum of the series of a metric."""
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


def compare(bench, empty, filled):
    """Measures churn on both servers in turn, because the machine varies from minute to minute."""
    rounds = [(bench.churn(empty), bench.churn(filled)) for _ in range(ROUNDS)]
    return [each[0] for each in rounds], [each[1] for each in rounds]


def growth_line(label, runs, memory=""):
    empty, filled = runs
    share = median(filled) / median(empty)
    print(f"  {label:>12} {median(filled):>10,.0f} {median(empty):>10,.0f} {share:>6.0%}"
          f"  {verdict(share >= GROWTH_BAR)} (bar: {GROWTH_BAR:.0%}){memory}"
          f"{wrong(empty + filled)}", flush=True)


def resting_memory(server):
    time.sleep(REST_SECONDS)
    return server.memory_kib() / 1024


def report_growth(bench):
    print("\nGROWTH: the rate of churn beside Services that are there, and beside none  "
          "(kube-apiserver falls from 163/s to 29/s by 9,853)")
    print(f"  {'Services':>12} {'requests/s':>10} {'with none':>10} {'share':>6}")
    with bench.server() as empty, bench.server() as filled:
        for wanted, bar in MEMORY_BARS_MIB.items():
            bench.fill(filled, wanted)
            memory = resting_memory(filled)
            growth_line(f"{wanted:,}", compare(bench, empty, filled),
                        f"  {memory:,.0f} MiB {verdict(memory <= bar)} (bar: {bar:,} MiB)")
            if wanted == 100_000:
                taken = statistics.median(list_once(filled)[0] for _ in range(3))
                print(f"  {'':>12} LIST of them all: {taken:,.0f} ms  "
                      f"{verdict(taken < LIST_BAR_MS)} (bar: {LIST_BAR_MS:,} ms)")
    with bench.server("10.0.0.0/16") as empty, bench.server("10.0.0.0/16") as filled:
        bench.fill(filled, int(SIZE_OF_16 * 0.99))
        growth_line("99 % of /16", compare(bench, empty, filled))


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
        for share in (0, 0.90, 0.99):
            bench.fill(one, int(SIZE_OF_16 * share))
            before = [writes(server) for server in (one, two)]
            runs = both(bench, one, two)
            done, tried = (sum(writes(server)[i] - start[i] for server, start in
                               zip((one, two), before)) for i in (0, 1))
            attempts = (done + tried) / done
            bar = f"  {verdict(attempts <= ATTEMPTS_BAR)} (bar: {ATTEMPTS_BAR})" if share <= 0.9 else ""
            print(f"  {share:>6.0%} of a /16: {attempts:.4f}, "
                  f"{sum(run.rate for run in runs):,.0f} requests/s{bar}", flush=True)


def writes(server):
    """Returns how many writes were committed, and how many had to be decided again."""
    return (metric(server, "berth_commit_committed_total"),
            metric(server, "berth_commit_conflicts_total"))


def both(bench, one, two):
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
