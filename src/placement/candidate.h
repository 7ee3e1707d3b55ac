// Candidate: a cluster that passed the filters, with what selection and division weigh.
#pragma once

#include <algorithm>
#include <cstdint>

namespace baton::placement {

struct Candidate {
  uint64_t rank = 0;        // better is smaller; see Rank()
  uint32_t cluster = 0;     // number in the fleet
  int32_t allocatable = 0;  // replicas (or sets) that it can take in addition
  int32_t assigned = 0;     // that it has now
  uint16_t tier = 0;        // 0: the affinity itself; then the overflow affinities in order
  bool current = false;     // one of the binding's clusters

  int64_t available() const { return int64_t{allocatable} + assigned; }
};

// Karmada's order in one number: tier, then where the workload already is, then the most available replicas, then the
// name. From the top: 10 bits tier, 1 bit not current, 33 bits of what is missing to the largest availability, 20 bits
// cluster number (clusters are numbered by name).
inline uint64_t Rank(const Candidate& candidate) {
  constexpr uint64_t kLargest = (uint64_t{1} << 33) - 1;
  const auto available = static_cast<uint64_t>(std::max<int64_t>(candidate.available(), 0));  // below 2^32
  return uint64_t{candidate.tier} << 54 | uint64_t{!candidate.current} << 53 | (kLargest - available) << 20 |
         candidate.cluster;
}

}  // namespace baton::placement
