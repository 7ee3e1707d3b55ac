// From a CustomResourceDefinition to Schemas: reads openAPIV3Schema, checks that it is structural, and tells why not.
#pragma once

#include <string>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kSchemaDepthMax = 100;
inline constexpr size_t kSchemaNodesMax = 100'000;

struct CrdSchemaResult {
  SchemaPtr schema;                         // null when there were errors
  std::vector<FieldError> errors;           // as kube-apiserver's validation of the CRD gives them
  std::vector<std::string> not_structural;  // messages for the NonStructuralSchema condition
  size_t cel_rules = 0;                     // x-kubernetes-validations seen: reported as unsupported
};

// `path` is where the schema stands: "spec.versions[0].schema.openAPIV3Schema".
CrdSchemaResult ReadCrdSchema(const json::Value& open_api_v3_schema, std::string_view path);

// The other direction: the openAPIV3Schema of a type of ours, for its CRD manifest.
json::Value ToCrdSchema(const Schema& schema);

}  // namespace baton::api
