"""The kinds of the federation, of Flink and of the rollout as custom resources: `baton crds | kubectl apply`, and what people then do."""
import glob
import json
import os
import subprocess
import unittest

from harness import E2E, TIMEOUT, main, setUpModule as start, tearDownModule  # noqa: F401  pylint: disable=unused-import
import harness

SEEDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "seeds")
CRDS = None  # the text that `baton crds` printed


def setUpModule():  # pylint: disable=invalid-name
    """Installs the definitions, as the manual says."""
    global CRDS
    if "BATON" not in os.environ:
        raise unittest.SkipTest("BATON must name the program that prints the definitions, also on a real server")
    start()
    CRDS = subprocess.run([os.environ["BATON"], "crds"], capture_output=True, text=True, check=True).stdout
    done = harness.cluster.run("apply", "-f", "-", stdin=CRDS)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr  # a real server warns about formats that it does not know, and the like
    names = [line.split()[0] for line in done.stdout.splitlines()]
    done = harness.cluster.run("wait", "--for=condition=Established", TIMEOUT, *names)
    assert done.returncode == 0, done.stdout + done.stderr


class CrdsTest(E2E):
    def explain(self, path):
        # Discovery and OpenAPI of a new definition come a moment after it is established.
        def words():
            done = self.cluster.run("explain", path)
            return done.returncode == 0 and done.stdout
        return self.poll(words, f"explain {path}")

    def test_every_definition_is_established_and_structural(self):
        listed = self.kubectl_json("get", "crds")["items"]
        ours = [crd for crd in listed if crd["spec"]["group"].endswith("karmada.io") or crd["spec"]["group"] == "flink.apache.org"]
        self.assertEqual(len(ours), 18)
        for crd in ours:
            conditions = {c["type"]: c["status"] for c in crd["status"]["conditions"]}
            self.assertEqual(conditions, {"NamesAccepted": "True", "Established": "True"}, crd["metadata"]["name"])

    def test_applying_them_again_changes_nothing(self):
        for line in self.kubectl("apply", "-f", "-", stdin=CRDS).splitlines():
            self.assertTrue(line.endswith(" unchanged"), line)
        done = self.cluster.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=CRDS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_explain_tells_what_fields_are_for(self):
        placement = self.explain("propagationpolicy.spec.placement")
        self.assertIn("Which clusters, and how replicas are divided.", placement)
        self.assertIn("spreadConstraints\t<[]Object>", placement)
        self.assertIn("How many clusters (regions, ...) the workload is spread over.", placement)
        purge = self.explain("propagationpolicies.spec.failover.application.purgeMode")
        for word in ("ENUM:\n    Directly\n    Gracefully\n", "Gracefully: when the new one is healthy"):
            self.assertIn(word, purge)
        self.assertIn("Who may write", self.explain("writer"))
        self.assertIn("Served as v1alpha2 only", self.explain("resourcebindings"))
        self.assertIn("What a stop keeps", self.explain("flinkdep.spec.job.upgradeMode"))

    def test_short_names_and_the_category(self):
        self.explain("smig")
        resources = self.kubectl("api-resources", "--categories=karmada-io", "-o", "name").split()
        self.assertIn("statefulmigrations.rollout.karmada.io", resources)
        self.assertIn("works.work.karmada.io", resources)
        for short, plural in (("pp", "propagationpolicies"), ("cpp", "clusterpropagationpolicies"), ("op", "overridepolicies"),
                              ("cop", "clusteroverridepolicies"), ("rb", "resourcebindings"), ("crb", "clusterresourcebindings"), ("wk", "works"),
                              ("ric", "resourceinterpretercustomizations"), ("smig", "statefulmigrations"), ("flinkdep", "flinkdeployments"),
                              ("flinksnp", "flinkstatesnapshots")):
            self.assertEqual(self.kubectl("get", short, "-o", "name"), "", plural)

    def test_the_manifests_of_the_seeds_are_accepted(self):
        files = sorted(glob.glob(os.path.join(SEEDS, "*.yaml")))
        self.assertGreaterEqual(len(files), 7)
        for path in files:
            self.kubectl("apply", "--validate=strict", "-f", path)
            self.kubectl("apply", "--server-side", "--force-conflicts", "-f", path)
        self.assertEqual(self.kubectl("get", "pp", "foo", "-o", "jsonpath={.spec.schedulerName} {.spec.conflictResolution}"), "default-scheduler Abort")
        kept = self.kubectl("get", "flinkdep", "wordcount", "-o", "jsonpath={.spec.job.fieldOfANewerOperator} {.spec.taskManager.resource.cpu}")
        self.assertEqual(kept, "kept 0.5")

    def test_what_the_schema_does_not_know_is_pruned_and_what_it_forbids_is_refused(self):
        policy = {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "p"}, "spec": {
            "typo": 1, "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret", "typo": 1}]}}
        made = self.kubectl_json("create", "--validate=false", "-f", "-", stdin=json.dumps(policy))
        self.assertNotIn("typo", made["spec"])
        self.assertEqual(made["spec"]["resourceSelectors"], [{"apiVersion": "v1", "kind": "Secret"}])
        self.assertIn('unknown field "spec.typo"', self.kubectl_fails("create", "--validate=strict", "-f", "-", stdin=json.dumps(policy)))
        policy["metadata"]["name"], policy["spec"]["resourceSelectors"], policy["spec"]["preemption"] = "q", [], "Sometimes"
        refused = self.kubectl_fails("create", "--validate=false", "-f", "-", stdin=json.dumps(policy))
        self.assertIn('spec.preemption: Unsupported value: "Sometimes": supported values: "Always", "Never"', refused)
        self.assertIn("spec.resourceSelectors in body should have at least 1 items", refused)

    def rows(self, *arguments):
        return [line.split() for line in self.kubectl("get", *arguments).splitlines()]

    def test_columns(self):
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "rollout.karmada.io/v1alpha1", "kind": "StatefulMigration", "metadata": {"name": "m"},
            "spec": {"workload": {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment", "name": "w"}}}))
        self.kubectl("patch", "smig", "m", "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
            "phase": "Granted", "step": "5/8", "source": "blue", "target": "green", "writer": "green", "downtime": "3s", "message": "starting"}}))
        head, row = self.rows("smig")
        self.assertEqual(head, ["NAME", "WORKLOAD", "SOURCE", "TARGET", "PHASE", "STEP", "WRITER", "DOWNTIME", "AGE"])
        self.assertEqual(row[:-1], ["m", "w", "blue", "green", "Granted", "5/8", "green", "3s"])
        self.assertEqual(self.rows("smig", "-o", "wide")[0][-1], "MESSAGE")

        name = f"c-{self.ns}"
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"syncMode": "Push", "apiEndpoint": "https://10.0.0.1:6443", "region": "eu", "zones": ["a", "b"]}}))
        self.addCleanup(self.kubectl, "delete", "clusters.cluster.karmada.io", name)
        self.kubectl("patch", "clusters.cluster.karmada.io", name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
            "kubernetesVersion": "v1.32.0", "conditions": [{"type": "Ready", "status": "True", "reason": "ClusterReady", "message": "",
                                                            "lastTransitionTime": "2024-01-01T00:00:00Z"}]}}))
        head, row = self.rows("clusters.cluster.karmada.io", name)
        self.assertEqual((head, row[:-1]), (["NAME", "VERSION", "MODE", "READY", "AGE"], [name, "v1.32.0", "Push", "True"]))
        head, row = self.rows("clusters.cluster.karmada.io", name, "-o", "wide")
        self.assertEqual(head[-5:], ["ZONES", "REGION", "PROVIDER", "API-ENDPOINT", "PROXY-URL"])
        self.assertEqual(row[5:8], ['["a","b"]', "eu", "https://10.0.0.1:6443"])

    def test_a_writer_has_no_status(self):
        writer = {"apiVersion": "rollout.karmada.io/v1alpha1", "kind": "Writer", "metadata": {"name": "w"},
                  "spec": {"workload": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "w"}, "seq": 1, "newer": {"field": 1}}, "status": {"a": 1}}
        made = self.kubectl_json("create", "--validate=false", "-f", "-", stdin=json.dumps(writer))
        self.assertNotIn("status", made)
        self.assertEqual(made["spec"]["newer"], {"field": 1})
        self.api("GET", "/apis/rollout.karmada.io/v1alpha1/namespaces/{ns}/writers/w/status", expect=404)

    def test_a_flink_deployment_scales(self):
        self.kubectl("apply", "-f", os.path.join(SEEDS, "flink-deployment.yaml"))
        self.kubectl("scale", "flinkdep/wordcount", "--replicas=3")
        self.assertEqual(self.kubectl("get", "flinkdep", "wordcount", "-o", "jsonpath={.spec.taskManager.replicas}"), "3")


if __name__ == "__main__":
    main()
