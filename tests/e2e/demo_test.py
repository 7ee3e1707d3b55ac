"""`baton demo`, three at a time: in a pipe, on a terminal, and one whose ledger is tampered with, which the judge must notice."""
import os
import pty
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import DEADLINE, WORK, main, poll



def setUpModule():  # pylint: disable=invalid-name
    pass


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(WORK, ignore_errors=True)


class DemoTest(unittest.TestCase):
    def demo(self, *arguments, stdout):
        process = subprocess.Popen([os.environ["BATON"], "demo", *arguments], stdout=stdout, stderr=subprocess.STDOUT)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def test_it_shows_three_moves_and_the_judges_count(self):
        begun = time.monotonic()
        kept = tempfile.mkdtemp(prefix="baton_demo_")
        self.addCleanup(shutil.rmtree, kept, ignore_errors=True)
        paths = [os.path.join(WORK, name) for name in ("piped", "tampered")]
        with open(paths[0], "w", encoding="utf-8") as piped_out, open(paths[1], "w", encoding="utf-8") as tampered_out:
            piped = self.demo(stdout=piped_out)
            tampered = self.demo("--keep", kept, stdout=tampered_out)
        ours, theirs = pty.openpty()
        live = self.demo(stdout=theirs)
        os.close(theirs)

        ledger = os.path.join(kept, "practice-storage", "shared", "sink", "default", "orders", "log")
        poll(lambda: os.path.exists(ledger) and os.path.getsize(ledger) > 10000, "rows of the job")
        with open(ledger, "a", encoding="utf-8") as file:
            file.write("T 1 nobody job 0 - 1\n0 0 0 1 0\n.\n")  # a record that was written already, by one who is none

        screen = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:  # its other end is closed
                break
            if not data:
                break
            screen += data
        os.close(ours)
        self.assertEqual(live.wait(timeout=DEADLINE), 0, screen[-2000:])
        self.assertEqual(piped.wait(timeout=DEADLINE), 0)
        # A minute is promised; not on a machine that has four times as much to do as it can.
        self.assertLess(time.monotonic() - begun, 60 if os.getloadavg()[0] < 4 * os.cpu_count() else 3 * DEADLINE)
        with open(paths[0], encoding="utf-8") as file:
            text = file.read()
        for word in ("Succeeded ", "RolledBack ", "every record once, in order, by one writer at a time", "\nlost 0, duplicated 0, overlapping writers 0\n"):
            self.assertIn(word, text)
        self.assertNotIn("\r", text)
        self.assertIn(b"\r\x1b[K", screen)
        self.assertIn(b"lost 0, duplicated 0, overlapping writers 0", screen)
        self.assertEqual(tampered.wait(timeout=DEADLINE), 1)
        with open(paths[1], encoding="utf-8") as file:
            self.assertTrue(file.read().endswith("NOT CLEAN\n"))


if __name__ == "__main__":
    main()
