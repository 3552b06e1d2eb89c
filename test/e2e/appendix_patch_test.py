#!/usr/bin/env python3
"""The patches that kubectl 1.32 sends, command by command, and what it relies on in the answers.

The bodies are as captured, in the order of the requests. Every test runs over HTTP/1.1 and HTTP/2.
"""

import json

import requests_1_32 as kubectl
from harness import main
from requests_1_32 import ANY, JSON, KubectlCase

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CLIENT_SIDE = "fieldManager=kubectl-client-side-apply"
SERVER_SIDE = "fieldManager=kubectl&fieldValidation=Strict"
STALE = ('Operation cannot be fulfilled on services "web": the object has been modified; please '
         "apply your changes to the latest version and try again")


def manifest(**port):
    """Returns the contents of the user's file."""
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"annotations": {}, "labels": {"app": "web"}, "name": "web"},
            "spec": {"ports": [{"name": "http", "port": 80, "targetPort": 8080, **port}],
                     "selector": {"app": "web"}}}


def annotation(document):
    return {LAST_APPLIED: json.dumps(document, separators=(",", ":")) + "\n"}


class PatchRequests(KubectlCase):

    def setUp(self):
        super().setUp()
        self.web = f"{self.base}/web"

    def get(self, command="get", accept=JSON):
        return self.send(command, accept, "GET", self.web).json

    def patch(self, command, media, query, body, code=200, accept=JSON):
        return self.send(command, accept, "PATCH", f"{self.web}?{query}", json.dumps(body).encode(),
                         code, Content_Type=media)

    def managers(self, web):
        return [(each["manager"], each["operation"]) for each in web["metadata"]["managedFields"]]

    def apply(self):
        """Does what `kubectl apply -f` does for a new object."""
        self.send("apply", JSON, "GET", self.web, code=404)
        body = manifest()
        body["metadata"].update(annotations=annotation(manifest()), namespace=self.namespace)
        return self.send("apply", JSON, "POST", f"{self.base}?{CLIENT_SIDE}&fieldValidation=Strict",
                         body, 201).json

    # --- apply and diff --------------------------------------------------------------------------

    def test_apply(self):
        made = self.apply()
        self.assertEqual(self.get("apply"), made)
        new = manifest(targetPort=9090)
        change = {"metadata": {"annotations": annotation(new)},
                  "spec": {"$setElementOrder/ports": [{"port": 80}],
                           "ports": [{"port": 80, "targetPort": 9090}]}}
        query = f"{CLIENT_SIDE}&fieldValidation=Strict"
        dry = self.patch("apply", STRATEGIC, f"dryRun=All&{query}", change).json
        self.assertEqual(self.get(), made)
        web = self.patch("apply", STRATEGIC, query, change).json
        self.assertEqual(web["spec"]["ports"], [{"name": "http", "protocol": "TCP", "port": 80,
                                                 "targetPort": 9090}])
        self.assertEqual((dry["spec"], self.managers(web)),
                         (web["spec"], [("kubectl-client-side-apply", "Update")]))
        # kubectl recognizes "unchanged" by the version.
        again = self.patch("apply", STRATEGIC, query, change).json
        self.assertEqual(again, web)
        replaced = self.patch("apply", STRATEGIC, query, {"spec": {
            "$setElementOrder/ports": [{"port": 443}],
            "ports": [{"name": "https", "port": 443, "targetPort": 8443},
                      {"$patch": "delete", "port": 80}]}}).json
        self.assertEqual(replaced["spec"]["ports"], [{"name": "https", "protocol": "TCP",
                                                      "port": 443, "targetPort": 8443}])

    def test_apply_what_is_wrong(self):
        made = self.apply()
        refused = self.patch("apply", STRATEGIC, f"{CLIENT_SIDE}&fieldValidation=Strict",
                             {"spec": {"prots": []}}, 422)
        status = self.status(refused, "Invalid")
        self.assertEqual([cause["field"] for cause in status["details"]["causes"]], ["patch"])
        self.assertIn('strict decoding error: unknown field "spec.prots"', status["message"])
        self.assertEqual(self.get(), made)

    def test_diff(self):
        made = self.apply()
        version = self.get("diff")["metadata"]["resourceVersion"]
        change = {"metadata": {"labels": {"tier": "front"}, "resourceVersion": version}}
        query = f"dryRun=All&{CLIENT_SIDE}"
        shown = self.patch("diff", STRATEGIC, query, change).json
        self.assertEqual(shown["metadata"]["labels"], {"app": "web", "tier": "front"})
        self.assertEqual(shown["metadata"]["resourceVersion"], version)
        self.assertEqual(self.get(), made)
        # Another client has written in between: kubectl reads again and retries once.
        self.patch("label", MERGE, "fieldManager=kubectl-label",
                   {"metadata": {"labels": {"a": "b"}}})
        self.status(self.patch("diff", STRATEGIC, query, change, 409), "Conflict", STALE)

    def test_apply_on_the_servers_side(self):
        applied = manifest()
        applied["metadata"].pop("annotations")
        made = self.patch("apply", APPLY, f"{SERVER_SIDE}&force=false", applied, 201).json
        self.assertEqual(self.managers(made), [("kubectl", "Apply")])
        again = self.patch("apply", APPLY, f"{SERVER_SIDE}&force=false", applied).json
        self.assertEqual(again, made)
        # Another manager applies different contents.
        other = manifest(targetPort=9090)
        other["metadata"].pop("annotations")
        query = "fieldManager=ops&fieldValidation=Strict&force"
        conflict = self.patch("apply", APPLY, f"{query}=false", other, 409)
        port = '.spec.ports[port=80,protocol="TCP"].targetPort'
        status = self.status(conflict, "Conflict", 'Apply failed with 1 conflict: conflict with '
                             f'"kubectl": {port}')
        self.assertEqual(status["details"]["causes"], [{
            "reason": "FieldManagerConflict", "message": 'conflict with "kubectl"', "field": port}])
        self.assertEqual(self.get(), made)
        dry = "dryRun=All&fieldManager=kubectl&force=false"  # diff --server-side
        shown = self.patch("diff", APPLY, dry, other).json
        self.assertEqual(shown["spec"]["ports"][0]["targetPort"], 9090)
        self.assertEqual(self.get(), made)
        forced = self.patch("apply", APPLY, f"{query}=true", other).json
        self.assertEqual(forced["spec"]["ports"][0]["targetPort"], 9090)
        self.assertEqual(sorted(self.managers(forced)), [("kubectl", "Apply"), ("ops", "Apply")])

    def test_from_the_clients_side_to_the_servers(self):
        self.apply()
        new = manifest(targetPort=9090)
        new["metadata"].pop("annotations")
        query = f"{SERVER_SIDE}&force=false"
        web = self.patch("apply", APPLY, query, new).json  # No conflict: kubectl wrote it.
        self.assertEqual(json.loads(web["metadata"]["annotations"][LAST_APPLIED])["spec"],
                         new["spec"])
        web = self.patch("apply", APPLY,
                         "fieldManager=kubectl-last-applied&fieldValidation=Strict", {
                             "apiVersion": "v1", "kind": "Service", "metadata": {
                                 "name": "web", "annotations": {
                                     LAST_APPLIED: web["metadata"]["annotations"][LAST_APPLIED]}}}
                         ).json
        # kubectl removes its older self from the managers, unless another client wrote meanwhile.
        left = [each for each in web["metadata"]["managedFields"] if each["operation"] == "Apply"]
        self.assertEqual(len(left), 2)
        change = [{"op": "replace", "path": "/metadata/managedFields", "value": left},
                  {"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]
        stale = self.patch("apply", JSON_PATCH, SERVER_SIDE, change, 409)
        self.status(stale, "Conflict", STALE)
        change[1]["value"] = web["metadata"]["resourceVersion"]
        web = self.patch("apply", JSON_PATCH, SERVER_SIDE, change).json
        self.assertEqual(sorted(self.managers(web)),
                         [("kubectl", "Apply"), ("kubectl-last-applied", "Apply")])
        # Now the fields that the file no longer has are removed.
        new["metadata"].pop("labels")
        web = self.patch("apply", APPLY, query, new).json
        self.assertNotIn("labels", web["metadata"])

    # --- the others ------------------------------------------------------------------------------

    def test_patch(self):
        self.create("web")
        query = "fieldManager=kubectl-patch"
        for media, body, port in (
                (STRATEGIC, {"spec": {"ports": [{"port": 80, "targetPort": 1}]}}, 1),
                (MERGE, {"spec": {"ports": [{"port": 80, "targetPort": 2}]}}, 2),
                (JSON_PATCH, [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 3}],
                 3)):
            self.get("patch")
            web = self.patch("patch", media, query, body).json
            self.assertEqual([each["targetPort"] for each in web["spec"]["ports"]], [port])
        unknown = self.patch("patch", MERGE, query, {"spec": {"color": "red"}})
        self.assertEqual(unknown.header("warning"), '299 - "unknown field \\"spec.color\\""')
        self.assertEqual(unknown.json, web)
        self.status(self.patch("patch", JSON_PATCH, query, [
            {"op": "test", "path": "/metadata/name", "value": "x"}], 422), "Invalid",
            "the server rejected our request due to an error in our request")
        self.status(self.patch("patch", "application/json", query, {}, 415),
                    "UnsupportedMediaType")

    def test_patch_the_status(self):
        made = self.create("web")[0]
        condition = {"type": "Ready", "status": "True", "reason": "Up", "message": "",
                     "lastTransitionTime": "2026-01-02T03:04:05Z"}
        web = self.send("patch", JSON, "PATCH", f"{self.web}/status?fieldManager=kubectl-patch",
                        json.dumps({"spec": {"type": "NodePort"}, "status": {
                            "conditions": [condition]}}).encode(), Content_Type=MERGE).json
        self.assertEqual((web["spec"], web["status"]["conditions"]), (made["spec"], [condition]))

    def test_label_and_annotate(self):
        made = self.create("web")[0]
        for command, where in (("label", "labels"), ("annotate", "annotations")):
            self.get(command)
            query = f"fieldManager=kubectl-{command}"
            web = self.patch(command, MERGE, query, {"metadata": {where: {"tier": "front"}}}).json
            self.assertEqual(web["metadata"][where]["tier"], "front")
            self.status(self.patch(command, MERGE, query, {"metadata": {
                where: {"tier": "back"},
                "resourceVersion": made["metadata"]["resourceVersion"]}}, 409), "Conflict", STALE)
            self.assertEqual(self.patch(command, MERGE, query, {}).json, web)  # "not labeled"
            web = self.patch(command, MERGE, query, {"metadata": {where: {"tier": None}}}).json
            self.assertNotIn("tier", web["metadata"].get(where, {}))
        self.assertEqual({**web, "metadata": None}, {**made, "metadata": None})

    def test_set_selector_and_edit(self):
        self.create("web")
        self.get("set", ANY)
        web = self.patch("set", STRATEGIC, "fieldManager=kubectl-set",
                         {"spec": {"selector": {"app": None, "tier": "front"}}}, accept=ANY).json
        self.assertEqual(web["spec"]["selector"], {"tier": "front"})
        self.get("edit")
        query = "fieldManager=kubectl-edit&fieldValidation=Strict"
        web = self.patch("edit", STRATEGIC, query, {
            "metadata": {"labels": {"app": None}},
            "spec": {"$setElementOrder/ports": [{"port": 80}],
                     "ports": [{"port": 80, "targetPort": 9191}]}}).json
        self.assertNotIn("labels", web["metadata"])
        self.assertEqual(web["spec"]["ports"][0]["targetPort"], 9191)
        # kubectl writes these causes above the file when it opens it again.
        bad = self.patch("edit", STRATEGIC, query, {
            "spec": {"$setElementOrder/ports": [{"port": 70000}],
                     "ports": [{"port": 70000}, {"$patch": "delete", "port": 80}]}}, 422)
        causes = self.status(bad, "Invalid")["details"]["causes"]
        self.assertEqual([cause["field"] for cause in causes],
                         ["spec.ports[0].port", "spec.ports[0].targetPort"])


def load_tests(_loader, _tests, _pattern):
    """Runs each of the above once over each protocol."""
    return kubectl.over_both(PatchRequests)


if __name__ == "__main__":
    main()
