// Events: who is woken, and by what.
#include "rt/event.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

TEST(EventTest, ASetEventLetsPassWithoutSuspending) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event event;
    event.Set();
    event.Set();
    const uint64_t steps = loop.steps();
    co_await event.Wait();
    co_await event.Wait();
    EXPECT_EQ(loop.steps(), steps);
    EXPECT_TRUE(event.is_set());
  };
  loop.Run(program());
}

TEST(EventTest, SetWakesAllWhoWaitOnce) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event event;
    int passed = 0;
    auto waiter = [&]() -> Task<void> {
      co_await event.Wait();
      ++passed;
      co_await event.Wait();  // reset since: waits again
      ++passed;
    };
    Scope scope(loop);
    for (int n = 0; n < 100; ++n) scope.Spawn(waiter());
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(passed, 0);
    event.Set();
    event.Reset();
    EXPECT_EQ(passed, 0);  // waking queues, it does not run
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(passed, 100);
    event.Set();
    co_await scope.Join();
    EXPECT_EQ(passed, 200);
  };
  loop.Run(program());
}

TEST(EventTest, AWaiterThatWasDroppedIsForgotten) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event event;
    int passed = 0;
    auto waiter = [&]() -> Task<void> {
      co_await event.Wait();
      ++passed;
    };
    std::vector<std::unique_ptr<Scope>> scopes;
    for (int n = 0; n < 5; ++n) {
      scopes.push_back(std::make_unique<Scope>(loop));
      scopes.back()->Spawn(waiter());
    }
    co_await loop.Sleep(seconds(1));
    scopes[0].reset();  // the first, one in the middle and the last of the list
    scopes[2].reset();
    scopes[4].reset();
    event.Set();
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(passed, 2);
  };
  loop.Run(program());
}

TEST(EventTest, MayGoBeforeThoseWhoWait) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    auto event = std::make_unique<Event>();
    auto waiter = [&]() -> Task<void> {
      co_await event->Wait();
      ADD_FAILURE() << "woken by an event that was never set";
    };
    Scope scope(loop);
    scope.Spawn(waiter());
    co_await loop.Sleep(seconds(1));
    event.reset();
    co_await loop.Sleep(seconds(1));
  };
  loop.Run(program());
}

TEST(EventTest, MayBeSetFromTheDestructorOfAFiberThatWaitsForIt) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Event event;
    int passed = 0;
    auto waiter = [&]() -> Task<void> {
      const AtExit set([&] { event.Set(); });
      co_await event.Wait();
      ++passed;
    };
    Scope others(loop);
    Scope scope(loop);
    others.Spawn(waiter());
    scope.Spawn(waiter());
    scope.Spawn(waiter());
    co_await loop.Sleep(seconds(1));
    scope.CancelAll();
    co_await others.Join();
    EXPECT_EQ(passed, 1);
  };
  loop.Run(program());
}

}  // namespace
}  // namespace baton::rt
