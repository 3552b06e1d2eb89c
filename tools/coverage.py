#!/usr/bin/env python3
"""Prints line coverage per folder from a run of the coverage build.

Usage: coverage.py BUILD_DIR [--require FOLDER=PERCENT]...; exits 1 if a folder is below its bar.
Tests themselves are not counted.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys


def lines_by_file(build):
    profiles = [str(p) for p in (build / "profiles").glob("*.profraw")]
    merged = build / "merged.profdata"
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", "-o", merged, *profiles], check=True)
    programs = [p for p in build.rglob("*") if p.is_file() and p.stat().st_mode & 0o111
                and p.suffix == "" and "CMakeFiles" not in p.parts]
    objects = [arg for p in programs for arg in ("-object", str(p))]
    export = subprocess.run(
        ["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", *objects[1:]],
        check=True, capture_output=True, text=True)
    for file in json.loads(export.stdout)["data"][0]["files"]:
        yield pathlib.Path(file["filename"]), file["summary"]["lines"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--require", action="append", default=[])
    args = parser.parse_args()
    bars = {folder: float(percent) for folder, percent in (r.split("=") for r in args.require)}
    root = pathlib.Path(__file__).resolve().parents[1]
    totals = collections.defaultdict(lambda: [0, 0])
    for path, lines in lines_by_file(args.build):
        if not path.is_relative_to(root) or path.stem.endswith("_test"):
            continue
        relative = path.relative_to(root)
        if relative.parts[0] not in ("src", "cmd"):
            continue
        total = totals[relative.parent.as_posix()]
        total[0] += lines["covered"]
        total[1] += lines["count"]
    failed = False
    for folder, (covered, count) in sorted(totals.items()):
        percent = 100 * covered / count
        bar = bars.pop(folder, None)
        verdict = "" if bar is None else f"  {'PASS' if percent >= bar else 'FAIL'} (at least {bar:g} %)"
        failed |= bar is not None and percent < bar
        print(f"{folder:12} {covered:5} of {count:5} lines  {percent:5.1f} %{verdict}")
    if failed or bars:
        sys.exit(1)


if __name__ == "__main__":
    main()
