// Go durations, which metav1.Duration is written in: "1h2m3.5s", "300ms", "-1.5h".
//
//   Duration timeout = TRY(ParseDuration("1m30s"));
//   FormatDuration(timeout);                          // "1m30s"; "1h0m0s", "1.5s", "100ms", "1µs", "0s"
//
// Both do what time.ParseDuration and Duration.String of Go do, to the last nanosecond and with their messages.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton::json {

// One or more decimal numbers, each with a unit (ns, us, µs, ms, s, m, h), and a sign in front of them all; or "0".
// Digits below a nanosecond are cut off. Error: anything else, and what is outside int64 nanoseconds (292 years).
Result<Duration> ParseDuration(std::string_view text);

std::string FormatDuration(Duration duration);

}  // namespace baton::json
