"""A whole move between clusters that are processes of their own: hub and members, `baton controllers` and `baton practice operators`
(the practice Flink operator, whose jobs really process records) in between, there and back, with the judge's count at the end. On
`baton apiserver`, and in `make e2e-kube` on real kube-apiservers (moves_harness.py).
"""
import json
import shutil
import unittest

from harness import KUBECTL, WORK, main, poll
from moves_harness import Moves
from up_harness import END_TIMEOUT

MEMBERS = ("member1", "member2")
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


class HandoffTest(unittest.TestCase):
    maxDiff = None

    def move(self, name, target):
        out = world.baton("migrate", f"flinkdep/{name}", "--to", target, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        self.assertIn(f"Succeeded: the workload runs in {target}", out)
        self.assertEqual(world.holder(name), target)

    def test_there_and_back_and_nothing_is_lost_or_doubled(self):
        first = world.begin("orders", rate=200)
        before = world.hub.get("flinkdeployment", "orders")
        other = world.other_than(first)
        self.move("orders", other)
        self.move("orders", first)
        after = world.hub.get("flinkdeployment", "orders")
        self.assertEqual((after["spec"], after["metadata"]["generation"]), (before["spec"], before["metadata"]["generation"]))
        self.assertTrue(world.runs("orders", first))
        world.gone("orders", other)
        self.assertIn("never two writers by Baton since", world.baton("verify", "-A"))
        report = world.check()
        self.assertTrue(report["clean"], json.dumps(report, indent=1))
        orders = next(one for one in report["workloads"] if one["name"] == "orders")
        self.assertGreater(orders["out"], 0)
        self.assertEqual(len(orders["writers"]), 3)
        self.assertEqual(world.residue(), [])

    def test_a_target_that_cannot_pull_the_image_is_rolled_back(self):
        source = world.begin("broken", rate=50)
        target = world.other_than(source)
        world.fault(target, "fail-image")
        try:
            out = world.baton("migrate", "flinkdep/broken", "--to", target, "--wait", "--timeout", END_TIMEOUT, code=3)
            self.assertIn("RolledBack", out)
        finally:
            world.fault(target, "fail-image=off")
        self.assertEqual(world.holder("broken"), source)
        self.assertTrue(world.check()["clean"])

    def test_what_a_restored_cluster_runs_again_is_put_on_hold_and_told(self):
        source = world.begin("stray", rate=50)
        backup = world.place(source).get("flinkdeployment", "stray")
        target = world.other_than(source)
        self.move("stray", target)
        world.gone("stray", source)
        # Its image is not there, so that the second writer, which nobody can prevent, does not come to write here.
        world.fault(source, "fail-image")
        try:
            backup["metadata"] = {key: backup["metadata"][key] for key in ("name", "namespace", "labels", "annotations") if key in backup["metadata"]}
            backup.pop("status", None)
            world.place(source).kubectl("create", "-f", "-", stdin=json.dumps(backup))
            poll(lambda: world.place(source).field(".spec.job.state", "flinkdeployment", "stray") == "suspended", "the stray to be held")
            poll(lambda: "StrayWriter" in world.hub.kubectl("get", "events", "-o", "jsonpath={.items[*].reason}"), "the event")
            world.place(source).kubectl("delete", "flinkdeployment", "stray", "--wait=false")
            world.gone("stray", source)
        finally:
            world.fault(source, "fail-image=off")
        self.assertTrue(world.runs("stray", target))
        self.assertTrue(world.check()["clean"])


if __name__ == "__main__":
    main()
