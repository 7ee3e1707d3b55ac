// The work queue on the virtual loop: once per key, priorities, delays, back-off.
#include "kube/work_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "kube/work_queue_for_test.h"
#include "rt/virtual_loop.h"

namespace baton::kube {
namespace {

using rt::Task;
using rt::VirtualLoop;

TEST(WorkQueueTest, KeysComeInTheOrderTheyWereAddedAndEachOnce) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    for (const char* key : {"b", "a", "c", "b", "a"}) queue.Add(key);
    EXPECT_EQ(queue.waiting(), 3);
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"b", "a", "c"}));
    EXPECT_EQ(queue.waiting() + queue.delayed() + queue.working(), 0);
    queue.Add("b");
    queue.Add("");
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"b", ""}));
  });
}

TEST(WorkQueueTest, AKeyThatIsAddedWhileItIsWorkedOnComesAgainAfterwards) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("a");
    {
      const WorkQueue::Item item = co_await queue.Next();
      EXPECT_EQ(item.key(), "a");
      queue.Add("a");
      queue.Add("b");
      queue.Add("a");
      EXPECT_EQ(queue.working(), 1);
      EXPECT_EQ(queue.waiting(), 1);
      EXPECT_EQ((co_await queue.Next()).key(), "b");  // not "a": it is worked on
      EXPECT_EQ(queue.waiting(), 0);
    }
    EXPECT_EQ(queue.waiting(), 1);
    EXPECT_EQ(co_await TakeAll(queue), Keys{"a"});
    EXPECT_EQ(queue.waiting(), 0);
  });
}

TEST(WorkQueueTest, AKeyAddedWhileItIsWorkedOnGoesBeforeThoseAddedLater) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("a");
    std::optional<WorkQueue::Item> item = co_await queue.Next();
    EXPECT_EQ(item->key(), "a");
    queue.Add("b");
    queue.Add("a");
    queue.Add("c");
    item.reset();
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"b", "a", "c"}));
  });
}

TEST(WorkQueueTest, MoreUrgentKeysGoFirstAndAWaitingKeyMovesUpButNeverDown) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("r1", Priority::kResync);
    queue.Add("r2", Priority::kResync);
    queue.Add("n1");
    queue.Add("u1", Priority::kUser);
    queue.Add("n2");
    queue.Add("u2", Priority::kUser);
    queue.Add("r2", Priority::kUser);                   // behind the users' that are there
    queue.Add("u1", Priority::kResync);                 // stays
    queue.AddAfter("n2", seconds(9), Priority::kUser);  // the earliest time and the most urgent priority
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"u1", "u2", "r2", "n2", "n1", "r1"}));
    EXPECT_EQ(queue.delayed(), 0);
  });
}

TEST(WorkQueueTest, AnItemTellsThePriorityItWasTakenWith) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("a", Priority::kResync);
    queue.Add("a", Priority::kUser);
    WorkQueue::Item item = co_await queue.Next();
    EXPECT_EQ(item.key(), "a");
    EXPECT_EQ(item.priority(), Priority::kUser);
    queue.Add("a", Priority::kResync);  // nothing of the urgency is left for the next time
    queue.Add("b");
    item = co_await queue.Next();
    EXPECT_EQ(item.key(), "b");
    item = co_await queue.Next();
    EXPECT_EQ(item.key(), "a");
    EXPECT_EQ(item.priority(), Priority::kResync);
  });
}

TEST(WorkQueueTest, ADelayedKeyComesAtItsTimeAndTheEarliestTimeWins) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    const MonotonicTime start = loop.Now();
    queue.AddAfter("late", seconds(30));
    queue.AddAfter("early", seconds(10));
    queue.AddAfter("late", seconds(20));
    queue.AddAfter("early", seconds(40));
    queue.AddAfter("never", Duration::max());
    EXPECT_EQ(queue.waiting(), 0);
    EXPECT_EQ(queue.delayed(), 3);
    EXPECT_EQ((co_await queue.Next()).key(), "early");
    EXPECT_EQ(loop.Now() - start, seconds(10));
    EXPECT_EQ((co_await queue.Next()).key(), "late");
    EXPECT_EQ(loop.Now() - start, seconds(20));
    co_await loop.Sleep(hours(1));
    EXPECT_EQ(queue.waiting(), 0);  // they do not come a second time
    EXPECT_EQ(queue.delayed(), 1);
    queue.AddAfter("never", seconds(1));
    EXPECT_EQ((co_await queue.Next()).key(), "never");
  });
}

TEST(WorkQueueTest, AnImmediateAddEndsTheDelay) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    queue.AddAfter("a", seconds(30), Priority::kUser);
    queue.Add("b");
    queue.Add("a", Priority::kResync);  // now, and still a user's
    queue.AddAfter("c", Duration::zero());
    queue.AddAfter("d", seconds(-5));
    queue.AddAfter("d", Duration::min());
    EXPECT_EQ(queue.delayed(), 0);
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"a", "b", "c", "d"}));
    co_await loop.Sleep(hours(1));
    EXPECT_EQ(queue.waiting(), 0);
  });
}

TEST(WorkQueueTest, KeysThatBecomeDueAtOneInstantComeByPriorityThenInTheOrderTheyWereAdded) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    queue.AddAfter("r", seconds(5), Priority::kResync);
    queue.AddAfter("n2", seconds(5));
    queue.AddAfter("n1", seconds(4));
    queue.AddAfter("n3", seconds(5));
    queue.AddAfter("u", seconds(5), Priority::kUser);
    co_await loop.Sleep(seconds(6));
    queue.Add("n4");
    EXPECT_EQ(co_await TakeAll(queue), (Keys{"u", "n1", "n2", "n3", "n4", "r"}));
  });
}

TEST(WorkQueueTest, ADelayThatEndsWhileTheKeyIsWorkedOnMakesItComeAgain) {
  RunOnALoop([](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
    queue.Add("a");
    {
      const WorkQueue::Item item = co_await queue.Next();
      EXPECT_EQ(item.key(), "a");
      queue.AddAfter("a", seconds(10));
      EXPECT_EQ(queue.delayed(), 1);
      co_await loop.Sleep(seconds(11));
      EXPECT_EQ(queue.delayed(), 0);
      EXPECT_EQ(queue.waiting(), 0);
    }
    EXPECT_EQ(co_await TakeAll(queue), Keys{"a"});
  });
}

TEST(WorkQueueTest, TheBackOffDoublesUpToItsCapAndForgetStartsItAnew) {
  WorkQueueOptions options;
  options.backoff_first = seconds(1);
  options.backoff_max = seconds(10);
  options.jitter = 0;
  RunOnALoop(
      [](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
        for (const int round : {1, 2}) {
          for (const int expected : {1, 2, 4, 8, 10, 10, 10}) {
            const MonotonicTime start = loop.Now();
            queue.Retry("a");
            EXPECT_EQ((co_await queue.Next()).key(), "a");
            EXPECT_EQ(loop.Now() - start, seconds(expected)) << "round " << round;
          }
          EXPECT_EQ(queue.Failures("a"), 7);
          EXPECT_EQ(queue.Failures("b"), 0);
          queue.Forget("a");
          queue.Forget("b");
          EXPECT_EQ(queue.Failures("a"), 0);
        }
        for (int i = 0; i < 1000; ++i) queue.Retry("a");  // no overflow; the first of them counts
        const MonotonicTime start = loop.Now();
        queue.Forget("a");  // does not take it out of the queue
        EXPECT_EQ((co_await queue.Next()).key(), "a");
        EXPECT_EQ(loop.Now() - start, seconds(1));
      },
      options);
}

TEST(WorkQueueTest, ARetryHasThePriorityOfTheWorkThatFailed) {
  RunOnALoop([](VirtualLoop&, WorkQueue& queue) -> Task<void> {
    queue.Add("a", Priority::kUser);
    {
      const WorkQueue::Item item = co_await queue.Next();
      queue.Retry(item.key());
    }
    EXPECT_EQ(queue.delayed(), 1);
    WorkQueue::Item item = co_await queue.Next();
    EXPECT_EQ(item.key(), "a");
    EXPECT_EQ(item.priority(), Priority::kUser);
  });
}

TEST(WorkQueueTest, TheJitterShortensEachBackOffByAtMostItsPart) {
  WorkQueueOptions options;
  options.backoff_first = milliseconds(5);
  options.backoff_max = seconds(1);
  options.jitter = 0.25;
  int below_the_middle = 0;
  int above_the_middle = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    VirtualLoop loop(seed);
    const auto program = [&]() -> Task<void> {
      WorkQueue queue(loop, options);
      Duration whole = options.backoff_first;
      for (int failure = 1; failure <= 12; ++failure, whole = std::min<Duration>(whole * 2, options.backoff_max)) {
        const MonotonicTime start = loop.Now();
        queue.Retry("a");
        EXPECT_EQ((co_await queue.Next()).key(), "a");
        const Duration waited = loop.Now() - start;
        EXPECT_GE(waited, whole * 3 / 4) << "seed " << seed << ", failure " << failure;
        EXPECT_LE(waited, whole) << "seed " << seed << ", failure " << failure;
        (waited < whole * 7 / 8 ? below_the_middle : above_the_middle) += 1;
      }
    };
    loop.Run(program());
  }
  EXPECT_NEAR(below_the_middle, above_the_middle, 600);  // of 12,000
}

TEST(WorkQueueTest, KeysThatAreDoneOrForgottenTakeNoRoom) {
  WorkQueueOptions options;
  options.keys_max = 1;
  RunOnALoop(
      [](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
        for (const char* key : {"a", "b", "c"}) {
          queue.Add(key);
          EXPECT_EQ(co_await TakeAll(queue), Keys{key});
          queue.Retry(key);
          co_await loop.Sleep(seconds(1));
          EXPECT_EQ(co_await TakeAll(queue), Keys{key});
          queue.Forget(key);
        }
      },
      options);
}

TEST(WorkQueueTest, TheMetricsTellHowLongKeysWaitedAndWereWorkedOn) {
  MetricRegistry registry;
  WorkQueueOptions options;
  options.metrics.adds = registry.AddCounter("adds_total", "Adds.");
  options.metrics.retries = registry.AddCounter("retries_total", "Retries.");
  options.metrics.waiting = registry.AddGauge("waiting", "Waiting.");
  options.metrics.wait_seconds = registry.AddHistogram("wait_seconds", "Waits.", kCallSeconds);
  options.metrics.work_seconds = registry.AddHistogram("work_seconds", "Work.", kCallSeconds);
  const WorkQueueMetrics& metrics = options.metrics;
  RunOnALoop(
      [&metrics](VirtualLoop& loop, WorkQueue& queue) -> Task<void> {
        queue.Add("a");
        queue.Add("a");
        queue.AddAfter("b", seconds(1));
        EXPECT_EQ(metrics.waiting.value(), 1);
        co_await loop.Sleep(seconds(4));
        EXPECT_EQ(metrics.waiting.value(), 2);
        for (int i = 0; i < 2; ++i) {
          const WorkQueue::Item item = co_await queue.Next();
          (void)item.key();
          co_await loop.Sleep(seconds(10));
        }
        queue.Retry("c");
        EXPECT_EQ(metrics.waiting.value(), 0);
        EXPECT_EQ(metrics.adds.value(), 4);
        EXPECT_EQ(metrics.retries.value(), 1);
        EXPECT_EQ(metrics.wait_seconds.count(), 2);
        EXPECT_DOUBLE_EQ(metrics.wait_seconds.sum(), 4 + 13);
        EXPECT_DOUBLE_EQ(metrics.work_seconds.sum(), 20);
      },
      options);
}

TEST(WorkQueueDeathTest, MoreKeysThanAllowedAndOptionsWithoutSenseEndTheProcess) {
  VirtualLoop loop(1);
  const auto with = [&](auto change) {
    WorkQueueOptions options;
    change(options);
    WorkQueue queue(loop, options);
    queue.Add("a");
    queue.Add("a");
    queue.Retry("b");
    queue.Forget("b");
    queue.Add("c");
  };
  with([](WorkQueueOptions& options) { options.keys_max = 3; });
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.keys_max = 2; }), "more keys than its keys_max");
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.jitter = 1.5; }), "from 0 to 1");
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.jitter = -0.5; }), "from 0 to 1");
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.backoff_first = Duration::zero(); }), "first back-off");
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.backoff_first = hours(1); }), "first back-off");
  EXPECT_DEATH(with([](WorkQueueOptions& options) { options.backoff_max = Duration::max(); }), "kBackoffLimit");
}

}  // namespace
}  // namespace baton::kube
