// Structured concurrency: nothing outlives its scope, whoever cancels it, from wherever, at whatever moment.
#include "rt/scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "rt/channel.h"
#include "rt/event.h"
#include "rt/semaphore.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::rt {
namespace {

using Words = std::vector<std::string>;

TEST(ScopeTest, ChildrenRunWhenTheirOwnerSuspendsAndJoinWaitsForAll) {
  VirtualLoop loop(1);
  int done = 0;
  auto child = [&](int n) -> Task<void> {
    co_await loop.Sleep(seconds(n));
    ++done;
  };
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    co_await scope.Join();  // of nothing
    for (int n = 1; n <= 10; ++n) scope.Spawn(child(n));
    EXPECT_EQ(scope.active(), 10);
    EXPECT_EQ(done, 0);
    co_await scope.Join();
    EXPECT_EQ(done, 10);
    EXPECT_EQ(scope.active(), 0);
    EXPECT_EQ(loop.Now().time_since_epoch(), seconds(10));
    scope.Spawn(child(1));  // and again
    co_await scope.Join();
    EXPECT_EQ(done, 11);
  };
  loop.Run(program());
}

TEST(ScopeTest, JoinAlsoWaitsForThoseSpawnedMeanwhile) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    int done = 0;
    Scope scope(loop);
    std::function<Task<void>(int)> chain = [&](int left) -> Task<void> {
      co_await loop.Sleep(seconds(1));
      if (left > 0) scope.Spawn(chain(left - 1));
      ++done;
    };
    scope.Spawn(chain(9));
    co_await scope.Join();
    EXPECT_EQ(done, 10);
  };
  loop.Run(program());
}

TEST(ScopeTest, SeveralFibersMayJoinOneScope) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    int joined = 0;
    Scope scope(loop);
    auto joiner = [&]() -> Task<void> {
      co_await scope.Join();
      ++joined;
    };
    Scope joiners(loop);
    scope.Spawn(Do([&]() -> Task<void> { co_await loop.Sleep(seconds(1)); }));
    for (int n = 0; n < 3; ++n) joiners.Spawn(joiner());
    co_await joiners.Join();
    EXPECT_EQ(joined, 3);
  };
  loop.Run(program());
}

TEST(ScopeTest, LeavingTheBlockCancelsInTheOrderOfSpawning) {
  VirtualLoop loop(1);
  Words log;
  Event never;
  auto child = [&](std::string name) -> Task<void> {
    const Farewell farewell(log, name);
    co_await never.Wait();
  };
  auto program = [&]() -> Task<void> {
    {
      Scope scope(loop);
      for (const char* name : {"a", "b", "c"}) scope.Spawn(child(name));
      co_await loop.Sleep(seconds(1));
    }
    log.push_back("left");
  };
  loop.Run(program());
  EXPECT_EQ(log, (Words{"a", "b", "c", "left"}));
}

TEST(ScopeTest, AChildThatNeverStartedIsDestroyedToo) {
  VirtualLoop loop(1);
  {
    Scope scope(loop);
    scope.Spawn([](Counted) -> Task<void> { co_return; }(Counted()));
    EXPECT_EQ(Counted::alive(), 1);
  }
  EXPECT_EQ(Counted::alive(), 0);
}

TEST(ScopeTest, AScopeOutsideTheLoopGoesOnFromRunToRun) {
  VirtualLoop loop(1);
  int seconds_seen = 0;
  auto ticker = [&]() -> Task<void> {
    while (true) {
      co_await loop.Sleep(seconds(1));
      ++seconds_seen;
    }
  };
  auto wait = [&](Duration d) -> Task<void> { co_await loop.Sleep(d); };
  Scope scope(loop);
  scope.Spawn(ticker());
  loop.Run(wait(milliseconds(2500)));
  EXPECT_EQ(seconds_seen, 2);
  loop.Run(wait(seconds(1)));
  EXPECT_EQ(seconds_seen, 3);
  scope.CancelAll();
  loop.Run(wait(seconds(10)));
  EXPECT_EQ(seconds_seen, 3);
}

// ---- destroyed in every kind of wait ----

// A program that can be waited in: `Enter` suspends in the wait that is tested, with a counted local.
struct Waits {
  explicit Waits(Loop& l) : loop(l) {
    full.TrySend(value);
    permits.emplace_back(none_left.TryAcquire());
  }

  Loop& loop;
  Event event;
  int value = 0;
  Channel<int> empty{1};
  Channel<int> full{1};
  Semaphore none_left{1};
  std::vector<Semaphore::Permit> permits;

  Task<void> Forever() {
    const Counted counted;
    co_await event.Wait();
  }
  std::vector<Task<void>> Two() {
    std::vector<Task<void>> tasks;
    tasks.push_back(Forever());
    tasks.push_back(Forever());
    return tasks;
  }

  Task<void> Enter(size_t kind) {
    const Counted counted;
    switch (kind) {
      case 0:
        co_await loop.Sleep(hours(1));
        break;
      case 1:
        co_await loop.Sleep(Duration::max());
        break;
      case 2:
        co_await event.Wait();
        break;
      case 3:
        (void)co_await empty.Receive();
        break;
      case 4:
        (void)co_await full.Send(1);
        break;
      case 5:
        (void)co_await none_left.Acquire();
        break;
      case 6:
        co_await loop.Yield();
        co_await Enter(kind);
        break;  // for ever runnable
      case 7:
        co_await Forever();
        break;
      case 8:
        co_await WhenAll(Two());
        break;
      case 9:
        (void)co_await WhenAny(Two());
        break;
      case 10:
        (void)co_await WhenAll(Forever(), Forever());
        break;
      case 11:
        (void)co_await WithDeadline(Deadline::Never(), "it", Forever());
        break;
      case 12:
        (void)co_await WithDeadline(Deadline::After(loop, hours(1)), "it", Forever());
        break;
      case 13: {
        Scope inner(loop);
        inner.Spawn(Forever());
        inner.Spawn(Forever());
        co_await inner.Join();
        break;
      }
      case 14: {
        Scope inner(loop);
        inner.Spawn(Enter(13));
        inner.Spawn(Enter(9));
        co_await event.Wait();
        break;
      }
      case 15:
        (void)co_await loop.Offload([held = Counted()] { return held; });
        co_await Enter(kind);
        break;
      default:
        break;
    }
    ADD_FAILURE() << "the wait of kind " << kind << " ended";
  }
  static constexpr size_t kKinds = 16;
};

TEST(ScopeTest, MayBeDestroyedWithChildrenInEveryKindOfWait) {
  for (size_t kind = 0; kind < Waits::kKinds; ++kind) {
    for (uint64_t steps = 0; steps < 12; ++steps) {
      SCOPED_TRACE(StrCat("kind ", kind, " after ", steps, " steps"));
      {
        VirtualLoop loop(steps);
        Waits waits(loop);
        auto program = [&]() -> Task<void> {
          Scope scope(loop);
          scope.Spawn(waits.Enter(kind));
          scope.Spawn(waits.Enter(kind));
          for (uint64_t n = 0; n < steps; ++n) co_await loop.Yield();
        };
        loop.Run(program());
      }  // with the loop go offloaded jobs that nobody waits for
      ASSERT_EQ(Counted::alive(), 0);
    }
  }
}

TEST(ScopeTest, CancelAllEndsChildrenInEveryKindOfWaitAtOnce) {
  for (size_t kind = 0; kind < Waits::kKinds; ++kind) {
    SCOPED_TRACE(StrCat("kind ", kind));
    VirtualLoop loop(kind);
    Waits waits(loop);
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      for (int n = 0; n < 3; ++n) scope.Spawn(waits.Enter(kind));
      for (int n = 0; n < 10; ++n) co_await loop.Yield();
      scope.CancelAll();
      EXPECT_EQ(scope.active(), 0);
      co_await scope.Join();
      waits.event.Set();
      waits.permits.clear();
      EXPECT_EQ(waits.full.TryReceive(), 0);
      co_await loop.Sleep(hours(2));  // offloaded work may hold the last counted object until it has run
      EXPECT_EQ(Counted::alive(), 0);
    };
    loop.Run(program());
  }
}

// ---- scopes of objects ----

// A component as they are written: it owns what its fibers use, and its scope last.
class Component {
 public:
  explicit Component(Loop& loop) : loop_(loop), scope_(loop) {
    scope_.Spawn(Work());
    scope_.Spawn(Work());
  }
  Task<void> Stop() {
    stop_.Set();
    co_await scope_.Join();
  }
  int stopped = 0;

 private:
  Task<void> Work() {
    const Counted counted;
    co_await stop_.Wait();
    co_await loop_.Sleep(seconds(1));
    ++stopped;
  }
  Loop& loop_;
  Event stop_;
  Scope scope_;
};

TEST(ScopeTest, MayBeOwnedByAnObjectOnTheHeap) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto component = std::make_unique<Component>(loop);
    co_await loop.Sleep(seconds(1));
    co_await component->Stop();
    EXPECT_EQ(component->stopped, 2);
    component = std::make_unique<Component>(loop);
    co_await loop.Sleep(seconds(1));
    component.reset();  // or without asking
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(ScopeTest, AChildsArgumentMayBeTheLastOwnerOfItsScope) {
  VirtualLoop loop(1);
  struct Owner {
    explicit Owner(Loop& loop) : scope(loop) {}
    Counted counted;
    Scope scope;
  };
  auto child = [&](std::shared_ptr<Owner>) -> Task<void> { co_await loop.Sleep(seconds(1)); };
  auto program = [&]() -> Task<void> {
    auto owner = std::make_shared<Owner>(loop);
    owner->scope.Spawn(child(owner));
    owner.reset();
    EXPECT_EQ(Counted::alive(), 1);
    co_await loop.Sleep(seconds(2));
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

// ---- what ends the process ----

TEST(ScopeDeathTest, AFiberThatDestroysTheScopeItRunsInEndsTheProcess) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto scope = std::make_unique<Scope>(loop);
    auto child = [&]() -> Task<void> {
      co_await loop.Yield();
      scope.reset();
    };
    scope->Spawn(child());
    co_await loop.Sleep(seconds(1));
  };
  EXPECT_DEATH(loop.Run(program()), "a fiber may not destroy the scope it runs in: use Scope::CancelAll");
}

TEST(ScopeDeathTest, SoDoesOneThatCancelledItBefore) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto scope = std::make_unique<Scope>(loop);
    auto child = [&]() -> Task<void> {
      scope->CancelAll();
      scope.reset();
      co_return;
    };
    scope->Spawn(child());
    co_await loop.Sleep(seconds(1));
  };
  EXPECT_DEATH(loop.Run(program()), "a fiber may not destroy the scope it runs in");
}

TEST(ScopeDeathTest, SoDoesADescendant) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto scope = std::make_unique<Scope>(loop);
    auto grandchild = [&]() -> Task<void> {
      scope.reset();
      co_return;
    };
    auto child = [&]() -> Task<void> {
      Scope inner(loop);
      inner.Spawn(grandchild());
      co_await inner.Join();
    };
    scope->Spawn(child());
    co_await loop.Sleep(seconds(1));
  };
  EXPECT_DEATH(loop.Run(program()), "a fiber may not destroy the scope it runs in");
}

TEST(ScopeDeathTest, DestroyingAScopeThatSomebodyJoinsEndsTheProcess) {
  for (const bool already_woken : {false, true}) {
    VirtualLoop loop(1);
    auto program = [&]() -> Task<void> {
      auto scope = std::make_unique<Scope>(loop);
      auto child = [&]() -> Task<void> { co_await loop.Sleep(hours(1)); };
      auto joiner = [&]() -> Task<void> { co_await scope->Join(); };
      scope->Spawn(child());
      Scope other(loop);
      other.Spawn(joiner());
      co_await loop.Sleep(seconds(1));
      if (already_woken) scope->CancelAll();
      scope.reset();
    };
    EXPECT_DEATH(loop.Run(program()), "a scope was destroyed while a fiber waits in its Join");
  }
}

TEST(ScopeDeathTest, ALoopThatGoesBeforeItsFibersEndsTheProcess) {
  EXPECT_DEATH(
      {
        auto loop = std::make_unique<VirtualLoop>(1);
        Event never;
        auto wait = [&]() -> Task<void> { co_await never.Wait(); };
        auto nothing = [&]() -> Task<void> { co_await loop->Sleep(seconds(1)); };
        Scope scope(*loop);
        scope.Spawn(wait());
        loop->Run(nothing());
        loop.reset();
      },
      "a loop outlives its fibers");
}

}  // namespace
}  // namespace baton::rt
