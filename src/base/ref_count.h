// How many own a shared block. Threads may share the block; while the process has one thread only (the simulator, the
// tools) counting costs no atomic operation.
//
//   struct Block { RefCount refs; ... };   // made with one owner
//   block->refs.Add();
//   if (block->refs.Drop()) Free(block);   // that was the last
#pragma once

#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>

namespace baton {

class RefCount {
 public:
  void Add() {
    // glibc says "one thread" only where no other one can be: the first that is started sees all that was written.
    if (__libc_single_threaded) {
      count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  // True: nobody has it any more. The last owner needs no atomic read-modify-write: nobody is there to race with.
  bool Drop() {
    const uint32_t count = count_.load(std::memory_order_acquire);
    if (count == 1) return true;
    if (__libc_single_threaded) {
      count_.store(count - 1, std::memory_order_relaxed);
      return false;
    }
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool IsOne() const { return count_.load(std::memory_order_acquire) == 1; }

 private:
  std::atomic<uint32_t> count_ = 1;
};

}  // namespace baton
