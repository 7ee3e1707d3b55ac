// Matching and covering of PolicyRules, by the letter of Kubernetes' evaluation helpers and policy comparator.
#include "apiserver/rbac_rule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace baton::apiserver {
namespace {

using Strings = std::vector<std::string>;

bool Has(const Strings& set, std::string_view element) { return std::ranges::find(set, element) != set.end(); }
bool HasOrStar(const Strings& set, std::string_view element) {
  return std::ranges::any_of(set, [&](const std::string& member) { return member == "*" || member == element; });
}

// "/api/*" covers what begins with "/api/"; "*" covers all.
bool UrlCovers(std::string_view pattern, std::string_view url) {
  if (pattern == url) return true;
  if (!pattern.ends_with('*')) return false;
  while (pattern.ends_with('*')) pattern.remove_suffix(1);
  return url.starts_with(pattern);
}

bool AnyUrlCovers(const Strings& patterns, std::string_view url) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return UrlCovers(pattern, url); });
}

// "pods", "pods/log", "*", "*/log"; but "pods/*" is nothing special.
bool ResourceAllowed(const Strings& resources, std::string_view resource, std::string_view subresource) {
  return std::ranges::any_of(resources, [&](std::string_view rule) {
    if (rule == "*") return true;
    if (subresource.empty()) return rule == resource;
    if (!rule.ends_with(subresource)) return false;
    rule.remove_suffix(subresource.size());
    if (!rule.ends_with('/')) return false;
    rule.remove_suffix(1);
    return rule == resource || rule == "*";
  });
}

// As above, for a rule's own resource "pods/log": any slash after the first belongs to the subresource.
bool ResourceCovered(const Strings& owned, std::string_view resource) {
  if (HasOrStar(owned, resource)) return true;
  const size_t slash = resource.find('/');
  return slash != std::string_view::npos && Has(owned, StrCat("*", resource.substr(slash)));
}

Strings StringsOf(const json::Value& list) {
  Strings strings;
  for (const json::Value& item : list.items()) {
    if (item.is_string()) strings.emplace_back(item.str());
  }
  return strings;
}

void AppendList(std::string& out, std::string_view label, const Strings& list) {
  if (list.empty()) return;
  StrAppend(out, out.size() > 1 ? ", " : "", label, ":[");
  for (size_t i = 0; i < list.size(); ++i) StrAppend(out, i == 0 ? "" : " ", Quote(list[i]));
  out += ']';
}

// Every combination of one rule as a rule of its own.
template <class Visit>
void ForEachCombination(const PolicyRule& rule, const Visit& visit) {
  for (const std::string& group : rule.groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        PolicyRule one{.verbs = {verb}, .groups = {group}, .resources = {resource}, .names = {}, .urls = {}};
        if (rule.names.empty()) visit(one);
        for (const std::string& name : rule.names) {
          one.names = {name};
          visit(one);
        }
      }
    }
  }
  for (const std::string& url : rule.urls) {
    for (const std::string& verb : rule.verbs)
      visit(PolicyRule{.verbs = {verb}, .groups = {}, .resources = {}, .names = {}, .urls = {url}});
  }
}

// Saturates above the limit; the factors are lengths of lists in one request body, so no product of two overflows.
size_t Combinations(const PolicyRule& rule) {
  const auto capped = [](size_t a, size_t b) { return std::min(a * b, kRuleCombinationsMax + 1); };
  const size_t names = std::max<size_t>(rule.names.size(), 1);
  const size_t of_resources =
      capped(capped(capped(rule.groups.size(), rule.resources.size()), rule.verbs.size()), names);
  return of_resources + capped(rule.urls.size(), rule.verbs.size());
}

}  // namespace

bool PolicyRule::Allows(const Attributes& attributes) const {
  if (!HasOrStar(verbs, attributes.verb)) return false;
  if (attributes.resource.empty()) return AnyUrlCovers(urls, attributes.path);
  return HasOrStar(groups, attributes.group) &&
         ResourceAllowed(resources, attributes.resource, attributes.subresource) &&
         (names.empty() || Has(names, attributes.name));
}

bool PolicyRule::Covers(const PolicyRule& one) const {
  if (!HasOrStar(verbs, one.verbs.front())) return false;
  if (!one.names.empty() ? !names.empty() && !Has(names, one.names.front()) : !names.empty()) return false;
  if (!one.urls.empty()) return AnyUrlCovers(urls, one.urls.front());
  return HasOrStar(groups, one.groups.front()) && ResourceCovered(resources, one.resources.front());
}

std::string PolicyRule::ToString() const {
  std::string text = "{";
  AppendList(text, "APIGroups", groups);
  AppendList(text, "Resources", resources);
  AppendList(text, "NonResourceURLs", urls);
  AppendList(text, "ResourceNames", names);
  AppendList(text, "Verbs", verbs);
  return text + "}";
}

std::vector<PolicyRule> ParseRules(const json::Value& rules) {
  std::vector<PolicyRule> parsed;
  parsed.reserve(rules.size());
  for (const json::Value& rule : rules.items()) {
    parsed.push_back({.verbs = StringsOf(rule["verbs"]),
                      .groups = StringsOf(rule["apiGroups"]),
                      .resources = StringsOf(rule["resources"]),
                      .names = StringsOf(rule["resourceNames"]),
                      .urls = StringsOf(rule["nonResourceURLs"])});
  }
  return parsed;
}

std::vector<std::string> Uncovered(std::span<const PolicyRule* const> owned, std::span<const PolicyRule> wanted) {
  size_t combinations = 0;
  for (const PolicyRule& rule : wanted) {
    combinations += Combinations(rule);
    if (combinations > kRuleCombinationsMax)
      return {StrCat("the rules are too many to be checked: more than ", kRuleCombinationsMax,
                     " combinations of group, resource, verb and name")};
  }
  std::set<std::string> texts;
  std::map<std::tuple<std::string, std::string, Strings>, PolicyRule> by_resource;
  for (const PolicyRule& rule : wanted) {
    ForEachCombination(rule, [&](const PolicyRule& one) {
      if (std::ranges::any_of(owned, [&](const PolicyRule* own) { return own->Covers(one); })) return;
      if (!one.urls.empty()) {
        texts.insert(one.ToString());
        return;
      }
      const auto [found, added] = by_resource.try_emplace({one.groups[0], one.resources[0], one.names}, one);
      if (!added) found->second.verbs.push_back(one.verbs[0]);
    });
  }
  for (const auto& [resource, rule] : by_resource) texts.insert(rule.ToString());
  return {texts.begin(), texts.end()};
}

}  // namespace baton::apiserver
