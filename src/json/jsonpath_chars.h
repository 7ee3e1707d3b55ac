// Characters and quoted strings for the JSONPath parser, as Go's utf8 and strconv packages read them. Internal to it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace baton::json::jsonpath_internal {

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
std::optional<std::string> Unquote(std::string_view quoted);

}  // namespace baton::json::jsonpath_internal
