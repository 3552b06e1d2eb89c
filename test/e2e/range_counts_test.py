"""Counts and state of a range are right in the answer to a change of it and in every read after
that. Nothing here waits before it checks, except where it says so.

    BERTH_BIN=build/release/berth python3 test/e2e/range_counts_test.py
"""

import unittest

from addresses import MERGE, SERVICES, service, version
from harness import Case
from ranges import (CIDRS, IP_RANGES, PORT_RANGES, PORTS, V4, V6, Ranges, condition, ip_range,
                    port_range)

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


class CountsCase(Ranges, Case):

    def setUp(self):
        super().setUp()
        self.server = super().server("--service-cluster-ip-range=10.0.0.0/28")

    def right(self, answer, path, total, used, server=None):
        """Checks that the answer has these counts for its own spec, and that a read has the same.
        Returns the answer."""
        read = self.get(path, answer["metadata"]["name"], server)
        self.assertEqual(read, answer)
        status = answer["status"]
        self.assertEqual(status["observedGeneration"], answer["metadata"]["generation"])
        self.assertEqual((status["total"], status["used"], status["free"]),
                         (str(total), used, total - used), answer)
        return answer

    def cells(self, path, name):
        """Returns what `kubectl get` prints for an object, by column."""
        answer = self.server.call("GET", f"{path}/{name}", headers=TABLE)
        self.assertEqual(answer.code, 200, answer)
        columns = [each["name"] for each in answer.json["columnDefinitions"]]
        return dict(zip(columns, answer.json["rows"][0]["cells"]))


class ChangeTest(CountsCase):

    def test_larger_and_smaller(self):
        self.status(IP_RANGES, V4, used=1)  # default/kubernetes.
        self.right(self.resized(V4, "10.0.0.0/24"), IP_RANGES, 254, 1)
        cells = self.cells(IP_RANGES, V4)
        self.assertEqual((cells["Total"], cells["Used"], cells["Free"]), ("254", 1, 253))
        self.right(self.resized(V4, "10.0.0.0/27"), IP_RANGES, 30, 1)
        self.assertEqual(self.get(CIDRS, "kubernetes")["spec"]["cidrs"], ["10.0.0.0/27"])

    def test_values_that_another_range_has_are_counted(self):
        self.made(ip_range("other", "10.0.0.128/25"), IP_RANGES)
        self.made(service("a", clusterIP="10.0.0.200"))
        self.right(self.resized(V4, "10.0.0.0/24"), IP_RANGES, 254, 2)
        self.assertEqual(condition(self.get(IP_RANGES, V4), "Overlapping"),
                         ("True", "SharedValues"))

    def test_disabled_and_enabled(self):
        off = self.changed(IP_RANGES, V4, disabled=True)
        self.right(off, IP_RANGES, 14, 1)
        self.assertEqual(condition(off, "Ready"), ("False", "Draining"))
        self.assertEqual(condition(off, "Draining"), ("True", "Draining"))
        self.assertEqual(self.cells(IP_RANGES, V4)["Ready"], "Draining")
        on = self.changed(IP_RANGES, V4, disabled=None)
        self.right(on, IP_RANGES, 14, 1)
        self.assertEqual(condition(on, "Ready"), ("True", "Ready"))

    def test_exclusions_and_the_static_band(self):
        self.right(self.changed(IP_RANGES, V4, excluded=["10.0.0.8/29"]), IP_RANGES, 7, 1)
        banded = self.changed(IP_RANGES, V4, excluded=None, staticBand=14, strict=True)
        self.right(banded, IP_RANGES, 14, 1)
        self.assertEqual(condition(banded, "Exhausted"), ("True", "Exhausted"))
        self.assertEqual(banded["status"]["bands"],
                         {"static": {"first": "10.0.0.1", "last": "10.0.0.14", "free": 13,
                                     "used": 1}})

    def test_a_new_range(self):
        made = self.made(ip_range("more", "10.8.0.0/24"), IP_RANGES)
        self.right(made, IP_RANGES, 254, 0)
        self.assertEqual(condition(made, "Ready"), ("True", "Ready"))
        self.assertEqual(condition(made, "Overlapping"), ("False", "Alone"))
        self.right(self.made(ip_range("same", "10.0.0.0/27"), IP_RANGES), IP_RANGES, 30, 1)
        applied = self.server.call(
            "PATCH", f"{IP_RANGES}/applied?fieldManager=test", ip_range("applied", "10.9.0.0/28"),
            {"Content-Type": "application/apply-patch+yaml"})
        self.assertEqual(applied.code, 201, applied)
        self.right(applied.json, IP_RANGES, 14, 0)

    def test_another_primary_range(self):
        """The previous primary range is written together with the new one."""
        made = self.made(ip_range("more", "10.8.0.0/24", primary=True), IP_RANGES)
        self.right(made, IP_RANGES, 254, 0)
        was = self.get(IP_RANGES, V4)
        self.assertEqual((was["metadata"]["generation"], was["spec"].get("primary")), (2, None))
        self.right(was, IP_RANGES, 14, 1)

    def test_a_second_family(self):
        """The ServiceCIDR creates the range."""
        self.changed(CIDRS, "kubernetes", cidrs=["10.0.0.0/28", "fd00::/120"])
        six = self.get(IP_RANGES, V6)
        self.right(six, IP_RANGES, 255, 0)
        self.assertEqual(condition(six, "Ready"), ("True", "Ready"))

    def test_ports(self):
        self.made(service("a", "NodePort", [{"port": 80, "nodePort": 30080}]))
        self.right(self.resized(PORTS, "30000-30099"), PORT_RANGES, 100, 1)
        off = self.changed(PORT_RANGES, PORTS, disabled=True)
        self.right(off, PORT_RANGES, 100, 1)
        self.assertEqual(condition(off, "Ready"), ("False", "Draining"))
        self.right(self.made(port_range("web", "80-90"), PORT_RANGES), PORT_RANGES, 11, 0)

    def test_a_dry_run_shows_the_same(self):
        before = self.get(IP_RANGES, V4)
        dry = self.done("PATCH", f"{IP_RANGES}/{V4}?dryRun=All",
                        {"spec": {"range": "10.0.0.0/24", "disabled": True}}, MERGE)
        self.assertEqual((dry["status"]["total"], dry["status"]["used"]), ("254", 1))
        self.assertEqual(condition(dry, "Ready"), ("False", "Draining"))
        self.assertEqual(self.get(IP_RANGES, V4)["spec"], before["spec"])
        made = self.made(ip_range("more", "10.8.0.0/24"), f"{IP_RANGES}?dryRun=All")
        self.assertEqual(made["status"]["total"], "254")

    def test_what_the_client_says_of_the_status_does_not_count(self):
        answer = self.done("PATCH", f"{IP_RANGES}/{V4}",
                           {"spec": {"range": "10.0.0.0/24"}, "status": {"total": "9", "used": 9}},
                           MERGE)
        self.right(answer, IP_RANGES, 254, 1)


class OnceTest(CountsCase):

    def later(self):
        """Returns when the server has gone through all ranges since the call. One pass over all
        ranges writes the counts of Services, and when the second pass runs, the first is complete.
        """
        for i in (1, 2):
            self.made(service(f"probe-{i}", clusterIP=f"10.77.0.{i}"))
            self.status(IP_RANGES, "probe", used=i)

    def test_nothing_more_is_written(self):
        for name, cidr in {"grows": "10.11.0.0/27", "shrinks": "10.12.0.0/27",
                           "drained": "10.13.0.0/27", "excludes": "10.14.0.0/27",
                           "primary": "10.15.0.0/27", "probe": "10.77.0.0/27"}.items():
            self.made(ip_range(name, cidr), IP_RANGES)
        self.made(service("a", clusterIP="10.11.0.3"))
        self.status(IP_RANGES, "grows", used=1)
        self.status(IP_RANGES, V4, used=1)

        written = [
            (IP_RANGES, self.right(self.resized("grows", "10.11.0.0/24"), IP_RANGES, 254, 1)),
            (IP_RANGES, self.right(self.resized("shrinks", "10.12.0.0/28"), IP_RANGES, 14, 0)),
            (IP_RANGES, self.changed(IP_RANGES, "excludes", excluded=["10.14.0.1"])),
            (IP_RANGES, self.made(ip_range("new", "10.99.0.0/24"), IP_RANGES)),
            (IP_RANGES, self.changed(IP_RANGES, "primary", primary=True)),
            (IP_RANGES, self.get(IP_RANGES, V4)),
            (PORT_RANGES, self.resized(PORTS, "30000-30099")),
            (IP_RANGES, self.changed(IP_RANGES, "drained", disabled=True)),
        ]
        self.later()
        for path, then in written:
            now = self.get(path, then["metadata"]["name"])
            self.assertEqual(now, then, f"written at {version(then)} and {version(now)}")

    def test_services_are_counted_later(self):
        """Creating a Service writes no range. The count of its range follows later."""
        self.made(ip_range("probe", "10.77.0.0/27"), IP_RANGES)
        self.later()
        self.done("DELETE", f"{SERVICES}/probe-1")
        self.assertEqual(self.status(IP_RANGES, "probe", used=1)["free"], 29)


class ReplicasTest(Ranges, Case):

    def test_the_other_replica_shows_it_too(self):
        etcd = self.etcd()
        servers = [self.server("--etcd-servers", etcd.url,
                               "--service-cluster-ip-range=10.0.0.0/28", data=name)
                   for name in ("one", "two")]
        self.made(ip_range("more", "10.8.0.0/28"), IP_RANGES, servers[0])
        for i in range(12):
            one, two = servers[i % 2], servers[(i + 1) % 2]
            self.made(service(f"s{i}", clusterIP=f"10.8.0.{i + 1}"), server=two)
            size = 24 + i % 3
            self.resized("more", f"10.8.0.0/{size}", one)
            for each in (one, two):
                obj = self.get(IP_RANGES, "more", each)
                self.assertEqual((obj["status"]["total"], obj["status"]["observedGeneration"]),
                                 (str(2 ** (32 - size) - 2), obj["metadata"]["generation"]))
        self.status(IP_RANGES, "more", servers[0], used=12)


if __name__ == "__main__":
    unittest.main()
