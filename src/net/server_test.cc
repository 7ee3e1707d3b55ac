// The server and the client over loopback TCP and real TLS: certificates, protocols, rotation, limits, shutdown.
#include "net/server.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <functional>

#include "net/client.h"
#include "net/net_for_test.h"
#include "net/transport.h"
#include "rt/real_loop.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::RealLoop;
using rt::Task;

constexpr Duration kLong = seconds(20);  // never waited for when all is well

size_t OpenFiles() {
  size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

Task<void> Handle(RealLoop& loop, Request request, ResponseWriter& writer) {
  Result<void> sent;
  if (request.path() == "/whoami") {
    sent = co_await writer.Send(200, {},
                                StrCat(request.http2 ? "h2 " : "h1 ", request.peer.has_certificate, " ",
                                       request.peer.common_name, " ", Join(request.peer.organizations, ",")));
  } else if (request.path() == "/watch") {
    sent = co_await writer.Start(200, {});
    if (sent.ok()) sent = co_await writer.Write(std::string("first"));
    co_await writer.shutdown().Wait();
    if (sent.ok()) sent = co_await writer.Write(std::string(" last"));
    if (sent.ok()) sent = co_await writer.Finish();
  } else if (request.path() == "/never") {
    co_await loop.Sleep(hours(1));
  } else if (request.path() == "/large") {
    sent = co_await writer.Send(200, {}, std::string(size_t{8} << 20, 'x'));
  } else {
    sent = co_await writer.Send(200, {}, std::move(request.body));
  }
}

// A server on a loopback port, as long as this lives.
class TestServer {
 public:
  using Context = std::function<std::shared_ptr<TlsServerContext>()>;

  TestServer(RealLoop& loop, Context tls, ServerOptions options = {})
      : loop_(loop),
        listener(Must(Listen(loop, {"127.0.0.1", 0}))),
        server(
            loop, [&loop](Request request, ResponseWriter& writer) { return Handle(loop, std::move(request), writer); },
            options),
        scope_(loop) {
    scope_.Spawn(Serve(std::move(tls)));
  }

  ClientOptions Options(std::shared_ptr<TlsClientContext> context) const {
    ClientOptions options;
    options.endpoint = listener->endpoint();
    if (context != nullptr) options.tls = [context] { return context; };
    return options;
  }

 private:
  Task<void> Serve(Context tls) { Must(co_await server.Serve(loop_, *listener, std::move(tls))); }

  RealLoop& loop_;

 public:
  std::unique_ptr<Listener> listener;
  HttpServer server;

 private:
  rt::Scope scope_;
};

Task<std::string> CallOnce(RealLoop& loop, ClientOptions options, std::string target = "/whoami") {
  HttpClient client(loop, std::move(options));
  const Result<Response> response =
      co_await client.Call({.method = "GET", .target = std::move(target)}, Deadline::After(loop, kLong));
  co_return response.ok() ? StrCat(response->status, " ", response->body) : response.error().ToString();
}

TEST(TlsTest, ClientCertificatesTellWhoCalls) {
  RealLoop loop;
  const TestPki pki(loop);
  const TestPki other(loop);
  const KeyPair alice = pki.Client("alice", {"team", "admins"});
  const KeyPair stranger = other.Client("alice", {"team"});
  const KeyPair server_only = pki.Server();
  const KeyPair expired = pki.Issue({.common_name = "late",
                                     .client = true,
                                     .not_before = loop.WallNow() - hours(2),
                                     .not_after = loop.WallNow() - hours(1)});
  struct Case {
    std::string who;
    KeyPair pair;
    ClientCertificates wanted;
    std::string answer;  // or what the error begins with
  };
  const std::string refused = "unauthorized: reading from 127.0.0.1";
  const Case cases[] = {
      {"alice", alice, ClientCertificates::kOptional, "200 h2 true alice team,admins"},
      {"alice", alice, ClientCertificates::kRequired, "200 h2 true alice team,admins"},
      {"alice, not asked", alice, ClientCertificates::kIgnore, "200 h2 false  "},
      {"nobody", {}, ClientCertificates::kOptional, "200 h2 false  "},
      {"nobody", {}, ClientCertificates::kRequired, refused},
      {"of another CA", stranger, ClientCertificates::kOptional, refused},
      {"with a server's certificate", server_only, ClientCertificates::kOptional, refused},
      {"expired", expired, ClientCertificates::kRequired, refused},
  };
  for (const Case& c : cases) {
    const std::shared_ptr<TlsServerContext> context = pki.ServerContext(c.wanted);
    TestServer server(loop, [context] { return context; });
    const auto client = pki.ClientContext({.certificate_pem = c.pair.certificate_pem, .key_pem = c.pair.key_pem});
    const std::string answer = loop.Run(CallOnce(loop, server.Options(client)));
    EXPECT_TRUE(answer.starts_with(c.answer)) << c.who << ": " << answer;
  }
}

TEST(TlsTest, TheClientAcceptsOnlyTheRightServer) {
  RealLoop loop;
  const TestPki pki(loop);
  const TestPki other(loop);
  const auto serve = [&](const KeyPair& pair) {
    return Must(MakeTlsServerContext({.certificate_pem = pair.certificate_pem, .key_pem = pair.key_pem}));
  };
  const WallTime now = loop.WallNow();
  const KeyPair good = pki.Server({"localhost", "*.example.com"}, {"127.0.0.1", "::1"});
  const KeyPair expired = pki.Issue({.common_name = "server",
                                     .dns_names = {"localhost"},
                                     .server = true,
                                     .not_before = now - hours(2),
                                     .not_after = now - hours(1)});
  const KeyPair future = pki.Issue({.common_name = "server",
                                    .dns_names = {"localhost"},
                                    .server = true,
                                    .not_before = now + hours(1),
                                    .not_after = now + hours(2)});
  const KeyPair only_cn = pki.Issue({.common_name = "localhost", .server = true});
  const KeyPair client_use = pki.Issue({.common_name = "x", .dns_names = {"localhost"}, .client = true});
  const std::string refused = "unauthorized: TLS handshake with ";
  struct Case {
    std::string what;
    KeyPair pair;
    TlsClientOptions options;
    std::string answer;
    std::string part = "";
  };
  const Case cases[] = {
      {"by name", good, {}, "200 h2 "},
      {"by address", good, {.server_name = "127.0.0.1"}, "200 h2 "},
      {"by IPv6 address", good, {.server_name = "::1"}, "200 h2 "},
      {"by wildcard", good, {.server_name = "a.example.com"}, "200 h2 "},
      {"a wildcard is one label", good, {.server_name = "a.b.example.com"}, refused, "hostname mismatch"},
      {"wrong name", good, {.server_name = "other"}, refused, "hostname mismatch"},
      {"wrong address", good, {.server_name = "127.0.0.2"}, refused, "IP address mismatch"},
      {"another CA", good, {.ca_pem = other.ca.certificate_pem}, refused, "certificate not accepted"},
      {"expired", expired, {}, refused, "has expired"},
      {"not yet valid", future, {}, refused, "not yet valid"},
      {"only a CN", only_cn, {}, refused, "hostname mismatch"},
      {"a client's certificate", client_use, {}, refused, "purpose"},
      {"another CA, not verified", good, {.ca_pem = other.ca.certificate_pem, .insecure_skip_verify = true}, "200 h2 "},
      {"wrong name, not verified", good, {.server_name = "other", .insecure_skip_verify = true}, "200 h2 "},
  };
  for (const Case& c : cases) {
    const std::shared_ptr<TlsServerContext> context = serve(c.pair);
    TestServer server(loop, [context] { return context; });
    const std::string answer = loop.Run(CallOnce(loop, server.Options(pki.ClientContext(c.options))));
    EXPECT_TRUE(answer.starts_with(c.answer)) << c.what << ": " << answer;
    EXPECT_NE(answer.find(c.part), std::string::npos) << c.what << ": " << answer;
  }
}

TEST(TlsTest, TheProtocolIsWhatBothSpeak) {
  RealLoop loop;
  const TestPki pki(loop);
  struct Case {
    std::vector<std::string> server;
    std::vector<std::string> client;
    std::string answer;
  };
  for (const Case& c : std::vector<Case>{{{"h2", "http/1.1"}, {"h2", "http/1.1"}, "200 h2 "},
                                         {{"http/1.1", "h2"}, {"h2", "http/1.1"}, "200 h1 "},
                                         {{"h2", "http/1.1"}, {"http/1.1"}, "200 h1 "},
                                         {{"http/1.1"}, {"h2", "http/1.1"}, "200 h1 "},
                                         {{"h2", "http/1.1"}, {}, "200 h1 "},
                                         {{}, {"h2", "http/1.1"}, "200 h1 "},
                                         {{"h2", "http/1.1"}, {"other"}, "200 h1 "}}) {
    const std::shared_ptr<TlsServerContext> context = pki.ServerContext(ClientCertificates::kIgnore, c.server);
    TestServer server(loop, [context] { return context; });
    const std::string answer = loop.Run(CallOnce(loop, server.Options(pki.ClientContext({.alpn = c.client}))));
    EXPECT_TRUE(answer.starts_with(c.answer))
        << Join(c.server, ",") << " and " << Join(c.client, ",") << ": " << answer;
  }
  TestServer plain(loop, nullptr);
  EXPECT_TRUE(loop.Run(CallOnce(loop, plain.Options(nullptr))).starts_with("200 h1 "));
}

TEST(TlsTest, AMissingContextNeverMeansPlainText) {
  RealLoop loop;
  const TestPki pki(loop);
  TestServer server(loop, [] { return nullptr; });
  EXPECT_TRUE(loop.Run(CallOnce(loop, server.Options(nullptr))).starts_with("unavailable: "));
  EXPECT_TRUE(loop.Run(CallOnce(loop, server.Options(pki.ClientContext()))).starts_with("unavailable: "));
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  TestServer good(loop, [context] { return context; });
  ClientOptions options = good.Options(nullptr);
  options.tls = [] { return nullptr; };
  EXPECT_EQ(loop.Run(CallOnce(loop, options)), "invalid: a TLS connection needs a context");
}

Task<void> Rotates(RealLoop& loop, TestServer& server, const TestPki& old_pki, const TestPki& new_pki,
                   std::shared_ptr<TlsServerContext>& current) {
  HttpClient before(loop, server.Options(old_pki.ClientContext()));
  const auto call = [](HttpClient& client, RealLoop& l) -> Task<bool> {
    co_return (co_await client.Call({.method = "GET", .target = "/"}, Deadline::After(l, kLong))).ok();
  };
  EXPECT_TRUE(co_await call(before, loop));
  current = new_pki.ServerContext();
  EXPECT_TRUE(co_await call(before, loop)) << "an open connection goes on";
  HttpClient after(loop, server.Options(new_pki.ClientContext()));
  EXPECT_TRUE(co_await call(after, loop));
  before.CloseIdle();
  EXPECT_FALSE(co_await call(before, loop)) << "a new connection meets the new certificate";
}

TEST(TlsTest, CertificatesAreRotatedWithoutARestart) {
  RealLoop loop;
  const TestPki old_pki(loop);
  const TestPki new_pki(loop);
  std::shared_ptr<TlsServerContext> current = old_pki.ServerContext();
  TestServer server(loop, [&] { return current; });
  loop.Run(Rotates(loop, server, old_pki, new_pki, current));
}

// ---- sockets ----

TEST(TransportTest, AnOccupiedPortAndABadAddressAreTold) {
  RealLoop loop;
  const std::unique_ptr<Listener> listener = Must(Listen(loop, {"127.0.0.1", 0}));
  const Result<std::unique_ptr<Listener>> again = Listen(loop, listener->endpoint());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_NE(again.error().message().find(listener->endpoint().ToString()), std::string::npos);
  EXPECT_EQ(Listen(loop, {"not-an-address.invalid", 0}).error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(Listen(loop, {"203.0.113.7", 0}).error().kind(), ErrorKind::kInvalid) << "not an address of this machine";
  EXPECT_TRUE(Listen(loop, {"localhost", 0}).ok());
}

TEST(TransportTest, AConnectionThatIsRefusedSaysSo) {
  RealLoop loop;
  Endpoint gone;
  {
    gone = Must(Listen(loop, {"127.0.0.1", 0}))->endpoint();
  }
  const Result<std::unique_ptr<ByteStream>> stream = loop.Run(ConnectTcp(loop, gone));
  ASSERT_FALSE(stream.ok());
  EXPECT_EQ(stream.error().message(), StrCat("connecting to ", gone.ToString(), ": Connection refused"));
  const Result<std::unique_ptr<ByteStream>> nowhere = loop.Run(ConnectTcp(loop, {"no-such-host.invalid", 1}));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind(), ErrorKind::kUnavailable);
}

Task<void> ConnectAndGiveUp(RealLoop& loop) {
  const size_t before = OpenFiles();
  for (int i = 0; i < 20; ++i) {
    // An address of a test network that nothing answers for: the kernel keeps trying.
    static_cast<void>(co_await rt::WithDeadline(Deadline::After(loop, milliseconds(1)), "nobody",
                                                ConnectTcp(loop, {"203.0.113.7", 9})));
  }
  co_await loop.Sleep(milliseconds(1));
  EXPECT_LE(OpenFiles(), before) << "a dropped connect closes its socket";
}

TEST(TransportTest, ADroppedConnectClosesItsSocket) {
  RealLoop loop;
  loop.Run(ConnectAndGiveUp(loop));
}

Task<void> HalfCloses(RealLoop& loop, Listener& listener) {
  const std::unique_ptr<ByteStream> client = Must(co_await ConnectTcp(loop, listener.endpoint()));
  const std::unique_ptr<ByteStream> server = Must(co_await listener.Accept());
  Must(co_await client->Write("ping"));
  Must(co_await client->CloseWrite());
  EXPECT_EQ((co_await ReadAll(*server)).bytes, "ping");
  Must(co_await server->Write("pong"));
  Must(co_await server->CloseWrite());
  EXPECT_EQ((co_await ReadAll(*client)).bytes, "pong");
  EXPECT_EQ(client->peer_address(), listener.endpoint().ToString());
}

TEST(TransportTest, ASideThatIsClosedLeavesTheOtherOpen) {
  RealLoop loop;
  const std::unique_ptr<Listener> listener = Must(Listen(loop, {"127.0.0.1", 0}));
  loop.Run(HalfCloses(loop, *listener));
}

Task<Received> ReadsLate(RealLoop& loop, ByteStream& stream) {
  co_await loop.Sleep(milliseconds(20));
  co_return co_await ReadAll(stream);
}

Task<void> WritesLarge(RealLoop& loop, Listener& listener, const TestPki& pki) {
  const auto accept = [](RealLoop& l, Listener& from,
                         std::shared_ptr<TlsServerContext> context) -> Task<Result<std::unique_ptr<ByteStream>>> {
    co_return co_await AcceptTls(l, Must(co_await from.Accept()), std::move(context));
  };
  const auto connect = [](RealLoop& l, Endpoint to,
                          std::shared_ptr<TlsClientContext> context) -> Task<Result<std::unique_ptr<ByteStream>>> {
    co_return co_await ConnectTls(l, Must(co_await ConnectTcp(l, std::move(to))), std::move(context));
  };
  auto [accepted, connected] = co_await rt::WhenAll(accept(loop, listener, pki.ServerContext()),
                                                    connect(loop, listener.endpoint(), pki.ClientContext()));
  const std::unique_ptr<ByteStream> server = Must(std::move(accepted));
  const std::unique_ptr<ByteStream> client = Must(std::move(connected));
  EXPECT_EQ(client->alpn(), "h2");
  rt::SeededRandom random(7);
  std::string bytes(size_t{6} << 20, '\0');
  random.Fill(std::as_writable_bytes(std::span(bytes)));
  const auto send = [](RealLoop& l, ByteStream& to, const std::string& all) -> Task<void> {
    Must(co_await WriteWithin(to, l, kLong, all));
    Must(co_await to.CloseWrite());
  };
  auto [sent, back, got_there, got_back] = co_await rt::WhenAll(send(loop, *client, bytes), send(loop, *server, bytes),
                                                                ReadsLate(loop, *server), ReadsLate(loop, *client));
  EXPECT_EQ(got_there.bytes == bytes, true);
  EXPECT_EQ(got_back.bytes == bytes, true);
  EXPECT_EQ(got_there.error, "");
  EXPECT_EQ(got_back.error, "");
}

TEST(TransportTest, TlsCarriesMuchBothWaysAtOnceToReadersThatWait) {
  RealLoop loop;
  const TestPki pki(loop);
  const std::unique_ptr<Listener> listener = Must(Listen(loop, {"127.0.0.1", 0}));
  loop.Run(WritesLarge(loop, *listener, pki));
}

// ---- the server ----

Task<void> FillsUp(RealLoop& loop, TestServer& server) {
  std::vector<std::unique_ptr<ByteStream>> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(Must(co_await ConnectTcp(loop, server.listener->endpoint())));
  std::vector<char> buffer(10);
  for (int i = 3; i < 5; ++i) {
    // Closed at once, whether that is seen as an end or as a reset.
    const Result<size_t> got = co_await rt::WithDeadline(Deadline::After(loop, kLong), "the end",
                                                         streams[static_cast<size_t>(i)]->Read(buffer));
    EXPECT_TRUE(!got.ok() || *got == 0);
    if (!got.ok()) EXPECT_NE(got.error().kind(), ErrorKind::kDeadlineExceeded);
  }
  EXPECT_EQ(server.server.connections(), 3u);
  Must(co_await streams[0]->Write("GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"));
  EXPECT_TRUE((co_await ReadAll(*streams[0])).bytes.starts_with("HTTP/1.1 200 OK\r\n")) << "those inside are served";
  streams.clear();
}

TEST(HttpServerTest, ConnectionsBeyondTheLimitAreClosedAtOnce) {
  RealLoop loop;
  ServerOptions options;
  options.limits.connections_max = 3;
  TestServer server(loop, nullptr, options);
  loop.Run(FillsUp(loop, server));
}

Task<void> HandshakesSlowly(RealLoop& loop, TestServer& server, const TestPki& pki) {
  std::vector<std::unique_ptr<ByteStream>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(Must(co_await ConnectTcp(loop, server.listener->endpoint())));
  Must(co_await silent[0]->Write("\x16\x03\x01"));
  EXPECT_EQ(co_await CallOnce(loop, server.Options(pki.ClientContext()), "/"), "200 ");
  // Half-open connections are cut when their time is over.
  for (const std::unique_ptr<ByteStream>& stream : silent) static_cast<void>(co_await ReadAll(*stream));
  while (server.server.connections() > 0) co_await loop.Sleep(milliseconds(1));
}

TEST(HttpServerTest, SlowHandshakesHoldUpNobodyAndEnd) {
  RealLoop loop;
  const TestPki pki(loop);
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  ServerOptions options;
  options.timeouts.handshake = milliseconds(100);
  TestServer server(loop, [context] { return context; }, options);
  loop.Run(HandshakesSlowly(loop, server, pki));
}

Task<void> ShutsDown(RealLoop& loop, TestServer& server, ClientOptions options) {
  HttpClient client(loop, std::move(options));
  std::unique_ptr<ResponseStream> watch =
      Must(co_await client.Stream({.method = "GET", .target = "/watch"}, Deadline::After(loop, kLong)));
  EXPECT_EQ(Must(co_await watch->Read()), "first");
  const auto stop = [](RealLoop& l, TestServer& s) -> Task<void> {
    co_await s.server.Shutdown(Deadline::After(l, kLong));
  };
  const auto read = [](ResponseStream& stream) -> Task<std::string> {
    std::string rest;
    while (std::optional<std::string> piece = Must(co_await stream.Read())) rest += *piece;
    co_return rest;
  };
  auto [stopped, rest] = co_await rt::WhenAll(stop(loop, server), read(*watch));
  EXPECT_EQ(rest, " last") << "a watch ends cleanly";
  EXPECT_EQ(server.server.connections(), 0u);
}

TEST(HttpServerTest, ShutdownEndsWatchesCleanly) {
  RealLoop loop;
  const TestPki pki(loop);
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  for (const std::string protocol : {"h2", "http/1.1"}) {
    TestServer server(loop, [context] { return context; });
    loop.Run(ShutsDown(loop, server, server.Options(pki.ClientContext({.alpn = {protocol}}))));
  }
}

Task<void> CutsShort(RealLoop& loop, TestServer& server, ClientOptions options) {
  HttpClient client(loop, std::move(options));
  const auto call = [](HttpClient& c, RealLoop& l) -> Task<Result<Response>> {
    co_return co_await c.Call({.method = "GET", .target = "/never"}, Deadline::After(l, kLong));
  };
  const auto stop = [](RealLoop& l, TestServer& s) -> Task<void> {
    while (s.server.connections() == 0) co_await l.Sleep(milliseconds(1));
    co_await l.Sleep(milliseconds(20));
    co_await s.server.Shutdown(Deadline::After(l, milliseconds(20)));
  };
  auto [response, stopped] = co_await rt::WhenAll(call(client, loop), stop(loop, server));
  EXPECT_FALSE(response.ok());
  EXPECT_EQ(server.server.connections(), 0u);
}

TEST(HttpServerTest, WhatIsLeftAtTheShutdownsDeadlineIsCut) {
  RealLoop loop;
  const TestPki pki(loop);
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  for (const std::string protocol : {"h2", "http/1.1"}) {
    TestServer server(loop, [context] { return context; });
    loop.Run(CutsShort(loop, server, server.Options(pki.ClientContext({.alpn = {protocol}}))));
  }
}

Task<void> ReadsNothing(RealLoop& loop, TestServer& server, const TestPki& pki, std::string protocol) {
  // Ten clients ask for 8 MiB each and read nothing; another one is served meanwhile.
  HttpClient slow(loop, server.Options(pki.ClientContext({.alpn = {protocol}})));
  std::vector<std::unique_ptr<ResponseStream>> streams;
  for (int i = 0; i < 8; ++i) {
    streams.push_back(
        Must(co_await slow.Stream({.method = "GET", .target = "/large", .headers = {{"accept-encoding", "identity"}}},
                                  Deadline::After(loop, kLong))));
  }
  EXPECT_EQ(co_await CallOnce(loop, server.Options(pki.ClientContext()), "/"), "200 ");
  for (const std::unique_ptr<ResponseStream>& stream : streams) {
    size_t bytes = 0;
    while (std::optional<std::string> piece = Must(co_await stream->Read())) bytes += piece->size();
    EXPECT_EQ(bytes, size_t{8} << 20);
  }
}

TEST(HttpServerTest, ClientsThatReadLateHoldUpNobodyAndGetAll) {
  RealLoop loop;
  const TestPki pki(loop);
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  for (const std::string protocol : {"h2", "http/1.1"}) {
    TestServer server(loop, [context] { return context; });
    loop.Run(ReadsNothing(loop, server, pki, protocol));
  }
}

Task<void> DropsEverythingSomewhere(RealLoop& loop, const TestPki& pki, Duration after, std::string protocol) {
  const std::shared_ptr<TlsServerContext> context = pki.ServerContext();
  TestServer server(loop, [context] { return context; });
  HttpClient client(loop, server.Options(pki.ClientContext({.alpn = {protocol}})));
  rt::Scope calls(loop);
  const auto call = [](HttpClient& c, RealLoop& l, std::string target) -> Task<void> {
    static_cast<void>(co_await c.Call(
        {.method = "POST", .target = std::move(target), .body = std::string(100'000, 'x')}, Deadline::After(l, kLong)));
  };
  for (int i = 0; i < 20; ++i) calls.Spawn(call(client, loop, i % 3 == 0 ? "/large" : i % 3 == 1 ? "/never" : "/"));
  co_await loop.Sleep(after);
}

TEST(HttpServerTest, EverythingMayBeDroppedAtAnyTime) {
  RealLoop loop;
  const TestPki pki(loop);
  const size_t before = OpenFiles();
  for (int i = 0; i < 30; ++i) {
    loop.Run(DropsEverythingSomewhere(loop, pki, microseconds(300 * i), i % 2 == 0 ? "h2" : "http/1.1"));
  }
  // Sockets are closed; what Asio still held is let go within a turn.
  const auto turn = [](RealLoop& l) -> Task<void> { co_await l.Sleep(milliseconds(1)); };
  loop.Run(turn(loop));
  EXPECT_LE(OpenFiles(), before);
}

}  // namespace
}  // namespace baton::net
