// Internal to RBAC: one PolicyRule, what it allows, and whether it covers another.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/rbac.h"
#include "json/value.h"

namespace baton::apiserver {

struct PolicyRule {
  std::vector<std::string> verbs;
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  std::vector<std::string> names;
  std::vector<std::string> urls;

  bool Allows(const Attributes& attributes) const;
  // `one` has one verb, and one group, resource and at most one name, or one URL.
  bool Covers(const PolicyRule& one) const;
  // {APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}
  std::string ToString() const;

  friend bool operator==(const PolicyRule&, const PolicyRule&) = default;
};

// The `rules` of a role; what is not of the right form is left out, which allows less.
std::vector<PolicyRule> ParseRules(const json::Value& rules);

// A rule set of more combinations than this is not looked at: it counts as not covered.
inline constexpr size_t kRuleCombinationsMax = 100'000;

// The texts of what `owned` does not cover of `wanted`: verbs of one resource together, sorted, each once.
std::vector<std::string> Uncovered(std::span<const PolicyRule* const> owned, std::span<const PolicyRule> wanted);

}  // namespace baton::apiserver
