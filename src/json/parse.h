// JSON text in. Strict RFC 8259: UTF-8 only, no comments, no trailing commas, no NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxDepth = 1000;                   // nested arrays and objects, JSON and YAML alike
inline constexpr size_t kMaxTextBytes = size_t{512} << 20;  // one document
inline constexpr size_t kMaxValues = size_t{64} << 20;      // values in one document

struct ParseOptions {
  size_t max_depth = kMaxDepth;
  size_t max_bytes = kMaxTextBytes;
  size_t max_values = kMaxValues;
  // A key given twice in one object: the last one wins, as in Go. When this is set, each such key is also listed here
  // (the API server's strict field validation reports them).
  std::vector<std::string>* duplicate_keys = nullptr;
};

// The one value in `text`. An error names line, column and reason: "line 3, column 7: expected ':' after a key".
// Integers outside int64 and uint64 and doubles outside the range of double are errors, never rounded.
Result<Value> Parse(std::string_view text, const ParseOptions& options = {});

// A place in a text as people count it: lines and columns (bytes) from 1.
struct TextPosition {
  size_t line = 1;
  size_t column = 1;
};
TextPosition PositionAt(std::string_view text, size_t offset);

}  // namespace baton::json
