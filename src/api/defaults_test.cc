#include <gtest/gtest.h>

#include "api/schema.h"
#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;

struct Row {
  const char* what;
  const char* schema;  // of spec
  const char* value;
  const char* defaulted;
};

TEST(DefaultsTest, FillsInWhatIsAbsentWhereTheParentExists) {
  constexpr const char* kNested =
      R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"integer","default":1}}}}})";
  constexpr const char* kParent =
      R"({"type":"object","default":{},"properties":{"a":{"type":"object","default":{"c":2},"properties":{"b":{"type":"integer","default":1},"c":{"type":"integer"}}}}})";
  constexpr const char* kList =
      R"({"type":"array","items":{"type":"object","default":{},"properties":{"a":{"type":"string","default":"x"}}}})";
  const Row rows[] = {
      {"not in an absent parent", kNested, R"({})", R"({})"},
      {"nor in one that is absent further down", kNested, R"({"spec":{}})", R"({"spec":{}})"},
      {"in an empty parent", kNested, R"({"spec":{"a":{}}})", R"({"spec":{"a":{"b":1}}})"},
      {"not over a value", kNested, R"({"spec":{"a":{"b":0}}})", R"({"spec":{"a":{"b":0}}})"},
      {"null where it may not be counts as absent", kNested, R"({"spec":{"a":{"b":null}}})",
       R"({"spec":{"a":{"b":1}}})"},
      {"and goes when there is no default", kNested, R"({"spec":{"a":null}})", R"({"spec":{}})"},
      {"null where it may be stays",
       R"({"type":"object","properties":{"a":{"type":"string","nullable":true,"default":"x"}}})",
       R"({"spec":{"a":null}})", R"({"spec":{"a":null}})"},
      {"defaults of defaults", kParent, R"({})", R"({"spec":{"a":{"b":1,"c":2}}})"},
      {"a default does not merge into what is there", kParent, R"({"spec":{"a":{"c":3}}})",
       R"({"spec":{"a":{"b":1,"c":3}}})"},
      {"items", kList, R"({"spec":[{},{"a":"y"},1]})", R"({"spec":[{"a":"x"},{"a":"y"},1]})"},
      {"a null item is replaced", kList, R"({"spec":[null]})", R"({"spec":[{"a":"x"}]})"},
      {"a null item without a default stays, for the others keep their places",
       R"({"type":"array","items":{"type":"string"}})", R"({"spec":["a",null]})", R"({"spec":["a",null]})"},
      {"values of a map",
       R"({"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}})",
       R"({"spec":{"k":{},"l":null}})", R"({"spec":{"k":{"a":"x"}}})"},
      {"a null value of a map is replaced",
       R"({"type":"object","additionalProperties":{"type":"integer","default":7}})", R"({"spec":{"k":null}})",
       R"({"spec":{"k":7}})"},
  };
  for (const Row& row : rows) {
    const SchemaPtr schema = SpecSchema(row.schema);
    Value value = FromJson(row.value);
    const Value before = value;
    ApplyDefaults(value, *schema);
    EXPECT_EQ(value, FromJson(row.defaulted)) << row.what;
    EXPECT_EQ(before, FromJson(row.value)) << row.what;
    if (value == before) EXPECT_TRUE(value.SharesStorageWith(before)) << row.what;
    const Value once = value;
    ApplyDefaults(value, *schema);
    EXPECT_TRUE(value.SharesStorageWith(once)) << row.what;
  }
}

TEST(DefaultsTest, LeavesNullWhereAnythingGoes) {
  Schema schema;
  schema.type = SchemaType::kObject;
  schema.properties.emplace("raw", std::make_shared<Schema>());
  Value value = FromJson(R"({"raw":null})");
  ApplyDefaults(value, schema);
  EXPECT_EQ(value, FromJson(R"({"raw":null})"));
}

TEST(DefaultsTest, EndsOnATypeThatContainsItself) {
  auto schema = std::make_shared<Schema>();
  schema->type = SchemaType::kObject;
  schema->default_value = json::Object();
  schema->properties.emplace("again", schema);
  Value value = json::Object();
  ApplyDefaults(value, *schema);
  EXPECT_TRUE(value["again"]["again"].is_object());
  schema->properties = {};  // breaks the cycle, so that nothing leaks
}

}  // namespace
}  // namespace baton::api
