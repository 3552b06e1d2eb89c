"""Checks that the documentation shows what happens when a reader types its commands.

Each page is read from top to bottom, once with an old kubectl (1.20) and once with a current one
(1.32). Every ```console block is typed into the terminal that the page names for it, line by line,
into an interactive bash. There is a test for each page and kubectl: `docs_test.py ranges.test_old`.

A reader has a checkout with the built program at build/berth, an empty home folder, a kubectl on
the PATH, and no KUBECONFIG. Nothing else is prepared, and nothing is typed that the page does not
show:

- The text above a block says "terminal 1", "terminal 2" and so on; the last one named counts.
  Without such words the block is for the terminal of the block before.
- A line that starts with "$ " is a command. The lines after it are its output.
- "^C" is Ctrl-C. A command that the page interrupts later runs in the foreground until then, and
  the test continues when it has printed what is shown. Its output after "^C" is not compared.
- Lines at the start of a block are the further output of the command that runs in that terminal.

The output must be exactly what is shown, except that

- a line "..." stands for any lines,
- an age stands for any other age, and a duration such as "in 0.1 s" for any other, and
- a value of a dynamic band, which the server picks, stands for any other value. The same value
  always stands for the same one. A checksum works the same way. Columns are as wide as such values
  make them.

One line is replaced: `./dev serve` builds the program before it runs it, so the test types
`build/berth serve` instead.
"""
import difflib
import ipaddress
import os
import pathlib
import re
import unittest

import shells
import tools

ROOT = pathlib.Path(tools.ROOT)
PROGRAM = os.environ.get("BERTH_BIN", str(ROOT / "build/berth"))
PAGES = ["README.md", *sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").glob("*.md"))]
REPLACED = {"./dev serve": "build/berth serve"}
# The dynamic bands of the ranges that examples use.
DYNAMIC_ADDRESSES = [tuple(map(ipaddress.ip_address, band)) for band in (
    ("10.96.1.1", "10.96.255.254"), ("10.0.0.2", "10.0.0.14"), ("10.0.0.17", "10.0.0.254"),
    ("10.5.1.1", "10.5.255.254"), ("10.61.0.17", "10.61.0.254"),
    ("fd00:10:96::101", "fd00:10:96::ffff"), ("fd00:10:5::101", "fd00:10:5:0:ffff:ffff:ffff:ffff"))]
DYNAMIC_PORTS = range(30086, 32768)


class Step:
    """A step of a reader: a command, Ctrl-C, or a look at further output."""

    def __init__(self, place, terminal, command=None, interrupts=False):
        self.place = place
        self.terminal = terminal
        self.command = command
        self.interrupts = interrupts
        self.shown = []
        self.goes_on = False

    def __str__(self):
        what = "^C" if self.interrupts else "further output"
        if self.command is not None:
            what = f"$ {self.command}"
        return f"{self.place}, terminal {self.terminal}: {what}"


def blocks(text):
    """Yields (number of its first line, kind, lines, the text above it) for each fenced block."""
    above, kind, lines, begin = [], None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if kind is None and line.startswith("```"):
            kind, lines, begin = line[3:].strip(), [], number + 1
        elif kind is not None and line == "```":
            yield begin, kind, lines, "\n".join(above)
            above, kind = [] if kind == "console" else above, None
        elif kind is not None:
            lines.append(line)
        else:
            above.append(line)


def steps_of(page, text):
    """Returns the steps of a reader of the page, in order."""
    steps, terminal = [], 1
    for begin, kind, lines, above in blocks(text):
        if kind != "console":
            continue
        named = re.findall(r"\bterminal\s+(\d)\b", above, re.I)
        terminal = int(named[-1]) if named else terminal
        step = None
        for number, line in enumerate(lines, begin):
            place = f"{page}:{number}"
            if line.startswith("$ "):
                step = Step(place, terminal, command=line[2:])
            elif line == "^C":
                step = Step(place, terminal, interrupts=True)
            else:
                if step is None:
                    step = Step(place, terminal)
                    steps.append(step)
                step.shown.append(line)
                continue
            steps.append(step)
    newest = {}
    for step in steps:
        if step.command is None and step.terminal in newest:
            newest[step.terminal].goes_on = True
        newest[step.terminal] = step
    for step in steps:
        while step.shown and not step.shown[-1]:
            step.shown.pop()
    return steps


def is_drawn(text):
    """Returns whether the text is a value that the server may have picked, or a checksum."""
    if len(text) == 64:
        return True
    if text.isdigit():
        return int(text) in DYNAMIC_PORTS
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(first.version == address.version and first <= address <= last
               for first, last in DYNAMIC_ADDRESSES)


def without_drawn(lines):
    """Replaces the values that the server picked. Equal values stay equal."""
    numbers = {}

    def stand_in(match):
        return f"<{numbers.setdefault(match[0], len(numbers))}>" if is_drawn(match[0]) else match[0]

    for pattern in (r"\b[\da-f]+(?:[.:]+[\da-f]+)+\b", r"\b\d{5}\b", r"\b[\da-f]{64}\b"):
        lines = [re.sub(pattern, stand_in, line) for line in lines]
    return lines


def steady(*texts):
    """Returns each list of lines without what differs from run to run."""
    age = r"(?<= )(?:\d+h)?(?:\d+m)?\d+s(?= *$|  )"
    taken = r" in \d+\.\d s$"
    time = r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    for pattern, stand_in in ((age, "0s"), (taken, " in 0.0 s"), (time, "<time>")):
        texts = [[re.sub(pattern, stand_in, line.rstrip()) for line in lines] for lines in texts]
    drawn = [without_drawn(lines) for lines in texts]
    if drawn == texts:
        return texts
    return [[re.sub(" +", " ", line) for line in lines] for lines in drawn]


def is_shown(shown, printed, goes_on=False):
    """Returns whether the output matches the page. If `goes_on`, it may be incomplete."""
    shown, printed = steady(shown, printed)
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown)
    text = "".join(line + "\n" for line in printed)
    return bool((re.match if goes_on else re.fullmatch)(pattern, text))


def lines_of(text):
    return text.rstrip("\n").split("\n") if text.strip("\n") else []


class Reader:
    """Follows a page."""

    def __init__(self, desk):
        self.desk = desk
        self.so_far = {}  # By terminal: what the page shows of the command that runs there.

    def do(self, step):
        terminal = self.desk.terminal(step.terminal)
        if step.interrupts:
            terminal.interrupt()
            return
        if step.command is None:
            self.so_far[step.terminal] = [*self.so_far[step.terminal], *step.shown]
        else:
            terminal.type(REPLACED.get(step.command, step.command))
            self.so_far[step.terminal] = step.shown
        shown = self.so_far[step.terminal]
        if step.goes_on:
            self.desk.wait(lambda: terminal.is_free()
                           or is_shown(shown, lines_of(terminal.text()), goes_on=True))
            if terminal.is_free():
                raise shells.NotDone("it ended, and the page says that it runs until Ctrl-C")
        else:
            self.desk.wait(terminal.is_free)
            if not is_shown(shown, lines_of(terminal.text())):
                raise shells.NotDone("prints something else")

    def complaint(self, step, reason):
        """Returns all that a developer needs to fix the page or the program."""
        printed = lines_of(self.desk.terminal(step.terminal).text())
        shown = self.so_far.get(step.terminal, [])
        parts = [f"{step}\n{reason}", "The page shows:", *("  " + line for line in shown),
                 "Printed was:", *("  " + line for line in printed), "Compared was:"]
        parts += list(difflib.unified_diff(*steady(shown, printed), "page", "printed", lineterm=""))
        for number, other in self.desk.terminals.items():
            if number != step.terminal:
                parts += [f"Terminal {number} shows:",
                          *("  " + line for line in lines_of(other.text())[-12:])]
        return "\n".join(parts)


class PageCase(unittest.TestCase):
    """The tests of one page. There is a class for each page, with the name of the page."""

    PAGE = None

    def read_with(self, kubectl):
        steps = steps_of(self.PAGE, (ROOT / self.PAGE).read_text(encoding="utf-8"))
        if not steps:
            return
        with shells.Desk(PROGRAM, kubectl) as desk:
            reader = Reader(desk)
            for step in steps:
                try:
                    reader.do(step)
                except shells.NotDone as reason:
                    raise self.failureException(reader.complaint(step, reason)) from None

    def test_old(self):
        self.read_with(tools.KUBECTL_OLD)

    def test_current(self):
        self.read_with(tools.KUBECTL)


for _page in PAGES:
    _name = pathlib.Path(_page).stem
    globals()[_name] = type(_name, (PageCase,), {"PAGE": _page, "__module__": __name__})
del PageCase


class Documents(unittest.TestCase):
    """Checks of all pages that need no server."""

    def test_what_stands_for_what(self):
        for shown, printed, same in (
                (["10.96.8.66    x   3s"], ["10.96.217.142   x   1m1s"], True),
                (["10.96.0.10    x"], ["10.96.0.11    x"], False),
                (["10.96.0.10    x"], ["10.96.0.10   x"], False),
                (["10.96.8.66    x"], ["10.96.0.66   x"], False),
                (["80:30319/TCP,443:31622/TCP"], ["80:31622/TCP,443:30319/TCP"], True),
                (["53:30319/TCP,53:30319/UDP"], ["53:31622/TCP,53:30319/UDP"], False),
                (["80:30009/TCP"], ["80:30319/TCP"], False),
                (['["10.96.0.20","fd00:10:96::c27e"]'], ['["10.96.0.20","fd00:10:96::1c27"]'],
                 True),
                (['["10.96.0.20","fd00:10:96::20"]'], ['["10.96.0.20","fd00:10:96::1c27"]'],
                 False),
                (["held since 2026-11-18T09:30:12Z"], ["held since 2027-01-01T00:00:00Z"], True),
                (["held since 2026-11-18T09:30:12Z"], ["held since yesterday"], False),
                (["in 0.1 s"], ["in 12.5 s"], False),
                (["done in 0.1 s"], ["done in 12.5 s"], True),
                ([64 * "a" + " x", 64 * "a"], [64 * "b" + " x", 64 * "b"], True),
                ([64 * "a" + " x", 64 * "a"], [64 * "b" + " x", 64 * "c"], False),
                (["a", "...", "b"], ["a", "x", "y", "b"], True),
                (["a", "..."], ["b", "a"], False),
                (["a"], ["a", "b"], False),
                ([], ["a"], False)):
            with self.subTest(shown=shown, printed=printed):
                self.assertEqual(is_shown(shown, printed), same)

    def test_what_a_reader_does(self):
        page = ("In terminal 1:\n```console\n$ one\nserves\n```\nIn Terminal 2:\n```console\n"
                "$ two\n```\nStill there:\n```console\n$ three\n3\n\n```\n```text\n$ not typed\n"
                "```\n"
                "Back in\nterminal 1:\n```console\nlater\n^C\n$ four\n```\n")
        self.assertEqual(
            [(str(step), step.shown, step.goes_on) for step in steps_of("p", page)],
            [("p:3, terminal 1: $ one", ["serves"], True), ("p:8, terminal 2: $ two", [], False),
             ("p:12, terminal 2: $ three", ["3"], False),
             ("p:22, terminal 1: further output", ["later"], True),
             ("p:23, terminal 1: ^C", [], False), ("p:24, terminal 1: $ four", [], False)])

    def test_commands_with_a_prompt_are_typed(self):
        for page in PAGES:
            text = (ROOT / page).read_text(encoding="utf-8")
            for begin, kind, lines, _ in blocks(text):
                for number, line in enumerate(lines, begin):
                    with self.subTest(place=f"{page}:{number}"):
                        self.assertFalse(kind != "console" and line.startswith("$ "), line)

    def test_servers_of_different_pages_do_not_collide(self):
        used = {}
        for page in PAGES:
            for step in steps_of(page, (ROOT / page).read_text(encoding="utf-8")):
                if not re.match(r"(berth|\./dev) serve\b", step.command or "") or not step.goes_on:
                    continue
                for flag, usual in (("--secure-port", "6443"), ("--data-dir", "its usual place")):
                    given = re.search(rf"{flag} (\S+)", step.command)
                    value = given[1] if given else usual
                    self.assertEqual(used.setdefault(value, page), page, f"{step}: {flag} {value}")

    def test_links_between_documents_lead_somewhere(self):
        for page in [*PAGES, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
                     "src/README.md"]:
            path = ROOT / page
            for target, anchor in re.findall(r"\]\(([^)#:]*)(#[^)]+)?\)", path.read_text()):
                with self.subTest(page=page, target=target + anchor):
                    to = path.parent / target if target else path
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor[1:], [anchor_of(line) for line in
                                                   to.read_text().splitlines() if line[:1] == "#"])


def anchor_of(heading):
    """Returns the anchor of a heading, for links."""
    return re.sub(r"[^\w\- ]", "", heading.lstrip("# ").lower()).replace(" ", "-")


if __name__ == "__main__":
    unittest.main()
