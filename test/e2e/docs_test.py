"""What the documents show is what happens.

Every ```console block of the documents is run: a line starting with "$ " is a command, the lines
after it are its output, to the letter, but that

- a line "..." stands for any lines,
- an age of some seconds stands for any other, and
- a value of a dynamic band, of which the server draws any, for any other, but the same one for the
  same one; columns are as wide as such values make them.

`berth` is the program under test (its path is in BERTH_BIN), `kubectl` is Debian's and talks to a
server of the document's own. A command `berth serve ... &` takes another one's place: it runs with the
same flags, but for where it keeps its data; what it prints is not compared. What ranges say of themselves
follows within a second or so, and is waited for. Commands run at the top of the repository.
"""
import ipaddress
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBECTL = "build/tools/kubernetes-client/usr/bin/kubectl"
DOCUMENTS = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").glob("*.md"))]
# Of the ranges that examples use.
DYNAMIC_ADDRESSES = [tuple(map(ipaddress.ip_address, band)) for band in (
    ("10.96.1.1", "10.96.255.254"), ("10.0.0.2", "10.0.0.14"), ("10.0.0.17", "10.0.0.254"),
    ("10.5.1.1", "10.5.255.254"), ("10.61.0.17", "10.61.0.254"),
    ("fd00:10:96::101", "fd00:10:96::ffff"), ("fd00:10:5::101", "fd00:10:5:0:ffff:ffff:ffff:ffff"))]
DYNAMIC_PORTS = range(30086, 32768)


def examples(text):
    """Yields (command, expected output) of each console block."""
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        command, output = None, []
        for line in block.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, output
                command, output = line[2:], []
            elif output or line or command:
                output.append(line)
        if command:
            yield command, output


def run(command, kubeconfig):
    berth = pathlib.Path(os.environ["BERTH_BIN"]).resolve()
    kubectl = pathlib.Path(os.environ.get("KUBECTL_OLD", ROOT / KUBECTL)).resolve()
    environment = {**os.environ, "PATH": f"{berth.parent}:{kubectl.parent}:{os.environ['PATH']}",
                   "LC_ALL": "C.UTF-8", "TERM": "dumb", "KUBECONFIG": kubeconfig}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.rstrip("\n").splitlines()


def is_drawn(text):
    """Whether it is an address or a port that the server may have drawn."""
    if text.isdigit():
        return int(text) in DYNAMIC_PORTS
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(first.version == address.version and first <= address <= last
               for first, last in DYNAMIC_ADDRESSES)


def without_drawn(lines):
    """The lines without the values that the server drew; the same value is still the same one."""
    numbers = {}

    def stand_in(match):
        return f"<{numbers.setdefault(match[0], len(numbers))}>" if is_drawn(match[0]) else match[0]

    for pattern in (r"\b[\da-f]+(?:[.:]+[\da-f]+)+\b", r"\b\d{5}\b"):
        lines = [re.sub(pattern, stand_in, line) for line in lines]
    return lines


def steady(*texts):
    """Each list of lines without what differs from run to run."""
    texts = [[re.sub(r" \d+s(?= *$|  )", " 0s", line.rstrip()) for line in lines] for lines in texts]
    drawn = [without_drawn(lines) for lines in texts]
    if drawn == texts:
        return texts
    return [[re.sub(" +", " ", line) for line in lines] for lines in drawn]


def pattern_of(lines):
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in lines]
    return "".join(parts)


class DocumentsTest(unittest.TestCase):
    maxDiff = None

    def server(self, command=""):
        """With the flags of `berth serve ... &`."""
        words = [word for word in shlex.split(command)[2:] if word != "&"]
        if "--data-dir" in words:
            place = words.index("--data-dir")
            del words[place:place + 2]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = harness.Server(folder.name, *words)
        self.addCleanup(server.stop)
        return server

    def check(self, command, expected, kubeconfig):
        while expected and not expected[-1]:
            expected.pop()
        patience = time.monotonic() + (10 if re.match(r"kubectl get (ipr|npr)\b", command) else 0)
        while True:
            shown, actual = steady(expected, run(command, kubeconfig))
            if re.fullmatch(pattern_of(shown), "".join(line + "\n" for line in actual)):
                return
            if time.monotonic() >= patience:
                self.assertEqual(shown, actual)
            time.sleep(0.2)

    def test_every_example_prints_what_is_shown(self):
        ran = 0
        for document in DOCUMENTS:
            shown = list(examples((ROOT / document).read_text()))
            server = None
            for command, expected in shown:
                if command.startswith("berth serve ") and command.endswith(" &"):
                    server = self.server(command)
                    continue
                if server is None and "kubectl " in command:
                    server = self.server()
                with self.subTest(document=document, command=command):
                    self.check(command, expected, server.kubeconfig if server else "")
                ran += 1
        self.assertGreater(ran, 3)

    def test_what_stands_for_what(self):
        for shown, printed, same in (
                (["10.96.8.66    x   3s"], ["10.96.217.142   x   1s"], True),
                (["10.96.0.10    x"], ["10.96.0.11    x"], False),
                (["10.96.0.10    x"], ["10.96.0.10   x"], False),
                (["10.96.8.66    x"], ["10.96.0.66   x"], False),
                (["80:30319/TCP,443:31622/TCP"], ["80:31622/TCP,443:30319/TCP"], True),
                (["53:30319/TCP,53:30319/UDP"], ["53:31622/TCP,53:30319/UDP"], False),
                (["80:30009/TCP"], ["80:30319/TCP"], False),
                (['["10.96.0.20","fd00:10:96::c27e"]'], ['["10.96.0.20","fd00:10:96::1c27"]'], True),
                (['["10.96.0.20","fd00:10:96::20"]'], ['["10.96.0.20","fd00:10:96::1c27"]'], False)):
            with self.subTest(shown=shown, printed=printed):
                shown, printed = steady(shown, printed)
                self.assertEqual(shown == printed, same)

    def test_links_between_documents_lead_somewhere(self):
        for document in [*DOCUMENTS, "ARCHITECTURE.md", "CONTRIBUTING.md", "src/README.md"]:
            path = ROOT / document
            for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
                with self.subTest(document=document, target=target):
                    self.assertTrue((path.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
