"""The requests of kubectl 1.32 without kubectl: headers, protobuf bodies, both protocols.

Http1 keeps one connection open, as kubectl does if the server does not offer HTTP/2. Http2 is curl,
because Python has no HTTP/2. Both return code, headers and body, and follow a watch event by event.
"""

import gzip
import http.client
import json
import subprocess
import tempfile
import unittest

import protobuf
import tools
from harness import SharedServerCase

JSON = "application/json"
ANY = "application/json, */*"
PROTOBUF = "application/vnd.kubernetes.protobuf"
PROTOBUF_OR_JSON = "application/vnd.kubernetes.protobuf,application/json"
TABLE = ("application/json;as=Table;v=v1;g=meta.k8s.io,"
         "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json")
DISCOVERY = ("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
             "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
             "application/json")
OLD_DISCOVERY = ("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
                 "application/json")
CREATE = "fieldManager=kubectl-create&fieldValidation"
OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


def kubectl_headers(command, accept, **more):
    return {"Accept": accept, "Accept-Encoding": "gzip",
            "User-Agent": "kubectl/v1.32.4 (linux/amd64) kubernetes/59526cd",
            "Kubectl-Command": f"kubectl {command}",
            "Kubectl-Session": "c9e2fd84-7f4d-4ba4-a3a1-1b2ad1d45b58",
            **{name.replace("_", "-"): value for name, value in more.items()}}


class Reply:
    """An answer. `headers` has lower-case names and a list of values each."""

    def __init__(self, code, headers, body):
        self.code = code
        self.headers = {}
        for name, value in headers:
            self.headers.setdefault(name.lower(), []).append(value)
        self.body = gzip.decompress(body) if self.header("content-encoding") == "gzip" else body

    def header(self, name):
        return ", ".join(self.headers.get(name, []))

    @property
    def media(self):
        return self.header("content-type")

    @property
    def json(self):
        """Returns the body as a document, in whatever format it was sent."""
        if self.media == PROTOBUF:
            return protobuf.document(self.body)
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.code} {self.headers} {self.body[:1000]!r}"


class Http1:
    """HTTP/1.1 on one connection. A watch has its own."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connection()

    def send(self, method, path, headers, body=None, chunked=False):
        headers = {**headers, "Authorization": f"Bearer {self.server.TOKEN}"}
        data = iter([body[:7], body[7:]]) if chunked else body
        self.connection.request(method, path, body=data, headers=headers, encode_chunked=chunked)
        response = self.connection.getresponse()
        return Reply(response.status, response.getheaders(), response.read())

    def watch(self, path, headers):
        return Http1Watch(self.server, path, headers)

    def close(self):
        self.connection.close()


def next_event(stream, accept):
    """Returns the next event of a watch, or None at its end."""
    if accept.startswith(PROTOBUF):
        event = protobuf.frame(stream)
        return dict(zip(("type", "object"), event)) if event else None
    line = stream.readline()
    return json.loads(line) if line else None


class Http1Watch:

    def __init__(self, server, path, headers):
        self.accept = headers["Accept"]
        self.connection = server.connection()
        self.connection.request(
            "GET", path, headers={**headers, "Authorization": f"Bearer {server.TOKEN}"})
        self.response = self.connection.getresponse()

    def next(self):
        return next_event(self.response, self.accept)

    def close(self):
        self.connection.close()


class Http2:
    """HTTP/2 by curl, which must not fall back to another version."""

    def __init__(self, server):
        self.server = server

    def command(self, method, path, headers, more):
        words = [tools.CURL, "--silent", "--show-error", "--no-buffer", "--http2", "--cacert",
                 self.server.ca_file, "--request", method]
        for name, value in headers.items():
            words += ["--header", f"{name}: {value}"]
        return [*words, "--header", f"Authorization: Bearer {self.server.TOKEN}", *more,
                self.server.url + path]

    def send(self, method, path, headers, body=None, chunked=False):
        # HTTP/2 always sends pieces. `chunked` only leaves out the length.
        more = []
        if body is not None:
            headers = {"Content-Type": "", "Expect": "", **headers}
            more = ["--upload-file", "-"] if chunked else ["--data-binary", "@-"]
        with tempfile.NamedTemporaryFile() as head:
            run = subprocess.run(
                self.command(method, path, headers, [*more, "--dump-header", head.name]),
                input=body, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            lines = head.read().decode("latin-1").splitlines()
        if run.returncode != 0:
            raise http.client.HTTPException(run.stderr.decode())
        protocol, code = lines[0].split()[:2]
        if protocol != "HTTP/2":
            raise http.client.HTTPException(f"{protocol} was spoken")
        fields = [line.split(": ", 1) for line in lines[1:] if ": " in line]
        return Reply(int(code), fields, run.stdout)

    def watch(self, path, headers):
        return Http2Watch(self.command("GET", path, headers, []), headers["Accept"])

    def close(self):
        pass


class Http2Watch:

    def __init__(self, command, accept):
        self.accept = accept
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)

    def next(self):
        return next_event(self.process.stdout, self.accept)

    def close(self):
        self.process.kill()
        self.process.communicate()


# Protobuf as gogo writes it: fields that are not pointers are written even if they are empty.

def varint(number):
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """Encodes one field: an integer, a string, or a message given as bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*values):
    """Encodes the fields 1, 2, ... with these values. None omits one, and a list repeats it."""
    out = b""
    for number, value in enumerate(values, 1):
        for each in value if isinstance(value, list) else [value]:
            out += field(number, each) if each is not None else b""
    return out


def string_map(entries):
    return [message(key, value) for key, value in sorted(entries.items())]


def metadata(name, labels=None):
    return message(name, "", "", "", "", "", 0, b"", None, None, string_map(labels or {}))


def envelope(api_version, kind, raw):
    return b"k8s\0" + message(message(api_version, kind), raw, "", "")


def namespace_body(name):
    """Returns the body of `kubectl create namespace NAME`."""
    return envelope("v1", "Namespace", message(metadata(name), b"", message("")))


def service_body(name, port, target, service_type="ClusterIP", cluster_ip=""):
    """Returns the body of `kubectl create service TYPE NAME --tcp=PORT:TARGET`. A target may be a
    name."""
    named = isinstance(target, str)
    to = message(int(named), 0 if named else target, target if named else "")
    ports = message(f"{port}-{target}", "TCP", port, to, 0)
    spec = message([ports], string_map({"app": name}), cluster_ip, service_type, None, None, "", "",
                   None, "", "", 0, 0)
    return envelope("v1", "Service", message(metadata(name, {"app": name}), spec,
                                             message(message())))


def delete_options_body(policy):
    """Returns DeleteOptions as typed Go clients send them."""
    return envelope("v1", "DeleteOptions", message(None, None, None, policy))


# Base class of the tests that send such requests.

def service(name, labels=None, **spec):
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "labels": labels or {"app": name}},
            "spec": {"clusterIP": "None", "selector": {"app": name},
                     "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}], **spec}}


class KubectlCase(SharedServerCase):
    """`kubectl COMMAND`: send() makes one of its requests, and watch() one that continues."""

    CLIENT = None  # Http1 or Http2, set by over_both.

    def setUp(self):
        super().setUp()
        self.base = f"/api/v1/namespaces/{self.namespace}/services"
        self.client = self.CLIENT(self.server)  # pylint: disable=not-callable
        self.addCleanup(self.client.close)

    def send(self, command, accept, method, path, body=None, code=200, chunked=False, **headers):
        if isinstance(body, dict):
            body = json.dumps(body).encode()
            headers.setdefault("Content_Type", JSON)
        reply = self.client.send(method, path, kubectl_headers(command, accept, **headers),
                                 body, chunked)
        self.assertEqual(reply.code, code, reply)
        return reply

    def watch(self, accept, path):
        stream = self.client.watch(path, kubectl_headers("get", accept))
        self.addCleanup(stream.close)
        return stream

    def create(self, *names, **more):
        return [self.send("create", JSON, "POST", f"{self.base}?{CREATE}=Strict",
                          service(name, **more), 201).json for name in names]

    def status(self, reply, reason, message=None, media=JSON):
        """Returns the Status that kubectl prints."""
        self.assertEqual(reply.media, media)
        status = reply.json
        self.assertEqual((status["kind"], status["code"], status["reason"]),
                         ("Status", reply.code, reason))
        if message:
            self.assertEqual(status["message"], message)
        return status

    def rows(self, table):
        self.assertEqual((table["kind"], table["apiVersion"]), ("Table", "meta.k8s.io/v1"))
        return [row["cells"][0] for row in table["rows"]]


def over_both(*cases):
    """Runs each of the tests once over each protocol."""
    suite = unittest.TestSuite()
    for client in (Http1, Http2):
        for case in cases:
            made = type(f"{case.__name__}Over{client.__name__}", (case,), {"CLIENT": client})
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(made))
    return suite
