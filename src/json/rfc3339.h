// Times as Kubernetes writes them: metav1.Time in whole seconds, metav1.MicroTime in microseconds, both in UTC.
//
//   WallTime created = TRY(ParseTime(pod["metadata"]["creationTimestamp"].str()));
//   FormatTime(created);        // "2006-01-02T15:04:05Z"
//   FormatMicroTime(created);   // "2006-01-02T15:04:05.000000Z"
//
// Parsing accepts what Go's time package does for these two types, with its messages: any offset is converted to UTC, a
// fraction is cut off after the nanosecond, leap seconds are no times. A WallTime reaches from 1677-09-21 to
// 2262-04-11; a time outside of that (also Go's zero time, "0001-01-01T00:00:00Z") is an error of kind kTooLarge.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton::json {

// metav1.Time: a fraction of the second may be there, of any length.
Result<WallTime> ParseTime(std::string_view text);

// metav1.MicroTime: the fraction must be there, with exactly six digits.
Result<WallTime> ParseMicroTime(std::string_view text);

// What is finer is cut off (towards the past), as Go does.
std::string FormatTime(WallTime time);
std::string FormatMicroTime(WallTime time);

}  // namespace baton::json
