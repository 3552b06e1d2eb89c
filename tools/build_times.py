#!/usr/bin/env python3
"""Prints how long the last build of a build folder spent on compiling and on linking.

Usage: build_times.py BUILD_DIR. The times are ninja's: the sum of the seconds of all steps,
including those that ran in parallel.
"""
import pathlib
import sys


def steps(log):
    """Returns {output: seconds} of the last run of each step."""
    times = {}
    for line in log.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            times[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return times


def main():
    folder = pathlib.Path(sys.argv[1])
    kinds = {"compiling": [], "linking": []}
    for output, seconds in steps(folder / ".ninja_log").items():
        if output.endswith((".o", ".gch", ".pch")):
            kinds["compiling"].append(seconds)
        elif "." not in pathlib.Path(output).name or output.endswith((".a", ".so")):
            kinds["linking"].append(seconds)
    print("    " + ", ".join(f"{kind} {sum(times):.0f} s in {len(times)} steps"
                             for kind, times in kinds.items()) + ", added up")


if __name__ == "__main__":
    main()
