// The CustomResourceDefinition of a type of ours: how a kind that is described here is installed on a foreign API
// server.
#pragma once

#include <span>

#include "api/resource_type.h"
#include "json/value.h"

namespace baton::api {

// Of one kind in its versions, of which the one named by `storage_version` (or, when that is empty, the first) is
// stored. All have the same group, names and scope. The schema is the type's own, without names of types and patch
// strategies.
json::Value CrdManifest(std::span<const ResourceTypePtr> versions);

}  // namespace baton::api
