// What the store does when its engine fails, or its log makes no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "rt/scope.h"
#include "rt/when.h"
#include "store/testing/harness.h"

namespace baton::store {
namespace {

using Fate = FakeDisk::Fate;
using testing::ElementsAre;
using testing::HasSubstr;

class StoreFailureTest : public testing::Test {
 protected:
  StoreFailureTest() {
    h.fake_disk().fate = [this] {
      if (fates.empty()) return Fate::kWorks;
      const Fate next = fates.front();
      fates.pop_front();
      return next;
    };
    h.Open();
  }

  // One after another, each decided before the disk has answered the first.
  std::vector<std::string> CommitInOrder(std::vector<Transaction> transactions) {
    return h.Run([](Harness& harness, std::vector<Transaction> all) -> rt::Task<std::vector<std::string>> {
      std::vector<std::string> answers(all.size());
      rt::Scope scope(harness.loop());
      for (size_t i = 0; i < all.size(); ++i) {
        scope.Spawn([](Harness& h, Transaction transaction, std::string& answer) -> rt::Task<void> {
          const Result<Revision> result = co_await h.store().Commit(std::move(transaction));
          answer = result.ok() ? std::to_string(result->value()) : result.error().ToString();
        }(harness, std::move(all[i]), answers[i]));
        for (int turns = 0; turns < 20; ++turns) co_await harness.loop().Yield();  // time stands still
      }
      co_await scope.Join();
      co_return answers;
    }(h, std::move(transactions)));
  }

  Harness h{EngineKind::kFake};
  std::deque<Fate> fates;  // of the engine's next calls
};

TEST_F(StoreFailureTest, WhatIsQueuedBehindAFailedWriteFailsWithIt) {
  h.Put("a", "1");
  fates = {Fate::kFails};
  EXPECT_THAT(CommitInOrder({Transaction().Put("a", "2"), Transaction().Put("b", "1"), Transaction().Put("a", "3")}),
              testing::Each("unavailable: the disk failed"));
  EXPECT_EQ(h.store().revision(), Revision(1));
  EXPECT_EQ(h.List(), "a=1");
  EXPECT_EQ(h.Put("c", "1"), Revision(2)) << "revisions are given out again";
  EXPECT_EQ(h.List(), "a=1 c=1");
  EXPECT_THAT(ToTexts(h.store().OpenWatch("", Revision(0)).value()->Poll().value()),
              ElementsAre("1:put a=1@1(new)", "2:put c=1@2(new)"));
}

TEST_F(StoreFailureTest, AFullDiskIsA507) {
  fates = {Fate::kFailsNoSpace};
  const Result<Revision> result = h.Commit(Transaction().Put("a", "1"));
  EXPECT_EQ(result.error().kind(), ErrorKind::kNoSpace);
  EXPECT_EQ(result.error().ToStatus().code, 507);
  EXPECT_EQ(result.error().ToStatus().reason, "InsufficientStorage");
  EXPECT_EQ(h.Put("a", "1"), Revision(1));
}

TEST_F(StoreFailureTest, WritesGatherWhileOneIsUnderWay) {
  std::vector<Transaction> many;
  for (int i = 0; i < 50; ++i) many.push_back(Transaction().Put("k" + std::to_string(i), "v"));
  CommitInOrder(many);
  EXPECT_EQ(h.fake_disk().writes, 2) << "the first alone, the others together";
  EXPECT_EQ(h.store().revision(), Revision(50));
}

TEST_F(StoreFailureTest, AConflictWithAWriteThatFailsIsNone) {
  h.Put("a", "1");
  fates = {Fate::kFails};
  // The second is decided while the first is under way, and again when it has failed.
  EXPECT_THAT(CommitInOrder(
                  {Transaction().If("a", Revision(1)).Put("a", "2"), Transaction().If("a", Revision(1)).Put("a", "3")}),
              ElementsAre("unavailable: the disk failed", "2"));
  EXPECT_EQ(h.List(), "a=3");
}

TEST_F(StoreFailureTest, AValueIsMadeOnceWithTheRevisionItGetsInTheEnd) {
  h.Put("a", "1");
  fates = {Fate::kFails};
  std::vector<int64_t> made;
  const auto make = [&made](Revision revision) {
    made.push_back(revision.value());
    return "made at " + std::to_string(revision.value());
  };
  // The third is first decided on top of the others, which fail; then it is the first to get their revision.
  EXPECT_THAT(CommitInOrder({Transaction().Put("a", "2"), Transaction().Put("a", "3"),
                             Transaction().If("a", Revision(1)).PutMade("a", 20, make)}),
              ElementsAre("unavailable: the disk failed", "unavailable: the disk failed", "2"));
  EXPECT_THAT(made, ElementsAre(2));
  EXPECT_EQ(h.List(), "a=made at 2");

  // One that fails was made, and its revision is another's now.
  fates = {Fate::kFails};
  EXPECT_THAT(CommitInOrder({Transaction().PutMade("a", 20, make)}), ElementsAre("unavailable: the disk failed"));
  EXPECT_THAT(CommitInOrder({Transaction().PutMade("b", 20, make)}), ElementsAre("3"));
  EXPECT_THAT(made, ElementsAre(2, 3, 3));
  EXPECT_EQ(h.List(), "a=made at 2 b=made at 3");
}

TEST_F(StoreFailureTest, AConflictWithAWriteUnderWayIsToldWhenThatIsOnDisk) {
  h.Put("a", "1");
  EXPECT_THAT(
      CommitInOrder({Transaction().If("a", Revision(1)).Put("a", "2"), Transaction().If("a", Revision(1)).Put("a", "3"),
                     Transaction().If("a", Revision(2)).Put("a", "4")}),
      ElementsAre("2", "conflict: 'a' is at revision 2, not 1", "3"));
  EXPECT_EQ(h.List(), "a=4");
}

TEST_F(StoreFailureTest, NothingToDoIsNotToldBeforeItIsSo) {
  h.Put("a", "1");
  fates = {Fate::kFails};
  // While the first is under way there seems to be nothing to delete.
  EXPECT_THAT(
      CommitInOrder({Transaction().Delete("a"), Transaction().Delete("a"), Transaction().If("a", Revision(1))}),
      ElementsAre("unavailable: the disk failed", "2", "conflict: 'a' does not exist, so it is not at revision 1"));
  EXPECT_EQ(h.List(), "");
}

TEST_F(StoreFailureTest, AFailedWriteThatIsOnDiskAnywayIsTakenBackByTheNext) {
  h.Put("a", "1");
  fates = {Fate::kFailsButIs};
  EXPECT_FALSE(h.Commit(Transaction().Put("a", "2").Put("b", "2")).ok());
  EXPECT_EQ(h.List(), "a=1");
  EXPECT_EQ(h.Put("c", "3"), Revision(2));
  h.Open();
  EXPECT_EQ(h.List(), "a=1 c=3");
}

TEST_F(StoreFailureTest, AFailedWriteThatIsOnDiskAnywayCountsAfterACrash) {
  h.Put("a", "1");
  fates = {Fate::kFailsButIs};
  EXPECT_FALSE(h.Commit(Transaction().Put("a", "2")).ok());
  h.Open();
  EXPECT_EQ(h.List(), "a=2");
  EXPECT_EQ(h.store().revision(), Revision(2));
}

TEST_F(StoreFailureTest, AFailedWriteThatIsOnDiskAnywayIsTakenBackByClose) {
  h.Put("a", "1");
  fates = {Fate::kFailsButIs};
  EXPECT_FALSE(h.Commit(Transaction().Put("a", "2")).ok());
  h.Run(h.store().Close());
  h.Open();
  EXPECT_EQ(h.List(), "a=1");
  EXPECT_EQ(h.store().revision(), Revision(1));
}

TEST_F(StoreFailureTest, WatchesAndReadsSeeNothingOfAFailedWrite) {
  h.Put("a", "1");
  const auto watch = h.store().OpenWatch("", Revision(1)).value();
  fates = {Fate::kFails, Fate::kFails};
  EXPECT_FALSE(h.Commit(Transaction().Put("a", "2")).ok());
  EXPECT_FALSE(h.Commit(Transaction().Delete("a")).ok());
  EXPECT_TRUE(watch->Poll().value().empty());
  EXPECT_EQ(watch->position(), Revision(1));
  h.Put("a", "3");
  EXPECT_THAT(ToTexts(watch->Poll().value()), ElementsAre("2:put a=3@1(was 1)"));
}

TEST_F(StoreFailureTest, AFailedCompactionForgetsNothing) {
  h.Put("a", "1");
  h.Put("a", "2");
  fates = {Fate::kFails};
  EXPECT_EQ(h.Compact(Revision(2)).error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(h.store().compacted(), Revision(0));
  EXPECT_EQ(h.Value("a", Revision(1)), "1");
  h.Compact(Revision(2)).value();
  EXPECT_EQ(h.store().compacted(), Revision(2));
}

TEST_F(StoreFailureTest, AFailedCompactionThatIsOnDiskAnywayCountsWhenOpenedAgain) {
  for (int i = 1; i <= 6; ++i) h.Put("a", std::to_string(i));
  fates = {Fate::kFailsButIs};
  EXPECT_FALSE(h.Compact(Revision(5)).ok());
  EXPECT_EQ(h.Value("a", Revision(1)), "1");
  h.Compact(Revision(3)).value();
  EXPECT_EQ(h.store().compacted(), Revision(3));
  EXPECT_EQ(h.Value("a", Revision(4)), "4");
  h.Open();
  EXPECT_EQ(h.store().compacted(), Revision(5));
  EXPECT_EQ(h.Value("a", Revision(5)), "5");
  EXPECT_EQ(h.Value("a"), "6");
}

TEST_F(StoreFailureTest, ACompactionGoesOnWhenItsCallerHasLeft) {
  for (int i = 0; i < 10; ++i) h.Put("a", std::to_string(i));
  h.Run([](Harness& harness) -> rt::Task<void> {
    {
      rt::Scope scope(harness.loop());
      scope.Spawn([](Harness& h) -> rt::Task<void> {
        EXPECT_TRUE((co_await h.store().Compact(Revision(9))).ok());
        ADD_FAILURE() << "it was to be left";
      }(harness));
      for (int turns = 0; turns < 20; ++turns) co_await harness.loop().Yield();
    }
    co_await harness.loop().Sleep(seconds(1));
  }(h));
  EXPECT_EQ(h.store().compacted(), Revision(9));
  EXPECT_EQ(h.fake_disk().log.size(), 2U);
}

TEST_F(StoreFailureTest, CompactionTouchesOnlyWhatChanged) {
  for (int i = 0; i < 5000; ++i) h.Put("k" + std::to_string(i % 50), std::to_string(i));
  h.Compact(Revision(4000)).value();
  EXPECT_EQ(h.fake_disk().log.size(), 1050U);
  h.Compact(Revision(5000)).value();
  EXPECT_EQ(h.fake_disk().log.size(), 50U);
  EXPECT_EQ(h.store().size(), 50U);
}

TEST_F(StoreFailureTest, ALogThatMakesNoSenseIsCorruptAndNotTheEndOfTheProcess) {
  h.Put("a", "1");
  h.Drop();
  h.fake_disk().log[{Revision(1), 1}] = {Revision(1), {"a", std::make_shared<const std::string>("again")}};
  const Result<void> opened = h.TryOpen();
  EXPECT_EQ(opened.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(opened.error().message(), HasSubstr("'a' at revision 1"));
}

}  // namespace
}  // namespace baton::store
