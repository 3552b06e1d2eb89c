"""Hostile clients: whatever they do, the next request works and memory stays bounded.

For limits of time (ten seconds for a handshake, a head, a part of a body), all connections reach
the limit at once, in one test.
"""

import json
import os
import socket
import ssl
import stat
import struct
import time

import harness

SERVICES = "/api/v1/namespaces/default/services"
CALM = 0xB  # ENHANCE_YOUR_CALM
REFUSED = 0x7  # REFUSED_STREAM
DATA, HEADERS, PRIORITY, RST, SETTINGS, _, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4
TOKENS = (f'{harness.Server.TOKEN},admin,1,"system:masters"\n'
          'other-token,other,2,"system:masters"\n')

SANITIZED = harness.sanitized()


def request_head(method, path, *fields):
    lines = [f"{method} {path} HTTP/1.1", "Host: x",
             f"Authorization: Bearer {harness.Server.TOKEN}"]
    return "\r\n".join([*lines, *fields, "", ""]).encode()


def service(name, notes=""):
    return {"metadata": {"name": name, "annotations": {"notes": notes}},
            "spec": {"ports": [{"port": 80}]}}


def literal(name, value):
    """Returns a header field for HTTP/2 that is neither indexed nor compressed."""
    def text(data):
        size = len(data)
        if size < 127:
            return bytes([size]) + data
        out, size = b"\x7f", size - 127
        while size > 127:
            out, size = out + bytes([size % 128 + 128]), size // 128
        return out + bytes([size]) + data
    return b"\0" + text(name.encode()) + text(value.encode())


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Http2:
    """A minimal HTTP/2 client: raw frames, in any order."""

    def __init__(self, server, settings=b""):
        context = server.context()
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection(("127.0.0.1", server.port), harness.PATIENCE)
        self.line = context.wrap_socket(plain)
        self.left = b""
        self.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    def write(self, data):
        """Sends all of it, or what the server accepts before it hangs up."""
        try:
            self.line.sendall(data)
        except OSError:
            pass

    def head(self, path, *more):
        fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "x"),
                  ("authorization", f"Bearer {harness.Server.TOKEN}"), *more]
        return b"".join(literal(*field) for field in fields)

    def get(self, stream, path, *more):
        return frame(HEADERS, END_STREAM | END_HEADERS, stream, self.head(path, *more))

    def read(self, size):
        while len(self.left) < size:
            part = self.line.recv(65536)
            if not part:
                raise EOFError
            self.left += part
        data, self.left = self.left[:size], self.left[size:]
        return data

    def frames(self):
        """Yields frames until the server closes the connection."""
        try:
            while True:
                head = self.read(9)
                kind, flags, stream = struct.unpack(">BBI", head[3:])
                yield kind, flags, stream, self.read(int.from_bytes(head[:3], "big"))
        except (EOFError, OSError):
            return

    def body(self, stream):
        """Returns the body of the answer on a stream."""
        out = b""
        for kind, flags, of, payload in self.frames():
            if of == stream and kind == DATA:
                out += payload
            if of == stream and flags & END_STREAM and kind in (DATA, HEADERS):
                return out
        raise AssertionError("closed before the answer")

    def error(self):
        """Returns the code with which the server ends the connection."""
        for kind, _, _, payload in self.frames():
            if kind == GOAWAY and (code := int.from_bytes(payload[4:8], "big")) != 0:
                return code
        return None

    def close(self):
        self.line.close()


class Hostile(harness.Case):
    FLAGS = ()

    def setUp(self):
        super().setUp()
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as tokens:
            tokens.write(TOKENS)
        self.berth = self.server(*self.FLAGS)
        self.works()
        self.before = self.berth.memory_kib()

    def works(self, token=harness.Server.TOKEN):
        answer = self.berth.call("GET", "/api/v1/namespaces/default", token=token)
        self.assertEqual(answer.code, 200, answer)

    def bounded(self, mebibytes, what):
        """Checks the peak of memory since the test began."""
        self.works()
        grown = (self.berth.memory_kib("VmHWM") - self.before) / 1024
        print(f"\n  {what}: {self.before / 1024:.1f} MiB before, {grown:+.1f} MiB at most", end=" ")
        if not SANITIZED:
            self.assertLess(grown, mebibytes)

    def plain(self):
        line = socket.create_connection(("127.0.0.1", self.berth.port), harness.PATIENCE)
        self.addCleanup(line.close)
        return line

    def tls(self, data=b"", receive=None):
        """Returns a connection after its handshake, with some bytes sent."""
        line = socket.socket()
        if receive:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        line.settimeout(harness.PATIENCE)
        line.connect(("127.0.0.1", self.berth.port))
        line = self.context.wrap_socket(line)
        self.addCleanup(line.close)
        line.sendall(data)
        return line

    @property
    def context(self):
        if not hasattr(self, "made_context"):
            self.made_context = self.berth.context()
        return self.made_context

    def http2(self, settings=b""):
        line = Http2(self.berth, settings)
        self.addCleanup(line.close)
        return line

    def fill(self, count, size):
        line = self.berth.connection()
        for number in range(count):
            line.request("POST", SERVICES, json.dumps(service(f"s{number}", "x" * size)),
                         {"Authorization": f"Bearer {harness.Server.TOKEN}",
                          "Content-Type": "application/json"})
            answer = harness.Answer(line.getresponse())
            self.assertEqual(answer.code, 201, answer)
        line.close()
        self.before = self.berth.memory_kib()


def read_all(line):
    """Returns what comes until the end, however the connection ends."""
    out = b""
    try:
        while part := line.recv(65536):
            out += part
    except OSError:
        pass
    return out


class SlowClients(Hostile):
    def test_those_who_never_finish(self):
        each = 20
        silent = [self.plain() for _ in range(each)]
        half_hello = [self.plain() for _ in range(each)]
        for line in half_hello:
            line.sendall(b"\x16\x03\x01\x02\x00\x01")
        heads = [self.tls(b"GET /version HTTP/1.1\r\nHost: x\r\nX-Slow: ") for _ in range(each)]
        bodies = [self.tls(request_head("POST", SERVICES, "Content-Length: 100000") + b"{")
                  for _ in range(each)]
        for _ in range(each):
            self.tls(b"GET /version HT").close()  # Half a request, then a close.
        began = time.monotonic()
        # They are slower than any real client, but always send something. That must not keep them
        # alive.
        while time.monotonic() - began < 9:
            for line in heads + bodies:
                line.sendall(b"x")
            self.works()
            time.sleep(1)
        for line in silent + half_hello:
            self.assertEqual(len(read_all(line)) // 100, 0, "at most an alert")
        for line, why in ([(line, b"the request head did not arrive in time") for line in heads] +
                          [(line, b"the request body arrives too slowly") for line in bodies]):
            answer = read_all(line)
            self.assertTrue(answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n"), answer)
            self.assertIn(why, answer)
        self.bounded(16, "80 slow clients")

    def test_those_who_do_not_read_a_list(self):
        self.fill(60, 200 << 10)  # 12 MB for each of them.
        lines = [self.tls(request_head("GET", SERVICES), 4096) for _ in range(20)]
        for line in lines:
            self.assertTrue(line.recv(15).startswith(b"HTTP/1.1 200 OK"))
        # Send many requests on one connection that accepts no byte of any body.
        h2 = self.http2(struct.pack(">HI", 4, 0))
        h2.write(b"".join(h2.get(1 + 2 * number, SERVICES) for number in range(100)))
        heads = set()
        for kind, _, stream, _ in h2.frames():
            heads.update([stream] if kind == HEADERS else [])
            if len(heads) == 100:
                break
        self.bounded(100, "120 unread lists of 12 MB")
        # A pretty-printed list is built whole. That memory is in use only until it is read.
        h2.write(b"".join(h2.get(1 + 2 * number, SERVICES + "?pretty=1")
                          for number in range(100, 110)))
        while len(heads) < 110:
            kind, _, stream, _ = next(h2.frames())
            heads.update([stream] if kind == HEADERS else [])
        whole = self.berth.memory_kib() - self.before
        h2.close()
        if not SANITIZED:
            self.assertGreater(whole, 100 << 10)
            harness.wait_for(lambda: self.berth.memory_kib() - self.before < whole // 3)

    def test_those_who_do_not_read_a_watch(self):
        watch = request_head("GET", SERVICES + "?watch=1")
        silent = [self.tls(watch, 4096) for _ in range(100)]
        for line in silent:
            self.assertTrue(line.recv(15).startswith(b"HTTP/1.1 200 OK"))
        awake = self.tls(request_head("GET", SERVICES + "?watch=1"))
        self.before = self.berth.memory_kib()
        before = self.before
        self.fill(200, 50 << 10)  # 10 MB of events for each of them.
        self.before = before
        seen = b""
        while seen.count(b'{"type":"ADDED"') < 200:
            seen += awake.recv(1 << 20)
        self.bounded(100, "100 watchers that never read 10 MB")


class Connections(Hostile):
    def test_a_thousand_that_are_idle(self):
        lines = [self.tls() for _ in range(1000)]
        used = self.berth.memory_kib() - self.before
        self.bounded(40, f"1,000 idle connections, {used / len(lines):.1f} KiB each")
        lines[0].sendall(request_head("GET", "/version", "Connection: close"))
        self.assertIn(b'"major": "1"', read_all(lines[0]), "they are still served")

    def test_what_is_no_tls(self):
        for garbage in (bytes(range(256)) * 16, b"\0" * 4096, b"\xff" * 4096,
                        b"\x16\x03\x01\xff\xff" + b"\xff" * 65535,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            line = self.plain()
            line.sendall(garbage)
            self.assertLess(len(read_all(line)), 50, "at most an alert")
        line = self.plain()
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 100_000 + b"\r\n\r\n")
        self.assertEqual(read_all(line), b"HTTP/1.0 400 Bad Request\r\n\r\n"
                         b"Client sent an HTTP request to an HTTPS server.\n")
        old = self.berth.context()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        old.minimum_version = ssl.TLSVersion.TLSv1_2
        with old.wrap_socket(self.plain()) as line:
            self.assertEqual(line.version(), "TLSv1.2", "old, but good")
        self.bounded(16, "no TLS")

    def test_no_more_descriptors(self):
        script = self.path("few-descriptors")
        with open(script, "w", encoding="utf-8") as out:
            out.write(f'#!/bin/sh\nulimit -n 200\nexec "{harness.BERTH}" "$@"\n')
        os.chmod(script, stat.S_IRWXU)
        whole, harness.BERTH = harness.BERTH, script
        try:
            self.berth = self.server(data="few")
        finally:
            harness.BERTH = whole
        before = self.berth.memory_kib()
        lines = []
        for _ in range(400):
            line = socket.create_connection(("127.0.0.1", self.berth.port), harness.PATIENCE)
            lines.append(line)
        harness.wait_for(lambda: "cannot accept connections" in self.berth.output())
        for line in lines:
            line.close()
        harness.wait_for(lambda: self.berth.ready())
        self.before = before
        self.bounded(16, "400 connections with 200 descriptors")


class InFlight(Hostile):
    FLAGS = ("--max-requests-inflight", "10")
    WAITS = SERVICES + "?resourceVersion=999999999"  # For a revision that does not come, 3 s.

    def test_nobody_takes_every_place(self):
        waiting = [self.tls(request_head("GET", self.WAITS)) for _ in range(30)]
        busy = harness.wait_for(
            lambda: (answer := self.berth.call("GET", SERVICES)).code == 429 and answer)
        self.assertEqual(busy.headers["retry-after"], "1")
        self.assertEqual((busy.json["reason"], busy.json["details"]),
                         ("TooManyRequests", {"retryAfterSeconds": 1}))
        self.works(token="other-token")
        self.assertEqual(self.berth.call("GET", "/readyz").code, 200)
        answers = []
        for line in waiting:
            head = line.recv(65536)
            answers.append(int(head.split()[1]))
        self.assertEqual(sorted(answers), [429] * 21 + [504] * 9)
        self.works()
        for line in waiting:
            line.sendall(request_head("GET", "/api/v1/namespaces/default"))
            self.assertTrue(line.recv(65536).startswith(b"HTTP/1.1 200 OK"))


class Http2Floods(Hostile):
    def calmed(self, data, what, code=CALM):
        """Checks that the connection is ended with that error, and that others continue."""
        line = self.http2()
        line.write(data(line) if callable(data) else data)
        self.assertEqual(line.error(), code, what)
        self.bounded(24, what)

    def test_it_speaks_http2(self):
        line = self.http2()
        line.write(line.get(1, "/version"))
        self.assertEqual(json.loads(line.body(1))["major"], "1")

    def test_rapid_resets(self):
        cancel = struct.pack(">I", 8)
        self.calmed(lambda line: b"".join(
            line.get(stream, SERVICES) + frame(RST, 0, stream, cancel)
            for stream in range(1, 20_001, 2)), "10,000 streams reset at once")

    def test_resets_by_the_server(self):
        # A window that overflows makes the server reset the stream, again and again.
        grow = struct.pack(">I", 0x7FFFFFFF)
        self.calmed(lambda line: b"".join(
            line.get(stream, SERVICES + "?watch=1") + frame(WINDOW, 0, stream, grow)
            for stream in range(1, 20_001, 2)), "10,000 streams that the server has to reset")

    def test_headers_that_never_end(self):
        self.calmed(lambda line: frame(HEADERS, 0, 1, line.head("/version")) +
                    frame(CONTINUATION, 0, 1, literal("x", "y" * 1000)) * 10_000,
                    "10,000 CONTINUATION frames")
        self.calmed(lambda line: frame(HEADERS, 0, 1, line.head("/version")) +
                    frame(CONTINUATION, 0, 1) * 10_000, "empty CONTINUATION frames")

    def test_floods_of_small_frames(self):
        for data, what in (
                (frame(SETTINGS, 0, 0) * 10_000, "SETTINGS"),
                (frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1) * 1000), "a long SETTINGS"),
                (frame(PING, 0, 0, b"12345678") * 10_000, "PING"),
                (frame(PRIORITY, 0, 1, b"\0\0\0\0\1") * 10_000, "PRIORITY"),
                (lambda line: frame(HEADERS, END_HEADERS, 1, line.head(SERVICES)) +
                 frame(DATA, 0, 1) * 10_000, "empty DATA")):
            self.calmed(data, f"a flood of {what}")

    def test_frames_that_break_the_rules(self):
        for data, what, code in (
                (frame(DATA, 0, 0, b"x"), "DATA on no stream", 1),
                (frame(PING, 0, 0, b"1"), "a short PING", 6),
                (struct.pack(">I", 1 << 20)[1:] + b"\0\0\0\0\0\1", "a frame of 1 MiB", 6),
                (frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff"), "bad HPACK", 9)):
            self.calmed(data, what, code)

    def test_too_many_header_fields(self):
        line = self.http2()
        many = [(f"x-{number}", "y") for number in range(300)]
        line.write(line.get(1, "/version", *many))
        self.assertEqual(json.loads(line.body(1))["code"], 431)
        line.write(line.get(3, "/version", ("x", "y" * 15_000)))
        self.assertEqual(json.loads(line.body(3))["major"], "1", "the connection goes on")
        # The client names a field of 4 KB again, for one byte each time.
        indexed = b"\x40" + literal("bomb", "z" * 3900)[1:]
        line.write(frame(HEADERS, END_STREAM | END_HEADERS, 5,
                         line.head("/version") + indexed + b"\xbe" * 10_000))
        self.assertEqual(line.error(), CALM)
        self.bounded(24, "header fields without number")

    def test_too_many_streams(self):
        line = self.http2()
        line.write(b"".join(line.get(1 + 2 * number, SERVICES + "?watch=1")
                            for number in range(300)))
        begun, refused = set(), set()
        for kind, _, stream, payload in line.frames():
            begun.update([stream] if kind == HEADERS else [])
            if kind == RST:
                self.assertEqual(int.from_bytes(payload, "big"), REFUSED)
                refused.add(stream)
            if len(begun) + len(refused) == 300:
                break
        self.assertEqual((len(begun), len(refused)), (250, 50))
        self.bounded(24, "300 streams")


if __name__ == "__main__":
    harness.main()
