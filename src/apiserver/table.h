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

// columnDefinitions of the type. A type with cells() names all its columns itself; others get Name first, and without
// columns of their own Name and Age ("Created At" for built-in kinds).
json::Value TableColumns(const api::ResourceType& type);

// {"cells": [...], "object": PartialObjectMetadata | object | null}
//
// A cell of a custom resource is the first value its JSONPath finds, as apiextensions does it: any value as text for a
// string column, an age for a date, null where there is none or it is of another type.
json::Value TableRow(const api::ResourceType& type, const json::Value& object, IncludeObject include, WallTime now,
                     std::string_view meta_version = "v1");

// The whole Table; without columns they are null, as Kubernetes has it in all events of a watch but the first.
// `list_metadata` has resourceVersion, continue, remainingItemCount as the list would have.
json::Value MakeTable(const api::ResourceType& type, std::string_view meta_version, const json::Value& list_metadata,
                      std::span<const json::Value> rows, bool with_columns);

// {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": ...}
json::Value PartialMetadata(const json::Value& object, std::string_view meta_version);

}  // namespace baton::apiserver
