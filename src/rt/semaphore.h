// Semaphore and Mutex for fibers: first come, first served, and released by a destructor.
//
//   Semaphore::Permit permit = co_await in_flight.Acquire();
//   Mutex::Guard guard = co_await mutex.Lock();
//
// Rarely needed: code between two co_awaits is atomic anyway. A fiber that is dropped while it waits, or after it was
// given a permit but before it ran again, gives everything back. A semaphore outlives its permits and waiters;
// destroying it before them ends the process.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include "base/invariant.h"
#include "rt/intrusive_list.h"
#include "rt/task.h"

namespace baton::rt {

class Semaphore {
 public:
  explicit Semaphore(size_t permits) : total_(permits), available_(permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore() {
    INVARIANT(waiters_.empty() && available_ == total_, "a semaphore outlives its permits and all who wait for them");
  }

  // Held permits, given back when destroyed.
  class [[nodiscard]] Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept
        : semaphore_(std::exchange(other.semaphore_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Permit& operator=(Permit&& other) noexcept {
      Release();
      semaphore_ = std::exchange(other.semaphore_, nullptr);
      count_ = std::exchange(other.count_, 0);
      return *this;
    }
    ~Permit() { Release(); }

    bool held() const { return semaphore_ != nullptr; }
    void Release() {
      if (Semaphore* semaphore = std::exchange(semaphore_, nullptr)) semaphore->Return(count_);
    }

   private:
    friend class Semaphore;
    Permit(Semaphore& semaphore, size_t count) : semaphore_(&semaphore), count_(count) {}
    Semaphore* semaphore_ = nullptr;
    size_t count_ = 0;
  };

  class AcquireWait : private WaitBase, public ListHook<AcquireWait> {
   public:
    AcquireWait(Semaphore& semaphore, size_t count) : semaphore_(semaphore), count_(count) {}
    ~AcquireWait() {
      const bool was_waiting = linked();
      Unlink();
      if (granted_) {
        semaphore_.Return(count_);
      } else if (was_waiting) {
        semaphore_.Grant();  // a smaller request behind this one may fit now
      }
    }
    bool await_ready() {
      if (!semaphore_.waiters_.empty() || semaphore_.available_ < count_) return false;
      semaphore_.available_ -= count_;
      granted_ = true;
      return true;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
      SuspendAt(handle);
      semaphore_.waiters_.PushBack(*this);
    }
    Permit await_resume() {
      granted_ = false;  // from here on the Permit is responsible
      return Permit(semaphore_, count_);
    }

   private:
    friend class Semaphore;
    Semaphore& semaphore_;
    size_t count_;
    bool granted_ = false;
  };

  // One permit over `count`. In the order of asking: a large request holds up the smaller ones behind it. Asking for
  // more than there are in all would wait forever and ends the process: bound what comes from outside first.
  AcquireWait Acquire(size_t count = 1) {
    INVARIANT(count <= total_, "more permits asked for than the semaphore has in all");
    return {*this, count};
  }

  // A permit now, or one that is not held(); not past those who wait.
  Permit TryAcquire(size_t count = 1) {
    if (!waiters_.empty() || available_ < count) return {};
    available_ -= count;
    return Permit(*this, count);
  }

  size_t available() const { return available_; }

 private:
  void Return(size_t count) {
    available_ += count;
    Grant();
  }
  void Grant() {
    while (AcquireWait* first = waiters_.front()) {
      if (available_ < first->count_) return;
      available_ -= first->count_;
      first->granted_ = true;
      waiters_.PopFront();
      first->Wake();
    }
  }

  const size_t total_;
  size_t available_;
  IntrusiveList<AcquireWait> waiters_;
};

class Mutex {
 public:
  using Guard = Semaphore::Permit;
  Semaphore::AcquireWait Lock() { return semaphore_.Acquire(); }
  Guard TryLock() { return semaphore_.TryAcquire(); }

 private:
  Semaphore semaphore_{1};
};

}  // namespace baton::rt
