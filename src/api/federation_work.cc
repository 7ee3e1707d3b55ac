// Bindings and Works.
#include <set>
#include <string>

#include "api/federation_kinds.h"
#include "api/federation_manifest.h"
#include "api/federation_names.h"
#include "base/strings.h"
#include "json/parse.h"

namespace baton::api::federation {

using builtin::EditEach;
using builtin::EditObjectIfThere;

namespace {

void MutateBinding(Value& object, std::string_view id, const Admitted& admitted) {
  if (admitted.creating()) SetMissingId(object, id, admitted);
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr) return;
  RenamePurgeModes(*spec);
  EditEach(*spec, "gracefulEvictionTasks", [](Value& task) {
    const std::string_view current = CurrentPurgeMode(task["purgeMode"].str());
    if (task["purgeMode"].str() != current) task.Set("purgeMode", current);
  });
}

// A list of references, as the dependencies' distributor reads it.
bool IsDependencies(std::string_view text) {
  const Result<Value> list = json::Parse(text);
  if (!list.ok() || (!list->is_array() && !list->is_null())) return false;
  for (const Value& item : list->items()) {
    if (!item.is_object() && !item.is_null()) return false;
    for (std::string_view key : {"apiVersion", "kind", "namespace", "name"}) {
      if (!item[key].is_null() && !item[key].is_string()) return false;
    }
    if (!item["labelSelector"].is_null() && !item["labelSelector"].is_object()) return false;
  }
  return true;
}

bool IsTextMap(const Value& map) {
  if (!map.is_null() && !map.is_object()) return false;
  for (const json::Member& member : map.members()) {
    if (!member.value().is_string()) return false;
  }
  return true;
}

}  // namespace

void MutateResourceBinding(Value& object, const Admitted& admitted) {
  MutateBinding(object, kResourceBindingId, admitted);
}

void MutateClusterResourceBinding(Value& object, const Admitted& admitted) {
  MutateBinding(object, kClusterResourceBindingId, admitted);
}

void MutateWork(Value& object, const Admitted& admitted) {
  SetMissingId(object, kWorkId, admitted);
  const std::string id(object["metadata"]["labels"][kWorkId].str());
  Value* spec = EditObjectIfThere(object, "spec");
  Value* workload = spec == nullptr ? nullptr : EditObjectIfThere(*spec, "workload");
  if (workload == nullptr) return;
  EditEach(*workload, "manifests", [&](Value& manifest) {
    PruneManifest(manifest);
    MarkManifest(manifest, id);
  });
}

void CheckResourceBinding(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  const Value& dependencies = object["metadata"]["annotations"][kDependenciesAnnotation];
  if (!dependencies.is_null() && !IsDependencies(dependencies.str())) {
    errors.push_back(InvalidError(KeyPath("metadata.annotations", kDependenciesAnnotation), dependencies,
                                  "must be a JSON list of references to objects"));
  }
  std::set<std::string_view> names;
  const Value& components = object["spec"]["components"];
  for (size_t i = 0; i < components.size(); ++i) {
    const std::string field = ChildPath(IndexPath("spec.components", i), "name");
    const Value& name = components[i]["name"];
    if (name.str().empty()) {
      errors.push_back(RequiredError(field, ""));
    } else if (!names.insert(name.str()).second) {
      errors.push_back(DuplicateError(field, name));
    }
  }
}

void CheckWork(Errors& errors, const Value& object, const Admitted& /*admitted*/) {
  const Value& manifests = object["spec"]["workload"]["manifests"];
  for (size_t i = 0; i < manifests.size(); ++i) {
    const std::string at = IndexPath("spec.workload.manifests", i);
    for (std::string_view key : {"apiVersion", "kind"}) {
      if (manifests[i][key].str().empty()) errors.push_back(RequiredError(ChildPath(at, key), "of every object"));
    }
    const Value& metadata = manifests[i]["metadata"];
    if (!metadata.is_object()) errors.push_back(RequiredError(ChildPath(at, "metadata"), "of every object"));
    for (std::string_view map : {"labels", "annotations"}) {
      if (IsTextMap(metadata[map])) continue;
      errors.push_back(
          InvalidError(ChildPath(ChildPath(at, "metadata"), map), metadata[map], "must be a map of strings"));
    }
  }
}

}  // namespace baton::api::federation
