// Internal to net: a signal from one fiber to another, which may wait for it with a deadline. No fiber, no allocation:
// the wait's timer lies in the waiter's frame.
//
//   while (queue.empty()) {
//     if (!co_await arrived.Wait(deadline)) co_return DeadlineExceededError(...);
//   }
//
// One waiter at a time. A Set() that comes while nobody waits is kept for the next Wait, so nothing is missed between
// looking at the condition and waiting; the condition itself is always looked at again.
#pragma once

#include <coroutine>
#include <utility>

#include "base/invariant.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace baton::net {

class Signal {
 public:
  Signal() = default;
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  class [[nodiscard]] SignalWait : private rt::WaitBase, private rt::TimerNode {
   public:
    SignalWait(Signal& signal, rt::Deadline deadline) : signal_(signal), deadline_(deadline) {}
    ~SignalWait() override {
      if (signal_.waiter_ == this) signal_.waiter_ = nullptr;
    }
    bool await_ready() {
      signaled_ = std::exchange(signal_.set_, false);
      return signaled_;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      INVARIANT(signal_.waiter_ == nullptr, "a signal has one waiter");
      SuspendAt(handle);
      signal_.waiter_ = this;
      loop().SetTimer(*this, deadline_.at());
    }
    // False when the deadline came first.
    bool await_resume() const { return signaled_; }

   private:
    friend class Signal;
    void OnTimer() override {
      signal_.waiter_ = nullptr;
      Wake();
    }
    void Deliver() {
      signaled_ = true;
      loop().ClearTimer(*this);
      Wake();
    }

    Signal& signal_;
    rt::Deadline deadline_;
    bool signaled_ = false;
  };

  void Set() {
    if (SignalWait* waiter = std::exchange(waiter_, nullptr)) {
      waiter->Deliver();
    } else {
      set_ = true;
    }
  }

  SignalWait Wait(rt::Deadline deadline = rt::Deadline::Never()) { return {*this, deadline}; }

 private:
  bool set_ = false;
  SignalWait* waiter_ = nullptr;
};

}  // namespace baton::net
