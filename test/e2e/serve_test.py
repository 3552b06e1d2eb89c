"""`berth serve` as an operator runs it: first start, restart, crash, shutdown, reload, audit log.

    BERTH_BIN=build/release/berth python3 test/e2e/serve_test.py
"""

import base64
import glob
import http.client
import json
import os
import re
import signal
import ssl
import stat
import subprocess
import threading

import tools
from harness import BERTH, Answer, Case, environment, free_ports, main, wait_for

SERVICES = "/api/v1/namespaces/default/services"


def service(name, port=80):
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": port}]}}


def openssl(*args):
    done = subprocess.run([tools.OPENSSL, *args], check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def refused(server):
    """Returns whether the server accepts no new connections any more."""
    try:
        server.call("GET", "/livez")
        return False
    except (OSError, http.client.HTTPException):
        return True


class HalfRequest:
    """A create whose body is held back until finish()."""

    def __init__(self, server, name):
        self.body = json.dumps(service(name)).encode()
        self.connection = server.connection()
        self.connection.putrequest("POST", SERVICES)
        for header, value in (("Authorization", f"Bearer {server.TOKEN}"),
                              ("Content-Type", "application/json"),
                              ("Content-Length", str(len(self.body)))):
            self.connection.putheader(header, value)
        self.connection.endheaders()
        self.connection.send(self.body[:10])

    def finish(self):
        self.connection.send(self.body[10:])
        return Answer(self.connection.getresponse())

    def close(self):
        self.connection.close()


class StartTest(Case):
    def test_first_start_makes_credentials_that_work(self):
        server = self.server()
        self.assertIn(f"Berth 0.1.0 serves {server.url}. To use it:\n\n"
                      f"  export KUBECONFIG={server.kubeconfig}\n\n", server.output())
        certificate = os.path.join(server.data_dir, "pki", "serving.crt")
        names = openssl("x509", "-in", certificate, "-noout", "-ext", "subjectAltName")
        for name in ("DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default",
                     "DNS:kubernetes.default.svc", "DNS:kubernetes.default.svc.cluster.local",
                     "IP Address:127.0.0.1", "IP Address:0:0:0:0:0:0:0:1",
                     "IP Address:10.96.0.1"):
            self.assertRegex(names, rf"{name}(,|\n)")
        openssl("verify", "-CAfile", server.ca_file, "-purpose", "sslserver", "-verify_ip",
                "127.0.0.1", certificate)
        for path in [*glob.glob(f"{server.data_dir}/pki/*.key"), server.kubeconfig,
                     f"{server.data_dir}/audit.jsonl"]:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
        self.assertEqual(self.as_admin(server, "/api/v1/namespaces/kube-system").code, 200)

    def as_admin(self, server, path):
        """Sends a request as the kubeconfig says, with everything verified."""
        with open(server.kubeconfig, encoding="utf-8") as file:
            config = file.read()
        self.assertIn(f"server: {server.url}\n", config)
        files = []
        for what in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files.append(self.path(what))
            with open(files[-1], "wb") as out:
                out.write(base64.b64decode(re.search(rf"{what}: (\S+)\n", config)[1]))
        context = ssl.create_default_context(cafile=files[0])
        context.load_cert_chain(files[1], files[2])
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context)
        try:
            connection.request("GET", path)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def test_first_namespaces(self):
        items = self.server().call("GET", "/api/v1/namespaces").json["items"]
        self.assertEqual([item["metadata"]["name"] for item in items],
                         ["default", "kube-node-lease", "kube-public", "kube-system"])

    def test_second_start_keeps_the_credentials(self):
        def state(server):
            content = {}
            for path in glob.glob(f"{server.data_dir}/pki/*") + [server.kubeconfig]:
                with open(path, "rb") as file:
                    content[path] = file.read()
            return content
        server = self.server()
        before = state(server)
        self.assertEqual(len(before), 7)
        self.assertEqual(server.terminate(), 0)
        again = self.server(port=server.port)
        self.assertEqual(state(again), before)
        self.assertEqual(again.output().count("creating a certificate authority"), 1)

    def test_any_free_port(self):
        process = subprocess.Popen([BERTH, "serve", "--data-dir", self.path("data"),
                                    "--secure-port", "0"], env=environment(), encoding="utf-8",
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        port = re.search(r"serves https://127.0.0.1:(\d+)\.", process.stdout.readline())[1]
        self.assertNotEqual(port, "0")
        with open(self.path("data/admin.kubeconfig"), encoding="utf-8") as file:
            self.assertIn(f"server: https://127.0.0.1:{port}\n", file.read())

    def test_a_path_that_a_shell_would_split(self):
        server = self.server(data="my data")
        self.assertIn(f"export KUBECONFIG='{server.kubeconfig}'\n", server.output())

    def test_port_in_use(self):
        first = self.server()
        done = self.second("--data-dir", self.path("other"), "--secure-port", str(first.port))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1],
                         f"berth serve: cannot listen on 127.0.0.1:{first.port}: Address already "
                         "in use; choose another with --bind-address or --secure-port")

    def test_data_directory_in_use(self):
        first = self.server()
        done = self.second("--data-dir", first.data_dir, "--secure-port", "0")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"^berth serve: {first.data_dir}/store is in use by berth "
                                      rf"\(pid {first.process.pid}, .*\); only one process can "
                                      r"use a data directory: stop that one or choose another "
                                      r"directory\n$")
        self.assertEqual(first.call("GET", "/readyz").code, 200)

    @staticmethod
    def second(*flags):
        return subprocess.run([BERTH, "serve", *flags], env=environment(), capture_output=True,
                              encoding="utf-8", timeout=60)


class RestartTest(Case):
    def test_objects_and_revisions_stay(self):
        server = self.server()
        for name in ("a", "b", "c"):
            server.call("POST", SERVICES, service(name))
        changed = server.call("GET", f"{SERVICES}/b").json
        changed["spec"]["ports"][0]["port"] = 81
        server.call("PUT", f"{SERVICES}/b", changed)
        before = server.call("GET", SERVICES)
        server.call("DELETE", f"{SERVICES}/c")
        objects = {name: server.call("GET", f"{SERVICES}/{name}").body for name in ("a", "b")}
        self.assertEqual(server.terminate(), 0)

        again = self.server()
        self.assertEqual({name: again.call("GET", f"{SERVICES}/{name}").body for name in objects},
                         objects)
        # A client that was listing or watching continues where it was.
        revision = before.json["metadata"]["resourceVersion"]
        past = again.call(
            "GET", f"{SERVICES}?resourceVersion={revision}&resourceVersionMatch=Exact")
        self.assertEqual(past.body, before.body)
        events = again.call(
            "GET", f"{SERVICES}?watch=1&resourceVersion={revision}&timeoutSeconds=1")
        event = json.loads(events.body.splitlines()[0])
        self.assertEqual((event["type"], event["object"]["metadata"]["name"]), ("DELETED", "c"))
        made = again.call("POST", SERVICES, service("d")).json
        self.assertGreater(int(made["metadata"]["resourceVersion"]),
                           int(event["object"]["metadata"]["resourceVersion"]))

    def test_kill_loses_nothing_acknowledged(self):
        server = self.server()
        acknowledged = {}

        def write(writer):
            connection = server.connection()
            try:
                for i in range(10_000):
                    name = f"w{writer}-{i}"
                    connection.request("POST", SERVICES, json.dumps(service(name)),
                                       {"Authorization": f"Bearer {server.TOKEN}",
                                        "Content-Type": "application/json"})
                    answer = Answer(connection.getresponse())
                    if answer.code == 201:
                        acknowledged[name] = answer.json["metadata"]["resourceVersion"]
            except (OSError, http.client.HTTPException, ValueError):
                pass
        writers = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        for writer in writers:
            writer.start()
        wait_for(lambda: len(acknowledged) >= 200)
        server.process.kill()
        for writer in writers:
            writer.join()
        server.process.wait()

        again = self.server()
        items = again.call("GET", SERVICES).json["items"]
        found = {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}
        self.assertIsNotNone(found.pop("kubernetes"))
        self.assertEqual({name: found.get(name) for name in acknowledged}, acknowledged)
        self.assertLessEqual(len(found), len(acknowledged) + len(writers))


class EndTest(Case):
    def test_watches_end_cleanly(self):
        server = self.server()
        connection = server.connection()
        connection.connect()
        connection.sock.sendall(
            f"GET {SERVICES}?watch=1 HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {server.TOKEN}\r\n\r\n".encode())
        received = bytearray(connection.sock.recv(65536))
        server.call("POST", SERVICES, service("seen"))
        while b'"seen"' not in received:
            received += connection.sock.recv(65536)
        server.process.send_signal(signal.SIGTERM)
        while piece := connection.sock.recv(65536):
            received += piece
        connection.close()
        self.assertTrue(received.endswith(b"\r\n0\r\n\r\n"), received[-100:])
        self.assertEqual(server.process.wait(60), 0)
        self.assertIn("shutting down: closing watches and finishing requests",
                      server.output())

    def test_writes_under_way_finish(self):
        server = self.server()
        half = HalfRequest(server, "late")
        self.addCleanup(half.close)
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refused(server))
        self.assertIsNone(server.process.poll())
        self.assertEqual(half.finish().code, 201)
        self.assertEqual(server.process.wait(60), 0)
        self.assertEqual(self.server().call("GET", f"{SERVICES}/late").code, 200)

    def test_idle_connections_do_not_hold_it_up(self):
        server = self.server()
        connections = [server.connection() for _ in range(5)]
        for connection in connections:
            self.addCleanup(connection.close)
            connection.request("GET", "/readyz")
            connection.getresponse().read()
        self.assertEqual(server.terminate(limit=30), 0)  # They could be idle for longer than that.

    def test_a_second_signal_does_not_wait(self):
        server = self.server()
        half = HalfRequest(server, "never")
        self.addCleanup(half.close)
        server.process.send_signal(signal.SIGINT)
        wait_for(lambda: refused(server))
        server.process.send_signal(signal.SIGINT)
        self.assertEqual(server.process.wait(10), 1)
        self.assertIn("berth serve: second signal, exiting at once\n", server.output())
        self.assertEqual(self.server().call("GET", f"{SERVICES}/never").code, 404)

    def test_a_signal_before_it_serves(self):
        closed = free_ports(1)[0]
        process = subprocess.Popen(
            [BERTH, "serve", "--data-dir", self.path("data"), "--secure-port", "0",
             "--etcd-servers", f"http://127.0.0.1:{closed}"],
            env=environment(), encoding="utf-8", stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.assertIn("nothing listens there", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0)
        self.assertEqual(rest.splitlines()[-1], "berth serve: stopped before it was ready")


class ReloadTest(Case):
    def reload(self, server, says):
        before = server.output().count(says)
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: server.output().count(says) > before)

    def write_tokens(self, server, text):
        with open(server.tokens, "w", encoding="utf-8") as out:
            out.write(text)

    def test_tokens(self):
        server = self.server()
        self.assertEqual(server.call("GET", SERVICES).code, 200)
        self.write_tokens(server, 'newer,admin,1,"system:masters"\n')
        self.assertEqual(server.call("GET", SERVICES, token="newer").code, 401)
        self.reload(server, "INFO  reloaded certificates and tokens")
        self.assertEqual(server.call("GET", SERVICES, token="newer").code, 200)
        self.assertEqual(server.call("GET", SERVICES).code, 401)

    def test_a_broken_file_changes_nothing(self):
        server = self.server()
        self.write_tokens(server, "lonely\n")
        self.reload(server, "ERROR cannot reload certificates and tokens; the previous ones stay in use "
                            f"why=\"token file '{server.tokens}' must have at least 3 columns")
        self.assertEqual(server.call("GET", SERVICES).code, 200)

    def test_certificates(self):
        cert, key = self.path("tls.crt"), self.path("tls.key")

        def make(name):
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-subj", f"/CN={name}", "-days", "1", "-out", cert, "-keyout", key)

        def served():
            pem = ssl.get_server_certificate(("127.0.0.1", server.port))
            with open(self.path("served.crt"), "w", encoding="ascii") as out:
                out.write(pem)
            return openssl("x509", "-in", self.path("served.crt"), "-noout", "-subject").strip()
        make("first")
        server = self.server("--tls-cert-file", cert, "--tls-private-key-file", key)
        self.assertRegex(served(), r"CN ?= ?first$")
        make("second")
        self.reload(server, "INFO  reloaded certificates and tokens")
        self.assertRegex(served(), r"CN ?= ?second$")


class AuditTest(Case):
    @staticmethod
    def lines(path):
        with open(path, encoding="utf-8") as log:
            return [json.loads(line) for line in log]

    def test_who_did_what(self):
        server = self.server()
        made = server.call("POST", SERVICES, service("a"))
        server.call("GET", f"{SERVICES}?limit=5", token="plain-token")
        server.call("GET", SERVICES, token="wrong")
        path = os.path.join(server.data_dir, "audit.jsonl")

        def mine():
            return [line for line in self.lines(path) if line["uri"].startswith(SERVICES)]
        wait_for(lambda: len(mine()) == 3)
        created, refused_line, unknown = mine()
        self.assertEqual(created["id"], made.headers["audit-id"])
        self.assertRegex(created.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertRegex(created.pop("source"), r"^127\.0\.0\.1:\d+$")
        self.assertGreater(created.pop("ms"), 0)
        created.pop("id")
        self.assertEqual(created, {"user": "admin",
                                   "groups": ["system:masters", "system:authenticated"],
                                   "verb": "create", "method": "POST", "uri": SERVICES,
                                   "code": 201})
        self.assertEqual((refused_line["user"], refused_line["verb"], refused_line["uri"],
                          refused_line["code"]), ("jane", "list", f"{SERVICES}?limit=5", 403))
        self.assertEqual(unknown["code"], 401)
        self.assertNotIn("wrong", json.dumps(unknown))

    def test_nothing_is_lost_at_the_end(self):
        server = self.server("--audit-log-path", self.path("who.jsonl"))
        server.call("POST", SERVICES, service("last"))
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(self.lines(self.path("who.jsonl"))[-1]["verb"], "create")

    def test_rotated_and_bounded(self):
        path = self.path("who.jsonl")
        server = self.server("--audit-log-path", path, "--audit-log-maxsize", "1",
                             "--audit-log-maxbackup", "1")
        connection = server.connection()
        for i in range(500):  # About 3 MiB of lines.
            connection.request("GET", f"{SERVICES}?limit=5&pad={'x' * 6000}{i}",
                               headers={"Authorization": f"Bearer {server.TOKEN}"})
            self.assertEqual(Answer(connection.getresponse()).code, 200)
        connection.close()
        self.assertEqual(server.terminate(), 0)
        files = sorted(glob.glob(path + "*"))
        self.assertEqual(files, [path, path + ".1"])
        for file in files:
            self.assertLessEqual(os.path.getsize(file), 1 << 20)
            self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        pads = [int(line["uri"].rsplit("x", 1)[1]) for line in self.lines(files[1]) +
                self.lines(files[0]) if "pad=" in line["uri"]]
        self.assertEqual(pads, list(range(pads[0], 500)))

    def test_none(self):
        server = self.server("--audit-log-path", "none")
        server.call("GET", SERVICES)
        self.assertEqual(server.terminate(), 0)
        self.assertEqual(glob.glob(f"{server.data_dir}/*.jsonl"), [])


if __name__ == "__main__":
    main()
