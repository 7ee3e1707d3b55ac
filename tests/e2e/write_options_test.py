"""The options of writing: dryRun, fieldValidation, generateName, preconditions by resourceVersion and uid, names and metadata rules."""
import re

from harness import E2E, main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import

MAPS = "/api/v1/namespaces/{ns}/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


class DryRunTest(E2E):
    def test_every_verb_answers_as_if_and_changes_nothing(self):
        made = self.config_map("a", {"k": "1"})
        created = self.api("POST", MAPS + "?dryRun=All", {"metadata": {"name": "b"}, "data": {"x": "y"}}, expect=201)
        self.assertRegex(created["metadata"]["uid"], r"^[0-9a-f-]{36}$")
        self.assertEqual(self.api("PUT", MAPS + "/a?dryRun=All", {**made, "data": {"k": "2"}})["data"], {"k": "2"})
        self.assertEqual(self.api("PATCH", MAPS + "/a?dryRun=All", {"data": {"k": "3"}}, headers=MERGE)["data"], {"k": "3"})
        applied = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"n": "4"}}
        self.assertEqual(self.api("PATCH", MAPS + "/a?dryRun=All&fieldManager=m", applied, headers=APPLY)["data"], {"k": "1", "n": "4"})
        self.api("DELETE", MAPS + "/a?dryRun=All")
        listed = self.api("GET", MAPS)
        self.assertEqual([item["data"] for item in listed["items"]], [{"k": "1"}])
        self.assertEqual(listed["items"][0]["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"])

    def test_errors_are_the_same(self):
        self.config_map("a")
        self.assertEqual(self.api("POST", MAPS + "?dryRun=All", {"metadata": {"name": "a"}}, expect=409)["reason"], "AlreadyExists")
        status = self.api("POST", MAPS + "?dryRun=Sometimes", {"metadata": {"name": "b"}}, expect=422)
        self.assertIn('dryRun: Unsupported value: ["Sometimes"]: supported values: "All"', status["message"])


class FieldValidationTest(E2E):
    BODY = b'{"metadata":{"name":"%s"},"datum":1,"data":{"k":"1","k":"2"}}'

    def post(self, name, mode):
        return self.cluster.request("POST", self.path(MAPS) + f"?fieldValidation={mode}", self.BODY % name.encode())

    def test_strict_refuses_warn_tells_ignore_is_silent(self):
        reply = self.post("a", "Strict")
        self.assertEqual(reply.status, 400)
        self.assertIn('strict decoding error: unknown field "datum"', reply.json["message"])
        self.assertIn('duplicate field "data.k"', reply.json["message"])
        reply = self.post("a", "Warn")
        self.assertEqual((reply.status, reply.json["data"]), (201, {"k": "2"}))
        self.assertIn('299 - "unknown field \\"datum\\""', "".join(reply.headers.get_all("Warning")))
        self.assertIn('duplicate field \\"data.k\\"', "".join(reply.headers.get_all("Warning")))
        reply = self.post("b", "Ignore")
        self.assertEqual((reply.status, reply.headers["Warning"]), (201, None))

    def test_warn_is_the_default_and_other_words_are_refused(self):
        reply = self.cluster.request("POST", self.path(MAPS), self.BODY % b"c")
        self.assertEqual(reply.status, 201)
        self.assertIn("unknown field", reply.headers["Warning"] or "")
        reply = self.post("d", "Perhaps")
        self.assertEqual(reply.status, 422)
        self.assertIn('fieldValidation: Unsupported value: "Perhaps": supported values: "", "Ignore", "Strict", "Warn"', reply.json["message"])

    def test_patches_too(self):
        self.config_map("a")
        status = self.api("PATCH", MAPS + "/a?fieldValidation=Strict", {"datum": {}}, expect=422, headers=MERGE)
        self.assertIn('strict decoding error: unknown field "datum"', status["message"])
        status = self.api("PATCH", MAPS + "/a?fieldValidation=Strict", b'[{"op":"add","path":"/datum","value":1}]', expect=422,
                          headers={"Content-Type": "application/json-patch+json"})
        self.assertIn('unknown field "datum"', status["message"])


class NameTest(E2E):
    def test_generate_name(self):
        names = {self.api("POST", MAPS, {"metadata": {"generateName": "pre-"}}, expect=201)["metadata"]["name"] for _ in range(5)}
        self.assertEqual(len(names), 5)
        for name in names:
            self.assertTrue(re.match(r"^pre-[bcdfghjklmnpqrstvwxz2456789]{5}$", name), name)
        long = self.api("POST", MAPS, {"metadata": {"generateName": "a" * 250}}, expect=201)["metadata"]["name"]
        self.assertEqual(len(long), 63)

    def test_a_name_is_needed(self):
        status = self.api("POST", MAPS, {"metadata": {}}, expect=422)
        self.assertIn("metadata.name: Required value: name or generateName is required", status["message"])
        status = self.api("POST", MAPS, {"metadata": {"name": "x" * 254}}, expect=422)
        self.assertIn("must be no more than 253", status["message"])

    def test_the_path_and_the_body_must_agree(self):
        made = self.config_map("a")
        status = self.api("PUT", MAPS + "/b", made, expect=400)
        self.assertIn("the name of the object (a) does not match the name on the URL (b)", status["message"])
        status = self.api("POST", MAPS, {"metadata": {"name": "c", "namespace": "other"}}, expect=400)
        self.assertIn("the namespace of the provided object does not match the namespace sent on the request", status["message"])
        status = self.api("POST", MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}}, expect=400)
        self.assertIn("Secret", status["message"])

    def test_labels_annotations_and_finalizers_are_checked(self):
        status = self.api("POST", MAPS, {"metadata": {"name": "a", "labels": {"a b": "c"}, "annotations": {"-x": ""}}}, expect=422)
        self.assertIn('metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters', status["message"])
        self.assertIn('metadata.annotations: Invalid value: "-x"', status["message"])
        status = self.api("POST", MAPS, {"metadata": {"name": "a", "annotations": {"a": "x" * 300000}}}, expect=422)
        self.assertIn("metadata.annotations: Too long: may not be more than 262144 bytes", status["message"])
        status = self.api("POST", MAPS, {"metadata": {"name": "a", "finalizers": ["not qualified"]}}, expect=422)
        self.assertIn('metadata.finalizers: Invalid value: "not qualified"', status["message"])


class PreconditionTest(E2E):
    def test_an_update_of_an_old_revision_conflicts(self):
        made = self.config_map("a")
        self.api("PATCH", MAPS + "/a", {"data": {"k": "new"}}, headers=MERGE)
        status = self.api("PUT", MAPS + "/a", {**made, "data": {"k": "old"}}, expect=409)
        self.assertEqual(status["message"], 'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
                         "please apply your changes to the latest version and try again")
        self.assertEqual(status["details"], {"name": "a", "kind": "configmaps"})
        status = self.api("PATCH", MAPS + "/a", {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}, "data": {"k": "x"}},
                          expect=409, headers=MERGE)
        self.assertEqual(status["reason"], "Conflict")
        self.assertEqual(self.api("GET", MAPS + "/a")["data"], {"k": "new"})

    def test_an_update_with_another_uid_conflicts(self):
        made = self.config_map("a")
        made["metadata"]["uid"] = "33333333-3333-3333-3333-333333333333"
        del made["metadata"]["resourceVersion"]
        status = self.api("PUT", MAPS + "/a", made, expect=409)
        self.assertIn("Precondition failed: UID in precondition: 33333333-3333-3333-3333-333333333333", status["message"])

    def test_without_a_revision_an_update_is_unconditional(self):
        self.config_map("a")
        self.assertEqual(self.api("PUT", MAPS + "/a", {"metadata": {"name": "a"}, "data": {"k": "2"}})["data"], {"k": "2"})
        self.assertEqual(self.api("PUT", MAPS + "/new", {"metadata": {"name": "new"}}, expect=404)["message"], 'configmaps "new" not found')

    def test_a_revision_on_creation_is_refused(self):
        status = self.cluster.request("POST", self.path(MAPS), {"metadata": {"name": "a", "resourceVersion": "5"}}).json
        self.assertIn("resourceVersion should not be set on objects to be created", status["message"])

    def test_nothing_changes_when_nothing_is_changed(self):
        made = self.config_map("a", {"k": "1"})
        same = self.api("PUT", MAPS + "/a", made)
        self.assertEqual(same["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"])
        same = self.api("PATCH", MAPS + "/a", {"data": {"k": "1"}}, headers=MERGE)
        self.assertEqual(same["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"])

    def test_immutable_data(self):
        self.api("POST", MAPS, {"metadata": {"name": "a"}, "immutable": True, "data": {"k": "1"}}, expect=201)
        status = self.api("PATCH", MAPS + "/a", {"data": {"k": "2"}}, expect=422, headers=MERGE)
        self.assertIn("data: Forbidden: field is immutable when `immutable` is set", status["message"])


if __name__ == "__main__":
    main()
