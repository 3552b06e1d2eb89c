"""Measures the auditor and prints the figures with their bars: one pass over a million Services, and
creates with the auditor on and off."""
import subprocess

from ranges_report import in_turn, measured, ratio
from services_report import Bench, median, wrong
from store_report import verdict

SERVICES = 1_000_000
SECONDS_BAR = 15
BYTES_BAR = 100
FILLED = 100_000
CREATES_BAR = 0.97
CONNECTIONS = 64
ROUNDS = 7


def report_pass(build):
    print(f"\nPASS: one pass over {SERVICES:,} Services with their records, in memory")
    line = subprocess.run([build / "bench" / "audit_bench", str(SERVICES)], check=True,
                          capture_output=True, text=True).stdout
    figures = {name: float(value) for name, value in (part.split("=") for part in line.split())}
    each = figures["bytes"] / figures["values"]
    print(f"  {figures['values']:,.0f} values, {figures['findings']:.0f} findings")
    print(f"  one core      {figures['seconds']:>8.2f} s      "
          f"{verdict(figures['seconds'] <= SECONDS_BAR)} (bar: {SECONDS_BAR} s)")
    print(f"  memory        {figures['bytes'] / 2**20:>8.1f} MiB, {each:.0f} bytes a value  "
          f"{verdict(each <= BYTES_BAR)} (bar: {BYTES_BAR})")


def report_creates(build):
    """Both servers have as many Services, so that a pass of the auditor is always under way."""
    print(f"\nCREATES: with the auditor on and off, {FILLED:,} Services before")
    bench = Bench(build)
    with bench.server() as on, bench.server(flags=["--auditor-interval=0"]) as off:
        for server in (on, off):
            bench.fill(server, FILLED)
        with_it, without = in_turn(
            ROUNDS, lambda: measured(lambda: bench.create(on, CONNECTIONS), on),
            lambda: measured(lambda: bench.create(off, CONNECTIONS), off))
    share = ratio(with_it, without)
    late, cost = (f"{median(with_it, field):.0f} / {median(without, field):.0f}"
                  for field in ("p99", "cpu_us"))
    print(f"  on {median(with_it):,.0f}/s, off {median(without):,.0f}/s, p99 {late} ms, server "
          f"{cost} µs each; ratio {share:.3f}  {verdict(share >= CREATES_BAR)} "
          f"(bar: {CREATES_BAR:g}){wrong(with_it + without)}")


REPORTS = {"audit/pass": report_pass, "audit/creates": report_creates}


def report(build, pattern):
    wanted = [run for name, run in REPORTS.items() if pattern.search(name)]
    if wanted:
        print("\nThe auditor")
    for run in wanted:
        run(build)
