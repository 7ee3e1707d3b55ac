// Dividing replicas.
#include "placement/division.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "placement/webster.h"

namespace baton::placement {

namespace {

using Counts = std::vector<int32_t>;

Counts ByStaticWeight(const DivisionInput& input, std::span<const Candidate> candidates) {
  std::vector<int64_t> weights;
  weights.reserve(candidates.size());
  bool any = false;
  for (const Candidate& candidate : candidates) {
    weights.push_back(input.static_weights.empty() ? 0 : input.static_weights[candidate.cluster]);
    any = any || weights.back() > 0;
  }
  if (!any) std::ranges::fill(weights, 1);
  return Webster(weights, input.replicas, input.ties_descending);
}

// Aggregated: keeps the weight of as few clusters as can take `seats`: those that have replicas, then the largest, then
// by name (Karmada leaves the order of equal ones to its sort).
void KeepFewest(std::span<const Candidate> candidates, bool prefer_used, int64_t seats, std::vector<int64_t>& weights) {
  const auto used = [&](uint32_t i) { return prefer_used && candidates[i].assigned > 0; };
  const auto later = [&](uint32_t a, uint32_t b) {
    if (used(a) != used(b)) return used(b);
    if (weights[a] != weights[b]) return weights[a] < weights[b];
    return candidates[a].cluster > candidates[b].cluster;
  };
  std::vector<uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::make_heap(order, later);
  size_t left = order.size();
  for (int64_t sum = 0; left > 0 && sum < seats; --left) {
    std::ranges::pop_heap(std::span(order).first(left), later);
    sum += weights[order[left - 1]];
  }
  for (size_t i = 0; i < left; ++i) weights[order[i]] = 0;
}

Result<Counts> ByCapacity(const DivisionInput& input, std::span<const Candidate> candidates) {
  int64_t assigned = 0;
  for (const Candidate& candidate : candidates) assigned += candidate.assigned;
  Counts base(candidates.size());
  std::vector<int64_t> weights(candidates.size());
  int64_t seats = input.replicas;
  const bool grow = !input.fresh && assigned < input.replicas;
  if (!input.fresh && assigned == input.replicas) {
    std::ranges::transform(candidates, base.begin(), &Candidate::assigned);
    return base;
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    if (input.fresh) {
      weights[i] = candidate.available();
    } else if (grow) {
      weights[i] = candidate.allocatable;
      base[i] = candidate.assigned;
    } else {
      weights[i] = candidate.assigned;
    }
  }
  if (grow) seats -= assigned;
  const int64_t available = std::reduce(weights.begin(), weights.end());
  if (available < seats) {
    return UnavailableError(StrCat("Clusters available replicas ", available, " are not enough to schedule."));
  }
  if (input.division == Division::kAggregated) KeepFewest(candidates, grow, seats, weights);
  const Counts more = Webster(weights, static_cast<int32_t>(seats), input.ties_descending);
  for (size_t i = 0; i < base.size(); ++i) base[i] += more[i];
  return base;
}

Result<Counts> DivideAll(const DivisionInput& input, std::span<const Candidate> candidates) {
  switch (input.division) {
    case Division::kDuplicated:
      return Counts(candidates.size(), input.replicas);
    case Division::kStaticWeight:
      return ByStaticWeight(input, candidates);
    case Division::kDynamicWeight:
    case Division::kAggregated:
      break;
  }
  return ByCapacity(input, candidates);
}

}  // namespace

Result<Counts> Divide(const DivisionInput& input, std::span<const Candidate> candidates) {
  if (!input.overflow) return DivideAll(input, candidates);
  uint16_t last = 0;
  for (const Candidate& candidate : candidates) last = std::max(last, candidate.tier);
  Counts counts(candidates.size());
  DivisionInput part = input;
  int32_t remaining = input.replicas;
  for (uint16_t tier = 0; tier <= last && remaining > 0; ++tier) {
    std::vector<Candidate> members;
    std::vector<size_t> where;
    int64_t available = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].tier != tier) continue;
      members.push_back(candidates[i]);
      where.push_back(i);
      available += candidates[i].available();
    }
    if (members.empty()) continue;
    part.replicas = static_cast<int32_t>(std::min<int64_t>(remaining, available));
    const Counts divided = TRY(DivideAll(part, members));
    for (size_t i = 0; i < where.size(); ++i) counts[where[i]] = divided[i];
    remaining -= part.replicas;
  }
  if (remaining > 0) {
    return UnavailableError(StrCat("Clusters available replicas ", input.replicas - remaining,
                                   " are not enough to schedule, overflow affinities included."));
  }
  return counts;
}

}  // namespace baton::placement
