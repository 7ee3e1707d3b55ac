// Times and durations: what was read prints and reads back as the same, and printing is a fixed point.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "json/go_duration.h"
#include "json/rfc3339.h"

namespace {

using baton::Duration;
using baton::Result;
using baton::WallTime;

void CheckTime(WallTime time) {
  const std::string text = baton::json::FormatTime(time);
  const std::string micro_text = baton::json::FormatMicroTime(time);
  // The first second and microsecond of all are cut off to something that no longer fits.
  if (const Result<WallTime> back = baton::json::ParseTime(text); back.ok()) {
    INVARIANT(*back <= time && time.time_since_epoch() - back->time_since_epoch() < baton::seconds(1), text);
    INVARIANT(baton::json::FormatTime(*back) == text, text);
  } else {
    INVARIANT(time - WallTime::min() < baton::seconds(1), text);
  }
  if (const Result<WallTime> back = baton::json::ParseMicroTime(micro_text); back.ok()) {
    INVARIANT(*back <= time && time - *back < baton::microseconds(1), micro_text);
    INVARIANT(baton::json::FormatMicroTime(*back) == micro_text, micro_text);
    INVARIANT(*baton::json::ParseTime(micro_text) == *back, micro_text);
  } else {
    INVARIANT(time - WallTime::min() < baton::microseconds(1), micro_text);
  }
}

void CheckDuration(Duration duration) {
  const std::string text = baton::json::FormatDuration(duration);
  const Result<Duration> back = baton::json::ParseDuration(text);
  INVARIANT(back.ok(), text);
  INVARIANT(*back == duration, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Result<WallTime> time = baton::json::ParseTime(text); time.ok()) CheckTime(*time);
  if (const Result<WallTime> time = baton::json::ParseMicroTime(text); time.ok()) {
    CheckTime(*time);
    INVARIANT(time->time_since_epoch() % baton::microseconds(1) == Duration(0), text);
  }
  if (const Result<Duration> duration = baton::json::ParseDuration(text); duration.ok()) CheckDuration(*duration);
  if (size == sizeof(int64_t)) {
    int64_t number = 0;
    std::memcpy(&number, data, sizeof number);
    CheckTime(WallTime(Duration(number)));
    CheckDuration(Duration(number));
  }
  return 0;
}
