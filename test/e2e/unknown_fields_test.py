"""Fields that only a newer server knows: a server that shares an etcd with it must not lose them.

The tests put such fields into stored objects in etcd, as a newer kube-apiserver would have, or send
them in protobuf. Whatever is written then, the bytes in etcd must still have them in the same
place.
"""

import base64
import json
import tempfile
import unittest

import harness

MAGIC = b"k8s\0"
PROTOBUF = "application/vnd.kubernetes.protobuf"
# Paths of field numbers in a Service and a Namespace.
METADATA, SPEC, PORT = (1,), (2,), (2, 1)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return number, at


def fields(message):
    """Yields (number, wire type, content, all bytes) of each field."""
    at = 0
    while at < len(message):
        begin = at
        tag, at = read_varint(message, at)
        if tag & 7 == 2:
            size, at = read_varint(message, at)
            content, at = message[at:at + size], at + size
        else:
            content, at = read_varint(message, at)
        yield tag >> 3, tag & 7, content, message[begin:at]


def text_field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def with_field(message, path, field):
    """Returns the message with `field` appended to the first message that the path leads to."""
    if not path:
        return message + field
    out, done = b"", False
    for number, _, content, whole in fields(message):
        if number == path[0] and not done:
            whole, done = text_field(number, with_field(content, path[1:], field)), True
        out += whole
    assert done, "there is no such message"
    return out


def envelope_with_field(value, path, field):
    assert value.startswith(MAGIC)
    return MAGIC + with_field(value[4:], (2, *path), field)


def unknown_fields(value, path, number=999):
    """Returns the contents of the field in each message that the path leads to."""
    messages = [value[4:]]
    for step in (2, *path):
        messages = [content for message in messages
                    for each, _, content, _ in fields(message) if each == step]
    return [content for message in messages
            for each, _, content, _ in fields(message) if each == number]


class UnknownFieldsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.etcd = harness.Etcd(tempfile.mkdtemp(dir=folder.name))
        cls.addClassCleanup(cls.etcd.stop)
        cls.flags = ("--etcd-servers", cls.etcd.url)
        cls.server = harness.Server(folder.name, *cls.flags)
        cls.addClassCleanup(lambda: cls.server.stop())

    def setUp(self):
        self.name = self.id().rsplit(".", 1)[-1].replace("_", "-")[5:]
        self.path = f"/api/v1/namespaces/default/services/{self.name}"
        self.key = f"/registry/services/specs/default/{self.name}"

    def call(self, method, path, body=None, code=200, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.server.call(method, path, body, headers=headers)
        self.assertEqual(answer.code, code, answer)
        return answer

    def stored(self, key=None):
        encoded = base64.b64encode((key or self.key).encode()).decode()
        return base64.b64decode(self.etcd.post("kv/range", key=encoded)["kvs"][0]["value"])

    def store(self, key, value):
        self.etcd.post("kv/put", key=base64.b64encode(key.encode()).decode(),
                       value=base64.b64encode(value).decode())

    def service(self, **metadata):
        return {"apiVersion": "v1", "kind": "Service",
                "metadata": {"name": self.name, **metadata},
                "spec": {"ports": [{"name": "dns", "port": 53, "protocol": "UDP"},
                                   {"name": "http", "port": 80}]}}

    def make_newer(self):
        """Creates a Service as a newer server would have left it. Returns its version."""
        self.call("POST", "/api/v1/namespaces/default/services", self.service(), code=201)
        before = self.call("GET", self.path).json
        value = self.stored()
        for path, says in ((), b"top"), (METADATA, b"meta"), (SPEC, b"spec"), (PORT, b"port"):
            value = envelope_with_field(value, path, text_field(999, says))
        self.store(self.key, value)

        def changed():
            now = self.call("GET", self.path).json
            return now["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
        harness.wait_for(changed)

    def expect_kept(self, port=True):
        value = self.stored()
        self.assertEqual(unknown_fields(value, ()), [b"top"])
        self.assertEqual(unknown_fields(value, METADATA), [b"meta"])
        self.assertEqual(unknown_fields(value, SPEC), [b"spec"])
        self.assertEqual(unknown_fields(value, PORT), [b"port"] if port else [])

    def test_put_keeps_them(self):
        self.make_newer()
        self.expect_kept()
        shown = self.call("GET", self.path)
        self.assertEqual(sorted(shown.json), ["apiVersion", "kind", "metadata", "spec", "status"])
        # Read, change and write it, as a client does.
        service = shown.json
        service["metadata"]["labels"] = {"changed": "yes"}
        service["spec"]["ports"].reverse()
        answer = self.call("PUT", self.path, service).json
        self.assertEqual(answer["metadata"]["labels"], {"changed": "yes"})
        self.expect_kept()
        # Without the port there is no place for its unknown fields.
        service = self.service()
        del service["spec"]["ports"][0]
        self.call("PUT", self.path, service)
        self.expect_kept(port=False)

    def test_put_after_a_restart_keeps_them(self):
        self.make_newer()
        self.server.stop()
        type(self).server = harness.Server(self.folder, *self.flags)
        self.call("PUT", self.path, self.service(labels={"changed": "yes"}))
        self.expect_kept()

    def test_put_of_the_status_keeps_them(self):
        self.make_newer()
        service = self.service()
        service["status"] = {"conditions": [
            {"type": "Ready", "status": "True", "reason": "R", "message": "",
             "lastTransitionTime": "2026-11-15T04:35:00Z"}]}
        answer = self.call("PUT", self.path + "/status", service).json
        self.assertEqual(answer["status"]["conditions"][0]["type"], "Ready")
        self.expect_kept()

    def test_patches_keep_them(self):
        self.make_newer()
        patches = (
            ("application/merge-patch+json", {"metadata": {"labels": {"by": "merge"}}}),
            ("application/merge-patch+json", {"spec": {"ports": [
                {"name": "http", "port": 80}, {"name": "dns", "port": 53, "protocol": "UDP"}]}}),
            ("application/strategic-merge-patch+json", {"spec": {"ports": [
                {"name": "more", "port": 81}, {"port": 53, "protocol": "UDP", "name": "d"}]}}),
            ("application/json-patch+json", [
                {"op": "add", "path": "/spec/selector", "value": {"a": "b"}}]),
        )
        for kind, patch in patches:
            before = self.stored()
            self.call("PATCH", self.path, json.dumps(patch), Content_Type=kind)
            self.assertNotEqual(self.stored(), before, patch)
            self.expect_kept()

    def test_apply_keeps_them(self):
        self.make_newer()
        config = self.service(labels={"by": "apply"})
        answer = self.call("PATCH", self.path + "?fieldManager=me&force=true", json.dumps(config),
                           Content_Type="application/apply-patch+yaml").json
        self.assertEqual(answer["metadata"]["labels"], {"by": "apply"})
        self.expect_kept()

    def test_what_changes_nothing_writes_nothing(self):
        self.make_newer()
        before = self.call("GET", self.path).json
        after = self.call("PUT", self.path, before).json
        self.assertEqual(after, before)

    def test_deleting_with_finalizers_keeps_them(self):
        self.make_newer()
        self.call("PUT", self.path, self.service(finalizers=["example.com/wait"]))
        self.call("DELETE", self.path)
        self.assertIn("deletionTimestamp", self.call("GET", self.path).json["metadata"])
        self.expect_kept()

    def test_a_namespace_keeps_them(self):
        path, key = f"/api/v1/namespaces/{self.name}", f"/registry/namespaces/{self.name}"
        made = self.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.name}}, code=201)
        value = envelope_with_field(self.stored(key), METADATA, text_field(999, b"meta"))
        # Its spec has nothing else that a client could send.
        value = envelope_with_field(value, SPEC, text_field(999, b"spec"))
        self.store(key, value)
        version = made.json["metadata"]["resourceVersion"]
        harness.wait_for(
            lambda: self.call("GET", path).json["metadata"]["resourceVersion"] != version)
        self.call("PUT", path, {"metadata": {"name": self.name, "labels": {"changed": "yes"}}})
        value = self.stored(key)
        self.assertIn(b"changed", value)
        self.assertEqual(unknown_fields(value, METADATA), [b"meta"])
        self.assertEqual(unknown_fields(value, SPEC), [b"spec"])

    def test_created_from_protobuf(self):
        """An unknown field from a newer client is stored, and survives an older client's write."""
        port = text_field(1, b"http") + b"\x18\x50" + text_field(999, b"port")
        spec = text_field(1, port) + text_field(999, b"spec")
        metadata = text_field(1, self.name.encode()) + text_field(999, b"meta")
        raw = text_field(1, metadata) + text_field(2, spec) + text_field(999, b"top")
        type_meta = text_field(1, b"v1") + text_field(2, b"Service")
        body = MAGIC + text_field(1, type_meta) + text_field(2, raw)
        answer = self.call("POST", "/api/v1/namespaces/default/services", body, code=201,
                           Content_Type=PROTOBUF)
        self.assertEqual(answer.json["spec"]["ports"][0]["port"], 80)
        self.expect_kept()
        service = answer.json
        service["metadata"]["labels"] = {"changed": "yes"}
        self.call("PUT", self.path, service)
        self.assertIn(b"changed", self.stored())
        self.expect_kept()

    def test_a_newer_client_sees_and_changes_them(self):
        self.make_newer()
        shown = self.call("GET", self.path, Accept=PROTOBUF).body
        self.assertEqual(unknown_fields(shown, SPEC), [b"spec"])
        changed = shown.replace(text_field(999, b"spec"), text_field(999, b"SPEC"))
        self.assertNotEqual(changed, shown)
        self.call("PUT", self.path, changed, Content_Type=PROTOBUF)
        value = self.stored()
        self.assertEqual(unknown_fields(value, SPEC), [b"SPEC"])
        self.assertEqual(unknown_fields(value, METADATA), [b"meta"])


if __name__ == "__main__":
    harness.main()
