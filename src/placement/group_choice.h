// Choosing spread groups (regions, providers, zones): which of them to use, as Karmada does for regions.
//
// A choice has minGroups to maxGroups groups and at least `target` clusters in them. The best choice has the highest
// sum of scores, then the most clusters; and when the best-scored groups of the best choice are enough by themselves,
// only those are taken. Karmada tries all combinations, which takes forever with many groups; we skip combinations that
// cannot win, and after kMaxGroupSteps settle for the highest scores that reach the target.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace baton::placement {

inline constexpr int kMaxGroupSteps = 50'000;

struct Group {
  uint32_t name = 0;  // its place by name: breaks ties
  int32_t clusters = 0;
  int64_t score = 0;
};

// The chosen groups' `name`s, best score first; empty when no choice is possible. 1 <= min <= max.
std::vector<uint32_t> ChooseGroups(std::span<const Group> groups, int32_t min, int32_t max, int32_t target);

}  // namespace baton::placement
