// Guard switches in the build that has them, and their absence in the one that has not.
#include "base/guard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#if defined(BATON_GUARD_SWITCHES) && BATON_GUARD_SWITCHES

namespace baton {

bool GuardNobodyPasses(bool condition) { return GUARD("guard_test.never_passed", condition); }

namespace {

bool Live(bool live) { return GUARD("guard_test.live", live); }

template <class T>
bool Positive(T number) {
  return GUARD("guard_test.template", number > 0);
}

std::vector<GuardCount> Named(std::string_view name) {
  std::vector<GuardCount> guards = ListGuards();
  std::erase_if(guards, [name](const GuardCount& guard) { return guard.name != name; });
  return guards;
}

class GuardTest : public testing::Test {
 protected:
  void SetUp() override { RestoreGuards(); }
  void TearDown() override { RestoreGuards(); }
};

TEST_F(GuardTest, IsItsConditionWhileItStands) {
  EXPECT_TRUE(Live(true));
  EXPECT_FALSE(Live(false));
  const std::vector<GuardCount> guards = Named("guard_test.live");
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_EQ(guards[0].file, "src/base/guard_test.cc");
  EXPECT_GT(guards[0].line, 0U);
  EXPECT_FALSE(guards[0].removed);
  EXPECT_EQ(guards[0].passes, 2U);
  EXPECT_EQ(guards[0].decided, 1U);
  EXPECT_EQ(guards[0].mattered, 0U);
}

TEST_F(GuardTest, HoldsAlwaysWhenRemovedAndCountsWhenThatMattered) {
  ASSERT_TRUE(RemoveGuard("guard_test.live").ok());
  EXPECT_TRUE(Live(true));
  EXPECT_TRUE(Live(false));
  EXPECT_TRUE(Live(false));
  EXPECT_FALSE(Positive(-1));  // the others stand
  const std::vector<GuardCount> guards = Named("guard_test.live");
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_TRUE(guards[0].removed);
  EXPECT_EQ(guards[0].passes, 3U);
  EXPECT_EQ(guards[0].mattered, 2U);
}

TEST_F(GuardTest, EvaluatesTheConditionOnceStandingOrRemoved) {
  int evaluated = 0;
  const auto guard = [&evaluated] { return GUARD("guard_test.once", ++evaluated < 0); };
  EXPECT_FALSE(guard());
  EXPECT_EQ(evaluated, 1);
  ASSERT_TRUE(RemoveGuard("guard_test.once").ok());
  EXPECT_TRUE(guard());
  EXPECT_EQ(evaluated, 2);
}

TEST_F(GuardTest, RestorePutsAllBackAndForgetsTheCounts) {
  ASSERT_TRUE(RemoveGuard("guard_test.live").ok());
  EXPECT_TRUE(Live(false));
  RestoreGuards();
  EXPECT_FALSE(Live(false));
  EXPECT_EQ(Named("guard_test.live")[0].passes, 1U);
  EXPECT_EQ(Named("guard_test.live")[0].mattered, 0U);
}

TEST_F(GuardTest, IsListedAndRemovableBeforeAnyonePasses) {
  ASSERT_EQ(Named("guard_test.never_passed").size(), 1U);
  EXPECT_EQ(Named("guard_test.never_passed")[0].passes, 0U);
  EXPECT_TRUE(RemoveGuard("guard_test.never_passed").ok());
}

TEST_F(GuardTest, AllInstancesOfATemplateAreOneGuard) {
  EXPECT_TRUE(Positive(1));
  EXPECT_FALSE(Positive(-1.0));
  ASSERT_TRUE(RemoveGuard("guard_test.template").ok());
  EXPECT_TRUE(Positive(-1));
  EXPECT_TRUE(Positive(-1.0));
  const std::vector<GuardCount> guards = Named("guard_test.template");
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_EQ(guards[0].passes, 4U);
  EXPECT_EQ(guards[0].mattered, 2U);
}

TEST_F(GuardTest, Nests) {
  const auto both = [](bool a, bool b) { return GUARD("guard_test.outer", a && GUARD("guard_test.inner", b)); };
  EXPECT_FALSE(both(true, false));
  ASSERT_TRUE(RemoveGuard("guard_test.inner").ok());
  EXPECT_TRUE(both(true, false));
  EXPECT_FALSE(both(false, false));
}

TEST_F(GuardTest, AnActionStandsUntilItIsRemoved) {
  const auto acts = [] { return GUARD_STANDS("guard_test.action"); };
  EXPECT_TRUE(acts());
  ASSERT_TRUE(RemoveGuard("guard_test.action").ok());
  EXPECT_FALSE(acts());
  EXPECT_EQ(Named("guard_test.action")[0].mattered, 1U);
}

TEST_F(GuardTest, AnUnknownNameIsAnError) {
  const Result<void> result = RemoveGuard("guard_test.livee");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().ToString(), "not_found: no guard \"guard_test.livee\" is built into this program");
}

}  // namespace
}  // namespace baton

#else

namespace baton {

[[gnu::weak, gnu::visibility("hidden")]] extern char guard_table_begin[] asm("__start_baton_guards");

namespace {

bool Passes(bool condition) { return GUARD("guard_test.live", condition); }

TEST(GuardTest, ANormalBuildHasGuardsButNoTableOfThem) {
  EXPECT_TRUE(Passes(true));
  EXPECT_FALSE(Passes(false));
  const char* volatile table = guard_table_begin;
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace baton

#endif
