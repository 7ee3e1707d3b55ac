// Amounts of resources as whole numbers, so that an estimate is a few integer divisions: cpu in thousandths, everything
// else in units. A request is rounded up and what a cluster has left is rounded down, so rounding never over-commits.
// (Karmada rounds both up; the two differ only where somebody has a fraction of a byte left.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/quantity.h"
#include "json/value.h"

namespace baton::placement {

inline constexpr size_t kMaxResourceNames = 512;  // of one request, one cluster or one node grade

struct Amount {
  std::string name;
  int64_t value = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// What one replica asks for: sorted by name, only what is above zero.
using Request = std::vector<Amount>;

enum class Rounding : uint8_t { kUp, kDown };

// Thousandths for cpu, units for the rest; what does not fit an int64 becomes its nearest bound.
int64_t AmountOf(std::string_view name, const json::Quantity& quantity, Rounding rounding);

// {"cpu": "500m", "memory": "1Gi"}; absent is an empty request. Errors name `where` and the resource.
Result<Request> ParseRequest(const json::Value& resources, std::string_view where);

// The amount of that name, or null. `amounts` are sorted by name.
const Amount* FindAmount(std::span<const Amount> amounts, std::string_view name);

}  // namespace baton::placement
