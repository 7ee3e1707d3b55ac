// UTF-8 decoding against the encoding rules, for all code points.
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace baton {
namespace {

std::string Encode(char32_t c) {
  const auto byte = [](char32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xc0 | c >> 6), byte(0x80 | (c & 0x3f))};
  if (c < 0x10000) return {byte(0xe0 | c >> 12), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
  return {byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f)), byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
}

TEST(Utf8Test, DecodesEveryCodePointAndNoSurrogate) {
  for (char32_t c = 0; c <= 0x110000; ++c) {
    const std::string text = Encode(c);
    const Utf8Step step = DecodeUtf8(text + "x");
    const bool scalar = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    ASSERT_EQ(step.valid, scalar) << std::hex << static_cast<uint32_t>(c);
    ASSERT_EQ(step.code_point, scalar ? c : 0xfffd);
    ASSERT_EQ(step.size, scalar ? text.size() : 1U);
    // A sequence that ends too early is not valid.
    if (text.size() > 1) ASSERT_FALSE(DecodeUtf8(std::string_view(text).substr(0, text.size() - 1)).valid);
  }
}

TEST(Utf8Test, RejectsWhatIsNotUtf8) {
  const std::vector<std::string> bad = {
      "\x80",
      "\xbf",
      "\xc0\x80",
      "\xc1\xbf",
      "\xc2",
      "\xc2(",
      "\xe0\x80\x80",
      "\xe0\x9f\xbf",
      "\xe2\x82",
      "\xed\xa0\x80",
      "\xf0\x80\x80\x80",
      "\xf0\x8f\xbf\xbf",
      "\xf4\x90\x80\x80",
      "\xf5\x80\x80\x80",
      "\xfe",
      "\xff",
  };
  for (const std::string& text : bad) {
    EXPECT_FALSE(IsUtf8(text));
    EXPECT_FALSE(IsUtf8("ok" + text + "ok"));
    EXPECT_TRUE(IsUtf8(ReplaceInvalidUtf8("ok" + text + "ok")));
  }
}

TEST(Utf8Test, ReplacesEachBadByteAndKeepsTheRest) {
  EXPECT_EQ(ReplaceInvalidUtf8(""), "");
  EXPECT_EQ(ReplaceInvalidUtf8("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_EQ(ReplaceInvalidUtf8("a\xff\xfe"
                               "b"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ReplaceInvalidUtf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(IsUtf8(kReplacement));
}

TEST(Utf8Test, SeesABadByteWhereverItStands) {
  for (size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    EXPECT_TRUE(IsUtf8(text));
    text[at] = '\x80';
    EXPECT_FALSE(IsUtf8(text)) << at;
    text.replace(at, 1, "\xc3\xa9");
    EXPECT_TRUE(IsUtf8(text)) << at;
  }
}

TEST(Utf8Test, PrefixNeverCutsThroughACodePoint) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";  // 1 + 2 + 3 + 4 bytes
  const std::vector<size_t> ends = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t bytes = 0; bytes < ends.size(); ++bytes) {
    EXPECT_EQ(Utf8Prefix(text, bytes), text.substr(0, ends[bytes])) << bytes;
  }
}

TEST(Utf8Test, PrefixOfWhatIsNotUtf8StillHasTheLengthAskedFor) {
  const std::string text(10, '\x80');
  EXPECT_EQ(Utf8Prefix(text, 0).size(), 0U);
  EXPECT_EQ(Utf8Prefix(text, 2).size(), 2U);
  EXPECT_EQ(Utf8Prefix(text, 7).size(), 7U);
}

}  // namespace
}  // namespace baton
