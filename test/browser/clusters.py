"""Servers with Services in them, as the tests of the page need them."""

import ipaddress
import json
import os
import subprocess

from harness import Answer, environment

FILL_STORE = os.path.abspath(os.environ.get("FILL_STORE", "build/release/test/fill_store"))
RANGES = "/apis/allocation.berth.io/v1alpha1"


def service(name, address=None, node_port=None, **more):
    """Returns a Service. `more` may have labels, annotations and a type."""
    port = {"name": "http", "port": 80, "protocol": "TCP"}
    if node_port:
        port["nodePort"] = node_port
    spec = {"selector": {"app": name}, "ports": [port],
            "type": more.get("type", "NodePort" if node_port else "ClusterIP")}
    if address:
        spec["clusterIP"] = address
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "labels": more.get("labels", {"app": name}),
                         "annotations": more.get("annotations", {})}, "spec": spec}


def send(server, requests):
    """Sends (method, path, body) over one connection. Returns the answers as JSON."""
    answers = []
    connection = server.connection()
    for method, path, body in requests:
        connection.request(method, path, json.dumps(body) if body is not None else None,
                           {"Authorization": f"Bearer {server.TOKEN}",
                            "Content-Type": "application/json", "User-Agent": "kubectl/v1.32.3"})
        answer = Answer(connection.getresponse())
        assert answer.code in (200, 201), (method, path, answer)
        answers.append(answer.json)
    connection.close()
    return answers


def namespace(name):
    return "POST", "/api/v1/namespaces", {"metadata": {"name": name}}


def create(space, *args, **more):
    return "POST", f"/api/v1/namespaces/{space}/services", service(*args, **more)


def ip_range(name, text, **spec):
    return "POST", f"{RANGES}/ipranges", {
        "apiVersion": "allocation.berth.io/v1alpha1", "kind": "IPRange", "metadata": {"name": name},
        "spec": {"range": text, **spec}}


def reservation(address, space, name, **spec):
    """Keeps an address for a Service that comes later."""
    return "POST", f"{RANGES}/ipaddresses", {
        "apiVersion": "allocation.berth.io/v1alpha1", "kind": "IPAddress",
        "metadata": {"name": str(int(ipaddress.ip_address(address)))},
        "spec": {"reservedFor": {"namespace": space, "name": name}, **spec}}


def filled(server):
    """Puts into a server of 10.96.0.0/12 what most tests look at:

    10.96.0.10    shop/web, named, in the static band, with labels
    10.101.7.7    shop/pinned, named, in the dynamic band
    10.96.0.77    reserved for shop/later
    30009, 31234  node ports of pay/till and shop/edge
    10.61.0.0/24  a second range, blue, with pay/painted
    and forty drawn Services in team-0 to team-3.
    """
    requests = [namespace(name) for name in ("shop", "pay", *(f"team-{i}" for i in range(4)))]
    requests += [
        create("shop", "web", "10.96.0.10", labels={"app": "web", "tier": "front"}),
        create("shop", "pinned", "10.101.7.7"),
        create("shop", "api"),
        create("pay", "till", node_port=30009),
        create("shop", "edge", node_port=31234, type="LoadBalancer"),
        ip_range("blue", "10.61.0.0/24", excluded=["10.61.0.64/26"]),
        create("pay", "painted", annotations={"allocation.berth.io/ip-range": "blue"}),
        reservation("10.96.0.77", "shop", "later"),
    ]
    requests += [create(f"team-{i % 4}", f"app-{i}") for i in range(40)]
    send(server, requests)
    return server


def address_of(server, path):
    """Returns the address of a Service, "shop/web"."""
    space, name = path.split("/")
    return send(server, [("GET", f"/api/v1/namespaces/{space}/services/{name}", None)])[0][
        "spec"]["clusterIP"]


def fill_directory(folder, count):
    """Writes a data directory with so many Services from 10.96.0.0 on."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run([FILL_STORE, os.path.join(folder, "store"), str(count)], check=True, timeout=300,
                   env=environment())
