// A Schema as JSON, in the three dialects that Kubernetes speaks. Internal: use ToOpenApi and ToCrdSchema.
#pragma once

#include <map>
#include <string>

#include "api/schema.h"
#include "json/value.h"

namespace baton::api {

enum class Dialect : uint8_t {
  kOpenApi2,  // no alternatives, no null; what cannot be said is left open
  kOpenApi3,
  kCrd,  // JSONSchemaProps: no references, no patch strategies
};

// Named schemas below the top become references when `referenced` is given, which collects them. What is
// nested deeper than kSchemaDepthMax, or comes after kSchemaNodesMax parts (types that contain themselves, written
// out), is rendered as an object with any fields.
json::Value RenderSchema(const Schema& schema, Dialect dialect, std::map<std::string, SchemaPtr>* referenced);

}  // namespace baton::api
