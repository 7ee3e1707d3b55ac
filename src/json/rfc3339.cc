// RFC 3339 times: parsing and printing, in civil days and without any time zone data.
#include "json/rfc3339.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/strings.h"
#include "json/go_time_quote.h"

namespace baton::json {
namespace {

constexpr std::string_view kTimeLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroTimeLayout = "2006-01-02T15:04:05.000000Z07:00";
constexpr std::string_view kMicroFraction = ".000000";
constexpr size_t kNanoDigits = 9;
constexpr int64_t kNanosInSecond = 1000000000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsPoint(char c) { return c == '.' || c == ','; }

// The fields of one text, read from left to right. Every step leaves `rest_` where Go's parser would, because its
// messages show it.
class TimeReader {
 public:
  TimeReader(std::string_view text, std::string_view layout) : text_(text), layout_(layout), rest_(text) {}

  Result<WallTime> Read();

 private:
  Error CannotParse(std::string_view rest, std::string_view element) const {
    return InvalidError(StrCat("parsing time ", GoTimeQuote(text_), " as ", GoTimeQuote(layout_), ": cannot parse ",
                               GoTimeQuote(rest), " as ", GoTimeQuote(element)));
  }
  Error OutOfRange(std::string_view what) const {
    return InvalidError(StrCat("parsing time ", GoTimeQuote(text_), ": ", what, " out of range"));
  }

  Result<void> Expect(std::string_view separator);
  Result<void> ReadYear();
  // Two digits, or one or two when a single one is allowed.
  Result<int> ReadNumber(std::string_view element, bool single = false);
  Result<int> ReadNumberBelow(int limit, std::string_view element, std::string_view name, bool single = false);
  Result<void> ReadDate();
  Result<void> ReadClock();
  Result<void> ReadAnyFraction();
  Result<void> ReadMicroFraction();
  Result<void> ReadOffset();
  Result<WallTime> ToWallTime() const;

  const std::string_view text_;
  const std::string_view layout_;
  std::string_view rest_;
  int year_ = 0;
  int month_ = 0;
  int day_ = 0;
  int64_t second_of_day_ = 0;
  int64_t nanos_ = 0;
  int64_t offset_seconds_ = 0;
};

std::optional<int> TwoDigits(std::string_view text) {
  if (text.size() < 2 || !IsDigit(text[0]) || !IsDigit(text[1])) return std::nullopt;
  return (text[0] - '0') * 10 + (text[1] - '0');
}

Result<void> TimeReader::Expect(std::string_view separator) {
  if (!rest_.starts_with(separator)) return CannotParse(rest_, separator);
  rest_.remove_prefix(separator.size());
  return {};
}

Result<void> TimeReader::ReadYear() {
  const auto high = TwoDigits(rest_);
  const auto low = rest_.size() < 2 ? std::nullopt : TwoDigits(rest_.substr(2));
  if (!high || !low) return CannotParse(rest_, "2006");
  year_ = *high * 100 + *low;
  rest_.remove_prefix(4);
  return {};
}

Result<int> TimeReader::ReadNumber(std::string_view element, bool single) {
  if (const std::optional<int> number = TwoDigits(rest_)) {
    rest_.remove_prefix(2);
    return *number;
  }
  if (!single || rest_.empty() || !IsDigit(rest_[0])) return CannotParse(rest_, element);
  const int number = rest_[0] - '0';
  rest_.remove_prefix(1);
  return number;
}

Result<int> TimeReader::ReadNumberBelow(int limit, std::string_view element, std::string_view name, bool single) {
  const int number = TRY(ReadNumber(element, single));
  if (number >= limit) return OutOfRange(name);
  return number;
}

Result<void> TimeReader::ReadDate() {
  TRY(ReadYear());
  TRY(Expect("-"));
  month_ = TRY(ReadNumber("01"));
  if (month_ < 1 || month_ > 12) return OutOfRange("month");
  TRY(Expect("-"));
  day_ = TRY(ReadNumber("02"));  // checked at the end, as the last of all errors
  return {};
}

Result<void> TimeReader::ReadClock() {
  TRY(Expect("T"));
  const int hour = TRY(ReadNumberBelow(24, "15", "hour", /*single=*/true));  // Go forgives a missing zero only here
  TRY(Expect(":"));
  const int minute = TRY(ReadNumberBelow(60, "04", "minute"));
  TRY(Expect(":"));
  const int second = TRY(ReadNumberBelow(60, "05", "second"));
  second_of_day_ = (hour * 60 + minute) * 60 + second;
  return {};
}

Result<void> TimeReader::ReadAnyFraction() {
  if (rest_.size() < 2 || !IsPoint(rest_[0]) || !IsDigit(rest_[1])) return {};
  rest_.remove_prefix(1);
  size_t digits = 0;
  for (; !rest_.empty() && IsDigit(rest_[0]); rest_.remove_prefix(1)) {
    if (digits++ < kNanoDigits) nanos_ = nanos_ * 10 + (rest_[0] - '0');
  }
  for (; digits < kNanoDigits; ++digits) nanos_ *= 10;
  return {};
}

Result<void> TimeReader::ReadMicroFraction() {
  if (rest_.size() < kMicroFraction.size() || !IsPoint(rest_[0])) return CannotParse(rest_, kMicroFraction);
  std::string_view digits = rest_.substr(1, kMicroFraction.size() - 1);
  const bool negative = digits[0] == '-';
  if (negative || digits[0] == '+') digits.remove_prefix(1);  // Go reads a signed number here
  if (!std::all_of(digits.begin(), digits.end(), IsDigit)) return CannotParse(rest_, kMicroFraction);
  for (const char c : digits) nanos_ = nanos_ * 10 + (c - '0');
  if (negative && nanos_ > 0) return OutOfRange("fractional second");
  nanos_ *= 1000;
  rest_.remove_prefix(kMicroFraction.size());
  return {};
}

Result<void> TimeReader::ReadOffset() {
  constexpr std::string_view kElement = "Z07:00";
  if (rest_.starts_with('Z')) {
    rest_.remove_prefix(1);
    return {};
  }
  if (rest_.size() < kElement.size() || rest_[3] != ':') return CannotParse(rest_, kElement);
  const std::optional<int> hours = TwoDigits(rest_.substr(1));
  const std::optional<int> minutes = TwoDigits(rest_.substr(4));
  // 24 and 60 are no mistakes here: some people write them, and Go takes them.
  if (hours && minutes && *minutes > 60) return OutOfRange("time zone offset minute");
  if (hours && *hours > 24) return OutOfRange("time zone offset hour");
  const char sign = rest_[0];
  if (!hours || !minutes || (sign != '+' && sign != '-')) return CannotParse(rest_, kElement);
  offset_seconds_ = (int64_t{*hours} * 60 + *minutes) * (sign == '-' ? -60 : 60);
  rest_.remove_prefix(kElement.size());
  return {};
}

Result<WallTime> TimeReader::ToWallTime() const {
  const std::chrono::year_month_day date(std::chrono::year(year_), std::chrono::month(static_cast<unsigned>(month_)),
                                         std::chrono::day(static_cast<unsigned>(day_)));
  if (!date.ok()) return OutOfRange("day");
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = days * 86400 + second_of_day_ - offset_seconds_;
  const __int128 nanos = static_cast<__int128>(seconds) * kNanosInSecond + nanos_;
  if (nanos < INT64_MIN || nanos > INT64_MAX) {
    return TooLargeError(StrCat("parsing time ", GoTimeQuote(text_), ": not between ", FormatTime(WallTime::min()),
                                " and ", FormatTime(WallTime::max())));
  }
  return WallTime(Duration(static_cast<int64_t>(nanos)));
}

Result<WallTime> TimeReader::Read() {
  TRY(ReadDate());
  TRY(ReadClock());
  TRY(layout_ == kMicroTimeLayout ? ReadMicroFraction() : ReadAnyFraction());
  TRY(ReadOffset());
  if (!rest_.empty()) {
    return InvalidError(StrCat("parsing time ", GoTimeQuote(text_), ": extra text: ", GoTimeQuote(rest_)));
  }
  return ToWallTime();
}

void AppendPadded(std::string& out, int64_t number, size_t width) {
  std::array<char, 20> digits;
  const size_t count = std::to_chars(digits.begin(), digits.end(), number).ptr - digits.begin();
  out.append(width - std::min(width, count), '0');
  out.append(digits.data(), count);
}

// "2006-01-02T15:04:05", without fraction and zone.
std::string FormatSeconds(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const std::chrono::hh_mm_ss clock(seconds - days);
  std::string out;
  out.reserve(kMicroTimeLayout.size());
  AppendPadded(out, static_cast<int>(date.year()), 4);
  out += '-';
  AppendPadded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  AppendPadded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  AppendPadded(out, clock.hours().count(), 2);
  out += ':';
  AppendPadded(out, clock.minutes().count(), 2);
  out += ':';
  AppendPadded(out, clock.seconds().count(), 2);
  return out;
}

}  // namespace

Result<WallTime> ParseTime(std::string_view text) { return TimeReader(text, kTimeLayout).Read(); }

Result<WallTime> ParseMicroTime(std::string_view text) { return TimeReader(text, kMicroTimeLayout).Read(); }

std::string FormatTime(WallTime time) { return FormatSeconds(time) + 'Z'; }

std::string FormatMicroTime(WallTime time) {
  const auto micros = std::chrono::floor<microseconds>(time.time_since_epoch());
  std::string out = FormatSeconds(time);
  out += '.';
  AppendPadded(out, (micros - std::chrono::floor<seconds>(micros)).count(), kMicroFraction.size() - 1);
  out += 'Z';
  return out;
}

}  // namespace baton::json
