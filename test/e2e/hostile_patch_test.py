"""Hostile patches: each is answered in time and in bounded memory, and the next request works."""

import json
import threading
from urllib.parse import quote

import harness

JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
KINDS = (JSON, MERGE, STRATEGIC, APPLY)
LIMIT = 3 << 20
SANITIZED = harness.sanitized()
SECONDS = 5  # Processor time for one answer.
NO_MATCH = "the server rejected our request due to an error in our request"
TOO_MUCH = "Request entity too large: The JSON patch takes too much work"


def operation(kind, path, **more):
    return {"op": kind, "path": path, **more}


def together(*works):
    """Runs all at the same time, and raises the first failure."""
    failures = []

    def run(work):
        try:
            work()
        except BaseException as error:  # pylint: disable=broad-except
            failures.append(error)
    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class Client:
    """One kept connection."""

    def __init__(self, server):
        self.line = server.connection()

    def ask(self, method, path, body=None, content_type="application/json"):
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        self.line.request(method, path, body, {"Authorization": f"Bearer {harness.Server.TOKEN}",
                                               "Content-Type": content_type})
        return harness.Answer(self.line.getresponse())


class HostilePatch(harness.SharedServerCase):
    """Each test has a Service `web`, and must leave the server responsive and small."""

    PEAK_MIB = 100

    def setUp(self):
        super().setUp()
        self.services = f"/api/v1/namespaces/{self.namespace}/services"
        self.client = self.connect()
        self.make("web")
        with open(f"/proc/{self.server.process.pid}/clear_refs", "w", encoding="ascii") as refs:
            refs.write("5")  # Resets the peak.
        self.before = self.server.memory_kib()
        self.addCleanup(self.survived)

    def connect(self):
        client = Client(self.server)
        self.addCleanup(client.line.close)
        return client

    def survived(self):
        self.assertEqual(self.server.call("GET", self.services).code, 200)
        if SANITIZED:
            return
        self.assertLess(self.grown_mib(), self.PEAK_MIB, "at most")

    def grown_mib(self):
        return (self.server.memory_kib("VmHWM") - self.before) / 1024

    def make(self, name, **metadata):
        metadata = {"name": name, "labels": {"a": "1"}, "annotations": {"n": "x"}, **metadata}
        made = self.client.ask("POST", self.services, {"metadata": metadata,
                                                       "spec": {"ports": [{"port": 80}]}})
        self.assertEqual(made.code, 201, made)

    def get(self, name="web"):
        return self.client.ask("GET", f"{self.services}/{name}").json

    def patch(self, body, kind, query="", client=None, name="web"):
        """Returns the answer, which must not cost the server much."""
        before = self.server.cpu_seconds()
        answer = (client or self.client).ask("PATCH", f"{self.services}/{name}{query}", body, kind)
        if not SANITIZED:
            self.assertLess(self.server.cpu_seconds() - before, SECONDS)
        return answer

    def apply(self, manager, query="", client=None, **fields):
        metadata = {"name": "web", **fields.pop("metadata", {})}
        document = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, **fields}
        return self.patch(document, APPLY, f"?fieldManager={manager}{query}", client)

    def refused(self, answer, code, message):
        self.assertEqual((answer.code, answer.json.get("message")), (code, message))

    def managers(self, answer):
        entries = answer.json["metadata"].get("managedFields", [])
        return [(entry["operation"], entry.get("manager")) for entry in entries]


class JsonPatches(HostilePatch):
    PEAK_MIB = 150

    def test_ten_thousand_operations_and_one_more(self):
        for kind, value in (("add", "v"), ("test", "v"), ("replace", "w")):
            many = [operation(kind, f"/metadata/annotations/a{number}", value=value)
                    for number in range(10_000)]
            self.assertEqual(self.patch(many, JSON).code, 200)
            self.refused(self.patch([*many, many[0]], JSON), 413, "Request entity too large: The "
                         "allowed maximum operations in a JSON patch is 10000, got 10001")
        self.assertEqual(self.get()["metadata"]["annotations"]["a9999"], "w")
        self.assertEqual(self.patch("[]", JSON).code, 200)

    def test_too_much_work(self):
        members = {str(number): 0 for number in range(100_000)}
        for value, operations in (
                ([], [operation("add", "/zz/0", value=number) for number in range(9_999)]),
                ([0] * 1_000_000, [operation("remove", "/zz/0")] * 9_999),
                (members, [operation("move", f"/zz/x{number}", **{"from": f"/zz/{number}"})
                           for number in range(9_999)])):
            body = json.dumps([operation("add", "/zz", value=value), *operations],
                              separators=(",", ":"))
            self.assertLess(len(body), LIMIT)
            self.refused(self.patch(body, JSON), 413, TOO_MUCH)

    def test_copies_that_double(self):
        start = operation("add", "/zz", value=["x" * 100])
        double = operation("copy", "/zz/-", **{"from": "/zz"})
        nested = [operation("copy", f"/zz/{number}", **{"from": "/zz"}) for number in range(100)]
        large = [operation("add", "/zz", value="x" * (1 << 20))] + [
            operation("copy", f"/y{number}", **{"from": "/zz"}) for number in range(9_000)]
        for bomb in ([start] + [double] * 9_000, [operation("add", "/zz", value={}), *nested],
                     large):
            self.refused(self.patch(bomb, JSON), 422, NO_MATCH)

    def test_pointers_to_themselves(self):
        before = self.get()
        for operations in (
                [operation("move", "/metadata/labels/b", **{"from": "/metadata"})],
                [operation("move", "/spec/ports/0/name", **{"from": "/spec/ports/0"})],
                [operation("move", "/a", **{"from": ""})],
                [operation("copy", "/a", **{"from": ""})],
                [operation("remove", "")],
                [operation("add", "/spec/ports/2", value={})],
                [operation("remove", "/spec/ports/-")],
                [operation("remove", "/spec/ports/99999999999999999999")],
                [operation("test", "/metadata/name/0", value="w")]):
            self.refused(self.patch(operations, JSON), 422, NO_MATCH)
        for operations in (
                [operation("move", "/metadata/labels", **{"from": "/metadata/labels"})],
                [operation("copy", "/metadata/labels", **{"from": "/metadata/labels"})],
                [operation("test", "", value=before)]):
            self.assertEqual(self.patch(operations, JSON).code, 200, operations)
        self.assertEqual(self.get(), before)

    def test_deep(self):
        deeper = [operation("add", "/zz" + "/a" * number, value={}) for number in range(400)]
        wrap = [operation("add", "/y", value={}),
                operation("move", "/y/a", **{"from": "/zz"}),
                operation("move", "/zz", **{"from": "/y"})]
        for operations in (
                deeper, [operation("add", "/zz", value={})] + wrap * 400,
                [operation("add", "/" + "a/" * 100_000, value=1)],
                [operation("add", "/" * 3_000_000, value=1)],
                [operation("test", "/a" * 1_000_000, value=None)],
                [operation("copy", "/a", **{"from": "/~1" * 1_000_000})]):
            self.refused(self.patch(operations, JSON), 422, NO_MATCH)
        self.assertEqual(self.patch(deeper[:200], JSON).code, 200, "unknown fields are left out")


class Documents(HostilePatch):
    PEAK_MIB = 350

    @staticmethod
    def bodies(value):
        """Returns a patch of each kind that adds this text as an unknown field."""
        return ((JSON, f'[{{"op":"add","path":"/zz","value":{value}}}]'),
                (MERGE, f'{{"zz":{value}}}'), (STRATEGIC, f'{{"zz":{value}}}'),
                (APPLY, '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},'
                        f'"zz":{value}}}'))

    def test_deep(self):
        for levels in (300, 10_000, 300_000):
            for value in ("[" * levels + "]" * levels, '{"a":' * levels + "1" + "}" * levels,
                          "[" * levels):
                for kind, body in self.bodies(value):
                    answer = self.patch(body, kind, "?fieldManager=m")
                    self.assertEqual((answer.code, answer.json["reason"]), (400, "BadRequest"))
        for kind, body in self.bodies("[" * 200 + "]" * 200):
            self.assertEqual(self.patch(body, kind, "?fieldManager=m").code,
                             500 if kind == APPLY else 200, "a schema knows no such field")

    def test_many_that_wait(self):
        """A parsed patch is many times as large as its text, so only active ones may be parsed."""
        zeros = "[" + "0," * 1_000_000 + "0]"
        for kind, body in self.bodies(zeros)[:3]:
            def send(kind=kind, body=body):
                answer = self.server.call("PATCH", f"{self.services}/web", body,
                                          {"Content-Type": kind})
                self.assertEqual(answer.code, 200, answer)
            together(*[send] * (2 if SANITIZED else 8))

    def test_alias_bombs(self):
        head = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
        lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
        for this, last in zip("bcdefghij", "abcdefghi"):
            lines.append(f"{this}: &{this} [{','.join(['*' + last] * 9)}]")
        start = "error decoding YAML: error converting YAML to JSON: yaml: "
        for body, why in (
                (head + "\n".join(lines), "with all aliases followed the document is larger than "
                 f"the limit of {LIMIT} bytes"),
                (head + "zz: &a [*a]", "anchor 'a' value contains itself"),
                (head + "zz: &a {b: {c: *a}}", "anchor 'a' value contains itself"),
                (head + "zz: &a {<<: *a}", "merge keys (<<) are not supported"),
                (head + "---\na: b", "there is more than one document")):
            self.refused(self.patch(body, APPLY, "?fieldManager=m"), 400, start + why)
        shared = head.replace("web}", "web, labels: &l {b: c}, annotations: *l}")
        applied = self.patch(shared, APPLY, "?fieldManager=m").json["metadata"]
        self.assertEqual((applied["labels"]["b"], applied["annotations"]["b"]), ("c", "c"))


class Types(HostilePatch):
    """Sends wrong types at every place, in every kind of patch."""

    VALUES = ("null", "true", "5", "-1", "1e400", "1.5", '""', '"x"', "[]", "[null]", "[[]]", "[5]",
              '["x"]', "{}", '{"a":null}', '{"a":{}}', '{"":""}')
    METADATA = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
                "deletionTimestamp", "labels", "labels/a", "annotations", "finalizers",
                "ownerReferences", "ownerReferences/0", "managedFields", "managedFields/0",
                "managedFields/0/fieldsV1")
    SPEC = ("ports", "ports/0", "ports/0/port", "ports/0/targetPort", "selector", "selector/a",
            "type", "clusterIP", "clusterIPs", "ipFamilies", "sessionAffinityConfig",
            "sessionAffinityConfig/clientIP", "externalIPs", "publishNotReadyAddresses")
    STATUS = ("conditions", "conditions/0", "loadBalancer", "loadBalancer/ingress")

    def paths(self):
        yield from ("kind", "apiVersion")
        for top, below in (("metadata", self.METADATA), ("spec", self.SPEC),
                           ("status", self.STATUS)):
            yield top
            for each in below:
                yield f"{top}/{each}"

    @staticmethod
    def document(path, value):
        """Returns the text of a patch with the value at its place."""
        for key in reversed(path.split("/")):
            value = f"[{value}]" if key == "0" else f'{{"{key}":{value}}}'
        return value

    def body(self, kind, path, value):
        if kind == JSON:
            return f'[{{"op":"add","path":"/{path}","value":{value}}}]'
        if kind != APPLY:
            return self.document(path, value)
        # In YAML the last of two equal keys counts, unless validation is strict.
        head = '{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},'
        if path.startswith("metadata/"):
            head = '{"apiVersion":"v1","kind":"Service",'
            below = self.document(path.removeprefix("metadata/"), value)
            return head + '"metadata":{"name":"web",' + below[1:] + "}"
        return head + self.document(path, value)[1:]

    def check(self, kind, suffix):
        before, codes = self.get(), set()
        query = "?dryRun=All&fieldManager=m" + ("&force=true" if kind == APPLY else "")
        for path in self.paths():
            for value in self.VALUES:
                body = self.body(kind, path, value)
                answer = self.patch(body, kind, suffix + query)
                content = answer.json
                codes.add(answer.code)
                if answer.code != 200:
                    self.assertEqual((content["kind"], content["code"]), ("Status", answer.code))
                    self.assertIn(content.get("reason", ""),
                                  {400: ("BadRequest",), 409: ("Conflict",), 422: ("Invalid",),
                                   500: ("",)}[answer.code], (body, answer))
                    continue
                # The resulting object is as valid as any other.
                self.assertEqual(content["metadata"]["uid"], before["metadata"]["uid"], body)
                again = self.client.ask("PUT", f"{self.services}/web?dryRun=All", content)
                self.assertEqual(again.code, 200, (body, again))
        self.assertEqual(codes - {409}, {200, 400, 422, 500})
        self.assertEqual(self.get(), before)

    def test_json_patch(self):
        self.check(JSON, "")

    def test_merge_patch(self):
        self.check(MERGE, "")

    def test_strategic_merge_patch(self):
        self.check(STRATEGIC, "")

    def test_apply(self):
        self.check(APPLY, "")

    def test_status(self):
        for kind in KINDS:
            self.check(kind, "/status")

    def test_whole_patches(self):
        no_text = ("", "{", "nul", "\0", '{"a":1}x', "\ufeff{}")
        objects = tuple(value for value in self.VALUES if value.startswith("{"))
        fine = {JSON: ("null", "[]"), MERGE: objects, STRATEGIC: ("null", *objects), APPLY: ()}
        for kind in KINDS:
            for value in self.VALUES + no_text:
                answer = self.patch(value.encode(), kind, "?fieldManager=m")
                codes = (200,) if value in fine[kind] else (400, 422)
                self.assertIn(answer.code, codes, (kind, value, answer))


class Directives(HostilePatch):
    def test_those_that_make_no_sense(self):
        before = self.get()
        for patch in (
                {"$patch": "delete"}, {"$patch": "replace"}, {"$patch": "bogus"}, {"$patch": 5},
                {"metadata": {"$patch": "delete"}}, {"spec": {"$patch": "delete"}},
                {"spec": {"ports": [{"$patch": "delete"}]}},
                {"spec": {"ports": [{"$patch": "bogus", "port": 80}]}},
                {"spec": {"ports": {"$patch": "delete"}}},
                {"spec": {"$setElementOrder/ports": 5}}, {"spec": {"$setElementOrder/": []}},
                {"spec": {"$setElementOrder/ports": [5]}},
                {"spec": {"$setElementOrder/ports": [{"port": 81}], "ports": [{"port": 80}]}},
                {"spec": {"$setElementOrder/type": ["a"]}}, {"$setElementOrder/spec": [{}]},
                {"metadata": {"$deleteFromPrimitiveList/finalizers": 5}},
                {"spec": {"$deleteFromPrimitiveList/ports": ["a"]}},
                {"spec": {"$retainKeys": 5}}, {"spec": {"$retainKeys": []}}, {"$retainKeys": []},
                {"spec": {"$retainKeys": [{}], "type": "ClusterIP"}}, {"$retainKeys": ["spec"]}):
            answer = self.patch(patch, STRATEGIC)
            self.assertIn(answer.code, (400, 422, 500), (patch, answer))
            self.assertEqual("reason" in answer.json, answer.code != 500, patch)
        self.assertEqual(self.get(), before)

    def test_very_many(self):
        order = [{"port": port} for port in range(1, 50_000)]
        finalizers = [f"f/{number}" for number in range(80_000)]
        for patch, code in (
                ({"spec": {"$setElementOrder/ports": order, "ports": [{"port": 80}]}}, 200),
                ({"spec": {"$setElementOrder/ports": [{"port": 80}] * 100_000}}, 200),
                ({"spec": {"ports": [{"port": 80, "$patch": "delete"}] * 60_000}}, 422),
                ({"spec": {"ports": [{"port": 80}] * 100_000}}, 200),
                ({"spec": {"$retainKeys": finalizers}}, 422),
                ({"metadata": {"$setElementOrder/finalizers": finalizers,
                               "finalizers": finalizers}}, 200),
                ({"metadata": {"$deleteFromPrimitiveList/finalizers": finalizers,
                               "finalizers": finalizers}}, 200)):
            self.assertEqual(self.patch(patch, STRATEGIC, "?dryRun=All").code, code)


class Managers(HostilePatch):
    def test_names(self):
        start = 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: '
        label = {"metadata": {"labels": {"b": "1"}}}
        for name, why in (("x" * 129, "Too long: may not be more than 128 bytes"),
                          ("é" * 65, "Too long: may not be more than 128 bytes"),
                          ("a\0", r'Invalid value: "a\x00": invalid character U+0000 '
                           "(at position 1)"),
                          ("a\u202eb", r'Invalid value: "a\u202eb": invalid character U+202E '
                           "(at position 1)"),
                          ("é\x7f", r'Invalid value: "é\x7f": invalid character U+007F '
                           "(at position 2)")):
            self.refused(self.patch(label, MERGE, f"?fieldManager={quote(name)}"), 422, start + why)
            self.refused(self.apply(quote(name), **label), 422, start + why)
        self.refused(self.apply("", **label), 422, start + "Required value: is required for apply "
                     "patch")
        for name in ("x" * 128, "é" * 64, " ", '"\\', "a/b", "😀"):
            applied = self.apply(quote(name), "&force=true", metadata={"labels": {"b": name[:0]}})
            self.assertIn(("Apply", name), self.managers(applied))
        # A manager whose name is not valid text stays one manager, however often it writes.
        for number in range(3):
            self.assertEqual(self.patch({"metadata": {"labels": {"b": str(number)}}}, MERGE,
                                        "?fieldManager=a%FF").code, 200)
        found = [name for _, name in self.managers(self.client.ask("GET", self.services + "/web"))]
        self.assertEqual(found.count("a\ufffd"), 1)

    A_LABEL = {"f:metadata": {"f:labels": {"f:a": {}}}}

    def entry(self, number, by, fields=A_LABEL):
        return {"manager": f"m{number}", "operation": by, "apiVersion": "v1",
                "time": f"2024-01-01T00:00:{number % 60:02}Z", "fieldsType": "FieldsV1",
                "fieldsV1": fields}

    def bring(self, entries):
        return self.patch({"metadata": {"managedFields": entries}}, MERGE)

    def test_thousands(self):
        updates = self.bring([self.entry(number, "Update") for number in range(10_000)])
        self.assertEqual((len(self.managers(updates)), self.managers(updates)[0]),
                         (10, ("Update", "ancient-changes")))
        # Managers that apply are never merged, but an object has a maximum size.
        applies = self.bring([self.entry(number, "Apply") for number in range(5_000)])
        self.assertEqual(len(self.managers(applies)), 5_000)
        changed = self.patch({"metadata": {"labels": {"a": "2"}}}, MERGE, "?fieldManager=one")
        self.assertEqual(self.managers(changed), [("Update", "one")], "the label was all they had")
        self.bring([self.entry(number, "Apply") for number in range(5_000)])
        told = self.apply("two", metadata={"labels": {"a": "3"}})
        self.assertEqual((told.code, len(told.json["details"]["causes"])), (409, 5_000))
        self.assertEqual(self.managers(self.apply("two", "&force=true",
                                                  metadata={"labels": {"a": "3"}})),
                         [("Apply", "two")])

    def test_large_sets(self):
        notes = {f"f:x{number:06}": {} for number in range(25_000)}
        many = {"f:metadata": {"f:annotations": notes}}
        ports = {"f:spec": {"f:ports": {f'k:{{"port":{port},"protocol":"TCP"}}': {".": {}}
                                        for port in range(10_000)}}}
        kept = self.bring([self.entry(1, "Update", many), self.entry(2, "Apply", ports)])
        self.assertGreater(len(kept.body), 800_000)
        for number in range(5):
            answer = self.apply("me", "&force=true", metadata={"labels": {"a": f"v{number}"}})
            self.assertEqual(len(self.managers(answer)), 3)
        too_large = self.bring([self.entry(number, "Apply", ports) for number in range(6)])
        self.assertEqual((too_large.code, too_large.json["reason"]), (413, "RequestEntityTooLarge"))
        self.assertEqual(self.bring([{}]).json["metadata"].get("managedFields"), None)

    def test_sets_that_are_none(self):
        before = self.managers(self.client.ask("GET", self.services + "/web"))
        deep = json.loads('{"f:a":' * 200 + "{}" + "}" * 200)
        for fields in (5, [], "x", {"x": {}}, {"f:a": 5}, {"k:{": {}}, {"v:": {}}, {"k:5": {}},
                       {"i:99999999999999999999": {}}, {"k:{}": []}):
            answer = self.bring([self.entry(1, "Update", fields)])
            self.assertEqual((answer.code, self.managers(answer)), (200, before), fields)
        for fields in ({"i:-1": {}}, {'k:{"a":{"b":1}}': {}}, {"f:": {}}, deep):
            self.assertEqual(self.managers(self.bring([self.entry(1, "Update", fields)])),
                             [("Update", "m1")], fields)


if __name__ == "__main__":
    harness.main()
