// Webster's method (Sainte-Lague): seats divided in proportion to weights, as Karmada divides replicas.
//
// Seats go one by one to the highest weight / (2 * seats + 1). A tie goes to the one with fewer seats, then to the
// first (or, descending, the last) in the order given, which is by name. Karmada chooses ascending or descending by the
// template's UID, so that not all workloads give their odd replica to the same cluster; TiesDescending() is that rule.
//
// Ours compares exactly where Karmada compares rounded quotients, and takes time in the number of parties instead of
// the number of seats: two billion replicas are divided as fast as ten.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace baton::placement {

inline constexpr int64_t kMaxWeight = int64_t{1} << 32;  // of one party; larger weights count as this

// Seats by party; they add up to `seats`, unless all weights are 0 (then nobody gets any). A party of weight 0 gets
// none. With `seats` up to the sum of the weights, no party gets more than its weight.
std::vector<int32_t> Webster(std::span<const int64_t> weights, int32_t seats, bool ties_descending);

bool TiesDescending(std::string_view uid);

}  // namespace baton::placement
