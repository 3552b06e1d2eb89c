#!/usr/bin/env python3
"""The JavaScript client (@kubernetes/client-node) against `berth serve`: the scripts of js/.

The packages that js/package-lock.json pins are installed once into JS_DIR. Only a registry that
cannot be reached skips the test.
"""

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

from harness import PATIENCE, Case, environment

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
    installed = os.path.join(FOLDER, "installed.json")  # The lock file of what is there.
    lock = os.path.join(SOURCES, "package-lock.json")
    for script in glob.glob(os.path.join(SOURCES, "*.mjs")):
        shutil.copy(script, FOLDER)
    if os.path.exists(installed) and filecmp.cmp(lock, installed, shallow=False):
        return None
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(SOURCES, name), FOLDER)
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


def failure(code, reason, message):
    return {"code": code, "kind": "Status", "reason": reason, "message": message}


class JavaScriptTest(Case):

    def script(self, name, server, namespace):
        script = Script(name, server, namespace)
        self.addCleanup(script.stop)
        return script

    def test_objects(self):
        steps = self.script("crud.mjs", self.server(), "js").all()
        self.assertIn("must", steps["invalid"].pop("message"))
        self.assertEqual(steps, {
            "created": ["web", "js", "ClusterIP", "TCP", True],
            "read": True,
            "replaced": [{"tier": "front"}, True, True, True],
            "replaced with the same": True,
            "conflict": failure(
                409, "Conflict", 'Operation cannot be fulfilled on services "web": the object has '
                "been modified; please apply your changes to the latest version and try again"),
            "exists": failure(409, "AlreadyExists", 'services "web" already exists'),
            "invalid": {"code": 422, "kind": "Status", "reason": "Invalid"},
            "no such namespace": failure(404, "NotFound", 'namespaces "nowhere" not found'),
            "after a dry run": 404,
            "deleted": "web",
            "gone": failure(404, "NotFound", 'services "web" not found'),
            "pages": [["a", "b"], ["c", "d"], ["e"]],
            "by label": ["a", "c", "e"],
            "by field": ["js/d"],
            "after deletecollection": ["b", "d"],
            "event in both groups": ["up", "web", "2023-11-14T22:13:20.123000Z"],
            "lease": ["two", "2023-11-14T22:13:20.123000Z"],
            "version": "1",
            "any kind": [{"note": "x"}, ["leader"], 404],
        })

    def test_watch_and_informer(self):
        server = self.server()
        services = "/api/v1/namespaces/js/services"
        spec = {"clusterIP": "None", "ports": [{"port": 80}]}

        def write(method, path, body=None):
            answer = server.call(method, path, body)
            self.assertIn(answer.code, (200, 201), answer)
            return answer.json

        def service(name, **labels):
            return {"metadata": {"name": name, "labels": labels}, "spec": spec}

        def informed(count):
            return sorted(script.next() for _ in range(count))

        write("POST", "/api/v1/namespaces", {"metadata": {"name": "js"}})
        script = self.script("follow.mjs", server, "js")
        self.assertEqual(script.next(), ("watch ended", None))
        self.assertEqual(script.next(), ("watched", ["ADDED Service seen", "MODIFIED Service seen",
                                                     "DELETED Service seen"]))
        for name in ("kept", "old"):
            write("POST", services, service(name))
        script.say("start")
        self.assertEqual(informed(2), [("add", "kept"), ("add", "old")])
        write("POST", services, service("live"))
        self.assertEqual(script.next(), ("add", "live"))

        # What happens while it is not connected must not be lost, however the server went away.
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(script.next(), ("disconnected", "ECONNREFUSED"))
        server = self.server(port=server.port)
        write("DELETE", f"{services}/old")
        write("PUT", f"{services}/kept", service("kept", changed="yes"))
        write("POST", services, service("new"))
        script.say("start")
        self.assertEqual(informed(3), [("add", "new"), ("delete", "old"), ("update", "kept")])

        write("DELETE", f"{services}/live")
        self.assertEqual(script.next(), ("delete", "live"))
        server.process.kill()
        server.process.wait()
        self.assertEqual(script.next()[0], "disconnected")
        server = self.server(port=server.port)
        write("DELETE", f"{services}/new")
        write("POST", services, service("last"))
        script.say("start")
        self.assertEqual(informed(2), [("add", "last"), ("delete", "new")])
        script.say("list")
        self.assertEqual(script.next(), ("cache", ["kept", "last"]))
        script.say("stop")
        self.assertEqual(script.process.wait(PATIENCE), 0)


if __name__ == "__main__":
    REASON = install()
    if REASON:
        print(f"skipped: {REASON}", file=sys.stderr)
        sys.exit(77)
    unittest.main()
