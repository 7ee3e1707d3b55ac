// The OpenAPI documents: v2 as JSON and as the protobuf that older kubectl asks for, v3 as an index and a document for
// each group and version. Pure functions of the Registry; the server caches their bytes by Registry::generation().
//
// What clients read in them: kubectl explain (v3, or v2 in older ones), client-side validation (v2, 1.20), strategic
// merge keys (x-kubernetes-patch-*), server-side apply list types, x-kubernetes-group-version-kind, and which verbs
// take dryRun and fieldValidation (the parameters of the patch operations).
#pragma once

#include <string>
#include <string_view>

#include "apiserver/registry.h"
#include "json/value.h"

namespace baton::apiserver {

json::Value OpenApiV2(const Registry& registry);
// gnostic's openapi.v2.Document, what "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" means.
std::string OpenApiV2Protobuf(const json::Value& document);

// GET /openapi/v3: {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}, ...}}
json::Value OpenApiV3Index(const Registry& registry);
// Null when there is no such group and version. `path` is "api/v1" or "apis/apps/v1".
json::Value OpenApiV3(const Registry& registry, std::string_view path);

}  // namespace baton::apiserver
