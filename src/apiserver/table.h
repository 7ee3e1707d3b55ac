// Tables: objects as rows for `kubectl get` (meta.k8s.io/v1 Table; v1beta1 is the same but for its apiVersion).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/resource_type.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::apiserver {

enum class IncludeObject : uint8_t { kNone, kMetadata, kObject };  // the query parameter includeObject

// columnDefinitions of the type: Name first; without columns of its own Name and Age ("Created At" for built-in kinds
// that Kubernetes gives that).
json::Value TableColumns(const api::ResourceType& type);

// {"cells": [...], "object": PartialObjectMetadata | object | absent}
json::Value TableRow(const api::ResourceType& type, const json::Value& object, IncludeObject include, WallTime now);

// The whole Table. `list_metadata` has resourceVersion, continue, remainingItemCount as the list would have.
json::Value MakeTable(const api::ResourceType& type, std::string_view meta_version, const json::Value& list_metadata,
                      std::span<const json::Value> rows, bool with_columns);

// {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": ...}
json::Value PartialMetadata(const json::Value& object, std::string_view meta_version);

}  // namespace baton::apiserver
