// Base64 by table, both alphabets.
#include "base/base64.h"

#include <array>
#include <cstdint>

namespace baton {

namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNone = 0xff;

constexpr std::array<uint8_t, 256> Reverse(std::string_view alphabet) {
  std::array<uint8_t, 256> table{};
  table.fill(kNone);
  for (size_t i = 0; i < alphabet.size(); ++i) table[static_cast<uint8_t>(alphabet[i])] = static_cast<uint8_t>(i);
  return table;
}

constexpr std::array<uint8_t, 256> kFromStandard = Reverse(kStandard);
constexpr std::array<uint8_t, 256> kFromUrl = Reverse(kUrl);

std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    for (count += 8; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += alphabet[bits << (6 - count) & 63];
  return text;
}

Result<std::string> Decode(std::string_view text, const std::array<uint8_t, 256>& table) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    const uint8_t value = table[static_cast<uint8_t>(c)];
    if (value == kNone) return InvalidError("illegal base64 data: a character that does not belong there");
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  if (count == 6 || (bits & ((1U << count) - 1)) != 0) return InvalidError("illegal base64 data: it ends too early");
  return bytes;
}

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string text = Encode(bytes, kStandard);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::string Base64UrlEncode(std::string_view bytes) { return Encode(bytes, kUrl); }

Result<std::string> Base64Decode(std::string_view text) {
  std::string joined;
  if (text.find_first_of("\r\n") != std::string_view::npos) {
    joined = text;
    std::erase_if(joined, [](char c) { return c == '\r' || c == '\n'; });
    text = joined;
  }
  if (text.size() % 4 != 0) return InvalidError("illegal base64 data: its length is no multiple of 4");
  if (text.ends_with("==")) {
    text.remove_suffix(2);
  } else if (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  return Decode(text, kFromStandard);
}

Result<std::string> Base64UrlDecode(std::string_view text) { return Decode(text, kFromUrl); }

}  // namespace baton
