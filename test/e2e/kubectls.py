"""What tests of kubectl share: every kubectl there is, and a plain way to run one of them.

Debian's is unpacked by ./dev setup (KUBECTL_OLD says where). The one on the PATH runs as well if it
is of another version; where that is a dispatcher, those that it chooses from are found beside it.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from harness import Answer, PATIENCE, SharedServerCase, environment, wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KUBECTL_OLD = os.environ.get(
    "KUBECTL_OLD", os.path.join(ROOT, "build/tools/kubernetes-client/usr/bin/kubectl"))
# Those from 1.27 on pass too, but take their time and send nothing that these do not.
OLDEST_BESIDE = 30


class Kubectl:
    def __init__(self, path):
        self.path = path
        done = subprocess.run([path, "version", "--client", "-o", "json"], check=True, timeout=60,
                              capture_output=True, env=environment())
        self.version = json.loads(done.stdout)["clientVersion"]["gitVersion"]
        self.minor = int(re.match(r"v1\.(\d+)", self.version)[1])
        self.verbs = []

    def note(self, args):
        verb = " ".join(args[:2]) if args[0] in ("create", "set") else args[0]
        for flag in ("-w", "--watch-only", "--server-side", "--prune", "-k"):
            if flag in args:
                verb += " " + flag.replace("--watch-only", "-w")
        if verb not in self.verbs:
            self.verbs.append(verb)


def find():
    """Debian's, and the one on the PATH."""
    found = {}
    for path in (KUBECTL_OLD, shutil.which("kubectl")):
        if path and os.access(path, os.X_OK):
            kubectl = Kubectl(path)
            found.setdefault(kubectl.version, kubectl)
    return list(found.values())


def find_more():
    """Those, and instead of a dispatcher each of its own."""
    found = find()
    beside = [Kubectl(path) for path in
              glob.glob(os.path.realpath(shutil.which("kubectl") or "kubectl") + ".1.*")]
    beside = [kubectl for kubectl in beside if kubectl.minor >= OLDEST_BESIDE]
    if not beside:
        return found
    plain = [kubectl for kubectl in found if not kubectl.version.endswith("-dispatcher")]
    return sorted(plain + beside, key=lambda kubectl: kubectl.minor)


def cases(kubectls, *verbs):
    """A class of tests for each kubectl, by name."""
    made = {}
    for kubectl in kubectls:
        for tests in verbs:
            name = f"{tests.__name__}_" + re.sub(r"\W", "_", kubectl.version)
            made[name] = type(name, (tests, SharedServerCase),
                              {"KUBECTL": kubectl, "__module__": tests.__module__})
    return made


def tell(kubectls):
    """Prints which verbs ran with which."""
    for kubectl in kubectls:
        print(f"\nkubectl {kubectl.version}: {', '.join(sorted(kubectl.verbs))}", end="",
              file=sys.stderr)
    print(file=sys.stderr)


def main(kubectls):
    if not kubectls:
        print("there is no kubectl; ./dev setup unpacks one", file=sys.stderr)
        sys.exit(77)
    unittest.main()


def service(name, labels=None, **more):
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "labels": labels or {"app": name}, **more},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}]}}


class Verbs:
    """How the tests run kubectl, and look at what became of it without kubectl."""

    KUBECTL = None

    def start(self, *args, env=None, **more):
        """kubectl with the credentials that the server wrote, in the test's namespace."""
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

    def since(self, minor):
        """The verb or flag came with this version."""
        if self.KUBECTL.minor < minor:
            self.skipTest(f"kubectl has this since 1.{minor}")

    def names(self, *args):
        return self.good("get", "svc", "-o", "name", *args).split()

    def url(self, name, resource="services"):
        group = "/apis/coordination.k8s.io/v1" if resource == "leases" else "/api/v1"
        return f"{group}/namespaces/{self.namespace}/{resource}/{name}"

    def read(self, name, resource="services"):
        """The object as it is; None if there is none."""
        answer = self.server.call("GET", self.url(name, resource))
        self.assertIn(answer.code, (200, 404), answer)
        return answer.json if answer.code == 200 else None

    def owners(self, name):
        """(manager, operation) of the Service, by what each of them owns."""
        return {(each["manager"], each["operation"]): each["fieldsV1"]
                for each in self.read(name)["metadata"].get("managedFields", [])}

    def make(self, *names, **more):
        """Services, not by kubectl, since that takes long for many."""
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
        """kubectl edit with an editor that runs one script of sed after the other. Also returns
        what the editor was shown, each time."""
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
        """A kubectl that watches, and a function for what it has printed so far. It watches when
        this returns."""
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
