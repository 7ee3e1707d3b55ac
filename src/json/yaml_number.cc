// Numbers of YAML scalars: Go's base prefixes, floats that fit a double, and Go's shortest form.
#include "json/yaml_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "base/strings.h"

namespace baton::json {
namespace {

using Type = YamlScalar::Type;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsSign(char c) { return c == '+' || c == '-'; }
constexpr char Lower(char c) { return static_cast<char>(c | 0x20); }

// Go's strconv.ParseInt and ParseUint with base 0: 0x, 0o, 0b, a leading 0 for octal. False when it is no such integer
// or does not fit.
bool ReadInteger(std::string_view text, YamlScalar& out) {
  const bool negative = text.starts_with('-');
  const bool has_sign = !text.empty() && IsSign(text[0]);
  std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (digits.empty()) return false;
  int base = 10;
  if (digits[0] == '0') {
    const char mark = digits.size() >= 3 ? Lower(digits[1]) : '\0';
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    digits.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
    if (digits.empty()) digits = "0";
  }
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  constexpr uint64_t kMaxInt = std::numeric_limits<int64_t>::max();
  if (magnitude <= kMaxInt + (negative ? 1 : 0)) {
    out = {.type = Type::kInt, .integer = static_cast<int64_t>(negative ? 0 - magnitude : magnitude)};
    return true;
  }
  if (has_sign) return false;
  out = {.type = Type::kUint, .natural = magnitude};
  return true;
}

// After "0b" go-yaml also takes a sign: 0b-1 is -1.
bool ReadSignedBinary(std::string_view text, YamlScalar& out) {
  if (!text.starts_with("0b") || text.size() < 4 || !IsSign(text[2])) return false;
  const std::string moved = StrCat(text.substr(2, 1), "0b", text.substr(3));
  return !IsSign(text[3]) && ReadInteger(moved, out) && out.type == Type::kInt;
}

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// [+-] (.5 | 1 | 1. | 1.5) [e[+-]5], all of it.
bool LooksLikeFloat(std::string_view text) {
  size_t at = !text.empty() && IsSign(text[0]) ? 1 : 0;
  const size_t whole = SkipDigits(text, at) - at;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const size_t fraction = SkipDigits(text, at + 1) - (at + 1);
    if (whole == 0 && fraction == 0) return false;
    at += 1 + fraction;
  } else if (whole == 0) {
    return false;
  }
  if (at == text.size()) return true;
  if (Lower(text[at]) != 'e') return false;
  ++at;
  if (at < text.size() && IsSign(text[at])) ++at;
  return at < text.size() && SkipDigits(text, at) == text.size();
}

// For a float that no double holds: is it too close to zero (then it is zero), or too large?
bool IsTiny(std::string_view text) {
  constexpr int64_t kFarExponent = 1'000'000'000;
  int64_t magnitude = 0;  // the power of ten of the first digit that is not 0
  bool after_point = false;
  bool counting = false;
  size_t at = 0;
  for (; at < text.size() && Lower(text[at]) != 'e'; ++at) {
    if (text[at] == '.') after_point = true;
    if (!IsDigit(text[at])) continue;
    counting = counting || text[at] != '0';
    if (counting && !after_point) ++magnitude;
    if (!counting && after_point) --magnitude;
  }
  if (at < text.size()) {
    const bool negative = text[at + 1] == '-';
    int64_t exponent = 0;
    for (const char c : text.substr(at + 1)) {
      if (IsDigit(c) && exponent < kFarExponent) exponent = exponent * 10 + (c - '0');
    }
    magnitude += negative ? -exponent : exponent;
  }
  return magnitude < 0;
}

// `text` LooksLikeFloat.
bool ReadFloat(std::string_view text, YamlScalar& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {
    if (!IsTiny(text)) return false;
    number = 0;
  } else if (error != std::errc()) {
    return false;
  }
  out = {.type = Type::kFloat, .number = number};
  return true;
}

std::string WithoutUnderscores(std::string_view text) {
  std::string plain(text);
  std::erase(plain, '_');
  return plain;
}

}  // namespace

bool ReadYamlPointFloat(std::string_view text, YamlScalar& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && (i == 0 || i + 1 == text.size() || !IsDigit(text[i - 1]) || !IsDigit(text[i + 1]))) {
      return false;
    }
  }
  const std::string plain = WithoutUnderscores(text);
  return LooksLikeFloat(plain) && ReadFloat(plain, out);
}

bool ReadYamlNumber(std::string_view text, YamlScalar& out) {
  std::string stripped;
  if (text.contains('_')) {
    stripped = WithoutUnderscores(text);
    text = stripped;
  }
  return ReadInteger(text, out) || (LooksLikeFloat(text) && ReadFloat(text, out)) || ReadSignedBinary(text, out);
}

Value NumberToValue(double number) {
  constexpr double kTwo53 = 9007199254740992.0;  // up to here the digits below are all of the number
  constexpr double kTwo64 = 18446744073709551616.0;
  if (std::trunc(number) != number || std::abs(number) >= kTwo64) return number;
  if (std::abs(number) <= kTwo53) return static_cast<int64_t>(number);
  std::array<char, 64> buffer;
  const char* end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), end);
  std::string digits(text.substr(0, text.find('e')));
  size_t exponent = 0;
  std::from_chars(buffer.data() + digits.size() + 2, end, exponent);  // behind "e+"
  const size_t sign = number < 0 ? 1 : 0;
  std::erase(digits, '.');
  digits.resize(sign + exponent + 1, '0');
  YamlScalar integer;
  if (!ReadInteger(digits, integer)) return number;
  return integer.type == Type::kInt ? Value(integer.integer) : Value(integer.natural);
}

template <class T>
std::string FormatLikeGo(T number) {
  constexpr int kExponentMin = -4;
  constexpr int kExponentMax = 6;
  std::array<char, 64> buffer;
  const char* end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), end);
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  if (exponent < kExponentMin || exponent >= kExponentMax) return std::string(text);
  end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed).ptr;
  return std::string(buffer.data(), static_cast<size_t>(end - buffer.data()));
}

template std::string FormatLikeGo(float);
template std::string FormatLikeGo(double);

}  // namespace baton::json
