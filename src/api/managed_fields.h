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
  std::string name;         // fieldManager parameter, or the user agent's prefix; empty: "unknown"
  std::string api_version;  // of the request: "apps/v1"
  std::string subresource;  // "" or "status"
  WallTime now;             // for the entry's time
  // What a write through this endpoint cannot change, and so never owns, with everything below: see ResetFields().
  FieldSet reset_fields{};
};

// "Update" managers kept apart; older ones are merged into "ancient-changes". Kubernetes' number.
inline constexpr size_t kManagersMax = 10;

// What kube-apiserver keeps writes of a resource with a status subresource from owning: on the main resource status; on
// status, spec and metadata (as for custom resources; built-in kinds differ a little).
FieldSet ResetFields(std::string_view subresource);

// The object as it is after applying `config` (which must name apiVersion, kind and metadata.name, and no
// managedFields) to `live` (null: it does not exist). managedFields are brought up to date; when nothing else changes,
// times stay. Errors:
//  - a conflict is a Status 409 with one cause per field, worded as kube-apiserver does:
//      Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas
//  - a config that does not fit the schema, or names a list item twice, is kInvalid, with kube-apiserver's words.
// The manager "kubectl" is special, as in Kubernetes: it takes over what client-side apply
// (kubectl.kubernetes.io/last-applied-configuration) set and nobody changed since, and keeps that annotation fresh.
Result<json::Value> ApplyConfiguration(const json::Value& live, const json::Value& config, const Schema& schema,
                                       const FieldManager& manager, bool force);

// `next` (what an update or patch wants to store) with managedFields that give the manager what changed since `live`
// (null, or without a uid: created). When `next` carries managedFields of its own they replace the kept ones first, as
// in Kubernetes; an explicitly empty list ([] or [{}]) resets them, and an object without any (reset, or older than
// tracking) stays so until its first apply, which gives what it finds to "before-first-apply". Writes through a
// subresource keep the live entries. Tracking never stops a write: what does not fit the schema is stored without
// managedFields. An error only when `next` is no object. `live_fits`: `live` is known to fit the schema.
Result<json::Value> TrackUpdate(const json::Value& live, json::Value next, const Schema& schema,
                                const FieldManager& manager, bool live_fits = false);

}  // namespace baton::api
