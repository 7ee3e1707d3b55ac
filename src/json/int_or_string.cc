// IntOrString: documents, text and percentages.
#include "json/int_or_string.h"

#include <charconv>
#include <system_error>

#include "base/strings.h"
#include "json/print.h"

namespace baton::json {
namespace {

// A whole decimal number with an optional sign, as Go's strconv reads it.
template <class N>
std::errc ReadNumber(std::string_view text, N& number) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::errc::invalid_argument;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return std::errc::invalid_argument;
  return error;
}

Error DecodeError(std::string_view what) {
  return InvalidError(StrCat("json: cannot unmarshal ", what, " into Go value of type int32"));
}

}  // namespace

IntOrString IntOrString::FromText(std::string_view text) {
  int32_t number = 0;
  if (ReadNumber(text, number) == std::errc()) return IntOrString(number);
  return IntOrString(std::string(text));
}

Result<IntOrString> IntOrString::FromJson(const Value& value) {
  if (value.is_null()) return IntOrString();
  if (value.is_string()) return IntOrString(std::string(value.str()));
  if (value.is_bool()) return DecodeError("bool");
  if (value.is_array()) return DecodeError("array");
  if (value.is_object()) return DecodeError("object");
  const int64_t number = value.int_or(INT64_MAX);
  if (number < INT32_MIN || number > INT32_MAX) return DecodeError(StrCat("number ", Print(value)));
  return IntOrString(static_cast<int32_t>(number));
}

Value IntOrString::ToJson() const { return is_int() ? Value(std::get<int32_t>(rep_)) : Value(str()); }

std::string IntOrString::ToString() const {
  return is_int() ? StrCat(std::get<int32_t>(rep_)) : std::get<std::string>(rep_);
}

Result<int64_t> ScaledCount(const IntOrString& count, int64_t total, Rounding rounding) {
  if (count.is_int()) return int64_t{count.int_or(0)};
  std::string_view digits = count.str();
  if (!digits.ends_with('%')) {
    return InvalidError("invalid value for IntOrString: invalid type: string is not a percentage");
  }
  digits.remove_suffix(1);
  int64_t percent = 0;
  if (const std::errc error = ReadNumber(digits, percent); error != std::errc()) {
    return InvalidError(StrCat("invalid value for IntOrString: invalid value ", Quote(count.str()),
                               ": strconv.Atoi: parsing ", Quote(digits), ": ",
                               error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
  }
  const __int128 product = static_cast<__int128>(percent) * total;
  __int128 result = product / 100;
  if (product % 100 > 0 && rounding == Rounding::kUp) ++result;
  if (product % 100 < 0 && rounding == Rounding::kDown) --result;
  if (result > INT64_MAX || result < INT64_MIN) {
    return TooLargeError(StrCat(count.str(), " of ", total, " does not fit into 64 bits"));
  }
  return static_cast<int64_t>(result);
}

}  // namespace baton::json
