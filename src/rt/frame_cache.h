// Memory of coroutine frames, recycled per thread: a task is made and destroyed for almost every call, and always in a
// few sizes. Off under sanitizers, which must see every frame's real lifetime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace baton::rt {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kRecycleFrames = false;
#else
inline constexpr bool kRecycleFrames = true;
#endif

class FrameCache {
 public:
  static void* Allocate(size_t size) {
    const size_t index = (size + kStep - 1) / kStep;
    if (kRecycleFrames && index < kClasses) {
      Free*& head = lists_[index].head;
      if (head != nullptr) {
        Free* taken = head;
        head = taken->next;
        --lists_[index].count;
        return taken;
      }
      return ::operator new(index * kStep);
    }
    return ::operator new(size);
  }

  static void Release(void* frame, size_t size) noexcept {
    const size_t index = (size + kStep - 1) / kStep;
    if (kRecycleFrames && index < kClasses && lists_[index].count < kKeptPerClass) {
      Free* kept = static_cast<Free*>(frame);
      kept->next = lists_[index].head;
      lists_[index].head = kept;
      ++lists_[index].count;
      return;
    }
    ::operator delete(frame);
  }

  // Gives this thread's kept frames back. Loops do it when they end.
  static void Trim() noexcept {
    for (List& list : lists_) {
      while (list.head != nullptr) {
        Free* first = list.head;
        list.head = first->next;
        ::operator delete(first);
      }
      list.count = 0;
    }
  }

 private:
  static constexpr size_t kStep = 64;     // bytes between two size classes
  static constexpr size_t kClasses = 33;  // frames of up to 2 KiB are recycled
  static constexpr size_t kKeptPerClass = 256;

  struct Free {
    Free* next;
  };
  struct List {
    Free* head;
    size_t count;
  };
  static inline constinit thread_local std::array<List, kClasses> lists_{};
};

}  // namespace baton::rt
