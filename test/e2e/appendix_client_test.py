#!/usr/bin/env python3
"""The requests that kubectl 1.32 sends, command by command, and what it relies on in the answers.

Every test runs over HTTP/1.1 and over HTTP/2. Patches are in appendix_patch_test.py.
"""

import datetime
import email.utils
import json
from urllib.parse import quote

import requests_1_32 as kubectl
from harness import main
from requests_1_32 import (ANY, CREATE, DISCOVERY, JSON, PROTOBUF, PROTOBUF_OR_JSON, TABLE,
                           KubectlCase, service)

SERVICE_COLUMNS = [("Name", 0), ("Type", 0), ("Cluster-IP", 0), ("External-IP", 0), ("Port(s)", 0),
                   ("Age", 0), ("Selector", 1)]


class DiscoveryRequests(KubectlCase):

    def test_cold_start(self):
        version = self.send("version", ANY, "GET", "/version?timeout=5s",
                            Cache_Control="max-age=7200").json
        self.assertTrue(version["major"].isdigit() and version["minor"].isdigit())
        self.assertRegex(version["gitVersion"], r"^v\d+\.\d+\.\d+")
        resources = {}
        for path in ("/api", "/apis"):
            reply = self.send("get", DISCOVERY, "GET", f"{path}?timeout=32s")
            media, *parameters = [part.strip() for part in reply.media.split(";")]
            self.assertEqual((media, set(parameters)), (JSON, {
                "g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"}))
            self.assertEqual((reply.json["kind"], reply.json["apiVersion"], reply.header("vary")),
                             ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2", "Accept"))
            for group in reply.json["items"]:
                for version in group["versions"]:
                    self.assertEqual(version["freshness"], "Current")
                    for resource in version["resources"]:
                        self.assertTrue(resource["responseKind"]["kind"])
                        name = group["metadata"].get("name", "")
                        resources[name, resource["resource"]] = resource
            # Fetching it again costs nothing while nothing has changed.
            again = self.send("get", DISCOVERY, "GET", f"{path}?timeout=32s", code=304,
                              If_None_Match=reply.header("etag"))
            self.assertEqual(again.body, b"")
        services = resources["", "services"]
        self.assertEqual((services["shortNames"], services["categories"], services["scope"]),
                         (["svc"], ["all"], "Namespaced"))
        self.assertEqual([each["subresource"] for each in services["subresources"]], ["status"])
        self.assertNotIn("deletecollection", resources["", "namespaces"]["verbs"])
        self.assertEqual(resources["events.k8s.io", "events"]["shortNames"], ["ev"])
        self.assertIn(("coordination.k8s.io", "leases"), resources)

    def test_before_aggregation(self):
        # kubectl 1.28 knows only v2beta1, and then asks for each version.
        reply = self.send("get", kubectl.OLD_DISCOVERY, "GET", "/api?timeout=32s")
        self.assertEqual((reply.media, reply.json["versions"]), (JSON, ["v1"]))
        groups = self.send("get", kubectl.OLD_DISCOVERY, "GET", "/apis?timeout=32s")
        self.assertEqual((groups.media, groups.json["kind"]), (JSON, "APIGroupList"))
        listed = self.send("auth", ANY, "GET", "/api/v1?timeout=32s").json
        self.assertEqual((listed["kind"], listed["groupVersion"]), ("APIResourceList", "v1"))
        self.assertIn("services/status", [each["name"] for each in listed["resources"]])
        for group in groups.json["groups"]:
            version = group["preferredVersion"]["groupVersion"]
            listed = self.send("get", ANY, "GET", f"/apis/{version}?timeout=32s").json
            self.assertEqual(listed["groupVersion"], version)

    def test_what_is_not_there(self):
        # describe and the check for CRDs ask for these. kubectl continues without them.
        for path in ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                     "/api/v1/namespaces/default/resourcequotas?limit=500"):
            self.send("describe", PROTOBUF_OR_JSON, "GET", path, code=404)

    def test_openapi(self):
        index = self.send("create", ANY, "GET", "/openapi/v3?timeout=32s").json["paths"]
        self.assertEqual(set(index), {"api/v1", "apis/events.k8s.io/v1",
                                      "apis/coordination.k8s.io/v1",
                                      "apis/discovery.k8s.io/v1",
                                      "apis/networking.k8s.io/v1",
                                      "apis/allocation.berth.io/v1alpha1"})
        url = index["api/v1"]["serverRelativeURL"]
        reply = self.send("create", JSON, "GET", f"{url}&timeout=32s")
        self.assertEqual((reply.media, reply.header("cache-control")), (JSON, "public, immutable"))
        expires = email.utils.parsedate_to_datetime(reply.header("expires"))
        self.assertGreater(expires - datetime.datetime.now(datetime.timezone.utc),
                           datetime.timedelta(days=300))
        self.send("create", JSON, "GET", f"{url}&timeout=32s", code=304,
                  If_None_Match=reply.header("etag"))
        moved = self.send("create", JSON, "GET", "/openapi/v3/api/v1?hash=0", code=301)
        self.assertEqual(moved.header("location"), url)

        document = reply.json
        gvk = {"group": "", "version": "v1", "kind": "Service"}
        patch = document["paths"]["/api/v1/namespaces/{namespace}/services/{name}"]["patch"]
        self.assertEqual(patch["x-kubernetes-group-version-kind"], gvk)
        self.assertIn("fieldValidation", [each["name"] for each in patch["parameters"]
                                          if each["in"] == "query"])
        self.assertIn("application/strategic-merge-patch+json", patch["requestBody"]["content"])
        schemas = document["components"]["schemas"]
        named = [name for name, schema in schemas.items()
                 if gvk in schema.get("x-kubernetes-group-version-kind", [])]
        self.assertEqual(named, ["io.k8s.api.core.v1.Service"])
        ports = schemas["io.k8s.api.core.v1.ServiceSpec"]["properties"]["ports"]
        self.assertEqual((ports["x-kubernetes-patch-merge-key"],
                          ports["x-kubernetes-patch-strategy"]), ("port", "merge"))

    def test_openapi_for_older_ones(self):
        reply = self.send("create", kubectl.OPENAPI_V2, "GET", "/openapi/v2?timeout=32s")
        self.assertIn("application/com.github.proto-openapi.spec.v2", reply.media)
        self.assertEqual(reply.body[:5], b"\n\x032.0")  # Field 1 of gnostic's document: swagger.
        self.assertIn(b"io.k8s.api.core.v1.Service", reply.body)


class ReadRequests(KubectlCase):

    def test_get_as_table(self):
        self.create("api", "web")
        reply = self.send("get", TABLE, "GET", f"{self.base}?limit=500")
        self.assertEqual(reply.media, JSON)
        table = reply.json
        self.assertEqual(self.rows(table), ["api", "web"])
        self.assertTrue(table["metadata"]["resourceVersion"])
        self.assertEqual([(each["name"], each["priority"]) for each in table["columnDefinitions"]],
                         SERVICE_COLUMNS)
        self.assertEqual(table["columnDefinitions"][0]["format"], "name")
        cells = table["rows"][1]["cells"]
        self.assertEqual(cells[:5] + cells[6:],
                         ["web", "ClusterIP", "None", "<none>", "80/TCP", "app=web"])
        partial = table["rows"][1]["object"]
        self.assertEqual((partial["kind"], partial["metadata"]["labels"]),
                         ("PartialObjectMetadata", {"app": "web"}))
        whole = self.send("get", TABLE, "GET", f"{self.base}?includeObject=Object").json
        self.assertEqual(whole["rows"][1]["object"]["spec"]["selector"], {"app": "web"})
        for path in (f"{self.base}/web", f"{self.base}/web/status"):
            self.assertEqual(self.rows(self.send("get", TABLE, "GET", path).json), ["web"])
        everywhere = self.send("get", TABLE, "GET", "/api/v1/services?limit=500").json
        self.assertIn(self.namespace, [row["object"]["metadata"]["namespace"]
                                       for row in everywhere["rows"]])
        missing = self.send("get", TABLE, "GET", f"{self.base}/none", code=404)
        self.status(missing, "NotFound", 'services "none" not found')

    def test_get_with_selectors_and_in_chunks(self):
        self.create("a", labels={"app": "web"})
        self.create("b", labels={"app": "web", "tier": "x"})
        self.create("c", "d", "e")

        def names(query):
            return self.rows(self.send("get", TABLE, "GET", f"{self.base}?{query}").json)

        self.assertEqual(names("fieldSelector=metadata.name%3Db&limit=500"), ["b"])
        self.assertEqual(names("labelSelector=app%3Dweb%2Ctier%21%3Dx&limit=500"), ["a"])
        pages, more = [], ""
        while True:
            table = self.send("get", TABLE, "GET", f"{self.base}?{more}limit=2").json
            pages.append(self.rows(table))
            if not table["metadata"].get("continue"):
                break
            more = f"continue={quote(table['metadata']['continue'])}&"
        self.assertEqual(pages, [["a", "b"], ["c", "d"], ["e"]])

    def test_get_as_objects(self):
        self.create("web")
        whole = self.send("get", JSON, "GET", f"{self.base}/web").json
        self.assertEqual((whole["kind"], whole["spec"]["type"]), ("Service", "ClusterIP"))
        listed = self.send("get", JSON, "GET", f"{self.base}?limit=500").json
        self.assertEqual((listed["kind"], [item["metadata"]["name"] for item in listed["items"]]),
                         ("ServiceList", ["web"]))
        none = self.send("cluster-info", ANY, "GET", "/api/v1/namespaces/kube-system/services?"
                         "labelSelector=kubernetes.io%2Fcluster-service%3Dtrue").json
        self.assertEqual(none["items"], [])
        described = self.send("describe", PROTOBUF_OR_JSON, "GET", f"{self.base}/web")
        self.assertEqual((described.media, described.json["metadata"]["name"]), (PROTOBUF, "web"))
        self.send("get", JSON, "GET", f"{self.base}?limit=500&timeout=5s")
        self.send("get", JSON, "GET", f"{self.base}?limit=500&timeout=soon", code=400)

    def test_large_answers_are_compressed(self):
        for name in ("a", "b"):
            body = service(name)
            body["metadata"]["annotations"] = {"big": "x" * 100_000}
            self.send("create", JSON, "POST", f"{self.base}?{CREATE}=Strict", body, 201)
        reply = self.send("get", JSON, "GET", f"{self.base}?limit=500")
        self.assertEqual(reply.header("content-encoding"), "gzip")
        self.assertEqual(len(reply.json["items"]), 2)

    def test_events(self):
        made = self.create("web")[0]
        about = {"kind": "Service", "name": "web", "namespace": self.namespace, "apiVersion": "v1",
                 "uid": made["metadata"]["uid"]}
        path = f"/api/v1/namespaces/{self.namespace}/events"
        self.send("create", JSON, "POST", path, {
            "metadata": {"name": "web.1"}, "involvedObject": about, "reason": "Started",
            "message": "up", "type": "Normal"}, 201)
        selectors = [""]
        for keys in (("name", "namespace", "kind", "uid"),  # describe
                     ("kind", "apiVersion", "name")):       # events --for
            query = quote(",".join(f"involvedObject.{key}={about[key]}" for key in keys))
            selectors.append(f"fieldSelector={query}&")
        for selector in selectors:
            reply = self.send("events", PROTOBUF_OR_JSON, "GET", f"{path}?{selector}limit=500")
            self.assertEqual([event["message"] for event in reply.json["items"]], ["up"])
        other = quote("involvedObject.kind=Pod,involvedObject.apiVersion=v1")
        self.assertNotIn("items", self.send("events", PROTOBUF_OR_JSON, "GET",
                                            f"{path}?fieldSelector={other}&limit=500").json)
        event = self.watch(PROTOBUF_OR_JSON, f"{path}?limit=500&watch=true").next()
        self.assertEqual((event["type"], event["object"]["message"]), ("ADDED", "up"))

    def test_nobody_acts_as_another(self):
        self.send("get", JSON, "GET", self.base, code=403, Impersonate_User="bob",
                  Impersonate_Group="system:masters")


class WatchRequests(KubectlCase):

    def test_get_and_watch_as_table(self):
        self.create("web")
        listed = self.send("get", TABLE, "GET", f"{self.base}?limit=500").json
        version = listed["metadata"]["resourceVersion"]
        stream = self.watch(TABLE, f"{self.base}?resourceVersion={version}&watch=true")
        self.create("new")
        self.send("delete", JSON, "DELETE", f"{self.base}/web", {"propagationPolicy": "Background"})
        first, second = stream.next(), stream.next()
        self.assertEqual((first["type"], self.rows(first["object"])), ("ADDED", ["new"]))
        self.assertEqual((second["type"], self.rows(second["object"])), ("DELETED", ["web"]))
        self.assertEqual(len(first["object"]["columnDefinitions"]), len(SERVICE_COLUMNS))
        self.assertFalse(second["object"].get("columnDefinitions"))

    def test_get_and_watch_one(self):
        self.create("other", "web")
        path = f"{self.base}?fieldSelector=metadata.name%3Dweb&resourceVersion=0&watch=true"
        table, plain = self.watch(TABLE, path), self.watch(JSON, path)
        self.assertEqual(self.rows(table.next()["object"]), ["web"])
        self.assertEqual(plain.next()["object"]["metadata"]["name"], "web")
        self.send("delete", JSON, "DELETE", f"{self.base}/other", {})
        self.send("delete", JSON, "DELETE", f"{self.base}/web", {})
        for stream in (table, plain):
            self.assertEqual(stream.next()["type"], "DELETED")

    def test_informer_that_streams_its_list(self):
        self.create("a", "b")
        stream = self.watch(JSON, f"{self.base}?allowWatchBookmarks=true&resourceVersionMatch="
                            "NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true")
        events = [stream.next() for _ in range(3)]
        self.assertEqual(sorted(event["object"]["metadata"].get("name", "") for event in events),
                         ["", "a", "b"])
        end = events[2]
        self.assertEqual((end["type"], end["object"]["kind"], end["object"]["apiVersion"]),
                         ("BOOKMARK", "Service", "v1"))
        self.assertEqual(end["object"]["metadata"]["annotations"],
                         {"k8s.io/initial-events-end": "true"})

    def test_delete_waits_for_finalizers(self):
        held = self.send("create", JSON, "POST", f"{self.base}?{CREATE}=Strict", {
            **service("web"), "metadata": {"name": "web", "finalizers": ["example.com/x"]}}, 201)
        uid = held.json["metadata"]["uid"]
        deleted = self.send("delete", JSON, "DELETE", f"{self.base}/web",
                            {"propagationPolicy": "Background"}).json
        self.assertEqual((deleted["kind"], deleted["metadata"]["uid"]), ("Service", uid))
        there = self.send("delete", JSON, "GET", f"{self.base}/web").json
        self.assertIn("deletionTimestamp", there["metadata"])
        one = "fieldSelector=metadata.name%3Dweb"
        listed = self.send("delete", JSON, "GET",
                           f"{self.base}?{one}&limit=500&resourceVersion=0").json
        self.assertEqual([item["metadata"]["uid"] for item in listed["items"]], [uid])
        version = listed["metadata"]["resourceVersion"]
        stream = self.watch(JSON, f"{self.base}?allowWatchBookmarks=true&{one}&resourceVersion="
                            f"{version}&timeoutSeconds=567&watch=true")
        there["metadata"].pop("finalizers")
        self.send("replace", JSON, "PUT", f"{self.base}/web", there)
        event = stream.next()
        self.assertEqual((event["type"], event["object"]["metadata"]["uid"]), ("DELETED", uid))


class WriteRequests(KubectlCase):

    def test_create_from_a_file(self):
        path = f"{self.base}?{CREATE}"
        made = self.send("create", JSON, "POST", f"{path}=Strict", service("web"), 201)
        self.assertEqual(made.json["metadata"]["namespace"], self.namespace)
        again = self.send("create", JSON, "POST", f"{path}=Strict", service("web"), 409)
        self.status(again, "AlreadyExists", 'services "web" already exists')
        typo = service("typo", sessionAfinity="None")
        refused = self.send("create", JSON, "POST", f"{path}=Strict", typo, 400)
        self.status(refused, "BadRequest", 'Service in version "v1" cannot be handled as a '
                    'Service: strict decoding error: unknown field "spec.sessionAfinity"')
        warned = self.send("create", JSON, "POST", f"{path}=Warn&dryRun=All", typo, 201)
        self.assertEqual(warned.header("warning"),
                         '299 - "unknown field \\"spec.sessionAfinity\\""')
        ignored = self.send("create", JSON, "POST", f"{path}=Ignore&dryRun=All", typo, 201)
        self.assertEqual(ignored.header("warning"), "")
        self.send("get", JSON, "GET", f"{self.base}/typo", code=404)
        bad = service("bad", ports=[{"port": 0, "name": "a"}, {"port": 80, "name": "b c"}])
        refused = self.send("create", JSON, "POST", f"{path}=Strict", bad, 422)
        causes = self.status(refused, "Invalid")["details"]["causes"]
        self.assertEqual([cause["field"] for cause in causes],
                         ["spec.ports[0].port", "spec.ports[0].targetPort", "spec.ports[1].name"])

    def test_create_with_protobuf(self):
        # These bytes were captured from kubectl 1.32.4.
        self.assertEqual(kubectl.namespace_body("foo").hex(),
                         "6b3873000a0f0a02763112094e616d657370616365121b0a130a03666f6f12001a00"
                         "22002a0032003800420012001a020a001a002200")
        name = f"{self.namespace}-two"[-60:].strip("-")
        body = kubectl.namespace_body(name)
        path = f"/api/v1/namespaces?{CREATE}=Strict"
        made = self.send("create", PROTOBUF_OR_JSON, "POST", path, body, 201,
                         Content_Type=PROTOBUF)
        self.assertEqual((made.media, made.json["metadata"]["name"], made.json["status"]["phase"]),
                         (PROTOBUF, name, "Active"))
        self.assertNotIn("generation", made.json["metadata"])
        again = self.send("create", PROTOBUF_OR_JSON, "POST", path, body, 409,
                          Content_Type=PROTOBUF)
        self.status(again, "AlreadyExists", media=PROTOBUF)
        for name, target in (("number", 8080), ("named", "http")):
            made = self.send("create", PROTOBUF_OR_JSON, "POST", f"{self.base}?{CREATE}=Strict",
                             kubectl.service_body(name, 80, target), 201,
                             Content_Type=PROTOBUF).json
            self.assertEqual((made["metadata"]["labels"], made["spec"]["selector"]),
                             ({"app": name}, {"app": name}))
            self.assertEqual(made["spec"]["ports"], [{
                "name": f"80-{target}", "protocol": "TCP", "port": 80, "targetPort": target}])
        made = self.send("create", PROTOBUF_OR_JSON, "POST", f"{self.base}?{CREATE}=Strict",
                         kubectl.service_body("ports", 80, 8080, "NodePort"), 201,
                         Content_Type=PROTOBUF).json
        self.assertEqual((made["spec"]["type"], made["spec"]["externalTrafficPolicy"]),
                         ("NodePort", "Cluster"))
        broken = self.send("create", PROTOBUF_OR_JSON, "POST", path, body[:-9], 400,
                           Content_Type=PROTOBUF)
        self.status(broken, "BadRequest", media=PROTOBUF)

    def test_create_raw(self):
        # The request has no Content-Type, a body in chunks, and no field manager.
        body = json.dumps(service("raw")).encode()
        reply = self.send("create", ANY, "POST", self.base, body, 201, chunked=True)
        self.assertEqual(reply.json["metadata"]["name"], "raw")

    def test_expose(self):
        self.send("expose", ANY, "GET", f"{self.base}/web", code=404)
        body = service("web")
        body["metadata"]["creationTimestamp"] = None
        body["status"] = {"loadBalancer": {}}
        path = f"{self.base}?fieldManager=kubectl-expose"
        made = self.send("expose", ANY, "POST", path, body, 201)
        self.assertTrue(made.json["metadata"]["creationTimestamp"])

    def test_replace(self):
        self.create("web")
        path = f"{self.base}/web?fieldManager=kubectl-replace&fieldValidation=Strict"
        old = self.send("replace", JSON, "GET", f"{self.base}/web").json
        changed = json.loads(json.dumps(old))
        changed["metadata"]["labels"]["tier"] = "front"
        new = self.send("replace", JSON, "PUT", path, changed).json
        self.assertNotEqual(new["metadata"]["resourceVersion"], old["metadata"]["resourceVersion"])
        self.assertEqual(new["metadata"]["uid"], old["metadata"]["uid"])
        self.assertEqual(self.send("replace", JSON, "PUT", path, new).json, new)
        self.status(self.send("replace", JSON, "PUT", path, old, 409), "Conflict",
                    'Operation cannot be fulfilled on services "web": the object has been '
                    "modified; please apply your changes to the latest version and try again")
        # replace --force
        self.send("replace", JSON, "DELETE", f"{self.base}/web", {"gracePeriodSeconds": 0})
        self.send("replace", JSON, "GET", f"{self.base}/web", code=404)
        again = self.create("web")[0]
        self.assertNotEqual(again["metadata"]["uid"], old["metadata"]["uid"])

    def test_delete(self):
        self.create("a", "b", "c")
        dry = {"propagationPolicy": "Background", "dryRun": ["All"]}
        self.send("delete", JSON, "DELETE", f"{self.base}/a", dry)
        self.send("get", JSON, "GET", f"{self.base}/a")
        deleted = self.send("delete", JSON, "DELETE", f"{self.base}/a",
                            {"propagationPolicy": "Background", "gracePeriodSeconds": 1}).json
        self.assertEqual((deleted["kind"], deleted["metadata"]["name"]), ("Service", "a"))
        self.status(self.send("delete", JSON, "GET", f"{self.base}/a", code=404), "NotFound")
        # Typed Go clients send their options as protobuf. Events answer with a Status.
        self.send("delete", PROTOBUF_OR_JSON, "DELETE", f"{self.base}/b",
                  kubectl.delete_options_body("Background"), Content_Type=PROTOBUF)
        listed = self.send("delete", JSON, "GET", self.base).json["items"]  # --all: no limit.
        self.assertEqual([item["metadata"]["name"] for item in listed], ["c"])
        events = f"/api/v1/namespaces/{self.namespace}/events"
        event = self.send("create", JSON, "POST", events, {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Service", "namespace": self.namespace}}, 201).json
        gone = self.send("delete", JSON, "DELETE", f"{events}/e", {}).json
        self.assertEqual((gone["kind"], gone["status"], gone["details"]["uid"]),
                         ("Status", "Success", event["metadata"]["uid"]))


def load_tests(_loader, _tests, _pattern):
    """Runs each of the above once over each protocol."""
    return kubectl.over_both(DiscoveryRequests, ReadRequests, WatchRequests, WriteRequests)


if __name__ == "__main__":
    main()
