"""What users do with kubectl, with every installed kubectl.

    BERTH_BIN=build/release/berth python3 test/e2e/kubectl_test.py

At the end it prints which verbs ran with which kubectl. Verbs that change objects are in
kubectl_change_test.py and kubectl_edit_test.py.
"""

import json
import os
import re

import kubectls
from harness import PATIENCE, main, wait_for
from kubectls import service



def tearDownModule():
    kubectls.tell()


class Kubectl(kubectls.Verbs):

    # --- cluster and API -------------------------------------------------------------------------

    def test_version_and_cluster_info(self):
        out = self.good("version")
        self.assertRegex(out, r"Server Version: .*v1\.36\.\d+\+berth")
        info = re.sub(r"\x1b\[[\d;]*m", "", self.good("cluster-info"))
        self.assertIn(f"Kubernetes control plane is running at {self.server.url}\n", info)

    def test_api_resources_and_versions(self):
        rows = [line.split() for line in self.good("api-resources").splitlines()]
        self.assertEqual(rows[0], ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"])
        for row in (["services", "svc", "v1", "true", "Service"],
                    ["namespaces", "ns", "v1", "false", "Namespace"],
                    ["events", "ev", "v1", "true", "Event"],
                    ["events", "ev", "events.k8s.io/v1", "true", "Event"],
                    ["leases", "coordination.k8s.io/v1", "true", "Lease"]):
            self.assertIn(row, rows)
        self.assertLessEqual({"v1", "coordination.k8s.io/v1", "events.k8s.io/v1"},
                             set(self.good("api-versions").split()))
        self.assertIn("services", self.good("api-resources", "--namespaced=true", "-o", "name",
                                            "--verbs=list,create,watch").split())

    def test_explain(self):
        out = self.good("explain", "services.spec.clusterIP")
        self.assertRegex(out, r"(?s)KIND: +Service\nVERSION: +v1\n.*clusterIP <string>.*address")
        self.assertIn("nodePort", self.good("explain", "svc.spec.ports"))

    # --- get -------------------------------------------------------------------------------------

    def test_get_as_tables(self):
        self.assertEqual(self.bad("get", "svc", "web"),
                         'Error from server (NotFound): services "web" not found')
        code, out, err = self.run_it("get", "svc")
        self.assertEqual((code, out, err),
                         (0, "", f"No resources found in {self.namespace} namespace.\n"))
        self.make("web")
        self.make("api", labels={"app": "api", "tier": "back"})
        plain = [line.split() for line in self.good("get", "svc").splitlines()]
        self.assertEqual(plain[0], ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"])
        self.assertEqual([row[0] for row in plain[1:]], ["api", "web"])
        self.assertEqual(plain[1][1], "ClusterIP")
        self.assertEqual(plain[1][4], "80/TCP")
        self.assertRegex(plain[1][5], r"^\d+s$")
        wide = self.good("get", "svc", "-o", "wide", "--show-labels").splitlines()
        self.assertTrue(wide[0].endswith("SELECTOR   LABELS"), wide)
        self.assertRegex(wide[1], r"app=api +app=api,tier=back$")
        one = self.good("get", "svc/web", "--no-headers", "-L", "app")
        self.assertRegex(one, r"^web .* web\n$")
        everywhere = self.good("get", "svc", "-A")
        self.assertRegex(everywhere, r"^NAMESPACE +NAME ")
        self.assertRegex(everywhere, rf"\n{self.namespace} +web ")
        both = self.good("get", "svc/web", f"ns/{self.namespace}")
        self.assertRegex(both, rf"(?s)service/web .*namespace/{self.namespace} +Active")
        sorted_up = self.good("get", "svc", "--sort-by={.metadata.creationTimestamp}")
        self.assertEqual(len(sorted_up.splitlines()), 3)

    def test_get_as_data(self):
        self.make("web")
        one = json.loads(self.good("get", "svc", "web", "-o", "json"))
        self.assertEqual((one["kind"], one["metadata"]["namespace"], one["spec"]["type"]),
                         ("Service", self.namespace, "ClusterIP"))
        many = json.loads(self.good("get", "svc", "-o", "json"))
        self.assertEqual((many["kind"], len(many["items"])), ("List", 1))
        self.assertEqual(many["items"][0], one)
        self.assertIn("\n  name: web\n", self.good("get", "svc", "web", "-o", "yaml"))
        self.assertEqual(self.names(), ["service/web"])
        path = "jsonpath={.items[*].spec.ports[0].targetPort}"
        self.assertEqual(self.good("get", "svc", "-o", path), "8080")
        columns = "custom-columns=N:.metadata.name,P:.spec.ports[0].port"
        self.assertEqual(self.good("get", "svc", "-o", columns), "N     P\nweb   80\n")
        self.assertEqual(self.good("get", "svc", "web", "-o", "go-template={{.kind}}"), "Service")
        self.assertEqual(self.good("get", "--raw", "/readyz"), "ok")

    def test_get_with_selectors(self):
        self.make("a", labels={"app": "a", "tier": "front"})
        self.make("b", "c", labels={"app": "b", "tier": "back"})
        self.assertEqual(self.names("-l", "tier=front"), ["service/a"])
        self.assertEqual(self.names("-l", "tier,app notin (a)"), ["service/b", "service/c"])
        self.assertEqual(self.names("-l", "!tier"), [])
        self.assertEqual(self.names("--field-selector", "metadata.name!=b"),
                         ["service/a", "service/c"])
        self.assertEqual(self.names("--field-selector", "metadata.name=b", "-l", "app=b"),
                         ["service/b"])
        self.assertIn("field label not supported: color",
                      self.bad("get", "svc", "--field-selector", "color=red"))

    def test_get_in_pages(self):
        names = [f"s{i:04d}" for i in range(620)]
        self.make(*names)
        names = [f"service/{name}" for name in names]
        self.assertEqual(self.names(), names)
        self.assertEqual(self.names("--chunk-size=250"), names)
        self.assertEqual(len(self.good("get", "svc").splitlines()), 621)

        def pages():
            with open(os.path.join(self.server.data_dir, "audit.jsonl"), encoding="utf-8") as log:
                return [line for line in log if f"/{self.namespace}/services?continue=" in line]
        # The pages have 500 and the rest, 250 twice and the rest, 500 and the rest.
        wait_for(lambda: len(pages()) >= 4)
        self.assertEqual(len(pages()), 4)

    # --- watch and wait --------------------------------------------------------------------------

    def test_watch(self):
        self.make("old")
        _, seen = self.follow("get", "svc", "-w")
        self.make("new")
        self.remove("old")
        wait_for(lambda: len(seen().splitlines()) == 4)
        rows = [line.split()[0] for line in seen().splitlines()]
        self.assertEqual(rows, ["NAME", "old", "new", "old"])

    def test_watch_only(self):
        self.make("old")
        _, seen = self.follow("get", "svc", "--watch-only", "-o", "name", "-l", "app!=other")
        self.make("other")
        self.make("new")
        wait_for(lambda: seen().endswith("\n"))
        self.assertEqual(seen(), "service/new\n")

    def test_watch_one_as_json(self):
        self.make("web", "other")
        _, seen = self.follow("get", "svc", "web", "-w", "-o", "json", "--output-watch-events")
        self.remove("other")
        self.remove("web")

        def events():
            # Documents follow each other, and the last one may be incomplete.
            found, text, reader = [], seen(), json.JSONDecoder()
            while text.strip():
                try:
                    event, end = reader.raw_decode(text.strip())
                except ValueError:
                    break
                found.append((event["type"], event["object"]["metadata"]["name"]))
                text = text.strip()[end:]
            return found
        wait_for(lambda: len(events()) == 2)
        self.assertEqual(events(), [("ADDED", "web"), ("DELETED", "web")])

    def test_wait_for_deletion(self):
        self.make("web")
        process, _ = self.follow("wait", "--for=delete", "svc/web", f"--timeout={PATIENCE}s")
        self.remove("web")
        self.assertEqual(process.wait(PATIENCE), 0)

    @kubectls.since(23)
    def test_wait_for_a_value(self):
        self.make("web")
        jsonpath = "--for=jsonpath={.spec.sessionAffinity}=ClientIP"
        process, seen = self.follow("wait", jsonpath, "svc/web", f"--timeout={PATIENCE}s")
        path = self.url("web")
        web = self.server.call("GET", path).json
        web["spec"]["sessionAffinity"] = "ClientIP"
        self.assertEqual(self.server.call("PUT", path, web).code, 200)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(seen(), "service/web condition met\n")

    def test_wait_in_vain(self):
        self.make("web")
        self.assertIn("timed out waiting for the condition on services/web",
                      self.bad("wait", "--for=delete", "svc/web", "--timeout=1s"))

    # --- write -----------------------------------------------------------------------------------

    def test_create_from_files(self):
        yaml = self.file("a.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
                                   "spec: {ports: [{port: 80, name: http}]}\n")
        self.assertEqual(self.good("create", "-f", yaml), "service/a created\n")
        self.assertEqual(self.bad("create", "-f", yaml),
                         f'Error from server (AlreadyExists): error when creating "{yaml}": '
                         'services "a" already exists')
        self.assertEqual(self.good("create", "-f", self.file("b.json", service("b"))),
                         "service/b created\n")
        self.assertEqual(self.good("create", "-f", "-", text=json.dumps(service("c"))),
                         "service/c created\n")
        dry = self.good("create", "--dry-run=server", "-f", self.file("d.json", service("d")))
        self.assertEqual(dry, "service/d created (server dry run)\n")
        self.assertEqual(self.names(), ["service/a", "service/b", "service/c"])

    def test_create_by_flags(self):
        name = f"{self.namespace}-2"
        self.assertEqual(self.good("create", "namespace", name), f"namespace/{name} created\n")
        self.assertEqual(self.bad("create", "namespace", name),
                         f'Error from server (AlreadyExists): namespaces "{name}" already exists')
        create = ("create", "service")
        self.assertEqual(self.good(*create, "clusterip", "a", "--tcp=80:8080"),
                         "service/a created\n")
        self.good(*create, "clusterip", "none", "--clusterip=None", "--tcp=53")
        self.good(*create, "nodeport", "b", "--tcp=443:https")
        self.good(*create, "externalname", "c", "--external-name=example.com")
        columns = "custom-columns=N:.metadata.name,T:.spec.type,P:.spec.ports[*].targetPort"
        rows = [line.split() for line in self.good("get", "svc", "-o", columns).splitlines()]
        self.assertEqual(rows[1:], [["a", "ClusterIP", "8080"], ["b", "NodePort", "https"],
                                    ["c", "ExternalName", "<none>"], ["none", "ClusterIP", "53"]])

    def test_create_what_is_wrong(self):
        bad = service("Web_1")
        bad["spec"]["ports"][0]["port"] = 70000
        bad["spec"]["type"] = "Foo"
        error = self.bad("create", "-f", self.file("bad.json", bad))
        self.assertIn('The Service "Web_1" is invalid: \n* metadata.name: Invalid value: "Web_1": '
                      "a lowercase RFC 1123 label must consist of", error)
        self.assertIn("\n* spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, "
                      "inclusive\n", error)
        self.assertIn('\n* spec.type: Unsupported value: "Foo": supported values: "ClusterIP", ',
                      error)
        typo = service("typo")
        typo["spec"]["prots"] = typo["spec"].pop("ports")
        error = self.bad("create", "-f", self.file("typo.json", typo))
        self.assertRegex(error, r'unknown field "(spec\.)?prots"')
        self.assertEqual(self.names(), [])

    def test_replace(self):
        self.make("web")
        web = json.loads(self.good("get", "svc", "web", "-o", "json"))
        web["spec"]["selector"] = {"app": "newer"}
        path = self.file("web.json", web)
        self.assertEqual(self.good("replace", "-f", path), "service/web replaced\n")
        self.assertEqual(self.good("get", "svc", "web", "-o", "jsonpath={.spec.selector.app}"),
                         "newer")
        self.assertEqual(
            self.bad("replace", "-f", path),
            f'Error from server (Conflict): error when replacing "{path}": Operation cannot be '
            'fulfilled on services "web": the object has been modified; please apply your changes '
            "to the latest version and try again")
        self.assertRegex(self.good("replace", "--force", "-f", path),
                         r'service "web" deleted.*\nservice/web replaced\n')

    def test_delete(self):
        self.make("a", "b")
        self.make("c", "d", labels={"app": "old"})
        self.make("e", "f")
        self.assertRegex(self.good("delete", "svc", "a", "b"),
                         r'^service "a" deleted.*\nservice "b" deleted.*\n$')
        self.assertRegex(self.good("delete", "svc", "-l", "app=old"),
                         r'^service "c" deleted.*\nservice "d" deleted.*\n$')
        self.assertEqual(self.names(), ["service/e", "service/f"])
        self.assertEqual(self.bad("delete", "svc", "a"),
                         'Error from server (NotFound): services "a" not found')
        self.assertEqual(self.good("delete", "svc", "a", "--ignore-not-found"), "")
        self.assertIn("(server dry run)", self.good("delete", "svc", "e", "--dry-run=server"))
        self.good("delete", "svc", "--all")
        self.assertEqual(self.names(), [])

    def test_delete_waits_for_finalizers(self):
        self.make("web", finalizers=["example.com/mine"])
        process, seen = self.follow("delete", "svc", "web")
        path = self.url("web")
        web = self.server.call("GET", path).json
        self.assertIn("deletionTimestamp", web["metadata"])
        self.assertIsNone(process.poll())
        web["metadata"].pop("finalizers")
        self.assertEqual(self.server.call("PUT", path, web).code, 200)
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertRegex(seen(), r'^service "web" deleted')

    def test_namespaces_that_end(self):
        name = f"{self.namespace}-2"
        made = self.server.call("POST", "/api/v1/namespaces", {"metadata": {
            "name": name, "finalizers": ["example.com/mine"]}})
        self.assertEqual(made.code, 201, made)
        self.assertRegex(self.good("delete", "ns", name, "--wait=false"),
                         f'namespace "{name}" deleted')
        self.assertRegex(self.good("get", "ns", name), rf"\n{name} +Terminating ")
        self.assertIn("is being terminated", self.into(name))
        self.assertIn('Error from server (NotFound): error when creating', self.into("nowhere"))
        self.assertIn('Error from server (Forbidden): namespaces "default" is forbidden: this '
                      "namespace may not be deleted", self.bad("delete", "ns", "default"))

    def into(self, namespace):
        """Returns the error for a Service that is created in that namespace."""
        mine, self.namespace = self.namespace, namespace
        try:
            return self.bad("create", "-f", self.file("x.json", service("x")))
        finally:
            self.namespace = mine

    # --- events ----------------------------------------------------------------------------------

    def test_events(self):
        self.make("web")
        uid = self.good("get", "svc", "web", "-o", "jsonpath={.metadata.uid}")
        event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "web.1"},
                 "involvedObject": {"apiVersion": "v1", "kind": "Service", "name": "web",
                                    "namespace": self.namespace, "uid": uid},
                 "type": "Warning", "reason": "Tested", "message": "it was tested", "count": 1,
                 "source": {"component": "tester"}, "firstTimestamp": "2026-01-02T03:04:05Z",
                 "lastTimestamp": "2026-01-02T03:04:05Z"}
        self.good("create", "-f", self.file("event.json", event))
        row = r"\n\S+ +Warning +Tested +service/web +it was tested\n"
        self.assertRegex(self.good("get", "events"), row)
        self.assertRegex(self.good("get", "events.events.k8s.io"), row)
        self.assertEqual(self.good("get", "events", "--field-selector", "type=Normal"), "")
        self.assertRegex(self.good("describe", "svc", "web"),
                         r"(?s)Events:.*Warning +Tested .*tester +it was tested\n")
        if self.KUBECTL.minor >= 26:
            self.assertRegex(self.good("events", "--for", "svc/web"), row.replace("ser", "Ser"))
            self.assertIn("No events found", self.run_it("events", "--types=Normal")[2])


globals().update(kubectls.cases(Kubectl))

if __name__ == "__main__":
    main()
