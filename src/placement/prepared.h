// PreparedPlacement: a placement matched against a fleet once, so that scheduling a binding is bit operations.
//
//   PlacementCache cache;                                            // one per controller
//   std::shared_ptr<const PreparedPlacement> prepared = TRY(cache.Get(binding["spec"]["placement"], fleet));
//
// Thousands of bindings share a policy, and clusters change rarely: so the cache is small and nearly always hits. It is
// emptied when the fleet is another one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "placement/cluster_set.h"
#include "placement/fleet.h"
#include "placement/placement.h"

namespace baton::placement {

class PreparedPlacement {
 public:
  // The error is that of CompilePlacement.
  static Result<std::shared_ptr<const PreparedPlacement>> Make(const json::Value& placement,
                                                               std::shared_ptr<const Fleet> fleet);

  // One affinity term: tiers[0] are the clusters of the term itself, the further ones those that each overflow adds.
  struct Term {
    std::vector<ClusterSet> tiers;  // disjoint
    ClusterSet any;                 // their union
  };

  const Fleet& fleet() const { return *fleet_; }
  const Placement& placement() const { return placement_; }
  // The placement as compact JSON with sorted keys: what the scheduler writes as applied-placement.
  const std::string& text() const { return text_; }

  std::span<const Term> terms() const { return terms_; }                       // as placement().terms
  const ClusterSet& tolerated() const { return tolerated_; }                   // no taint keeps the workload away
  const ClusterSet& spreadable() const { return spreadable_; }                 // has each property that spread asks for
  std::span<const int64_t> static_weights() const { return static_weights_; }  // by cluster; empty: no such list

 private:
  PreparedPlacement(Placement placement, std::string text, std::shared_ptr<const Fleet> fleet);

  Placement placement_;
  std::string text_;
  std::shared_ptr<const Fleet> fleet_;
  std::vector<Term> terms_;
  ClusterSet tolerated_;
  ClusterSet spreadable_;
  std::vector<int64_t> static_weights_;
};

// The spread groups of a field other than kCluster.
const Fleet::Groups& GroupsOf(const Fleet& fleet, SpreadField field);

// Not thread-safe; what it hands out is immutable and may go anywhere.
class PlacementCache {
 public:
  static constexpr size_t kMaxEntries = 4096;  // then it starts anew

  Result<std::shared_ptr<const PreparedPlacement>> Get(const json::Value& placement,
                                                       const std::shared_ptr<const Fleet>& fleet);
  size_t size() const { return entries_.size(); }

 private:
  struct Less {
    bool operator()(const json::Value& a, const json::Value& b) const { return json::Value::Compare(a, b) < 0; }
  };
  std::shared_ptr<const Fleet> fleet_;
  std::map<json::Value, std::shared_ptr<const PreparedPlacement>, Less> entries_;
};

}  // namespace baton::placement
