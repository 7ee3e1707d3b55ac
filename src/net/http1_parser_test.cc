// The HTTP/1.x parser: what it takes, what it refuses and with which status, the same in every slicing.
#include "net/http1_parser.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "rt/random.h"

namespace baton::net {
namespace {

// What a parser made of the bytes, as one line.
struct Parsed {
  std::string text;
  size_t used = 0;
};

std::string Describe(Http1Parser& parser, Http1Parser::Kind kind, const std::string& body) {
  if (parser.failed()) return StrCat(parser.problem().status, " ", parser.problem().why);
  if (!parser.head_done()) return "needs more of the head";
  std::string text = kind == Http1Parser::Kind::kRequest ? StrCat(parser.method(), " ", parser.target())
                                                         : StrCat("status ", parser.status());
  if (parser.http10()) text += " 1.0";
  text += parser.keep_alive() ? " keep" : " close";
  if (parser.expects_continue()) text += " continue";
  for (const auto& [name, value] : parser.headers().fields()) StrAppend(text, " ", name, "=", value);
  if (!body.empty()) StrAppend(text, " body=", body);
  if (!parser.done()) text += " needs more";
  return text;
}

HttpLimits SmallLimits() {
  HttpLimits limits;
  limits.header_bytes_max = 200;
  limits.header_count_max = 5;
  limits.target_bytes_max = 50;
  limits.body_bytes_max = 30;
  return limits;
}

// Feeds the bytes in pieces; a piece that was not used up is offered again with the next.
Parsed Parse(Http1Parser::Kind kind, std::string_view bytes, rt::Random* slices, bool head_request = false,
             bool ends = false) {
  const HttpLimits limits = SmallLimits();
  Http1Parser parser(kind, limits);
  if (head_request) parser.ExpectNoBody();
  std::string body;
  Parsed parsed;
  size_t offered = 0;
  while (!parser.done() && !parser.failed()) {
    const size_t piece = slices == nullptr ? bytes.size() : 1 + slices->Below(9);
    const size_t before = parsed.used;
    const size_t was_offered = offered;
    offered = std::min(bytes.size(), offered + piece);
    parsed.used += parser.Feed(bytes.substr(parsed.used, offered - parsed.used));
    body += parser.TakeBody();
    if (parsed.used == before && was_offered == bytes.size()) break;
  }
  if (ends && !parser.failed() && !parser.done()) parser.End();
  parsed.text = Describe(parser, kind, body);
  return parsed;
}

void ExpectInEverySlicing(Http1Parser::Kind kind, std::string_view bytes, std::string_view expected,
                          bool head_request = false, bool ends = false) {
  EXPECT_EQ(Parse(kind, bytes, nullptr, head_request, ends).text, expected) << bytes;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    rt::SeededRandom random(seed);
    ASSERT_EQ(Parse(kind, bytes, &random, head_request, ends).text, expected) << bytes << " with seed " << seed;
  }
}

TEST(Http1RequestTest, IsTakenOrRefusedWithTheRightStatus) {
  const std::pair<std::string, std::string> cases[] = {
      {"GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a?b keep host=h"},
      {"\r\nGET / HTTP/1.1\r\nhost:h\r\n\r\n", "GET / keep host=h"},
      {"GET / HTTP/1.0\r\n\r\n", "GET / 1.0 close"},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / 1.0 keep connection=Keep-Alive"},
      {"GET / HTTP/1.1\r\nhost: h\r\nconnection: x, CLOSE\r\n\r\n", "GET / close host=h connection=x, CLOSE"},
      {"GET / HTTP/1.1\r\nhost: h\r\nX:  a b\t \r\n\r\n", "GET / keep host=h x=a b"},
      {"GET / HTTP/1.1\r\nhost:\r\n\r\n", "GET / keep host="},
      {"OPTIONS * HTTP/1.1\r\nhost: h\r\n\r\n", "OPTIONS * keep host=h"},
      {"GET http://other/p?q HTTP/1.1\r\nhost: h\r\n\r\n", "GET /p?q keep host=other"},
      {"GET HTTPS://other HTTP/1.1\r\nhost: h\r\n\r\n", "GET / keep host=other"},
      {"GET http://other?q HTTP/1.1\r\nhost: h\r\n\r\n", "GET /?q keep host=other"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello",
       "POST / keep host=h content-length=5 body=hello"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhel",
       "POST / keep host=h content-length=5 body=hel needs more"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n", "POST / keep host=h content-length=0"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\nexpect: 100-Continue\r\n\r\n",
       "POST / keep continue host=h content-length=3 expect=100-Continue needs more"},
      {"GET / HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\n\r\n", "GET / keep host=h expect=100-continue"},
      {"POST / HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0005 \r\nworld\r\n0\r\n\r\n",
       "POST / keep host=h transfer-encoding=CHUNKED body=helloworld"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nA;x=\"y\"\r\n0123456789\r\n0;z\r\nx-trailer: "
       "t\r\n\r\n",
       "POST / keep host=h transfer-encoding=chunked body=0123456789"},
      // Malformed.
      {"\r\n\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n", "400 no request line"},
      {"\x16\x03\x01\x02", "400 not HTTP"},
      {" GET / HTTP/1.1\r\n", "400 not HTTP"},
      {"GET /\r\n", "400 a malformed request line"},
      {"GET  / HTTP/1.1\r\n", "400 a malformed target"},
      {"GET / x HTTP/1.1\r\n", "400 a malformed target"},
      {"GET / HTTP/1.1 \r\n", "400 a malformed HTTP version"},
      {"GET / http/1.1\r\n", "400 a malformed HTTP version"},
      {"GET / HTTP/1.10\r\n", "400 a malformed HTTP version"},
      {"GET / HTTP/2.0\r\n", "505 only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here"},
      {"GET / HTTP/1.2\r\n", "505 only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here"},
      {"GET\t/ HTTP/1.1\r\n", "400 a malformed request line"},
      {"GE(T / HTTP/1.1\r\n", "400 a malformed method"},
      {"GET a/b HTTP/1.1\r\n", "400 a malformed target"},
      {"GET * HTTP/1.1\r\n", "400 a malformed target"},
      {"GET /\x01 HTTP/1.1\r\n", "400 a malformed target"},
      {"GET http:///p HTTP/1.1\r\n", "400 a malformed target"},
      {"GET http://u@h/p HTTP/1.1\r\n", "400 a malformed target"},
      {"CONNECT h:443 HTTP/1.1\r\n", "501 CONNECT is not supported"},
      {"GET / HTTP/1.1\nhost: h\n\n", "400 a line that does not end in CRLF"},
      {"GET / HTTP/1.1\r\nhost: h\n\r\n", "400 a line that does not end in CRLF"},
      {"GET / HTTP/1.1\r\nhost: h\r\n\n", "400 a line that does not end in CRLF"},
      {"GET / HTTP/1.1\r\nhost: a\rb\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\nhost : h\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\n: h\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\nhost\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\nhost: h\r\n folded\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\nhost: h\x01\r\n\r\n", "400 a malformed header field"},
      {"GET / HTTP/1.1\r\n\r\n", "400 no host"},
      {"GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n", "400 more than one host"},
      {"GET / HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n", "400 more than one host"},
      // Framing that two parties could read differently.
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
       "400 both transfer-encoding and content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n",
       "400 more than one content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 5, 5\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: +5\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: -5\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0x5\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length:\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 99999999999999999999\r\n\r\n", "400 a malformed content-length"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip\r\n\r\n", "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: identity\r\n\r\n",
       "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
       "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked, chunked\r\n\r\n",
       "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
       "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: xchunked\r\n\r\n",
       "501 a transfer-encoding other than chunked"},
      {"POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n", "400 a transfer-encoding in HTTP/1.0"},
      // Limits.
      {StrCat("GET /", std::string(49, 'a'), " HTTP/1.1\r\nhost: h\r\n\r\n"),
       StrCat("GET /", std::string(49, 'a'), " keep host=h")},
      {StrCat("GET /", std::string(50, 'a'), " HTTP/1.1\r\n"), "414 the request's target is too long"},
      {StrCat("GET /", std::string(500, 'a')), "414 the request line is too long"},
      {StrCat(std::string(33, 'G'), " / HTTP/1.1\r\n"), "400 a malformed method"},
      {StrCat("GET / HTTP/1.1\r\nhost: h\r\nx: ", std::string(500, 'a')), "431 the header fields are too large"},
      {StrCat("GET / HTTP/1.1\r\nhost: h\r\nx: ", std::string(186, 'a'), "\r\n\r\n"),
       StrCat("GET / keep host=h x=", std::string(186, 'a'))},
      {StrCat("GET / HTTP/1.1\r\nhost: h\r\nx: ", std::string(187, 'a'), "\r\n\r\n"),
       "431 the header fields are too large"},
      {"GET / HTTP/1.1\r\nhost: h\r\na:\r\nb:\r\nc:\r\nd:\r\ne:\r\n\r\n", "431 too many header fields"},
      {"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 31\r\n\r\n", "413 the request's body is too large"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1f\r\n", "413 the request's body is too large"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n10\r\n",
       "413 the request's body is too large"},
      // Chunks.
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n-5\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n 5\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5 5\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5;\x01\r\n", "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\n",
       "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
       "400 a malformed chunk size"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5\nhello",
       "400 a line that does not end in CRLF"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello!\r\n",
       "400 a chunk is longer than it said"},
      {StrCat("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n1;", std::string(300, 'x')),
       "400 a chunk's size line is too long"},
      {"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n",
       "400 a malformed header field"},
      {StrCat("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ", std::string(500, 'x')),
       "431 the header fields are too large"},
  };
  for (const auto& [bytes, expected] : cases) ExpectInEverySlicing(Http1Parser::Kind::kRequest, bytes, expected);
}

TEST(Http1RequestTest, ExtensionsOfManyChunksAreBounded) {
  std::string bytes = "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n";
  HttpLimits limits;
  Http1Parser parser(Http1Parser::Kind::kRequest, limits);
  for (int i = 0; i < 1000; ++i) StrAppend(bytes, "1;", std::string(200, 'x'), "\r\ny\r\n");
  size_t used = parser.Feed(bytes);
  used += parser.Feed(std::string_view(bytes).substr(used));
  EXPECT_TRUE(parser.failed());
  EXPECT_LT(used, size_t{20} << 10);
}

TEST(Http1RequestTest, StopsBehindTheMessageSoThatTheNextOneCanFollow) {
  const std::string first = "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi";
  const std::string both = StrCat(first, "GET /next HTTP/1.1\r\n");
  EXPECT_EQ(Parse(Http1Parser::Kind::kRequest, both, nullptr).used, first.size());
}

TEST(Http1RequestTest, ALongLineIsScannedOnce) {
  // A quadratic parser would need 10^11 steps here.
  HttpLimits limits;
  limits.header_bytes_max = size_t{1} << 20;
  Http1Parser parser(Http1Parser::Kind::kRequest, limits);
  const std::string bytes = StrCat("GET / HTTP/1.1\r\nhost: h\r\nx: ", std::string(500'000, 'a'));
  const size_t head = parser.Feed(std::string_view(bytes).substr(0, 30));
  for (size_t end = 31; end < bytes.size(); ++end) {
    ASSERT_EQ(parser.Feed(std::string_view(bytes).substr(head, end - head)), 0u);
  }
}

TEST(Http1ResponseTest, IsFramedAsItSays) {
  struct Case {
    std::string bytes;
    std::string expected;
    bool head_request = false;
    bool ends = false;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "status 200 keep content-length=2 body=hi"},
      {"HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n", "status 200 keep content-length=0"},
      {"HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", "status 200 keep content-length=0"},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
       "status 200 keep transfer-encoding=chunked body=hi"},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "status 200 close body=until the end needs more"},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "status 200 close body=until the end", false, true},
      {"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhi", "400 the connection ended in the middle of a message", false,
       true},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n",
       "400 the connection ended in the middle of a message", false, true},
      {"HTTP/1.1 200 O", "400 the connection ended in the middle of a message", false, true},
      {"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", "status 200 keep content-length=9", true},
      {"HTTP/1.1 204 No Content\r\n\r\n", "status 204 keep"},
      {"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", "status 304 keep content-length=9"},
      {"HTTP/1.1 100 Continue\r\n\r\n", "status 100 keep"},
      {"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", "status 200 1.0 close content-length=1 body=x"},
      {"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx", "status 200 keep content-length=1000 body=x needs more"},
      {"HTTP/1.1 099 x\r\n\r\n", "400 a malformed status line"},
      {"HTTP/1.1 20 x\r\n\r\n", "400 a malformed status"},
      {"HTTP/1.1 2000 x\r\n\r\n", "400 a malformed status line"},
      {"HTTP/1.1 20x OK\r\n\r\n", "400 a malformed status"},
      {"HTTP/1.1  200 OK\r\n\r\n", "400 a malformed status"},
      {"HTTP/2.0 200 OK\r\n\r\n", "505 only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here"},
      {"HTTP/1.1 200 O\x01K\r\n\r\n", "400 a malformed status line"},
      {"ICY 200 OK\r\n\r\n", "400 a malformed status line"},
      {"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
       "400 both transfer-encoding and content-length"},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", "501 a transfer-encoding other than chunked"},
  };
  for (const Case& c : cases) {
    ExpectInEverySlicing(Http1Parser::Kind::kResponse, c.bytes, c.expected, c.head_request, c.ends);
  }
}

}  // namespace
}  // namespace baton::net
