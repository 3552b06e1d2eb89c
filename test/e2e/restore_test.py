"""An etcd that is restored from a backup under `berth serve`.

    BERTH_BIN=build/release/berth python3 test/e2e/restore_test.py

A backup is a copy of the data directory of an etcd that is stopped. It keeps the cluster's id, so
nothing but the past itself shows that it was restored.
"""

import http.client
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from harness import Case, main, wait_for

SERVICES = "/api/v1/namespaces/default/services"
# Larger than all writes of a test, and smaller than the distance of two time lines.
FAR = 1 << 40


def service(name, address=None):
    spec = {"ports": [{"port": 80}]}
    if address:
        spec["clusterIP"] = address
    return {"metadata": {"name": name}, "spec": spec}


class RestoreTest(Case):
    def setUp(self):
        super().setUp()
        self.store = self.etcd()
        self.data = self.store.process.args[self.store.process.args.index("--data-dir") + 1]

    def replica(self, name, **more):
        return self.server("--etcd-servers", self.store.url, data=name, **more)

    def stop_etcd(self):
        self.store.process.terminate()
        self.store.process.wait()

    def start_etcd(self):
        self.store.process = subprocess.Popen(self.store.process.args, stdout=self.store.log,
                                              stderr=self.store.log)
        self.store.wait(int(self.store.url.rpartition(":")[2]))

    def back_up(self):
        self.stop_etcd()
        shutil.copytree(self.data, self.path("backup"))
        self.start_etcd()

    def restore(self):
        self.stop_etcd()
        shutil.rmtree(self.data)
        shutil.copytree(self.path("backup"), self.data)
        self.start_etcd()

    def etcd_revision(self):
        return int(self.store.post("kv/range", key="AA==")["header"]["revision"])

    def create(self, server, name, address=None):
        made = server.call("POST", SERVICES, service(name, address))
        self.assertEqual(made.code, 201, made)
        return made.json

    def listed(self, server):
        """Returns the list of Services, or None while the server does not serve."""
        try:
            answer = server.call("GET", SERVICES)
        except (OSError, http.client.HTTPException):
            return None
        if answer.code != 200:
            self.assertEqual(answer.code, 503, answer)
            return None
        return answer.json

    def check_list(self, listing, phantoms):
        names = {item["metadata"]["name"] for item in listing["items"]}
        self.assertEqual(names & phantoms, set())
        addresses = [item["spec"]["clusterIP"] for item in listing["items"]]
        self.assertEqual(len(addresses), len(set(addresses)))

    def check_expired(self, server, version):
        watch = server.call("GET", f"{SERVICES}?watch=1&timeoutSeconds=2&resourceVersion={version}")
        events = [json.loads(line) for line in watch.body.splitlines()]
        if watch.code == 200:
            self.assertEqual([(each["type"], each["object"]["code"]) for each in events],
                             [("ERROR", 410)])
        else:
            self.assertEqual(watch.code, 410, watch)

    def far_above(self, server, version):
        listing = self.listed(server)
        return listing and int(listing["metadata"]["resourceVersion"]) > int(version) + FAR

    def test_a_replica_that_slept_does_not_wake_in_the_old_time_line(self):
        sleeper = self.replica("sleeper")
        self.create(sleeper, "kept")
        self.back_up()
        wait_for(lambda: self.listed(sleeper))
        phantoms = [self.create(sleeper, f"phantom-{i}") for i in range(5)]
        names = {each["metadata"]["name"] for each in phantoms}
        old = self.listed(sleeper)["metadata"]["resourceVersion"]
        seen = self.etcd_revision()

        os.kill(sleeper.process.pid, signal.SIGSTOP)
        self.restore()
        fresh = self.replica("fresh")
        # The addresses of the phantoms are free, and others get them.
        for i, phantom in enumerate(phantoms):
            self.create(fresh, f"heir-{i}", phantom["spec"]["clusterIP"])
        while self.etcd_revision() <= seen + 20:
            self.create(fresh, f"more-{self.etcd_revision()}")

        os.kill(sleeper.process.pid, signal.SIGCONT)
        heirs = {f"heir-{i}" for i in range(5)}

        def caught_up():
            listing = self.listed(sleeper)
            if not listing:
                return False
            self.check_list(listing, names)
            return heirs <= {item["metadata"]["name"] for item in listing["items"]}
        wait_for(caught_up)
        self.assertIn("etcd has another past than before", sleeper.output())

        # Both serve one new time line, far above the old one.
        for server in (sleeper, fresh):
            wait_for(lambda server=server: self.far_above(server, old))
            self.check_expired(server, old)
            self.check_list(self.listed(server), names)
        given = {item["spec"]["clusterIP"] for item in self.listed(fresh)["items"]}
        self.assertNotIn(self.create(sleeper, "after")["spec"]["clusterIP"], given)
        self.assertIn("after", str(self.listed(fresh)))

    def test_replicas_that_run_follow_the_restore(self):
        one, two = self.replica("one"), self.replica("two")
        self.create(one, "kept")
        self.back_up()
        for server in (one, two):
            wait_for(lambda server=server: self.listed(server))
        self.create(one, "phantom")
        old = self.listed(two)["metadata"]["resourceVersion"]
        self.restore()
        for server in (one, two):
            wait_for(lambda server=server: self.far_above(server, old))
            wait_for(server.ready)
            self.check_list(self.listed(server), {"phantom"})
            self.check_expired(server, old)
            self.assertIn("restored from a backup", server.output())
        self.create(two, "after")
        self.assertEqual(one.call("GET", f"{SERVICES}/after").code, 200)

    def test_what_is_acknowledged_after_the_restore_stays(self):
        replicas = self.replica("one"), self.replica("two")
        self.create(replicas[0], "kept")
        self.back_up()
        for server in replicas:
            wait_for(lambda server=server: self.listed(server))
        old = int(self.create(replicas[0], "phantom")["metadata"]["resourceVersion"])
        acknowledged = {}
        enough = threading.Event()

        def write(number):
            server = replicas[number % 2]
            for i in range(100_000):
                if enough.is_set():
                    return
                try:
                    answer = server.call("POST", SERVICES, service(f"w{number}-{i}"))
                except (OSError, http.client.HTTPException):
                    time.sleep(0.05)
                    continue
                if answer.code == 201:
                    made = answer.json
                    acknowledged[made["metadata"]["name"]] = made
        writers = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        for writer in writers:
            writer.start()
        try:
            wait_for(lambda: len(acknowledged) >= 50)
            self.restore()

            def new_ones():
                return [made for made in list(acknowledged.values())
                        if int(made["metadata"]["resourceVersion"]) > old + FAR]
            wait_for(lambda: len(new_ones()) >= 200)
        finally:
            enough.set()
            for writer in writers:
                writer.join()
        for server in replicas:
            listing = wait_for(lambda server=server: self.listed(server))
            there = {item["metadata"]["name"]: item for item in listing["items"]}
            stays = {made["metadata"]["name"] for made in new_ones()}
            for name in stays:
                self.assertEqual(there[name]["metadata"], acknowledged[name]["metadata"])
                self.assertEqual(there[name]["spec"], acknowledged[name]["spec"])
            # What was acknowledged in the old time line is gone.
            self.check_list(listing, {"phantom", *acknowledged.keys() - stays})

    def test_a_restore_while_no_server_runs(self):
        server = self.replica("one")
        self.create(server, "kept")
        self.back_up()
        wait_for(lambda: self.listed(server))
        self.create(server, "phantom")
        old = self.listed(server)["metadata"]["resourceVersion"]
        self.assertEqual(server.terminate(), 0)
        self.restore()
        again = self.replica("one", port=server.port)
        self.check_expired(again, old)
        self.assertTrue(self.far_above(again, old))
        self.check_list(self.listed(again), {"phantom"})

    def test_an_etcd_that_only_restarts_changes_nothing(self):
        server = self.replica("one")
        old = self.create(server, "kept")["metadata"]["resourceVersion"]
        self.stop_etcd()
        self.start_etcd()
        wait_for(lambda: self.listed(server))
        self.create(server, "more")
        self.assertEqual(server.terminate(), 0)
        again = self.replica("one", port=server.port)
        watch = again.call("GET", f"{SERVICES}?watch=1&timeoutSeconds=1&resourceVersion={old}")
        self.assertEqual(json.loads(watch.body.splitlines()[0])["object"]["metadata"]["name"], "more")
        self.assertNotIn("another past", again.output())


if __name__ == "__main__":
    main()
