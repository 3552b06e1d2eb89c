"""How commands enter a server: every form of kubeconfig that kubectl understands, with kubectl as
the second opinion. The same file, in the same environment, has to lead both to the same answer.
"""

import base64
import json
import os
import subprocess

import harness
import tools
from harness import BERTH, environment, main

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


class KubeconfigTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.server_ = self.server()
        with open(self.server_.ca_file, "rb") as file:
            self.ca = base64.b64encode(file.read()).decode()
        self.cluster = {"server": self.server_.url, "certificate-authority-data": self.ca}
        self.env = environment(HOME=self.folder)

    def write(self, name, content, mode=0o600):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        os.chmod(path, mode)
        return path

    def config(self, user, cluster=None, name="config"):
        return self.write(name, {
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster or self.cluster}],
            "users": [{"name": "u", "user": user}]})

    def plugin(self, body, name="bin/plugin"):
        """Writes a credential plugin, a shell script. Returns the `exec` that uses it."""
        self.write(name, "#!/bin/sh\n" + body, 0o700)
        return {"apiVersion": V1, "command": "./" + name, "interactiveMode": "Never"}

    def credential(self, version=V1, **status):
        return json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})

    def verify(self, path):
        return subprocess.run([BERTH, "verify", "--kubeconfig", path], env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              timeout=120)

    def kubectl(self, path):
        return subprocess.run([tools.KUBECTL, "--kubeconfig", path, "get", "--raw",
                               "/berth/v1/allocations"], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, encoding="utf-8", timeout=120)

    def enters(self, path):
        """Checks that both enter the server."""
        for done in (self.kubectl(path), self.verify(path)):
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fails(self, path, *said):
        """Checks that neither enters, and what Berth says about it."""
        self.assertNotEqual(self.kubectl(path).returncode, 0)
        done = self.verify(path)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for each in said:
            self.assertIn(each, done.stderr)

    def test_identities(self):
        with open(self.server_.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        data = {key: text.split(f"{key}: ")[1].split()[0].strip('"')
                for key in ("client-certificate-data", "client-key-data")}
        for key, value in data.items():
            self.write(f"pki/{key}", base64.b64decode(value).decode())
        self.write("pki/token", self.server_.TOKEN + "\n")
        files = {"client-certificate": "pki/client-certificate-data",
                 "client-key": "pki/client-key-data"}
        for user in (data, files, {"token": self.server_.TOKEN}, {"tokenFile": "pki/token"},
                     {"token": "wrong", "tokenFile": "pki/token"},
                     {"exec": self.plugin(f"echo '{self.credential(token=self.server_.TOKEN)}'")},
                     {"token": self.server_.TOKEN, "exec": self.plugin("exit 1", "bin/bad")}):
            with self.subTest(user=user):
                self.enters(self.config(user))
        certificate = self.credential(
            clientCertificateData=base64.b64decode(data["client-certificate-data"]).decode(),
            clientKeyData=base64.b64decode(data["client-key-data"]).decode())
        self.write("credential.json", certificate)
        self.enters(self.config({"exec": self.plugin(f"cat {self.path('credential.json')}")}))
        self.fails(self.config({"token": self.server_.TOKEN, "as": "joe"}),
                   'users "joe" is forbidden: impersonation is not supported')
        self.fails(self.config({"token": "wrong"}), "does not accept the credentials",
                   'context "here" of')
        self.fails(self.config({"token": "plain-token"}), "may not list services")
        self.fails(self.config({"tokenFile": "none"}), 'user "u" in', "cannot read",
                   self.path("none"))

    def test_plugins_are_told_the_same(self):
        said = self.path("said")
        exec_ = self.plugin(f"echo \"$KUBERNETES_EXEC_INFO $1 $EXTRA\" > {said}\n"
                            f"echo '{self.credential(V1BETA1, token=self.server_.TOKEN)}'")
        exec_.update(apiVersion=V1BETA1, args=["an argument"], provideClusterInfo=True,
                     env=[{"name": "EXTRA", "value": "more"}])
        for extra in ({}, {"tls-server-name": "127.0.0.1", "disable-compression": True},
                      {"extensions": [{"name": "client.authentication.k8s.io/exec",
                                       "extension": {"audience": ["x", 1]}}]}):
            path = self.config({"exec": exec_}, self.cluster | extra)
            heard = []
            for run in (self.kubectl, self.verify):
                done = run(path)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(said, encoding="utf-8") as file:
                    info, _, rest = file.read().partition(" an argument")
                heard.append((json.loads(info), rest))
            self.assertEqual(heard[0], heard[1])
            self.assertEqual(heard[1][1], " more\n")

    def test_a_plugin_runs_as_rarely_as_possible(self):
        runs = self.path("runs")
        good, stale = (self.credential(token=token) for token in (self.server_.TOKEN, "stale"))
        for first, count in ((good, 1), (stale, 2)):
            self.write("runs", "")
            plugin = self.plugin(f"echo >> {runs}\nif [ $(wc -l < {runs}) = 1 ]\n"
                                 f"then echo '{first}'\nelse echo '{good}'\nfi")
            done = self.verify(self.config({"exec": plugin}))
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(runs, encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), count)

    def test_plugins_that_fail(self):
        def fails(body, *said, **changes):
            self.fails(self.config({"exec": self.plugin(body) | changes}), *said)
        good = f"echo '{self.credential(token=self.server_.TOKEN)}'"
        fails("echo log in first >&2; exit 3", 'user "u" in', "failed with exit status 3",
              "log in first")
        fails("echo rubbish", "did not print an object of the kind ExecCredential")
        fails("kill -9 $$", "was ended by signal 9")
        fails("echo '{}'", "did not print an object of the kind ExecCredential")
        fails(f"echo '{self.credential(V1BETA1, token='x')}'", "answered with the API version")
        fails(f"echo '{self.credential()}'", "printed neither a token nor")
        fails(f"echo '{self.credential(clientKeyData='x')}'", "a key without its certificate")
        fails(good, "does not exist", "Get it at example.com", command="./none",
              installHint="Get it at example.com")
        fails(good, "is not on the PATH", command="there-is-no-such-plugin")
        fails(good, "interactiveMode is Always", interactiveMode="Always")
        fails(good, "interactiveMode is not set", interactiveMode="")
        fails(good, "exec.apiVersion is", apiVersion="client.authentication.k8s.io/v1alpha1")

    def test_warnings_of_a_plugin_are_shown(self):
        exec_ = self.plugin(f"echo careful >&2; echo '{self.credential(token=self.server_.TOKEN)}'")
        self.assertEqual(self.enters(self.config({"exec": exec_})).stderr, "careful\n")

    def test_a_certificate_for_other_names(self):
        """Both say which names it has. Berth also says where another one is chosen."""
        def names(text, before):
            listed = text.split(before)[1].split(", not for" if ", not for" in text else ", not ")[0]
            return set(listed.replace(" and ", ", ").split(", "))

        elsewhere = f"https://0.0.0.0:{self.server_.port}"  # This machine, under another address.
        for entries, wanted in (({"tls-server-name": "other.example"}, "other.example"),
                                ({"server": elsewhere}, "0.0.0.0")):
            path = self.config({"token": self.server_.TOKEN}, self.cluster | entries)
            self.fails(path, f", not for {wanted}; if it is the right server, set tls-server-name of "
                             f'cluster "c" in {path}, line 1 to one of these names')
            ours = names(self.verify(path).stderr, "the certificate is for ")
            theirs = names(self.kubectl(path).stderr, "certificate is valid for ")
            self.assertTrue(theirs)
            self.assertLessEqual(theirs, ours)  # kubectl lists either the addresses or the others.
            self.assertLessEqual({"localhost", "127.0.0.1"}, ours)
            # It helps to do what it says.
            self.enters(self.config({"token": self.server_.TOKEN},
                                    self.cluster | entries | {"tls-server-name": "localhost"}))
        done = subprocess.run([BERTH, "top", "--kubeconfig", path, "--server", elsewhere],
                              env=self.env, capture_output=True, encoding="utf-8", timeout=120)
        self.assertIn("use one of these names in --server", done.stderr)

    def test_what_cannot_be_used(self):
        self.fails(self.write("config", "a: b\nc: [\nd: e\n"), self.path("config"), "line 3")
        self.fails(self.config({"auth-provider": {"name": "gcp"}}), "gke-gcloud-auth-plugin")
        self.fails(self.config({"token": "a", "username": "b"}), "keep one of them")
        self.fails(self.config({}, {"certificate-authority-data": self.ca}), 'cluster "c" in')
        self.fails(self.config({}, self.cluster | {"insecure-skip-tls-verify": True}),
                   "remove one of them")
        self.fails(self.config({}, self.cluster | {"proxy-url": "ftp://a"}), "its proxy-url")
        self.fails(self.write("config", {"current-context": "x"}), 'context "x" does not exist in '
                   + self.path("config"))


if __name__ == "__main__":
    main()
