// Reading override policies.
#include "overrides/policy.h"

#include <span>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "overrides/reading.h"
#include "overrides/shadow.h"

namespace baton::overrides {
namespace {

Result<Rule> CompileRule(const json::Value& rule, std::string path, std::string_view policy_name) {
  if (!rule.is_object()) return InvalidError("a rule must be an object");
  Rule compiled{.path = std::move(path)};
  if (const json::Value& target = rule["targetCluster"]; !target.is_null()) {
    compiled.target = TRY(ClusterAffinity::Compile(target).Context("targetCluster"));
  }
  const json::Value& overriders = rule["overriders"];
  compiled.overriders = TRY(Overriders::Compile(overriders).Context("overriders"));
  compiled.shadow = PrintShadow(policy_name, overriders);
  return compiled;
}

Result<void> CompileSpec(const json::Value& spec, Policy& policy) {
  policy.selectors = TRY(CompileSelectors(spec).Context("spec"));
  const std::span<const json::Value> rules = TRY(ReadList(spec, "overrideRules").Context("spec"));
  for (size_t i = 0; i < rules.size(); ++i) {
    std::string path = StrCat("spec.", IndexedName("overrideRules", i));
    policy.rules.push_back(TRY(CompileRule(rules[i], path, policy.name).Context(path)));
  }
  // As Karmada, which looks at the deprecated pair only when there are no rules. It always looks at it then, so that a
  // policy without any overrider is listed as applied too.
  if (rules.empty() && spec.is_object()) {
    policy.rules.push_back(TRY(CompileRule(spec, "spec", policy.name).Context("spec")));
  }
  return {};
}

}  // namespace

std::string Policy::Title() const {
  return cluster_scoped ? StrCat("ClusterOverridePolicy ", name)
                        : StrCat("OverridePolicy ", policy_namespace, "/", name);
}

MatchLevel Policy::Match(const ObjectRef& object) const {
  if (!cluster_scoped && object.object_namespace != policy_namespace) return MatchLevel::kNone;
  return selectors.empty() ? MatchLevel::kAll : MatchAny(selectors, object);
}

Result<Policy> CompilePolicy(const json::Value& policy) {
  const std::string_view kind = policy["kind"].str();
  if (kind != "OverridePolicy" && kind != "ClusterOverridePolicy") {
    return InvalidError(StrCat("expected an OverridePolicy or a ClusterOverridePolicy, not kind ", Quote(kind)));
  }
  Policy compiled{.cluster_scoped = kind == "ClusterOverridePolicy"};
  const json::Value& metadata = policy["metadata"];
  compiled.name = TRY(ReadRequiredString(metadata, "name").Context(StrCat(kind, ": metadata")));
  if (!compiled.cluster_scoped) {
    compiled.policy_namespace = TRY(ReadRequiredString(metadata, "namespace").Context(StrCat(kind, ": metadata")));
  }
  const Result<const json::Value*> spec = ReadObject(policy, "spec");
  if (!spec.ok()) return spec.error().Context(compiled.Title());
  const Result<void> read = CompileSpec(**spec, compiled);
  if (!read.ok()) return read.error().Context(compiled.Title());
  return compiled;
}

}  // namespace baton::overrides
