// Forecast: how long a move will take and how long nobody will write, from the moves that have ended: of this workload,
// else of its kind. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace baton::rollout {

struct Forecast {
  enum class Basis : uint8_t { kNone, kWorkload, kKind };
  Basis basis = Basis::kNone;
  size_t moves = 0;       // that succeeded and say how long they took
  size_t taken_back = 0;  // of the same: aborted or rolled back
  Duration downtime{};    // the median
  Duration downtime_worst{};
  Duration whole{};  // from its beginning to its end, waits for people and windows included; the median
  Duration whole_worst{};

  std::string Text() const;  // one or two sentences
  json::Value Json() const;
};

// `migrations`: all StatefulMigrations that are on record.
Forecast MakeForecast(const std::vector<json::Value>& migrations, std::string_view kind, std::string_view ns,
                      std::string_view name);

// "1.5s", "2m10s": for people.
std::string Spoken(Duration duration);

}  // namespace baton::rollout
