"""What end-to-end tests share: real servers on free loopback ports, and a plain way to talk to them.

A Server is `berth serve` with a folder of its own; an Etcd is Debian's etcd. Both are stopped by
their owner (`Case` does it at the end of a test).
"""

import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.request

BERTH = os.path.abspath(os.environ.get("BERTH_BIN", "build/release/berth"))
# A sanitizer makes everything several times slower; limits of time are for the plain build.
PATIENCE = 60


def sanitized():
    """Whether the server is a sanitizer's build, whose memory and speed say nothing."""
    with open(BERTH, "rb") as binary:
        code = binary.read()
    return b"__asan_init" in code or b"__tsan_init" in code


def environment(**changes):
    env = {name: value for name, value in os.environ.items()
           if name not in ("LC_ALL", "LC_CTYPE", "NO_COLOR", "BERTH_ETCD_PASSWORD", "KUBECONFIG")}
    env.update(LANG="C.UTF-8", TERM="xterm")
    env.update(changes)
    return env


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(what, limit=PATIENCE):
    """The first true value that `what` returns; fails when there is none in time."""
    deadline = time.monotonic() + limit
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Etcd:
    """One etcd server with a folder of its own. Its HTTP gateway stands in for other clients."""

    def __init__(self, folder, *flags, scheme="http"):
        client, peer = free_ports(2)
        self.url = f"{scheme}://127.0.0.1:{client}"
        self.address = f"etcd:{self.url}"
        peer_url = f"http://127.0.0.1:{peer}"
        self.log = open(os.path.join(folder, "etcd.log"), "wb")
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", os.path.join(folder, "etcd"), "--listen-client-urls", self.url,
             "--advertise-client-urls", self.url, "--listen-peer-urls", peer_url,
             "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}",
             "--log-level", "error", *flags], stdout=self.log, stderr=self.log)
        self.wait(client)

    def wait(self, port):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.url.startswith("https"):
                    socket.create_connection(("127.0.0.1", port), 1).close()
                else:
                    self.post("kv/range", key="AA==")
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise AssertionError("etcd did not start")

    def post(self, path, **body):
        request = urllib.request.Request(f"{self.url}/v3/{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.load(reply)

    def put(self, key, value):
        self.post("kv/put", key=base64.b64encode(key.encode()).decode(),
                  value=base64.b64encode(value.encode()).decode())

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Answer:
    """One answer: code, headers (lower case, joined by ", ") and the whole body."""

    def __init__(self, response):
        self.code = response.status
        self.headers = {}
        for name, value in response.getheaders():
            name = name.lower()
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.code} {self.body[:2000]!r}"


class Server:
    """`berth serve` on a free port; `token` is an administrator's. Ready when made."""

    TOKEN = "administrator-token"

    def __init__(self, folder, *flags, data="data", port=None, env=None):
        self.folder = folder
        self.data_dir = os.path.join(folder, data)
        self.port = port or free_ports(1)[0]
        self.tokens = os.path.join(folder, "tokens.csv")
        if not os.path.exists(self.tokens):
            with open(self.tokens, "w", encoding="utf-8") as out:
                out.write(f'{self.TOKEN},admin,1,"system:masters"\nplain-token,jane,2\n')
        self.log_path = os.path.join(folder, f"{data}.log")
        self.log = open(self.log_path, "ab")
        self.command = [BERTH, "serve", "--data-dir", self.data_dir, "--secure-port",
                        str(self.port), "--token-auth-file", self.tokens, *flags]
        self.started = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env=env or environment())
        try:
            wait_for(self.ready)
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"berth did not start: {self.output()}") from error
        self.ready_after = time.monotonic() - self.started

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def kubeconfig(self):
        return os.path.join(self.data_dir, "admin.kubeconfig")

    @property
    def ca_file(self):
        return os.path.join(self.data_dir, "pki", "ca.crt")

    def output(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def ready(self):
        if self.process.poll() is not None:
            raise AssertionError("berth ended")
        try:
            return self.call("GET", "/readyz").code == 200
        except (OSError, http.client.HTTPException):
            return False

    def context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # Without the system's authorities.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context

    def connection(self, timeout=PATIENCE):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout,
                                           context=self.context())

    def call(self, method, path, body=None, headers=None, token=TOKEN):
        """One request on a connection of its own. A body that is not text or bytes is JSON."""
        headers = dict(headers or {})
        if token:
            headers.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = self.connection()
        try:
            connection.request(method, path, body=body, headers=headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def memory_kib(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return int(line.split()[1])
        raise AssertionError(f"no {field}")

    def terminate(self, limit=PATIENCE):
        """As an operator would; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Case(unittest.TestCase):
    """A test with a folder of its own, which cleans up what it started."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def etcd(self, *flags, **more):
        server = Etcd(tempfile.mkdtemp(dir=self.folder), *flags, **more)
        self.addCleanup(server.stop)
        return server

    def server(self, *flags, **more):
        server = Server(self.folder, *flags, **more)
        self.addCleanup(server.stop)
        return server


class SharedServerCase(unittest.TestCase):
    """Tests that share one server on an embedded store, each with a namespace of its own."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.server = Server(folder.name, *cls.FLAGS)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        name = self.id().rsplit(".", 1)[-1].replace("_", "-").lower()[-50:].strip("-")
        self.namespace = name
        made = self.server.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.assertEqual(made.code, 201, made)
