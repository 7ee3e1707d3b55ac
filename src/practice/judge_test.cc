// The judge on logs written by hand: each column counts what it should, and nothing else.
#include "practice/judge.h"

#include <gtest/gtest.h>

#include "practice/source.h"
#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

constexpr uint32_t kKeys = 3;
constexpr uint64_t kEnd = 30;

// A row as a careful job would write it.
std::string RowOf(uint32_t partition, uint64_t offset) {
  uint64_t count = 0;
  uint64_t sum = 0;
  const Record record = RecordAt(partition, offset, kKeys);
  for (uint64_t o = 0; o <= offset; ++o) {
    const Record other = RecordAt(partition, o, kKeys);
    if (other.key != record.key) continue;
    ++count;
    sum += other.value;
  }
  SinkRows rows;
  rows.Add(partition, offset, record.key, count, sum);
  return rows.text;
}

std::string Commit(int64_t ms, std::string_view who, uint64_t from, uint64_t to, std::string_view epoch = "1") {
  std::string rows;
  for (uint64_t o = from; o < to; ++o) rows += RowOf(0, o);
  return StrCat("T ", ms, " ", who, " job-", who, " ", epoch, " - ", to - from, "\n", rows, ".\n");
}

std::string Begin(int64_t ms, std::string_view who, uint64_t at) {
  return StrCat("S ", ms, " ", who, " job-", who, " 1 - ", at, "\n");
}

std::string End(int64_t ms, std::string_view who, uint64_t at) {
  return StrCat("E ", ms, " ", who, " job-", who, " 1 FINISHED ", at, "\n");
}

JudgeReport JudgeOf(std::string sink,
                    std::string source = StrCat("practice-source 1 1 ", kKeys, "\n1000 10\n2000 ", kEnd, "\n")) {
  rt::VirtualLoop loop(1);
  rt::SimulatedFiles files(loop);
  JudgeReport out;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    const Storage storage(files);
    EXPECT_TRUE((co_await storage.Write("shared/source/ns/w/log", source)).ok());
    EXPECT_TRUE((co_await storage.Write("shared/sink/ns/w/log", StrCat("practice-sink 1\n", sink))).ok());
    const auto report = co_await Judge(files, "", "ns", "w");
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    if (report.ok()) out = *report;
  }));
  return out;
}

// All columns in one line, to see that only the wanted one is not zero.
std::string Columns(const JudgeReport& r) {
  return StrCat("waiting ", r.waiting, " lost ", r.lost, " dup ", r.duplicated, " again ", r.reprocessed, " order ",
                r.out_of_order, " state ", r.wrong_state, " invented ", r.invented, " unreadable ", r.unreadable,
                " back ", r.epochs_back, " overlap ", r.overlap_count);
}

TEST(JudgeTest, FindsNothingWrongWithACleanHandoff) {
  const JudgeReport report = JudgeOf(Begin(1000, "blue", 0) + Commit(1500, "blue", 0, 8) + Commit(2000, "blue", 8, 12) +
                                     End(2100, "blue", 12) + Begin(2100, "green", 12) +
                                     Commit(5000, "green", 12, 30, "2") + End(6000, "green", 30));
  EXPECT_EQ(Columns(report), "waiting 0 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0");
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.in, 30U);
  EXPECT_EQ(report.out, 30U);
  EXPECT_EQ(report.longest_silence_ms, 3000);
  EXPECT_EQ(report.silence_begin_ms, 2000);
  EXPECT_EQ(report.epochs, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(report.writers.size(), 2U);
  EXPECT_NE(report.Text().find("every record once"), std::string::npos) << report.Text();
  EXPECT_EQ(report.Json()["clean"], Value(true));
}

TEST(JudgeTest, EveryColumnCountsItsOwnFault) {
  const std::string begin = Begin(1000, "blue", 0);
  const struct {
    const char* what;
    std::string sink;
    const char* wanted;
  } rows[] = {
      {"waiting", begin + Commit(1500, "blue", 0, 20),
       "waiting 10 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"lost", begin + Commit(1500, "blue", 0, 10) + Commit(1600, "blue", 12, 30),
       "waiting 0 lost 2 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"duplicated", begin + Commit(1500, "blue", 0, 10) + Commit(1600, "blue", 7, 30),
       "waiting 0 lost 0 dup 3 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"reprocessed",
       begin + Commit(1500, "blue", 0, 10) + End(1600, "blue", 15) + Begin(1700, "green", 10) +
           Commit(1800, "green", 10, 30),
       "waiting 0 lost 0 dup 0 again 5 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"out of order",
       begin + Commit(1500, "blue", 0, 10) + Commit(1600, "blue", 20, 30) + Commit(1700, "blue", 10, 20),
       "waiting 0 lost 0 dup 0 again 0 order 10 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"wrong state",
       begin + Commit(1500, "blue", 0, 29) + "T 1600 blue job-blue 1 - 1\n0 29 " + StrCat(RecordAt(0, 29, kKeys).key) +
           " 99 0\n.\n",
       "waiting 0 lost 0 dup 0 again 0 order 0 state 1 invented 0 unreadable 0 back 0 overlap 0"},
      {"invented", begin + Commit(1500, "blue", 0, 30) + "T 1600 blue job-blue 1 - 2\n0 77 0 1 0\n9 0 0 1 0\n.\n",
       "waiting 0 lost 0 dup 0 again 0 order 0 state 0 invented 2 unreadable 0 back 0 overlap 0"},
      {"unreadable", begin + Commit(1500, "blue", 0, 30) + "what is this\n",
       "waiting 0 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 1 back 0 overlap 0"},
      {"epoch back", begin + Commit(1500, "blue", 0, 10, "3") + Commit(1600, "blue", 10, 30, "2"),
       "waiting 0 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 1 overlap 0"},
      {"overlap",
       begin + Commit(1500, "blue", 0, 10) + Begin(1600, "green", 10) + Commit(1700, "green", 10, 30) +
           End(1800, "blue", 10),
       "waiting 0 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 1"},
      {"a commit that has not ended",
       begin + Commit(1500, "blue", 0, 10) + "T 1600 blue job-blue 1 - 1\n" + RowOf(0, 10),
       "waiting 20 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
      {"nothing at all", "",
       "waiting 30 lost 0 dup 0 again 0 order 0 state 0 invented 0 unreadable 0 back 0 overlap 0"},
  };
  for (const auto& row : rows) EXPECT_EQ(Columns(JudgeOf(row.sink)), row.wanted) << row.what;
}

TEST(JudgeTest, SaysWhenAndWhoOverlapped) {
  const JudgeReport report = JudgeOf(Begin(1000, "blue", 0) + Commit(1500, "blue", 0, 10) + Begin(1600, "green", 10) +
                                     Commit(1700, "green", 10, 30) + End(1800, "blue", 10));
  EXPECT_EQ(report.overlaps.size(), 1U);
  EXPECT_EQ(report.overlaps[0].begin_ms, 1600);
  EXPECT_EQ(report.overlaps[0].end_ms, 1700);  // the last sign of life of green
  EXPECT_FALSE(report.clean());
  EXPECT_NE(report.Text().find("blue (job job-blue, epoch 1) and green"), std::string::npos) << report.Text();
}

}  // namespace
}  // namespace baton::practice
