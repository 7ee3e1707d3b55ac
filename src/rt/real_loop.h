// RealLoop: production's loop. Real time, real sockets, one thread, fibers in the order they were woken, but first
// those that the pool has finished something for; a pool of threads for heavy computing and for blocking file calls.
// Runs on Boost.Asio, which only this file's .cc and `net` see.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "rt/loop.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming)
}

namespace baton::rt {

class RealLoop final : public Loop {
 public:
  static constexpr size_t kDefaultPoolThreads = 2;
  // Turns of fibers between two looks at sockets and timers, each of which costs a system call. Sooner when the pool
  // has finished something.
  static constexpr size_t kTurnsBetweenPolls = 64;
  // Posted functions and completions before timers and fibers have their turn again, however many more there are.
  static constexpr size_t kCallbacksPerRound = 1000;

  explicit RealLoop(size_t pool_threads = kDefaultPoolThreads);
  ~RealLoop() override;

  MonotonicTime Now() const override;
  WallTime WallNow() const override;
  Random& random() override { return random_; }
  void MakeReady(Fiber& fiber) override;

  // Runs `function` on the loop, with no fiber running. From any thread.
  void Post(std::function<void()> function);

  // For `net`: the context that sockets are opened on. Completions run on the loop with no fiber running.
  boost::asio::io_context& io_context();

 private:
  struct Asio;

  void RemoveReady(Fiber& fiber) override;
  void StartOffload(std::shared_ptr<OffloadJob> job) override;
  void RunUntil(const bool& done) override;
  void RunReady(const bool& done);
  void WaitForEvents();
  void RunCallbacks();

  SystemRandom random_;
  std::deque<Fiber*> ready_;  // a removed fiber leaves a null behind
  size_t ready_base_ = 0;     // ready_index_ of ready_.front()
  std::unique_ptr<Asio> asio_;
};

}  // namespace baton::rt
