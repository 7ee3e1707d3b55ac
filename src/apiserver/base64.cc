// Base64 by groups of six bits.
#include "apiserver/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace baton::apiserver {
namespace {

constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 64;

constexpr std::array<uint8_t, 256> Inverse(std::string_view alphabet) {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (size_t i = 0; i < alphabet.size(); ++i) digits[static_cast<uint8_t>(alphabet[i])] = static_cast<uint8_t>(i);
  return digits;
}
constexpr std::array<uint8_t, 256> kUrlDigits = Inverse(kUrl);
constexpr std::array<uint8_t, 256> kStandardDigits = Inverse(kStandard);

std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += alphabet[bits << (6 - count) & 63];
  return text;
}

std::optional<std::string> Decode(std::string_view text, const std::array<uint8_t, 256>& digits) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const uint8_t digit = digits[static_cast<uint8_t>(c)];
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if ((bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace

std::string EncodeBase64Url(std::string_view bytes) { return Encode(bytes, kUrl); }
std::optional<std::string> DecodeBase64Url(std::string_view text) { return Decode(text, kUrlDigits); }

std::string EncodeBase64(std::string_view bytes) {
  std::string text = Encode(bytes, kStandard);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (const char c : text) {
    if (c != '\n' && c != '\r') joined += c;
  }
  if (joined.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && joined.ends_with('='); ++padding) joined.pop_back();
  return Decode(joined, kStandardDigits);
}

}  // namespace baton::apiserver
