// Where a memo keeps what is known of a block of storage: its slot, by the block's address. Internal to api.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::api {

// Blocks are aligned, and neighbours are asked for together: a multiplicative hash spreads them.
inline size_t MemoSlot(const void* address, size_t slots) {
  return ((reinterpret_cast<uintptr_t>(address) >> 4) * 0x9E3779B97F4A7C15U >> 32) % slots;
}

}  // namespace baton::api
