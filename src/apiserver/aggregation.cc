// The union of selected ClusterRoles.
#include "apiserver/aggregation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json/selector.h"

namespace baton::apiserver {

namespace {

using json::Value;

std::vector<Value> AllClusterRoles(Core& core, const ResourceType& type) {
  std::vector<Value> roles;
  const Result<store::ListResult> found = core.store().List(StoragePrefix(type, ""));
  if (!found.ok()) return roles;
  for (const store::Entry& entry : found->entries) roles.push_back(core.Decode(entry.value));
  return roles;
}

// The rules of all roles that are selected, directly or through other aggregating roles (which may form circles), each
// rule once. Every role is visited once: there may be as many ways through them as there are subsets.
Value Union(const Value& role, const std::vector<Value>& roles) {
  Value rules = json::Array();
  std::unordered_set<std::string> known;
  std::unordered_set<std::string_view> visited = {role["metadata"]["name"].str()};
  std::vector<const Value*> open = {&role};
  while (!open.empty()) {
    const Value& next = *open.back();
    open.pop_back();
    if (!next["aggregationRule"].is_object()) {
      for (const Value& rule : next["rules"].items()) {
        if (known.insert(rule.ToString()).second) rules.Push(rule);
      }
      continue;
    }
    std::vector<const Value*> selected;
    for (const Value& selector : next["aggregationRule"]["clusterRoleSelectors"].items()) {
      const Result<json::LabelSelector> labels = json::LabelSelector::FromObject(selector);
      if (!labels.ok()) continue;
      for (const Value& other : roles) {
        if (labels->Matches(other["metadata"]["labels"]) && visited.insert(other["metadata"]["name"].str()).second) {
          selected.push_back(&other);
        }
      }
    }
    std::ranges::reverse_copy(selected, std::back_inserter(open));
  }
  return rules;
}

}  // namespace

Value EffectiveRules(Core& core, const Value& role) {
  if (!role["aggregationRule"].is_object()) return role["rules"];
  const ResourceTypePtr type = core.registry().FindResource("rbac.authorization.k8s.io", "clusterroles");
  return Union(role, AllClusterRoles(core, *type));
}

rt::Task<void> KeepAggregatedRoles(Core& core) {
  const ResourceTypePtr type = core.registry().FindResource("rbac.authorization.k8s.io", "clusterroles");
  while (true) {
    const Revision seen = core.store().revision();
    const std::vector<Value> roles = AllClusterRoles(core, *type);
    for (const Value& role : roles) {
      if (!role["aggregationRule"].is_object() || role["rules"] == Union(role, roles)) continue;
      const std::string name(role["metadata"]["name"].str());
      const Result<Written> written =
          co_await core.Modify({.type = type, .ns = {}, .name = name, .subresource = {}}, [&](const Value& object) {
            Value next = object;
            next.Set("rules", Union(object, AllClusterRoles(core, *type)));
            return std::optional(std::move(next));
          });
      (void)written;  // one that went meanwhile needs none
    }
    Result<std::unique_ptr<store::Watch>> watch = core.store().OpenWatch(StoragePrefix(*type, ""), seen);
    if (!watch.ok() && watch.error().kind() == ErrorKind::kGone) continue;
    if (!watch.ok()) co_return;
    const auto changes = co_await (*watch)->Next();
    if (!changes.ok() && changes.error().kind() != ErrorKind::kGone) co_return;
  }
}

}  // namespace baton::apiserver
