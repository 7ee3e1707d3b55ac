// UTF-8, one code point at a time: for code that must print what it cannot trust.
//
//   while (!text.empty()) {
//     const Utf8Step step = DecodeUtf8(text);
//     Use(step.valid ? text.substr(0, step.size) : kReplacement);
//     text.remove_prefix(step.size);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

// U+FFFD, which stands for what was not UTF-8.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Utf8Step {
  char32_t code_point;  // U+FFFD when not valid
  uint8_t size;         // bytes to go on by: 1 to 4, and 1 when not valid
  bool valid;           // U+FFFD itself, properly encoded, is valid
};

// The first code point of a text that is not empty. Over-long forms, surrogates and numbers above U+10FFFF are not
// valid, as in RFC 3629; a bad sequence is left byte by byte, as Go does.
Utf8Step DecodeUtf8(std::string_view text);

bool IsUtf8(std::string_view text);

// The text with every bad byte replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// At most `bytes` of the text's start, without cutting through a code point.
std::string_view Utf8Prefix(std::string_view text, size_t bytes);

}  // namespace baton
