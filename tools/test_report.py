#!/usr/bin/env python3
"""Prints a summary of ctest's reports: counts, the slowest tests, and skipped tests with reasons.

Usage: test_report.py --count|--total|--skipped|--slowest N  NAME=REPORT.xml...
"""
import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree

# The texts that googletest and Python's unittest print when a test is skipped.
REASONS = (re.compile(r"Skipped\n(.+)"), re.compile(r"skipped:? '?(.+?)'?$", re.M))


class Test:
    """One test of a report."""

    def __init__(self, report, case):
        self.report = report
        self.name = case.get("name")
        self.seconds = float(case.get("time") or 0)
        self.failed = case.find("failure") is not None or case.get("status") == "fail"
        self.skipped = case.find("skipped") is not None
        self.output = case.findtext("system-out") or ""

    def reason(self):
        """Returns the reason that the test prints for being skipped."""
        for pattern in REASONS:
            if found := pattern.search(self.output):
                return found[1].strip()
        lines = self.output.strip().splitlines()
        return lines[-1].strip() if lines else "it does not say why"


def read(argument):
    """Returns the tests of NAME=REPORT.xml."""
    name, path = argument.split("=", 1)
    return [Test(name, case) for case in ElementTree.parse(path).getroot().iter("testcase")]


def count(tests):
    """Returns the totals as one line, in the words of a test runner."""
    failed = sum(test.failed for test in tests)
    skipped = sum(test.skipped for test in tests)
    return f"{len(tests) - failed - skipped} passed, {failed} failed, {skipped} skipped"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--count", action="store_true", help="one line for each report")
    what.add_argument("--total", action="store_true", help="one line for all reports")
    what.add_argument("--skipped", action="store_true", help="each skipped test with its reason")
    what.add_argument("--slowest", type=int, metavar="N", help="the N tests that took longest")
    parser.add_argument("reports", nargs="+", metavar="NAME=REPORT.xml")
    arguments = parser.parse_args()
    reports = {each: read(each) for each in arguments.reports}
    tests = [test for report in reports.values() for test in report]
    if arguments.count:
        for report in reports.values():
            print(f"{report[0].report if report else 'no test'}: {count(report)}")
    elif arguments.total:
        print(count(tests))
    elif arguments.skipped:
        for test in tests:
            if test.skipped:
                print(f"  skipped: {test.name} ({test.report}): {test.reason()}")
        if not any(test.skipped for test in tests):
            print("  no test was skipped")
    else:
        for test in sorted(tests, key=lambda test: -test.seconds)[:arguments.slowest]:
            print(f"  {test.seconds:7.1f} s  {test.report:10} {test.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
