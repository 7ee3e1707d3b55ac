// Aligning two arrays: which items of the old one are which items of the new one. For json/diff.cc.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "json/value.h"

namespace baton::json {

// One step from the old array to the new one, from left to right.
struct AlignStep {
  enum class What { kPair, kRemove, kAdd } what;
  size_t from = 0;  // index in the old array: kPair, kRemove
  size_t to = 0;    // index in the new array: kPair, kAdd
};

// Steps that name every item of both arrays once. Paired items are equal, or the best partner for a smaller diff.
// Takes what it needs from `*pairs_left`, and pairs by position when that is not enough.
std::vector<AlignStep> AlignArrays(std::span<const Value> from, std::span<const Value> to, size_t* pairs_left);

}  // namespace baton::json
