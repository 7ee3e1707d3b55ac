#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema.h"
#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  const char* schema;               // of spec
  const char* spec;                 // the value
  std::vector<std::string> errors;  // "field: message"
};

void ExpectRows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    const Value value = json::Object({{"spec", FromJson(row.spec)}});
    EXPECT_EQ(Lines(Validate(value, *SpecSchema(row.schema))), row.errors) << row.schema << "\n" << row.spec;
  }
}

TEST(ValidateTest, ChecksTypes) {
  const Row rows[] = {
      {R"({"type":"integer"})", "3", {}},
      {R"({"type":"integer"})", "3.0", {}},
      {R"({"type":"integer"})",
       "\"3\"",
       {R"(spec: Invalid value: "string": spec in body must be of type integer: "string")"}},
      {R"({"type":"integer"})",
       "1e30",
       {R"(spec: Invalid value: "number": spec in body must be of type integer: "number")",
        R"(<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec)"}},
      {R"({"type":"integer","format":"int32"})",
       "true",
       {R"(spec: Invalid value: "": spec in body must be of type int32: "")"}},
      {R"({"type":"integer","format":"int32"})", "2147483647", {}},
      {R"({"type":"integer","format":"int32"})",
       "2147483648",
       {R"(<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec)"}},
      {R"({"type":"number"})", "3", {}},
      {R"({"type":"number"})", "[]", {R"(spec: Invalid value: "array": spec in body must be of type number: "array")"}},
      {R"({"type":"string"})",
       "{}",
       {R"(spec: Invalid value: "object": spec in body must be of type string: "object")"}},
      {R"({"type":"string","format":"date-time"})",
       "3",
       {R"(spec: Invalid value: "int64": spec in body must be of type date-time: "int64")"}},
      {R"({"type":"string","format":"date-time"})",
       "[]",
       {R"(spec: Invalid value: "array": spec in body must be of type string: "array")"}},
      {R"({"type":"boolean"})",
       "null",
       {R"(spec: Invalid value: "null": spec in body must be of type boolean: "null")"}},
      {R"({"type":"boolean","nullable":true})", "null", {}},
      {R"({"x-kubernetes-int-or-string":true})", "3", {}},
      {R"({"x-kubernetes-int-or-string":true})", "\"80%\"", {}},
      {R"({"x-kubernetes-int-or-string":true})",
       "true",
       {R"(spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean")"}},
      {R"({"x-kubernetes-preserve-unknown-fields":true})", "[1,{}]", {}},
      {R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}})",
       R"([{},{"a":1}])",
       {R"(spec[1].a: Invalid value: "integer": spec[1].a in body must be of type string: "integer")"}},
      {R"({"type":"object","additionalProperties":{"type":"string"}})",
       R"({"k.io/x":1})",
       {R"(spec.k.io/x: Invalid value: "integer": spec.k.io/x in body must be of type string: "integer")"}},
  };
  ExpectRows(rows);
}

TEST(ValidateTest, ChecksBounds) {
  const Row rows[] = {
      {R"({"type":"integer","maximum":5})",
       "6",
       {"spec: Invalid value: 6: spec in body should be less than or equal to 5"}},
      {R"({"type":"integer","maximum":5,"exclusiveMaximum":true})",
       "5",
       {"spec: Invalid value: 5: spec in body should be less than 5"}},
      {R"({"type":"integer","minimum":1})",
       "0",
       {"spec: Invalid value: 0: spec in body should be greater than or equal to 1"}},
      {R"({"type":"number","minimum":0.5,"exclusiveMinimum":true})",
       "0.5",
       {"spec: Invalid value: 0.5: spec in body should be greater than 0.5"}},
      {R"({"type":"integer","maximum":9007199254740992})",
       "9007199254740993",
       {"spec: Invalid value: 9007199254740993: spec in body should be less than or equal to 9007199254740992"}},
      {R"({"type":"integer","multipleOf":2})", "3", {"spec: Invalid value: 3: spec in body should be a multiple of 2"}},
      {R"({"type":"number","multipleOf":0.1})", "0.3", {}},
      {R"({"type":"number","multipleOf":0.1})",
       "0.35",
       {"spec: Invalid value: 0.35: spec in body should be a multiple of 0.1"}},
      {R"({"type":"string","minLength":1})",
       R"("")",
       {R"(spec: Invalid value: "": spec in body should be at least 1 chars long)"}},
      {R"({"type":"string","maxLength":2})", R"("äö")", {}},
      {R"({"type":"string","maxLength":2})", R"("abc")", {"spec: Too long: may not be more than 2 bytes"}},
      {R"({"type":"string","pattern":"^a$"})",
       R"("b")",
       {R"(spec: Invalid value: "b": spec in body should match '^a$')"}},
      {R"({"type":"string","pattern":"a"})", R"("bab")", {}},
      {R"({"type":"array","items":{"type":"integer"},"maxItems":3})",
       "[1,2,3,4]",
       {"spec: Too many: 4: must have at most 3 items"}},
      {R"({"type":"array","items":{"type":"integer"},"maxItems":1})",
       "[1,2]",
       {"spec: Too many: 2: must have at most 1 item"}},
      {R"({"type":"array","items":{"type":"integer"},"minItems":2})",
       "[1]",
       {"spec: Invalid value: 1: spec in body should have at least 2 items"}},
      {R"({"type":"object","minProperties":1})",
       "{}",
       {"spec: Invalid value: 0: spec in body should have at least 1 properties"}},
      {R"({"type":"object","maxProperties":1})", R"({"a":1,"b":2})", {"spec: Too many: 2: must have at most 1 item"}},
      {R"({"type":"object","required":["a","b"]})", R"({"b":null})", {"spec.a: Required value"}},
      {R"({"type":"string","enum":["A","B"]})",
       R"("x")",
       {R"(spec: Unsupported value: "x": supported values: "A", "B")"}},
      {R"({"type":"integer","enum":[1,2]})", "3", {R"(spec: Unsupported value: 3: supported values: "1", "2")"}},
      {R"({"type":"integer","enum":[1,2]})", "2.0", {}},
      {R"({"type":"string","nullable":true,"enum":["A"]})",
       "null",
       {R"(spec: Unsupported value: "null": supported values: "A")"}},
  };
  ExpectRows(rows);
}

TEST(ValidateTest, ChecksCombinations) {
  constexpr const char* kOneOf =
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})";
  constexpr const char* kAnyOf =
      R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{"minimum":5}}}]})";
  const Row rows[] = {
      {kOneOf, R"({"a":1})", {}},
      {kOneOf, R"({"b":1})", {}},  // errors of the alternative that failed first are no errors
      {kOneOf,
       R"({})",
       {R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid)",
        "spec.a: Required value"}},
      {kOneOf,
       R"({"a":1,"b":2})",
       {R"(<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives)"}},
      {kAnyOf, R"({"b":7})", {}},
      {kAnyOf,
       R"({"b":1})",
       {R"(<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf))",
        "spec.b: Invalid value: 1: spec.b in body should be greater than or equal to 5"}},
      {R"({"type":"integer","allOf":[{"minimum":1},{"maximum":0}]})",
       "1",
       {"spec: Invalid value: 1: spec in body should be less than or equal to 0",
        R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf))"}},
      {R"({"type":"integer","allOf":[{"minimum":1}]})",
       "0",
       {"spec: Invalid value: 0: spec in body should be greater than or equal to 1",
        R"(<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated)"}},
      {R"({"type":"string","not":{"enum":["a"]}})",
       R"("a")",
       {R"(<nil>: Invalid value: "": "spec" must not validate the schema (not))"}},
      {R"({"type":"string","not":{"enum":["a"]}})", R"("b")", {}},
      {R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})", R"("b")", {}},
  };
  ExpectRows(rows);
}

TEST(ValidateTest, ChecksListTypes) {
  constexpr const char* kMap =
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"v":{"type":"integer"}}}})";
  constexpr const char* kTwoKeys =
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object","required":["port"],"properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"}}}})";
  const Row rows[] = {
      {R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})",
       R"(["a","b","a","a"])",
       {R"(spec[2]: Duplicate value: "a")"}},
      {R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}})", "[1,2]", {}},
      {kMap, R"([{"name":"a"},{"name":"b"}])", {}},
      {kMap, R"([{"name":"a","v":1},{"name":"a","v":2}])", {R"(spec[1]: Duplicate value: {"name":"a"})"}},
      {kTwoKeys, R"([{"port":1,"protocol":"TCP"},{"port":1,"protocol":"UDP"}])", {}},
      {kTwoKeys, R"([{"port":1},{"port":1}])", {R"(spec[1]: Duplicate value: {"port":1})"}},
      {R"({"type":"object","additionalProperties":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}}})",
       R"({"k":[1,1]})",
       {R"(spec[k][1]: Duplicate value: 1)"}},
      {R"({"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true})",
       R"({"kind":"Pod"})",
       {"spec.apiVersion: Required value: must not be empty"}},
  };
  ExpectRows(rows);
}

TEST(ValidateTest, ChecksFormats) {
  struct Format {
    const char* name;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  };
  const Format formats[] = {
      {"date-time",
       {"2024-02-29T23:59:59Z", "2024-01-01t00:00:00.5+01:00"},
       {"2023-02-29T00:00:00Z", "2024-01-01", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00"}},
      {"date", {"2024-02-29"}, {"2024-13-01", "2024-1-1", ""}},
      {"duration", {"1h30m", "22 ns", "3 days"}, {"", "5 parsecs", "h"}},
      {"byte", {"", "aGk=", "YQ==", "YWJj"}, {"a", "a===", "a b=", "=AAA"}},
      {"ipv4", {"10.0.0.1"}, {"10.0.0.256", "::1", "10.0.0", ""}},
      {"ipv6", {"::1", "fe80::1"}, {"10.0.0.1", ":::", "fe80::1%eth0"}},
      {"cidr", {"10.0.0.0/8", "::/0"}, {"10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/-1"}},
      {"mac", {"00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455"}, {"00:11:22:33:44", "zz:11:22:33:44:55"}},
      {"uuid",
       {"6F1C2A7E-3d2b-4b53-9a5e-1f0c7d9e8b21", "6f1c2a7e3d2b4b539a5e1f0c7d9e8b21"},
       {"6f1c2a7e-3d2b", "", "g f1c2a7e3d2b4b539a5e1f0c7d9e8b21"}},
      {"uuid4",
       {"6f1c2a7e-3d2b-4b53-9a5e-1f0c7d9e8b21"},
       {"6f1c2a7e-3d2b-3b53-9a5e-1f0c7d9e8b21", "6f1c2a7e-3d2b-4b53-1a5e-1f0c7d9e8b21"}},
      {"hostname", {"a.example.com", "x"}, {"-a", "a..b", "a_b", ""}},
      {"uri", {"https://example.com/a?b#c", "/path", "urn:x:y"}, {"", "path", "http://a b/", "http://x/%zz"}},
      {"email", {"a@example.com", "A B <a@example.com>"}, {"a", "a@", "@b", "a@b@c"}},
      {"isbn", {"0321751043", "978-0321751041"}, {"0321751044", "978-0321751042", ""}},
      {"creditcard", {"4111 1111 1111 1111"}, {"4111111111111112", ""}},
      {"ssn", {"123-45-6789"}, {"123-456-789"}},
      {"hexcolor", {"#FFFFFF", "abc"}, {"#ffff", "#ggg"}},
      {"rgbcolor", {"rgb(255,0,12)"}, {"rgb(256,0,0)", "rgb(1,2)", "1,2,3"}},
      {"bsonobjectid", {"507f1f77bcf86cd799439011"}, {"507f"}},
      {"quantity", {"1.5Gi", "100m"}, {"1.5Gx", ""}},
      {"k8s-short-name", {"my-name"}, {"My-name", "a.b"}},
      {"password", {"anything"}, {}},
      {"no-such-format", {"anything"}, {}},
      {"int32", {"anything"}, {}},  // means nothing for a string
  };
  for (const Format& format : formats) {
    Schema schema;
    schema.type = SchemaType::kString;
    schema.format = format.name;
    for (const char* text : format.good) EXPECT_THAT(Validate(text, schema), IsEmpty()) << format.name << " " << text;
    for (const char* text : format.bad) {
      const std::string message =
          StrCat("Invalid value: ", Quote(text), ":  in body must be of type ", format.name, ": ", Quote(text));
      EXPECT_THAT(Lines(Validate(text, schema)), ElementsAre(StrCat("<nil>: ", message))) << format.name;
    }
  }
}

TEST(ValidateTest, ChecksUniqueItems) {
  Schema schema;
  schema.type = SchemaType::kArray;
  schema.unique_items = true;
  EXPECT_THAT(Validate(FromJson("[1,2,1.0]"), schema), IsEmpty());
  EXPECT_THAT(Lines(Validate(FromJson("[{},2,{}]"), schema, "spec.x")),
              ElementsAre("spec.x: Invalid value: \"\":  in body shouldn't contain duplicates"));
}

TEST(ValidateTest, PutsThePathInFrontOfEveryField) {
  const SchemaPtr schema = SpecSchema(R"({"type":"object","required":["a"]})");
  EXPECT_THAT(Lines(Validate(FromJson(R"({"spec":{}})"), *schema, "template")),
              ElementsAre("template.spec.a: Required value"));
}

TEST(ValidateTest, StopsAtTheMostErrors) {
  Value array = json::Array();
  for (int i = 0; i < 1000; ++i) array.Push(i);
  const SchemaPtr schema = SpecSchema(R"({"type":"array","items":{"type":"string"}})");
  EXPECT_EQ(Validate(json::Object({{"spec", array}}), *schema).size(), kFieldErrorsMax);
}

TEST(ValidateTest, SaysSoWhenAValueIsTooDeepToBeChecked) {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kArray;
  schema->items = schema;
  Value deep = json::Array();
  for (size_t i = 0; i < json::kMaxDepth + 1; ++i) deep = json::Array({deep});
  const auto errors = Validate(deep, *schema);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].type, FieldError::Type::kInternal);
  auto none = std::make_shared<Schema>();
  none->negated = schema;  // what could not be checked is not valid, also under `not`
  EXPECT_FALSE(Validate(deep, *none).empty());
  schema->items = nullptr;
}

TEST(ValidateTest, NamesTheReasonOfEveryType) {
  using Type = FieldError::Type;
  const std::pair<Type, std::string_view> rows[] = {
      {Type::kRequired, "FieldValueRequired"},         {Type::kInvalid, "FieldValueInvalid"},
      {Type::kNotSupported, "FieldValueNotSupported"}, {Type::kTypeInvalid, "FieldValueTypeInvalid"},
      {Type::kTooLong, "FieldValueTooLong"},           {Type::kTooMany, "FieldValueTooMany"},
      {Type::kDuplicate, "FieldValueDuplicate"},       {Type::kForbidden, "FieldValueForbidden"},
      {Type::kNotFound, "FieldValueNotFound"},         {Type::kInternal, "InternalError"},
  };
  for (const auto& [type, reason] : rows) EXPECT_EQ(FieldError{.type = type}.reason(), reason);
}

TEST(ValidateTest, FindsThePropertyBeforeTheMap) {
  Schema schema;
  schema.properties.emplace("a", std::make_shared<Schema>());
  EXPECT_EQ(schema.Property("a"), schema.properties["a"].get());
  EXPECT_EQ(schema.Property("b"), nullptr);
  schema.additional_properties = std::make_shared<Schema>();
  EXPECT_EQ(schema.Property("b"), schema.additional_properties.get());
}

}  // namespace
}  // namespace baton::api
