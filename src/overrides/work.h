// Work: how much one Apply may still do. Whoever may write policies in one namespace must not be able to stop the rest:
// thousands of overriders over thousands of containers, or over a long text each, end with an error instead.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/strings.h"

namespace baton::overrides {

inline constexpr size_t kMaxSteps = size_t{1} << 18;  // one step: a container or label looked at, kBytesPerStep read
inline constexpr size_t kStepsPerOperation = 16;      // of JSON Patch: one may move a whole list
inline constexpr size_t kBytesPerStep = 64;           // of a text inside a string
inline constexpr size_t kMaxFieldBytes = size_t{4} << 20;  // a text inside a string, before and after

class Work {
 public:
  Result<void> Charge(size_t steps) {
    if (steps > left_) {
      return TooLargeError(StrCat("the overrides of one object take more than the limit of ", kMaxSteps, " steps"));
    }
    left_ -= steps;
    return {};
  }

 private:
  size_t left_ = kMaxSteps;
};

}  // namespace baton::overrides
