// Loop: what asynchronous code sees of the world: time, chance, timers, and a pool for heavy work.
//
// Production and simulation run the same code on two loops. RealLoop (rt/real_loop.h) runs fibers in the order they
// were woken, on real time and sockets. VirtualLoop (rt/virtual_loop.h) picks the next fiber by its seed and moves the
// clock only when nothing is runnable: same seed, same program, same trace.
//
// One thread: everything here is called on the loop's own thread, except where a comment says otherwise.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.h"
#include "rt/random.h"
#include "rt/task.h"

namespace baton::rt {

// Time as code may ask for it. A separate interface, so that what only needs the time gets only that.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonotonicTime Now() const = 0;  // for waits and deadlines
  virtual WallTime WallNow() const = 0;   // for what people read
};

// A moment by which something must be over. Pass it down as it is: the time left shrinks by itself.
class Deadline {
 public:
  static Deadline Never() { return Deadline(kForever); }
  static Deadline At(MonotonicTime at) { return Deadline(at); }
  static Deadline After(const Clock& clock, Duration timeout);

  MonotonicTime at() const { return at_; }
  bool never() const { return at_ == kForever; }
  bool Passed(const Clock& clock) const { return !never() && clock.Now() >= at_; }
  Duration Left(const Clock& clock) const;  // zero when passed
  Deadline Earlier(Deadline other) const { return Deadline(std::min(at_, other.at_)); }
  friend auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  explicit Deadline(MonotonicTime at) : at_(at) {}
  MonotonicTime at_;
};

// What a timer is for. What happens at the very instant of a deadline still counts, so among timers of one instant the
// wakes go first, in the order they were set; then the deadlines, the last set first, which is the innermost.
enum class TimerKind : uint8_t { kWake, kDeadline };

// A one-shot timer's node in the loop's heap; it leaves the heap when destroyed.
class TimerNode {
 public:
  TimerNode() = default;
  TimerNode(const TimerNode&) = delete;
  TimerNode& operator=(const TimerNode&) = delete;
  virtual ~TimerNode();

 protected:
  virtual void OnTimer() = 0;  // on the loop, with no fiber running: wake something, do not work

 private:
  friend class Loop;
  Loop* loop_ = nullptr;  // set while in the heap
  size_t heap_index_ = 0;
  MonotonicTime at_;
  TimerKind kind_ = TimerKind::kWake;
  uint64_t sequence_ = 0;
};

// Work for the pool; see Loop::Offload.
class OffloadJob {
 public:
  virtual ~OffloadJob() = default;
  void RunToItsEnd() noexcept;    // on a pool thread; an exception ends the process
  std::function<void()> on_done;  // on the loop; empty when nobody waits any more. Touched on the loop only.

 private:
  virtual void Run() = 0;
};

class Loop : public Clock {
 public:
  ~Loop() override;

  virtual Random& random() = 0;

  // co_await loop.Sleep(milliseconds(5));
  // Always suspends, also when there is no time to wait. A time that cannot be told apart from forever is forever.
  class SleepWait;
  SleepWait Sleep(Duration duration);
  SleepWait SleepUntil(MonotonicTime at);

  // Lets every other runnable fiber have a turn first (on the virtual loop: lets the seed choose anew).
  class YieldWait;
  YieldWait Yield();

  // Runs heavy computing on the pool and resumes with its result. `function` must own all it touches: when the waiting
  // task is dropped, it still runs to its end on the pool and its result is thrown away; destroying the loop waits for
  // it. An exception that leaves it ends the process.
  //   Value v = co_await loop.Offload([text = std::move(text)] { return Parse(text); });
  template <class Function>
  Task<std::invoke_result_t<Function>> Offload(Function function);

  // Runs until `root` has finished, and returns its result. The only entry into a loop, and not one from inside: not
  // for fibers, callbacks or destructors that the loop runs. What other fibers there are stay, and go on at the next
  // Run.
  template <class T>
  T Run(Task<T> root);

  // ---- for the runtime's own parts ----
  // Set again, it counts from then. One at kForever never rings.
  void SetTimer(TimerNode& timer, MonotonicTime at, TimerKind kind = TimerKind::kWake);
  void ClearTimer(TimerNode& timer);
  virtual void MakeReady(Fiber& fiber) = 0;
  // The fiber never runs again, and is deleted at the end of this turn (of Run's first, outside one). It stays its
  // owner's until then: an owner that goes first deletes it itself.
  void DestroyLater(Fiber& fiber);
  Fiber* running() const { return running_; }
  // Whether this call comes from the fiber or from one below it, be it a turn or a destructor of a dropped frame.
  bool CallerIsIn(const Fiber& fiber) const;

 protected:
  friend class Fiber;

  virtual void RemoveReady(Fiber& fiber) = 0;
  virtual void StartOffload(std::shared_ptr<OffloadJob> job) = 0;
  virtual void RunUntil(const bool& done) = 0;

  void Resume(Fiber& fiber);                       // one turn of one fiber, and what follows from it
  std::optional<MonotonicTime> NextTimer() const;  // when the earliest timer is due
  void FireTimers(MonotonicTime now);              // all that are due
  // The wakes that are due, or else one deadline: for a loop that lets all the rest of an instant happen in between.
  void FireWakesOrOneDeadline(MonotonicTime now);

 private:
  class OffloadWait;

  void FireFirst();
  bool Before(size_t a, size_t b) const;
  void SiftUp(size_t index);
  void SiftDown(size_t index);
  void Place(size_t index, TimerNode* timer);
  void DestroyAbandoned();
  void Drive(const bool& done);  // RunUntil, with what stands around it

  std::vector<TimerNode*> timers_;  // a binary heap, see Before()
  uint64_t timer_sequence_ = 0;
  bool in_run_ = false;
  size_t fibers_ = 0;
  Fiber* running_ = nullptr;
  Fiber* dropping_ = nullptr;       // whose frames are being destroyed; dropping_below_ leads to the drops around it
  IntrusiveList<Fiber> abandoned_;  // see DestroyLater
};

class Loop::SleepWait : private WaitBase, private TimerNode {
 public:
  SleepWait(Loop& loop, MonotonicTime at) : loop_(loop), at_(at) {}
  bool await_ready() const { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    SuspendAt(handle);
    loop_.SetTimer(*this, at_);
  }
  void await_resume() const {}

 private:
  void OnTimer() override { Wake(); }
  Loop& loop_;
  MonotonicTime at_;
};

class Loop::YieldWait : private WaitBase {
 public:
  bool await_ready() const { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    SuspendAt(handle);
    Wake();
  }
  void await_resume() const {}
};

inline Loop::SleepWait Loop::SleepUntil(MonotonicTime at) { return {*this, at}; }
inline Loop::YieldWait Loop::Yield() { return {}; }

class Loop::OffloadWait : private WaitBase {
 public:
  OffloadWait(Loop& loop, std::shared_ptr<OffloadJob> job) : loop_(loop), job_(std::move(job)) {}
  ~OffloadWait() { job_->on_done = nullptr; }
  bool await_ready() const { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    SuspendAt(handle);
    job_->on_done = [this] { Wake(); };
    loop_.StartOffload(job_);
  }
  void await_resume() const {}

 private:
  Loop& loop_;
  std::shared_ptr<OffloadJob> job_;
};

template <class Function>
Task<std::invoke_result_t<Function>> Loop::Offload(Function function) {
  using ResultType = std::invoke_result_t<Function>;
  struct Job final : OffloadJob {
    explicit Job(Function f) : function(std::move(f)) {}
    void Run() override {
      if constexpr (std::is_void_v<ResultType>) {
        function();
      } else {
        result.emplace(function());
      }
    }
    Function function;
    std::optional<std::conditional_t<std::is_void_v<ResultType>, bool, ResultType>> result;
  };
  auto job = std::make_shared<Job>(std::move(function));
  co_await OffloadWait(*this, job);
  if constexpr (!std::is_void_v<ResultType>) co_return *std::move(job->result);
}

namespace loop_internal {
// The fiber behind Loop::Run.
template <class T>
class RootFiber final : public TaskFiber<T> {
 public:
  RootFiber(Loop& loop, Task<T> task) : TaskFiber<T>(loop, nullptr, std::move(task)) {}
  const bool& done() const { return done_; }

 private:
  void OnFinished() override { done_ = true; }
  bool done_ = false;
};
}  // namespace loop_internal

template <class T>
T Loop::Run(Task<T> root) {
  INVARIANT(!in_run_, "Loop::Run from inside the loop: co_await the task instead");
  loop_internal::RootFiber<T> fiber(*this, std::move(root));
  Drive(fiber.done());
  return fiber.TakeResult();
}

}  // namespace baton::rt
