"""What tests of addresses and ports share: Services of every type, a client that keeps its
connection, and an audit of who has which value."""

import http.client
import json
import threading

from harness import Answer

SERVICES = "/api/v1/namespaces/default/services"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
MERGE = {"Content-Type": "application/merge-patch+json"}
PORTS = "/apis/allocation.berth.io/v1alpha1/nodeports"


def service(name, kind=None, ports=1, **spec):
    """One of a type, or of the default one. `ports` are their number, or the ports themselves; a
    field that is None is left out."""
    if isinstance(ports, int):
        ports = [{"name": f"p{i}", "port": 80 + i} for i in range(ports)]
    spec = {"type": kind, "ports": ports, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {field: value for field, value in spec.items() if value is not None}}


def balancer(name, allocate=None, ports=1, **spec):
    return service(name, "LoadBalancer", ports, allocateLoadBalancerNodePorts=allocate, **spec)


def external(name, **spec):
    return service(name, "ExternalName", None, externalName="example.com", **spec)


def node_ports(obj):
    """Its node ports as they are written, 0 where there is none."""
    return [port.get("nodePort", 0) for port in obj["spec"].get("ports", [])]


def version(obj):
    return int(obj["metadata"]["resourceVersion"])


def held(obj):
    """The addresses and the ports that a Service has."""
    spec = obj["spec"]
    addresses = [] if spec["type"] == "ExternalName" else spec.get("clusterIPs", [])
    ports = set()
    if spec["type"] in ("NodePort", "LoadBalancer"):
        ports = {port for port in [*node_ports(obj), spec.get("healthCheckNodePort", 0)] if port}
    return {ip for ip in addresses if ip != "None"}, ports


def purposes(obj):
    """Of each of its node ports what it is for: the ports of the Service that have it; of the health
    check's none."""
    spec = obj["spec"]
    if spec["type"] not in ("NodePort", "LoadBalancer"):
        return {}
    uses = {}
    for port in spec.get("ports", []):
        if port.get("nodePort", 0):
            uses.setdefault(port["nodePort"], []).append(
                {field: port[field] for field in ("name", "port", "protocol") if field in port})
    if spec.get("healthCheckNodePort", 0):
        uses.setdefault(spec["healthCheckNodePort"], [])
    return uses


def by_port(uses):
    return sorted(uses, key=lambda use: json.dumps(use, sort_keys=True))


class Client:
    """Requests on one connection, which is made again when the server has ended it."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connection()

    def call(self, method, path, body=None, headers=None):
        headers = {"Authorization": f"Bearer {self.server.TOKEN}",
                   "Content-Type": "application/json", **(headers or {})}
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        try:
            self.connection.request(method, path, body=body, headers=headers)
            return Answer(self.connection.getresponse())
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise

    def close(self):
        self.connection.close()


def in_threads(count, work):
    """Runs work(number) in that many threads; the first failure of one is raised."""
    failures = []

    def run(number):
        try:
            work(number)
        except BaseException as error:  # pylint: disable=broad-except
            failures.append(error)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def history(server, path, start, last):
    """The events of a watch from after the revision `start` to that of the object named `last`."""
    connection = server.connection()
    connection.request("GET", f"{path}?watch=1&resourceVersion={start}",
                       headers={"Authorization": f"Bearer {server.TOKEN}"})
    response = connection.getresponse()
    events = []
    while True:
        event = json.loads(response.readline())
        if event["type"] == "ERROR":
            raise AssertionError(f"the watch of {path} ended: {event}")
        events.append(event)
        if event["object"]["metadata"]["name"] == last:
            connection.close()
            return events


class Audits:
    """For a test of one server, which `self.server` is unless another is named."""

    def services(self, server=None):
        """All there are, by namespace and name."""
        listed = (server or self.server).call("GET", "/api/v1/services")
        self.assertEqual(listed.code, 200, listed)
        return {(each["metadata"]["namespace"], each["metadata"]["name"]): each
                for each in listed.json["items"]}

    def address_records(self, server=None):
        """Address: the Service that has it, or None if it is kept for something else."""
        listed = (server or self.server).call("GET", ADDRESSES)
        self.assertEqual(listed.code, 200, listed)
        records = {}
        for each in listed.json["items"]:
            parent = each["spec"]["parentRef"]
            mine = parent["resource"] == "services" and not parent.get("group")
            records[each["metadata"]["name"]] = \
                (parent["namespace"], parent["name"]) if mine else None
        return records

    def port_records(self, server=None):
        """Port: (the Service that has it, its uid, which of its ports it is for)."""
        listed = (server or self.server).call("GET", PORTS)
        self.assertEqual(listed.code, 200, listed)
        records = {}
        for record in listed.json["items"]:
            status = record["status"]
            if status["state"] != "Allocated":
                continue
            owner, uses = status["service"], status.get("ports", [])
            self.assertEqual(status["purpose"], "NodePort" if uses else "HealthCheck", record)
            records[int(record["metadata"]["name"])] = \
                ((owner["namespace"], owner["name"]), owner["uid"], by_port(uses))
        return records

    def audit(self, server=None):
        """Every value that a Service has is recorded for it, no two have one, and nothing else is
        recorded for Services. Nobody may write meanwhile. Returns the Services."""
        services = self.services(server)
        addresses, ports = {}, {}
        for owner, each in services.items():
            its_addresses, its_ports = held(each)
            for ip in its_addresses:
                self.assertNotIn(ip, addresses, f"{owner} and {addresses.get(ip)}")
                addresses[ip] = owner
            for port in its_ports:
                self.assertNotIn(port, ports, f"{owner} and {ports.get(port)}")
                ports[port] = (owner, each["metadata"]["uid"], by_port(purposes(each)[port]))
        records = self.address_records(server)
        self.assertEqual({ip: owner for ip, owner in records.items() if owner}, addresses)
        self.assertEqual(self.port_records(server), ports)
        return services

    def holder(self, ip, server=None):
        """The name of the Service in the test's namespace that the address is recorded for."""
        return (self.address_records(server).get(ip) or (None, None))[1]

    # --- Requests whose outcome is as it should be -----------------------------------------------

    def made(self, body, path=SERVICES, server=None):
        answer = (server or self.server).call("POST", path, body)
        self.assertEqual(answer.code, 201, answer)
        return answer.json

    def refused(self, code, message, method, path, body=None, headers=None, server=None):
        """`message` is a part of it, or all of the pattern of one."""
        answer = (server or self.server).call(method, path, body, headers)
        self.assertEqual(answer.code, code, answer)
        self.assertIn(message, answer.json["message"])
        return answer

    def done(self, method, path, body=None, headers=None, server=None):
        answer = (server or self.server).call(method, path, body, headers)
        self.assertEqual(answer.code, 200, answer)
        return answer.json

    def patched(self, name, change, query="", path=SERVICES):
        return self.done("PATCH", f"{path}/{name}{query}", change, MERGE)
