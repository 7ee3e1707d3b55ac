// Go durations: parsing and printing.
#include "json/go_duration.h"

#include <array>
#include <cstdint>
#include <optional>

#include "base/strings.h"
#include "json/go_time_quote.h"

namespace baton::json {
namespace {

constexpr uint64_t kLimit = uint64_t{1} << 63;  // the magnitude of the most negative duration

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr uint64_t kSecond = 1000 * kMillisecond;
constexpr uint64_t kMinute = 60 * kSecond;
constexpr uint64_t kHour = 60 * kMinute;

struct Unit {
  std::string_view name;
  uint64_t nanos;
};
constexpr std::array<Unit, 8> kUnits = {{
    {"ns", 1},
    {"us", kMicrosecond},
    {"\u00b5s", kMicrosecond},  // the micro sign
    {"\u03bcs", kMicrosecond},  // the Greek letter mu
    {"ms", kMillisecond},
    {"s", kSecond},
    {"m", kMinute},
    {"h", kHour},
}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits in front of `text`, which are taken from it; nothing when the number passes kLimit.
std::optional<uint64_t> TakeWhole(std::string_view& text) {
  uint64_t number = 0;
  while (!text.empty() && IsDigit(text[0])) {
    if (number > kLimit / 10) return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(text[0] - '0');
    if (number > kLimit) return std::nullopt;
    text.remove_prefix(1);
  }
  return number;
}

// The digits after a point: digits / scale, without those that no longer fit.
struct Fraction {
  uint64_t digits = 0;
  double scale = 1;
};
Fraction TakeFraction(std::string_view& text) {
  Fraction fraction;
  bool full = false;
  for (; !text.empty() && IsDigit(text[0]); text.remove_prefix(1)) {
    const uint64_t next = fraction.digits * 10 + static_cast<uint64_t>(text[0] - '0');
    full |= fraction.digits > (kLimit - 1) / 10 || next > kLimit;
    if (full) continue;
    fraction.digits = next;
    fraction.scale *= 10;
  }
  return fraction;
}

const Unit* TakeUnit(std::string_view& text, std::string_view& name) {
  size_t size = 0;
  while (size < text.size() && text[size] != '.' && !IsDigit(text[size])) ++size;
  name = text.substr(0, size);
  text.remove_prefix(size);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Error Bad(std::string_view what, std::string_view text) {
  return InvalidError(StrCat("time: ", what, " duration ", GoTimeQuote(text)));
}

// One number and its unit, in nanoseconds up to kLimit.
Result<uint64_t> TakeTerm(std::string_view& rest, std::string_view text) {
  if (rest[0] != '.' && !IsDigit(rest[0])) return Bad("invalid", text);
  bool has_digits = IsDigit(rest[0]);
  const std::optional<uint64_t> whole = TakeWhole(rest);
  if (!whole) return Bad("invalid", text);
  Fraction fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    has_digits |= !rest.empty() && IsDigit(rest[0]);
    fraction = TakeFraction(rest);
  }
  if (!has_digits) return Bad("invalid", text);

  std::string_view name;
  const Unit* unit = TakeUnit(rest, name);
  if (name.empty()) return Bad("missing unit in", text);
  if (unit == nullptr) return Bad(StrCat("unknown unit ", GoTimeQuote(name), " in"), text);
  if (*whole > kLimit / unit->nanos) return Bad("invalid", text);
  uint64_t nanos = *whole * unit->nanos;
  if (fraction.digits > 0) {
    // In floating point and in this order, because that decides the last nanosecond as Go does.
    nanos += static_cast<uint64_t>(static_cast<double>(fraction.digits) *
                                   (static_cast<double>(unit->nanos) / fraction.scale));
    if (nanos > kLimit) return Bad("invalid", text);
  }
  return nanos;
}

// The number nanos / unit with as many decimals as it needs.
std::string Decimal(uint64_t nanos, uint64_t unit) {
  std::string text = StrCat(nanos / unit);
  uint64_t rest = nanos % unit;
  if (rest == 0) return text;
  text += '.';
  for (; rest != 0; rest %= unit) {
    unit /= 10;
    text += static_cast<char>('0' + rest / unit);
  }
  return text;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration(0);
  if (rest.empty()) return Bad("invalid", text);
  uint64_t total = 0;
  while (!rest.empty()) {
    const uint64_t term = TRY(TakeTerm(rest, text));
    if (term > kLimit - total) return Bad("invalid", text);  // Go's sum wraps to 0 for two terms of 2^63
    total += term;
  }
  if (negative) return Duration(static_cast<int64_t>(-total));
  if (total == kLimit) return Bad("invalid", text);
  return Duration(static_cast<int64_t>(total));
}

std::string FormatDuration(Duration duration) {
  const bool negative = duration.count() < 0;
  uint64_t nanos = static_cast<uint64_t>(duration.count());
  if (negative) nanos = -nanos;
  const std::string_view sign = negative ? "-" : "";
  if (nanos == 0) return "0s";
  if (nanos < kMicrosecond) return StrCat(sign, nanos, "ns");
  if (nanos < kMillisecond) return StrCat(sign, Decimal(nanos, kMicrosecond), "\u00b5s");
  if (nanos < kSecond) return StrCat(sign, Decimal(nanos, kMillisecond), "ms");
  std::string text(sign);
  if (nanos >= kHour) StrAppend(text, nanos / kHour, "h");
  if (nanos >= kMinute) StrAppend(text, nanos % kHour / kMinute, "m");
  StrAppend(text, Decimal(nanos % kMinute, kSecond), "s");
  return text;
}

}  // namespace baton::json
