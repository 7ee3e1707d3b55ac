"""A whole move between clusters that are processes of their own: hub and members, `baton controllers` and `baton practice operators`
(the practice Flink operator, whose jobs really process records) in between, there and back, with the judge's count at the end. On
`baton apiserver`, and in `make e2e-kube` on real kube-apiservers (federation_harness.py).

    HANDOFF_MOVES=20 ...      that many moves (2 unless told)

It prints how long nobody wrote (by the judge's ledger), and our part of that.
"""
import json
import os
import shutil
import subprocess
import threading
import time
import unittest

from harness import KUBECTL, WORK, main, poll
from federation_harness import Process, World
from up_harness import END_TIMEOUT, job

MOVES = max(2, int(os.environ.get("HANDOFF_MOVES", "2")))
MEMBERS = ("member1", "member2")
POLICY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: streaming, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
"""
world = operators = None
DATA = os.path.join(WORK, "practice")


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global world, operators
    world = World(*MEMBERS)
    try:
        world.start()
        merged = subprocess.run([KUBECTL, "config", "view", "--flatten", "--merge"], capture_output=True, text=True, check=True,
                                env={**os.environ, "KUBECONFIG": ":".join(renamed(place) for place in world.members)}).stdout
        path = os.path.join(WORK, "members.yaml")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            file.write(merged)
        operators = Process("practice", "operators", "--kubeconfig", path, "--context", ",".join(MEMBERS), "--data-dir", DATA, "--speed", "50")
        # The hub has seen that its members know the kind now.
        for place in world.members:
            poll(lambda place=place: "flink.apache.org" in world.hub.field(".status.apiEnablements[*].groupVersion", "cluster", place.name),
                 f"Flink's kinds in {place.name}")
    except BaseException:
        tear_down()
        raise


def renamed(place):
    """A copy of its kubeconfig, in which all names are the place's."""
    path = os.path.join(WORK, f"{place.name}.json")
    view = json.loads(place.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    for entries in ("clusters", "users", "contexts"):
        view[entries][0]["name"] = place.name
    view["contexts"][0]["context"].update(cluster=place.name, user=place.name)
    view["current-context"] = place.name
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(view, file)
    return path


def tear_down():
    if operators:
        operators.kill()
    if world:
        world.remove()


def tearDownModule():  # pylint: disable=invalid-name
    try:
        operators.stop()
        world.stop()
    finally:
        tear_down()
        shutil.rmtree(WORK, ignore_errors=True)


class Follow:
    """Our part of the time in which nobody writes: from the last change in the source (of the workload, its Deployment or its pods),
    which makes the stop proven, to the change in the target that lets it run, as watches of both servers tell them here."""
    KINDS = ("apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments", "apis/apps/v1/namespaces/default/deployments",
             "api/v1/namespaces/default/pods")

    def __init__(self):
        self.lock, self.source, self.last, self.ours = threading.Lock(), None, {}, []
        for place in world.members:
            for path in self.KINDS:
                threading.Thread(target=self.follow, args=(place, path), daemon=True).start()

    def begin(self, source):
        with self.lock:
            self.source = source

    def follow(self, place, path):
        try:
            with place.cluster.watch(f"/{path}?watch=true&timeoutSeconds=3600") as watch:
                while event := watch.next():
                    self.take(place.name, event, time.monotonic())
        except (OSError, ValueError):
            pass  # The server ends.

    def take(self, name, event, now):
        with self.lock:
            self.last[name] = now
            job_ = event["object"].get("spec", {}).get("job", {})
            if self.source and name != self.source and event["type"] != "DELETED" and job_.get("state") == "running":
                self.ours.append(1000 * (now - self.last.get(self.source, now)))
                self.source = None


def told(what, values):
    values = sorted(values)
    print(f"{what:8} p50 {values[len(values) // 2]:8.1f} ms   p99 {values[min(len(values) - 1, len(values) * 99 // 100)]:8.1f} ms   "
          f"max {values[-1]:8.1f} ms   ({len(values)} moves)")


class HandoffTest(unittest.TestCase):
    maxDiff = None

    def check(self):
        return json.loads(world.baton("practice", "check", "--data-dir", DATA, "-o", "json"))

    def holder(self, name):
        return world.hub.field(".spec.holder.cluster", "writer", f"{name}-flinkdeployment")

    def move(self, name, target):
        out = world.baton("migrate", f"flinkdep/{name}", "--to", target, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        self.assertIn(f"Succeeded: the workload runs in {target}", out)
        self.assertEqual(self.holder(name), target)
        return out

    def test_there_and_back_and_nothing_is_lost_or_doubled(self):
        world.hub.apply(POLICY, job("orders", rate=200))
        world.hub.kubectl("wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", "flinkdeployment/orders", f"--timeout={END_TIMEOUT}")
        first = poll(lambda: self.holder("orders"), "the Writer")
        before = world.hub.get("flinkdeployment", "orders")
        other = MEMBERS[1 - MEMBERS.index(first)]
        follow = Follow()
        for move in range(MOVES):
            follow.begin(self.holder("orders"))
            self.move("orders", other if move % 2 == 0 else first)
        after = world.hub.get("flinkdeployment", "orders")
        self.assertEqual((after["spec"], after["metadata"]["generation"]), (before["spec"], before["metadata"]["generation"]))
        here = first if MOVES % 2 == 0 else other
        there = MEMBERS[1 - MEMBERS.index(here)]
        place = {member.name: member for member in world.members}
        self.assertEqual(place[here].field(".status.jobStatus.state", "flinkdeployment", "orders"), "RUNNING")
        poll(lambda: place[there].run("get", "flinkdeployment", "orders").returncode == 1, f"it to be gone from {there}")
        self.assertIn("never two writers by Baton since", world.baton("verify", "-A"))
        report = self.check()
        self.assertTrue(report["clean"], json.dumps(report, indent=1))
        orders = next(one for one in report["workloads"] if one["name"] == "orders")
        writers = orders["writers"]
        self.assertGreater(orders["out"], 0)
        self.assertEqual(len(writers), MOVES + 1)
        self.assertEqual(len(follow.ours), MOVES)
        told("ours", follow.ours)
        told("window", [after_["beginMs"] - before_["endMs"] for before_, after_ in zip(writers, writers[1:])])
        # Nothing of the moves remains.
        policies = (world.hub.get("overridepolicies", "-A") or {"items": []})["items"]
        self.assertEqual([o["metadata"]["name"] for o in policies if "zz-baton" in o["metadata"]["name"]], [])

    def test_a_target_that_cannot_pull_the_image_is_rolled_back(self):
        world.hub.apply(POLICY, job("broken", rate=50))
        world.hub.kubectl("wait", "--for=jsonpath={.status.jobStatus.state}=RUNNING", "flinkdeployment/broken", f"--timeout={END_TIMEOUT}")
        source = poll(lambda: self.holder("broken"), "the Writer")
        target = MEMBERS[1 - MEMBERS.index(source)]
        kubeconfig = os.path.join(WORK, "members.yaml")
        world.baton("practice", "fault", target, "fail-image", "--kubeconfig", kubeconfig)
        try:
            out = world.baton("migrate", "flinkdep/broken", "--to", target, "--wait", "--timeout", END_TIMEOUT, code=3)
            self.assertIn("RolledBack", out)
        finally:
            world.baton("practice", "fault", target, "fail-image=off", "--kubeconfig", kubeconfig)
        self.assertEqual(self.holder("broken"), source)
        self.assertTrue(self.check()["clean"])


if __name__ == "__main__":
    main()
