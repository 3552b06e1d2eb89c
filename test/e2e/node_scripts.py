"""Runs the scripts of js/ as programs.

The packages that js/package-lock.json pins are installed once into JS_DIR, from npm's registry,
because Debian has no package of the JavaScript client. If the registry cannot be reached, a test is
skipped, or fails if BERTH_REQUIRE_NPM is set.
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

import harness
import tools
from harness import PATIENCE, environment

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "js")
FOLDER = os.environ.get("JS_DIR", os.path.join(tempfile.gettempdir(), "berth-js"))
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"


def npm_environment():
    """Returns the environment of npm. Node.js has its own authorities; this adds those that the
    system trusts."""
    if "NODE_EXTRA_CA_CERTS" in os.environ or not os.path.exists(AUTHORITIES):
        return environment()
    return environment(NODE_EXTRA_CA_CERTS=AUTHORITIES)


def npm(*args, **more):
    """Runs npm and waits for it. Returns its exit status and its output."""
    done = subprocess.run([tools.NPM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, env=npm_environment(),
                          **more)
    return done.returncode, done.stdout


def why_unreachable():
    """Returns why npm's registry cannot be reached, or None if it answers. Takes a few seconds at
    most, while an installation would retry many times."""
    try:
        status, said = npm("ping", "--fetch-retries=0", "--fetch-timeout=5000", timeout=8)
    except subprocess.TimeoutExpired:
        return "npm ping got no answer in 8 s"
    return f"npm ping failed:\n{said}" if status != 0 else None


def install():
    """Installs what is missing. Returns None, or why the packages are not available."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(os.path.join(FOLDER, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Tests may run in parallel.
        return install_alone()


def copy(name):
    """Copies a file atomically, because another test may be about to run the existing one."""
    target = os.path.join(FOLDER, os.path.basename(name))
    shutil.copy(name, target + ".new")
    os.replace(target + ".new", target)


def install_alone():
    installed = os.path.join(FOLDER, "installed.json")  # The lock file of the installed packages.
    lock = os.path.join(SOURCES, "package-lock.json")
    for script in glob.glob(os.path.join(SOURCES, "*.mjs")):
        copy(script)
    if os.path.exists(installed) and filecmp.cmp(lock, installed, shallow=False):
        return None
    for name in ("package.json", "package-lock.json"):
        copy(os.path.join(SOURCES, name))
    unreachable = why_unreachable()
    if unreachable:
        return unreachable
    status, said = npm("ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=FOLDER)
    if status != 0:
        sys.exit(f"npm ci failed:\n{said}")
    shutil.copy(lock, installed)
    return None


class Script:
    """A running script. Its lines are read as they come."""

    def __init__(self, name, server, namespace):
        self.lines = queue.Queue()
        self.process = subprocess.Popen([tools.NODE, os.path.join(FOLDER, name), server.kubeconfig,
                                         namespace], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment())
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next(self):
        """Returns the next step and its result."""
        line = self.lines.get(timeout=PATIENCE)
        if line is None:
            raise AssertionError(f"the script ended: {self.process.stderr.read()}")
        return tuple(json.loads(line))

    def all(self):
        """Returns all steps and their results, to the end."""
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
    """Installs the packages and runs the tests of a script."""
    reason = install()
    if reason:
        print("The tests of the JavaScript client need npm's registry, which cannot be reached "
              f"from here. Connect this machine to it, or leave these tests out.\n{reason}",
              file=sys.stderr)
        sys.exit(1 if os.environ.get("BERTH_REQUIRE_NPM") else 77)
    harness.main()
