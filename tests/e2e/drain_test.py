"""A maintenance day: `baton drain`, `uncordon` and `undrain --return`, a new version by blue-green, on practice clusters with records."""
import shutil
import unittest

from harness import KUBECTL, main, poll
from up_harness import POLICY, Up, job

JOBS = ("drained-a", "drained-b", "drained-c")
up = None


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global up
    up = Up()
    try:
        up.start()
        up.apply(POLICY)
        up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", "--timeout=60s")
        for name in JOBS:
            up.apply(job(name))
        for name in JOBS:
            up.until_runs(name)
            poll(lambda: up.run(KUBECTL, "get", "writer", f"{name}-flinkdeployment").returncode == 0, "the Writer")  # pylint: disable=cell-var-from-loop
    except BaseException:
        up.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    try:
        out = up.baton("practice", "check", "--data-dir", up.data)
        assert "lost          0" in out and "duplicated    0" in out and "overlaps      0" in out, out
        up.stop()
    finally:
        up.remove()


class DrainTest(unittest.TestCase):
    def test_a_cluster_is_drained_and_gets_everything_back(self):
        home = {name: up.holder(name) for name in JOBS}
        cluster = home[JOBS[0]]
        here = sorted(name for name in JOBS if home[name] == cluster)
        plan = up.baton("drain", cluster, "--dry-run")
        self.assertIn(f"Draining {cluster} would move {len(here)} workloads", plan)
        self.assertIn(f"1. flinkdeployment/{here[0]} -n default: to ", plan)
        self.assertEqual(up.get("clusterevacuations")["items"], [], "a plan leaves nothing behind")
        self.assertEqual({name: up.holder(name) for name in JOBS}, home)

        out = up.baton("drain", cluster, "--max", "2", "--timeout", "5m", "--stabilization", "1s")
        self.assertIn(f"Drained: {len(here)} of {len(here)} are elsewhere", out)
        for name in here:
            self.assertNotEqual(up.holder(name), cluster)
        up.kubectl("wait", "--for=condition=Drained", f"clusterevacuation/{cluster}", "--timeout=5s")
        row = up.kubectl("get", "evac", cluster, "--no-headers").split()
        self.assertEqual(row[1:5], [cluster, "Drained", str(len(here)), str(len(here))])
        # Nothing new comes.
        late = up.baton("migrate", f"flinkdep/{here[0]}", "--to", cluster, "--wait", code=4)
        self.assertIn("does not reach cluster", late)

        out = up.baton("undrain", cluster, "--return", "--timeout", "5m", "--stabilization", "1s")
        self.assertIn(f"Returned: {len(here)} of {len(here)} are home", out)
        self.assertEqual({name: up.holder(name) for name in JOBS}, home)
        self.assertNotIn("taints", up.get("cluster", cluster)["spec"])

    def test_a_drain_of_no_cluster_says_so(self):
        self.assertIn("there is no cluster 'nowhere'", up.baton("drain", "nowhere", code=1))


if __name__ == "__main__":
    main()
