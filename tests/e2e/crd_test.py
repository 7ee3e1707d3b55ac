"""Custom resources: the life of a definition, versions, names, columns, subresources, and what their deletion leaves."""
import json

from crd_case import CrdCase
from harness import TIMEOUT, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import


class DefinitionTest(CrdCase):
    def test_conditions_and_accepted_names(self):
        name = self.define(self.version(), shortNames=["wdg"], categories=["all", "e2e"])
        status = self.kubectl_json("get", "crd", name)["status"]
        conditions = {c["type"]: c for c in status["conditions"]}
        self.assertEqual((conditions["NamesAccepted"]["status"], conditions["NamesAccepted"]["reason"], conditions["NamesAccepted"]["message"]),
                         ("True", "NoConflicts", "no conflicts found"))
        self.assertEqual((conditions["Established"]["status"], conditions["Established"]["reason"], conditions["Established"]["message"]),
                         ("True", "InitialNamesAccepted", "the initial names have been accepted"))
        self.assertEqual(status["acceptedNames"], {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList",
                                                   "shortNames": ["wdg"], "categories": ["all", "e2e"]})
        self.assertEqual(status["storedVersions"], ["v1"])

    def test_it_is_reached_by_plural_singular_short_name_kind_and_category(self):
        self.define(self.version(), shortNames=[f"w{self.group[1:6]}"], categories=["e2e-things"])
        self.widget()
        for word in ("widgets." + self.group, f"widget.v1.{self.group}", f"w{self.group[1:6]}", f"Widget.v1.{self.group}"):
            self.assertEqual(self.kubectl("get", word, "-o", "name"), f"widget.{self.group}/w\n", word)
        self.assertIn(f"widget.{self.group}/w", self.kubectl("get", "e2e-things", "-o", "name"))
        rows = [line.split() for line in self.kubectl("api-resources", f"--api-group={self.group}").splitlines()[1:]]
        self.assertEqual(rows, [["widgets", f"w{self.group[1:6]}", f"{self.group}/v1", "true", "Widget"]])
        self.assertIn(f"{self.group}/v1", self.kubectl("api-versions").split())

    def test_names_that_collide_are_not_accepted(self):
        self.define(self.version())
        second = self.crd([self.version()], plural="gadgets", kind="Widget")
        self.kubectl("create", "-f", "-", stdin=json.dumps(second))
        self.addCleanup(self.kubectl, "delete", "crd", f"gadgets.{self.group}")
        self.kubectl("wait", f"crd/gadgets.{self.group}", "--for=condition=NamesAccepted=False", TIMEOUT)
        conditions = {c["type"]: c for c in self.kubectl_json("get", "crd", f"gadgets.{self.group}")["status"]["conditions"]}
        self.assertEqual((conditions["NamesAccepted"]["reason"], conditions["Established"]["status"]), ("ListKindConflict", "False"))

    def test_wrong_definitions_are_refused_in_the_words_of_kubernetes(self):
        def refused(change, *words):
            crd = self.crd([self.version()])
            change(crd)
            status = self.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, expect=422)
            for word in words:
                self.assertIn(word, status["message"])
        refused(lambda c: c["metadata"].update(name="other.example.com"),
                'metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group')
        refused(lambda c: c["spec"].update(versions=[self.version(), self.version("v2")]),
                "spec.versions: Invalid value:", "must have exactly one version marked as storage version")
        refused(lambda c: c["spec"]["versions"][0].pop("schema"), "spec.versions[0].schema.openAPIV3Schema: Required value")
        refused(lambda c: c["spec"]["versions"][0].update(schema={"openAPIV3Schema": {"type": "object", "properties": {"a": {"items": {}}}}}),
                "openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields")
        refused(lambda c: c["spec"].update(scope="Everywhere"), 'spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"')
        refused(lambda c: c["spec"].update(preserveUnknownFields=True), "spec.preserveUnknownFields: Invalid value: true: cannot set to true, "
                "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
        refused(lambda c: c["spec"]["versions"][0].update(additionalPrinterColumns=[{"name": "", "type": "x", "jsonPath": "y"}]),
                "additionalPrinterColumns[0].name: Required value", 'type: Invalid value: "x": must be one of boolean,date,integer,number,string',
                'Invalid value: "y": must be a simple json path starting with .')
        refused(lambda c: c["spec"]["names"].update(kind=""), "spec.names.kind: Required value")

    def test_protected_groups_need_an_approval(self):
        crd = self.crd([self.version()])
        crd["spec"]["group"], crd["metadata"]["name"] = "e2e.k8s.io", "widgets.e2e.k8s.io"
        status = self.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, expect=422)
        self.assertIn('metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation', status["message"])

    def test_a_cluster_scoped_kind(self):
        self.define(self.version(), scope="Cluster")
        name = f"w-{self.ns}"
        self.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"name": name}}))
        found = self.kubectl_json("get", f"widgets.{self.group}", name)
        self.assertNotIn("namespace", found["metadata"])

    def test_deletion_takes_the_objects_and_the_paths_away(self):
        crd = self.define(self.version())
        self.widget()
        self.assertIn(f'"{crd}" deleted', self.kubectl("delete", "crd", crd))
        self.poll(lambda: self.cluster.request("GET", self.widgets()).status == 404, "the path to be gone")
        self.poll(lambda: f"{self.group}/v1" not in self.kubectl("api-versions").split(), "the group to be gone")
        self.define(self.version())
        self.assertEqual(self.api("GET", self.widgets())["items"], [])

    def test_deletion_waits_for_finalizers_of_objects(self):
        crd = self.define(self.version())
        body = {"apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"name": "w", "finalizers": ["example.com/hold"]}}
        self.api("POST", self.widgets(), body, expect=201)
        self.kubectl("delete", "crd", crd, "--wait=false")
        self.kubectl("wait", f"crd/{crd}", "--for=condition=Terminating", TIMEOUT)
        status = self.widget("late", expect=403)
        self.assertEqual(status["message"], f'widgets.{self.group} "late" is forbidden: ' "create not allowed while custom resource definition is terminating")
        self.poll(lambda: "deletionTimestamp" in self.api("GET", self.widgets("w"))["metadata"], "the deletion of the object")
        self.api("PATCH", self.widgets("w"), {"metadata": {"finalizers": None}}, headers={"Content-Type": "application/merge-patch+json"})
        self.kubectl("wait", f"crd/{crd}", "--for=delete", TIMEOUT)

    def test_explain_tells_the_schema(self):
        schema = {"type": "object", "description": "A widget of the test.", "properties": {"spec": {
            "type": "object", "required": ["size"], "properties": {"size": {"type": "integer", "description": "How large it is."}}}}}
        self.define(self.version(schema=schema))
        self.poll(lambda: "How large it is." in self.cluster.run("explain", "widgets.spec.size",
                                                                 "--api-version", f"{self.group}/v1").stdout, "the schema in explain")
        self.assertIn("A widget of the test.", self.kubectl("explain", "widgets", "--api-version", f"{self.group}/v1"))


class VersionsTest(CrdCase):
    def test_every_served_version_reads_what_another_wrote(self):
        self.define(self.version("v1beta1", storage=False), self.version("v1"), self.version("v2", storage=False, served=False))
        self.widget(spec={"a": 1})
        old = self.api("GET", self.widgets("w", "v1beta1"))
        self.assertEqual((old["apiVersion"], old["spec"]), (f"{self.group}/v1beta1", {"a": 1}))
        self.api("GET", self.widgets("w", "v2"), expect=404)
        group = self.api("GET", f"/apis/{self.group}")
        self.assertEqual([v["version"] for v in group["versions"]], ["v1", "v1beta1"])
        self.assertEqual(group["preferredVersion"]["version"], "v1")

    def test_a_new_storage_version_is_remembered(self):
        name = self.define(self.version("v1beta1"), self.version("v1", storage=False))
        self.kubectl("patch", "crd", name, "--type=json", "-p", '[{"op":"replace","path":"/spec/versions/0/storage","value":false},'
                     '{"op":"replace","path":"/spec/versions/1/storage","value":true}]')
        self.assertEqual(self.kubectl_json("get", "crd", name)["status"]["storedVersions"], ["v1beta1", "v1"])

    def test_a_version_that_was_stored_must_stay(self):
        name = self.define(self.version("v1beta1"), self.version("v1", storage=False))
        patch = {"spec": {"versions": [self.version("v1")]}}
        status = self.api("PATCH", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}", patch, expect=422,
                          headers={"Content-Type": "application/merge-patch+json"})
        self.assertIn('status.storedVersions[0]: Invalid value: "v1beta1": missing from spec.versions; v1beta1 was previously a storage version',
                      status["message"])

    def test_a_deprecated_version_warns(self):
        self.define(self.version(deprecated=True, deprecationWarning="use another widget"))
        reply = self.cluster.request("GET", self.widgets())
        self.assertEqual(reply.headers["Warning"], '299 - "use another widget"')


class ViewTest(CrdCase):
    def test_printer_columns(self):
        columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                   {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
                   {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
                   {"name": "Born", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]
        self.define(self.version(additionalPrinterColumns=columns))
        self.widget(spec={"size": 3, "color": "red"}, status={"conditions": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}]})
        self.widget("x")
        what = f"widgets.{self.group}"
        rows = [line.split() for line in self.kubectl("get", what).splitlines()]
        self.assertEqual((rows[0], rows[1][:3], rows[2][0]), (["NAME", "SIZE", "READY", "BORN"], ["w", "3", "True"], "x"))
        wide = self.kubectl("get", what, "-o", "wide").splitlines()
        self.assertEqual((wide[0].split(), wide[1].split()[3]), (["NAME", "SIZE", "READY", "COLOR", "BORN"], "red"))

    def test_without_columns_there_is_the_age(self):
        self.define(self.version())
        self.widget()
        self.assertEqual(self.kubectl("get", f"widgets.{self.group}").splitlines()[0].split(), ["NAME", "AGE"])
        self.assertRegex(self.kubectl("describe", f"widgets.{self.group}", "w"), r"Kind: +Widget")

    def test_selectable_fields(self):
        self.define(self.version(schema={"type": "object", "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string"}}}}},
                                 selectableFields=[{"jsonPath": ".spec.color"}]))
        self.widget("r", spec={"color": "red"})
        self.widget("b", spec={"color": "blue"})
        self.assertEqual(self.kubectl("get", f"widgets.{self.group}", "--field-selector=spec.color=blue", "-o", "name"), f"widget.{self.group}/b\n")


class SubresourceTest(CrdCase):
    def define_with_subresources(self):
        scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}
        return self.define(self.version(subresources={"status": {}, "scale": scale}))

    def test_status_is_apart_from_the_rest(self):
        self.define_with_subresources()
        made = self.widget(spec={"replicas": 2}, status={"replicas": 9})
        self.assertNotIn("status", made)
        self.assertEqual(made["metadata"]["generation"], 1)
        merge = {"Content-Type": "application/merge-patch+json"}
        changed = self.api("PATCH", self.widgets("w/status"), {"spec": {"replicas": 7}, "status": {"replicas": 1}}, headers=merge)
        self.assertEqual((changed["spec"], changed["status"], changed["metadata"]["generation"]), ({"replicas": 2}, {"replicas": 1}, 1))
        changed = self.api("PATCH", self.widgets("w"), {"spec": {"replicas": 7}, "status": {"replicas": 5}}, headers=merge)
        self.assertEqual((changed["spec"], changed["status"], changed["metadata"]["generation"]), ({"replicas": 7}, {"replicas": 1}, 2))
        self.kubectl("patch", f"widgets.{self.group}", "w", "--subresource=status", "--type=merge", "-p", '{"status":{"replicas":3}}')
        self.assertEqual(self.api("GET", self.widgets("w/status"))["status"], {"replicas": 3})

    def test_scale(self):
        self.define_with_subresources()
        self.widget(spec={"replicas": 2})
        self.api("PATCH", self.widgets("w/status"), {"status": {"replicas": 1, "selector": "a=b"}}, headers={"Content-Type": "application/merge-patch+json"})
        self.assertIn("scaled", self.kubectl("scale", f"widgets.{self.group}", "w", "--replicas=4"))
        scale = self.api("GET", self.widgets("w/scale"))
        self.assertEqual((scale["apiVersion"], scale["kind"], scale["spec"], scale["status"]),
                         ("autoscaling/v1", "Scale", {"replicas": 4}, {"replicas": 1, "selector": "a=b"}))
        self.assertEqual(self.api("GET", self.widgets("w"))["spec"], {"replicas": 4})

    def test_without_subresources_there_are_none(self):
        self.define(self.version())
        self.widget(status={"a": 1})
        self.assertEqual(self.api("GET", self.widgets("w"))["status"], {"a": 1})
        self.api("GET", self.widgets("w/status"), expect=404)


if __name__ == "__main__":
    main()
