"""The layering check finds each kind of violation in a small tree made for it, and nothing in a clean one.

Run by ctest with the repository's path.
"""
import os
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = sys.argv.pop(1)


class LayeringCheckTest(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as tree:
            files = {"cmake/modules.txt": "# ground first\nbase\njson\nnet\n", **files}
            for path, text in files.items():
                full = os.path.join(tree, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as f:
                    f.write(text)
            script = os.path.join(REPOSITORY, "scripts/check-layering")
            done = subprocess.run([sys.executable, script, tree], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def test_a_downward_include_is_fine(self):
        code, out = self.check({"src/json/value.h": '#include "base/error.h"\n#include "json/key.h"\n'})
        self.assertEqual((code, out), (0, "layering: 1 files, 0 problems\n"))

    def test_an_upward_include_is_found_with_file_and_line(self):
        code, out = self.check({"src/base/error.cc": '\n#include "json/value.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("src/base/error.cc:2: base may not include from json", out)

    def test_a_test_may_not_look_upward_either(self):
        code, _ = self.check({"src/base/error_test.cc": '#include "json/value.h"\n'})
        self.assertEqual(code, 1)

    def test_an_include_without_its_module_is_found(self):
        code, out = self.check({"src/json/value.cc": '#include "value.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("by its full path", out)

    def test_a_heavy_header_in_a_header_is_found(self):
        code, out = self.check({"src/net/server.h": "#include <boost/asio.hpp>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/net/server.h:1: <boost/asio.hpp> is heavy", out)

    def test_a_heavy_header_in_the_wrong_module_is_found(self):
        code, _ = self.check({"src/base/hash.cc": "#include <boost/asio/post.hpp>\n"})
        self.assertEqual(code, 1)

    def test_an_internal_header_may_have_a_heavy_one(self):
        code, out = self.check({"src/net/socket.h": "// Internal to net: sockets.\n#include <boost/asio.hpp>\n"})
        self.assertEqual(code, 0, out)

    def test_an_internal_header_is_for_its_own_module_only(self):
        code, out = self.check({"src/json/key.h": "// Internal to json: keys.\n", "src/net/a.cc": '#include "json/key.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn('src/net/a.cc:1: "json/key.h" is internal to json', out)

    def test_the_judge_shares_no_code_with_the_operators(self):
        files = {"cmake/modules.txt": "base\npractice\n", "src/practice/judge.h": '#include "base/result.h"\n',
                 "src/practice/judge_report.cc": '#include "practice/judge.h"\n', "src/practice/judge_test.cc": '#include "practice/source.h"\n'}
        code, out = self.check(files)
        self.assertEqual(code, 0, out)
        code, out = self.check({**files, "src/practice/judge.cc": '#include "practice/judge.h"\n#include "practice/sink.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn('src/practice/judge.cc:2: src/practice/judge* shares no code with the rest of practice: not "practice/sink.h"', out)

    def test_a_module_that_is_not_in_the_order_is_found(self):
        code, out = self.check({"src/extra/a.h": "\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/extra: not in cmake/modules.txt", out)


unittest.main()
