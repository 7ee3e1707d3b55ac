// HTTP's values: headers, bodies, targets, queries, and what the server makes of accept-encoding and dates.
#include "net/http.h"

#include <gtest/gtest.h>

#include "net/net_for_test.h"
#include "net/server_session.h"
#include "net/transport.h"

namespace baton::net {
namespace {

TEST(HeadersTest, NamesAreLowerCaseAndComparedWithoutRegardToCase) {
  Headers headers{{"Content-Type", "text/plain"}, {"ACCEPT", "a"}};
  headers.Add("accept", "b");
  EXPECT_EQ(headers.fields()[0].first, "content-type");
  EXPECT_EQ(headers.Get("CONTENT-type"), "text/plain");
  EXPECT_EQ(headers.Get("accept"), "a");
  EXPECT_EQ(headers.Get("missing"), std::nullopt);
  headers.Set("Accept", "c");
  EXPECT_EQ(headers.Get("accept"), "c");
  EXPECT_EQ(headers.fields().size(), 2u);
  headers.Remove("ACCEPT");
  EXPECT_EQ(headers.Get("accept"), std::nullopt);
  EXPECT_EQ(headers.bytes(), std::string("content-typetext/plain").size());
}

TEST(HeadersTest, FindsATokenInAListOrInSeveralFields) {
  const Headers headers{{"connection", "keep-alive , Upgrade;x=1"}, {"connection", "close"}, {"x", "closed"}};
  EXPECT_TRUE(headers.HasToken("Connection", "close"));
  EXPECT_TRUE(headers.HasToken("connection", "upgrade"));
  EXPECT_TRUE(headers.HasToken("connection", "KEEP-ALIVE"));
  EXPECT_FALSE(headers.HasToken("connection", "keep"));
  EXPECT_FALSE(headers.HasToken("x", "close"));
}

TEST(HeadersTest, RefusesWhatWouldEndAFieldOrBeginAnother) {
  EXPECT_TRUE(Headers::ValidField("x-y_z!", "any text, tabs\t and \xc3\xa4"));
  EXPECT_TRUE(Headers::ValidField("x", ""));
  const std::pair<std::string, std::string> bad[] = {
      {"", "v"},       {"a b", "v"},      {"a:", "v"},
      {"a\r\nb", "v"}, {"\xc3\xa4", "v"}, {"a", "v\r\nx"},
      {"a", "v\nx"},   {"a", "v\rx"},     {"a", std::string("v\0", 2)},
      {"a", "\x7f"},   {"a", "\x1b"},     {"(a)", "v"},
      {"a\"", "v"},
  };
  for (const auto& [name, value] : bad) EXPECT_FALSE(Headers::ValidField(name, value)) << name << " " << value;
}

TEST(BodyTest, SharesItsPiecesAndLeavesOutEmptyOnes) {
  auto shared = std::make_shared<const std::string>("two");
  Body body("one ");
  body.Add(shared);
  body.Add(std::string());
  body.Add(shared, std::string_view(*shared).substr(1));
  EXPECT_EQ(body.pieces().size(), 3u);
  EXPECT_EQ(body.size(), 9u);
  EXPECT_EQ(body.ToString(), "one twowo");
  EXPECT_EQ(body.pieces()[1].view.data(), shared->data());
}

TEST(TargetTest, IsSplitAtTheFirstQuestionMark) {
  const auto parts = [](std::string target) {
    Request request;
    request.target = std::move(target);
    return StrCat(request.path(), " | ", request.query());
  };
  EXPECT_EQ(parts("/a/b"), "/a/b | ");
  EXPECT_EQ(parts("/a?b=c?d"), "/a | b=c?d");
  EXPECT_EQ(parts("/?"), "/ | ");
  EXPECT_EQ(parts("*"), "* | ");
}

TEST(PercentTest, DecodesEscapesAndRefusesBadOnes) {
  EXPECT_EQ(*PercentDecode("a%2Fb%2fc+d", false), "a/b/c+d");
  EXPECT_EQ(*PercentDecode("a+b%20c", true), "a b c");
  EXPECT_EQ(*PercentDecode("%00%ff", false), std::string("\0\xff", 2));
  EXPECT_EQ(*PercentDecode("", true), "");
  for (const char* bad : {"%", "%2", "%2g", "%g2", "abc%", "%%20", "% 2"}) {
    const Result<std::string> decoded = PercentDecode(bad, false);
    ASSERT_FALSE(decoded.ok()) << bad;
    EXPECT_EQ(decoded.error().kind(), ErrorKind::kInvalid);
  }
  EXPECT_EQ(PercentDecode("ab%zz", false).error().message(), "bad escape at character 3 of \"ab%zz\"");
}

TEST(PercentTest, EncodesAllButUnreservedCharactersAndComesBack) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b/ä"), "a%20b%2F%C3%A4");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(*PercentDecode(PercentEncode(all), true), all);
}

TEST(QueryTest, IsReadInOrder) {
  const auto read = [](std::string_view query) {
    std::string text;
    for (const auto& [name, value] : Must(ParseQuery(query))) StrAppend(text, name, "=", value, ";");
    return text;
  };
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("a=1&b=x%20y&flag&a=2"), "a=1;b=x y;flag=;a=2;");
  EXPECT_EQ(read("&&a=1&"), "a=1;");
  EXPECT_EQ(read("a=b=c"), "a=b=c;");
  EXPECT_EQ(read("=v"), "=v;");
  EXPECT_EQ(read("a%3D=%26"), "a==&;");
  EXPECT_FALSE(ParseQuery("a=%").ok());
  EXPECT_FALSE(ParseQuery("%=a").ok());
}

TEST(EndpointTest, IsHostAndPort) {
  struct Case {
    std::string text;
    std::string printed;
  };
  for (const Case& c : std::vector<Case>{{"127.0.0.1:6443", ""},
                                         {"[::1]:0", ""},
                                         {"localhost:65535", ""},
                                         {"a-b.example:80", ""},
                                         {"h:080", "h:80"}}) {
    EXPECT_EQ(Must(ParseEndpoint(c.text)).ToString(), c.printed.empty() ? c.text : c.printed);
  }
  for (const char* bad : {"", "host", ":80", "host:", "host:65536", "host:-1", "host:+1", "host:8a", "::1:80", "[::1]",
                          "[]:80", "[::1:80", "a b:80", "a/b:80", "a@b:80", "a\r\nb:80", "a?b:80", "host: 80"}) {
    const Result<Endpoint> parsed = ParseEndpoint(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kInvalid);
  }
  EXPECT_EQ(
      ParseEndpoint("a\nb:80").error().message(),
      "\"a\\nb:80\" is not HOST:PORT: the host has a character that no host has (like 127.0.0.1:6443 or [::1]:0)");
}

TEST(AcceptsGzipTest, ListensToTheWeight) {
  const auto accepts = [](std::string_view value) { return AcceptsGzip({{"accept-encoding", value}}); };
  for (const char* yes : {"gzip", "GZIP", "deflate, gzip", "gzip;q=0.5", "gzip ; q=1", "br,gzip;q=0.001"}) {
    EXPECT_TRUE(accepts(yes)) << yes;
  }
  for (const char* no : {"", "deflate", "gzip;q=0", "gzip; q=0.000", "GZIP;Q=0", "xgzip", "identity"}) {
    EXPECT_FALSE(accepts(no)) << no;
  }
  EXPECT_FALSE(AcceptsGzip({}));
}

TEST(DateTest, IsWrittenAsHttpWantsIt) {
  rt::VirtualLoop loop(1);
  ServerSession session(loop, nullptr, {});
  EXPECT_EQ(session.DateText(), "Tue, 01 Jan 2030 00:00:00 GMT");
  loop.JumpWallClock(hours(24 * 58 + 9) + minutes(7) + seconds(3) + milliseconds(999));
  EXPECT_EQ(session.DateText(), "Thu, 28 Feb 2030 09:07:03 GMT");
}

TEST(StatusTextTest, IsKnownForWhatWeSend) {
  EXPECT_EQ(StatusText(200), "OK");
  EXPECT_EQ(StatusText(431), "Request Header Fields Too Large");
  EXPECT_EQ(StatusText(299), "Unknown");
}

}  // namespace
}  // namespace baton::net
