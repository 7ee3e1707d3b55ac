// Task<T>: an asynchronous function's result, as an owned value.
//
//   Task<Result<int>> CountObjects(Api& api, Deadline deadline) {
//     Value list = CO_TRY(co_await api.List("configmaps", deadline));
//     co_return static_cast<int>(list["items"].size());
//   }
//
// A Task does nothing until it is awaited (or spawned in a Scope), and is awaited once. It is owned: destroying it
// destroys the suspended coroutine with all its locals, its own inner tasks and its place in every list it waits on.
// That is what cancellation is here: whoever owns a task drops it. A dropped task never runs again; its destructors
// run, so resources are held by objects. Cleaning up that itself must wait is not for destructors: do it before
// dropping, on a stop Event. Awaiting may nest as deep as memory allows; dropping recurses once per nested await.
//
// A Fiber is one line of control: a chain of tasks awaiting each other, of which the innermost is suspended or running.
// Fibers are resumed only by their Loop, one at a time, never from inside another: waking a fiber queues it. So code
// between two co_awaits is atomic, and no locks are needed on a loop.
//
// Exceptions do not leave a task: one that tries ends the process.
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/invariant.h"
#include "rt/frame_cache.h"
#include "rt/intrusive_list.h"

namespace baton::rt {

class Fiber;
class Loop;
template <class T>
class Task;

// A pointer to a fiber that becomes null when the fiber is gone.
class WeakFiber : public ListHook<WeakFiber> {
 public:
  explicit WeakFiber(Fiber* fiber);  // may be null
  Fiber* get() const { return linked() ? fiber_ : nullptr; }

 private:
  Fiber* fiber_;
};

// One line of control; a TaskFiber owns its outermost task.
class Fiber : public ListHook<Fiber> {
 public:
  // `parent`: the fiber whose frames own this one, as far as that is known; may be null.
  Fiber(Loop& loop, Fiber* parent);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  virtual ~Fiber();

  Loop& loop() const { return loop_; }
  bool finished() const { return finished_; }

 protected:
  void Start(std::coroutine_handle<> root);  // queues it to run

  // Stands around the destruction of a fiber's frames. Ends the process when the fiber is the one that runs, before its
  // live frame is harmed; and lets the destructors that run inside be known as code of this fiber (Loop::CallerIsIn).
  class Dropping {
   public:
    explicit Dropping(Fiber& fiber);
    ~Dropping();
    Dropping(const Dropping&) = delete;
    Dropping& operator=(const Dropping&) = delete;

   private:
    Fiber& fiber_;
  };

 private:
  friend class Loop;
  friend class VirtualLoop;
  friend class RealLoop;
  friend class TaskPromiseBase;
  friend class WaitBase;
  friend class WeakFiber;
  friend class Scope;

  // The loop calls this after the root finished, with no fiber running; it may delete this.
  virtual void OnFinished() = 0;

  Loop& loop_;
  WeakFiber parent_;
  IntrusiveList<WeakFiber> weak_pointers_;
  std::coroutine_handle<> resume_point_;
  size_t ready_index_ = kNotReady;  // where in the loop's ready queue
  bool finished_ = false;
  bool abandoned_ = false;           // cancelled, waits to be destroyed: never resumed again
  Fiber* dropping_below_ = nullptr;  // while its frames are destroyed: the drop during which that happens

  static constexpr size_t kNotReady = static_cast<size_t>(-1);
};

inline WeakFiber::WeakFiber(Fiber* fiber) : fiber_(fiber) {
  if (fiber != nullptr) fiber->weak_pointers_.PushBack(*this);
}

// Ends the process with "an exception tried to leave <where>: <what()>". Only inside a catch block or what is like it.
[[noreturn]] void EndOnException(std::string_view where) noexcept;

class TaskPromiseBase {
 public:
  static void* operator new(size_t size) { return FrameCache::Allocate(size); }
  static void operator delete(void* frame, size_t size) noexcept { FrameCache::Release(frame, size); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept { EndOnException("a task"); }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
      TaskPromiseBase& promise = done.promise();
      if (promise.awaited_by_) return promise.awaited_by_;
      promise.fiber_->finished_ = true;  // the loop sees it when this resume returns
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  Fiber& fiber() const { return *fiber_; }

 private:
  template <class T>
  friend class Task;
  friend class Fiber;

  Fiber* fiber_ = nullptr;
  std::coroutine_handle<> awaited_by_;
};

template <class T>
class TaskPromise : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <class U = T>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    result_.emplace(std::forward<U>(value));
  }
  T TakeResult() { return *std::move(result_); }

 private:
  std::optional<T> result_;
};

template <>
class TaskPromise<void> : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void TakeResult() noexcept {}
};

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;
  using value_type = T;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      Drop();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() { Drop(); }

  bool valid() const { return handle_ != nullptr; }

  // Destroys the coroutine now: one that was never awaited, since awaiting moves it to who awaits.
  void Drop() {
    if (handle_ != nullptr) std::exchange(handle_, nullptr).destroy();
  }

  // Owns the task from here on: nobody else can drop it in the middle of its chain, or await it again.
  struct Awaiter {
    Task task;
    bool await_ready() noexcept { return false; }
    template <class Promise>
      requires std::is_base_of_v<TaskPromiseBase, Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      task.handle_.promise().fiber_ = &parent.promise().fiber();
      task.handle_.promise().awaited_by_ = parent;
      return task.handle_;
    }
    T await_resume() { return task.handle_.promise().TakeResult(); }
  };
  Awaiter operator co_await() && {
    INVARIANT(handle_ != nullptr, "a task is awaited once, and not after it was moved from");
    return {std::move(*this)};
  }

  // For Fiber subclasses: the root of a fiber, and its result when the fiber has finished.
  std::coroutine_handle<> AdoptAsRoot(Fiber& fiber) {
    INVARIANT(handle_ != nullptr, "an empty task was spawned");
    handle_.promise().fiber_ = &fiber;
    return handle_;
  }
  T TakeResult() { return handle_.promise().TakeResult(); }

 private:
  friend class TaskPromise<T>;
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

// A fiber with the outermost task it owns, started when made. Scope, the When… functions and Loop::Run derive theirs.
template <class T>
class TaskFiber : public Fiber {
 public:
  T TakeResult() { return task_.TakeResult(); }  // when finished, once

 protected:
  TaskFiber(Loop& loop, Fiber* parent, Task<T> task) : Fiber(loop, parent), task_(std::move(task)) {
    Start(task_.AdoptAsRoot(*this));
  }
  ~TaskFiber() override {
    const Dropping dropping(*this);
    task_.Drop();
  }

 private:
  Task<T> task_;
};

// The fiber that runs this: `Fiber& self = co_await ThisFiber();` does not suspend.
class ThisFiber {
 public:
  bool await_ready() const { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
    fiber_ = &handle.promise().fiber();
    return false;
  }
  Fiber& await_resume() const { return *fiber_; }

 private:
  Fiber* fiber_ = nullptr;
};

// What every leaf wait derives from: remembers which fiber to wake. A wait lives in the coroutine's frame, so its
// destructor runs when the fiber is dropped, and takes it off whatever it waits on.
class WaitBase {
 public:
  WaitBase() = default;
  WaitBase(const WaitBase&) = delete;
  WaitBase& operator=(const WaitBase&) = delete;

 protected:
  template <class Promise>
  void SuspendAt(std::coroutine_handle<Promise> handle) noexcept {
    fiber_ = &handle.promise().fiber();
    fiber_->resume_point_ = handle;
  }
  void Wake() noexcept;  // queues the fiber; once per suspension
  Loop& loop() const { return fiber_->loop(); }
  Fiber* fiber() const { return fiber_; }

 private:
  Fiber* fiber_ = nullptr;
};

}  // namespace baton::rt
