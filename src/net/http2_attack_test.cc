// Hostile HTTP/2 clients, on the virtual loop: what they get, and what they can make the server do and hold.
#include <gtest/gtest.h>

#include <functional>

#include "net/http2_talk_for_test.h"

namespace baton::net {
namespace {

using talk::Say;
using talk::Talk;
using talk::Talked;
using talk::TalkOptions;

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

// What makes a server reset a stream, or give up the connection: requests whose handlers were started for nothing.
TEST(Http2AttackTest, ResetsThatAreProvokedEndTheConnectionToo) {
  struct Provocation {
    std::string what;
    std::function<std::string(int32_t)> frames;
  };
  const auto post = [](int32_t id, const h2::Fields& more, bool end) {
    return h2::HeadersFrame(id, h2::Hpack(h2::RequestFields("POST", "/never", more)), end);
  };
  const Provocation provocations[] = {
      {"a window that overflows", [](int32_t id) { return h2::Get(id, "/never") + h2::WindowUpdate(id, 0x7fffffff); }},
      {"a window update of nothing", [](int32_t id) { return h2::Get(id, "/never") + h2::WindowUpdate(id, 0); }},
      {"data behind the end", [](int32_t id) { return h2::Get(id, "/never") + h2::Data(id, "x", false); }},
      {"headers behind the end", [](int32_t id) { return h2::Get(id, "/never") + h2::Get(id, "/never"); }},
      {"a body too long",
       [&](int32_t id) { return post(id, {{"content-length", "1"}}, false) + h2::Data(id, "xx", true); }},
      {"a body too short",
       [&](int32_t id) { return post(id, {{"content-length", "9"}}, false) + h2::Data(id, "x", true); }},
      {"a field that is none", [&](int32_t id) { return post(id, {{"Upper", "x"}}, true); }},
      {"trailers that do not end",
       [&](int32_t id) { return post(id, {}, false) + h2::HeadersFrame(id, h2::Hpack({{"x", "y"}}), false); }},
      {"a stream that depends on itself",
       [](int32_t id) {
         return h2::Get(id, "/never") +
                h2::Frame(NGHTTP2_PRIORITY, 0, id, h2::Number(static_cast<uint32_t>(id), 4) + "x");
       }},
      {"a priority of the wrong size",
       [](int32_t id) { return h2::Get(id, "/never") + h2::Frame(NGHTTP2_PRIORITY, 0, id, "xx"); }},
  };
  for (const Provocation& provocation : provocations) {
    std::vector<Say> flood;
    for (int32_t id = 1; id < 20'000; id += 2) {
      flood.push_back({provocation.frames(id), milliseconds(id % 51 == 0 ? 1 : 0)});
    }
    const Talked talked = Talk(flood, {.patience = seconds(5)});
    EXPECT_EQ(Count(talked.With("GOAWAY"), "GOAWAY"), 1u) << provocation.what << talked.With("GOAWAY");
    EXPECT_EQ(Count(talked.With("GOAWAY"), " 0\n"), 0u) << provocation.what << ": it is told why";
    EXPECT_LE(talked.handled, 2500) << provocation.what;
    EXPECT_LE(talked.running_max, 250) << provocation.what;
  }
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

// Requests for large answers, all at once, and one for a small one.
std::string LargeOnes(int count, const h2::Fields& more = {}) {
  std::string requests;
  for (int i = 0; i < count; ++i) {
    requests += h2::HeadersFrame(2 * i + 1, h2::Hpack(h2::RequestFields("GET", "/large", more)), true);
  }
  return requests + h2::Get(2 * count + 1, "/x");
}

// 1 MiB each; half of them fit.
TalkOptions ScarceRoom() {
  TalkOptions options;
  options.server.limits.unsent_bytes_max = size_t{10} << 20;
  options.settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}};
  options.patience = seconds(10);
  return options;
}
constexpr int kLargeOnes = 20;
constexpr int kLargeOnesHeld = 11;  // the last of them finds room for a byte

TEST(Http2AttackTest, AnswersThatAreNotReadKeepTheNextRequestsWaiting) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TalkOptions options = ScarceRoom();
    options.seed = seed;
    EXPECT_EQ(Talk({{LargeOnes(kLargeOnes)}}, options).handled, kLargeOnesHeld);
    // Back pressure, no error: when the client reads, all are answered.
    std::string windows = h2::WindowUpdate(0, 1 << 30);
    for (int i = 0; i <= kLargeOnes; ++i) windows += h2::WindowUpdate(2 * i + 1, 1 << 20);
    const Talked read = Talk({{LargeOnes(kLargeOnes)}, {windows, seconds(5)}}, options);
    EXPECT_EQ(read.handled, kLargeOnes + 1);
    EXPECT_EQ(Count(read.With("HEADERS"), ":status=200"), size_t{kLargeOnes + 1});
    EXPECT_EQ(read.With("DATA 41"), "DATA 41 end hello /x\n");
    EXPECT_EQ(Count(read.With("DATA"), " end "), size_t{kLargeOnes + 1});
  }
}

TEST(Http2AttackTest, AnswersThatAreBeingCompressedCountToo) {
  const std::string requests = LargeOnes(kLargeOnes, {{"accept-encoding", "gzip"}});
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    TalkOptions options = ScarceRoom();
    options.seed = seed;
    // Compressed they are small, so all are served, but not all at once.
    const Talked talked = Talk({{requests}}, options);
    EXPECT_EQ(talked.handled, kLargeOnes + 1);
    EXPECT_LE(talked.running_max, kLargeOnesHeld + 1);
  }
}

TEST(Http2AttackTest, AFewLargeAnswersKeepNobodyWaiting) {
  TalkOptions options = ScarceRoom();
  options.server.limits.unsent_bytes_max = 1;
  for (const auto& [large, answered] : {std::pair{2, true}, std::pair{3, false}}) {  // and a small one
    const Say small{h2::Get(99, "/x") + h2::WindowUpdate(99, 100), seconds(1)};
    EXPECT_EQ(!Talk({{LargeOnes(large)}, small}, options).With("DATA 99").empty(), answered) << large;
  }
}

TEST(Http2AttackTest, RequestsThatWaitKeepTheirPlaceAndGoWithTheirStream) {
  TalkOptions options = ScarceRoom();
  std::string resets;
  for (int i = 0; i < kLargeOnes; ++i) resets += h2::Reset(2 * i + 1, NGHTTP2_CANCEL);
  const Talked talked = Talk({{LargeOnes(kLargeOnes)}, {resets + h2::WindowUpdate(41, 100), seconds(1)}}, options);
  EXPECT_EQ(talked.With("DATA 41"), "DATA 41 end hello /x\n") << "room is made by resets, too";
  EXPECT_EQ(talked.handled, kLargeOnesHeld + 1);
}

TEST(Http2AttackTest, BodiesOfRequestsThatWaitAreBounded) {
  TalkOptions options = ScarceRoom();
  std::vector<Say> script{{LargeOnes(kLargeOnes)}};
  const std::string piece(16'000, 'x');
  for (int32_t id = 101; id < 301; id += 2) {  // each sends its window, and no end
    script.push_back({h2::HeadersFrame(id, h2::Hpack(h2::RequestFields("POST", "/echo")), false)});
    for (int i = 0; i < 16; ++i) script.push_back({h2::Data(id, piece, false)});
  }
  const Talked talked = Talk(script, options);
  size_t given = 0;
  for (const std::string& frame : talked.frames) {
    if (frame.starts_with("WINDOW_UPDATE ") && !frame.starts_with("WINDOW_UPDATE 0 ")) ++given;
  }
  EXPECT_LT(given, 100U);
  EXPECT_EQ(talked.handled, kLargeOnesHeld);
}

TEST(Http2AttackTest, WhoAsksForMoreAndTakesNothingIsCutOff) {
  TalkOptions options = ScarceRoom();
  options.patience = seconds(300);
  std::vector<Say> script{{LargeOnes(kLargeOnes)}};
  for (int i = 0; i < 200; ++i) script.push_back({h2::Ping(), seconds(1)});
  const Talked talked = Talk(script, options);
  EXPECT_EQ(Count(talked.With("GOAWAY"), " 11\n"), 1U) << talked.With("GOAWAY");
  EXPECT_LE(talked.took, seconds(80));
  EXPECT_GE(talked.took, seconds(60));
  EXPECT_EQ(talked.handled, kLargeOnesHeld) << "nobody's answers were made";
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

}  // namespace
}  // namespace baton::net
