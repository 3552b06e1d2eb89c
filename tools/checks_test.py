"""The checks themselves: each must find what it is there to find, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))
import check_coroutines  # noqa: E402


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


class CoroutinesTest(unittest.TestCase):
    def test_exactly_the_bad_lines_are_found(self):
        source = TOOLS / "testdata" / "coroutines.cc"
        marked = {n for n, line in enumerate(source.read_text().splitlines(), 1)
                  if line.endswith("// BAD")}
        bad = check_coroutines.find_bad([source], ["--", "-std=c++20"])
        self.assertEqual({line for _, line in bad}, marked)
        self.assertEqual(len(marked), 4)


if __name__ == "__main__":
    unittest.main()
