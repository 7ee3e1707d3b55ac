// Controller: a queue of keys, workers, and one function that makes the world as it should be for one key.
//
//   Controller render(loop, "render", [&](std::string key) { return Render(key); }, {.workers = 8});
//   bindings.OnChange([&](const Value& before, const Value& now) { render.Add(KeyOf(before, now)); });
//   scope.Spawn(render.Run());
//
// The function gets a key and nothing else: it reads all it needs, acts, and says how it went. It is called for one key
// at a time, and again after each Add() that came while it ran. Errors are in three classes, and no more:
//
//   Done()                all is as it should be
//   WaitFor(duration)     something known is being waited for; look again by then (an event may come sooner)
//   Retry(error)          it failed and may work later: again, later each time
//   Terminal(error)       it will not work until something changes: told once, not tried again
//
// A conflict is not an error to report: somebody was faster, so decide again at once (Retry does that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/work_queue.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::kube {

class [[nodiscard]] Outcome {
 public:
  enum class Kind : uint8_t { kDone, kWait, kRetry, kTerminal };

  static Outcome Done() { return Outcome(Kind::kDone); }
  static Outcome WaitFor(Duration duration) {
    Outcome outcome(Kind::kWait);
    outcome.wait_ = duration;
    return outcome;
  }
  static Outcome Retry(Error error) {
    Outcome outcome(Kind::kRetry);
    outcome.error_ = std::move(error);
    return outcome;
  }
  static Outcome Terminal(Error error) {
    Outcome outcome(Kind::kTerminal);
    outcome.error_ = std::move(error);
    return outcome;
  }
  // Done, or Retry with its error.
  static Outcome Of(const Result<void>& result) { return result.ok() ? Done() : Retry(result.error()); }

  Kind kind() const { return kind_; }
  Duration wait() const { return wait_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  explicit Outcome(Kind kind) : kind_(kind) {}
  Kind kind_;
  Duration wait_{};
  std::optional<Error> error_;
};

struct ControllerMetrics {
  Counter reconciles;
  Counter errors;
  Counter terminals;
  Histogram seconds;
};

struct ControllerOptions {
  size_t workers = 4;
  WorkQueueOptions queue;
  ControllerMetrics metrics;
  const Logger* log = nullptr;  // null: says nothing
};

class Controller {
 public:
  using Reconcile = std::function<rt::Task<Outcome>(std::string key)>;

  Controller(rt::Loop& loop, std::string name, Reconcile reconcile, const ControllerOptions& options = {});
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void Add(std::string_view key, Priority priority = Priority::kUser) { queue_.Add(key, priority); }
  void AddAfter(std::string_view key, Duration delay) { queue_.AddAfter(key, delay); }

  // Works until it is dropped. Keys that were added before are done then. May be run again after it was dropped.
  rt::Task<void> Run();
  // Until no key is due or being worked on (delayed ones may be left). For tests and orderly ends.
  bool idle() const { return queue_.waiting() == 0 && queue_.working() == 0; }

  const std::string& name() const { return name_; }
  WorkQueue& queue() { return queue_; }
  // The last error of a key that is not solved; for status pages.
  uint64_t failures() const { return failures_; }

 private:
  rt::Task<void> Work();
  void Settle(const std::string& key, const Outcome& outcome);

  rt::Loop& loop_;
  std::string name_;
  Reconcile reconcile_;
  ControllerOptions options_;
  WorkQueue queue_;
  uint64_t failures_ = 0;
};

}  // namespace baton::kube
