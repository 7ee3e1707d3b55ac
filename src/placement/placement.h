// Placement: the `placement` of a PropagationPolicy, compiled: defaults filled in, selectors parsed, wrong input
// refused.
//
//   Placement placement = TRY(CompilePlacement(binding["spec"]["placement"]));
//
// Compile once per placement value and keep it: two placements are equal (==) when they mean the same, whatever the
// order of names, empty lists or spelled-out defaults in the text.
//
// Where Karmada's own reading is a trap, ours is as follows, and `warnings` tells the user:
//  - maxGroups absent or 0 is no limit (Karmada selects no cluster at all and reports a scheduler error);
//  - spread constraints do not act together with static weights, as in Karmada, but not silently;
//  - spread by zone and provider choose groups as spread by region does (in Karmada they only demand that the cluster
//    has the property). Of several grouping fields region chooses before provider before zone; the others are checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "placement/affinity.h"
#include "placement/cluster.h"

namespace baton::placement {

inline constexpr size_t kMaxAffinityTerms = 256;
inline constexpr size_t kMaxOverflowAffinities = 1000;  // of one term; a cluster's tier takes 10 bits of its rank
inline constexpr size_t kMaxTolerations = 1024;
inline constexpr size_t kMaxStaticWeights = 100'000;

// corev1.Toleration without its seconds, which only eviction looks at.
struct Toleration {
  std::string key;      // empty with Exists: every key
  std::string value;    // empty with Exists
  std::string effect;   // empty: every effect
  bool exists = false;  // operator Exists, else Equal

  bool Tolerates(const Taint& taint) const;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

enum class SpreadField : uint8_t { kCluster, kRegion, kProvider, kZone };
inline constexpr size_t kSpreadFields = 4;
std::string_view SpreadFieldName(SpreadField field);

struct SpreadConstraint {
  int32_t min_groups = 1;
  int32_t max_groups = 0;  // 0: no limit

  friend bool operator==(const SpreadConstraint&, const SpreadConstraint&) = default;
};

enum class Division : uint8_t {
  kDuplicated,     // every cluster gets all replicas; also when replicaScheduling is absent
  kStaticWeight,   // divided by the weights of the policy, or evenly
  kDynamicWeight,  // divided by what each cluster can take
  kAggregated,     // divided onto as few clusters as can take them
};
std::string_view DivisionName(Division division);

struct StaticWeight {
  ClusterAffinity target;
  int64_t weight = 1;

  friend bool operator==(const StaticWeight&, const StaticWeight&) = default;
};

// One of clusterAffinities, tried in order. Or the one made of clusterAffinity, with an empty name.
struct AffinityTerm {
  std::string name;
  ClusterAffinity affinity;
  std::vector<ClusterAffinity> overflow;  // used, in order, when the clusters before cannot take all replicas

  friend bool operator==(const AffinityTerm&, const AffinityTerm&) = default;
};

struct Placement {
  std::vector<AffinityTerm> terms;  // never empty
  bool has_affinities = false;      // the terms are clusterAffinities: they have names, and the chosen one is recorded
  std::vector<Toleration> tolerations;
  std::array<std::optional<SpreadConstraint>, kSpreadFields> spread;  // by SpreadField
  bool spread_by_label = false;                                       // which Karmada does not implement either
  bool has_replica_scheduling = false;
  Division division = Division::kDuplicated;
  std::vector<StaticWeight> static_weights;
  bool has_weight_preference = false;
  std::string affinity_label;       // workloadAffinity.affinity.groupByLabelKey
  std::string anti_affinity_label;  // workloadAffinity.antiAffinity.groupByLabelKey

  std::vector<std::string> warnings;  // what the user may not expect; sentences

  bool divided() const { return division != Division::kDuplicated; }
  bool has_spread() const;
  // Karmada ignores them with Divided, Weighted and no weightPreference, or with static weights only.
  bool spread_ignored() const;
  // spread by cluster with minGroups = maxGroups = 1: what a workload with several components needs to be counted.
  bool one_cluster() const;
  const std::optional<SpreadConstraint>& Spread(SpreadField field) const { return spread[static_cast<size_t>(field)]; }

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Null and an empty object are a placement without any wish: all clusters, Duplicated.
Result<Placement> CompilePlacement(const json::Value& placement);

// Whether scheduling must run again because the policy changed from `applied` to `current`. A change in a term of
// clusterAffinities other than the one in use does not count.
bool PlacementChanged(const Placement& current, const Placement& applied, std::string_view observed_affinity);

}  // namespace baton::placement
