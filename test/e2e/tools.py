#!/usr/bin/python3
"""The programs that tests use, and where each of them is.

Every path is absolute, so that tests never run another program of the same name that happens to be
on the PATH. `./dev setup` installs all of them. Run as a program, this prints each with its path
and its version, and exits with 1 if one is missing. With the word `javascript` it also checks those
that only the tests of the JavaScript client need.

Tests in C++ start etcd, ip and nsenter, by the same paths.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Two kubectls that are unpacked and not installed, because other packages own /usr/bin/kubectl.
# Debian 12's is from 2021 and Debian 13's from 2025. They send different requests and print
# different output.
KUBECTL_OLD = os.path.join(ROOT, "build/tools/kubectl-1.20/usr/bin/kubectl")
KUBECTL = os.path.join(ROOT, "build/tools/kubectl-1.32/usr/bin/kubectl")

CURL = "/usr/bin/curl"
ETCD = "/usr/bin/etcd"
IP = "/usr/bin/ip"
MOUNT = "/usr/bin/mount"
NODE = "/usr/bin/node"
NPM = "/usr/bin/npm"
NSENTER = "/usr/bin/nsenter"
OPENSSL = "/usr/bin/openssl"
PROMETHEUS = "/usr/bin/prometheus"
PROMTOOL = "/usr/bin/promtool"
PYTHON = "/usr/bin/python3"
UMOUNT = "/usr/bin/umount"
UNSHARE = "/usr/bin/unshare"

# Where a program that a test starts finds others. For instance, kubectl diff runs diff.
PATH = f"{os.path.dirname(KUBECTL)}:/usr/bin:/bin"

# (name, path, arguments that print the version)
ALWAYS = (
    ("kubectl, old", KUBECTL_OLD, ("version", "--client")),
    ("kubectl, current", KUBECTL, ("version", "--client")),
    ("curl", CURL, ("--version",)),
    ("etcd", ETCD, ("--version",)),
    ("ip", IP, ("-Version",)),
    ("mount", MOUNT, ("--version",)),
    ("nsenter", NSENTER, ("--version",)),
    ("openssl", OPENSSL, ("version",)),
    ("prometheus", PROMETHEUS, ("--version",)),
    ("promtool", PROMTOOL, ("--version",)),
    ("python3", PYTHON, ("--version",)),
    ("python3-kubernetes", PYTHON, ("-c", "import kubernetes; print(kubernetes.__version__)")),
    ("umount", UMOUNT, ("--version",)),
    ("unshare", UNSHARE, ("--version",)),
)
FOR_JAVASCRIPT = (
    ("node", NODE, ("--version",)),
    ("npm", NPM, ("--version",)),
)


def version(path, words):
    """Returns the version that the program prints, or None if it does not exist or does not run."""
    try:
        done = subprocess.run([path, *words], capture_output=True, text=True, check=True,
                              timeout=60, env={"PATH": PATH, "HOME": "/", "LANG": "C.UTF-8"})
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\d+(\.\d+)+[\w.+~-]*", done.stdout + done.stderr)
    return found[0] if found else "of an unknown version"


def main():
    """Prints every tool, and what to do about those that are missing."""
    missing = []
    for name, path, words in ALWAYS + (FOR_JAVASCRIPT if "javascript" in sys.argv[1:] else ()):
        is_version = version(path, words)
        if is_version is None:
            missing.append(name)
        print(f"{name:<19} {is_version or 'MISSING':<14} {path}")
    if missing:
        print(f"Tests cannot run without {', '.join(missing)}. ./dev setup installs what is "
              "missing.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
