"""A maintenance day: `baton plan`, `baton simulate ... --from-hub`, `baton drain`, `uncordon` and `undrain --return`, a new version by blue-green, on practice clusters with records."""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import zsh_completion  # pylint: disable=wrong-import-position

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
        out = up.baton("practice", "check", "--kubeconfig", up.kubeconfig)
        assert "lost          0" in out and "duplicated    0" in out and "overlaps      0" in out, out
        up.stop()
    finally:
        up.remove()


def versions():
    """Of everything that a move or a drain would write on the hub, and of the workloads in the members."""
    seen = {}
    for kinds in ("writers", "resourcebindings", "overridepolicies", "statefulmigrations", "clusterevacuations", "flinkdeployments"):
        for item in up.get(kinds, "-A")["items"]:
            seen[(kinds, item["metadata"]["name"])] = json.dumps(item["spec"], sort_keys=True)
    for cluster in up.get("clusters")["items"]:
        name = cluster["metadata"]["name"]
        seen[("taints", name)] = str(cluster["spec"].get("taints"))
        for item in json.loads(up.kubectl("--context", name, "get", "flinkdeployments", "-A", "-o", "json"))["items"]:
            seen[(name, item["metadata"]["name"])] = item["metadata"]["generation"]
    return seen


class APlanTest(unittest.TestCase):
    """First in this file: nothing has been moved yet."""

    def test_of_a_move_says_checks_writes_and_that_there_is_no_history(self):
        before = versions()
        source = up.holder(JOBS[0])
        target = up.other_than(source)
        out = up.baton("plan", "migrate", f"flinkdep/{JOBS[0]}", "--to", target)
        self.assertIn(f"Moving flinkdeployment/{JOBS[0]} -n default from {source} to {target}, guarantee ExactlyOnce", out)
        for check in (f"ok   target   cluster {target} is ready", f"ok   source   cluster {source} answers",
                      f"the API server of {target} takes the held workload (dry run)", f"the policy's placement reaches cluster {target}"):
            self.assertIn(check, out)
        self.assertNotIn("REFUSED", out)
        self.assertRegex(out, rf"1\. Pending +hub +create +StatefulMigration default/{JOBS[0]}-to-{target}")
        order = [out.index(f"{phase} ") for phase in ("Pending", "Planned", "Staged", "Quiescing", "Granted", "Verifying", "Cleaning")]
        self.assertEqual(order, sorted(order))
        self.assertRegex(out, rf"Quiescing +{source} +update +FlinkDeployment default/{JOBS[0]} +it is stopped")
        self.assertIn('/spec/job/state = "suspended"', out)
        self.assertIn(f"waits for the stop proof from {source}", out)
        self.assertIn("Expected: no history", out)
        plan = json.loads(up.baton("plan", "migrate", f"flinkdep/{JOBS[0]}", "--to", target, "-o", "json"))
        self.assertTrue(plan["ok"])
        self.assertEqual((plan["source"], plan["target"], plan["end"], plan["expected"]["basis"]), (source, target, "Succeeded", "None"))
        self.assertEqual(versions(), before, "a plan writes nothing")

    def test_of_a_move_that_is_refused_ends_with_4_and_every_reason(self):
        source = up.holder(JOBS[0])
        out = up.baton("plan", "migrate", f"flinkdep/{JOBS[0]}", "--to", source, code=4)
        self.assertRegex(out, rf"REFUSED +target +it runs in {source} already")
        out = up.baton("plan", "migrate", f"flinkdep/{JOBS[0]}", "--to", "nowhere", code=4)
        self.assertRegex(out, r"REFUSED +target +there is no cluster nowhere")
        plan = json.loads(up.baton("plan", "migrate", "flinkdep/absent", "--to", source, "-o", "json", code=4))
        self.assertFalse(plan["ok"])
        self.assertEqual(plan["steps"], [])
        self.assertIn("there is no FlinkDeployment absent on the hub", [check.get("problem") for check in plan["checks"]])

    def test_of_a_drain_names_rounds_and_targets(self):
        before = versions()
        cluster = up.holder(JOBS[0])
        here = sorted(name for name in JOBS if up.holder(name) == cluster)
        out = up.baton("plan", "drain", cluster, "--max", "1")
        self.assertIn(f"Draining {cluster} moves {len(here)} of {len(here)} managed workloads, in {len(here)} rounds", out)
        self.assertRegex(out, rf"Round 1:\n +3\. flinkdeployment/{here[0]} -n default: create StatefulMigration: to practice-\d")
        plan = json.loads(up.baton("plan", "drain", cluster, "-o", "json"))
        self.assertEqual([(move["name"], move["round"], move["ok"]) for move in plan["moves"]], [(name, 1, True) for name in here])
        self.assertNotIn(cluster, [move["target"] for move in plan["moves"]])
        self.assertIn("there is no cluster nowhere", up.baton("plan", "drain", "nowhere", code=4))
        self.assertEqual(versions(), before, "a plan writes nothing")


class ARehearsalTest(unittest.TestCase):
    """On a copy of this hub, in virtual time."""

    def test_of_a_move_and_again_from_the_saved_copy(self):
        before = versions()
        source = up.holder(JOBS[0])
        target = up.other_than(source)
        up.kubectl("label", "cluster", target, "tier=gold", "--overwrite")
        saved = os.path.join(up.directory, "fleet.json")
        out = up.baton("simulate", "migrate", f"flinkdep/{JOBS[0]}", "--to", target, "--from-hub", "--seeds", "3", "--save", saved)
        self.assertIn("A copy of hub hub: 3 clusters, 1 policies and profiles, 1 workloads.", out)
        self.assertIn("not copied: ", out)
        self.assertIn(f"Without faults: Succeeded: the workload runs in {target}", out)
        self.assertRegex(out, r"With faults: 3 seeds, 0 failed")
        self.assertIn("one writer at all times", out)
        self.assertEqual(versions(), before, "a rehearsal writes nothing")
        with open(saved, encoding="utf-8") as file:
            fleet = json.load(file)
        self.assertEqual({c["metadata"]["name"]: c["metadata"]["labels"].get("tier") for c in fleet["clusters"]}[target], "gold")
        self.assertEqual(fleet["workloads"][0]["cluster"], source)
        self.assertNotIn("secretRef", json.dumps(fleet), "nothing of how clusters are reached")
        story = up.baton("simulate", "migrate", f"flinkdep/{JOBS[0]}", "--to", target, "--from", saved, "--seed", "2")
        self.assertRegex(story, r"\nseed=2: \w+: ")
        self.assertEqual(story, up.baton("simulate", "migrate", f"flinkdep/{JOBS[0]}", "--to", target, "--from", saved, "--seed", "2"))
        # What cannot be is told, and no seeds are played.
        out = up.baton("simulate", "migrate", f"flinkdep/{JOBS[0]}", "--to", source, "--from", saved, code=4)
        self.assertIn(f"Without faults: Rejected: it runs in {source} already", out)

    def test_of_a_drain(self):
        cluster = up.holder(JOBS[0])
        here = sum(1 for name in JOBS if up.holder(name) == cluster)
        out = up.baton("simulate", "drain", cluster, "--from-hub", "--seeds", "2", "--max", "2")
        self.assertIn(f"Without faults: Drained ({here} Succeeded): {here} of {here} are elsewhere", out)
        self.assertIn("With faults: 2 seeds, 0 failed", out)
        self.assertIn("there is no cluster 'nowhere'", up.baton("simulate", "drain", "nowhere", "--from-hub", code=1))


@unittest.skipUnless(zsh_completion.installed(), "no zsh on the PATH: its completion of live names is not tried (apt-get install zsh)")
class CompletionTest(unittest.TestCase):
    def test_zsh_completes_the_names_that_the_hub_has_now(self):
        def complete(line):
            return zsh_completion.complete(os.environ["BATON"], line, environment={"KUBECONFIG": up.kubeconfig})
        self.assertEqual(complete("baton status flinkdeployment/drained-b"), "baton status flinkdeployment/drained-b")
        self.assertEqual(complete("baton history flinkd"), "baton history flinkdeployment/drained-")
        self.assertEqual(complete("baton drain pr"), "baton drain practice-")
        self.assertEqual(complete(f"baton migrate flinkdeployment/drained-a --kubeconfig {up.kubeconfig} --to p"),
                         f"baton migrate flinkdeployment/drained-a --kubeconfig {up.kubeconfig} --to practice-")


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

        # Interrupted, it goes on; run again, it is waited for again.
        interrupted = subprocess.Popen([os.environ["BATON"], "drain", cluster, "--max", "1"], env=up.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        poll(lambda: [item for item in up.get("statefulmigrations")["items"] if item.get("status", {}).get("phase")], "a move of the drain")
        interrupted.send_signal(signal.SIGINT)
        self.assertNotEqual(interrupted.wait(timeout=30), 0)
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
        # What was moved is history for the next plan.
        plan = json.loads(up.baton("plan", "migrate", f"flinkdep/{here[0]}", "-o", "json"))
        self.assertEqual((plan["expected"]["basis"], plan["expected"]["moves"]), ("Workload", 2))
        self.assertGreater(plan["expected"]["downtimeSeconds"], 0)

    def test_a_drain_of_no_cluster_says_so(self):
        self.assertIn("there is no cluster 'nowhere'", up.baton("drain", "nowhere", code=1))


if __name__ == "__main__":
    main()
