// What was wrong before and is not touched may stay; what only looks so by its path may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema.h"
#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> ErrorsAfter(const Schema& schema, const Value& before, const Value& after) {
  return Lines(Validate(after, schema, {}, nullptr, &before));
}

struct Row {
  const char* schema;  // of spec
  const char* before;
  const char* after;
  std::vector<std::string> fields;  // of what is told
};

constexpr const char* kShortTexts = R"({"type":"object","properties":{
  "x":{"type":"string","maxLength":2},"y":{"type":"string","maxLength":2},
  "a":{"type":"object","additionalProperties":{"type":"string","maxLength":2}},"a.b":{"type":"string","maxLength":2},
  "list":{"type":"array","items":{"type":"string","maxLength":2}},"list[0]":{"type":"string","maxLength":2}}})";

TEST(ValidateBeforeTest, ForgivesWhatStandsWhereItStood) {
  const Row rows[] = {
      {kShortTexts, R"({"x":"long"})", R"({"x":"long","y":"ok"})", {}},
      {kShortTexts, R"({"x":"long"})", R"({"x":"longer"})", {"spec.x"}},
      {kShortTexts, R"({"x":"long"})", R"({"y":"long"})", {"spec.y"}},
      {kShortTexts, R"({"list":["ok","long"]})", R"({"list":["no","long"]})", {}},
      {kShortTexts, R"({"list":["long"]})", R"({"list":["ok","long"]})", {"spec.list[1]"}},
      // Keys whose text is another place's path.
      {kShortTexts, R"({"a":{"b":"long"}})", R"({"a":{"b":"long"},"a.b":"long"})", {"spec.a.b"}},
      {kShortTexts, R"({"a":{"b":"long"},"a.b":"ok"})", R"({"a":{"b":"long"},"a.b":"long"})", {"spec.a.b"}},
      {kShortTexts, R"({"a":{"b":"long"},"a.b":"x"})", R"({"a":{"b":"other"},"a.b":"x"})", {"spec.a.b"}},
      {kShortTexts, R"({"list":["long"]})", R"({"list":["long"],"list[0]":"long"})", {"spec.list[0]"}},
      {kShortTexts, R"({"a.b":"long"})", R"({"a.b":"long"})", {}},
      // A rule about a whole list or object.
      {R"({"type":"array","maxItems":1,"items":{"type":"integer"}})", "[1,2]", "[1,2]", {}},
      {R"({"type":"array","maxItems":1,"items":{"type":"integer"}})", "[1,2]", "[1,3]", {"spec"}},
      {R"({"type":"object","required":["k"],"properties":{"k":{"type":"integer"},"v":{"type":"integer"}}})",
       R"({"v":1})",
       R"({"v":1})",
       {"spec.k"}},
  };
  for (const Row& row : rows) {
    const Value before = json::Object({{"spec", FromJson(row.before)}});
    const Value after = json::Object({{"spec", FromJson(row.after)}});
    std::vector<std::string> fields;
    for (const FieldError& error : Validate(after, *SpecSchema(row.schema), {}, nullptr, &before)) {
      fields.push_back(error.field);
    }
    EXPECT_EQ(fields, row.fields) << row.before << " -> " << row.after;
  }
}

TEST(ValidateBeforeTest, WhatStoodInAnObjectStandsInNoList) {
  auto text = std::make_shared<Schema>();
  text->max_length = 2;
  Schema either;
  either.items = text;
  either.additional_properties = text;
  const Value object = FromJson(R"({"0":"long"})");
  const Value list = FromJson(R"(["long"])");
  EXPECT_EQ(ErrorsAfter(either, object, list).size(), 1U);
  EXPECT_EQ(ErrorsAfter(either, list, object).size(), 1U);
  EXPECT_THAT(ErrorsAfter(either, list, list), IsEmpty());
}

TEST(ValidateBeforeTest, AnItemThatWasThereMayHaveBecomeADuplicate) {
  const SchemaPtr schema = SpecSchema(R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})");
  const auto spec = [](const char* list) { return json::Object({{"spec", FromJson(list)}}); };
  EXPECT_THAT(ErrorsAfter(*schema, spec(R"(["x","y"])"), spec(R"(["y","y"])")),
              ElementsAre(R"(spec[1]: Duplicate value: "y")"));
  EXPECT_THAT(ErrorsAfter(*schema, spec(R"(["y","y"])"), spec(R"(["y","y"])")), IsEmpty());
}

TEST(ValidateBeforeTest, ANameThatNoFieldHasForgivesNothing) {
  // Rules that name no field are told with this one.
  Schema schema = *SpecSchema(R"({"type":"integer","not":{"enum":[3]}})");
  const Value before = FromJson(R"({"<nil>":1,"spec":2})");
  const Value after = FromJson(R"({"<nil>":1,"spec":3})");
  EXPECT_EQ(ErrorsAfter(schema, before, after).size(), 1U);
}

TEST(ValidateBeforeTest, OldFaultsHideNoNewOne) {
  const SchemaPtr schema = SpecSchema(R"({"type":"array","items":{"type":"string"}})");
  Value array = json::Array();
  for (size_t i = 0; i < 10 * kFieldErrorsMax; ++i) array.Push(0);
  const Value before = json::Object({{"spec", array}});
  EXPECT_THAT(ErrorsAfter(*schema, before, json::Object({{"spec", array}})), IsEmpty());
  array.Edit(array.size() - 1) = 7;
  EXPECT_THAT(
      ErrorsAfter(*schema, before, json::Object({{"spec", array}})),
      ElementsAre(R"(spec[999]: Invalid value: "integer": spec[999] in body must be of type string: "integer")"));
}

TEST(ValidateBeforeTest, AnAlternativeIsChosenAsWithoutWhatWasBefore) {
  const SchemaPtr schema = SpecSchema(
      R"({"type":"object","properties":{"a":{"type":"string","maxLength":2},"b":{"type":"string","maxLength":2}},)"
      R"("oneOf":[{"required":["a"]},{"required":["b"]}]})");
  const auto spec = [](const char* text) { return json::Object({{"spec", FromJson(text)}}); };
  EXPECT_THAT(ErrorsAfter(*schema, spec(R"({"a":"long"})"), spec(R"({"a":"long"})")), IsEmpty());
  EXPECT_EQ(ErrorsAfter(*schema, spec(R"({"a":"long"})"), spec(R"({"a":"long","b":"x"})")).size(), 1U);
}

}  // namespace
}  // namespace baton::api
