// WorkQueue: the keys that a controller still has to look at. A key is worked on by one worker at a time, stands in the
// queue once however often it is added, and when it is added while it is worked on it comes again afterwards.
//
//   WorkQueue queue(loop, {});
//   queue.Add("blue/web");
//   while (true) {
//     WorkQueue::Item item = co_await queue.Next();          // dropping an Item is Done()
//     ...
//     queue.AddAfter(item.key(), seconds(30));               // or queue.Retry(item.key()): with back-off
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/time.h"
#include "rt/event.h"
#include "rt/loop.h"
#include "rt/scope.h"
#include "rt/task.h"

namespace baton::kube {

// What is urgent goes first: a user's change before a resync. A key that is added twice keeps the more urgent one.
enum class Priority : uint8_t { kUser, kNormal, kResync };

struct WorkQueueOptions {
  Duration backoff_first = milliseconds(5);  // of a key that failed once; doubles with each failure
  Duration backoff_max = minutes(16);
  double jitter = 0.2;          // a part of the back-off that is random, so that failures do not come in step
  size_t keys_max = 1'000'000;  // more is a broken invariant: a controller has as many keys as there are objects
};

class WorkQueue {
 public:
  WorkQueue(rt::Loop& loop, WorkQueueOptions options);
  ~WorkQueue();

  void Add(std::string_view key, Priority priority = Priority::kNormal);
  // Not before then. An earlier time wins; Add() at once does, too.
  void AddAfter(std::string_view key, Duration delay, Priority priority = Priority::kNormal);
  // After a failure: later each time, until Forget().
  void Retry(std::string_view key);
  void Forget(std::string_view key);  // it succeeded: the next failure is the first again
  size_t Failures(std::string_view key) const;

  // A key that is being worked on, until this is destroyed.
  class Item {
   public:
    Item(Item&& other) noexcept;
    Item& operator=(Item&& other) noexcept;
    ~Item();
    const std::string& key() const { return key_; }
    Priority priority() const { return priority_; }

   private:
    friend class WorkQueue;
    Item(WorkQueue& queue, std::string key, Priority priority);
    WorkQueue* queue_;
    std::string key_;
    Priority priority_;
  };
  // The most urgent key that nobody works on, in the order they came within one priority; waits for one.
  rt::Task<Item> Next();

  size_t waiting() const;  // due now, not taken
  size_t delayed() const;
  size_t working() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::kube
