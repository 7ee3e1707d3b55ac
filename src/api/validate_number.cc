// Numbers against the bounds of a schema.
#include "api/validate_number.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "api/formats.h"
#include "base/strings.h"
#include "json/go_text.h"

namespace baton::api {
namespace {

constexpr double kMaxWhole = 9007199254740991.0;     // 2^53 - 1
constexpr double kTwoTo63 = 9223372036854775808.0;   // above every int64
constexpr double kTwoTo64 = 18446744073709551616.0;  // above every uint64
constexpr double kWholeTolerance = 1e-9;             // relative; quotients of decimals are rarely exact
constexpr double kMaxFloat = std::numeric_limits<float>::max();

template <class Int>
std::partial_ordering CompareWhole(Int number, double bound, double end) {
  if (bound >= end) return std::partial_ordering::less;
  if (bound < static_cast<double>(std::numeric_limits<Int>::min())) return std::partial_ordering::greater;
  const double floor = std::floor(bound);
  const auto whole = static_cast<Int>(floor);
  if (number != whole) return number <=> whole;
  return floor < bound ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

// Bounds are shown as the value is: whole for an integer.
std::string ShowBound(double bound, const json::Value& number) {
  if (number.is_int() && std::trunc(bound) == bound && std::abs(bound) < kTwoTo63) {
    return StrCat(static_cast<int64_t>(bound));
  }
  return json::GoPlainDouble(bound);
}

}  // namespace

bool IsWhole(double number) { return std::abs(number) <= kMaxWhole && std::trunc(number) == number; }

std::partial_ordering CompareNumbers(const json::Value& number, double bound) {
  if (number.is_int()) return CompareWhole<int64_t>(number.int_or(0), bound, kTwoTo63);
  if (const auto whole = number.as_uint64()) return CompareWhole<uint64_t>(*whole, bound, kTwoTo64);
  return number.number_or(0) <=> bound;
}

std::optional<std::string> RangeError(const json::Value& number, const Schema& schema) {
  const std::string_view format = CheckedFormat(schema);
  bool fits = true;
  if (schema.type == SchemaType::kInteger) {
    if (!number.is_int() && std::abs(number.number_or(0)) >= kTwoTo63) {
      fits = false;
    } else if (format == "int32") {
      fits = CompareNumbers(number, std::numeric_limits<int32_t>::min()) >= 0 &&
             CompareNumbers(number, std::numeric_limits<int32_t>::max()) <= 0;
    }
  } else if (schema.type == SchemaType::kNumber && format == "float") {
    fits = std::abs(number.number_or(0)) <= kMaxFloat;
  }
  if (fits) return std::nullopt;
  const std::string_view type = schema.type == SchemaType::kInteger ? "integer" : "number";
  if (format.empty()) return StrCat("Checked value must be of type ", type, " (default format)");
  return StrCat("Checked value must be of type ", type, " with format ", format);
}

std::optional<std::string> MaximumError(const json::Value& number, const Schema& schema) {
  if (!schema.maximum) return std::nullopt;
  const auto order = CompareNumbers(number, *schema.maximum);
  if (order < 0 || (order == 0 && !schema.exclusive_maximum)) return std::nullopt;
  return StrCat("should be less than ", schema.exclusive_maximum ? "" : "or equal to ",
                ShowBound(*schema.maximum, number));
}

std::optional<std::string> MinimumError(const json::Value& number, const Schema& schema) {
  if (!schema.minimum) return std::nullopt;
  const auto order = CompareNumbers(number, *schema.minimum);
  if (order > 0 || (order == 0 && !schema.exclusive_minimum)) return std::nullopt;
  return StrCat("should be greater than ", schema.exclusive_minimum ? "" : "or equal to ",
                ShowBound(*schema.minimum, number));
}

std::optional<std::string> MultipleError(const json::Value& number, const Schema& schema) {
  const double factor = schema.multiple_of.value_or(0);
  if (factor == 0) return std::nullopt;
  std::string message = StrCat("should be a multiple of ", ShowBound(factor, number));
  if (factor < 0) return message;
  if (number.is_int() && IsWhole(factor)) {
    if (number.int_or(0) % static_cast<int64_t>(factor) == 0) return std::nullopt;
    return message;
  }
  const double quotient = factor < 1 ? 1 / factor * number.number_or(0) : number.number_or(0) / factor;
  const double nearest = std::round(quotient);
  const double distance = std::abs(quotient - nearest);
  const bool whole = std::abs(quotient) <= kMaxWhole && distance <= kWholeTolerance * std::abs(quotient);
  if (whole) return std::nullopt;
  return message;
}

}  // namespace baton::api
