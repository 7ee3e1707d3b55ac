"""A move on a hub whose federation is somebody else's (foreign_federation.py plays a Karmada): `baton controllers --controllers=rollout`
writes bindings and overrides while it moves something, and nothing else; no RunGate stands in the pipe. On `baton apiserver`, and in
`make e2e-kube` on real kube-apiservers."""
import json
import shutil
import threading
import time
import unittest

from harness import KUBECTL, WORK, main, poll
from foreign_federation import Foreign
from moves_harness import Moves
from up_harness import END_TIMEOUT

MEMBERS = ("member1", "member2")
world = foreign = None


class Alongside(Moves):
    """The hub has the kinds of a Karmada, and those of Flink, but none of our controllers places anything."""

    def install(self):
        super().install()
        global foreign
        foreign = Foreign(self.hub, self.members).start()

    def lead(self, *more):
        super().lead("--controllers=rollout", *more)

    def operate(self):
        super().operate()
        for kind in ("flinkdeployments", "flinkstatesnapshots"):
            crd = self.members[0].get("crd", f"{kind}.flink.apache.org")
            self.hub.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(
                {"apiVersion": crd["apiVersion"], "kind": crd["kind"], "metadata": {"name": crd["metadata"]["name"]}, "spec": crd["spec"]}))


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global world
    world = Alongside(*MEMBERS)
    try:
        world.start()
    except BaseException:
        world.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    try:
        problems = foreign.stop()
        assert problems == [], "\n".join(problems[:5])
        world.stop()
    finally:
        world.remove()
        shutil.rmtree(WORK, ignore_errors=True)


class Scheduler(threading.Thread):
    """Another scheduler that knows nothing of suspensions: whenever the binding that a move has locked names other clusters than the one it
    has in mind, it writes that one, until it has done so so many times. (A binding that no move has locked is the other federation's: what
    its scheduler makes of it then is its own business.)"""

    def __init__(self, binding, cluster, times):
        super().__init__(daemon=True)
        self.binding, self.cluster, self.left, self.ending = binding, cluster, times, False

    def run(self):
        while self.left and not self.ending:
            found = world.hub.get("resourcebinding", self.binding)
            locked = found["spec"].get("suspension", {}).get("scheduling", False)
            if locked and [c["name"] for c in found["spec"].get("clusters", [])] != [self.cluster]:
                body = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "spec": {"clusters": [{"name": self.cluster}]}}
                if world.hub.run("patch", "resourcebinding", self.binding, "--type=merge", "-p", json.dumps(body)).returncode == 0:
                    self.left -= 1
            time.sleep(0.05)

    def stop(self):
        self.ending = True
        self.join()


class AlongsideTest(unittest.TestCase):
    maxDiff = None

    def migrate(self, name, target, code=0):
        return world.baton("migrate", f"flinkdep/{name}", "--to", target, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT, code=code)

    def placed(self, name, cluster):
        """It runs there alone; the binding says so and is free; nothing of a move is left; the judge finds nothing."""
        self.assertEqual(world.holder(name), cluster)
        spec = world.hub.get("resourcebinding", f"{name}-flinkdeployment")["spec"]
        self.assertEqual(spec["clusters"], [{"name": cluster}])
        self.assertFalse(spec.get("suspension", {}).get("scheduling"), spec.get("suspension"))
        self.assertEqual(spec.get("gracefulEvictionTasks", []), [])
        world.gone(name, world.other_than(cluster))
        poll(lambda: world.runs(name, cluster), f"{name} to run in {cluster}")
        poll(lambda: world.residue() == [], "the override to be removed")
        self.judged(name)

    def judged(self, name):
        report = world.check()
        self.assertTrue(report["clean"], json.dumps(report, indent=1))
        return next(one for one in report["workloads"] if one["name"] == name)

    def test_there_and_back(self):
        first = world.begin("orders", rate=100)
        other = world.other_than(first)
        before = world.hub.get("flinkdeployment", "orders")
        for target in (other, first):
            self.assertIn(f"Succeeded: the workload runs in {target}", self.migrate("orders", target))
            self.placed("orders", target)
        after = world.hub.get("flinkdeployment", "orders")
        self.assertEqual((after["spec"], after["metadata"]["generation"]), (before["spec"], before["metadata"]["generation"]))
        self.assertEqual(len(self.judged("orders")["writers"]), 3)
        self.assertIn("never two writers by Baton since", world.baton("verify", "flinkdep/orders"))
        fence = world.hub.get("resourceinterpretercustomization", "baton-fence-flinkdeployment")
        self.assertEqual(list(fence["spec"]["customizations"]), ["retention"], "nothing else of the federation's is answered by us")

    def test_a_target_that_cannot_pull_the_image_is_rolled_back(self):
        source = world.begin("broken", rate=50)
        target = world.other_than(source)
        world.fault(target, "fail-image")
        try:
            self.assertIn("RolledBack", self.migrate("broken", target, code=3))
        finally:
            world.fault(target, "fail-image=off")
        self.placed("broken", source)

    def test_a_scheduler_that_writes_the_binding_in_the_middle_cannot_make_two_writers(self):
        source = world.begin("fought-over", rate=50)
        target = world.other_than(source)
        scheduler = Scheduler("fought-over-flinkdeployment", source, times=4)
        scheduler.start()
        try:
            self.assertIn(f"Succeeded: the workload runs in {target}", self.migrate("fought-over", target))
        finally:
            scheduler.stop()
        self.assertLess(scheduler.left, 4, "it never wrote")
        self.judged("fought-over")
        self.placed("fought-over", target)


if __name__ == "__main__":
    main()
