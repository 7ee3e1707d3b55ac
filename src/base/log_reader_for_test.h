// Reads log lines back, as strictly as a tool would. Anything that is not a line fails the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton {

// Reads what a string in quotes stands for; text starts behind the quote and is left behind the closing one.
inline std::string ReadQuoted(std::string_view& text) {
  std::string out;
  while (!text.empty() && text.front() != '"') {
    if (text.front() != '\\') {
      EXPECT_GE(static_cast<unsigned char>(text.front()), 0x20);
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const char escape = text.at(1);
    if (escape == 'u') {
      const unsigned code = static_cast<unsigned>(std::stoul(std::string(text.substr(2, 4)), nullptr, 16));
      if (code < 0x80) {
        out += static_cast<char>(code);
      } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | code >> 6);
        out += static_cast<char>(0x80 | (code & 0x3f));
      } else {
        out += static_cast<char>(0xe0 | code >> 12);
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
      }
      text.remove_prefix(6);
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\nrt";
    constexpr std::string_view kMeaning = "\"\\\n\r\t";
    const size_t at = kEscapes.find(escape);
    EXPECT_NE(at, std::string_view::npos) << escape;
    out += at == std::string_view::npos ? '?' : kMeaning[at];
    text.remove_prefix(2);
  }
  EXPECT_FALSE(text.empty()) << "a quoted value does not end";
  if (!text.empty()) text.remove_prefix(1);
  return out;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// A logfmt line read back. Anything that is not one fails the test.
inline Pairs ReadLogfmt(std::string_view line) {
  Pairs pairs;
  while (!line.empty()) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      ADD_FAILURE() << "no '=' in " << line;
      return pairs;
    }
    std::string key(line.substr(0, equals));
    EXPECT_EQ(key.find_first_of(" \"\\"), std::string::npos) << key;
    line.remove_prefix(equals + 1);
    std::string value;
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      value = ReadQuoted(line);
    } else {
      value = line.substr(0, line.find(' '));
      EXPECT_FALSE(value.empty());
      EXPECT_EQ(value.find_first_of("=\"\\"), std::string::npos) << value;
      line.remove_prefix(value.size());
    }
    if (!line.empty()) {
      EXPECT_EQ(line.front(), ' ');
      line.remove_prefix(1);
    }
    pairs.emplace_back(std::move(key), std::move(value));
  }
  return pairs;
}

// A flat JSON object read back.
inline Pairs ReadJson(std::string_view line) {
  Pairs pairs;
  EXPECT_TRUE(line.starts_with("{\"") && line.ends_with('}')) << line;
  line.remove_suffix(1);
  while (!line.empty()) {
    if (line.size() < 2 || line[1] != '"') {
      ADD_FAILURE() << "no key at " << line;
      return pairs;
    }
    line.remove_prefix(2);  // '{' or ',', and the quote
    std::string key = ReadQuoted(line);
    if (!line.starts_with(':')) {
      ADD_FAILURE() << "no ':' at " << line;
      return pairs;
    }
    line.remove_prefix(1);
    std::string value;
    if (line.starts_with('"')) {
      line.remove_prefix(1);
      value = ReadQuoted(line);
    } else {
      value = line.substr(0, line.find(','));
      EXPECT_EQ(value.find_first_not_of("0123456789+-.etrufalse"), std::string::npos) << value;
      line.remove_prefix(value.size());
    }
    EXPECT_TRUE(line.empty() || line.front() == ',') << line;
    pairs.emplace_back(std::move(key), std::move(value));
  }
  return pairs;
}

}  // namespace baton
