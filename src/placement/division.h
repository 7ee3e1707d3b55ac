// Division: how many replicas each selected cluster gets.
//
//   Duplicated      all of them, everywhere
//   static weights  in proportion to the weights (Webster's method); without any weight for the clusters, evenly
//   dynamic weights in proportion to what each cluster can take
//   Aggregated      the same, on the fewest clusters that can take them: those that have replicas first, then the
//   largest
//
// The last two disturb as little as possible: growing divides only the new replicas, shrinking takes away in proportion
// to what is there, and an unchanged number changes nothing. Only when a person asked for it (`fresh`) everything is
// divided anew, with what the workload itself occupies counted as free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "placement/candidate.h"
#include "placement/placement.h"

namespace baton::placement {

struct DivisionInput {
  Division division = Division::kDuplicated;
  int32_t replicas = 0;
  bool fresh = false;
  bool ties_descending = false;             // TiesDescending(uid)
  bool overflow = false;                    // fill the tiers one after the other
  std::span<const int64_t> static_weights;  // by the cluster's number; empty: none
};

// Replicas by candidate; zero is allowed. `candidates` are by name. Error (kUnavailable): they cannot take so many.
Result<std::vector<int32_t>> Divide(const DivisionInput& input, std::span<const Candidate> candidates);

}  // namespace baton::placement
