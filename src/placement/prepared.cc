// Matching a placement against a fleet.
#include "placement/prepared.h"

#include <algorithm>
#include <utility>

#include "json/print.h"

namespace baton::placement {

namespace {

ClusterSet Matching(const ClusterAffinity& affinity, const Fleet& fleet) {
  if (affinity.MatchesEverything()) return fleet.all();
  ClusterSet matching(fleet.size());
  for (size_t i = 0; i < fleet.size(); ++i) {
    if (affinity.Matches(fleet[i])) matching.Add(i);
  }
  return matching;
}

PreparedPlacement::Term PrepareTerm(const AffinityTerm& term, const Fleet& fleet) {
  PreparedPlacement::Term prepared;
  prepared.any = Matching(term.affinity, fleet);
  prepared.tiers.push_back(prepared.any);
  for (const ClusterAffinity& overflow : term.overflow) {
    ClusterSet tier = Matching(overflow, fleet);
    tier.Subtract(prepared.any);
    prepared.any |= tier;
    prepared.tiers.push_back(std::move(tier));
  }
  return prepared;
}

}  // namespace

const Fleet::Groups& GroupsOf(const Fleet& fleet, SpreadField field) {
  switch (field) {
    case SpreadField::kProvider:
      return fleet.providers();
    case SpreadField::kZone:
      return fleet.zones();
    default:
      return fleet.regions();
  }
}

Result<std::shared_ptr<const PreparedPlacement>> PreparedPlacement::Make(const json::Value& placement,
                                                                         std::shared_ptr<const Fleet> fleet) {
  Placement compiled = TRY(CompilePlacement(placement));
  return std::shared_ptr<const PreparedPlacement>(
      new PreparedPlacement(std::move(compiled), json::Print(placement), std::move(fleet)));
}

PreparedPlacement::PreparedPlacement(Placement placement, std::string text, std::shared_ptr<const Fleet> fleet)
    : placement_(std::move(placement)),
      text_(std::move(text)),
      fleet_(std::move(fleet)),
      tolerated_(fleet_->all()),
      spreadable_(fleet_->all()) {
  for (const AffinityTerm& term : placement_.terms) terms_.push_back(PrepareTerm(term, *fleet_));
  for (const Fleet::TaintedClusters& tainted : fleet_->taints()) {
    const bool tolerated = std::ranges::any_of(
        placement_.tolerations, [&](const Toleration& toleration) { return toleration.Tolerates(tainted.taint); });
    if (!tolerated) tolerated_.Subtract(tainted.clusters);
  }
  for (const SpreadField field : {SpreadField::kRegion, SpreadField::kProvider, SpreadField::kZone}) {
    if (!placement_.Spread(field).has_value()) continue;
    const Fleet::Groups& groups = GroupsOf(*fleet_, field);
    for (size_t i = 0; i < fleet_->size(); ++i) {
      if (groups.of[i] == Fleet::kNoGroup) spreadable_.Remove(i);
    }
  }
  if (placement_.static_weights.empty()) return;
  static_weights_.resize(fleet_->size());
  for (const StaticWeight& rule : placement_.static_weights) {
    Matching(rule.target, *fleet_).ForEach([&](size_t cluster) {
      static_weights_[cluster] = std::max(static_weights_[cluster], rule.weight);
    });
  }
}

Result<std::shared_ptr<const PreparedPlacement>> PlacementCache::Get(const json::Value& placement,
                                                                     const std::shared_ptr<const Fleet>& fleet) {
  if (fleet_ != fleet || entries_.size() >= kMaxEntries) {
    entries_.clear();
    fleet_ = fleet;
  }
  if (const auto at = entries_.find(placement); at != entries_.end()) return at->second;
  std::shared_ptr<const PreparedPlacement> prepared = TRY(PreparedPlacement::Make(placement, fleet));
  entries_.emplace(placement, prepared);
  return prepared;
}

}  // namespace baton::placement
