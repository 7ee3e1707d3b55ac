// Webster's method in time of the parties.
#include "placement/webster.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/hash.h"

namespace baton::placement {

namespace {

struct Party {
  uint64_t weight;
  uint64_t seats;
  uint32_t index;
};

// Whether `a` gets the next seat rather than `b`. Exact: a weight has 33 bits at most and 2 * seats + 1 has 32, so only
// kMaxWeight itself needs the wider product.
bool Before(const Party& a, const Party& b, bool descending) {
  const auto left = static_cast<unsigned __int128>(a.weight) * (2 * b.seats + 1);
  const auto right = static_cast<unsigned __int128>(b.weight) * (2 * a.seats + 1);
  if (left != right) return left > right;
  if (a.seats != b.seats) return a.seats < b.seats;
  return descending ? a.index > b.index : a.index < b.index;
}

// A head start: seats that each party has in the final division for certain. Everything whose weight / (2k + 1) is at
// least t comes before anything below t; so when those seats together are no more than there are to give, all of them
// are in. Doubles are not exact, so what is given is rounded down and the check rounds up: a seat too few is given
// later, one too many would be wrong.
uint64_t HeadStart(std::vector<Party>& parties, double total, int32_t seats) {
  constexpr std::array<double, 5> kTries = {0, 1.0 / 16, 1.0 / 8, 1.0 / 4, 0.5};
  const auto count = static_cast<double>(parties.size());
  for (const double fraction : kTries) {
    const double goal = static_cast<double>(seats) - fraction * count;
    if (goal <= 0) break;
    uint64_t given = 0;
    uint64_t at_most = 0;
    const double scale = goal / total;
    for (Party& party : parties) {
      const double share = static_cast<double>(party.weight) * scale;
      const double slack = 1e-6 + share * 1e-12;
      party.seats = static_cast<uint64_t>(std::max(0.0, share + 0.5 - slack));
      given += party.seats;
      at_most += static_cast<uint64_t>(share + 0.5 + slack);
    }
    if (at_most <= static_cast<uint64_t>(seats)) return given;
  }
  for (Party& party : parties) party.seats = 0;
  return 0;
}

}  // namespace

std::vector<int32_t> Webster(std::span<const int64_t> weights, int32_t seats, bool ties_descending) {
  std::vector<int32_t> result(weights.size());
  std::vector<Party> parties;
  parties.reserve(weights.size());
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    const auto weight = static_cast<uint64_t>(std::min(weights[i], kMaxWeight));
    total += static_cast<double>(weight);
    parties.push_back({weight, 0, static_cast<uint32_t>(i)});
  }
  if (parties.empty() || seats <= 0) return result;

  uint64_t given = HeadStart(parties, total, seats);
  const auto last = [&](const Party& a, const Party& b) { return Before(b, a, ties_descending); };
  if (given < static_cast<uint64_t>(seats)) std::ranges::make_heap(parties, last);
  for (; given < static_cast<uint64_t>(seats); ++given) {
    std::ranges::pop_heap(parties, last);
    ++parties.back().seats;
    std::ranges::push_heap(parties, last);
  }
  for (const Party& party : parties) result[party.index] = static_cast<int32_t>(party.seats);
  return result;
}

bool TiesDescending(std::string_view uid) { return !uid.empty() && (Fnv1a32(uid) & 1) == 1; }

}  // namespace baton::placement
