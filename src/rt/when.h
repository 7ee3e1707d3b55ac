// Waiting for several tasks at once, and for one no longer than a deadline. Each task given runs as a fiber of its own.
//
//   auto [a, b] = co_await WhenAll(First(), Second());
//   std::vector<int> all = co_await WhenAll(std::move(tasks));
//   AnyResult<int> first = co_await WhenAny(std::move(tasks));              // the others are dropped
//   Value v = CO_TRY(co_await WithDeadline(deadline, "the hub's answer", api.Get(key)));
//
// All children are destroyed before the waiting task goes on, and when it is dropped, so they may use its locals.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strings.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::rt {

template <class T>
struct AnyResult {
  size_t index;  // of the task that finished first
  T value;
};

namespace when_internal {

// Counts finished children down and wakes the parent when enough have finished.
class Join : public WaitBase {
 public:
  explicit Join(size_t wanted) : wanted_(wanted) {}
  void ChildFinished(size_t index) {
    if (finished_++ == 0) first_ = index;
    if (finished_ == wanted_ && fiber() != nullptr) Wake();
  }
  bool await_ready() const { return finished_ >= wanted_; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    SuspendAt(handle);
  }
  void await_resume() const {}
  size_t first() const { return first_; }

 private:
  size_t wanted_;
  size_t finished_ = 0;
  size_t first_ = 0;
};

template <class T>
class Child final : public TaskFiber<T> {
 public:
  Child(Fiber& parent, Join& join, size_t index, Task<T> task)
      : TaskFiber<T>(parent.loop(), &parent, std::move(task)), join_(join), index_(index) {}

 private:
  void OnFinished() override { join_.ChildFinished(index_); }

  Join& join_;
  size_t index_;
};

template <class T>
using NonVoid = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
NonVoid<T> ResultOf(Child<T>& child) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return child.TakeResult();
  }
}

// A Join that a timer can also end.
class TimedJoin final : public Join, private TimerNode {
 public:
  explicit TimedJoin(MonotonicTime at) : Join(1), at_(at) {}
  using Join::await_ready;
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    Join::await_suspend(handle);
    loop().SetTimer(*this, at_, TimerKind::kDeadline);
  }
  void ChildFinished() {
    done_ = true;
    if (expired_) return;  // already woken
    loop().ClearTimer(*this);
    Wake();
  }
  bool done() const { return done_; }

 private:
  void OnTimer() override {
    expired_ = true;
    Wake();
  }
  MonotonicTime at_;
  bool done_ = false;
  bool expired_ = false;
};

template <class T>
class TimedChild final : public TaskFiber<T> {
 public:
  TimedChild(Fiber& parent, TimedJoin& join, Task<T> task)
      : TaskFiber<T>(parent.loop(), &parent, std::move(task)), join_(join) {}

 private:
  void OnFinished() override { join_.ChildFinished(); }

  TimedJoin& join_;
};

template <class T>
struct Flatten {
  using type = Result<T>;
};
template <class T>
struct Flatten<Result<T>> {
  using type = Result<T>;
};

}  // namespace when_internal

// All results, in the order of the tasks.
template <class T>
Task<std::vector<T>> WhenAll(std::vector<Task<T>> tasks) {
  Fiber& self = co_await ThisFiber();
  when_internal::Join join(tasks.size());
  std::vector<std::unique_ptr<when_internal::Child<T>>> children;
  children.reserve(tasks.size());
  for (Task<T>& task : tasks) {
    children.push_back(std::make_unique<when_internal::Child<T>>(self, join, children.size(), std::move(task)));
  }
  co_await join;
  std::vector<T> results;
  results.reserve(children.size());
  for (auto& child : children) results.push_back(child->TakeResult());
  co_return results;
}

inline Task<void> WhenAll(std::vector<Task<void>> tasks) {
  Fiber& self = co_await ThisFiber();
  when_internal::Join join(tasks.size());
  std::vector<std::unique_ptr<when_internal::Child<void>>> children;
  children.reserve(tasks.size());
  for (Task<void>& task : tasks) {
    children.push_back(std::make_unique<when_internal::Child<void>>(self, join, children.size(), std::move(task)));
  }
  co_await join;
}

// A void task's result is a std::monostate.
template <class... Ts>
Task<std::tuple<when_internal::NonVoid<Ts>...>> WhenAll(Task<Ts>... tasks) {
  Fiber& self = co_await ThisFiber();
  when_internal::Join join(sizeof...(Ts));
  std::tuple<std::unique_ptr<when_internal::Child<Ts>>...> children{
      // braces: made from left to right
      std::make_unique<when_internal::Child<Ts>>(self, join, 0, std::move(tasks))...};
  co_await join;
  co_return std::apply(
      [](auto&... child) { return std::tuple<when_internal::NonVoid<Ts>...>(when_internal::ResultOf(*child)...); },
      children);
}

// The result that comes first; the other tasks are dropped when the waiting task has its turn, and may have gone on, or
// even finished, until then. `tasks` is not empty.
template <class T>
Task<AnyResult<when_internal::NonVoid<T>>> WhenAny(std::vector<Task<T>> tasks) {
  INVARIANT(!tasks.empty(), "WhenAny of nothing would wait forever");
  Fiber& self = co_await ThisFiber();
  when_internal::Join join(1);
  std::vector<std::unique_ptr<when_internal::Child<T>>> children;
  children.reserve(tasks.size());
  for (Task<T>& task : tasks) {
    children.push_back(std::make_unique<when_internal::Child<T>>(self, join, children.size(), std::move(task)));
  }
  co_await join;
  co_return AnyResult<when_internal::NonVoid<T>>{join.first(), when_internal::ResultOf(*children[join.first()])};
}

// The task's result, or DeadlineExceeded "deadline passed while waiting for <what>" with the task dropped. A Result is
// passed through, not wrapped twice. Nothing is known about what the dropped task had achieved.
//   - A result that comes at the deadline's very instant wins: what the task was woken for by then, it may still do.
//   - A deadline that has already passed (its instant included) drops the task before its first turn: nothing was done.
//   - Of nested deadlines at one instant the innermost passes first, so that the error names what was really waited
//   for.
template <class T>
Task<typename when_internal::Flatten<T>::type> WithDeadline(Deadline deadline, std::string what, Task<T> task) {
  Fiber& self = co_await ThisFiber();
  if (deadline.Passed(self.loop())) {
    task.Drop();
    co_return DeadlineExceededError(StrCat("deadline passed before waiting for ", what));
  }
  when_internal::TimedJoin join(deadline.at());
  when_internal::TimedChild<T> child(self, join, std::move(task));
  co_await join;
  if (!join.done()) co_return DeadlineExceededError(StrCat("deadline passed while waiting for ", what));
  if constexpr (std::is_void_v<T>) {
    co_return Result<void>();
  } else {
    co_return child.TakeResult();
  }
}

}  // namespace baton::rt
