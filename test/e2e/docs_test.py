"""What the documents show is what happens.

Every ```console block of the documents is run: a line starting with "$ " is a command, the lines
after it are its output, to the letter; a line "..." stands for any lines. `berth` is the program
under test (its path is in BERTH_BIN) and commands run at the top of the repository.
"""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


def run(command):
    berth = pathlib.Path(os.environ["BERTH_BIN"]).resolve()
    environment = {**os.environ, "PATH": f"{berth.parent}:{os.environ['PATH']}",
                   "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return [line.rstrip() for line in done.stdout.rstrip("\n").splitlines()]


def pattern_of(lines):
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()) + "\n" for line in lines]
    return "".join(parts)


class DocumentsTest(unittest.TestCase):
    maxDiff = None

    def test_every_example_prints_what_is_shown(self):
        ran = 0
        for document in DOCUMENTS:
            for command, expected in examples((ROOT / document).read_text()):
                while expected and not expected[-1]:
                    expected.pop()
                actual = run(command)
                with self.subTest(document=document, command=command):
                    if not re.fullmatch(pattern_of(expected), "".join(l + "\n" for l in actual)):
                        self.assertEqual(expected, actual)
                ran += 1
        self.assertGreater(ran, 3)

    def test_links_between_documents_lead_somewhere(self):
        for document in [*DOCUMENTS, "ARCHITECTURE.md", "CONTRIBUTING.md", "src/README.md"]:
            path = ROOT / document
            for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
                with self.subTest(document=document, target=target):
                    self.assertTrue((path.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
