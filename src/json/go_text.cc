// Values as Go writes them.
#include "json/go_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::json {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr size_t kDoubleBytesMax = 40;

// The shortest decimal that reads back as the same double: 0.d1d2d3... times ten to the `point`.
struct Decimal {
  bool negative = false;
  std::string digits;
  int point = 0;
};

Decimal ShortestDecimal(double value) {
  Decimal decimal;
  decimal.negative = std::signbit(value);
  std::array<char, kDoubleBytesMax> buffer;
  const char* end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::scientific).ptr;
  const char* at = buffer.data();
  for (; at != end && *at != 'e'; ++at) {
    if (*at != '.') decimal.digits += *at;
  }
  int exponent = 0;
  if (at != end) {
    ++at;
    if (*at == '+') ++at;  // from_chars takes no plus sign
    std::from_chars(at, end, exponent);
  }
  decimal.point = value == 0 ? 0 : exponent + 1;
  return decimal;
}

// d.ddde+XX; at least `exponent_digits` digits in the exponent.
std::string Scientific(const Decimal& decimal, int exponent_digits) {
  std::string out = decimal.negative ? "-" : "";
  out += decimal.digits[0];
  if (decimal.digits.size() > 1) StrAppend(out, '.', std::string_view(decimal.digits).substr(1));
  const int exponent = decimal.point - 1;
  StrAppend(out, 'e', exponent < 0 ? '-' : '+');
  if (std::abs(exponent) < 10 && exponent_digits > 1) out += '0';
  StrAppend(out, std::abs(exponent));
  return out;
}

std::string Fixed(const Decimal& decimal) {
  std::string out = decimal.negative ? "-" : "";
  const auto size = static_cast<int>(decimal.digits.size());
  if (decimal.point <= 0) {
    if (decimal.digits == "0") return out + "0";
    out += "0.";
    out.append(static_cast<size_t>(-decimal.point), '0');
    return out + decimal.digits;
  }
  if (decimal.point >= size) {
    out += decimal.digits;
    out.append(static_cast<size_t>(decimal.point - size), '0');
    return out;
  }
  const auto point = static_cast<size_t>(decimal.point);
  StrAppend(out, std::string_view(decimal.digits).substr(0, point), '.',
            std::string_view(decimal.digits).substr(point));
  return out;
}

// The letter after the backslash for the control characters that have one.
char ShortEscape(unsigned char byte) {
  switch (byte) {
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '"':
    case '\\':
      return static_cast<char>(byte);
    default:
      return 0;
  }
}

void AppendGoQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (const char letter = ShortEscape(byte); letter != 0) {
      StrAppend(out, '\\', letter);
    } else if (byte < 0x20 || byte == '<' || byte == '>' || byte == '&') {
      StrAppend(out, "\\u00", kHex[byte >> 4], kHex[byte & 15]);
    } else if (const std::string_view rest = text.substr(i); rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      // The line separators of JavaScript, for the sake of JSON pasted into it.
      StrAppend(out, "\\u202", kHex[static_cast<unsigned char>(text[i + 2]) & 15]);
      i += 2;
    } else {
      out += text[i];
    }
  }
  out += '"';
}

Result<void> AppendJson(std::string& out, const Value& value, size_t depth) {
  if (depth > kMaxDepth) return TooLargeError(StrCat("a value is nested deeper than ", kMaxDepth, " levels"));
  switch (value.kind()) {
    case Kind::kNull:
      out += "null";
      return {};
    case Kind::kBool:
      out += value.bool_or(false) ? "true" : "false";
      return {};
    case Kind::kInt:
      StrAppend(out, value.int_or(0));
      return {};
    case Kind::kUint:
    case Kind::kDouble:
      out += GoJsonDouble(value.number_or(0));
      return {};
    case Kind::kString:
      AppendGoQuoted(out, value.str());
      return {};
    case Kind::kArray: {
      char before = '[';
      for (const Value& item : value.items()) {
        out += before;
        before = ',';
        TRY(AppendJson(out, item, depth + 1));
      }
      out += before == '[' ? "[]" : "]";
      return {};
    }
    case Kind::kObject: {
      char before = '{';
      for (const Member& member : value.members()) {
        out += before;
        before = ',';
        AppendGoQuoted(out, member.key());
        out += ':';
        TRY(AppendJson(out, member.value(), depth + 1));
      }
      out += before == '{' ? "{}" : "}";
      return {};
    }
  }
  return {};
}

}  // namespace

std::string GoPlainDouble(double value) {
  const Decimal decimal = ShortestDecimal(value);
  const int exponent = decimal.point - 1;
  if (value != 0 && (exponent < -4 || exponent >= 6)) return Scientific(decimal, 2);
  return Fixed(decimal);
}

std::string GoJsonDouble(double value) {
  const Decimal decimal = ShortestDecimal(value);
  const double size = std::fabs(value);
  if (value != 0 && (size < 1e-6 || size >= 1e21)) return Scientific(decimal, size < 1 ? 1 : 2);
  return Fixed(decimal);
}

Result<void> AppendGoJson(std::string& out, const Value& value) { return AppendJson(out, value, 0); }

Result<void> AppendGoPlain(std::string& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      out += value.str();
      return {};
    case Kind::kUint:
    case Kind::kDouble:
      out += GoPlainDouble(value.number_or(0));
      return {};
    default:
      return AppendJson(out, value, 0);
  }
}

}  // namespace baton::json
