// Base64 against the vectors of RFC 4648, and what is refused.
#include "base/base64.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

struct Row {
  const char* bytes;
  const char* text;
};
constexpr Row kVectors[] = {{"", ""},
                            {"f", "Zg=="},
                            {"fo", "Zm8="},
                            {"foo", "Zm9v"},
                            {"foob", "Zm9vYg=="},
                            {"fooba", "Zm9vYmE="},
                            {"foobar", "Zm9vYmFy"}};

TEST(Base64Test, FollowsTheVectorsOfTheStandardBothWays) {
  for (const Row& row : kVectors) {
    EXPECT_EQ(Base64Encode(row.bytes), row.text);
    EXPECT_EQ(Base64Decode(row.text).value(), row.bytes);
  }
}

TEST(Base64Test, UsesDashAndUnderscoreWithoutPaddingInUrls) {
  EXPECT_EQ(Base64Encode("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(Base64UrlEncode("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(Base64UrlEncode("f"), "Zg");
  EXPECT_EQ(Base64UrlDecode("Zg").value(), "f");
  EXPECT_FALSE(Base64UrlDecode("Zg==").ok());
  EXPECT_FALSE(Base64UrlDecode("+//+").ok());
}

TEST(Base64Test, RefusesWhatDecodesToNothingExact) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "=Zm9", "====", "-__-"}) {
    EXPECT_FALSE(Base64Decode(text).ok()) << text;
  }
}

TEST(Base64Test, SkipsLineBreaksInTheStandardFormOnly) {
  EXPECT_EQ(Base64Decode("Zm9v\r\nYg==\n").value(), "foob");
  EXPECT_FALSE(Base64UrlDecode("Zm9v\n").ok());
}

TEST(Base64Test, ReadsBackEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    bytes += static_cast<char>(i);
    EXPECT_EQ(Base64Decode(Base64Encode(bytes)).value(), bytes);
    EXPECT_EQ(Base64UrlDecode(Base64UrlEncode(bytes)).value(), bytes);
  }
}

}  // namespace
}  // namespace baton
