// The union of selected ClusterRoles.
#include "apiserver/aggregation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

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

constexpr size_t kAggregationDepthMax = 8;  // roles that select roles that select roles

Value Union(const Value& role, const std::vector<Value>& roles, size_t depth = kAggregationDepthMax) {
  Value rules = json::Array();
  for (const Value& selector : role["aggregationRule"]["clusterRoleSelectors"].items()) {
    const Result<json::LabelSelector> labels = json::LabelSelector::FromObject(selector);
    if (!labels.ok()) continue;
    for (const Value& other : roles) {
      if (other["metadata"]["name"] == role["metadata"]["name"]) continue;
      if (!labels->Matches(other["metadata"]["labels"])) continue;
      const bool aggregated = depth > 0 && other["aggregationRule"].is_object();
      const Value given = aggregated ? Union(other, roles, depth - 1) : other["rules"];
      for (const Value& rule : given.items()) {
        if (std::ranges::find(rules.items(), rule) == rules.items().end()) rules.Push(rule);
      }
    }
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
