// Times of day in UTC: no clock change ever moves them.
#include "rollout/windows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "json/rfc3339.h"

namespace baton::rollout {
namespace {

using json::Value;

constexpr std::array<std::string_view, 7> kDays = {"Thu", "Fri", "Sat", "Sun",
                                                   "Mon", "Tue", "Wed"};  // from 1970-01-01 on
constexpr int64_t kMinutesOfDay = int64_t{24} * 60;
constexpr int64_t kDaysAhead = 8;  // a window that opens at all opens within a week

Result<int64_t> MinuteOf(std::string_view text, std::string_view field) {
  const bool form =
      text.size() == 5 && text[2] == ':' &&
      std::ranges::all_of(StrCat(text.substr(0, 2), text.substr(3)), [](char c) { return c >= '0' && c <= '9'; });
  const int64_t hour = form ? (text[0] - '0') * 10 + (text[1] - '0') : 24;
  const int64_t minute = form ? (text[3] - '0') * 10 + (text[4] - '0') : 60;
  if (hour > 23 || minute > 59)
    return InvalidError(StrCat("spec.windows: ", field, " '", text, "' is no time of day, as 22:00"));
  return hour * 60 + minute;
}

struct Window {
  int64_t start = 0;  // minutes of the day
  int64_t length = 0;
  std::array<bool, 7> days{};  // from 1970-01-01's on
};

Result<Window> ReadWindow(const Value& object) {
  Window window;
  window.start = TRY(MinuteOf(object["start"].str(), "start"));
  const int64_t end = TRY(MinuteOf(object["end"].str(), "end"));
  window.length = end > window.start ? end - window.start : end + kMinutesOfDay - window.start;
  const bool every = object["days"].empty();
  for (size_t i = 0; i < kDays.size(); ++i) window.days[i] = every;
  for (const Value& day : object["days"].items()) {
    const auto at = std::ranges::find(kDays, day.str());
    if (at == kDays.end())
      return InvalidError(StrCat("spec.windows: '", day.str(), "' is no day: Mon, Tue, Wed, Thu, Fri, Sat or Sun"));
    window.days[static_cast<size_t>(at - kDays.begin())] = true;
  }
  return window;
}

// When the window is next open, in minutes since 1970; `minute` itself when it is open then.
std::optional<int64_t> NextOpen(const Window& window, int64_t minute) {
  const int64_t today = minute / kMinutesOfDay;
  for (int64_t day = today - 1; day <= today + kDaysAhead; ++day) {
    if (day < 0 || !window.days[static_cast<size_t>(day % 7)]) continue;
    const int64_t opens = day * kMinutesOfDay + window.start;
    if (minute < opens + window.length) return std::max(opens, minute);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> WaitingForWindow(const Value& spec, WallTime now) {
  if (const std::string_view text = spec["notBefore"].str(); !text.empty()) {
    const WallTime at = TRY(json::ParseTime(text));
    if (now < at) return StrCat("spec.notBefore, ", json::FormatTime(at));
  }
  if (spec["windows"].empty()) return std::string();
  const int64_t minute = now.time_since_epoch() / minutes(1);
  std::optional<int64_t> next;
  for (const Value& object : spec["windows"].items()) {
    const std::optional<int64_t> opens = NextOpen(TRY(ReadWindow(object)), minute);
    if (opens && (!next || *opens < *next)) next = opens;
  }
  if (next && *next == minute) return std::string();
  if (!next) return std::string("a cutover window: none of spec.windows ever opens");
  return StrCat("the cutover window, which opens at ", json::FormatTime(WallTime{} + minutes(*next)));
}

}  // namespace baton::rollout
