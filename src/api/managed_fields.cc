// TrackUpdate(), and what updates and applies share: who loses what when an object changes.
#include "api/managed_fields.h"

#include "api/managers.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kCurrentOperation = "current-operation";

// The managers that an update starts from: those of the request, or the live ones when it has none.
Managers StartingManagers(const Value& live, const Value& next, bool subresource) {
  const auto kept = [&] { return DecodeManagers(live).value_or(Managers()); };
  if (subresource) return kept();  // through a subresource managedFields cannot be written
  if (IsReset(next)) return {};
  Result<Managers> given = DecodeManagers(next);
  if (!given.ok() || given->empty()) return kept();
  return *std::move(given);
}

// The object before its creation, as far as types go.
Value EmptyLike(const Value& object) {
  Value empty = json::Object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const Value* found = object.Find(name)) empty.Set(name, *found);
  }
  return empty;
}

}  // namespace

FieldSet ResetFields(std::string_view subresource) {
  FieldSet set;
  if (subresource.empty()) {
    set.Insert({PathElement::Field("status")});
  } else if (subresource == "status") {
    set.Insert({PathElement::Field("metadata")});
    set.Insert({PathElement::Field("spec")});
  }
  return set;
}

std::vector<ManagerConflict> FindConflicts(const Comparison& comparison, const std::string& self,
                                           const Managers& managers) {
  const FieldSet touched = comparison.modified.Union(comparison.added);
  std::vector<ManagerConflict> conflicts;
  for (const auto& [id, entry] : managers) {
    if (id == self) continue;
    for (FieldPath& path : entry.fields.Intersection(touched).Paths()) {
      conflicts.push_back({.id = id, .path = std::move(path)});
    }
  }
  return conflicts;
}

Comparison CompareForManagers(const Value& live, const Value& next, const TypeRef& type, const FieldManager& manager) {
  Comparison comparison = TypedCompare(live, next, type);
  for (FieldSet* set : {&comparison.removed, &comparison.modified, &comparison.added}) {
    *set = set->RecursiveDifference(manager.reset_fields);
  }
  return comparison;
}

void TakeChangedFields(const Comparison& comparison, const std::string& self, Managers& managers) {
  const FieldSet touched = comparison.modified.Union(comparison.added).Union(comparison.removed);
  for (auto at = managers.begin(); at != managers.end();) {
    if (at->first != self) at->second.fields = at->second.fields.Difference(touched);
    at = at->second.fields.empty() ? managers.erase(at) : std::next(at);
  }
}

void ReconcileManagers(const TypeRef& type, Managers& managers) {
  for (auto& [id, entry] : managers) entry.fields = ReconcileWithSchema(entry.fields, type);
}

void UpdateManagers(const Value& live, const Value& next, const TypeRef& type, const FieldManager& manager,
                    Managers& managers) {
  ReconcileManagers(type, managers);
  ManagerEntry entry = {.manager = manager.name.empty() ? "unknown" : manager.name,
                        .applied = false,
                        .api_version = manager.api_version,
                        .subresource = manager.subresource,
                        .time = manager.now,
                        .fields = {}};
  const std::string id = ManagerId(entry);
  const auto own = managers.find(id);
  const FieldSet owned = own == managers.end() ? FieldSet() : own->second.fields;
  const Comparison comparison = CompareForManagers(live, next, type, manager);
  TakeChangedFields(comparison, std::string(kCurrentOperation), managers);
  entry.fields = comparison.modified.Union(comparison.added)
                     .RecursiveDifference(manager.reset_fields)
                     .Difference(StrippedFields());
  if (!entry.fields.empty()) {
    if (const auto previous = managers.find(id); previous != managers.end()) {
      entry.fields = entry.fields.Union(previous->second.fields);
    }
    // Mostly it has what it had: then as the same set, which is known in its written form.
    if (entry.fields == owned) entry.fields = owned;
    managers.insert_or_assign(id, std::move(entry));
  }
  CapUpdateManagers(managers);
}

Result<Value> TrackUpdate(const Value& live, Value next, const Schema& schema, const FieldManager& manager,
                          bool live_fits) {
  if (!next.is_object()) return InvalidError("an object is a JSON object");
  const TypeRef type = TypeRef::Root(schema);
  Managers managers = StartingManagers(live, next, !manager.subresource.empty());
  DropManagedFields(next);
  const bool created = live["metadata"]["uid"].str().empty();
  if (managers.empty() && !created) return next;  // not tracked until its first apply

  Value before = live.is_object() ? live : EmptyLike(next);
  DropManagedFields(before);
  const bool fit = live_fits ? CheckTypedBeside(next, before, type)
                             : CheckTyped(next, type, true).ok() && CheckTypedBeside(before, next, type);
  if (!fit) return next;
  UpdateManagers(before, next, type, manager, managers);
  EncodeManagers(std::move(managers), next);
  return next;
}

}  // namespace baton::api
