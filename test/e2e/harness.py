"""Helpers for end-to-end tests: real servers on free loopback ports, and a simple way to call them.

A Server is `berth serve` with its own folder; an Etcd is Debian's etcd. Their owner stops both
(`Case` does it at the end of a test).
"""

import base64
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import tools

BERTH = os.path.abspath(os.environ.get("BERTH_BIN", "build/release/berth"))
# A sanitizer makes everything several times slower. Time limits are for the plain build.
PATIENCE = 60


def sanitized():
    """Returns whether the server is a sanitizer build, whose memory and speed are meaningless."""
    with open(BERTH, "rb") as binary:
        code = binary.read()
    return b"__asan_init" in code or b"__tsan_init" in code


# Tests and the programs they start see only Debian's programs, and reach their servers without a
# proxy.
os.environ["PATH"] = tools.PATH
for each in ("no_proxy", "NO_PROXY"):
    os.environ[each] = ",".join(filter(None, (os.environ.get(each), "127.0.0.1,localhost")))
# Variables that would change the behaviour of programs that a test starts.
OF_THE_USER = re.compile(r"LC_.*|NO_COLOR|BERTH_ETCD_PASSWORD|KUBE.*|ETCD_.*")


def environment(**changes):
    """Returns the environment of a program that a test starts."""
    env = {name: value for name, value in os.environ.items() if not OF_THE_USER.fullmatch(name)}
    env.update(LANG="C.UTF-8", TERM="xterm")
    env.update(changes)
    return env


# The kernel uses ports from 32768 on for outgoing connections.
FIRST_PORT, END_OF_PORTS = 20000, 32768
reservations = []


def reserve(port):
    """Returns a socket that keeps the port from other tests while it is open. Returns None if
    another test has the port, or if something listens there."""
    # An address without a file is in use exactly as long as the process that has it.
    mark = socket.socket(socket.AF_UNIX)
    try:
        mark.bind(f"\0berth-test-port-{port}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
        return mark
    except OSError:
        mark.close()
        return None


def free_ports(count):
    """Returns ports that no other test gets before this process ends, even if the program that
    listens there is restarted."""
    ports = []
    tries = iter(random.sample(range(FIRST_PORT, END_OF_PORTS), END_OF_PORTS - FIRST_PORT))
    while len(ports) < count:
        port = next(tries)
        mark = reserve(port)
        if mark:
            reservations.append(mark)
            ports.append(port)
    return ports


def wait_for(what, limit=PATIENCE):
    """Returns the first true value of `what`. Fails if it returns no true value in time."""
    deadline = time.monotonic() + limit
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class Etcd:
    """One etcd server with its own folder. Tests use its HTTP gateway as another client."""

    def __init__(self, folder, *flags, scheme="http"):
        client, peer = free_ports(2)
        self.url = f"{scheme}://127.0.0.1:{client}"
        self.address = f"etcd:{self.url}"
        peer_url = f"http://127.0.0.1:{peer}"
        self.log = open(os.path.join(folder, "etcd.log"), "wb")
        self.process = subprocess.Popen(
            [tools.ETCD, "--data-dir", os.path.join(folder, "etcd"), "--listen-client-urls", self.url,
             "--advertise-client-urls", self.url, "--listen-peer-urls", peer_url,
             "--initial-advertise-peer-urls", peer_url, "--initial-cluster", f"default={peer_url}",
             "--log-level", "error", *flags], stdout=self.log, stderr=self.log,
            env=environment())
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
    """An answer: code, headers (lower case, joined by ", ") and the whole body."""

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
    """`berth serve` on a free port. `token` is an administrator's. The server is ready once
    constructed."""

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
        """Sends one request on its own connection. A body that is not text or bytes is sent as
        JSON."""
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

    def cpu_seconds(self):
        """Returns the processor time of the server so far. Unlike elapsed time, it does not depend
        on other load of the machine."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def terminate(self, limit=PATIENCE):
        """Stops the server as an operator would. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


def flat(suite):
    """Yields the tests of a suite, one by one."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each


def long(test):
    """Marks a test that takes long by design."""
    test.is_long = True
    return test


def is_long(test):
    return getattr(getattr(test, test._testMethodName), "is_long", False)


class PartLoader(unittest.TestLoader):
    """Loads the tests of a script that E2E_PART selects: all tests if it is unset, the tests marked
    as long with "long", and with "2/3" the second of three parts of the others. Parts run in
    parallel and take about the same time, because each has every third test."""

    def loadTestsFromModule(self, *args, **more):
        tests = list(flat(super().loadTestsFromModule(*args, **more)))
        part = os.environ.get("E2E_PART")
        if part == "long":
            tests = list(filter(is_long, tests))
        elif part:
            number, parts = map(int, part.split("/"))
            tests = list(itertools.filterfalse(is_long, tests))[number - 1::parts]
        return unittest.TestSuite(tests)


def main(**more):
    """Runs the tests of the started script, and prints why tests were skipped."""
    result = unittest.main(testLoader=PartLoader(), exit=False, **more).result
    for test, reason in result.skipped:
        print(f"skipped {test.id()}: {reason}", file=sys.stderr)
    sys.exit(not result.wasSuccessful())


class Case(unittest.TestCase):
    """A test with its own folder, which cleans up what it started."""

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
    """Tests that share one server on an embedded store, each with its own namespace."""

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
