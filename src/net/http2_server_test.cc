// HTTP/2, server side, on the virtual loop: frames by hand. Hostile clients are in http2_attack_test.cc.
#include <gtest/gtest.h>

#include "net/http2_talk_for_test.h"

namespace baton::net {
namespace {

using rt::Deadline;
using rt::Loop;
using rt::Task;
using talk::Handle;
using talk::Say;
using talk::Speak;
using talk::Talk;
using talk::Talked;
using talk::TalkOptions;
using talk::World;

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
