#!/usr/bin/env python3
"""Fails when the subject of a commit that is not on main yet has more than 72 columns.

Commits of the published main (origin/main) are left alone, since they can no longer be changed. The
local main takes its place where there is no origin/main. Only the last commit is checked on main
itself if there is no published one, where there is no main, and in a shallow clone whose history
does not reach back to main. Merges count like all commits.

Usage: check_commits.py [ROOT]; exits 1 and names each commit, or prints how many are fine.
"""
import pathlib
import subprocess
import sys

COLUMNS = 72


def git(root, *words):
    """Returns what git prints, or None if it fails."""
    run = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def commits_to_check(root):
    """Returns (words for git log, which commits these are, where a rebase of them begins)."""
    last = ["-1", "HEAD"]
    known = [name for name in ("origin/main", "main")
             if git(root, "rev-parse", "-q", "--verify", f"{name}^{{commit}}")]
    if not known:
        return last, "the last one, since there is no main to compare with", "HEAD~1"
    main = known[0]
    if git(root, "merge-base", main, "HEAD") is None:
        return last, f"the last one, since the history here does not reach {main}", "HEAD~1"
    if main == "main" and git(root, "rev-list", "-1", "main..HEAD") == "":
        return last, "the last one, since main has no published copy here", "HEAD~1"
    return [f"{main}..HEAD"], f"those that {main} does not have", main


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    words, which, base = commits_to_check(root)
    log = git(root, "log", "--format=%h %s", *words)
    if log is None:
        sys.exit(f"{root} has no commits")
    commits = [line.partition(" ") for line in log.splitlines()]
    long = [(name, subject) for name, _, subject in commits if len(subject) > COLUMNS]
    for name, subject in long:
        print(f"commit {name}: its subject has {len(subject)} columns, more than {COLUMNS}: "
              f"{subject}", file=sys.stderr)
    if long:
        sys.exit("Shorten it, and put the rest into the body. `git commit --amend` changes the "
                 f"last\ncommit; `git rebase -i --rebase-merges {base}` with `reword` changes others.")
    print(f"commits: {len(commits)} ({which}), each subject within {COLUMNS} columns")


if __name__ == "__main__":
    main()
