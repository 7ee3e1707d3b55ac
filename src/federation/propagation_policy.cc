// Reading propagation policies, and the index over them.
#include "federation/propagation_policy.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "api/karmada_keys.h"
#include "base/strings.h"

namespace baton::federation {
namespace {

Result<void> CompileSpec(const json::Value& spec, PropagationPolicy& policy) {
  policy.selectors = TRY(overrides::CompileSelectors(spec));
  if (const json::Value& priority = spec["priority"]; !priority.is_null()) {
    const int64_t number = priority.int_or(std::numeric_limits<int64_t>::max());
    if (!std::in_range<int32_t>(number)) return InvalidError("priority must be a 32-bit integer");
    policy.priority = static_cast<int32_t>(number);
  }
  policy.preempts = spec["preemption"].str() == "Always";
  policy.lazy = spec["activationPreference"].str() == "Lazy";
  for (const json::Value& name : spec["dependentOverrides"].items())
    policy.dependent_overrides.emplace_back(name.str());
  return {};
}

}  // namespace

std::string PolicyKey::Title() const {
  return cluster_scoped() ? StrCat("ClusterPropagationPolicy ", name)
                          : StrCat("PropagationPolicy ", policy_namespace, "/", name);
}

Result<PropagationPolicy> CompilePropagationPolicy(const json::Value& policy) {
  const std::string_view kind = policy["kind"].str();
  if (kind != "PropagationPolicy" && kind != "ClusterPropagationPolicy") {
    return InvalidError(StrCat("expected a PropagationPolicy or a ClusterPropagationPolicy, not kind ", Quote(kind)));
  }
  const bool cluster_scoped = kind == "ClusterPropagationPolicy";
  const json::Value& metadata = policy["metadata"];
  PropagationPolicy compiled;
  compiled.key.name = metadata["name"].str();
  if (compiled.key.name.empty()) return InvalidError(StrCat(kind, ": metadata.name is missing"));
  if (!cluster_scoped) {
    compiled.key.policy_namespace = metadata["namespace"].str();
    if (compiled.key.policy_namespace.empty()) return InvalidError(StrCat(kind, ": metadata.namespace is missing"));
  }
  const std::string_view id =
      cluster_scoped ? api::karmada::kClusterPropagationPolicyId : api::karmada::kPropagationPolicyId;
  compiled.permanent_id = metadata["labels"][id].str();
  compiled.deleting = !metadata["deletionTimestamp"].is_null();
  const Result<void> read = CompileSpec(policy["spec"], compiled);
  if (!read.ok()) return read.error().Context(StrCat(compiled.key.Title(), ": spec"));
  return compiled;
}

std::string PolicySet::IndexKey(std::string_view policy_namespace, std::string_view api_version, std::string_view kind,
                                std::string_view name) {
  // No part of a valid name has a NUL in it; were there one, the policy's own Match would still decide.
  return StrCat(policy_namespace, '\0', api_version, '\0', kind, '\0', name);
}

void PolicySet::Put(PropagationPolicy policy) {
  std::unique_ptr<PropagationPolicy>& place = policies_[policy.key];
  if (place != nullptr) Unindex(*place);
  place = std::make_unique<PropagationPolicy>(std::move(policy));
  std::set<std::string> keys;
  for (const ResourceSelector& selector : place->selectors) {
    keys.insert(IndexKey(place->key.policy_namespace, selector.api_version, selector.kind, selector.name));
  }
  for (const std::string& key : keys) index_[key].push_back(place.get());
}

bool PolicySet::Erase(const PolicyKey& key) {
  const auto found = policies_.find(key);
  if (found == policies_.end()) return false;
  Unindex(*found->second);
  policies_.erase(found);
  return true;
}

void PolicySet::Unindex(const PropagationPolicy& policy) {
  for (const ResourceSelector& selector : policy.selectors) {
    const auto found =
        index_.find(IndexKey(policy.key.policy_namespace, selector.api_version, selector.kind, selector.name));
    if (found == index_.end()) continue;
    std::erase(found->second, &policy);
    if (found->second.empty()) index_.erase(found);
  }
}

const PropagationPolicy* PolicySet::Find(const PolicyKey& key) const {
  const auto found = policies_.find(key);
  return found == policies_.end() ? nullptr : found->second.get();
}

std::vector<const PropagationPolicy*> PolicySet::In(std::string_view policy_namespace) const {
  std::vector<const PropagationPolicy*> found;
  for (auto at = policies_.lower_bound({.policy_namespace = std::string(policy_namespace)});
       at != policies_.end() && at->first.policy_namespace == policy_namespace; ++at) {
    found.push_back(at->second.get());
  }
  return found;
}

}  // namespace baton::federation
