// HTTP/1.1, client side, on the virtual loop: against servers that follow a script, in every slicing and under many
// orders of fibers; and against our own server.
#include <gtest/gtest.h>

#include <deque>

#include "net/client.h"
#include "net/gzip.h"
#include "net/net_for_test.h"
#include "net/server.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::Loop;
using rt::Task;
using rt::VirtualLoop;

enum class Then : uint8_t { kWait, kClose, kCut };  // wait: until the client goes

// What the server does on one connection: an answer to each request, then how it ends.
struct Script {
  std::vector<std::string> replies;
  Then then = Then::kWait;
  bool ignore_bodies = false;  // answers as soon as it has the head, and reads no further
};

std::string Ok(std::string_view body) {
  return StrCat("HTTP/1.1 200 OK\r\ncontent-length: ", body.size(), "\r\n\r\n", body);
}

ClientOptions DefaultOptions() {
  ClientOptions options;
  options.endpoint = {"server", 443};
  return options;
}

// A client whose connections lead to scripted servers.
class Rig {
 public:
  explicit Rig(uint64_t seed, std::deque<Script> scripts, ClientOptions options = DefaultOptions(),
               size_t pipe_bytes = size_t{64} << 10)
      : loop(seed), seed_(seed), scripts_(std::move(scripts)), pipe_bytes_(pipe_bytes), serving_(loop) {
    client = std::make_unique<HttpClient>(loop, std::move(options), [this] { return Connect(); });
  }

  Result<Response> Call(std::string method, std::string target, std::string body = "", Headers headers = {}) {
    return loop.Run(Calling(std::move(method), std::move(target), std::move(body), std::move(headers)));
  }
  Task<Result<Response>> Calling(std::string method, std::string target, std::string body = "", Headers headers = {}) {
    Request request{.method = std::move(method),
                    .target = std::move(target),
                    .headers = std::move(headers),
                    .body = std::move(body)};
    co_return co_await client->Call(std::move(request), Deadline::After(loop, seconds(30)));
  }

  VirtualLoop loop;
  std::string log;  // what the servers saw
  int connected = 0;
  int open = 0;
  int open_max = 0;
  std::unique_ptr<HttpClient> client;

 private:
  struct Counted {
    explicit Counted(int& c) : count(c) { ++count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
    int& count;
  };

  Task<Result<std::unique_ptr<ByteStream>>> Connect() {
    if (scripts_.empty()) co_return UnavailableError("connection refused");
    Script script = scripts_.front();
    if (scripts_.size() > 1) scripts_.pop_front();
    ++connected;
    auto [ours, theirs] = MakePipe(pipe_bytes_);
    serving_.Spawn(Serve(std::move(theirs), std::move(script), connected));
    co_await loop.Sleep(milliseconds(1));
    co_return Sliced(loop, std::move(ours), seed_ + static_cast<uint64_t>(connected));
  }

  Task<void> Serve(std::unique_ptr<ByteStream> stream, Script script, int number) {
    const Counted counted(open);
    open_max = std::max(open_max, open);
    for (const std::string& reply : script.replies) {
      std::string head = co_await ReadUntil(*stream, "\r\n\r\n");
      if (head.empty()) break;
      size_t length = 0;
      if (const size_t at = head.find("content-length: "); at != std::string::npos) {
        length = static_cast<size_t>(std::atoi(head.c_str() + at + 16));
      }
      std::string body(script.ignore_bodies ? 0 : length, '\0');
      for (size_t got = 0; got < body.size();) {
        const Result<size_t> count = co_await stream->Read(std::span(body).subspan(got));
        if (!count.ok() || *count == 0) co_return;
        got += *count;
      }
      StrAppend(log, number, ":", head.substr(0, head.find(" HTTP/1.1")), body.empty() ? "" : " ", body, ";");
      last_head = head;
      if (!(co_await stream->Write(reply)).ok()) co_return;
    }
    if (script.then == Then::kWait) {
      static_cast<void>(co_await ReadAll(*stream));
      StrAppend(log, number, ":gone;");
    } else if (script.then == Then::kClose) {
      static_cast<void>(co_await stream->CloseWrite());
      static_cast<void>(co_await ReadAll(*stream));
    }
  }

  uint64_t seed_;
  std::deque<Script> scripts_;
  size_t pipe_bytes_;

 public:
  std::string last_head;

 private:
  rt::Scope serving_;
};

std::string Show(const Result<Response>& response) {
  if (!response.ok()) return response.error().ToString();
  return StrCat(response->status, " ", response->body);
}

TEST(Http1ClientTest, ReadsEveryFraming) {
  const std::string zipped = Gzip(Body("zipped"));
  struct Case {
    std::string reply;
    std::string expected;
    Then then = Then::kWait;
    std::string method = "GET";
  };
  const Case cases[] = {
      {Ok("hello"), "200 hello"},
      {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "200 "},
      {"HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nx-t: y\r\n\r\n",
       "404 abcde"},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "200 until the end", Then::kClose},
      {"HTTP/1.0 200 OK\r\n\r\nold", "200 old", Then::kClose},
      {"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", "200 ", Then::kWait, "HEAD"},
      {"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n", "200 ", Then::kWait, "HEAD"},
      {"HTTP/1.1 204 No Content\r\n\r\n", "204 "},
      {"HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", "304 "},
      {StrCat("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", Ok("late")), "200 late"},
      {StrCat("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ", zipped.size(), "\r\n\r\n", zipped),
       "200 zipped"},
      {"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n", "200 "},
      // Broken ones.
      {"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal",
       "unavailable: the server closed the connection in the middle of a response", Then::kClose},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
       "unavailable: the server closed the connection in the middle of a response", Then::kClose},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
       "unavailable: reading from a pipe: the connection was cut", Then::kCut},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the cut", "unavailable: reading from a pipe: the connection was cut", Then::kCut},
      {"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
       "unavailable: malformed response: both transfer-encoding and content-length"},
      {"SSH-2.0-OpenSSH\r\n", "unavailable: malformed response: a malformed status line"},
      {"\x15\x03\x03", "unavailable: malformed response: not HTTP"},
      {StrCat("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ", zipped.size() - 4, "\r\n\r\n",
              zipped.substr(0, zipped.size() - 4)),
       "unavailable: the response's gzip body was cut"},
      {"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
       "invalid: a broken gzip body: incorrect header check"},
      {"", "unavailable: the server closed the connection without an answer", Then::kClose},
      {"HTTP/1.1 200 O", "unavailable: the server closed the connection in the middle of a response", Then::kClose},
  };
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Rig rig(seed, {{{c.reply}, c.then}});
      EXPECT_EQ(Show(rig.Call(c.method, "/")), c.expected) << c.reply << " with seed " << seed;
      EXPECT_EQ(rig.connected, 1);
    }
  }
}

TEST(Http1ClientTest, EndlessInterimAnswersAreAnError) {
  std::string endless;
  for (int i = 0; i < 100; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  Rig rig(1, {{{endless}, Then::kWait}});
  EXPECT_EQ(Show(rig.Call("GET", "/")), "unavailable: the server sends interim answers without end");
}

TEST(Http1ClientTest, SendsARequestAsItShouldBe) {
  Rig rig(1, {{{Ok("a"), Ok("b"), Ok("c"), Ok("d")}}});
  const Headers headers{{"x-a", "1"}, {"content-length", "77"}, {"transfer-encoding", "chunked"}, {"host", "evil"}};
  EXPECT_EQ(Show(rig.Call("GET", "/p?q=%20", "", headers)), "200 a");
  EXPECT_EQ(rig.last_head, "GET /p?q=%20 HTTP/1.1\r\nhost: server:443\r\nx-a: 1\r\naccept-encoding: gzip\r\n\r\n");
  EXPECT_EQ(Show(rig.Call("POST", "/", "", {{"accept-encoding", "identity"}})), "200 b");
  EXPECT_EQ(rig.last_head,
            "POST / HTTP/1.1\r\nhost: server:443\r\naccept-encoding: identity\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(Show(rig.Call("DELETE", "/", "because")), "200 c");
  EXPECT_EQ(rig.log, "1:GET /p?q=%20;1:POST /;1:DELETE / because;");
}

TEST(Http1ClientTest, WhatCannotBeSentAsItIsIsNotSent) {
  Rig rig(1, {{{Ok("a")}}});
  const Request requests[] = {
      {.method = "GET\r\n", .target = "/"},
      {.method = "", .target = "/"},
      {.method = "GET", .target = "/ HTTP/1.1\r\nx: y\r\n\r\n"},
      {.method = "GET", .target = "/a b"},
      {.method = "GET", .target = "a"},
      {.method = "GET", .target = ""},
      {.method = "GET", .target = "/", .headers = {{"x", "a\r\ny: z"}}},
      {.method = "GET", .target = "/", .headers = {{"x\r\ny", "z"}}},
      {.method = "GET", .target = "/", .headers = {{"authorization", "Bearer a\n"}}},
  };
  for (const Request& request : requests) {
    const Result<Response> response = rig.loop.Run(rig.client->Call(request, Deadline::Never()));
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().kind(), ErrorKind::kInvalid);
    EXPECT_TRUE(response.error().message().starts_with("nothing was sent to server:443: "))
        << response.error().message();
    EXPECT_EQ(response.error().message().find("Bearer"), std::string::npos) << "no secrets in messages";
  }
  EXPECT_EQ(rig.connected, 0);
}

TEST(Http1ClientTest, KeepsAConnectionThatCanBeKept) {
  struct Case {
    std::string first;
    int connections;
    std::string method = "GET";
  };
  const Case cases[] = {
      {Ok("a"), 1},
      {"HTTP/1.1 204 No Content\r\n\r\n", 1},
      {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 1},
      {"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n", 1, "HEAD"},
      {"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\na", 2},
      {"HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", 2},
      {"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\na", 1},
      // Bytes that nobody asked for are not the next answer.
      {StrCat(Ok("a"), "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil"), 2},
      {StrCat(Ok("a"), "\r\n"), 2},
  };
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Rig rig(seed, {{{c.first, Ok("second")}}, {{Ok("second")}}});
      const Result<Response> first = rig.Call(c.method, "/1");
      EXPECT_TRUE(first.ok()) << Show(first);
      EXPECT_EQ(Show(rig.Call("GET", "/2")), "200 second") << c.first << " with seed " << seed;
      EXPECT_EQ(rig.connected, c.connections) << c.first << " with seed " << seed;
    }
  }
}

Task<std::string> CallTwice(Rig& rig, std::string method, Duration pause) {
  std::string results = Show(co_await rig.Calling(method, "/1"));
  co_await rig.loop.Sleep(pause);
  results += "|" + Show(co_await rig.Calling(method, "/2"));
  co_return results;
}

TEST(Http1ClientTest, RepeatsOnlyWhatIsSafeOnADeadKeptConnection) {
  // The server closes or breaks the kept connection when the second request comes, without a byte of an answer.
  for (const Then then : {Then::kClose, Then::kCut}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      for (const std::string method : {"GET", "HEAD", "OPTIONS"}) {
        Rig rig(seed, {{{"HTTP/1.1 204 x\r\n\r\n", ""}, then}, {{"HTTP/1.1 205 x\r\ncontent-length: 0\r\n\r\n"}}});
        EXPECT_EQ(rig.loop.Run(CallTwice(rig, method, Duration::zero())), "204 |205 ");
        EXPECT_EQ(rig.log, StrCat("1:", method, " /1;1:", method, " /2;2:", method, " /2;"));
      }
      for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
        Rig rig(seed, {{{"HTTP/1.1 204 x\r\n\r\n", ""}, then}, {{Ok("not this one")}}});
        const std::string results = rig.loop.Run(CallTwice(rig, method, Duration::zero()));
        EXPECT_TRUE(results.starts_with("204 |unavailable: ")) << results;
        EXPECT_EQ(rig.connected, 1);
      }
    }
  }
}

TEST(Http1ClientTest, ANewConnectionThatBreaksIsNotTriedAgain) {
  Rig rig(1, {{{""}, Then::kCut}, {{Ok("not this one")}}});
  EXPECT_FALSE(rig.Call("GET", "/").ok());
  EXPECT_EQ(rig.connected, 1);
}

TEST(Http1ClientTest, AHalfAnswerIsNotAskedForAgain) {
  Rig rig(1, {{{Ok("a"), "HTTP/1.1 2"}, Then::kCut}, {{Ok("not this one")}}});
  EXPECT_TRUE(rig.loop.Run(CallTwice(rig, "GET", Duration::zero())).starts_with("200 a|unavailable: "));
  EXPECT_EQ(rig.connected, 1);
}

TEST(Http1ClientTest, AKeptConnectionThatTheServerClosedIsNoticedBeforeTheNextRequest) {
  for (const Then then : {Then::kClose, Then::kCut}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Rig rig(seed, {{{Ok("a")}, then}, {{Ok("b")}}});
      EXPECT_EQ(rig.loop.Run(CallTwice(rig, "POST", milliseconds(10))), "200 a|200 b");
      EXPECT_EQ(rig.log, "1:POST /1;2:POST /2;");
    }
  }
}

Task<std::string> CallAndWait(Rig& rig, Duration pause) {
  std::string result = Show(co_await rig.Calling("GET", "/"));
  EXPECT_EQ(rig.client->connections(), 1u);
  co_await rig.loop.Sleep(pause);
  StrAppend(result, " ", rig.client->connections());
  co_return result;
}

TEST(Http1ClientTest, AnIdleConnectionIsClosedAfterAWhile) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rig rig(seed, {{{Ok("a")}}});
    EXPECT_EQ(rig.loop.Run(CallAndWait(rig, seconds(365))), "200 a 0");
    EXPECT_EQ(rig.log, "1:GET /;1:gone;");
  }
}

Task<void> CloseIdleNow(Rig& rig) {
  static_cast<void>(co_await rig.Calling("GET", "/"));
  rig.client->CloseIdle();
  EXPECT_EQ(rig.client->connections(), 0u);
  co_await rig.loop.Sleep(milliseconds(1));
  EXPECT_EQ(rig.log, "1:GET /;1:gone;");
}

TEST(Http1ClientTest, CloseIdleClosesAtOnce) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rig rig(seed, {{{Ok("a")}}});
    rig.loop.Run(CloseIdleNow(rig));
  }
}

// ---- deadlines and dropped calls ----

Task<void> LateAnswers(Rig& rig) {
  const MonotonicTime start = rig.loop.Now();
  const Result<Response> late =
      co_await rig.client->Call({.method = "POST", .target = "/p?secret"}, Deadline::After(rig.loop, seconds(3)));
  EXPECT_EQ(Show(late), "deadline_exceeded: deadline passed while waiting for the answer of server:443 to POST /p");
  EXPECT_EQ(rig.loop.Now() - start, seconds(3));
  co_await rig.loop.Sleep(milliseconds(1));
  EXPECT_EQ(rig.client->connections(), 0u);
  EXPECT_TRUE(rig.log.ends_with("1:gone;")) << rig.log;
}

TEST(Http1ClientTest, ADeadlineEndsTheCallAndItsConnection) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::string reply : {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"}) {
      Rig rig(seed, {{{reply}}});
      rig.loop.Run(LateAnswers(rig));
    }
  }
}

Task<void> DropsAStream(Rig& rig, Duration pause) {
  {
    Result<std::unique_ptr<ResponseStream>> stream =
        co_await rig.client->Stream({.method = "GET", .target = "/watch"}, Deadline::After(rig.loop, seconds(3)));
    EXPECT_EQ((*stream)->status(), 200);
    EXPECT_EQ(**co_await (*stream)->Read(), "one");
    co_await rig.loop.Sleep(pause);
    rt::Scope scope(rig.loop);
    const auto read = [](ResponseStream& s) -> Task<void> { static_cast<void>(co_await s.Read()); };
    scope.Spawn(read(**stream));
    co_await rig.loop.Sleep(pause);
  }
  co_await rig.loop.Sleep(milliseconds(1));
  EXPECT_EQ(rig.client->connections(), 0u);
  EXPECT_EQ(rig.log, "1:GET /watch;1:gone;");
}

TEST(Http1ClientTest, DroppingAStreamClosesItsConnection) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rig rig(seed, {{{"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n"}}});
    rig.loop.Run(DropsAStream(rig, milliseconds(seed % 3)));
  }
}

Task<void> OutlivesItsClient(Rig& rig) {
  Result<std::unique_ptr<ResponseStream>> stream =
      co_await rig.client->Stream({.method = "GET", .target = "/watch"}, Deadline::Never());
  EXPECT_EQ(**co_await (*stream)->Read(), "one");
  rig.client.reset();
  EXPECT_EQ((co_await (*stream)->Read()).error().message(), "the connection was closed");
}

TEST(Http1ClientTest, AResponseMayOutliveItsClient) {
  Rig rig(1, {{{"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n"}}});
  rig.loop.Run(OutlivesItsClient(rig));
}

// ---- large things ----

TEST(Http1ClientTest, AnEarlyAnswerIsSeenWhileTheBodyIsStillBeingSent) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Script script{{"HTTP/1.1 413 Payload Too Large\r\ncontent-length: 3\r\n\r\nbig"}};
    script.ignore_bodies = true;
    Rig rig(seed, {script}, DefaultOptions(), 1000);
    // The server takes the head only, and the pipe a thousand bytes: the body can never be sent.
    rig.log.clear();
    const auto call = [](Rig& r) -> Task<void> {
      Result<std::unique_ptr<ResponseStream>> stream = co_await r.client->Stream(
          {.method = "POST", .target = "/", .body = std::string(100'000, 'x')}, Deadline::After(r.loop, seconds(3)));
      EXPECT_TRUE(stream.ok());
      EXPECT_EQ((*stream)->status(), 413);
      std::string body;
      while (std::optional<std::string> piece = *co_await (*stream)->Read()) body += *piece;
      EXPECT_EQ(body, "big");
      EXPECT_EQ(r.loop.Now().time_since_epoch(), milliseconds(1));
    };
    rig.loop.Run(call(rig));
  }
}

TEST(Http1ClientTest, ABodyTooLargeToReadWholeIsAnError) {
  ClientOptions options = DefaultOptions();
  options.limits.response_body_bytes_max = 10;
  Rig rig(1, {{{Ok("0123456789"), Ok("0123456789a")}}}, options);
  EXPECT_EQ(Show(rig.Call("GET", "/")), "200 0123456789");
  EXPECT_EQ(Show(rig.Call("GET", "/")), "too_large: a response of more than 10 bytes");
}

TEST(Http1ClientTest, HeadersTooLargeAreAnError) {
  ClientOptions options = DefaultOptions();
  options.limits.header_bytes_max = 100;
  Rig rig(1, {{{StrCat("HTTP/1.1 200 OK\r\nx: ", std::string(200, 'x'), "\r\n\r\n")}}}, options);
  EXPECT_EQ(Show(rig.Call("GET", "/")), "unavailable: malformed response: the header fields are too large");
}

// ---- many calls ----

Task<void> ManyCalls(Rig& rig, size_t count) {
  std::vector<Task<Result<Response>>> calls;
  for (size_t i = 0; i < count; ++i) calls.push_back(rig.Calling("GET", StrCat("/", i)));
  for (const Result<Response>& result : co_await rt::WhenAll(std::move(calls))) EXPECT_EQ(Show(result), "200 x");
}

TEST(Http1ClientTest, UsesNoMoreConnectionsThanAllowed) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ClientOptions options = DefaultOptions();
    options.http1_connections_max = 3;
    Rig rig(seed, {{std::vector<std::string>(100, Ok("x"))}}, options);
    rig.loop.Run(ManyCalls(rig, 20));
    EXPECT_LE(rig.open_max, 3);
    EXPECT_EQ(Count(rig.log, "GET"), 20u);
  }
}

TEST(Http1ClientTest, AConnectionThatCannotBeMadeIsTheCallersError) {
  Rig rig(1, {});
  EXPECT_EQ(Show(rig.Call("GET", "/")), "unavailable: connection refused");
}

// ---- our client and our server ----

Task<void> Echo(Request request, ResponseWriter& writer) {
  if (request.path() == "/stream") {
    Result<void> sent = co_await writer.Start(200, {});
    for (size_t at = 0; sent.ok() && at < request.body.size(); at += 100) {
      sent = co_await writer.Write(request.body.substr(at, 100));
    }
    if (sent.ok()) sent = co_await writer.Finish();
  } else {
    static_cast<void>(co_await writer.Send(200, {}, std::move(request.body)));
  }
}

Task<void> CallsMany(HttpClient& client, Loop& loop, uint64_t seed) {
  rt::SeededRandom random(seed);
  for (int i = 0; i < 10; ++i) {
    std::string body(random.Below(3000), '\0');
    random.Fill(std::as_writable_bytes(std::span(body)));
    const Result<Response> response =
        co_await client.Call({.method = "POST", .target = random.Chance(0.5) ? "/stream" : "/", .body = body},
                             Deadline::After(loop, seconds(100)));
    EXPECT_TRUE(response.ok()) << Show(response);
    if (response.ok()) EXPECT_EQ(response->body == body, true);
  }
}

TEST(Http1Test, ClientAndServerUnderstandEachOtherInEverySlicing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    VirtualLoop loop(seed);
    HttpServer server(loop, Echo);
    rt::Scope serving(loop);
    uint64_t connections = 0;
    const auto connect = [&]() -> Task<Result<std::unique_ptr<ByteStream>>> {
      auto [ours, theirs] = MakePipe(1 + seed * 100);
      serving.Spawn(server.ServeConnection(Sliced(loop, std::move(theirs), seed + ++connections)));
      co_return Sliced(loop, std::move(ours), seed + ++connections);
    };
    HttpClient client(loop, DefaultOptions(), connect);
    std::vector<Task<void>> callers;
    for (uint64_t i = 0; i < 5; ++i) callers.push_back(CallsMany(client, loop, seed * 10 + i));
    loop.Run(rt::WhenAll(std::move(callers)));
    EXPECT_LE(client.connections(), 5u);
  }
}

}  // namespace
}  // namespace baton::net
