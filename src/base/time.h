// Time types that name their clock. A MonotonicTime (for deadlines and waits) and a WallTime (for what people read) do
// not mix: subtracting one from the other does not compile. Neither clock can be read here; time comes in through
// rt::Clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace baton {

using Duration = std::chrono::nanoseconds;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

namespace time_internal {
// Clock tags without now(): a time_point needs a clock type, and nobody may ask it for the time.
struct MonotonicTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicTag, Duration>;
  static constexpr bool is_steady = true;
};
struct WallTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<WallTag, Duration>;
  static constexpr bool is_steady = false;
};
}  // namespace time_internal

// Never goes back; its zero means nothing outside this process.
using MonotonicTime = time_internal::MonotonicTag::time_point;

// UTC since 1970-01-01; may jump when a machine's clock is set.
using WallTime = time_internal::WallTag::time_point;

inline constexpr MonotonicTime kForever = MonotonicTime::max();

}  // namespace baton
