"""Programs that serve the page of Berth, and a client that talks to them as a browser does.

    page = Page(process, port)              # `berth ui` or `berth observe --ui`
    page.open()                             # uses the link
    page.get("/ui/v1/overview").json
    with page.events() as stream:
        stream.next("view")
"""

import http.client
import json
import re
import select
import socket
import ssl
import subprocess
import time

from harness import BERTH, PATIENCE, Answer, environment

LINK = re.compile(r"(https?)://127\.0\.0\.1:(\d+)(/open/[0-9a-f]{64})\b")


def read_until(process, pattern):
    """Reads the standard output of a program until it has shown a pattern. Returns the match."""
    text = ""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ready, _, _ = select.select([process.stdout], [], [], 0.5)
        if ready:
            piece = process.stdout.read1(65536)
            if not piece:
                raise AssertionError(f"ended: {text}")
            text += piece.decode()
            found = re.search(pattern, text)
            if found:
                return found
    raise AssertionError(f"not shown: {text}")


class Stream:
    """An open stream of events."""

    def __init__(self, connection):
        self.connection = connection
        self.answer = connection.getresponse()
        self.code = self.answer.status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def event(self):
        """Returns the next event: its name and its data. Returns None at the end. Comments have no
        name."""
        name, data = None, []
        while True:
            line = self.answer.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if not line:
                if name or data:
                    return name, json.loads("\n".join(data))
            elif line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])

    def next(self, *names):
        """Returns the data of the next event of these names, and skips others."""
        while True:
            event = self.event()
            if event is None:
                raise AssertionError(f"the stream ended before {names}")
            if event[0] in names:
                return event[1]


class Page:
    """A running program that serves the page."""

    def __init__(self, process, port, link=None, tls=False):
        self.process, self.port, self.link, self.tls = process, port, link, tls
        self.cookie = None

    @classmethod
    def start(cls, case, *flags, **more):
        """Starts `berth ui`, which ends with the test."""
        process = subprocess.Popen([BERTH, "ui", *flags], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(**more))
        case.addCleanup(process.stderr.close)
        case.addCleanup(process.stdout.close)
        case.addCleanup(process.wait)
        case.addCleanup(process.kill)
        found = read_until(process, LINK)
        return cls(process, int(found[2]), found[3])

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def connection(self, certificate=None):
        if not self.tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if certificate:
            context.load_cert_chain(*certificate)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)

    def call(self, method, path, body=None, headers=(), cookie=True, certificate=None):
        """Sends one request, by default with the cookie."""
        sent = dict(headers)
        if cookie and self.cookie:
            sent.setdefault("Cookie", self.cookie)
        connection = self.connection(certificate)
        try:
            connection.request(method, path, body=body, headers=sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def open(self):
        """Uses the link. Returns the answer."""
        answer = self.get(self.link)
        self.take_cookie(answer)
        return answer

    def take_cookie(self, answer):
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    def sign_in(self, token):
        """Signs in with a token, and keeps the cookie if that succeeds. Returns the answer."""
        answer = self.call("POST", "/ui/v1/session", json.dumps({"token": token}),
                           {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin",
                            "Origin": f"https://{self.host}"})
        if answer.code == 204:
            self.take_cookie(answer)
        return answer

    def events(self, headers=(), certificate=None):
        connection = self.connection(certificate)
        sent = {**({"Cookie": self.cookie} if self.cookie else {}), **dict(headers)}
        connection.request("GET", "/ui/v1/events", headers=sent)
        return Stream(connection)

    def raw(self, text):
        """Sends bytes as they are. Returns the first line of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as sock:
            sock.sendall(text.encode())
            return sock.makefile("rb").readline().decode()
