// SmallHeap: small blocks for one thread, out of one range of addresses that is reserved at once. A block is taken from
// a list of free ones of its size, or from the next fresh page; which size a block has is known from its page, so
// blocks have no headers, and whose a block is, is known from its address.
//
//   SmallHeap heap;
//   if (heap.Reserve()) ...                                  // else every Take() is null
//   void* block = heap.Take(48);                             // null: too large, or the range is used up
//   if (heap.Owns(block)) heap.Give(block);
//
// Memory that was taken once is never given back to the system: for programs that end soon. Not for several threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace baton {

class SmallHeap {
 public:
  static constexpr size_t kBytesMax = 1024;  // of a block

  constexpr SmallHeap() = default;
  SmallHeap(const SmallHeap&) = delete;
  SmallHeap& operator=(const SmallHeap&) = delete;
  ~SmallHeap() = default;  // its blocks may be in use for as long as the process lives

  bool Reserve();  // false: the system has no such range
  bool Owns(const void* block) const { return reinterpret_cast<uintptr_t>(block) - begin_ < bytes_; }

  void* Take(size_t bytes) {
    if (bytes > kBytesMax) return nullptr;
    const size_t index = bytes == 0 ? 1 : (bytes + kStep - 1) / kStep;
    Size& size = sizes_[index];
    if (Free* taken = size.free; taken != nullptr) {
      size.free = taken->next;
      return taken;
    }
    if (size.left < index * kStep && !NextPage(index)) return nullptr;
    size.left -= index * kStep;
    return reinterpret_cast<void*>(size.page_end - size.left - index * kStep);
  }

  void Give(void* block) {
    const auto address = reinterpret_cast<uintptr_t>(block);
    if (address < floor_) return;
    Size& size = sizes_[page_sizes_[(address - begin_) / kPage]];
    auto* given = static_cast<Free*>(block);
    given->next = size.free;
    size.free = given;
  }

  // After a fork, in the child: what it takes comes from fresh pages, side by side, and what its parent took stays
  // taken. The parent's free blocks are scattered, and the first write to a page of the parent's makes a copy of it.
  void StartAfresh();

 private:
  static constexpr size_t kRange = size_t{8} << 30;  // bytes; addresses, not memory
  static constexpr size_t kPage = 4096;
  static constexpr size_t kStep = 16;  // bytes between two sizes, and what blocks are aligned to

  struct Free {
    Free* next;
  };
  struct Size {
    Free* free = nullptr;    // the one that was given back last: it is in the cache
    uintptr_t page_end = 0;  // of the page that blocks are cut from
    size_t left = 0;         // bytes of it
  };

  bool NextPage(size_t index);

  uintptr_t begin_ = 0;
  size_t bytes_ = 0;               // 0: nothing is reserved
  uintptr_t floor_ = 0;            // blocks below stay taken
  uintptr_t next_page_ = 0;        // the first that nothing was ever taken from
  uint8_t* page_sizes_ = nullptr;  // which of the sizes a page is cut into, page by page; the beginning of the range
  std::array<Size, kBytesMax / kStep + 1> sizes_{};
};

}  // namespace baton
