// The built-in kinds: those that hubs and members need as templates and that the server itself lives on, as Kubernetes
// 1.35 has them. Names, scopes, subresources and fields are Kubernetes'; the descriptions are ours.
//
// The fields are written as text (src/api/builtin/*.types, in the notation of api/type_text.h), which
// scripts/gen-builtin-types makes from Kubernetes' published OpenAPI documents; the doc lines beside it are by hand.
#pragma once

#include <span>
#include <string_view>

#include "api/resource_type.h"

namespace baton::api {

// All of them, by group, version and plural. Made once, on first use; any thread may ask.
std::span<const ResourceTypePtr> BuiltinTypes();

// A named type ("io.k8s.api.core.v1.PodSpec", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), or null.
SchemaPtr BuiltinSchema(std::string_view name);

// metadata of every object, of every list, and the options and Status types: what discovery of OpenAPI also lists.
SchemaPtr ObjectMetaSchema();

}  // namespace baton::api
