// The range, and its pages.
#include "base/small_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace baton {

bool SmallHeap::Reserve() {
  // Nothing is set aside for it: a page costs memory when it is first written to.
  void* range = ::mmap(nullptr, kRange, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  begin_ = reinterpret_cast<uintptr_t>(range);
  bytes_ = kRange;
  page_sizes_ = static_cast<uint8_t*>(range);
  next_page_ = begin_ + kRange / kPage;
  return true;
}

void SmallHeap::StartAfresh() {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  constexpr size_t kHugeBytes = size_t{64} << 20;  // more than a child mostly takes
  sizes_.fill({});
  next_page_ = std::min((next_page_ + kHugePage - 1) / kHugePage * kHugePage, begin_ + bytes_);
  floor_ = next_page_;
  // One fault for 2 MiB in place of 512. Where there are none, nothing is lost.
  if (bytes_ != 0)
    (void)::madvise(reinterpret_cast<void*>(next_page_), std::min(kHugeBytes, begin_ + bytes_ - next_page_),
                    MADV_HUGEPAGE);
}

bool SmallHeap::NextPages(size_t index) {
  constexpr size_t kBlocks = 8;  // of the larger sizes at once
  const size_t bytes = kBytesOf[index] <= kStepsMax ? kPage : kBytesOf[index] * kBlocks / kPage * kPage;
  if (begin_ + bytes_ - next_page_ < bytes) return false;
  std::memset(page_sizes_ + (next_page_ - begin_) / kPage, static_cast<int>(index), bytes / kPage);
  next_page_ += bytes;
  sizes_[index] = {.free = nullptr, .end = next_page_, .left = bytes};
  return true;
}

}  // namespace baton
