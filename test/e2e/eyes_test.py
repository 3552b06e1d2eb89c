"""Runs the commands that look into a cluster against API servers: Berth itself, and a stand-in for
kube-apiserver's rougher sides.

    BERTH_BIN=build/release/berth python3 test/e2e/eyes_test.py
"""

import collections
import json
import os
import re
import subprocess
import tempfile
import unittest

import yaml

import terminals
from harness import BERTH, Case, Server, environment, main, wait_for
from rough_server import ADDRESSES, CIDRS, SERVICES, RoughServer, make_service, make_services

# Commands and their exit codes.
COMMANDS = {("top",): 0, ("forecast",): 0, ("whois", "10.96.0.3", "30001"): 0,
            ("map", "30000-32767"): 0, ("blockers", "10.96.0.0/24"): 1, ("verify",): 0}
DEPLOY = os.path.join(os.path.dirname(__file__), "..", "..", "deploy")
MANIFEST = """apiVersion: v1
kind: Service
metadata: {name: new, namespace: shop}
spec: {clusterIP: 10.96.0.3, ports: [{port: 80}]}
"""


def objects_of(name):
    """Returns the objects of a file in deploy/."""
    with open(os.path.join(DEPLOY, name), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def rules_of(*roles):
    return [{**rule, "namespace": role["metadata"].get("namespace")}
            for role in roles for rule in role["rules"]]


def berth(*args, **changes):
    return subprocess.run([BERTH, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", env=environment(**changes), timeout=60)


class Eyes(unittest.TestCase):
    """A stand-in with 1,200 Services, three pages of them."""

    def setUp(self):
        self.server = RoughServer(services=make_services(1200, node_ports=3))
        self.addCleanup(self.server.stop)

    def run_berth(self, *args, code=0):
        done = berth(*args, "--server", self.server.url)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def document(self, *args):
        return json.loads(self.run_berth(*args, "-o", "json").stdout)

    def ranges(self):
        return {each["range"]: each for each in self.document("top")["ranges"]}


class KubernetesTest(Eyes):
    def test_all_commands_only_read(self):
        for command, code in COMMANDS.items():
            self.run_berth(*command, code=code)
        self.server.assert_only_reads()
        self.assertEqual(len([each for each in self.server.seen("/api/v1/services")
                              if "continue" not in each.query]), len(COMMANDS))

    def test_every_text_says_where_the_ranges_come_from(self):
        exact = ("Ranges: addresses from ServiceCIDR kubernetes (exact), node ports from /flagz of "
                 "the API server that answered (exact)")
        for command, code in COMMANDS.items():
            self.assertIn(exact, " ".join(self.run_berth(*command, code=code).stdout.split()))
        self.server.remove_group()
        self.server.forbid("/flagz")
        for command in COMMANDS:
            out = berth(*command, "--server", self.server.url).stdout
            self.assertIn("node ports assumed, as Kubernetes' default", " ".join(out.split()))

    def test_what_the_server_knows_is_exact(self):
        top = self.run_berth("top").stdout
        self.assertIn("v1.36.4", top)
        ranges = self.ranges()
        self.assertEqual(sorted(ranges), ["10.96.0.0/12", "30000-32767"])
        self.assertEqual([each["exact"] for each in ranges.values()], [True, True])
        self.assertIn("/flagz", ranges["30000-32767"]["source"])

    def test_the_range_of_node_ports_comes_from_the_best_place(self):
        pods = "/api/v1/namespaces/kube-system/pods"
        config = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
        self.server.documents[pods] = {"kind": "PodList", "items": [{"spec": {"containers": [
            {"command": ["kube-apiserver", "--service-node-port-range=30000-31000"]}]}}]}
        self.server.documents[config] = {"kind": "ConfigMap", "data": {"ClusterConfiguration":
            "apiServer:\n  extraArgs:\n    service-node-port-range: 30000-31500\n"}}
        self.assertIn("30000-32767", self.ranges())
        self.server.forbid("/flagz")
        self.assertIn("30000-31500", self.ranges())
        del self.server.documents[config]
        self.assertIn("30000-31000", self.ranges())
        command = self.server.documents[pods]["items"][0]["spec"]["containers"][0]["command"]
        command[1:] = ["--etcd-servers=https://127.0.0.1:2379"]
        default = self.ranges()["30000-32767"]
        self.assertEqual((default["exact"], default["source"]), (True, "Kubernetes' default, which "
                         "the arguments of the API server's Pods do not change"))
        del self.server.documents[pods]
        assumed = self.ranges()["30000-32767"]
        self.assertEqual((assumed["exact"], assumed["source"]),
                         (False, "assumed, as Kubernetes' default"))
        given = json.loads(self.run_berth("top", "--node-port-range", "30000-30999", "-o",
                                          "json").stdout)
        self.assertIn("30000-30999", [each["range"] for each in given["ranges"]])

    def test_advice_about_node_ports(self):
        def advice():
            return " ".join(self.run_berth("whois", "30001").stdout.split())
        self.server.remove_group("/flagz")
        self.assertIn("the server has no /flagz (it came with Kubernetes 1.36)", advice())
        self.assertNotIn("allow", advice())
        self.server.rules = [rule for rule in rules_of(*objects_of("reader.yaml"))
                             if not rule["namespace"]]
        self.assertIn("or allow get on the ConfigMap kubeadm-config in kube-system, list on pods in "
                      "kube-system (deploy/reader.yaml", advice())
        self.assertNotIn("get on /flagz", advice())

    def test_a_server_before_1_33(self):
        self.server.remove_group()
        top = self.run_berth("top").stdout
        self.assertIn("the server has no servicecidrs.networking.k8s.io", " ".join(top.split()))
        self.assertIn("since Kubernetes 1.33", " ".join(top.split()))
        # The flags of the server still name the range.
        self.assertIn("/flagz", self.ranges()["10.96.0.0/12"]["source"])
        self.server.forbid("/flagz")
        self.assertFalse(self.ranges()["10.96.0.0/21"]["exact"])

    def test_rough_answers(self):
        self.server.fail_next(SERVICES, code=429, retry_after=1)
        self.server.fail_next(SERVICES, cut=2000, only="continue")
        self.server.fail_next(ADDRESSES, html=True)
        self.server.fail_next(CIDRS, code=503, retry_after=1, reason="ServiceUnavailable")
        top = self.document("top")
        self.assertEqual([each["taken"] for each in top["ranges"] if each["range"] == "10.96.0.0/12"],
                         [1200])

    def test_verify_is_as_patient_as_the_others(self):
        self.server.fail_next(SERVICES, code=429, retry_after=1)
        self.server.fail_next(SERVICES, cut=2000, only="continue")
        # A gateway that answers everything is no reason to give up, nor is it asked what Berth is.
        self.server.documents["/berth/v1/allocations"] = "a page"
        self.assertIn("Nothing is wrong", self.run_berth("verify").stdout)
        self.assertFalse(self.server.seen("/berth/"))

    def test_a_list_whose_revision_is_forgotten(self):
        self.server.fail_next(SERVICES, code=410, reason="Expired", only="continue")
        self.assertIn("1,200 Services", self.run_berth("top").stdout)

    def test_a_server_that_is_not_there(self):
        self.server.stop()
        done = berth("top", "--server", self.server.url)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(self.server.url, done.stderr)
        self.addCleanup(lambda: None)

    def test_findings_of_verify(self):
        self.server.put(SERVICES, make_service(5000, "10.96.0.3"))
        self.server.delete(ADDRESSES, "10.96.0.9")
        done = self.run_berth("verify", code=1)
        self.assertRegex(done.stdout, r"10\.96\.0\.3 .*svc-005000 and team-2/svc-000002")
        self.assertIn("The address 10.96.0.9 of Service team-8/svc-000008 has no record", done.stdout)
        self.assertIn("kubectl annotate service svc-000008 -n team-8", done.stdout)
        self.assertIn("which Kubernetes does not show", done.stdout)


class RightsTest(Eyes):
    """The roles in deploy/ are enough, and a missing right is named."""

    def setUp(self):
        super().setUp()
        self.server.rules = rules_of(*objects_of("reader.yaml"))
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def assert_enough(self, done):
        self.assertNotRegex(done.stdout + done.stderr, "forbidden|may not|deploy/reader.yaml")

    def observe(self, *args):
        return self.run_berth("observe", "--once", "--data-dir",
                              os.path.join(self.folder.name, "history"), *args)

    def test_the_roles_are_enough(self):
        for command, code in COMMANDS.items():
            self.assert_enough(self.run_berth(*command, code=code))
        manifest = os.path.join(self.folder.name, "new.yaml")
        with open(manifest, "w", encoding="utf-8") as file:
            file.write(MANIFEST)
        lint = self.run_berth("lint", manifest, code=1)
        self.assertIn("team-2/svc-000002", lint.stdout)
        self.assertIn("node ports from /flagz of the API server that answered (exact)",
                      " ".join(lint.stdout.split()))
        self.assert_enough(lint)
        self.assert_enough(self.observe())
        self.assertTrue(all(each["exact"] for each in self.ranges().values()))

    def test_an_observer_in_the_cluster(self):
        """deploy/observer.yaml gives its ServiceAccount what it needs and nothing more."""
        objects = objects_of("observer.yaml")
        kinds = collections.defaultdict(list)
        for each in objects:
            kinds[each["kind"]].append(each)
        account, deployment = kinds["ServiceAccount"][0], kinds["Deployment"][0]
        namespace = account["metadata"]["namespace"]
        pod = deployment["spec"]["template"]["spec"]
        self.assertEqual((deployment["metadata"]["namespace"], pod["serviceAccountName"]),
                         (namespace, account["metadata"]["name"]))
        roles = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): each
                 for each in objects_of("reader.yaml")}
        bound = []
        for binding in kinds["ClusterRoleBinding"] + kinds["RoleBinding"]:
            self.assertEqual(binding["subjects"], [
                {"kind": "ServiceAccount", "name": account["metadata"]["name"],
                 "namespace": namespace}])
            ref = binding["roleRef"]
            if ref["name"] == "system:auth-delegator":  # Kubernetes' own: TokenReview and such.
                self.assertEqual((binding["kind"], ref["kind"]), ("ClusterRoleBinding", "ClusterRole"))
                continue
            where = None if ref["kind"] == "ClusterRole" else binding["metadata"]["namespace"]
            bound.append(roles[ref["kind"], where, ref["name"]])
        self.server.rules = rules_of(*bound)
        self.assertLessEqual({verb for rule in self.server.rules for verb in rule["verbs"]},
                             {"get", "list", "watch"})
        self.assert_enough(self.observe())
        self.assertTrue(all(each["exact"] for each in self.ranges().values()))
        container = pod["containers"][0]
        security = container["securityContext"]
        self.assertEqual((security["readOnlyRootFilesystem"], security["allowPrivilegeEscalation"],
                          security["capabilities"]), (True, False, {"drop": ["ALL"]}))
        # The program knows all flags of the container: only the certificate is missing here.
        done = berth(*container["args"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("/tls/tls.crt", done.stderr)
        services = {each["metadata"]["name"]: each for each in kinds["Service"]}
        self.assertEqual(services["berth-observer"]["spec"]["selector"],
                         deployment["spec"]["template"]["metadata"]["labels"])

    def test_a_missing_right_is_named(self):
        self.server.rules = [rule for rule in self.server.rules
                             if "ipaddresses" not in rule.get("resources", ())]
        out = " ".join(self.run_berth("top").stdout.split())
        self.assertIn('user "jane" may not list ipaddresses.networking.k8s.io at the cluster scope',
                      out)
        self.assertIn("deploy/reader.yaml", out)
        self.assertIn("1,200 Services", out)

    def test_forecast_names_a_missing_right(self):
        self.server.forbid(CIDRS)
        self.assertIn("may not list servicecidrs", " ".join(self.run_berth("forecast").stdout.split()))
        self.assertIn("may not list servicecidrs", self.document("forecast")["gaps"][0]["what"])

    def test_without_services_the_records_tell_what_they_know(self):
        self.server.rules = [rule for rule in self.server.rules
                             if rule.get("resources") != [SERVICES]]
        whois = " ".join(self.run_berth("whois", "10.96.0.3").stdout.split())
        self.assertIn("svc-000002", whois)
        self.assertIn('user "jane" may not list services at the cluster scope', whois)
        self.assertIn("so Services are those that the records of addresses name", whois)
        self.assertIn("allow list and watch on services (deploy/reader.yaml", whois)
        self.assertIn("30001 node port, of no Service that you may see", " ".join(
            self.run_berth("whois", "30001").stdout.split()))
        top = " ".join(self.run_berth("top").stdout.split())
        self.assertIn("1,200 Services: 1,200 Unknown", top)
        self.assertNotIn("no Service", top)
        # What would record or prove something needs all Services.
        for command, code in ((("verify",), 2), (("blockers", "10.96.0.0/24"), 1), (("observe", "--once", "--data-dir",
                                                  os.path.join(self.folder.name, "d")), 1)):
            done = self.run_berth(*command, code=code)
            self.assertIn('user "jane" may not list services', done.stderr)
            self.assertIn("deploy/reader.yaml", done.stderr)

    def test_a_user_of_one_namespace(self):
        self.server.rules = [{"apiGroups": [""], "resources": [SERVICES], "verbs": ["list"],
                              "namespace": "team-2"}]
        config = os.path.join(self.folder.name, "config")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "here",
                       "contexts": [{"name": "here", "context": {
                           "cluster": "c", "user": "u", "namespace": "team-2"}}],
                       "clusters": [{"name": "c", "cluster": {"server": self.server.url}}],
                       "users": [{"name": "u", "user": {}}]}, file)
        done = berth("top", "--kubeconfig", config)
        self.assertEqual(done.returncode, 0, done.stderr)
        top = " ".join(done.stdout.split())
        self.assertIn("60 Services", top)
        self.assertIn("so Services are those of namespace team-2, and values of all others look free", top)

    def test_without_any_right_the_missing_one_is_named(self):
        self.server.rules = []
        for command in (("top",), ("top", "--watch")):
            done = self.run_berth(*command, code=1)
            self.assertIn('user "jane" may not list services', done.stderr)
            self.assertIn("deploy/reader.yaml", done.stderr)


class WatchTest(Eyes):
    def follow(self, *args):
        """Starts the program with --watch, and returns a function that returns what it printed."""
        output = tempfile.NamedTemporaryFile()
        self.addCleanup(output.close)
        process = subprocess.Popen([BERTH, *args, "--watch", "--server", self.server.url],
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def printed():
            with open(output.name, encoding="utf-8") as file:
                return file.read()
        return printed

    def test_changes_are_shown(self):
        printed = self.follow("whois", "10.111.0.1")
        wait_for(lambda: "free" in printed())
        wait_for(lambda: self.server.seen("watch=") and self.server.seen("ipaddresses?watch="))
        self.server.put(SERVICES, make_service(7, "10.111.0.1"))
        wait_for(lambda: "svc-000007" in printed())
        self.server.fail_next(SERVICES, cut=10, only="watch")
        self.server.compact()  # The watch ends with 410, and everything is listed again.
        wait_for(lambda: len(self.server.seen("services?limit=")) >= 3)
        self.server.delete(SERVICES, "svc-000007", "team-7")
        wait_for(lambda: re.search(r"(?s)svc-000007.*10\.111\.0\.1 +IPv4 address, free", printed()))
        self.server.assert_only_reads()

    def test_blockers_do_not_end_it_and_a_closed_pipe_does(self):
        process = subprocess.Popen([BERTH, "blockers", "10.96.0.0/24", "--watch", "--server",
                                    self.server.url], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if b"10.96.0.0/24" in line:
                break
        wait_for(lambda: self.server.seen("ipaddresses?watch="))
        self.assertIsNone(process.poll())
        process.stdout.close()

        def ended():
            self.server.put(SERVICES, make_service(9, "10.96.0.10"))  # Makes it print again.
            return process.poll() is not None
        wait_for(ended)

    def test_a_server_that_is_gone(self):
        printed = self.follow("top")
        wait_for(lambda: self.server.seen("servicecidrs?watch="))
        self.server.stop()
        wait_for(lambda: re.search("changes of [a-z, ]*services[a-z, ]* since 20[^ ]* are not seen: .*" +
                                   re.escape(self.server.url), " ".join(printed().split())))

    def test_a_small_terminal_shows_the_ranges(self):
        terminal = terminals.Terminal(24, 80)
        self.addCleanup(terminal.close)
        process = subprocess.Popen([BERTH, "top", "--watch", "--server", self.server.url],
                                   stdin=subprocess.DEVNULL, stdout=terminal.follower,
                                   env=environment(NO_COLOR="1"))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_for(lambda: self.server.seen("ipaddresses?watch="))
        self.server.put(SERVICES, make_service(5, "10.111.0.1"))
        frames = wait_for(lambda: len(terminal.text().split("\033[H")) > 3
                          and terminal.text().split("\033[H"))
        for frame in frames[1:3]:
            self.assertLess(frame.count("\n"), 24)
            self.assertIn("10.96.0.0/12", frame)
            self.assertRegex(frame, r"\.\.\. \d+ more lines, which are shown without --watch")
        self.server.stop()  # What is not up to date says so where it can be seen.
        wait_for(lambda: "\033[H\033[JNot up to date: changes of" in terminal.text())

    def test_a_file_cannot_be_followed(self):
        done = berth("top", "--watch", "-f", "-")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a file or a store at rest does not change", done.stderr)


class BerthTest(Case):
    """Berth as the cluster, running and at rest."""

    def test_the_same_answers_from_every_source(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        data = os.path.join(folder.name, "data")
        server = Server(folder.name)
        self.addCleanup(server.stop)
        for i, spec in enumerate(({}, {"clusterIP": "10.96.0.77"}, {"type": "NodePort"})):
            made = server.call("POST", "/api/v1/namespaces/default/services", {
                "metadata": {"name": f"s{i}"}, "spec": {"ports": [{"port": 80}], **spec}})
            self.assertEqual(made.code, 201, made)
        access = ("--server", server.url, "--token", server.TOKEN, "--certificate-authority",
                  server.ca_file)
        snapshot = os.path.join(folder.name, "snap")
        answers = [self.shown(*access)]
        server.stop()
        answers.append(self.shown("--data-dir", data))
        saved = berth("snapshot", "save", "--data-dir", data, snapshot)
        self.assertEqual(saved.returncode, 0, saved.stderr)
        answers.append(self.shown("--snapshot", snapshot))
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])
        self.assertIn("named", json.dumps(answers[0]))

    def shown(self, *source):
        """Returns what top and whois say, without what names the source or the time."""
        top = self.parsed("top", *source)
        whois = self.parsed("whois", "10.96.0.77", "default/s2", *source)
        return [[each["range"], each["taken"], each["free"]] for each in top["ranges"]], whois["answers"]

    def parsed(self, *args):
        done = berth(*args, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


if __name__ == "__main__":
    main()
