"""The other commands of kubectl that change objects, and those that show them in detail, with every
installed kubectl.

    BERTH_BIN=build/release/berth python3 test/e2e/kubectl_edit_test.py
"""

import json
import re

import kubectls
from harness import PATIENCE, main, wait_for
from kubectls import service

STALE = ('Error from server (Conflict): Operation cannot be fulfilled on services "web": the '
         "object has been modified; please apply your changes to the latest version and try again")


def tearDownModule():
    kubectls.tell()


class Change(kubectls.Verbs):

    def test_label(self):
        self.make("web", "api")
        self.assertEqual(self.good("label", "svc", "web", "tier=front", "team=red"),
                         "service/web labeled\n")
        labels = {"app": "web", "tier": "front", "team": "red"}
        self.assertEqual(self.read("web")["metadata"]["labels"], labels)
        self.assertEqual(self.bad("label", "svc", "web", "tier=back"),
                         "error: 'tier' already has a value (front), and --overwrite is false")
        self.assertEqual(self.read("web")["metadata"]["labels"], labels)
        self.assertEqual(self.good("label", "svc", "web", "tier=back", "--overwrite"),
                         "service/web labeled\n")
        self.assertEqual(self.good("label", "svc", "web", "team-"),
                         "service/web " + ("un" if self.KUBECTL.minor >= 22 else "") + "labeled\n")
        self.assertEqual(self.read("web")["metadata"]["labels"], {"app": "web", "tier": "back"})
        self.assertIn("service/web not labeled\n", self.good("label", "svc", "web", "team-"))
        self.assertEqual(self.good("label", "svc", "--all", "zone=a"),
                         "service/api labeled\nservice/web labeled\n")
        self.assertEqual(self.read("api")["metadata"]["labels"], {"app": "api", "zone": "a"})
        self.assertEqual(self.good("label", "ns", self.namespace, "owner=me"),
                         f"namespace/{self.namespace} labeled\n")
        self.assertIn(("kubectl-label", "Update"), self.owners("web"))

    def test_label_what_is_wrong(self):
        self.make("web")
        made = self.read("web")
        self.assertEqual(self.bad("label", "svc", "web", "tier=front", "--resource-version=1"),
                         STALE)
        self.assertIn('error: invalid label value: "tier=a b"',
                      self.bad("label", "svc", "web", "tier=a b"))
        self.assertEqual(self.bad("label", "svc", "none", "tier=front"),
                         'Error from server (NotFound): services "none" not found')
        self.assertEqual(self.good("label", "svc", "web", "tier=front", "--dry-run=server", "-o",
                                   "jsonpath={.metadata.labels.tier}"), "front")
        self.assertEqual(self.read("web"), made)
        version = made["metadata"]["resourceVersion"]
        self.good("label", "svc", "web", "tier=front", f"--resource-version={version}")
        self.assertEqual(self.read("web")["metadata"]["labels"]["tier"], "front")

    def test_annotate(self):
        self.make("web", "api")
        done = "annotate" if self.KUBECTL.minor == 27 else "annotated"  # What that one prints.
        self.assertEqual(self.good("annotate", "svc", "web", "note=first line\nsecond"),
                         f"service/web {done}\n")
        self.assertEqual(self.read("web")["metadata"]["annotations"],
                         {"note": "first line\nsecond"})
        self.assertEqual(self.bad("annotate", "svc", "web", "note=other"),
                         "error: --overwrite is false but found the following declared "
                         "annotation(s): 'note' already has a value (first line\nsecond)")
        self.assertEqual(self.bad("annotate", "svc", "web", "b=c", "--resource-version=1"), STALE)
        self.good("annotate", "svc", "web", "note=other", "--overwrite")
        self.assertEqual(self.read("web")["metadata"]["annotations"], {"note": "other"})
        self.assertEqual(self.good("annotate", "svc", "web", "note-"), f"service/web {done}\n")
        self.assertNotIn("annotations", self.read("web")["metadata"])
        self.assertEqual(self.good("annotate", "svc", "--all", "seen=yes"),
                         f"service/api {done}\nservice/web {done}\n")
        self.assertIn(("kubectl-annotate", "Update"), self.owners("api"))

    def test_set_selector(self):
        self.make("web")
        self.assertEqual(self.good("set", "selector", "svc", "web", "app=other,tier=front"),
                         "service/web selector updated\n")
        self.assertEqual(self.read("web")["spec"]["selector"], {"app": "other", "tier": "front"})
        # The whole selector is replaced, so labels that are not named are removed.
        self.good("set", "selector", "svc", "web", "tier=back")
        self.assertEqual(self.read("web")["spec"]["selector"], {"tier": "back"})
        self.assertIn(("kubectl-set", "Update"), self.owners("web"))

    # --- edit ------------------------------------------------------------------------------------

    def test_edit(self):
        self.make("web")
        done, shown = self.edit("s/targetPort: 8080/targetPort: 9090/\ns/app: web/app: newer/")
        self.assertEqual(done, (0, "service/web edited\n", ""))
        self.assertEqual(len(shown), 1)
        self.assertIn("\n# reopened with the relevant failures.\n#\napiVersion: v1\n"
                      "kind: Service\n", shown[0])
        self.assertNotIn("managedFields", shown[0])
        web = self.read("web")
        self.assertEqual((web["spec"]["ports"][0]["targetPort"], web["metadata"]["labels"]),
                         (9090, {"app": "newer"}))
        self.assertEqual(self.edit("")[0], (0, "", "Edit cancelled, no changes made.\n"))
        self.assertEqual(self.read("web"), web)
        self.assertIn(("kubectl-edit", "Update"), self.owners("web"))

    def test_edit_again_after_an_error(self):
        self.make("web")
        # The first two edits are invalid, the third is valid.
        done, shown = self.edit("s/port: 80$/port: 70000/",
                                "s/port: 70000/port: 81/; s/sessionAffinity/sessionAfinity/",
                                "s/sessionAfinity/sessionAffinity/")
        self.assertEqual((done[0], done[1]), (0, "service/web edited\n"))
        self.assertIn('error: services "web" is invalid', done[2])
        self.assertEqual(len(shown), 3)
        self.assertIn('# services "web" was not valid:\n# * spec.ports[0].port: Invalid value: '
                      "70000: must be between 1 and 65535, inclusive\n#\n", shown[1])
        self.assertIn("- port: 70000", shown[1])  # Nothing that the user typed is lost.
        self.assertRegex(shown[2], r'# \* .*unknown field "(spec\.)?sessionAfinity"')
        self.assertEqual([port["port"] for port in self.read("web")["spec"]["ports"]], [81])

    @kubectls.since(24)
    def test_edit_the_status(self):
        self.make("web")
        done, _ = self.edit("s/loadBalancer: {}/conditions: [{type: Ready, status: 'True', reason: "
                            "Up, message: '', lastTransitionTime: '2026-01-02T03:04:05Z'}]/",
                            flags=("--subresource=status",))
        self.assertEqual(done, (0, "service/web edited\n", ""))
        self.assertEqual(self.read("web")["status"]["conditions"][0]["reason"], "Up")

    # --- create, replace, delete -----------------------------------------------------------------

    def test_expose(self):
        self.make("web")
        self.assertEqual(self.good("expose", "svc", "web", "--name=more", "--port=8000",
                                   "--target-port=http"), "service/more exposed\n")
        more = self.read("more")
        self.assertEqual((more["spec"]["selector"], more["metadata"]["labels"]),
                         ({"app": "web"}, {"app": "web"}))
        self.assertEqual(more["spec"]["ports"],
                         [{"port": 8000, "protocol": "TCP", "targetPort": "http"}])
        self.assertEqual(list(self.owners("more")), [("kubectl-expose", "Update")])
        self.assertEqual(self.bad("expose", "svc", "web", "--name=more", "--port=8000"),
                         'Error from server (AlreadyExists): services "more" already exists')
        self.assertEqual(self.good("expose", "svc", "web", "--name=dry", "--port=1",
                                   "--type=NodePort", "--dry-run=server"),
                         "service/dry exposed (server dry run)\n")
        self.assertIsNone(self.read("dry"))
        self.assertEqual(self.bad("expose", "svc", "none", "--port=1"),
                         'Error from server (NotFound): services "none" not found')

    def test_create_service(self):
        for words, spec in (
                (("nodeport", "--tcp=80:8080", "--node-port=30080"), {
                    "type": "NodePort", "selector": {"app": "nodeport"},
                    "externalTrafficPolicy": "Cluster", "ports": [{
                        "name": "80-8080", "port": 80, "protocol": "TCP", "targetPort": 8080,
                        "nodePort": 30080}]}),
                (("loadbalancer", "--tcp=443"), {
                    "type": "LoadBalancer", "allocateLoadBalancerNodePorts": True,
                    "ports": [{"name": "443", "port": 443, "protocol": "TCP", "targetPort": 443}]}),
                (("clusterip", "--clusterip=None"), {
                    "type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"]}),
                (("externalname", "--external-name=example.com"), {
                    "type": "ExternalName", "externalName": "example.com"})):
            name = words[0]
            self.assertEqual(self.good("create", "service", name, name, *words[1:]),
                             f"service/{name} created\n")
            made = self.read(name)["spec"]
            if name == "loadbalancer":
                self.assertIn(made["ports"][0].pop("nodePort"), range(30086, 32768))
            self.assertEqual({key: made.get(key) for key in spec}, spec)
        self.assertEqual(self.bad("create", "service", "clusterip", "nodeport", "--tcp=1"),
                         'error: failed to create ClusterIP service: services "nodeport" already '
                         "exists")

    def test_replace(self):
        self.make("web",)
        old = self.read("web")
        # Without a version it is written whatever is stored.
        path = self.file("web.json", service("web", {"app": "newer"}))
        self.assertEqual(self.good("replace", "-f", path), "service/web replaced\n")
        web = self.read("web")
        self.assertEqual((web["metadata"]["labels"], web["metadata"]["uid"]),
                         ({"app": "newer"}, old["metadata"]["uid"]))
        self.assertIn(("kubectl-replace", "Update"), self.owners("web"))
        self.assertRegex(self.good("replace", "--force", "-f", path),
                         r'^service "web" deleted.*\nservice/web replaced\n$')
        self.assertNotEqual(self.read("web")["metadata"]["uid"], old["metadata"]["uid"])
        self.assertEqual(
            self.bad("replace", "-f", self.file("none.json", {
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "none"}})),
            'Error from server (NotFound): error when replacing '
            f'"{self.folder}/{self.namespace}-none.json": namespaces "none" not found')

    def test_delete_and_what_depends(self):
        for policy in ("background", "foreground", "orphan"):
            with self.subTest(policy=policy):
                self.make("owner")
                owner = {"apiVersion": "v1", "kind": "Service", "name": "owner",
                         "uid": self.read("owner")["metadata"]["uid"], "blockOwnerDeletion": True}
                self.make(policy, ownerReferences=[owner])
                self.assertRegex(self.good("delete", "svc", "owner", f"--cascade={policy}",
                                           f"--timeout={PATIENCE}s"), r'^service "owner" deleted')
                self.assertIsNone(self.read("owner"))
                if policy == "orphan":
                    self.assertNotIn("ownerReferences", self.read(policy)["metadata"])
                else:
                    if policy == "background":  # Otherwise it is deleted before its owner.
                        wait_for(lambda: self.read("background") is None)
                    self.assertIsNone(self.read(policy))


class Look(kubectls.Verbs):

    def set_condition(self, status):
        condition = {"type": "Ready", "status": status, "reason": "Checked", "message": "",
                     "lastTransitionTime": "2026-01-02T03:04:05Z"}
        done = self.server.call("PATCH", self.url("web") + "/status",
                                json.dumps({"status": {"conditions": [condition]}}),
                                {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(done.code, 200, done)

    def test_wait_for_a_condition(self):
        self.make("web")
        self.set_condition("False")
        process, seen = self.follow("wait", "--for=condition=Ready", "svc/web",
                                    f"--timeout={PATIENCE}s")
        self.set_condition("True")
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(seen(), "service/web condition met\n")
        self.assertEqual(self.bad("wait", "--for=condition=Ready=False", "svc/web",
                                  "--timeout=200ms"),
                         "error: timed out waiting for the condition on services/web")

    @kubectls.since(31)
    def test_wait_for_what_is_there(self):
        process = self.start("wait", "--for=create", "svc/web", f"--timeout={PATIENCE}s")
        self.make("web")
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, err), (0, "service/web condition met\n", ""))

    def test_managed_fields_are_shown(self):
        self.good("create", "-f", self.file("web.json", service("web")))
        hidden = self.KUBECTL.minor >= 21
        out = self.good("get", "svc", "web", "-o", "yaml")
        self.assertEqual("managedFields" in out, not hidden)
        out = self.good("get", "svc", "web", "-o", "yaml",
                        *(("--show-managed-fields",) if hidden else ()))
        self.assertRegex(out, r'''(?x)\n\ \ managedFields:\n\ \ -\ apiVersion:\ v1\n(\ {4}.*\n)*
                         \ {10}k:{"port":80,"protocol":"TCP"}:\n(\ {4}.*\n)*
                         \ {4}manager:\ kubectl-create\n\ {4}operation:\ Update\n\ {4}time:''')

    def test_describe(self):
        self.make("web", labels={"app": "web", "tier": "front"}, annotations={"note": "mine"})
        facts = self.facts(self.good("describe", "svc", "web"))
        self.assertLessEqual({
            "Name": "web", "Namespace": self.namespace, "Labels": "app=web",
            "Annotations": "note: mine", "Selector": "app=web", "Type": "ClusterIP",
            "Port": "<unset>  80/TCP", "TargetPort": "8080/TCP", "Endpoints": "<none>",
            "Session Affinity": "None",
            "Events": "<none>"}.items(), facts.items())
        facts = self.facts(self.good("describe", "ns", self.namespace))
        self.assertLessEqual({
            "Name": self.namespace, "Labels": f"kubernetes.io/metadata.name={self.namespace}",
            "Annotations": "<none>", "Status": "Active"}.items(), facts.items())
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "leader"},
                 "spec": {"holderIdentity": "me", "renewTime": "2026-01-02T03:04:05.000006Z"}}
        self.good("apply", "-f", self.file("lease.json", lease))
        out = self.good("describe", "lease", "leader")
        self.assertRegex(out, r"Name: +leader\n")
        self.assertRegex(out, r"\nSpec:\n +Holder Identity: +me\n +Renew Time: +2026-01-02T03:04:05"
                              r".000006Z\nEvents: +<none>\n")
        self.assertEqual(self.bad("describe", "svc", "none"),
                         'Error from server (NotFound): services "none" not found')

    def facts(self, text):
        """Returns the lines "Name:   value" of a description."""
        return {match[1]: match[2] for match in re.finditer(r"(?m)^(\w[\w ]*): +(.*)$", text)}

    def test_explain(self):
        out = self.good("explain", "services")
        self.assertRegex(out, r"KIND: +Service\nVERSION: +v1\n")
        self.assertRegex(out, r"(?s)DESCRIPTION:\n.*FIELDS:\n.*apiVersion.*kind.*metadata.*spec")
        every = self.good("explain", "leases", "--recursive")
        for name in ("holderIdentity", "leaseDurationSeconds", "ownerReferences"):
            self.assertRegex(every, rf"\n +{name}\t")
        out = self.good("explain", "svc.metadata.managedFields.fieldsV1")
        self.assertRegex(out, r"DESCRIPTION:\n {4,5}The fields, as a tree of names\.\n")
        if self.KUBECTL.minor >= 27:  # Older versions have only this format.
            out = self.good("explain", "svc.spec.ports.nodePort", "--output=plaintext-openapiv2")
            self.assertRegex(out, r"DESCRIPTION:\n {5}The port of every node on which the Service")
        self.assertEqual(self.bad("explain", "services.spec.prots"),
                         'error: field "prots" does not exist')


globals().update(kubectls.cases(Change, Look))

if __name__ == "__main__":
    main()
