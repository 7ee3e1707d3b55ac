#include "api/crd_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> ErrorsOf(std::string_view schema) {
  return Lines(ReadCrdSchema(FromJson(schema), "s").errors);
}

std::vector<std::string> ErrorsOfSpec(std::string_view spec) {
  return ErrorsOf(StrCat(R"({"type":"object","properties":{"spec":)", spec, "}}"));
}

TEST(CrdSchemaTest, ReadsEveryKeyword) {
  const SchemaPtr root = SpecSchema(R"({
    "type":"object","description":"d","nullable":true,"required":["a"],"minProperties":1,"maxProperties":9,
    "x-kubernetes-map-type":"atomic","x-kubernetes-validations":[{"rule":"true"},{"rule":"self.a"}],
    "properties":{
      "a":{"type":"string","format":"ipv4","pattern":"^1","minLength":1,"maxLength":20,"enum":["1.1.1.1"],"default":"1.1.1.1"},
      "n":{"type":"number","minimum":1,"maximum":2.5,"exclusiveMinimum":true,"exclusiveMaximum":true,"multipleOf":0.5},
      "l":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"x-kubernetes-list-type":"set"},
      "m":{"type":"object","additionalProperties":{"type":"integer"}},
      "e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
      "p":{"x-kubernetes-int-or-string":true}},
    "allOf":[{"required":["a"]}],"anyOf":[{"required":["a"]}],"oneOf":[{"required":["a"]}],"not":{"required":["z"]}})");
  const Schema& spec = *root->Property("spec");
  EXPECT_EQ(spec.type, SchemaType::kObject);
  EXPECT_EQ(spec.description, "d");
  EXPECT_TRUE(spec.nullable);
  EXPECT_THAT(spec.required, ElementsAre("a"));
  EXPECT_EQ(spec.min_properties, 1U);
  EXPECT_EQ(spec.max_properties, 9U);
  EXPECT_EQ(spec.map_type, MapType::kAtomic);
  EXPECT_EQ(spec.cel_rules, 2U);
  EXPECT_EQ(spec.all_of.size() + spec.any_of.size() + spec.one_of.size(), 3U);
  ASSERT_NE(spec.negated, nullptr);
  const Schema& a = *spec.Property("a");
  EXPECT_EQ(a.format, "ipv4");
  EXPECT_EQ(a.pattern, "^1");
  EXPECT_EQ(a.min_length, 1U);
  EXPECT_EQ(a.max_length, 20U);
  EXPECT_EQ(a.enum_values, std::vector<Value>{"1.1.1.1"});
  EXPECT_EQ(a.default_value, Value("1.1.1.1"));
  const Schema& n = *spec.Property("n");
  EXPECT_EQ(n.minimum, 1.0);
  EXPECT_EQ(n.maximum, 2.5);
  EXPECT_TRUE(n.exclusive_minimum && n.exclusive_maximum);
  EXPECT_EQ(n.multiple_of, 0.5);
  const Schema& l = *spec.Property("l");
  EXPECT_EQ(l.items->type, SchemaType::kString);
  EXPECT_EQ(l.list_type, ListType::kSet);
  EXPECT_EQ(l.min_items, 1U);
  EXPECT_EQ(l.max_items, 2U);
  EXPECT_EQ(spec.Property("m")->additional_properties->type, SchemaType::kInteger);
  EXPECT_TRUE(spec.Property("e")->embedded_resource && spec.Property("e")->preserve_unknown_fields);
  EXPECT_EQ(spec.Property("p")->type, SchemaType::kIntOrString);
}

TEST(CrdSchemaTest, CountsCelRules) {
  const auto read = ReadCrdSchema(
      FromJson(
          R"({"type":"object","x-kubernetes-validations":[{"rule":"a"}],"properties":{"a":{"type":"string","x-kubernetes-validations":[{"rule":"b"},{"rule":"c"}]}}})"),
      "s");
  EXPECT_EQ(read.cel_rules, 3U);
  EXPECT_NE(read.schema, nullptr);
}

TEST(CrdSchemaTest, TellsWhatIsNotStructural) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({})", "s.type: Required value: must not be empty at the root"},
      {R"({"type":"array","items":{"type":"string"}})", "s.type: Invalid value: \"array\": must be object at the root"},
      {R"({"type":"object","additionalProperties":{"type":"string"}})",
       "s.additionalProperties: Forbidden: must not be used at the root"},
      {R"({"type":"object","properties":{"a":{}}})",
       "s.properties[a].type: Required value: must not be empty for specified object fields"},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{}}}})",
       "s.properties[a].items.type: Required value: must not be empty for specified array items"},
      {R"({"type":"object","properties":{"a":{"type":"array"}}})",
       "s.properties[a].items: Required value: must be specified"},
      {R"({"type":"object","properties":{"a":{"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})",
       "s.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true"},
      {R"({"type":"object","properties":{"a":{"type":"string","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})",
       "s.properties[a].type: Invalid value: \"string\": must be object if x-kubernetes-embedded-resource is true"},
      {R"({"type":"object","properties":{"a":{"type":"object","x-kubernetes-embedded-resource":true}}})",
       "s.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true "
       "without x-kubernetes-preserve-unknown-fields"},
      {R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"x-kubernetes-preserve-unknown-fields":true}}})",
       "s.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if "
       "x-kubernetes-int-or-string is true"},
      {R"({"type":"object","properties":{"kind":{"type":"integer"}}})",
       "s.properties[kind].type: Invalid value: \"integer\": must be string"},
      {R"({"type":"object","properties":{"metadata":{"type":"string"}}})",
       "s.properties[metadata].type: Invalid value: \"string\": must be object"},
      {R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}})",
       "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is "
       "implicitly specified"},
      {R"({"type":"object","anyOf":[{"type":"object"}]})",
       "s.anyOf[0].type: Forbidden: must be empty to be structural"},
      {R"({"type":"object","not":{"default":1}})", "s.not.default: Forbidden: must be undefined to be structural"},
      {R"({"type":"object","allOf":[{"nullable":true}]})",
       "s.allOf[0].nullable: Forbidden: must be false to be structural"},
      {R"({"type":"object","oneOf":[{"additionalProperties":true}]})",
       "s.oneOf[0].additionalProperties: Forbidden: must be undefined to be structural"},
      {R"({"type":"object","oneOf":[{"description":"x"}]})",
       "s.oneOf[0].description: Forbidden: must be empty to be structural"},
      {R"({"type":"object","oneOf":[{"properties":{"a":{"minimum":1}}}]})",
       "s.properties[a]: Required value: because it is defined in s.oneOf[0].properties[a]"},
      {R"({"type":"object","oneOf":[{"properties":{"metadata":{}}}],"properties":{"metadata":{"type":"object"}}})",
       "s.oneOf[0].properties[metadata]: Forbidden: must not be specified in a nested context"},
      {R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"not":{"items":{"x-kubernetes-list-type":"set"}}}}})",
       "s.properties[a].not.items.x-kubernetes-list-type: Forbidden: must be undefined to be structural"},
  };
  for (const auto& [schema, message] : rows) {
    const CrdSchemaResult read = ReadCrdSchema(FromJson(schema), "s");
    EXPECT_EQ(read.schema, nullptr) << schema;
    EXPECT_THAT(read.not_structural, Contains(message)) << schema;
    EXPECT_THAT(Lines(read.errors), Contains(message)) << schema;
  }
}

TEST(CrdSchemaTest, AcceptsTheFormsThatKubernetesAccepts) {
  for (
      const char* schema : {
          R"({"type":"object"})",
          R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})",
          R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","pattern":"^a"}}}}})",
          R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}}})",
          R"({"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"pattern":"x"}]}}})",
          R"({"type":"object","title":"t","example":1,"externalDocs":{"url":"x"},"unknown":1,"items":null})",
      }) {
    EXPECT_THAT(ErrorsOf(schema), IsEmpty()) << schema;
  }
}

TEST(CrdSchemaTest, RefusesWhatKubernetesRefuses) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"type":"string","$ref":"#/x"})", "$ref: Forbidden: $ref is not supported"},
      {R"({"type":"string","id":"x"})", "id: Forbidden: id is not supported"},
      {R"({"type":"string","$schema":"x"})", "$schema: Forbidden: schema is not supported"},
      {R"({"type":"object","definitions":{"a":{}}})", "definitions: Forbidden: definitions is not supported"},
      {R"({"type":"object","dependencies":{"a":["b"]}})", "dependencies: Forbidden: dependencies is not supported"},
      {R"({"type":"object","patternProperties":{"a":{}}})",
       "patternProperties: Forbidden: patternProperties is not supported"},
      {R"({"type":"array","items":{"type":"string"},"additionalItems":false})",
       "additionalItems: Forbidden: additionalItems is not supported"},
      {R"({"type":"array","items":[{"type":"string"}]})",
       "items: Forbidden: items must be a schema object and not an array"},
      {R"({"type":"null"})", "type: Forbidden: type cannot be set to null, use nullable as an alternative"},
      {R"({"type":"text"})",
       R"(type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string")"},
      {R"({"type":"array","items":{"type":"string"},"uniqueItems":true})",
       "uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic"},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}})",
       "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"},
      {R"({"type":"object","x-kubernetes-preserve-unknown-fields":false})",
       "x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined"},
      {R"({"type":"string","x-kubernetes-map-type":"atomic"})",
       R"(type: Invalid value: "string": must be object if x-kubernetes-map-type is specified)"},
      {R"({"type":"object","x-kubernetes-map-type":"x"})",
       R"(x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular")"},
      {R"({"type":"object","x-kubernetes-list-type":"set"})",
       R"(type: Invalid value: "object": must be array if x-kubernetes-list-type is specified)"},
      {R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"x"})",
       R"(x-kubernetes-list-type: Unsupported value: "x": supported values: "atomic", "set", "map")"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"set"})",
       R"(items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set)"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-map-keys":["a"]})",
       "x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map"})",
       "x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"},
      {R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]})",
       R"(items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map)"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]})",
       R"(x-kubernetes-list-map-keys: Invalid value: ["a"]: entries must all be names of item properties)"},
      {R"({"type":"array","items":{"type":"object","required":["a"],"properties":{"a":{"type":"object"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]})",
       R"(items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map)"},
      {R"({"type":"array","items":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","a"]})",
       R"(x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries)"},
      {R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"]})",
       "items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a "
       "default or be a required property"},
      {R"({"type":"string","multipleOf":0})", "multipleOf: Invalid value: 0: must be greater than 0"},
      {R"({"type":"object","required":"a"})", R"(required: Invalid value: "a": must be an array)"},
      {R"({"type":"object","required":[1]})", "required[0]: Invalid value: 1: must be a string"},
      {R"({"type":"object","properties":[]})", "properties: Invalid value: []: must be an object"},
      {R"({"type":"string","maxLength":-1})", "maxLength: Invalid value: -1: must be an integer that is not negative"},
      {R"({"type":"integer","minimum":"1"})", R"(minimum: Invalid value: "1": must be a number)"},
      {R"({"type":"string","nullable":"yes"})", R"(nullable: Invalid value: "yes": must be a boolean)"},
      {R"({"type":7})", "type: Invalid value: 7: must be a string"},
      {R"({"type":"integer","default":"x"})",
       R"(default: Invalid value: "string":  in body must be of type integer: "string")"},
      {R"({"type":"object","default":{"x":1}})", R"(default: Invalid value: {"x":1}: must not have unknown fields)"},
  };
  for (const auto& [spec, message] : rows) {
    EXPECT_THAT(ErrorsOfSpec(spec), Contains(StrCat("s.properties[spec].", message))) << spec;
  }
  EXPECT_THAT(ErrorsOf("[]"), ElementsAre("s: Invalid value: []: must be an object"));
  EXPECT_THAT(ErrorsOf(R"({"type":"object","properties":{"metadata":{"type":"object","default":{}}}})"),
              Contains("s.properties[metadata].default: Forbidden: must not be set in top-level metadata"));
  EXPECT_THAT(ErrorsOfSpec(R"({"type":"string","pattern":"(?<a"})"),
              ElementsAre(HasSubstr("must be a valid regular expression, but isn't: ")));
}

TEST(CrdSchemaTest, HoldsItsLimits) {
  std::string deep = R"({"type":"string"})";
  for (size_t i = 0; i < kSchemaDepthMax; ++i) deep = StrCat(R"({"type":"object","properties":{"a":)", deep, "}}");
  EXPECT_THAT(ErrorsOf(deep), ElementsAre(HasSubstr("nested deeper than 100")));

  json::Value wide = json::Array();
  for (size_t i = 0; i < kSchemaNodesMax; ++i) wide.Push(json::Object());
  const auto read = ReadCrdSchema(json::Object({{"type", "object"}, {"allOf", wide}}), "s");
  EXPECT_THAT(Lines(read.errors), ElementsAre(HasSubstr("more than 100000 parts")));

  const std::string long_key(kSchemaPathMax, 'k');
  const auto too_long = ReadCrdSchema(
      json::Object({{"type", "object"}, {"properties", json::Object({{long_key, FromJson(R"({"type":"string"})")}})}}),
      "s");
  EXPECT_THAT(Lines(too_long.errors), ElementsAre(HasSubstr("must not be longer than 4096 bytes")));
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(CrdSchemaTest, WritesWhatItReads) {
  const Value crd = FromJson(ReadText(BATON_SOURCE_DIR "/bench/data/crd.json"));
  const Value& large = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  ASSERT_TRUE(large.is_object());
  const Value schemas[] = {
      json::Object({{"type", "object"}, {"properties", json::Object({{"spec", large}})}}),
      FromJson(R"({"type":"object","description":"d","required":["a"],"properties":{
        "a":{"type":"string","nullable":true,"format":"byte","pattern":"x","minLength":1,"maxLength":2,"enum":["x",null]},
        "b":{"type":"number","minimum":1,"maximum":2.5,"exclusiveMinimum":true,"exclusiveMaximum":true,"multipleOf":0.5},
        "c":{"type":"array","items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"minItems":1,"maxItems":2},
        "d":{"type":"object","additionalProperties":{"type":"integer"},"x-kubernetes-map-type":"atomic","minProperties":1,"maxProperties":2},
        "e":{"type":"object","additionalProperties":true},
        "f":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"default":"80%"},
        "g":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
        "h":{"type":"boolean","default":false,"not":{"enum":[true]},"allOf":[{"enum":[false]}],"oneOf":[{"enum":[false]}]}}})"),
  };
  for (const Value& schema : schemas) {
    const CrdSchemaResult read = ReadCrdSchema(schema, "s");
    ASSERT_THAT(Lines(read.errors), IsEmpty());
    const Value written = ToCrdSchema(*read.schema);
    EXPECT_EQ(written, schema);
    const CrdSchemaResult again = ReadCrdSchema(written, "s");
    ASSERT_NE(again.schema, nullptr);
    EXPECT_EQ(ToCrdSchema(*again.schema), written);
  }
}

}  // namespace
}  // namespace baton::api
