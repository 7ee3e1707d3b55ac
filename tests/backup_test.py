"""baton backup and baton restore, beside a process that writes. Run by ctest with the paths of both programs."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
WRITER = sys.argv.pop(1)
INFO = re.compile(r"^(wrote|restored) '(.+)': revision (\d+), (\d+) records, (\d+) bytes, sha256 ([0-9a-f]{64})\n$")


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Writer:
    """store_crash_writer on a directory: writes until it is stopped, and tells what was acknowledged."""

    def __init__(self, directory):
        self.process = subprocess.Popen([WRITER, directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        self.opened_at = int(first.split()[1]) if first.startswith("open ") else None

    def wait_for(self, acknowledgements):
        """The last revision of so many more acknowledgements."""
        revision = self.opened_at
        for _ in range(acknowledgements):
            revision = max(revision, int(self.process.stdout.readline().split()[1]))
        return revision

    def kill(self):
        self.process.kill()
        self.process.communicate()


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="baton_backup_")
        self.addCleanup(shutil.rmtree, self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def test_a_running_store_is_backed_up_and_restored_at_one_revision(self):
        writer = Writer(self.path("data"))
        self.addCleanup(writer.kill)
        revisions = []
        for i in range(5):
            acknowledged = writer.wait_for(40)
            code, out, err = run("backup", "--data-dir", self.path("data"), "--out", self.path(f"backup{i}"))
            self.assertEqual((code, err), (0, ""))
            match = INFO.match(out)
            self.assertTrue(match, out)
            self.assertGreaterEqual(int(match[3]), acknowledged, "an acknowledged write is missing")
            self.assertEqual(int(match[5]), os.path.getsize(self.path(f"backup{i}")))
            revisions.append(int(match[3]))
        self.assertEqual(revisions, sorted(set(revisions)))
        for i, revision in enumerate(revisions):
            code, out, err = run("restore", "--from", self.path(f"backup{i}"), "--data-dir", self.path(f"restored{i}"))
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(int(INFO.match(out)[3]), revision)
            restored = Writer(self.path(f"restored{i}"))
            self.assertEqual(restored.opened_at, revision)
            restored.wait_for(10)
            restored.kill()

    def test_a_killed_store_is_backed_up_as_it_is(self):
        writer = Writer(self.path("data"))
        acknowledged = writer.wait_for(50)
        writer.kill()
        code, out, err = run("backup", f"--data-dir={self.path('data')}", f"--out={self.path('backup')}")
        self.assertEqual((code, err), (0, ""))
        self.assertGreaterEqual(int(INFO.match(out)[3]), acknowledged)

    def test_a_second_process_is_told_who_has_the_directory(self):
        writer = Writer(self.path("data"))
        self.addCleanup(writer.kill)
        second = subprocess.run([WRITER, self.path("data")], capture_output=True, text=True, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"is in use by process {writer.process.pid} (", second.stderr)
        self.assertIn("store_crash_writer", second.stderr)

    def test_what_cannot_be_done_is_said_and_leaves_nothing(self):
        with open(self.path("there"), "w", encoding="utf-8") as file:
            file.write("not a backup, but long enough to be one: " + "x" * 100)
        writer = Writer(self.path("data"))
        self.addCleanup(writer.kill)
        for arguments, says in (
            (("backup", "--data-dir", self.path("none"), "--out", self.path("new")), "holds no store"),
            (("backup", "--data-dir", self.path("data"), "--out", self.path("there")), "exists already"),
            (("backup", "--data-dir", self.path("data"), "--out", self.path("no/dir/new")), "No such file or directory"),
            (("restore", "--from", self.path("there"), "--data-dir", self.path("new")), "is not a backup of Baton"),
            (("restore", "--from", self.path("none"), "--data-dir", self.path("new")), "No such file or directory"),
        ):
            code, out, err = run(*arguments)
            self.assertEqual((code, out), (1, ""), arguments)
            self.assertTrue(err.startswith(f"baton {arguments[0]}: "), err)
            self.assertIn(says, err)
        self.assertFalse(os.path.exists(self.path("new")))

    def test_a_restore_never_touches_a_store(self):
        writer = Writer(self.path("data"))
        self.addCleanup(writer.kill)
        writer.wait_for(5)
        self.assertEqual(run("backup", "--data-dir", self.path("data"), "--out", self.path("backup"))[0], 0)
        code, _, err = run("restore", "--from", self.path("backup"), "--data-dir", self.path("data"))
        self.assertEqual(code, 1)
        self.assertIn("is not empty", err)
        writer.wait_for(5)

    def test_a_command_line_that_makes_no_sense_is_explained(self):
        for arguments, says in (
            ((), "--data-dir is missing"),
            (("--data-dir", "x"), "is missing"),
            (("--data-dir",), "--data-dir needs a value"),
            (("--data-dir=", "--out", "x"), "--data-dir needs a value"),
            (("--data-dir", "x", "--data-dir", "y"), "--data-dir is given twice"),
            (("--loud",), "'--loud' is not an option"),
            (("x",), "'x' is not an option"),
        ):
            code, out, err = run("backup", *arguments)
            self.assertEqual((code, out), (2, ""), arguments)
            self.assertIn(says, err)
            self.assertIn("`baton backup --help`", err)
        self.assertEqual(run("restore")[0], 2)

    def test_help_tells_how(self):
        for command, option in (("backup", "--out FILE"), ("restore", "--from FILE")):
            code, out, err = run(command, "--help")
            self.assertEqual((code, err), (0, ""))
            self.assertTrue(out.startswith(f"Usage: baton {command} "), out)
            self.assertIn(option, out)


unittest.main()
