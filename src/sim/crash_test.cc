// The controller dies at each of its writes: right before it, and after it is done but before its answer. Whoever comes
// next must bring the move to its end.
#include <cstdio>

#include "sim/scene_for_test.h"
#include "sim/trials.h"

namespace baton::sim {
namespace {

void CrashEverywhere(Way way, size_t step, HubOf hub = HubOf::kBaton) {
  const Trial whole = CrashAt(1, way, 0, AtWrite::Side::kBefore, nullptr, hub);
  for (const std::string& problem : whole.problems) ADD_FAILURE() << "without a crash: " << problem;
  if (!whole.problems.empty()) return;
  std::printf("%zu writes\n", whole.writes);
  size_t failed = 0;
  for (size_t k = 1; k <= whole.writes && failed < 10; k += step) {
    for (const AtWrite::Side side : {AtWrite::Side::kBefore, AtWrite::Side::kAfter}) {
      const Trial crash = CrashAt(1, way, k, side, nullptr, hub);
      if (!crash.problems.empty()) ++failed;
      for (const std::string& problem : crash.problems) {
        ADD_FAILURE() << "killed " << (side == AtWrite::Side::kBefore ? "before" : "after") << " write " << k << " ("
                      << crash.which << "): " << problem;
      }
    }
  }
}

void TwoLeadersEverywhere(Way way, size_t first, size_t step, HubOf hub = HubOf::kBaton) {
  size_t failed = 0;
  for (size_t k = first; failed < 5 && k < 80; k += step) {
    for (const Duration delay : {milliseconds(700), milliseconds(4'000)}) {
      const Trial crash = TwoLeadersFrom(1, way, k, delay, nullptr, hub);
      if (crash.writes < k) return;
      if (!crash.problems.empty()) ++failed;
      for (const std::string& problem : crash.problems) {
        ADD_FAILURE() << "two leaders from write " << k << " (" << crash.which << ") on, " << delay / milliseconds(1)
                      << " ms late: " << problem.substr(0, 1500);
      }
    }
  }
}

TEST(TwoLeadersTest, AnOldLeaderDoesNoHarm) { TwoLeadersEverywhere(Way::kForward, 3, 25); }
TEST(TwoLeadersSlowTest, FromEveryWriteOfAMove) { TwoLeadersEverywhere(Way::kForward, 1, 1); }
TEST(TwoLeadersSlowTest, FromEveryWriteOfAnAbort) { TwoLeadersEverywhere(Way::kAbort, 1, 1); }

TEST(TwoLeadersTest, AnOldLeaderDoesNoHarmBesideAnotherFederation) {
  TwoLeadersEverywhere(Way::kForward, 3, 10, HubOf::kKarmada);
}
TEST(TwoLeadersSlowTest, FromEveryWriteOfAMoveBesideAnotherFederation) {
  TwoLeadersEverywhere(Way::kForward, 1, 1, HubOf::kKarmada);
}
TEST(TwoLeadersSlowTest, FromEveryWriteOfAnAbortBesideAnotherFederation) {
  TwoLeadersEverywhere(Way::kAbort, 1, 1, HubOf::kKarmada);
}

TEST(CrashTest, ALeaderKilledAtSomeOfItsWritesIsFollowed) { CrashEverywhere(Way::kForward, 25); }

TEST(CrashTest, BesideAnotherFederationALeaderKilledAtSomeOfItsWritesIsFollowed) {
  for (const Way way : {Way::kForward, Way::kAbort, Way::kWithdraw}) CrashEverywhere(way, 5, HubOf::kKarmada);
}
TEST(CrashSlowTest, AtEveryWriteBesideAnotherFederation) {
  for (const Way way : {Way::kForward, Way::kAbort, Way::kWithdraw}) CrashEverywhere(way, 1, HubOf::kKarmada);
}

TEST(CrashSlowTest, AtEveryWriteOfAMove) { CrashEverywhere(Way::kForward, 1); }
TEST(CrashSlowTest, AtEveryWriteOfAnAbort) { CrashEverywhere(Way::kAbort, 1); }
TEST(CrashSlowTest, AtEveryWriteOfAWithdrawal) { CrashEverywhere(Way::kWithdraw, 1); }

}  // namespace
}  // namespace baton::sim
