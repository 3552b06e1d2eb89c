"""What the documents show is what happens.

Every ```console block of the documents is run: a line starting with "$ " is a command, the lines
after it are its output, to the letter; a line "..." stands for any lines, and an age of some seconds
for any other. `berth` is the program under test (its path is in BERTH_BIN), `kubectl` is Debian's
and talks to a server of the document's own. Commands run at the top of the repository.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBECTL = "build/tools/kubernetes-client/usr/bin/kubectl"
DOCUMENTS = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").glob("*.md"))]


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
    return [without_age(line.rstrip()) for line in done.stdout.rstrip("\n").splitlines()]


def without_age(line):
    return re.sub(r" \d+s(?= *$|  )", " 0s", line)


def pattern_of(lines):
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(without_age(line.rstrip())) + "\n" for line in lines]
    return "".join(parts)


class DocumentsTest(unittest.TestCase):
    maxDiff = None

    def test_every_example_prints_what_is_shown(self):
        ran = 0
        for document in DOCUMENTS:
            shown = list(examples((ROOT / document).read_text()))
            with tempfile.TemporaryDirectory() as folder:
                server = None
                if any("kubectl " in command for command, _ in shown):
                    server = harness.Server(folder)
                    self.addCleanup(server.stop)
                for command, expected in shown:
                    while expected and not expected[-1]:
                        expected.pop()
                    actual = run(command, server.kubeconfig if server else "")
                    with self.subTest(document=document, command=command):
                        text = "".join(line + "\n" for line in actual)
                        if not re.fullmatch(pattern_of(expected), text):
                            self.assertEqual(expected, actual)
                    ran += 1
                if server:
                    server.stop()
        self.assertGreater(ran, 3)

    def test_links_between_documents_lead_somewhere(self):
        for document in [*DOCUMENTS, "ARCHITECTURE.md", "CONTRIBUTING.md", "src/README.md"]:
            path = ROOT / document
            for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
                with self.subTest(document=document, target=target):
                    self.assertTrue((path.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
