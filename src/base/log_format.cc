// Log lines in logfmt and JSON.
#include "base/log_format.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "base/strings.h"
#include "base/utf8.h"

namespace baton::log_internal {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kCutMark = "...";
constexpr std::array<std::string_view, 5> kOwnKeys = {"ts", "level", "module", "msg", "truncated"};

// Characters that could end a line, drive a terminal or reorder what is shown. All are below U+10000.
constexpr bool MustEscape(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void AppendEscape(std::string& out, char32_t c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      StrAppend(out, "\\u", kHex[c >> 12 & 15], kHex[c >> 8 & 15], kHex[c >> 4 & 15], kHex[c & 15]);
  }
}

// A JSON string; logfmt quotes its values in the same way. False when it was cut.
bool AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  const size_t begin = out.size();
  while (!text.empty()) {
    const size_t before = out.size();
    const Utf8Step step = DecodeUtf8(text);
    if (!step.valid) {
      out += kReplacement;
    } else if (MustEscape(step.code_point)) {
      AppendEscape(out, step.code_point);
    } else {
      if (text.front() == '"' || text.front() == '\\') out += '\\';
      out += text.substr(0, step.size);
    }
    if (out.size() - begin > kMaxLogValueBytes) {
      out.resize(before);
      StrAppend(out, kCutMark, '"');
      return false;
    }
    text.remove_prefix(step.size);
  }
  out += '"';
  return true;
}

// What logfmt prints as it is: printable ASCII without space, quotes, '=' and backslash.
bool IsPlain(std::string_view text) {
  if (text.empty() || text.size() > kMaxLogValueBytes) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

bool AppendText(std::string& out, LogFormat format, std::string_view text) {
  if (format == LogFormat::kJson || !IsPlain(text)) return AppendQuoted(out, text);
  out += text;
  return true;
}

void AppendDouble(std::string& out, LogFormat format, double value) {
  if (std::isfinite(value)) return StrAppend(out, value);
  const std::string_view name = std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  AppendText(out, format, name);  // JSON has no such number: a string
}

void AppendKey(std::string& out, std::string_view key) {
  if (key.empty()) out += '_';
  for (const char c : key.substr(0, kMaxLogKeyBytes)) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    out += word ? c : '_';
  }
  for (const std::string_view own : kOwnKeys) {
    if (key == own) out += '_';
  }
}

void AppendPadded(std::string& out, unsigned number, size_t width) {
  const std::string digits = StrCat(number);
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

// A number of units (10^-digits each) as seconds or the like, without trailing zeros: 1500000, 6 is "1.5".
void AppendDecimal(std::string& out, uint64_t units, size_t digits) {
  uint64_t scale = 1;
  for (size_t i = 0; i < digits; ++i) scale *= 10;
  StrAppend(out, units / scale);
  uint64_t rest = units % scale;
  if (rest == 0) return;
  out += '.';
  while (rest > 0) {
    scale /= 10;
    out += static_cast<char>('0' + rest / scale);
    rest %= scale;
  }
}

}  // namespace

void AppendTime(std::string& out, WallTime time) {
  // By hand, because chrono's floor overflows near the ends of the range.
  constexpr int64_t kDay = std::chrono::nanoseconds(std::chrono::days(1)).count();
  int64_t day = time.time_since_epoch().count() / kDay;
  int64_t nanos = time.time_since_epoch().count() % kDay;
  if (nanos < 0) {
    nanos += kDay;
    --day;
  }
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  const auto in_day = static_cast<uint64_t>(nanos / 1'000'000);
  AppendPadded(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);  // 1677 to 2262, by int64 nanoseconds
  out += '-';
  AppendPadded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  AppendPadded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  AppendPadded(out, static_cast<unsigned>(in_day / 3'600'000), 2);
  out += ':';
  AppendPadded(out, static_cast<unsigned>(in_day / 60'000 % 60), 2);
  out += ':';
  AppendPadded(out, static_cast<unsigned>(in_day / 1000 % 60), 2);
  out += '.';
  AppendPadded(out, static_cast<unsigned>(in_day % 1000), 3);
  out += 'Z';
}

void AppendDuration(std::string& out, Duration duration) {
  const int64_t count = duration.count();
  // Unsigned, because the most negative count has no positive counterpart.
  const uint64_t nanos = count < 0 ? -static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  if (count < 0) out += '-';
  if (nanos == 0) {
    out += "0s";
  } else if (nanos < 1'000) {
    StrAppend(out, nanos, "ns");
  } else if (nanos < 1'000'000) {
    AppendDecimal(out, nanos, 3);
    out += "us";
  } else if (nanos < 1'000'000'000) {
    AppendDecimal(out, nanos, 6);
    out += "ms";
  } else {
    const uint64_t minutes_in = nanos / 60'000'000'000;
    if (minutes_in >= 60) StrAppend(out, minutes_in / 60, "h");
    if (minutes_in > 0) StrAppend(out, minutes_in % 60, "m");
    AppendDecimal(out, nanos % 60'000'000'000, 9);
    out += 's';
  }
}

bool AppendHead(std::string& out, LogFormat format, WallTime time, LogLevel level, std::string_view module,
                std::string_view message) {
  const bool json = format == LogFormat::kJson;
  out += json ? "{\"ts\":\"" : "ts=";
  AppendTime(out, time);
  StrAppend(out, json ? "\",\"level\":\"" : " level=", LogLevelName(level), json ? "\",\"module\":" : " module=");
  const bool module_whole = AppendText(out, format, module);
  out += json ? ",\"msg\":" : " msg=";
  return AppendQuoted(out, message) && module_whole;
}

bool AppendField(std::string& out, LogFormat format, std::string_view key, const LogValue& value) {
  const bool json = format == LogFormat::kJson;
  out += json ? ",\"" : " ";
  AppendKey(out, key);
  out += json ? "\":" : "=";
  switch (value.kind()) {
    case LogValue::Kind::kString:
      return AppendText(out, format, value.text());
    case LogValue::Kind::kInt:
      StrAppend(out, value.int_value());
      break;
    case LogValue::Kind::kUint:
      StrAppend(out, value.uint_value());
      break;
    case LogValue::Kind::kDouble:
      AppendDouble(out, format, value.double_value());
      break;
    case LogValue::Kind::kBool:
      out += value.int_value() != 0 ? "true" : "false";
      break;
    case LogValue::Kind::kDuration:
      if (json) out += '"';
      AppendDuration(out, value.duration());
      if (json) out += '"';
      break;
    case LogValue::Kind::kTime:
      if (json) out += '"';
      AppendTime(out, value.time());
      if (json) out += '"';
      break;
  }
  return true;
}

void AppendEnd(std::string& out, LogFormat format, bool truncated) {
  const bool json = format == LogFormat::kJson;
  if (truncated) out += json ? ",\"truncated\":true" : " truncated=true";
  out += json ? "}\n" : "\n";
}

}  // namespace baton::log_internal
