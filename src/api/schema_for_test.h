// Schemas and values from text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/crd_schema.h"
#include "api/schema.h"
#include "base/strings.h"
#include "json/parse.h"

namespace baton::api {

inline json::Value FromJson(std::string_view text) {
  Result<json::Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

// The schema of an object with this as its spec.
inline SchemaPtr SpecSchema(std::string_view spec) {
  const CrdSchemaResult read =
      ReadCrdSchema(FromJson(StrCat(R"({"type":"object","properties":{"spec":)", spec, "}}")), "schema");
  for (const FieldError& error : read.errors) ADD_FAILURE() << spec << "\n" << error.field << ": " << error.message;
  return read.schema != nullptr ? read.schema : std::make_shared<Schema>();
}

inline std::vector<std::string> Lines(const std::vector<FieldError>& errors) {
  std::vector<std::string> lines;
  for (const FieldError& error : errors) lines.push_back(StrCat(error.field, ": ", error.message));
  return lines;
}

}  // namespace baton::api
