"""Many writers of the same objects: nothing is lost, and nothing grows.

The long form (BERTH_LONG=1) has thousands of rounds of two competing managers, and removes a
hundred thousand finalizers one by one.
"""

import os
import random
import time

import hostile_patch_test as patches
from harness import main

LONG = bool(os.environ.get("BERTH_LONG"))


class Contention(patches.HostilePatch):
    PEAK_MIB = 200  # The store's buffers and the events for watches fill up once.

    def test_two_managers_who_fight(self):
        rounds = 3_000 if LONG else 400
        versions = []

        def fight(manager):
            client = self.connect()
            for number in range(rounds):
                labels = {"fought": manager, f"own-{manager}": str(number)}
                answer = self.apply(manager, "&force=true", client, metadata={"labels": labels})
                self.assertEqual(answer.code, 200, answer)
                found = answer.json["metadata"]
                self.assertEqual({**found["labels"], **labels}, found["labels"])
                self.check_bounded(answer)
                versions.append(found["resourceVersion"])

        def meddle(which):
            client = self.connect()
            for number in range(rounds // 2):
                name = f"{which}-{number % 15}"
                answer = self.patch({"metadata": {"labels": {name: str(number)}}},
                                    (patches.MERGE, patches.STRATEGIC)[number % 2],
                                    f"?fieldManager={name}", client)
                self.assertEqual(answer.code, 200, answer)
                self.check_bounded(answer)
                versions.append(answer.json["metadata"]["resourceVersion"])

        began = time.monotonic()
        patches.together(lambda: fight("one"), lambda: fight("two"), lambda: meddle("x"),
                         lambda: meddle("y"))
        print(f"\n  {len(versions)} writes of one object from 4 connections: "
              f"{len(versions) / (time.monotonic() - began):.0f}/s", end=" ")
        self.assertEqual(len(set(versions)), 3 * rounds, "each has a version of its own")
        labels = self.get()["metadata"]["labels"]
        self.assertEqual((labels["own-one"], labels["own-two"]), (str(rounds - 1),) * 2)
        self.assertIn(labels["fought"], ("one", "two"))
        last = {number % 15: str(number) for number in range(rounds // 2)}
        for which in "xy":
            self.assertEqual({number: labels[f"{which}-{number}"] for number in last}, last)

    def check_bounded(self, answer):
        managers = self.managers(answer)
        self.assertLessEqual(sum(kind == "Update" for kind, _ in managers), 10)
        self.assertLessEqual(len(managers), 12)
        self.assertEqual(len(set(managers)), len(managers))

    def test_finalizers_one_by_one(self):
        objects, each, lines = (1_000, 100, 4) if LONG else (60, 48, 4)
        names = [f"held-{number}" for number in range(objects)]
        for name in names:
            self.make(name, finalizers=[f"example.com/f{number}" for number in range(each)])
        self.make("free")
        gone = self.client.ask("DELETE", f"{self.services}?labelSelector=a%3D1")
        self.assertEqual(gone.code, 200, gone)
        left = self.client.ask("GET", self.services).json["items"]
        self.assertEqual(len(left), objects)
        self.assertTrue(all("deletionTimestamp" in item["metadata"] for item in left))

        def remove(share):
            # Every connection removes some of them from every object, and the last one is removed
            # once.
            client = self.connect()
            chosen = [(name, number) for name in names for number in range(share, each, lines)]
            random.Random(share).shuffle(chosen)
            for name, number in chosen:
                answer = self.patch({"metadata": {"$deleteFromPrimitiveList/finalizers":
                                                  [f"example.com/f{number}"]}}, patches.STRATEGIC,
                                    "", client, name)
                self.assertEqual(answer.code, 200, answer)

        began = time.monotonic()
        patches.together(*[lambda share=share: remove(share) for share in range(lines)])
        print(f"\n  {objects * each} finalizers removed from {lines} connections: "
              f"{objects * each / (time.monotonic() - began):.0f}/s, {self.before / 1024:.1f} MiB "
              f"before, {self.grown_mib():+.1f} MiB at most", end=" ")
        self.assertEqual(self.client.ask("GET", self.services).json["items"], [])


if __name__ == "__main__":
    main()
