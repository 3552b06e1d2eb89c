"""Helpers for tests of kubectl: an old and a current kubectl, and a simple way to run one of them.
"""

import json
import os
import re
import subprocess
import sys

import tools
from harness import Answer, PATIENCE, SharedServerCase, environment, wait_for


class Kubectl:
    def __init__(self, path, minor):
        if not os.access(path, os.X_OK):
            sys.exit(f"{path} is missing; ./dev setup unpacks it")
        self.path = path
        self.minor = minor  # Of its version, which is 1.minor.
        self.verbs = []

    def note(self, args):
        verb = " ".join(args[:2]) if args[0] in ("create", "set") else args[0]
        for flag in ("-w", "--watch-only", "--server-side", "--prune", "-k"):
            if flag in args:
                verb += " " + flag.replace("--watch-only", "-w")
        if verb not in self.verbs:
            self.verbs.append(verb)


OLD = Kubectl(tools.KUBECTL_OLD, 20)
CURRENT = Kubectl(tools.KUBECTL, 32)
BOTH = (OLD, CURRENT)


def since(minor):
    """Marks a test of a feature that kubectl has since 1.minor. Older versions skip it."""
    def mark(test):
        test.since = minor
        return test
    return mark


def cases(*tests, base=SharedServerCase):
    """Returns a class of the tests for each kubectl, by name."""
    made = {}
    for kubectl in BOTH:
        for each in tests:
            name = f"{each.__name__}_1_{kubectl.minor}"
            too_new = {test: None for test in dir(each)
                       if getattr(getattr(each, test), "since", 0) > kubectl.minor}
            made[name] = type(name, (each, base), {
                "KUBECTL": kubectl, "__module__": each.__module__, **too_new})
    return made


def with_old(*classes):
    """Returns classes of the same tests with the old kubectl, by name."""
    return {f"{each.__name__}_1_{OLD.minor}":
            type(f"{each.__name__}_1_{OLD.minor}", (each,),
                 {"KUBECTL": OLD, "__module__": each.__module__}) for each in classes}


def tell():
    """Prints which verbs ran with which kubectl."""
    for kubectl in BOTH:
        print(f"\nkubectl 1.{kubectl.minor}: {', '.join(sorted(kubectl.verbs))}", end="",
              file=sys.stderr)
    print(file=sys.stderr)


def service(name, labels=None, **more):
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "labels": labels or {"app": name}, **more},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}]}}


class Verbs:
    """Runs kubectl, and checks the outcome without kubectl."""

    KUBECTL = None

    def start(self, *args, env=None, **more):
        """Starts kubectl with the credentials that the server wrote, in the test's namespace."""
        self.KUBECTL.note(args)
        env = environment(HOME=self.folder, KUBECONFIG=self.server.kubeconfig, TERM="dumb",
                          **(env or {}))
        return subprocess.Popen([self.KUBECTL.path, *args, "-n", self.namespace], env=env,
                                encoding="utf-8", stdin=subprocess.PIPE,
                                stdout=more.get("stdout", subprocess.PIPE),
                                stderr=more.get("stderr", subprocess.PIPE))

    def run_it(self, *args, text=None, env=None):
        process = self.start(*args, env=env)
        self.addCleanup(process.kill)
        out, err = process.communicate(text, PATIENCE)
        return process.returncode, out, err

    def good(self, *args, text=None, env=None):
        code, out, err = self.run_it(*args, text=text, env=env)
        self.assertEqual(code, 0, err)
        return out

    def bad(self, *args, text=None, env=None):
        code, out, err = self.run_it(*args, text=text, env=env)
        self.assertNotEqual(code, 0, out)
        return err.strip()

    def names(self, *args):
        return self.good("get", "svc", "-o", "name", *args).split()

    def url(self, name, resource="services"):
        group = "/apis/coordination.k8s.io/v1" if resource == "leases" else "/api/v1"
        return f"{group}/namespaces/{self.namespace}/{resource}/{name}"

    def read(self, name, resource="services"):
        """Returns the object, or None if it does not exist."""
        answer = self.server.call("GET", self.url(name, resource))
        self.assertIn(answer.code, (200, 404), answer)
        return answer.json if answer.code == 200 else None

    def owners(self, name):
        """Returns {(manager, operation): the fields that it owns} of the Service."""
        return {(each["manager"], each["operation"]): each["fieldsV1"]
                for each in self.read(name)["metadata"].get("managedFields", [])}

    def make(self, *names, **more):
        """Creates Services without kubectl, which would take long for many."""
        connection = self.server.connection()
        for name in names:
            connection.request("POST", f"/api/v1/namespaces/{self.namespace}/services",
                               json.dumps(service(name, **more)),
                               {"Authorization": f"Bearer {self.server.TOKEN}",
                                "Content-Type": "application/json"})
            made = Answer(connection.getresponse())
            self.assertEqual(made.code, 201, made)
        connection.close()

    def remove(self, name):
        gone = self.server.call("DELETE", self.url(name))
        self.assertEqual(gone.code, 200, gone)

    def file(self, name, content):
        path = os.path.join(self.folder, f"{self.namespace}-{name}")
        with open(path, "w", encoding="utf-8") as out:
            out.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def edit(self, *scripts, resource="svc/web", flags=()):
        """Runs kubectl edit with an editor that runs one sed script after the other. Also returns
        what the editor was shown each time."""
        folder = os.path.join(self.folder, self.namespace)
        os.makedirs(folder, exist_ok=True)
        for number, script in enumerate(scripts):
            with open(os.path.join(folder, f"{number}.sed"), "w", encoding="utf-8") as out:
                out.write(script)
        editor = self.file("editor.sh", f"""#!/bin/sh
cd {folder}
count=$(ls shown.* 2>/dev/null | wc -l)
cp "$1" shown.$count
test -e $count.sed && sed -i -f $count.sed "$1"
""")
        os.chmod(editor, 0o755)
        done = self.run_it("edit", resource, *flags, env={"KUBE_EDITOR": editor})
        shown = []
        for name in sorted(name for name in os.listdir(folder) if name.startswith("shown.")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                shown.append(file.read())
            os.remove(os.path.join(folder, name))
        return done, shown

    def follow(self, *args):
        """Starts a kubectl that watches. Returns it and a function that returns its output so far.
        The watch has started when this returns."""
        paths = [os.path.join(self.folder, f"{self.namespace}.{name}") for name in ("out", "err")]
        with open(paths[0], "w", encoding="utf-8") as out, \
                open(paths[1], "w", encoding="utf-8") as err:
            process = self.start(*args, "-v=6", stdout=out, stderr=err)

        def stop():
            process.kill()
            process.communicate()
        self.addCleanup(stop)

        def text(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
        wait_for(lambda: re.search(r"watch=true.*\b200 OK", text(paths[1])))
        return process, lambda: text(paths[0])
