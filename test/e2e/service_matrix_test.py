"""Families, policies and addresses of Services on each kind of cluster: the vectors of
src/rules/service_vectors.h against a real server, which really takes and releases the addresses.

    BERTH_BIN=build/release/berth python3 test/e2e/service_matrix_test.py
"""

import os
import re
import tempfile
import unittest

from addresses import ADDRESSES, SERVICES, Audits, Client, service
from harness import Server, main

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "rules",
                       "service_vectors.h")
RANGES = {"4": "10.0.0.0/24", "6": "2000::/120"}
GIVEN = {"4": "10.0.0.20", "6": "2000::20", "N": "None", "H": "None"}
POLICIES = {"S": "SingleStack", "P": "PreferDualStack", "R": "RequireDualStack", "-": None}
FAMILIES = {"4": "IPv4", "6": "IPv6"}


def vectors(name):
    """Returns the words of each line."""
    with open(VECTORS, encoding="utf-8") as file:
        text = re.search(rf'{name} = R"\((.*?)\)"', file.read(), re.DOTALL)[1]
    return [line.split() for line in text.strip().splitlines()]


def wanted(ips, policy, families):
    """Returns a Service from the short forms of the vectors."""
    addresses = [GIVEN[each] for each in ips if each != "-"]
    return service("s", clusterIP=addresses[0] if addresses else None,
                   clusterIPs=addresses or None, ipFamilyPolicy=POLICIES[policy],
                   ipFamilies=[FAMILIES[each] for each in families if each != "-"] or None,
                   selector=None if ips == "H" else {"a": "b"})


def digits(obj):
    return "".join("4" if each == "IPv4" else "6" for each in obj["spec"].get("ipFamilies", []))


class Matrix(Audits):
    """The vectors of one kind of cluster: how many there are, for create and for update."""

    CLUSTER = ""
    CREATES = UPDATES = 0

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.server = Server(folder.name, "--service-cluster-ip-range",
                            ",".join(RANGES[each] for each in cls.CLUSTER))
        cls.addClassCleanup(cls.server.stop)
        cls.client = Client(cls.server)
        cls.addClassCleanup(cls.client.close)

    def records(self):
        """Returns the owner of each address, without default/kubernetes."""
        items = self.client.call("GET", ADDRESSES).json["items"]
        return {each["metadata"]["name"]: each["spec"]["parentRef"] for each in items
                if each["spec"]["parentRef"].get("name") != "kubernetes"}

    def recorded(self, obj):
        """Checks that exactly its addresses are recorded for it, and that each is of its family."""
        ips = [ip for ip in obj["spec"]["clusterIPs"] if ip != "None"]
        self.assertEqual(self.records(), {ip: {"resource": "services", "namespace": "default",
                                               "name": "s"} for ip in ips})
        self.assertEqual("".join("6" if ":" in ip else "4" for ip in ips),
                         digits(obj) if ips else "")
        self.assertEqual(obj["spec"]["clusterIP"], obj["spec"]["clusterIPs"][0])

    def gone(self):
        self.assertEqual(self.client.call("DELETE", f"{SERVICES}/s").code, 200)
        self.assertEqual(self.records(), {})

    def create(self, ips, policy, families, expected):
        answer = self.client.call("POST", SERVICES, wanted(ips, policy, families))
        if expected == "E":
            self.assertEqual((answer.code, answer.json["reason"]), (422, "Invalid"), answer)
            self.assertEqual(self.records(), {})
            return
        self.assertEqual(answer.code, 201, answer)
        obj = answer.json
        self.assertEqual(obj["spec"]["ipFamilyPolicy"][0] + digits(obj), expected)
        given = [GIVEN[each] for each in ips if each != "-"]
        self.assertEqual(obj["spec"]["clusterIPs"][:len(given)], given)
        self.recorded(obj)
        self.gone()

    def update(self, old_policy, old_ips, policy, families, ips, expected):
        made = self.client.call("POST", SERVICES, wanted(old_ips, old_policy, "-"))
        self.assertEqual(made.code, 201, made)
        answer = self.client.call("PUT", f"{SERVICES}/s", wanted(ips, policy, families))
        if expected == "E":
            self.assertEqual((answer.code, answer.json["reason"]), (422, "Invalid"), answer)
            self.recorded(made.json)
            self.assertEqual(self.client.call("GET", f"{SERVICES}/s").body, made.body)
        else:
            self.assertEqual(answer.code, 200, answer)
            obj = answer.json
            self.assertEqual(len(digits(obj)), int(expected))
            self.assertEqual(obj["spec"]["clusterIPs"][0], made.json["spec"]["clusterIPs"][0])
            given = [GIVEN[each] for each in ips if each != "-"][:int(expected)]
            self.assertEqual(obj["spec"]["clusterIPs"][:len(given)], given)
            self.recorded(obj)
        self.gone()

    def test_create(self):
        count = 0
        for cluster, ips, policy, *expected in vectors("kCreateVectors"):
            for families, result in zip(("-", "4", "6", "46", "64"), expected, strict=True):
                if cluster != self.CLUSTER:
                    continue
                with self.subTest(ips=ips, policy=policy, families=families):
                    self.create(ips, policy, families, result)
                count += 1
        self.assertEqual(count, self.CREATES)

    def test_update(self):
        count = 0
        for cluster, *line in vectors("kUpdateVectors"):
            if cluster == self.CLUSTER:
                with self.subTest(line):
                    self.update(*line)
                count += 1
        self.assertEqual(count, self.UPDATES)

    def second_in_use(self):
        """A second address that another Service has cannot be added, and nothing is taken."""
        first, second = (GIVEN[each] for each in self.CLUSTER)
        made = self.made(service("s", clusterIP=first))
        self.made(service("other", clusterIP=second, ipFamilies=[FAMILIES[self.CLUSTER[1]]]))
        for policy in ("PreferDualStack", "RequireDualStack"):
            self.refused(422, f"failed to allocate IP {second}: provided IP is already allocated",
                         "PUT", f"{SERVICES}/s",
                         service("s", clusterIP=first, clusterIPs=[first, second],
                                 ipFamilyPolicy=policy))
            self.assertEqual(self.done("GET", f"{SERVICES}/s"), made)
        self.audit()
        self.done("DELETE", f"{SERVICES}/other")
        self.gone()


class V4Test(Matrix, unittest.TestCase):
    CLUSTER, CREATES, UPDATES = "4", 120, 4


class V6Test(Matrix, unittest.TestCase):
    CLUSTER, CREATES, UPDATES = "6", 120, 0


class V4V6Test(Matrix, unittest.TestCase):
    CLUSTER, CREATES, UPDATES = "46", 140, 100

    def test_second_in_use(self):
        self.second_in_use()


class V6V4Test(Matrix, unittest.TestCase):
    CLUSTER, CREATES, UPDATES = "64", 140, 76

    def test_second_in_use(self):
        self.second_in_use()


if __name__ == "__main__":
    main()
