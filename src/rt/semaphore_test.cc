// Semaphores and mutexes: order, and permits that always come back.
#include "rt/semaphore.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rt/real_loop.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"

namespace baton::rt {
namespace {

TEST(SemaphoreTest, APermitIsGivenBackWhenItsHolderLetsGo) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Semaphore semaphore(3);
    {
      Semaphore::Permit permit = co_await semaphore.Acquire(2);
      EXPECT_TRUE(permit.held());
      EXPECT_EQ(semaphore.available(), 1);
      Semaphore::Permit moved = std::move(permit);
      EXPECT_TRUE(moved.held());
      EXPECT_EQ(semaphore.available(), 1);
      moved = co_await semaphore.Acquire(1);  // assigning gives back what was held
      EXPECT_EQ(semaphore.available(), 2);
      moved.Release();
      moved.Release();
      EXPECT_FALSE(moved.held());
      EXPECT_EQ(semaphore.available(), 3);
      permit = co_await semaphore.Acquire(3);
      EXPECT_EQ(semaphore.available(), 0);
    }
    EXPECT_EQ(semaphore.available(), 3);
    EXPECT_TRUE((co_await semaphore.Acquire(0)).held());
  };
  loop.Run(program());
}

TEST(SemaphoreTest, TryAcquireTakesOnlyWhatIsThereAndNotPastThoseWhoWait) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Semaphore semaphore(3);
    EXPECT_FALSE(semaphore.TryAcquire(4).held());
    Semaphore::Permit two = semaphore.TryAcquire(2);
    EXPECT_TRUE(two.held());
    EXPECT_FALSE(semaphore.TryAcquire(2).held());
    EXPECT_TRUE(semaphore.TryAcquire(1).held());
    Scope scope(loop);
    scope.Spawn(Do([&]() -> Task<void> { (void)co_await semaphore.Acquire(3); }));
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(semaphore.available(), 1);
    EXPECT_FALSE(semaphore.TryAcquire(1).held());  // somebody waits
    two.Release();
    co_await scope.Join();
    EXPECT_TRUE(semaphore.TryAcquire(3).held());
  };
  loop.Run(program());
}

// Three permits are taken; then a waits for 3, b for 1, c for 1, in this order.
struct Queue {
  explicit Queue(Loop& l) : loop(l), a(l), b(l), c(l) {}
  Task<void> Ask(std::string name, size_t count) {
    const Semaphore::Permit permit = co_await semaphore.Acquire(count);
    got.push_back(name);
    co_await loop.Sleep(seconds(1));
  }
  Task<void> Fill() {
    all = semaphore.TryAcquire(3);
    a.Spawn(Ask("a", 3));
    co_await loop.Sleep(seconds(1));
    b.Spawn(Ask("b", 1));
    co_await loop.Sleep(seconds(1));
    c.Spawn(Ask("c", 1));
    co_await loop.Sleep(seconds(1));
  }
  Loop& loop;
  Semaphore semaphore{3};
  Semaphore::Permit all;
  std::vector<std::string> got;
  Scope a, b, c;
};

TEST(SemaphoreTest, ALargeRequestIsNotStarvedBySmallerOnesBehindIt) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Queue queue(loop);
    co_await queue.Fill();
    queue.all.Release();
    EXPECT_EQ(queue.semaphore.available(), 0);  // a has it before it runs
    co_await loop.Sleep(milliseconds(1));
    EXPECT_EQ(queue.got, (std::vector<std::string>{"a"}));
    co_await queue.b.Join();
    co_await queue.c.Join();
    EXPECT_EQ(queue.got.size(), 3);
    EXPECT_EQ(queue.semaphore.available(), 3);
  };
  loop.Run(program());
}

TEST(SemaphoreTest, ALargeRequestThatWasGrantedAndDroppedLetsTheSmallerOnesBehindItPass) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Queue queue(loop);
    co_await queue.Fill();
    queue.all.Release();
    queue.a.CancelAll();  // had been given all three, and never ran
    EXPECT_EQ(queue.semaphore.available(), 1);
    co_await loop.Sleep(milliseconds(1));
    EXPECT_EQ(queue.got.size(), 2);
    co_await queue.b.Join();
    co_await queue.c.Join();
    EXPECT_EQ(queue.semaphore.available(), 3);
  };
  loop.Run(program());
}

TEST(SemaphoreTest, ALargeRequestThatIsDroppedWhileItWaitsLetsTheSmallerOnesBehindItPass) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Semaphore semaphore(3);
    Semaphore::Permit held = semaphore.TryAcquire(1);
    int small = 0;
    auto ask = [&](size_t count) -> Task<void> {
      const Semaphore::Permit permit = co_await semaphore.Acquire(count);
      if (count == 1) ++small;
      co_await loop.Sleep(seconds(10));
    };
    Scope large(loop);
    Scope rest(loop);
    large.Spawn(ask(3));
    co_await loop.Sleep(seconds(1));
    for (int n = 0; n < 3; ++n) rest.Spawn(ask(1));
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(small, 0);
    EXPECT_EQ(semaphore.available(), 2);
    large.CancelAll();
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(small, 2);
    held.Release();
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(small, 3);
  };
  loop.Run(program());
}

TEST(SemaphoreTest, APermitGivenToAFiberThatIsDroppedBeforeItRanComesBack) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Semaphore semaphore(1);
    Semaphore::Permit held = semaphore.TryAcquire();
    bool second_ran = false;
    Scope first(loop);
    Scope second(loop);
    first.Spawn(Do([&]() -> Task<void> {
      (void)co_await semaphore.Acquire();
      ADD_FAILURE() << "a dropped fiber ran";
    }));
    co_await loop.Sleep(seconds(1));
    second.Spawn(Do([&]() -> Task<void> {
      (void)co_await semaphore.Acquire();
      second_ran = true;
    }));
    co_await loop.Sleep(seconds(1));
    held.Release();
    EXPECT_EQ(semaphore.available(), 0);
    first.CancelAll();
    EXPECT_EQ(semaphore.available(), 0);  // straight to the next
    co_await second.Join();
    EXPECT_TRUE(second_ran);
    EXPECT_EQ(semaphore.available(), 1);
  };
  loop.Run(program());
}

TEST(SemaphoreTest, OnTheRealLoopPermitsAreGivenInTheOrderOfAsking) {
  RealLoop loop(1);
  auto program = [&]() -> Task<void> {
    Semaphore semaphore(2);
    std::vector<int> order;
    auto ask = [&](int n) -> Task<void> {
      const Semaphore::Permit permit = co_await semaphore.Acquire();
      order.push_back(n);
      co_await loop.Yield();
    };
    Scope scope(loop);
    for (int n = 0; n < 1000; ++n) scope.Spawn(ask(n));
    co_await scope.Join();
    EXPECT_EQ(order.size(), 1000);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  };
  loop.Run(program());
}

TEST(SemaphoreTest, AMutexLetsOneInAtATimeAcrossSuspensions) {
  VirtualLoop loop(1);
  auto program = [&]() -> Task<void> {
    Mutex mutex;
    int inside = 0;
    int passed = 0;
    auto enter = [&]() -> Task<void> {
      const Mutex::Guard guard = co_await mutex.Lock();
      EXPECT_EQ(++inside, 1);
      EXPECT_FALSE(mutex.TryLock().held());
      co_await loop.Sleep(loop.random().Between(Duration(0), Duration(milliseconds(3))));
      --inside;
      ++passed;
    };
    Scope scope(loop);
    for (int n = 0; n < 200; ++n) scope.Spawn(enter());
    co_await scope.Join();
    EXPECT_EQ(passed, 200);
    EXPECT_TRUE(mutex.TryLock().held());
  };
  loop.Run(program());
}

TEST(SemaphoreDeathTest, AskingForMoreThanThereIsInAllEndsTheProcess) {
  Semaphore semaphore(3);
  EXPECT_DEATH((void)semaphore.Acquire(4), "more permits asked for than the semaphore has in all");
}

TEST(SemaphoreDeathTest, GoingBeforeItsPermitsEndsTheProcess) {
  EXPECT_DEATH(
      {
        auto semaphore = std::make_unique<Semaphore>(1);
        Semaphore::Permit permit = semaphore->TryAcquire();
        semaphore.reset();
      },
      "a semaphore outlives its permits");
}

}  // namespace
}  // namespace baton::rt
