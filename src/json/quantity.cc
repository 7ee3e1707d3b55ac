// Quantity: parsing, canonical text, exact arithmetic.
#include "json/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "json/print.h"

namespace baton::json {
namespace {

using Int = __int128;
using Format = Quantity::Format;

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr std::string_view kNumberWrong = "unable to parse numeric part of quantity";

Error Invalid(std::string_view message) { return InvalidError(std::string(message)); }

constexpr auto kPowersOfTen = [] {
  std::array<Int, Quantity::kMaxDigits + 1> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();
constexpr Int kMantissaLimit = kPowersOfTen.back();  // every mantissa is smaller in magnitude

Int Magnitude(Int number) { return number < 0 ? -number : number; }

int CountDigits(Int number) {
  return static_cast<int>(std::upper_bound(kPowersOfTen.begin(), kPowersOfTen.end(), Magnitude(number)) -
                          kPowersOfTen.begin());
}

std::string Digits(Int magnitude) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  std::reverse(text.begin(), text.end());
  return text;
}

// number * 10^power, or nothing when that has more than kMaxDigits digits. power >= 0.
std::optional<Int> TimesPowerOfTen(Int number, int64_t power) {
  if (number == 0) return 0;
  if (power + CountDigits(number) > Quantity::kMaxDigits) return std::nullopt;
  return number * kPowersOfTen[static_cast<size_t>(power)];
}

// ---- suffixes ----

struct Suffix {
  Format format;
  int base;          // 10 or 2
  int32_t exponent;  // the suffix stands for base^exponent
};

struct NamedSuffix {
  std::string_view text;
  int32_t exponent;
};
constexpr std::array<NamedSuffix, 10> kDecimalSuffixes = {
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<NamedSuffix, 6> kBinarySuffixes = {
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

std::optional<Suffix> ReadSuffix(std::string_view text) {
  for (const NamedSuffix& s : kDecimalSuffixes) {
    if (text == s.text) return Suffix{Format::kDecimalSi, 10, s.exponent};
  }
  for (const NamedSuffix& s : kBinarySuffixes) {
    if (text == s.text) return Suffix{Format::kBinarySi, 2, s.exponent};
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;  // from_chars would take it
  }
  int32_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Suffix{Format::kDecimalExponent, 10, exponent};
}

// ---- text ----

struct Parts {
  bool negative = false;
  bool has_digits = false;    // "k" has none, and is zero
  std::string_view whole;     // digits before the point, without leading zeros
  std::string_view fraction;  // digits after it
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& text) {
  const size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

std::optional<Parts> SplitText(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Parts parts;
  if (text[0] == '-' || text[0] == '+') {
    parts.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  parts.whole = TakeDigits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = TakeDigits(text);
  }
  parts.has_digits = !parts.whole.empty() || !parts.fraction.empty();
  parts.whole.remove_prefix(std::min(parts.whole.find_first_not_of('0'), parts.whole.size()));

  parts.suffix = text;
  text.remove_prefix(std::min(text.find_first_not_of("eEinumkKMGTP"), text.size()));
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  TakeDigits(text);
  if (!text.empty()) return std::nullopt;
  return parts;
}

Error TooManyDigits() {
  return TooLargeError(StrCat("a quantity has at most ", Quantity::kMaxDigits, " significant digits"));
}

}  // namespace

Result<Quantity> Quantity::Make(Int mantissa, int64_t exponent, Format format) {
  if (mantissa == 0) return Quantity(0, 0, format);
  while (mantissa % 10 == 0) {
    mantissa /= 10;
    ++exponent;
  }
  if (Magnitude(mantissa) >= kMantissaLimit) return TooManyDigits();
  if (exponent > kMaxExponent) {
    return TooLargeError(StrCat("a quantity is at most a ", kMaxDigits, "-digit number times 1e", kMaxExponent));
  }
  return Quantity(mantissa, static_cast<int32_t>(exponent), format);
}

Quantity Quantity::FromInt(int64_t value, Format format) { return *Make(value, 0, format); }

Quantity Quantity::FromMilli(int64_t milli, Format format) { return *Make(milli, -3, format); }

// digits * 10^exponent, with what is finer than a nano rounded away from zero.
Result<Quantity> Quantity::FromDecimal(bool negative, std::string digits, int64_t exponent, Format format) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Quantity(0, 0, format);
  const size_t size = digits.find_last_not_of('0') + 1;
  exponent += static_cast<int64_t>(digits.size() - size);
  digits.resize(size);

  Int round_up = 0;
  if (exponent < kMinExponent) {
    const int64_t dropped = kMinExponent - exponent;
    digits.resize(static_cast<size_t>(std::max<int64_t>(static_cast<int64_t>(size) - dropped, 0)));
    exponent = kMinExponent;
    round_up = 1;  // the last dropped digit was not zero
  }
  if (digits.size() > static_cast<size_t>(kMaxDigits)) return TooManyDigits();
  Int mantissa = 0;
  for (const char c : digits) mantissa = mantissa * 10 + (c - '0');
  mantissa += round_up;
  return Make(negative ? -mantissa : mantissa, exponent, format);
}

// whole.fraction * 2^power, in nanos rounded away from zero and capped.
Result<Quantity> Quantity::FromBinary(bool negative, std::string_view whole, std::string_view fraction, int power) {
  constexpr Int kNanosInOne = kPowersOfTen[-kMinExponent];
  constexpr Int kCap = Int{kMaxBinary} * kNanosInOne;
  const Int factor = kNanosInOne << power;  // below 2^90

  // Multiplied from the last digit on: `carry` is the part above the digits seen so far, and what falls below a nano
  // only matters for rounding up.
  Int carry = 0;
  bool inexact = false;
  for (size_t i = fraction.size(); i-- > 0;) {
    carry += factor * (fraction[i] - '0');
    inexact |= carry % 10 != 0;
    carry /= 10;
  }
  Int nanos = 0;
  for (const char c : whole) {
    nanos = nanos * 10 + factor * (c - '0');
    if (nanos > kCap) break;
  }
  nanos = std::min(nanos + carry + (inexact ? 1 : 0), kCap);

  // Below one a binary suffix would say nothing: Kubernetes forgets it.
  const Format format = nanos > 0 && nanos < kNanosInOne ? Format::kDecimalSi : Format::kBinarySi;
  return Make(negative ? -nanos : nanos, kMinExponent, format);
}

Result<Quantity> Quantity::Parse(std::string_view text) {
  const std::optional<Parts> parts = SplitText(text);
  if (!parts) return Invalid(kFormatWrong);
  const std::optional<Suffix> suffix = ReadSuffix(parts->suffix);
  if (!suffix) return Invalid(kSuffixWrong);
  if (!parts->has_digits && suffix->exponent < kMinExponent) return Invalid(kNumberWrong);
  if (suffix->base == 2) return FromBinary(parts->negative, parts->whole, parts->fraction, suffix->exponent);
  return FromDecimal(parts->negative, StrCat(parts->whole, parts->fraction),
                     suffix->exponent - static_cast<int64_t>(parts->fraction.size()), suffix->format);
}

Result<Quantity> Quantity::FromJson(const json::Value& value) {
  if (value.is_null()) return Quantity();
  if (value.is_string()) return Parse(Trim(value.str()));
  if (value.is_number()) return Parse(Print(value));
  return Invalid(kFormatWrong);
}

std::string Quantity::ToString() const {
  if (IsZero()) return "0";
  return PrintsInBinary() ? BinaryText() : DecimalText();
}

bool Quantity::PrintsInBinary() const {
  if (format_ != Format::kBinarySi || exponent_ < 0) return false;
  const std::optional<Int> number = TimesPowerOfTen(Magnitude(mantissa_), exponent_);
  return number && *number >= 1024 && *number <= kMaxBinary;
}

std::string Quantity::BinaryText() const {
  auto number = static_cast<uint64_t>(*TimesPowerOfTen(Magnitude(mantissa_), exponent_));
  size_t thousands = 0;
  while (number % 1024 == 0) {
    number /= 1024;
    ++thousands;
  }
  return StrCat(mantissa_ < 0 ? "-" : "", number, thousands == 0 ? "" : kBinarySuffixes[thousands - 1].text);
}

std::string Quantity::DecimalText() const {
  const int32_t below = ((exponent_ % 3) + 3) % 3;  // to the next lower multiple of three
  const int32_t exponent = exponent_ - below;
  std::string text = StrCat(mantissa_ < 0 ? "-" : "", Digits(Magnitude(mantissa_)));
  text.append(static_cast<size_t>(below), '0');
  if (format_ != Format::kDecimalExponent) {
    for (const NamedSuffix& s : kDecimalSuffixes) {
      if (s.exponent == exponent) return text.append(s.text);
    }
  }
  if (exponent != 0) StrAppend(text, "e", exponent);
  return text;
}

Result<int64_t> Quantity::Scaled(int exponent) const {
  std::optional<Int> number;
  if (exponent_ >= exponent) {
    number = TimesPowerOfTen(mantissa_, int64_t{exponent_} - exponent);
  } else {
    const Int divisor = kPowersOfTen[static_cast<size_t>(exponent - exponent_)];
    number = mantissa_ / divisor + (mantissa_ % divisor == 0 ? 0 : Sign());
  }
  if (!number || *number > INT64_MAX || *number < INT64_MIN) {
    return TooLargeError(
        StrCat("quantity ", ToString(), exponent == 0 ? "" : " in thousandths", " does not fit into 64 bits"));
  }
  return static_cast<int64_t>(*number);
}

Result<Quantity> Quantity::Add(const Quantity& other) const {
  if (other.IsZero()) return IsZero() ? Quantity(0, 0, other.format_) : *this;
  if (IsZero()) return other;
  const int32_t exponent = std::min(exponent_, other.exponent_);
  const std::optional<Int> a = TimesPowerOfTen(mantissa_, int64_t{exponent_} - exponent);
  const std::optional<Int> b = TimesPowerOfTen(other.mantissa_, int64_t{other.exponent_} - exponent);
  Int sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) {
    return TooManyDigits().Context(StrCat("adding ", ToString(), " and ", other.ToString()));
  }
  return Make(sum, exponent, format_).Context("adding quantities");
}

Quantity Quantity::Neg() const { return Quantity(-mantissa_, exponent_, format_); }

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  if (a.Sign() != b.Sign() || a.IsZero()) return a.Sign() <=> b.Sign();
  // The position of the first digit decides; when it is the same, both fit kMaxDigits digits at the lower exponent.
  const int64_t a_top = int64_t{a.exponent_} + CountDigits(a.mantissa_);
  const int64_t b_top = int64_t{b.exponent_} + CountDigits(b.mantissa_);
  if (a_top != b_top) return a.Sign() > 0 ? a_top <=> b_top : b_top <=> a_top;
  const int32_t exponent = std::min(a.exponent_, b.exponent_);
  return *TimesPowerOfTen(a.mantissa_, int64_t{a.exponent_} - exponent) <=>
         *TimesPowerOfTen(b.mantissa_, int64_t{b.exponent_} - exponent);
}

}  // namespace baton::json
