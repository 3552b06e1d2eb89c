"""The flags of `berth serve`, its configuration file, and the messages if they are wrong.

    BERTH_BIN=build/release/berth python3 test/e2e/serve_flags_test.py
"""

import os
import re
import subprocess
import unittest

import tools
from harness import BERTH, Case, environment, free_ports, main

NUMBER = 'invalid argument "{0}" for "--{1}" flag: strconv.ParseInt: parsing "{0}": invalid syntax'


class FlagsCase(Case):
    def said(self, *args):
        """Returns the error message for these flags."""
        done = subprocess.run([BERTH, "serve", "--data-dir", self.path("data"), *args],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              env=environment(), timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        last = done.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("berth serve: "), done.stderr)
        return last[len("berth serve: "):]

    def bad(self, *args):
        """Does the same for an error that is detected before anything is created."""
        message = self.said(*args)
        self.assertFalse(os.path.exists(self.path("data")))
        return message

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(content)
        return self.path(name)


class FlagsTest(FlagsCase):
    def test_values_that_cannot_be(self):
        help_hint = "; see berth serve --help"
        for flag, value, message in (
                ("secure-port", "https", NUMBER.format("https", "secure-port") + help_hint),
                ("secure-port", "", NUMBER.format("", "secure-port") + help_hint),
                ("secure-port", "65536",
                 "--secure-port 65536 must be between 0 and 65535, inclusive"),
                ("secure-port", "-1", "--secure-port -1 must be between 0 and 65535, inclusive"),
                ("bind-address", "localhost", 'invalid argument "localhost" for "--bind-address" '
                                              'flag: failed to parse IP: "localhost"'),
                ("service-cluster-ip-range", "",
                 "--service-cluster-ip-range must contain at least one valid cidr"),
                ("service-cluster-ip-range", "10.0.0.0/16,ten",
                 'service-cluster-ip-range[1] is not a valid cidr: "ten", which should look like '
                 "10.96.0.0/16 or fd00:10:96::/112"),
                ("service-cluster-ip-range", "10.0.0.0/16,fd00::/112,fd01::/112",
                 "--service-cluster-ip-range must not contain more than two entries"),
                ("service-cluster-ip-range", "10.0.0.0/16,10.1.0.0/16",
                 "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of "
                 "different IP family"),
                ("service-cluster-ip-range", "10.0.0.0/30",
                 "--service-cluster-ip-range: the service cluster IP range must be at least 8 IP "
                 "addresses"),
                ("service-node-port-range", "32767-30000",
                 'invalid argument "32767-30000" for "--service-node-port-range" flag: end port '
                 "cannot be less than start port: 32767-30000"),
                ("service-node-port-range", "30000-70000",
                 'invalid argument "30000-70000" for "--service-node-port-range" flag: the port '
                 "range cannot be greater than 65535: 30000-70000"),
                ("service-node-port-range", "1-2+3",
                 'invalid argument "1-2+3" for "--service-node-port-range" flag: unable to parse '
                 "port range: 1-2+3"),
                ("service-node-port-range", "many",
                 'invalid argument "many" for "--service-node-port-range" flag: strconv.Atoi: '
                 'parsing "many": invalid syntax'),
                ("feature-gates", "IPv6DualStack",
                 'invalid argument "IPv6DualStack" for "--feature-gates" flag: missing bool value '
                 "for IPv6DualStack"),
                ("feature-gates", "IPv6DualStack=maybe",
                 'invalid argument "IPv6DualStack=maybe" for "--feature-gates" flag: invalid value '
                 'of IPv6DualStack=maybe, err: strconv.ParseBool: parsing "maybe": invalid '
                 "syntax"),
                ("max-requests-inflight", "-1",
                 "--max-requests-inflight can not be negative value"),
                ("max-mutating-requests-inflight", "-1",
                 "--max-mutating-requests-inflight can not be negative value"),
                ("audit-log-maxbackup", "-1",
                 "--audit-log-maxbackup -1 can't be a negative number"),
                ("audit-log-maxsize", "0", "--audit-log-maxsize 0 must be at least 1"),
                ("tls-cert-file", "a.crt",
                 "--tls-cert-file and --tls-private-key-file must be given together"),
                ("etcd-keyfile", "a.key",
                 "--etcd-certfile and --etcd-keyfile must be given together")):
            with self.subTest(flag=flag, value=value):
                self.assertEqual(self.bad(f"--{flag}", value), message)

    def test_an_unknown_gate_lists_those_there_are(self):
        self.assertRegex(self.bad("--feature-gates", "Nope=true"),
                         '^invalid argument "Nope=true" for "--feature-gates" flag: unrecognized '
                         r"feature gate: Nope; the known gates are \w+(, \w+)*$")

    def test_flags_that_there_are_not(self):
        self.assertEqual(self.bad("--secure-prot", "1"),
                         'unknown flag "--secure-prot"; see berth serve --help')
        self.assertEqual(self.bad("now"), 'unexpected argument "now"; see berth serve --help')
        self.assertEqual(self.bad("--secure-port"),
                         "--secure-port needs a value; see berth serve --help")

    def test_files_that_are_not_right(self):
        junk = self.write("junk", "junk\n")
        missing = self.path("missing")
        nothing = "No such file or directory"
        port = ("--secure-port", "0")
        for flag in ("client-ca-file", "token-auth-file"):
            self.assertEqual(self.said(f"--{flag}", missing, *port),
                             f"--{flag}: cannot read {missing}: {nothing}")
        self.assertEqual(self.said("--client-ca-file", junk, *port),
                         f"--client-ca-file: {junk} does not contain certificates in PEM format")
        self.assertEqual(self.said("--token-auth-file", junk, *port),
                         f"token file '{junk}' must have at least 3 columns (token, user name, "
                         "user uid), found 1 in line 1")
        self.assertEqual(
            self.said("--tls-cert-file", junk, "--tls-private-key-file", junk, *port),
            f"--tls-cert-file: {junk} does not contain certificates in PEM format")
        self.assertEqual(self.said("--config", missing),
                         f"--config: cannot read {missing}: {nothing}")

    def test_a_data_directory_that_cannot_be(self):
        junk = self.write("junk", "")
        done = subprocess.run([BERTH, "serve", "--data-dir", junk], capture_output=True,
                              encoding="utf-8", env=environment(), timeout=60)
        self.assertEqual((done.returncode, done.stderr),
                         (2, f"berth serve: --data-dir: cannot create {junk}: Not a directory\n"))

    def test_without_a_data_directory_it_is_the_users(self):
        home = self.path("home")
        os.mkdir(home)
        env = environment(HOME=home)
        env.pop("XDG_DATA_HOME", None)
        process = subprocess.Popen([BERTH, "serve", "--secure-port", "0"], env=env,
                                   encoding="utf-8", stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        lines = [process.stdout.readline() for _ in range(3)]
        self.assertEqual(lines[2], f"  export KUBECONFIG={home}/.local/share/berth/"
                                   "admin.kubeconfig\n")
        self.assertTrue(os.path.exists(lines[2].split("=")[1].strip()))

    def test_a_relative_directory_is_printed_whole(self):
        process = subprocess.Popen([BERTH, "serve", "--secure-port", "0", "--data-dir", "data"],
                                   env=environment(), encoding="utf-8", cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        lines = [process.stdout.readline() for _ in range(3)]
        folder = os.path.realpath(self.folder)
        self.assertEqual(lines[2], f"  export KUBECONFIG={folder}/data/admin.kubeconfig\n")

    def test_other_addresses(self):
        server = self.server("--bind-address", "0.0.0.0", "--service-cluster-ip-range",
                             "fd00:10:96::/112,10.7.0.0/16")
        names = subprocess.run([tools.OPENSSL, "x509", "-noout", "-ext", "subjectAltName", "-in",
                                f"{server.data_dir}/pki/serving.crt"], check=True,
                               capture_output=True, encoding="utf-8").stdout
        self.assertIn("IP Address:FD00:10:96:0:0:0:0:1", names)
        self.assertIn("IP Address:10.7.0.1", names)
        made = server.call("POST", "/api/v1/namespaces/default/services",
                           {"metadata": {"name": "a"},
                            "spec": {"ipFamilyPolicy": "RequireDualStack",
                                     "ports": [{"port": 80}]}})
        self.assertEqual(made.json["spec"]["ipFamilies"], ["IPv6", "IPv4"])


class ConfigFileTest(FlagsCase):
    def config(self, text):
        return ("--config", self.write("berth.yaml", text))

    def test_settings_as_flags(self):
        port = free_ports(1)[0]
        tokens = self.write("others.csv", 'from-file,admin,1,"system:masters"\n')
        config = self.config(f"secure-port: {port}\ntoken-auth-file: {tokens}\n"
                             "service-cluster-ip-range: [10.7.0.0/16, 'fd00::/112']\n"
                             "feature-gates: {IPv6DualStack: true}\naudit-log-path: none\n")
        # The harness sets the port and the tokens as flags, which take precedence.
        server = self.server(*config)
        self.assertNotEqual(server.port, port)
        self.assertEqual(server.call("GET", "/api").code, 200)
        self.assertEqual(server.call("GET", "/api", token="from-file").code, 401)
        self.assertFalse(os.path.exists(f"{server.data_dir}/audit.jsonl"))
        server.stop()
        process = subprocess.Popen([BERTH, "serve", *config, "--data-dir", server.data_dir],
                                   env=environment(), encoding="utf-8", stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn(f"https://127.0.0.1:{port}.", process.stdout.readline())
        server.port = port
        self.assertEqual(server.call("GET", "/api", token="from-file").code, 200)

    def test_what_is_wrong_in_it(self):
        path = self.path("berth.yaml")
        for text, message in (
                ("secure-prot: 1\n", "unknown setting secure-prot; berth serve --help lists the "
                                     "settings"),
                ("config: other.yaml\n", "unknown setting config; berth serve --help lists the "
                                         "settings"),
                ("secure-port: https\n", NUMBER.format("https", "secure-port")),
                ("secure-port: [[1]]\n", "secure-port must be a string, a whole number, or a list "
                                         "or map of them"),
                ("secure-port: 1\nbind-address: '::'\nsecure-port: 2\n",
                 "line 3: secure-port is set twice"),
                ("secure-port: [\n", "yaml: line 1: did not find expected node content")):
            with self.subTest(text=text):
                self.assertEqual(self.bad(*self.config(text)), f"--config: {path}: {message}")
        self.assertEqual(self.bad(*self.config("just text\n")),
                         f"--config: {path} must contain one setting per line, named like its flag "
                         "(secure-port: 6443)")
        # Errors that are detected after parsing have the same message as for flags.
        self.assertEqual(self.bad(*self.config("secure-port: 70000\n")),
                         "--secure-port 70000 must be between 0 and 65535, inclusive")


class HelpTest(unittest.TestCase):
    def test_worth_reading(self):
        done = subprocess.run([BERTH, "serve", "--help"], capture_output=True, encoding="utf-8",
                              env=environment(), timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        # Every flag has a description, and all flags that an operator of kube-apiserver knows are
        # there.
        flags = set(re.findall(r"^  --([\w-]+) .*(?:\S|\n {24}\S)", done.stdout, re.M))
        self.assertLessEqual(
            {"data-dir", "config", "bind-address", "secure-port", "tls-cert-file",
             "tls-private-key-file", "client-ca-file", "token-auth-file", "etcd-servers",
             "etcd-prefix", "etcd-cafile", "etcd-certfile", "etcd-keyfile",
             "service-cluster-ip-range", "service-node-port-range", "feature-gates",
             "audit-log-path", "audit-log-maxsize", "audit-log-maxbackup",
             "auditor-interval", "max-requests-inflight", "max-mutating-requests-inflight"}, flags)
        for word in ("Examples:\n  berth serve\n", "SIGTERM", "SIGHUP", "Exit status"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    main()
