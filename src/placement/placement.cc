// Compiling a placement.
#include "placement/placement.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/strings.h"

namespace baton::placement {

namespace {

using json::Value;

Result<void> CheckList(const Value& value, std::string_view where, size_t limit) {
  if (!value.is_null() && !value.is_array()) return InvalidError(StrCat(where, " must be a list"));
  if (value.size() > limit) return TooLargeError(StrCat(where, " has ", value.size(), " items; at most ", limit));
  return {};
}

Result<std::string_view> Text(const Value& value, std::string_view where) {
  if (!value.is_null() && !value.is_string()) return InvalidError(StrCat(where, " must be a string"));
  return value.str();
}

// ---- affinities ----

Result<AffinityTerm> ParseTerm(const Value& item, std::string_view where) {
  AffinityTerm term;
  term.affinity = TRY(ParseClusterAffinity(item, where));
  term.name = TRY(Text(item["affinityName"], StrCat(where, ".affinityName")));
  if (term.name.empty()) return InvalidError(StrCat(where, ".affinityName is missing"));
  const Value& overflow = item["overflowAffinities"];
  TRY(CheckList(overflow, StrCat(where, ".overflowAffinities"), kMaxOverflowAffinities));
  for (const Value& more : overflow.items()) {
    term.overflow.push_back(TRY(ParseClusterAffinity(more, StrCat(where, ".overflowAffinities[]"))));
  }
  return term;
}

Result<void> ParseAffinities(const Value& object, Placement& placement) {
  const Value& one = object["clusterAffinity"];
  const Value& many = object["clusterAffinities"];
  TRY(CheckList(many, "clusterAffinities", kMaxAffinityTerms));
  if (!one.is_null() && !many.empty()) {
    return InvalidError("clusterAffinities cannot co-exist with clusterAffinity: use one of them");
  }
  if (many.empty()) {
    placement.terms.resize(1);
    if (!one.is_null()) placement.terms[0].affinity = TRY(ParseClusterAffinity(one, "clusterAffinity"));
    return {};
  }
  placement.has_affinities = true;
  for (size_t i = 0; i < many.size(); ++i) {
    AffinityTerm term = TRY(ParseTerm(many[i], StrCat("clusterAffinities[", i, "]")));
    if (std::ranges::find(placement.terms, term.name, &AffinityTerm::name) != placement.terms.end()) {
      return InvalidError(StrCat("clusterAffinities has two terms called ", Quote(term.name)));
    }
    placement.terms.push_back(std::move(term));
  }
  return {};
}

Result<void> ParseTolerations(const Value& list, Placement& placement) {
  TRY(CheckList(list, "clusterTolerations", kMaxTolerations));
  for (const Value& item : list.items()) {
    Toleration toleration;
    toleration.key = TRY(Text(item["key"], "clusterTolerations[].key"));
    toleration.value = TRY(Text(item["value"], "clusterTolerations[].value"));
    toleration.effect = TRY(Text(item["effect"], "clusterTolerations[].effect"));
    const std::string_view op = TRY(Text(item["operator"], "clusterTolerations[].operator"));
    if (!op.empty() && op != "Equal" && op != "Exists") {
      return InvalidError(StrCat("clusterTolerations[].operator is ", Quote(op), "; it must be Equal or Exists"));
    }
    toleration.exists = op == "Exists";
    placement.tolerations.push_back(std::move(toleration));
  }
  return {};
}

// ---- spread ----

Result<int32_t> Groups(const Value& value, std::string_view where) {
  if (value.is_null()) return 0;
  const int64_t number = value.int_or(-1);
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    return InvalidError(StrCat(where, " must be a whole number of 0 or more"));
  }
  return static_cast<int32_t>(number);
}

Result<void> ParseSpread(const Value& list, Placement& placement) {
  TRY(CheckList(list, "spreadConstraints", kSpreadFields * 2));
  for (const Value& item : list.items()) {
    std::string_view name = TRY(Text(item["spreadByField"], "spreadConstraints[].spreadByField"));
    const std::string_view label = TRY(Text(item["spreadByLabel"], "spreadConstraints[].spreadByLabel"));
    SpreadConstraint constraint;
    constraint.max_groups = TRY(Groups(item["maxGroups"], "spreadConstraints[].maxGroups"));
    constraint.min_groups = std::max(1, TRY(Groups(item["minGroups"], "spreadConstraints[].minGroups")));
    if (constraint.max_groups > 0 && constraint.max_groups < constraint.min_groups) {
      return InvalidError(StrCat("spreadConstraints[]: maxGroups ", constraint.max_groups, " is lower than minGroups ",
                                 constraint.min_groups));
    }
    if (!label.empty()) {
      if (!name.empty())
        return InvalidError("spreadConstraints[]: spreadByLabel should not co-exist with spreadByField");
      placement.spread_by_label = true;
      continue;
    }
    if (name.empty()) name = "cluster";
    size_t field = 0;
    while (field < kSpreadFields && SpreadFieldName(static_cast<SpreadField>(field)) != name) ++field;
    if (field == kSpreadFields) {
      return InvalidError(StrCat("spreadConstraints[].spreadByField is ", Quote(name),
                                 "; it must be cluster, region, zone or provider"));
    }
    if (placement.spread[field].has_value()) {
      return InvalidError(StrCat("multiple ", name, " spread constraints are not allowed"));
    }
    placement.spread[field] = constraint;
  }
  return {};
}

// ---- replicas ----

Result<void> ParseWeights(const Value& preference, Placement& placement) {
  if (preference.is_null()) return {};
  if (!preference.is_object()) return InvalidError("replicaScheduling.weightPreference must be an object");
  placement.has_weight_preference = true;
  const Value& list = preference["staticWeightList"];
  TRY(CheckList(list, "replicaScheduling.weightPreference.staticWeightList", kMaxStaticWeights));
  for (const Value& item : list.items()) {
    StaticWeight weight;
    weight.target = TRY(ParseClusterAffinity(item["targetCluster"], "staticWeightList[].targetCluster"));
    weight.weight = item["weight"].int_or(-1);
    if (weight.weight < 0 || weight.weight > std::numeric_limits<int32_t>::max()) {
      return InvalidError("staticWeightList[].weight must be a whole number from 1 to 2147483647");
    }
    placement.static_weights.push_back(std::move(weight));
  }
  const std::string_view dynamic = TRY(Text(preference["dynamicWeight"], "weightPreference.dynamicWeight"));
  if (!dynamic.empty() && dynamic != "AvailableReplicas") {
    return InvalidError(StrCat("weightPreference.dynamicWeight is ", Quote(dynamic), "; it must be AvailableReplicas"));
  }
  if (!dynamic.empty() && placement.division == Division::kStaticWeight) placement.division = Division::kDynamicWeight;
  return {};
}

Result<void> ParseReplicaScheduling(const Value& object, Placement& placement) {
  if (object.is_null()) return {};
  if (!object.is_object()) return InvalidError("replicaScheduling must be an object");
  placement.has_replica_scheduling = true;
  const std::string_view type = TRY(Text(object["replicaSchedulingType"], "replicaScheduling.replicaSchedulingType"));
  const std::string_view preference =
      TRY(Text(object["replicaDivisionPreference"], "replicaScheduling.replicaDivisionPreference"));
  if (!type.empty() && type != "Divided" && type != "Duplicated") {
    return InvalidError(StrCat("replicaSchedulingType is ", Quote(type), "; it must be Duplicated or Divided"));
  }
  if (!preference.empty() && preference != "Weighted" && preference != "Aggregated") {
    return InvalidError(
        StrCat("replicaDivisionPreference is ", Quote(preference), "; it must be Aggregated or Weighted"));
  }
  if (type == "Duplicated") {
    placement.division = Division::kDuplicated;
  } else {
    placement.division = preference == "Aggregated" ? Division::kAggregated : Division::kStaticWeight;
  }
  return ParseWeights(object["weightPreference"], placement);
}

Result<void> ParseWorkloadAffinity(const Value& object, Placement& placement) {
  placement.affinity_label =
      TRY(Text(object["affinity"]["groupByLabelKey"], "workloadAffinity.affinity.groupByLabelKey"));
  placement.anti_affinity_label =
      TRY(Text(object["antiAffinity"]["groupByLabelKey"], "workloadAffinity.antiAffinity.groupByLabelKey"));
  if (!placement.affinity_label.empty() && placement.affinity_label == placement.anti_affinity_label) {
    return InvalidError("workloadAffinity: affinity and antiAffinity must use different label keys");
  }
  return {};
}

Result<void> CheckOverflow(const Placement& placement) {
  const bool by_capacity =
      placement.division == Division::kAggregated || placement.division == Division::kDynamicWeight;
  for (const AffinityTerm& term : placement.terms) {
    if (term.overflow.empty()) continue;
    if (!by_capacity) {
      return InvalidError(StrCat("affinity ", Quote(term.name),
                                 ": overflowAffinities can only be used together with dynamic weight or aggregated "
                                 "scheduling"));
    }
    if (term.affinity.MatchesEverything()) {
      return InvalidError(StrCat("affinity ", Quote(term.name),
                                 " already takes every cluster: overflowAffinities need ",
                                 "an affinity of their own to overflow from"));
    }
  }
  return {};
}

void Warn(Placement& placement) {
  if (placement.spread_ignored()) {
    placement.warnings.emplace_back(
        "spreadConstraints do not act together with static weights: use dynamicWeight, Aggregated or Duplicated");
  }
  for (size_t field = 0; field < kSpreadFields; ++field) {
    if (!placement.spread[field].has_value() || placement.spread[field]->max_groups != 0) continue;
    placement.warnings.push_back(StrCat("spread by ", SpreadFieldName(static_cast<SpreadField>(field)),
                                        " has no maxGroups: there is no upper limit (Karmada selects no cluster)"));
  }
}

}  // namespace

std::string_view SpreadFieldName(SpreadField field) {
  switch (field) {
    case SpreadField::kCluster:
      return "cluster";
    case SpreadField::kRegion:
      return "region";
    case SpreadField::kProvider:
      return "provider";
    case SpreadField::kZone:
      return "zone";
  }
  return "";
}

std::string_view DivisionName(Division division) {
  switch (division) {
    case Division::kDuplicated:
      return "Duplicated";
    case Division::kStaticWeight:
      return "static weights";
    case Division::kDynamicWeight:
      return "dynamic weights";
    case Division::kAggregated:
      return "Aggregated";
  }
  return "";
}

bool Toleration::Tolerates(const Taint& taint) const {
  if (!effect.empty() && effect != taint.effect) return false;
  if (key.empty()) return exists;
  if (key != taint.key) return false;
  return exists || value == taint.value;
}

bool Placement::has_spread() const {
  return spread_by_label || std::ranges::any_of(spread, [](const auto& s) { return s.has_value(); });
}

bool Placement::spread_ignored() const {
  return has_spread() && division == Division::kStaticWeight && (!has_weight_preference || !static_weights.empty());
}

bool Placement::one_cluster() const {
  const auto& constraint = Spread(SpreadField::kCluster);
  return constraint.has_value() && constraint->min_groups == 1 && constraint->max_groups == 1;
}

Result<Placement> CompilePlacement(const Value& object) {
  Placement placement;
  if (!object.is_null() && !object.is_object()) return InvalidError("placement must be an object");
  const auto read = [&]() -> Result<void> {
    TRY(ParseAffinities(object, placement));
    TRY(ParseTolerations(object["clusterTolerations"], placement));
    TRY(ParseSpread(object["spreadConstraints"], placement));
    TRY(ParseReplicaScheduling(object["replicaScheduling"], placement));
    TRY(ParseWorkloadAffinity(object["workloadAffinity"], placement));
    return CheckOverflow(placement);
  };
  TRY(read().Context("placement"));
  Warn(placement);
  return placement;
}

bool PlacementChanged(const Placement& current, const Placement& applied, std::string_view observed_affinity) {
  if (current == applied) return false;
  if (!current.has_affinities || !applied.has_affinities || observed_affinity.empty()) return true;
  Placement rest = current;  // rare: the policy was edited
  rest.terms = applied.terms;
  rest.affinity_label = applied.affinity_label;
  rest.anti_affinity_label = applied.anti_affinity_label;
  if (rest != applied) return true;
  const auto now = std::ranges::find(current.terms, observed_affinity, &AffinityTerm::name);
  const auto then = std::ranges::find(applied.terms, observed_affinity, &AffinityTerm::name);
  return now == current.terms.end() || then == applied.terms.end() || *now != *then;
}

}  // namespace baton::placement
