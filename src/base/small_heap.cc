// The range, and its pages.
#include "base/small_heap.h"

#include <sys/mman.h>

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
  sizes_.fill({});
  floor_ = next_page_;
}

bool SmallHeap::NextPage(size_t index) {
  if (begin_ + bytes_ - next_page_ < kPage) return false;
  page_sizes_[(next_page_ - begin_) / kPage] = static_cast<uint8_t>(index);
  next_page_ += kPage;
  sizes_[index].page_end = next_page_;
  sizes_[index].left = kPage;
  return true;
}

}  // namespace baton
