// Workers of the work queue: who is woken, and what becomes of keys and queue when workers are dropped.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/work_queue.h"
#include "kube/work_queue_for_test.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

using rt::Do;
using rt::Scope;
using rt::Task;
using rt::VirtualLoop;

TEST(WorkQueueWorkersTest, AWaitingWorkerIsWokenForEachKeyAndTheFirstWhoWaitedIsFirst) {
  VirtualLoop loop(1);
  const auto program = [&]() -> Task<void> {
    WorkQueue queue(loop, {});
    Keys log;
    Scope workers(loop);
    const auto worker = [&](std::string name) -> Task<void> {
      const WorkQueue::Item item = co_await queue.Next();
      log.push_back(name + item.key());
      co_await loop.Sleep(hours(1));
    };
    for (const char* name : {"1", "2", "3"}) {
      workers.Spawn(worker(name));
      co_await loop.Sleep(seconds(1));
    }
    const uint64_t steps = loop.steps();
    co_await loop.Sleep(hours(1));
    EXPECT_EQ(loop.steps() - steps, 1);  // only this sleep: nobody polls
    queue.Add("a");
    co_await loop.Sleep(seconds(1));
    queue.Add("b");
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(log, (Keys{"1a", "2b"}));
    EXPECT_EQ(queue.working(), 2);
    queue.AddAfter("c", seconds(5));
    co_await loop.Sleep(seconds(6));
    EXPECT_EQ(log, (Keys{"1a", "2b", "3c"}));
  };
  loop.Run(program());
}

TEST(WorkQueueWorkersTest, AWokenWorkerTakesTheMostUrgentKeyThatIsThereWhenItRuns) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    std::string got;
    Scope workers(loop);
    workers.Spawn(Do([&]() -> Task<void> { got = (co_await queue.Next()).key(); }));
    co_await loop.Sleep(seconds(1));
    queue.Add("resync", Priority::kResync);  // wakes the worker
    queue.Add("user", Priority::kUser);      // before it runs
    co_await workers.Join();
    EXPECT_EQ(got, "user");
    EXPECT_EQ(queue.waiting(), 1);
  });
}

TEST(WorkQueueWorkersTest, AWorkerThatIsDroppedAfterItWasWokenLeavesTheKeyToTheNext) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    Keys log;
    Scope second(loop);
    std::optional<Scope> first(loop);
    const auto worker = [&](std::string name) -> Task<void> { log.push_back(name + (co_await queue.Next()).key()); };
    first->Spawn(worker("first "));
    co_await loop.Sleep(seconds(1));
    second.Spawn(worker("second "));
    co_await loop.Sleep(seconds(1));
    queue.Add("a");
    first.reset();  // it was woken, and has not run
    EXPECT_EQ(queue.waiting(), 1);
    co_await second.Join();
    EXPECT_EQ(log, Keys{"second a"});
  });
}

TEST(WorkQueueWorkersTest, AWaitThatPassesItsDeadlineLeavesTheQueueAsItWas) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    const auto nothing = co_await rt::WithDeadline(rt::Deadline::After(loop, seconds(1)), "a key", queue.Next());
    EXPECT_FALSE(nothing.ok());
    queue.Add("a");
    EXPECT_EQ(co_await TakeAll(queue), Keys{"a"});
  });
}

TEST(WorkQueueWorkersTest, AnItemThatNobodySawGoesBackToItsPlace) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    for (const char* key : {"a", "b", "c"}) queue.Add(key);
    {
      std::vector<Task<WorkQueue::Item>> both;
      both.push_back(queue.Next());
      both.push_back(queue.Next());
      auto first = co_await rt::WhenAny(std::move(both));  // the other may have taken a key, too
    }
    EXPECT_EQ(queue.working(), 0);
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"a", "b", "c"}));
  });
}

TEST(WorkQueueWorkersTest, AnItemThatNobodySawMergesWithWhatWasAddedMeanwhile) {
  struct Row {
    const char* what;
    void (*meanwhile)(WorkQueue&);
    Keys expected;
  };
  const Row rows[] = {
      {"nothing", [](WorkQueue&) {}, {"a", "b"}},
      {"the same", [](WorkQueue& queue) { queue.Add("a"); }, {"a", "b"}},
      {"less urgent", [](WorkQueue& queue) { queue.Add("a", Priority::kResync); }, {"a", "b"}},
      {"later", [](WorkQueue& queue) { queue.AddAfter("a", seconds(5)); }, {"a", "b"}},
      {"more urgent", [](WorkQueue& queue) { queue.Add("a", Priority::kUser); }, {"a", "b"}},
      {"others more urgent", [](WorkQueue& queue) { queue.Add("u", Priority::kUser); }, {"u", "a", "b"}},
      {"more urgent, before others",
       [](WorkQueue& queue) {
         queue.AddAfter("a", seconds(5), Priority::kUser);
         queue.Add("u", Priority::kUser);
       },
       {"a", "u", "b"}},
      {"more urgent, behind others",
       [](WorkQueue& queue) {
         queue.Add("u", Priority::kUser);
         queue.AddAfter("a", seconds(5), Priority::kUser);
       },
       {"u", "a", "b"}},
  };
  for (const Row& row : rows) {
    RunOnALoop([&row](VirtualLoop&, WorkQueue& queue) -> Task<void> {
      queue.Add("a");
      queue.Add("b");
      {
        const WorkQueue::Item item = co_await queue.Next();
        row.meanwhile(queue);
      }
      EXPECT_EQ(queue.delayed(), 0) << row.what;
      EXPECT_EQ(co_await TakeAll(queue), row.expected) << row.what;
    });
  }
}

TEST(WorkQueueWorkersTest, AWorkerThatIsDroppedAtWorkFreesItsKey) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    queue.Add("a");
    {
      Scope workers(loop);
      workers.Spawn(Do([&]() -> Task<void> {
        const WorkQueue::Item item = co_await queue.Next();
        EXPECT_EQ(item.key(), "a");
        co_await loop.Sleep(hours(1));
      }));
      co_await loop.Sleep(seconds(1));
      EXPECT_EQ(queue.working(), 1);
      queue.Add("a");
    }
    EXPECT_EQ(queue.working(), 0);
    EXPECT_EQ(co_await TakeAll(queue), Keys{"a"});
  });
}

TEST(WorkQueueWorkersTest, AnItemCanBeMovedAndEndsItsWorkOnce) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("a");
    queue.Add("b");
    WorkQueue::Item item = co_await queue.Next();
    EXPECT_EQ(item.key(), "a");
    WorkQueue::Item other = std::move(item);
    EXPECT_EQ(other.key(), "a");
    EXPECT_EQ(queue.working(), 1);
    other = co_await queue.Next();  // ends the work on "a"
    EXPECT_EQ(other.key(), "b");
    EXPECT_EQ(queue.working(), 1);
    WorkQueue::Item& same = other;
    other = std::move(same);
    EXPECT_EQ(other.key(), "b");
    EXPECT_EQ(queue.working(), 1);
  });
}

TEST(WorkQueueWorkersDeathTest, DestroyingTheQueueBeforeItsWorkersEndsTheProcess) {
  const auto waits = [] {
    VirtualLoop loop(1);
    const auto program = [&]() -> Task<void> {
      std::optional<WorkQueue> queue(std::in_place, loop, WorkQueueOptions{});
      Scope workers(loop);
      workers.Spawn(Do([&]() -> Task<void> { (void)(co_await queue->Next()).key(); }));
      co_await loop.Sleep(seconds(1));
      queue.reset();
    };
    loop.Run(program());
  };
  const auto works = [] {
    VirtualLoop loop(1);
    const auto program = [&]() -> Task<void> {
      std::optional<WorkQueue> queue(std::in_place, loop, WorkQueueOptions{});
      queue->Add("a");
      const WorkQueue::Item item = co_await queue->Next();
      queue.reset();
    };
    loop.Run(program());
  };
  EXPECT_DEATH(waits(), "a work queue outlives all who wait or work on it");
  EXPECT_DEATH(works(), "a work queue outlives all who wait or work on it");
}

}  // namespace
}  // namespace baton::kube
