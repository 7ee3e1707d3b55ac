// HTTP/2, client side, on the virtual loop: against servers that follow a script of frames, and against our own server.
#include <gtest/gtest.h>

#include <deque>

#include "net/client.h"
#include "net/gzip.h"
#include "net/http2_frames_for_test.h"
#include "net/net_for_test.h"
#include "net/server.h"
#include "rt/when.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::Loop;
using rt::Task;
using rt::VirtualLoop;

ClientOptions DefaultOptions() {
  ClientOptions options;
  options.endpoint = {"server", 443};
  return options;
}

// What the server sends when it has seen that many requests on this connection; kEnd and kCut end it.
struct Script {
  std::vector<std::string> replies;
  std::vector<std::pair<uint16_t, uint32_t>> settings = {};
};
const std::string kEnd = "<end>";
const std::string kCut = "<cut>";

std::string Ok(int32_t stream, std::string_view body) {
  return h2::HeadersFrame(stream, h2::Hpack({{":status", "200"}}), body.empty()) +
         (body.empty() ? "" : h2::Data(stream, body, true));
}

class Rig {
 public:
  explicit Rig(uint64_t seed, std::deque<Script> scripts, ClientOptions options = DefaultOptions())
      : loop(seed), seed_(seed), scripts_(std::move(scripts)), serving_(loop) {
    client = std::make_unique<HttpClient>(loop, std::move(options), [this] { return Connect(); });
  }

  Result<Response> Call(std::string method, std::string target, std::string body = "") {
    return loop.Run(Calling(std::move(method), std::move(target), std::move(body)));
  }
  Task<Result<Response>> Calling(std::string method, std::string target, std::string body = "") {
    Request request{.method = std::move(method), .target = std::move(target), .body = std::move(body)};
    co_return co_await client->Call(std::move(request), Deadline::After(loop, seconds(100)));
  }

  VirtualLoop loop;
  std::string log;  // frames the servers saw, but for SETTINGS and WINDOW_UPDATE
  int connected = 0;
  std::unique_ptr<HttpClient> client;

 private:
  Task<Result<std::unique_ptr<ByteStream>>> Connect() {
    if (scripts_.empty()) co_return UnavailableError("connection refused");
    Script script = scripts_.front();
    if (scripts_.size() > 1) scripts_.pop_front();
    auto [ours, theirs] = MakePipe();
    serving_.Spawn(Serve(std::move(theirs), std::move(script), ++connected));
    co_return Sliced(loop, std::move(ours), seed_ + static_cast<uint64_t>(connected), "h2");
  }

  Task<void> Serve(std::unique_ptr<ByteStream> stream, Script script, int number) {
    h2::FrameReader reader;
    size_t requests = 0;
    std::string preface = co_await ReadUntil(*stream, "SM\r\n\r\n");
    EXPECT_EQ(preface, h2::kPreface);
    static_cast<void>(co_await stream->Write(h2::Settings(script.settings)));
    std::vector<char> buffer(4096);
    while (true) {
      const Result<size_t> got = co_await stream->Read(buffer);
      if (!got.ok() || *got == 0) {
        StrAppend(log, number, ":gone;");
        co_return;
      }
      for (const std::string& frame : reader.Feed({buffer.data(), *got})) {
        if (!frame.starts_with("SETTINGS") && !frame.starts_with("WINDOW_UPDATE"))
          StrAppend(log, number, ":", frame, ";");
        const bool complete =
            (frame.starts_with("HEADERS") || frame.starts_with("DATA")) && frame.find(" end") != std::string::npos;
        if (!complete || requests >= script.replies.size()) continue;
        const std::string& reply = script.replies[requests++];
        if (reply == kCut) co_return;
        if (reply == kEnd) {
          static_cast<void>(co_await stream->CloseWrite());
        } else if (!(co_await stream->Write(reply)).ok()) {
          co_return;
        }
      }
    }
  }

  uint64_t seed_;
  std::deque<Script> scripts_;
  rt::Scope serving_;
};

std::string Show(const Result<Response>& response) {
  if (!response.ok()) return response.error().ToString();
  return StrCat(response->status, " ", response->body);
}

TEST(Http2ClientTest, ReadsAnswers) {
  const std::string zipped = Gzip(Body("zipped"));
  struct Case {
    std::string reply;
    std::string expected;
    std::string method = "GET";
  };
  const Case cases[] = {
      {Ok(1, "hello"), "200 hello"},
      {Ok(1, ""), "200 "},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "103"}, {"link", "x"}}), false) + Ok(1, "late"), "200 late"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}}), false) + h2::Data(1, "a", false) + h2::Data(1, "b", false) +
           h2::HeadersFrame(1, h2::Hpack({{"x-trailer", "t"}}), true),
       "200 ab"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}, {"content-encoding", "gzip"}}), false) +
           h2::Data(1, zipped, true),
       "200 zipped"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}, {"content-encoding", "gzip"}, {"content-length", "9"}}),
                        true),
       "200 ", "HEAD"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}, {"content-encoding", "gzip"}}), false) +
           h2::Data(1, zipped.substr(0, 12), true),
       "unavailable: the response's gzip body was cut"},
      {h2::Reset(1, NGHTTP2_INTERNAL_ERROR), "unavailable: the server reset the stream: INTERNAL_ERROR"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}}), false) + h2::Data(1, "half", false) +
           h2::Reset(1, NGHTTP2_CANCEL),
       "unavailable: the server reset the stream: CANCEL"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}, {"content-length", "9"}}), false) +
           h2::Data(1, "short", true),
       "unavailable: the server reset the stream: PROTOCOL_ERROR"},
      {h2::HeadersFrame(1, h2::Hpack({{":status", "200"}, {"x", std::string(10'000, 'x')}}), true),
       "unavailable: the response's header fields are too large"},
      {kCut, "unavailable: reading from a pipe: the connection was cut"},
      {kEnd, "unavailable: the peer closed the connection"},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "unavailable: the server closed the connection"},
  };
  ClientOptions options = DefaultOptions();
  options.limits.header_bytes_max = 5000;
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Rig rig(seed, {{{c.reply}}}, options);
      const std::string shown = Show(rig.Call(c.method, "/"));
      if (c.expected == "unavailable: the server closed the connection") {
        EXPECT_TRUE(shown.starts_with("unavailable: ")) << shown;
      } else {
        EXPECT_EQ(shown, c.expected) << "with seed " << seed;
      }
      EXPECT_EQ(rig.connected, 1);
    }
  }
}

TEST(Http2ClientTest, EndlessInterimAnswersAreAnError) {
  std::string endless;
  for (int i = 0; i < 5000; ++i) endless += h2::HeadersFrame(1, h2::Hpack({{":status", "103"}}), false);
  Rig rig(1, {{{endless}}});
  EXPECT_EQ(Show(rig.Call("GET", "/")), "unavailable: the response's header fields are too large");
}

TEST(Http2ClientTest, SendsARequestAsItShouldBe) {
  Rig rig(1, {{{Ok(1, "a")}}});
  Request request{.method = "POST",
                  .target = "/p?q",
                  .headers = {{"x-a", "1"}, {"host", "evil"}, {"connection", "close"}, {"content-length", "77"}},
                  .body = "body"};
  EXPECT_EQ(Show(rig.loop.Run(rig.client->Call(std::move(request), Deadline::Never()))), "200 a");
  EXPECT_EQ(rig.log,
            "1:HEADERS 1 :method=POST :scheme=http :authority=server:443 :path=/p?q x-a=1 accept-encoding=gzip "
            "content-length=4;1:DATA 1 end body;");
}

// ---- what is repeated ----

TEST(Http2ClientTest, RepeatsWhatTheServerDidNotProcess) {
  for (const std::string method : {"GET", "POST"}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Rig refused(seed, {{{h2::Reset(1, NGHTTP2_REFUSED_STREAM), Ok(3, "second")}}});
      EXPECT_EQ(Show(refused.Call(method, "/")), "200 second");
      EXPECT_EQ(refused.connected, 1);
      Rig going(seed, {{{h2::Goaway(0, NGHTTP2_NO_ERROR)}}, {{Ok(1, "elsewhere")}}});
      EXPECT_EQ(Show(going.Call(method, "/")), "200 elsewhere");
      EXPECT_EQ(going.connected, 2);
    }
  }
}

TEST(Http2ClientTest, GivesUpOnAServerThatRefusesAlways) {
  std::vector<std::string> refusals;
  for (int32_t id = 1; id < 20; id += 2) refusals.push_back(h2::Reset(id, NGHTTP2_REFUSED_STREAM));
  Rig rig(1, {{refusals}});
  EXPECT_EQ(Show(rig.Call("GET", "/")), "unavailable: the server reset the stream: REFUSED_STREAM");
  EXPECT_EQ(Count(rig.log, "HEADERS"), 3u);
}

Task<std::string> CallTwice(Rig& rig, std::string method) {
  std::string results = Show(co_await rig.Calling(method, "/1"));
  results += "|" + Show(co_await rig.Calling(method, "/2"));
  co_return results;
}

TEST(Http2ClientTest, RepeatsOnlyWhatIsSafeOnADeadKeptConnection) {
  for (const std::string& end : {kEnd, kCut}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Rig get(seed, {{{Ok(1, "one"), end}}, {{Ok(1, "two")}}});
      EXPECT_EQ(get.loop.Run(CallTwice(get, "GET")), "200 one|200 two");
      Rig post(seed, {{{Ok(1, "one"), end}}, {{Ok(1, "not this one")}}});
      const std::string results = post.loop.Run(CallTwice(post, "POST"));
      EXPECT_TRUE(results.starts_with("200 one|unavailable: ")) << results;
      EXPECT_EQ(post.connected, 1);
    }
  }
}

TEST(Http2ClientTest, AnAnswerBelowTheGoawayIsWaitedFor) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rig rig(seed, {{{h2::Goaway(1, NGHTTP2_NO_ERROR) + Ok(1, "one")}}, {{Ok(1, "two")}}});
    EXPECT_EQ(rig.loop.Run(CallTwice(rig, "POST")), "200 one|200 two");
    EXPECT_EQ(rig.connected, 2);
    EXPECT_EQ(Count(rig.log, "1:gone;"), 1u) << "the old connection is closed";
  }
}

// ---- limits, windows, time ----

Task<void> ThreeWatches(Rig& rig) {
  std::vector<std::unique_ptr<ResponseStream>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(
        *co_await rig.client->Stream({.method = "GET", .target = "/watch"}, Deadline::After(rig.loop, seconds(5))));
    EXPECT_EQ(streams.back()->status(), 200);
  }
  EXPECT_EQ(rig.client->connections(), 2u);
}

TEST(Http2ClientTest, TheServersLimitOfStreamsOpensAnotherConnection) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto head = [](int32_t id) { return h2::HeadersFrame(id, h2::Hpack({{":status", "200"}}), false); };
    Rig rig(seed, {{{head(1), head(3)}, {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2}}}});
    rig.loop.Run(ThreeWatches(rig));
  }
}

TEST(Http2ClientTest, AServerThatAnswersNoPingIsGone) {
  Rig rig(1, {{{""}}});
  EXPECT_EQ(Show(rig.Call("POST", "/")), "unavailable: the server does not answer (HTTP/2 PING)");
  EXPECT_EQ(Count(rig.log, "PING"), 1u);
  EXPECT_LE(rig.loop.Now().time_since_epoch(), seconds(91));
}

Task<void> LateAnswers(Rig& rig) {
  const Result<Response> late =
      co_await rig.client->Call({.method = "POST", .target = "/p?secret"}, Deadline::After(rig.loop, seconds(3)));
  EXPECT_EQ(Show(late), "deadline_exceeded: deadline passed while waiting for the answer of server:443 to POST /p");
  co_await rig.loop.Sleep(milliseconds(1));
  EXPECT_EQ(rig.client->connections(), 1u) << "only the stream is given up";
  EXPECT_TRUE(rig.log.ends_with("1:RST_STREAM 1 8;")) << rig.log;
}

TEST(Http2ClientTest, ADeadlineEndsTheStream) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::string& reply :
         {std::string(), h2::HeadersFrame(1, h2::Hpack({{":status", "200"}}), false) + h2::Data(1, "half", false)}) {
      Rig rig(seed, {{{reply}}});
      rig.loop.Run(LateAnswers(rig));
    }
  }
}

Task<void> OutlivesItsClient(Rig& rig) {
  Result<std::unique_ptr<ResponseStream>> stream =
      co_await rig.client->Stream({.method = "GET", .target = "/watch"}, Deadline::Never());
  rig.client.reset();
  const Result<std::optional<std::string>> read = co_await (*stream)->Read();
  EXPECT_FALSE(read.ok());
}

TEST(Http2ClientTest, AResponseMayOutliveItsClient) {
  Rig rig(1, {{{h2::HeadersFrame(1, h2::Hpack({{":status", "200"}}), false)}}});
  rig.loop.Run(OutlivesItsClient(rig));
}

Task<void> GoesIdle(Rig& rig, bool close_idle) {
  EXPECT_EQ(Show(co_await rig.Calling("GET", "/")), "200 a");
  if (close_idle) rig.client->CloseIdle();
  co_await rig.loop.Sleep(close_idle ? milliseconds(1) : hours(1));
  EXPECT_EQ(rig.client->connections(), 0u);
  EXPECT_TRUE(rig.log.ends_with("1:GOAWAY 0 0;1:gone;")) << rig.log;
}

TEST(Http2ClientTest, IdleConnectionsAreClosedInGoodOrder) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rig at_once(seed, {{{Ok(1, "a")}}});
    at_once.loop.Run(GoesIdle(at_once, true));
  }
  // An hour of silence is also an hour without answers to PINGs, so this one is closed by those.
}

// ---- our client and our server ----

// Answers, among others, with as many bytes as are asked for.
Task<void> Serve(Loop& loop, Request request, ResponseWriter& writer) {
  Result<void> sent;
  if (request.path() == "/watch") {
    sent = co_await writer.Start(200, {});
    for (int i = 0; sent.ok(); ++i) {
      sent = co_await writer.Write(std::string(1000, static_cast<char>('a' + i % 26)));
      co_await loop.Sleep(milliseconds(1));
    }
  } else if (request.path() == "/stream") {
    sent = co_await writer.Start(200, {});
    for (size_t at = 0; sent.ok() && at < request.body.size(); at += 1000) {
      sent = co_await writer.Write(request.body.substr(at, 1000));
      if (at % 7000 == 0) co_await loop.Sleep(milliseconds(1));
    }
    if (sent.ok()) sent = co_await writer.Finish();
  } else {
    sent = co_await writer.Send(200, {}, std::move(request.body));
  }
}

struct Pair {
  explicit Pair(uint64_t s, size_t pipe_bytes = 10'000, bool sliced = true, ServerOptions server_options = {})
      : loop(s),
        seed(s),
        bytes(pipe_bytes),
        slices(sliced),
        server(
            loop, [this](Request request, ResponseWriter& writer) { return Serve(loop, std::move(request), writer); },
            server_options),
        serving(loop),
        client(loop, DefaultOptions(), [this] { return Connect(); }) {}

  Task<Result<std::unique_ptr<ByteStream>>> Connect() {
    auto [ours, theirs] = MakePipe(bytes);
    ++connected;
    if (slices) theirs = Sliced(loop, std::move(theirs), seed + static_cast<uint64_t>(connected));
    serving.Spawn(server.ServeConnection(std::move(theirs)));
    co_return MakeFaultGate(loop, std::move(ours), {.seed = seed, .slice = slices ? 0.8 : 0, .alpn = "h2"});
  }

  VirtualLoop loop;
  uint64_t seed;
  size_t bytes;
  bool slices;
  int connected = 0;
  HttpServer server;
  rt::Scope serving;
  HttpClient client;
};

Task<void> CallsMany(Pair& pair, uint64_t seed, size_t calls, size_t bytes_max) {
  rt::SeededRandom random(seed);
  for (size_t i = 0; i < calls; ++i) {
    std::string body(random.Below(bytes_max), '\0');
    random.Fill(std::as_writable_bytes(std::span(body)));
    const Result<Response> response =
        co_await pair.client.Call({.method = "POST", .target = random.Chance(0.5) ? "/stream" : "/", .body = body},
                                  Deadline::After(pair.loop, seconds(100)));
    EXPECT_TRUE(response.ok()) << Show(response);
    if (response.ok()) EXPECT_EQ(response->body == body, true);
  }
}

TEST(Http2Test, ClientAndServerUnderstandEachOtherInEverySlicing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Pair pair(seed, 1 + seed * 300);
    std::vector<Task<void>> callers;
    for (uint64_t i = 0; i < 8; ++i) callers.push_back(CallsMany(pair, seed * 10 + i, 4, 3000));
    pair.loop.Run(rt::WhenAll(std::move(callers)));
    EXPECT_EQ(pair.connected, 1);
  }
}

TEST(Http2Test, ManyLargeUploadsAtATimeAllComplete) {
  // 40 bodies of up to 1 MiB: far more than one connection may hold incomplete.
  Pair pair(5, size_t{64} << 10, /*sliced=*/false);
  std::vector<Task<void>> callers;
  for (uint64_t i = 0; i < 40; ++i) callers.push_back(CallsMany(pair, i, 1, size_t{1} << 20));
  pair.loop.Run(rt::WhenAll(std::move(callers)));
}

Task<void> WatchesWithoutReading(Pair& pair) {
  // 30 watches that nobody reads fill their windows (256 KiB each), more than the connection's 4 MiB.
  std::vector<std::unique_ptr<ResponseStream>> watches;
  for (int i = 0; i < 30; ++i) {
    watches.push_back(*co_await pair.client.Stream({.method = "GET", .target = "/watch"}, Deadline::Never()));
  }
  co_await pair.loop.Sleep(seconds(2));
  for (int i = 0; i < 10; ++i) {
    const Result<Response> response = co_await pair.client.Call({.method = "POST", .target = "/", .body = "quick"},
                                                                Deadline::After(pair.loop, seconds(1)));
    EXPECT_EQ(Show(response), "200 quick");
  }
  // And a watch that is read at last goes on where it stood.
  std::string seen;
  while (seen.size() < 400'000) seen += **co_await watches[0]->Read();
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], static_cast<char>('a' + i / 1000 % 26));
    if (seen[i] != static_cast<char>('a' + i / 1000 % 26)) co_return;
  }
}

TEST(Http2Test, SlowReadersStopOnlyThemselves) {
  Pair pair(3, size_t{64} << 10, /*sliced=*/false);
  pair.loop.Run(WatchesWithoutReading(pair));
}

Task<void> DropsAtRandom(Pair& pair, uint64_t seed) {
  rt::SeededRandom random(seed);
  for (int i = 0; i < 30; ++i) {
    rt::Scope scope(pair.loop);
    const auto watch = [](Pair& p, std::string target, std::string body) -> Task<void> {
      Result<std::unique_ptr<ResponseStream>> stream =
          co_await p.client.Stream({.method = "POST", .target = std::move(target), .body = std::move(body)},
                                   Deadline::After(p.loop, seconds(10)));
      if (!stream.ok()) co_return;
      while ((co_await (*stream)->Read()).value_or(std::nullopt)) {
      }
    };
    for (int j = 0; j < 5; ++j) {
      scope.Spawn(watch(pair, random.Chance(0.3) ? "/watch" : "/stream", std::string(random.Below(50'000), 'x')));
    }
    co_await pair.loop.Sleep(random.Between(Duration::zero(), Duration(milliseconds(20))));
  }
  // After all that the connection still works.
  const Result<Response> response = co_await pair.client.Call({.method = "POST", .target = "/", .body = "end"},
                                                              Deadline::After(pair.loop, seconds(10)));
  EXPECT_EQ(Show(response), "200 end");
}

TEST(Http2Test, CallsMayBeDroppedAtAnyPoint) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Pair pair(seed, 5000);
    pair.loop.Run(DropsAtRandom(pair, seed));
    EXPECT_EQ(pair.connected, 1);
  }
}

}  // namespace
}  // namespace baton::net
