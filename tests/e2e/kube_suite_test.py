"""The kube suite (tests/kube_suite) against this run's server, and what takes more than one process: elections between processes of which
one is killed or paused, informers whose server is restarted.

    python3 tests/e2e/kube_suite_test.py build/baton build/tests/kube_suite/kube_suite
"""
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
import unittest

if __name__ == "__main__" and len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
    os.environ["KUBE_SUITE"] = os.path.abspath(sys.argv.pop(2))
# pylint: disable=wrong-import-position
import harness
from harness import DEADLINE, E2E, REAL, TOKEN, Cluster, Server, main, poll, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

SUITE_TIMEOUT = 20 * DEADLINE


class Process:
    """A kube_suite process, and its lines with the time at which each came."""

    def __init__(self, test, kubeconfig, *arguments):
        self.process = subprocess.Popen([os.environ["KUBE_SUITE"], *arguments], stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "E2E_KUBECONFIG": kubeconfig})
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        test.addCleanup(self.end)

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.strip()))

    def said(self, wanted, after=0.0):
        """The time at which it first said a line that begins so."""
        return next((at for at, line in list(self.lines) if line.startswith(wanted) and at > after), None)

    def signal(self, number):
        self.process.send_signal(number)
        return time.monotonic()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.reader.join(timeout=DEADLINE)
        self.process.stdout.close()


class SuiteTest(E2E):
    def test_the_suite(self):
        done = subprocess.run([os.environ["KUBE_SUITE"], "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=SUITE_TIMEOUT,
                              env={**os.environ, "E2E_KUBECONFIG": self.cluster.kubeconfig, "E2E_TOKEN": TOKEN})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("[  PASSED  ]", done.stdout)


class ElectionTest(E2E):
    LEASE = 6  # seconds, as in tests/kube_suite/main.cc

    def lead(self, identity):
        return Process(self, self.cluster.kubeconfig, "lead", self.ns, "leader", identity)

    def two(self):
        """One that leads and one that waits."""
        first = self.lead("one")
        poll(lambda: first.said("work "), "the first to lead")
        second = self.lead("two")
        poll(lambda: "waits" if self.api("GET", "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/leader")["spec"]["holderIdentity"] == "one"
             else None, "the lease")
        time.sleep(2)  # The second has looked at the lease by then; more would only make the test longer.
        self.assertIsNone(second.said("leading"))
        return first, second

    def test_a_leader_that_is_killed_is_followed(self):
        first, second = self.two()
        at = first.signal(signal.SIGKILL)
        took = poll(lambda: second.said("leading 1"), "the second to lead")
        self.assertGreater(took - at, self.LEASE - 3, "it did not wait for the lease to run out")
        self.assertLess(max(when for when, line in first.lines if line.startswith("work")), took)

    def test_a_leader_that_is_paused_stops_when_it_goes_on(self):
        first, second = self.two()
        first.signal(signal.SIGSTOP)
        poll(lambda: second.said("leading 1"), "the second to lead")
        resumed = first.signal(signal.SIGCONT)
        poll(lambda: first.said("lost", after=resumed - 0.001), "the first to notice")
        now = time.monotonic()
        poll(lambda: second.said("work 1", after=now), "the second to lead on")
        # What was due at the moment of the pause may still happen once: it carries the old fence.
        late = [line for at, line in first.lines if at >= resumed and line.startswith("work")]
        self.assertLessEqual(len(late), 1, late)
        self.assertTrue(all(line == "work 0" for line in late), late)
        self.assertIsNone(first.said("leading 2"))
        second.signal(signal.SIGKILL)
        poll(lambda: first.said("leading 2"), "the first to lead again")


class RestartTest(E2E):
    """A server that is killed and started again on its data; the real one by the command in E2E_RESTART."""

    def setUp(self):  # pylint: disable=invalid-name
        if REAL and "E2E_RESTART" not in os.environ:
            self.skipTest("E2E_RESTART names no command that kills the server and starts it again")
        if REAL:
            super().setUp()
            return
        self.data = os.path.join(harness.WORK, f"restart-{secrets.token_hex(4)}")
        self.server = Server(self.data)
        self.cluster = Cluster(self.server.kubeconfig)
        self.ns = f"restart-{secrets.token_hex(4)}"
        self.addCleanup(lambda: self.server.kill())  # pylint: disable=unnecessary-lambda
        self.assertEqual(self.cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": self.ns}}).status, 201)

    def stop(self):
        if REAL:
            subprocess.run([os.environ["E2E_RESTART"], "kill"], check=True, timeout=4 * DEADLINE)
            return
        self.server.kill()

    def start(self):
        if REAL:
            subprocess.run([os.environ["E2E_RESTART"], "start"], check=True, timeout=4 * DEADLINE)
            return
        old = self.server
        self.server = Server(self.data, listen=f"127.0.0.1:{self.cluster.url.port}")
        self.assertIsNotNone(old.process.returncode)

    def apply(self, name, value):
        reply = self.cluster.request("PATCH", f"/api/v1/namespaces/{self.ns}/configmaps/{name}?fieldManager=m&force=true",
                                     {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}},
                                     headers={"Content-Type": "application/apply-patch+yaml"})
        self.assertIn(reply.status, (200, 201), reply.body)

    def test_an_informer_goes_on_after_its_server_was_killed(self):
        self.apply("a", "1")
        follower = Process(self, self.cluster.kubeconfig, "follow", self.ns)
        poll(lambda: follower.said("synced"), "the informer to sync")
        for round_ in range(2, 5):
            self.stop()
            time.sleep(1)  # It tries and fails meanwhile.
            self.start()
            self.apply("a", str(round_))
            self.apply(f"new-{round_}", "1")
            poll(lambda r=round_: follower.said(f"a {r} "), f"change {round_}")
            poll(lambda r=round_: follower.said(f"new-{r} 1 "), f"object {round_}")
        told = [re.sub(r" lists=.*", "", line) for _, line in follower.lines if line.startswith(("a ", "new-"))]
        self.assertEqual(sorted(told), ["a 1", "a 2", "a 3", "a 4", "new-2 1", "new-3 1", "new-4 1"], "each change is told once")

    @unittest.skipUnless(REAL, "kube/remote_api_test.cc has it for the embedded server, whose history cannot be cut from outside")
    def test_an_informer_lists_again_when_its_history_was_compacted(self):
        self.apply("a", "1")
        follower = Process(self, self.cluster.kubeconfig, "follow", self.ns)
        poll(lambda: follower.said("synced"), "the informer to sync")
        # What it misses while it stands still reaches it on no connection, and is in no server's memory afterwards.
        follower.signal(signal.SIGSTOP)
        for value in ("2", "3"):
            self.stop()
            self.start()
            self.apply("a", value)
        self.stop()
        self.start()
        self.apply("a", "4")
        subprocess.run([os.environ["E2E_RESTART"], "compact"], check=True, timeout=4 * DEADLINE)
        follower.signal(signal.SIGCONT)
        poll(lambda: follower.said("a 4 "), "the newest")
        last = [line for _, line in follower.lines if line.startswith("a 4 ")]
        self.assertEqual(last, ["a 4 lists=2"])


if __name__ == "__main__":
    main()
