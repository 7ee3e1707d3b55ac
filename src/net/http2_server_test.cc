// HTTP/2, server side, on the virtual loop: frames by hand, from the ordinary to the hostile.
#include <gtest/gtest.h>

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

struct Ending {
  std::string& trace;
  int& running;
  explicit Ending(std::string& t, int& r) : trace(t), running(r) { ++running; }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    --running;
    trace += "ended;";
  }
};

struct World {
  explicit World(uint64_t seed) : loop(seed) {}
  VirtualLoop loop;
  std::string trace;  // what the handlers saw
  int running = 0;
  int running_max = 0;
  int handled = 0;
  size_t endless_bytes = 0;  // that the server took from handlers
  size_t sent_bytes = 0;     // that it took from the client
};

Task<Result<void>> Answer(World& world, Request request, ResponseWriter& writer) {
  const Ending ending(world.trace, world.running);
  world.running_max = std::max(world.running_max, world.running);
  ++world.handled;
  const Headers text{{"content-type", "text/plain"}};
  const std::string path(request.path());
  if (path == "/echo") co_return co_await writer.Send(200, text, std::move(request.body));
  if (path == "/large") co_return co_await writer.Send(200, text, std::string(size_t{1} << 20, 'x'));
  if (path == "/204") co_return co_await writer.Send(204, text, std::string("not sent"));
  if (path == "/silent") co_return Result<void>();
  if (path == "/never") co_await world.loop.Sleep(hours(1000));
  if (path == "/fields") {
    std::string all;
    for (const auto& [name, value] : request.headers.fields()) StrAppend(all, name, "=", value, ";");
    co_return co_await writer.Send(200, text, std::move(all));
  }
  if (path == "/injected") {
    const Headers injected{{"x-good", "1"},           {"x-bad", "a\r\nset-cookie: evil"}, {"bad name", "x"},
                           {"content-length", "999"}, {"transfer-encoding", "chunked"},   {"connection", "upgrade"}};
    co_return co_await writer.Send(200, injected, std::string("ok"));
  }
  if (path == "/stream" || path == "/unfinished") {
    CO_TRY(co_await writer.Start(200, text));
    CO_TRY(co_await writer.Write(std::string("one ")));
    co_await world.loop.Sleep(milliseconds(10));
    CO_TRY(co_await writer.Write(std::string("two")));
    if (path != "/unfinished") CO_TRY(co_await writer.Finish());
    co_return Result<void>();
  }
  if (path == "/endless") {
    CO_TRY(co_await writer.Start(200, text));
    while (true) {
      const std::string chunk(size_t{64} << 10, 'x');
      CO_TRY(co_await writer.Write(chunk));
      world.endless_bytes += chunk.size();
    }
  }
  if (path == "/until-shutdown") {
    CO_TRY(co_await writer.Start(200, text));
    co_await writer.shutdown().Wait();
    CO_TRY(co_await writer.Write(std::string("bye")));
    co_return co_await writer.Finish();
  }
  co_return co_await writer.Send(200, text, StrCat("hello ", request.target));
}

Task<void> Handle(World& world, Request request, ResponseWriter& writer) {
  StrAppend(world.trace, request.method, " ", request.target, ";");
  const Result<void> answered = co_await Answer(world, std::move(request), writer);
  if (!answered.ok()) world.trace += "failed;";
}

struct Say {
  std::string bytes;
  Duration pause_before = Duration::zero();
};

// Sends the script and reads frames until the server closes or `patience` is over; then goes.
Task<std::vector<std::string>> Speak(World& world, std::unique_ptr<ByteStream> stream, std::vector<Say> script,
                                     Duration patience, bool reads) {
  std::vector<std::string> frames;
  {
    rt::Scope writing(world.loop);
    const auto write = [](World& w, ByteStream& s, std::vector<Say> all) -> Task<void> {
      for (const Say& say : all) {
        if (say.pause_before > Duration::zero()) co_await w.loop.Sleep(say.pause_before);
        if (!(co_await s.Write(say.bytes)).ok()) co_return;
        w.sent_bytes += say.bytes.size();
      }
    };
    writing.Spawn(write(world, *stream, std::move(script)));
    if (reads) {
      h2::FrameReader reader;
      const auto read = [](ByteStream& s, h2::FrameReader& r, std::vector<std::string>& all) -> Task<void> {
        std::vector<char> buffer(4096);
        while (true) {
          const Result<size_t> got = co_await s.Read(buffer);
          if (!got.ok() || *got == 0) {
            all.emplace_back(got.ok() ? "closed" : "cut");
            co_return;
          }
          for (std::string& line : r.Feed({buffer.data(), *got})) all.push_back(std::move(line));
        }
      };
      static_cast<void>(co_await rt::WithDeadline(Deadline::After(world.loop, patience), "the server",
                                                  read(*stream, reader, frames)));
    } else {
      co_await world.loop.Sleep(patience);
    }
  }
  stream.reset();
  co_return frames;
}

struct TalkOptions {
  uint64_t seed = 1;
  bool sliced = false;
  ServerOptions server;
  std::vector<std::pair<uint16_t, uint32_t>> settings;
  Duration patience = hours(1);
  bool greet = true;
  bool reads = true;
  size_t pipe_bytes = size_t{64} << 10;
};

struct Talked {
  std::vector<std::string> frames;
  std::string trace;
  Duration took;  // until the server was done with the connection
  int running_max = 0;
  int handled = 0;
  size_t endless_bytes = 0;
  size_t sent_bytes = 0;

  // The frames that begin so, joined.
  std::string With(std::string_view begin) const {
    std::string all;
    for (const std::string& frame : frames) {
      if (frame.starts_with(begin)) StrAppend(all, frame, "\n");
    }
    return all;
  }
};

Talked Talk(std::vector<Say> script, TalkOptions options = {}) {
  World world(options.seed);
  HttpServer server(
      world.loop, [&](Request request, ResponseWriter& writer) { return Handle(world, std::move(request), writer); },
      options.server);
  if (options.greet) {
    script.insert(script.begin(), Say{StrCat(h2::kPreface, h2::Settings(options.settings), h2::SettingsAck())});
  }
  auto [ours, theirs] = MakePipe(options.pipe_bytes);
  std::unique_ptr<ByteStream> client = std::move(theirs);
  if (options.sliced) client = Sliced(world.loop, std::move(client), options.seed);
  Talked talked;
  const auto serve = [](HttpServer& s, std::unique_ptr<ByteStream> stream, Loop& loop, Duration& took) -> Task<void> {
    co_await s.ServeConnection(std::move(stream));
    took = loop.Now().time_since_epoch();
  };
  auto [served, frames] =
      world.loop.Run(rt::WhenAll(serve(server, std::move(ours), world.loop, talked.took),
                                 Speak(world, std::move(client), std::move(script), options.patience, options.reads)));
  talked.frames = std::move(frames);
  talked.trace = std::move(world.trace);
  talked.running_max = world.running_max;
  talked.handled = world.handled;
  talked.endless_bytes = world.endless_bytes;
  talked.sent_bytes = world.sent_bytes;
  EXPECT_EQ(world.running, 0) << "a handler outlived its connection";
  return talked;
}

const std::string kDate = " date=Tue, 01 Jan 2030 00:00:00 GMT";

TEST(Http2ServerTest, AnswersWithTheRightFraming) {
  struct Case {
    std::string request;
    std::string answer;
  };
  const auto post = [](const h2::Fields& more, bool end) {
    return h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("POST", "/echo", more)), end);
  };
  const std::string text = " content-type=text/plain";
  const Case cases[] = {
      {h2::Get(1, "/x"), StrCat("HEADERS 1 :status=200", text, kDate, " content-length=8\nDATA 1 end hello /x\n")},
      {h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("HEAD", "/x")), true),
       StrCat("HEADERS 1 end :status=200", text, kDate, " content-length=8\n")},
      {post({}, false) + h2::Data(1, "ab", false) + h2::Data(1, "c", true),
       StrCat("HEADERS 1 :status=200", text, kDate, " content-length=3\nDATA 1 end abc\n")},
      {post({{"content-length", "3"}}, false) + h2::Data(1, "abc", true),
       StrCat("HEADERS 1 :status=200", text, kDate, " content-length=3\nDATA 1 end abc\n")},
      {post({}, true), StrCat("HEADERS 1 end :status=200", text, kDate, " content-length=0\n")},
      {h2::Get(1, "/204"), StrCat("HEADERS 1 end :status=204", text, kDate, "\n")},
      {h2::Get(1, "/stream"), StrCat("HEADERS 1 :status=200", text, kDate, "\nDATA 1 one \nDATA 1 end two\n")},
      {h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("HEAD", "/stream")), true),
       StrCat("HEADERS 1 end :status=200", text, kDate, "\n")},
      {h2::Get(1, "/silent"), StrCat("HEADERS 1 :status=500 content-type=text/plain; charset=utf-8", kDate,
                                     " content-length=10\nDATA 1 end no answer\n\n")},
      {h2::Get(1, "/injected"), StrCat("HEADERS 1 :status=200 x-good=1", kDate, " content-length=2\nDATA 1 end ok\n")},
      {h2::Get(1, "/unfinished"), StrCat("HEADERS 1 :status=200", text, kDate, "\nDATA 1 one \n")},
      {h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("OPTIONS", "*")), true),
       StrCat("HEADERS 1 :status=200", text, kDate, " content-length=7\nDATA 1 end hello *\n")},
  };
  for (const Case& c : cases) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const Talked talked = Talk({{c.request}}, {.seed = seed, .sliced = seed % 2 == 0, .patience = seconds(5)});
      std::string answer = talked.With("HEADERS");
      answer += talked.With("DATA");
      if (c.request == h2::Get(1, "/unfinished")) {
        EXPECT_EQ(talked.With("RST_STREAM"), "RST_STREAM 1 2\n");
      } else {
        EXPECT_EQ(answer, c.answer);
        EXPECT_EQ(talked.With("RST_STREAM"), "");
      }
    }
  }
}

TEST(Http2ServerTest, TrailersAndASecondHostDoNotBecomeHeaders) {
  const std::string head = h2::HeadersFrame(
      1, h2::Hpack(h2::RequestFields("POST", "/fields", {{"x", "1"}, {"host", "other"}})), /*end_stream=*/false);
  const std::string trailers = h2::HeadersFrame(1, h2::Hpack({{"x-remote-user", "admin"}}), /*end_stream=*/true);
  const Talked talked = Talk({{head + h2::Data(1, "abc", false) + trailers}}, {.patience = seconds(1)});
  EXPECT_EQ(talked.With("DATA"), "DATA 1 end host=h;x=1;\n");
}

TEST(Http2ServerTest, LimitsAreAnsweredOnTheStreamAndTheConnectionGoesOn) {
  ServerOptions options;
  options.limits.body_bytes_max = 1000;
  options.limits.header_bytes_max = 2000;
  options.limits.header_count_max = 20;
  options.limits.target_bytes_max = 500;
  h2::Fields many;
  for (int i = 0; i < 25; ++i) many.emplace_back(StrCat("a", i), "b");
  const auto request = [](std::string path, const h2::Fields& more, bool end) {
    return h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("POST", std::move(path), more)), end);
  };
  const std::pair<std::string, int> cases[] = {
      {request("/echo", {}, false) + h2::Data(1, std::string(1000, 'x'), true), 200},
      {request("/echo", {}, false) + h2::Data(1, std::string(1001, 'x'), true), 413},
      {request("/echo", {}, false) + h2::Data(1, std::string(600, 'x'), false) +
           h2::Data(1, std::string(600, 'x'), false),
       413},
      {request("/echo", {{"content-length", "1001"}}, false), 413},
      {request("/echo", {{"x", std::string(3000, 'x')}}, true), 431},
      {request("/echo", {{"x", std::string(3000, 'x')}}, false), 431},
      {request("/echo", many, true), 431},
      {request("/" + std::string(600, 'x'), {}, true), 414},
      {request("relative", {}, true), 400},
      {h2::HeadersFrame(1, h2::Hpack({{":method", "CONNECT"}, {":authority", "h:443"}}), false), 501},
  };
  for (const auto& [bytes, status] : cases) {
    const Talked talked =
        Talk({{bytes}, {h2::Get(3, "/next"), milliseconds(10)}}, {.server = options, .patience = seconds(20)});
    EXPECT_TRUE(talked.With("HEADERS 1").starts_with(StrCat("HEADERS 1 :status=", status)) ||
                (status == 400 && talked.With("RST_STREAM 1") == "RST_STREAM 1 1\n"))
        << status << talked.With("");
    EXPECT_EQ(talked.With("DATA 3"), "DATA 3 end hello /next\n") << status;
    if (status != 200) EXPECT_EQ(talked.trace, "GET /next;ended;") << "the handler sees no refused request";
  }
}

TEST(Http2ServerTest, ARefusedUploadIsResetWhenItsClientGoesOn) {
  ServerOptions options;
  options.limits.body_bytes_max = 1000;
  std::vector<Say> script{{h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("POST", "/echo")), false)}};
  for (int i = 0; i < 100; ++i) script.push_back({h2::Data(1, std::string(100, 'x'), false), milliseconds(200)});
  const Talked talked = Talk(script, {.server = options, .patience = seconds(60)});
  EXPECT_TRUE(talked.With("HEADERS 1").starts_with("HEADERS 1 :status=413"));
  EXPECT_EQ(talked.With("DATA 1"), "DATA 1 end Payload Too Large\n\n");
  EXPECT_EQ(talked.With("RST_STREAM"), "RST_STREAM 1 0\n");
}

TEST(Http2ServerTest, AllBodiesTogetherAreLimited) {
  ServerOptions options;
  options.limits.body_bytes_total_max = 1000;
  const std::string head = h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("POST", "/echo")), false);
  const Talked talked =
      Talk({{head + h2::Data(1, std::string(1001, 'x'), true)}}, {.server = options, .patience = seconds(5)});
  EXPECT_TRUE(talked.With("HEADERS 1").starts_with("HEADERS 1 :status=503"));
  EXPECT_EQ(Count(talked.With("HEADERS 1"), "retry-after=1"), 1u);
}

TEST(Http2ServerTest, MoreStreamsThanAllowedAreRefused) {
  TalkOptions options;
  options.server.limits.streams_per_connection_max = 3;
  options.patience = seconds(1);
  options.greet = false;
  std::string requests;
  for (int32_t id = 1; id <= 9; id += 2) requests += h2::Get(id, "/never");
  // A client that cannot know the limit yet loses the streams above it; one that has acknowledged it, the connection.
  const Talked early = Talk({{StrCat(h2::kPreface, h2::Settings(), requests)}}, options);
  EXPECT_EQ(early.With("RST_STREAM"), "RST_STREAM 7 7\nRST_STREAM 9 7\n");
  EXPECT_EQ(early.handled, 3);
  const Talked knows =
      Talk({{StrCat(h2::kPreface, h2::Settings(), h2::SettingsAck())}, {requests, milliseconds(1)}}, options);
  EXPECT_EQ(knows.With("GOAWAY"), "GOAWAY 5 1\n");
}

TEST(Http2ServerTest, AResetDropsTheHandler) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Talked talked = Talk({{h2::Get(1, "/never") + h2::Get(3, "/endless")},
                                {h2::Reset(1, NGHTTP2_CANCEL) + h2::Reset(3, NGHTTP2_CANCEL), milliseconds(5)},
                                {h2::Get(5, "/next"), milliseconds(5)}},
                               {.seed = seed, .patience = milliseconds(100)});
    EXPECT_TRUE(talked.trace.ends_with("ended;GET /next;ended;")) << talked.trace;
    EXPECT_EQ(Count(talked.trace, "ended;"), 3u);
  }
}

// ---- time ----

TEST(Http2ServerTest, EveryStageHasItsTime) {
  const std::string post = h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("POST", "/echo")), false);
  std::vector<Say> dribble{{post}};
  for (int i = 0; i < 200; ++i) dribble.push_back({h2::Data(1, "x", false), seconds(1)});
  std::vector<Say> pings;
  for (int i = 0; i < 60; ++i) pings.push_back({h2::Ping(), seconds(5)});
  struct Case {
    std::string what;
    std::vector<Say> script;
    TalkOptions options;
    std::string seen;  // a frame
    Duration at_least;
    Duration at_most;
  };
  TalkOptions silent;
  silent.greet = false;
  TalkOptions closed_window;
  closed_window.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}};
  const Case cases[] = {
      {"nothing but the preface", {{std::string(h2::kPreface)}}, silent, "cut", seconds(10), seconds(16)},
      {"nothing after the greeting", {}, {}, "cut", seconds(60), seconds(66)},
      {"a body byte by byte", dribble, {.patience = seconds(100)}, "RST_STREAM 1 8", seconds(100), seconds(101)},
      {"half a header block", {{h2::HeadersFrame(1, "", false, false)}}, {}, "cut", seconds(60), seconds(66)},
      {"only pings", pings, {}, "GOAWAY 0 0", seconds(180), seconds(186)},
      {"a silent client with a stream", {{h2::Get(1, "/never")}}, {}, "PING", seconds(60), seconds(66)},
  };
  for (const Case& c : cases) {
    const Talked talked = Talk(c.script, c.options);
    EXPECT_EQ(Count(talked.With(c.seen), c.seen) > 0, true) << c.what << ": " << talked.With("");
    EXPECT_GE(talked.took, c.at_least) << c.what;
    EXPECT_LE(talked.took, c.at_most) << c.what;
  }
}

TEST(Http2ServerTest, AClientThatTakesNothingLosesItsStreamsAndOnlyThose) {
  TalkOptions options;
  options.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10}};
  options.patience = seconds(100);
  std::vector<Say> script{{h2::Get(1, "/large") + h2::Get(3, "/endless") + h2::Get(5, "/never")}};
  for (int i = 0; i < 45; ++i) script.push_back({h2::Ping(), seconds(2)});  // it is there, it just does not read
  script.push_back({h2::Get(7, "/x"), Duration::zero()});
  const Talked talked = Talk(script, options);
  EXPECT_EQ(talked.With("RST_STREAM"), "RST_STREAM 1 8\nRST_STREAM 3 8\n");
  EXPECT_EQ(talked.With("DATA 7"), "DATA 7 end hello /x\n");
}

TEST(Http2ServerTest, AConnectionThatIsNotReadIsCutOff) {
  TalkOptions options;
  options.reads = false;
  options.pipe_bytes = 1000;
  options.patience = seconds(300);
  std::vector<Say> script{{h2::WindowUpdate(0, 1 << 30) + h2::Get(1, "/large")}};
  for (int i = 0; i < 200; ++i) script.push_back({h2::Ping(), seconds(1)});
  const Talked talked = Talk(script, options);
  EXPECT_LE(talked.took, seconds(66));
}

// ---- floods ----

std::string Repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Http2AttackTest, FloodsThatAreNotReadEndTheConnection) {
  TalkOptions options;
  options.reads = false;
  options.pipe_bytes = 1000;
  options.patience = seconds(300);
  for (const std::string& flood : {Repeat(h2::Ping(), 5000), Repeat(h2::Settings(), 5000)}) {
    const Talked talked = Talk({{flood}}, options);
    EXPECT_LT(talked.took, seconds(1)) << "the connection was not cut";
  }
}

// A client that never acknowledges the limit of streams is refused each one above it; what it has to be told is not
// piled up when it does not listen.
TEST(Http2AttackTest, RefusedStreamsPileUpNothing) {
  std::vector<Say> flood{{StrCat(h2::kPreface, h2::Settings())}};
  for (int32_t id = 1; id < 200'000; id += 2) flood.push_back({h2::Get(id, "/never")});
  TalkOptions options;
  options.greet = false;
  options.reads = false;
  options.pipe_bytes = 1000;
  options.patience = seconds(300);
  const Talked deaf = Talk(flood, options);
  EXPECT_LE(deaf.took, seconds(66)) << "the connection was not cut";
  EXPECT_LT(deaf.sent_bytes, 500'000u);
  options.reads = true;
  const Talked listening = Talk(flood, options);
  EXPECT_EQ(Count(listening.With("GOAWAY"), " 11\n"), 1u) << listening.With("GOAWAY");
  EXPECT_LT(listening.sent_bytes, 500'000u);
}

TEST(Http2AttackTest, FloodsThatAreReadAreAnsweredAndNobodyElseStarves) {
  for (const std::string& flood :
       {Repeat(h2::Ping(), 5000), Repeat(h2::Settings(), 5000), Repeat(h2::WindowUpdate(0, 1), 5000),
        Repeat(h2::Frame(0xfa, 0, 0, "unknown"), 5000)}) {
    for (const size_t piece : {size_t{1000}, flood.size()}) {
      std::vector<Say> script;
      for (size_t at = 0; at < flood.size(); at += piece) script.push_back({flood.substr(at, piece), milliseconds(1)});
      script.push_back({h2::Get(1, "/x")});
      const Talked talked = Talk(script, {.patience = seconds(10)});
      const bool answered = talked.With("DATA 1") == "DATA 1 end hello /x\n";
      EXPECT_TRUE(answered || (piece > 1000 && talked.frames.back() == "cut")) << talked.frames.back();
    }
  }
}

TEST(Http2AttackTest, RapidResetsEndTheConnection) {
  std::string flood;
  for (int32_t id = 1; id < 20'000; id += 2) flood += h2::Get(id, "/never") + h2::Reset(id, NGHTTP2_CANCEL);
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const Talked talked = Talk({{flood}}, {.seed = seed, .patience = seconds(5)});
    EXPECT_EQ(Count(talked.With("GOAWAY"), " 11\n"), 1u) << talked.With("");  // ENHANCE_YOUR_CALM
    EXPECT_LE(talked.handled, 2500);
    EXPECT_LE(talked.running_max, 250);
    EXPECT_LT(talked.took, seconds(1));
  }
}

TEST(Http2AttackTest, ResetsThatAreProvokedEndTheConnectionToo) {
  // A WINDOW_UPDATE that overflows the stream's window makes the server reset it.
  std::vector<Say> flood;
  for (int32_t id = 1; id < 20'000; id += 2) {
    flood.push_back({h2::Get(id, "/never") + h2::WindowUpdate(id, 0x7fffffff), milliseconds(id % 51 == 0 ? 1 : 0)});
  }
  const Talked talked = Talk(flood, {.patience = seconds(5)});
  EXPECT_EQ(Count(talked.With("GOAWAY"), " 11\n"), 1u) << talked.With("GOAWAY");
  EXPECT_LE(talked.handled, 2500);
}

TEST(Http2AttackTest, APatientClientMayResetAsOftenAsItLikes) {
  std::vector<Say> script;
  for (int32_t id = 1; id < 4000; id += 2) {
    script.push_back({h2::Get(id, "/never") + h2::Reset(id, NGHTTP2_CANCEL), milliseconds(12)});
  }
  script.push_back({h2::Get(4001, "/x")});
  const Talked talked = Talk(script, {.patience = seconds(60)});
  EXPECT_EQ(talked.With("DATA 4001"), "DATA 4001 end hello /x\n");
}

TEST(Http2AttackTest, EndlessHeaderBlocksEndTheConnection) {
  const std::string piece = h2::Hpack({{"x", std::string(10'000, 'x')}});
  std::string flood = h2::HeadersFrame(1, h2::Hpack(h2::RequestFields("GET", "/")), true, /*end_headers=*/false);
  for (int i = 0; i < 2000; ++i) flood += h2::Continuation(1, piece, false);
  const Talked talked = Talk({{flood}}, {.patience = seconds(5)});
  EXPECT_EQ(talked.handled, 0);
  EXPECT_TRUE(talked.frames.back() == "cut" || talked.frames.back() == "closed");
  EXPECT_LT(talked.took, seconds(1));
}

TEST(Http2AttackTest, AnHpackBombIsRefused) {
  // One field of 4,000 bytes goes into the dynamic table, then each byte of the block names it again.
  std::string block = h2::Hpack(h2::RequestFields("GET", "/"));
  block += '\x40' + h2::HpackText("x") + h2::HpackText(std::string(4000, 'x'));
  for (const auto& [references, cut] : {std::pair{50, false}, std::pair{10'000, true}}) {
    const Talked talked =
        Talk({{h2::HeadersFrame(1, block + std::string(static_cast<size_t>(references), '\xbe'), true)}},
             {.patience = seconds(5)});
    EXPECT_EQ(talked.handled, 0);
    if (cut) {
      EXPECT_TRUE(talked.frames.back() == "cut" || talked.frames.back() == "closed");
    } else {
      EXPECT_TRUE(talked.With("HEADERS").starts_with("HEADERS 1 :status=431")) << talked.With("");
    }
  }
}

TEST(Http2AttackTest, ManyHalfSentBodiesAreBounded) {
  // 100 streams that each send their window (256 KiB) and no end: 25 MiB; then windows are given to the oldest only.
  std::vector<Say> script;
  for (int32_t id = 1; id < 200; id += 2) {
    script.push_back({h2::HeadersFrame(id, h2::Hpack(h2::RequestFields("POST", "/echo")), false)});
    for (int i = 0; i < 16; ++i) script.push_back({h2::Data(id, std::string(16'000, 'x'), false)});
  }
  const Talked talked = Talk(script, {.patience = seconds(20)});
  size_t given = 0;
  for (const std::string& frame : talked.frames) {
    if (frame.starts_with("WINDOW_UPDATE ") && !frame.starts_with("WINDOW_UPDATE 0 ")) ++given;
  }
  EXPECT_GT(given, 10u);
  EXPECT_LT(given, 150u) << "windows of all streams were given back";
}

TEST(Http2AttackTest, ManyStreamsThatAreNotReadHoldLittle) {
  TalkOptions options;
  options.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}};
  options.patience = seconds(5);
  std::string requests;
  for (int32_t id = 1; id < 400; id += 2) requests += h2::Get(id, "/endless");
  const Talked closed = Talk({{requests}}, options);
  EXPECT_EQ(closed.handled, 200);
  EXPECT_GT(closed.endless_bytes, size_t{4} << 20);
  EXPECT_LT(closed.endless_bytes, (size_t{4} << 20) + size_t{201} * (64 << 10)) << "one chunk each, beyond the limit";
  // The ones that are read go on.
  const Talked one = Talk({{requests + h2::WindowUpdate(0, 1 << 25) + h2::WindowUpdate(399, 1 << 24)}}, options);
  EXPECT_GT(one.endless_bytes, closed.endless_bytes + (size_t{15} << 20));
}

TEST(Http2AttackTest, GarbageEndsTheConnection) {
  for (const std::string& garbage :
       {std::string(1000, '\0'), std::string("GET / HTTP/1.1\r\nhost: h\r\n\r\n"), h2::Data(1, "x", true),
        h2::Frame(NGHTTP2_SETTINGS, 0, 0, "12345"), h2::WindowUpdate(0, 0), h2::Continuation(1, "x", true),
        h2::HeadersFrame(2, h2::Hpack(h2::RequestFields("GET", "/")), true),
        h2::HeadersFrame(1, "\xff\xff\xff\xff", true)}) {
    const Talked talked = Talk({{garbage}}, {.patience = seconds(100)});
    EXPECT_EQ(talked.handled, 0);
    EXPECT_EQ(talked.frames.back(), "closed") << talked.With("");
    EXPECT_EQ(Count(talked.With("GOAWAY"), "GOAWAY"), 1u) << "it is told why";
    EXPECT_LT(talked.took, seconds(11));
  }
}

// ---- shutdown ----

TEST(Http2ServerTest, ShutdownSaysGoodbyeAnswersWhatRunsAndEnds) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    World world(seed);
    HttpServer server(
        world.loop, [&](Request request, ResponseWriter& writer) { return Handle(world, std::move(request), writer); });
    auto [ours, theirs] = MakePipe();
    const std::vector<Say> script{
        {StrCat(h2::kPreface, h2::Settings(), h2::SettingsAck(), h2::Get(1, "/x"), h2::Get(3, "/until-shutdown"))}};
    const auto stop = [](Loop& loop, HttpServer& s) -> Task<void> {
      co_await loop.Sleep(seconds(1));
      co_await s.Shutdown(Deadline::After(loop, seconds(20)));
    };
    auto [served, frames, stopped] =
        world.loop.Run(rt::WhenAll(server.ServeConnection(std::move(ours)),
                                   Speak(world, std::move(theirs), script, hours(1), true), stop(world.loop, server)));
    Talked talked{.frames = std::move(frames)};
    EXPECT_EQ(talked.With("DATA 1"), "DATA 1 end hello /x\n");
    EXPECT_TRUE(talked.With("DATA 3") == "DATA 3 bye\nDATA 3 end \n" || talked.With("DATA 3") == "DATA 3 end bye\n")
        << talked.With("DATA 3");
    EXPECT_TRUE(talked.With("GOAWAY").starts_with("GOAWAY 3 0\n"));
    EXPECT_EQ(talked.frames.back(), "closed");
    EXPECT_EQ(world.loop.Now().time_since_epoch(), seconds(1));
  }
}

}  // namespace
}  // namespace baton::net
