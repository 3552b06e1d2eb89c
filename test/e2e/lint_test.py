"""Runs `berth lint` on files and checks what people and pipelines see. BERTH_BIN is the program.

    BERTH_BIN=build/release/berth python3 test/e2e/lint_test.py
"""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import tools
from harness import BERTH, environment, main
from rough_server import RoughServer, make_services

WEB = """apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  type: NodePort
  ports:
  - port: 80
    nodePort: 30088
"""
HOOKS = pathlib.Path(tools.ROOT) / ".pre-commit-hooks.yaml"


def service(name, port=None, address=None):
    """Returns a Service of a cluster."""
    spec = {"type": "NodePort", "clusterIP": address or "10.96.9.9",
            "clusterIPs": [address or "10.96.9.9"], "ports": [{"port": 80, "protocol": "TCP"}]}
    if port:
        spec["ports"][0]["nodePort"] = port
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "shop", "name": name}, "spec": spec}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        return name

    def lint(self, *args, stdin="", status=0, **changes):
        """Returns what a run in the folder prints."""
        done = subprocess.run([BERTH, "lint", *args], input=stdin, capture_output=True,
                              encoding="utf-8", cwd=self.folder, env=environment(**changes),
                              timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.errors = done.stderr
        return done.stdout

    def found(self, *args, **more):
        """Returns "file:line:column rule" of each finding, and the whole document."""
        document = json.loads(self.lint(*args, "-o", "json", **more))
        return [f"{f['file']}:{f['line']}:{f['column']} {f['rule']}"
                for f in document["findings"]], document


class FilesTest(Case):
    def test_folders_are_read_in_order_and_once(self):
        for name in ("b/2.yaml", "b/1.yml", "a.json", ".hidden.yaml", ".git/x.yaml", "notes.txt"):
            self.file(name, WEB.replace("web", "web-" + pathlib.Path(name).stem))
        os.symlink("..", self.folder / "b" / "loop")
        os.symlink("1.yml", self.folder / "b" / "again.yaml")
        os.symlink("nowhere", self.folder / "b" / "dangling.yaml")
        os.mkfifo(self.folder / "b" / "pipe.yaml")
        found, _ = self.found(".", status=1)
        self.assertEqual(found, ["a.json:9:15 dynamic-band", "b/1.yml:9:15 duplicate-value",
                                 "b/2.yaml:9:15 duplicate-value"])

    def test_standard_input_and_any_name(self):
        self.assertEqual(self.found("-", stdin=WEB, status=1)[0],
                         ["standard input:9:15 dynamic-band"])
        self.assertEqual(self.found(self.file("x.tpl", WEB), status=1)[0],
                         ["x.tpl:9:15 dynamic-band"])

    def test_what_cannot_be_read_is_said_and_the_rest_is_checked(self):
        self.file("bad.yaml", "kind: Service\nspec:\n\tports: []\n")
        self.file("rubbish.yaml", b"kind Service\x00\xff\xfe\x01" * 100)
        self.file("web.yaml", WEB)
        found, _ = self.found(".", "missing.yaml", status=2)
        self.assertEqual(found, ["bad.yaml:3:1 unreadable", "rubbish.yaml:1:13 unreadable",
                                 "web.yaml:9:15 dynamic-band", "missing.yaml:1:1 unreadable"])
        self.assertIn("missing.yaml:1:1: error: No such file or directory",
                      self.lint("missing.yaml", status=2))

    def test_a_folder_without_manifests_is_no_success(self):
        self.file("empty/notes.txt", WEB)
        out = self.lint("empty", status=1)
        self.assertIn("empty:1:1: warning: the folder has no manifest", out)
        self.lint("empty", self.file("a.yaml", "kind: Pod\n"), "--fail-on", "error")

    def test_templates_are_skipped_with_a_hint(self):
        self.file("t.yaml", "kind: Service\nspec:\n  nodePort: {{ .Values.port }}\n")
        out = self.lint("t.yaml")
        self.assertIn("note: this document is a template and was not checked [not-rendered]", out)
        self.assertIn("helm template", out)
        self.lint("t.yaml", "--fail-on", "note", status=1)
        # A chart has many of them.
        self.file("t.yaml", "---\n".join(["kind: Service\nx: {{ y }}\n"] * 10))
        out = self.lint("t.yaml")
        self.assertEqual(out.count("[not-rendered]"), 3)
        self.assertIn("7 more documents are templates and were not checked.", out)

    def test_a_file_may_be_large_but_not_too_large(self):
        with open(self.folder / "large.yaml", "wb") as out:
            out.truncate(101 * 1024 * 1024)
        self.assertIn("larger than 100 MiB", self.lint("large.yaml", status=2))

    def test_random_bytes_never_crash_it(self):
        seed = int(os.environ.get("BERTH_SEED", random.randrange(2**32)))
        rng = random.Random(seed)
        text = WEB.encode() + b"---\n" + json.dumps(service("x", 30001)).encode()
        for i in range(200):
            data = bytearray(text)
            for _ in range(rng.randrange(1, 8)):
                data[rng.randrange(len(data))] = rng.choice(b"\x00\t\n{}[]:#&*!|>'\"-%@`\xff0")
            self.file(f"{i:03}.yaml", bytes(data))
        done = subprocess.run([BERTH, "lint", ".", "-o", "json"], capture_output=True,
                              cwd=self.folder, env=environment(), timeout=60)
        self.assertIn(done.returncode, (0, 1, 2), f"BERTH_SEED={seed}")
        self.assertEqual(json.loads(done.stdout)["counts"]["files"], 200, f"BERTH_SEED={seed}")


class ClusterTest(Case):
    def test_the_ports_30088_and_30193_are_explained_before_they_are_lost(self):
        self.file("web.yaml", WEB + "---\n" + WEB.replace("web", "api").replace("30088", "30193"))
        out = " ".join(self.lint("web.yaml", status=1).split())
        for words in ("web.yaml:9:15: warning: nodePort 30088 of Service default/web",
                      "web.yaml:19:15: warning: nodePort 30193 of Service default/api",
                      "1 in 2682: 3.7 % after 100 of them, 50 % after 1341",
                      "static band 30000-30085", "2 warnings in 1 file with 2 Services"):
            self.assertIn(words, out)
        # Any of the proposed values is fine.
        _, document = self.found("web.yaml", status=1)
        text = (self.folder / "web.yaml").read_text()
        for finding in document["findings"]:
            text = text.replace(finding["value"], finding["instead"])
        self.file("web.yaml", text)
        self.assertEqual(self.found("web.yaml")[0], [])

    def test_against_the_services_of_a_cluster(self):
        self.file("web.yaml", WEB.replace("30088", "30001"))
        services = [service("other", 30001)] + [service(f"s{i}", 31000 + i) for i in range(182)]
        cluster = json.dumps({"apiVersion": "v1", "kind": "List", "items": services})
        found, document = self.found("web.yaml", "-f", "-", stdin=cluster, status=1)
        self.assertEqual(found, ["web.yaml:9:15 taken"])
        self.assertIn("is taken by Service shop/other for 80/TCP",
                      document["findings"][0]["message"])
        self.assertEqual(document["cluster"], "standard input")
        # The Service itself may have it.
        self.assertEqual(self.found("web.yaml", "-f", "-", "--namespace", "shop",
                                    stdin=cluster.replace('"other"', '"web"'))[0], [])
        self.file("web.yaml", WEB)
        _, document = self.found("web.yaml", "-f", "-", stdin=cluster, status=1)
        self.assertEqual(document["findings"][0]["chance"],
                         {"freeValues": "2500", "ofOnePick": 0.0004, "of100Picks": 0.04})

    def test_ranges_by_flags(self):
        self.file("web.yaml", WEB.replace("30088", "30001\n  clusterIP: 10.1.0.0"))
        self.assertEqual(self.found("web.yaml")[0], [])
        found, _ = self.found("web.yaml", "--service-cidr", "10.1.0.0/24", "--node-port-range",
                              "80-90", status=1)
        self.assertEqual(found, ["web.yaml:9:15 out-of-range", "web.yaml:10:14 unusable-value"])

    def test_ports_of_the_nodes(self):
        self.file("web.yaml", WEB.replace("30088", "30001"))
        self.file("ports", "# of ours\n30001 minio # text\n")
        for ports in ("30001", "ports", "none"):
            found, _ = self.found("web.yaml", "--host-ports", ports,
                                  status=0 if ports == "none" else 1)
            self.assertEqual(found, [] if ports == "none" else ["web.yaml:9:15 host-port"])
        self.assertEqual(self.found("web.yaml", "--ephemeral-range", "30000-31000", status=1)[0],
                         ["web.yaml:9:15 ephemeral-range"])

    def test_ignores(self):
        self.file("web.yaml", WEB.replace("30088", "30088 # berth-lint: ignore dynamic-band x"))
        self.assertIn("Nothing found in 1 file with 1 Service and 1 hard-coded value; 1 ignored.",
                      self.lint("web.yaml"))

    def test_bad_arguments(self):
        self.file("web.yaml", WEB)
        for args, words in (([], "PATH is missing"), (["web.yaml", "-o", "xml"], "must be text,"),
                            (["web.yaml", "--fail-on", "x"], "error, warning or note"),
                            (["web.yaml", "--node-port-range", "x"], "x"),
                            (["web.yaml", "--ephemeral-range", "x"], "--ephemeral-range"),
                            (["web.yaml", "--host-ports", "x"], "--host-ports x: No such file"),
                            (["web.yaml", "--host-ports", "1,x"], '"x" is not a port'),
                            (["-", "-f", "-"], "not both")):
            self.assertEqual(self.lint(*args, status=2), "")
            self.assertIn(words, self.errors)
            self.assertEqual(self.errors.count("\n"), 1, self.errors)


class PipelineTest(Case):
    def setUp(self):
        super().setUp()
        self.file('a,b:c%<&">.yaml', WEB + "---\n" + WEB)

    def test_github(self):
        lines = self.lint(".", "--format", "github", status=1).splitlines()
        self.assertRegex(lines[0], r"^::warning file=a%2Cb%3Ac%25<&\">\.yaml,line=9,col=15,"
                                   r"title=berth lint%3A dynamic-band::nodePort 30088 of .* "
                                   r"3\.7 %25 after 100 of them")
        self.assertRegex(lines[1], "^::notice .*line=14,col=9,")

    def test_sarif(self):
        log = json.loads(self.lint(".", "--format", "sarif", status=1))
        self.assertEqual(log["version"], "2.1.0")
        self.assertIn("sarif", log["$schema"])
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for rule in rules:
            self.assertIn(rule["defaultConfiguration"]["level"], ("note", "warning", "error"))
            self.assertTrue(rule["shortDescription"]["text"] and rule["help"]["text"])
            self.assertIn(f"| `{rule['id']}` | {rule['defaultConfiguration']['level']} |",
                          (pathlib.Path(tools.ROOT) / "docs/lint.md").read_text())
        fingerprints = set()
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            self.assertIn(result["level"], ("note", "warning", "error"))
            self.assertTrue(result["message"]["text"])
            (location,) = result["locations"]
            place = location["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], "a%2Cb%3Ac%25%3C%26%22%3E.yaml")
            self.assertGreaterEqual(place["region"]["startLine"], 1)
            self.assertGreaterEqual(place["region"]["startColumn"], 1)
            fingerprints.add(result["partialFingerprints"]["berthLint/v1"])
        self.assertEqual(len(fingerprints), len(run["results"]))
        # A finding keeps its fingerprint when lines move.
        self.file('a,b:c%<&">.yaml', "# A line.\n" + WEB + "---\n" + WEB)
        (moved,) = json.loads(self.lint(".", "--format", "sarif", status=1))["runs"]
        self.assertEqual(fingerprints, {result["partialFingerprints"]["berthLint/v1"]
                                        for result in moved["results"]})

    def test_junit(self):
        suites = xml.etree.ElementTree.fromstring(self.lint(".", "--format", "junit", status=1))
        (suite,) = suites
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "2"))
        self.assertEqual(suite[0].get("file"), 'a,b:c%<&">.yaml')
        self.assertEqual(suite[0][0].tag, "failure")
        clean = xml.etree.ElementTree.fromstring(self.lint("-", "--format", "junit"))
        self.assertEqual((clean[0].get("tests"), clean[0].get("failures")), ("1", "0"))

    def test_yaml_says_what_json_says(self):
        out = self.lint(".", "-o", "yaml", status=1)
        self.assertTrue(out.startswith("findings:\n- rule: dynamic-band\n"), out)

    def test_the_hook_of_pre_commit_runs_the_command(self):
        text = HOOKS.read_text()
        self.assertIn("- id: berth-lint\n", text)
        entry = next(line.split(":", 1)[1].split() for line in text.splitlines()
                     if line.strip().startswith("entry:"))
        self.assertEqual(entry[:2], ["berth", "lint"])
        self.assertIn("dynamic-band", self.lint(*entry[2:], ".", status=1))


class ContextTest(Case):
    def test_the_namespace_is_that_of_the_context(self):
        server = RoughServer(services=make_services(3, node_ports=3))
        self.addCleanup(server.stop)
        manifest = self.file("web.yaml", WEB.replace("web", "svc-000001").replace("30088", "30001"))
        config = self.file("config", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server.url}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u",
                                                   "namespace": "team-1"}}]}))
        against = (manifest, "--kubeconfig", config)
        self.assertIn("Nothing found", self.lint(*against))
        self.assertIn("of Service default/svc-000001 is taken by Service team-1/svc-000001",
                      self.lint(*against, "-n", "default", status=1))


if __name__ == "__main__":
    main()
