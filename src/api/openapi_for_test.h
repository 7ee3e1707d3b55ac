// Schemas for tests, from the OpenAPI that the golden generators use: the same text on both sides.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/schema.h"
#include "json/value.h"

namespace baton::api {

inline SchemaPtr SchemaForTest(const json::Value& open_api) {
  Schema schema;
  const std::string_view type = open_api["type"].str();
  if (type == "object") schema.type = SchemaType::kObject;
  if (type == "array") schema.type = SchemaType::kArray;
  if (type == "string") schema.type = SchemaType::kString;
  if (type == "integer") schema.type = SchemaType::kInteger;
  if (type == "number") schema.type = SchemaType::kNumber;
  if (type == "boolean") schema.type = SchemaType::kBoolean;
  if (open_api["x-kubernetes-int-or-string"].bool_or(false)) schema.type = SchemaType::kIntOrString;
  schema.format = open_api["format"].str();
  schema.preserve_unknown_fields = open_api["x-kubernetes-preserve-unknown-fields"].bool_or(false);
  if (open_api["x-kubernetes-map-type"].str() == "atomic") schema.map_type = MapType::kAtomic;
  const std::string_view list_type = open_api["x-kubernetes-list-type"].str();
  if (list_type == "set") schema.list_type = ListType::kSet;
  if (list_type == "map") schema.list_type = ListType::kMap;
  for (const json::Value& key : open_api["x-kubernetes-list-map-keys"].items()) {
    schema.list_map_keys.emplace_back(key.str());
  }
  for (const json::Member& property : open_api["properties"].members()) {
    schema.properties.emplace(property.key(), SchemaForTest(property.value()));
  }
  if (open_api.Has("additionalProperties")) {
    schema.additional_properties = SchemaForTest(open_api["additionalProperties"]);
  }
  if (open_api.Has("items")) schema.items = SchemaForTest(open_api["items"]);
  if (open_api.Has("default")) schema.default_value = open_api["default"];
  return std::make_shared<const Schema>(std::move(schema));
}

}  // namespace baton::api
