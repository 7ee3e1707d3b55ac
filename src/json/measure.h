// How large and how deep a value is, without printing it. For limits: the visit ends as soon as one is passed.
#pragma once

#include <cstddef>

#include "json/parse.h"
#include "json/value.h"

namespace baton::json {

struct Extent {
  size_t bytes = 0;  // of compact text; an escape inside a string counts as one byte
  size_t depth = 0;  // nested arrays and objects: 0 for a scalar, 1 for [] and {}
};

// Exact when bytes <= max_bytes and depth <= max_depth; otherwise the one that is too large says so, and the other is
// a lower bound. Visits at most about max_bytes values.
Extent Measure(const Value& value, size_t max_bytes, size_t max_depth = kMaxDepth);

}  // namespace baton::json
