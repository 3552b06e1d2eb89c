"""The checks themselves: each must find what it is there to find, and nothing else."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent


def check_layers(files):
    """Runs the check on a tree of the given files; returns (exit code, what it said)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        rules = "base:\nip: base\nstore: base\nstore/rocks: store base\ncmd/berth: *\n" \
                "<simdjson.h>: src/codec/\n<spdlog/>: src/base/log.cc\n"
        for name, text in {"src/layers.txt": rules, "src/base/result.h": "", "src/ip/addr.h": "",
                           "src/store/store.h": "", "cmd/berth/main.cc": "", **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        run = subprocess.run([sys.executable, TOOLS / "check_layers.py", root],
                             capture_output=True, text=True)
        return run.returncode, run.stderr


class LayersTest(unittest.TestCase):
    def test_inward_includes_are_fine(self):
        self.assertEqual(check_layers({
            "src/ip/addr.cc": '#include "ip/addr.h"\n#include "base/result.h"\n#include <map>\n',
            "src/store/rocks/engine.cc": '#include "store/store.h"\n',
            "src/base/log.cc": "#include <spdlog/spdlog.h>\n",
            "cmd/berth/plan.h": "",
            "cmd/berth/main.cc": '#include "berth/plan.h"\n#include "ip/addr.h"\n'})[0], 0)

    def test_an_outward_include_is_named(self):
        code, said = check_layers({"src/base/result.h": '\n#include "ip/addr.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn('src/base/result.h:2: base may not include ip ("ip/addr.h")', said)

    def test_a_layer_does_not_see_the_layers_inside_it(self):
        code, said = check_layers({"src/store/rocks/engine.h": "",
                                   "src/store/memory.cc": '#include "store/rocks/engine.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("store may not include store/rocks", said)

    def test_outside_libraries_have_their_place(self):
        code, said = check_layers({"src/ip/addr.cc": "#include <simdjson.h>\n"
                                                     "#include <spdlog/async.h>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/ip/addr.cc:1: <simdjson.h> belongs to src/codec/ only", said)
        self.assertIn("src/ip/addr.cc:2: <spdlog/async.h> belongs to src/base/log.cc only", said)

    def test_a_folder_without_a_rule_is_refused(self):
        code, said = check_layers({"src/misc/junk.cc": ""})
        self.assertEqual(code, 1)
        self.assertIn("src/misc/junk.cc: its folder is not in src/layers.txt", said)

    def test_a_path_that_leads_nowhere_is_named(self):
        code, said = check_layers({"src/ip/addr.cc": '#include "../base/result.h"\n'
                                                     '#include "addrs.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn('src/ip/addr.cc:2: "addrs.h" is not a path from src/', said)


def check_alone(files, *named):
    """Runs the check on the given files, of which the sources are compiled; as check_layers."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        build = root / "build"
        build.mkdir()
        for name, text in files.items():
            (root / name).write_text(text)
        commands = [{"directory": str(build), "file": str(root / name),
                     "command": f"env A=b ccache g++-12 -I{root} -std=c++20 -O3 --param=x=1 "
                                f"-Winvalid-pch -include {root}/everything.h -o x.o "
                                f"-c {root / name}"} for name in files if name.endswith(".cc")]
        (build / "compile_commands.json").write_text(json.dumps(commands))
        run = subprocess.run([sys.executable, TOOLS / "check_alone.py", build,
                              *([root / name for name in named] or ["--all"])],
                             capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


class AloneTest(unittest.TestCase):
    GOOD = {"everything.h": "#include <string>\n",
            "a.h": "#include <string>\nstd::string A();\n",
            "a.cc": '#include "a.h"\nstd::string A() { return ""; }\n'}

    def test_each_with_its_own_includes_is_fine(self):
        code, said = check_alone(self.GOOD)
        self.assertEqual((code, said), (0, "alone: 2 files, each compiles without the others\n"))

    def test_a_source_that_needs_the_precompiled_header_is_named(self):
        code, said = check_alone({**self.GOOD, "b.cc": "std::string b;\n"})
        self.assertEqual(code, 1)
        self.assertIn("b.cc does not compile alone", said)
        self.assertNotIn("a.cc does", said)

    def test_so_is_a_header_that_has_no_source(self):
        code, said = check_alone({**self.GOOD, "b.h": "std::string B();\n"})
        self.assertEqual(code, 1)
        self.assertIn("b.h does not compile alone", said)

    def test_a_header_is_looked_at_through_its_source(self):
        files = {**self.GOOD, "b.h": "std::string B();\n", "b.cc": '#include "b.h"\n'}
        code, said = check_alone(files, "b.h")
        self.assertEqual(code, 1)
        self.assertIn("b.cc does not compile alone", said)

    def test_only_the_named_are_looked_at(self):
        files = {**self.GOOD, "b.cc": "std::string b;\n", "other.txt": ""}
        code, said = check_alone(files, "a.cc", "other.txt", "gone.cc")
        self.assertEqual((code, said), (0, "alone: 1 files, each compiles without the others\n"))


# Git's settings of this machine, and of a hook that runs the tests, are left out.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
ENVIRONMENT.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")


def git(folder, *words):
    """Runs git in a folder; returns what it prints."""
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words],
                          cwd=folder, env=ENVIRONMENT, check=True, capture_output=True,
                          text=True).stdout


def commit(folder, subject):
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)


def check_commits(folder):
    """Runs the check on a repository; as check_layers."""
    run = subprocess.run([sys.executable, TOOLS / "check_commits.py", folder], env=ENVIRONMENT,
                         capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


class CommitsTest(unittest.TestCase):
    LONG = "area: " + "x" * 67

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.published = pathlib.Path(folder.name) / "published"
        self.clone = pathlib.Path(folder.name) / "clone"
        self.published.mkdir()
        git(self.published, "init", "--quiet", "-b", "main")
        commit(self.published, "old, " + self.LONG)
        commit(self.published, "area: a change")

    def make_clone(self, *options):
        git(self.published, "clone", "--quiet", *options, self.published.as_uri(), self.clone)
        git(self.clone, "checkout", "--quiet", "-b", "work")

    def expect(self, folder, number, which):
        """Expects the check to be content with so many commits."""
        self.assertEqual(check_commits(folder), (
            0, f"commits: {number} ({which}), each subject within 72 columns\n"))

    def test_published_commits_are_left_alone(self):
        self.make_clone()
        self.expect(self.clone, 0, "those that origin/main does not have")
        commit(self.clone, self.LONG[:72])
        self.expect(self.clone, 1, "those that origin/main does not have")

    def test_a_long_subject_is_named(self):
        self.make_clone()
        commit(self.clone, self.LONG)
        name = git(self.clone, "rev-parse", "--short", "HEAD").strip()
        commit(self.clone, "area: a short one after it")
        code, said = check_commits(self.clone)
        self.assertEqual(code, 1)
        self.assertIn(f"commit {name}: its subject has 73 columns, more than 72: {self.LONG}", said)
        self.assertIn("git rebase -i --rebase-merges origin/main", said)
        self.assertNotIn("old, ", said)

    def test_merges_count(self):
        self.make_clone()
        git(self.clone, "checkout", "--quiet", "-b", "other")
        commit(self.clone, "area: another change")
        git(self.clone, "checkout", "--quiet", "work")
        git(self.clone, "merge", "--quiet", "--no-ff", "-m", "Merge, " + self.LONG, "other")
        code, said = check_commits(self.clone)
        self.assertEqual((code, said.count("columns, more than 72")), (1, 1))

    def test_without_a_published_main_the_local_one_counts(self):
        self.expect(self.published, 1, "the last one, since main has no published copy here")
        git(self.published, "checkout", "--quiet", "-b", "work")
        commit(self.published, "area: one")
        commit(self.published, "area: two")
        self.expect(self.published, 2, "those that main does not have")
        git(self.published, "checkout", "--quiet", "main")
        commit(self.published, self.LONG)
        self.assertEqual(check_commits(self.published)[0], 1)

    def test_in_a_shallow_clone(self):
        self.make_clone("--depth", "1")
        commit(self.clone, "area: one")
        self.expect(self.clone, 1, "those that origin/main does not have")
        commit(self.clone, self.LONG)
        self.assertEqual(check_commits(self.clone)[0], 1)

    def test_in_a_shallow_clone_without_main(self):
        git(self.published, "checkout", "--quiet", "-b", "topic")
        commit(self.published, "area: one")
        self.make_clone("--depth", "1", "--branch", "topic")
        self.expect(self.clone, 1, "the last one, since there is no main to compare with")

    def test_in_a_shallow_clone_that_does_not_reach_main(self):
        git(self.published, "checkout", "--quiet", "-b", "topic")
        commit(self.published, self.LONG)
        commit(self.published, "area: one")
        self.make_clone("--depth", "1", "--branch", "topic", "--no-single-branch")
        self.expect(self.clone, 1,
                    "the last one, since the history here does not reach origin/main")


def check_words(files, *options):
    """Runs the check on a tree of the given files; as check_layers."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        words = "# Comment.\nfoul / fouls        1  fair\nwhat comes of  0  what follows\n" \
                "empty:  0  a sentence\n"
        for name, text in {"tools/words.txt": words, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "init", "--quiet")
        run = subprocess.run([sys.executable, TOOLS / "check_words.py", *options, root],
                             env=ENVIRONMENT, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


class WordsTest(unittest.TestCase):
    def counted(self, name, text):
        """Returns how often each phrase of the table above is counted in a file."""
        code, said = check_words({name: text}, "--counts")
        self.assertEqual(code, 0, said)
        return [int(line.split()[-2]) for line in said.splitlines()[1:]]

    def test_up_to_the_limit_is_fine(self):
        code, said = check_words({"a.md": "It is foul.\n", "b.txt": "foul foul\n"})
        self.assertEqual((code, said),
                         (0, "words: 1 files, no phrase above its limit in tools/words.txt\n"))

    def test_above_it_each_place_is_named(self):
        code, said = check_words({"a.md": "\nFouls.\n", "src/b.cc": "int a;  // Foul.\n"})
        self.assertEqual((code, said), (
            1, '"foul / fouls" is used 2 times, 1 at most. Write instead: fair\n'
               "  a.md:2\n  src/b.cc:1\n"))

    def test_counts_are_shown_with_their_limits(self):
        code, said = check_words({"a.md": "foul, foul and Foul\n"}, "--counts")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"(?m)^foul / fouls +3 +1$")

    def test_comments_of_each_language_count(self):
        for name, text in {
                "a.h": "/// foul\n", "a.cc": "/* a\n * foul */ int b = 1'000;  // foul\n",
                "a.py": '"""Foul."""\n\n\ndef f():\n    """Foul."""\n    return 1  # foul\n',
                "a.sh": "# foul\necho x  # foul\n", "a.cmake": "# foul\n", "a.lua": "-- foul\n",
                "CMakeLists.txt": "set(a)  # foul\n", "dev": "# foul\n", ".ci/run": "# foul\n",
                "a.md": "| foul |\n```\nfoul\n```\n"}.items():
            with self.subTest(name):
                self.assertEqual(self.counted(name, text)[0], text.lower().count("foul"))

    def test_code_does_not_count(self):
        for name, text in {
                "a.cc": 'foul("foul // foul" "\\"foul", R"x(foul // foul)x", \'"\');  // `foul`\n',
                "a.py": 'foul = "# foul"\nf("""foul""")\n', "a.sh": 'foul "a # foul"\n',
                "a.lua": 'foul = "x -- foul"\n', "a.json": "foul\n",
                "test/conformance/golden/README.md": "foul\n", "test/fuzz/corpus/a.md": "foul\n",
                "a.md": "`foul` [a](foul.md) foully befoul\n```sh\nfoul\n```\n"}.items():
            with self.subTest(name):
                self.assertEqual(self.counted(name, text), [0, 0, 0])

    def test_a_phrase_may_run_over_the_end_of_a_line(self):
        self.assertEqual(self.counted("a.cc", "  // What comes\n  // of it.\n")[1], 1)
        self.assertEqual(self.counted("a.md", "what\ncomes of\n\nwhat comes\n\nof\n")[1], 1)

    def test_a_colon_makes_shorthand_only_where_no_sentence_is(self):
        self.assertEqual(self.counted("a.h", "int a;  // Empty: none.\n/// A name; empty: none.\n"
                                             "// The list is empty: there is no client.\n")[2], 2)

    def test_a_line_of_the_table_that_cannot_be_read_is_named(self):
        code, said = check_words({"tools/words.txt": "foul 1 fair\n"})
        self.assertEqual(code, 1)
        self.assertIn("words.txt:1: expected 'phrase  limit  what to write instead'", said)


REPORT = """<testsuite tests="4">
<testcase name="a" time="0.5" status="run"><system-out>fine</system-out></testcase>
<testcase name="b" time="2.5" status="run"/>
<testcase name="c" time="0" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
<system-out>x.cc:3: Skipped
no disk can be mounted here

[  SKIPPED ] c (0 ms)</system-out></testcase>
<testcase name="d" time="0.1" status="fail"><failure message=""/></testcase>
</testsuite>"""


def report(*words):
    """Returns what the report says of the tests above."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(REPORT)
        file.flush()
        return subprocess.run([sys.executable, TOOLS / "test_report.py", *words,
                               f"quick={file.name}"], capture_output=True, text=True,
                              check=True).stdout


class ReportTest(unittest.TestCase):
    def test_each_test_is_counted_once(self):
        self.assertEqual(report("--count"), "quick: 2 passed, 1 failed, 1 skipped\n")
        self.assertEqual(report("--total"), "2 passed, 1 failed, 1 skipped\n")

    def test_a_skipped_test_says_why(self):
        self.assertEqual(report("--skipped"),
                         "  skipped: c (quick): no disk can be mounted here\n")

    def test_the_slowest_come_first(self):
        self.assertEqual([line.split()[-1] for line in report("--slowest", "2").splitlines()],
                         ["b", "a"])


if __name__ == "__main__":
    unittest.main()
