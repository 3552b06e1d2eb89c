"""Runs the commands that work on stores, and checks their output and the files they leave.

    BERTH_BIN=build/release/berth FILL_STORE=build/release/test/fill_store \\
        python3 test/e2e/store_cli_test.py

FILL_STORE makes data directories; etcd is the real one, on free ports.
"""

import json
import os
import pty
import re
import shutil
import subprocess
import sys

import harness
import terminals
import tools
from harness import BERTH, environment, free_ports

FILL_STORE = os.path.abspath(os.environ.get("FILL_STORE", "build/release/test/fill_store"))
OTHERS = 7  # Keys that FILL_STORE writes besides Services and their addresses; three expire.


def berth(*args, cwd=None, **changes):
    return subprocess.run([BERTH, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", env=environment(**changes), timeout=120, cwd=cwd)


class Case(harness.Case):
    def filled(self, name, services):
        subprocess.run([FILL_STORE, self.path(name), str(services)], check=True, timeout=120)
        return self.path(name)

    def good(self, *args, **more):
        done = berth(*args, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def bad(self, status, *args, **more):
        """Returns the only line on standard error of a run that fails."""
        done = berth(*args, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.rstrip("\n")

    def status(self, *args):
        return json.loads(self.good("snapshot", "status", *args, "-o", "json"))

    def mounted(self, size):
        """Returns the path of a small file system. Skips the test if mounting is not possible."""
        place = self.path("mounted")
        os.mkdir(place)
        done = subprocess.run([tools.MOUNT, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place],
                              capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(f"no file system can be mounted here: {done.stderr}")
        self.addCleanup(subprocess.run, [tools.UMOUNT, "-l", place], check=True)
        return place

    @staticmethod
    def flip(path, at):
        with open(path, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))


class SnapshotTest(Case):
    def test_saved_and_restored_is_equal(self):
        source = self.filled("data", 500)
        saved = self.good("snapshot", "save", "--data-dir", source, self.path("a.snap"))
        self.assertRegex(saved, rf"\ASaved 1,007 keys to {self.path('a.snap')}\n\n"
                                r"  Revision   1007\n  Size       [\d.]+ KiB\n"
                                r"  Checksum   [0-9a-f]{64}\n\Z")
        restored = self.good("snapshot", "restore", self.path("a.snap"), "--data-dir",
                             self.path("new"))
        self.assertIn(f"Restored {self.path('a.snap')} into {self.path('new')} in ", restored)
        self.assertIn("  Keys       1,007, 3 of them expiring\n", restored)
        self.assertRegex(restored, r"  services +500 ")
        before, file, after = (self.status("--data-dir", source), self.status(self.path("a.snap")),
                               self.status("--data-dir", self.path("new")))
        for each in (file, after):
            for key in ("checksum", "keys", "expiringKeys", "kinds", "bytes"):
                self.assertEqual(each[key], before[key])
        self.assertEqual(list(before), list(file))
        self.assertEqual((before["kind"], file["kind"]), ("DataDirectory", "Snapshot"))
        self.assertEqual(file["source"], f"embedded:{source}")
        self.assertEqual(file["revision"], before["revision"])
        self.assertIsNone(after["unfinishedCopy"])
        # Revisions that were handed out after the snapshot cannot occur a second time.
        self.assertGreater(after["revision"], before["revision"] + 2**48)
        self.assertGreater(after["compactedRevision"], before["revision"] + 2**48)

    def test_status_as_a_table(self):
        source = self.filled("data", 1)
        out = self.good("snapshot", "status", "--data-dir", source)
        self.assertRegex(out, rf"\A{source}   data directory\n\n  Revision   9\n"
                              r"  History    from revision 0\n  Keys       9, 3 of them expiring\n"
                              r"  Size       [\d.]+ KiB, [\d.]+ KiB on disk\n"
                              r"  Checksum   [0-9a-f]{64}\n\n  KIND  +KEYS +SIZE\n")
        self.assertRegex(out, r"\n  ipranges\.allocation\.berth\.io +1 +\d+ bytes\n")

    def test_a_snapshot_can_be_restored_where_it_was_saved(self):
        """Recovery after damage: save, lose the directory, restore."""
        source = self.filled("data", 10)
        self.good("snapshot", "save", "--data-dir", source, "a.snap", cwd=self.folder)
        shutil.rmtree(source)
        self.good("snapshot", "restore", "a.snap", "--data-dir", source, cwd=self.folder)
        subprocess.run([FILL_STORE, source, "10"], check=True, timeout=60)

    def test_damage_is_found_before_anything_is_made(self):
        self.good("snapshot", "save", "--data-dir", self.filled("data", 2000), self.path("a"))
        size = os.path.getsize(self.path("a"))
        self.flip(self.path("a"), size * 9 // 10)
        for args in (("status", self.path("a")),
                     ("restore", self.path("a"), "--data-dir", self.path("new"))):
            message = self.bad(2, "snapshot", *args)
            self.assertRegex(message, rf'^berth snapshot {args[0]}: "{self.path("a")}": damaged at '
                                      r"byte \d+: the checksum of the block that begins here is "
                                      "wrong$")
        self.assertFalse(os.path.exists(self.path("new")))
        self.flip(self.path("a"), size * 9 // 10)
        os.truncate(self.path("a"), size - 1)
        self.assertEqual(self.bad(2, "snapshot", "status", self.path("a")),
                         f'berth snapshot status: "{self.path("a")}": damaged at byte {size - 1}: '
                         "the file ends here, before it is complete")

    def test_files_that_are_no_snapshots(self):
        with open(self.path("a"), "w", encoding="utf-8") as file:
            file.write("apiVersion: v1\n")
        self.assertEqual(self.bad(2, "snapshot", "status", self.path("a")),
                         f'berth snapshot status: "{self.path("a")}": is not a berth snapshot')
        self.assertEqual(self.bad(2, "snapshot", "restore", self.path("b"), "--data-dir",
                                  self.path("c")),
                         f'berth snapshot restore: "{self.path("b")}": cannot read it: No such '
                         "file or directory")

    def test_nothing_is_written_over(self):
        source = self.filled("data", 1)
        with open(self.path("a"), "w", encoding="utf-8") as file:
            file.write("precious")
        self.assertEqual(self.bad(2, "snapshot", "save", "--data-dir", source, self.path("a")),
                         f'berth snapshot save: "{self.path("a")}" is there already; it is not '
                         "written over")
        self.good("snapshot", "save", "--data-dir", source, self.path("b"))
        message = self.bad(2, "snapshot", "restore", self.path("b"), "--data-dir", source)
        self.assertRegex(message, rf'^berth snapshot restore: "{source}" is not empty \(it contains '
                                  r'".+"\); restore into a directory that is empty or does not '
                                  "exist$")
        self.assertEqual(self.status("--data-dir", source)["keys"], 2 + OTHERS)

    def test_a_directory_without_a_store(self):
        for args in (("snapshot", "save", "--data-dir", self.path("x"), self.path("a")),
                     ("snapshot", "status", "--data-dir", self.path("x")),
                     ("salvage", "--data-dir", self.path("x"))):
            self.assertRegex(self.bad(2, *args), f"there is no store in {self.path('x')}$")
            self.assertEqual(os.listdir(self.folder), [])

    def test_a_directory_that_is_in_use(self):
        holder = subprocess.Popen([FILL_STORE, self.path("data"), "1", "hold"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.stdin.close)
        self.assertEqual(holder.stdout.readline(), b"holding\n")
        for args in (("snapshot", "save", "--data-dir", self.path("data"), self.path("a")),
                     ("snapshot", "status", "--data-dir", self.path("data")),
                     ("migrate", "--from", "embedded:" + self.path("data"), "--to",
                      "embedded:" + self.path("new")),
                     ("salvage", "--data-dir", self.path("data"))):
            message = self.bad(1, *args)
            self.assertIn(self.path("data"), message)
            self.assertIn(str(holder.pid), message)
            self.assertIn("fill_store", message)
        self.assertEqual(os.listdir(self.folder), ["data"])

    def test_a_full_disk(self):
        place = self.mounted("1m")
        source = self.filled("data", 5000)
        self.assertEqual(self.bad(1, "snapshot", "save", "--data-dir", source, f"{place}/a"),
                         f'berth snapshot save: cannot write "{place}/a.part": No space left on '
                         "device; make room or choose a place on another file system")
        self.assertEqual(os.listdir(place), [])
        self.good("snapshot", "save", "--data-dir", source, self.path("a"))
        message = self.bad(1, "snapshot", "restore", self.path("a"), "--data-dir", f"{place}/data")
        self.assertRegex(message, rf"^berth snapshot restore: the disk of {place}/data is full: ")
        self.assertEqual(os.listdir(place), [], "what it had made is gone again")

    def test_a_directory_that_is_read_only(self):
        place = self.mounted("300m")
        self.good("snapshot", "save", "--data-dir", self.filled("data", 10), self.path("a"))
        self.good("snapshot", "restore", self.path("a"), "--data-dir", f"{place}/data")
        subprocess.run([tools.MOUNT, "-o", "remount,bind,ro", place], check=True)
        for args in (("snapshot", "status", "--data-dir", f"{place}/data"),
                     ("snapshot", "restore", self.path("a"), "--data-dir", f"{place}/new")):
            self.assertRegex(self.bad(1, *args), r"[Rr]ead-only file system")
        self.assertEqual(self.bad(1, "snapshot", "save", "--data-dir", self.path("data"),
                                  f"{place}/a"),
                         f'berth snapshot save: cannot write "{place}/a.part": Read-only file '
                         "system")


class MigrateTest(Case):
    def test_there_and_back(self):
        source = self.filled("data", 1000)
        etcd = self.etcd()
        there = self.good("migrate", "--from", f"embedded:{source}", "--to", etcd.address)
        back = self.good("migrate", "--from", etcd.address, "--to", f"embedded:{self.path('new')}")
        for out in (there, back):
            first, second = re.findall(r"[0-9a-f]{64}", out)
            self.assertEqual(first, second)
            self.assertIn(f"{second} target, equal\n", out)
            self.assertRegex(out, r"\n  services +1,000 +[\d.]+ KiB\n")
            self.assertLessEqual(max(map(len, out.splitlines())), 100)
        before, after = self.status("--data-dir", source), self.status("--data-dir",
                                                                       self.path("new"))
        for key in ("checksum", "keys", "expiringKeys"):
            self.assertEqual(after[key], before[key])
        self.assertIn(before["checksum"], there)
        # Revisions only rise during a migration.
        (there_to,) = re.findall(r" (\d+) target; existing watches", there)
        self.assertGreater(int(there_to), before["revision"])
        self.assertGreater(after["compactedRevision"], int(there_to))

        message = self.bad(2, "migrate", "--from", f"embedded:{source}", "--to", etcd.address)
        self.assertEqual(message, "berth migrate: the target is not empty: it holds 2007 keys (1000 "
                                  "ipaddresses, 1000 services, 3 events, 2 namespaces and 2 more "
                                  "kinds); use --replace to delete its contents first")
        small = self.filled("small", 2)
        out = self.good("migrate", "--from", f"embedded:{small}", "--to", etcd.address, "--replace")
        self.assertIn("  Deleted    2,007 keys of the target\n", out)
        out = self.good("migrate", "--from", etcd.address, "--to", f"embedded:{self.path('n2')}")
        self.assertEqual(self.status("--data-dir", self.path("n2"))["checksum"],
                         self.status("--data-dir", small)["checksum"])

    def test_between_data_directories(self):
        one, two = self.filled("one", 10), self.filled("two", 20)
        message = self.bad(1, "migrate", "--from", f"embedded:{two}", "--to", f"embedded:{one}",
                           "--replace")
        self.assertEqual(message, "berth migrate: the target is at revision 27, and its revisions "
                                  "must be above 47: clients would see time go back; use a target "
                                  "that is new")
        self.assertEqual(self.status("--data-dir", one)["keys"], 20 + OTHERS)
        self.good("migrate", "--from", f"embedded:{one}", "--to", f"embedded:{two}", "--replace")
        self.assertEqual(self.status("--data-dir", one)["checksum"],
                         self.status("--data-dir", two)["checksum"])

    def test_an_etcd_that_holds_other_keys(self):
        etcd = self.etcd()
        for name in ("a", "b", "c", "d"):
            etcd.put(f"/registry/services/specs/default/{name}", "k8s\0...")
        source = self.filled("data", 2)
        for more in ((), ("--replace",)):
            message = self.bad(1, "migrate", "--from", f"embedded:{source}", "--to", etcd.address,
                               *more)
            self.assertEqual(message, "berth migrate: the etcd prefix /registry holds 4 keys but no "
                                      "marker of Berth's (/registry/berth.io/mode), so it is "
                                      "somebody else's, a kube-apiserver's for example: "
                                      "/registry/services/specs/default/a, "
                                      "/registry/services/specs/default/b, "
                                      "/registry/services/specs/default/c and others. Choose another "
                                      "--etcd-prefix or an empty etcd")
        self.good("migrate", "--from", f"embedded:{source}", "--to", etcd.address, "--etcd-prefix",
                  "/berth")
        self.assertRegex(self.bad(1, "migrate", "--from", etcd.address, "--to",
                                  f"embedded:{self.path('new')}"), "no marker of Berth's")
        self.good("migrate", "--from", etcd.address, "--etcd-prefix", "/berth", "--to",
                  f"embedded:{self.path('new')}")
        self.assertEqual(self.status("--data-dir", self.path("new"))["checksum"],
                         self.status("--data-dir", source)["checksum"])

    def test_a_copy_that_was_not_finished(self):
        etcd = self.etcd()
        source = self.filled("data", 2)
        self.good("migrate", "--from", f"embedded:{source}", "--to", etcd.address)
        etcd.put("/registry/berth.io/copying", "migrating from embedded:/a, begun yesterday")
        self.assertEqual(self.bad(1, "migrate", "--from", etcd.address, "--to",
                                  f"embedded:{self.path('new')}"),
                         "berth migrate: the source is incomplete: it holds an unfinished copy "
                         "(migrating from embedded:/a, begun yesterday)")
        self.assertRegex(self.bad(2, "migrate", "--from", f"embedded:{source}", "--to",
                                  etcd.address),
                         r"it holds 11 keys \(.*\) of an unfinished copy \(migrating from "
                         r"embedded:/a, begun yesterday\); use --replace to delete its contents "
                         "first$")
        self.good("migrate", "--from", f"embedded:{source}", "--to", etcd.address, "--replace")

    def test_a_password(self):
        etcd = self.etcd()
        etcd.post("auth/user/add", name="root", password="right")
        etcd.post("auth/role/add", name="root")
        etcd.post("auth/user/grant", user="root", role="root")
        etcd.post("auth/enable")
        way = ("migrate", "--from", f"embedded:{self.filled('data', 2)}", "--to", etcd.address)
        for name, text in (("right", "right\n"), ("wrong", "hush-hush\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        message = self.bad(1, *way, "--etcd-user", "root", "--etcd-password-file",
                           self.path("wrong"))
        self.assertEqual(message, f'berth migrate: cannot log in as "root": etcd at {etcd.url}: '
                                  "wrong user or password")
        self.assertRegex(self.bad(1, *way), "^berth migrate: ")
        self.assertEqual(self.bad(2, *way, "--etcd-user", "root"),
                         "berth migrate: --etcd-user needs a password: use --etcd-password-file or "
                         "set BERTH_ETCD_PASSWORD")
        self.assertRegex(self.bad(2, *way, "--etcd-user", "root", "--etcd-password-file", "/no"),
                         r'--etcd-password-file: cannot read "/no": No such file or directory$')
        self.good(*way, "--etcd-user", "root", "--etcd-password-file", self.path("right"))
        self.good(*way, "--etcd-user", "root", "--replace", BERTH_ETCD_PASSWORD="right")

    def certificate(self, name, days):
        """Makes a key and a certificate for 127.0.0.1, signed by its own CA."""
        def openssl(*args):
            subprocess.run([tools.OPENSSL, *args], check=True, capture_output=True, cwd=self.folder)

        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        openssl("req", "-x509", *curve, "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem",
                "-subj", "/CN=ca", "-days", "2")
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", "/CN=etcd")
        with open(self.path(f"{name}.ext"), "w", encoding="utf-8") as file:
            file.write("subjectAltName=IP:127.0.0.1\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey",
                f"{name}-ca.key", "-CAcreateserial", "-days", str(days), "-extfile", f"{name}.ext",
                "-out", f"{name}.pem")
        return [self.path(f"{name}{end}") for end in (".pem", ".key", "-ca.pem")]

    def test_certificates(self):
        good, expired = self.certificate("good", 2), self.certificate("expired", -1)
        source = self.filled("data", 2)
        for (cert, key, ca), trusted, wanted in ((expired, expired[2], "expired"),
                                                 (good, expired[2], "certificate"),
                                                 (good, good[2], None)):
            etcd = self.etcd("--cert-file", cert, "--key-file", key, scheme="https")
            way = ("migrate", "--from", f"embedded:{source}", "--to", etcd.address,
                   "--etcd-cacert", trusted)
            if wanted:
                message = self.bad(1, *way)
                self.assertIn(wanted, message)
                self.assertIn("127.0.0.1", message)
            else:
                self.good(*way)

    def test_an_etcd_that_does_not_answer(self):
        (port,) = free_ports(1)
        message = self.bad(1, "migrate", "--from", f"etcd:http://127.0.0.1:{port}", "--to",
                           f"embedded:{self.path('new')}")
        self.assertIn(f"127.0.0.1:{port}", message)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_bad_arguments(self):
        rows = [(("--from", "/var/lib/berth", "--to", "embedded:x"),
                 'berth migrate: --from "/var/lib/berth": must be embedded:DIR or etcd:URL[,URL...],'
                 " as in etcd:https://10.0.0.5:2379"),
                (("--from", "embedded:x", "--to", "etcd:10.0.0.5:2379"),
                 'berth migrate: --to "etcd:10.0.0.5:2379": "10.0.0.5:2379" must begin with '
                 "https:// or http://"),
                (("--from", "embedded:", "--to", "embedded:x"),
                 'berth migrate: --from "embedded:": a directory is missing after embedded:'),
                (("--from", f"embedded:{self.folder}", "--to", f"embedded:{self.folder}/."),
                 "berth migrate: --from and --to name the same store"),
                (("--from", "embedded:x"), "berth migrate: --to is missing; see berth migrate "
                                           "--help")]
        for args, wanted in rows:
            with self.subTest(args):
                self.assertEqual(self.bad(2, "migrate", *args, cwd=self.folder), wanted)


class SalvageTest(Case):
    def log_of(self, directory):
        (log,) = [name for name in os.listdir(directory) if name.endswith(".log")]
        return os.path.join(directory, log)

    def test_a_byte_in_the_middle_of_the_log(self):
        source = self.filled("data", 1000)
        before = self.status("--data-dir", source)
        log = self.log_of(source)
        self.flip(log, os.path.getsize(log) // 2)
        message = self.bad(1, "snapshot", "save", "--data-dir", source, self.path("a"))
        self.assertRegex(message, rf"^berth snapshot save: the store in {source} is damaged: "
                                  rf"checksum mismatch at byte \d+ of {log}, followed by \d+ "
                                  r"records that can be read; .*berth salvage")
        shown = berth("salvage", "--data-dir", source)
        self.assertEqual((shown.returncode, shown.stderr), (1, ""))
        self.assertRegex(shown.stdout, rf"\AThe log of {source} is damaged\n\n  File       {log}\n"
                                       r"  At byte    \d+: checksum mismatch\n"
                                       r"  After it   \d+ records that can be read\n"
                                       r"  Cut        [\d.]+ KiB\n")
        self.assertIn(f"To cut the log: berth salvage --data-dir {source} --yes\n", shown.stdout)
        self.assertEqual(self.bad(1, "snapshot", "save", "--data-dir", source, self.path("a")),
                         message, "showing it changes nothing")
        done = self.good("salvage", "--data-dir", source, "--yes")
        self.assertRegex(done, rf"\ASalvaged {source}\n\n  Copy       {source}/cut-\d+T\d+Z\n")
        after = self.status("--data-dir", source)
        self.assertLess(after["keys"], before["keys"])
        self.assertGreater(after["keys"], before["keys"] / 3)
        self.assertGreater(after["revision"], before["revision"] + 2**20)
        self.assertEqual(after["compactedRevision"], after["revision"])
        self.good("snapshot", "save", "--data-dir", source, self.path("a"))
        subprocess.run([FILL_STORE, source, "1000"], check=True, timeout=60)
        self.assertEqual(self.status("--data-dir", source)["checksum"], before["checksum"])

    def test_a_salvage_that_was_interrupted(self):
        source = self.filled("data", 10)
        with open(os.path.join(source, "salvaging"), "wb"):
            pass
        self.assertEqual(self.bad(1, "snapshot", "status", "--data-dir", source),
                         f"berth snapshot status: the store in {source} was being salvaged, and "
                         "that was interrupted: do it again (berth salvage)")
        shown = berth("salvage", "--data-dir", source)
        self.assertEqual((shown.returncode, shown.stdout),
                         (1, f"A salvage of {source} was interrupted after the cut\n\n"
                             f"  To finish it: berth salvage --data-dir {source} --yes\n"))
        self.assertIn("  Keys       27\n", self.good("salvage", "--data-dir", source, "--yes"))
        self.assertGreater(self.status("--data-dir", source)["revision"], 2**32)

    def test_nothing_to_salvage(self):
        source = self.filled("data", 10)
        for more in ((), ("--yes",)):
            self.assertEqual(self.good("salvage", "--data-dir", source, *more),
                             f"Nothing to salvage: {source} can be read, 27 keys at revision 27\n")
        self.assertEqual(self.status("--data-dir", source)["revision"], 27)

    def test_damage_elsewhere(self):
        source = self.filled("data", 10)
        os.remove(os.path.join(source, "CURRENT"))
        self.assertRegex(self.bad(1, "salvage", "--data-dir", source),
                         r"^berth salvage: .*CURRENT is missing")


class ProgramTest(Case):
    def test_help(self):
        for args in (["snapshot"], ["snapshot", "save"], ["snapshot", "restore"],
                     ["snapshot", "status"], ["migrate"], ["salvage"]):
            with self.subTest(args):
                out = self.good(*args, "--help")
                self.assertIn("Example", out)
                self.assertIn(f"Usage: berth {' '.join(args)} [OPTIONS]", out)
                self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_bad_arguments(self):
        rows = [(("snapshot",), "berth snapshot: a command is missing: save, restore or status; "
                                "see berth snapshot --help"),
                (("snapshot", "sav"), 'berth snapshot: unknown command "sav"; the commands are save, '
                                      "restore and status; see berth snapshot --help"),
                (("snapshot", "save", "a"), "berth snapshot save: give either --data-dir (a data "
                                            "directory) or --kubeconfig (a server); see berth "
                                            "snapshot save --help"),
                (("snapshot", "restore", "--data-dir", "a"), "berth snapshot restore: FILE is "
                                                             "missing; see berth snapshot restore "
                                                             "--help"),
                (("snapshot", "status"), "berth snapshot status: give either FILE (a snapshot) or "
                                         "--data-dir (a data directory); see berth snapshot status "
                                         "--help"),
                (("snapshot", "status", "a", "--data-dir", "b"),
                 "berth snapshot status: give either FILE (a snapshot) or --data-dir (a data "
                 "directory); see berth snapshot status --help"),
                (("snapshot", "status", "a", "-o", "yaml"),
                 'berth snapshot status: -o "yaml": must be table or json; see berth snapshot '
                 "status --help"),
                (("salvage", "--data-dir", "a", "--nope"),
                 'berth salvage: unknown flag "--nope"; see berth salvage --help'),
                (("salvage",), "berth salvage: --data-dir is missing; see berth salvage --help")]
        for args, wanted in rows:
            with self.subTest(args):
                self.assertEqual(self.bad(2, *args), wanted)

    def test_progress_on_a_terminal(self):
        source = self.filled("data", 20000)
        leader, follower = pty.openpty()
        process = subprocess.Popen([BERTH, "migrate", "--from", f"embedded:{source}", "--to",
                                    f"embedded:{self.path('new')}"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=follower, env=environment())
        os.close(follower)
        shown = terminals.read_all(leader)
        out = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(shown.decode(), r"\r\x1b\[Kberth migrate: copying: [\d,]+ of 40,007 keys "
                                         r"\(\d+%\), [\d.]+ [KM]iB")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), "the line is taken away again")
        self.assertIn("Migrated embedded:", out)


def may_mount():
    """Restarts the script in its own namespace, where every user may mount, unless it can mount
    already."""
    command = [tools.UNSHARE, "--map-root-user", "--mount"]
    if os.geteuid() != 0 and subprocess.run([*command, "true"], check=False).returncode == 0:
        os.execv(command[0], [*command, tools.PYTHON, *sys.argv])


if __name__ == "__main__":
    may_mount()
    harness.main()
