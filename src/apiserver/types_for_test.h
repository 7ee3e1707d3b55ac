// Small resource types and JSON, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "api/resource_type.h"
#include "json/parse.h"
#include "json/value.h"

namespace baton::apiserver {

inline json::Value FromJson(std::string_view text) {
  Result<json::Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

inline api::ResourceType MakeType(std::string_view group, std::string_view version, std::string_view kind,
                                  std::string_view plural) {
  api::ResourceType type;
  type.group = group;
  type.version = version;
  type.kind = kind;
  type.list_kind = std::string(kind) + "List";
  type.plural = plural;
  type.singular = plural.substr(0, plural.size() - 1);
  return type;
}

inline api::ResourceTypePtr Share(api::ResourceType type) {
  return std::make_shared<const api::ResourceType>(std::move(type));
}

}  // namespace baton::apiserver
