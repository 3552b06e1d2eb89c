"""What the tests of the page share: a browser, servers with something in them, and `berth ui`.

Scripts here import this module first: it makes the helpers of test/e2e known.
"""

import fcntl
import os
import re
import shlex
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "e2e"))

# pylint: disable=wrong-import-position
import clusters
import harness
import tools
from chromium import Chromium
from harness import BERTH, PATIENCE, environment, free_ports, wait_for

ROOT = os.path.dirname(os.path.dirname(HERE))
SHOTS = os.environ.get("BROWSER_SHOTS", os.path.join(ROOT, "build", "release", "browser-shots"))
LINK = re.compile(r"http://127\.0\.0\.1:\d+/\S+")
shared = {}  # The browser of this script.


def browser():
    """Returns the browser of this script, which starts when the first test needs it."""
    if "browser" not in shared:
        shared["browser"] = Chromium()
        unittest.addModuleCleanup(shared["browser"].stop)
    return shared["browser"]


def record(title, text):
    """Prints a result, and keeps it in browser.txt beside the screenshots."""
    print(f"{title}: {text}", file=sys.stderr)
    path = os.path.join(os.path.dirname(SHOTS), "browser.txt")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        lines = [line for line in file if not line.startswith(title + ": ")]
        file.truncate(0)
        file.write("".join(sorted([*lines, f"{title}: {text}\n"])))


class Program:
    """A `berth` that serves the page. Its output is in a file, because it goes on."""

    def __init__(self, folder, *arguments, name="ui"):
        self.path = os.path.join(folder, f"{name}.out")
        self.arguments = arguments
        with open(self.path, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen([BERTH, *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, env=environment(HOME=folder))

    @property
    def output(self):
        with open(self.path, encoding="utf-8", errors="replace") as out:
            return out.read()

    def links(self):
        """Returns the links that it has printed; waits for the first one."""
        def found():
            assert self.process.poll() is None, f"berth ended: {self.output}"
            return LINK.findall(self.output)
        return wait_for(found)

    @property
    def link(self):
        return self.links()[-1]

    @property
    def origin(self):
        return "/".join(self.link.split("/")[:3])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class BrowserCase(harness.Case):
    """A test with a context of its own. It fails if the console of a page complains."""

    FLAGS = ("--service-cluster-ip-range", "10.96.0.0/12")

    def setUp(self):
        super().setUp()
        self.context = browser().context()
        self.addCleanup(self.context.close)

    def tearDown(self):
        # A failed test shows what it saw.
        result = self._outcome.result
        failed = any(test is self for test, _ in [*result.failures, *result.errors])
        for number, page in enumerate(self.context.pages):
            if failed:
                self.shot(page, f"failed-{self._testMethodName}-{number}")
        for page in self.context.pages:
            self.assertEqual(page.complaints(), [])
        super().tearDown()

    def run_it(self, command):
        """Runs a command of the page in a shell, as a person does who pastes it."""
        folder = self.path("bin")
        subprocess.run(["/bin/sh", "-c", f"mkdir -p {folder}; ln -sf {shlex.quote(BERTH)} {folder}/berth"],
                       check=True)
        return subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True,
                              timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
                              env=environment(HOME=self.folder, KUBECONFIG=self.server_.kubeconfig,
                                              PATH=f"{folder}:{tools.PATH}"))

    def shot(self, page, name, whole=False):
        """Keeps a screenshot."""
        os.makedirs(SHOTS, exist_ok=True)
        with open(os.path.join(SHOTS, f"{name}.png"), "wb") as out:
            out.write(page.picture(whole))

    def ui(self, *arguments, port=None):
        """Starts `berth ui` with these arguments."""
        port = port or free_ports(1)[0]
        started = Program(self.folder, "ui", "--port", str(port), *arguments, name=f"ui-{port}")
        self.addCleanup(started.kill)
        started.port = port
        return started

    def ui_of(self, server, **more):
        return self.ui("--kubeconfig", server.kubeconfig, **more)

    def open(self, ui, path="", page=None, **more):
        """Follows the link of `berth ui` in a new tab, and goes on to a path such as "#/map"."""
        page = page or self.context.page(**more)
        # The tests read pixels; and a page that is opened early asks again.
        page.allow("Canvas2D: Multiple readback|status of 503 .*/ui/v1/overview")
        page.go(ui.link)
        page.until("location.pathname === '/' && document.readyState === 'complete'")
        page.find("heading", "Overview")
        if path:
            self.go(page, path)
        return page

    def go(self, page, path):
        page.evaluate(f"location.hash = {path!r}")

    def open_filled(self, path="", **more):
        """Starts a server with the usual things, and `berth ui`; opens the page."""
        self.server_ = clusters.filled(self.server(*self.FLAGS))
        self.ui_ = self.ui_of(self.server_)
        return self.open(self.ui_, path, **more)


def main():
    """Runs the tests of a script. A name of no test is an error."""
    result = unittest.main(exit=False).result
    if not result.testsRun:
        sys.exit("no test has this name")
    sys.exit(not result.wasSuccessful())


__all__ = ["BrowserCase", "PATIENCE", "Program", "browser", "main", "record", "wait_for"]
