#!/usr/bin/env python3
"""Runs a controller (js/controller.mjs) through restarts of the server, and accounts for every
event.

A driver changes a hundred Services at random while the server is killed or stopped and started
again. In the end the controller must have received every event, once and in order. It takes
CONTROLLER_SECONDS per store: 8, or a minute in the long form.
"""

import collections
import contextlib
import http.client
import json
import os
import random
import threading
import time

import node_scripts
from harness import Answer, Case, Server, wait_for
from node_scripts import Script

SECONDS = float(os.environ.get("CONTROLLER_SECONDS", 60 if os.environ.get("BERTH_LONG") else 8))
PERIOD = 1.8  # Seconds from one restart to the next.
SERVICES = "/api/v1/namespaces/driven/services"
NAMES = [f"s{number:02}" for number in range(100)]
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
AWAY = (OSError, http.client.HTTPException)


def service(name, want):
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "labels": {"want": str(want)}},
            "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}


def version(thing):
    return int(thing["metadata"]["resourceVersion"])


class Driver:
    """Changes Services at random, and records the versions in the answers to its writes."""

    def __init__(self, server, seed):
        self.server = server
        self.random = random.Random(seed)
        self.line = None
        self.writes = []
        self.deleted = set()  # Their uids.
        self.lost = 0  # Writes without an answer.
        self.fault = None
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def ask(self, method, path, body=None, content_type="application/json", expected=(200, 201)):
        """Returns the answer, or None if there was no answer or another acceptable one."""
        try:
            self.line = self.line or self.server.connection()
            self.line.request(method, path, body=None if body is None else json.dumps(body),
                              headers={"Authorization": f"Bearer {Server.TOKEN}",
                                       "Content-Type": content_type})
            answer = Answer(self.line.getresponse())
        except AWAY:
            self.lost += 1
            self.close()
            time.sleep(0.02)
            return None
        # The object was deleted or created by a write whose answer was lost, or the server is
        # stopping.
        if answer.code not in (*expected, 404, 409, 503, 504):
            raise AssertionError(f"{method} {path}: {answer}")
        return answer.json if answer.code in expected else None

    def close(self):
        if self.line:
            self.line.close()
        self.line = None

    def write(self, *arguments):
        written = self.ask(*arguments)
        if written:
            self.writes.append((written["metadata"]["uid"], version(written)))

    def step(self):
        name = self.random.choice(NAMES)
        path, want = f"{SERVICES}/{name}", self.random.randrange(1_000_000)
        kind = self.random.random()
        if kind < 0.7:
            self.write("PATCH", path, {"metadata": {"labels": {"want": str(want)}}}, MERGE)
        elif kind < 0.8:
            query = "?fieldManager=driver&force=true"
            self.write("PATCH", path + query, service(name, want), APPLY)
        elif kind < 0.9:
            found = self.ask("GET", path)
            if found:
                found["metadata"]["labels"]["want"] = str(want)
                self.write("PUT", path, found)
        else:
            gone = self.ask("DELETE", path)
            if gone:
                self.deleted.add(gone.get("details", gone.get("metadata"))["uid"])
            self.write("POST", SERVICES, service(name, want))

    def run(self):
        try:
            while not self.ended.is_set():
                for _ in range(self.random.randrange(40)):
                    self.step()
                time.sleep(0.05)
        except Exception as error:  # pylint: disable=broad-except
            self.fault = error
        self.close()

    def stop(self):
        self.ended.set()
        if self.thread.ident:
            self.thread.join()


def history(server, start, end):
    """Returns the events of a watch that starts there, up to that version."""
    line = server.connection()
    with contextlib.closing(line):
        line.request("GET", f"{SERVICES}?watch=1&resourceVersion={start}",
                     headers={"Authorization": f"Bearer {Server.TOKEN}"})
        told, last = [], start
        response = line.getresponse()
        while last < end:
            event = json.loads(response.readline())
            last = version(event["object"])
            told.append([event["type"], event["object"]["metadata"]["uid"], last])
    return told


class ControllerTest(Case):

    def restart(self, server, flags, brutally):
        if brutally:
            server.process.kill()
            server.process.wait()
        else:
            self.assertEqual(server.terminate(), 0)
        return self.server(*flags, port=server.port)

    def drive(self, server, flags):
        """Makes changes and restarts for a while. Returns the last server, the driver, and the
        restarts."""
        driver = Driver(server, seed=1)
        self.addCleanup(driver.stop)
        driver.thread.start()
        ends, kinds = time.monotonic() + SECONDS, collections.Counter()
        while time.monotonic() + PERIOD < ends:
            time.sleep(PERIOD)
            brutally = sum(kinds.values()) % 2 == 0
            server = self.restart(server, flags, brutally)
            kinds["killed" if brutally else "stopped"] += 1
        time.sleep(max(0, ends - time.monotonic()))
        driver.stop()
        if driver.fault:
            raise driver.fault
        return server, driver, kinds

    def settled(self, server, script):
        """Returns the controller's account when all is done and its cache agrees with a new list.
        """
        def done():
            script.say("state")
            _, state = script.next()
            listed = server.call("GET", SERVICES).json
            right = all(each["metadata"]["labels"]["want"] ==
                        each["metadata"].get("annotations", {}).get("have")
                        for each in listed["items"])
            cache = sorted((each["metadata"]["name"], each["metadata"]["uid"], version(each))
                           for each in listed["items"])
            return right and state["idle"] and cache == sorted(map(tuple, state["cache"]))
        wait_for(done)
        script.say("report")
        return script.next()[1]

    def check(self, *flags):
        server = self.server(*flags)
        self.assertEqual(server.call("POST", "/api/v1/namespaces",
                                     {"metadata": {"name": "driven"}}).code, 201)
        for name in NAMES:
            self.assertEqual(server.call("POST", SERVICES, service(name, 0)).code, 201)
        script = Script("controller.mjs", server, "driven")
        self.addCleanup(script.stop)
        self.assertEqual(script.next()[0], "started")
        server, driver, restarts = self.drive(server, flags)
        report = self.settled(server, script)
        self.account(server, driver, report)
        print(f"\n  {self.id().rsplit('.', 1)[1]}: {SECONDS:.0f} s, {dict(restarts)}, "
              f"{len(report['events'])} events, {report['reconciles']} reconciles "
              f"({report['retries']} again), {len(driver.writes)} writes of the driver "
              f"({driver.lost} lost), {report['disconnects']} disconnects, "
              f"{len(report['lists'])} list, 0 missed, 0 doubled")
        self.assertGreater(len(report["events"]), 100 * SECONDS ** 0.5)
        self.assertGreater(report["disconnects"], 0)

    def account(self, server, driver, report):
        events = report["events"]
        self.assertEqual({kind for kind, _, _ in events}, {"ADDED", "MODIFIED", "DELETED"})
        # The server keeps enough history that the informer never has to list again.
        first, = report["lists"]
        self.assertEqual((first["after"], len(first["items"])), (0, len(NAMES)))

        told = [(uid, revision) for _, uid, revision in events]
        doubled = [each for each, times in collections.Counter(told).items() if times > 1]
        self.assertEqual(doubled, [])
        revisions = [revision for _, revision in told]
        self.assertEqual(revisions, sorted(revisions), "in order, over all connections")
        self.assertGreater(revisions[0], first["version"])

        known = set(told) | set(map(tuple, first["items"]))
        for writes in (driver.writes, map(tuple, report["writes"])):
            self.assertEqual([each for each in writes if each not in known], [], "missed")
        gone = {uid for kind, uid, _ in events if kind == "DELETED"}
        self.assertEqual(driver.deleted - gone, set(), "missed")
        # The events must be the history as the server remembers it, regardless of the writer.
        self.assertEqual(events, history(server, first["version"], revisions[-1]))

    def test_on_the_embedded_store(self):
        self.check()

    def test_on_etcd(self):
        self.check("--etcd-servers", self.etcd().url)


if __name__ == "__main__":
    node_scripts.main()
