#!/usr/bin/env python3
"""Replays the golden corpus against `berth serve`, in both configurations it was recorded with.

Scenarios named in passing.txt must pass; one that passes must be named there, so that nothing
leaves the list unseen. The others wait for something the server does not have yet, which must be
one of NEEDS. Prints what passes and what waits, group by group; --report FILE writes the same to a
file, --update writes the list anew.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden")
LIST = os.path.join(HERE, "passing.txt")
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from harness import Server  # pylint: disable=wrong-import-position

RANGES = {"dualstack": "10.96.0.0/16,fd00:10:96::/108", "singlestack": "10.96.0.0/16"}
HEADER = "# Scenarios of golden/ that pass, in every configuration they run in.\n"


class Scenario:
    """The requests of a scenario and the recorded answers, as far as NEEDS asks for them."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        expected = os.path.join(GOLDEN, "expected", os.path.basename(path))
        with open(expected, encoding="utf-8") as file:
            self.answers = file.read()
        self.name = document["name"]
        self.steps = document["steps"]

    def waits_for(self):
        return [what for what, needed in NEEDS.items() if needed(self)]


# What the server does not have yet, and how to tell that a scenario needs it.
NEEDS = {
    # With a number shared as DIFFERENCES.md 8 has it, the PUT that names it changes nothing, nor
    # does the next one that leaves it out: their recorded versions are those of two changes.
    "what it contradicts": lambda scenario: scenario.name == "nodeport-update-sharing",
}


def replay(stack):
    """What became of each scenario: None if it passed, else the differences."""
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


def group_of(name):
    return name.split("-")[0]


def table(scenarios, passed):
    """Lines of text: per group how many pass, how many wait, and what these wait for."""
    lines = [f"{'group':<18} {'passed':>6} {'waiting':>7}  for"]
    for group in sorted({group_of(name) for name in scenarios}):
        members = [name for name in scenarios if group_of(name) == group]
        waiting = [name for name in members if name not in passed]
        reasons = Counter(what for name in waiting for what in scenarios[name].waits_for())
        text = ", ".join(f"{what} ({count})" for what, count in reasons.most_common())
        lines.append(f"{group:<18} {len(members) - len(waiting):>6} {len(waiting):>7}  "
                     f"{text}".rstrip())
    lines.append(f"{'all':<18} {len(passed):>6} {len(scenarios) - len(passed):>7}")
    return lines


def complaints(scenarios, failures, passed, listed):
    for name in sorted(listed - set(scenarios)):
        yield f"{name}: listed in passing.txt, but there is no such scenario"
    for name in sorted(listed & set(scenarios) - passed):
        yield f"{name}: must pass\n" + "\n".join(
            f"{stack}: {text}" for stack, text in failures[name].items())
    for name in sorted(passed - listed):
        yield f"{name}: passes now; add it to passing.txt (run.py --update)"
    for name in sorted(set(scenarios) - passed - listed):
        if not scenarios[name].waits_for():
            yield f"{name}: fails, and needs nothing that is still to come\n" + "\n".join(
                f"{stack}: {text}" for stack, text in failures[name].items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--report", metavar="FILE", help="also write the table there")
    parser.add_argument("--update", action="store_true", help="write passing.txt")
    options = parser.parse_args()
    found = map(Scenario, sorted(glob.glob(os.path.join(GOLDEN, "scenarios", "*.json"))))
    scenarios = {scenario.name: scenario for scenario in found}
    with ThreadPoolExecutor() as pool:
        results = dict(zip(RANGES, pool.map(replay, RANGES)))
    failures = {name: {stack: result[name] for stack, result in results.items()
                       if result.get(name) is not None} for name in scenarios}
    ran = {name for result in results.values() for name in result}
    if ran != set(scenarios):
        raise SystemExit(f"not run: {', '.join(sorted(set(scenarios) - ran))}")
    passed = {name for name in scenarios if not failures[name]}
    lines = table(scenarios, passed)
    print("\n".join(lines))
    if options.report:
        with open(options.report, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if options.update:
        with open(LIST, "w", encoding="utf-8") as file:
            file.write(HEADER + "".join(f"{name}\n" for name in sorted(passed)))
    with open(LIST, encoding="utf-8") as file:
        listed = {line.strip() for line in file if not line.startswith("#")} - {""}
    wrong = list(complaints(scenarios, failures, passed, listed))
    if wrong:
        print("\n" + "\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
