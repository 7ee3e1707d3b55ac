// What the store keeps for the past and for slow watchers is bounded by bytes: few large values fill no memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

constexpr size_t kLarge = 1000;
constexpr size_t kHistoryMax = 20 * kLarge;
constexpr size_t kBacklogMax = 10 * kLarge;

class StoreBytesTest : public ::testing::Test {
 protected:
  StoreBytesTest() { h.Open({.watch_backlog_bytes_max = kBacklogMax, .history_bytes_max = kHistoryMax}); }

  void PutLarge(int times) {
    for (int i = 0; i < times; ++i) h.Put("a", std::string(kLarge, 'v'));
  }
  rt::Task<void> Rest() { co_await h.loop().Sleep(seconds(1)); }
  void Settle() { h.Run(Rest()); }

  Harness h{EngineKind::kFake};
};

TEST_F(StoreBytesTest, ThePastIsCompactedWhenItHasTooManyBytes) {
  for (int i = 0; i < 200; ++i) {
    PutLarge(1);
    EXPECT_LE(h.store().history_bytes(), kHistoryMax + 2 * kLarge) << i;
  }
  Settle();
  EXPECT_GT(h.store().compacted(), Revision(180));
  EXPECT_EQ(h.store().OpenWatch("", Revision(100)).error().kind(), ErrorKind::kGone);
  EXPECT_GT(h.store().history_bytes(), 0U) << "what fits stays";
  EXPECT_EQ(h.Value("a").size(), kLarge);
}

TEST_F(StoreBytesTest, WhatIsNotThePastIsNotCounted) {
  const std::string value(kLarge, 'v');
  for (int i = 0; i < 60; ++i) h.Put("k" + std::to_string(i), value);
  Settle();
  EXPECT_EQ(h.store().compacted(), Revision(0)) << "sixty objects, none of them changed";
  EXPECT_EQ(h.store().size(), 60U);
}

TEST_F(StoreBytesTest, ADeletedValueIsPast) {
  for (int i = 0; i < 30; ++i) {
    PutLarge(1);
    h.Delete("a");
  }
  Settle();
  EXPECT_GT(h.store().compacted(), Revision(0));
  EXPECT_LE(h.store().history_bytes(), kHistoryMax);
}

TEST_F(StoreBytesTest, TheBytesAreTheSameAfterAnotherStart) {
  PutLarge(70);
  Settle();
  const size_t bytes = h.store().history_bytes();
  const StoreLimits limits{.history_bytes_max = kHistoryMax};
  h.Open(limits);
  EXPECT_EQ(h.store().history_bytes(), bytes);
  h.Compact(h.store().revision()).value();
  EXPECT_EQ(h.store().history_bytes(), 0U);
}

TEST_F(StoreBytesTest, AStoreThatBeginsWithTooMuchOfThePastForgetsIt) {
  h.Open();
  PutLarge(50);
  EXPECT_GT(h.store().history_bytes(), kHistoryMax);
  h.Open({.history_bytes_max = kHistoryMax});
  Settle();
  EXPECT_LE(h.store().history_bytes(), kHistoryMax);
}

TEST_F(StoreBytesTest, ADiskThatTakesNoCompactionIsAskedAgainLater) {
  size_t calls = 0;
  PutLarge(17);  // two more, and it is too much
  h.fake_disk().fate = [&calls] { return ++calls == 3 ? FakeDisk::Fate::kFails : FakeDisk::Fate::kWorks; };
  PutLarge(2);
  Settle();
  EXPECT_EQ(calls, 3U);
  EXPECT_EQ(h.store().compacted(), Revision(0));
  PutLarge(10);
  Settle();
  EXPECT_GT(h.store().compacted(), Revision(0));
  EXPECT_LE(h.store().history_bytes(), kHistoryMax);
}

TEST_F(StoreBytesTest, AWatcherThatFallsTooManyBytesBehindIsCutOff) {
  PutLarge(1);
  const auto slow = h.store().OpenWatch("a", Revision(1)).value();
  const auto slower = h.store().OpenWatch("a", Revision(1)).value();
  const auto fast = h.store().OpenWatch("a", Revision(1)).value();
  const auto elsewhere = h.store().OpenWatch("b", Revision(1)).value();
  PutLarge(5);
  EXPECT_EQ(slow->Poll().value().size(), 5U);
  EXPECT_EQ(fast->Poll().value().size(), 5U);
  for (int i = 0; i < 6; ++i) {
    PutLarge(1);
    EXPECT_EQ(fast->Poll().value().size(), 1U);
  }
  EXPECT_EQ(slower->Poll().error().kind(), ErrorKind::kGone);
  EXPECT_EQ(slow->Poll().value().size(), 6U) << "the one beside it is not as far behind";
  h.Put("b", "1");
  EXPECT_EQ(elsewhere->Poll().value().size(), 1U);
}

TEST_F(StoreBytesTest, OneChangeOfManyBytesDoesNotEndWhoReadsAll) {
  h.Put("a", std::string(kBacklogMax / 2, 'x'));
  const auto watch = h.store().OpenWatch("", Revision(1)).value();
  for (int i = 0; i < 5; ++i) {
    h.Put("a", std::string(kBacklogMax / 2, 'y'));
    EXPECT_EQ(watch->Poll().value().size(), 1U);
  }
}

TEST_F(StoreBytesTest, AWatchFromTooFarBackIsToldToListAgain) {
  PutLarge(15);
  EXPECT_EQ(h.store().OpenWatch("", Revision(1)).error().ToString(),
            "gone: the changes of '' since revision 1 are more than 10000 bytes: list again");
  EXPECT_EQ(h.store().OpenWatch("", Revision(10)).value()->Poll().value().size(), 5U);
  EXPECT_TRUE(h.store().OpenWatch("b", Revision(1)).ok()) << "nothing of it is far behind";
}

TEST_F(StoreBytesTest, OneCallHandsOutSomeMegabytes) {
  h.Open();
  constexpr size_t kMegabyte = size_t{1} << 20;
  const auto watch = h.store().OpenWatch("", Revision(0)).value();
  for (int i = 0; i < 10; ++i) h.Put("a", std::string(kMegabyte, 'm'));
  const auto past = h.store().OpenWatch("", Revision(0)).value();
  for (Watch* one : {watch.get(), past.get()}) {
    std::vector<size_t> counts;
    for (auto events = one->Poll().value(); !events.empty(); events = one->Poll().value()) {
      counts.push_back(events.size());
    }
    EXPECT_THAT(counts, ::testing::ElementsAre(4, 4, 2));
  }
}

}  // namespace
}  // namespace baton::store
