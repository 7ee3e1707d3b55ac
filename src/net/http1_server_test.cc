// HTTP/1.x, server side, on the virtual loop: raw bytes in every slicing and under many orders of fibers.
#include <gtest/gtest.h>

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

// Notes when a handler ends, also when it is dropped.
struct Ending {
  std::string& trace;
  ~Ending() { trace += "ended;"; }
};

Task<Result<void>> Answer(Loop& loop, std::string& trace, Request request, ResponseWriter& writer) {
  const Ending ending{trace};
  const Headers text{{"content-type", "text/plain"}};
  const std::string path(request.path());
  if (path == "/echo") co_return co_await writer.Send(200, text, std::move(request.body));
  if (path == "/large") co_return co_await writer.Send(200, text, std::string(size_t{1} << 20, 'x'));
  if (path == "/204") co_return co_await writer.Send(204, text, std::string("not sent"));
  if (path == "/silent") co_return Result<void>();
  if (path == "/slow") {
    co_await loop.Sleep(seconds(1));
    co_return co_await writer.Send(200, text, std::string("slow"));
  }
  if (path == "/never") co_await loop.Sleep(hours(1000));
  if (path == "/injected") {
    const Headers injected{{"x-good", "1"},           {"x-bad", "a\r\nset-cookie: evil"}, {"bad name", "x"},
                           {"content-length", "999"}, {"transfer-encoding", "chunked"},   {"connection", "upgrade"}};
    co_return co_await writer.Send(200, injected, std::string("ok"));
  }
  if (path == "/stream" || path == "/304" || path == "/unfinished") {
    CO_TRY(co_await writer.Start(path == "/304" ? 304 : 200, text));
    CO_TRY(co_await writer.Write(std::string("one ")));
    co_await loop.Sleep(milliseconds(10));
    CO_TRY(co_await writer.Write(std::string("two")));
    if (path != "/unfinished") CO_TRY(co_await writer.Finish());
    co_return Result<void>();
  }
  if (path == "/until-shutdown") {
    CO_TRY(co_await writer.Start(200, text));
    co_await writer.shutdown().Wait();
    CO_TRY(co_await writer.Write(std::string("bye")));
    co_return co_await writer.Finish();
  }
  co_return co_await writer.Send(200, text, StrCat("hello ", request.target));
}

Task<void> Handle(Loop& loop, std::string& trace, Request request, ResponseWriter& writer) {
  StrAppend(trace, request.method, " ", request.target, ";");
  const Result<void> answered = co_await Answer(loop, trace, std::move(request), writer);
  if (!answered.ok()) trace += "failed;";
}

// What the client does: sends, waits, sends, and at last closes its side or not.
struct Say {
  std::string bytes;
  Duration pause_before = Duration::zero();
};

Task<Received> Speak(Loop& loop, std::unique_ptr<ByteStream> stream, std::vector<Say> script, bool half_close) {
  rt::Scope writing(loop);
  const auto write = [](Loop& l, ByteStream& s, std::vector<Say> all, bool close) -> Task<void> {
    for (const Say& say : all) {
      if (say.pause_before > Duration::zero()) co_await l.Sleep(say.pause_before);
      if (!(co_await s.Write(say.bytes)).ok()) co_return;
    }
    if (close) static_cast<void>(co_await s.CloseWrite());
  };
  writing.Spawn(write(loop, *stream, std::move(script), half_close));
  co_return co_await ReadAll(*stream);
}

struct Talked {
  std::string reply;
  std::string error;  // how it ended; empty: closed cleanly
  std::string trace;  // what the handlers saw
  Duration took;
};

struct TalkOptions {
  uint64_t seed = 1;
  bool sliced = true;
  bool half_close = false;
  ServerOptions server;
  size_t pipe_bytes = size_t{64} << 10;
};

Talked Talk(std::vector<Say> script, TalkOptions options = {}) {
  VirtualLoop loop(options.seed);
  Talked talked;
  HttpServer server(
      loop,
      [&](Request request, ResponseWriter& writer) { return Handle(loop, talked.trace, std::move(request), writer); },
      options.server);
  auto [ours, theirs] = MakePipe(options.pipe_bytes);
  std::unique_ptr<ByteStream> client = std::move(theirs);
  if (options.sliced) client = Sliced(loop, std::move(client), options.seed);
  auto [served, received] = loop.Run(rt::WhenAll(
      server.ServeConnection(std::move(ours)), Speak(loop, std::move(client), std::move(script), options.half_close)));
  talked.reply = std::move(received.bytes);
  talked.error = std::move(received.error);
  talked.took = loop.Now().time_since_epoch();
  return talked;
}

// The reply without what is the same in every answer.
std::string Plain(std::string reply) {
  for (const std::string_view same : {"date: Tue, 01 Jan 2030 00:00:00 GMT\r\n", "content-type: text/plain\r\n"}) {
    for (size_t at = reply.find(same); at != std::string::npos; at = reply.find(same)) reply.erase(at, same.size());
  }
  return reply;
}

TEST(Http1ServerTest, AnswersWithTheRightFraming) {
  const std::pair<std::string, std::string> cases[] = {
      {"GET /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhello /x"},
      {"HEAD /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\n"},
      {"POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi",
       "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi"},
      {"GET /204 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"},
      {"GET /304 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n"},
      {"GET /stream HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"},
      {"HEAD /stream HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"},
      {"GET /stream HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\none two"},
      {"GET /x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhello /x"},
      {"GET /x HTTP/1.0\r\nconnection: keep-alive\r\n\r\nGET /y HTTP/1.0\r\n\r\n",
       "HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 8\r\n\r\nhello /x"
       "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhello /y"},
      {"GET /silent HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
       "content-length: 10\r\n\r\nno answer\n"},
      {"GET /injected HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nx-good: 1\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"},
      {"GET http://other/y HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
       "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 8\r\n\r\nhello /y"},
  };
  for (const auto& [request, expected] : cases) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Talked talked = Talk({{request}}, {.seed = seed});
      EXPECT_EQ(Plain(talked.reply), expected) << request;
      EXPECT_EQ(talked.error, "") << request;
    }
  }
}

TEST(Http1ServerTest, KeepsTheConnectionAndAnswersPipelinedRequestsInOrder) {
  std::string requests;
  std::string trace;
  for (int i = 0; i < 40; ++i) {
    if (i % 3 == 0) {
      StrAppend(requests, "POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\n<", 100 + i, ">");
      trace += "POST /echo;ended;";
    } else if (i % 3 == 1) {
      StrAppend(requests, "POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\n<", 1, "\r\n3\r\n",
                i + 10, ">\r\n0\r\n\r\n");
      trace += "POST /echo;ended;";
    } else {
      StrAppend(requests, "GET /", i + 10, " HTTP/1.1\r\nhost: h\r\n\r\n");
      StrAppend(trace, "GET /", i + 10, ";ended;");
    }
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Talked talked = Talk({{requests}}, {.seed = seed, .sliced = seed % 2 == 0, .half_close = true});
    EXPECT_EQ(talked.trace, trace);
    EXPECT_EQ(talked.error, "");
    EXPECT_EQ(Count(talked.reply, "HTTP/1.1 200 OK\r\n"), 40u);
    size_t at = 0;
    for (int i = 0; i < 40; ++i) {
      const std::string body =
          i % 3 == 2 ? StrCat("hello /", i + 10) : (i % 3 == 0 ? StrCat("<", 100 + i, ">") : StrCat("<1", i + 10, ">"));
      at = talked.reply.find(StrCat("\r\n\r\n", body), at);
      ASSERT_NE(at, std::string::npos) << i << " with seed " << seed;
    }
  }
}

TEST(Http1ServerTest, SaysContinueOnlyWhenTheBodyIsAwaited) {
  const std::string head =
      "POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: ";
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Talked waits = Talk({{StrCat(head, "2\r\n\r\n")}, {"hi", seconds(1)}}, {.seed = seed});
    EXPECT_TRUE(waits.reply.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")) << waits.reply;
    EXPECT_TRUE(waits.reply.ends_with("\r\n\r\nhi"));
  }
  const Talked at_once = Talk({{StrCat(head, "2\r\n\r\nhi")}}, {.sliced = false});
  EXPECT_TRUE(at_once.reply.starts_with("HTTP/1.1 200 OK\r\n"));
  const Talked too_large = Talk({{StrCat(head, "9999999\r\n\r\n")}});
  EXPECT_TRUE(too_large.reply.starts_with("HTTP/1.1 413 Payload Too Large\r\n"));
  const Talked old =
      Talk({{"POST /echo HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n"}, {"hi", seconds(1)}});
  EXPECT_TRUE(old.reply.starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST(Http1ServerTest, SmuggledRequestsAreNeverSeen) {
  // Each ends in what another party could take for a request of its own.
  const std::string evil = "GET /evil HTTP/1.1\r\nhost: h\r\n\r\n";
  const std::string heads[] = {
      "content-length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      "transfer-encoding: identity\r\n\r\n",
      "transfer-encoding: chunked, identity\r\n\r\n",
      "transfer-encoding:\x0b"
      "chunked\r\n\r\n",
      "transfer-encoding: xchunked\r\n\r\n",
      "transfer-encoding : chunked\r\n\r\n",
      "x: y\r\n transfer-encoding: chunked\r\n\r\n",
      "content-length: 0\r\ncontent-length: 40\r\n\r\n",
      "content-length: 0,40\r\n\r\n",
      "content-length: 0\r\n40\r\n\r\n",
      "content-length : 0\r\n\r\n",
      "content-length: \r\n 0\r\n\r\n",
      "content-length: 0\n\n",
      "transfer-encoding: chunked\r\n\r\n0\n\n",
      "transfer-encoding: chunked\r\n\r\n0\r\n\n",
      "transfer-encoding: chunked\r\n\r\n2\r\nhi0\r\n\r\n",
      "transfer-encoding: chunked\r\n\r\n2\r\nhixx0\r\n\r\n",
      "transfer-encoding: chunked\r\n\r\n0x0\r\n\r\n",
  };
  for (const std::string& head : heads) {
    const Talked talked = Talk({{StrCat("POST / HTTP/1.1\r\nhost: h\r\n", head, evil)}}, {.half_close = true});
    EXPECT_EQ(talked.trace, "") << head;
    EXPECT_TRUE(talked.reply.starts_with("HTTP/1.1 400 ") || talked.reply.starts_with("HTTP/1.1 501 ")) << head;
    EXPECT_EQ(Count(talked.reply, "HTTP/1.1"), 1u) << head;
    EXPECT_EQ(Count(talked.reply, "connection: close\r\n"), 1u) << head;
  }
}

TEST(Http1ServerTest, AnUnfinishedAnswerIsCutOffSoThatTheClientNotices) {
  const Talked talked = Talk({{"GET /unfinished HTTP/1.1\r\nhost: h\r\n\r\n"}});
  EXPECT_TRUE(talked.reply.ends_with("4\r\none \r\n3\r\ntwo\r\n")) << talked.reply;
  EXPECT_NE(talked.error, "");
}

// ---- clients that go ----

TEST(Http1ServerTest, AHalfClosedClientGetsItsAnswerIfThatComesSoon) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Talked soon = Talk({{"GET /slow HTTP/1.1\r\nhost: h\r\n\r\n"}}, {.seed = seed, .half_close = true});
    EXPECT_TRUE(soon.reply.ends_with("slow")) << soon.reply;
    EXPECT_EQ(soon.error, "");
    const Talked never = Talk({{"GET /never HTTP/1.1\r\nhost: h\r\n\r\n"}}, {.seed = seed, .half_close = true});
    EXPECT_EQ(never.reply, "");
    EXPECT_EQ(never.trace, "GET /never;ended;");
    EXPECT_EQ(never.took, seconds(2));
  }
}

Task<void> SendAndGo(Loop& loop, std::unique_ptr<ByteStream> stream, std::string bytes, Duration pause) {
  EXPECT_TRUE((co_await stream->Write(bytes)).ok());
  co_await loop.Sleep(pause);
  stream.reset();
}

TEST(Http1ServerTest, TheHandlerOfAClientThatIsGoneIsDropped) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const std::string path : {"/never", "/stream", "/until-shutdown", "/large"}) {
      VirtualLoop loop(seed);
      std::string trace;
      HttpServer server(loop, [&](Request request, ResponseWriter& writer) {
        return Handle(loop, trace, std::move(request), writer);
      });
      auto [ours, theirs] = MakePipe(100);
      const std::string request = StrCat("GET ", path, " HTTP/1.1\r\nhost: h\r\n\r\n");
      loop.Run(rt::WhenAll(server.ServeConnection(std::move(ours)),
                           SendAndGo(loop, std::move(theirs), request, milliseconds(5))));
      EXPECT_TRUE(trace.starts_with(StrCat("GET ", path, ";ended;"))) << trace;
      EXPECT_LT(loop.Now().time_since_epoch(), milliseconds(20));
    }
  }
}

// ---- time ----

TEST(Http1ServerTest, EveryStageHasItsTime) {
  std::vector<Say> dribble;
  for (const char c : std::string("GET / HTTP/1.1\r\nhost: h\r\nx: aaaaaaaaaaaaaaaaaaa"))
    dribble.push_back({{c}, seconds(1)});
  std::vector<Say> body{{"POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\n"}};
  for (int i = 0; i < 100; ++i) body.push_back({"x", seconds(1)});
  std::vector<Say> chunks{{"POST /echo HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n"}};
  for (int i = 0; i < 100; ++i) chunks.push_back({"1\r\nx\r\n", seconds(1)});
  struct Case {
    std::string what;
    std::vector<Say> script;
    std::string reply;  // its beginning
    Duration at_least;
    Duration at_most;
  };
  const Case cases[] = {
      {"nothing at all", {}, "", seconds(10), seconds(10)},
      {"a head byte by byte", dribble, "HTTP/1.1 408 ", seconds(10), seconds(14)},
      {"a body byte by byte", body, "HTTP/1.1 408 ", seconds(60), seconds(64)},
      {"chunks byte by byte", chunks, "HTTP/1.1 408 ", seconds(60), seconds(64)},
      {"nothing after the first request",
       {{"GET / HTTP/1.1\r\nhost: h\r\n\r\n"}},
       "HTTP/1.1 200 ",
       seconds(180),
       seconds(183)},
      {"half a head", {{"GET / HT"}}, "HTTP/1.1 408 ", seconds(10), seconds(14)},
      {"half a preface", {{"PRI * HT"}}, "", seconds(10), seconds(10)},
  };
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Talked talked = Talk(c.script, {.seed = seed, .sliced = false});
      EXPECT_TRUE(talked.reply.starts_with(c.reply)) << c.what << ": " << talked.reply;
      EXPECT_EQ(talked.reply.empty(), c.reply.empty()) << c.what;
      EXPECT_GE(talked.took, c.at_least) << c.what;
      EXPECT_LE(talked.took, c.at_most) << c.what;
    }
  }
}

Task<void> NeverRead(Loop& loop, ByteStream& stream, std::string bytes, Duration pause) {
  EXPECT_TRUE((co_await stream.Write(bytes)).ok());
  co_await loop.Sleep(pause);
}

TEST(Http1ServerTest, AClientThatDoesNotReadIsCutOff) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    VirtualLoop loop(seed);
    std::string trace;
    HttpServer server(
        loop, [&](Request request, ResponseWriter& writer) { return Handle(loop, trace, std::move(request), writer); });
    auto [ours, theirs] = MakePipe(1000);
    const auto serve = [](HttpServer& s, std::unique_ptr<ByteStream> stream, Loop& l, Duration& took) -> Task<void> {
      co_await s.ServeConnection(std::move(stream));
      took = l.Now().time_since_epoch();
    };
    Duration took{};
    loop.Run(rt::WhenAll(
        serve(server, std::move(ours), loop, took),
        NeverRead(loop, *theirs, "GET /large HTTP/1.1\r\nhost: h\r\n\r\nGET /large HTTP/1.1\r\nhost: h\r\n\r\n",
                  seconds(200))));
    EXPECT_EQ(took, seconds(60));
    EXPECT_EQ(trace, "GET /large;ended;failed;") << "the second one is not made before the first is sent";
  }
}

// ---- limits ----

TEST(Http1ServerTest, LimitsAreAnswered) {
  ServerOptions options;
  options.limits.body_bytes_max = 1000;
  options.limits.header_bytes_max = 2000;
  options.limits.header_count_max = 20;
  options.limits.target_bytes_max = 500;
  const std::string post = "POST /echo HTTP/1.1\r\nhost: h\r\nconnection: close\r\n";
  std::string many;
  for (int i = 0; i < 30; ++i) StrAppend(many, "a", i, ": b\r\n");
  const std::pair<std::string, int> cases[] = {
      {StrCat(post, "content-length: 1000\r\n\r\n", std::string(1000, 'x')), 200},
      {StrCat(post, "content-length: 1001\r\n\r\n", std::string(1001, 'x')), 413},
      {StrCat(post, "transfer-encoding: chunked\r\n\r\n3e8\r\n", std::string(1000, 'x'), "\r\n0\r\n\r\n"), 200},
      {StrCat(post, "transfer-encoding: chunked\r\n\r\n3e8\r\n", std::string(1000, 'x'), "\r\n1\r\nx\r\n0\r\n\r\n"),
       413},
      {StrCat(post, "x: ", std::string(3000, 'x'), "\r\n\r\n"), 431},
      {StrCat(post, many, "\r\n"), 431},
      {StrCat("GET /", std::string(600, 'x'), " HTTP/1.1\r\nhost: h\r\n\r\n"), 414},
      {StrCat("GET /", std::string(100'000, 'x'), " HTTP/1.1\r\nhost: h\r\n\r\n"), 414},
      {StrCat("GET / HTTP/1.1\r\nhost: h\r\nx: ", std::string(1'000'000, 'x'), "\r\n\r\n"), 431},
  };
  for (const auto& [request, status] : cases) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const Talked talked = Talk({{request}}, {.seed = seed, .sliced = request.size() < 10'000, .server = options});
      EXPECT_TRUE(talked.reply.starts_with(StrCat("HTTP/1.1 ", status, " "))) << request.substr(0, 100) << talked.reply;
      EXPECT_EQ(talked.error, "") << "the answer is followed by a clean end";
    }
  }
}

TEST(Http1ServerTest, AllBodiesTogetherAreLimited) {
  ServerOptions options;
  options.limits.body_bytes_total_max = 1000;
  const std::string post = "POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: ";
  const Talked ok =
      Talk({{StrCat(post, "900\r\n\r\n", std::string(900, 'x'))}}, {.half_close = true, .server = options});
  EXPECT_TRUE(ok.reply.starts_with("HTTP/1.1 200 "));
  const Talked busy = Talk({{StrCat(post, "1100\r\n\r\n", std::string(1100, 'x'))}}, {.server = options});
  EXPECT_TRUE(busy.reply.starts_with("HTTP/1.1 503 ")) << busy.reply;
  EXPECT_EQ(Count(busy.reply, "retry-after: 1\r\n"), 1u);
}

TEST(Http1ServerTest, ARefusalReachesAClientThatGoesOnSending) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Talked talked =
        Talk({{"POST /echo HTTP/1.1\r\nhost: h\r\ncontent-length: 10000000\r\n\r\n"}, {std::string(10'000'000, 'x')}},
             {.seed = seed, .sliced = false, .half_close = true});
    EXPECT_TRUE(talked.reply.ends_with("the request's body is too large\n")) << talked.reply;
    EXPECT_EQ(talked.error, "");
    EXPECT_LT(talked.took, seconds(3));
  }
}

TEST(Http1ServerTest, LargeAnswersAreGzippedForThoseWhoAcceptIt) {
  const std::string get = "GET /large HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept-encoding: ";
  const Talked zipped = Talk({{StrCat(get, "gzip\r\n\r\n")}}, {.sliced = false});
  EXPECT_EQ(Count(zipped.reply, "content-encoding: gzip\r\n"), 1u);
  EXPECT_EQ(Count(zipped.reply, "vary: accept-encoding\r\n"), 1u);
  GunzipStream gunzip;
  const std::string body = Must(gunzip.Feed(zipped.reply.substr(zipped.reply.find("\r\n\r\n") + 4)));
  EXPECT_EQ(body == std::string(size_t{1} << 20, 'x') && gunzip.complete(), true);
  const Talked plain = Talk({{StrCat(get, "gzip;q=0\r\n\r\n")}}, {.sliced = false});
  EXPECT_EQ(Count(plain.reply, "content-length: 1048576\r\n"), 1u);
  const Talked small = Talk({{"GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept-encoding: gzip\r\n\r\n"}});
  EXPECT_EQ(Count(small.reply, "gzip"), 0u);
}

// ---- shutdown ----

Task<void> ShutDownAt(Loop& loop, HttpServer& server, Duration when) {
  co_await loop.Sleep(when);
  co_await server.Shutdown(Deadline::After(loop, seconds(20)));
}

TEST(Http1ServerTest, ShutdownEndsIdleConnectionsAndAnswersRunningRequests) {
  struct Case {
    std::string request;
    std::string ends;  // of the reply
    Duration took;
  };
  const std::string tail = " HTTP/1.1\r\nhost: h\r\n\r\n";
  const Case cases[] = {
      {"", "", milliseconds(500)},
      {StrCat("GET /x", tail), "hello /x", milliseconds(500)},
      {StrCat("GET /slow", tail), "connection: close\r\ncontent-length: 4\r\n\r\nslow", seconds(1)},
      {StrCat("GET /until-shutdown", tail), "3\r\nbye\r\n0\r\n\r\n", milliseconds(500)},
  };
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      VirtualLoop loop(seed);
      std::string trace;
      HttpServer server(loop, [&](Request request, ResponseWriter& writer) {
        return Handle(loop, trace, std::move(request), writer);
      });
      auto [ours, theirs] = MakePipe();
      std::vector<Say> script;
      if (!c.request.empty()) script.push_back({c.request});
      auto [served, received, stopped] = loop.Run(rt::WhenAll(
          server.ServeConnection(std::move(ours)), Speak(loop, std::move(theirs), script, /*half_close=*/false),
          ShutDownAt(loop, server, milliseconds(500))));
      EXPECT_TRUE(received.bytes.ends_with(c.ends)) << received.bytes;
      EXPECT_EQ(received.error, "");
      EXPECT_EQ(loop.Now().time_since_epoch(), c.took) << c.request;
    }
  }
}

}  // namespace
}  // namespace baton::net
