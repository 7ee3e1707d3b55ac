"""scripts/setup on a machine that is made up: what it says, what it installs, and that --check only tells.

Run by ctest with the repository's path.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = sys.argv.pop(1)


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.tree = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.tree)
        self.bin = os.path.join(self.tree, "bin")
        self.log = os.path.join(self.tree, "log")
        os.makedirs(self.bin)
        os.makedirs(os.path.join(self.tree, "scripts"))
        shutil.copy(os.path.join(REPOSITORY, "scripts/setup"), os.path.join(self.tree, "scripts"))
        for name in ("bash", "cat", "dirname", "env", "mkdir", "mktemp", "rm"):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        for name in ("node", "npm", "pip3"):
            self.program(name, "")
        # A package is installed when the file says so, which apt-get adds to.
        self.program("dpkg-query", f'for last; do :; done; while read -r one; do [ "$one" != "$last" ] || printf installed; done <"{self.tree}/have"')
        self.program("apt-get", f'echo "apt-get $*" >>"{self.log}"; for one; do echo "$one" >>"{self.tree}/have"; done; : >x.deb')
        self.program("dpkg", f'echo "dpkg $*" >>"{self.log}"; mkdir -p "$3/usr/bin"; : >"$3/usr/bin/kubectl"; chmod +x "$3/usr/bin/kubectl"')
        self.program("python3", f'echo "python3 $*" >>"{self.log}"; mkdir -p "{self.tree}/build/tools/python/kubernetes"')
        self.program("id", "echo 0")
        os.symlink(shutil.which("chmod"), os.path.join(self.bin, "chmod"))
        self.have()

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\n{text}\n")
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def have(self, *packages):
        with open(os.path.join(self.tree, "have"), "w", encoding="utf-8") as file:
            file.writelines(f"{package}\n" for package in packages)

    def setup(self, *arguments):
        done = subprocess.run([os.path.join(self.bin, "bash"), os.path.join(self.tree, "scripts/setup"), *arguments], capture_output=True, text=True,
                              check=False, env={"PATH": self.bin}, cwd=self.tree, timeout=60)
        calls = ""
        if os.path.exists(self.log):
            with open(self.log, encoding="utf-8") as file:
                calls = file.read()
            os.remove(self.log)
        return done.returncode, done.stdout + done.stderr, calls

    def test_check_only_tells(self):
        self.have("cmake", "git")
        code, out, calls = self.setup("--check")
        self.assertEqual((code, calls), (1, ""), out)
        self.assertRegex(out, r"^setup: missing: clang-19 .* mold ninja-build .*kubernetes-client python:kubernetes==")
        self.assertNotIn(" cmake ", out)

    def test_what_is_missing_is_installed_and_the_second_time_nothing_is_left_to_do(self):
        code, out, calls = self.setup()
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?s)setup: missing: .*setup: apt-get update\nsetup: apt-get install clang-19 .*setup: done\n$")
        self.assertRegex(calls, r"(?m)^apt-get update -qq\napt-get install -y -qq --no-install-recommends clang-19 ")
        self.assertRegex(calls, r"(?m)^python3 -m pip install .*kubernetes==")
        for arguments in ((), ("--check",)):
            self.assertEqual(self.setup(*arguments), (0, "setup: everything is installed\n", ""))

    def test_a_person_who_is_not_root_needs_sudo(self):
        self.program("id", "echo 1000")
        code, out, calls = self.setup()
        self.assertEqual((code, calls), (1, ""), out)
        self.assertIn("not root and no sudo here. As root, run: apt-get install clang-19", out)
        self.program("sudo", f'echo "sudo $1" >>"{self.log}"; exec "$@"')
        code, out, calls = self.setup()
        self.assertEqual(code, 0, out)
        self.assertTrue(calls.startswith("sudo apt-get\napt-get update"), calls)

    def test_another_word_is_an_error(self):
        code, out, calls = self.setup("--chekc")
        self.assertEqual((code, calls), (2, ""))
        self.assertIn("unknown option '--chekc'", out)


unittest.main()
