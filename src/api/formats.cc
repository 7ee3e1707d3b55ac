// Formats: one predicate for each name. They accept what kube-openapi's strfmt accepts, with two exceptions: the empty
// string is base64 (of no bytes), because the values of a Secret may be empty; and an e-mail address is checked by its
// shape, not by the whole grammar of RFC 5322.
#include "api/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "api/patterns.h"
#include "base/strings.h"
#include "json/go_duration.h"
#include "json/names.h"
#include "json/quantity.h"

namespace baton::api {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

int Number(std::string_view digits) {
  int number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number;
}

bool AllDigits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsDigit); }

// ---- times ----

bool IsDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  if (!AllDigits(text.substr(0, 4)) || !AllDigits(text.substr(5, 2)) || !AllDigits(text.substr(8))) return false;
  const int year = Number(text.substr(0, 4));
  const int month = Number(text.substr(5, 2));
  const int day = Number(text.substr(8));
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[static_cast<size_t>(month) - 1] + (month == 2 && leap ? 1 : 0);
}

bool IsClock(std::string_view text) {  // hh:mm
  return text.size() == 5 && text[2] == ':' && AllDigits(text.substr(0, 2)) && AllDigits(text.substr(3)) &&
         Number(text.substr(0, 2)) < 24 && Number(text.substr(3)) < 60;
}

bool IsDateTime(std::string_view text) {
  constexpr size_t kDate = 10;
  constexpr size_t kDateAndTime = 19;
  if (text.size() <= kDateAndTime || !IsDate(text.substr(0, kDate)) || (text[kDate] != 'T' && text[kDate] != 't')) {
    return false;
  }
  const std::string_view seconds = text.substr(17, 2);
  if (!IsClock(text.substr(11, 5)) || text[16] != ':' || !AllDigits(seconds) || Number(seconds) > 59) return false;
  std::string_view rest = text.substr(kDateAndTime);
  if (rest[0] == '.') {
    rest.remove_prefix(1);
    const size_t digits = static_cast<size_t>(std::ranges::find_if_not(rest, IsDigit) - rest.begin());
    if (digits == 0) return false;
    rest.remove_prefix(digits);
  }
  if (rest == "Z" || rest == "z") return true;
  return rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && IsClock(rest.substr(1));
}

bool IsDuration(std::string_view text) {
  if (json::ParseDuration(text).ok()) return true;
  static const std::string pattern =
      R"(^(\d+\s*(ns|nano|nanosecond|nanoseconds|us|µs|micro|micros|microsecond|microseconds|ms|milli|millis|)"
      R"(millisecond|milliseconds|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|)"
      R"(d|day|days|w|wk|wks|week|weeks)\s*)+$)";
  return PatternMatches(pattern, text);
}

// ---- networks ----

bool ParsesAsIp(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  const std::string terminated(text);
  if (terminated.size() != std::string_view(terminated.c_str()).size()) return false;
  const int family = text.contains(':') ? AF_INET6 : AF_INET;
  return inet_pton(family, terminated.c_str(), address.data()) == 1;
}

bool IsIpv4(std::string_view text) { return text.contains('.') && ParsesAsIp(text); }
bool IsIpv6(std::string_view text) { return text.contains(':') && ParsesAsIp(text); }

bool IsCidr(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || !ParsesAsIp(text.substr(0, slash))) return false;
  const std::string_view bits = text.substr(slash + 1);
  const int max = text.substr(0, slash).contains(':') ? 128 : 32;
  return AllDigits(bits) && bits.size() <= 3 && Number(bits) <= max;
}

// Groups of `digits` hexadecimal digits between separators; the bytes must be 6, 8 or 20.
bool IsMacOfGroups(std::string_view text, size_t digits, char separator) {
  size_t bytes = 0;
  for (const std::string_view group : Split(text, separator)) {
    if (group.size() != digits || !std::ranges::all_of(group, IsHex)) return false;
    bytes += digits / 2;
  }
  return bytes == 6 || bytes == 8 || bytes == 20;
}

bool IsMac(std::string_view text) {
  return IsMacOfGroups(text, 2, ':') || IsMacOfGroups(text, 2, '-') || IsMacOfGroups(text, 4, '.');
}

bool IsHostname(std::string_view text) {
  constexpr size_t kMaxName = 255;
  constexpr size_t kMaxLabel = 63;
  if (text.size() > kMaxName) return false;
  return std::ranges::all_of(Split(text, '.'), [](std::string_view label) {
    const auto allowed = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    };
    return !label.empty() && label.size() <= kMaxLabel && label.front() != '-' && label.back() != '-' &&
           std::ranges::all_of(label, allowed);
  });
}

bool HasValidEscapes(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (text[i] == '%' && (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2]))) return false;
  }
  return true;
}

// What a request line may name: an absolute path, or a URI with a scheme.
bool IsRequestUri(std::string_view text) {
  if (text.empty() || !HasValidEscapes(text)) return false;
  if (text == "*" || text[0] == '/') return true;
  static const std::string scheme = "^[A-Za-z][A-Za-z0-9+.-]*:";
  if (!PatternMatches(scheme, text)) return false;
  std::string_view rest = text.substr(text.find(':') + 1);
  if (!rest.starts_with("//")) return true;
  rest.remove_prefix(2);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  return host.find_first_of(" <>\"") == std::string_view::npos;
}

bool IsEmail(std::string_view text) {
  static const std::string pattern = R"(^([^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$)";
  return PatternMatches(pattern, text);
}

// ---- numbers with a check digit, and colours ----

std::string Without(std::string_view text, std::string_view dropped) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [&](char c) { return !dropped.contains(c); });
  return out;
}

bool IsIsbn10(std::string_view text) {
  const std::string digits = Without(text, " -");
  if (digits.size() != 10 || !AllDigits(std::string_view(digits).substr(0, 9))) return false;
  if (!IsDigit(digits[9]) && digits[9] != 'X') return false;
  int sum = 0;
  for (int i = 0; i < 9; ++i) sum += (i + 1) * (digits[static_cast<size_t>(i)] - '0');
  sum += 10 * (digits[9] == 'X' ? 10 : digits[9] - '0');
  return sum % 11 == 0;
}

bool IsIsbn13(std::string_view text) {
  const std::string digits = Without(text, " -");
  if (digits.size() != 13 || !AllDigits(digits)) return false;
  int sum = 0;
  for (size_t i = 0; i < digits.size(); ++i) sum += (i % 2 == 0 ? 1 : 3) * (digits[i] - '0');
  return sum % 10 == 0;
}

bool IsIsbn(std::string_view text) { return IsIsbn10(text) || IsIsbn13(text); }

bool IsCreditCard(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), IsDigit);
  static const std::string pattern =
      R"(^(4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})$)";
  if (!PatternMatches(pattern, digits)) return false;
  int sum = 0;  // Luhn
  for (size_t i = 0; i < digits.size(); ++i) {
    int digit = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) digit = digit > 4 ? 2 * digit - 9 : 2 * digit;
    sum += digit;
  }
  return sum % 10 == 0;
}

bool IsSsn(std::string_view text) {
  static const std::string pattern = R"(^\d{3}[- ]?\d{2}[- ]?\d{4}$)";
  return PatternMatches(pattern, text);
}

bool IsHexColor(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return (text.size() == 3 || text.size() == 6) && std::ranges::all_of(text, IsHex);
}

bool IsRgbColor(std::string_view text) {
  static const std::string pattern = R"(^rgb\((\s*(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])\s*(,|\)$)){3})";
  return PatternMatches(pattern, text) && std::ranges::count(text, ',') == 2;
}

// ---- bytes and identifiers ----

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return std::ranges::all_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/'; });
}

bool IsObjectId(std::string_view text) { return text.size() == 24 && std::ranges::all_of(text, IsHex); }

// `version` and `variant` are what the digit at their place may be; "" is any.
bool IsUuidOf(std::string_view text, std::string_view version, std::string_view variant) {
  std::string digits;
  for (const size_t part : {8, 4, 4, 4, 12}) {  // a dash may stand between two parts
    if (!digits.empty() && text.starts_with('-')) text.remove_prefix(1);
    if (text.size() < part) return false;
    digits += text.substr(0, part);
    text.remove_prefix(part);
  }
  const auto is = [&](size_t at, std::string_view allowed) {
    return allowed.empty() || allowed.contains(static_cast<char>(std::tolower(static_cast<unsigned char>(digits[at]))));
  };
  return text.empty() && std::ranges::all_of(digits, IsHex) && is(12, version) && is(16, variant);
}

bool IsUuid(std::string_view text) { return IsUuidOf(text, "", ""); }
bool IsUuid3(std::string_view text) { return IsUuidOf(text, "3", ""); }
bool IsUuid4(std::string_view text) { return IsUuidOf(text, "4", "89ab"); }
bool IsUuid5(std::string_view text) { return IsUuidOf(text, "5", "89ab"); }

bool IsQuantity(std::string_view text) { return json::Quantity::Parse(text).ok(); }
bool IsAny(std::string_view) { return true; }

struct Format {
  std::string_view name;  // without dashes
  bool (*accepts)(std::string_view);
};

constexpr Format kFormats[] = {
    {"bsonobjectid", IsObjectId},
    {"byte", IsBase64},
    {"cidr", IsCidr},
    {"creditcard", IsCreditCard},
    {"date", IsDate},
    {"datetime", IsDateTime},
    {"duration", IsDuration},
    {"email", IsEmail},
    {"hexcolor", IsHexColor},
    {"hostname", IsHostname},
    {"ipv4", IsIpv4},
    {"ipv6", IsIpv6},
    {"isbn", IsIsbn},
    {"isbn10", IsIsbn10},
    {"isbn13", IsIsbn13},
    {"k8slongname", json::IsDns1123Subdomain},
    {"k8sshortname", json::IsDns1123Label},
    {"mac", IsMac},
    {"password", IsAny},
    {"quantity", IsQuantity},
    {"rgbcolor", IsRgbColor},
    {"ssn", IsSsn},
    {"uri", IsRequestUri},
    {"uuid", IsUuid},
    {"uuid3", IsUuid3},
    {"uuid4", IsUuid4},
    {"uuid5", IsUuid5},
};

const Format* FindFormat(std::string_view name) {
  const std::string plain = Without(name, "-");
  const auto* found = std::ranges::find(kFormats, std::string_view(plain), &Format::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

std::string_view CheckedFormat(const Schema& schema) {
  const std::string_view format = schema.format;
  if (format.empty()) return {};
  switch (schema.type) {
    case SchemaType::kAny:
    case SchemaType::kString:
    case SchemaType::kIntOrString:
      return FindFormat(format) != nullptr ? format : std::string_view();
    case SchemaType::kInteger:
      return format == "int32" || format == "int64" ? format : std::string_view();
    case SchemaType::kNumber:
      return format == "float" || format == "double" ? format : std::string_view();
    case SchemaType::kObject:
    case SchemaType::kArray:
    case SchemaType::kBoolean:
      return {};
  }
  return {};
}

bool HasFormat(std::string_view format, std::string_view text) {
  const Format* found = FindFormat(format);
  return found == nullptr || found->accepts(text);
}

}  // namespace baton::api
