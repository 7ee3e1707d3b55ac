// Cancelling scopes from inside: by children, by those further down, and by destructors of what is being cancelled.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rt/channel.h"
#include "rt/event.h"
#include "rt/scope.h"
#include "rt/semaphore.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::rt {
namespace {

using Words = std::vector<std::string>;

TEST(ScopeCancelTest, AChildMayCancelItsOwnScopeAndEndsWhereItNextSuspends) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    VirtualLoop loop(seed);
    Words log;
    Event never;
    auto sibling = [&]() -> Task<void> {
      const Farewell farewell(log, "sibling gone");
      co_await never.Wait();
    };
    auto program = [&]() -> Task<void> {
      Scope scope(loop);
      auto canceller = [&]() -> Task<void> {
        const Farewell farewell(log, "canceller gone");
        co_await loop.Sleep(seconds(1));
        scope.CancelAll();
        log.push_back("cancelled");
        scope.CancelAll();  // again: nothing is left to cancel
        EXPECT_EQ(scope.active(), 0);
        co_await loop.Yield();
        log.push_back("went on");
      };
      scope.Spawn(sibling());
      scope.Spawn(canceller());
      scope.Spawn(sibling());
      co_await scope.Join();
      log.push_back("joined");
    };
    loop.Run(program());
    EXPECT_EQ(log, (Words{"sibling gone", "sibling gone", "cancelled", "canceller gone", "joined"}));
  }
}

TEST(ScopeCancelTest, AChildMayCancelItsOwnScopeAndFinish) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Scope scope(loop);
    auto canceller = [&](Counted) -> Task<void> {
      scope.CancelAll();
      co_return;
    };
    scope.Spawn(canceller(Counted()));
    co_await scope.Join();
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(ScopeCancelTest, WhatIsSpawnedAfterCancellingFromInsideRuns) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    bool ran = false;
    Scope scope(loop);
    auto next = [&]() -> Task<void> {
      ran = true;
      co_return;
    };
    auto canceller = [&]() -> Task<void> {
      scope.CancelAll();
      scope.Spawn(next());
      co_return;
    };
    scope.Spawn(canceller());
    co_await scope.Join();
    EXPECT_TRUE(ran);
  };
  loop.Run(program());
}

// A family: `depth` scopes in each other, of which the innermost child does `act` with the scopes above it.
struct Family {
  Family(Loop& l, std::function<void(std::vector<Scope*>&)> a, int how_deep) : loop(l), act(std::move(a)) {
    depth = how_deep;
  }
  Task<void> Level(int level) {
    const Counted counted;
    Semaphore semaphore(8);  // in the frame of the parent, used by the child to its very end
    Scope scope(loop);
    scopes.push_back(&scope);
    auto child = [&]() -> Task<void> {
      const Counted inner;
      const Semaphore::Permit permit = co_await semaphore.Acquire(2);
      if (level + 1 < depth) {
        // The chain of owners goes through every way to wait for a task.
        if (level % 3 == 0) co_await Level(level + 1);
        if (level % 3 == 1) (void)co_await WithDeadline(Deadline::Never(), "the next level", Level(level + 1));
        if (level % 3 == 2) (void)co_await WhenAll(Level(level + 1), bystander());
      } else {
        co_await loop.Sleep(seconds(1));
        act(scopes);
        acted = true;
        co_await loop.Yield();
        if (!survives) ADD_FAILURE() << "ran on after it was cancelled";
      }
    };
    scope.Spawn(child());
    scope.Spawn(holder(semaphore));
    co_await scope.Join();
  }
  Task<void> bystander() {
    const Counted counted;
    co_await loop.Sleep(hours(1));
  }
  Task<void> holder(Semaphore& semaphore) {
    const Counted counted;
    const Semaphore::Permit permit = co_await semaphore.Acquire();
    co_await loop.Sleep(hours(1));
  }
  void Run() {
    auto program = [&]() -> Task<void> {
      Scope top(loop);
      top.Spawn(Level(0));
      co_await loop.Sleep(minutes(1));
      EXPECT_TRUE(acted);
    };
    static_cast<VirtualLoop&>(loop).Run(program());
    EXPECT_EQ(Counted::alive(), 0);
  }

  Loop& loop;
  std::function<void(std::vector<Scope*>&)> act;
  int depth;
  bool acted = false;
  bool survives = false;
  std::vector<Scope*> scopes;
};

TEST(ScopeCancelTest, ADescendantMayCancelAnyScopeAboveIt) {
  for (int depth = 1; depth <= 7; ++depth) {
    for (int target = 0; target < depth; ++target) {
      VirtualLoop loop(static_cast<uint64_t>(depth * 10 + target));
      Family family(loop, [&](std::vector<Scope*>& scopes) { scopes[target]->CancelAll(); }, depth);
      family.Run();
    }
  }
}

TEST(ScopeCancelTest, ADescendantMayCancelSeveralScopesAboveItInAnyOrder) {
  // Fibers that wait to be destroyed may own each other: none may go before those that use its frame.
  for (int depth = 2; depth <= 6; ++depth) {
    for (int first = 0; first < depth; ++first) {
      for (int second = 0; second < depth; ++second) {
        VirtualLoop loop(1);
        Family family(
            loop,
            [&](std::vector<Scope*>& scopes) {
              scopes[first]->CancelAll();
              scopes[second]->CancelAll();
            },
            depth);
        family.Run();
      }
    }
  }
}

TEST(ScopeCancelTest, ADestructorOfADroppedChildMayCancelTheScopesAboveIt) {
  // The frames of a child are destroyed while the scope of its parent is cancelled from one of their destructors.
  for (const bool cancel_inner_first : {false, true}) {
    VirtualLoop loop(1);
    auto program = [&]() -> Task<void> {
      Scope outer(loop);
      Scope* inner_scope = nullptr;
      auto grandchild = [&](Semaphore& semaphore) -> Task<void> {
        const Semaphore::Permit permit = co_await semaphore.Acquire();
        const AtExit cancel([&] { outer.CancelAll(); });
        co_await loop.Sleep(hours(1));
      };
      auto child = [&]() -> Task<void> {
        const Counted counted;
        Semaphore semaphore(1);
        Scope inner(loop);
        inner_scope = &inner;
        inner.Spawn(grandchild(semaphore));
        co_await inner.Join();
        ADD_FAILURE() << "a cancelled fiber ran on";
      };
      outer.Spawn(child());
      co_await loop.Sleep(seconds(1));
      (cancel_inner_first ? *inner_scope : outer).CancelAll();
      co_await loop.Yield();
      EXPECT_EQ(Counted::alive(), 0);
      EXPECT_EQ(outer.active(), 0);
    };
    loop.Run(program());
  }
}

TEST(ScopeCancelTest, ADestructorMayCancelAScopeAboveItWhenNoFiberRuns) {
  VirtualLoop loop(1);
  auto sleep = [&](Duration d) -> Task<void> { co_await loop.Sleep(d); };
  Scope outer(loop);
  Scope* inner_scope = nullptr;
  auto grandchild = [&]() -> Task<void> {
    const AtExit cancel([&] { outer.CancelAll(); });
    co_await loop.Sleep(hours(1));
  };
  auto child = [&]() -> Task<void> {
    const Counted counted;
    Scope inner(loop);
    inner_scope = &inner;
    inner.Spawn(grandchild());
    co_await inner.Join();
    ADD_FAILURE() << "a cancelled fiber ran on";
  };
  outer.Spawn(child());
  loop.Run(sleep(seconds(1)));
  inner_scope->CancelAll();
  EXPECT_EQ(outer.active(), 0);
  loop.Run(sleep(seconds(1)));
  EXPECT_EQ(Counted::alive(), 0);
}

TEST(ScopeCancelTest, ADestructorMaySpawnIntoTheScopeThatIsGoing) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto scope = std::make_unique<Scope>(loop);
    auto never_runs = [](Counted) -> Task<void> {
      ADD_FAILURE() << "spawned into a scope that is going, and ran";
      co_return;
    };
    auto child = [&]() -> Task<void> {
      const AtExit spawn([&] { scope->Spawn(never_runs(Counted())); });
      co_await loop.Sleep(hours(1));
    };
    scope->Spawn(child());
    co_await loop.Sleep(seconds(1));
    scope->CancelAll();
    EXPECT_EQ(scope->active(), 0);
    scope->Spawn(child());
    co_await loop.Sleep(seconds(1));
    Scope* going = scope.get();
    going->~Scope();  // as unique_ptr::reset would, but `scope` still leads there for the destructor above
    ::operator delete(static_cast<void*>(scope.release()), sizeof(Scope));
    EXPECT_EQ(Counted::alive(), 0);
  };
  loop.Run(program());
}

TEST(ScopeCancelTest, ThousandsCancelledAtRandomPointsLeaveNothingBehind) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    VirtualLoop loop(seed);
    auto program = [&]() -> Task<void> {
      Channel<Counted> channel(3);
      Semaphore semaphore(5);
      Event event;
      std::function<Task<void>(int)> worker = [&](int depth) -> Task<void> {
        const Counted counted;
        Random& random = loop.random();
        while (true) {
          switch (random.Below(8)) {
            case 0:
              co_await loop.Sleep(microseconds(random.Below(1000)));
              break;
            case 1:
              co_await loop.Yield();
              break;
            case 2:
              (void)co_await channel.Send(Counted());
              break;
            case 3:
              (void)co_await channel.Receive();
              break;
            case 4: {
              const auto permit = co_await semaphore.Acquire(1 + random.Below(5));
              co_await loop.Sleep(microseconds(10));
              break;
            }
            case 5:
              co_await event.Wait();
              break;
            case 6:
              if (depth < 3) {
                Scope inner(loop);
                inner.Spawn(worker(depth + 1));
                inner.Spawn(worker(depth + 1));
                co_await loop.Sleep(microseconds(random.Below(500)));
                if (random.Chance(0.3)) inner.CancelAll();
              }
              break;
            default:
              (void)co_await WithDeadline(Deadline::After(loop, microseconds(random.Below(300))), "it",
                                          worker(depth + 1));
          }
        }
      };
      std::vector<std::unique_ptr<Scope>> scopes;
      for (int n = 0; n < 2000; ++n) {
        scopes.push_back(std::make_unique<Scope>(loop));
        scopes.back()->Spawn(worker(0));
        if (n % 16 == 0) co_await loop.Yield();
        if (n % 64 == 0) {
          event.Set();
          event.Reset();
          co_await loop.Sleep(microseconds(50));
        }
        scopes[loop.random().Below(scopes.size())]->CancelAll();
      }
      scopes.clear();
      while (channel.TryReceive()) {
      }
      EXPECT_EQ(semaphore.available(), 5);
      EXPECT_EQ(Counted::alive(), 0);
    };
    loop.Run(program());
  }
}

}  // namespace
}  // namespace baton::rt
