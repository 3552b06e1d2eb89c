#!/usr/bin/env python3
"""Fails when a coroutine uses a pattern that g++ 12 miscompiles.

Inside a co_await expression g++ 12 destroys an aggregate temporary twice: a lambda with captures,
or a braced aggregate. The cure is to name the value first and move it in. clang-query finds the
patterns in the syntax tree, so comments and strings do not matter.

Usage: check_coroutines.py BUILD_DIR [FILE...]; without files, every source that says co_await.
"""
import pathlib
import re
import subprocess
import sys

MATCHERS = {
    "lambda with captures": "match coawaitExpr(isExpansionInMainFile(), "
                            "hasDescendant(lambdaExpr(hasDescendant(fieldDecl())).bind(\"bad\")))",
    "braced aggregate": "match coawaitExpr(isExpansionInMainFile(), "
                        "hasDescendant(initListExpr().bind(\"bad\")))",
}
DIAGNOSTIC = re.compile(r'^(.+?):(\d+):\d+: note: "bad" binds here')


def find_bad(files, compile_args):
    """Returns {(file, line): pattern}."""
    bad = {}
    for pattern, matcher in MATCHERS.items():
        run = subprocess.run(
            ["clang-query-19", "-c", "set bind-root false", "-c", "set output diag", "-c", matcher,
             *map(str, files), *compile_args],
            capture_output=True, text=True)
        if run.returncode != 0 or "error:" in run.stdout + run.stderr:
            sys.exit(f"clang-query-19 failed:\n{run.stdout}{run.stderr}")
        for line in run.stdout.splitlines():
            if match := DIAGNOSTIC.match(line):
                bad[(match[1], int(match[2]))] = pattern
    return bad


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    build, *names = sys.argv[1:]
    files = [pathlib.Path(n) for n in names] or [
        f for top in ("src", "cmd") for f in sorted((root / top).rglob("*.cc"))
        if re.search(r"\bco_await\b", f.read_text())]
    if not files:
        print("coroutines: no file uses co_await")
        return
    bad = find_bad(files, ["-p", build])
    for (file, line), pattern in sorted(bad.items()):
        print(f"{file}:{line}: {pattern} inside co_await, which g++ 12 destroys twice: "
              "give it a name first and std::move it in", file=sys.stderr)
    if bad:
        sys.exit(1)
    print(f"coroutines: {len(files)} files, none uses a pattern g++ 12 miscompiles")


if __name__ == "__main__":
    main()
