// Server-side apply and managedFields: who owns which field, what an apply changes, and when it conflicts. Pure.
//
// The rules are Kubernetes' (structured-merge-diff): an apply sets what it names, removes what it named last time and
// no longer names (unless somebody else owns it), and conflicts when it would change a field of another manager, unless
// forced. Every other write gives the fields that it changed to its manager.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/field_set.h"
#include "api/schema.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::api {

struct FieldManager {
  std::string name;         // fieldManager parameter, or the user agent's prefix
  std::string api_version;  // of the request: "apps/v1"
  std::string subresource;  // "" or "status"
  WallTime now;             // for the entry's time
};

inline constexpr size_t kManagersMax =
    50;  // "Update" managers kept apart; older ones are merged into "ancient-changes"

// The object as it is after applying `config` (which must name apiVersion, kind and metadata.name, and no
// managedFields) to `live` (null: it does not exist). managedFields are brought up to date. A conflict is a Status 409
// with one cause per field, worded as kube-apiserver does: 'conflict with "kubectl-client-side-apply" using apps/v1:
// .spec.replicas'.
Result<json::Value> ApplyConfiguration(const json::Value& live, const json::Value& config, const Schema& schema,
                                       const FieldManager& manager, bool force);

// `next` (what an update or patch wants to store) with managedFields that give the manager what changed since `live`
// (null: created). When `next` carries managedFields of its own they replace the kept ones first, as in Kubernetes; an
// explicitly empty list ([{}]) resets them.
Result<json::Value> TrackUpdate(const json::Value& live, json::Value next, const Schema& schema,
                                const FieldManager& manager);

}  // namespace baton::api
