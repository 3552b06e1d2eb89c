"""Checks completion in shells, manual pages, and `kubectl berth`.

bash is everywhere, so its script is run. The scripts for zsh and fish are checked for their
structure, and parsed by their shells where these are installed.
"""

import functools
import os
import pty
import re
import shlex
import shutil
import subprocess
import unittest

import kubectls
import terminals
import tools
from harness import BERTH, Case, environment, main

PROGRAM = os.path.abspath(BERTH)
BASH = "/bin/bash"
KUBECTL_COMPLETE = os.path.join(tools.ROOT, "cmd/berth/completion/kubectl_complete-berth")


def run(*args, **changes):
    return subprocess.run(args, capture_output=True, encoding="utf-8", timeout=60,
                          stdin=subprocess.DEVNULL, env=environment(**changes))


def berth(*args):
    """Returns what the program prints."""
    done = run(PROGRAM, *args)
    assert done.returncode == 0, done
    return done.stdout


@functools.cache
def script(shell):
    return berth("completion", shell)


@functools.cache
def commands():
    """Returns {words of a command: its long and short flags}, read from the help of each."""
    found = {}

    def read(words):
        text = berth(*words, "--help")
        found[words] = [each.split(",") for each in re.findall(r"(?m)^  ((?:-\w,)?--[\w,-]+)", text)]
        listed = re.search(r"(?ms)^Subcommands:\n(.*?)(?:^\S|\Z)", text)
        for name in re.findall(r"(?m)^  ([a-z][\w-]*) ", listed[1]) if listed else ():
            read((*words, name))

    read(())
    return found


def names(flags):
    return [name for pair in flags for name in pair if name]


class Bash(Case):
    def offered(self, *words, before=""):
        """Returns what TAB offers after these words, of which the last is incomplete. They are given
        as readline splits them."""
        code = (f'eval "$SCRIPT"; {before}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _berth; '
                r'printf "%s\n" "${COMPREPLY[@]}"')
        done = run(BASH, "--norc", "-c", f"cd {self.folder}; {code}", "bash", "berth", *words,
                   SCRIPT=script("bash"), PATH=getattr(self, "search", tools.PATH))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(done.stdout.split("\n")[:-1]) if done.stdout.strip() else []

    def test_what_is_offered(self):
        os.mkdir(self.path("folder"))
        for name in ("file.json", "two words"):
            with open(self.path(name), "w", encoding="utf-8"):
                pass
        everything = ["file.json", "folder", "two words"]
        formats = ["json", "table", "yaml"]
        for words, expected in (
                (["pl"], ["plan"]),
                (["no-such"], []),
                (["s"], ["salvage", "serve", "snapshot"]),
                (["snapshot", ""], ["restore", "save", "status"]),
                (["snapshot", "sa"], ["save"]),
                (["snapshot", "save", "fi"], ["file.json"]),
                (["snapshot", "save", ""], everything),
                (["snapshot", "save", "file.json", ""], []),
                (["snapshot", "save", "--data-dir", ""], ["folder"]),
                (["snapshot", "save", "--data-dir", "x", ""], everything),
                (["snapshot", "save", "--d"], ["--data-dir"]),
                (["plan", "-o", ""], formats),
                (["plan", "-o", "j"], ["json"]),
                (["plan", "--output", "="], formats),
                (["plan", "--output", "=", "y"], ["yaml"]),
                (["plan", "--output=y"], ["--output=yaml"]),
                (["plan", "--used", "=", "fo"], ["folder"]),
                (["plan", "--used=two"], ["--used=two words"]),
                (["plan", "--output", "=", "json", "--st"], ["--static-band"]),
                (["plan", "-o", "json", "--used", "fi"], ["file.json"]),
                (["plan", "--static-band", ""], []),
                (["plan", "--static-band", "--o"], []),
                (["plan", "fd00", "::", "/112", "-"],
                 ["--help", "--output", "--static-band", "--used", "-h", "-o"]),
                (["plan", "fd00", ":"], []),
                (["plan", ""], []),
                (["completion", ""], ["bash", "fish", "zsh"]),
                (["completion", "bash", ""], []),
                (["man", "snapshot", "pl"], ["plan"]),
                (["migrate-allocations", "--to", ""], ["bitmaps", "records"]),
                (["--"], ["--help", "--version"])):
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words), sorted(expected))

    def test_every_command_and_flag_is_offered(self):
        for words, flags in commands().items():
            with self.subTest(words=words):
                self.assertEqual(self.offered(*words, "-"), sorted(names(flags)))
                below = [each[-1] for each in commands() if each[:-1] == words and each]
                if below:
                    self.assertEqual(self.offered(*words, ""), sorted(below))

    def test_contexts_are_those_of_kubectl(self):
        config = self.path("config")
        for name in ("arn:aws:one", "arn:aws:two", "$(touch stolen)", "kind"):
            run(tools.KUBECTL, "--kubeconfig", config, "config", "set-context", name)
        use = f"export KUBECONFIG={config}; _berth_value() {{ kind=contexts; }}"
        self.assertEqual(self.offered("plan", "--context", "", before=use),
                         [r"\$\(touch\ stolen\)", "arn:aws:one", "arn:aws:two", "kind"])
        self.assertEqual(self.offered("plan", "--context", "k", before=use), ["kind"])
        # readline replaces only what follows the last colon.
        self.assertEqual(self.offered("plan", "--context", "arn", ":", "aws", ":", "t", before=use),
                         ["two"])
        self.assertEqual(self.offered("plan", "--context=arn:aws:o", before=use),
                         ["--context=arn:aws:one"])
        self.assertFalse(os.path.exists(self.path("stolen")))
        self.search = self.path("no-kubectl-here")
        self.assertEqual(self.offered("plan", "--context", "", before=use), [])

    def test_keys_in_a_terminal(self):
        """Types commands with TAB into bash. A function prints the arguments that result."""
        with open(self.path("two words.snap"), "w", encoding="utf-8"):
            pass
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [BASH, "--norc", "--noprofile", "-i"], stdin=follower, stdout=follower,
            stderr=follower, cwd=self.folder, start_new_session=True,
            env=environment(SCRIPT=script("bash"), PATH=tools.PATH, TERM="dumb", HISTFILE="",
                            INPUTRC="/dev/null"))
        os.close(follower)
        os.write(leader, b'eval "$SCRIPT"; berth() { printf "<%s>" "$@"; }\n'
                         b'berth snaps\tstat\t--output=j\ttwo\t\n'
                         b'berth pl\t--stat\t5\n'
                         b'exit\n')
        shown = terminals.read_all(leader).decode("utf-8")
        process.wait(timeout=60)
        self.assertIn("<snapshot><status><--output=json><two words.snap>", shown)
        self.assertIn("<plan><--static-band><5>", shown)


class Scripts(unittest.TestCase):
    def test_every_command_and_flag_is_in_every_script(self):
        self.assertGreater(len(commands()), 10)
        for words, flags in commands().items():
            name = " ".join(("berth", *words))
            with self.subTest(command=name):
                self.assertIn(f"'{name}')\n", script("bash"))
                body = re.search(rf"(?ms)^_{re.sub('[ -]', '_', name)}\(\) {{\n(.*?)^}}",
                                 script("zsh"))[1]
                lines = [line for line in script("fish").splitlines()
                         if f" -n '{' '.join(('__berth_is', *words))}' " in line]
                self.assertEqual(len([line for line in lines if " -l " in line]), len(flags))
                for flag in names(flags):
                    self.assertRegex(body, rf"[{{,'()*]{flag}[+=,}}\[]")
                    option = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                    self.assertTrue(any(f" {option} " in line for line in lines), option)

    def test_quotes_are_balanced(self):
        """In zsh and fish each line of flags is a list of words. Python reads them as a shell."""
        for line in script("fish").splitlines():
            if line.startswith("complete "):
                words = shlex.split(line.replace(r"\'", "’"))
                self.assertEqual(words[:2], ["complete", "-c"])
        specs = re.findall(r"(?m)^    ('.*?')(?: \\)?$", script("zsh"))
        self.assertGreater(len(specs), 50)
        for spec in specs:
            self.assertEqual(len(shlex.split(spec)), 1, spec)

    def test_shells_parse_them(self):
        for shell, flag in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
            path = shutil.which(shell)
            if path is None:
                print(f"{shell} is not installed: its script was not parsed", flush=True)
                continue
            done = subprocess.run([path, flag], input=script(shell), capture_output=True,
                                  encoding="utf-8", timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def test_other_shells_are_refused(self):
        done = run(PROGRAM, "completion", "tcsh")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            2, "", 'berth completion: "tcsh": must be bash, zsh or fish; see berth completion '
            '--help\n'))
        self.assertEqual(run(PROGRAM, "completion").returncode, 2)

    def test_help_says_how_to_load_them(self):
        said = berth("completion", "--help")
        for line in ('eval "$(berth completion bash)"', "source <(berth completion zsh)",
                     "berth completion fish > ~/.config/fish/completions/berth.fish"):
            self.assertIn(line, said)


class Manual(Case):
    REQUESTS = {".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi", ".br", ".nh", ".ad",
                ".sp"}
    SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                "SEE ALSO"]

    def check(self, page):
        """Checks that a page uses only known requests and escapes, and pairs those that open
        something. Returns its plain text."""
        lines = page.splitlines()
        self.assertTrue(lines[0].startswith(".TH "))
        sections = [line[4:] for line in lines if line.startswith(".SH ")]
        self.assertEqual(sections, [each for each in self.SECTIONS if each in sections])
        for each in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
            self.assertIn(each, sections)
        as_is, text = False, []
        for line in lines:
            if line.startswith((".", "'")):
                self.assertIn(line.split()[0], self.REQUESTS)
                if line in (".nf", ".fi"):
                    self.assertNotEqual(as_is, line == ".nf")
                    as_is = line == ".nf"
                continue
            self.assertTrue(line.isascii() and line, "groff reads ASCII, and blank lines break")
            rest = re.sub(r"\\(?:[-&]|f[BIR]|\((?:rs|aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])", "", line)
            self.assertNotIn("\\", rest)
            self.assertNotIn("-", rest)
            self.assertEqual(len(re.findall(r"\\f[BI]", line)), line.count(r"\fR"))
            text.append(re.sub(r"\\f[BIR]|\\&", "", line).replace(r"\-", "-"))
        self.assertFalse(as_is)
        return "\n".join(text)

    def test_every_command_has_a_page_with_every_flag(self):
        folder = self.path("deep/man1")
        self.assertEqual(berth("man", "--all", folder), "")
        pages = {"-".join(("berth", *words)) + ".1": (words, flags)
                 for words, flags in commands().items()}
        self.assertEqual(sorted(os.listdir(folder)), sorted(pages))
        for page, (words, flags) in pages.items():
            with self.subTest(page=page):
                with open(os.path.join(folder, page), encoding="utf-8") as file:
                    content = file.read()
                self.assertEqual(berth("man", *words), content)
                text = self.check(content)
                self.assertTrue(text.startswith(f"{page[:-2]} - "))
                for flag in names(flags):
                    self.assertRegex(text, rf"(?m)(^|, ){flag}( \S|,|$)")
                for other in re.findall(r"([\w-]+)\(1\)", text):
                    self.assertIn(f"{other}.1", pages)

    def test_examples_are_those_of_the_help(self):
        text = self.check(berth("man", "plan"))
        self.assertIn("kubectl get svc -A -o json | berth plan 10.96.0.0/16 30000-32767 --used -",
                      text)

    def test_the_name_of_a_page_is_accepted(self):
        self.assertEqual(berth("man", "berth-snapshot-save"), berth("man", "snapshot", "save"))
        self.assertEqual(berth("man", "berth"), berth("man"))

    def test_mistakes(self):
        for args, message in (
                (["no-such"], 'there is no command "no-such"; berth --help lists the commands'),
                (["plan", "--all", self.folder], "--all writes every page; name no command with it")):
            done = run(PROGRAM, "man", *args)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (2, "", f"berth man: {message}\n"))
        done = run(PROGRAM, "man", "--all", "/dev/null/pages")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot create /dev/null/pages: ", done.stderr)


class Plugin(Case):
    def setUp(self):
        super().setUp()
        os.symlink(PROGRAM, self.path("kubectl-berth"))
        shutil.copy(KUBECTL_COMPLETE, self.folder)

    def kubectl(self, kubectl, *args):
        return run(kubectl.path, *args, PATH=f"{self.folder}:{tools.PATH}", HOME=self.folder)

    def test_kubectl_runs_it(self):
        for kubectl in kubectls.BOTH:
            with self.subTest(kubectl=kubectl.minor):
                done = self.kubectl(kubectl, "berth", "plan", "10.96.0.0/16", "-o", "json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout, berth("plan", "10.96.0.0/16", "-o", "json"))

    def test_help_and_messages_say_so(self):
        for kubectl in kubectls.BOTH:
            with self.subTest(kubectl=kubectl.minor):
                said = self.kubectl(kubectl, "berth", "plan", "--help").stdout
                self.assertIn("Usage: kubectl berth plan [OPTIONS] RANGE...", said)
                self.assertIn("| kubectl berth plan 10.96.0.0/16 30000-32767 --used -", said)
                for args, message in (
                        (["plan"], "kubectl berth plan: RANGE is missing: give a CIDR or a port "
                         "range; see kubectl berth plan --help\n"),
                        (["plan", "30080", "-o", "xml"], 'kubectl berth plan: -o "xml": must be '
                         "table, json or yaml; see kubectl berth plan --help\n"),
                        (["snapshot"], "kubectl berth snapshot: a command is missing: save, restore "
                         "or status; see kubectl berth snapshot --help\n")):
                    done = self.kubectl(kubectl, "berth", *args)
                    self.assertEqual((done.returncode, done.stderr), (2, message))

    def test_kubectl_completes_it(self):
        """kubectl 1.20 does not know how to complete plugins."""
        for words, expected in (
                (["snapshot", ""], ["save", "restore", "status", ":4"]),
                (["plan", "-o", "j"], ["json", ":4"]),
                (["plan", "--output=j"], ["--output=json", ":4"]),
                (["plan", "--static-band", ""], [":4"]),
                (["plan", "--used", ""], [":0"]),
                (["salvage", "--data-dir", ""], [":16"])):
            with self.subTest(words=words):
                done = self.kubectl(kubectls.CURRENT, "__complete", "berth", *words)
                self.assertEqual(done.stdout.split("\n")[:-1], expected, done.stderr)


if __name__ == "__main__":
    main()
