// Internal to net: how a fuzzer gets past a text protocol's first line. The input's first byte chooses: the rest as it
// is, or as shorthand, where each byte from 0x80 on stands for a word of the protocol. A random string of words is a
// message far more often than a random string of bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace baton::net {

inline std::string ExpandShorthand(std::string_view input, std::span<const std::string_view> words) {
  constexpr unsigned char kFirstWord = 0x80;
  if (input.empty()) return {};
  const bool shorthand = input.front() % 2 != 0;
  input.remove_prefix(1);
  if (!shorthand) return std::string(input);
  std::string text;
  for (const char c : input) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < kFirstWord) {
      text += c;
    } else {
      text += words[(byte - kFirstWord) % words.size()];
    }
  }
  return text;
}

}  // namespace baton::net
