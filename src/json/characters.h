// UTF-8 and quoted strings, as the utf8 and strconv packages of Go read them. For the parsers of this module.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace baton::json::text_internal {

inline constexpr char32_t kEnd = 0xffffffff;  // no character: the end of the text

struct Character {
  char32_t code = kEnd;
  size_t width = 0;  // bytes; 0 at the end
};

// The character at `at`; at a byte that begins no valid UTF-8 sequence U+FFFD of width 1.
Character CharacterAt(std::string_view text, size_t at);

bool IsUtf8(std::string_view text);

void AppendUtf8(std::string& out, char32_t code);

// "U+002A '*'", Go's %#U: without the quoted part when the character cannot be seen.
std::string DescribeCharacter(char32_t code);

// The string that stands between two equal quotes, single or double, with Go's escapes; nothing when it is malformed.
// The result may hold any bytes ("\xff").
std::optional<std::string> GoUnquote(std::string_view quoted);

}  // namespace baton::json::text_internal
