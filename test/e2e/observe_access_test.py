#!/usr/bin/env python3
"""`berth observe` beyond loopback: the cluster decides who may read. The stand-in for kube-apiserver
answers a TokenReview and a SubjectAccessReview as the real one does. The observer enters it with a
credential plugin, which runs once."""

import json
import os
import ssl
import subprocess
import urllib.error
import urllib.request

from authority import Authority
from eyes_test import objects_of, rules_of
from harness import BERTH, Case, environment, free_ports, main, wait_for
from reviews import Reviews
from rough_server import RoughServer, make_services

OWN = "token-of-the-observer"


class AccessTest(Case):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.folder, "ca")
        self.pair = self.authority.server("server", "IP:127.0.0.1")
        self.reviews = Reviews()
        self.reviews.add("of-prometheus", "prometheus", uid="7", groups=("ops",), zone=["a", "b"])
        self.reviews.add("of-eve", "eve")
        self.reviews.allow("ops", "/metrics")
        self.port = free_ports(1)[0]

    def serve_cluster(self):
        cluster = RoughServer(services=make_services(20), certificate=self.pair, token=OWN,
                              port=self.port)
        cluster.reviews = self.reviews
        self.addCleanup(lambda: cluster.stopping or cluster.stop())
        return cluster

    def kubeconfig(self):
        """Returns a file whose user has a credential plugin, which counts its runs."""
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                      "status": {"token": OWN}}
        plugin = self.path("plugin")
        with open(plugin, "w", encoding="utf-8") as out:
            out.write(f"#!/bin/sh\necho run >> {self.path('runs')}\necho '{json.dumps(credential)}'\n")
        os.chmod(plugin, 0o700)
        path = self.path("config")
        with open(path, "w", encoding="utf-8") as out:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "here",
                "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                       "certificate-authority": self.authority.cert}}],
                "users": [{"name": "u", "user": {"exec": {
                    "apiVersion": "client.authentication.k8s.io/v1", "command": plugin,
                    "interactiveMode": "Never"}}}]}, out)
        return path

    def runs(self):
        with open(self.path("runs"), encoding="utf-8") as file:
            return len(file.readlines())

    def observe(self):
        """Starts an observer that every machine can reach."""
        port = free_ports(1)[0]
        certificate, key = self.pair
        process = subprocess.Popen(
            [BERTH, "observe", "--kubeconfig", self.kubeconfig(), "--data-dir", self.path("observer"),
             "--listen", f"0.0.0.0:{port}", "--tls-cert-file", certificate, "--tls-private-key-file",
             key], stderr=subprocess.DEVNULL, env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.url = f"https://127.0.0.1:{port}"
        wait_for(lambda: self.get("/livez")[0] == 200)

    def get(self, path, authorization=None):
        """Returns the code, the text and the headers, or 0 if there is no answer."""
        headers = {"Authorization": authorization} if authorization else {}
        request = urllib.request.Request(self.url + path, headers=headers)
        context = ssl.create_default_context(cafile=self.authority.cert)
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), error.headers
        except OSError:
            return 0, "", {}

    def message(self, path, code, token):
        """Checks the code of an answer to the bearer of a token. Returns its message."""
        answered, text, _ = self.get(path, f"Bearer {token}")
        self.assertEqual(answered, code, text)
        return json.loads(text)["message"]

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def test_the_cluster_decides_who_may_read(self):
        cluster = self.serve_cluster()
        self.observe()
        wait_for(self.is_ready)
        for authorization in (None, "Bearer ", "Basic amFuZTpwYXNz", "of-prometheus"):
            code, text, headers = self.get("/metrics", authorization)
            self.assertEqual((code, headers["WWW-Authenticate"]), (401, "Bearer"), text)
        self.assertEqual(self.reviews.asked, [])
        self.assertEqual(self.message("/metrics", 401, "unknown"),
                         "the cluster does not know this token")
        # The user is known, but may not read.
        self.assertEqual(self.message("/metrics", 403, "of-eve"),
                         "the cluster does not allow you to get /metrics")
        code, text, _ = self.get("/metrics", "Bearer of-prometheus")
        self.assertEqual(code, 200, text)
        self.assertIn("\nberth_observer_services 20\n", text)
        # Each path is asked for by itself.
        self.message("/api/v1/top", 403, "of-prometheus")
        self.reviews.allow("eve", "/api/v1/top")
        wait_for(lambda: self.get("/api/v1/top", "Bearer of-eve")[0] == 200)  # 503 until it has counted.
        for path in ("/livez", "/readyz", "/readyz?verbose", "/readyz/cluster"):
            self.assertEqual(self.get(path)[0], 200, path)

        asked = [each["spec"] for each in self.reviews.asked
                 if each["kind"] == "SubjectAccessReview" and each["spec"]["user"] == "prometheus"]
        self.assertEqual(asked[0], {
            "user": "prometheus", "uid": "7", "groups": ["ops", "system:authenticated"],
            "extra": {"zone": ["a", "b"]},
            "nonResourceAttributes": {"path": "/metrics", "verb": "get"}})
        cluster.assert_only_reads()
        self.assertEqual(self.runs(), 1)

    def test_answers_are_kept_for_a_moment(self):
        self.serve_cluster()
        self.observe()
        wait_for(self.is_ready)
        # Ten seconds. A machine on which ten requests take longer asks twice.
        for _ in range(10):
            self.assertEqual(self.get("/metrics", "Bearer of-prometheus")[0], 200)
        self.assertLessEqual(self.reviews.count("TokenReview"), 2)
        self.assertLessEqual(self.reviews.count("SubjectAccessReview"), 2)

    def test_an_api_server_that_is_away(self):
        cluster = self.serve_cluster()
        self.observe()
        wait_for(self.is_ready)
        cluster.stop()
        said = self.message("/metrics", 503, "of-prometheus")
        self.assertIn("the cluster does not say whether you may read this: cannot reach the server "
                      f"https://127.0.0.1:{self.port}", said)
        self.assertEqual(self.get("/metrics")[0], 401)
        self.assertEqual(self.get("/livez")[0], 200)
        self.assertIn(self.get("/readyz?verbose")[0], (200, 500))  # It depends on the lag.
        self.serve_cluster()
        wait_for(lambda: self.get("/metrics", "Bearer of-prometheus")[0] == 200)
        self.assertEqual(self.runs(), 1)

    def test_an_observer_that_may_not_ask(self):
        cluster = self.serve_cluster()
        cluster.rules = rules_of(*objects_of("reader.yaml"))  # Without system:auth-delegator.
        cluster.user = "observer"
        self.observe()
        wait_for(self.is_ready)
        said = self.message("/metrics", 503, "of-prometheus")
        self.assertIn('user "observer" may not create tokenreviews.authentication.k8s.io', said)
        self.assertEqual(self.reviews.asked, [])
        cluster.rules += [{"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"],
                           "verbs": ["create"]},
                          {"apiGroups": ["authorization.k8s.io"],
                           "resources": ["subjectaccessreviews"], "verbs": ["create"]}]
        self.assertEqual(self.get("/metrics", "Bearer of-prometheus")[0], 200)

    def test_a_plugin_runs_once_also_while_the_server_is_away(self):
        self.observe()
        # Three attempts to read the outline, with one and two seconds in between.
        wait_for(lambda: "cannot reach the server" in self.get("/readyz")[1])
        cluster = self.serve_cluster()
        wait_for(self.is_ready)
        self.assertEqual(self.get("/metrics", "Bearer of-prometheus")[0], 200)
        self.assertGreaterEqual(len(cluster.seen("watch=")), 3)
        self.assertEqual(self.runs(), 1)


if __name__ == "__main__":
    main()
