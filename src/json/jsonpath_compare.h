// Comparisons in JSONPath filters, by the rules of Go's text/template as kubectl uses them. Internal to the evaluator.
#pragma once

#include <string_view>

#include "json/value.h"

namespace baton::json::jsonpath_internal {

enum class Comparison : uint8_t {
  kFalse,
  kTrue,
  kBadKind,      // null, arrays and objects do not compare, and bools have no order
  kBadPair,      // of different kinds; an int and a double are
  kBadOperator,  // none of == != < <= > >=
};

Comparison Compare(const Value& left, std::string_view op, const Value& right);

// The name of its type in an unstructured object of Go, for messages: "map[string]interface {}".
std::string_view GoTypeName(const Value& value);

}  // namespace baton::json::jsonpath_internal
