#!/usr/bin/env python3
"""`berth verify --watch` and `-o wide`."""

import json
import os
import re
import subprocess
import tempfile

from addresses import SERVICES as PATH, service
from eyes_test import Eyes, berth
from harness import BERTH, environment, main, wait_for
from rough_server import ADDRESSES, SERVICES, make_address, make_service
from verify_test import BITMAPS, VerifyCase

DAMAGED = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "examples", "damaged.snap")
EARLY = "Not counted, because they may be writes in progress; a later look decides:"
FINE = "Nothing is wrong"


class Follower:
    """`berth verify --watch`, which prints into a file."""

    def __init__(self, test, *args):
        self.output = tempfile.NamedTemporaryFile()
        test.addCleanup(self.output.close)
        self.process = subprocess.Popen([BERTH, "verify", "--watch", *args], stdin=subprocess.DEVNULL,
                                        stdout=self.output, stderr=subprocess.STDOUT,
                                        env=environment())
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def printed(self):
        with open(self.output.name, encoding="utf-8") as file:
            return file.read()

    def tables(self):
        """Returns the answers that are complete, without their heads."""
        return [each.partition("\n")[2] for each in self.printed().split("\n\nhttp")
                if each.endswith(("finding", "findings", FINE, "findings\n", "finding\n", FINE + "\n"))]

    def documents(self):
        return [json.loads(each) for each in self.printed().split("\n\n") if each.endswith(("}", "}\n"))]


class KubernetesTest(Eyes):
    def follow(self, *args):
        return Follower(self, "--server", self.server.url, *args)

    def watched(self):
        wait_for(lambda: all(self.server.seen(f"{each}?watch=") for each in
                             (SERVICES, ADDRESSES, "servicecidrs")))

    def test_a_finding_counts_when_it_has_lasted(self):
        follower = self.follow()
        wait_for(follower.tables)
        self.assertTrue(follower.tables()[0].rstrip().endswith(FINE))
        self.watched()
        self.server.put(SERVICES, make_service(5000, "10.96.0.2"))
        # Nothing changes any more, and yet it is printed again.
        wait_for(lambda: "1 finding" in follower.printed())
        early, counted = follower.tables()[-2:]
        self.assertIn(EARLY, early)
        self.assertTrue(early.rstrip().endswith(FINE))
        for each in early, counted:
            self.assertIn("The address 10.96.0.2 belongs to 2 Services at once: team-0/svc-005000 and "
                          "team-1/svc-000001", each)
        self.assertIn("TwoOwners (1): ", counted)
        self.assertIn("Ranges: addresses from ServiceCIDR kubernetes (exact)", counted)
        self.server.delete(SERVICES, "svc-005000", "team-0")
        wait_for(lambda: follower.tables()[-1].rstrip().endswith(FINE))
        self.server.assert_only_reads()

    def test_what_passes_is_not_counted(self):
        """A write in progress: the record comes after its Service."""
        follower = self.follow("-o", "json")
        wait_for(follower.documents)
        self.watched()
        for number in range(2000, 2004):
            made = make_service(number, f"10.100.0.{number - 1990}")
            self.server.put(SERVICES, made)
            wait_for(lambda: follower.documents()[-1]["settling"])
            self.server.put(ADDRESSES, make_address(made))
            wait_for(lambda: not follower.documents()[-1]["settling"])
        self.assertEqual([each["counts"]["NoRecord"] for each in follower.documents()
                          if not each["clean"]], [])
        self.assertEqual(follower.documents()[-1]["checked"]["services"], 1204)

    def test_the_exit_code_is_that_of_the_last_answer(self):
        self.server.put(SERVICES, make_service(5000, "10.96.0.2"))
        process = subprocess.Popen([BERTH, "verify", "--watch", "--server", self.server.url],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   env=environment())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if line == b"1 finding\n":
                break
        process.stdout.close()
        self.server.put(SERVICES, make_service(5001, "10.96.0.3"))
        self.assertEqual(process.wait(timeout=60), 1)

    def test_a_server_that_is_gone(self):
        follower = self.follow()
        self.watched()
        self.server.stop()
        wait_for(lambda: re.search("  changes of .*services.* since 20.* are not seen: .*" +
                                   re.escape(self.server.url), follower.printed()))


class BerthTest(VerifyCase):
    def follow(self, *args):
        return Follower(self, "--kubeconfig", self.server.kubeconfig, *args)

    def test_a_server_with_a_finding(self):
        restored = berth("snapshot", "restore", DAMAGED, "--data-dir", self.path("data"))
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.server = super().server()
        follower = self.follow("-o", "json")
        wait_for(lambda: follower.documents() and not follower.documents()[-1]["clean"])
        document = follower.documents()[-1]
        self.assertEqual((document["allocations"], document["counts"]["TwoOwners"]), ("records", 1))
        self.assertEqual(document["notChecked"], ["Stored values that cannot be decoded"])
        self.assertEqual(self.server.call("DELETE", "/api/v1/namespaces/shop/services/copy").code, 200)
        wait_for(lambda: follower.documents()[-1]["clean"])

    def test_a_busy_server_is_clean(self):
        self.filled()
        follower = self.follow("-o", "json")
        wait_for(follower.documents)
        for number in range(60):
            self.made(service(f"s{number}", "NodePort"))
            if number % 2:
                self.assertEqual(self.server.call("DELETE", f"{PATH}/s{number}").code, 200)
        wait_for(lambda: follower.documents()[-1]["checked"]["services"] == 34)
        wait_for(lambda: not follower.documents()[-1]["settling"])
        self.assertEqual([each["findings"] for each in follower.documents() if not each["clean"]], [])

    def test_bitmaps_have_no_records_to_compare(self):
        self.filled(BITMAPS, records=False)
        follower = self.follow("-o", "json")
        wait_for(follower.documents)
        self.made(service("more"))
        wait_for(lambda: follower.documents()[-1]["checked"]["services"] == 5)
        wait_for(lambda: not follower.documents()[-1]["settling"])
        for document in follower.documents():
            self.assertTrue(document["clean"], document["findings"])
            self.assertEqual(document["allocations"], "bitmaps")
            self.assertIn("Bitmaps", document["notChecked"])

    def test_arguments(self):
        for args, said in ((("--snapshot", DAMAGED), "a file or a store at rest does not change; follow "
                                                     "a running cluster"),
                           (("--data-dir", "a"), "a store at rest does not change"),
                           (("--etcd-servers", "http://127.0.0.1:1"), "leave one of them out")):
            self.assertIn(said, self.failed("--watch", *args))
        self.filled(records=False)
        self.assertIn("--node-port-range: Berth keeps its ranges as objects", self.failed(
            "--watch", "--kubeconfig", self.server.kubeconfig, "--node-port-range", "30000-30010"))


class WideTest(VerifyCase):
    def test_the_objects_of_each_finding(self):
        done = berth("verify", "--snapshot", DAMAGED, "-o", "wide")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, "says that Service shop/web has it\n"
                                      "    Service shop/copy, uid [0-9a-f-]{36}\n"
                                      "    Service shop/web, uid [0-9a-f-]{36}\n"
                                      "    IPAddress 10.96.0.80\n"
                                      "    → Decide which Service keeps it")

    def test_all_findings(self):
        twins = [make_service(number, "10.96.0.9") for number in range(2)]
        others = [make_service(100 + number, f"10.97.0.{number // 2 + 1}") for number in range(60)]
        with open(self.path("services.json"), "w", encoding="utf-8") as out:
            json.dump({"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "v1", "kind": "Service", **each} for each in twins + others]}, out)
        source = ("--service-cidr", "10.96.0.0/12", "-f", out.name)
        table, wide = (berth("verify", *source, "-o", each).stdout for each in ("table", "wide"))
        self.assertIn("and 11 more; -o wide lists up to 1,000 of each kind", table)
        self.assertNotIn(" more", wide)
        self.assertEqual(wide.count("belongs to 2 Services at once"), 31)
        self.assertEqual(table.count("belongs to 2 Services at once"), 20)


if __name__ == "__main__":
    main()
