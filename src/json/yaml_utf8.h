// UTF-8 by hand, as much as reading and printing YAML needs. Private to json/yaml_*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace baton::json {

// Bytes of the character that begins with `lead`; 1 for bytes that begin none.
constexpr size_t Utf8Width(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF8 ? 4 : 1;
}

constexpr bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct Utf8Char {
  char32_t code = 0;
  size_t width = 0;  // bytes; 0 when the bytes at this place are not UTF-8
};

// The character at `text[at]`, at < size. Overlong forms, surrogates and numbers above 10FFFF are not UTF-8.
constexpr Utf8Char DecodeUtf8(std::string_view text, size_t at) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  const size_t width = Utf8Width(text[at]);
  if (width == 1 || text.size() - at < width) return {};
  char32_t code = lead & (0xFFU >> (width + 1));
  for (size_t i = 1; i < width; ++i) {
    if (!IsUtf8Continuation(text[at + i])) return {};
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  }
  if (code < kSmallest[width] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, width};
}

constexpr bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t width = DecodeUtf8(text, i).width;
    if (width == 0) return false;
    i += width;
  }
  return true;
}

}  // namespace baton::json
