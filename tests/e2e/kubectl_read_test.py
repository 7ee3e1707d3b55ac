"""What kubectl reads: discovery, explain, get in its forms, selection, describe, events, raw paths."""
import json
import re
import time

from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, labels: {app: web, tier: %s}}
spec:
  containers: [{name: main, image: nginx}]
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
"""


class DiscoveryTest(E2E):
    def test_api_resources_tells_names_scope_and_kind(self):
        rows = {(line.split()[0], line.split()[-3]): line.split() for line in self.kubectl("api-resources").splitlines()[1:]}
        self.assertEqual(rows["configmaps", "v1"], ["configmaps", "cm", "v1", "true", "ConfigMap"])
        self.assertEqual(rows["namespaces", "v1"], ["namespaces", "ns", "v1", "false", "Namespace"])
        self.assertEqual(rows["deployments", "apps/v1"], ["deployments", "deploy", "apps/v1", "true", "Deployment"])
        self.assertEqual(rows["customresourcedefinitions", "apiextensions.k8s.io/v1"],
                         ["customresourcedefinitions", "crd,crds", "apiextensions.k8s.io/v1", "false", "CustomResourceDefinition"])

    def test_api_resources_filters_by_group_scope_and_verbs(self):
        self.assertEqual(sorted(self.kubectl("api-resources", "--api-group=apps", "-o", "name").split()),
                         [f"{name}.apps" for name in ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets")])
        cluster_wide = self.kubectl("api-resources", "--namespaced=false", "-o", "name").split()
        self.assertIn("namespaces", cluster_wide)
        self.assertNotIn("configmaps", cluster_wide)
        self.assertNotIn("selfsubjectreviews.authentication.k8s.io", self.kubectl("api-resources", "--verbs=list", "-o", "name").split())
        wide = [line for line in self.kubectl("api-resources", "-o", "wide").splitlines() if line.startswith("configmaps ")]
        self.assertIn("create,delete,deletecollection,get,list,patch,update,watch", wide[0])

    def test_api_resources_by_category(self):
        everything = self.kubectl("api-resources", "--categories=all", "-o", "name").split()
        self.assertTrue({"pods", "services", "deployments.apps", "jobs.batch"} <= set(everything), everything)
        self.assertNotIn("configmaps", everything)

    def test_api_versions_lists_groups(self):
        versions = self.kubectl("api-versions").split()
        self.assertTrue({"v1", "apps/v1", "batch/v1", "apiextensions.k8s.io/v1", "rbac.authorization.k8s.io/v1", "coordination.k8s.io/v1",
                         "admissionregistration.k8s.io/v1", "events.k8s.io/v1"} <= set(versions), versions)

    def test_version_and_cluster_info(self):
        version = json.loads(self.kubectl("version", "-o", "json"))["serverVersion"]
        self.assertEqual((version["major"], version["minor"]), ("1", "35"))
        self.assertIn("is running at", self.kubectl("cluster-info"))

    def test_explain_a_kind_a_field_and_recursively(self):
        text = self.kubectl("explain", "deployment")
        self.assertRegex(text, r"KIND: +Deployment")
        self.assertRegex(text, r"(?m)^ +spec\s+<(DeploymentSpec|Object)>")
        text = self.kubectl("explain", "deployment.spec.replicas")
        self.assertRegex(text, r"FIELD: +replicas <integer>")
        text = self.kubectl("explain", "pod.spec.containers", "--recursive")
        self.assertIn("terminationMessagePath", text)

    def test_explain_an_unknown_field_says_so(self):
        self.assertIn('field "nonsense" does not exist', self.kubectl_fails("explain", "pod.spec.nonsense"))


class GetTest(E2E):
    def setUp(self):
        super().setUp()
        for name, tier in (("b-pod", "front"), ("a-pod", "back"), ("c-pod", "front")):
            self.kubectl("create", "-f", "-", stdin=POD % (name, tier))

    def test_the_plain_table(self):
        lines = self.kubectl("get", "pods").splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "READY", "STATUS", "RESTARTS", "AGE"])
        self.assertEqual([line.split()[:4] for line in lines[1:]], [[f"{name}-pod", "0/1", "Pending", "0"] for name in "abc"])
        for line in lines[1:]:
            self.assertRegex(line.split()[4], r"^\d+s|\d+m.*$")

    def test_wide_labels_columns_and_no_headers(self):
        self.assertEqual(self.kubectl("get", "pods", "-o", "wide").splitlines()[0].split(),
                         ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"])
        self.assertIn("app=web,tier=back", self.kubectl("get", "pods", "--show-labels"))
        self.assertEqual([line.split()[-1] for line in self.kubectl("get", "pods", "-L", "tier").splitlines()],
                         ["TIER", "back", "front", "front"])
        self.assertEqual(len(self.kubectl("get", "pods", "--no-headers").splitlines()), 3)

    def test_json_and_yaml(self):
        one = self.kubectl_json("get", "pod", "a-pod")
        self.assertEqual((one["kind"], one["metadata"]["namespace"], one["spec"]["restartPolicy"]), ("Pod", self.ns, "Always"))
        many = self.kubectl_json("get", "pods")
        self.assertEqual((many["kind"], len(many["items"])), ("List", 3))
        text = self.kubectl("get", "pod", "a-pod", "-o", "yaml")
        self.assertTrue(text.startswith("apiVersion: v1\nkind: Pod\n"), text[:80])
        self.assertIn(f"  uid: {one['metadata']['uid']}\n", text)
        self.assertNotIn("managedFields", text)
        self.assertIn("managedFields", self.kubectl("get", "pod", "a-pod", "-o", "yaml", "--show-managed-fields"))

    def test_name_jsonpath_template_and_custom_columns(self):
        self.assertEqual(self.kubectl("get", "pods", "-o", "name").split(), ["pod/a-pod", "pod/b-pod", "pod/c-pod"])
        self.assertEqual(self.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.name}"), "a-pod b-pod c-pod")
        self.assertEqual(self.kubectl("get", "pods", "-o", "go-template={{range .items}}{{.metadata.labels.tier}};{{end}}"), "back;front;front;")
        table = self.kubectl("get", "pods", "-o", "custom-columns=N:.metadata.name,I:.spec.containers[0].image")
        self.assertEqual([line.split() for line in table.splitlines()], [["N", "I"]] + [[f"{name}-pod", "nginx"] for name in "abc"])

    def test_sort_by(self):
        names = self.kubectl("get", "pods", "--sort-by=.metadata.labels.tier", "-o", "name").split()
        self.assertEqual(names[0], "pod/a-pod")
        newest_last = self.kubectl("get", "pods", "--sort-by=.metadata.uid", "-o", "jsonpath={.items[*].metadata.uid}").split()
        self.assertEqual(newest_last, sorted(newest_last))

    def test_label_selectors(self):
        names = lambda selector: self.kubectl("get", "pods", "-l", selector, "-o", "name").split()  # noqa: E731
        self.assertEqual(names("tier=front"), ["pod/b-pod", "pod/c-pod"])
        self.assertEqual(names("tier!=front"), ["pod/a-pod"])
        self.assertEqual(names("tier in (back, other)"), ["pod/a-pod"])
        self.assertEqual(names("tier notin (back),app"), ["pod/b-pod", "pod/c-pod"])
        self.assertEqual(names("!tier"), [])
        self.assertIn("unable to parse requirement", self.kubectl_fails("get", "pods", "-l", "tier in back"))

    def test_field_selectors(self):
        names = lambda selector: self.kubectl("get", "pods", "--field-selector", selector, "-o", "name").split()  # noqa: E731
        self.assertEqual(names("metadata.name=b-pod"), ["pod/b-pod"])
        self.assertEqual(names("metadata.name!=b-pod,status.phase=Pending"), ["pod/a-pod", "pod/c-pod"])
        self.assertEqual(names("status.phase=Running"), [])
        self.assertIn('field label not supported: spec.nonsense', self.kubectl_fails("get", "pods", "--field-selector", "spec.nonsense=1"))

    def test_chunks(self):
        self.assertEqual(self.kubectl("get", "pods", "--chunk-size=1", "-o", "name").split(), ["pod/a-pod", "pod/b-pod", "pod/c-pod"])
        self.assertEqual(len(self.kubectl("get", "pods", "--chunk-size=2").splitlines()), 4)

    def test_several_kinds_and_all_namespaces(self):
        self.kubectl("create", "configmap", "one", "--from-literal=a=b")
        both = self.kubectl("get", "pod/a-pod", "cm/one", "-o", "name").split()
        self.assertEqual(both, ["pod/a-pod", "configmap/one"])
        everywhere = self.kubectl("get", "pods", "-A").splitlines()
        self.assertEqual(everywhere[0].split()[:2], ["NAMESPACE", "NAME"])
        self.assertIn([self.ns, "a-pod"], [line.split()[:2] for line in everywhere])
        self.assertIn("pod/b-pod", self.kubectl("get", "all", "-o", "name"))

    def test_what_is_not_there(self):
        self.assertEqual(self.kubectl_fails("get", "pod", "none").strip(), 'Error from server (NotFound): pods "none" not found')
        self.assertEqual(self.kubectl("get", "pod", "none", "--ignore-not-found"), "")
        self.assertIn(f"No resources found in {self.ns} namespace.", self.kubectl_warns("get", "secrets"))
        self.assertIn('the server doesn\'t have a resource type "nonsense"', self.kubectl_fails("get", "nonsense"))

    def test_watch_shows_what_happens(self):
        process = self.background("get", "pods", "-w", "-o", "name")
        seen = [process.stdout.readline().strip() for _ in range(3)]
        self.assertEqual(seen, ["pod/a-pod", "pod/b-pod", "pod/c-pod"])
        self.kubectl("label", "pod", "b-pod", "new=label")
        self.assertEqual(process.stdout.readline().strip(), "pod/b-pod")
        self.kubectl("delete", "pod", "c-pod", "--wait=false", "--grace-period=0", "--force")
        self.assertEqual(process.stdout.readline().strip(), "pod/c-pod")

    def test_watch_of_the_table_with_event_types(self):
        process = self.background("get", "pods", "-w", "--output-watch-events")
        self.assertEqual(process.stdout.readline().split()[:2], ["EVENT", "NAME"])
        self.assertEqual(process.stdout.readline().split()[:3], ["ADDED", "a-pod", "0/1"])
        process.stdout.readline(), process.stdout.readline()
        self.kubectl("delete", "pod", "c-pod", "--wait=false", "--grace-period=0", "--force")
        events = [process.stdout.readline().split()[:2]]
        while events[-1] != ["DELETED", "c-pod"]:
            events.append(process.stdout.readline().split()[:2])
        self.assertTrue(all(event == ["MODIFIED", "c-pod"] for event in events[:-1]), events)

    def test_describe(self):
        text = self.kubectl("describe", "pod", "a-pod")
        self.assertRegex(text, r"Name: +a-pod\n")
        self.assertRegex(text, rf"Namespace: +{self.ns}\n")
        self.assertRegex(text, r"Image: +nginx\n")
        self.kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
        text = self.kubectl("describe", "deployment", "web")
        self.assertRegex(text, r"Selector: +app=web")
        self.assertRegex(text, r"StrategyType: +RollingUpdate")
        self.assertRegex(self.kubectl("describe", "namespace", self.ns), r"Status: +Active")


class TablesTest(E2E):
    def header(self, *what):
        return self.kubectl("get", *what).splitlines()

    def test_deployments_services_secrets_and_others_have_their_columns(self):
        self.kubectl("apply", "-f", "-", stdin=DEPLOYMENT)
        rows = self.header("deploy")
        self.assertEqual([rows[0].split(), rows[1].split()[:4]], [["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"], ["web", "0/3", "0", "0"]])
        self.kubectl("create", "secret", "generic", "s", "--from-literal=a=b", "--from-literal=c=d")
        rows = self.header("secrets")
        self.assertEqual([rows[0].split(), rows[1].split()[:3]], [["NAME", "TYPE", "DATA", "AGE"], ["s", "Opaque", "2"]])
        self.kubectl("create", "job", "j", "--image=busybox")
        self.assertEqual(self.header("jobs")[0].split(), ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"])
        self.kubectl("create", "cronjob", "cj", "--image=busybox", "--schedule=* * * * *")
        self.assertEqual(self.header("cronjobs")[0].split(), ["NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST", "SCHEDULE", "AGE"])
        self.kubectl("create", "service", "clusterip", "svc", "--tcp=80:8080")
        rows = self.header("svc")
        self.assertEqual(rows[0].split(), ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"])
        self.assertEqual((rows[1].split()[1], rows[1].split()[4]), ("ClusterIP", "80/TCP"))
        self.kubectl("create", "serviceaccount", "robot")
        self.assertIn("robot", [line.split()[0] for line in self.header("sa")])
        self.kubectl("create", "role", "reader", "--verb=get", "--resource=pods")
        self.assertEqual(self.header("roles")[0].split(), ["NAME", "CREATED", "AT"])
        self.assertEqual(self.header("ns", self.ns)[1].split()[:2], [self.ns, "Active"])


class EventsTest(E2E):
    def test_events_are_shown_newest_last_and_for_one_object(self):
        pod = json.loads(self.kubectl("create", "-f", "-", "-o", "json", stdin=POD % ("a-pod", "x")))
        for number, reason in enumerate(("First", "Second")):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 100 + number))
            self.api("POST", "/api/v1/namespaces/{ns}/events", {
                "metadata": {"name": f"e{number}"}, "type": "Warning", "reason": reason, "message": f"message {number}", "count": 1,
                "firstTimestamp": stamp, "lastTimestamp": stamp, "source": {"component": "e2e"},
                "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "a-pod", "namespace": self.ns, "uid": pod["metadata"]["uid"]}}, expect=201)
        rows = self.kubectl("events").splitlines()
        self.assertEqual(rows[0].split(), ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"])
        self.assertEqual([row.split()[2] for row in rows[1:]], ["First", "Second"])
        self.assertEqual(len(self.kubectl("events", "--for", "pod/a-pod", "--types=Warning", "--no-headers").splitlines()), 2)
        self.assertRegex(self.kubectl("get", "events", "--field-selector", "reason=Second", "--no-headers"), r"Second\s+pod/a-pod\s+message 1")
        described = self.kubectl("describe", "pod", "a-pod")
        self.assertRegex(described, r"Warning\s+First\s+.*e2e\s+message 0")


class RawTest(E2E):
    def test_raw_paths(self):
        self.assertEqual(self.kubectl("get", "--raw", "/healthz"), "ok")
        self.assertEqual(self.kubectl("get", "--raw", "/readyz"), "ok")
        self.assertEqual(self.kubectl("get", "--raw", "/livez"), "ok")
        self.assertEqual(json.loads(self.kubectl("get", "--raw", "/api"))["versions"], ["v1"])
        self.assertEqual(json.loads(self.kubectl("get", "--raw", f"/api/v1/namespaces/{self.ns}"))["metadata"]["name"], self.ns)
        self.assertIn("/apis/apps/v1", json.loads(self.kubectl("get", "--raw", "/"))["paths"])
        self.assertEqual(json.loads(self.kubectl("get", "--raw", "/openapi/v2"))["swagger"], "2.0")
        self.assertIn("apis/apps/v1", json.loads(self.kubectl("get", "--raw", "/openapi/v3"))["paths"])
        self.assertIn("the server could not find the requested resource", self.kubectl_fails("get", "--raw", "/nonsense"))

    def test_verbose_health_names_its_checks(self):
        text = self.kubectl("get", "--raw", "/readyz?verbose")
        self.assertTrue(re.search(r"(?m)^\[\+\]ping ok$", text), text)
        self.assertTrue(text.rstrip().endswith("readyz check passed"), text)


if __name__ == "__main__":
    main()
