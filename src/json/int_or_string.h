// IntOrString: a field that holds a number or a text, as Kubernetes has for ports ("80", "http") and for counts that
// may be percentages (3, "25%").
//
//   IntOrString max = TRY(IntOrString::FromJson(spec["maxUnavailable"]));
//   int64_t count = TRY(ScaledCount(max, replicas, Rounding::kDown));     // 3, or 25% of the replicas
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

class IntOrString {
 public:
  IntOrString() : rep_(int32_t{0}) {}
  explicit IntOrString(int32_t number) : rep_(number) {}
  explicit IntOrString(std::string text) : rep_(std::move(text)) {}

  // A number when the text is one that fits int32, else the text itself: what a command line flag means.
  static IntOrString FromText(std::string_view text);

  // Null is 0, as in Kubernetes. Error: a number that is no int32, or something else than a number or a string.
  static Result<IntOrString> FromJson(const Value& value);
  Value ToJson() const;

  bool is_int() const { return std::holds_alternative<int32_t>(rep_); }
  bool is_string() const { return !is_int(); }
  int32_t int_or(int32_t fallback) const { return is_int() ? std::get<int32_t>(rep_) : fallback; }
  std::string_view str() const { return is_string() ? std::string_view(std::get<std::string>(rep_)) : ""; }

  std::string ToString() const;  // the number in digits, or the text

  friend bool operator==(const IntOrString&, const IntOrString&) = default;

 private:
  std::variant<int32_t, std::string> rep_;
};

enum class Rounding : uint8_t { kUp, kDown };  // towards plus or minus infinity

// The number itself, or that percentage of the total, rounded. Any whole percentage is allowed, also a negative one or
// one above 100. Error: a text that is no percentage (with the message of Kubernetes), or a result outside int64.
Result<int64_t> ScaledCount(const IntOrString& count, int64_t total, Rounding rounding);

}  // namespace baton::json
