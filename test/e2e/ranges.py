"""Helpers for tests of ranges: the kinds of allocation.berth.io, short forms of kubectl commands,
and waiting for a status, which is written once a second."""

import ipaddress
import json
import subprocess

import kubectls
from addresses import MERGE, Audits, held
from harness import PATIENCE, environment, wait_for

GROUP = "/apis/allocation.berth.io/v1alpha1"
IP_RANGES = f"{GROUP}/ipranges"
PORT_RANGES = f"{GROUP}/nodeportranges"
RESERVATIONS = f"{GROUP}/ipaddresses"
NODE_PORTS = f"{GROUP}/nodeports"
REPLICAS = f"{GROUP}/replicas"
CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"

# The ranges that always exist.
V4 = "allocator.ipv4.k8s.io"
V6 = "allocator.ipv6.k8s.io"
PORTS = "allocator.nodeport.k8s.io"

IP_RANGE_ANNOTATION = "allocation.berth.io/ip-range"
PORT_RANGE_ANNOTATION = "allocation.berth.io/node-port-range"

MOST = 2**63 - 1
FINALIZER = "networking.k8s.io/service-cidr-finalizer"


def decimal(ip):
    """Returns the name of an address."""
    return str(int(ipaddress.ip_address(ip)))


def inside(ip, cidr):
    return ipaddress.ip_address(ip) in ipaddress.ip_network(cidr)


def ip_range(name, text, **spec):
    return {"apiVersion": "allocation.berth.io/v1alpha1", "kind": "IPRange",
            "metadata": {"name": name}, "spec": {"range": text, **spec}}


def port_range(name, text, **spec):
    return {**ip_range(name, text, **spec), "kind": "NodePortRange"}


def cidr(name, *cidrs):
    return {"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
            "metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}}


def reservation(ip, owner=None, **spec):
    """Returns a reservation of an address. `owner` is namespace/name of the Service that it is kept
    for."""
    return reserved("IPAddress", decimal(ip), owner, **spec)


def port_reservation(port, owner=None, **spec):
    return reserved("NodePort", str(port), owner, **spec)


def reserved(kind, name, owner, **spec):
    if owner:
        namespace, service = owner.split("/")
        spec["reservedFor"] = {"namespace": namespace, "name": service}
    return {"apiVersion": "allocation.berth.io/v1alpha1", "kind": kind, "metadata": {"name": name},
            "spec": spec}


def annotated(body, **annotations):
    """Returns a Service that names its ranges: ip_range, port_range."""
    names = {"ip_range": IP_RANGE_ANNOTATION, "port_range": PORT_RANGE_ANNOTATION}
    body["metadata"]["annotations"] = {names[key]: value for key, value in annotations.items()}
    return body


def address(obj):
    return obj["spec"]["clusterIP"]


def condition(obj, kind):
    """Returns (status, reason) of a condition of a range or ServiceCIDR, or None if it does not
    have it."""
    for each in obj.get("status", {}).get("conditions", []):
        if each["type"] == kind:
            return each["status"], each["reason"]
    return None


class Ranges(Audits):
    """For a test of one server, which is `self.server` unless another is named."""

    KUBECTL = kubectls.CURRENT

    # --- kubectl ---------------------------------------------------------------------------------

    def start(self, *args, server=None, **more):
        server = server or self.server
        env = environment(HOME=self.folder, KUBECONFIG=server.kubeconfig, TERM="dumb")
        return subprocess.Popen([self.KUBECTL.path, *args], env=env, encoding="utf-8",
                                stdin=subprocess.PIPE, stdout=more.get("stdout", subprocess.PIPE),
                                stderr=subprocess.PIPE)

    def run_kubectl(self, args, body, server):
        process = self.start(*args, server=server)
        self.addCleanup(process.kill)
        out, err = process.communicate(body and json.dumps(body), PATIENCE)
        return process.returncode, out, err

    def kubectl(self, *args, body=None, server=None):
        """Returns the output of a kubectl that must succeed."""
        code, out, err = self.run_kubectl(args, body, server)
        self.assertEqual(code, 0, err)
        return out

    def kubectl_fails(self, *args, body=None, server=None):
        """Returns the error output of a kubectl that must fail."""
        code, out, err = self.run_kubectl(args, body, server)
        self.assertNotEqual(code, 0, out)
        return err.strip()

    def kubectl_create(self, body, server=None):
        return self.kubectl("create", "-f", "-", body=body, server=server)

    def kubectl_patch(self, *resource, spec, fails=False, server=None):
        run = self.kubectl_fails if fails else self.kubectl
        return run("patch", *resource, "--type=merge", "-p", json.dumps({"spec": spec}),
                   server=server)

    def kubectl_json(self, *args, server=None):
        return json.loads(self.kubectl("get", *args, "-o", "json", server=server))

    # --- Ranges ----------------------------------------------------------------------------------

    def change(self, path, name, server=None, **spec):
        """Returns the answer to a change of the spec of an object."""
        return (server or self.server).call("PATCH", f"{path}/{name}", {"spec": spec}, MERGE)

    def changed(self, path, name, server=None, **spec):
        answer = self.change(path, name, server, **spec)
        self.assertEqual(answer.code, 200, answer)
        return answer.json

    def resized(self, name, text, server=None):
        path = PORT_RANGES if "." not in text and ":" not in text else IP_RANGES
        return self.changed(path, name, server, range=text)

    def get(self, path, name, server=None):
        answer = (server or self.server).call("GET", f"{path}/{name}")
        self.assertEqual(answer.code, 200, answer)
        return answer.json

    def status(self, path, name, server=None, **wanted):
        """Waits until the status is that of the current spec and has these counts. Returns it."""
        last = {}

        def fits():
            obj = self.get(path, name, server)
            last.update(obj)
            status = obj["status"]
            return status if status.get("observedGeneration") == obj["metadata"]["generation"] \
                and all(status.get(key) == value for key, value in wanted.items()) else None
        try:
            return wait_for(fits, 10)
        except AssertionError:
            self.fail(f"{wanted} is not what {last} says")

    def condition_is(self, path, name, kind, *wanted, server=None):
        """Waits for status and reason of a condition."""
        wait_for(lambda: condition(self.get(path, name, server), kind) == wanted, 10)

    def counts_are_right(self, path, name, server=None):
        """Checks that the status of the range counts what Services have of it."""
        obj = self.get(path, name, server)
        mine = 0
        for each in self.services(server).values():
            ips, ports = held(each)
            if path == IP_RANGES:
                mine += sum(inside(ip, obj["spec"]["range"]) for ip in ips)
            else:
                first, _, last = obj["spec"]["range"].partition("-")
                mine += sum(int(first) <= port <= int(last or first) for port in ports)
        return self.status(path, name, server, used=mine)
