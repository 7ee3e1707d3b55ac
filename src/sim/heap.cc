// The program's operator new and delete. Whoever links this file, and that is whoever calls it, has them.
#include "sim/heap.h"

#include <sys/single_threaded.h>

#include <cstdlib>
#include <new>

#include "base/small_heap.h"

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

namespace baton::sim {

void UseSimulationHeap() {}
void SimulationHeapForked() {}
bool IsOfSimulationHeap(const void*) { return false; }

}  // namespace baton::sim

#else

namespace baton::sim {
namespace {

constinit bool in_use = false;
constinit SmallHeap heap;

void* FromMalloc(size_t bytes) {
  while (true) {
    if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* Take(size_t bytes) {
  // glibc says "one thread" only where no other one can be (base/ref_count.h).
  if (in_use && __libc_single_threaded) {
    if (void* block = heap.Take(bytes)) return block;
  }
  return FromMalloc(bytes);
}

void Give(void* block) {
  if (!heap.Owns(block)) {
    std::free(block);
  } else if (__libc_single_threaded) {
    heap.Give(block);
  }
}

}  // namespace

void UseSimulationHeap() { in_use = in_use || heap.Reserve(); }

void SimulationHeapForked() {
  if (in_use) heap.StartAfresh();
}

bool IsOfSimulationHeap(const void* block) { return heap.Owns(block); }

}  // namespace baton::sim

// All other forms (arrays) are the library's, which come to these; those with an alignment never meet them.
void* operator new(size_t bytes) { return baton::sim::Take(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return baton::sim::Take(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept { baton::sim::Give(block); }
void operator delete(void* block, size_t) noexcept { baton::sim::Give(block); }

#endif
