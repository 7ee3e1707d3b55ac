// Cluster affinities. Zones are a set: In needs one in common, NotIn none (as Karmada since v1.18).
#include "overrides/affinity.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/strings.h"
#include "overrides/reading.h"

namespace baton::overrides {
namespace {

bool Contains(std::span<const std::string> texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

}  // namespace

Target Target::FromCluster(const json::Value& cluster) {
  const json::Value& spec = cluster["spec"];
  Target target{.name = std::string(cluster["metadata"]["name"].str()),
                .labels = cluster["metadata"]["labels"],
                .provider = std::string(spec["provider"].str()),
                .region = std::string(spec["region"].str())};
  for (const json::Value& zone : spec["zones"].items()) target.zones.emplace_back(zone.str());
  if (target.zones.empty() && !spec["zone"].str().empty()) target.zones.emplace_back(spec["zone"].str());
  return target;
}

Result<ClusterAffinity::FieldRequirement> ClusterAffinity::FieldRequirement::Compile(const json::Value& expression) {
  static constexpr std::pair<std::string_view, Operator> kOperators[] = {{"In", Operator::kIn},
                                                                         {"NotIn", Operator::kNotIn},
                                                                         {"Exists", Operator::kExists},
                                                                         {"DoesNotExist", Operator::kDoesNotExist}};
  FieldRequirement compiled;
  compiled.key = TRY(ReadRequiredString(expression, "key"));
  compiled.values = TRY(ReadStrings(expression, "values"));
  const std::string_view name = TRY(ReadString(expression, "operator"));
  const auto* op = std::ranges::find(kOperators, name, &std::pair<std::string_view, Operator>::first);
  if (op == std::end(kOperators)) return InvalidError(StrCat("operator must be In or NotIn, not ", Quote(name)));
  compiled.op = op->second;
  return compiled;
}

bool ClusterAffinity::FieldRequirement::Matches(const Target& cluster) const {
  std::span<const std::string> found;
  if (key == "zone") {
    found = cluster.zones;
  } else if (key == "provider" && !cluster.provider.empty()) {
    found = {&cluster.provider, 1};
  } else if (key == "region" && !cluster.region.empty()) {
    found = {&cluster.region, 1};
  }
  const auto in = [&] {
    return std::ranges::any_of(found, [&](const std::string& one) { return Contains(values, one); });
  };
  switch (op) {
    case Operator::kIn:
      return in();
    case Operator::kNotIn:
      return !in();
    case Operator::kExists:
      return !found.empty();
    case Operator::kDoesNotExist:
      return found.empty();
  }
  return false;
}

Result<ClusterAffinity> ClusterAffinity::Compile(const json::Value& affinity) {
  if (!affinity.is_object()) return InvalidError("a cluster affinity must be an object");
  ClusterAffinity compiled;
  compiled.names_ = TRY(ReadStrings(affinity, "clusterNames"));
  compiled.exclude_ = TRY(ReadStrings(affinity, "exclude"));
  if (const json::Value& labels = affinity["labelSelector"]; !labels.is_null()) {
    compiled.labels_ = TRY(json::LabelSelector::FromObject(labels).Context("labelSelector"));
  }
  const json::Value& fields = *TRY(ReadObject(affinity, "fieldSelector"));
  compiled.fields_ =
      TRY(ReadEach<FieldRequirement>(fields, "matchExpressions", FieldRequirement::Compile).Context("fieldSelector"));
  return compiled;
}

bool ClusterAffinity::Matches(const Target& cluster) const {
  if (Contains(exclude_, cluster.name)) return false;
  if (labels_.has_value() && !labels_->Matches(cluster.labels)) return false;
  if (!std::ranges::all_of(fields_, [&](const FieldRequirement& field) { return field.Matches(cluster); }))
    return false;
  return names_.empty() || Contains(names_, cluster.name);
}

}  // namespace baton::overrides
