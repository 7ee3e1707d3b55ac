"""An old kubectl (Debian's 1.20), which knows fewer ways: the everyday commands work with it too.

KUBECTL_OLD names it; without, scripts/setup's copy under build/tools is taken, and without that the suite is skipped, and says so.
"""
import json
import os
import unittest

import harness
from harness import E2E, TIMEOUT, main, tearDownModule  # noqa: F401  pylint: disable=unused-import

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OLD = os.environ.get("KUBECTL_OLD", os.path.join(ROOT, "build", "tools", "kubernetes-client", "usr", "bin", "kubectl"))
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
"""
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "oldies.old.example.com"}, "spec": {
    "group": "old.example.com", "scope": "Namespaced", "names": {"plural": "oldies", "kind": "Oldie", "shortNames": ["od"]}, "versions": [{
        "name": "v1", "served": True, "storage": True, "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "size": {"type": "integer", "description": "How large."}}}}}}}]}}


def setUpModule():  # pylint: disable=invalid-name
    harness.setUpModule()
    if os.path.exists(OLD):
        harness.cluster.program = OLD


@unittest.skipUnless(os.path.exists(OLD), "no old kubectl here: scripts/setup gets it, or KUBECTL_OLD names it")
class OldKubectlTest(E2E):
    def apply(self, text, *more):
        return self.kubectl("apply", *more, "-f", "-", stdin=text)

    def test_discovery_and_explain(self):
        self.assertIn('GitVersion:"v1.20', self.kubectl("version"))
        rows = [line.split() for line in self.kubectl("api-resources").splitlines()]
        self.assertIn(["configmaps", "cm", "v1", "true", "ConfigMap"], rows)
        self.assertIn("apps/v1", self.kubectl("api-versions").split())
        self.assertRegex(self.kubectl("explain", "deployment.spec.replicas"), r"FIELD: +replicas <integer>")

    def test_apply_and_get(self):
        self.assertEqual(self.apply(DEPLOYMENT % 2), "deployment.apps/web created\n")
        self.assertEqual(self.apply(DEPLOYMENT % 2), "deployment.apps/web unchanged\n")
        self.assertEqual(self.apply(DEPLOYMENT % 3), "deployment.apps/web configured\n")
        rows = [line.split() for line in self.kubectl("get", "deploy").splitlines()]
        self.assertEqual((rows[0], rows[1][:4]), (["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"], ["web", "0/3", "0", "0"]))
        self.assertEqual(self.kubectl("get", "all", "-l", "app=web", "-o", "name"), "deployment.apps/web\n")
        self.assertEqual(self.kubectl_json("get", "deploy", "web")["spec"]["replicas"], 3)
        self.assertIn("kind: Deployment", self.kubectl("get", "deploy", "web", "-o", "yaml"))
        self.assertRegex(self.kubectl("describe", "deploy", "web"), r"Replicas: +3 desired")

    def test_a_wrong_field_is_found_by_the_schema(self):
        error = self.kubectl_fails("apply", "-f", "-", stdin=(DEPLOYMENT % 2).replace("replicas:", "replicaz:"))
        self.assertIn('unknown field "replicaz" in io.k8s.api.apps.v1.DeploymentSpec', error)

    def test_server_side_apply_and_conflict(self):
        self.assertEqual(self.apply(DEPLOYMENT % 2, "--server-side", "--field-manager=one"), "deployment.apps/web serverside-applied\n")
        error = self.kubectl_fails("apply", "--server-side", "--field-manager=two", "-f", "-", stdin=DEPLOYMENT % 5)
        self.assertIn('conflict with "one": .spec.replicas', error)
        self.apply(DEPLOYMENT % 5, "--server-side", "--field-manager=two", "--force-conflicts")
        self.assertEqual(self.kubectl_json("get", "deploy", "web")["spec"]["replicas"], 5)

    def test_diff_patch_label_scale_delete(self):
        self.apply(DEPLOYMENT % 2)
        done = self.cluster.run("-n", self.ns, "diff", "-f", "-", stdin=DEPLOYMENT % 4)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("+  replicas: 4", done.stdout)
        self.kubectl("patch", "deploy", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}')
        self.kubectl("label", "deploy", "web", "a=b")
        self.kubectl("annotate", "deploy", "web", "c=d")
        self.kubectl("scale", "deploy", "web", "--replicas=7")
        found = self.kubectl_json("get", "deploy", "web")
        self.assertEqual((found["spec"]["replicas"], found["metadata"]["labels"]["a"], found["metadata"]["annotations"]["c"],
                          found["spec"]["template"]["spec"]["containers"][0]["image"]), (7, "b", "d", "nginx:2"))
        self.assertEqual(self.kubectl("delete", "deploy", "web"), 'deployment.apps "web" deleted\n')
        self.assertIn("NotFound", self.kubectl_fails("get", "deploy", "web"))

    def test_create_commands(self):
        self.assertEqual(self.kubectl("create", "configmap", "c", "--from-literal=k=v"), "configmap/c created\n")
        self.assertEqual(self.kubectl("create", "secret", "generic", "s", "--from-literal=k=v"), "secret/s created\n")
        self.assertEqual(self.kubectl("create", "role", "r", "--verb=get", "--resource=pods"), "role.rbac.authorization.k8s.io/r created\n")
        self.assertEqual(self.kubectl("create", "serviceaccount", "robot"), "serviceaccount/robot created\n")
        self.assertEqual(self.kubectl("auth", "can-i", "get", "pods").strip(), "yes")
        self.kubectl("auth", "can-i", "--list")

    def test_watch_and_wait(self):
        self.apply(DEPLOYMENT % 2)
        process = self.background("get", "deploy", "-w", "-o", "name")
        self.assertEqual(process.stdout.readline(), "deployment.apps/web\n")
        self.kubectl("patch", "deploy", "web", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')
        self.assertEqual(process.stdout.readline(), "deployment.apps/web\n")
        deleting = self.background("delete", "deploy", "web")
        self.poll(lambda: "deletionTimestamp" in self.kubectl_json("get", "deploy", "web")["metadata"], "the deletion")
        self.assertIsNone(deleting.poll())
        self.kubectl("patch", "deploy", "web", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        self.assertEqual((deleting.communicate(), deleting.returncode), (('deployment.apps "web" deleted\n', ""), 0))

    def test_custom_resources(self):
        self.kubectl("apply", "-f", "-", stdin=json.dumps(CRD))
        self.addCleanup(self.cluster.run, "delete", "crd", "oldies.old.example.com", "--wait=false")
        self.kubectl("wait", "crd/oldies.old.example.com", "--for=condition=Established", TIMEOUT)
        body = json.dumps({"apiVersion": "old.example.com/v1", "kind": "Oldie", "metadata": {"name": "o"}, "spec": {"size": 4}})
        self.poll(lambda: self.cluster.run("-n", self.ns, "apply", "-f", "-", stdin=body).returncode == 0, "the new kind")
        rows = [line.split() for line in self.kubectl("get", "od").splitlines()]
        self.assertEqual((rows[0], rows[1]), (["NAME", "SIZE"], ["o", "4"]))
        self.poll(lambda: "How large." in self.cluster.run("explain", "oldies.spec.size").stdout, "the schema in explain")


if __name__ == "__main__":
    main()
