// Amounts from quantities.
#include "placement/resources.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace baton::placement {

int64_t AmountOf(std::string_view name, const json::Quantity& quantity, Rounding rounding) {
  const bool milli = name == "cpu";
  const Result<int64_t> rounded = milli ? quantity.MilliValue() : quantity.Value();  // away from zero
  if (!rounded.ok()) return quantity.Sign() < 0 ? INT64_MIN : INT64_MAX;
  int64_t value = *rounded;
  const json::Quantity exact = milli ? json::Quantity::FromMilli(value) : json::Quantity::FromInt(value);
  if (rounding == Rounding::kDown && exact > quantity) --value;
  if (rounding == Rounding::kUp && exact < quantity) ++value;
  return value;
}

Result<Request> ParseRequest(const json::Value& resources, std::string_view where) {
  Request request;
  if (resources.is_null()) return request;
  if (!resources.is_object()) return InvalidError(StrCat(where, " must be an object of quantities"));
  if (resources.size() > kMaxResourceNames) {
    return TooLargeError(StrCat(where, " has ", resources.size(), " resources; at most ", kMaxResourceNames));
  }
  for (const json::Member& member : resources.members()) {
    const json::Quantity quantity =
        TRY(json::Quantity::FromJson(member.value()).Context(StrCat(where, ".", member.key())));
    const int64_t value = AmountOf(member.key(), quantity, Rounding::kUp);
    if (value > 0) request.push_back({std::string(member.key()), value});
  }
  return request;  // members() are sorted by key
}

const Amount* FindAmount(std::span<const Amount> amounts, std::string_view name) {
  const auto at = std::ranges::lower_bound(amounts, name, {}, &Amount::name);
  return at != amounts.end() && at->name == name ? &*at : nullptr;
}

}  // namespace baton::placement
