"""A maintenance day between clusters that are processes of their own: a cluster is drained under load and gets everything back, and a
blue-green template's new image first fails and then succeeds, with the judge's count after each. On `baton apiserver`, and in
`make e2e-kube` on real kube-apiservers (moves_harness.py)."""
import json
import shutil
import unittest

from harness import KUBECTL, WORK, main, poll
from moves_harness import Moves
from up_harness import END_TIMEOUT, job

MEMBERS = ("member1", "member2")
JOBS = ("drained-a", "drained-b", "drained-c")
world = None


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global world
    world = Moves(*MEMBERS)
    try:
        world.start()
    except BaseException:
        world.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    try:
        world.stop()
    finally:
        world.remove()
        shutil.rmtree(WORK, ignore_errors=True)


def blue_green(name, rate=100, image="flink:1.20"):
    """A job whose new versions start elsewhere."""
    return job(name, rate, image).replace("annotations: {", 'annotations: {rollout.karmada.io/strategy: BlueGreen, ')


class MaintenanceTest(unittest.TestCase):
    """The drain first (in the order of names): what it moves is counted."""
    maxDiff = None

    def judged(self, *names):
        """The judge finds nothing, and these jobs have written; their writers in turn."""
        report = world.check()
        self.assertTrue(report["clean"], json.dumps(report, indent=1))
        of = {one["name"]: one for one in report["workloads"]}
        for name in names:
            self.assertGreater(of[name]["out"], 0)
        self.assertEqual(world.residue(), [])
        return {name: len(of[name]["writers"]) for name in names}

    def test_a_cluster_is_drained_and_gets_everything_back(self):
        world.begin(*JOBS, rate=100)
        home = {name: world.holder(name) for name in JOBS}
        cluster = home[JOBS[0]]
        other = world.other_than(cluster)
        for name in JOBS:  # The drain is to move them all.
            if home[name] != cluster:
                world.baton("migrate", f"flinkdep/{name}", "--to", cluster, "--wait", "--stabilization", "0s", "--timeout", END_TIMEOUT)
        plan = world.baton("drain", cluster, "--dry-run")
        self.assertIn(f"Draining {cluster} would move 3 workloads", plan)
        self.assertEqual({world.holder(name) for name in JOBS}, {cluster}, "a plan moves nothing")

        out = world.baton("drain", cluster, "--max", "2", "--timeout", "10m", "--stabilization", "1s")
        self.assertIn("Drained: 3 of 3 are elsewhere", out)
        for name in JOBS:
            self.assertEqual(world.holder(name), other)
            self.assertTrue(world.runs(name, other))
            world.gone(name, cluster)
        world.hub.kubectl("wait", "--for=condition=Drained", f"clusterevacuation/{cluster}", "--timeout=5s")
        # Nothing new comes while it is drained, by a wish or by the scheduler.
        self.assertIn("does not reach cluster", world.baton("migrate", f"flinkdep/{JOBS[0]}", "--to", cluster, "--wait", code=4))

        out = world.baton("undrain", cluster, "--return", "--timeout", "10m", "--stabilization", "1s")
        self.assertIn("Returned: 3 of 3 are home", out)
        self.assertEqual({world.holder(name) for name in JOBS}, {cluster})
        self.assertNotIn("taints", world.hub.get("cluster", cluster)["spec"])
        for name, writers in self.judged(*JOBS).items():
            self.assertEqual(writers, 3 + (home[name] != cluster), name)
        self.assertIn("never two writers by Baton since", world.baton("verify", "-A"))

    def image(self, cluster):
        return world.place(cluster).field(".spec.image", "flinkdeployment", "versions")

    def upgrade_to(self, image):
        """The template is edited; the end of the move that follows."""
        world.hub.kubectl("patch", "flinkdeployment", "versions", "--type=merge", "-p", json.dumps({"spec": {"image": image}}))
        mark = "@" + world.hub.field(".metadata.generation", "flinkdeployment", "versions")
        name = poll(lambda: next((name for name, of in self.upgrades().items() if of.endswith(mark)), None), f"the move for generation {mark[1:]}")
        world.hub.kubectl("wait", "--for=condition=Completed", f"smig/{name}", f"--timeout={END_TIMEOUT}")
        return world.hub.field(".status.phase", "smig", name)

    def upgrades(self):
        """The moves for new versions, and which version each is for: REVISION@GENERATION."""
        return {move["metadata"]["name"]: move["metadata"]["annotations"]["rollout.karmada.io/upgrade"]
                for move in world.hub.get("smig", "-n", "default")["items"] if "rollout.karmada.io/upgrade" in move["metadata"].get("annotations", {})}

    def test_a_new_image_that_fails_leaves_the_old_one_running_and_the_next_one_succeeds(self):
        source = world.begin("versions", text=blue_green)
        target = world.other_than(source)
        world.fault(target, "fail-image")
        try:
            self.assertEqual(self.upgrade_to("flink:1.21"), "RolledBack")
        finally:
            world.fault(target, "fail-image=off")
        self.assertEqual(world.holder("versions"), source)
        poll(lambda: world.runs("versions", source), f"the old version to run in {source} again")
        self.assertEqual(self.image(source), "flink:1.20")
        world.gone("versions", target)
        # The template says what its author wrote, and the failed version is not tried again, though its cause is gone.
        self.assertEqual(world.hub.field(".spec.image", "flinkdeployment", "versions"), "flink:1.21")
        poll(lambda: world.hub.field('.items[?(@.reason=="UpgradeFailed")].reason', "events"), "the event that tells of it")
        self.judged("versions")
        self.assertEqual(len(self.upgrades()), 1)

        self.assertEqual(self.upgrade_to("flink:1.22"), "Succeeded")
        self.assertEqual(world.holder("versions"), target)
        self.assertTrue(world.runs("versions", target))
        self.assertEqual(self.image(target), "flink:1.22")
        world.gone("versions", source)
        # The source ran twice: before the failed upgrade and after it.
        self.assertEqual(self.judged("versions")["versions"], 3)
        self.assertIn("never two writers by Baton since", world.baton("verify", "-A"))


if __name__ == "__main__":
    main()
