// The exhaustive check with all guards in, and once without each of them.
#include "rollout/testing/model.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "base/guard.h"

namespace baton::rollout::model {
namespace {

std::string Story(const ModelResult& result) {
  std::string out = result.broken + "\n";
  for (const std::string& line : result.story) out += "  " + line + "\n";
  return out;
}

void Print(const char* what, const char* hub, int faults, const ModelResult& result) {
  std::printf("%-42s %-7s %d faults %9llu states %9llu steps  %s\n", what, hub, faults,
              static_cast<unsigned long long>(result.states), static_cast<unsigned long long>(result.steps),
              result.broken.empty() ? "nothing broken" : result.broken.c_str());
  std::fflush(stdout);
}

class ModelTest : public testing::TestWithParam<bool> {};

TEST_P(ModelTest, NoPromiseBreaksWithTwoFaultsInAnyOrder) {
  RestoreGuards();
  const ModelOptions options{.own_hub = GetParam(), .faults = 2};
  const ModelResult result = Explore(options);
  Print("all guards", GetParam() ? "own" : "foreign", options.faults, result);
  EXPECT_EQ(result.broken, "") << Story(result);
  EXPECT_TRUE(result.complete);
  EXPECT_GT(result.states, 100'000U) << "the world has become too small to mean anything";
}

INSTANTIATE_TEST_SUITE_P(Hubs, ModelTest, testing::Values(true, false),
                         [](const auto& hub) { return hub.param ? "Own" : "Foreign"; });

// Guards that hold back what another check refuses as well, and why they stay.
const std::set<std::string>& Doubled() {
  static const std::set<std::string> kDoubled = {};
  return kDoubled;
}

// The smallest world that shows the loss of the guard, if any does.
bool LossIsFound(const std::string& guard) {
  for (const int faults : {0, 1, 2}) {
    for (const bool own_hub : {false, true}) {
      const ModelResult result = Explore({.own_hub = own_hub, .faults = faults});
      if (result.broken.empty()) continue;
      Print(guard.c_str(), own_hub ? "own" : "foreign", faults, result);
      return true;
    }
  }
  std::printf("%-42s not found\n", guard.c_str());
  return false;
}

TEST(ModelGuardTest, TheLossOfAnyGuardIsFound) {
  std::set<std::string> guards;
  for (const GuardCount& guard : ListGuards()) {
    if (guard.name.starts_with("rollout.")) guards.emplace(guard.name);
  }
  ASSERT_GT(guards.size(), 10U);
  for (const std::string& guard : guards) {
    RestoreGuards();
    ASSERT_TRUE(RemoveGuard(guard));
    EXPECT_EQ(LossIsFound(guard), !Doubled().contains(guard)) << guard;
  }
  RestoreGuards();
}

}  // namespace
}  // namespace baton::rollout::model
