"""Measures a running server over TLS with its audit log on, and prints each figure with its bar.

The raw limit is a bare handler on the same HTTP layer that answers the same number of bytes
(bare_server). For watches it is a bare loop that writes the same bytes to the same connections
(bare_watch). The server and the raw limit take turns in one run. Each figure is the median over the
rounds.
"""
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "e2e"))

import harness
from store_report import verdict

ROUNDS = 3
SECONDS = 4
GET_CONNECTIONS = 32
CREATE_CONNECTIONS = 100
LISTED = 10_000

GET_BAR = 0.70
CREATE_BAR = 10_000
LIST_BAR_MS = 60
READY_BAR_MS = 200
WATCHER_BARS_KIB = {1: 24, 2: 4}
# All watchers watch one prefix, so each event goes to all of them. A row has the protocol, the
# watchers per connection, and the bar for the processor time of an event: a multiple of the bare
# loop's time, or a number of microseconds.
FANOUTS = {"HTTP/1.1, one to a connection": (1, 1, {"times": 1.4}),
           "HTTP/2, one to a connection": (2, 1, {"times": 1.4}),
           "HTTP/2, 100 to a connection": (2, 100, {"us": 3.6})}
FANOUT_RATE = 50
FANOUT_SECONDS = 6
FANOUT_LATE_BAR_MS = 40

KUBE_GET = 1_057
KUBE_LIST_MS = 1_140
KUBE_EVENT_US = 34

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"

SCRIPTS = pathlib.Path(__file__).resolve().parent


class Bench:
    """Runs one server at a time, in a separate folder on the disk that holds temporary files."""

    def __init__(self, build):
        self.build = build
        harness.BERTH = str(build / "berth")

    @contextlib.contextmanager
    def server(self, fill=None):
        with tempfile.TemporaryDirectory() as folder:
            if fill is not None:
                subprocess.run([self.build / "test" / "fill_store", f"{folder}/data", str(fill)],
                               check=True)
            # The range is large enough for all Services that a round creates.
            server = harness.Server(folder, "--service-cluster-ip-range=10.0.0.0/8")
            try:
                yield server
            finally:
                server.terminate()
                server.stop()

    @contextlib.contextmanager
    def bare(self, size):
        (port,) = harness.free_ports(1)
        process = subprocess.Popen([self.build / "bench" / "bare_server", str(port), str(size)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            process.stdout.readline()
            yield f"https://127.0.0.1:{port}"
        finally:
            process.stdin.close()
            process.wait()

    @contextlib.contextmanager
    def bare_watch(self, size):
        """Runs a bare loop and yields its port, process id and authority file for watch_load."""
        (port,) = harness.free_ports(1)
        with tempfile.NamedTemporaryFile() as authority:
            process = subprocess.Popen([self.build / "bench" / "bare_watch", str(port), str(size),
                                        authority.name], stdout=subprocess.PIPE, text=True)
            try:
                process.stdout.readline()
                yield port, process.pid, authority.name
            finally:
                process.kill()
                process.wait()


def wrk(url, connections, seconds=SECONDS, script=None, accept=JSON, **env):
    """Returns the requests per second, the p99 in ms, and the number of failed requests."""
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--latency",
               "-H", f"Authorization: Bearer {harness.Server.TOKEN}", "-H", f"Accept: {accept}"]
    if script:
        command += ["-s", str(SCRIPTS / script)]
    output = subprocess.run([*command, url], check=True, capture_output=True, text=True,
                            env={**os.environ, **env}).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", output).groups()
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    return rate, float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit], int(bad[1]) if bad else 0


def h2load(url, connections, seconds=SECONDS):
    output = subprocess.run(
        ["h2load", "-t1", f"-c{connections}", "-m10", f"-D{seconds}",
         "-H", f"authorization: Bearer {harness.Server.TOKEN}", url],
        check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"finished in [\d.]+s, ([\d.]+) req/s", output)[1])
    failed = int(re.search(r"(\d+) failed", output)[1])
    return rate, 0, failed


def service(name):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}


def report_get(bench):
    print(f"\nGET of one Service, {GET_CONNECTIONS} connections, TLS  "
          f"(kube-apiserver: {KUBE_GET:,}/s)")
    print(f"  {'':>10} {'bare /s':>10} {'berth /s':>10} {'of bare':>8}")
    with bench.server() as server:
        path = "/api/v1/namespaces/default/services/web"
        server.call("POST", "/api/v1/namespaces/default/services", service("web"))
        size = len(server.call("GET", path).body)
        with bench.bare(size) as bare:
            for name, load in (("HTTP/1.1", wrk), ("HTTP/2", h2load)):
                rounds = [(load(bare + path, GET_CONNECTIONS)[0],
                           load(server.url + path, GET_CONNECTIONS)) for _ in range(ROUNDS)]
                limit = statistics.median(each[0] for each in rounds)
                rate = statistics.median(each[1][0] for each in rounds)
                wrong = sum(each[1][2] for each in rounds)
                note = f"  FAIL: {wrong} wrong answers" if wrong else ""
                print(f"  {name:>10} {limit:>10,.0f} {rate:>10,.0f} {rate / limit:>8.0%}  "
                      f"{verdict(rate / limit >= GET_BAR)} (bar: {GET_BAR:.0%}){note}")
        rounds = [wrk(server.url + path, GET_CONNECTIONS, accept=PROTOBUF) for _ in range(ROUNDS)]
        rate = statistics.median(each[0] for each in rounds)
        print(f"  {'protobuf':>10} {'':>10} {rate:>10,.0f}  (HTTP/1.1)")


def report_create(bench):
    print(f"\nCREATE, embedded store with fsync, {CREATE_CONNECTIONS} connections, TLS")
    print(f"  {'':>10} {'per second':>10} {'p99 ms':>8}")
    for kind in ("Namespace", "ClusterIP"):
        with bench.server() as server:
            rounds = [wrk(server.url, CREATE_CONNECTIONS, script="create.lua", BODY_TYPE=kind,
                          TOKEN=server.TOKEN, RUN=f"r{i}") for i in range(ROUNDS)]
        rate = statistics.median(each[0] for each in rounds)
        late = statistics.median(each[1] for each in rounds)
        wrong = sum(each[2] for each in rounds)
        bar = f"  {verdict(rate >= CREATE_BAR)} (bar: {CREATE_BAR:,}/s)" if kind == "Namespace" else ""
        note = f"  FAIL: {wrong} wrong answers" if wrong else ""
        label = "Service" if kind == "ClusterIP" else kind
        print(f"  {label:>10} {rate:>10,.0f} {late:>8.1f}{bar}{note}")


def list_once(server, accept=JSON):
    connection = server.connection()
    connection.connect()
    begin = time.perf_counter()
    connection.request("GET", "/api/v1/services",
                       headers={"Authorization": f"Bearer {server.TOKEN}", "Accept": accept})
    response = connection.getresponse()
    size = len(response.read())
    connection.close()
    return (time.perf_counter() - begin) * 1e3, size


def report_list(bench):
    print(f"\nLIST of {LISTED:,} Services, whole, JSON  (kube-apiserver: {KUBE_LIST_MS:,} ms)")
    with bench.server(fill=LISTED) as server:
        for accept in (JSON, PROTOBUF):
            rounds = [list_once(server, accept) for _ in range(9)]
            taken = statistics.median(each[0] for each in rounds)
            note = f"  {verdict(taken < LIST_BAR_MS)} (bar: {LIST_BAR_MS} ms)"
            print(f"  to the last byte {taken:>8.1f} ms, {rounds[0][1] / 2**20:.1f} MiB"
                  f"{note if accept == JSON else '  in protobuf'}")
        alone = wrk(server.url, 4, script="create.lua", BODY_TYPE="Namespace", TOKEN=server.TOKEN,
                    RUN="alone")
        stop = threading.Event()

        def lists():
            while not stop.is_set():
                list_once(server)
                time.sleep(0.1)

        thread = threading.Thread(target=lists)
        thread.start()
        beside = wrk(server.url, 4, script="create.lua", BODY_TYPE="Namespace", TOKEN=server.TOKEN,
                     RUN="beside")
        stop.set()
        thread.join()
        print(f"  4 writers alone: {alone[0]:,.0f}/s, p99 {alone[1]:.1f} ms; beside a reader that "
              f"lists all: {beside[0]:,.0f}/s, p99 {beside[1]:.1f} ms")


def watch_load(bench, port, pid, authority, protocol, streams, scopes, rate, seconds):
    """Returns the figures that watch_load prints for a thousand watchers."""
    output = subprocess.run(
        [bench.build / "bench" / "watch_load", str(port), str(pid), authority, harness.Server.TOKEN,
         str(protocol), str(streams), "1000", str(scopes), str(rate), str(seconds)], check=True,
        capture_output=True, text=True)
    return json.loads(output.stdout)


def lost_note(*figures):
    failed = sum(figure["failed"] for figure in figures)
    lost = sum(figure["expected"] - figure["delivered"] for figure in figures)
    return f"  FAIL: {failed} failed, {lost} lost" if failed or lost else ""


def report_watch(bench):
    print("\nWATCH, 1,000 watchers over TLS")
    print(f"  {'':>34} {'events/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'KiB each':>9} {'busy':>7}")
    for protocol, name in ((1, "HTTP/1.1"), (2, "HTTP/2")):
        for scopes, rate in ((100, 2000), (1, 50)):
            with bench.server() as server:
                figure = watch_load(bench, server.port, server.process.pid, server.ca_file,
                                    protocol, 100 if protocol == 2 else 1, scopes, rate, 5)
            label = f"{name}, {scopes} namespaces, {rate:,}/s"
            bar = WATCHER_BARS_KIB[protocol]
            print(f"  {label:>34} {figure['per_second']:>9,.0f} {figure['p50_ms']:>8.1f} "
                  f"{figure['p99_ms']:>8.1f} {figure['idle_kib']:>9.1f} {figure['busy_kib']:>7.1f}  "
                  f"{verdict(figure['idle_kib'] < bar)} (bar: {bar} KiB){lost_note(figure)}")


def report_fanout(bench):
    print(f"\nWATCH, 1,000 watchers of one prefix over TLS, {FANOUT_RATE} writes/s: the server's "
          f"processor time for an event\n(kube-apiserver: {KUBE_EVENT_US} us)")
    print(f"  {'':>31} {'bare us':>8} {'berth us':>9} {'of bare':>8} {'p50 ms':>8} {'p99 ms':>8}")
    for name, (protocol, streams, bar) in FANOUTS.items():
        rounds = []
        for _ in range(ROUNDS):
            load = (protocol, streams, 1, FANOUT_RATE, FANOUT_SECONDS)
            with bench.server() as server:
                berth = watch_load(bench, server.port, server.process.pid, server.ca_file, *load)
            with bench.bare_watch(int(berth["event_bytes"])) as bare:
                rounds.append((watch_load(bench, *bare, *load), berth))
        limit = statistics.median(bare["processor_us"] for bare, _ in rounds)
        cost = statistics.median(berth["processor_us"] for _, berth in rounds)
        early = statistics.median(berth["p50_ms"] for _, berth in rounds)
        late = statistics.median(berth["p99_ms"] for _, berth in rounds)
        if "times" in bar:
            fine, words = cost <= bar["times"] * limit, f"{bar['times']:g} times"
        else:
            fine, words = cost <= bar["us"], f"{bar['us']:g} us"
        print(f"  {name:>31} {limit:>8.2f} {cost:>9.2f} {cost / limit:>7.2f}x {early:>8.1f} "
              f"{late:>8.1f}  {verdict(fine)} (bar: {words}), "
              f"{verdict(late <= FANOUT_LATE_BAR_MS)} (bar: {FANOUT_LATE_BAR_MS} ms)"
              f"{lost_note(*(figure for pair in rounds for figure in pair))}", flush=True)


def report_start(bench):
    print("\nSTART to ready, and memory then")
    for stored in (0, 10_000, 1_000_000):
        with tempfile.TemporaryDirectory() as folder:
            if stored:
                subprocess.run([bench.build / "test" / "fill_store", f"{folder}/data",
                                str(stored)], check=True)
            else:
                first = harness.Server(folder)
                first.terminate()
                first.stop()
            server = harness.Server(folder)
            taken, memory = server.ready_after * 1e3, server.memory_kib() / 1024
            server.terminate()
            server.stop()
        note = f"  {verdict(taken < READY_BAR_MS)} (bar: {READY_BAR_MS} ms)" if not stored else ""
        print(f"  {stored:>10,} Services {taken:>9,.0f} ms {memory:>8.1f} MiB{note}")


REPORTS = {"api/get": report_get, "api/create": report_create, "api/list": report_list,
           "api/watch": report_watch, "api/fanout": report_fanout, "api/start": report_start}


def report(build, pattern):
    wanted = [run for name, run in REPORTS.items() if pattern.search(name)]
    if wanted:
        print(f"\nthe API on loopback: medians of {ROUNDS} rounds of {SECONDS} s")
    for run in wanted:
        run(Bench(build))
