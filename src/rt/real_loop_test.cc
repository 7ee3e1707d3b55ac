// The real loop: real time, other threads. Bounds on time are one-sided, so that a slow machine does not fail them.
#include "rt/real_loop.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rt/event.h"
#include "rt/scope.h"
#include "rt/semaphore.h"
#include "rt/test_support.h"
#include "rt/when.h"

namespace baton::rt {
namespace {

Duration CpuTimeOfThisProcess() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

TEST(RealLoopTest, RunsFibersInTheOrderTheyWereWoken) {
  RealLoop loop(1);
  std::vector<int> order;
  auto child = [&](int n) -> Task<void> {
    order.push_back(n);
    co_await loop.Yield();
    order.push_back(n + 100);
  };
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    for (int n = 0; n < 100; ++n) scope.Spawn(child(n));
    co_await scope.Join();
  };
  loop.Run(program());
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(RealLoopTest, AFiberDroppedWhileItIsQueuedLeavesTheOrderOfTheOthers) {
  RealLoop loop(1);
  std::vector<int> order;
  auto child = [&](int n) -> Task<void> {
    order.push_back(n);
    co_return;
  };
  auto program = [&]() -> Task<void> {
    Scope kept(loop);
    {
      Scope dropped(loop);
      for (int n = 0; n < 10; ++n) (n % 3 == 0 ? dropped : kept).Spawn(child(n));
    }
    co_await kept.Join();
  };
  loop.Run(program());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 4, 5, 7, 8}));
}

TEST(RealLoopTest, TimersRingInOrderAndNotEarly) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    std::vector<int> order;
    const MonotonicTime start = loop.Now();
    auto sleeper = [&](int ms) -> Task<void> {
      co_await loop.SleepUntil(start + milliseconds(ms));
      EXPECT_GE(loop.Now(), start + milliseconds(ms));
      order.push_back(ms);
    };
    Scope scope(loop);
    for (const int ms : {30, 10, 0, 20, 5, 15, 25}) scope.Spawn(sleeper(ms));
    co_await scope.Join();
    EXPECT_EQ(order, (std::vector<int>{0, 5, 10, 15, 20, 25, 30}));
  };
  loop.Run(program());
}

TEST(RealLoopTest, AnEarlierTimerSetWhileALaterOneIsWaitedForRingsFirst) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    std::string order;
    const MonotonicTime start = loop.Now();
    auto sleeper = [&](char name, Duration after) -> Task<void> {
      co_await loop.SleepUntil(start + after);
      order.push_back(name);
    };
    Scope late(loop);
    late.Spawn(sleeper('z', hours(1)));
    Event event;
    std::thread thread([&] {
      std::this_thread::sleep_for(milliseconds(2));
      loop.Post([&] { event.Set(); });
    });
    co_await event.Wait();  // meanwhile the alarm is set for an hour
    thread.join();
    Scope scope(loop);
    scope.Spawn(sleeper('b', milliseconds(10)));
    scope.Spawn(sleeper('a', milliseconds(5)));
    {
      Scope dropped(loop);  // one that is cancelled leaves an alarm for nothing
      dropped.Spawn(sleeper('x', milliseconds(3)));
      co_await loop.Yield();
    }
    co_await scope.Join();
    EXPECT_EQ(order, "ab");
  };
  loop.Run(program());
}

TEST(RealLoopTest, TenThousandFibersMaySleepAtOnce) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    int woken = 0;
    auto sleeper = [&](Duration d) -> Task<void> {
      const MonotonicTime due = loop.Now() + d;
      co_await loop.Sleep(d);
      EXPECT_GE(loop.Now(), due);
      ++woken;
    };
    Scope scope(loop);
    for (int n = 0; n < 10'000; ++n) scope.Spawn(sleeper(microseconds((n * 7919) % 50'000)));
    for (int n = 0; n < 1'000; ++n) scope.Spawn(sleeper(hours(1)));  // these are cancelled
    while (woken < 10'000) co_await loop.Sleep(milliseconds(1));
    scope.CancelAll();
  };
  loop.Run(program());
}

TEST(RealLoopTest, AnIdleLoopUsesNoProcessorTime) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    Event never;
    for (int n = 0; n < 100; ++n) scope.Spawn(Do([&]() -> Task<void> { co_await never.Wait(); }));
    co_await loop.Sleep(milliseconds(1));
    const Duration before = CpuTimeOfThisProcess();
    co_await loop.Sleep(milliseconds(50));
    EXPECT_LT(CpuTimeOfThisProcess() - before, milliseconds(25));
  };
  loop.Run(program());
}

TEST(RealLoopTest, ABusyFiberDoesNotKeepTimersAndPostsWaiting) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    bool stop = false;
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> {
      while (!stop) co_await loop.Yield();
    }));
    co_await loop.Sleep(milliseconds(2));
    Event posted;
    loop.Post([&] { posted.Set(); });
    co_await posted.Wait();
    EXPECT_EQ(co_await loop.Offload([] { return 5; }), 5);
    stop = true;
    co_await scope.Join();
  };
  loop.Run(program());
}

TEST(RealLoopTest, CallbacksThatPostThemselvesAgainDoNotKeepFibersWaiting) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    bool stop = false;
    std::function<void()> again = [&] {
      if (!stop) loop.Post(again);
    };
    again();
    co_await loop.Sleep(milliseconds(2));
    for (int n = 0; n < 10; ++n) co_await loop.Yield();
    stop = true;
    co_await loop.Sleep(milliseconds(1));  // the last of them runs while `again` is still there
  };
  loop.Run(program());
}

TEST(RealLoopTest, TheWallClockIsTheSystemsAndTheMonotonicOneNeverGoesBack) {
  RealLoop loop(1);
  EXPECT_GT(loop.WallNow().time_since_epoch(), hours(24 * 365 * 50));
  MonotonicTime last = loop.Now();
  for (int n = 0; n < 1000; ++n) {
    const MonotonicTime now = loop.Now();
    EXPECT_GE(now, last);
    last = now;
  }
}

// ---- other threads ----

TEST(RealLoopTest, PostRunsOnTheLoopFromAnyThread) {
  RealLoop loop(1);
  constexpr int kThreads = 4;
  constexpr int kPosts = 2000;
  const std::thread::id loop_thread = std::this_thread::get_id();
  auto program = [&]() -> Task<void> {
    std::vector<int> next(kThreads);  // touched on the loop only
    int total = 0;
    Event all;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int n = 0; n < kPosts; ++n) {
          loop.Post([&, t, n] {
            EXPECT_EQ(std::this_thread::get_id(), loop_thread);
            EXPECT_EQ(loop.running(), nullptr);
            EXPECT_EQ(next[t]++, n);  // the order of each thread
            if (++total == kThreads * kPosts) all.Set();
          });
        }
      });
    }
    co_await all.Wait();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(total, kThreads * kPosts);
  };
  loop.Run(program());
}

TEST(RealLoopTest, PostWakesALoopThatSleeps) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event event;
    std::thread thread([&] {
      std::this_thread::sleep_for(milliseconds(5));
      loop.Post([&] { event.Set(); });
    });
    EXPECT_TRUE((co_await WithDeadline(Deadline::After(loop, minutes(1)), "the post",
                                       Do([&]() -> Task<void> { co_await event.Wait(); })))
                    .ok());
    thread.join();
  };
  loop.Run(program());
}

TEST(RealLoopTest, WhatIsPostedWhileNothingRunsWaitsForTheNextRun) {
  RealLoop loop(1);
  bool ran = false;
  loop.Post([&] { ran = true; });
  EXPECT_FALSE(ran);
  auto wait = [&]() -> Task<void> { co_await loop.Sleep(nanoseconds(1)); };  // a yield alone looks at no sockets
  loop.Run(wait());
  EXPECT_TRUE(ran);
  loop.Post([held = Counted()] {});  // never run: destroyed with the loop
}

TEST(RealLoopTest, OffloadRunsOnAnotherThreadAndBringsTheResultBack) {
  RealLoop loop(2);
  const std::thread::id loop_thread = std::this_thread::get_id();
  auto program = [&]() -> Task<void> {
    EXPECT_NE(co_await loop.Offload([] { return std::this_thread::get_id(); }), loop_thread);
    EXPECT_EQ(std::this_thread::get_id(), loop_thread);
    auto text = std::make_unique<std::string>("moved in");
    const std::unique_ptr<std::string> back = co_await loop.Offload([text = std::move(text)]() mutable {
      text->append(" and out");
      return std::move(text);
    });
    EXPECT_EQ(*back, "moved in and out");
    std::atomic<bool> done = false;
    co_await loop.Offload([&] { done = true; });
    EXPECT_TRUE(done);
  };
  loop.Run(program());
}

TEST(RealLoopTest, OffloadedWorkRunsBesideTheLoopAndOnAllThreads) {
  RealLoop loop(2);
  auto program = [&]() -> Task<void> {
    // Each job waits for the other and for the loop: this ends only when all three go on at once.
    std::atomic<int> arrived = 0;
    const auto meet = [&arrived] {
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
      return std::this_thread::get_id();
    };
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> {
      while (arrived < 2) co_await loop.Yield();
      ++arrived;
    }));
    const auto [a, b] = co_await WhenAll(loop.Offload(meet), loop.Offload(meet));
    EXPECT_NE(a, b);
    co_await scope.Join();
  };
  loop.Run(program());
}

// The job's thread may be held up between the flag and the loop's being told: so of many tries the best one counts.
TEST(RealLoopTest, WhoWaitedForThePoolGoesBeforeThoseWhoAreReady) {
  constexpr int kReady = 2000;
  RealLoop loop(1);
  std::atomic<bool> job_done = false;
  int turns_since = 0;
  int fewest = kReady;
  auto busy = [&](const bool& stop) -> Task<void> {
    while (!stop) {
      if (job_done) ++turns_since;
      co_await loop.Yield();
    }
  };
  auto program = [&]() -> Task<void> {
    bool stop = false;
    Scope scope(loop);
    for (int i = 0; i < kReady; ++i) scope.Spawn(busy(stop));
    for (int i = 0; i < 50 && fewest > kReady / 4; ++i) {
      job_done = false;
      turns_since = 0;
      co_await loop.Offload([&job_done] { job_done = true; });
      fewest = std::min(fewest, turns_since);
    }
    stop = true;
    co_await scope.Join();
  };
  loop.Run(program());
  EXPECT_LE(fewest, kReady / 4);
}

TEST(RealLoopTest, WhoWaitedForThePoolMayBeDroppedByAnotherWhoDid) {
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> done = 0;  // outlives the loop, whose end waits for the job that nobody waits for any more
    int resumed = 0;
    RealLoop loop(2);
    auto program = [&]() -> Task<void> {
      Scope both(loop);
      auto one = [&]() -> Task<void> {
        // Neither ends before the other has begun: one that had not would be dropped, and never end.
        co_await loop.Offload([&done] {
          ++done;
          while (done < 2) std::this_thread::yield();
        });
        ++resumed;
        both.CancelAll();
      };
      both.Spawn(one());
      both.Spawn(one());
      while (done < 2) co_await loop.Yield();
      co_await both.Join();
    };
    loop.Run(program());
    EXPECT_GE(resumed, 1);
  }
}

TEST(RealLoopTest, WaitsForOffloadedWorkMayBeDropped) {
  auto ran = std::make_shared<std::atomic<int>>(0);
  int started = 0;
  {
    RealLoop loop(2);
    auto program = [&]() -> Task<void> {
      for (int round = 0; round < 50; ++round) {
        Scope scope(loop);
        for (int n = 0; n < 20; ++n) {
          scope.Spawn(Do([&]() -> Task<void> {
            const Counted counted;
            ++started;
            const std::string result = co_await loop.Offload([ran] {
              ++*ran;
              return std::string(100, 'x');
            });
            EXPECT_EQ(result.size(), 100);
          }));
        }
        for (int n = 0; n < round % 5; ++n) co_await loop.Yield();
      }
    };
    loop.Run(program());
    EXPECT_EQ(Counted::alive(), 0);
  }  // waits for jobs that still run
  EXPECT_GT(started, 100);
  EXPECT_EQ(*ran, started);
}

TEST(RealLoopTest, HeavyParallelUseLosesNothing) {
  RealLoop loop(4);
  auto program = [&]() -> Task<void> {
    constexpr int kFibers = 100;
    constexpr int kRounds = 20;
    int64_t sum = 0;
    Semaphore in_flight(16);
    auto worker = [&](int id) -> Task<void> {
      for (int n = 0; n < kRounds; ++n) {
        const Semaphore::Permit permit = co_await in_flight.Acquire();
        std::vector<int> numbers(100, id);
        sum += co_await loop.Offload(
            [numbers = std::move(numbers)] { return std::accumulate(numbers.begin(), numbers.end(), int64_t{0}); });
        if (n % 5 == 0) co_await loop.Sleep(microseconds(id));
      }
    };
    std::atomic<bool> stop = false;
    std::atomic<int> posts = 0;
    int ran = 0;
    std::thread poster([&] {
      while (!stop) {
        ++posts;
        loop.Post([&ran] { ++ran; });
        std::this_thread::yield();
      }
    });
    Scope scope(loop);
    for (int n = 0; n < kFibers; ++n) scope.Spawn(worker(n));
    co_await scope.Join();
    stop = true;
    poster.join();
    while (ran < posts) co_await loop.Yield();
    EXPECT_EQ(sum, int64_t{kRounds} * 100 * (kFibers * (kFibers - 1) / 2));
  };
  loop.Run(program());
}

TEST(RealLoopTest, TwoLoopsMayRunOnTwoThreads) {
  RealLoop a(1);
  std::thread other([&a] {
    RealLoop b(1);
    auto program = [&]() -> Task<int> {
      Event event;
      for (int n = 0; n < 100; ++n) {
        co_await b.Sleep(microseconds(10));
        a.Post([] {});
      }
      co_return 1;
    };
    EXPECT_EQ(b.Run(program()), 1);
  });
  auto program = [&]() -> Task<void> { co_await a.Sleep(milliseconds(5)); };
  a.Run(program());
  other.join();
}

// ---- what ends the process ----

class RealLoopDeathTest : public ::testing::Test {
 protected:
  // The pool has threads: the child process must start afresh.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(RealLoopDeathTest, AnExceptionFromOffloadedWorkOrAPostEndsTheProcessWithItsText) {
  EXPECT_DEATH(
      {
        RealLoop loop(1);
        auto program = [&]() -> Task<void> { co_await loop.Offload([] { throw std::runtime_error("no such luck"); }); };
        loop.Run(program());
      },
      "an exception tried to leave offloaded work: no such luck");
  EXPECT_DEATH(
      {
        RealLoop loop(1);
        auto program = [&]() -> Task<void> { co_await loop.Sleep(minutes(1)); };
        loop.Post([] { throw std::runtime_error("out of post"); });
        loop.Run(program());
      },
      "an exception tried to leave a callback on the loop: out of post");
}

TEST_F(RealLoopDeathTest, APoolOfNoThreadsEndsTheProcess) {
  EXPECT_DEATH(RealLoop(0), "a pool without threads would never do its work");
}

}  // namespace
}  // namespace baton::rt
