// String helpers.
#include "base/strings.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>

namespace baton {
namespace {

using strings_internal::Piece;

// A pointer is neither a bool nor a number, and null is no text.
static_assert(!std::is_constructible_v<Piece, int*>);
static_assert(!std::is_constructible_v<Piece, void (*)()>);
static_assert(!std::is_constructible_v<Piece, std::nullptr_t>);
static_assert(std::is_constructible_v<Piece, bool>);

TEST(StringsTest, StrCatJoinsPiecesOfAllTypes) {
  const std::string text = "text";
  const char letters[] = "letters";
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("a ", text, ' ', std::string_view("view"), " ", letters), "a text view letters");
  EXPECT_EQ(StrCat(true, ' ', false), "true false");
  EXPECT_EQ(StrCat(int8_t{-5}, " ", uint8_t{200}, " ", 0U), "-5 200 0");
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(StrCat(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(StrCat(0.1, " ", 1.5F, " ", -0.0), "0.1 1.5 -0");
  EXPECT_EQ(StrCat(-std::numeric_limits<double>::min()), "-2.2250738585072014e-308");
  EXPECT_EQ(StrCat(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(StrCat(std::string_view("a\0b", 3)).size(), 3U);
}

TEST(StringsTest, StrAppendAddsToWhatIsThere) {
  std::string out = "a";
  StrAppend(out, 1, "b");
  StrAppend(out);
  EXPECT_EQ(out, "a1b");
}

TEST(StringsTest, StrAppendTakesPiecesOfTheStringItself) {
  std::string out = "0123456789abcdef";
  out.shrink_to_fit();
  StrAppend(out, out, "|", std::string_view(out).substr(10));
  EXPECT_EQ(out, "0123456789abcdef0123456789abcdef|abcdef");
  std::string roomy = "ab";
  roomy.reserve(100);
  StrAppend(roomy, roomy, roomy);
  EXPECT_EQ(roomy, "ababab");
}

TEST(StringsTest, SplitKeepsEmptyPieces) {
  using Pieces = std::vector<std::string_view>;
  EXPECT_EQ(Split("", ','), Pieces{""});
  EXPECT_EQ(Split("a", ','), Pieces{"a"});
  EXPECT_EQ(Split("a,b", ','), (Pieces{"a", "b"}));
  EXPECT_EQ(Split(",a,,", ','), (Pieces{"", "a", "", ""}));
}

TEST(StringsTest, JoinPutsTheSeparatorBetween) {
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(Join(std::vector<std::string>{"a", "", "c"}, ", "), "a, , c");
}

TEST(StringsTest, TrimTakesAsciiSpaceFromBothEnds) {
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" \t\r\n\v\f"), "");
  EXPECT_EQ(Trim("  a b\n"), "a b");
  EXPECT_EQ(Trim("a"), "a");
  EXPECT_EQ(Trim("\xc2\xa0"
                 "a"),
            "\xc2\xa0"
            "a");
}

TEST(StringsTest, ToLowerChangesAsciiLettersOnly) {
  EXPECT_EQ(ToLower("AZaz09@[`{-_"), "azaz09@[`{-_");
  EXPECT_EQ(ToLower("\xc3\x84"), "\xc3\x84");
}

TEST(StringsTest, QuoteIsWhatGoPrints) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", R"("")"},
      {"plain text", R"("plain text")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
      {std::string("\0\x01\x1f\x7f", 4), R"("\x00\x01\x1f\x7f")"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
      {"\xc2\x85", R"("\u0085")"},
      {"\xff\xc3(", R"("\xff\xc3(")"},
      {"\xed\xa0\x80", R"("\xed\xa0\x80")"},
  };
  for (const auto& [text, quoted] : cases) EXPECT_EQ(Quote(text), quoted);
}

TEST(StringsTest, HexEncodeGivesTwoLowerDigitsPerByte) {
  EXPECT_EQ(HexEncode({}), "");
  const std::vector<std::byte> bytes = {std::byte{0x00}, std::byte{0x0f}, std::byte{0xab}, std::byte{0xff}};
  EXPECT_EQ(HexEncode(bytes), "000fabff");
}

}  // namespace
}  // namespace baton
