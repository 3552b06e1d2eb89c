#!/usr/bin/env python3
"""How commands reach a cluster through a proxy, and through `kubectl proxy`. kubectl is the second
opinion: with the same file and environment it has to take the same way."""

import base64
import json
import re
import subprocess

import tools
from harness import BERTH, Case, environment, free_ports, main
from proxy_server import Proxy
from rough_server import RoughServer, make_services

# Linux connects to this machine. Unlike 127.0.0.1, it is no loopback address to programs.
HERE = "0.0.0.0"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def bare(**changes):
    """Returns an environment with these proxies only."""
    env = environment(**changes)
    for name in VARIABLES:
        for each in {name, name.lower()} - changes.keys():
            env.pop(each, None)
    return env


def run(*command, env):
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", timeout=60)


class ProxyTest(Case):
    def setUp(self):
        super().setUp()
        self.proxy = Proxy()
        self.addCleanup(self.proxy.stop)

    def config(self, host, **cluster):
        """Returns a kubeconfig for a server of Berth on this machine."""
        if not hasattr(self, "berth"):
            self.berth = self.server()
        with open(self.berth.ca_file, "rb") as file:
            ca = base64.b64encode(file.read()).decode()
        cluster = {"server": f"https://{host}:{self.berth.port}", "tls-server-name": "127.0.0.1",
                   "certificate-authority-data": ca, **cluster}
        with open(self.path("config"), "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "here",
                       "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
                       "clusters": [{"name": "c", "cluster": cluster}],
                       "users": [{"name": "u", "user": {"token": self.berth.TOKEN}}]}, out)
        return self.path("config")

    def both(self, path, **variables):
        """Runs `berth top` and kubectl. Returns what each of them has asked the proxy for."""
        heard = []
        for command in ((BERTH, "top", "--kubeconfig", path),
                        (tools.KUBECTL, "--kubeconfig", path, "get", "--raw", "/version")):
            before = len(self.proxy.asked)
            done = run(*command, env=bare(**variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            heard.append(self.proxy.asked[before:])
        return heard

    def goes_through(self, path, host, authorization=None, **variables):
        for asked in self.both(path, **variables):
            self.assertEqual({each[:2] for each in asked},
                             {("CONNECT", f"{host}:{self.berth.port}")})
            for _, _, headers in asked:
                self.assertEqual(headers.get("Proxy-Authorization"), authorization)
                self.assertNotIn(self.berth.TOKEN, str(headers))

    def goes_around(self, path, **variables):
        self.assertEqual(self.both(path, **variables), [[], []])

    def test_the_proxy_of_the_environment(self):
        # Only the proxy knows this name.
        path = self.config("cluster.example")
        self.goes_through(path, "cluster.example", HTTPS_PROXY=self.proxy.url)
        self.goes_through(path, "cluster.example", https_proxy=self.proxy.where,
                          NO_PROXY="example.com,other.example")
        password = "Basic " + base64.b64encode(b"jane:secret").decode()
        self.goes_through(path, "cluster.example", password,
                          HTTPS_PROXY=f"http://jane:secret@{self.proxy.where}")
        done = run(BERTH, "top", "--kubeconfig", path, env=bare(HTTPS_PROXY=self.proxy.url,
                                                                 NO_PROXY=".example"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot find cluster.example", done.stderr)

    def test_what_goes_around_the_proxy(self):
        path = self.config(HERE)
        self.goes_through(path, HERE, HTTPS_PROXY=self.proxy.url)
        for around in (HERE, "0.0.0.0/8", f"x.example, {HERE}:{self.berth.port}", "*"):
            self.goes_around(path, HTTPS_PROXY=self.proxy.url, NO_PROXY=around)
        self.goes_around(path, https_proxy=self.proxy.url, no_proxy=HERE)
        # A proxy for plain http is not for https, and what is on this machine needs none.
        self.goes_around(path, HTTP_PROXY=self.proxy.url)
        self.goes_around(self.config("127.0.0.1"), HTTPS_PROXY=self.proxy.url)

    def test_the_proxy_of_the_kubeconfig_counts_before_the_environment(self):
        nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
        for host in (HERE, "127.0.0.1", "cluster.example"):
            path = self.config(host, **{"proxy-url": self.proxy.url})
            self.goes_through(path, host)
            self.goes_through(path, host, HTTPS_PROXY=nowhere, NO_PROXY="*")

    def test_all_commands_and_watches_use_it(self):
        path = self.config("cluster.example", **{"proxy-url": self.proxy.url})
        for command, code in ((("whois", "10.96.0.1"), 0), (("map", "10.96.0.0/24"), 0),
                              (("forecast",), 0), (("verify",), 0),
                              (("blockers", "10.96.0.0/24"), 1)):
            before = len(self.proxy.asked)
            done = run(BERTH, *command, "--kubeconfig", path, env=bare())
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertGreater(len(self.proxy.asked), before, command)
        done = run(BERTH, "observe", "--once", "--kubeconfig", path, "--data-dir",
                   self.path("observer"), env=bare())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_proxy_that_does_not_help(self):
        path, nobody = self.config("cluster.example"), free_ports(1)[0]
        with Proxy(refusal=403) as refusing:
            for url, said in ((refusing.url, f"the proxy {refusing.where} "),
                              (f"127.0.0.1:{nobody}", "cannot connect to the proxy "
                                                      f"127.0.0.1:{nobody}: Connection refused"),
                              ("ftp://127.0.0.1:1", "HTTPS_PROXY")):
                done = run(BERTH, "top", "--kubeconfig", path, env=bare(HTTPS_PROXY=url))
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(said, done.stderr)
                self.assertEqual(done.stdout, "")
            self.assertIn("CONNECT", {each[0] for each in refusing.asked})

    def test_plain_http(self):
        with RoughServer(services=make_services(3)) as cluster:
            here = f"http://{HERE}:{cluster.port}"
            # As kubectl proxy, which is on this machine. No password is sent in the clear.
            done = run(BERTH, "top", "--server", cluster.url, "--token", "secret",
                       env=bare(HTTP_PROXY=self.proxy.url))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.proxy.asked, [])
            # A proxy gets the whole URL.
            done = run(BERTH, "top", "--server", here, "--token", "secret",
                       env=bare(HTTP_PROXY=self.proxy.url))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("10.96.0.0/12", done.stdout)
            self.assertEqual({each[:2] for each in self.proxy.asked},
                             {("GET", f"{HERE}:{cluster.port}")})
            self.assertNotIn("Authorization", {name for each in cluster.seen()
                                               for name in each.headers})
            before = len(self.proxy.asked)
            done = run(BERTH, "top", "--server", here,
                       env=bare(HTTP_PROXY=self.proxy.url, NO_PROXY=HERE))
            self.assertEqual((done.returncode, len(self.proxy.asked)), (0, before), done.stderr)

    def test_kubectl_proxy(self):
        path = self.config("127.0.0.1")
        kubectl = subprocess.Popen([tools.KUBECTL, "--kubeconfig", path, "proxy", "--port=0"],
                                   stdout=subprocess.PIPE, encoding="utf-8", env=bare())
        self.addCleanup(kubectl.stdout.close)
        self.addCleanup(kubectl.wait)
        self.addCleanup(kubectl.kill)
        where = re.search(r"127\.0\.0\.1:\d+", kubectl.stdout.readline())[0]
        for command in (("top",), ("verify",), ("whois", "10.96.0.1")):
            done = run(BERTH, *command, "--server", f"http://{where}", env=bare())
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
