#!/usr/bin/env python3
"""Runs the benchmark programs and prints their figures with their bars.

Usage: report.py BUILD_DIR [FILTER]; FILTER is a regular expression on the benchmark names: those of
alloc_bench and bitmap_bench, store/embedded, store/etcd, store/watch and store/open, api/get,
api/create, api/list, api/watch, api/fanout and api/start, services/create, services/churn,
services/growth and services/etcd, ranges/forms, ranges/stored and ranges/million, audit/pass and
audit/creates.
Each benchmark of the index runs several times, interleaved with the others. The best run is shown,
because noise only ever adds. Nothing here fails a test run: a bar is printed as PASS or FAIL for a
reader.
"""
import json
import pathlib
import re
import subprocess
import sys

import api_report
import audit_report
import ranges_report
import services_report
import store_report

REPETITIONS = 7

PICK_BAR_NS = {"a /64": 300, "1,048,576 left open of a /64": 300}
PICK_BAR_NS_DEFAULT = 100
FLAT_BAR = 3.0
BUILD_BAR_MS = 150
MANY_BAR = 3.0
MEMORY_BARS = {"a /12": ("index of a full /12", 512 * 1024, "KiB", 1024),
               "a /64": ("a /64 holding 1,000,000", 48 * 1024 * 1024, "MiB", 1024 * 1024)}


def run(program, pattern):
    """Returns {benchmark name: its best run}, in the order the program names them."""
    def output(*flags):
        return subprocess.run([program, f"--benchmark_filter={pattern}", *flags], check=True,
                              capture_output=True, text=True).stdout

    names = output("--benchmark_list_tests").splitlines()
    if not names:
        return {}
    raw = output("--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}",
                 "--benchmark_min_time=0.05", "--benchmark_enable_random_interleaving=true")
    entries = [e for e in json.loads(raw)["benchmarks"] if e["run_type"] == "iteration"]
    return {name: min((e for e in entries if e["run_name"].startswith(name)),
                      key=lambda e: e["real_time"]) for name in names}


def verdict(value, bar):
    return "PASS" if value <= bar else "FAIL"


def nanoseconds(value):
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def print_picks(results):
    """Prints one block per range: every fill level, the naive bitmap, and how flat the range is."""
    ranges = {}
    for name, entry in results.items():
        kind, _, rest = name.partition("/")
        if kind in ("pick", "naive"):
            space, fill = rest.rsplit("/", 1)
            ranges.setdefault(space, {}).setdefault(fill, {})[kind] = entry["real_time"]
    for space, fills in ranges.items():
        bar = PICK_BAR_NS.get(space, PICK_BAR_NS_DEFAULT)
        print(f"\npick + release, {space}  (ns; bar: under {bar})")
        print(f"  {'fill':>16} {'berth':>10} {'naive bitmap':>14} {'naive/berth':>12}")
        for fill, times in fills.items():
            naive = times.get("naive")
            beside = f"{nanoseconds(naive):>14} {naive / times['pick']:>11,.1f}x" if naive else " " * 27
            print(f"  {fill:>16} {nanoseconds(times['pick']):>10} {beside}  "
                  f"{verdict(times['pick'], bar)}")
        picks = [times["pick"] for times in fills.values()]
        spread = max(picks) / min(picks)
        print(f"  {'worst / best':>16} {spread:>9.2f}x {'':27}  {verdict(spread, FLAT_BAR)} "
              f"(bar: {FLAT_BAR:g}x)")


def print_builds(results):
    builds = {n.partition("/")[2]: r for n, r in results.items() if n.startswith("build/")}
    if not builds:
        return
    print(f"\nbuild from a sorted list of 1,000,000 values  (ms; bar: under {BUILD_BAR_MS})")
    for space, entry in builds.items():
        time = entry["real_time"]
        print(f"  {space:>16} {time:>10.1f}  {verdict(time, BUILD_BAR_MS)}")
    print("\nmemory of that index")
    for space, entry in builds.items():
        label, bar, unit, scale = MEMORY_BARS[space]
        print(f"  {label:>24} {entry['bytes'] / scale:>10.1f} {unit}  "
              f"{verdict(entry['bytes'], bar)} (bar: {bar // scale} {unit})")


def print_pools(results):
    """Prints pools of many ranges, compared with a single range of the same total size."""
    pools = {}
    for name, entry in results.items():
        if name.startswith("ranges/pool/"):
            ranges, fill = name.removeprefix("ranges/pool/").rsplit("/", 1)
            pools.setdefault(fill, {})[ranges] = entry["real_time"]
    if pools:
        print("\npick + release, from the range with most free of many  (ns, and beside one range)")
    for fill, times in pools.items():
        one = next((time for ranges, time in times.items() if ranges.startswith("1 range")), None)
        for ranges, time in times.items():
            beside = ""
            if one and time is not one:
                beside = (f" {time / one:>7.2f}x  {verdict(time / one, MANY_BAR)} "
                          f"(bar: {MANY_BAR:g}x)")
            print(f"  {fill:>6} full, {ranges:<30} {nanoseconds(time):>8}{beside}")
    changes = {name.removeprefix("ranges/change/"): entry for name, entry in results.items()
               if name.startswith("ranges/change/")}
    for which, entry in changes.items():
        print(f"  change of one {which:<33} {entry['real_time']:>8.1f} ms")


def print_bitmaps(results):
    """Prints bitmaps by the size of the range, compared with the smallest."""
    rows = {}
    for name, entry in results.items():
        kind, _, prefix = name.partition("/")
        rows.setdefault(kind, {})[prefix] = entry["real_time"]
    if not rows:
        return
    print("\nstored bitmaps, half full: 64 values taken and released, and found by comparing two"
          "  (ns)")
    labels = {"Take64": "take and give 64", "Compare64": "find 64 that differ"}
    for kind, times in rows.items():
        first = next(iter(times.values()))
        for prefix, time in times.items():
            print(f"  {labels[kind]:>20}, a /{prefix} {nanoseconds(time):>10} "
                  f"{time / first:>7.2f}x")


def main():
    build = pathlib.Path(sys.argv[1])
    pattern = sys.argv[2] if len(sys.argv) > 2 else ".*"
    results = run(build / "bench" / "alloc_bench", pattern)
    if results:
        print(f"index of addresses and ports: best of {REPETITIONS} interleaved runs")
        print_picks(results)
        print_builds(results)
        print_pools(results)
    print_bitmaps(run(build / "bench" / "bitmap_bench", pattern))
    store_report.report(build / "bench", re.compile(pattern))
    api_report.report(build.resolve(), re.compile(pattern))
    services_report.report(build.resolve(), re.compile(pattern))
    ranges_report.report(build.resolve(), re.compile(pattern))
    audit_report.report(build.resolve(), re.compile(pattern))


if __name__ == "__main__":
    main()
