// ApplyConfiguration(): merge, prune, conflicts.
#include "api/last_applied.h"
#include "api/managed_fields.h"
#include "api/managers.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using json::Value;

// "default/web; apps/v1, Kind=Deployment": how kube-apiserver names an object in these messages.
std::string Describe(const Value& object) {
  const Value& metadata = object["metadata"];
  return StrCat(metadata["namespace"].str(), "/", metadata["name"].str(), "; ", object["apiVersion"].str(),
                ", Kind=", object["kind"].str());
}

Error BadRequest(std::string message) {
  return Error::FromStatus(Status{.code = 400, .reason = "BadRequest"}, std::move(message));
}

Result<void> CheckConfig(const Value& live, const Value& config, const FieldManager& manager) {
  if (!config.is_object()) return BadRequest("an apply configuration is a JSON object");
  const bool same_kind = !live.is_object() || live["kind"] == config["kind"];
  if (config["apiVersion"].str().empty() || config["kind"].str().empty()) {
    return BadRequest("an apply configuration must name apiVersion and kind");
  }
  if (config["apiVersion"].str() != manager.api_version || !same_kind) {
    return BadRequest(StrCat("invalid object type: ", config["apiVersion"].str(), ", Kind=", config["kind"].str()));
  }
  if (config["metadata"]["managedFields"].is_array()) return BadRequest("metadata.managedFields must be nil");
  if (config["metadata"]["name"].str().empty()) {
    return BadRequest("an apply configuration must name metadata.name");
  }
  return {};
}

// `merged` without what the manager applied last time, does not apply now, and nobody else owns.
Value PruneDropped(const Value& merged, const FieldSet& last, const Managers& managers, const TypeRef& type) {
  if (last.empty()) return merged;
  const FieldSet last_named = WithNamedFields(last, type);
  Value pruned = TypedRemove(merged, last_named, type);

  FieldSet owned;
  for (const auto& [id, entry] : managers) owned = owned.Union(entry.fields);
  const FieldSet merged_set = WithNamedFields(TypedFields(merged, type), type);
  const FieldSet pruned_set = WithNamedFields(TypedFields(pruned, type), type);
  pruned = TypedRemove(merged, merged_set.Difference(pruned_set.Union(WithNamedFields(owned, type))), type);

  // Removing an item takes what is below it; what was never this manager's comes back.
  const FieldSet left = WithNamedFields(TypedFields(pruned, type), type);
  return TypedRemove(merged, merged_set.Difference(left).Intersection(last_named), type);
}

struct Applied {
  Value object;
  Managers managers;
};

// One attempt. Conflicts are told in `conflicts` and leave no result.
struct Attempt {
  const Value& live;
  const Value& config;
  const TypeRef& type;
  const FieldManager& manager;

  std::optional<Applied> Run(Managers managers, bool force, std::vector<ManagerConflict>& conflicts) const {
    ReconcileManagers(type, managers);
    ManagerEntry entry = {.manager = manager.name.empty() ? "unknown" : manager.name,
                          .applied = true,
                          .api_version = manager.api_version,
                          .subresource = manager.subresource,
                          .time = std::nullopt,
                          .fields = TypedFields(config, type).RecursiveDifference(manager.reset_fields)};
    const std::string id = ManagerId(entry);
    FieldSet last;
    if (const auto previous = managers.find(id); previous != managers.end()) {
      last = previous->second.fields;
      entry.time = previous->second.time;
    }
    managers.insert_or_assign(id, std::move(entry));
    Value merged = PruneDropped(TypedMerge(live, config, type), last, managers, type);

    const Comparison comparison = CompareForManagers(live, merged, type, manager);
    conflicts = FindConflicts(comparison, id, managers);
    if (!force && !conflicts.empty()) return std::nullopt;
    TakeChangedFields(comparison, id, managers);
    if (const auto self = managers.find(id); self != managers.end()) {
      self->second.fields = self->second.fields.Difference(StrippedFields());
      if (!SameFieldValue(live, merged)) self->second.time = manager.now;
      if (self->second.fields.empty()) managers.erase(self);
    }
    return Applied{.object = std::move(merged), .managers = std::move(managers)};
  }
};

// "conflict with %q using v1" and its parts, for one manager.
std::string ManagerText(const ManagerEntry& entry) {
  std::string text = Quote(entry.manager);
  if (!entry.subresource.empty()) StrAppend(text, " with subresource ", Quote(entry.subresource));
  if (!entry.applied) StrAppend(text, " using ", entry.api_version);
  return text;
}

Error ConflictStatus(const std::vector<ManagerConflict>& conflicts, const Managers& managers) {
  Status status{.code = 409, .reason = "Conflict"};
  std::string list;
  std::string_view manager;
  for (const ManagerConflict& conflict : conflicts) {
    const std::string who = ManagerText(managers.at(conflict.id));
    const std::string path = PathText(conflict.path);
    status.causes.push_back(
        {.reason = "FieldManagerConflict", .message = StrCat("conflict with ", who), .field = path});
    if (conflict.id != manager) StrAppend(list, list.empty() ? "" : "\n", "conflicts with ", who, ":");
    manager = conflict.id;
    StrAppend(list, "\n- ", path);
  }
  const size_t count = conflicts.size();
  std::string message = StrCat("Apply failed with ", count, " conflicts: ", list);
  if (count == 1) {
    message = StrCat("Apply failed with 1 conflict: ", status.causes[0].message, ": ", status.causes[0].field);
  }
  return Error::FromStatus(std::move(status), std::move(message));
}

}  // namespace

Result<Value> ApplyConfiguration(const Value& live, const Value& config, const Schema& schema,
                                 const FieldManager& manager, bool force) {
  TRY(CheckConfig(live, config, manager));
  const TypeRef type = TypeRef::Root(schema);
  Value before =
      live.is_object() ? live : json::Object({{"apiVersion", config["apiVersion"]}, {"kind", config["kind"]}});
  Managers managers = TRY(DecodeManagers(before).Context("failed to decode managed fields"));
  DropManagedFields(before);
  TRY(CheckTyped(config, type, false).Context(StrCat("failed to create typed patch object (", Describe(config), ")")));
  TRY(CheckTyped(before, type, true).Context(StrCat("failed to create typed live object (", Describe(before), ")")));
  if (managers.empty()) {
    FieldManager first = manager;
    first.name = "before-first-apply";
    const Value empty = json::Object({{"apiVersion", config["apiVersion"]}, {"kind", config["kind"]}});
    UpdateManagers(empty, before, type, first, managers);
  }

  const Attempt attempt{.live = before, .config = config, .type = type, .manager = manager};
  std::vector<ManagerConflict> conflicts;
  std::optional<Applied> applied = attempt.Run(managers, force, conflicts);
  if (!applied && manager.name == kKubectlManager) {
    // Client-side apply set these and nobody changed them since: they are kubectl's own.
    const FieldSet allowed = LastAppliedFields(before, type, manager.api_version);
    std::erase_if(conflicts, [&](const ManagerConflict& conflict) { return allowed.Has(conflict.path); });
    if (conflicts.empty()) applied = attempt.Run(managers, true, conflicts);
  }
  if (!applied) return ConflictStatus(conflicts, managers);
  if (manager.name == kKubectlManager) RefreshLastApplied(config, applied->object);
  EncodeManagers(std::move(applied->managers), applied->object);
  return std::move(applied->object);
}

}  // namespace baton::api
