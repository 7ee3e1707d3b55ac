// Proxies: which targets go through one (as Go reads NO_PROXY), and the CONNECT tunnel.
#include "net/proxy.h"

#include <gtest/gtest.h>

#include "net/net_for_test.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Task;
using rt::VirtualLoop;

bool Proxied(std::string no_proxy, std::string host, uint16_t port = 443) {
  const ProxyOptions options{.proxy_url = "http://proxy:3128", .no_proxy = std::move(no_proxy)};
  return Must(ChooseProxy(options, {std::move(host), port})).has_value();
}

TEST(NoProxyTest, IsReadAsGoReadsIt) {
  struct Case {
    std::string no_proxy;
    std::string host;
    bool proxied;
    uint16_t port = 443;
  };
  const Case cases[] = {
      // Local addresses never, whatever NO_PROXY says.
      {"", "localhost", false},
      {"", "127.0.0.1", false},
      {"", "127.9.9.9", false},
      {"", "::1", false},
      {"", "::ffff:127.0.0.1", false},
      {"", "::2", true},
      {"", "localhost.net", true},
      {"", "example.com", true},
      // Everything.
      {"*", "example.com", false},
      {"a.com, *", "example.com", false},
      {"*", "10.0.0.1", false},
      // A domain, and what is below it.
      {"example.com", "example.com", false},
      {"example.com", "a.b.example.com", false},
      {"example.com", "EXAMPLE.com", false},
      {"EXAMPLE.COM", "www.example.com", false},
      {"example.com", "badexample.com", true},
      {"example.com", "example.com.evil", true},
      {".example.com", "example.com", true},
      {".example.com", "www.example.com", false},
      {"*.example.com", "example.com", true},
      {"*.example.com", "www.example.com", false},
      {"*.example.com", "aexample.com", true},
      {" a.com ,\tb.com ", "b.com", false},
      {",,a.com,", "b.com", true},
      {"svc,cluster.local", "kubernetes.default.svc", false},
      {".svc", "kubernetes.default.svc", false},
      {".svc", "svc", true},
      // With a port.
      {"example.com:443", "example.com", false},
      {"example.com:80", "example.com", true},
      {"example.com:80", "www.example.com", false, 80},
      {":443", "example.com", true},
      // Addresses.
      {"10.1.2.3", "10.1.2.3", false},
      {"10.1.2.3", "10.1.2.30", true},
      {"10.1.2.3:443", "10.1.2.3", false},
      {"10.1.2.3:80", "10.1.2.3", true},
      {"2001:db8::1", "2001:db8::1", false},
      {"2001:db8::1", "2001:db8:0:0::1", false},
      {"[2001:db8::1]:443", "2001:db8::1", false},
      {"[2001:db8::1]:80", "2001:db8::1", true},
      {"2001:db8::1", "2001:db8::2", true},
      {"10.1.2.3", "::ffff:10.1.2.3", false},
      // Networks.
      {"10.0.0.0/8", "10.200.3.4", false},
      {"10.0.0.0/8", "11.0.0.1", true},
      {"10.0.0.0/30", "10.0.0.3", false},
      {"10.0.0.0/30", "10.0.0.4", true},
      {"10.0.0.0/0", "200.0.0.1", false},
      {"10.0.0.0/33", "10.0.0.0", true},
      {"10.0.0.0/8x", "10.0.0.1", true},
      {"2001:db8::/32", "2001:db8:1::5", false},
      {"2001:db8::/32", "2001:db9::5", true},
      {"10.0.0.0/8", "::ffff:10.1.1.1", false},
      // A name is no address and the other way round.
      {"10.0.0.0/8", "10.example.com", true},
      {"2.3", "10.1.2.3", true},
      {"0.1", "10.0.0.1", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Proxied(c.no_proxy, c.host, c.port), c.proxied) << "NO_PROXY=" << c.no_proxy << " for " << c.host;
  }
}

TEST(NoProxyTest, DoesNotCountForAProxyThatIsAlwaysMeant) {
  const Endpoint local{"127.0.0.1", 6443};
  EXPECT_FALSE(ChooseProxy({.proxy_url = "http://p:3128", .no_proxy = "*"}, local)->has_value());
  EXPECT_TRUE(ChooseProxy({.proxy_url = "http://p:3128", .no_proxy = "*", .always = true}, local)->has_value());
  EXPECT_FALSE(ChooseProxy({.proxy_url = "", .no_proxy = "", .always = true}, local)->has_value());
}

TEST(ProxyUrlTest, IsRead) {
  const auto proxy = [](std::string url) -> std::string {
    const Result<std::optional<Endpoint>> chosen = ChooseProxy({.proxy_url = std::move(url)}, {"example.com", 443});
    if (!chosen.ok()) return chosen.error().ToString();
    return chosen->has_value() ? (*chosen)->ToString() : "none";
  };
  EXPECT_EQ(proxy(""), "none");
  EXPECT_EQ(proxy("http://p:3128"), "p:3128");
  EXPECT_EQ(proxy("http://p:3128/"), "p:3128");
  EXPECT_EQ(proxy("http://p"), "p:80");
  EXPECT_EQ(proxy("p:8080"), "p:8080");
  EXPECT_EQ(proxy("p"), "p:80");
  EXPECT_EQ(proxy("http://[::1]:3128"), "[::1]:3128");
  EXPECT_EQ(proxy("http://[::1]"), "[::1]:80");
  EXPECT_EQ(proxy("http://user:pa%40ss@p:3128"), "p:3128");
  EXPECT_EQ(proxy("https://p:3128"), "invalid: proxy \"https\"://...: only http:// proxies are supported");
  EXPECT_EQ(proxy("socks5://u:secret@p"), "invalid: proxy \"socks5\"://...: only http:// proxies are supported");
  for (const char* bad : {"http://user:secret@", "http://user:secret@p:x", "http://user:secret%zz@p:80",
                          "http://user:secret@p:99999", "http://user:secret@a b:80", "http://", "http://[::1"}) {
    const std::string error = proxy(bad);
    EXPECT_TRUE(error.starts_with("invalid: ")) << bad << ": " << error;
    EXPECT_EQ(error.find("secret"), std::string::npos) << error;
  }
}

// ---- the tunnel ----

Task<std::string> AnswerConnect(ByteStream& stream, std::string answer, bool close) {
  std::string request = co_await ReadUntil(stream, "\r\n\r\n");
  static_cast<void>(co_await stream.Write(answer));
  if (close) static_cast<void>(co_await stream.CloseWrite());
  co_return request;
}

std::string Tunnel(uint64_t seed, std::string url, std::string answer, bool close, std::string* request = nullptr) {
  VirtualLoop loop(seed);
  auto [ours, theirs] = MakePipe();
  const std::unique_ptr<ByteStream> sliced = Sliced(loop, std::move(ours), seed);
  const ProxyOptions options{.proxy_url = std::move(url)};
  auto [opened, seen] = loop.Run(rt::WhenAll(OpenTunnel(*sliced, options, {"target.example", 6443}),
                                             AnswerConnect(*theirs, std::move(answer), close)));
  if (request != nullptr) *request = seen;
  if (!opened.ok()) return opened.error().message();
  // What follows the answer is the tunnel's, to the byte.
  const auto rest = [](ByteStream& stream) -> Task<std::string> { co_return (co_await ReadUntil(stream, "]")); };
  return StrCat("open ", loop.Run(rest(*sliced)));
}

TEST(TunnelTest, IsOpenWhenTheProxySaysSo) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::string request;
    EXPECT_EQ(
        Tunnel(seed, "http://p:3128", "HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n[bytes]", false, &request),
        "open [bytes]");
    EXPECT_EQ(request, "CONNECT target.example:6443 HTTP/1.1\r\nhost: target.example:6443\r\n\r\n");
    EXPECT_EQ(Tunnel(seed, "http://us%65r:p%3Aw@p:3128", "HTTP/1.0 200 OK\r\n\r\n[]", false, &request), "open []");
    EXPECT_EQ(Count(request, "proxy-authorization: Basic dXNlcjpwOnc=\r\n"), 1u) << request;
    EXPECT_EQ(Tunnel(seed, "http://user@p", "HTTP/1.0 200 OK\r\n\r\n[]", false, &request), "open []");
    EXPECT_EQ(Count(request, "proxy-authorization: Basic dXNlcjo=\r\n"), 1u) << request;
  }
}

TEST(TunnelTest, ARefusalCarriesTheProxysAnswer) {
  EXPECT_EQ(Tunnel(1, "http://u:secret@p:3128", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", false),
            "proxy p:3128 refused target.example:6443: \"HTTP/1.1 407 Proxy Authentication Required\"");
  EXPECT_EQ(Tunnel(1, "http://p", "HTTP/1.1 502 \x1b[31m\r\n\r\n", false),
            "proxy p:80 refused target.example:6443: \"HTTP/1.1 502 \\x1b[31m\"");
  EXPECT_EQ(Tunnel(1, "http://p", "SSH-2.0\r\n\r\n", false), "proxy p:80 refused target.example:6443: \"SSH-2.0\"");
  EXPECT_EQ(Tunnel(1, "http://p", "HTTP/1.1 200", true), "proxy p:80 closed the connection");
  EXPECT_EQ(Tunnel(1, "http://p", StrCat("HTTP/1.1 200 OK\r\nx: ", std::string(20'000, 'x')), false),
            "proxy p:80: its answer is too large");
}

}  // namespace
}  // namespace baton::net
