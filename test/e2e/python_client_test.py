#!/usr/bin/env python3
"""Debian's python3-kubernetes against `berth serve`: objects, patches, lists, watches, errors."""

import datetime
import json
import threading

import kubernetes
from kubernetes import client, dynamic, watch
from kubernetes.client import V1ObjectMeta
from kubernetes.client.rest import ApiException

from harness import Case, SharedServerCase, main, wait_for

TIME = datetime.datetime(2023, 11, 14, 22, 13, 20, 123456, datetime.timezone.utc)


def service(name, **labels):
    return client.V1Service(
        metadata=V1ObjectMeta(name=name, labels=labels or None),
        spec=client.V1ServiceSpec(cluster_ip="None", selector={"app": "web"},
                                  ports=[client.V1ServicePort(port=80, target_port="http")]))


def names(listed):
    return [item.metadata.name for item in listed.items]


def connect(server):
    return kubernetes.config.new_client_from_config(server.kubeconfig)


class PythonCase(SharedServerCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = connect(cls.server)
        cls.addClassCleanup(cls.api.close)
        cls.core = client.CoreV1Api(cls.api)

    def refused(self, call, *arguments, **more):
        """Returns the Status of a call that must fail, after checking that the client sees it
        whole."""
        with self.assertRaises(ApiException) as raised:
            call(*arguments, **more)
        status = json.loads(raised.exception.body)
        self.assertEqual(raised.exception.headers["Content-Type"], "application/json")
        self.assertEqual((status["kind"], status["status"], status["code"]),
                         ("Status", "Failure", raised.exception.status))
        return status


class ObjectsTest(PythonCase):

    def test_service(self):
        made = self.core.create_namespaced_service(self.namespace, service("web", tier="front"))
        self.assertEqual((made.kind, made.api_version, made.metadata.namespace),
                         ("Service", "v1", self.namespace))
        port = made.spec.ports[0]
        self.assertEqual((made.spec.type, port.protocol, port.target_port),
                         ("ClusterIP", "TCP", "http"))
        age = datetime.datetime.now(datetime.timezone.utc) - made.metadata.creation_timestamp
        self.assertLess(abs(age.total_seconds()), 3600)

        read = self.core.read_namespaced_service("web", self.namespace)
        self.assertEqual(read, made)
        read.spec.ports.append(client.V1ServicePort(name="tls", port=443))
        read.spec.ports[0].name = "http"
        changed = self.core.replace_namespaced_service("web", self.namespace, read)
        self.assertEqual([port.name for port in changed.spec.ports], ["http", "tls"])
        self.assertEqual(changed.metadata.uid, made.metadata.uid)
        self.assertNotEqual(changed.metadata.resource_version, made.metadata.resource_version)
        same = self.core.replace_namespaced_service("web", self.namespace, changed)
        self.assertEqual(same.metadata.resource_version, changed.metadata.resource_version)

        changed.status = client.V1ServiceStatus(conditions=[
            client.V1Condition(type="Ready", status="True", reason="Up", message="",
                               last_transition_time=TIME.replace(microsecond=0))])
        self.core.replace_namespaced_service_status("web", self.namespace, changed)
        status = self.core.read_namespaced_service_status("web", self.namespace).status
        self.assertEqual([(each.type, each.last_transition_time) for each in status.conditions],
                         [("Ready", TIME.replace(microsecond=0))])

        self.core.delete_namespaced_service("web", self.namespace, body=client.V1DeleteOptions(
            preconditions=client.V1Preconditions(uid=made.metadata.uid)))
        self.assertEqual(names(self.core.list_namespaced_service(self.namespace)), [])

    def test_namespace(self):
        made = self.core.create_namespace(client.V1Namespace(metadata=V1ObjectMeta(
            generate_name="py-", finalizers=["example.com/held"])))
        name = made.metadata.name
        self.assertRegex(name, "^py-.{5}$")
        self.assertEqual(made.status.phase, "Active")
        made.metadata.labels = {"team": "a"}
        self.core.replace_namespace(name, made)
        found = self.core.list_namespace(label_selector="team in (a, b)")
        self.assertEqual(names(found), [name])
        self.core.delete_namespace(name)
        gone = self.core.read_namespace(name)
        self.assertEqual(gone.status.phase, "Terminating")
        self.assertIsNotNone(gone.metadata.deletion_timestamp)
        status = self.refused(self.core.create_namespaced_service, name, service("late"))
        self.assertEqual((status["code"], status["details"]["causes"][0]["reason"]),
                         (403, "NamespaceTerminating"))

    def test_events_in_both_groups(self):
        self.core.create_namespaced_event(self.namespace, client.CoreV1Event(
            metadata=V1ObjectMeta(name="old"), event_time=TIME, action="Start", reason="Started",
            message="up", type="Normal", reporting_component="example.com/c",
            reporting_instance="c-1", involved_object=client.V1ObjectReference(
                kind="Service", name="web", namespace=self.namespace)))
        events = client.EventsV1Api(self.api)
        events.create_namespaced_event(self.namespace, client.EventsV1Event(
            metadata=V1ObjectMeta(name="new"), event_time=TIME, action="Stop", reason="Stopped",
            note="down", type="Warning", reporting_controller="example.com/c",
            reporting_instance="c-1", regarding=client.V1ObjectReference(
                kind="Service", name="web", namespace=self.namespace)))
        listed = self.core.list_namespaced_event(
            self.namespace, field_selector="involvedObject.name=web,type=Warning")
        self.assertEqual([(each.message, each.event_time) for each in listed.items],
                         [("down", TIME)])
        old = events.read_namespaced_event("old", self.namespace)
        self.assertEqual((old.note, old.reporting_controller, old.regarding.name),
                         ("up", "example.com/c", "web"))
        deleted = events.delete_collection_namespaced_event(self.namespace)
        self.assertEqual(deleted.kind, "EventList")
        self.assertEqual(names(self.core.list_namespaced_event(self.namespace)), [])

    def test_lease_changes_hands_once(self):
        leases = client.CoordinationV1Api(self.api)
        spec = client.V1LeaseSpec(holder_identity="a", lease_duration_seconds=15, acquire_time=TIME,
                                  renew_time=TIME, lease_transitions=0)
        lease = leases.create_namespaced_lease(self.namespace, client.V1Lease(
            metadata=V1ObjectMeta(name="leader"), spec=spec))
        self.assertEqual(lease.spec.renew_time, TIME)
        for holder in ("b", "c"):
            lease.spec.holder_identity = holder
            if holder == "b":
                leases.replace_namespaced_lease("leader", self.namespace, lease)
            else:
                status = self.refused(leases.replace_namespaced_lease, "leader", self.namespace,
                                      lease)
                self.assertEqual((status["code"], status["reason"]), (409, "Conflict"))
        held = leases.read_namespaced_lease("leader", self.namespace)
        self.assertEqual(held.spec.holder_identity, "b")


class PatchTest(PythonCase):

    def setUp(self):
        super().setUp()
        self.made = self.core.create_namespaced_service(self.namespace,
                                                        service("web", tier="front"))

    def patch(self, body, **more):
        return self.core.patch_namespaced_service("web", self.namespace, body, **more)

    def test_a_dict_is_a_strategic_merge_and_a_list_is_a_json_patch(self):
        patched = self.patch({"metadata": {"labels": {"a": "1"}},
                              "spec": {"ports": [{"port": 443, "name": "tls"},
                                                 {"port": 80, "name": "http"}]}})
        self.assertEqual(patched.metadata.labels, {"a": "1", "tier": "front"})
        self.assertEqual({(port.port, port.target_port) for port in patched.spec.ports},
                         {(80, "http"), (443, 443)}, "the target of 80 is kept")
        patched = self.patch([{"op": "remove", "path": "/metadata/labels/tier"},
                              {"op": "copy", "from": "/metadata/labels/a",
                               "path": "/metadata/labels/b"}])
        self.assertEqual(patched.metadata.labels, {"a": "1", "b": "1"})
        status = self.refused(self.patch, [{"op": "remove", "path": "/metadata/labels/tier"}])
        self.assertEqual((status["code"], status["reason"]), (422, "Invalid"))

        # An object of the client is a patch of the fields that are set in it.
        self.patch(client.V1Service(spec=client.V1ServiceSpec(selector={"app": None, "run": "x"})))
        read = self.core.read_namespaced_service("web", self.namespace)
        self.assertEqual(read.spec.selector, {"run": "x"})
        self.assertEqual(read.metadata.labels, {"a": "1", "b": "1"})

    def test_merge_patch(self):
        with connect(self.server) as api:
            api.set_default_header("Content-Type", "application/merge-patch+json")
            core = client.CoreV1Api(api)
            patched = core.patch_namespaced_service("web", self.namespace, {
                "metadata": {"labels": {"tier": None}},
                "spec": {"ports": [{"port": 443}]}}, field_manager="merger")
        self.assertEqual([port.port for port in patched.spec.ports], [443])
        self.assertIsNone(patched.metadata.labels)
        self.assertIn(("merger", "Update"), [(entry.manager, entry.operation)
                                             for entry in patched.metadata.managed_fields])

    def test_conditional_dry_and_refused(self):
        dry = self.patch({"metadata": {"labels": {"dry": "yes"}}}, dry_run="All")
        self.assertEqual(dry.metadata.labels, {"dry": "yes", "tier": "front"})
        same = self.patch({"metadata": {"labels": {"tier": "front"}}})
        self.assertEqual(same, self.made)
        version = self.made.metadata.resource_version
        fresh = self.patch({"metadata": {"resourceVersion": version, "labels": {"a": "1"}}})
        self.assertNotEqual(fresh.metadata.resource_version, version)
        status = self.refused(self.patch, {"metadata": {"resourceVersion": version,
                                                        "labels": {"a": "2"}}})
        self.assertEqual((status["code"], status["reason"]), (409, "Conflict"))
        status = self.refused(self.patch, {"spec": {"ports": [{"port": 70000}]}})
        self.assertEqual((status["code"], status["reason"]), (422, "Invalid"))
        status = self.refused(self.core.patch_namespaced_service, "none", self.namespace, {})
        self.assertEqual((status["code"], status["reason"]), (404, "NotFound"))
        self.assertEqual(self.core.read_namespaced_service("web", self.namespace), fresh)

    def test_status(self):
        condition = {"type": "Ready", "status": "True", "reason": "Up", "message": "",
                     "lastTransitionTime": "2023-11-14T22:13:20Z"}
        self.core.patch_namespaced_service_status("web", self.namespace, {
            "status": {"conditions": [condition]}, "spec": {"selector": {"app": "other"}}})
        more = self.core.patch_namespaced_service_status("web", self.namespace, [
            {"op": "add", "path": "/status/conditions/-", "value": {**condition, "type": "More"}}])
        self.assertEqual([each.type for each in more.status.conditions], ["Ready", "More"])
        self.assertEqual(more.spec, self.made.spec)
        self.assertEqual({entry.subresource for entry in more.metadata.managed_fields},
                         {None, "status"})

    def test_other_kinds(self):
        named = self.core.patch_namespace(self.namespace, {"metadata": {"labels": {"team": "a"}}})
        self.assertEqual(named.metadata.labels["team"], "a")
        leases = client.CoordinationV1Api(self.api)
        leases.create_namespaced_lease(self.namespace, client.V1Lease(
            metadata=V1ObjectMeta(name="leader"), spec=client.V1LeaseSpec(renew_time=TIME)))
        lease = leases.patch_namespaced_lease("leader", self.namespace, client.V1Lease(
            spec=client.V1LeaseSpec(holder_identity="me")))
        self.assertEqual((lease.spec.holder_identity, lease.spec.renew_time), ("me", TIME))

    def test_apply(self):
        # This version of the client does not send a dict as YAML, but sends text as it is.
        services = dynamic.DynamicClient(self.api).resources.get(api_version="v1", kind="Service")

        def apply(manager, kind, **more):
            text = (f"apiVersion: v1\nkind: Service\nmetadata:\n  name: applied\nspec:\n"
                    f"  type: {kind}\n  ports:\n  - {{port: 80, name: http}}\n")
            return services.server_side_apply(body=text, name="applied", field_manager=manager,
                                              namespace=self.namespace, **more)

        def managers(applied):
            return sorted(entry.manager for entry in applied.metadata.managedFields)

        made = apply("one", "ClusterIP")
        self.assertEqual((made.spec.type, managers(made)), ("ClusterIP", ["one"]))
        again = apply("one", "ClusterIP")
        self.assertEqual(again.metadata.resourceVersion, made.metadata.resourceVersion)
        with self.assertRaises(dynamic.exceptions.ConflictError) as raised:
            apply("two", "NodePort")
        status = json.loads(raised.exception.body)
        self.assertEqual(status["message"],
                         'Apply failed with 1 conflict: conflict with "one": .spec.type')
        self.assertEqual(status["details"]["causes"], [{
            "reason": "FieldManagerConflict", "message": 'conflict with "one"',
            "field": ".spec.type"}])
        forced = apply("two", "NodePort", force_conflicts=True)
        self.assertEqual((forced.spec.type, managers(forced)), ("NodePort", ["one", "two"]))
        patched = services.patch(body={"metadata": {"name": "applied", "labels": {"a": "1"}}},
                                 namespace=self.namespace)
        self.assertEqual(patched.metadata.labels.a, "1")
        patched = services.patch(body={"metadata": {"name": "applied", "labels": {"a": None}}},
                                 namespace=self.namespace,
                                 content_type="application/merge-patch+json")
        self.assertIsNone(patched.metadata.labels)


class DeletionTest(PythonCase):

    def own(self, name):
        """Creates an owner of that name, and a Service that depends on it."""
        owner = self.core.create_namespaced_service(self.namespace, service(name))
        child = service(f"{name}-child")
        child.metadata.owner_references = [client.V1OwnerReference(
            api_version="v1", kind="Service", name=name, uid=owner.metadata.uid,
            block_owner_deletion=True)]
        self.core.create_namespaced_service(self.namespace, child)

    def wait_until_there_is(self, *expected):
        wait_for(lambda: names(self.core.list_namespaced_service(self.namespace)) == [*expected])

    def test_with_dependents(self):
        for policy in ("Background", "Foreground"):
            self.own("owner")
            self.core.delete_namespaced_service("owner", self.namespace, propagation_policy=policy)
            self.wait_until_there_is()
        self.own("body")
        self.core.delete_namespaced_service(
            "body", self.namespace, body=client.V1DeleteOptions(propagation_policy="Foreground"))
        self.wait_until_there_is()

    def test_without_dependents(self):
        self.own("owner")
        self.core.delete_namespaced_service("owner", self.namespace, propagation_policy="Orphan")
        self.wait_until_there_is("owner-child")
        left = self.core.read_namespaced_service("owner-child", self.namespace)
        self.assertIsNone(left.metadata.owner_references)
        status = self.refused(self.core.delete_namespaced_service, "owner-child", self.namespace,
                              propagation_policy="Sideways")
        self.assertEqual((status["code"], status["reason"]), (422, "Invalid"))


class ErrorsTest(PythonCase):

    def test_each_has_its_status(self):
        status = self.refused(self.core.read_namespaced_service, "none", self.namespace)
        self.assertEqual((status["code"], status["reason"], status["details"]),
                         (404, "NotFound", {"name": "none", "kind": "services"}))
        status = self.refused(self.core.create_namespaced_service, "nowhere", service("web"))
        self.assertEqual(status["message"], 'namespaces "nowhere" not found')
        bad = service("web")
        bad.spec.ports[0].port = 70000
        status = self.refused(self.core.create_namespaced_service, self.namespace, bad)
        self.assertEqual((status["code"], status["reason"]), (422, "Invalid"))
        self.assertEqual([cause["field"] for cause in status["details"]["causes"]],
                         ["spec.ports[0].port"])
        made = self.core.create_namespaced_service(self.namespace, service("web"))
        status = self.refused(self.core.create_namespaced_service, self.namespace, service("web"))
        self.assertEqual((status["code"], status["reason"]), (409, "AlreadyExists"))
        status = self.refused(self.core.delete_namespaced_service, "web", self.namespace,
                              body=client.V1DeleteOptions(preconditions=client.V1Preconditions(
                                  resource_version=made.metadata.resource_version + "0")))
        self.assertEqual((status["code"], status["reason"]), (409, "Conflict"))
        status = self.refused(self.core.list_namespaced_service, self.namespace,
                              field_selector="spec.nothing=1")
        self.assertEqual((status["code"], status["reason"]), (400, "BadRequest"))
        self.assertEqual(names(self.core.list_namespaced_service(self.namespace)), ["web"])

    def test_wrong_credential(self):
        configuration = client.Configuration()
        configuration.host = self.server.url
        configuration.ssl_ca_cert = self.server.ca_file
        configuration.api_key = {"authorization": "Bearer wrong"}
        with client.ApiClient(configuration) as api:
            status = self.refused(client.CoreV1Api(api).list_namespace)
            self.assertEqual((status["code"], status["reason"]), (401, "Unauthorized"))
            configuration.api_key["authorization"] = f"Bearer {self.server.TOKEN}"
            self.assertIn("default", names(client.CoreV1Api(api).list_namespace()))


class ListsAndWatchesTest(PythonCase):

    def test_pages_are_of_one_moment(self):
        for name in "abcde":
            self.core.create_namespaced_service(self.namespace, service(name))
        first = self.core.list_namespaced_service(self.namespace, limit=2)
        self.assertEqual((names(first), first.metadata.remaining_item_count), (["a", "b"], 3))
        self.core.delete_namespaced_service("d", self.namespace)
        self.core.create_namespaced_service(self.namespace, service("cc"))
        second = self.core.list_namespaced_service(self.namespace, limit=2,
                                                   _continue=first.metadata._continue)
        self.assertEqual((names(second), second.metadata.resource_version),
                         (["c", "d"], first.metadata.resource_version))
        third = self.core.list_namespaced_service(self.namespace, limit=2,
                                                  _continue=second.metadata._continue)
        self.assertEqual((names(third), third.metadata._continue), (["e"], None))
        self.assertEqual(names(self.core.list_namespaced_service(self.namespace)),
                         ["a", "b", "c", "cc", "e"])
        status = self.refused(self.core.list_namespaced_service, self.namespace,
                              _continue="nonsense")
        self.assertEqual((status["code"], status["reason"]), (400, "BadRequest"))

    def test_watch_from_a_version(self):
        self.core.create_namespaced_service(self.namespace, service("before"))
        version = self.core.list_namespaced_service(self.namespace).metadata.resource_version
        made = self.core.create_namespaced_service(self.namespace, service("web", step="1"))
        made.metadata.labels = {"step": "2"}
        self.core.replace_namespaced_service("web", self.namespace, made)
        self.core.delete_namespaced_service("web", self.namespace)
        seen = []
        stream = watch.Watch()
        for event in stream.stream(self.core.list_namespaced_service, self.namespace,
                                   resource_version=version, timeout_seconds=20):
            self.assertIsInstance(event["object"], client.V1Service)
            seen.append((event["type"], event["object"].metadata.name,
                         event["object"].metadata.labels["step"]))
            if event["type"] == "DELETED":
                stream.stop()
        self.assertEqual(seen, [("ADDED", "web", "1"), ("MODIFIED", "web", "2"),
                                ("DELETED", "web", "2")])

    def test_watch_ends_with_its_timeout_and_follows_live(self):
        self.core.create_namespaced_service(self.namespace, service("web"))
        seen = []

        def follow():
            request = self.core.list_namespaced_service
            for event in watch.Watch().stream(request, self.namespace, timeout_seconds=2,
                                              label_selector="app!=other"):
                seen.append((event["type"], event["object"].metadata.name))

        thread = threading.Thread(target=follow)
        thread.start()
        wait_for(lambda: ("ADDED", "web") in seen)
        self.core.create_namespaced_service(self.namespace, service("live"))
        self.core.create_namespaced_service(self.namespace, service("hidden", app="other"))
        self.core.delete_namespaced_service("live", self.namespace)
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(seen, [("ADDED", "web"), ("ADDED", "live"), ("DELETED", "live")])


class RestartTest(Case):

    def test_objects_and_versions_outlive_the_server(self):
        server = self.server()
        core = client.CoreV1Api(connect(server))
        made = core.create_namespaced_service("default", service("web"))
        self.assertEqual(server.terminate(), 0)
        self.server(port=server.port)
        self.assertEqual(core.read_namespaced_service("web", "default"), made)
        core.replace_namespaced_service("web", "default", made)

    def test_watch_too_far_back_is_an_error_to_list_again(self):
        history = ("--history-bytes", "1048576")
        server = self.server(*history)
        core = client.CoreV1Api(connect(server))
        made = core.create_namespaced_service("default", service("web"))
        for letter in "abcdefgh":  # More than the history that is kept.
            big = service("web")
            big.metadata.annotations = {"big": letter * 200_000}
            core.replace_namespaced_service("web", "default", big)
        self.assertEqual(server.terminate(), 0)
        self.server(*history, port=server.port)

        def too_old():
            version = made.metadata.resource_version
            try:
                for _ in watch.Watch().stream(core.list_namespaced_service, "default",
                                              resource_version=version, timeout_seconds=5):
                    return None  # The client retries it in the background.
            except ApiException as error:
                return error
            self.fail("changes were passed over")

        error = wait_for(too_old)
        self.assertEqual(error.status, 410)
        self.assertIn("Expired", error.reason)


if __name__ == "__main__":
    main(warnings="ignore")  # The client leaves its sockets to the garbage collector.
