// The parsed form of a JSONPath, between jsonpath_parse.cc and jsonpath_eval.cc. Nobody else includes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace baton::json::jsonpath_internal {

enum class NodeKind : uint8_t {
  kAction,      // {...}: the steps in lists[0], one after another
  kText,        // text outside braces, or a quoted string: one result whatever goes in
  kLiteral,     // a number or a bool: one result for each value that goes in
  kField,       // .name
  kWildcard,    // .*
  kRecursive,   // ..
  kSlice,       // [a:b:c], [a], [*]
  kUnion,       // [x,y]: the results of each of lists
  kFilter,      // [?(lists[0] name lists[1])]; name is "" for [?(lists[0])]
  kIdentifier,  // a word: range, end, or an error when it is reached
};

struct SliceBound {
  int64_t value = 0;
  bool known = false;
  bool derived = false;  // the end of [a], which is a + 1
};

struct Node {
  NodeKind kind;
  std::string name{};                 // the field, the word or the operator
  Value literal{};                    // of kText and kLiteral
  std::array<SliceBound, 3> slice{};  // begin, end, step
  std::vector<std::vector<Node>> lists{};
};

using NodeList = std::vector<Node>;

struct Template {
  std::string source;
  NodeList nodes;  // kText and kAction
};

// `what` about this expression, which is quoted (its beginning when it is long).
std::string About(std::string_view source, std::string_view what);

}  // namespace baton::json::jsonpath_internal
