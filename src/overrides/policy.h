// Policy: an OverridePolicy or ClusterOverridePolicy, checked and read once, applied often.
//
//   Policy policy = TRY(CompilePolicy(object));
//   policy.Match(ObjectRef::Of(deployment));       // MatchLevel::kName
//
// Compiling is as strict as admission: a wrong operator, component, pointer or selector is an error that names policy
// and field ("OverridePolicy default/x: spec.overrideRules[1].overriders.imageOverrider[0]: component must be ...").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "overrides/affinity.h"
#include "overrides/overriders.h"
#include "overrides/selection.h"

namespace baton::overrides {

// One of spec.overrideRules, or the deprecated spec.targetCluster with spec.overriders.
struct Rule {
  std::string path;                       // "spec.overrideRules[0]", or "spec" for the deprecated form
  std::optional<ClusterAffinity> target;  // nothing: every cluster
  Overriders overriders;
  std::string shadow;  // its item in Karmada's annotation
};

struct Policy {
  bool cluster_scoped = false;   // a ClusterOverridePolicy
  std::string policy_namespace;  // "" for cluster-scoped ones
  std::string name;
  std::vector<ResourceSelector> selectors;  // none: every object
  std::vector<Rule> rules;

  // "OverridePolicy default/x", "ClusterOverridePolicy y"
  std::string Title() const;

  // How closely it means this object. An OverridePolicy means objects of its own namespace only.
  MatchLevel Match(const ObjectRef& object) const;
};

Result<Policy> CompilePolicy(const json::Value& policy);

}  // namespace baton::overrides
