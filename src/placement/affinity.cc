// Reading and matching a ClusterAffinity.
#include "placement/affinity.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace baton::placement {

namespace {

using json::Value;

Result<std::vector<std::string>> Names(const Value& list, std::string_view where) {
  std::vector<std::string> names;
  if (list.is_null()) return names;
  if (!list.is_array()) return InvalidError(StrCat(where, " must be a list of names"));
  if (list.size() > kMaxAffinityNames) {
    return TooLargeError(StrCat(where, " has ", list.size(), " items; at most ", kMaxAffinityNames));
  }
  for (const Value& item : list.items()) {
    if (!item.is_string()) return InvalidError(StrCat(where, " must be a list of strings"));
    names.emplace_back(item.str());
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

bool Contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name, {}, [](const std::string& s) { return std::string_view(s); });
}

Result<FieldExpression> ParseField(const Value& item, std::string_view where) {
  FieldExpression expression;
  const std::string_view key = item["key"].str();
  if (key == "provider") {
    expression.field = ClusterField::kProvider;
  } else if (key == "region") {
    expression.field = ClusterField::kRegion;
  } else if (key == "zone") {
    expression.field = ClusterField::kZone;
  } else {
    return InvalidError(StrCat(where, ".key is ", Quote(key), "; it must be provider, region or zone"));
  }
  const std::string_view op = item["operator"].str();
  if (op != "In" && op != "NotIn") {
    return InvalidError(StrCat(where, ".operator is ", Quote(op), "; it must be In or NotIn"));
  }
  expression.in = op == "In";
  expression.values = TRY(Names(item["values"], StrCat(where, ".values")));
  return expression;
}

bool FieldMatches(const FieldExpression& expression, const Cluster& cluster) {
  bool found = false;
  switch (expression.field) {
    case ClusterField::kProvider:
      found = !cluster.provider.empty() && Contains(expression.values, cluster.provider);
      break;
    case ClusterField::kRegion:
      found = !cluster.region.empty() && Contains(expression.values, cluster.region);
      break;
    case ClusterField::kZone:
      found = std::ranges::any_of(cluster.zones, [&](const std::string& z) { return Contains(expression.values, z); });
      break;
  }
  return found == expression.in;
}

}  // namespace

bool ClusterAffinity::Matches(const Cluster& cluster) const {
  if (Contains(excluded, cluster.name)) return false;
  if (!cluster_names.empty() && !Contains(cluster_names, cluster.name)) return false;
  if (label_selector.has_value() && !label_selector->Matches(cluster.labels)) return false;
  return std::ranges::all_of(fields, [&](const FieldExpression& field) { return FieldMatches(field, cluster); });
}

bool ClusterAffinity::MatchesEverything() const {
  return cluster_names.empty() && excluded.empty() && fields.empty() &&
         (!label_selector.has_value() || label_selector->selects_everything());
}

Result<ClusterAffinity> ParseClusterAffinity(const Value& object, std::string_view where) {
  ClusterAffinity affinity;
  if (!object.is_object()) return InvalidError(StrCat(where, " must be an object"));
  affinity.cluster_names = TRY(Names(object["clusterNames"], StrCat(where, ".clusterNames")));
  affinity.excluded = TRY(Names(object["exclude"], StrCat(where, ".exclude")));
  if (const Value& labels = object["labelSelector"]; !labels.is_null()) {
    json::LabelSelector selector =
        TRY(json::LabelSelector::FromObject(labels).Context(StrCat(where, ".labelSelector")));
    if (!selector.selects_everything()) affinity.label_selector = std::move(selector);
  }
  const Value& selector = object["fieldSelector"];
  const Value& expressions = selector["matchExpressions"];
  if ((!selector.is_null() && !selector.is_object()) || (!expressions.is_null() && !expressions.is_array())) {
    return InvalidError(StrCat(where, ".fieldSelector must be an object with a list of matchExpressions"));
  }
  if (expressions.size() > kMaxFieldExpressions) {
    return TooLargeError(
        StrCat(where, ".fieldSelector.matchExpressions has more than ", kMaxFieldExpressions, " items"));
  }
  for (const Value& item : expressions.items()) {
    affinity.fields.push_back(TRY(ParseField(item, StrCat(where, ".fieldSelector.matchExpressions[]"))));
  }
  return affinity;
}

}  // namespace baton::placement
