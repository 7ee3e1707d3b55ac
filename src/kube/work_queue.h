// WorkQueue: the keys that a controller still has to look at. A key is worked on by one worker at a time, stands in the
// queue once however often it is added, and when it is added while it is worked on it comes again afterwards.
//
//   WorkQueue queue(loop, {});
//   queue.Add("blue/web");
//   while (true) {
//     WorkQueue::Item item = co_await queue.Next();          // destroying an Item ends the work on its key
//     Result<void> done = co_await Reconcile(item.key());
//     if (!done.ok()) queue.Retry(item.key());               // again, later each time
//     if (done.ok()) queue.Forget(item.key());               // and queue.AddAfter(item.key(), minutes(5)) to look
//     again
//   }
//
// One rule says what becomes of a key that is added again before it was taken: the earliest time and the most urgent
// priority win, each for itself. So Add() ends a delay, and who needs to be called at some later time asks for it again
// whenever the key was worked on.
//
// No key is lost: after each Add() some worker takes the key, as long as there are workers. Dropping a task that waits
// in Next() leaves the key to another; so does dropping an Item whose key() nobody ever asked for, as it happens to
// the loser of a WhenAny or behind a deadline: that key keeps its place in the queue. But a worker that is dropped
// in the middle of its work has worked on its key: who wants it to come again adds it.
//
// A queue outlives its workers: destroying it while somebody waits in Next() or holds an Item ends the process. So
// declare the workers' Scope after the queue. The keys that are still in it are then forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/time.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::kube {

// What is urgent goes first, always: a stream of users' changes that keeps all workers busy holds up every resync.
enum class Priority : uint8_t { kUser, kNormal, kResync };

// What a queue tells about itself; a default-made handle counts nothing. The series may be shared by several queues,
// except the gauge.
struct WorkQueueMetrics {
  Counter adds;            // calls of Add, AddAfter and Retry
  Counter retries;         // calls of Retry
  Gauge waiting;           // keys that are due and not taken
  Histogram wait_seconds;  // from when a key was due to when it was taken
  Histogram work_seconds;  // from when it was taken to when its Item was destroyed
};

struct WorkQueueOptions {
  Duration backoff_first = milliseconds(5);  // after a key's first failure; doubles with each further one
  // At most kBackoffLimit. A quarter of an hour, as others have it, is long for somebody who mended the cause.
  Duration backoff_max = minutes(1);
  // The part of a back-off that is random, from 0 to 1, so that failures do not come in step. It only shortens.
  double jitter = 0.2;
  // With those that failed and were not forgotten. More is a broken invariant: there are as many keys as objects.
  size_t keys_max = 1'000'000;
  WorkQueueMetrics metrics;
};

inline constexpr Duration kBackoffLimit = hours(24 * 30);

class WorkQueue {
 private:
  struct Impl;

 public:
  WorkQueue(rt::Loop& loop, const WorkQueueOptions& options);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue();

  void Add(std::string_view key, Priority priority = Priority::kNormal);
  // Not before then; no time or less is Add().
  void AddAfter(std::string_view key, Duration delay, Priority priority = Priority::kNormal);
  // After a failure: AddAfter() with a delay that doubles with each failure until Forget(). With the priority of the
  // work that failed, when called while the key is worked on.
  void Retry(std::string_view key);
  // It succeeded, or is gone for good: the next failure is the first again. A key that waits goes on waiting. Keys that
  // failed are remembered until this is called.
  void Forget(std::string_view key);
  size_t Failures(std::string_view key) const;

  // A key that is being worked on, until this is destroyed.
  class [[nodiscard]] Item {
   public:
    Item(Item&& other) noexcept;
    Item& operator=(Item&& other) noexcept;
    ~Item();
    // Whoever asks has taken the key on; see "No key is lost".
    const std::string& key() const {
      seen_ = true;
      return key_;
    }
    Priority priority() const { return priority_; }

   private:
    friend class WorkQueue;
    Item(Impl& queue, std::string key, Priority priority);
    void Release();

    Impl* queue_;  // null when moved from
    std::string key_;
    Priority priority_;
    mutable bool seen_ = false;
  };
  // The most urgent key that is due and nobody works on; waits for one. Within one priority they go in the order they
  // came: were added, became due, or were raised to it. Which key it is, is decided when the worker really runs. Of
  // several who wait, the first is woken first.
  rt::Task<Item> Next();

  size_t waiting() const;  // due, and nobody works on it
  size_t delayed() const;  // not yet due, also when somebody works on it
  size_t working() const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::kube
