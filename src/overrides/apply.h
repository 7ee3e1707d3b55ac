// Apply: the version of an object that one cluster gets, after Karmada's override policies.
//
//   std::vector<Policy> policies = ...;                              // CompilePolicy() of each, in any order
//   Applied applied = TRY(Apply(deployment, Target::FromCluster(cluster), policies));
//   Send(applied.object);
//   if (!applied.overrides.empty()) annotations.Set("policy.karmada.io/applied-overrides", applied.overrides);
//
// The order is Karmada's, and the later one wins: all ClusterOverridePolicies, then the OverridePolicies of the
// object's namespace; among them those that select everything, then those by label, then those by name; then by the
// policy's name; then the rules as listed; within a rule image, command, args, labels, annotations, field, plaintext.
//
// All or nothing: the first override that fails fails the whole, and the error names policy, rule and path:
//   "OverridePolicy default/x: spec.overrideRules[0]: plaintext: operation 0 (replace /spec/foo): there is no ..."
// What no override changes is the value that was given (the same storage); so is the whole when nothing applies.
//
// A policy that is being deleted still counts, as in Karmada. Which policies to pass is for the caller: those of other
// namespaces are ignored.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/affinity.h"
#include "overrides/policy.h"

namespace baton::overrides {

// A rule that was applied. Points into the policies given to Apply.
struct AppliedRule {
  const Policy* policy;
  const Rule* rule;
};

struct Applied {
  json::Value object;
  std::vector<AppliedRule> rules;  // in the order of application

  // The values of policy.karmada.io/applied-cluster-overrides and policy.karmada.io/applied-overrides as Karmada writes
  // them: one item per rule, sorted by policy name. "" when there is none: Karmada then writes no annotation.
  std::string cluster_overrides;
  std::string overrides;
};

Result<Applied> Apply(const json::Value& object, const Target& cluster, std::span<const Policy> policies);

}  // namespace baton::overrides
