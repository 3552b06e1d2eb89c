"""Answers and watches in protobuf, compared with the same in JSON; and with kubectl, which asks for
it.

    BERTH_BIN=build/release/berth python3 test/e2e/protobuf_test.py
"""

import gzip
import json
import subprocess

import protobuf
import tools
from harness import Case, PATIENCE, SharedServerCase, environment, main, sanitized, wait_for
from kubectls import service
from protobuf import MEDIA, WATCH, pruned

OR_JSON = f"{MEDIA},application/json"
SAMPLES = {
    "/api/v1/namespaces/{ns}/services": {
        "metadata": {"annotations": {"a": "ü", "b": ""}, "labels": {"app": "web"},
                     "finalizers": ["k8s.io/f"]},
        "spec": {"type": "NodePort", "selector": {"app": "web"}, "sessionAffinity": "ClientIP",
                 "ports": [{"name": "a", "port": 80, "targetPort": "http", "appProtocol": "x"},
                           {"name": "b", "port": 81, "protocol": "UDP", "targetPort": 8080}]}},
    "/api/v1/namespaces/{ns}/events": {
        "involvedObject": {"kind": "Service", "name": "a", "namespace": "{ns}"}, "reason": "R",
        "message": "m", "count": 3, "source": {"component": "c", "host": "h"},
        "firstTimestamp": "2026-11-15T04:00:00Z", "lastTimestamp": "1969-07-20T20:17:40Z"},
    "/apis/events.k8s.io/v1/namespaces/{ns}/events": {
        "regarding": {"kind": "Service", "name": "a", "namespace": "{ns}"}, "reason": "R",
        "note": "n", "type": "Warning", "action": "A", "reportingController": "x/c",
        "reportingInstance": "i", "eventTime": "2026-11-15T04:00:00.123456Z"},
    "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases": {
        "spec": {"holderIdentity": "h", "leaseDurationSeconds": 15,
                 "renewTime": "2026-11-15T04:00:10.000001Z"}},
    "/apis/networking.k8s.io/v1/ipaddresses": {
        "metadata": {"generateName": "192.0.2.7"},
        "spec": {"parentRef": {"group": "g.io", "resource": "r", "namespace": "{ns}",
                               "name": "n"}}},
    "/api/v1/namespaces/{ns}/endpoints": {
        "subsets": [{"addresses": [{"ip": "10.0.0.1", "nodeName": "n1", "hostname": "h",
                                    "targetRef": {"kind": "Pod", "name": "p"}}],
                     "notReadyAddresses": [{"ip": "fd00::1"}],
                     "ports": [{"name": "http", "port": 80, "appProtocol": "http"}]}]},
    "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices": {
        "addressType": "IPv4", "ports": [{"name": "http", "port": 80, "appProtocol": "http"}],
        "endpoints": [{"addresses": ["10.0.0.1", "10.0.0.2"], "nodeName": "n1", "zone": "z",
                       "hostname": "h", "targetRef": {"kind": "Pod", "name": "p"},
                       "conditions": {"ready": True, "serving": True, "terminating": True},
                       "hints": {"forZones": [{"name": "z"}], "forNodes": [{"name": "n1"}]}}]},
    "/api/v1/nodes": {
        "spec": {"podCIDR": "10.1.0.0/24", "providerID": "x://1", "unschedulable": True,
                 "taints": [{"key": "a", "value": "b", "effect": "NoExecute",
                             "timeAdded": "2026-11-15T04:00:00Z"}]},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi"},
                   "conditions": [{"type": "Ready", "status": "True", "reason": "R",
                                   "lastHeartbeatTime": "2026-11-15T04:00:00Z"}],
                   "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                   "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                   "nodeInfo": {"kernelVersion": "6.1", "architecture": "amd64"}}},
}


def as_metadata(kind, version="v1"):
    return f"{MEDIA};as={kind};g=meta.k8s.io;v={version}"


def of_any_time(listed):
    """Returns a list without its version, which changes with every other write."""
    metadata = {key: value for key, value in listed["metadata"].items() if key != "resourceVersion"}
    return {**listed, "metadata": metadata}


class AnswersTest(SharedServerCase):

    def call(self, method, path, body=None, code=200, accept=MEDIA, **headers):
        """Returns a decoded answer in protobuf."""
        answer = self.server.call(method, path, body, {"Accept": accept, **headers})
        self.assertEqual((answer.code, answer.headers["content-type"]), (code, MEDIA), answer)
        return protobuf.document(answer.body)

    def json(self, path, **headers):
        answer = self.server.call("GET", path, headers=headers)
        self.assertEqual(answer.code, 200, answer)
        return answer.json

    @property
    def services(self):
        return f"/api/v1/namespaces/{self.namespace}/services"

    def test_every_kind(self):
        for path, sample in SAMPLES.items():
            path = path.replace("{ns}", self.namespace)
            body = json.loads(json.dumps(sample).replace("{ns}", self.namespace))
            body.setdefault("metadata", {}).setdefault("generateName", "s-")
            made = self.call("POST", path, body, 201, OR_JSON)
            one = f"{path}/{made['metadata']['name']}"
            self.assertEqual(made, pruned(self.json(one)))
            self.assertEqual(self.call("GET", one), made)
            self.assertEqual(of_any_time(self.call("GET", path)),
                             of_any_time(pruned(self.json(path))))
            self.assertEqual(
                self.call("GET", one, accept=as_metadata("PartialObjectMetadata")),
                pruned(self.json(one, Accept=as_metadata("PartialObjectMetadata").replace(
                    MEDIA, "application/json"))))
        self.assertEqual(self.call("GET", f"/api/v1/namespaces/{self.namespace}"),
                         pruned(self.json(f"/api/v1/namespaces/{self.namespace}")))

    def test_what_was_read_can_be_written(self):
        self.call("POST", self.services, service("web"), 201)
        bytes_read = self.server.call("GET", f"{self.services}/web", headers={"Accept": MEDIA}).body
        same = self.call("PUT", f"{self.services}/web", bytes_read, **{"Content-Type": MEDIA})
        self.assertEqual(same, pruned(self.json(f"{self.services}/web")))
        patched = self.call("PATCH", f"{self.services}/web", '{"spec":{"selector":{"app":"x"}}}',
                            **{"Content-Type": "application/merge-patch+json"})
        self.assertEqual(patched["spec"]["selector"], {"app": "x"})
        applied = self.call("PATCH", f"{self.services}/web?fieldManager=me&force=true",
                            json.dumps(service("web")),
                            **{"Content-Type": "application/apply-patch+yaml"})
        self.assertIn("me", [each["manager"] for each in applied["metadata"]["managedFields"]])
        gone = self.call("DELETE", f"{self.services}/web")
        self.assertEqual((gone["kind"], gone["metadata"]["name"]), ("Service", "web"))

    def test_failures(self):
        missing = self.call("GET", f"{self.services}/web", code=404, accept=OR_JSON)
        self.assertEqual(missing, {
            "apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound",
            "message": 'services "web" not found', "code": 404,
            "details": {"name": "web", "kind": "services"}})
        bad = self.call("POST", self.services, {"metadata": {"name": "A"}}, 422)
        self.assertEqual([cause["field"] for cause in bad["details"]["causes"]],
                         ["metadata.name", "spec.ports"])
        answer = self.server.call("GET", self.services, headers={"Accept": MEDIA}, token="nobody")
        self.assertEqual((answer.code, protobuf.document(answer.body)["reason"]),
                         (401, "Unauthorized"))
        table = f"{MEDIA};as=Table;g=meta.k8s.io;v=v1"
        answer = self.server.call("GET", self.services, headers={"Accept": table})
        self.assertEqual((answer.code, answer.json["message"]), (
            406, "only the following media types are accepted: application/json, "
                 "application/yaml, application/vnd.kubernetes.protobuf"))

    def test_lists_of_metadata(self):
        for name in ("a", "b"):
            self.call("POST", self.services, service(name), 201)
        for version in ("v1", "v1beta1"):
            listed = self.call("GET", f"{self.services}?limit=1",
                               accept=as_metadata("PartialObjectMetadataList", version))
            self.assertEqual(listed["apiVersion"], f"meta.k8s.io/{version}")
            self.assertEqual([item["metadata"]["name"] for item in listed["items"]], ["a"])
            self.assertEqual(listed["metadata"]["remainingItemCount"], 1)

    def test_a_large_list(self):
        for i in range(40):
            body = service(f"s{i:02}")
            body["metadata"]["annotations"] = {"big": "x" * 50_000}
            self.call("POST", self.services, body, 201)
        expected = of_any_time(pruned(self.json(self.services)))
        self.assertEqual(of_any_time(self.call("GET", self.services)), expected)
        answer = self.server.call("GET", self.services,
                                  headers={"Accept": MEDIA, "Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["content-encoding"], "gzip")
        unpacked = protobuf.document(gzip.decompress(answer.body))
        self.assertEqual(of_any_time(unpacked), expected)

    def watch(self, path, accept=WATCH):
        connection = self.server.connection()
        self.addCleanup(connection.close)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.server.TOKEN}",
                                                 "Accept": accept})
        response = connection.getresponse()
        self.assertEqual((response.status, response.getheader("content-type")), (200, WATCH))
        return response

    def test_watch(self):
        self.call("POST", self.services, service("a"), 201)
        stream = self.watch(f"{self.services}?watch=true&sendInitialEvents=true&"
                            "resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", OR_JSON)
        self.assertEqual(protobuf.frame(stream),
                         ("ADDED", pruned(self.json(f"{self.services}/a"))))
        kind, mark = protobuf.frame(stream)
        self.assertEqual((kind, mark["kind"], mark["metadata"]["annotations"]),
                         ("BOOKMARK", "Service", {"k8s.io/initial-events-end": "true"}))
        self.call("PATCH", f"{self.services}/a", '{"metadata":{"labels":{"v":"2"}}}',
                  **{"Content-Type": "application/merge-patch+json"})
        changed = pruned(self.json(f"{self.services}/a"))
        self.assertEqual(protobuf.frame(stream), ("MODIFIED", changed))
        gone = self.call("DELETE", f"{self.services}/a")
        self.assertEqual(protobuf.frame(stream), ("DELETED", gone))

    def test_watch_of_metadata_and_its_end(self):
        made = self.call("POST", self.services, service("a"), 201)
        since = int(made["metadata"]["resourceVersion"]) - 1
        stream = self.watch(f"{self.services}?watch=true&resourceVersion={since}&timeoutSeconds=1&"
                            "allowWatchBookmarks=true", as_metadata("PartialObjectMetadata"))
        kind, shown = protobuf.frame(stream)
        self.assertEqual((kind, shown["kind"], shown["metadata"]),
                         ("ADDED", "PartialObjectMetadata", made["metadata"]))
        kind, mark = protobuf.frame(stream)
        self.assertEqual((kind, mark["kind"]), ("BOOKMARK", "PartialObjectMetadata"))
        self.assertIsNone(protobuf.frame(stream))


class LongListTest(Case):

    def test_a_client_that_does_not_read_costs_no_list(self):
        server = self.server()
        connection = server.connection()
        self.addCleanup(connection.close)
        for i in range(60):
            body = service(f"s{i:02}")
            body["metadata"]["annotations"] = {"big": "x" * 200_000}
            connection.request("POST", "/api/v1/namespaces/default/services", json.dumps(body),
                               {"Authorization": f"Bearer {server.TOKEN}"})
            self.assertEqual(connection.getresponse().read()[:1], b"{")
        before = server.memory_kib()
        waiting = []
        for _ in range(16):
            waiting.append(server.connection())
            self.addCleanup(waiting[-1].close)
            waiting[-1].request("GET", "/api/v1/services", headers={
                "Authorization": f"Bearer {server.TOKEN}", "Accept": MEDIA})
        answers = [each.getresponse() for each in waiting]
        if not sanitized():
            self.assertLess(server.memory_kib() - before, 64 * 1024)  # The whole would be 190 MiB.
        listed = protobuf.document(answers[0].read())
        self.assertEqual(len(listed["items"]), 61)  # With default/kubernetes.
        self.assertEqual(answers[-1].read()[:4], b"k8s\0")


class KubectlTest(SharedServerCase):
    """kubectl asks for protobuf wherever it knows the kind. Versions before 1.32 do not."""

    def command(self, *args):
        return [tools.KUBECTL, *args, "-n", self.namespace, "-v=8"]

    def environment(self):
        return environment(HOME=self.folder, KUBECONFIG=self.server.kubeconfig, TERM="dumb")

    def run_it(self, *args):
        done = subprocess.run(self.command(*args), env=self.environment(), encoding="utf-8",
                              capture_output=True, timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def check(self, *args):
        code, out, err = self.run_it(*args)
        self.assertEqual(code, 0, err)
        self.assertIn("Content-Type: " + MEDIA, err)
        return out

    def test_verbs(self):
        self.check("create", "namespace", "made")
        self.check("create", "service", "clusterip", "web", "--tcp=80:8080")
        uid = self.server.call("GET", f"/api/v1/namespaces/{self.namespace}/services/web"
                               ).json["metadata"]["uid"]
        self.event("web", uid)
        shown = self.check("describe", "service", "web")
        self.assertRegex(shown, r"(?s)Selector: +app=web\n.*TargetPort: +8080/TCP\n")
        self.assertIn("it works", shown)
        self.assertRegex(self.check("describe", "namespace", self.namespace), r"Status: +Active")
        self.assertRegex(self.check("events", "--for", "service/web"), r"Service/web +it works")
        code, _, err = self.run_it("create", "service", "clusterip", "web", "--tcp=80:8080")
        self.assertEqual(code, 1)
        self.assertIn("Content-Type: " + MEDIA, err)
        self.assertIn('services "web" already exists', err)

    def event(self, name, uid=""):
        made = self.server.call("POST", f"/api/v1/namespaces/{self.namespace}/events", {
            "metadata": {"generateName": f"{name}-"}, "message": "it works", "reason": "Works",
            "type": "Normal", "lastTimestamp": "2026-11-15T04:00:00Z",
            "involvedObject": {"apiVersion": "v1", "kind": "Service", "name": name,
                               "namespace": self.namespace, "uid": uid}})
        self.assertEqual(made.code, 201, made)

    def test_events_as_they_come(self):
        paths = [f"{self.folder}/events.{end}" for end in ("out", "err")]
        with open(paths[0], "w", encoding="utf-8") as out, \
                open(paths[1], "w", encoding="utf-8") as err:
            process = subprocess.Popen(self.command("events", "-w"), env=self.environment(),
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err)

        def text(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
        try:
            wait_for(lambda: f"Content-Type: {WATCH}" in text(paths[1]))
            self.event("web")
            wait_for(lambda: "it works" in text(paths[0]))
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
