// Internal to net: the character classes of HTTP, and comparing without regard to case.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace baton::net {

namespace syntax_internal {

consteval std::array<bool, 256> TokenTable() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}
inline constexpr std::array<bool, 256> kToken = TokenTable();

}  // namespace syntax_internal

constexpr bool IsTokenCharacter(char c) { return syntax_internal::kToken[static_cast<unsigned char>(c)]; }

// A method or a field name.
constexpr bool IsToken(std::string_view text) { return !text.empty() && std::ranges::all_of(text, IsTokenCharacter); }

// What a field value may hold: no control characters, but tabs.
constexpr bool IsFieldText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || c == '\t';
  });
}

// What a request's target may hold: no white space, no control characters.
constexpr bool IsTargetText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f;
  });
}

constexpr char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr bool EqualNoCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return LowerCase(x) == LowerCase(y); });
}

// Without the spaces and tabs around it.
constexpr std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `each` with every member of a comma-separated list.
template <class Each>
void ForEachInList(std::string_view list, Each each) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view member = TrimBlanks(list.substr(0, comma));
    if (!member.empty()) each(member);
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace baton::net
