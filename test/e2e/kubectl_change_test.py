"""kubectl apply, diff and patch with every installed kubectl: the output, the exit status, and the
resulting object.

    BERTH_BIN=build/release/berth python3 test/e2e/kubectl_change_test.py
"""

import json
import os
import re

import kubectls
from harness import main
from kubectls import service

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CLIENT_SIDE = ("kubectl-client-side-apply", "Update")
SERVER_SIDE = ("kubectl", "Apply")
PORT_80 = 'k:{"port":80,"protocol":"TCP"}'
WHAT_TO_DO = """
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the `--force-conflicts` flag."""


def tearDownModule():
    kubectls.tell()


def changed(document, labels=None, **port):
    """Returns the document with other labels, and another port or other fields of the port."""
    document = json.loads(json.dumps(document))
    if labels is not None:
        document["metadata"]["labels"] = labels
    document["spec"]["ports"][0].update(port)
    return document


class Apply(kubectls.Verbs):

    def documents(self, *each):
        return self.file("all.yaml", "".join(f"---\n{json.dumps(one)}\n" for one in each))

    def test_new_same_changed(self):
        path = self.file("web.json", service("web"))
        self.assertEqual(self.good("apply", "-f", path), "service/web created\n")
        made = self.read("web")
        self.assertEqual(self.good("apply", "-f", path), "service/web unchanged\n")
        self.assertEqual(self.read("web"), made)
        path = self.file("web.json", changed(service("web"), targetPort=9090))
        self.assertEqual(self.good("apply", "-f", path), "service/web configured\n")
        web = self.read("web")
        self.assertEqual(web["spec"]["ports"],
                         [{"port": 80, "protocol": "TCP", "targetPort": 9090}])
        self.assertEqual(web["metadata"]["uid"], made["metadata"]["uid"])
        applied = json.loads(web["metadata"]["annotations"][LAST_APPLIED])
        self.assertEqual(applied["spec"], {"selector": {"app": "web"},
                                           "ports": [{"port": 80, "targetPort": 9090}]})
        self.assertEqual(list(self.owners("web")), [CLIENT_SIDE])

    def test_what_is_no_longer_there_goes(self):
        old = service("web", labels={"app": "web", "tier": "front"})
        old["spec"]["ports"].append({"name": "metrics", "port": 9100})
        old["spec"]["ports"][0]["name"] = "http"
        self.good("apply", "-f", self.file("web.json", old))
        # Fields that others added stay. 80 is replaced by 443, 9100 stays, and a label is removed.
        self.good("label", "svc", "web", "team=red")
        new = changed(old, labels={"app": "web"}, name="https", port=443, targetPort="tls")
        self.assertEqual(self.good("apply", "-f", self.file("web.json", new)),
                         "service/web configured\n")
        web = self.read("web")
        self.assertEqual(web["metadata"]["labels"], {"app": "web", "team": "red"})
        self.assertEqual(web["spec"]["ports"],
                         [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "tls"},
                          {"name": "metrics", "port": 9100, "protocol": "TCP", "targetPort": 9100}])
        self.assertEqual(set(self.owners("web")), {CLIENT_SIDE, ("kubectl-label", "Update")})

    def test_several_documents(self):
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "leader"}, "spec": {"holderIdentity": "me"}}

        path = self.documents(service("a"), lease, service("b"))
        for word in ("created", "unchanged"):
            self.assertEqual(self.good("apply", "-f", path),
                             f"service/a {word}\nlease.coordination.k8s.io/leader {word}\n"
                             f"service/b {word}\n")
        # An error in one document does not affect the others.
        lease["spec"]["holderIdentity"] = "you"
        path = self.documents(changed(service("a"), port=0), lease,
                              changed(service("b"), {"x": "y"}))
        code, out, err = self.run_it("apply", "-f", path)
        self.assertEqual((code, out), (1, "lease.coordination.k8s.io/leader configured\n"
                                          "service/b configured\n"))
        self.assertIn("spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, "
                      "inclusive", err)
        self.assertEqual(self.read("leader", "leases")["spec"]["holderIdentity"], "you")
        self.assertEqual(self.read("b")["metadata"]["labels"], {"x": "y"})

    def test_dry_run(self):
        path = self.file("web.json", service("web"))
        for where, text in (("server", " (server dry run)"), ("client", " (dry run)")):
            self.assertEqual(self.good("apply", f"--dry-run={where}", "-f", path),
                             f"service/web created{text}\n")
        self.assertIsNone(self.read("web"))
        self.make("web")
        made = self.read("web")
        path = self.file("web.json", changed(service("web"), targetPort=9090))
        get_port = "jsonpath={.spec.ports[0].targetPort} {.spec.type}"
        self.assertEqual(self.good("apply", "--dry-run=server", "-o", get_port, "-f", path),
                         "9090 ClusterIP")
        self.assertEqual(self.good("apply", "--server-side", "--dry-run=server", "-f",
                                   self.file("web.json", service("web"))),
                         "service/web serverside-applied (server dry run)\n")
        self.assertEqual(self.read("web"), made)

    def test_typos(self):
        self.make("web")
        made = self.read("web")
        path = self.file("web.json", changed(service("web"), targetprot=9090))
        self.assertRegex(self.bad("apply", "-f", path),
                         r'unknown field "(spec\.ports\[0\]\.)?targetprot"')
        self.assertEqual(
            self.bad("apply", "--server-side", "--validate=false", "-f", path),
            f"Error from server: failed to create typed patch object ({self.namespace}/web; /v1, "
            'Kind=Service): .spec.ports[port=80,protocol="TCP"].targetprot: field not declared in '
            "schema")
        self.assertEqual(self.read("web"), made)

    def test_kustomize(self):
        folder = os.path.join(self.folder, self.namespace)
        os.mkdir(folder)
        for name, content in (("web.json", service("web")), ("kustomization.yaml", {
                "namePrefix": "shop-", "commonAnnotations": {"team": "shop"},
                "resources": ["web.json"]})):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                json.dump(content, out)
        self.assertEqual(self.good("apply", "-k", folder), "service/shop-web created\n")
        self.assertEqual(self.good("apply", "-k", folder), "service/shop-web unchanged\n")
        self.assertEqual(self.read("shop-web")["metadata"]["annotations"]["team"], "shop")

    def test_prune(self):
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "leader", "labels": {"set": "one"}}}
        self.good("apply", "-f", self.documents(
            service("old", {"set": "one"}), service("other", {"set": "two"}), lease))
        self.make("made", labels={"set": "one"})  # Not by apply, so not pruned.
        allow = "--prune-allowlist" if self.KUBECTL.minor >= 26 else "--prune-whitelist"
        prune = ("apply", "--prune", "-l", "set=one", f"{allow}=core/v1/Service",
                 f"{allow}=coordination.k8s.io/v1/Lease", "-f",
                 self.file("new.json", service("new", {"set": "one"})))
        for flag, text in (("--dry-run=server", " (server dry run)"), ("--dry-run=none", "")):
            first, *others = self.good(*prune, flag).splitlines()
            self.assertEqual((first, sorted(others)), (  # In the order of a map.
                f"service/new created{text}",
                [f"lease.coordination.k8s.io/leader pruned{text}", f"service/old pruned{text}"]))
        self.assertIsNone(self.read("old"))
        self.assertIsNone(self.read("leader", "leases"))
        for name in ("new", "other", "made"):
            self.assertIsNotNone(self.read(name), name)

    def test_last_applied(self):
        path = self.file("web.json", service("web"))
        self.assertEqual(self.good("create", "--save-config", "-f", path), "service/web created\n")
        shown = json.loads(self.good("apply", "view-last-applied", "svc/web", "-o", "json"))
        self.assertEqual(shown["spec"], service("web")["spec"])
        path = self.file("web.json", changed(service("web"), {"app": "newer"}))
        self.assertEqual(self.good("apply", "set-last-applied", "-f", path),
                         "service/web configured\n")
        web = self.read("web")
        self.assertEqual(web["metadata"]["labels"], {"app": "web"})
        self.assertIn("newer", web["metadata"]["annotations"][LAST_APPLIED])
        self.make("made")
        path = self.file("made.json", service("made"))
        self.assertEqual(self.bad("apply", "set-last-applied", "-f", path),
                         "error: no last-applied-configuration annotation found on resource: made, "
                         "to create the annotation, run the command with --create-annotation")

    # --- server-side apply -----------------------------------------------------------------------

    def test_server_side(self):
        path = self.file("web.json", service("web"))
        apply = ("apply", "--server-side", "-f", path)
        self.assertEqual(self.good(*apply), "service/web serverside-applied\n")
        made = self.read("web")
        self.assertNotIn("annotations", made["metadata"])
        fields = {"f:metadata": {"f:labels": {"f:app": {}}},
                  "f:spec": {"f:ports": {PORT_80: {".": {}, "f:port": {}, "f:targetPort": {}}},
                             "f:selector": {}}}
        self.assertEqual(self.owners("web"), {SERVER_SIDE: fields})
        # Applying the same again writes nothing. Omitted fields are removed, unless another manager
        # shares them.
        self.assertEqual(self.good(*apply), "service/web serverside-applied\n")
        self.assertEqual(self.read("web"), made)
        self.good("apply", "--server-side", "--field-manager=ops", "-f",
                  self.file("label.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: web, "
                            "labels: {app: web, team: red}}\n"))
        new = service("web")
        new["metadata"].pop("labels")
        new["spec"]["selector"] = {"app": "newer"}
        self.file("web.json", new)
        self.good(*apply)
        web = self.read("web")
        self.assertEqual(web["metadata"]["labels"], {"app": "web", "team": "red"})
        self.assertEqual(web["spec"]["selector"], {"app": "newer"})
        self.assertEqual(set(self.owners("web")), {SERVER_SIDE, ("ops", "Apply")})

    def test_conflict(self):
        self.good("apply", "--server-side", "-f", self.file("web.json", service("web")))
        made = self.read("web")
        path = self.file("web.json", changed(service("web"), targetPort=9090))
        mine = ("apply", "--server-side", "--field-manager=ops", "-f", path)
        code, out, err = self.run_it(*mine)
        self.assertEqual((code, out), (1, ""))
        self.assertTrue(err.startswith(
            'error: Apply failed with 1 conflict: conflict with "kubectl": '
            '.spec.ports[port=80,protocol="TCP"].targetPort' + WHAT_TO_DO), err)
        self.assertEqual(self.read("web"), made)
        self.assertEqual(self.good(*mine, "--force-conflicts"), "service/web serverside-applied\n")
        self.assertEqual(self.read("web")["spec"]["ports"][0]["targetPort"], 9090)
        owners = self.owners("web")
        self.assertEqual(owners[SERVER_SIDE]["f:spec"]["f:ports"][PORT_80],
                         {".": {}, "f:port": {}})
        self.assertEqual(owners["ops", "Apply"]["f:spec"]["f:ports"][PORT_80],
                         {".": {}, "f:port": {}, "f:targetPort": {}})

    def test_conflicts_with_several(self):
        self.good("create", "-f", self.file("web.json", service("web")))
        self.good("patch", "svc", "web", "-p",
                  '{"spec":{"sessionAffinity":"ClientIP","ports":[{"port":80,"targetPort":1}]}}')
        new = changed(service("web"), {"app": "other"}, targetPort=2)
        new["spec"]["sessionAffinity"] = "None"
        error = self.bad("apply", "--server-side", "-f", self.file("web.json", new))
        self.assertTrue(error.startswith(
            'error: Apply failed with 3 conflicts: conflicts with "kubectl-create" using v1:\n'
            '- .metadata.labels.app\nconflicts with "kubectl-patch" using v1:\n'
            '- .spec.sessionAffinity\n- .spec.ports[port=80,protocol="TCP"].targetPort'
            + WHAT_TO_DO), error)
        self.assertEqual(
            self.bad("apply", "--server-side", "--field-manager=" + 129 * "m", "-f",
                     self.file("web.json", new)),
            'The PatchOptions "" is invalid: fieldManager: Too long: may not be more than 128 '
            "bytes")

    def test_from_the_clients_side_to_the_servers(self):
        first = service("web", {"app": "web", "tier": "front"})
        self.good("apply", "-f", self.file("web.json", first))
        # There is no conflict, because kubectl wrote both. Omitted fields are removed.
        second = changed(service("web"), {"app": "web"}, targetPort=9090)
        path = self.file("web.json", second)
        code, out, err = self.run_it("apply", "--server-side", "-f", path)
        self.assertEqual((code, out, err), (0, "service/web serverside-applied\n", ""))
        web = self.read("web")
        self.assertEqual(web["spec"]["ports"][0]["targetPort"], 9090)
        applied = json.loads(web["metadata"]["annotations"][LAST_APPLIED])
        self.assertEqual(applied["spec"]["ports"], [{"port": 80, "targetPort": 9090}])
        owners = self.owners("web")
        self.assertEqual(owners[SERVER_SIDE]["f:metadata"]["f:labels"], {"f:app": {}})
        if self.KUBECTL.minor >= 26:  # Older ones leave the first owner as it is, and the label.
            self.assertEqual(web["metadata"]["labels"], {"app": "web"})
            self.assertEqual(set(owners), {SERVER_SIDE, ("kubectl-last-applied", "Apply")})
        else:
            self.assertEqual(set(owners), {SERVER_SIDE, CLIENT_SIDE})
        # Apply on the client side again: the annotation has what was applied last.
        third = changed(second, targetPort=7070)
        self.assertEqual(self.good("apply", "-f", self.file("web.json", third)),
                         "service/web configured\n")
        self.assertEqual(self.read("web")["spec"]["ports"][0]["targetPort"], 7070)


class DiffAndPatch(kubectls.Verbs):

    def diff(self, document, *flags):
        """Returns the exit code, the lines that differ, and the error output. Older versions also
        show the times of the managed fields."""
        code, out, err = self.run_it("diff", *flags, "-f", self.file("web.json", document))
        return code, [line for line in out.splitlines() if re.match(r"[-+] (?! *time:)", line)], err

    def test_diff(self):
        document = service("web")
        code, lines, _ = self.diff(document)
        self.assertEqual(code, 1)
        self.assertLessEqual({"+  name: web", "+    targetPort: 8080", "+  type: ClusterIP"},
                             set(lines))
        self.assertFalse([line for line in lines if line.startswith("-")])
        self.assertIsNone(self.read("web"))
        self.good("apply", "-f", self.file("web.json", document))
        made = self.read("web")
        self.assertEqual(self.diff(document), (0, [], ""))
        code, lines, _ = self.diff(changed(document, targetPort=9090))
        self.assertEqual((code, lines), (1, ["-    targetPort: 8080", "+    targetPort: 9090"]))
        code, _, err = self.diff(changed(document, port=0))
        self.assertGreater(code, 1)
        self.assertIn("spec.ports[0].port: Invalid value: 0", err)
        self.assertEqual(self.read("web"), made)

    def test_diff_on_the_servers_side(self):
        self.good("apply", "--server-side", "-f", self.file("web.json", service("web")))
        made = self.read("web")
        self.assertEqual(self.diff(service("web"), "--server-side"), (0, [], ""))
        new = changed(service("web"), {"app": "web", "tier": "front"}, targetPort=9090)
        code, lines, _ = self.diff(new, "--server-side")
        self.assertEqual(code, 1)
        wanted = ["+    tier: front", "-    targetPort: 8080", "+    targetPort: 9090"]
        self.assertEqual([line for line in lines if line in wanted], wanted)
        code, lines, err = self.diff(new, "--server-side", "--field-manager=ops")
        self.assertEqual((code > 0, lines), (True, []))
        self.assertIn('Apply failed with 1 conflict: conflict with "kubectl": '
                      '.spec.ports[port=80,protocol="TCP"].targetPort', err)
        self.assertEqual(self.diff(new, "--server-side", "--field-manager=ops",
                                   "--force-conflicts")[0], 1)
        self.assertEqual(self.read("web"), made)

    # --- patch -----------------------------------------------------------------------------------

    def patch(self, text, *flags):
        return self.run_it("patch", "svc", "web", *flags, "-p", text)

    def test_patch(self):
        self.make("web")
        self.assertEqual(self.patch('{"spec":{"ports":[{"port":443,"name":"https"},'
                                    '{"port":80,"name":"http"}]}}'),
                         (0, "service/web patched\n", ""))
        web = self.read("web")
        self.assertEqual({port["port"]: port["targetPort"] for port in web["spec"]["ports"]},
                         {80: 8080, 443: 443})
        same = '{"spec":{"selector":{"app":"web"}}}'
        self.assertEqual(self.patch(same), (0, "service/web patched (no change)\n", ""))
        self.assertEqual(self.read("web"), web)
        self.assertEqual(self.patch('{"spec":{"ports":[{"$patch":"delete","port":80}]}}')[0], 0)
        self.assertEqual([port["port"] for port in self.read("web")["spec"]["ports"]], [443])
        self.assertEqual(self.patch("spec: {ports: [{port: 1}], selector: null}", "--type=merge"),
                         (0, "service/web patched\n", ""))
        spec = self.read("web")["spec"]
        self.assertEqual(spec["ports"], [{"port": 1, "protocol": "TCP", "targetPort": 1}])
        self.assertNotIn("selector", spec)
        operations = ('[{"op":"test","path":"/spec/ports/0/port","value":1},'
                      '{"op":"add","path":"/spec/ports/0/name","value":"one"},'
                      '{"op":"add","path":"/spec/selector","value":{"app":"x"}}]')
        self.assertEqual(self.patch(operations, "--type=json"), (0, "service/web patched\n", ""))
        spec = self.read("web")["spec"]
        self.assertEqual((spec["ports"][0]["name"], spec["selector"]), ("one", {"app": "x"}))
        self.assertIn(("kubectl-patch", "Update"), self.owners("web"))

    def test_patch_without_writing(self):
        self.make("web")
        made = self.read("web")
        label = '{"metadata":{"labels":{"tier":"front"}}}'
        for where in ("server", "client"):
            code, out, _ = self.patch(label, f"--dry-run={where}", "-o",
                                      "jsonpath={.metadata.labels.tier}")
            self.assertEqual((code, out), (0, "front"))
        path = self.file("web.json", service("web"))
        self.assertIn("tier: front", self.good("patch", "--local", "-f", path, "-p", label, "-o",
                                               "yaml"))
        self.assertEqual(self.read("web"), made)

    def test_patch_what_is_wrong(self):
        self.make("web")
        made = self.read("web")
        rejected = "The request is invalid" + (
            ": the server rejected our request due to an error in our request"
            if self.KUBECTL.minor >= 21 else "")
        port = "spec.ports[0].%s: Invalid value: 0: must be between 1 and 65535, inclusive"
        for text, kind, error in (
                ('[{"op":"test","path":"/metadata/name","value":"x"}]', "json", rejected),
                ('[{"op":"remove","path":"/spec/nothing"}]', "json", rejected),
                ('{"spec":{"ports":[{"port":0}]}}', "merge", 'The Service "web" is invalid: \n* '
                 + port % "port" + "\n* " + port % "targetPort"),
                ('{"metadata":{"name":"other"}}', "strategic", "Error from server (BadRequest): "
                 "the name of the object (other) does not match the name on the URL (web)"),
                ('{"metadata":{"resourceVersion":"1"}}', "merge", "Error from server (Conflict): "
                 'Operation cannot be fulfilled on services "web": the object has been modified; '
                 "please apply your changes to the latest version and try again")):
            code, _, err = self.patch(text, f"--type={kind}")
            self.assertEqual((code, err.strip()), (1, error), text)
        self.assertEqual(self.bad("patch", "svc", "none", "-p", "{}"),
                         'Error from server (NotFound): services "none" not found')
        self.assertEqual(self.patch('{"spec":{"color":"red"}}'),
                         (0, "service/web patched (no change)\n",
                          'Warning: unknown field "spec.color"\n'))
        self.assertEqual(self.read("web"), made)

    @kubectls.since(24)
    def test_patch_the_status(self):
        self.make("web")
        spec = self.read("web")["spec"]
        condition = {"type": "Ready", "status": "True", "reason": "Up", "message": "",
                     "lastTransitionTime": "2026-01-02T03:04:05Z"}
        text = json.dumps({"status": {"conditions": [condition]},
                           "spec": {"sessionAffinity": "ClientIP"}})
        # Each of the two endpoints accepts only its own part.
        self.assertEqual(self.patch(text, "--subresource=status"), (0, "service/web patched\n", ""))
        web = self.read("web")
        self.assertEqual((web["spec"], web["status"]["conditions"]), (spec, [condition]))
        self.assertIn(("kubectl-patch", "status"),
                      [(each["manager"], each.get("subresource"))
                       for each in web["metadata"]["managedFields"]])
        condition["status"] = "False"
        self.patch(json.dumps({"status": {"conditions": [condition]}}))
        self.assertEqual(self.read("web")["status"], web["status"])
        self.assertEqual(self.good("get", "svc", "web", "--subresource=status", "-o",
                                   "jsonpath={.status.conditions[0].status}"), "True")


globals().update(kubectls.cases(Apply, DiffAndPatch))

if __name__ == "__main__":
    main()
