// UTF-8 and quoted strings.
#include "json/characters.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "base/strings.h"

namespace baton::json::text_internal {
namespace {

constexpr char32_t kReplacement = 0xfffd;
constexpr char32_t kMaxCode = 0x10ffff;

constexpr bool IsSurrogate(char32_t code) { return code >= 0xd800 && code <= 0xdfff; }

// Value of exactly `digits` digits in front of `text`, which are removed.
std::optional<uint32_t> TakeNumber(std::string_view& text, size_t digits, int base) {
  if (text.size() < digits) return std::nullopt;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, base);
  if (error != std::errc() || end != text.data() + digits) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

bool AppendCodeEscape(std::string& out, std::string_view& rest, size_t digits) {
  const std::optional<uint32_t> code = TakeNumber(rest, digits, 16);
  if (!code || *code > kMaxCode || IsSurrogate(*code)) return false;
  AppendUtf8(out, *code);
  return true;
}

bool AppendByteEscape(std::string& out, std::string_view& rest, size_t digits, int base) {
  const std::optional<uint32_t> byte = TakeNumber(rest, digits, base);
  if (!byte || *byte > 0xff) return false;
  out += static_cast<char>(*byte);
  return true;
}

// What follows a backslash; `rest` begins with it and loses it.
bool AppendEscape(std::string& out, std::string_view& rest, char quote) {
  if (rest.empty()) return false;
  const char letter = rest.front();
  if (letter >= '0' && letter <= '7') return AppendByteEscape(out, rest, 3, 8);
  rest.remove_prefix(1);
  constexpr std::string_view kLetters = "abfnrtv\\";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
  if (const size_t at = kLetters.find(letter); at != std::string_view::npos) {
    out += kMeanings[at];
    return true;
  }
  switch (letter) {
    case 'x':
      return AppendByteEscape(out, rest, 2, 16);
    case 'u':
      return AppendCodeEscape(out, rest, 4);
    case 'U':
      return AppendCodeEscape(out, rest, 8);
    default:
      // The other kind of quote needs no escape, and Go allows none.
      if (letter != quote) return false;
      out += letter;
      return true;
  }
}

}  // namespace

Character CharacterAt(std::string_view text, size_t at) {
  if (at >= text.size()) return {};
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const size_t width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < width) return {kReplacement, 1};
  char32_t code = lead & (0xff >> (width + 1));
  for (size_t i = 1; i < width; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {kReplacement, 1};
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[width] || code > kMaxCode || IsSurrogate(code)) return {kReplacement, 1};
  return {code, width};
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    if (character.code == kReplacement && character.width == 1) return false;
    at += character.width;
  }
  return true;
}

void AppendUtf8(std::string& out, char32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string DescribeCharacter(char32_t code) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "U+";
  for (int shift = 28; shift >= 0; shift -= 4) {
    if (shift <= 12 || code >> shift != 0) out += kHex[code >> shift & 15];
  }
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return out;
  out += " '";
  AppendUtf8(out, code);
  out += '\'';
  return out;
}

std::optional<std::string> GoUnquote(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != quoted.back()) return std::nullopt;
  const char quote = quoted.front();
  if (quote != '"' && quote != '\'') return std::nullopt;
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string out;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == quote) return std::nullopt;
    rest.remove_prefix(1);
    if (c != '\\') {
      out += c;
    } else if (!AppendEscape(out, rest, quote)) {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace baton::json::text_internal
