// GUARD as a normal build has it, whatever this build is: nothing but its condition.
#undef BATON_GUARD_SWITCHES
#include <gtest/gtest.h>

#include <type_traits>

#include "base/guard.h"

namespace baton {
namespace {

// Usable at compile time: no record, no counter, no symbol is involved.
constexpr int Decide(bool live) {
  if (!GUARD("guard_off_test.live", live)) return 1;
  return 2;
}
static_assert(Decide(false) == 1);
static_assert(Decide(true) == 2);

// The name is gone before the compiler looks at it, and the condition keeps its type.
static_assert(GUARD(no_such_identifier, true));
static_assert(std::is_same_v<decltype(GUARD("guard_off_test.type", 1L)), long>);
static_assert(GUARD("guard_off_test.commas", std::is_same_v<int, int>));
static_assert(GUARD_STANDS(no_such_identifier));

TEST(GuardOffTest, EvaluatesTheConditionOnce) {
  int evaluated = 0;
  EXPECT_TRUE(GUARD("guard_off_test.once", ++evaluated == 1));
  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace baton
