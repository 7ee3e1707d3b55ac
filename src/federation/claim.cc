// Claims on templates and bindings.
#include "federation/claim.h"

#include <string_view>
#include <utility>

#include "api/karmada_keys.h"

namespace baton::federation {
namespace {

namespace karmada = api::karmada;

// Erases metadata.<map>.<key>, and the map when that was its last member.
void EraseMark(json::Value& object, std::string_view map, std::string_view key) {
  const json::Value& marks = object["metadata"][map];
  if (!marks.Has(key)) return;
  if (marks.size() == 1) {
    object.Edit("metadata").Erase(map);
  } else {
    object.Edit("metadata").Edit(map).Erase(key);
  }
}

void SetMark(json::Value& object, std::string_view map, std::string_view key, std::string_view value) {
  const json::Value* mark = object["metadata"][map].Find(key);
  if (mark != nullptr && mark->is_string() && mark->str() == value) return;
  object.Edit("metadata").Edit(map).Set(key, value);
}

void EraseNamespacedClaim(json::Value& object) {
  EraseMark(object, "labels", karmada::kPropagationPolicyId);
  EraseMark(object, "annotations", karmada::kPropagationPolicyNamespace);
  EraseMark(object, "annotations", karmada::kPropagationPolicyName);
}

void EraseClusterClaim(json::Value& object) {
  EraseMark(object, "labels", karmada::kClusterPropagationPolicyId);
  EraseMark(object, "annotations", karmada::kClusterPropagationPolicyName);
}

std::optional<PolicyKey> PolicyNamedBy(const json::Value& object, bool cluster_scoped) {
  const json::Value& annotations = object["metadata"]["annotations"];
  PolicyKey key;
  if (cluster_scoped) {
    key.name = annotations[karmada::kClusterPropagationPolicyName].str();
  } else {
    key.policy_namespace = annotations[karmada::kPropagationPolicyNamespace].str();
    key.name = annotations[karmada::kPropagationPolicyName].str();
    if (key.policy_namespace.empty()) return std::nullopt;
  }
  if (key.name.empty()) return std::nullopt;
  return key;
}

}  // namespace

std::optional<Claim> ClaimOf(const json::Value& object) {
  const json::Value& labels = object["metadata"]["labels"];
  for (const bool cluster_scoped : {false, true}) {
    const std::string_view id =
        labels[cluster_scoped ? karmada::kClusterPropagationPolicyId : karmada::kPropagationPolicyId].str();
    std::optional<PolicyKey> key = PolicyNamedBy(object, cluster_scoped);
    if (key.has_value() && !id.empty()) return Claim{.policy = *std::move(key), .permanent_id = std::string(id)};
  }
  return std::nullopt;
}

json::Value WithClaim(json::Value object, const PropagationPolicy& policy) {
  if (policy.key.cluster_scoped()) {
    SetMark(object, "labels", karmada::kClusterPropagationPolicyId, policy.permanent_id);
    SetMark(object, "annotations", karmada::kClusterPropagationPolicyName, policy.key.name);
    return object;
  }
  EraseClusterClaim(object);
  SetMark(object, "labels", karmada::kPropagationPolicyId, policy.permanent_id);
  SetMark(object, "annotations", karmada::kPropagationPolicyNamespace, policy.key.policy_namespace);
  SetMark(object, "annotations", karmada::kPropagationPolicyName, policy.key.name);
  return object;
}

json::Value WithoutClaims(json::Value object) {
  EraseNamespacedClaim(object);
  EraseClusterClaim(object);
  return object;
}

}  // namespace baton::federation
