"""Helpers for tests of addresses and ports: Services of every type, a client that keeps its
connection, and an audit of the owner of every value."""

import http.client
import ipaddress
import json
import threading

from harness import Answer

SERVICES = "/api/v1/namespaces/default/services"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"
MERGE = {"Content-Type": "application/merge-patch+json"}
CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
BERTH = "/apis/allocation.berth.io/v1alpha1"
BERTH_ADDRESSES = f"{BERTH}/ipaddresses"
PORTS = f"{BERTH}/nodeports"


def service(name, kind=None, ports=1, **spec):
    """Returns a Service of a type, or of the default type. `ports` is their number, or the ports
    themselves. A field with the value None is left out."""
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
    """Returns the node ports in order, with 0 where a port has none."""
    return [port.get("nodePort", 0) for port in obj["spec"].get("ports", [])]


def version(obj):
    return int(obj["metadata"]["resourceVersion"])


def held(obj):
    """Returns the addresses and the ports that a Service has."""
    spec = obj["spec"]
    addresses = [] if spec["type"] == "ExternalName" else spec.get("clusterIPs", [])
    ports = set()
    if spec["type"] in ("NodePort", "LoadBalancer"):
        ports = {port for port in [*node_ports(obj), spec.get("healthCheckNodePort", 0)] if port}
    return {ip for ip in addresses if ip != "None"}, ports


def purposes(obj):
    """Returns the purpose of each node port: the ports of the Service that use it, or no ports for
    the health check."""
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
    """Sends requests on one connection, which is opened again if the server has closed it."""

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
    """Runs work(number) in that many threads, and raises the first failure."""
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
    """Returns the events of a watch after the revision `start`, up to the object named `last`."""
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


def has_address(cidr):
    """Returns a function that tells whether a CIDR has an address that can be given out."""
    network = ipaddress.ip_network(cidr)

    def has(value):
        if value.isdigit():  # A port.
            return False
        ip = ipaddress.ip_address(value)
        return ip in network and ip != network.network_address and \
            (network.version == 6 or ip != network.broadcast_address)
    return has


def has_port(text):
    first, _, last = text.partition("-")
    return lambda value: value.isdigit() and int(first) <= int(value) <= int(last or first)


def range_facts(server):
    """Returns {(kind, name): a function that tells whether the range contains a value}."""
    facts = {}
    for path, kind, test in ((f"{BERTH}/ipranges", "IPRange", has_address),
                             (f"{BERTH}/nodeportranges", "NodePortRange", has_port)):
        for each in server.call("GET", path).json["items"]:
            facts[kind, each["metadata"]["name"]] = test(each["spec"]["range"])
    for each in server.call("GET", CIDRS).json["items"]:
        tests = [has_address(cidr) for cidr in each["spec"]["cidrs"]]
        facts["ServiceCIDR", each["metadata"]["name"]] = \
            lambda value, tests=tests: any(has(value) for has in tests)
    return facts


class Audits:
    """For a test of one server, which is `self.server` unless another is named."""

    def services(self, server=None):
        """Returns all Services, by namespace and name."""
        listed = (server or self.server).call("GET", "/api/v1/services")
        self.assertEqual(listed.code, 200, listed)
        return {(each["metadata"]["namespace"], each["metadata"]["name"]): each
                for each in listed.json["items"]}

    def address_records(self, server=None):
        """Returns {address: its Service, or None if it is kept for something else}."""
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
        """Returns {port: (its Service, the uid of that, the ports of the Service that use it)}."""
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

    def check_references(self, services, server=None):
        """Checks that each record names a range that exists and contains its value, and the uid of
        the Service that has it."""
        ranges = range_facts(server or self.server)
        for path, field in ((BERTH_ADDRESSES, "ipRangeRef"), (PORTS, "nodePortRangeRef")):
            listed = (server or self.server).call("GET", path)
            self.assertEqual(listed.code, 200, listed)
            for record in listed.json["items"]:
                value = record["spec"].get("address") or record["metadata"]["name"]
                within = [key for key, has in ranges.items() if has(value)]
                named = record["spec"].get(field)
                self.assertEqual(bool(named), bool(within), record)
                if named:
                    self.assertIn((named["kind"], named["name"]), within, record)
                owner = record["status"].get("service")
                if owner and (owner["namespace"], owner["name"]) in services:
                    self.assertEqual(
                        owner["uid"],
                        services[owner["namespace"], owner["name"]]["metadata"]["uid"], record)

    def audit(self, server=None):
        """Checks that every value of a Service is recorded for it, that no two Services have the
        same value, and that nothing else is recorded for Services. There must be no other writes
        meanwhile. Returns the Services."""
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
        self.check_references(services, server)
        records = self.address_records(server)
        self.assertEqual({ip: owner for ip, owner in records.items() if owner}, addresses)
        self.assertEqual(self.port_records(server), ports)
        return services

    def holder(self, ip, server=None):
        """Returns the name of the Service in the test's namespace that the address is recorded for.
        """
        return (self.address_records(server).get(ip) or (None, None))[1]

    # --- Requests with the expected outcome ------------------------------------------------------

    def made(self, body, path=SERVICES, server=None):
        answer = (server or self.server).call("POST", path, body)
        self.assertEqual(answer.code, 201, answer)
        return answer.json

    def refused(self, code, message, method, path, body=None, headers=None, server=None):
        """Checks that a request is refused. `message` is a part of the message, or a pattern for
        it."""
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


BITMAPS_GATE = "ClusterIPAllocatorAPI=false"
BITMAPS_FLAG = f"--feature-gates={BITMAPS_GATE}"


class BitmapAudits(Audits):
    """The same for a store that keeps allocations in bitmaps, which clients cannot read. What is
    allocated shows in the Services, and in how many values the metrics count."""

    def address_records(self, server=None):
        return {ip: owner for owner, each in self.services(server).items() for ip in held(each)[0]}

    def port_records(self, server=None):
        return {port: (owner, each["metadata"]["uid"], by_port(purposes(each)[port]))
                for owner, each in self.services(server).items() for port in held(each)[1]}

    def audit(self, server=None):
        """Checks that no two Services have the same value, that as many values are allocated as
        Services have, and that there are no records."""
        server = server or self.server
        services = self.services(server)
        addresses, ports = [], []
        for each in services.values():
            its_addresses, its_ports = held(each)
            addresses += its_addresses
            ports += its_ports
        self.assertEqual((len(set(addresses)), len(set(ports))), (len(addresses), len(ports)))
        self.assertEqual(self.allocated(server), (len(addresses), len(ports)))
        for path in (ADDRESSES, PORTS):
            self.assertEqual(self.done("GET", path, server=server)["items"], [])
        return services

    @staticmethod
    def allocated(server):
        """Returns how many addresses and ports the metrics count as allocated."""
        text = server.call("GET", "/metrics").body.decode()
        return tuple(sum(int(float(line.split()[-1])) for line in text.splitlines()
                         if line.startswith(f"kube_apiserver_{name}"))
                     for name in ("clusterip_allocator_allocated_ips",
                                  "nodeport_allocator_allocated_ports"))
