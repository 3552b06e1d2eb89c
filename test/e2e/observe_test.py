#!/usr/bin/env python3
"""`berth observe`: what it records and serves, and what survives when it is killed."""

import collections
import datetime
import itertools
import json
import os
import random
import signal
import subprocess
import threading
import time

import urllib.error
import urllib.parse
import urllib.request

import harness
from harness import BERTH, environment, free_ports, wait_for
from rough_server import RoughServer, make_services


# A killed observer loses the changes of its last second. A test gives it a little more.
LOST = 1.3
# How often an observer is killed while a cluster changes. Five take 12 s; more find more.
KILLS = int(os.environ.get("BERTH_OBSERVER_KILLS", "5"))


def service(name, address, uid, port=None):
    ports = [{"port": 80, "protocol": "TCP"}]
    if port:
        ports[0]["nodePort"] = port
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "shop", "name": name, "uid": uid, "resourceVersion": "7",
                         "creationTimestamp": "2026-01-02T03:04:05Z"},
            "spec": {"type": "NodePort" if port else "ClusterIP", "clusterIP": address,
                     "clusterIPs": [address], "ports": ports}}


def list_of(services):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": services})


class ObserveBase(harness.Case):
    """Starts observers and asks them."""

    def setUp(self):
        super().setUp()
        self.data = os.path.join(self.folder, "observer")

    def file(self, services, name="services.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(list_of(services))
        return path

    def run_berth(self, *arguments, text=""):
        return subprocess.run([BERTH, "observe", *arguments], input=text, text=True, timeout=60,
                              capture_output=True, check=False, env=environment())

    def once(self, services):
        done = self.run_berth("--once", "-f", "-", "--data-dir", self.data, text=list_of(services))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def start(self, *flags, log=subprocess.DEVNULL):
        port = free_ports(1)[0]
        process = subprocess.Popen([BERTH, "observe", "--data-dir", self.data, "--listen",
                                    f"127.0.0.1:{port}", *flags], stderr=log,
                                   env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.url = f"http://127.0.0.1:{port}"
        wait_for(lambda: self.get("/livez")[0] == 200)
        return process

    def serve(self, *flags):
        process = self.start(*flags)
        wait_for(lambda: self.get("/readyz")[0] == 200)
        return process

    def get(self, path, **query):
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""


class ObserveTest(ObserveBase):
    def test_once_records_differences(self):
        web, api = service("web", "10.96.0.10", "u1", 30080), service("api", "10.96.0.11", "u2")
        self.assertEqual(self.once([web, api]),
                         "Recorded 2 Services with 3 values: the history begins here.\n")
        self.assertEqual(self.once([web, api]),
                         "Recorded 2 Services with 3 values: 0 changes since the last time.\n")
        between = time.time()
        # Another Service of the same name has another uid, so it releases and takes.
        self.assertEqual(self.once([service("web", "10.96.0.10", "u3")]),
                         "Recorded 1 Service with 1 value: 4 changes since the last time.\n")
        self.serve("-f", self.file([service("web", "10.96.0.10", "u3")]))
        code, text = self.get("/api/v1/history", value="10.96.0.10")
        self.assertEqual(code, 200, text)
        spans = json.loads(text)["spans"]
        self.assertEqual([span["uid"] for span in spans], ["u1", "u3"])
        self.assertEqual(spans[0]["to"]["exact"], False)
        self.assertNotIn("to", spans[1])
        self.assertTrue(json.loads(text)["gaps"])
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(between - 3600))
        answer = json.loads(self.get("/api/v1/whois", value="30080", at=at)[1])
        self.assertFalse(answer["complete"])
        self.assertIn("the history begins at", answer["note"])
        spans = json.loads(self.get("/api/v1/history", service="shop/web")[1])["spans"]
        self.assertEqual({span["value"] for span in spans}, {"10.96.0.10", "30080"})

    def test_other_commands_read_the_history(self):
        def ask(*args):
            return subprocess.run([BERTH, *args], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, env=environment(), timeout=60)

        self.once([service("web", "10.96.0.10", "u1")])
        moment = datetime.datetime.now(datetime.timezone.utc)  # Between the two looks.
        seen = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        now = [service("api", "10.96.0.10", "u2")]
        self.once(now)
        whois = ("whois", "10.96.0.10", "--history", self.data)
        done = ask(*whois, "-f", self.file(now), "-o", "json")
        past = json.loads(done.stdout)["answers"][0]["value"]["history"]
        self.assertEqual([span["owner"] for span in past], ["shop/api", "shop/web"])
        done = ask(*whois, "--at", seen)
        self.assertRegex(done.stdout, "10.96.0.10 at .*\n  held by shop/web since ")
        done = ask("whois", "shop/web", "--history", self.data, "--at", seen)
        self.assertRegex(done.stdout, "shop/web at .*\n  held 10.96.0.10 since ")
        # The two looks are too close to each other to know the growth.
        for command in ("forecast", "top"):
            done = ask(command, "--history", self.data, "-f", self.file(now), "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn('"History"', done.stdout)
            done = ask(command, "--history", self.data, "-f", self.file(now))
            self.assertIn("The history has no two looks at this range", " ".join(done.stdout.split()))
        at = ("--history", self.data, "--at", seen)
        for args, message in ((("--at", seen), "--at needs --history"),
                              (("--history", self.data, "--at", "noon"), "must be a time such as"),
                              ((*at, "-o", "foo"), "must be table, wide, json or yaml"),
                              ((*at, "--watch"), "leave out --watch"),
                              ((*at, "-f", "x"), "leave out -f"),
                              ((*at, "shop"), "must be an address, a port or a Service")):
            done = ask("whois", "10.96.0.10", *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_metrics_and_health(self):
        services = [service(f"s{i}", f"10.96.0.{10 + i}", f"u{i}", 30000 + i) for i in range(20)]
        services.append(service("twin", "10.96.0.10", "twin"))
        process = self.serve("-f", self.file(services), "--service-cidr", "10.96.0.0/24")
        code, text = self.get("/metrics")
        self.assertEqual(code, 200)
        samples, described = {}, set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                described.add(line.split(" ")[2])
                continue
            if line.startswith("#"):
                continue
            name, value = line.rsplit(" ", 1)
            self.assertIn(name.split("{")[0], described)
            samples[name] = float(value)
        # A range that a flag gives has no other name.
        taken = 'berth_observer_range_values{range="%s",name="%s",kind="%s",band="%s",state="taken"}'
        for text, kind, band, count in (("10.96.0.0/24", "ServiceCIDR", "static", 7),
                                        ("10.96.0.0/24", "ServiceCIDR", "dynamic", 13),
                                        ("30000-32767", "NodePortRange", "static", 20)):
            self.assertEqual(samples[taken % (text, text, kind, band)], count)
        self.assertEqual(samples["berth_observer_services"], 21)
        self.assertEqual(samples["berth_observer_history_writable"], 1)
        self.assertGreater(samples["berth_observer_history_bytes"], 500)
        self.assertIn('berth_observer_findings{kind="TwoOwners"}', samples)
        self.assertLess(samples["process_resident_memory_bytes"], 150 << 20)
        self.assertEqual(self.get("/livez"), (200, "ok"))
        self.assertIn("services: lag ", self.get("/readyz", verbose="")[1])
        top = json.loads(self.get("/api/v1/top")[1])
        self.assertEqual(top["namespaces"], [{"namespace": "shop", "values": 41}])
        for path, query, code in (("/api/v1/whois", {"value": "x"}, 400),
                                  ("/api/v1/whois", {"value": "1", "at": "yesterday"}, 400),
                                  ("/api/v1/history", {"service": "web"}, 400),
                                  ("/api/v1/use", {"range": "10.96.0.0/24", "step": "0"}, 400),
                                  ("/elsewhere", {}, 404)):
            self.assertEqual(self.get(path, **query)[0], code, path)
        request = urllib.request.Request(self.url + "/metrics", method="POST", data=b"")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        self.assertEqual(refused.exception.code, 405)
        refused.exception.close()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 0)

    def test_refusals_say_what_to_do(self):
        source = self.file([service("web", "10.96.0.10", "u1")])
        for arguments, words in (
                (["-f", source, "--data-dir", self.data, "--listen", "0.0.0.0:0"],
                 "TLS is needed: give --tls-cert-file"),
                (["-f", source, "--data-dir", self.data, "--listen", ":0"], "TLS is needed"),
                (["-f", source, "--data-dir", self.data, "--listen", "[::]:0"], "TLS is needed"),
                (["-f", source], "--data-dir is missing"),
                (["-f", source, "--data-dir", self.data, "--keep-bytes", "5"], "at least 1Mi"),
                (["-f", source, "--data-dir", self.data, "--keep-days", "0"], "from 1 to 36500"),
                (["--kubeconfig", "/nowhere", "--data-dir", self.data], "/nowhere"),
                (["--server", "http://127.0.0.1:1", "--service-cidr", "x", "--data-dir", self.data],
                 "--service-cidr"),
                (["--once", "-f", "/nowhere", "--data-dir", self.data], "/nowhere")):
            done = self.run_berth(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        self.serve("-f", source)
        done = self.run_berth("--once", "-f", source, "--data-dir", self.data)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another observer records into", done.stderr)

    def test_killed_twenty_times(self):
        """Records snapshots of a changing cluster, and kills every second recorder at a random
        moment. What the history says is then compared with all snapshots."""
        chance = random.Random(4)
        cluster, uids, snapshots, killed = {}, 0, [], 0
        for kill in range(40):
            for _ in range(30):
                number = chance.randrange(200)
                uids += 1
                cluster[number] = service(f"s{number}", f"10.96.1.{chance.randrange(250)}",
                                          f"u{uids}")
            services = list(cluster.values())
            recorder = subprocess.Popen([BERTH, "observe", "--once", "-f", "-", "--data-dir",
                                         self.data], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment())
            recorder.stdin.write(list_of(services).encode())
            recorder.stdin.close()
            if kill % 2:
                # The end of the output is the end of the process, if it is not killed before.
                time.sleep(chance.random() * 0.06)
                recorder.kill()
            finished = recorder.wait(timeout=30) == 0
            killed += not finished
            recorder.stdout.close()
            if finished:
                held = {}
                for each in services:
                    held.setdefault(each["spec"]["clusterIP"], set()).add(each["metadata"]["uid"])
                snapshots.append((time.time(), held))
        self.assertGreaterEqual(len(snapshots), 20)
        self.assertGreaterEqual(killed, 5)
        self.serve("-f", self.file(list(cluster.values())))
        for number in range(0, 250, 5):
            address = f"10.96.1.{number}"
            code, text = self.get("/api/v1/history", value=address)
            self.assertEqual(code, 200, text)
            spans = json.loads(text)["spans"]
            for when, held in snapshots:
                self.compare(address, spans, when, held.get(address, set()))

    def compare(self, address, spans, when, truth):
        """The spans that contain a time, at which a list had just been recorded, are the truth."""
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when)) + f".{int(when % 1 * 1000):03}Z"
        # The bounds of a change contain the moment of the next list, so "surely" is a lower bound
        # and "possibly" an upper one.
        surely = {span["uid"] for span in spans if span["from"]["latest"] <= text
                  and ("to" not in span or text < span["to"].get("earliest", ""))}
        possibly = {span["uid"] for span in spans if span["from"].get("earliest", "") <= text
                    and ("to" not in span or text < span["to"]["latest"])}
        self.assertLessEqual(surely, truth, f"{address} at {text}")
        self.assertLessEqual(truth, possibly, f"{address} at {text}")


def seconds_of(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def wait_for_more(items):
    count = len(items)
    wait_for(lambda: len(items) > count + 10)


class StartTest(ObserveBase):
    def test_a_server_that_starts_refuses_everything(self):
        """As long as it does not know its roles. That is no reason to go without anything."""
        with RoughServer(services=make_services(5)) as server:
            server.rules = []
            server.fail_next("/readyz", times=1000, code=500)
            once = self.run_berth("--once", "--data-dir", self.data, "--server", server.url)
            self.assertEqual(once.returncode, 1)
            self.assertIn(f"the server {server.url} (--server) is not ready yet", once.stderr)
            self.start("--server", server.url)
            server.rules = None
            server.failures.clear()
            wait_for(lambda: self.get("/readyz")[0] == 200)
            self.assertIn("ipaddresses: lag", self.get("/readyz", verbose="")[1])


    def test_a_server_that_was_away_may_have_other_flags(self):
        flags = {"service-node-port-range": "30000-30999"}
        log = os.path.join(self.folder, "log")
        with RoughServer(services=make_services(5), flags=flags) as server, open(log, "wb") as out:
            self.start("--server", server.url, log=out)
            wait_for(lambda: self.get("/readyz")[0] == 200)
        flags["service-node-port-range"] = "30000-30700"

        def logged():
            with open(log, encoding="utf-8") as file:
                return "NodePortRange/30000-30700" in file.read()
        with RoughServer(services=make_services(5), flags=flags, port=server.port):
            wait_for(logged)


class FollowTest(ObserveBase):
    """A server of Berth is the cluster."""

    def cluster(self, port):
        server = self.server(port=port)
        server.call("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
        return server

    def source(self, port, token=harness.Server.TOKEN):
        return ("--server", f"https://127.0.0.1:{port}", "--insecure-skip-tls-verify", "--token",
                token)

    def create(self, server, name, **spec):
        made = server.call("POST", "/api/v1/namespaces/shop/services", {
            "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}})
        self.assertEqual(made.code, 201, made)
        return made.json["spec"]["clusterIP"], made.json["metadata"]["uid"]

    def delete(self, server, name):
        gone = server.call("DELETE", f"/api/v1/namespaces/shop/services/{name}")
        self.assertEqual(gone.code, 200, gone)

    def whois(self, value):
        answer = json.loads(self.get("/api/v1/whois", value=value)[1])
        return [(holder["name"], holder["certainty"]) for holder in answer["holders"]]

    def metric(self, name):
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split(" ")[1])
        return None

    def lists(self):
        return self.metric('berth_observer_lists_total{resource="services"}')

    def test_follows_through_restarts_of_the_server(self):
        port = free_ports(1)[0]
        observer = self.start(*self.source(port))
        # The server is away, which is no reason to end.
        wait_for(lambda: "services are not listed: cannot reach the server" in
                 self.get("/readyz")[1])
        server = self.cluster(port)
        wait_for(lambda: self.get("/readyz")[0] == 200)
        web, _ = self.create(server, "web", type="NodePort")
        wait_for(lambda: self.whois(web) == [("web", "certain")])
        self.delete(server, "web")
        wait_for(lambda: self.whois(web) == [])
        taken = ('berth_observer_range_values{range="%s",name="allocator.%s.k8s.io",kind="%s",'
                 'band="static",state="taken"}')
        wait_for(lambda: self.metric(taken % ("10.96.0.0/16", "ipv4", "IPRange")) == 1)
        self.assertEqual(self.metric(taken % ("30000-32767", "nodeport", "NodePortRange")), 0)

        # A watch resumes if the server is back soon. Otherwise there is a list, and a gap.
        for name in map("restart-{}".format, range(4)):
            server.terminate()
            trouble = wait_for(lambda: [line for line in
                                        self.get("/readyz", verbose="")[1].splitlines()
                                        if line.startswith("services: lag") and
                                        "cannot reach" in line])
            self.assertRegex(trouble[0], r"lag \d+\.\d s, revision \d+, cannot reach the server")
            server = self.server(port=port)
            before = self.lists()
            address, uid = self.create(server, name)
            wait_for(lambda: self.whois(address) == [(name, "certain")])
            if self.lists() == before:
                break
        wait_for(lambda: "cannot reach" not in self.get("/readyz", verbose="")[1])
        past = json.loads(self.get("/api/v1/history", value=address)[1])
        self.assertEqual([span["uid"] for span in past["spans"]], [uid])
        self.assertEqual(len(past["gaps"]), self.lists() - 1, past)
        self.assertLess(self.metric('berth_observer_lag_seconds{resource="services"}'), 5)
        observer.send_signal(signal.SIGTERM)
        self.assertEqual(observer.wait(timeout=30), 0)

        refused = self.run_berth(*self.source(port, "wrong"), "--data-dir", self.data)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("does not accept the credentials", refused.stderr)

    def churn(self, server, truth, over):
        """Creates and deletes Services until it is over. Keeps eight of them. Notes when each was
        created and deleted: the times before and after the request."""
        alive = []
        for number in itertools.count():
            if over.wait(0.02):
                return
            if len(alive) >= 8:
                gone = alive.pop(random.randrange(len(alive)))
                start = time.time()
                self.delete(server, gone["name"])
                gone["deleted"] = (start, time.time())
            start = time.time()
            address, uid = self.create(server, f"s{number}")
            alive.append({"name": f"s{number}", "address": address, "uid": uid,
                          "created": (start, time.time())})
            truth.append(alive[-1])

    def test_killed_while_the_cluster_changes(self):
        server = self.cluster(free_ports(1)[0])
        truth, over, lives = [], threading.Event(), []
        worker = threading.Thread(target=self.churn, args=(server, truth, over))
        worker.start()
        self.addCleanup(worker.join)
        self.addCleanup(over.set)
        for _ in range(KILLS):
            started = time.time()
            observer = self.serve(*self.source(server.port))
            ready = time.time()
            wait_for_more(truth)
            time.sleep(LOST + 0.1)  # So that the observer keeps these.
            lives.append((started, ready, time.time()))
            observer.kill()
            observer.wait()
            wait_for_more(truth)
        started = time.time()
        self.serve(*self.source(server.port))
        lives.append((started, time.time(), float("inf")))
        over.set()
        worker.join()
        last = truth[-1]
        wait_for(lambda: (last["name"], "certain") in self.whois(last["address"]))
        counts = collections.Counter()
        for each in truth:
            self.compare_service(each, lives, counts)
        # Without an observer, some of the eight Services are deleted, and others last until the next.
        self.assertGreater(counts["seen"], 5 * KILLS, counts)
        self.assertGreaterEqual(counts["missed"], KILLS, counts)
        gaps = json.loads(self.get("/api/v1/history", value=last["address"])[1])["gaps"]
        self.assertEqual(len(gaps), KILLS)
        for gap, (_, _, killed), (_, ready, _) in zip(gaps, lives, lives[1:]):
            self.assertLess(seconds_of(gap["from"]), killed + 0.1)
            self.assertLess(killed, seconds_of(gap["to"]))
            self.assertLess(seconds_of(gap["to"]), ready + 0.1)

    def compare_service(self, truth, lives, counts):
        """Compares one Service with its history. `lives` tells of each observer when it was started,
        ready and killed. Counts the changes that were surely seen and surely missed."""
        past = json.loads(self.get("/api/v1/history", service=f"shop/{truth['name']}")[1])
        created, deleted = truth["created"], truth.get("deleted")
        if not past["spans"]:
            # It came and went while no observer looked, or in the second that a killed process loses.
            unseen = zip([0] + [killed - LOST for _, _, killed in lives],
                         [ready for _, ready, _ in lives])
            self.assertTrue(deleted and any(begin < created[0] and deleted[1] < end
                                            for begin, end in unseen), truth)
            return
        self.assertEqual([(span["value"], span["uid"]) for span in past["spans"]],
                         [(truth["address"], truth["uid"])])
        span = past["spans"][0]
        self.assertEqual("to" in span, deleted is not None, truth)
        for moment, real in ((span["from"], created), (span.get("to"), deleted)):
            if real is None:
                continue
            # The time of a change that was seen is that of its arrival.
            self.assertLessEqual(real[0] - 0.01, seconds_of(moment["latest"]), (truth, span))
            self.assertLessEqual(seconds_of(moment["earliest"]), real[1] + 1, (truth, span))
            if any(killed < real[0] and real[1] < started
                   for (_, _, killed), (started, _, _) in zip(lives, lives[1:])):
                self.assertFalse(moment["exact"], (truth, span))
                counts["missed"] += 1
            elif any(ready < real[0] and real[1] < killed - LOST for _, ready, killed in lives):
                self.assertTrue(moment["exact"], (truth, span))
                counts["seen"] += 1


if __name__ == "__main__":
    harness.main()
