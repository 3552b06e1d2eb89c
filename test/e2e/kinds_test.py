#!/usr/bin/env python3
"""Endpoints, EndpointSlices and Nodes, as kubectl, informers and a cloud provider's load-balancer
controller use them, and the ones that the server keeps for default/kubernetes.

    BERTH_BIN=build/release/berth python3 test/e2e/kinds_test.py
"""

import re
import threading

import kubernetes
from kubernetes import client, watch
from kubernetes.client import V1ObjectMeta

import kubectls
import protobuf
from harness import Case, SharedServerCase, main, wait_for
from kubectls import service
from protobuf import pruned

ADDRESS = "192.0.2.10"  # Where others would reach the server.
DEPRECATED = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
ENDPOINTS = "/api/v1/namespaces/{}/endpoints"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
NODES = "/api/v1/nodes"
MERGE = {"Content-Type": "application/merge-patch+json"}
READY = {"conditions": [{"type": "Ready", "status": "True"}],
         "addresses": [{"type": "InternalIP", "address": "10.0.0.11"}],
         "nodeInfo": {"kubeletVersion": "v1.36.0", "osImage": "Debian 12", "kernelVersion": "6.1",
                      "architecture": "amd64", "containerRuntimeVersion": "containerd://2"}}


def endpoints(name, *ips):
    return {"metadata": {"name": name},
            "subsets": [{"addresses": [{"ip": ip} for ip in ips],
                         "ports": [{"name": "http", "port": 8080}]}]}


def endpoint_slice(name, *ips, of="web"):
    return {"metadata": {"name": name, "labels": {"kubernetes.io/service-name": of}},
            "addressType": "IPv4", "ports": [{"name": "http", "port": 8080}],
            "endpoints": [{"addresses": [ip], "conditions": {"ready": True}} for ip in ips]}


class KindsCase(SharedServerCase):

    FLAGS = ("--advertise-address", ADDRESS)

    def send(self, method, path, body=None, code=None, **more):
        """Returns the answer to a request that must succeed, or give this code."""
        answer = self.server.call(method, path, body, **more)
        self.assertIn(answer.code, (code,) if code else (200, 201), answer)
        return answer

    def make_node(self, name):
        """Creates a Node that is ready, as its agent would report it."""
        self.send("POST", NODES, {"metadata": {"name": name}})
        self.addCleanup(self.server.call, "DELETE", f"{NODES}/{name}")
        self.send("PATCH", f"{NODES}/{name}/status", {"status": READY}, headers=MERGE)
        return f"{NODES}/{name}"


class Kubectl(kubectls.Verbs):

    def in_default(self, *args):
        self.namespace = "default"
        return self.run_it(*args)

    def rows(self, *args):
        """Returns the cells of each line that kubectl prints."""
        return [re.split(r" {2,}", line.strip()) for line in self.good(*args).splitlines() if line]

    def test_get_wide(self):
        name = f"{self.namespace}-1"
        self.make_node(name)
        self.send("POST", ENDPOINTS.format(self.namespace),
                  endpoints("web", *(f"10.0.0.{i}" for i in range(1, 6))))
        self.send("POST", SLICES.format(self.namespace), endpoint_slice("web-1", "10.0.0.1"))
        rows = self.rows("get", "endpoints,endpointslices,nodes", "-o", "wide")
        self.assertEqual([rows[0], rows[1][:2]], [
            ["NAME", "ENDPOINTS", "AGE"],
            ["endpoints/web", "10.0.0.1:8080,10.0.0.2:8080,10.0.0.3:8080 + 2 more..."]])
        self.assertEqual([rows[2], rows[3][:4]], [
            ["NAME", "ADDRESSTYPE", "PORTS", "ENDPOINTS", "AGE"],
            ["endpointslice.discovery.k8s.io/web-1", "IPv4", "8080", "10.0.0.1"]])
        self.assertEqual(rows[4], ["NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP",
                                   "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION",
                                   "CONTAINER-RUNTIME"])
        del rows[5][3]
        self.assertEqual(rows[5], [f"node/{name}", "Ready", "<none>", "v1.36.0", "10.0.0.11",
                                   "<none>", "Debian 12", "6.1 (amd64)", "containerd://2"])

    def test_the_way_to_the_server(self):
        code, out, err = self.in_default("describe", "svc", "kubernetes")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, rf"TargetPort: +{self.server.port}/TCP\n"
                              rf"Endpoints: +{ADDRESS}:{self.server.port}\n")
        self.assertEqual(self.rows("get", "endpointslices")[1][:4],
                         ["kubernetes", "IPv4", str(self.server.port), ADDRESS])
        code, out, err = self.run_it("get", "endpoints", "kubernetes")
        self.assertIn(f"{ADDRESS}:{self.server.port}", out)
        self.assertIn("Warning: v1 Endpoints is deprecated in v1.33+", err)

    def test_describe_shows_what_was_made_for_a_service(self):
        self.make("web")  # Its port has no name.
        made = endpoints("web", "10.0.0.1")
        made["subsets"][0]["ports"][0].pop("name")
        self.send("POST", ENDPOINTS.format(self.namespace), made)
        made = endpoint_slice("web-1", "10.0.0.1")
        made["ports"][0].pop("name")
        self.send("POST", SLICES.format(self.namespace), made)
        self.assertRegex(self.good("describe", "svc", "web"), r"Endpoints: +10\.0\.0\.1")

    def test_cordon(self):
        name = f"{self.namespace}-1"
        path = self.make_node(name)
        of_name = ("get", "nodes", "-o", "name", "--field-selector")
        one = f"metadata.name={name},spec.unschedulable="
        self.assertEqual(self.good(*of_name, one + "false"), f"node/{name}\n")
        self.assertEqual(self.good("cordon", name), f"node/{name} cordoned\n")
        self.assertTrue(self.send("GET", path).json["spec"]["unschedulable"])
        self.assertEqual(self.rows("get", "node", name)[1][1], "Ready,SchedulingDisabled")
        self.assertEqual(self.good(*of_name, one + "true"), f"node/{name}\n")
        self.assertEqual(self.good(*of_name, one + "false"), "")
        self.assertEqual(self.good("uncordon", name), f"node/{name} uncordoned\n")
        self.good("taint", "node", name, "a=b:NoExecute")
        self.good("label", "node", name, "node-role.kubernetes.io/worker=")
        self.assertEqual(self.rows("get", "node", name)[1][1:3], ["Ready", "worker"])
        node = self.send("GET", path).json
        self.assertEqual(sorted(each["key"] for each in node["spec"]["taints"]),
                         ["a", "node.kubernetes.io/not-ready"])
        # To see what runs on it, kubectl asks for Pods.
        self.assertIn("could not find the requested resource", self.bad("drain", name))


globals().update(kubectls.cases(Kubectl, base=KindsCase))
del Kubectl


class RequestsTest(KindsCase):

    def test_every_request_for_endpoints_gets_the_warning(self):
        path = ENDPOINTS.format(self.namespace)
        one = f"{path}/web"
        table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        for method, where, body, code, headers in (
                ("GET", one, None, 404, {}),
                ("POST", path, endpoints("web", "10.0.0.1"), 201, {}),
                ("POST", path, endpoints("web", "10.0.0.1"), 409, {}),
                ("POST", path, endpoints("bad", "127.0.0.1"), 422, {}),
                ("GET", path, None, 200, table),
                ("GET", "/api/v1/endpoints", None, 200, {}),
                ("GET", f"{path}?watch=1&timeoutSeconds=1", None, 200, {}),
                ("PUT", one, endpoints("web", "10.0.0.2"), 200, {}),
                ("PUT", f"{path}/new", endpoints("new", "10.0.0.2"), 201, {}),
                ("PATCH", one, {"metadata": {"labels": {"a": "1"}}}, 200, MERGE),
                ("DELETE", one, None, 200, {}),
                ("DELETE", path, None, 200, {})):
            answer = self.send(method, where, body, code, headers=headers)
            self.assertEqual(answer.headers.get("warning"), DEPRECATED, (method, where))
        for path in (NODES, SLICES.format(self.namespace), "/api/v1/services"):
            self.assertNotIn("warning", self.send("GET", path).headers)

    def test_endpoints_go_with_their_service_and_are_not_copied(self):
        services = f"/api/v1/namespaces/{self.namespace}/services"
        path = ENDPOINTS.format(self.namespace)
        for name in ("web", "other"):
            self.send("POST", services, {"metadata": {"name": name},
                                         "spec": {"ports": [{"port": 80}]}})
            self.send("POST", path, endpoints(name, "10.0.0.1"))
        # When this one is back, the controllers have seen all that was written before.
        kept = SLICES.format("default") + "/kubernetes"
        self.send("DELETE", kept)
        wait_for(lambda: self.server.call("GET", kept).code == 200)
        self.assertEqual(self.send("GET", SLICES.format(self.namespace)).json["items"], [])

        self.send("POST", SLICES.format(self.namespace), endpoint_slice("web", "10.0.0.1"))
        self.send("DELETE", f"{services}/web?dryRun=All")
        self.send("GET", f"{path}/web")
        self.send("DELETE", f"{services}/web")
        self.send("GET", f"{path}/web", code=404)
        self.send("GET", f"{path}/other")
        self.send("GET", SLICES.format(self.namespace) + "/web")

    def test_limits_of_a_slice(self):
        path = SLICES.format(self.namespace)
        ips = [f"10.1.{i // 250}.{i % 250 + 1}" for i in range(1001)]
        self.send("POST", path, endpoint_slice("full", *ips[:1000]))
        refused = self.send("POST", path, endpoint_slice("more", *ips), 422).json
        self.assertEqual(refused["details"]["causes"], [{
            "reason": "FieldValueTooMany", "field": "endpoints",
            "message": "Too many: 1001: must have at most 1000 items"}])
        refused = self.send("PATCH", f"{path}/full", {"addressType": "FQDN", "endpoints": None},
                            422, headers=MERGE).json
        self.assertEqual([cause["field"] for cause in refused["details"]["causes"]],
                         ["addressType"])
        self.assertIn("field is immutable", refused["message"])

    def test_the_status_of_a_node_has_its_own_door(self):
        path = self.make_node(f"{self.namespace}-1")
        node = self.send("GET", path).json
        node["spec"]["unschedulable"] = True
        node["status"]["addresses"][0]["address"] = "10.0.0.12"
        changed = self.send("PUT", path, node).json
        self.assertTrue(changed["spec"]["unschedulable"])
        self.assertEqual(changed["status"]["addresses"][0]["address"], "10.0.0.11")
        node = {**changed, "spec": {}}
        node["status"]["addresses"][0]["address"] = "10.0.0.12"
        changed = self.send("PUT", f"{path}/status", node).json
        self.assertTrue(changed["spec"]["unschedulable"])
        self.assertEqual(changed["status"]["addresses"][0]["address"], "10.0.0.12")

    def test_the_lease_of_a_node_goes_with_it(self):
        name = f"{self.namespace}-1"
        path = self.make_node(name)
        leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
        uid = self.send("GET", path).json["metadata"]["uid"]
        self.send("POST", leases, {"metadata": {"name": name, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}]}})
        self.send("POST", leases, {"metadata": {"name": f"{name}-alone"}})
        self.send("DELETE", path)
        wait_for(lambda: self.server.call("GET", f"{leases}/{name}").code == 404)
        self.send("GET", f"{leases}/{name}-alone")

    def test_protobuf_lists_and_watches(self):
        for path, made in ((ENDPOINTS.format(self.namespace), endpoints("web", "10.0.0.1")),
                           (SLICES.format(self.namespace), endpoint_slice("web", "10.0.0.1")),
                           (NODES, {"metadata": {"name": f"{self.namespace}-1"}})):
            connection = self.server.connection()
            self.addCleanup(connection.close)
            since = self.send("GET", path).json["metadata"]["resourceVersion"]
            connection.request("GET", f"{path}?watch=1&resourceVersion={since}", headers={
                "Authorization": f"Bearer {self.server.TOKEN}", "Accept": protobuf.WATCH})
            stream = connection.getresponse()
            created = pruned(self.send("POST", path, made).json)
            one = f"{path}/{made['metadata']['name']}"
            listed = protobuf.document(
                self.send("GET", path, headers={"Accept": protobuf.MEDIA}).body)
            self.assertIn({key: value for key, value in created.items()
                           if key not in ("kind", "apiVersion")}, listed["items"])
            self.assertEqual(protobuf.frame(stream), ("ADDED", created))
            changed = pruned(self.send("PATCH", one, {"metadata": {"labels": {"a": "1"}}},
                                       headers=MERGE).json)
            self.assertEqual(protobuf.frame(stream), ("MODIFIED", changed))
            self.send("DELETE", one)
            kind, gone = protobuf.frame(stream)
            self.assertEqual((kind, gone["metadata"]["uid"]),
                             ("DELETED", created["metadata"]["uid"]))


class Informer:
    """A copy of all objects of a kind, as the libraries of controllers keep it: one list, then a
    watch from there. Calls `on_change` after each change."""

    def __init__(self, lister, on_change=lambda: None):
        self.objects = {}
        self.lister = lister
        self.on_change = on_change
        self.watch = watch.Watch()
        self.synced = threading.Event()
        self.ended = False
        self.fault = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            listed = self.lister()
            for each in listed.items:
                self.objects[each.metadata.uid] = each
            self.synced.set()
            self.on_change()
            since = listed.metadata.resource_version
            for event in self.watch.stream(self.lister, resource_version=since,
                                           timeout_seconds=60):
                self.take(event["type"], event["object"])
        except Exception as error:  # pylint: disable=broad-except
            if not self.ended:
                self.fault = error

    def take(self, kind, each):
        if kind == "DELETED":
            self.objects.pop(each.metadata.uid)
        else:
            self.objects[each.metadata.uid] = each
        self.on_change()

    def stop(self):
        """Returns what went wrong. The thread ends with the process."""
        self.ended = True
        self.watch.stop()
        return self.fault


class LoadBalancers:
    """Does what a cloud provider's controller does: it keeps a finalizer on each Service of type
    LoadBalancer, reports an address in its status, and sends to all Nodes that are open for it."""

    FINALIZER = "service.kubernetes.io/load-balancer-cleanup"

    def __init__(self, core, namespace):
        self.core = core
        self.namespace = namespace
        self.backends = {}  # What it told the cloud, by the uid of the Service.
        self.lock = threading.Lock()
        with self.lock:  # The first informer calls before there is a second one.
            self.nodes = Informer(core.list_node, self.sync)
            self.services = Informer(core.list_service_for_all_namespaces, self.sync)

    def sync(self):
        with self.lock:
            if not (self.nodes.synced.is_set() and self.services.synced.is_set()):
                return
            hosts = sorted(node.metadata.name for node in list(self.nodes.objects.values())
                           if not node.spec.unschedulable)
            for each in list(self.services.objects.values()):
                if each.metadata.namespace == self.namespace and each.spec.type == "LoadBalancer":
                    self.sync_one(each, hosts)

    def sync_one(self, each, hosts):
        finalizers = each.metadata.finalizers or []
        name = each.metadata.name
        if each.metadata.deletion_timestamp:
            if self.FINALIZER in finalizers and self.backends.pop(each.metadata.uid, None):
                self.core.patch_namespaced_service(name, self.namespace, {
                    "metadata": {"$deleteFromPrimitiveList/finalizers": [self.FINALIZER]}})
        elif self.FINALIZER not in finalizers:
            self.core.patch_namespaced_service(name, self.namespace, {
                "metadata": {"finalizers": [self.FINALIZER]}})
        elif self.backends.get(each.metadata.uid) != hosts:
            self.backends[each.metadata.uid] = hosts
            self.core.patch_namespaced_service_status(name, self.namespace, {
                "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}})

    def stop(self):
        return [fault for fault in (self.nodes.stop(), self.services.stop()) if fault]


class ControllersTest(KindsCase):

    def setUp(self):
        super().setUp()
        # A client of its own: a watch keeps the connection of its thread.
        self.api = kubernetes.config.new_client_from_config(self.server.kubeconfig)
        self.core = client.CoreV1Api(self.api)

    def follow(self, lister):
        informer = Informer(lister)
        self.addCleanup(lambda: self.assertIsNone(informer.stop()))
        self.assertTrue(informer.synced.wait(60))
        return informer

    def test_informers_sync_and_follow(self):
        discovery = client.DiscoveryV1Api(self.api)
        name = f"{self.namespace}-1"
        for lister, create, patch, remove, made in (
                (self.core.list_node, self.core.create_node, self.core.patch_node,
                 self.core.delete_node, client.V1Node(metadata=V1ObjectMeta(name=name))),
                (self.core.list_endpoints_for_all_namespaces,
                 lambda body: self.core.create_namespaced_endpoints(self.namespace, body),
                 lambda one, body: self.core.patch_namespaced_endpoints(one, self.namespace, body),
                 lambda one: self.core.delete_namespaced_endpoints(one, self.namespace),
                 client.V1Endpoints(metadata=V1ObjectMeta(name=name))),
                (discovery.list_endpoint_slice_for_all_namespaces,
                 lambda body: discovery.create_namespaced_endpoint_slice(self.namespace, body),
                 lambda one, body: discovery.patch_namespaced_endpoint_slice(
                     one, self.namespace, body),
                 lambda one: discovery.delete_namespaced_endpoint_slice(one, self.namespace),
                 client.V1EndpointSlice(metadata=V1ObjectMeta(name=name), address_type="IPv4",
                                        endpoints=[client.V1Endpoint(addresses=["10.0.0.1"])]))):
            informer = self.follow(lister)
            created = create(made)
            uid = created.metadata.uid
            wait_for(lambda: informer.objects.get(uid) == created)
            changed = patch(name, {"metadata": {"labels": {"a": "1"}}})
            wait_for(lambda: informer.objects.get(uid) == changed)
            remove(name)
            wait_for(lambda: uid not in informer.objects)
            self.assertEqual(sorted(informer.objects),
                             sorted(item.metadata.uid for item in lister().items))

    def test_a_load_balancer_controller_works(self):
        first, second = f"{self.namespace}-1", f"{self.namespace}-2"
        self.make_node(first)
        controller = LoadBalancers(self.core, self.namespace)
        self.addCleanup(lambda: self.assertEqual(controller.stop(), []))
        made = service("edge")
        made["spec"]["type"] = "LoadBalancer"
        uid = self.core.create_namespaced_service(self.namespace, made).metadata.uid

        def ingress():
            found = self.core.read_namespaced_service("edge", self.namespace)
            return [each.ip for each in found.status.load_balancer.ingress or []]
        wait_for(lambda: ingress() == ["203.0.113.7"])
        self.assertEqual(controller.backends[uid], [first])
        self.make_node(second)
        wait_for(lambda: controller.backends[uid] == [first, second])
        self.core.patch_node(first, {"spec": {"unschedulable": True}})
        wait_for(lambda: controller.backends[uid] == [second])
        self.core.delete_namespaced_service("edge", self.namespace)
        wait_for(lambda: not self.core.list_namespaced_service(self.namespace).items)
        self.assertEqual(controller.backends, {})


class KeptTest(Case):

    def addresses(self, server):
        """Returns the servers that the Endpoints and the slice of default/kubernetes name."""
        found = [server.call("GET", f"{path.format('default')}/kubernetes")
                 for path in (ENDPOINTS, SLICES)]
        if any(answer.code != 200 for answer in found):
            return None
        of_slice = found[1].json
        return (sorted(f"{address['ip']}:{subset['ports'][0]['port']}"
                       for subset in found[0].json.get("subsets", ())
                       for address in subset["addresses"]),
                sorted(f"{address}:{of_slice['ports'][0]['port']}"
                       for each in of_slice.get("endpoints") or () for address in each["addresses"]))

    def test_what_a_client_spoils_is_put_right(self):
        server = self.server("--advertise-address", ADDRESS)
        right = ([f"{ADDRESS}:{server.port}"],) * 2
        self.assertEqual(self.addresses(server), right)
        for path in (ENDPOINTS, SLICES):
            one = f"{path.format('default')}/kubernetes"
            self.assertEqual(server.call("DELETE", one).code, 200)
        wait_for(lambda: self.addresses(server) == right)
        for path, spoilt in ((ENDPOINTS, {"subsets": None}),
                             (SLICES, {"endpoints": [{"addresses": ["10.9.9.9"]}]})):
            one = f"{path.format('default')}/kubernetes"
            spoilt["metadata"] = {"labels": {"mine": "yes"}}
            self.assertEqual(server.call("PATCH", one, spoilt, MERGE).code, 200)
        wait_for(lambda: self.addresses(server) == right)
        for path in (ENDPOINTS, SLICES):
            labels = server.call("GET", f"{path.format('default')}/kubernetes"
                                 ).json["metadata"]["labels"]
            self.assertEqual((labels["mine"], len(labels)), ("yes", 2))

        node_leases = "/api/v1/namespaces/kube-node-lease"
        before = server.call("GET", node_leases).json["metadata"]["uid"]
        self.assertEqual(server.call("DELETE", node_leases).code, 200)

        def came_back():
            answer = server.call("GET", node_leases)
            return answer.code == 200 and answer.json["metadata"]["uid"] != before
        wait_for(came_back)

    def test_another_address_after_a_restart(self):
        server = self.server("--advertise-address", ADDRESS)
        self.assertEqual(server.terminate(), 0)
        server = self.server("--advertise-address", "2001:db8::10")
        wait_for(lambda: self.addresses(server) == ([f"2001:db8::10:{server.port}"],) * 2)
        found = server.call("GET", f"{SLICES.format('default')}/kubernetes").json
        self.assertEqual(found["addressType"], "IPv6")

    def test_replicas_that_join_and_leave(self):
        etcd = self.etcd()
        one = self.server("--etcd-servers", etcd.url, "--advertise-address", "192.0.2.1",
                          data="one")
        two = self.server("--etcd-servers", etcd.url, "--advertise-address", "192.0.2.2",
                          data="two")
        # Each of them listens on a port of its own here. A slice has one port.
        both = sorted((f"192.0.2.1:{one.port}", f"192.0.2.2:{two.port}"))
        wait_for(lambda: (self.addresses(one) or [None])[0] == both)
        self.assertEqual(self.addresses(two), self.addresses(one))
        self.assertEqual(two.terminate(), 0)
        wait_for(lambda: self.addresses(one) == ([f"192.0.2.1:{one.port}"],) * 2)


if __name__ == "__main__":
    main(warnings="ignore")  # The client leaves its sockets to the garbage collector.
