"""Bad input over a real socket: the right Status comes back, and the next request works.

All requests use one kept-alive connection where HTTP allows that, so that a misread request would
break the next one.
"""

import base64
import gzip
import json
import socket
import tempfile
import unittest

import harness

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
SERVICES = "/api/v1/namespaces/default/services"
LIMIT = 3 << 20
PORTS = {"ports": [{"port": 80}]}
NOT_JSON = ("the object provided is unrecognized (must be of type Service): couldn't get "
            "version/kind; json parse error: ")
NO_METHOD = "the server does not allow this method on the requested resource"
NO_RESOURCE = "the server could not find the requested resource"


def service(name="x", **metadata):
    return {"metadata": {"name": name, **metadata}, "spec": PORTS}


class BadInputCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.server = harness.Server(folder.name)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.line = self.server.connection()
        self.line.connect()
        self.addCleanup(self.line.close)
        self.socket = self.line.sock

    def ask(self, method, path, body=None, content_type=JSON, headers=None):
        """Sends a request on the connection of this test, which must stay the same one."""
        if isinstance(body, dict):
            body = json.dumps(body)
        fields = {"Authorization": f"Bearer {harness.Server.TOKEN}", **(headers or {})}
        if body is not None:
            fields["Content-Type"] = content_type
        self.line.request(method, path, body=body, headers=fields)
        answer = harness.Answer(self.line.getresponse())
        self.assertIs(self.line.sock, self.socket, "the connection was closed")
        return answer

    def refused(self, answer, code, reason, message):
        """Checks that the answer is that Status. `message` is the whole text, or a part with dots
        around it."""
        status = answer.json
        self.assertEqual((answer.code, status["kind"], status["status"], status["code"]),
                         (code, "Status", "Failure", code), answer)
        self.assertEqual(status.get("reason"), reason, answer)
        if message.endswith("..."):
            self.assertTrue(status["message"].startswith(message[:-3]), answer)
        else:
            self.assertEqual(status["message"], message)
        return status

    def post(self, body, content_type=JSON, query="?dryRun=All"):
        return self.ask("POST", SERVICES + query, body, content_type)

    def bad(self, body, message, content_type=JSON, query="?dryRun=All"):
        self.refused(self.post(body, content_type, query), 400, "BadRequest", message)

    def works(self):
        self.assertEqual(self.ask("GET", SERVICES).json["kind"], "ServiceList")

    def raw_bytes(self, data):
        """Returns what the server sends for these bytes on a connection of their own, until it
        closes."""
        plain = socket.create_connection(("127.0.0.1", self.server.port), harness.PATIENCE)
        with self.server.context().wrap_socket(plain) as line:
            try:
                line.sendall(data)
            except OSError:
                pass  # It may hang up early; its answer is still there.
            out = b""
            while part := line.recv(65536):
                out += part
        return out

    def raw(self, data):
        head, _, body = self.raw_bytes(data).partition(b"\r\n\r\n")
        return int(head.split()[1]), head.lower(), json.loads(body)


class Bodies(BadInputCase):
    def test_deep_nesting(self):
        for deep in (b"[" * 100_000, b'{"a":' * 100_000,
                     b'{"x":' + b"[" * 20_000 + b"]" * 20_000 + b"}"):
            self.bad(deep, NOT_JSON + "exceeded max depth...")
        unknown = b'{"metadata":{"name":"x"},"zz":' + b"[" * 500 + b"]" * 500 + b"}"
        self.bad(unknown, NOT_JSON + "...")
        blocks = "".join(" " * depth + "a:\n" for depth in range(1500)).encode()
        for deep in (b"[" * 100_000, b"{a: " * 100_000, b"- " * 100_000 + b"a", blocks):
            self.bad(deep, "the object provided is unrecognized (must be of type Service): "
                     "yaml: sequences and mappings are nested more than 256 deep...", YAML)
        self.works()

    def test_numbers(self):
        text = '{"metadata":{"name":"x"},"spec":{"ports":[{"port":%s}]}}'
        of_type = ('Service in version "v1" cannot be handled as a Service: json: cannot unmarshal '
                   "%s into Go struct field ServicePort.spec.ports.port of type int32")
        for number in ("1.5", "80.0", "2147483648", "-9223372036854775808"):
            self.bad(text % number, of_type % f"number {number}")
        self.bad(text % '"80"', of_type % "string")
        self.bad(text % "true", of_type % "bool")
        for number in ("1e400", "9" * 30, "1" * 5000, "-1e999"):
            self.bad(text % number, NOT_JSON + "...")
        for number, why in (("NaN", "invalid character 'N' looking for beginning of value"),
                            ("080", "invalid character '8' after object key:value pair"),
                            ("0x50", "invalid character 'x' after object key:value pair"),
                            ("+80", "invalid character '+' looking for beginning of value"),
                            ("1e", "invalid character '}' in exponent of numeric literal")):
            self.bad(text % number, NOT_JSON + why + "...")
        port_zero = self.post(text % "-0")
        self.assertEqual(port_zero.json["details"]["causes"][0], {
            "reason": "FieldValueInvalid", "field": "spec.ports[0].port",
            "message": "Invalid value: 0: must be between 1 and 65535, inclusive"})
        self.works()

    def test_duplicate_keys(self):
        twice = '{"metadata":{"name":"x","name":"z"},"spec":{"ports":[{"port":80}]}}'
        start = 'Service in version "v1" cannot be handled as a Service: strict decoding error: '
        self.bad(twice, start + 'duplicate field "metadata.name"',
                 query="?fieldValidation=Strict&dryRun=All")
        warned = self.post(twice)
        self.assertEqual(warned.code, 201)
        self.assertEqual(warned.headers["warning"],
                         '299 - "duplicate field \\"metadata.name\\""')
        self.assertEqual(warned.json["metadata"]["name"], "z", "the last one counts")
        as_yaml = "metadata: {name: x, name: z}\nspec: {ports: [{port: 80}]}\n"
        self.bad(as_yaml, start + 'yaml: unmarshal errors:\n  line 1: key "name" already set in '
                 "map", YAML, query="?fieldValidation=Strict&dryRun=All")
        self.assertEqual(self.post(as_yaml, YAML).code, 201)

    def test_bytes_that_are_no_text(self):
        annotated = (b'{"metadata":{"name":"x","annotations":{"a":"%s"}},'
                     b'"spec":{"ports":[{"port":1}]}}')
        for bad in (b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\\ud800"):
            self.bad(annotated % bad, NOT_JSON + "...")
        self.bad(annotated % b"\0", NOT_JSON + r"invalid character '\x00' in string literal...")
        self.bad(b'\xef\xbb\xbf{}', NOT_JSON + "invalid character 'ï' looking for beginning...")
        self.bad(json.dumps(service()).encode("utf-16"), NOT_JSON + "invalid character 'ÿ' ...")
        yaml = "the object provided is unrecognized (must be of type Service): yaml: "
        self.bad(b'metadata: {name: "x\xff"}', yaml + "...", YAML)
        self.bad(b'metadata: {name: "x\0"}', yaml + "control characters are not allowed...", YAML)
        kept = self.post(annotated % b"x\\u0000y")
        self.assertEqual(kept.json["metadata"]["annotations"], {"a": "x\0y"})
        name = self.post({"metadata": {"name": "x\0"}, "spec": PORTS})
        self.assertEqual((name.code, name.json["details"]["causes"][0]["field"]),
                         (422, "metadata.name"))
        self.works()

    def test_truncated(self):
        whole = json.dumps(service()).encode()
        for size in range(1, len(whole)):
            self.bad(whole[:size], NOT_JSON + "unexpected end of JSON input...")
        proto = bytes.fromhex("6b3873000a0f0a0276311209") + b"Namespace\x12\x07\x0a\x05\x0a\x03foo"
        path = "/api/v1/namespaces?dryRun=All"
        self.assertEqual(self.ask("POST", path, proto, PROTOBUF).json["metadata"]["name"], "foo")
        refused = 0
        for size in range(len(proto)):
            answer = self.ask("POST", path, proto[:size], PROTOBUF)
            self.assertIn(answer.code, (400, 422), (size, answer))
            refused += answer.code == 400
        self.assertGreater(refused, 20)
        for text in (b'metadata: {name: "x', b"metadata: [", b"metadata: &a", b"\tmetadata: x"):
            self.assertIn(self.post(text, YAML).code, (400, 422), text)
        self.works()

    def test_wrong_or_no_content(self):
        self.bad("", NOT_JSON + "unexpected end of JSON input (<empty>)")
        self.bad("", "the object provided is unrecognized (must be of type Service): provided data "
                 "does not appear to be a protobuf message, expected prefix [107 56 115 0] "
                 "(<empty>)", PROTOBUF)
        self.bad("{} x", NOT_JSON + "invalid character 'x' after top-level value...")
        self.bad(gzip.compress(b"{}"), NOT_JSON + r"invalid character '\x1f' looking for ...")
        length = b"k8s\0\x0a" + b"\xff" * 9 + b"\x01"
        self.bad(length, "the object provided is unrecognized (must be of type Service): "
                 "proto: ...", PROTOBUF)
        self.bad({"kind": "Namespace", "metadata": {"name": "x"}},
                 'Namespace in version "v1" cannot be handled as a Service: converting '
                 "(v1.Namespace) to (core.Service): unknown conversion")
        self.bad({"apiVersion": "v2", **service()}, "the API version in the data (v2) does not "
                 "match the expected API version (v1)")
        for media in ("text/plain", "application/xml", "json", "/", "application/cbor",
                      "application/json, application/yaml"):
            self.refused(self.post(service(), media), 415, "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types "
                         f"include: {JSON}, {YAML}, {PROTOBUF}")
        for media in ("APPLICATION/JSON", "application/json; charset=utf-8", ""):
            self.assertEqual(self.post(service(), media).code, 201, media)

    def test_billion_laughs(self):
        lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
        for this, last in zip("bcdefghij", "abcdefghi"):
            lines.append(f"{this}: &{this} [{','.join(['*' + last] * 9)}]")
        before = self.server.memory_kib("VmHWM")
        self.bad("\n".join(lines), "the object provided is unrecognized (must be of type Service): "
                 f"yaml: with all aliases followed the document is larger than the limit of {LIMIT}"
                 " bytes...", YAML)
        self.bad("a: &a [*a]", "the object provided is unrecognized (must be of type Service): "
                 "yaml: anchor 'a' value contains itself...", YAML)
        if not harness.sanitized():
            self.assertLess(self.server.memory_kib("VmHWM") - before, 64 << 10)
        self.works()

    def test_very_many_unknown_fields(self):
        fields = {f"{number:060}": 0 for number in range(40_000)}
        warned = self.post({**service(), **fields})
        self.assertEqual(warned.code, 201)
        self.assertTrue(warned.headers["warning"].startswith('299 - "unknown field \\"000'))
        self.assertLess(len(warned.headers["warning"]), 8 << 10, "some, not all")
        strict = self.post({**service(), **fields}, query="?fieldValidation=Strict")
        self.assertEqual(strict.code, 400)
        self.assertLess(len(strict.body), 16 << 10)


class Sizes(BadInputCase):
    def body(self, size):
        start, end = b'{"metadata":{"name":"x"},"zz":"', b'","spec":{"ports":[{"port":80}]}}'
        return start + b"z" * (size - len(start) - len(end)) + end

    def test_at_the_limit(self):
        self.assertEqual(self.post(self.body(LIMIT)).code, 201)
        self.works()

    def test_one_byte_over(self):
        head = (f"POST {SERVICES} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\n"
                f"Authorization: Bearer {harness.Server.TOKEN}\r\n")
        body = self.body(LIMIT + 1)
        chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        for rest in (b"Content-Length: %d\r\n\r\n%s" % (len(body), body), chunked,
                     b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body)):
            code, head_back, status = self.raw(head.encode() + rest)
            self.assertEqual((code, status["reason"], status["message"]),
                             (413, "RequestEntityTooLarge",
                              "Request entity too large: limit is 3145728"))
            self.assertIn(b"connection: close", head_back)
        self.works()

    def test_objects_too_large(self):
        notes = {"a": "x" * (256 << 10)}
        self.refused(self.post(service(annotations=notes)), 422, "Invalid",
                     'Service "x" is invalid: metadata.annotations: Too long: may not be more than '
                     "262144 bytes")


class Http(BadInputCase):
    def test_broken_requests(self):
        post = f"POST {SERVICES} HTTP/1.1\r\nHost: x\r\n".encode()
        broken = "the request is not valid HTTP/1.1"
        for data, code, reason, message in (
                (b"GARBAGE\r\n\r\n", 400, "BadRequest", broken),
                (b"GET  /  HTTP/1.1\r\nHost: x\r\n\r\n", 400, "BadRequest", broken),
                (b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400, "BadRequest", broken),
                (b"GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", 400, "BadRequest", broken),
                (b"GET / HTTP/1.1\r\n\r\n", 400, "BadRequest",
                 "the request must have one Host header field"),
                (b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400, "BadRequest",
                 "the request target is not a path"),
                (b"GET /api/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "BadRequest",
                 "the request target is not a path"),
                (post + b"Content-Length: -1\r\n\r\n", 400, "BadRequest", broken),
                (post + b"Content-Length: abc\r\n\r\n", 400, "BadRequest", broken),
                (post + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400, "BadRequest",
                 broken),
                (post + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
                 "BadRequest", broken),
                (post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "BadRequest", broken),
                (post + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n", 400, "BadRequest",
                 broken),
                (post + b"Transfer-Encoding: chunked\r\n\r\n%s\r\n" % (b"f" * 20), 400,
                 "BadRequest", broken),
                (post + b"Transfer-Encoding: gzip, chunked\r\n\r\n", 501, "InternalError",
                 "the only transfer coding served is chunked"),
                (post + b"Expect: the worst\r\nContent-Length: 2\r\n\r\n{}", 417, None,
                 "the only expectation served is 100-continue"),
                (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505, "InternalError",
                 "the HTTP version is not served"),
                (b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"a" * 40_000), 414, None,
                 "the request line is too long"),
                (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431, None,
                 "the request has too many or too long header fields")):
            got, head, status = self.raw(data)
            self.assertEqual((got, status["code"], status.get("reason"), status["message"]),
                             (code, code, reason, message), data[:80])
            self.assertIn(b"connection: close", head)
        self.works()

    def test_a_length_that_is_too_short(self):
        # The bytes after the body are read as the next request, which is not valid.
        body = json.dumps(service()).encode()
        out = self.raw_bytes(
            f"POST {SERVICES} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\n"
            f"Authorization: Bearer {harness.Server.TOKEN}\r\nContent-Length: 10\r\n\r\n".encode()
            + body + b"\r\n\r\n")
        self.assertEqual(out.count(b"HTTP/1.1 400 Bad Request"), 2, out)
        self.assertIn(b"unexpected end of JSON input", out)
        self.assertIn(b"the request is not valid HTTP/1.1", out)
        self.works()


class Queries(BadInputCase):
    def wrong(self, query, code, reason, message):
        self.refused(self.ask("GET", f"{SERVICES}?{query}"), code, reason, message)

    def test_numbers(self):
        for name in ("limit", "timeoutSeconds"):
            for text in ("abc", "1.5", "0x10", "%201", ""):
                shown = text.replace("%20", " ")
                self.wrong(f"{name}={text}", 400, "BadRequest",
                           f'strconv.ParseInt: parsing "{shown}": invalid syntax')
            self.wrong(f"{name}=99999999999999999999", 400, "BadRequest",
                       'strconv.ParseInt: parsing "99999999999999999999": value out of range')
            for text in ("-1", "%2B1", "9223372036854775807"):
                self.assertEqual(self.ask("GET", f"{SERVICES}?{name}={text}").code, 200, text)
        self.works()

    def test_timeouts(self):
        start = "invalid timeout specified in the request URL - time: "
        for text, why in (("abc", 'invalid duration "abc"'), ("nans", 'invalid duration "nans"'),
                          ("-infs", 'invalid duration "-infs"'),
                          ("9999999h", 'invalid duration "9999999h"'),
                          ("5", 'missing unit in duration "5"'),
                          ("1x", 'unknown unit "x" in duration "1x"')):
            self.wrong(f"timeout={text}", 400, "BadRequest", start + why)
        for text in ("1m30s", ".5s", "-5s", "0", "2562047h"):
            self.assertEqual(self.ask("GET", f"{SERVICES}?timeout={text}").code, 200, text)

    def token(self, **fields):
        text = json.dumps({"v": "meta.k8s.io/v1", "rv": 1, "start": "a", **fields}).encode()
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    def test_continue(self):
        start = "invalid continue token: "
        for token, why in (("garbage", "continue key is not valid: invalid character..."),
                           ("!", "continue key is not valid: illegal base64 data at input byte 0"),
                           ("e30", "server does not recognize this encoded version"),
                           (self.token(rv=0), "incorrect encoded start resourceVersion ..."),
                           (self.token(start=""), "encoded start key empty ...")):
            self.wrong(f"continue={token}", 400, "BadRequest", start + why)
        self.wrong(f"continue={self.token(rv=1 << 60)}", 400, "BadRequest",
                   f"revision {1 << 60} lies in the future...")
        self.wrong(f"continue={self.token()}&resourceVersion=5", 400, "BadRequest",
                   "specifying resource version is not allowed when using continue")
        # A token cannot leave its own list.
        away = self.ask("GET", f"{SERVICES}?continue={self.token(rv=-1, start='../../../')}")
        self.assertEqual([each["metadata"]["name"] for each in away.json["items"]], ["kubernetes"])

    def test_versions(self):
        start = 'ListOptions.meta.k8s.io "" is invalid: '
        match = start + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden "
        self.wrong("resourceVersion=abc", 400, "BadRequest", 'invalid resource version: '
                   'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": '
                   "invalid syntax")
        for query, message in (
                ("resourceVersionMatch=Exact", match + "unless resourceVersion is provided"),
                ("resourceVersionMatch=Exact&resourceVersion=1&continue=x",
                 match + "when continue is provided"),
                ("resourceVersionMatch=exact&resourceVersion=1",
                 start + 'resourceVersionMatch: Unsupported value: "exact": supported values: '
                 '"Exact", "NotOlderThan", ""'),
                ("resourceVersionMatch=Exact&resourceVersion=0", start + "resourceVersionMatch: "
                 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
                ("sendInitialEvents=true", start +
                 "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
                ("watch=1&resourceVersionMatch=NotOlderThan",
                 match + "for watch unless sendInitialEvents is provided"),
                ("watch=1&sendInitialEvents=true", start + "resourceVersionMatch: Forbidden: "
                 "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")):
            self.wrong(query, 422, "Invalid", message)
        self.works()

    def test_selectors(self):
        for query, message in (
                ("labelSelector=a%3D%3D%3Db",
                 "unable to parse requirement: found '=', expected: identifier"),
                ("labelSelector=a%20in%20(", "unable to parse requirement: found '', expected: "
                 "',', ')' or identifier"),
                ("labelSelector=,", "found ',', expected: !, identifier, or 'end of string'"),
                ("labelSelector=%FF%3Db", 'unable to parse requirement: <nil>: Invalid value: '
                 r'"\xff": name part must consist of...'),
                ("fieldSelector=a%3Db", "field label not supported: a"),
                ("fieldSelector=metadata.name",
                 "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
                ("fieldSelector=metadata.name%3D%5Cb",
                 "invalid field selector: invalid escape sequence: \\b")):
            self.wrong(query, 400, "BadRequest", message)
            self.wrong(f"watch=1&{query}", 400, "BadRequest", message)
        self.works()

    def test_writes(self):
        for query, message in (
                ("dryRun=all", 'dryRun: Unsupported value: ["all"]: supported values: "All"'),
                ("fieldValidation=strict", 'fieldValidation: Unsupported value: "strict": '
                 'supported values: "", "Ignore", "Strict", "Warn"'),
                ("fieldManager=" + "x" * 129, "fieldManager: Too long: may not be more than 128 "
                 "bytes"),
                ("fieldManager=a%0Ab", r'fieldManager: Invalid value: "a\nb": invalid character '
                 "U+000A (at position 1)")):
            self.refused(self.post(service(), query=f"?{query}"), 422, "Invalid",
                         f'CreateOptions.meta.k8s.io "" is invalid: {message}')

    def test_what_is_overlooked(self):
        for query in ("%zz=1", "&&&&", "x=1;limit=abc", "=x", "a" * 20_000, "pretty=maybe",
                      "&".join(f"p{i}=1" for i in range(2000))):
            self.assertEqual(self.ask("GET", f"{SERVICES}?{query}").code, 200, query[:40])


class Paths(BadInputCase):
    def test_routes(self):
        for path in ("/nope", "/apis/nope", "/apis/apps/v1/deployments", "/healthz/nope",
                     "//api/v1/namespaces", "/metrics/x", "/openapi/v3/../../version",
                     "/" + "a" * 9000):
            answer = self.ask("GET", path)
            self.assertEqual((answer.code, answer.headers["content-type"], answer.body),
                             (404, "text/plain; charset=utf-8", b"404 page not found\n"), path)
        for path in ("/api/v1/nope", "/api/v2/services", "/api/v1/services/web",
                     f"{SERVICES}/a/proxy", f"{SERVICES}/a/status/more", "/api//v1/namespaces",
                     "/api/v1/namespaces//services", "/api/v1/namespaces/../namespaces",
                     "/api/v1/namespaces/default%2Fx/services", "/api/v1/" + "x/" * 1000):
            self.refused(self.ask("GET", path), 404, "NotFound", NO_RESOURCE)
        for method, path in (("POST", f"{SERVICES}/a"), ("PUT", SERVICES), ("PATCH", SERVICES),
                             ("FOO", SERVICES), ("TRACE", SERVICES), ("OPTIONS", SERVICES),
                             ("POST", "/api/v1/services"), ("DELETE", "/api/v1/namespaces"),
                             ("POST", "/version"), ("DELETE", "/api"), ("PUT", "/openapi/v3")):
            self.refused(self.ask(method, path), 405, "MethodNotAllowed", NO_METHOD)

    def test_names_in_paths(self):
        for path, name in (("a%20b", "a b"), ("UPPER", "UPPER"), ("a%00", "a\0"), ("a" * 300,) * 2):
            self.refused(self.ask("GET", f"{SERVICES}/{path}"), 404, "NotFound",
                         f'services "{name}" not found')
        for path, why in (("..", "\"..\": may not be '..'"), ("%2e", "\".\": may not be '.'"),
                          ("a%25b", "\"a%b\": may not contain '%'")):
            for method in ("GET", "DELETE"):
                self.refused(self.ask(method, f"{SERVICES}/{path}"), 400, "BadRequest",
                             f"Name parameter invalid: {why}")
        self.refused(self.ask("POST", "/api/v1/namespaces/nope/services", service()), 404,
                     "NotFound", 'namespaces "nope" not found')
        # An escaped slash is a slash: this path is the status of a namespace.
        self.assertEqual(self.ask("GET", "/api/v1/namespaces/default%2Fstatus").json["kind"],
                         "Namespace")
        self.works()

    def test_names_in_bodies(self):
        label = ("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
                 "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
                 "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")
        for name, why in (("UPPER", label), ("a_b", label), ("-a", label), ("..", label),
                          ("a/b", label), ("é", label), ("a.b", "must not contain dots"),
                          ("a" * 64, "must be no more than 63 characters")):
            self.refused(self.post(service(name)), 422, "Invalid", f'Service "{name}" is invalid: '
                         f'metadata.name: Invalid value: "{name}": {why}')
        self.refused(self.post(service("")), 422, "Invalid", 'Service "" is invalid: '
                     "metadata.name: Required value: name or generateName is required")
        self.bad(service(namespace="other"), "the namespace of the provided object does not match "
                 "the namespace sent on the request")
        self.refused(self.ask("PUT", f"{SERVICES}/other", service()), 400, "BadRequest",
                     "the name of the object (x) does not match the name on the URL (other)")

    def test_accept(self):
        offers = f"{JSON}, {YAML}, {PROTOBUF}"
        for accept in ("text/html", "application/*", "x" * 5000):
            answer = self.ask("GET", SERVICES, headers={"Accept": accept})
            self.refused(answer, 406, "NotAcceptable", "406: Not Acceptable\n\nAvailable "
                         f"representations: {offers}")
        for form in ("as=Bogus;v=v1", "as=Table;v=v9"):
            answer = self.ask("GET", SERVICES, headers={"Accept": f"{JSON};{form};g=meta.k8s.io"})
            self.refused(answer, 406, "NotAcceptable",
                         f"only the following media types are accepted: {offers}")
        for accept in ("text/html, */*", ",,,", f"{JSON};q=high", f"application/cbor,{JSON}"):
            answer = self.ask("GET", SERVICES, headers={"Accept": accept})
            self.assertEqual(answer.json["kind"], "ServiceList", accept)


if __name__ == "__main__":
    harness.main()
