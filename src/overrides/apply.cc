// Which rules in which order, then one after the other.
#include "overrides/apply.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "overrides/work.h"

namespace baton::overrides {
namespace {

struct Candidate {
  const Policy* policy;
  MatchLevel level;

  // Cluster-scoped first. Names are unique in each of the two sets, so that this orders all of them.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tuple(!a.policy->cluster_scoped, a.level, std::string_view(a.policy->name)) <
           std::tuple(!b.policy->cluster_scoped, b.level, std::string_view(b.policy->name));
  }
};

std::vector<AppliedRule> RulesFor(const json::Value& object, const Target& cluster, std::span<const Policy> policies) {
  const ObjectRef ref = ObjectRef::Of(object);
  std::vector<Candidate> candidates;
  for (const Policy& policy : policies) {
    const MatchLevel level = policy.Match(ref);
    if (level != MatchLevel::kNone) candidates.push_back({.policy = &policy, .level = level});
  }
  std::ranges::sort(candidates, std::less<>());
  std::vector<AppliedRule> rules;
  for (const Candidate& candidate : candidates) {
    for (const Rule& rule : candidate.policy->rules) {
      if (rule.target.has_value() && !rule.target->Matches(cluster)) continue;
      rules.push_back({.policy = candidate.policy, .rule = &rule});
    }
  }
  return rules;
}

std::string Annotation(std::span<const AppliedRule> applied, bool cluster_scoped) {
  std::vector<const AppliedRule*> listed;
  for (const AppliedRule& one : applied) {
    if (one.policy->cluster_scoped == cluster_scoped) listed.push_back(&one);
  }
  if (listed.empty()) return "";
  // Rules of one policy stay in their order, which is that of their addresses.
  std::ranges::sort(listed, {},
                    [](const AppliedRule* one) { return std::pair(std::string_view(one->policy->name), one); });
  std::string text = "[";
  for (const AppliedRule* one : listed) StrAppend(text, text.size() > 1 ? "," : "", one->rule->shadow);
  text += ']';
  return text;
}

}  // namespace

Result<Applied> Apply(const json::Value& object, const Target& cluster, std::span<const Policy> policies) {
  Applied applied{.object = object, .rules = RulesFor(object, cluster, policies)};
  Work work;
  for (const AppliedRule& one : applied.rules) {
    const Result<void> done = one.rule->overriders.Apply(applied.object, work);
    if (!done.ok()) return done.error().Context(StrCat(one.policy->Title(), ": ", one.rule->path));
  }
  applied.cluster_overrides = Annotation(applied.rules, true);
  applied.overrides = Annotation(applied.rules, false);
  return applied;
}

}  // namespace baton::overrides
