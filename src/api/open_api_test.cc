#include <gtest/gtest.h>

#include "api/crd_schema.h"
#include "api/schema.h"
#include "api/schema_for_test.h"

namespace baton::api {
namespace {

using json::Value;

std::shared_ptr<Schema> Make(SchemaType type, std::string name = "") {
  auto schema = std::make_shared<Schema>();
  schema->type = type;
  schema->name = std::move(name);
  return schema;
}

// A Pod with one of everything that only one of the versions can say.
std::shared_ptr<Schema> Pod() {
  auto container = Make(SchemaType::kObject, "io.x.Container");
  auto list = Make(SchemaType::kArray);
  list->items = container;
  list->list_type = ListType::kMap;
  list->list_map_keys = {"name"};
  list->patch_merge = true;
  list->patch_merge_key = "name";
  auto strategy = Make(SchemaType::kObject, "io.x.Strategy");
  auto note = Make(SchemaType::kString);
  note->nullable = true;
  auto volumes = Make(SchemaType::kObject);
  volumes->patch_retain_keys = true;
  volumes->preserve_unknown_fields = true;
  volumes->properties.emplace("a", Make(SchemaType::kString));
  auto pod = Make(SchemaType::kObject, "io.x.Pod");
  pod->description = "A pod.";
  pod->required = {"containers"};
  pod->properties = {{"containers", list}, {"strategy", strategy}, {"note", note}, {"volumes", volumes}};
  pod->one_of = {Make(SchemaType::kAny)};
  return pod;
}

TEST(OpenApiTest, RendersVersion3) {
  std::map<std::string, SchemaPtr> referenced;
  EXPECT_EQ(ToOpenApi(*Pod(), true, &referenced),
            FromJson(R"({"description":"A pod.","type":"object","required":["containers"],
    "oneOf":[{}],"properties":{
      "containers":{"type":"array","items":{"$ref":"#/components/schemas/io.x.Container"},"x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["name"],"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"},
      "strategy":{"$ref":"#/components/schemas/io.x.Strategy"},
      "note":{"type":"string","nullable":true},
      "volumes":{"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-preserve-unknown-fields":true,
        "x-kubernetes-patch-strategy":"retainKeys"}}})"));
  ASSERT_EQ(referenced.size(), 2U);
  EXPECT_EQ(referenced["io.x.Container"]->name, "io.x.Container");
}

TEST(OpenApiTest, LeavesOutOfVersion2WhatItCannotSay) {
  std::map<std::string, SchemaPtr> referenced;
  EXPECT_EQ(ToOpenApi(*Pod(), false, &referenced),
            FromJson(R"({"description":"A pod.","type":"object","required":["containers"],
    "properties":{
      "containers":{"type":"array","items":{"$ref":"#/definitions/io.x.Container"},"x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["name"],"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"},
      "strategy":{"$ref":"#/definitions/io.x.Strategy"},
      "note":{},
      "volumes":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-patch-strategy":"retainKeys"}}})"));
}

TEST(OpenApiTest, RendersNumbersThatMayBeStrings) {
  auto port = Make(SchemaType::kIntOrString, "io.x.IntOrString");
  auto quantity = Make(SchemaType::kIntOrString, "io.x.Quantity");
  quantity->format = "quantity";
  const Schema inline_port = *Make(SchemaType::kIntOrString);
  EXPECT_EQ(ToOpenApi(*port, true, nullptr),
            FromJson(R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})"));
  EXPECT_EQ(ToOpenApi(*port, false, nullptr), FromJson(R"({"format":"int-or-string","type":"string"})"));
  EXPECT_EQ(ToOpenApi(*quantity, true, nullptr), FromJson(R"({"oneOf":[{"type":"string"},{"type":"number"}]})"));
  EXPECT_EQ(ToOpenApi(*quantity, false, nullptr), FromJson(R"({"type":"string"})"));
  EXPECT_EQ(ToOpenApi(inline_port, true, nullptr), FromJson(R"({"x-kubernetes-int-or-string":true})"));
  EXPECT_EQ(ToCrdSchema(*port), FromJson(R"({"x-kubernetes-int-or-string":true})"));
}

TEST(OpenApiTest, WritesNamedTypesInPlaceWhereThereAreNoReferences) {
  const Value crd = ToCrdSchema(*Pod());
  EXPECT_EQ(
      crd["properties"]["containers"],
      FromJson(
          R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]})"));
}

TEST(OpenApiTest, SaysWhatAFieldAddsToItsNamedType) {
  auto named = Make(SchemaType::kObject, "io.x.Selector");
  named->description = "Chooses.";
  auto use = std::make_shared<Schema>(*named);
  use->use_of = named;
  use->description = "Which pods.";
  use->default_value = json::Object();
  use->patch_replace = true;
  use->map_type = MapType::kAtomic;
  auto object = Make(SchemaType::kObject);
  object->properties.emplace("selector", use);
  std::map<std::string, SchemaPtr> referenced;
  EXPECT_EQ(ToOpenApi(*object, true, &referenced)["properties"]["selector"],
            FromJson(R"({"allOf":[{"$ref":"#/components/schemas/io.x.Selector"}],"description":"Which pods.",
    "default":{},"x-kubernetes-map-type":"atomic","x-kubernetes-patch-strategy":"replace"})"));
  EXPECT_EQ(referenced["io.x.Selector"], named);
  EXPECT_EQ(ToOpenApi(*object, false, &referenced)["properties"]["selector"],
            FromJson(R"({"$ref":"#/definitions/io.x.Selector","description":"Which pods.",
    "x-kubernetes-map-type":"atomic","x-kubernetes-patch-strategy":"replace"})"));
}

TEST(OpenApiTest, EndsOnATypeThatContainsItselfManyTimes) {
  auto node = Make(SchemaType::kObject, "io.x.Node");
  for (const char* field : {"a", "b", "c"}) node->properties.emplace(field, node);
  EXPECT_TRUE(ToCrdSchema(*node)["properties"]["a"].is_object());
  node->properties.clear();
}

TEST(OpenApiTest, EndsOnATypeThatContainsItself) {
  auto node = Make(SchemaType::kObject, "io.x.Node");
  node->properties.emplace("next", node);
  std::map<std::string, SchemaPtr> referenced;
  EXPECT_EQ(ToOpenApi(*node, true, &referenced)["properties"]["next"],
            FromJson(R"({"$ref":"#/components/schemas/io.x.Node"})"));
  EXPECT_TRUE(ToCrdSchema(*node)["properties"]["next"]["properties"]["next"].is_object());
  referenced.clear();
  node->properties.clear();
}

}  // namespace
}  // namespace baton::api
