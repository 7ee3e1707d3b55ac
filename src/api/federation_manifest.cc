// Pruning and marking of manifests.
#include "api/federation_manifest.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/builtin_support.h"
#include "api/federation_names.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using builtin::EditObject;
using builtin::EditObjectIfThere;
using json::Value;

// Erases a field below a path of objects; nothing happens where the path ends early.
template <class... Keys>
void EraseBelow(Value& object, std::string_view key, Keys... more) {
  if constexpr (sizeof...(more) == 0) {
    if (object.is_object() && object.Has(key)) object.Erase(key);
  } else {
    if (Value* below = EditObjectIfThere(object, key)) EraseBelow(*below, more...);
  }
}

void PruneDeployment(Value& manifest) {
  for (std::string_view key : {"deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"}) {
    EraseBelow(manifest, "metadata", "annotations", key);
  }
}

void PruneJob(Value& manifest) {
  EraseBelow(manifest, "spec", "ttlSecondsAfterFinished");  // the member would delete it, and the hub make it anew
  if (manifest["spec"]["manualSelector"].bool_or(false)) return;
  for (std::string_view key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
    EraseBelow(manifest, "spec", "selector", "matchLabels", key);
    EraseBelow(manifest, "spec", "template", "metadata", "labels", key);
  }
  for (std::string_view key : {"job-name", "batch.kubernetes.io/job-name"}) {
    EraseBelow(manifest, "spec", "template", "metadata", "labels", key);
  }
}

void PruneSecret(Value& manifest) {
  if (manifest["type"].str() != "kubernetes.io/service-account-token") return;
  EraseBelow(manifest, "metadata", "annotations", "kubernetes.io/service-account.uid");
  EraseBelow(manifest, "data");
}

void PruneService(Value& manifest) {
  const Value& address = manifest["spec"]["clusterIP"];
  if (!address.is_string() || address.str() == "None") return;
  EraseBelow(manifest, "spec", "clusterIP");
  EraseBelow(manifest, "spec", "clusterIPs");
}

void PruneServiceAccount(Value& manifest) {
  const std::string prefix = StrCat(manifest["metadata"]["name"].str(), "-token-");
  const auto generated = [&](const Value& secret) { return secret["name"].str().starts_with(prefix); };
  if (std::ranges::none_of(manifest["secrets"].items(), generated)) return;
  Value kept = json::Array();
  for (const Value& secret : manifest["secrets"].items()) {
    if (!generated(secret)) kept.Push(secret);
  }
  manifest.Set("secrets", std::move(kept));
}

void PruneClaim(Value& manifest) {
  constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
  if (manifest["metadata"]["annotations"][kSelectedNode].str().empty()) return;
  EraseBelow(manifest, "metadata", "annotations", kSelectedNode);
}

struct Pruner {
  std::string_view kind;
  void (*prune)(Value& manifest);
};

constexpr auto kPruners = std::to_array<Pruner>({
    {"Deployment", PruneDeployment},
    {"Job", PruneJob},
    {"PersistentVolumeClaim", PruneClaim},
    {"Secret", PruneSecret},
    {"Service", PruneService},
    {"ServiceAccount", PruneServiceAccount},
});

// Objects keep their keys sorted, so the record is.
std::string Keys(const Value& map) {
  std::vector<std::string> keys;
  for (const json::Member& member : map.members()) keys.emplace_back(member.key());
  return Join(keys, ",");
}

}  // namespace

void PruneManifest(Value& manifest) {
  if (!manifest.is_object()) return;
  for (std::string_view key :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields",
        "resourceVersion", "selfLink", "uid", "ownerReferences", "finalizers"}) {
    EraseBelow(manifest, "metadata", key);
  }
  EraseBelow(manifest, "status");
  for (const Pruner& pruner : kPruners) {
    if (manifest["kind"].str() == pruner.kind) pruner.prune(manifest);
  }
}

void MarkManifest(Value& manifest, std::string_view work_id) {
  if (!manifest.is_object()) return;
  Value* metadata = EditObject(manifest, "metadata");
  if (metadata == nullptr) return;
  if (!work_id.empty()) {
    if (Value* labels = EditObject(*metadata, "labels")) labels->Set(kWorkId, work_id);
  }
  const std::string label_keys = Keys((*metadata)["labels"]);
  if (Value* annotations = EditObject(*metadata, "annotations")) {
    annotations->Set(kManagedLabels, label_keys);
    annotations->Set(kManagedAnnotations, "");  // so that both are among the keys
    annotations->Set(kManagedAnnotations, Keys(*annotations));
  }
}

}  // namespace baton::api
