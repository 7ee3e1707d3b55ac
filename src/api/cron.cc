// The checks of a cron schedule. What a schedule means is not needed here.
#include "api/cron.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "json/go_duration.h"

namespace baton::api {
namespace {

constexpr std::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Bounds {
  int64_t min;
  int64_t max;
  std::span<const std::string_view> names;  // of min, min + 1, ...
};

constexpr Bounds kFields[] = {{0, 59, {}}, {0, 23, {}}, {1, 31, {}}, {1, 12, kMonths}, {0, 6, kDays}};

// A number that is not negative, or "" in `wrong` and the number in `out`.
std::string ParseNumber(std::string_view text, int64_t& out) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);  // as strconv.Atoi
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  const bool sign_only = digits.starts_with('-') && text.starts_with('+');
  if (error == std::errc::result_out_of_range) {
    return StrCat("failed to parse int from ", text, ": strconv.Atoi: parsing ", Quote(text), ": value out of range");
  }
  if (error != std::errc() || end != digits.data() + digits.size() || sign_only) {
    return StrCat("failed to parse int from ", text, ": strconv.Atoi: parsing ", Quote(text), ": invalid syntax");
  }
  return out < 0 ? StrCat("negative number (", out, ") not allowed: ", text) : "";
}

std::string ParseNumberOrName(std::string_view text, const Bounds& bounds, int64_t& out) {
  const auto found = std::ranges::find(bounds.names, ToLower(text));
  if (found == bounds.names.end()) return ParseNumber(text, out);
  out = bounds.min + (found - bounds.names.begin());
  return "";
}

// "*", "5", "1-5", "*/2", "1-9/3".
std::string CheckRange(std::string_view text, const Bounds& bounds) {
  const std::vector<std::string_view> parts = Split(text, '/');
  const std::vector<std::string_view> ends = Split(parts[0], '-');
  int64_t start = bounds.min;
  int64_t end = bounds.max;
  if (ends[0] != "*" && ends[0] != "?") {
    if (std::string wrong = ParseNumberOrName(ends[0], bounds, start); !wrong.empty()) return wrong;
    end = start;
    if (ends.size() > 2) return StrCat("too many hyphens: ", text);
    if (ends.size() == 2) {
      if (std::string wrong = ParseNumberOrName(ends[1], bounds, end); !wrong.empty()) return wrong;
    }
  }
  int64_t step = 1;
  if (parts.size() > 2) return StrCat("too many slashes: ", text);
  if (parts.size() == 2) {
    if (std::string wrong = ParseNumber(parts[1], step); !wrong.empty()) return wrong;
    if (ends.size() == 1) end = bounds.max;
  }
  if (start < bounds.min) return StrCat("beginning of range (", start, ") below minimum (", bounds.min, "): ", text);
  if (end > bounds.max) return StrCat("end of range (", end, ") above maximum (", bounds.max, "): ", text);
  if (start > end) return StrCat("beginning of range (", start, ") beyond end of range (", end, "): ", text);
  return step == 0 ? StrCat("step of range should be a positive number: ", text) : "";
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = text.find_first_not_of(" \t\n\v\f\r", i);
    if (begin == std::string_view::npos) break;
    i = std::min(text.find_first_of(" \t\n\v\f\r", begin), text.size());
    words.push_back(text.substr(begin, i - begin));
  }
  return words;
}

std::string CheckDescriptor(std::string_view text) {
  static constexpr std::string_view kKnown[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                                "@daily",  "@midnight", "@hourly"};
  static constexpr std::string_view kEvery = "@every ";
  if (std::ranges::find(kKnown, text) != std::end(kKnown)) return "";
  if (!text.starts_with(kEvery)) return StrCat("unrecognized descriptor: ", text);
  Result<Duration> duration = json::ParseDuration(text.substr(kEvery.size()));
  return duration.ok() ? "" : StrCat("failed to parse duration ", text, ": ", duration.error().message());
}

}  // namespace

std::string CheckCronSchedule(std::string_view schedule) {
  if (schedule.empty()) return "empty spec string";
  if (schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=")) {
    const size_t space = schedule.find(' ');
    if (space == std::string_view::npos) {
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";  // what Go says of it
    }
    schedule = Trim(schedule.substr(space));
  }
  if (schedule.starts_with('@')) return CheckDescriptor(schedule);
  const std::vector<std::string_view> fields = Words(schedule);
  if (fields.size() != std::size(kFields)) {
    std::string list;
    for (std::string_view field : fields) StrAppend(list, list.empty() ? "" : " ", field);
    return StrCat("expected exactly ", std::size(kFields), " fields, found ", fields.size(), ": [", list, "]");
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    for (std::string_view range : Split(fields[i], ',')) {
      if (range.empty()) continue;
      if (std::string wrong = CheckRange(range, kFields[i]); !wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace baton::api
