// SmallHeap: small blocks for one thread, out of one range of addresses that is reserved at once. A block is taken from
// a list of free ones of its size, or from the next fresh pages; which size a block has is known from its page, so
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
#include <bit>
#include <cstddef>
#include <cstdint>

namespace baton {

class SmallHeap {
 public:
  static constexpr size_t kBytesMax = size_t{32} << 10;  // of a block

  constexpr SmallHeap() = default;
  SmallHeap(const SmallHeap&) = delete;
  SmallHeap& operator=(const SmallHeap&) = delete;
  ~SmallHeap() = default;  // its blocks may be in use for as long as the process lives

  bool Reserve();  // false: the system has no such range
  bool Owns(const void* block) const { return reinterpret_cast<uintptr_t>(block) - begin_ < bytes_; }

  void* Take(size_t bytes) {
    if (bytes > kBytesMax) return nullptr;
    const size_t index = IndexOf(bytes);
    Size& size = sizes_[index];
    if (Free* taken = size.free; taken != nullptr) {
      size.free = taken->next;
      return taken;
    }
    if (size.left < kBytesOf[index] && !NextPages(index)) return nullptr;
    const uintptr_t cut = size.end - size.left;
    size.left -= kBytesOf[index];
    return reinterpret_cast<void*>(cut);
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
  // The sizes are 16 bytes apart up to 1 KiB; from there on four of them double a block.
  static constexpr size_t kStep = 16;
  static constexpr size_t kStepsMax = 1024;
  static constexpr size_t kSteps = kStepsMax / kStep;
  static constexpr size_t kPerDoubling = 4;
  static constexpr size_t kSizes = kSteps + 1 + kPerDoubling * (std::bit_width(kBytesMax) - std::bit_width(kStepsMax));

  static constexpr size_t IndexOf(size_t bytes) {
    if (bytes <= kStepsMax) return bytes == 0 ? 1 : (bytes + kStep - 1) / kStep;
    const auto width = static_cast<size_t>(std::bit_width(bytes - 1));
    const size_t quarter = ((bytes - 1) >> (width - 3)) - kPerDoubling;  // 0 to 3
    return kSteps + 1 + kPerDoubling * (width - std::bit_width(kStepsMax)) + quarter;
  }
  static constexpr std::array<uint16_t, kSizes> kBytesOf = [] {
    std::array<uint16_t, kSizes> bytes{};
    for (size_t i = 0; i <= kSteps; ++i) bytes[i] = static_cast<uint16_t>(i * kStep);
    for (size_t i = kSteps + 1; i < kSizes; ++i) {
      const size_t of_doubling = i - kSteps - 1;
      bytes[i] =
          static_cast<uint16_t>((kPerDoubling + 1 + of_doubling % kPerDoubling) << (8 + of_doubling / kPerDoubling));
    }
    return bytes;
  }();

  struct Free {
    Free* next;
  };
  struct Size {
    Free* free = nullptr;  // the one that was given back last: it is in the cache
    uintptr_t end = 0;     // of the pages that blocks are cut from
    size_t left = 0;       // bytes of them
  };

  bool NextPages(size_t index);

  uintptr_t begin_ = 0;
  size_t bytes_ = 0;               // 0: nothing is reserved
  uintptr_t floor_ = 0;            // blocks below stay taken
  uintptr_t next_page_ = 0;        // the first that nothing was ever taken from
  uint8_t* page_sizes_ = nullptr;  // which of the sizes a page is cut into, page by page; the beginning of the range
  std::array<Size, kSizes> sizes_{};
};

}  // namespace baton
