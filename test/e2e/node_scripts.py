"""The scripts of js/ as running programs.

The packages that js/package-lock.json pins are installed once into JS_DIR. Only a registry that
cannot be reached skips a test.
"""

import fcntl
import filecmp
import glob
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from harness import PATIENCE, environment

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "js")
FOLDER = os.environ.get("JS_DIR", os.path.join(tempfile.gettempdir(), "berth-js"))
NODE = os.environ.get("NODE", "node")
# A certificate that is not trusted is that of something between here and the registry.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
               "ERR_SOCKET_TIMEOUT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT",
               "UNABLE_TO_VERIFY_LEAF_SIGNATURE")
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


def npm_environment():
    """Node.js has authorities of its own; those that the system trusts count too."""
    if "NODE_EXTRA_CA_CERTS" in os.environ or not os.path.exists(AUTHORITIES):
        return environment()
    return environment(NODE_EXTRA_CA_CERTS=AUTHORITIES)


def install():
    """None, or why the packages cannot be had."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Tests may run side by side.
        return install_alone()


def copy(name):
    """In one step: another test may be about to run what is there."""
    target = os.path.join(FOLDER, os.path.basename(name))
    shutil.copy(name, target + ".new")
    os.replace(target + ".new", target)


def install_alone():
    installed = os.path.join(FOLDER, "installed.json")  # The lock file of what is there.
    lock = os.path.join(SOURCES, "package-lock.json")
    for script in glob.glob(os.path.join(SOURCES, "*.mjs")):
        copy(script)
    if os.path.exists(installed) and filecmp.cmp(lock, installed, shallow=False):
        return None
    for name in ("package.json", "package-lock.json"):
        copy(os.path.join(SOURCES, name))
    run = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=FOLDER,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False, env=npm_environment())
    if run.returncode == 0:
        shutil.copy(lock, installed)
        return None
    if any(word in run.stdout for word in UNREACHABLE):
        return "the npm registry cannot be reached"
    raise SystemExit(f"npm ci failed:\n{run.stdout}")


class Script:
    """A running script. Its lines are read as they come."""

    def __init__(self, name, server, namespace):
        self.lines = queue.Queue()
        self.process = subprocess.Popen([NODE, os.path.join(FOLDER, name), server.kubeconfig,
                                         namespace], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment())
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next(self):
        """The next step and its result."""
        line = self.lines.get(timeout=PATIENCE)
        if line is None:
            raise AssertionError(f"the script ended: {self.process.stderr.read()}")
        return tuple(json.loads(line))

    def all(self):
        """All steps and their results, to the end."""
        lines = iter(lambda: self.lines.get(timeout=PATIENCE), None)
        steps = dict(json.loads(line) for line in lines)
        if self.process.wait(PATIENCE) != 0:
            raise AssertionError(f"the script failed after {steps}: {self.process.stderr.read()}")
        return steps

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.kill()
        self.process.communicate()


def main():
    """Of a test of scripts."""
    reason = install()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(77)
    unittest.main()
