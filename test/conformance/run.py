#!/usr/bin/env python3
"""Replays the golden corpus against `berth serve`, in both configurations it was recorded with.

Every scenario of golden/ must pass in each configuration that it runs in. passing.txt names them all,
so that no scenario leaves the corpus unseen. Prints how many passed, group by group; --report FILE
writes the same to a file, --update writes the list anew.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden")
LIST = os.path.join(HERE, "passing.txt")
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from harness import Server  # pylint: disable=wrong-import-position

RANGES = {"dualstack": "10.96.0.0/16,fd00:10:96::/108", "singlestack": "10.96.0.0/16"}
HEADER = "# Scenarios of golden/ that pass, in every configuration they run in.\n"


def replay(stack):
    """Replays all scenarios; returns the differences of each by its name, or None if it passed.

    The corpus was recorded without controllers. Here one writes the conditions of ServiceCIDRs each
    second, and a scenario that reads at that moment sees them. So a scenario fails if it does so
    twice."""
    first = replay_once(stack)
    if not any(first.values()):
        return first
    again = replay_once(stack)
    return {name: differs and again.get(name) for name, differs in first.items()}


def replay_once(stack):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, "--service-cluster-ip-range", RANGES[stack])
        try:
            report = os.path.join(folder, "golden.xml")
            run = subprocess.run(
                [sys.executable, "golden.py", "replay", "--server", server.url, "--token",
                 server.TOKEN, "--cacert", server.ca_file, "--stack", stack, "--differs", "--junit",
                 report, "scenarios", "expected"], cwd=GOLDEN, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
            if run.returncode not in (0, 1) or server.process.poll() is not None:
                raise SystemExit(f"{stack}: the replay broke off\n{run.stdout}\n{server.output()}")
        finally:
            server.stop()
        cases = xml.etree.ElementTree.parse(report).getroot()
        return {case.get("name"): case.findtext("failure") for case in cases
                if case.find("skipped") is None}


def names_of_scenarios():
    """Returns the names of all scenarios of the corpus."""
    names = set()
    for path in glob.glob(os.path.join(GOLDEN, "scenarios", "*.json")):
        with open(path, encoding="utf-8") as file:
            names.add(json.load(file)["name"])
    return names


def group_of(name):
    return name.split("-")[0]


def table(names, passed):
    """Returns lines of text: how many scenarios passed and failed, per group and in all."""
    lines = [f"{'group':<18} {'passed':>6} {'failed':>6}"]
    for group in sorted({group_of(name) for name in names}):
        members = {name for name in names if group_of(name) == group}
        lines.append(f"{group:<18} {len(members & passed):>6} {len(members - passed):>6}")
    lines.append(f"{'all':<18} {len(passed):>6} {len(names - passed):>6}")
    return lines


def complaints(failures, listed):
    """Yields what is wrong. `failures` has the differences of each scenario, by configuration."""
    for name in sorted(listed - set(failures)):
        yield f"{name}: listed in passing.txt, but there is no such scenario"
    for name in sorted(set(failures) - listed):
        yield f"{name}: not in passing.txt; run.py --update adds it"
    for name in sorted(failures):
        if failures[name]:
            yield f"{name}: must pass\n" + "\n".join(
                f"{stack}: {text}" for stack, text in failures[name].items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--report", metavar="FILE", help="also write the table there")
    parser.add_argument("--update", action="store_true", help="write passing.txt")
    options = parser.parse_args()
    names = names_of_scenarios()
    with ThreadPoolExecutor() as pool:
        results = dict(zip(RANGES, pool.map(replay, RANGES)))
    failures = {name: {stack: result[name] for stack, result in results.items()
                       if result.get(name) is not None} for name in names}
    ran = {name for result in results.values() for name in result}
    if ran != names:
        raise SystemExit(f"not run: {', '.join(sorted(names - ran))}")
    passed = {name for name in names if not failures[name]}
    lines = table(names, passed)
    print("\n".join(lines))
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if options.update:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(HEADER + "".join(f"{name}\n" for name in sorted(passed)))
    with open(LIST, encoding="utf-8") as file:
        listed = {line.strip() for line in file if not line.startswith("#")} - {""}
    wrong = list(complaints(failures, listed))
    if wrong:
        print("\n" + "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
