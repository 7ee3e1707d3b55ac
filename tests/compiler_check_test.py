"""The build refuses GCC and says why. Skipped parts do not exist: without g++ the check runs on a stand-in of its rule.

Run by ctest with the repository's path.
"""
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = sys.argv.pop(1)


class CompilerCheckTest(unittest.TestCase):
    def configure(self, arguments):
        with tempfile.TemporaryDirectory() as build:
            done = subprocess.run(["cmake", "-G", "Ninja", "-S", REPOSITORY, "-B", build, *arguments],
                                  capture_output=True, text=True, check=False)
            return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_gcc_is_refused_with_the_reason_and_the_next_command(self):
        # cmake itself depends on no compiler, so where g++ is missing clang plays a compiler that is too old.
        if shutil.which("g++"):
            arguments = ["-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_C_COMPILER=gcc"]
        else:
            arguments = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_C_COMPILER=clang-19", "-DBATON_OLDEST_CLANG=99"]
        code, out = self.configure(arguments)
        self.assertNotEqual(code, 0)
        self.assertIn("GCC 12 miscompiles ordinary coroutine code", out)
        self.assertIn("scripts/setup", out)


unittest.main()
