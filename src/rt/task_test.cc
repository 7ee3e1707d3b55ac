// Tasks as values: laziness, results, nesting, and what dropping one destroys.
#include "rt/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "rt/event.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

Task<int> Number(int value) { co_return value; }

Task<int> Log(std::vector<std::string>& log, std::string word) {
  log.push_back(word);
  co_return 1;
}

TEST(TaskTest, DoesNothingUntilItIsAwaited) {
  VirtualLoop loop(1);
  std::vector<std::string> log;
  auto program = [&]() -> Task<void> {
    Task<int> task = Log(log, "ran");
    EXPECT_TRUE(log.empty());
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(log.empty());
    EXPECT_EQ(co_await std::move(task), 1);
    EXPECT_EQ(log.size(), 1);
  };
  loop.Run(program());
}

TEST(TaskTest, ATaskThatIsNeverAwaitedDestroysItsArguments) {
  ASSERT_EQ(Counted::alive(), 0);
  auto hold = [](Counted) -> Task<void> { co_return; };
  {
    Task<void> task = hold(Counted());
    EXPECT_EQ(Counted::alive(), 1);
    task.Drop();
    EXPECT_EQ(Counted::alive(), 0);
    EXPECT_FALSE(task.valid());
    task = hold(Counted());
    task = hold(Counted());  // assigning drops what was there
    EXPECT_EQ(Counted::alive(), 1);
    Task<void>& same = task;
    task = std::move(same);
    EXPECT_TRUE(task.valid());
  }
  EXPECT_EQ(Counted::alive(), 0);
}

TEST(TaskTest, PassesOnEveryKindOfResult) {
  VirtualLoop loop(1);
  EXPECT_EQ(loop.Run(Number(7)), 7);

  auto move_only = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  EXPECT_EQ(*loop.Run(move_only()), 3);

  auto converted = []() -> Task<std::string> { co_return "text"; };
  EXPECT_EQ(loop.Run(converted()), "text");

  struct NoDefault {
    explicit NoDefault(int n) : number(n) {}
    int number;
  };
  auto no_default = []() -> Task<NoDefault> { co_return NoDefault(9); };
  EXPECT_EQ(loop.Run(no_default()).number, 9);

  auto fine = []() -> Task<Result<void>> { co_return {}; };
  EXPECT_TRUE(loop.Run(fine()).ok());

  auto failed = []() -> Task<Result<int>> { co_return NotFoundError("no such thing"); };
  EXPECT_EQ(loop.Run(failed()).error().message(), "no such thing");
}

TEST(TaskTest, CoTryReturnsTheErrorOfWhatItAwaits) {
  VirtualLoop loop(1);
  auto inner = [](bool fail) -> Task<Result<std::string>> {
    if (fail) co_return InvalidError("bad");
    co_return "good";
  };
  std::vector<std::string> log;
  auto outer = [&](bool fail) -> Task<Result<size_t>> {
    const Farewell farewell(log, fail ? "left with an error" : "left");
    const std::string text = CO_TRY(co_await inner(fail));
    log.push_back("went on");
    co_return text.size();
  };
  EXPECT_EQ(loop.Run(outer(false)).value(), 4);
  EXPECT_EQ(loop.Run(outer(true)).error().message(), "bad");
  EXPECT_EQ(log, (std::vector<std::string>{"went on", "left", "left with an error"}));
}

TEST(TaskTest, AFinishedTaskIsDestroyedBeforeTheNextStatement) {
  VirtualLoop loop(1);
  auto child = [](Counted) -> Task<int> { co_return Counted::alive(); };
  auto program = [&]() -> Task<void> {
    Task<int> kept = child(Counted());
    EXPECT_EQ(co_await std::move(kept), 1);
    EXPECT_FALSE(kept.valid());
    EXPECT_EQ(Counted::alive(), 0);
    (void)co_await child(Counted());
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(TaskTest, ThisFiberDoesNotSuspendAndIsTheSameDownTheChain) {
  VirtualLoop loop(1);
  auto inner = []() -> Task<Fiber*> { co_return &co_await ThisFiber(); };
  auto program = [&]() -> Task<void> {
    const uint64_t steps = loop.steps();
    Fiber& self = co_await ThisFiber();
    EXPECT_EQ(&self, co_await inner());
    EXPECT_EQ(&self, loop.running());
    EXPECT_EQ(loop.steps(), steps);
  };
  loop.Run(program());
  EXPECT_EQ(loop.running(), nullptr);
}

TEST(TaskTest, AnExceptionMayBeCaughtInsideATask) {
  VirtualLoop loop(1);
  auto program = []() -> Task<std::string> {
    std::string caught;
    try {
      throw std::runtime_error("inside");
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    co_return caught;
  };
  EXPECT_EQ(loop.Run(program()), "inside");
}

// ---- dropping ----

Task<void> Nested(std::vector<std::string>& log, Event& never, int depth) {
  const Farewell local(log, "local " + std::to_string(depth));
  if (depth == 0) {
    co_await never.Wait();
  } else {
    co_await Nested(log, never, depth - 1);
  }
  log.push_back("went on");
}

TEST(TaskTest, DroppingAFiberDestroysItsFramesInnermostFirstAndRunsNothing) {
  VirtualLoop loop(1);
  std::vector<std::string> log;
  Event never;
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    scope.Spawn(Nested(log, never, 2));
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(log.empty());
  };
  loop.Run(program());
  EXPECT_EQ(log, (std::vector<std::string>{"local 0", "local 1", "local 2"}));
  never.Set();  // nobody is in its list any more
}

TEST(TaskTest, AFiberDroppedAfterItWasWokenDoesNotRun) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    VirtualLoop loop(seed);
    bool ran = false;
    Event event;
    auto waiter = [&]() -> Task<void> {
      co_await event.Wait();
      ran = true;
    };
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      scope.Spawn(waiter());
      co_await loop.Sleep(seconds(1));
      event.Set();
    };
    loop.Run(program());
    EXPECT_FALSE(ran);
  }
}

TEST(TaskTest, TheSameWorkMayBeDroppedAtEveryOneOfItsSteps) {
  // Frames, waits and children of every kind, dropped after 0, 1, 2, ... turns of the loop.
  auto leaf = [](Loop& loop, Event& event, int n) -> Task<Counted> {
    const Counted local;
    if (n % 3 == 0) co_await loop.Yield();
    if (n % 3 == 1) co_await loop.Sleep(milliseconds(n));
    if (n % 3 == 2) co_await event.Wait();
    co_return local;
  };
  bool finished = false;
  for (uint64_t drop_at = 0; !finished; ++drop_at) {
    ASSERT_LT(drop_at, 1000);
    VirtualLoop loop(drop_at);
    Event event;
    auto work = [&]() -> Task<void> {
      for (int n = 0; n < 6; ++n) {
        const Counted local;
        Scope scope(loop);
        auto child = [&, n](Counted) -> Task<void> { (void)co_await leaf(loop, event, n); };
        scope.Spawn(child(Counted()));
        scope.Spawn(child(Counted()));
        (void)co_await leaf(loop, event, n + 1);
        co_await scope.Join();
      }
      finished = true;
    };
    auto setter = [&]() -> Task<void> {
      while (true) {
        co_await loop.Sleep(milliseconds(2));
        event.Set();
        event.Reset();
      }
    };
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      scope.Spawn(setter());
      scope.Spawn(work());
      while (loop.steps() < drop_at && !finished) co_await loop.Sleep(microseconds(100));
    };
    loop.Run(program());
    ASSERT_EQ(Counted::alive(), 0) << "dropped at step " << drop_at;
  }
}

// ---- stack ----

Task<int> Deep(int depth, Event* wait_at_the_end) {
  if (depth == 0) {
    if (wait_at_the_end != nullptr) co_await wait_at_the_end->Wait();
    co_return 0;
  }
  co_return 1 + co_await Deep(depth - 1, wait_at_the_end);
}

TEST(TaskTest, AHundredThousandNestedAwaitsDoNotUseUpTheStack) {
  VirtualLoop loop(1);
  EXPECT_EQ(loop.Run(Deep(100'000, nullptr)), 100'000);
}

TEST(TaskTest, AHundredThousandNestedAwaitsMaySuspendAndComeBack) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<int> {
    Event event;
    int result = 0;
    auto child = [&]() -> Task<void> { result = co_await Deep(100'000, &event); };
    Scope scope(loop);
    scope.Spawn(child());
    co_await loop.Sleep(seconds(1));
    event.Set();
    co_await scope.Join();
    co_return result;
  };
  EXPECT_EQ(loop.Run(program()), 100'000);
}

TEST(TaskTest, AMillionAwaitsThatFinishAtOnceDoNotUseUpTheStack) {
  VirtualLoop loop(1);
  auto program = []() -> Task<int64_t> {
    int64_t sum = 0;
    for (int n = 0; n < 1'000'000; ++n) sum += co_await Number(1);
    co_return sum;
  };
  EXPECT_EQ(loop.Run(program()), 1'000'000);
}

// Dropping goes down the chain on the stack, of which sanitizers use many times more.
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kDroppedChain = 2'000;
#else
constexpr int kDroppedChain = 10'000;
#endif

TEST(TaskTest, ADeepChainMayBeDropped) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event never;
    auto child = [&]() -> Task<void> { (void)co_await Deep(kDroppedChain, &never); };
    Scope scope(loop);
    scope.Spawn(child());
    co_await loop.Sleep(seconds(1));
  };
  loop.Run(program());
}

// ---- what ends the process ----

TEST(TaskDeathTest, AnExceptionThatLeavesATaskEndsTheProcessWithItsText) {
  auto thrower = []() -> Task<int> {
    throw std::runtime_error("the disk is on fire");
    co_return 1;
  };
  auto program = [&]() -> Task<void> { (void)co_await thrower(); };
  VirtualLoop loop(1);
  EXPECT_DEATH(loop.Run(program()), "an exception tried to leave a task: the disk is on fire");

  auto throws_int = []() -> Task<void> {
    throw 7;
    co_return;
  };
  EXPECT_DEATH(loop.Run(throws_int()), "an exception tried to leave a task .not a std::exception.");
}

TEST(TaskDeathTest, AnExceptionFromMovingTheResultEndsTheProcess) {
  struct Hot {
    Hot() = default;
    Hot(Hot&&) { throw std::runtime_error("too hot to move"); }
  };
  auto program = []() -> Task<Hot> { co_return Hot(); };
  VirtualLoop loop(1);
  EXPECT_DEATH((void)loop.Run(program()), "tried to leave a task: too hot to move");
}

TEST(TaskDeathTest, AwaitingATaskThatWasMovedFromEndsTheProcess) {
  auto program = []() -> Task<void> {
    Task<int> task = Number(1);
    const Task<int> other = std::move(task);
    (void)co_await std::move(task);
  };
  VirtualLoop loop(1);
  EXPECT_DEATH(loop.Run(program()), "a task is awaited once, and not after it was moved from");
}

TEST(TaskDeathTest, AwaitingATaskTwiceEndsTheProcess) {
  auto program = []() -> Task<void> {
    Task<int> task = Number(1);
    (void)co_await std::move(task);
    (void)co_await std::move(task);
  };
  VirtualLoop loop(1);
  EXPECT_DEATH(loop.Run(program()), "a task is awaited once, and not after it was moved from");
}

TEST(TaskDeathTest, SpawningOrRunningAnEmptyTaskEndsTheProcess) {
  VirtualLoop loop(1);
  EXPECT_DEATH(loop.Run(Task<void>()), "an empty task was spawned");
  Scope scope(loop);
  EXPECT_DEATH(scope.Spawn(Task<void>()), "an empty task was spawned");
}

}  // namespace
}  // namespace baton::rt
