// The managers of one object: metadata.managedFields as field sets, and back. Internal to api.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/field_set.h"
#include "api/managed_fields.h"
#include "api/typed.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kManagedEntriesMax = 10'000;  // of one object; more are malformed

struct ManagerEntry {
  std::string manager;
  bool applied = false;  // operation Apply, not Update
  std::string api_version;
  std::string subresource;
  std::optional<WallTime> time;
  FieldSet fields;

  // What it was written as when fields and time were these. EncodeManagers() keeps and uses it; copies may carry it on.
  struct Written {
    json::Value entry;
    FieldSet::NodePtr fields;
    std::optional<WallTime> time;
  };
  Written written;
};

// By identity: for updates manager, version and subresource; for applies manager and subresource. The key is the text
// that Kubernetes uses, because messages come in its order.
using Managers = std::map<std::string, ManagerEntry>;
std::string ManagerId(const ManagerEntry& entry);

// Absent, or of a form that Go's types would not take, is no managers at all. An error when an entry is well-formed
// but makes no sense, as kube-apiserver has it.
Result<Managers> DecodeManagers(const json::Value& object);

// Sets metadata.managedFields, or removes them when there are none. Remembers what it has written, so that the next
// write of the object need not read it (api/managers_memo.h).
void EncodeManagers(Managers managers, json::Value& object);
void DropManagedFields(json::Value& object);

// [] or [{}]: the writer wants to start afresh.
bool IsReset(const json::Value& object);

// The oldest updates beyond kManagersMax, merged by version.
void CapUpdateManagers(Managers& managers);

// What `self` may not own by itself: identity, versions and times.
const FieldSet& StrippedFields();

// What changes from `live` to `next`, as far as a write through this endpoint can change it.
Comparison CompareForManagers(const json::Value& live, const json::Value& next, const TypeRef& type,
                              const FieldManager& manager);

struct ManagerConflict {
  std::string id;
  FieldPath path;
};
// What managers other than `self` own and the comparison changes or adds, by manager and path.
std::vector<ManagerConflict> FindConflicts(const Comparison& comparison, const std::string& self,
                                           const Managers& managers);

// Takes from every manager but `self` what changed or went away; managers of nothing go, too.
void TakeChangedFields(const Comparison& comparison, const std::string& self, Managers& managers);

// The sets as the schema has them now.
void ReconcileManagers(const TypeRef& type, Managers& managers);

// An update by `manager`: it gets what changed from `live` to `next`.
void UpdateManagers(const json::Value& live, const json::Value& next, const TypeRef& type, const FieldManager& manager,
                    Managers& managers);

}  // namespace baton::api
