// The virtual loop: its time, its choices, and the two ways a program can be stuck.
#include "rt/virtual_loop.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "rt/event.h"
#include "rt/scope.h"
#include "rt/test_support.h"

namespace baton::rt {
namespace {

TEST(VirtualLoopTest, TimePassesOnlyWhenNothingIsRunnableAndThenStraightToTheNextTimer) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    EXPECT_EQ(loop.Now(), MonotonicTime());
    EXPECT_EQ(loop.WallNow(), VirtualLoop::kStart);
    bool sleeper_woke = false;
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> {
      co_await loop.Sleep(Duration(1));
      sleeper_woke = true;
    }));
    for (int n = 0; n < 10'000; ++n) {
      co_await loop.Yield();
      if (n % 100 == 0) EXPECT_EQ(co_await loop.Offload([] { return 3; }), 3);
    }
    EXPECT_FALSE(sleeper_woke);
    EXPECT_EQ(loop.Now(), MonotonicTime());
    co_await loop.Sleep(hours(24 * 365));
    EXPECT_TRUE(sleeper_woke);
    EXPECT_EQ(loop.Now().time_since_epoch(), hours(24 * 365));
    EXPECT_EQ(loop.WallNow(), VirtualLoop::kStart + hours(24 * 365));
  };
  loop.Run(program());
}

TEST(VirtualLoopTest, OnlyTheWallClockJumps) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    co_await loop.Sleep(seconds(1));
    loop.JumpWallClock(hours(-2));
    EXPECT_EQ(loop.WallNow(), VirtualLoop::kStart + seconds(1) - hours(2));
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(1));
    const MonotonicTime before = loop.Now();
    loop.JumpWallClock(hours(3));
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(loop.Now() - before, seconds(1));
    EXPECT_EQ(loop.WallNow(), VirtualLoop::kStart + seconds(2) + hours(1));
  };
  loop.Run(program());
}

TEST(VirtualLoopTest, CountsTheTurnsItGivesAndCallsTheCheckAfterEach) {
  VirtualLoop loop(1);
  uint64_t checks = 0;
  loop.OnEveryStep([&] {
    ++checks;
    EXPECT_EQ(loop.running(), nullptr);
    EXPECT_EQ(loop.steps(), checks);
  });
  auto program = [&]() -> Task<void> {
    for (int n = 0; n < 9; ++n) co_await loop.Yield();
  };
  EXPECT_EQ(loop.steps(), 0);
  loop.Run(program());
  EXPECT_EQ(loop.steps(), 10);
  EXPECT_EQ(checks, 10);
}

std::string OrderOfTen(uint64_t seed, bool draw_numbers) {
  VirtualLoop loop(seed);
  std::string order;
  auto child = [&](int n) -> Task<void> {
    if (draw_numbers) loop.random().Next();
    order.push_back(static_cast<char>('0' + n));
    co_return;
  };
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    for (int n = 0; n < 10; ++n) scope.Spawn(child(n));
    co_await scope.Join();
  };
  loop.Run(program());
  return order;
}

TEST(VirtualLoopTest, TheSeedChoosesTheOrderAndNothingElseDoes) {
  std::set<std::string> orders;
  std::set<char> first;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string order = OrderOfTen(seed, false);
    EXPECT_EQ(order, OrderOfTen(seed, false));
    EXPECT_EQ(order, OrderOfTen(seed, true));  // drawing numbers does not reorder turns
    orders.insert(order);
    first.insert(order[0]);
  }
  EXPECT_GE(orders.size(), 199);
  EXPECT_EQ(first.size(), 10);
}

TEST(VirtualLoopTest, AfterReseedItChoosesAsALoopOfThatSeed) {
  const auto numbers = [](uint64_t first, uint64_t then) {
    VirtualLoop loop(first);
    std::vector<uint64_t> drawn;
    loop.Run(Do([&]() -> Task<void> {
      for (int i = 0; i < 5; ++i) co_await loop.Yield();
      loop.Reseed(then);
      Scope scope(loop);
      for (uint64_t fiber = 0; fiber < 8; ++fiber) {
        scope.Spawn(Do([&loop, &drawn, fiber]() -> Task<void> {
          drawn.push_back(fiber);
          drawn.push_back(loop.random().Next());
          co_return;
        }));
      }
      co_await scope.Join();
    }));
    return drawn;
  };
  EXPECT_EQ(numbers(1, 7), numbers(2, 7));
  EXPECT_NE(numbers(1, 7), numbers(1, 8));
}

// One that ticks each second, in a process of its own, with a child.
struct Ticking {
  explicit Ticking(VirtualLoop& on) : loop(on), process(on.NewProcess()), scope(on) {
    const VirtualLoop::Inside inside(loop, process);
    scope.Spawn(Tick());
  }
  Task<void> Tick() {
    Scope children(loop);
    children.Spawn(TickOn(child));
    co_await TickOn(own);
  }
  Task<void> TickOn(std::vector<Duration>& at) {
    while (true) {
      co_await loop.Sleep(seconds(1));
      at.push_back(loop.Now().time_since_epoch());
      wall = loop.WallNow();
    }
  }
  VirtualLoop& loop;
  VirtualLoop::ProcessId process;
  std::vector<Duration> own;
  std::vector<Duration> child;
  WallTime wall;
  Scope scope;
};

TEST(VirtualLoopTest, AFrozenProcessGetsNoTurnsAndHearsLaterWhatWokeIt) {
  VirtualLoop loop(1);
  loop.Run(Do([&]() -> Task<void> {
    Ticking one(loop);
    const Ticking other(loop);
    co_await loop.Sleep(milliseconds(2500));
    loop.Freeze(one.process);
    EXPECT_TRUE(loop.frozen(one.process));
    co_await loop.Sleep(seconds(5));
    EXPECT_EQ(one.own.size(), 2U);
    EXPECT_EQ(one.child.size(), 2U) << "what a process makes is the process's";
    EXPECT_EQ(other.own.size(), 7U);
    loop.Thaw(one.process);
    co_await loop.Sleep(milliseconds(1100));
    const std::vector<Duration> ticks = {seconds(1), seconds(2), milliseconds(7500), milliseconds(8500)};
    EXPECT_EQ(one.own, ticks);
    EXPECT_EQ(one.child, ticks);
    loop.Freeze(one.process);
    co_await loop.Sleep(seconds(2));  // destroyed while it is frozen and would be ready
  }));
}

TEST(VirtualLoopTest, AProcessHasAWallClockOfItsOwn) {
  VirtualLoop loop(1);
  loop.Run(Do([&]() -> Task<void> {
    const Ticking one(loop);
    const Ticking other(loop);
    loop.SetWallSkew(one.process, hours(-1));
    co_await loop.Sleep(milliseconds(1500));
    EXPECT_EQ(one.wall, VirtualLoop::kStart + seconds(1) - hours(1));
    EXPECT_EQ(other.wall, VirtualLoop::kStart + seconds(1));
    EXPECT_EQ(loop.WallNow(), VirtualLoop::kStart + milliseconds(1500));
  }));
}

TEST(VirtualLoopTest, OffloadedWorkIsDoneAtSomeLaterTurnOfTheSameInstant) {
  std::set<int> turns_before_done;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      bool done = false;
      Scope scope(loop);
      scope.Spawn(Do([&]() -> Task<void> {
        EXPECT_EQ(co_await loop.Offload([] { return std::string("result"); }), "result");
        co_await loop.Offload([&done] { done = true; });
      }));
      int turns = 0;
      while (!done) {
        ++turns;
        co_await loop.Yield();
      }
      turns_before_done.insert(turns);
      EXPECT_EQ(loop.Now(), MonotonicTime());
      co_await scope.Join();
    };
    loop.Run(program());
  }
  EXPECT_GE(turns_before_done.size(), 4);
}

TEST(VirtualLoopTest, OffloadedWorkRunsEvenWhenNobodyWaitsForItAnyMore) {
  int dropped = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    int started = 0;
    int ran = 0;
    int resumed = 0;
    {
      VirtualLoop loop(seed);
      auto program = [&]() -> Task<void> {
        Scope scope(loop);
        for (int n = 0; n < 5; ++n) {
          scope.Spawn(Do([&]() -> Task<void> {
            ++started;
            co_await loop.Offload([&ran, held = Counted()] { ++ran; });
            ++resumed;
          }));
        }
        while (started < 3) co_await loop.Yield();
        scope.CancelAll();
        for (uint64_t n = 0; n < seed % 4; ++n) co_await loop.Yield();
      };
      loop.Run(program());
    }
    EXPECT_EQ(ran, started);
    EXPECT_EQ(Counted::alive(), 0);
    dropped += started - resumed;
  }
  EXPECT_GT(dropped, 50);
}

// ---- what ends the process ----

TEST(VirtualLoopDeathTest, AProgramThatCanNeverGoOnEndsTheProcess) {
  VirtualLoop loop(1);
  auto waits = []() -> Task<void> {
    Event never;
    co_await never.Wait();
  };
  EXPECT_DEATH(loop.Run(waits()), "deadlock: every fiber waits and no timer is set");
  auto sleeps = [&]() -> Task<void> { co_await loop.Sleep(Duration::max()); };
  EXPECT_DEATH(loop.Run(sleeps()), "deadlock: every fiber waits and no timer is set");
}

TEST(VirtualLoopDeathTest, AProgramThatNeverLetsTimePassEndsTheProcess) {
  auto yields = [](Loop& loop) -> Task<void> {
    while (true) co_await loop.Yield();
  };
  auto sleeps_for_nothing = [](Loop& loop) -> Task<void> {
    while (true) co_await loop.Sleep(Duration(0));
  };
  VirtualLoop loop(1);
  loop.LimitStepsPerInstant(1000);
  EXPECT_DEATH(loop.Run(yields(loop)), "livelock: fibers run on and on at one instant");
  EXPECT_DEATH(loop.Run(sleeps_for_nothing(loop)), "livelock: fibers run on and on at one instant");
}

TEST(VirtualLoopTest, TheLimitIsPerInstant) {
  VirtualLoop loop(1);
  loop.LimitStepsPerInstant(10);
  auto program = [&]() -> Task<void> {
    for (int n = 0; n < 100; ++n) {
      for (int m = 0; m < 9; ++m) co_await loop.Yield();
      co_await loop.Sleep(Duration(1));
    }
  };
  loop.Run(program());
  EXPECT_GT(loop.steps(), 900);
}

TEST(VirtualLoopDeathTest, RunFromInsideTheLoopEndsTheProcess) {
  VirtualLoop loop(1);
  auto nothing = []() -> Task<void> { co_return; };
  auto in_a_fiber = [&]() -> Task<void> {
    loop.Run(nothing());
    co_return;
  };
  EXPECT_DEATH(loop.Run(in_a_fiber()), "Loop::Run from inside the loop");
  EXPECT_DEATH(
      {
        loop.OnEveryStep([&] { loop.Run(nothing()); });
        loop.Run(nothing());
      },
      "Loop::Run from inside the loop");
}

TEST(VirtualLoopDeathTest, AnExceptionFromOffloadedWorkOrACallbackEndsTheProcessWithItsText) {
  VirtualLoop loop(1);
  auto offloads = [&]() -> Task<void> { co_await loop.Offload([] { throw std::runtime_error("no such luck"); }); };
  EXPECT_DEATH(loop.Run(offloads()), "an exception tried to leave offloaded work: no such luck");
  EXPECT_DEATH(
      {
        loop.OnEveryStep([] { throw std::runtime_error("an invariant"); });
        loop.Run([]() -> Task<void> { co_return; }());
      },
      "an exception tried to leave a callback on the loop: an invariant");
}

}  // namespace
}  // namespace baton::rt
