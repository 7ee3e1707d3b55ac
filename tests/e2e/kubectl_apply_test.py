"""kubectl apply: client side with its three-way merge, server side with owners and conflicts, diff, pruning."""
import json

from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: c, labels: {set: mine}}
data: {%s}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [%s]}
"""
LAST = "kubectl.kubernetes.io/last-applied-configuration"


class ClientSideTest(E2E):
    def apply(self, text, *more):
        return self.kubectl("apply", *more, "-f", "-", stdin=text)

    def test_created_unchanged_configured(self):
        self.assertEqual(self.apply(CONFIG % "a: '1'"), "configmap/c created\n")
        self.assertEqual(self.apply(CONFIG % "a: '1'"), "configmap/c unchanged\n")
        before = self.kubectl_json("get", "cm", "c")["metadata"]["resourceVersion"]
        self.assertEqual(self.apply(CONFIG % "a: '1'"), "configmap/c unchanged\n")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["metadata"]["resourceVersion"], before)
        self.assertEqual(self.apply(CONFIG % "a: '2'"), "configmap/c configured\n")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "2"})

    def test_the_three_way_merge_removes_what_it_applied_and_keeps_what_others_set(self):
        self.apply(CONFIG % "a: '1', b: '2'")
        self.kubectl("patch", "cm", "c", "--type=merge", "-p", '{"data":{"other":"x"}}')
        self.apply(CONFIG % "b: '3'")
        found = self.kubectl_json("get", "cm", "c")
        self.assertEqual(found["data"], {"b": "3", "other": "x"})
        self.assertEqual(json.loads(found["metadata"]["annotations"][LAST])["data"], {"b": "3"})

    def test_lists_are_merged_by_their_key(self):
        self.apply(DEPLOYMENT % '{name: a, image: "a:1", env: [{name: X, value: "1"}, {name: Z, value: "2"}]}, {name: b, image: "b:1"}')
        self.kubectl("patch", "deploy", "web", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"injected","image":"i"}]}}}}')
        self.apply(DEPLOYMENT % '{name: a, image: "a:2", env: [{name: Z, value: "2"}]}')
        containers = {c["name"]: c for c in self.kubectl_json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]}
        self.assertEqual(sorted(containers), ["a", "injected"])
        self.assertEqual((containers["a"]["image"], containers["a"]["env"]), ("a:2", [{"name": "Z", "value": "2"}]))

    def test_view_and_set_last_applied(self):
        self.apply(CONFIG % "a: '1'")
        self.assertEqual(json.loads(self.kubectl("apply", "view-last-applied", "cm/c", "-o", "json"))["data"], {"a": "1"})
        self.kubectl("apply", "set-last-applied", "-f", "-", stdin=CONFIG % "a: '9'")
        self.assertEqual(json.loads(self.kubectl("apply", "view-last-applied", "cm/c", "-o", "json"))["data"], {"a": "9"})
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "1"})

    def test_prune_deletes_what_is_no_longer_applied(self):
        two = (CONFIG % "a: '1'") + "---" + (CONFIG % "b: '1'").replace("name: c", "name: d")
        self.apply(two)
        out = self.apply(CONFIG % "a: '1'", "--prune", "-l", "set=mine", "--prune-allowlist=core/v1/ConfigMap")
        self.assertIn("configmap/d pruned", out)
        self.assertEqual(self.kubectl("get", "cm", "-l", "set=mine", "-o", "name"), "configmap/c\n")

    def test_dry_run_on_the_server(self):
        self.assertEqual(self.apply(CONFIG % "a: '1'", "--dry-run=server"), "configmap/c created (server dry run)\n")
        self.assertIn("NotFound", self.kubectl_fails("get", "cm", "c"))

    def test_diff(self):
        done = self.cluster.run("-n", self.ns, "diff", "-f", "-", stdin=CONFIG % "a: '1'")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("+kind: ConfigMap", done.stdout)
        self.apply(CONFIG % "a: '1'")
        self.assertEqual(self.kubectl("diff", "-f", "-", stdin=CONFIG % "a: '1'"), "")
        done = self.cluster.run("-n", self.ns, "diff", "-f", "-", stdin=CONFIG % "a: '2'")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('-  a: "1"\n+  a: "2"\n', done.stdout)
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "1"})


class ServerSideTest(E2E):
    def apply(self, text, manager="one", *more):
        return self.kubectl("apply", "--server-side", f"--field-manager={manager}", *more, "-f", "-", stdin=text)

    def managers(self, kind="cm", name="c"):
        found = json.loads(self.kubectl("get", kind, name, "-o", "json", "--show-managed-fields"))
        return {(m["manager"], m["operation"]): m["fieldsV1"] for m in found["metadata"]["managedFields"]}

    def test_owners_are_recorded(self):
        self.assertEqual(self.apply(CONFIG % "a: '1'"), "configmap/c serverside-applied\n")
        self.assertEqual(self.managers(), {("one", "Apply"): {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:set": {}}}}})
        self.apply(CONFIG % "a: '1', b: '2'", "two")
        self.assertEqual(self.managers()["two", "Apply"]["f:data"], {"f:a": {}, "f:b": {}})

    def test_a_conflict_names_the_owner_and_force_takes_the_field(self):
        self.apply(CONFIG % "a: '1'")
        error = self.kubectl_fails("apply", "--server-side", "--field-manager=two", "-f", "-", stdin=CONFIG % "a: '2'")
        self.assertIn('Apply failed with 1 conflict: conflict with "one": .data.a', error)
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "1"})
        self.apply(CONFIG % "a: '2'", "two", "--force-conflicts")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "2"})
        self.assertEqual(self.managers()["one", "Apply"], {"f:metadata": {"f:labels": {"f:set": {}}}})

    def test_the_status_of_a_conflict(self):
        self.apply(CONFIG % "a: '1', b: '1'")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2", "b": "2"}}
        status = self.api("PATCH", "/api/v1/namespaces/{ns}/configmaps/c?fieldManager=two", body, expect=409,
                          headers={"Content-Type": "application/apply-patch+yaml"})
        self.assertEqual(status["reason"], "Conflict")
        self.assertEqual(status["message"], 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b')
        self.assertEqual(status["details"]["causes"], [
            {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.a"},
            {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.b"}])

    def test_a_field_no_longer_applied_goes_unless_another_owns_it(self):
        self.apply(CONFIG % "a: '1', b: '2', c: '3'")
        self.apply(CONFIG % "b: '2'", "two")
        self.apply(CONFIG % "c: '3'")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"b": "2", "c": "3"})

    def test_an_update_conflicts_with_a_later_apply(self):
        self.apply(CONFIG % "a: '1'")
        self.kubectl("patch", "cm", "c", "--type=merge", "--field-manager=hand", "-p", '{"data":{"a":"2"}}')
        error = self.kubectl_fails("apply", "--server-side", "--field-manager=one", "-f", "-", stdin=CONFIG % "a: '1'")
        self.assertIn('conflict with "hand" using v1: .data.a', error)
        self.assertEqual(self.managers()["hand", "Update"], {"f:data": {"f:a": {}}})

    def test_lists_by_key_of_several_managers(self):
        self.apply(DEPLOYMENT % '{name: a, image: "a:1"}')
        self.apply(DEPLOYMENT % '{name: b, image: "b:1"}', "two")
        containers = self.kubectl_json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
        self.assertEqual([c["name"] for c in containers], ["a", "b"])
        owned = self.managers("deploy", "web")["two", "Apply"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
        self.assertEqual(owned, {'k:{"name":"b"}': {".": {}, "f:image": {}, "f:name": {}}})
        self.kubectl("apply", "--server-side", "--field-manager=two", "--force-conflicts", "-f", "-",
                     stdin=DEPLOYMENT % '{name: c, image: "c:1"}')
        containers = self.kubectl_json("get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
        self.assertEqual([c["name"] for c in containers], ["a", "c"])

    def test_client_side_apply_is_taken_over(self):
        self.kubectl("apply", "-f", "-", stdin=CONFIG % "a: '1', b: '2'")
        self.kubectl("apply", "--server-side", "-f", "-", stdin=CONFIG % "a: '1'")
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "1"})
        self.assertEqual([key for key in self.managers() if key[0] == "kubectl"], [("kubectl", "Apply")])

    def test_diff_and_dry_run(self):
        self.apply(CONFIG % "a: '1'")
        done = self.cluster.run("-n", self.ns, "diff", "--server-side", "--field-manager=one", "-f", "-", stdin=CONFIG % "a: '2'")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('+  a: "2"', done.stdout)
        self.assertIn("(server dry run)", self.apply(CONFIG % "a: '2'", "one", "--dry-run=server"))
        self.assertEqual(self.kubectl_json("get", "cm", "c")["data"], {"a": "1"})

    def test_a_missing_manager_or_wrong_body_is_refused(self):
        path, kind = "/api/v1/namespaces/{ns}/configmaps/c", {"Content-Type": "application/apply-patch+yaml"}
        status = self.api("PATCH", path, b"{}", expect=422, headers=kind)
        self.assertIn("fieldManager: Required value: is required for apply patch", status["message"])
        status = self.api("PATCH", path + "?fieldManager=m", b"a: [", expect=400, headers=kind)
        self.assertIn("error decoding YAML", status["message"])
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": [{"manager": "x"}]}}
        status = self.api("PATCH", path + "?fieldManager=m", body, expect=400, headers=kind)
        self.assertIn("metadata.managedFields must be nil", status["message"])

    def test_what_is_new_needs_its_name_in_the_body(self):
        path, kind = "/api/v1/namespaces/{ns}/configmaps/c?fieldManager=m", {"Content-Type": "application/apply-patch+yaml"}
        status = self.api("PATCH", path, {"apiVersion": "v1", "kind": "ConfigMap"}, expect=400, headers=kind)
        self.assertIn("name must be provided", status["message"])
        status = self.api("PATCH", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}}, expect=400, headers=kind)
        self.assertIn("the name of the object (d) does not match the name on the URL (c)", status["message"])
        self.api("PATCH", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, expect=201, headers=kind)

    def test_finalizers_and_owners_are_sets_of_several_managers(self):
        path, kind = "/api/v1/namespaces/{ns}/configmaps/c?fieldManager=", {"Content-Type": "application/apply-patch+yaml"}
        for manager in ("one", "two"):
            self.api("PATCH", path + manager, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
                "name": "c", "finalizers": [f"example.com/{manager}"]}}, expect=201 if manager == "one" else 200, headers=kind)
        self.assertEqual(self.kubectl_json("get", "cm", "c")["metadata"]["finalizers"], ["example.com/one", "example.com/two"])
        self.assertEqual(self.managers()["two", "Apply"], {"f:metadata": {"f:finalizers": {'v:"example.com/two"': {}}}})
        left = self.api("PATCH", path + "one", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, headers=kind)
        self.assertEqual(left["metadata"]["finalizers"], ["example.com/two"])
        self.kubectl("patch", "cm", "c", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


if __name__ == "__main__":
    main()
