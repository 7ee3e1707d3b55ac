// Log lines: both formats, escapes, limits, and what the filter lets through.
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/log_reader_for_test.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton {
namespace {

// A field's value is of a type that has one obvious text.
static_assert(!std::is_constructible_v<LogValue, char>);
static_assert(!std::is_constructible_v<LogValue, int*>);
static_assert(!std::is_constructible_v<LogValue, LogLevel>);
static_assert(!std::is_constructible_v<LogValue, MonotonicTime>);

// 2026-11-15T10:00:00.123456789Z
constexpr WallTime kNow(seconds(1'794'736'800) + nanoseconds(123'456'789));

class LogTest : public testing::Test {
 protected:
  // The only line that was written, and forget it.
  std::string Line() {
    const std::vector<std::string> lines = sink_.lines();
    sink_.Clear();
    return lines.size() == 1 ? lines[0] : StrCat(lines.size(), " lines");
  }

  CaptureSink sink_;
  Log log_{sink_, [] { return kNow; }};
  Log json_{sink_, [] { return kNow; }, {.format = LogFormat::kJson}};
};

TEST_F(LogTest, WritesLogfmt) {
  log_.For("rollout").With("cluster", ClusterName("green")).Info("granted", {{"seq", Epoch(7)}});
  EXPECT_EQ(Line(), R"(ts=2026-11-15T10:00:00.123Z level=info module=rollout msg="granted" cluster=green seq=7)");
}

TEST_F(LogTest, WritesJson) {
  json_.For("rollout").With("cluster", "green").Warn("held", {{"seq", 7}, {"took", milliseconds(1500)}});
  EXPECT_EQ(Line(), R"({"ts":"2026-11-15T10:00:00.123Z","level":"warn","module":"rollout","msg":"held",)"
                    R"("cluster":"green","seq":7,"took":"1.5s"})");
}

TEST_F(LogTest, PrintsEachTypeOfValue) {
  struct Case {
    LogValue value;
    std::string_view logfmt;
    std::string_view json;
  };
  const std::string text = "text";
  const Uid uid("u-1");
  const char* null = nullptr;
  const std::vector<Case> cases = {
      {text, "text", R"("text")"},
      {std::string_view("view"), "view", R"("view")"},
      {null, R"("")", R"("")"},
      {uid, "u-1", R"("u-1")"},
      {true, "true", "true"},
      {false, "false", "false"},
      {int8_t{-5}, "-5", "-5"},
      {std::numeric_limits<int64_t>::min(), "-9223372036854775808", "-9223372036854775808"},
      {std::numeric_limits<uint64_t>::max(), "18446744073709551615", "18446744073709551615"},
      {uint8_t{200}, "200", "200"},
      {0.25, "0.25", "0.25"},
      {1.5F, "1.5", "1.5"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN", R"("NaN")"},
      {std::numeric_limits<double>::infinity(), "+Inf", R"("+Inf")"},
      {-std::numeric_limits<double>::infinity(), "-Inf", R"("-Inf")"},
      {seconds(0), "0s", R"("0s")"},
      {kNow, "2026-11-15T10:00:00.123Z", R"("2026-11-15T10:00:00.123Z")"},
  };
  for (const Case& row : cases) {
    log_.For("m").Info("x", {{"v", row.value}});
    EXPECT_TRUE(Line().ends_with(StrCat(" v=", row.logfmt))) << row.logfmt;
    json_.For("m").Info("x", {{"v", row.value}});
    EXPECT_TRUE(Line().ends_with(StrCat(",\"v\":", row.json, "}"))) << row.json;
  }
}

TEST_F(LogTest, PrintsDurationsExactly) {
  const std::vector<std::pair<Duration, std::string_view>> cases = {
      {nanoseconds(1), "1ns"},
      {nanoseconds(999), "999ns"},
      {nanoseconds(1'000), "1us"},
      {nanoseconds(1'050), "1.05us"},
      {microseconds(12'500), "12.5ms"},
      {nanoseconds(1'000'001), "1.000001ms"},
      {milliseconds(-250), "-250ms"},
      {seconds(1), "1s"},
      {nanoseconds(1'000'000'001), "1.000000001s"},
      {seconds(60), "1m0s"},
      {minutes(90), "1h30m0s"},
      {hours(100) + milliseconds(500), "100h0m0.5s"},
      {Duration::max(), "2562047h47m16.854775807s"},
      {Duration::min(), "-2562047h47m16.854775808s"},
  };
  for (const auto& [duration, text] : cases) {
    log_.For("m").Info("x", {{"v", duration}});
    EXPECT_TRUE(Line().ends_with(StrCat(" v=", text))) << text;
  }
}

TEST_F(LogTest, PrintsTimesOfTheWholeRange) {
  const std::vector<std::pair<WallTime, std::string_view>> cases = {
      {WallTime(), "1970-01-01T00:00:00.000Z"},
      {WallTime(nanoseconds(-1)), "1969-12-31T23:59:59.999Z"},
      {WallTime(seconds(951'782'399) + milliseconds(999)), "2000-02-28T23:59:59.999Z"},
      {WallTime(seconds(951'782'400)), "2000-02-29T00:00:00.000Z"},
      {WallTime(seconds(1'709'251'199)), "2024-02-29T23:59:59.000Z"},
      {WallTime::max(), "2262-04-11T23:47:16.854Z"},
      {WallTime::min(), "1677-09-21T00:12:43.145Z"},
  };
  for (const auto& [time, text] : cases) {
    log_.For("m").Info("x", {{"v", time}});
    EXPECT_TRUE(Line().ends_with(StrCat(" v=", text))) << text;
  }
}

TEST_F(LogTest, QuotesOnlyWhatNeedsIt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain/value:8080,x[]{}'", "plain/value:8080,x[]{}'"},
      {"", R"("")"},
      {"two words", R"("two words")"},
      {"a=b", R"("a=b")"},
      {"say \"hi\"", R"("say \"hi\"")"},
      {"\"", R"("\"")"},
      {"back\\slash", R"("back\\slash")"},
      {"line\nbreak\r\n\ttab", R"("line\nbreak\r\n\ttab")"},
      {std::string("nul\0.", 5), R"("nul\u0000.")"},
      {"\x1b[31mred", R"("\u001b[31mred")"},
      {"\x7f", R"("\u007f")"},
      {"caf\xc3\xa9", "\"caf\xc3\xa9\""},
      {"\xc2\x85\xc2\x9b", R"("\u0085\u009b")"},
      {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae", R"("\u2028\u2029\u202e")"},
      {"bad\xff.", "\"bad\xef\xbf\xbd.\""},
  };
  for (const auto& [text, printed] : cases) {
    log_.For("m").Info("x", {{"v", text}});
    EXPECT_TRUE(Line().ends_with(StrCat(" v=", printed))) << printed;
    log_.For("m").With("v", text).Info("x");
    EXPECT_TRUE(Line().ends_with(StrCat(" v=", printed))) << printed;
  }
}

TEST_F(LogTest, WhateverIsLoggedReadsBackTheSame) {
  std::mt19937 random(7);
  const std::array<std::string_view, 12> pieces = {"\n",           "\"",   "\\",   "=",   " ", "\xc3\xa9",
                                                   "\xe2\x80\xa8", "\x01", "\xff", "\\n", "a", "\xf0\x9f\x98\x80"};
  for (int round = 0; round < 500; ++round) {
    std::string value, message;
    for (size_t i = random() % 8; i > 0; --i) value += pieces[random() % pieces.size()];
    for (size_t i = random() % 8; i > 0; --i) message += static_cast<char>(random());
    const Pairs expected = {
        {"ts", "2026-11-15T10:00:00.123Z"}, {"level", "error"}, {"module", "m"}, {"msg", ReplaceInvalidUtf8(message)},
        {"v", ReplaceInvalidUtf8(value)},   {"n", "-1"}};
    log_.For("m").With("v", value).Error(message, {{"n", -1}});
    EXPECT_EQ(ReadLogfmt(Line()), expected);
    json_.For("m").With("v", value).Error(message, {{"n", -1}});
    EXPECT_EQ(ReadJson(Line()), expected);
  }
}

TEST_F(LogTest, MakesKeysWords) {
  log_.For("m").Info("x", {{"a b=\"c\"\n", 1}, {"", 2}, {"msg", 3}, {"level", 4}, {std::string(100, 'k'), 5}});
  EXPECT_TRUE(Line().ends_with(StrCat(" a_b__c__=1 _=2 msg_=3 level_=4 ", std::string(kMaxLogKeyBytes, 'k'), "=5")));
}

TEST_F(LogTest, AKeyGivenTwicePrintsOnceWithTheLaterValue) {
  const Logger logger = log_.For("m").With("a", 1).With("b", 2).With("a", 3);
  logger.Info("x");
  EXPECT_TRUE(Line().ends_with("msg=\"x\" b=2 a=3"));
  logger.Info("x", {{"b", 4}, {"c", 5}, {"c", 6}});
  EXPECT_TRUE(Line().ends_with("msg=\"x\" a=3 b=4 c=6"));
}

TEST_F(LogTest, WithLeavesTheOriginalAlone) {
  const Logger logger = log_.For("m").With("a", 1);
  const Logger more = logger.With("b", 2);
  logger.Info("x");
  EXPECT_TRUE(Line().ends_with("msg=\"x\" a=1"));
  more.Info("x");
  EXPECT_TRUE(Line().ends_with("msg=\"x\" a=1 b=2"));
}

TEST_F(LogTest, BoundTextNeedsNoLongerLife) {
  Logger logger;
  {
    const std::string text(100, 't');
    logger = log_.For(std::string("m")).With(std::string("key_that_is_not_short_either"), text);
  }
  logger.Info("x");
  EXPECT_TRUE(Line().ends_with(std::string(100, 't')));
}

TEST_F(LogTest, CutsALongValueAndSaysSo) {
  for (Log* log : {&log_, &json_}) {
    const bool json = log == &json_;
    for (const std::string& piece : {std::string("x"), std::string("\n"), std::string("\xc3\xa9")}) {
      std::string value;
      while (value.size() < kMaxLogValueBytes + 10) value += piece;
      log->For("m").With("v", value).Info("x", {{"n", 1}});
      const std::string line = Line();
      EXPECT_LE(line.size(), kMaxLogValueBytes + 200);
      const Pairs pairs = json ? ReadJson(line) : ReadLogfmt(line);
      ASSERT_EQ(pairs.size(), 7U) << line;
      EXPECT_TRUE(pairs[4].second.ends_with("...") && IsUtf8(line));
      EXPECT_GT(pairs[4].second.size(), kMaxLogValueBytes / 2);
      EXPECT_EQ(pairs[5], std::pair(std::string("n"), std::string("1")));
      EXPECT_EQ(pairs[6], std::pair(std::string("truncated"), std::string("true")));
    }
  }
}

TEST_F(LogTest, AValueOfTheGreatestLengthIsWhole) {
  log_.For("m").Info("x", {{"v", std::string(kMaxLogValueBytes, 'x')}, {"w", std::string(kMaxLogValueBytes, ' ')}});
  const Pairs pairs = ReadLogfmt(Line());
  ASSERT_EQ(pairs.size(), 6U);
  EXPECT_EQ(pairs[4].second.size(), kMaxLogValueBytes);
  EXPECT_EQ(pairs[5].second.size(), kMaxLogValueBytes);
}

TEST_F(LogTest, LeavesOutFieldsBeyondTheLongestLineAndSaysSo) {
  const std::string value(kMaxLogValueBytes, 'x');
  for (Log* log : {&log_, &json_}) {
    log->For("m").With("a", value).With("b", value).Info(value, {{"c", value}, {"d", value}, {"e", 5}});
    const std::string line = Line();
    EXPECT_LE(line.size() + 1, kMaxLogLineBytes);
    const Pairs pairs = log == &json_ ? ReadJson(line) : ReadLogfmt(line);
    std::vector<std::string> keys;
    for (const auto& [key, text] : pairs) keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"ts", "level", "module", "msg", "a", "b", "e", "truncated"}));
  }
}

TEST_F(LogTest, TheFilterDecidesByLevelAndModule) {
  Log log(sink_, [] { return kNow; }, {.filter = *ParseLogFilter("warn,rollout=debug,net=error")});
  struct Case {
    std::string_view module;
    std::array<bool, 4> on;
  };
  const std::vector<Case> cases = {{"rollout", {true, true, true, true}},
                                   {"net", {false, false, false, true}},
                                   {"store", {false, false, true, true}}};
  for (const Case& row : cases) {
    const Logger logger = log.For(row.module);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(logger.On(static_cast<LogLevel>(i)), row.on[i]) << row.module << i;
    sink_.Clear();
    logger.Debug("x");
    logger.Info("x");
    logger.Warn("x");
    logger.Error("x");
    EXPECT_EQ(sink_.lines().size(), static_cast<size_t>(std::count(row.on.begin(), row.on.end(), true)));
  }
}

TEST_F(LogTest, ANewFilterHoldsForOldLoggers) {
  const Logger logger = log_.For("rollout").With("a", 1);
  logger.Debug("no");
  EXPECT_EQ(Line(), "0 lines");
  log_.SetFilter(*ParseLogFilter("error,rollout=debug"));
  logger.Debug("yes");
  EXPECT_NE(Line().find("level=debug"), std::string::npos);
  log_.For("net").Warn("no");
  EXPECT_EQ(Line(), "0 lines");
}

TEST_F(LogTest, AskForNoTimeWhenNothingIsWritten) {
  int asked = 0;
  Log log(sink_, [&asked] {
    ++asked;
    return kNow;
  });
  log.For("m").Debug("x", {{"a", 1}});
  EXPECT_EQ(asked, 0);
  log.For("m").Info("x");
  EXPECT_EQ(asked, 1);
}

TEST_F(LogTest, ADefaultMadeLoggerIsSilent) {
  const Logger logger;
  EXPECT_FALSE(logger.On(LogLevel::kError));
  logger.With("a", 1).Error("x", {{"b", 2}});
}

}  // namespace
}  // namespace baton
