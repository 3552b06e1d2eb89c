"""/metrics as Prometheus sees it: promtool accepts the text, a real Prometheus scrapes it, and the
table in docs/metrics.md names the metrics that exist."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import urllib.parse
import urllib.request

import harness
import tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRAPER = "scrape-token"
NAMESPACES = "/api/v1/namespaces"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
SERVICES = "/api/v1/namespaces/default/services"


class Scrape:
    """The samples of one scrape, by name and labels, and types and label names by metric."""

    def __init__(self, text):
        self.types = {}
        self.labels = {}
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split()
                self.types[name] = kind
            elif not line.startswith("#"):
                self.add(line)

    def add(self, line):
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        found = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or ""))
        key = (name, frozenset(found.items()))
        assert key not in self.samples, f"twice: {line}"
        self.samples[key] = float(value)
        metric = name if name in self.types else re.sub(r"_(bucket|sum|count)$", "", name)
        self.labels.setdefault(metric, set(found) - {"le"})

    def value(self, name, **labels):
        """Returns the value of the only sample that has these labels among others, or None."""
        found = [value for (of, has), value in self.samples.items()
                 if of == name and labels.items() <= dict(has).items()]
        assert len(found) < 2, f"{name} {labels} is not one sample"
        return found[0] if found else None


class Prometheus:
    """Debian's Prometheus, on a free port with its own folder. It scrapes one server four times a
    second."""

    def __init__(self, folder, server, token):
        self.port = harness.free_ports(1)[0]
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as out:
            json.dump({  # JSON is valid YAML.
                "global": {"scrape_interval": "250ms", "scrape_timeout": "250ms"},
                "scrape_configs": [{
                    "job_name": "berth", "scheme": "https",
                    "tls_config": {"ca_file": server.ca_file},
                    "authorization": {"credentials": token},
                    "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}]}, out)
        self.log = open(os.path.join(folder, "prometheus.log"), "wb")
        self.process = subprocess.Popen(
            [tools.PROMETHEUS, f"--config.file={config}",
             f"--storage.tsdb.path={os.path.join(folder, 'prometheus')}",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return json.load(reply)["data"]
        except OSError:
            return None

    def query(self, text):
        """Returns the only value of a query, or None if there is no value yet."""
        found = self.get("query", query=text)
        return float(found["result"][0]["value"][1]) if found and found["result"] else None

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class MetricsCase(harness.Case):
    maxDiff = None

    def setUp(self):
        super().setUp()
        with open(self.path("tokens.csv"), "w", encoding="utf-8") as out:
            out.write(f'{harness.Server.TOKEN},admin,1,"system:masters"\njane-token,jane,2\n'
                      f'{SCRAPER},prometheus,3,"system:monitoring"\n')

    def scrape(self, server):
        answer = server.call("GET", "/metrics", token=SCRAPER)
        self.assertEqual(answer.code, 200, answer)
        return Scrape(answer.body.decode())

    def make(self, server, path, name, **body):
        made = server.call("POST", path, {"metadata": {"name": name}, **body})
        self.assertEqual(made.code, 201, made)
        return made.json


class TextTest(MetricsCase):
    def test_text_is_as_prometheus_and_the_documentation_have_it(self):
        server = self.server()
        self.make(server, LEASES, "a")
        server.call("GET", f"{LEASES}?watch=1&timeoutSeconds=1")
        answer = server.call("GET", "/metrics")
        self.assertEqual(answer.headers["content-type"],
                         "text/plain; version=0.0.4; charset=utf-8")
        checked = subprocess.run([tools.PROMTOOL, "check", "metrics"], input=answer.body,
                                 capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))

        scrape = Scrape(answer.body.decode())
        seen = {name: (kind, scrape.labels.get(name, set())) for name, kind in scrape.types.items()}
        self.assertEqual(seen, self.documented())

    def documented(self):
        text = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) ?\| .+ \|$", text, re.M)
        names = [name for name, _, _ in rows]
        self.assertEqual(len(names), len(set(names)), "a metric is there twice")
        return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}

    def test_who_may_read_it(self):
        server = self.server()
        codes = {token: server.call("GET", "/metrics", token=token).code
                 for token in (None, "wrong", "jane-token", SCRAPER, harness.Server.TOKEN)}
        self.assertEqual(codes, {None: 401, "wrong": 401, "jane-token": 403, SCRAPER: 200,
                                 harness.Server.TOKEN: 200})
        self.assertEqual(server.call("GET", NAMESPACES, token=SCRAPER).code, 403)
        self.assertEqual(server.call("DELETE", "/metrics").code, 405)
        self.assertIn("/metrics", server.call("GET", "/").json["paths"])

    def test_a_long_text_is_compressed_if_asked_for(self):
        server = self.server()
        for kind in ("namespaces/x", "namespaces/x/services", "namespaces/x/services/a",
                     "namespaces/x/events", "namespaces/x/events/a", "services", "namespaces"):
            for method in ("GET", "PUT", "POST", "DELETE", "PATCH"):
                server.call(method, f"/api/v1/{kind}")
        plain = server.call("GET", "/metrics")
        self.assertNotIn("content-encoding", plain.headers)
        short = server.call("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        self.assertEqual(short.headers["content-encoding"], "gzip")
        self.assertLess(len(short.body), len(plain.body) / 10)
        self.assertEqual(Scrape(gzip.decompress(short.body).decode()).types,
                         Scrape(plain.body.decode()).types)


class ValuesTest(MetricsCase):
    def check_what_writes_count(self, server):
        before = self.scrape(server)
        self.make(server, LEASES, "a")
        self.make(server, LEASES, "b")
        again = server.call("POST", LEASES, {"metadata": {"name": "a"}})
        self.assertEqual(again.code, 409)
        after = self.scrape(server)
        posts = {"resource": "leases", "verb": "POST", "group": "coordination.k8s.io",
                 "version": "v1", "scope": "resource", "dry_run": ""}
        self.assertEqual(after.value("apiserver_request_total", code="201", **posts), 2)
        self.assertEqual(after.value("apiserver_request_total", code="409", **posts), 1)
        self.assertEqual(after.value("apiserver_request_duration_seconds_count", **posts), 3)
        leases = {"resource": "leases.coordination.k8s.io"}
        self.assertEqual(after.value("apiserver_storage_objects", **leases)
                         - before.value("apiserver_storage_objects", **leases), 2)
        for name in ("berth_commit_committed_total", "berth_commit_duration_seconds_count",
                     "berth_commit_apply_duration_seconds_count", "berth_state_events_total",
                     "berth_store_write_transactions_sum"):
            # The server makes writes of its own now and then.
            self.assertIn(after.value(name) - before.value(name), range(2, 8), name)
        self.assertGreater(after.value("berth_store_write_duration_seconds_sum"),
                           before.value("berth_store_write_duration_seconds_sum"))
        self.assertEqual(after.value("berth_store_writable"), 1)
        self.assertEqual(after.value("berth_state_ready"), 1)

    def test_embedded(self):
        server = self.server()
        self.check_what_writes_count(server)
        memory = self.scrape(server).value("process_resident_memory_bytes")
        self.assertAlmostEqual(memory / 1024 / server.memory_kib(), 1, delta=0.2)

    def test_etcd(self):
        server = self.server("--etcd-servers", self.etcd().url)
        # On etcd the server makes a Lease of its own, soon after its start.
        status_lease = LEASES.replace("default", "kube-system") + "/berth-range-status"
        harness.wait_for(lambda: server.call("GET", status_lease).code == 200)
        self.check_what_writes_count(server)

    def test_a_restart_begins_anew_but_for_what_is_stored(self):
        server = self.server()
        self.make(server, LEASES, "a")
        stored = self.scrape(server).value("apiserver_storage_objects", resource="namespaces")
        server.terminate()
        scrape = self.scrape(self.server())
        self.assertEqual(scrape.value("apiserver_storage_objects", resource="namespaces"), stored)
        self.assertEqual(
            scrape.value("apiserver_storage_objects", resource="leases.coordination.k8s.io"), 1)
        self.assertIsNone(scrape.value("apiserver_request_total", resource="leases"))

    def test_watches(self):
        server = self.server()
        connection = server.connection()
        self.addCleanup(connection.close)
        connection.request("GET", f"{LEASES}?watch=1",
                           headers={"Authorization": f"Bearer {server.TOKEN}"})
        stream = connection.getresponse()
        self.make(server, LEASES, "a")
        self.assertEqual(json.loads(stream.readline())["type"], "ADDED")
        watches = {"resource": "leases", "verb": "WATCH", "scope": "namespace"}
        during = self.scrape(server)
        self.assertEqual(during.value("apiserver_longrunning_requests", **watches), 1)
        self.assertEqual(during.value("apiserver_watch_events_total", resource="leases"), 1)
        self.assertIsNone(during.value("apiserver_request_total", **watches))
        stream.close()
        connection.close()
        harness.wait_for(lambda: self.scrape(server).value(
            "apiserver_longrunning_requests", **watches) == 0)
        self.assertEqual(self.scrape(server).value("apiserver_request_total", **watches), 1)


class AllocatorTest(MetricsCase):
    CIDR = "10.0.0.0/28"
    FLAGS = ("--service-cluster-ip-range", CIDR, "--service-node-port-range", "30000-30003")
    USABLE = 14
    PORTS = 4
    IPS = "kube_apiserver_clusterip_allocator_"
    NODE_PORTS = "kube_apiserver_nodeport_allocator_"

    def values(self, server):
        """Returns all values in short form: allocated, available, and by scope allocations and
        errors."""
        scrape = self.scrape(server)
        out = {}
        for kind, prefix, noun, labels in (("ips", self.IPS, "ips", {"cidr": self.CIDR}),
                                           ("ports", self.NODE_PORTS, "ports", {})):
            for state in ("allocated", "available"):
                out[f"{kind} {state}"] = scrape.value(f"{prefix}{state}_{noun}", **labels)
            for scope in ("static", "dynamic"):
                for what in ("allocation", "allocation_errors"):
                    out[f"{kind} {scope} {what}"] = scrape.value(f"{prefix}{what}_total",
                                                                 scope=scope, **labels)
        out["ips timed"] = scrape.value(f"{self.IPS}allocation_duration_seconds_count",
                                        cidr=self.CIDR)
        self.assertNotIn(None, out.values(), out)
        self.assertEqual(out["ips allocated"] + out["ips available"], self.USABLE)
        self.assertEqual(out["ports allocated"] + out["ports available"], self.PORTS)
        return out

    def check_change(self, server, before, **changes):
        """Checks that exactly these values changed. `_` stands for a space."""
        after = self.values(server)
        expected = {name.replace("_", " ", 2 if "allocation" in name else 1): by
                    for name, by in changes.items()}
        changed = {name: after[name] - before[name] for name in after
                   if after[name] != before[name]}
        self.assertEqual(changed, expected)
        return after

    def service(self, server, name, code=201, query="", ports=({"port": 80},), **spec):
        body = {"metadata": {"name": name}, "spec": {"ports": list(ports), **spec}}
        made = server.call("POST", SERVICES + query, body)
        self.assertEqual(made.code, code, made)
        return made.json

    def test_addresses(self):
        server = self.server(*self.FLAGS)
        now = self.values(server)
        self.assertEqual(now["ips allocated"], 1, "that of default/kubernetes")
        self.assertEqual(now["ips dynamic allocation"], 0)
        first = self.service(server, "a")["spec"]["clusterIP"]
        now = self.check_change(server, now, ips_allocated=1, ips_available=-1,
                                ips_dynamic_allocation=1, ips_timed=1)
        self.service(server, "b", clusterIP="10.0.0.9" if first != "10.0.0.9" else "10.0.0.8")
        now = self.check_change(server, now, ips_allocated=1, ips_available=-1,
                                ips_static_allocation=1, ips_timed=1)
        self.service(server, "c", code=422, clusterIP=first)
        now = self.check_change(server, now, ips_static_allocation_errors=1)
        self.service(server, "c", code=422, clusterIP="192.168.0.1")
        self.service(server, "c", query="?dryRun=All")
        self.service(server, "c", code=422, query="?dryRun=All", clusterIP=first)
        self.service(server, "c", clusterIP="None")
        now = self.check_change(server, now)
        for number in range(int(now["ips available"])):
            self.service(server, f"more{number}")
        now = self.values(server)
        self.assertEqual(now["ips available"], 0)
        self.service(server, "late", code=500)
        now = self.check_change(server, now, ips_dynamic_allocation_errors=1)
        self.assertEqual(server.call("DELETE", f"{SERVICES}/a").code, 200)
        self.check_change(server, now, ips_allocated=-1, ips_available=1)

    def test_node_ports(self):
        server = self.server(*self.FLAGS)
        now = self.values(server)
        self.assertEqual(now["ports available"], self.PORTS)
        address = {"ips_allocated": 1, "ips_available": -1, "ips_dynamic_allocation": 1,
                   "ips_timed": 1}
        self.service(server, "a", type="NodePort", ports=[{"port": 80, "nodePort": 30001}])
        now = self.check_change(server, now, ports_allocated=1, ports_available=-1,
                                ports_static_allocation=1, **address)
        self.service(server, "b", type="LoadBalancer", externalTrafficPolicy="Local")
        now = self.check_change(server, now, ports_allocated=2, ports_available=-2,
                                ports_dynamic_allocation=2, **address)
        self.service(server, "c", code=422, type="NodePort",
                     ports=[{"port": 80, "nodePort": 30001}])
        now = self.check_change(server, now, ports_static_allocation_errors=1)
        self.service(server, "c", code=500, type="NodePort",
                     ports=[{"name": name, "port": port} for name, port in (("x", 1), ("y", 2))])
        now = self.check_change(server, now, ports_dynamic_allocation_errors=1)
        self.assertEqual(server.call("DELETE", f"{SERVICES}/b").code, 200)
        self.check_change(server, now, ports_allocated=-2, ports_available=2, ips_allocated=-1,
                          ips_available=1)

    def test_a_restart_leaves_gauges_as_they_were(self):
        server = self.server(*self.FLAGS)
        self.service(server, "a", type="NodePort")
        before = self.values(server)
        server.terminate()
        after = self.values(self.server(*self.FLAGS))
        for name in ("ips allocated", "ips available", "ports allocated", "ports available"):
            self.assertEqual(after[name], before[name], name)
        self.assertEqual({value for name, value in after.items() if "allocation" in name}, {0})


class BitmapAllocatorTest(AllocatorTest):
    FLAGS = (*AllocatorTest.FLAGS, "--feature-gates=ClusterIPAllocatorAPI=false")


class OverlapTest(MetricsCase):
    """Each value counts once, and only what can be had now is available."""

    IPS = "kube_apiserver_clusterip_allocator_"
    NODE_PORTS = "kube_apiserver_nodeport_allocator_"
    GROUP = "/apis/allocation.berth.io/v1alpha1"
    CIDR = "10.0.0.0/24"  # 254 usable addresses.

    def setUp(self):
        super().setUp()
        self.berth = self.server("--service-cluster-ip-range", self.CIDR + ",fd00::/112")

    def ports(self):
        """Returns how many ports are allocated and available."""
        scrape = self.scrape(self.berth)
        return tuple(scrape.value(f"{self.NODE_PORTS}{state}_ports")
                     for state in ("allocated", "available"))

    def cidrs(self, family="10."):
        """Returns how many addresses are allocated and available, by CIDR."""
        scrape = self.scrape(self.berth)
        found = {dict(labels)["cidr"] for _, labels in scrape.samples if "cidr" in dict(labels)}
        return {cidr: tuple(scrape.value(f"{self.IPS}{state}_ips", cidr=cidr)
                            for state in ("allocated", "available"))
                for cidr in found if cidr.startswith(family)}

    def change(self, path, code=200, **spec):
        answer = self.berth.call("PATCH", f"{self.GROUP}/{path}", {"spec": spec},
                                 {"Content-Type": "application/merge-patch+json"})
        self.assertEqual(answer.code, code, answer)

    def port_range(self, name, text, **spec):
        self.make(self.berth, f"{self.GROUP}/nodeportranges", name, spec={"range": text, **spec})

    def ip_range(self, name, text, **spec):
        self.make(self.berth, f"{self.GROUP}/ipranges", name, spec={"range": text, **spec})

    def service(self, name, **spec):
        return self.make(self.berth, SERVICES, name, spec={"ports": [{"port": 80}], **spec})

    def test_ports(self):
        self.assertEqual(self.ports(), (0, 2768))
        self.port_range("over", "32000-33000")  # 768 of them are in the first range too.
        self.assertEqual(self.ports(), (0, 2768 + 1001 - 768))
        self.change("nodeportranges/over", disabled=True)
        self.assertEqual(self.ports(), (0, 2768))
        self.change("nodeportranges/over", disabled=False, excluded=["32900-33000", "32000"])
        self.assertEqual(self.ports(), (0, 3001 - 101), "the first range gives 32000 out")
        self.service("a", type="NodePort", ports=[{"port": 80, "nodePort": 32100}])
        self.make(self.berth, f"{self.GROUP}/nodeports", "32200")
        self.assertEqual(self.ports(), (2, 2900 - 2), "a reserved one cannot be had")
        self.change("nodeportranges/over", coolDownSeconds=600)
        self.assertEqual(self.berth.call("DELETE", f"{SERVICES}/a").code, 200)
        self.assertEqual(self.ports(), (1, 2900 - 1), "one that cools down can")
        self.change("nodeportranges/allocator.nodeport.k8s.io", disabled=True)
        self.assertEqual(self.ports(), (1, 1001 - 102 - 1))

    def test_addresses(self):
        self.assertEqual(self.cidrs(), {self.CIDR: (1, 253)})
        self.ip_range("part", "10.0.0.64/26")  # 62 usable addresses.
        self.assertEqual(self.cidrs(), {self.CIDR: (1, 253 - 62), "10.0.0.64/26": (0, 62)})
        self.service("a", clusterIP="10.0.0.70")
        self.service("b", clusterIP="10.0.0.64")
        self.assertEqual(self.cidrs(), {self.CIDR: (2, 190), "10.0.0.64/26": (1, 61)})
        self.change("ipranges/part", disabled=True)
        self.assertEqual(self.cidrs(), {self.CIDR: (2, 190 + 61), "10.0.0.64/26": (1, 0)},
                         "the wider range gives its values out")
        self.change("ipranges/allocator.ipv4.k8s.io", excluded=["10.0.0.64/27", "10.0.0.200"])
        # 10.0.0.64 and 10.0.0.70 are in use, and all others of the block are excluded.
        self.assertEqual(self.cidrs(), {self.CIDR: (2, 251 - 31), "10.0.0.64/26": (1, 0)})
        self.change("ipranges/part", disabled=False)
        self.assertEqual(self.cidrs(), {self.CIDR: (2, 190 - 1), "10.0.0.64/26": (1, 61)})
        self.change("ipranges/allocator.ipv4.k8s.io", disabled=True)
        self.assertEqual(self.cidrs(), {self.CIDR: (2, 0), "10.0.0.64/26": (1, 61)})

    def test_ipv6(self):
        self.assertEqual(self.cidrs("fd"), {"fd00::/112": (0, 65535)})
        self.ip_range("wide", "fd00::/96")
        self.assertEqual(self.cidrs("fd"), {"fd00::/112": (0, 65535),
                                            "fd00::/96": (0, 2**32 - 2**16)})


class PrometheusTest(MetricsCase):
    def test_a_real_prometheus_scrapes_it(self):
        server = self.server()
        prometheus = Prometheus(self.folder, server, SCRAPER)
        self.addCleanup(prometheus.stop)
        harness.wait_for(lambda: prometheus.query('up{job="berth"}') == 1)
        for name in ("a", "b", "c"):
            self.make(server, LEASES, name)
        created = 'sum(apiserver_request_total{resource="leases",verb="POST",code="201"})'
        harness.wait_for(lambda: prometheus.query(created) == 3)
        self.assertEqual(prometheus.query("berth_commit_committed_total")
                         - prometheus.query("berth_commit_duration_seconds_count"), 0)
        slowest = prometheus.query(
            "histogram_quantile(1, sum by (le) (berth_store_write_duration_seconds_bucket))")
        self.assertGreater(slowest, 0)
        target = prometheus.get("targets")["activeTargets"][0]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))
        scrape = self.scrape(server)
        known = {name: entry[0]["type"] for name, entry in prometheus.get("metadata").items()}
        self.assertEqual(known, scrape.types)


if __name__ == "__main__":
    harness.main()
