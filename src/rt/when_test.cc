// Waiting for several tasks, and for one no longer than a deadline.
#include "rt/when.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "rt/event.h"
#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

Task<int> After(Loop& loop, Duration delay, int value) {
  const Counted counted;
  co_await loop.Sleep(delay);
  co_return value;
}
Task<int> AtOnce(int value) { co_return value; }
Task<int> NeverDone(Loop& loop) { return After(loop, Duration::max(), 0); }

std::vector<Task<int>> Tasks(auto... tasks) {
  std::vector<Task<int>> result;
  (result.push_back(std::move(tasks)), ...);
  return result;
}

// ---- WhenAll ----

TEST(WhenAllTest, GivesAllResultsInTheOrderOfTheTasks) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    EXPECT_EQ(co_await WhenAll(Tasks(After(loop, seconds(3), 1), AtOnce(2), After(loop, seconds(1), 3))),
              (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(3));  // beside each other
    EXPECT_EQ(Counted::alive(), 0);
    EXPECT_TRUE((co_await WhenAll(std::vector<Task<int>>())).empty());
    co_await WhenAll(std::vector<Task<void>>());

    int done = 0;
    auto count = [&]() -> Task<void> {
      co_await loop.Sleep(seconds(1));
      ++done;
    };
    std::vector<Task<void>> tasks;
    tasks.push_back(count());
    tasks.push_back(count());
    co_await WhenAll(std::move(tasks));
    EXPECT_EQ(done, 2);

    auto text = []() -> Task<std::string> { co_return "text"; };
    auto [number, word, nothing] = co_await WhenAll(After(loop, seconds(1), 4), text(), count());
    EXPECT_EQ(number, 4);
    EXPECT_EQ(word, "text");
    EXPECT_EQ(nothing, std::monostate());
    EXPECT_EQ(done, 3);
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(WhenAllTest, OnTheRealLoopTasksStartFromLeftToRight) {
  RealLoop loop(1);
  std::string order;
  auto letter = [&](char c) -> Task<void> {
    order.push_back(c);
    co_return;
  };
  auto program = [&]() -> Task<void> { (void)co_await WhenAll(letter('a'), letter('b'), letter('c'), letter('d')); };
  loop.Run(program());
  EXPECT_EQ(order, "abcd");
}

TEST(WhenAllTest, DroppedFromOutsideItDropsAllItsTasks) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    scope.Spawn(
        Do([&]() -> Task<void> { (void)co_await WhenAll(Tasks(NeverDone(loop), AtOnce(1), NeverDone(loop))); }));
    scope.Spawn(Do([&]() -> Task<void> { (void)co_await WhenAll(NeverDone(loop), AtOnce(1), NeverDone(loop)); }));
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(Counted::alive(), 4);
    scope.CancelAll();
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

// ---- WhenAny ----

TEST(WhenAnyTest, GivesTheFirstResultAndDropsTheOthersBeforeItReturns) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    const AnyResult<int> first =
        co_await WhenAny(Tasks(After(loop, seconds(3), 1), After(loop, seconds(1), 2), NeverDone(loop)));
    EXPECT_EQ(first.index, 1);
    EXPECT_EQ(first.value, 2);
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(1));
    EXPECT_EQ(Counted::alive(), 0);

    auto wait = [&](Duration d) -> Task<void> { co_await loop.Sleep(d); };
    std::vector<Task<void>> tasks;
    tasks.push_back(wait(seconds(2)));
    tasks.push_back(wait(seconds(1)));
    EXPECT_EQ((co_await WhenAny(std::move(tasks))).index, 1);
  };
  loop.Run(program());
}

TEST(WhenAnyTest, SeveralThatFinishAtOnceGiveOneResult) {
  std::set<size_t> winners;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      const AnyResult<int> first = co_await WhenAny(Tasks(AtOnce(0), AtOnce(1), AtOnce(2)));
      EXPECT_EQ(static_cast<int>(first.index), first.value);
      winners.insert(first.index);
    };
    loop.Run(program());
  }
  EXPECT_EQ(winners.size(), 3);  // each may be the first
}

TEST(WhenAnyTest, DroppedFromOutsideItDropsAllItsTasks) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> { (void)co_await WhenAny(Tasks(NeverDone(loop), NeverDone(loop))); }));
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(Counted::alive(), 2);
    scope.CancelAll();
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(WhenAnyDeathTest, OfNothingEndsTheProcess) {
  VirtualLoop loop(1);
  EXPECT_DEATH((void)loop.Run(WhenAny(std::vector<Task<int>>())), "WhenAny of nothing would wait forever");
}

// ---- WithDeadline ----

TEST(WithDeadlineTest, GivesTheResultOrTheError) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    const Deadline deadline = Deadline::After(loop, seconds(2));
    EXPECT_EQ((co_await WithDeadline(deadline, "one", After(loop, seconds(1), 1))).value(), 1);
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(1));
    const Result<int> late = co_await WithDeadline(deadline, "the hub's answer", After(loop, seconds(5), 1));
    EXPECT_EQ(late.error().ToString(), "deadline_exceeded: deadline passed while waiting for the hub's answer");
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(2));
    EXPECT_EQ(Counted::alive(), 0);  // dropped before the waiting task goes on
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, PassesAResultThroughAndMakesOneOfVoid) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto fails = []() -> Task<Result<int>> { co_return NotFoundError("no"); };
    const Result<int> failed = co_await WithDeadline(Deadline::Never(), "it", fails());
    EXPECT_EQ(failed.error().message(), "no");
    auto nothing = [&]() -> Task<void> { co_await loop.Sleep(seconds(1)); };
    const Result<void> fine = co_await WithDeadline(Deadline::Never(), "it", nothing());
    EXPECT_TRUE(fine.ok());
    auto moved = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
    EXPECT_EQ(**co_await WithDeadline(Deadline::Never(), "it", moved()), 3);
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, AResultAtTheVeryInstantWins) {
  // Whichever timer was set first, and however many turns the result takes at that instant.
  auto plain = [](Loop& loop, Duration delay) -> Task<int> { return After(loop, delay, 7); };
  auto through_fibers = [](Loop& loop, Duration delay) -> Task<int> {
    const std::vector<int> all = co_await WhenAll(Tasks(After(loop, delay, 3), After(loop, delay, 4)));
    for (int n = 0; n < 5; ++n) co_await loop.Yield();
    co_return all[0] + all[1];
  };
  auto with_offload = [](Loop& loop, Duration delay) -> Task<int> {
    co_await loop.Sleep(delay);
    co_return co_await loop.Offload([] { return 7; });
  };
  auto sleeps_again = [](Loop& loop, Duration delay) -> Task<int> {
    co_await loop.Sleep(delay);
    co_await loop.Sleep(Duration(0));
    co_return 7;
  };
  for (uint64_t seed = 0; seed < 40; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      for (int kind = 0; kind < 4; ++kind) {
        Task<int> task = kind == 0   ? plain(loop, seconds(1))
                         : kind == 1 ? through_fibers(loop, seconds(1))
                         : kind == 2 ? with_offload(loop, seconds(1))
                                     : sleeps_again(loop, seconds(1));
        const Deadline deadline = Deadline::After(loop, seconds(1));
        const Result<int> result = co_await WithDeadline(deadline, "it", std::move(task));
        EXPECT_TRUE(result.ok()) << "kind " << kind << ", seed " << seed;
        EXPECT_EQ(loop.Now(), deadline.at());
        // One nanosecond later is too late.
        const Deadline earlier = Deadline::After(loop, seconds(1));
        EXPECT_FALSE((co_await WithDeadline(earlier, "it", plain(loop, seconds(1) + nanoseconds(1)))).ok());
        EXPECT_EQ(loop.Now(), earlier.at());
      }
    };
    loop.Run(program());
  }
}

// On the real loop a deadline may have passed before it was waited for, when the machine is slow: that shows nothing.
bool StartedTooLate(const Result<int>& result) {
  return !result.ok() && result.error().message().starts_with("deadline passed before");
}

TEST(WithDeadlineTest, OnTheRealLoopWhatTheTaskWasWokenForByThenWins) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    for (int n = 0; n < 20; ++n) {
      const Deadline deadline = Deadline::After(loop, milliseconds(1));
      auto sleeper = [&]() -> Task<int> {
        co_await loop.SleepUntil(deadline.at());
        co_return 7;
      };
      const Result<int> result = co_await WithDeadline(deadline, "it", sleeper());
      EXPECT_TRUE(result.ok() || StartedTooLate(result));
    }
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, OnTheRealLoopAnAnswerThatWasThereInTimeWinsThoughTheLoopWasBusy) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    const Deadline deadline = Deadline::After(loop, milliseconds(5));
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> {  // a fiber that works through the deadline
      while (!deadline.Passed(loop)) {
      }
      co_return;
    }));
    auto answer = [&]() -> Task<int> {
      Event arrived;
      loop.Post([&arrived] { arrived.Set(); });  // like a socket: seen when the loop looks
      co_await arrived.Wait();
      co_return 7;
    };
    const Result<int> result = co_await WithDeadline(deadline, "it", answer());
    EXPECT_TRUE(result.ok() || StartedTooLate(result));
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, ADeadlineThatHasPassedStartsNothing) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    co_await loop.Sleep(seconds(10));
    bool ran = false;
    auto runs = [&](Counted) -> Task<int> {
      ran = true;
      co_return 1;
    };
    const Deadline passed[] = {Deadline::At(loop.Now()),           Deadline::At(MonotonicTime()),
                               Deadline::At(MonotonicTime::min()), Deadline::After(loop, Duration(0)),
                               Deadline::After(loop, seconds(-5)), Deadline::After(loop, Duration::min())};
    for (const Deadline deadline : passed) {
      EXPECT_TRUE(deadline.Passed(loop));
      EXPECT_EQ(deadline.Left(loop), Duration::zero());
      const Result<int> result = co_await WithDeadline(deadline, "the hub's answer", runs(Counted()));
      EXPECT_EQ(result.error().ToString(), "deadline_exceeded: deadline passed before waiting for the hub's answer");
      EXPECT_EQ(Counted::alive(), 0);
    }
    EXPECT_FALSE(ran);
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(10));
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, NeverAndTheLongestDurationsDoNotOverflow) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    co_await loop.Sleep(hours(1));
    for (const Duration timeout :
         {Duration::max(), Duration::max() - Duration(1), Duration::max() - Duration(hours(1))}) {
      const Deadline deadline = Deadline::After(loop, timeout);
      EXPECT_TRUE(deadline.never());
      EXPECT_FALSE(deadline.Passed(loop));
      EXPECT_EQ(deadline.Left(loop), Duration::max());
    }
    const Deadline just_told_apart = Deadline::After(loop, Duration::max() - Duration(hours(1)) - Duration(1));
    EXPECT_FALSE(just_told_apart.never());
    EXPECT_EQ(just_told_apart.Left(loop), Duration::max() - Duration(hours(1)) - Duration(1));
    EXPECT_EQ(Deadline::Never().Earlier(just_told_apart), just_told_apart);
    for (const Deadline deadline : {Deadline::Never(), Deadline::At(kForever), just_told_apart}) {
      EXPECT_EQ((co_await WithDeadline(deadline, "it", After(loop, hours(1), 5))).value(), 5);
    }
    // A deadline at the very end of time still passes.
    EXPECT_FALSE((co_await WithDeadline(just_told_apart, "it", NeverDone(loop))).ok());
    EXPECT_EQ(loop.Now(), kForever - Duration(1));
    EXPECT_EQ(loop.WallNow(), WallTime::max());
    EXPECT_TRUE(Deadline::After(loop, Duration(1)).never());
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, OfNestedDeadlinesTheEarlierPassesAndNamesWhatWasWaitedFor) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      auto both = [&](Duration outer, Duration inner) -> Task<Result<int>> {
        const Deadline o = Deadline::After(loop, outer);
        const Deadline i = Deadline::After(loop, inner);
        return WithDeadline(o, "outer", WithDeadline(i, "inner", NeverDone(loop)));
      };
      EXPECT_EQ((co_await both(seconds(1), seconds(2))).error().message(), "deadline passed while waiting for outer");
      EXPECT_EQ((co_await both(seconds(2), seconds(1))).error().message(), "deadline passed while waiting for inner");
      EXPECT_EQ((co_await both(seconds(1), seconds(1))).error().message(), "deadline passed while waiting for inner");
      EXPECT_EQ((co_await both(Duration::max(), seconds(1))).error().message(),
                "deadline passed while waiting for inner");
      EXPECT_EQ(loop.Now().time_since_epoch(), seconds(4));
      EXPECT_EQ(Counted::alive(), 0);
    };
    loop.Run(program());
  }
}

TEST(WithDeadlineTest, WhatAnInnerTaskMakesOfItsDeadlineReachesTheOuterOneAtTheSameInstant) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      const Deadline deadline = Deadline::After(loop, seconds(1));
      auto best_effort = [&]() -> Task<Result<int>> {
        const Result<int> all = co_await WithDeadline(deadline, "all of it", NeverDone(loop));
        co_return all.ok() ? *all : 42;  // what there is so far
      };
      EXPECT_EQ((co_await WithDeadline(deadline, "an answer", best_effort())).value(), 42);
    };
    loop.Run(program());
  }
}

TEST(WithDeadlineTest, OnTheRealLoopTheInnermostOfEqualDeadlinesPassesFirst) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    const Deadline deadline = Deadline::After(loop, milliseconds(2));
    const Result<int> result =
        co_await WithDeadline(deadline, "outer", WithDeadline(deadline, "inner", NeverDone(loop)));
    EXPECT_TRUE(StartedTooLate(result) || result.error().message() == "deadline passed while waiting for inner");
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, KeepsItsWordsWhenItIsAwaitedLater) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Task<Result<int>> task = WithDeadline(Deadline::After(loop, seconds(1)),
                                          StrCat("something with a long name, number ", 17), NeverDone(loop));
    const std::string other = StrCat("something else that takes the memory of ", "it");
    EXPECT_EQ((co_await std::move(task)).error().message(),
              "deadline passed while waiting for something with a long name, number 17");
    EXPECT_FALSE(other.empty());
  };
  loop.Run(program());
}

TEST(WithDeadlineTest, DroppedFromOutsideAtEveryStepItLeavesNoTimer) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      scope.Spawn(Do([&]() -> Task<void> {
        (void)co_await WithDeadline(Deadline::After(loop, milliseconds(5)), "it", After(loop, milliseconds(5), 1));
      }));
      co_await loop.Sleep(milliseconds(5));
      for (uint64_t n = 0; n < seed % 5; ++n) co_await loop.Yield();
      scope.CancelAll();
      EXPECT_EQ(Counted::alive(), 0);
    };
    loop.Run(program());
  }  // ~Loop checks that no timer is left
}

}  // namespace
}  // namespace baton::rt
