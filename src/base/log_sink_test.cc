// The log's filter syntax and its sinks: pipes that are full, descriptors that are bad, many threads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/log_reader_for_test.h"
#include "base/strings.h"

namespace baton {
namespace {

constexpr WallTime kNow(seconds(1'794'736'800));

TEST(LogFilterTest, ReadsLevelsAndModules) {
  EXPECT_EQ(ParseLogFilter("")->level, LogLevel::kInfo);
  EXPECT_EQ(ParseLogFilter(" ")->level, LogLevel::kInfo);
  const LogFilter filter = *ParseLogFilter(" rollout = debug , error,net-x.y_2=warn");
  EXPECT_EQ(filter.level, LogLevel::kError);
  EXPECT_EQ(filter.LevelOf("rollout"), LogLevel::kDebug);
  EXPECT_EQ(filter.LevelOf("net-x.y_2"), LogLevel::kWarn);
  EXPECT_EQ(filter.LevelOf("roll"), LogLevel::kError);
}

TEST(LogFilterTest, NamesTheWrongItem) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"info,rollout=loud", R"(item "rollout=loud": "loud" is not a level; levels are debug, info, warn and error)"},
      {"INFO", R"(item "INFO": "INFO" is not a level; levels are debug, info, warn and error)"},
      {"rollout", R"(item "rollout": "rollout" is not a level; levels are debug, info, warn and error)"},
      {"rollout=", R"(item "rollout=": "" is not a level; levels are debug, info, warn and error)"},
      {"a=b=info", R"(item "a=b=info": "b=info" is not a level; levels are debug, info, warn and error)"},
      {"=info", R"(item "=info": "" is not a module's name)"},
      {"Net=info", R"(item "Net=info": "Net" is not a module's name)"},
      {"info,,net=warn", R"(item "" is empty)"},
      {"info,", R"(item "" is empty)"},
      {"info,warn", R"(item "warn": a second level for all modules)"},
      {"net=info,net=warn", R"(item "net=warn": a second level for module "net")"},
  };
  for (const auto& [text, problem] : cases) {
    const Result<LogFilter> filter = ParseLogFilter(text);
    ASSERT_FALSE(filter.ok()) << text;
    EXPECT_EQ(filter.error().ToString(),
              StrCat("invalid: log filter ", Quote(text), " (write it like \"info,rollout=debug\"): ", problem));
  }
  EXPECT_EQ(ParseLogFilter(std::string(kMaxLogFilterBytes + 1, ' ')).error().kind(), ErrorKind::kTooLarge);
}

TEST(LogDeathTest, AModuleNoFilterCouldNameIsABug) {
  CaptureSink sink;
  Log log(sink, [] { return kNow; });
  EXPECT_DEATH(log.For("Roll out"), "no filter could name a log module");
  EXPECT_DEATH(Log(sink, nullptr), "a Log needs a clock");
}

// Reads what is there, from a descriptor that does not block.
std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

TEST(FdSinkTest, WritesEachLineWithOneWrite) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);  // one write is one packet
  FdSink sink(ends[0]);
  const std::string longest = std::string(kMaxLogLineBytes - 1, 'x') + "\n";
  sink.Write("one\n");
  sink.Write(longest);
  std::array<char, kMaxLogLineBytes> packet;
  EXPECT_EQ(read(ends[1], packet.data(), packet.size()), 4);
  EXPECT_EQ(read(ends[1], packet.data(), packet.size()), static_cast<ssize_t>(longest.size()));
  EXPECT_EQ(sink.dropped_lines(), 0U);
  close(ends[0]);
  close(ends[1]);
}

TEST(FdSinkTest, AFullPipeLosesLinesButNeverJoinsThem) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  const int granted = fcntl(ends[1], F_SETPIPE_SZ, 1);  // one page, whatever that is here
  ASSERT_GT(granted, 0);
  const auto pipe_bytes = static_cast<size_t>(granted);
  FdSink sink(ends[1]);
  const std::string longest = std::string(3 * pipe_bytes, 'x') + "\n";
  sink.Write(longest);
  EXPECT_EQ(sink.dropped_lines(), 1U);
  sink.Write("lost\n");
  EXPECT_EQ(sink.dropped_lines(), 2U);
  EXPECT_EQ(ReadAll(ends[0]), std::string(pipe_bytes, 'x'));
  sink.Write("after\n");
  sink.Write("more\n");
  EXPECT_EQ(ReadAll(ends[0]), "\nafter\nmore\n");
  EXPECT_EQ(sink.dropped_lines(), 2U);
  close(ends[0]);
  close(ends[1]);
}

TEST(FdSinkTest, ABadDescriptorLosesLinesAndNothingElse) {
  FdSink sink(-1);
  sink.Write("x\n");
  EXPECT_EQ(sink.dropped_lines(), 1U);
}

TEST(FdSinkTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 100;
  int ends[2];
  ASSERT_EQ(pipe2(ends, 0), 0);
  std::string text;
  std::jthread reader([&] { text = ReadAll(ends[0]); });
  {
    FdSink sink(ends[1]);
    Log log(sink, [] { return kNow; });
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kLines; ++i) {
          log.For(StrCat("m", i % 3)).With("thread", t).Info("x", {{"i", i}, {"v", std::string(5000, 'v')}});
          if (i % 10 == 0) log.SetFilter(LogFilter{});
        }
      });
    }
  }
  close(ends[1]);
  reader.join();
  close(ends[0]);
  std::vector<std::string_view> lines = Split(text, '\n');
  ASSERT_EQ(lines.size(), size_t{kThreads * kLines + 1});
  EXPECT_EQ(lines.back(), "");
  lines.pop_back();
  std::vector<int> next(kThreads, 0);
  for (const std::string_view line : lines) {
    const Pairs pairs = ReadLogfmt(line);
    ASSERT_EQ(pairs.size(), 8U) << line;
    const size_t thread = std::stoul(pairs[4].second);
    ASSERT_LT(thread, next.size());
    EXPECT_EQ(pairs[5].second, StrCat(next[thread]++));
  }
}

}  // namespace
}  // namespace baton
