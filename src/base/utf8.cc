// UTF-8 decoding by the table of RFC 3629.
#include "base/utf8.h"

#include <cstring>

namespace baton {
namespace {

constexpr Utf8Step kBad = {.code_point = 0xfffd, .size = 1, .valid = false};

constexpr bool IsContinuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// What a sequence of this length must at least stand for; below that it is over-long.
constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};

// How many bytes at the start are ASCII, in whole words: most text is, and a word at a time is soon through it.
size_t AsciiWords(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  for (uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return at;
}

}  // namespace

Utf8Step DecodeUtf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {.code_point = first, .size = 1, .valid = true};
  if (first < 0xc2 || first > 0xf4) return kBad;
  const uint8_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < size) return kBad;
  char32_t code_point = first & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (!IsContinuation(byte)) return kBad;
    code_point = (code_point << 6) | (byte & 0x3fU);
  }
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < kLeast[size] || code_point > 0x10ffff || surrogate) return kBad;
  return {.code_point = code_point, .size = size, .valid = true};
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(AsciiWords(text));
    if (text.empty()) break;
    const Utf8Step step = DecodeUtf8(text);
    if (!step.valid) return false;
    text.remove_prefix(step.size);
  }
  return true;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Step step = DecodeUtf8(text);
    out.append(step.valid ? text.substr(0, step.size) : kReplacement);
    text.remove_prefix(step.size);
  }
  return out;
}

std::string_view Utf8Prefix(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t end = bytes;
  // A code point has at most three continuation bytes; a longer run is not UTF-8 and may be cut anywhere.
  for (int back = 0; back < 3 && end > 0 && IsContinuation(static_cast<unsigned char>(text[end])); ++back) --end;
  if (IsContinuation(static_cast<unsigned char>(text[end]))) end = bytes;
  return text.substr(0, end);
}

}  // namespace baton
