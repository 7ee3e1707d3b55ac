#include "base/shared_list.h"

#include <gtest/gtest.h>

#include <string>

namespace baton {
namespace {

TEST(SharedListTest, ACopySharesUntilOneOfThemIsChanged) {
  SharedList<std::string> list = {"a", "b"};
  const SharedList<std::string> copy = list;
  EXPECT_EQ(copy.begin(), list.begin());
  list.push_back("c");
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(copy.size(), 2U);
  EXPECT_NE(copy.begin(), list.begin());
  const std::string* kept = list.begin();
  list.Own()[0] = "z";
  EXPECT_EQ(list.begin(), kept) << "whoever has it alone changes it in place";
  EXPECT_EQ(list[0], "z");
  EXPECT_EQ(copy[0], "a");
}

TEST(SharedListTest, AnEmptyOneHasNothing) {
  const SharedList<std::string> empty;
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.begin(), empty.end());
}

}  // namespace
}  // namespace baton
