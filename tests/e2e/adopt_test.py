"""`baton adopt`: what runs in one cluster is taken over without being touched, followed, and given back; and interpreter webhooks."""
import base64
import json
import os
import shutil
import subprocess
import unittest

import harness
from harness import DEADLINE, KUBECTL, TIMEOUT, WORK, main, poll, start_server
from webhook_test import Webhook

RUNNING = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {team: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.26"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
"""

GREEDY = """
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: greedy, namespace: shop}
spec:
  priority: 10
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [other]}}
"""


def setUpModule():  # pylint: disable=invalid-name
    if not shutil.which(KUBECTL):
        raise unittest.SkipTest("no kubectl on the PATH")


def tearDownModule():  # pylint: disable=invalid-name
    shutil.rmtree(WORK, ignore_errors=True)


class AdoptTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.hub_server, cls.hub = start_server()
        cls.addClassCleanup(cls.hub_server.kill)
        cls.member_server, cls.member = start_server()
        cls.addClassCleanup(cls.member_server.kill)
        process = subprocess.Popen([os.environ["BATON"], "controllers", "--kubeconfig", cls.hub.kubeconfig, "--install-crds"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        def end():
            process.kill()
            process.wait()
            process.stdout.close()
        cls.addClassCleanup(end)
        assert process.stdout.readline() == "running\n"
        done = subprocess.run([os.environ["BATON"], "join", "member", "--cluster-kubeconfig", cls.member.kubeconfig, "--kubeconfig",
                               cls.hub.kubeconfig], capture_output=True, text=True, check=False, timeout=DEADLINE)
        assert done.returncode == 0, done.stdout + done.stderr
        assert cls.hub.run("wait", "--for=condition=Ready", "cluster/member", TIMEOUT).returncode == 0

    def baton(self, *arguments, code=0):
        done = subprocess.run([os.environ["BATON"], *arguments, "--kubeconfig", self.hub.kubeconfig], capture_output=True, text=True,
                              check=False, timeout=4 * DEADLINE)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def kubectl(self, cluster, *arguments, stdin=None):
        done = cluster.run(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def get(self, cluster, what, ns="shop"):
        return json.loads(self.kubectl(cluster, "get", what, "-n", ns, "-o", "json"))

    def test_taken_over_followed_and_given_back(self):
        self.kubectl(self.member, "apply", "-f", "-", stdin=RUNNING)
        things = ["deployment/web", "service/web", "configmap/settings"]
        before = {thing: self.get(self.member, thing) for thing in things}
        adopt = ["adopt", *things, "-n", "shop", "--from", "member"]

        # Only what would be made; nothing is.
        out = self.baton(*adopt, "--dry-run")
        self.assertIn("conflictResolution: Overwrite", out)
        self.assertIn("preserveResourcesOnDeletion: true", out)
        self.assertIn("the namespace shop", out)
        self.assertNotIn("resourceVersion", out)
        self.assertNotIn("clusterIP:", out)
        self.assertEqual(self.kubectl(self.hub, "get", "pp,deploy,svc,cm", "-n", "shop", "-o", "name"), "")

        self.assertIn("taken over from member", self.baton(*adopt))
        for thing in things:
            now = self.get(self.member, thing)
            self.assertEqual(now["metadata"]["uid"], before[thing]["metadata"]["uid"], "made anew")
            self.assertEqual((now.get("spec"), now.get("data")), (before[thing].get("spec"), before[thing].get("data")))
            self.assertEqual(now["metadata"]["labels"]["karmada.io/managed"], "true")

        # It is the hub's now.
        self.kubectl(self.hub, "patch", "configmap/settings", "-n", "shop", "--type=merge", "-p", '{"data": {"colour": "green"}}')
        poll(lambda: self.get(self.member, "configmap/settings")["data"]["colour"] == "green", "the edit in the member")
        self.assertIn("already", self.baton(*adopt, code=1))

        self.assertIn("would be deleted", self.baton("adopt", "--rollback", "adopted-web", "-n", "shop", "--dry-run"))
        out = self.baton("adopt", "--rollback", "adopted-web", "-n", "shop")
        self.assertIn("Deployment shop/web given back", out)
        self.assertEqual(self.kubectl(self.hub, "get", "pp,rb,deploy,svc,cm", "-n", "shop", "-o", "name"), "")
        for thing in things:
            now = self.get(self.member, thing)
            self.assertEqual(now["metadata"]["uid"], before[thing]["metadata"]["uid"])
            self.assertEqual(now.get("spec"), before[thing].get("spec"))
            self.assertNotRegex(json.dumps([now["metadata"].get("labels"), now["metadata"].get("annotations")]), "karmada|baton")
        self.assertEqual(self.get(self.member, "deployment/web")["metadata"]["labels"], {"team": "shop"})
        self.assertIn("there is no policy", self.baton("adopt", "--rollback", "adopted-web", "-n", "shop", code=1))

    def test_what_cannot_be_adopted_is_told(self):
        self.kubectl(self.member, "create", "configmap", "loose", "--from-literal=a=b")
        self.kubectl(self.hub, "create", "configmap", "taken", "--from-literal=a=b")
        self.kubectl(self.member, "create", "configmap", "taken", "--from-literal=a=c")
        self.kubectl(self.hub, "apply", "-f", "-", stdin=GREEDY.replace("shop", "default"))
        for arguments, code, says in [
                (["configmap/loose"], 2, "--from"),
                (["--from", "member"], 2, "KIND/NAME"),
                (["loose", "--from", "member"], 2, "KIND/NAME"),
                (["configmap/loose", "--from", "nobody"], 1, "there is no cluster 'nobody'"),
                (["configmap/no-such", "--from", "member"], 1, "no-such"),
                (["unicorn/loose", "--from", "member"], 1, "no kind 'unicorn'"),
                (["configmap/taken", "--from", "member"], 1, "the hub has ConfigMap default/taken already"),
                (["configmap/loose", "--from", "member"], 1, "PropagationPolicy default/greedy would get ConfigMap default/loose"),
                (["--rollback", "greedy", "configmap/loose"], 2, "--rollback takes nothing"),
                (["--rollback", "greedy"], 1, "was not made by `baton adopt`")]:
            self.assertIn(says, self.baton("adopt", *arguments, code=code))
        self.kubectl(self.hub, "delete", "pp", "greedy")
        self.assertEqual(self.get(self.member, "configmap/loose", "default")["data"], {"a": "b"})

    def test_an_interpreter_webhook_answers_over_https(self):
        patch = base64.b64encode(json.dumps([{"op": "add", "path": "/data/kept", "value": "by the webhook"}]).encode()).decode()

        def answer(request):
            if request["operation"] == "InterpretHealth":
                return {"successful": True, "healthy": request["object"]["data"]["k"] == "well"}
            return {"successful": True, "patchType": "JSONPatch", "patch": patch}
        server = Webhook(answer)
        self.addCleanup(server.close)
        self.kubectl(self.hub, "apply", "-f", "-", stdin=f"""
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {{name: maps}}
webhooks:
- name: maps.example.com
  interpreterContextVersions: [v1alpha1]
  timeoutSeconds: 5
  clientConfig: {{url: "{server.url}", caBundle: {server.bundle}}}
  rules: [{{operations: [InterpretHealth, Retain], apiGroups: [""], apiVersions: [v1], kinds: [ConfigMap]}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: hooked, namespace: default}}
spec:
  resourceSelectors: [{{apiVersion: v1, kind: ConfigMap, name: hooked}}]
  placement: {{clusterAffinity: {{clusterNames: [member]}}}}
""")
        self.addCleanup(lambda: self.hub.run("delete", "resourceinterpreterwebhookconfiguration", "maps"))

        def health():
            return self.hub.run("get", "rb", "hooked-configmap", "-o", "jsonpath={.status.aggregatedStatus[0].health}").stdout
        self.kubectl(self.hub, "create", "configmap", "hooked", "--from-literal=k=ill")
        poll(lambda: health() == "Unhealthy", "the webhook's word on the first version")
        self.kubectl(self.hub, "patch", "configmap", "hooked", "--type=merge", "-p", '{"data": {"k": "well"}}')
        poll(lambda: health() == "Healthy", "the webhook's word on the second version")
        self.assertEqual(self.get(self.member, "configmap/hooked", "default")["data"], {"k": "well", "kept": "by the webhook"})
        asked = server.requests[-1]
        self.assertEqual(asked["kind"], {"group": "", "version": "v1", "kind": "ConfigMap"})
        # It goes away: what it said last is not passed off as true.
        server.close()
        self.kubectl(self.hub, "patch", "configmap", "hooked", "--type=merge", "-p", '{"data": {"k": "ill"}}')
        poll(lambda: "interpreter webhook maps/maps.example.com" in self.kubectl(self.hub, "get", "works", "-n", "karmada-es-member", "-o", "yaml"),
             "the failure in the Work's status")


if __name__ == "__main__":
    main()
