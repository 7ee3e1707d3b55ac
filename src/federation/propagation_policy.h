// PropagationPolicy: what matching needs of a PropagationPolicy or ClusterPropagationPolicy, read once; and PolicySet,
// all of them, indexed so that a template is compared with few.
//
//   PolicySet policies;
//   policies.Put(TRY(CompilePropagationPolicy(object)));      // also replaces the one of that name
//   policies.Candidates(ObjectRef::Of(deployment), [](const PropagationPolicy& policy) { ... });
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/selection.h"

namespace baton::federation {

using overrides::MatchLevel;
using overrides::ObjectRef;
using overrides::ResourceSelector;

// The name of a policy. Those without a namespace are ClusterPropagationPolicies.
struct PolicyKey {
  std::string policy_namespace;
  std::string name;

  bool cluster_scoped() const { return policy_namespace.empty(); }
  std::string Title() const;  // "PropagationPolicy default/a", "ClusterPropagationPolicy b"
  friend bool operator==(const PolicyKey&, const PolicyKey&) = default;
  friend auto operator<=>(const PolicyKey&, const PolicyKey&) = default;
};

struct PropagationPolicy {
  PolicyKey key;
  std::string permanent_id;  // its label; "" when admission has not given it one
  int32_t priority = 0;
  bool preempts = false;  // spec.preemption: Always
  bool lazy = false;      // spec.activationPreference: Lazy
  bool deleting = false;  // has a deletionTimestamp
  std::vector<ResourceSelector> selectors;
  std::vector<std::string> dependent_overrides;  // names that must exist before the policy is applied

  MatchLevel Match(const ObjectRef& object) const { return overrides::MatchAny(selectors, object); }
};

// An error names the policy: "PropagationPolicy default/a: spec: resourceSelectors[0]: kind is missing".
Result<PropagationPolicy> CompilePropagationPolicy(const json::Value& policy);

class PolicySet {
 public:
  PolicySet() = default;
  PolicySet(PolicySet&&) = default;
  PolicySet& operator=(PolicySet&&) = default;

  // Adds the policy, or puts it in the place of the one with its key.
  void Put(PropagationPolicy policy);
  bool Erase(const PolicyKey& key);  // false when there was none

  const PropagationPolicy* Find(const PolicyKey& key) const;  // null when absent
  size_t size() const { return policies_.size(); }

  // Calls `use` with every policy of this namespace ("": the cluster-scoped ones) that could match the object: each at
  // most once for each of its selectors that fits by kind and name. In no particular order.
  template <class Use>
  void Candidates(std::string_view policy_namespace, const ObjectRef& object, const Use& use) const;

  // Every policy of this namespace ("": the cluster-scoped ones), by name.
  std::vector<const PropagationPolicy*> In(std::string_view policy_namespace) const;

 private:
  // Namespace of the policy, apiVersion and kind of a selector, its name ("" for selectors without): a template is
  // compared with those of its name and those without a name.
  static std::string IndexKey(std::string_view policy_namespace, std::string_view api_version, std::string_view kind,
                              std::string_view name);
  void Unindex(const PropagationPolicy& policy);

  std::map<PolicyKey, std::unique_ptr<PropagationPolicy>> policies_;  // addresses stay when others come and go
  std::unordered_map<std::string, std::vector<const PropagationPolicy*>> index_;
};

template <class Use>
void PolicySet::Candidates(std::string_view policy_namespace, const ObjectRef& object, const Use& use) const {
  for (const std::string_view name : {object.name, std::string_view()}) {
    const auto found = index_.find(IndexKey(policy_namespace, object.api_version, object.kind, name));
    if (found == index_.end()) continue;
    for (const PropagationPolicy* policy : found->second) use(*policy);
    if (name.empty()) break;
  }
}

}  // namespace baton::federation
