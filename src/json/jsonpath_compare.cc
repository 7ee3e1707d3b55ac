// Comparisons in JSONPath filters.
#include "json/jsonpath_compare.h"

#include <compare>

namespace baton::json::jsonpath_internal {
namespace {

// Go's unstructured objects hold an integer above int64 as a float64.
enum class GoKind : uint8_t { kNone, kBool, kInt, kFloat, kString };

GoKind GoKindOf(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return GoKind::kBool;
    case Kind::kInt:
      return GoKind::kInt;
    case Kind::kUint:
    case Kind::kDouble:
      return GoKind::kFloat;
    case Kind::kString:
      return GoKind::kString;
    default:
      return GoKind::kNone;
  }
}

// Of two values of the same kind.
std::partial_ordering Order(GoKind kind, const Value& left, const Value& right) {
  switch (kind) {
    case GoKind::kBool:
      return left.bool_or(false) <=> right.bool_or(false);
    case GoKind::kInt:
      return left.int_or(0) <=> right.int_or(0);
    case GoKind::kFloat:
      return left.number_or(0) <=> right.number_or(0);
    default:
      return left.str() <=> right.str();
  }
}

}  // namespace

Comparison Compare(const Value& left, std::string_view op, const Value& right) {
  enum class Ask : uint8_t { kSame, kOther, kLess, kLessOrSame, kMore, kMoreOrSame } ask;
  if (op == "==")
    ask = Ask::kSame;
  else if (op == "!=")
    ask = Ask::kOther;
  else if (op == "<")
    ask = Ask::kLess;
  else if (op == "<=")
    ask = Ask::kLessOrSame;
  else if (op == ">")
    ask = Ask::kMore;
  else if (op == ">=")
    ask = Ask::kMoreOrSame;
  else
    return Comparison::kBadOperator;

  const GoKind kind = GoKindOf(left);
  if (kind == GoKind::kNone || GoKindOf(right) == GoKind::kNone) return Comparison::kBadKind;
  if (kind != GoKindOf(right)) return Comparison::kBadPair;
  if (kind == GoKind::kBool && ask > Ask::kOther) return Comparison::kBadKind;
  const std::partial_ordering order = Order(kind, left, right);
  const auto answer = [](bool holds) { return holds ? Comparison::kTrue : Comparison::kFalse; };
  switch (ask) {
    case Ask::kSame:
      return answer(order == 0);
    case Ask::kOther:
      return answer(order != 0);
    case Ask::kLess:
      return answer(order < 0);
    case Ask::kLessOrSame:
      return answer(order <= 0);
    case Ask::kMore:
      return answer(order > 0);
    case Ask::kMoreOrSame:
      return answer(order >= 0);
  }
  return Comparison::kBadOperator;
}

std::string_view GoTypeName(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "<nil>";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "[]interface {}";
    case Kind::kObject:
      return "map[string]interface {}";
  }
  return "";
}

}  // namespace baton::json::jsonpath_internal
