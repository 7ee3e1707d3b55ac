// Counts that may be percentages.
#include "api/builtin_count.h"

#include <charconv>

namespace baton::api::builtin {
namespace {

constexpr int64_t kAll = 100;

// The number of a percentage, 0 when it is none.
int64_t Percent(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return INT64_MAX;
  return error == std::errc() && std::string_view(end, text.data() + text.size()) == "%" ? number : 0;
}

}  // namespace

void CheckCountOrPercent(Errors& errors, const std::string& field, const Value& count) {
  if (count.is_string()) {
    AddInvalid(errors, field, count, json::CheckPercent(count.str()));
  } else {
    CheckNotNegative(errors, field, count);
  }
}

void CheckAtMostAll(Errors& errors, const std::string& field, const Value& count) {
  if (Percent(count.str()) > kAll) errors.push_back(InvalidError(field, count, "must not be greater than 100%"));
}

bool IsZeroCount(const Value& count) { return count.is_string() ? Percent(count.str()) == 0 : count.int_or(0) == 0; }

}  // namespace baton::api::builtin
