// Spread: which of the clusters that fit are used, by the spread constraints.
//
//   cluster            the best `maxGroups` clusters by rank (candidate.h). When replicas are divided and those cannot
//   take
//                      them all, the worst of them are exchanged for larger ones until they can.
//   region, provider,  groups are chosen by score (group_choice.h): the best cluster of each, then the best of the rest
//   up zone               to the maxGroups of `cluster`. Karmada does so for regions only.
//
// The groups where the workload already runs are kept as long as they satisfy the constraints and can take the
// replicas. (Karmada scores groups anew each time, and since the score counts what runs there, a second look can give
// another answer than the first and remove a Duplicated workload from clusters where nothing is wrong.)
//
// A constraint holds or the answer is an error; it is never quietly passed over. (Karmada can use more regions than
// `cluster` allows clusters.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "placement/candidate.h"
#include "placement/prepared.h"

namespace baton::placement {

struct SpreadInput {
  const PreparedPlacement* prepared = nullptr;
  int32_t replicas = 0;          // of the binding
  int32_t needed = 0;            // replicas (or sets) that the selection must be able to take together
  bool ignore_capacity = false;  // Duplicated: every cluster gets all, whether it fits or not
  bool fresh = false;            // a person asked for a new decision: where it runs binds nothing
};

// Leaves the selected ones in `candidates`, by name. Their rank must be set. The message of an error begins with
// Karmada's.
Result<void> SelectBySpread(const SpreadInput& input, std::vector<Candidate>& candidates);

// The score of a group of clusters; `group` is in any order and is reordered.
int64_t GroupScore(const SpreadInput& input, int32_t min_groups, std::span<Candidate> group);

}  // namespace baton::placement
