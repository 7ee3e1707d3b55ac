"""What kubectl writes one by one: create, edit, patch, replace, label, annotate, scale, set, rollout, delete, wait."""
import json

from harness import E2E, TIMEOUT, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: {a: "1"}}
data: {one: "1", two: "2"}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}, {name: side, image: "side:1"}]}
"""


class CreateTest(E2E):
    def created(self, *arguments):
        return self.kubectl_json("create", *arguments)

    def test_from_a_file_and_again(self):
        self.assertEqual(self.kubectl("create", "-f", "-", stdin=CONFIG), "configmap/c created\n")
        self.assertIn('Error from server (AlreadyExists): error when creating "STDIN": configmaps "c" already exists',
                      self.kubectl_fails("create", "-f", "-", stdin=CONFIG))

    def test_configmap_and_secret(self):
        self.assertEqual(self.created("configmap", "m", "--from-literal=k=v")["data"], {"k": "v"})
        secret = self.created("secret", "generic", "s", "--from-literal=k=v")
        self.assertEqual((secret["data"], secret["type"]), ({"k": "dg=="}, "Opaque"))
        docker = self.created("secret", "docker-registry", "d", "--docker-username=u", "--docker-password=p", "--docker-server=s")
        self.assertEqual((docker["type"], list(docker["data"])), ("kubernetes.io/dockerconfigjson", [".dockerconfigjson"]))

    def test_workloads(self):
        deployment = self.created("deployment", "d", "--image=nginx", "--replicas=2")
        self.assertEqual((deployment["spec"]["replicas"], deployment["spec"]["template"]["spec"]["containers"][0]["image"]), (2, "nginx"))
        self.assertEqual(self.created("job", "j", "--image=busybox", "--", "true")["spec"]["template"]["spec"]["containers"][0]["command"], ["true"])
        cron = self.created("cronjob", "cj", "--image=busybox", "--schedule=*/5 * * * *")
        self.assertEqual((cron["spec"]["schedule"], cron["spec"]["concurrencyPolicy"]), ("*/5 * * * *", "Allow"))
        job = self.created("job", "from", "--from=cronjob/cj")
        self.assertEqual(job["metadata"]["ownerReferences"][0]["uid"], cron["metadata"]["uid"])
        self.kubectl("run", "p", "--image=nginx", "--labels=a=b")
        self.assertEqual(self.kubectl_json("get", "pod", "p")["metadata"]["labels"], {"a": "b"})

    def test_rbac_kinds(self):
        self.assertEqual(self.created("serviceaccount", "robot")["metadata"]["name"], "robot")
        self.assertEqual(self.created("role", "r", "--verb=get,list", "--resource=pods,deployments.apps")["rules"],
                         [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
                          {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]}])
        binding = self.created("rolebinding", "rb", "--role=r", f"--serviceaccount={self.ns}:robot", "--user=u", "--group=g")
        self.assertEqual([(s["kind"], s["name"]) for s in binding["subjects"]], [("User", "u"), ("Group", "g"), ("ServiceAccount", "robot")])
        role = self.created("clusterrole", self.ns, "--verb=get", "--non-resource-url=/x")
        self.addCleanup(self.kubectl, "delete", "clusterrole", self.ns)
        self.assertEqual(role["rules"], [{"nonResourceURLs": ["/x"], "verbs": ["get"]}])
        self.created("clusterrolebinding", self.ns, f"--clusterrole={self.ns}", "--user=u")
        self.kubectl("delete", "clusterrolebinding", self.ns)

    def test_other_kinds(self):
        self.assertEqual(self.created("quota", "q", "--hard=pods=3")["spec"]["hard"], {"pods": "3"})
        self.assertEqual(self.created("poddisruptionbudget", "p", "--selector=a=b", "--min-available=1")["spec"]["minAvailable"], 1)
        self.assertEqual(self.created("ingress", "i", "--rule=h.example/p=s:80")["spec"]["rules"][0]["host"], "h.example")
        service = self.created("service", "clusterip", "s", "--tcp=80:8080")
        self.assertEqual((service["spec"]["type"], service["spec"]["ports"][0]["targetPort"]), ("ClusterIP", 8080))
        priority = self.created("priorityclass", self.ns, "--value=7")
        self.addCleanup(self.kubectl, "delete", "priorityclass", self.ns)
        self.assertEqual((priority["value"], priority["preemptionPolicy"]), (7, "PreemptLowerPriority"))

    def test_dry_run_writes_nothing(self):
        self.assertEqual(self.kubectl("create", "-f", "-", "--dry-run=server", stdin=CONFIG), "configmap/c created (server dry run)\n")
        self.assertIn("NotFound", self.kubectl_fails("get", "cm", "c"))
        self.assertEqual(self.kubectl_json("create", "-f", "-", "--dry-run=client", stdin=CONFIG)["data"], {"one": "1", "two": "2"})

    def test_an_invalid_object_is_refused_in_the_words_of_kubernetes(self):
        self.assertIn('The ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of',
                      self.kubectl_fails("create", "-f", "-", stdin=CONFIG.replace("name: c", "name: A_b")))
        self.assertIn("strict decoding error: unknown field \"datum\"",
                      self.kubectl_fails("create", "-f", "-", stdin=CONFIG + "datum: {}\n"))
        self.assertIn('namespaces "none-such" not found',
                      self.kubectl_fails("create", "-f", "-", "--namespace=none-such", stdin=CONFIG))


class ChangeTest(E2E):
    def setUp(self):
        super().setUp()
        self.kubectl("create", "-f", "-", stdin=CONFIG)

    def data(self):
        return self.kubectl_json("get", "cm", "c").get("data")

    def test_patch_merge_json_and_strategic(self):
        self.kubectl("patch", "cm", "c", "--type=merge", "-p", '{"data":{"one":null,"three":"3"}}')
        self.assertEqual(self.data(), {"two": "2", "three": "3"})
        self.kubectl("patch", "cm", "c", "--type=json", "-p", '[{"op":"replace","path":"/data/two","value":"zwei"},{"op":"remove","path":"/data/three"}]')
        self.assertEqual(self.data(), {"two": "zwei"})
        self.assertIn("(no change)", self.kubectl("patch", "cm", "c", "--type=merge", "-p", '{"data":{"two":"zwei"}}'))
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)
        self.kubectl("patch", "deploy", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}')
        containers = self.kubectl_json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
        self.assertEqual([(c["name"], c["image"]) for c in containers], [("main", "nginx:1"), ("side", "side:2")])
        self.kubectl("patch", "deploy", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}')
        self.assertEqual([c["name"] for c in self.kubectl_json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]], ["main"])

    def test_patch_that_cannot_be_applied(self):
        for patch in ('[{"op":"test","path":"/data/one","value":"x"}]', '[{"op":"remove","path":"/data/none"}]'):
            status = self.api("PATCH", "/api/v1/namespaces/{ns}/configmaps/c", patch.encode(), expect=422,
                              headers={"Content-Type": "application/json-patch+json"})
            self.assertEqual(status["reason"], "Invalid")
            self.kubectl_fails("patch", "cm", "c", "--type=json", "-p", patch)
        self.assertIn("NotFound", self.kubectl_fails("patch", "cm", "none", "--type=merge", "-p", "{}"))
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)
        self.assertIn("field is immutable", self.kubectl_fails("patch", "deploy", "web", "--type=merge", "-p", '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}'))

    def test_patch_of_the_status_subresource(self):
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)
        self.kubectl("patch", "deploy", "web", "--subresource=status", "--type=merge", "-p", '{"status":{"replicas":2},"spec":{"replicas":9}}')
        deployment = self.kubectl_json("get", "deploy", "web")
        self.assertEqual((deployment["status"]["replicas"], deployment["spec"]["replicas"]), (2, 3))
        self.kubectl("patch", "deploy", "web", "--type=merge", "-p", '{"status":{"replicas":7}}')
        self.assertEqual(self.kubectl_json("get", "deploy", "web")["status"]["replicas"], 2)

    def test_replace_and_replace_by_force(self):
        before = self.kubectl_json("get", "cm", "c")
        self.kubectl("replace", "-f", "-", stdin=CONFIG.replace('one: "1", ', ""))
        after = self.kubectl_json("get", "cm", "c")
        self.assertEqual((after["data"], after["metadata"]["uid"]), ({"two": "2"}, before["metadata"]["uid"]))
        self.assertIn("the object has been modified; please apply your changes to the latest version and try again",
                      self.kubectl_fails("replace", "-f", "-", stdin=json.dumps(before)))
        self.kubectl("replace", "--force", "-f", "-", stdin=CONFIG)
        forced = self.kubectl_json("get", "cm", "c")
        self.assertNotEqual(forced["metadata"]["uid"], before["metadata"]["uid"])
        self.assertIn("NotFound", self.kubectl_fails("replace", "-f", "-", stdin=CONFIG.replace("name: c", "name: other")))

    def test_edit_with_an_editor(self):
        script = self.file("#!/bin/sh\nsed -i 's/two: \"2\"/two: \"edited\"/' \"$1\"\n", "editor.sh")
        out = self.kubectl("edit", "cm", "c", env={"EDITOR": f"sh {script}", "KUBE_EDITOR": f"sh {script}"})
        self.assertEqual((out, self.data()["two"]), ("configmap/c edited\n", "edited"))
        again = self.cluster.run("-n", self.ns, "edit", "cm", "c", env={"KUBE_EDITOR": "true"})
        self.assertIn("Edit cancelled, no changes made.", again.stdout + again.stderr)

    def test_label_and_annotate(self):
        self.kubectl("label", "cm", "c", "b=2")
        self.assertIn("already has a value (2)", self.kubectl_fails("label", "cm", "c", "b=3"))
        self.kubectl("label", "cm", "c", "b=3", "a-", "--overwrite")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["metadata"]["labels"], {"b": "3"})
        self.kubectl("annotate", "cm", "c", "note=some words")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["metadata"]["annotations"], {"note": "some words"})
        self.kubectl("annotate", "cm", "c", "note-")
        self.assertNotIn("annotations", self.kubectl_json("get", "cm", "c")["metadata"])
        self.assertIn("a valid label must be an empty string or consist of", self.kubectl_fails("label", "cm", "c", "bad=-x-"))

    def test_scale_and_its_condition(self):
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)
        self.assertEqual(self.kubectl("scale", "deploy", "web", "--replicas=5"), "deployment.apps/web scaled\n")
        self.assertEqual(self.kubectl_json("get", "deploy", "web")["spec"]["replicas"], 5)
        self.assertIn("Expected replicas to be 9, was 5", self.kubectl_fails("scale", "deploy", "web", "--current-replicas=9", "--replicas=1"))
        scale = json.loads(self.kubectl("get", "--raw", f"/apis/apps/v1/namespaces/{self.ns}/deployments/web/scale"))
        self.assertEqual((scale["kind"], scale["spec"], scale["status"]["selector"]), ("Scale", {"replicas": 5}, "app=web"))

    def test_set_image_and_rollout(self):
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)
        self.kubectl("set", "image", "deploy/web", "main=nginx:2")
        self.kubectl("set", "env", "deploy/web", "-c", "main", "KEY=value")
        self.kubectl("rollout", "restart", "deploy/web")
        template = self.kubectl_json("get", "deploy", "web")["spec"]["template"]
        self.assertEqual(template["spec"]["containers"][0]["image"], "nginx:2")
        self.assertEqual(template["spec"]["containers"][0]["env"], [{"name": "KEY", "value": "value"}])
        self.assertIn("kubectl.kubernetes.io/restartedAt", template["metadata"]["annotations"])
        self.assertEqual(self.kubectl_json("get", "deploy", "web")["metadata"]["generation"], 4)


class WaitTest(E2E):
    def setUp(self):
        super().setUp()
        self.kubectl("create", "-f", "-", stdin=DEPLOYMENT)

    def test_for_a_condition(self):
        waiting = self.background("wait", "deploy/web", "--for=condition=Available", TIMEOUT)
        self.kubectl("patch", "deploy", "web", "--subresource=status", "--type=merge", "-p",
                     '{"status":{"conditions":[{"type":"Available","status":"True","reason":"R","message":"m"}]}}')
        out, err = waiting.communicate()
        self.assertEqual((waiting.returncode, out), (0, "deployment.apps/web condition met\n"), err)
        self.assertIn("timed out waiting for the condition", self.kubectl_fails("wait", "deploy/web", "--for=condition=Other", "--timeout=1s"))

    def test_for_a_jsonpath(self):
        waiting = self.background("wait", "deploy/web", "--for=jsonpath={.spec.replicas}=4", TIMEOUT)
        self.kubectl("scale", "deploy", "web", "--replicas=4")
        out, err = waiting.communicate()
        self.assertEqual((waiting.returncode, out), (0, "deployment.apps/web condition met\n"), err)

    def test_for_deletion_and_creation(self):
        waiting = self.background("wait", "deploy/web", "--for=delete", TIMEOUT)
        self.kubectl("delete", "deploy", "web", "--wait=false")
        out, err = waiting.communicate()
        self.assertEqual(waiting.returncode, 0, err)
        self.assertIn(out, ("deployment.apps/web condition met\n", ""))  # Nothing is said when it was gone before the wait began.
        self.assertIn("NotFound", self.kubectl_fails("get", "deploy", "web"))
        waiting = self.background("wait", "cm/later", "--for=create", TIMEOUT)
        self.kubectl("create", "-f", "-", stdin=CONFIG.replace("name: c", "name: later"))
        out, err = waiting.communicate()
        self.assertEqual((waiting.returncode, out), (0, "configmap/later condition met\n"), err)


if __name__ == "__main__":
    main()
