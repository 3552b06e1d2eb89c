"""curl with ordinary and odd input, over HTTP/1.1 and HTTP/2."""

import base64
import gzip
import json
import os
import subprocess

import harness
import tools

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def items(body):
    """Returns the items of a list, without its version, which changes with every other write."""
    return body.partition(b'"items":')[2]


class Curl(harness.SharedServerCase):
    def setUp(self):
        super().setUp()
        self.services = f"/api/v1/namespaces/{self.namespace}/services"

    def run_curl(self, *args, paths=(), token=harness.Server.TOKEN, stdin=None):
        """Runs curl with certificates checked. Returns its raw output."""
        command = [tools.CURL, "-sS", "--max-time", str(harness.PATIENCE), "--cacert",
                   self.server.ca_file, *args]
        if token:
            command += ["-H", f"Authorization: Bearer {token}"]
        command += [self.server.url + path for path in paths]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def curl(self, path, *args, **more):
        """Returns the answers to one request, including interim ones, as (code, headers, body)."""
        out = self.run_curl("-i", *args, paths=[path], **more)
        answers = []
        while out.startswith(b"HTTP/"):
            head, _, out = out.partition(b"\r\n\r\n")
            first, *fields = head.decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in
                       (field.partition(":") for field in fields)}
            answers.append((int(first.split()[1]), headers, out))
        return answers

    def get(self, path, *args, **more):
        (code, headers, body), = self.curl(path, *args, **more)
        return code, headers, body

    def create(self, name, **metadata):
        made = self.server.call("POST", self.services, {
            "metadata": {"name": name, **metadata}, "spec": {"ports": [{"port": 80}]}})
        self.assertEqual(made.code, 201, made)
        return made.json

    def test_both_protocols(self):
        self.create("web")
        bodies = []
        for flag, version in (("--http1.1", "1.1"), ("--http2", "2")):
            out = self.run_curl(flag, "-w", "\n%{http_version} %{http_code}",
                                paths=[f"{self.services}/web"])
            body, _, last = out.decode().rpartition("\n")
            self.assertEqual(last, f"{version} 200")
            bodies.append(body)
        self.assertEqual(*bodies)

    def test_people_get_indented_json(self):
        self.create("web")
        path = f"{self.services}/web"
        for args in ((), ("-A", "Wget/1.21"), ("-A", "Mozilla/5.0 (X11)"),
                     ("-A", "my-tool", "-H", "Accept: application/json;pretty=1")):
            _, _, body = self.get(path, *args)
            self.assertTrue(body.startswith(b'{\n  "kind": "Service",\n  "apiVersion": '), args)
            self.assertTrue(body.endswith(b"\n}\n"), body)
        _, _, missing = self.get(f"{self.services}/nope")
        self.assertIn(b'{\n  "kind": "Status",\n', missing)
        for args, query in ((("-A", "my-tool"), ""), ((), "?pretty=false"), ((), "?pretty=0")):
            _, _, body = self.get(path + query, *args)
            self.assertEqual(body.count(b"\n"), 1, "one line")
            self.assertEqual(json.loads(body)["metadata"]["name"], "web")
        _, _, body = self.get(path + "?pretty=true", "-A", "my-tool")
        self.assertGreater(body.count(b"\n"), 10)

    def test_methods(self):
        self.create("web")
        # As in Kubernetes, HEAD is not allowed on objects. An answer to HEAD has no body.
        code, headers, body = self.get(f"{self.services}/web", "-I")
        self.assertEqual((code, headers["content-type"], body), (405, "application/json", b""))
        code, headers, body = self.get("/version", "-I")
        self.assertEqual((code, body), (200, b""))
        self.assertGreater(int(headers["content-length"]), 100)
        for method in ("OPTIONS", "TRACE", "BREW"):
            code, _, body = self.get(self.services, "-X", method)
            self.assertEqual((code, json.loads(body)["reason"]), (405, "MethodNotAllowed"))

    def test_uploads(self):
        def document(name):
            ports = [{"port": 80}]
            return json.dumps({"metadata": {"name": name}, "spec": {"ports": ports}}).encode()
        json_type = ("-H", "Content-Type: application/json")
        for number, args in enumerate((
                ("--http1.1", "-H", "Transfer-Encoding: chunked"), ("--http2",), ("--http1.1",))):
            answers = self.curl(self.services, *args, *json_type, "--data-binary", "@-",
                                stdin=document(f"s{number}"))
            self.assertEqual([code for code, _, _ in answers], [201], args)
        # curl waits for "100 Continue".
        answers = self.curl(self.services, "--http1.1", *json_type, "-H", "Expect: 100-continue",
                            "--data-binary", "@-", stdin=document("patient"))
        self.assertEqual([code for code, _, _ in answers], [100, 201])
        # A missing Content-Type means JSON, but curl's own for -d does not.
        code, _, _ = self.get(self.services, "-H", "Content-Type:", "-d", "@-",
                              stdin=document("bare"))
        self.assertEqual(code, 201)
        code, _, body = self.get(self.services, "-d", "@-", stdin=document("form"))
        self.assertEqual((code, json.loads(body)["reason"]), (415, "UnsupportedMediaType"))
        code, _, body = self.get(self.services, "-H", "Content-Type: application/yaml", "-d",
                                 "metadata: {name: from-yaml}\nspec: {ports: [{port: 80}]}")
        self.assertEqual((code, json.loads(body)["metadata"]["name"]), (201, "from-yaml"))

    def test_too_large_an_upload(self):
        path = os.path.join(self.folder, "large")
        with open(path, "wb") as out:
            out.write(b'"' + b"x" * (3 << 20) + b'"')
        for args in (("--http1.1",), ("--http1.1", "-H", "Expect:"), ("--http2",),
                     ("--http2", "-H", "Transfer-Encoding: chunked")):
            code, _, body = self.curl(self.services, *args, "-H", "Content-Type: application/json",
                                      "--data-binary", f"@{path}")[-1]
            self.assertEqual((code, json.loads(body)["message"]),
                             (413, "Request entity too large: limit is 3145728"), args)

    def test_compressed(self):
        self.create("small")
        _, headers, _ = self.get(self.services, "-H", "Accept-Encoding: gzip", "-A", "tool")
        self.assertNotIn("content-encoding", headers, "not worth it")
        for number in range(4):
            self.create(f"large{number}", annotations={"notes": "x" * 60_000})
        _, headers, whole = self.get(self.services, "-A", "tool")
        self.assertNotIn("content-encoding", headers)
        for flag in ("--http1.1", "--http2"):
            _, headers, packed = self.get(self.services, flag, "-A", "tool", "-H",
                                          "Accept-Encoding: gzip")
            self.assertEqual(headers["content-encoding"], "gzip")
            self.assertIn("Accept-Encoding", headers["vary"])
            self.assertLess(len(packed), len(whole) // 10)
            unpacked = self.run_curl(flag, "-A", "tool", "--compressed", paths=[self.services])
            for body in (gzip.decompress(packed), unpacked):
                self.assertEqual(items(body), items(whole))
        _, headers, _ = self.get(self.services, "-A", "tool", "-H",
                                 "Accept-Encoding: gzip;q=0, deflate, br")
        self.assertNotIn("content-encoding", headers)

    def test_without_tls(self):
        done = subprocess.run([tools.CURL, "-sS", "-i", f"http://127.0.0.1:{self.server.port}/version"],
                              capture_output=True, check=True)
        self.assertTrue(done.stdout.startswith(b"HTTP/1.0 400 Bad Request\r\n"), done)
        self.assertIn(b"Client sent an HTTP request to an HTTPS server.", done.stdout)

    def test_ranges_are_overlooked(self):
        code, headers, body = self.get("/version", "-r", "0-9")
        self.assertEqual((code, int(headers["content-length"])), (200, len(body)))
        self.assertEqual(json.loads(body)["major"], "1")

    def test_connections_are_used_again(self):
        self.create("web")
        paths = ["/version", f"{self.services}/web", f"{self.services}/nope", "/nope",
                 f"{self.services}/web", "/healthz"]
        for flag in ("--http1.1", "--http2"):
            out = self.run_curl(flag, "-o", "/dev/null", "-w", "%{http_code}:%{num_connects} ",
                                *[arg for _ in paths[1:] for arg in ("-o", "/dev/null")],
                                paths=paths).decode()
            self.assertEqual(out, "200:1 200:0 404:0 404:0 200:0 200:0 ", flag)
        _, headers, _ = self.get("/version", "--http1.0", "--no-alpn")
        self.assertEqual(headers["connection"], "close")

    def test_accept(self):
        self.create("web")
        path = f"{self.services}/web"
        _, headers, body = self.get(path, "-H", "Accept: application/yaml")
        self.assertEqual(headers["content-type"], "application/yaml")
        self.assertIn(b"\nkind: Service\n", b"\n" + body)
        for accept, kind in ((TABLE, "Table"), (PARTIAL, "PartialObjectMetadata"),
                             ("application/yaml;q=0.1,application/json;q=0.9", "Service"),
                             (f"{TABLE};q=0.5,application/json", "Service"),
                             (f"{TABLE},application/json", "Table"),
                             ("text/html,application/xml;q=0.9,*/*;q=0.8", "Service")):
            code, headers, body = self.get(path, "-H", f"Accept: {accept}")
            self.assertEqual((code, headers["content-type"], json.loads(body)["kind"]),
                             (200, "application/json", kind), accept)
        protobuf = "application/vnd.kubernetes.protobuf"
        code, headers, body = self.get(path, "-H", f"Accept: {protobuf},application/json")
        self.assertEqual((code, headers["content-type"], body[:4]), (200, protobuf, b"k8s\0"))
        _, _, body = self.get(self.services, "-H", f"Accept: {PARTIAL.replace(';v', 'List;v')}")
        self.assertEqual(json.loads(body)["kind"], "PartialObjectMetadataList")
        _, _, body = self.get(self.services, "-H", "Accept: application/yaml")
        self.assertIn(b"items:\n- metadata:\n", body)
        for accept in ("text/html", "application/cbor", f"{TABLE.replace('v1', 'v7')}"):
            code, headers, body = self.get(path, "-H", f"Accept: {accept}")
            self.assertEqual((code, headers["content-type"], json.loads(body)["reason"]),
                             (406, "application/json", "NotAcceptable"), accept)
        code, _, body = self.get(self.services + "?watch=1", "-H", "Accept: application/yaml")
        self.assertEqual(code, 406)

    def test_a_watch_comes_line_by_line(self):
        self.create("web")
        for flag in ("--http1.1", "--http2"):
            out = self.run_curl(flag, "-N", paths=[self.services + "?watch=1&timeoutSeconds=1"])
            event, = out.decode().splitlines()
            self.assertEqual(json.loads(event)["object"]["metadata"]["name"], "web")

    def test_who_one_is(self):
        code, headers, body = self.get("/api/v1/namespaces", token=None)
        self.assertEqual((code, json.loads(body)["message"]), (401, "Unauthorized"))
        self.assertIn("www-authenticate", headers)
        code, _, body = self.get("/api/v1/namespaces", token="wrong")
        self.assertEqual((code, json.loads(body)["reason"]), (401, "Unauthorized"))
        code, _, body = self.get("/api/v1/namespaces", token="plain-token")
        self.assertEqual((code, json.loads(body)["message"]), (
            403, 'namespaces is forbidden: User "jane" cannot list resource "namespaces" in API '
            "group \"\" at the cluster scope"))
        for path in ("/version", "/healthz", "/readyz"):
            self.assertEqual(self.get(path, token=None)[0], 200, path)

    def test_a_client_certificate(self):
        with open(self.server.kubeconfig, encoding="utf-8") as config:
            fields = dict(line.strip().split(": ", 1) for line in config
                          if "-data: " in line or "client-" in line)
        files = {}
        for name in ("client-certificate", "client-key"):
            files[name] = fields.get(name)
            if f"{name}-data" in fields:
                files[name] = os.path.join(self.folder, name)
                with open(files[name], "wb") as out:
                    out.write(base64.b64decode(fields[f"{name}-data"]))
        for flag in ("--http1.1", "--http2"):
            code, _, body = self.get("/api/v1/namespaces/default", flag, "-k", "--cert",
                                     files["client-certificate"], "--key", files["client-key"],
                                     token=None)
            self.assertEqual((code, json.loads(body)["kind"]), (200, "Namespace"))


if __name__ == "__main__":
    harness.main()
