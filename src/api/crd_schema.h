// From a CustomResourceDefinition to Schemas: reads openAPIV3Schema, checks that it is structural, and tells why not.
//
//   CrdSchemaResult read = ReadCrdSchema(version["schema"]["openAPIV3Schema"],
//   "spec.versions[0].schema.openAPIV3Schema"); if (read.schema == nullptr) return Refuse(read.errors);
//
// Every keyword of JSONSchemaProps is understood; title, example and externalDocs are not kept, and CEL rules are only
// counted. What makes a schema not structural is an error too, as it is for apiextensions.k8s.io/v1. Defaults must be
// valid and have no unknown fields.
#pragma once

#include <string>
#include <vector>

#include "api/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kSchemaDepthMax = 100;
inline constexpr size_t kSchemaNodesMax = 100'000;
inline constexpr size_t kSchemaPathMax = 4096;  // bytes of the path to any part of the schema

struct CrdSchemaResult {
  SchemaPtr schema;                         // null when there were errors
  std::vector<FieldError> errors;           // as kube-apiserver's validation of the CRD gives them
  std::vector<std::string> not_structural;  // messages for the NonStructuralSchema condition
  size_t cel_rules = 0;                     // x-kubernetes-validations seen: reported as unsupported
};

// `path` is where the schema stands: "spec.versions[0].schema.openAPIV3Schema".
CrdSchemaResult ReadCrdSchema(const json::Value& open_api_v3_schema, std::string_view path);

// The other direction: the openAPIV3Schema of a type of ours, for its CRD manifest. Names of types and patch strategies
// have no place there.
json::Value ToCrdSchema(const Schema& schema);

}  // namespace baton::api
