"""Moves as people make them: `baton migrate` and its sisters, kubectl, and the annotation, on practice clusters whose jobs really
process records. Every test ends with the judge's count where it matters; waits are for conditions, never for time."""
import json
import os
import re
import shutil
import threading
import unittest

from harness import KUBECTL, main, poll
from up_harness import END_TIMEOUT, POLICY, Up, job

up = None  # Of this module: one stack, a workload of its own for each test.


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")
    global up
    up = Up()
    try:
        up.start()
        up.apply(POLICY)
        up.kubectl("wait", "--for=condition=Ready", "clusters", "--all", "--timeout=60s")
    except BaseException:
        up.remove()
        raise


def tearDownModule():  # pylint: disable=invalid-name
    try:
        out = up.baton("practice", "check", "--data-dir", up.data)
        assert "lost          0" in out and "overlaps      0" in out, out
        up.stop()
    finally:
        up.remove()


class MigrateTest(unittest.TestCase):
    maxDiff = None

    def workload(self, name):
        """A job that runs; gives (source, target, another target)."""
        up.apply(job(name))
        up.until_runs(name)
        poll(lambda: up.run(KUBECTL, "get", "writer", f"{name}-flinkdeployment").returncode == 0, "the Writer")
        self.addCleanup(lambda: up.kubectl("delete", "flinkdeployment", name, "--wait=false"))
        source = up.holder(name)
        target = up.other_than(source)
        return source, target, up.other_than(source, target)

    def test_a_move_with_wait_ends_with_0_and_leaves_the_template_as_it_was(self):
        source, target, _ = self.workload("plain")
        before = up.get("flinkdeployment", "plain")
        out = up.baton("migrate", "flinkdep/plain", "--to", target, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        self.assertIn(f"plain-to-{target}-1", out)
        self.assertIn("Quiescing", out)
        self.assertIn(f"Succeeded: the workload runs in {target}", out)
        self.assertIn("baton undo flinkdeployment/plain", out)
        self.assertNotIn("\033", out, "no colours or cursor movements in a pipe")
        up.kubectl("wait", "--for=condition=Succeeded", f"smig/plain-to-{target}-1", "--timeout=5s")
        self.assertEqual(up.holder("plain"), target)
        after = up.get("flinkdeployment", "plain")
        self.assertEqual(after["spec"], before["spec"])
        self.assertEqual(after["metadata"]["generation"], before["metadata"]["generation"])
        self.assertEqual(after["metadata"]["annotations"], before["metadata"]["annotations"])
        # Nothing of ours remains, and the members agree.
        self.assertEqual([o["metadata"]["name"] for o in up.get("overridepolicies", "-A")["items"] if "zz-baton" in o["metadata"]["name"]], [])
        self.assertNotIn("gracefulEvictionTasks", up.get("resourcebinding", "plain-flinkdeployment")["spec"])
        self.assertEqual(up.run(KUBECTL, "--context", source, "get", "flinkdeployment", "plain").returncode, 1)
        self.assertEqual(json.loads(up.kubectl("--context", target, "get", "flinkdeployment", "plain", "-o", "json"))["status"]["jobStatus"]["state"],
                         "RUNNING")
        # Each phase is an event of the migration.
        reasons = {e["reason"] for e in up.get("events", "--field-selector", f"involvedObject.name=plain-to-{target}-1")["items"]}
        self.assertLessEqual({"Quiescing", "Verifying", "Succeeded"}, reasons)
        # And back.
        out = up.baton("undo", "flinkdeployment/plain", "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        self.assertEqual(up.holder("plain"), source, out)
        report = json.loads(up.baton("practice", "check", "--data-dir", up.data, "-o", "json"))
        self.assertTrue(report["clean"])

    def test_a_move_that_cannot_be_is_rejected_with_4_and_says_why(self):
        source, target, _ = self.workload("refused")
        for arguments, why in (((source,), f"it runs in {source} already"), (("nowhere",), "there is no cluster nowhere")):
            out = up.baton("migrate", "flinkdep/refused", "--to", *arguments, "--wait", code=4)
            self.assertIn(why, out)
        out = up.baton("migrate", "flinkdep/absent", "--to", target, "--wait", code=4)
        self.assertIn("there is no FlinkDeployment absent on the hub", out)
        # The name of one that has ended is not in the way of the next.
        out = up.baton("migrate", "flinkdep/refused", "--to", source, "--wait", code=4)
        self.assertIn(f"refused-to-{source}-1-2", out)
        self.assertEqual(up.get("writer", "refused-flinkdeployment")["spec"]["seq"], 1)

    def test_a_gate_waits_for_the_approval_and_a_timeout_says_so(self):
        _, target, _ = self.workload("gated")
        out = up.baton("migrate", "flinkdep/gated", "--to", target, "--approve-before", "Quiesce", "--stabilization", "1s")
        name = re.search(r"statefulmigration/(\S+):", out).group(1)
        up.kubectl("wait", "--for=jsonpath={.status.phase}=Staged", f"smig/{name}", "--timeout=60s")
        # Asking again gives the same one, and at the timeout it is still under way.
        out = up.baton("migrate", "flinkdep/gated", "--to", target, "--wait", "--timeout", "1s", code=6)
        self.assertIn(f"statefulmigration/{name}:", out)
        self.assertIn("waiting for an approval of BeforeQuiesce", out)
        self.assertRegex(up.baton("status"), rf"FlinkDeployment/gated +\S+ +1 +moving to {target}, Staged 3/7")
        self.assertIn("baton approve", up.baton("status", "flinkdep/gated"))
        up.baton("approve", name)
        up.until(name, "Succeeded")
        self.assertEqual(up.holder("gated"), target)
        self.assertIn("has ended", up.baton("abort", name, code=1))

    def test_a_paused_move_is_aborted_and_the_source_never_stopped(self):
        source, target, _ = self.workload("aborted")
        job_id = up.get("flinkdeployment", "aborted")["status"]["jobStatus"]["jobId"]
        up.baton("migrate", "flinkdep/aborted", "--to", target, "--name", "no-thanks", "--approve-before", "Quiesce")
        up.kubectl("wait", "--for=jsonpath={.status.phase}=Staged", "smig/no-thanks", "--timeout=60s")
        up.baton("pause", "no-thanks")
        up.baton("approve", "no-thanks")
        up.kubectl("wait", "--for=jsonpath={.status.waitingFor}=resume", "smig/no-thanks", "--timeout=60s")
        out = up.baton("abort", "no-thanks", "--wait", "--timeout", END_TIMEOUT, code=3)
        self.assertIn(f"aborted: {source} has it as before; why: asked for", out)
        self.assertEqual(up.holder("aborted"), source)
        now = json.loads(up.kubectl("--context", source, "get", "flinkdeployment", "aborted", "-o", "json"))
        self.assertEqual(now["status"]["jobStatus"]["jobId"], job_id)

    def test_the_annotation_moves_it_once_and_staying_there_does_nothing_more(self):
        source, target, third = self.workload("noted")
        up.kubectl("annotate", "flinkdeployment", "noted", f"karmada.io/migration-target={target}")
        poll(lambda: up.run(KUBECTL, "get", "smig", f"noted-to-{target}-t1").returncode == 0, "the annotation's move")
        up.until(f"noted-to-{target}-t1", "Succeeded")
        self.assertEqual(up.holder("noted"), target)
        # It is moved on by other means; the value that stays is no wish any more.
        up.baton("migrate", "flinkdep/noted", "--to", third, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        up.kubectl("label", "flinkdeployment", "noted", "touched=yes")
        # A later wish of another workload is carried out, so this one was looked at.
        self.assertEqual(up.get("writer", "noted-flinkdeployment")["spec"]["trigger"], target)
        moves = [m["metadata"]["name"] for m in up.get("smig")["items"] if m["metadata"]["name"].startswith("noted-")]
        self.assertEqual(len(moves), 2, moves)
        self.assertEqual(up.holder("noted"), third)
        self.assertNotEqual(source, third)

    def test_taking_the_annotation_away_aborts_and_setting_it_again_is_a_new_wish(self):
        source, target, _ = self.workload("wished")
        # A move that a person makes holds the workload, so that the annotation's is rejected.
        up.baton("migrate", "flinkdep/wished", "--to", target, "--name", "wished-by-hand", "--approve-before", "Quiesce")
        up.kubectl("wait", "--for=jsonpath={.status.phase}=Staged", "smig/wished-by-hand", "--timeout=60s")
        up.kubectl("annotate", "flinkdeployment", "wished", f"karmada.io/migration-target={target}")
        poll(lambda: up.run(KUBECTL, "get", "smig", f"wished-to-{target}-t1").returncode == 0, "the annotation's move")
        up.kubectl("wait", "--for=jsonpath={.status.phase}=Rejected", f"smig/wished-to-{target}-t1", "--timeout=60s")
        # Away: whatever moves it before the handoff is taken back.
        up.kubectl("annotate", "flinkdeployment", "wished", "karmada.io/migration-target-")
        up.until("wished-by-hand")
        self.assertEqual(up.get("smig", "wished-by-hand")["status"]["phase"], "Aborted")
        self.assertEqual(up.holder("wished"), source)
        up.kubectl("annotate", "flinkdeployment", "wished", f"karmada.io/migration-target={target}")
        poll(lambda: up.run(KUBECTL, "get", "smig", f"wished-to-{target}-t2").returncode == 0, "the second wish's move")
        up.until(f"wished-to-{target}-t2", "Succeeded")
        self.assertEqual(up.holder("wished"), target)

    def test_a_value_of_the_annotation_that_names_no_cluster_is_told_once(self):
        source, _, _ = self.workload("mistaken")
        up.kubectl("annotate", "flinkdeployment", "mistaken", "karmada.io/migration-target=Not_A_Cluster")
        events = poll(lambda: up.get("events", "--field-selector", "reason=MigrationRefused")["items"], "the event")
        self.assertIn("Not_A_Cluster", events[0]["message"])
        poll(lambda: up.get("writer", "mistaken-flinkdeployment")["spec"].get("trigger") == "Not_A_Cluster", "that it was acted on")
        self.assertEqual(up.holder("mistaken"), source)

    def test_a_target_whose_image_cannot_be_pulled_is_rolled_back(self):
        source, target, _ = self.workload("broken")
        up.baton("practice", "fault", target, "fail-image", "--data-dir", up.data)
        try:
            out = up.baton("migrate", "flinkdep/broken", "--to", target, "--wait", "--timeout", END_TIMEOUT, code=3)
            self.assertIn(f"RolledBack: rolled back: {source} runs again; why: ", out)
            self.assertIn("ImagePullBackOff", out)
        finally:
            up.baton("practice", "fault", target, "fail-image=off", "--data-dir", up.data)
        self.assertEqual(up.holder("broken"), source)
        history = json.loads(up.baton("history", "flinkdep/broken", "-o", "json"))["receipts"]
        self.assertEqual([(r["from"], r["to"], r["hashOK"]) for r in history], [(source, target, True), (target, source, True)])
        self.assertIn("was not moved", up.baton("undo", "flinkdep/broken", code=1))

    def test_verify_finds_what_was_changed_in_the_record(self):
        source, target, third = self.workload("record")
        for where in (target, third, source):
            up.baton("migrate", "flinkdep/record", "--to", where, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)
        poll(lambda: up.run(KUBECTL, "--context", third, "get", "flinkdeployment", "record").returncode == 1, "it to be gone there")
        good = up.get("writer", "record-flinkdeployment")
        out = poll(lambda: (lambda text: text if "never two writers by Baton since" in text else None)(
            up.run(os.environ["BATON"], "verify", "flinkdep/record").stdout), "a record that holds")
        self.assertIn("3 handoffs, each on a proof of the stop", out)
        self.assertEqual(up.baton("history", "flinkdep/record").count(" ok "), 3)

        def tampered(change, why):
            spec = json.loads(json.dumps(good["spec"]))
            change(spec)
            patch = [{"op": "replace", "path": "/spec", "value": spec}]
            up.kubectl("patch", "writer", "record-flinkdeployment", "--type=json", "-p", json.dumps(patch))
            try:
                found = up.baton("verify", "flinkdep/record", code=1)
                self.assertIn(why, found)
                self.assertIn("cannot be said", found)
            finally:
                up.kubectl("patch", "writer", "record-flinkdeployment", "--type=json", "-p",
                           json.dumps([{"op": "replace", "path": "/spec", "value": good["spec"]}]))

        tampered(lambda spec: spec["receipt"].update(state="s3://elsewhere"), "it was changed after it was written")
        tampered(lambda spec: spec["receipts"][0].update(how="Attested"), "it was changed after it was written")
        tampered(lambda spec: spec["receipts"].pop(1), "one between them is missing")
        tampered(lambda spec: spec["receipts"].pop(0), "is missing")
        tampered(lambda spec: spec["receipts"].reverse(), "it does not follow")
        tampered(lambda spec: spec.pop("receipt"), "the newest receipt is missing")
        self.assertIn("never two writers", up.baton("verify", "flinkdep/record"))
        # What the number says can only grow: the server refuses the rest.
        refused = up.run(KUBECTL, "patch", "writer", "record-flinkdeployment", "--type=merge", "-p", '{"spec":{"seq":1}}')
        self.assertEqual(refused.returncode, 1)
        self.assertIn("must not become smaller", refused.stderr)

    def test_get_prints_tables_and_objects(self):
        source, target, _ = self.workload("listed")
        up.baton("migrate", "flinkdep/listed", "--to", source, "--name", "listed-nowhere", "--wait", code=4)
        out = up.baton("get", "migrations", "-A", "-o", "wide")
        self.assertRegex(out.splitlines()[0], r"^NAMESPACE +NAME +WORKLOAD +SOURCE +TARGET +PHASE +STEP +WRITER +DOWNTIME +AGE +MESSAGE$")
        self.assertRegex(out, r"default +listed-nowhere +FlinkDeployment/listed .* Rejected .* already")
        self.assertEqual(json.loads(up.baton("get", "writer", "listed-flinkdeployment", "-o", "json"))["spec"]["holder"]["cluster"], source)
        self.assertEqual(up.baton("get", "migrations", "listed-nowhere", "-o", "name"), "statefulmigration/listed-nowhere\n")
        self.assertEqual(up.baton("get", "clusters").count("True"), 3)
        self.assertIn("there is no migration 'nosuch' in namespace default", up.baton("get", "migrations", "nosuch", code=1))
        entry = [w for w in json.loads(up.baton("status", "-o", "json"))["workloads"] if w["workload"]["name"] == "listed"]
        self.assertEqual([(w["cluster"], w["epoch"]) for w in entry], [(source, 1)])
        self.assertNotEqual(source, target)

    def test_an_attestation_needs_yes_and_has_no_effect_while_the_source_answers(self):
        source, target, _ = self.workload("attested")
        up.baton("migrate", "flinkdep/attested", "--to", target, "--name", "word", "--approve-before", "Quiesce", "--stabilization", "1s")
        up.kubectl("wait", "--for=jsonpath={.status.phase}=Staged", "smig/word", "--timeout=60s")
        words = ("attest", "word", "--by", "ada", "--reason", "I saw it burn", "--state-ref", "s3://state/none")
        out = up.baton(*words, code=1)
        self.assertIn("say --yes", out)
        self.assertNotIn("attestation", up.get("smig", "word")["spec"])
        self.assertIn(f"it goes from {source} to {target}", up.baton(*words, "--cluster", "elsewhere", "--yes", code=1))
        self.assertIn(f"{source} starts from s3://state/none", up.baton(*words, "--cluster", target, code=1))
        up.baton(*words, "--yes")
        self.assertEqual(up.get("smig", "word")["spec"]["attestation"], {"by": "ada", "reason": "I saw it burn", "stateRef": "s3://state/none"})
        up.baton("approve", "word")
        up.until("word", "Succeeded")
        receipts = json.loads(up.baton("history", "flinkdep/attested", "-o", "json"))["receipts"]
        self.assertEqual([(r["from"], r["how"]) for r in receipts], [(source, "StopProof")])
        self.assertNotEqual(receipts[0]["state"], "s3://state/none")

    def test_a_cluster_that_is_a_member_does_not_join_twice_and_one_in_use_does_not_leave(self):
        source, _, _ = self.workload("placed")
        out = up.baton("join", "again", "--cluster-kubeconfig", up.kubeconfig, "--cluster-context", source, code=1)
        self.assertIn(f"this cluster is a member already, as '{source}'", out)
        out = up.baton("join", source, "--cluster-kubeconfig", up.kubeconfig, "--cluster-context", source, "--dry-run")
        self.assertIn("can join", out)
        out = up.baton("join", source, "--cluster-kubeconfig", up.kubeconfig, "--cluster-context", "hub", "--dry-run", code=1)
        self.assertIn(f"'{source}' is another cluster", out)
        out = up.baton("unjoin", source, code=1)
        self.assertIn("FlinkDeployment/placed (-n default) has its place there", out)
        up.kubectl("get", "cluster", source)

    def test_many_who_ask_for_the_same_move_get_one(self):
        _, target, _ = self.workload("asked")
        done = []
        askers = [threading.Thread(target=lambda: done.append(
            up.run(os.environ["BATON"], "migrate", "flinkdep/asked", "--to", target, "--wait", "--stabilization", "1s", "--timeout", END_TIMEOUT)))
            for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        self.assertEqual([asker.returncode for asker in done], [0] * 4, "\n".join(asker.stdout + asker.stderr for asker in done))
        self.assertEqual(len([m for m in up.get("smig")["items"] if m["spec"]["workload"]["name"] == "asked"]), 1)


if __name__ == "__main__":
    main()
