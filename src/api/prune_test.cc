#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/field_errors.h"
#include "api/schema.h"
#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;
using testing::ElementsAre;

struct Row {
  const char* what;
  const char* schema;  // of spec
  const char* value;
  const char* pruned;
  std::vector<std::string> unknown;
};

TEST(PruneTest, RemovesWhatTheSchemaDoesNotKnow) {
  const Row rows[] = {
      {"unknown fields go, at any depth",
       R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}})",
       R"({"spec":{"a":{"b":"x","c":1},"d":{}},"more":1})",
       R"({"spec":{"a":{"b":"x"}}})",
       {"more", "spec.a.c", "spec.d"}},
      {"items of an array",
       R"({"type":"object","properties":{"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}}})",
       R"({"spec":{"list":[{"a":"x"},{"a":"y","bar":1},[{"z":1}]]}})",
       R"({"spec":{"list":[{"a":"x"},{"a":"y"},[{}]]}})",
       {"spec.list[1].bar", "spec.list[2][0].z"}},
      {"any key of a map, but not inside",
       R"({"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}})",
       R"({"spec":{"k":{"a":"x","b":1},"l":{}}})",
       R"({"spec":{"k":{"a":"x"},"l":{}}})",
       {"spec.k.b"}},
      {"additionalProperties: true keeps what is inside",
       R"({"type":"object","additionalProperties":true})",
       R"({"spec":{"k":{"a":{"b":1}}}})",
       R"({"spec":{"k":{"a":{"b":1}}}})",
       {}},
      {"preserved unknown fields stay, known ones are still looked into",
       R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}})",
       R"({"spec":{"a":{"b":"x","c":1},"free":{"x":[{"y":1}]}}})",
       R"({"spec":{"a":{"b":"x"},"free":{"x":[{"y":1}]}}})",
       {"spec.a.c"}},
      {"an untyped field that preserves",
       R"({"x-kubernetes-preserve-unknown-fields":true})",
       R"({"spec":[{"a":1},{"b":[{}]}]})",
       R"({"spec":[{"a":1},{"b":[{}]}]})",
       {}},
      {"an array that preserves passes it on to its items",
       R"({"type":"array","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"object","properties":{"a":{"type":"object"}}}})",
       R"({"spec":[{"b":1,"a":{"c":1}}]})",
       R"({"spec":[{"a":{},"b":1}]})",
       {"spec[0].a.c"}},
      {"an embedded resource keeps who it is",
       R"({"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}})",
       R"({"spec":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","odd":1},"spec":{"a":1},"data":1}})",
       R"({"spec":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","odd":1},"spec":{}}})",
       {"spec.data", "spec.spec.a"}},
      {"so does the object itself",
       R"({"type":"object"})",
       R"({"apiVersion":"v1","kind":"X","metadata":{"odd":{}},"status":{}})",
       R"({"apiVersion":"v1","kind":"X","metadata":{"odd":{}}})",
       {"status"}},
      {"a value of another type than declared loses its fields too",
       R"({"type":"string"})",
       R"({"spec":{"a":1}})",
       R"({"spec":{}})",
       {"spec.a"}},
  };
  for (const Row& row : rows) {
    const SchemaPtr schema = SpecSchema(row.schema);
    Value value = FromJson(row.value);
    const Value before = value;
    std::vector<std::string> unknown;
    Prune(value, *schema, &unknown);
    EXPECT_EQ(value, FromJson(row.pruned)) << row.what;
    EXPECT_EQ(unknown, row.unknown) << row.what;
    EXPECT_EQ(before, FromJson(row.value)) << row.what;
    if (unknown.empty()) EXPECT_TRUE(value.SharesStorageWith(before)) << row.what;
  }
}

TEST(PruneTest, SharesWhatItDoesNotChange) {
  const SchemaPtr schema = SpecSchema(
      R"({"type":"object","properties":{"a":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
  Value value = FromJson(R"({"spec":{"a":{"k":[1,2,3]},"b":1}})");
  const Value before = value;
  Prune(value, *schema);
  EXPECT_TRUE(value["spec"]["a"].SharesStorageWith(before["spec"]["a"]));
}

TEST(PruneTest, KeepsTheUnknownPathsThatWereThere) {
  std::vector<std::string> unknown = {"zzz"};
  Value value = FromJson(R"({"b":1,"a":1})");
  Prune(value, *SpecSchema(R"({"type":"object"})"), &unknown);
  EXPECT_THAT(unknown, ElementsAre("zzz", "a", "b"));
}

TEST(PruneTest, TellsFewOfManyUnknownFieldsAndShortPaths) {
  const SchemaPtr schema = SpecSchema(R"({"type":"object","additionalProperties":{"type":"object"}})");
  Value value = FromJson(R"({"spec":{}})");
  Value& inner = value.Edit("spec").Edit(std::string(100'000, 'k'));
  inner = json::Object();
  for (int i = 0; i < 1000; ++i) inner.Set("f" + std::to_string(i), i);
  std::vector<std::string> unknown;
  Prune(value, *schema, &unknown);
  EXPECT_EQ(unknown.size(), kUnknownFieldsMax);
  for (const std::string& path : unknown) EXPECT_LE(path.size(), kShownPathBytesMax);
  EXPECT_TRUE(value["spec"].members().begin()->value().empty());
}

}  // namespace
}  // namespace baton::api
