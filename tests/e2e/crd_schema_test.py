"""Custom resources against their schema: defaults, pruning, validation in the words of Kubernetes, special types, rules."""
from crd_case import CrdCase
from harness import main, setUpModule, tearDownModule  # noqa: F401  pylint: disable=unused-import
from harness import real_only

MERGE = {"Content-Type": "application/merge-patch+json"}


def spec(properties, **more):
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties, **more}}}


class DefaultTest(CrdCase):
    def test_defaults_are_set_on_writing_and_on_reading_old_objects(self):
        name = self.define(self.version(schema=spec({
            "size": {"type": "integer", "default": 3},
            "inner": {"type": "object", "default": {}, "properties": {"on": {"type": "boolean", "default": True}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}}}})))
        made = self.widget(spec={"list": [{}, {"p": "UDP"}]})
        self.assertEqual(made["spec"], {"size": 3, "inner": {"on": True}, "list": [{"p": "TCP"}, {"p": "UDP"}]})
        self.assertNotIn("spec", self.widget("none"))
        self.kubectl("patch", "crd", name, "--type=json", "-p",
                     '[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/later",'
                     '"value":{"type":"string","default":"new"}}]')
        self.poll(lambda: self.api("GET", self.widgets("w"))["spec"].get("later") == "new", "the new default on an old object")

    def test_an_explicit_null_takes_the_default_unless_nullable(self):
        self.define(self.version(schema=spec({"a": {"type": "string", "default": "x"}, "b": {"type": "string", "nullable": True, "default": "y"}})))
        self.assertEqual(self.widget(spec={"a": None, "b": None})["spec"], {"a": "x", "b": None})

    def test_a_default_that_does_not_fit_is_refused(self):
        crd = self.crd([self.version(schema=spec({"a": {"type": "integer", "default": "text"}}))])
        status = self.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, expect=422)
        self.assertIn('.properties[a].default: Invalid value: "string": ', status["message"])


class PruningTest(CrdCase):
    def test_unknown_fields_are_dropped(self):
        self.define(self.version(schema=spec({"a": {"type": "string"}})))
        made = self.widget(spec={"a": "1", "b": "2"}, other={"x": 1})
        self.assertEqual(made["spec"], {"a": "1"})
        self.assertNotIn("other", made)

    def test_preserved_parts_stay_and_known_parts_in_them_are_pruned(self):
        self.define(self.version(schema=spec({"free": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"strict": {"type": "object", "properties": {"k": {"type": "string"}}}}}})))
        made = self.widget(spec={"free": {"any": [1, {"deep": True}], "strict": {"k": "v", "gone": 1}}, "dropped": 1})
        self.assertEqual(made["spec"], {"free": {"any": [1, {"deep": True}], "strict": {"k": "v"}}})

    def test_embedded_resources_keep_their_type_and_metadata(self):
        self.define(self.version(schema=spec({"tpl": {"type": "object", "x-kubernetes-embedded-resource": True,
                                                      "x-kubernetes-preserve-unknown-fields": True}})))
        made = self.widget(spec={"tpl": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"x": 1}}})
        self.assertEqual(made["spec"]["tpl"]["metadata"], {"name": "p", "labels": {"a": "b"}})
        status = self.widget("w2", expect=422, spec={"tpl": {"spec": {}}})
        self.assertIn("spec.tpl.apiVersion: Required value", status["message"])
        self.assertIn("spec.tpl.kind: Required value", status["message"])

    def test_field_validation_of_unknown_fields(self):
        self.define(self.version(schema=spec({"a": {"type": "string"}})))
        status = self.widget(query="?fieldValidation=Strict", expect=400, spec={"b": 1})
        self.assertIn('strict decoding error: unknown field "spec.b"', status["message"])
        body = {"apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"b": 1}}
        reply = self.cluster.request("POST", self.widgets() + "?fieldValidation=Warn", body)
        self.assertEqual((reply.status, reply.headers["Warning"]), (201, '299 - "unknown field \\"spec.b\\""'))
        body["metadata"]["name"] = "x"
        reply = self.cluster.request("POST", self.widgets() + "?fieldValidation=Ignore", body)
        self.assertEqual((reply.status, reply.headers["Warning"]), (201, None))


class ValidationTest(CrdCase):
    def refusals(self, schema, table, **more):
        """For each value of spec.f, the messages that it must be refused with (none: taken)."""
        self.define(self.version(schema=spec({"f": schema}, **more)))
        for number, (value, words) in enumerate(table):
            with self.subTest(value=value):
                reply = self.cluster.request("POST", self.widgets(), {
                    "apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"name": f"w{number}"}, "spec": {"f": value}})
                if words is None:
                    self.assertEqual(reply.status, 201, reply.body)
                    continue
                self.assertEqual(reply.status, 422, reply.body)
                status = reply.json
                self.assertEqual(status["message"], f'Widget.{self.group} "w{number}" is invalid: {words}')
                self.assertEqual((status["reason"], status["details"]["group"], status["details"]["kind"]), ("Invalid", self.group, "Widget"))

    def test_numbers(self):
        self.refusals({"type": "integer", "minimum": 2, "maximum": 9, "multipleOf": 2}, [
            (4, None),
            ("x", 'spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"'),
            (1.5, '[spec.f: Invalid value: "number": spec.f in body must be of type integer: "number", '
             "spec.f: Invalid value: 1.5: spec.f in body should be a multiple of 2, "
             "spec.f: Invalid value: 1.5: spec.f in body should be greater than or equal to 2]"),
            (0, "spec.f: Invalid value: 0: spec.f in body should be greater than or equal to 2"),
            (10, "spec.f: Invalid value: 10: spec.f in body should be less than or equal to 9"),
            (3, "spec.f: Invalid value: 3: spec.f in body should be a multiple of 2")])

    def test_strings(self):
        self.refusals({"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a"}, [
            ("abc", None),
            (1, 'spec.f: Invalid value: "integer": spec.f in body must be of type string: "integer"'),
            ("a", 'spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long'),
            ("abcde", "spec.f: Too long: may not be more than 4 bytes"),
            ("xyz", "spec.f: Invalid value: \"xyz\": spec.f in body should match '^a'")])

    def test_enumerations_and_formats(self):
        self.refusals({"type": "string", "enum": ["A", "B"]}, [
            ("A", None), ("C", 'spec.f: Unsupported value: "C": supported values: "A", "B"')])

    def test_date_time(self):
        self.refusals({"type": "string", "format": "date-time"}, [
            ("2024-01-02T03:04:05Z", None),
            ("yesterday", 'spec.f: Invalid value: "yesterday": spec.f in body must be of type date-time: "yesterday"')])

    def test_arrays(self):
        self.refusals({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}}, [
            (["a"], None),
            ([], "spec.f: Invalid value: 0: spec.f in body should have at least 1 items"),
            (["a", "b", "c"], "spec.f: Too many: 3: must have at most 2 items"),
            ([1], 'spec.f[0]: Invalid value: "integer": spec.f[0] in body must be of type string: "integer"'),
            ({}, 'spec.f: Invalid value: "object": spec.f in body must be of type array: "object"')])

    def test_lists_with_keys(self):
        self.refusals({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                       "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}}, [
            ([{"k": "a"}, {"k": "b"}], None),
            ([{"k": "a"}, {"k": "a"}], 'spec.f[1]: Duplicate value: {"k":"a"}'),
            ([{}], "spec.f[0].k: Required value")])

    def test_sets(self):
        self.refusals({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}, [
            (["a", "b"], None), (["a", "a"], 'spec.f[1]: Duplicate value: "a"')])

    def test_int_or_string(self):
        self.refusals({"x-kubernetes-int-or-string": True}, [
            (1, None), ("50%", None),
            (True, 'spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"')])

    def test_objects(self):
        self.refusals({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}}, [
            ({"a": 1}, None),
            ({"a": 1, "b": 2}, "spec.f: Too many: 2: must have at most 1 item"),
            ({"a": "x"}, 'spec.f.a: Invalid value: "string": spec.f.a in body must be of type integer: "string"')])

    def test_required_and_several_at_once(self):
        self.define(self.version(schema=spec({"a": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}, required=["a"])))
        status = self.widget(expect=422, spec={"n": 0})
        self.assertIn("spec.a: Required value", status["message"])
        self.assertIn("spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1", status["message"])
        self.assertEqual(sorted(cause["field"] for cause in status["details"]["causes"]), ["spec.a", "spec.n"])

    @real_only
    def test_rules_in_the_expression_language(self):
        schema = spec({"min": {"type": "integer"}, "max": {"type": "integer"}})
        schema["properties"]["spec"]["x-kubernetes-validations"] = [
            {"rule": "self.min <= self.max", "message": "min must not pass max"},
            {"rule": "self.max >= oldSelf.max", "message": "max may only grow"}]
        self.define(self.version(schema=schema))
        status = self.widget(expect=422, spec={"min": 3, "max": 1})
        self.assertIn("spec: Invalid value: min must not pass max", status["message"])
        self.widget(spec={"min": 1, "max": 5})
        status = self.api("PATCH", self.widgets("w"), {"spec": {"max": 4}}, expect=422, headers=MERGE)
        self.assertIn("max may only grow", status["message"])

    def test_an_update_is_validated_too_and_an_old_fault_may_stay(self):
        name = self.define(self.version(schema=spec({"a": {"type": "string"}, "b": {"type": "string"}})))
        self.widget(spec={"a": "long text"})
        self.kubectl("patch", "crd", name, "--type=json", "-p",
                     '[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/maxLength","value":2}]')
        self.poll(lambda: self.cluster.request("POST", self.widgets(), {
            "apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"generateName": "x"}, "spec": {"a": "long text"}}).status == 422,
            "the new rule")
        self.assertEqual(self.api("PATCH", self.widgets("w"), {"spec": {"b": "x"}}, headers=MERGE)["spec"], {"a": "long text", "b": "x"})
        self.api("PATCH", self.widgets("w"), {"spec": {"a": "another long text"}}, expect=422, headers=MERGE)


class ApplyTest(CrdCase):
    """Server-side apply merges custom resources as their schema says."""
    APPLY = {"Content-Type": "application/apply-patch+yaml"}

    def apply(self, manager, expect=200, query="", **fields):
        body = {"apiVersion": f"{self.group}/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": fields}
        return self.api("PATCH", self.widgets("w") + f"?fieldManager={manager}{query}", body, expect=expect, headers=self.APPLY)

    def test_lists_and_maps_by_their_kind(self):
        key = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}
        self.define(self.version(schema=spec({
            "keyed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": key},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "plain": {"type": "array", "items": {"type": "string"}},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}}})))
        self.apply("one", 201, keyed=[{"k": "a", "v": "1"}], set=["x"])
        merged = self.apply("two", keyed=[{"k": "b", "v": "2"}], set=["y"])
        self.assertEqual(merged["spec"], {"keyed": [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}], "set": ["x", "y"]})
        self.apply("one", keyed=[{"k": "a", "v": "1"}], set=["x"], plain=["p"], whole={"m": "1"})
        status = self.apply("two", 409, keyed=[{"k": "a", "v": "9"}], set=["y"], plain=["q"], whole={"n": "1"})
        self.assertEqual(sorted(cause["field"] for cause in status["details"]["causes"]), ['.spec.keyed[k="a"].v', ".spec.plain", ".spec.whole"])
        forced = self.apply("two", query="&force=true", plain=["q"], whole={"n": "1"})
        self.assertEqual(forced["spec"], {"keyed": [{"k": "a", "v": "1"}], "set": ["x"], "plain": ["q"], "whole": {"n": "1"}})


if __name__ == "__main__":
    main()
