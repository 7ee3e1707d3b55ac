#include "base/small_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace baton {
namespace {

TEST(SmallHeapTest, NothingIsTakenFromAHeapThatWasNotReserved) {
  SmallHeap heap;
  const int mine = 0;
  EXPECT_EQ(heap.Take(16), nullptr);
  EXPECT_FALSE(heap.Owns(&mine));
  EXPECT_FALSE(heap.Owns(nullptr));
}

TEST(SmallHeapTest, BlocksOfAllSizesAreAlignedAndDoNotOverlap) {
  static SmallHeap heap;
  ASSERT_TRUE(heap.Reserve());
  std::map<uintptr_t, size_t> taken;
  for (int round = 0; round < 20; ++round) {
    for (size_t bytes = 0; bytes <= SmallHeap::kBytesMax; bytes += bytes < 1100 ? 1 : 631) {
      auto* block = static_cast<char*>(heap.Take(bytes));
      ASSERT_NE(block, nullptr);
      ASSERT_TRUE(heap.Owns(block));
      ASSERT_TRUE(heap.Owns(block + bytes));
      ASSERT_TRUE(taken.emplace(reinterpret_cast<uintptr_t>(block), bytes).second);
    }
  }
  uintptr_t end = 0;
  for (const auto& [begin, bytes] : taken) {
    EXPECT_EQ(begin % 16, 0U);
    EXPECT_GE(begin, end);
    end = begin + bytes;
  }
  EXPECT_EQ(heap.Take(SmallHeap::kBytesMax + 1), nullptr) << "larger ones are not its own";
  const int mine = 0;
  EXPECT_FALSE(heap.Owns(&mine));
}

TEST(SmallHeapTest, ABlockThatWasGivenBackIsTakenByTheNextOfItsSize) {
  static SmallHeap heap;
  ASSERT_TRUE(heap.Reserve());
  void* first = heap.Take(40);
  void* second = heap.Take(48);
  heap.Give(first);
  heap.Give(second);
  EXPECT_NE(heap.Take(64), second);
  EXPECT_EQ(heap.Take(33), second) << "the last one first";
  EXPECT_EQ(heap.Take(48), first);
}

TEST(SmallHeapTest, OneThatStartsAfreshTouchesNothingOfBefore) {
  static SmallHeap heap;
  ASSERT_TRUE(heap.Reserve());
  auto* before = static_cast<char*>(heap.Take(32));
  void* free = heap.Take(32);
  heap.Give(free);
  std::memcpy(before, "as it was", 10);
  heap.StartAfresh();
  auto* fresh = static_cast<char*>(heap.Take(32));
  EXPECT_NE(fresh, free);
  EXPECT_NE(reinterpret_cast<uintptr_t>(fresh) / 4096, reinterpret_cast<uintptr_t>(before) / 4096);
  heap.Give(before);
  EXPECT_STREQ(before, "as it was");
  EXPECT_NE(heap.Take(32), before);
  heap.Give(fresh);
  EXPECT_EQ(heap.Take(32), fresh);
}

}  // namespace
}  // namespace baton
