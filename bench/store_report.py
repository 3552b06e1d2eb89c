"""Runs the store's benchmark programs and prints their figures beside the raw limits.

Bare and berth take turns in one run, and a ratio is that of the medians over the rounds: these
programs write to disks and sockets, whose noise goes in both directions.
"""
import contextlib
import json
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

ROCKS_ROUNDS = 5
ETCD_ROUNDS = 3
SERVICES = 1_000_000

EMBEDDED_BAR = 0.70
EMBEDDED_BAR_FROM = 64
ETCD_BAR = 0.90
GROUPING_BAR = 3.0


def run(program, *arguments):
    """Returns the program's lines of JSON, parsed."""
    done = subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def medians(lines):
    """Returns {name: {figure: median over the rounds}}."""
    rounds = {}
    for line in lines:
        rounds.setdefault(line["name"], []).append(line)
    return {name: {key: statistics.median(each[key] for each in entries)
                   for key in entries[0] if key != "name"} for name, entries in rounds.items()}


def verdict(passed):
    return "PASS" if passed else "FAIL"


def failures(figures):
    failed = sum(figure.get("failed", 0) for figure in figures.values())
    if failed:
        print(f"  FAIL: {failed:.0f} transactions failed")


def print_side_by_side(title, figures, rows):
    """Prints a table. `rows` has (label, bare name, berth name, bar or None)."""
    print(f"\n{title}")
    print(f"  {'':>22} {'bare':>9} {'berth':>9} {'of bare':>8} {'p50 ms':>9} {'p99 ms':>9}")
    for label, bare, berth, bar in rows:
        ratio = figures[berth]["per_second"] / figures[bare]["per_second"]
        note = f"  {verdict(ratio >= bar)} (bar: {bar:.0%})" if bar else ""
        print(f"  {label:>22} {figures[bare]['per_second']:>9,.0f}"
              f" {figures[berth]['per_second']:>9,.0f} {ratio:>8.0%}"
              f" {figures[berth]['p50_ms']:>9.2f} {figures[berth]['p99_ms']:>9.2f}{note}")
    failures(figures)


def report_embedded(build, scratch):
    figures = medians(run(build / "rocks_bench", scratch / "rocks", ROCKS_ROUNDS))
    for mode in ("fsync", "no fsync"):
        rows = []
        for name in figures:
            who, of_mode, in_flight = name.split("/")
            if who != "berth" or of_mode != mode:
                continue
            bar = EMBEDDED_BAR if mode == "fsync" and int(in_flight) >= EMBEDDED_BAR_FROM else None
            rows.append((f"{in_flight} in flight", f"bare/{mode}/{in_flight}", name, bar))
        print_side_by_side(
            f"embedded, {mode}: transactions of three objects, 700 bytes, per second"
            f" (median of {ROCKS_ROUNDS} rounds)", figures, rows)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def etcd(directory):
    """Starts one member on free loopback ports; yields its endpoint."""
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with open(directory / "etcd.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            ["etcd", "--data-dir", directory / "etcd", "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
             "--quota-backend-bytes", str(8 << 30)], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"{client}/health", timeout=1).read()
                break
            except OSError:
                if time.monotonic() > deadline or server.poll() is not None:
                    raise
                time.sleep(0.1)
        yield client
    finally:
        server.kill()
        server.wait()


def report_etcd(build, scratch):
    with etcd(scratch) as endpoint:
        figures = medians(run(build / "etcd_bench", endpoint, ETCD_ROUNDS))
    rows = [(f"{kind}, {in_flight} in flight", f"bare/{kind}/{in_flight}", name, ETCD_BAR)
            for name in figures
            for who, kind, in_flight in [name.split("/")] if who == "berth"]
    print_side_by_side(f"etcd, one member: the same transactions per second, one to a Txn and "
                       f"grouped (median of {ETCD_ROUNDS} rounds)", figures, rows)
    print("  bare: the same requests on the generated stub. Without the compares of marker and fence"
          " and the\n  receipt, by which the outcome of a lost request is resolved:",
          ", ".join(f"{figures[f'plain/one/{n}']['per_second']:,.0f} at {n}" for n in (1, 16, 128)))
    gain = figures["berth/grouped/128"]["per_second"] / figures["berth/one/128"]["per_second"]
    print(f"  {'grouped / one':>22} {'':>9} {gain:>8.1f}x {'':>28}"
          f"  {verdict(gain >= GROUPING_BAR)} (bar: {GROUPING_BAR:g}x)")


def report_watch(build, scratch):
    figures = medians([line for i in range(3)
                       for line in run(build / "watch_bench", scratch / f"watch{i}")])
    berth, bare = figures["berth/fan-out"], figures["bare/fan-out"]
    print("\nwatch fan-out: 1,000 cursors of one scope, 5,000 events committed with fsync"
          " (median of 3 rounds)")
    print(f"  {berth['per_second']:,.0f} events delivered per second, "
          f"{berth['bytes_per_watcher']:,.0f} bytes per watch"
          f" (handing them to plain lists: {bare['per_second']:,.0f})")


def report_open(build, scratch):
    directory = scratch / "open"
    run(build / "open_bench", "fill", directory, SERVICES)
    size = sum(f.stat().st_size for f in directory.rglob("*") if f.is_file())
    figures = medians([line for _ in range(3) for who in ("bare", "berth")
                       for line in run(build / "open_bench", who, directory)])
    berth, bare = figures["berth/open"], figures["bare/open"]
    print(f"\nopen a store of {SERVICES:,} Services: {berth['keys']:,.0f} objects, "
          f"{size / 2**20:,.0f} MiB on disk (median of 3)")
    print(f"  {berth['seconds']:.2f} s and {berth['bytes'] / 2**20:,.0f} MiB of memory"
          f" (RocksDB alone, opened and read: {bare['seconds']:.2f} s,"
          f" {bare['bytes'] / 2**20:,.0f} MiB)")


REPORTS = {"embedded": report_embedded, "etcd": report_etcd, "watch": report_watch,
           "open": report_open}


def report(build, wanted):
    """Prints the reports whose names match the compiled pattern `wanted`."""
    for name, each in REPORTS.items():
        if not wanted.search(f"store/{name}"):
            continue
        scratch = pathlib.Path(tempfile.mkdtemp(prefix="berth-bench-"))
        try:
            each(build, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
