// The controller dies at each of its writes: right before it, and after it is done but before its answer. Whoever comes
// next must bring the move to its end.
#include <cstdio>

#include "sim/at_write_for_test.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

enum class Way : uint8_t { kForward, kAbort, kWithdraw };

// Asks for the move, and for what turns it around.
rt::Task<void> Go(Scene& scene, Way way) {
  if (way == Way::kWithdraw) scene.world.practice(scene.to).faults().fail_image = true;
  co_await scene.Ask(way == Way::kWithdraw ? ", deadlines: {Verifying: 30s}" : "");
  if (way != Way::kAbort) co_return;
  // Not by the status, which may be told too late.
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
  co_await scene.Abort();
}

struct Crash {
  size_t writes = 0;
  std::string which;
  std::vector<std::string> problems;
};

Crash CrashAt(uint64_t seed, Way way, size_t k, AtWrite::Side side) {
  AtWrite plan;
  Crash crash;
  crash.problems = Play(
      seed,
      [&](Scene& scene) -> rt::Task<void> {
        rt::VirtualLoop& loop = scene.world.loop();
        co_await scene.Begin();
        plan.Arm(k, side, true);
        rt::Scope scope(loop);
        scope.Spawn(rt::Do([&]() -> rt::Task<void> {
          co_await plan.reached.Wait();
          co_await loop.Sleep(AtWrite::kMoment);
          scene.world.KillController();
          co_await loop.Sleep(milliseconds(static_cast<int64_t>(loop.random().Below(20'000))));
          plan.Revive();
          scene.world.StartController();
        }));
        co_await Go(scene, way);
        co_await scene.Settled();
        if (k == 0 || plan.writes() >= k)
          co_await scene.world.Until([&]() -> rt::Task<bool> { co_return scene.world.controller_runs(); }, minutes(1));
        const std::string phase((co_await scene.Migration())["status"]["phase"].str());
        const bool forward = way == Way::kForward && phase == "Succeeded";
        const bool back = way == Way::kAbort && (phase == "Aborted" || phase == "RolledBack");
        const bool withdrawn = way == Way::kWithdraw && phase == "RolledBack";
        scene.Expect(forward || back || withdrawn, StrCat("ended as ", Scene::Said(co_await scene.Migration())));
        co_await scene.CheckAll();
      },
      &plan);
  crash.writes = plan.writes();
  crash.which = plan.which();
  return crash;
}

void CrashEverywhere(Way way, size_t step) {
  const Crash whole = CrashAt(1, way, 0, AtWrite::Side::kBefore);
  for (const std::string& problem : whole.problems) ADD_FAILURE() << "without a crash: " << problem;
  if (!whole.problems.empty()) return;
  std::printf("%zu writes\n", whole.writes);
  size_t failed = 0;
  for (size_t k = 1; k <= whole.writes && failed < 10; k += step) {
    for (const AtWrite::Side side : {AtWrite::Side::kBefore, AtWrite::Side::kAfter}) {
      const Crash crash = CrashAt(1, way, k, side);
      if (!crash.problems.empty()) ++failed;
      for (const std::string& problem : crash.problems) {
        ADD_FAILURE() << "killed " << (side == AtWrite::Side::kBefore ? "before" : "after") << " write " << k << " ("
                      << crash.which << "): " << problem;
      }
    }
  }
}

// At its k-th write a leader becomes slow and loses its lease; it does not know, and goes on beside the new one.
Crash TwoLeadersFrom(uint64_t seed, Way way, size_t k, Duration delay) {
  AtWrite plan;
  Crash crash;
  crash.problems = Play(
      seed,
      [&](Scene& scene) -> rt::Task<void> {
        rt::VirtualLoop& loop = scene.world.loop();
        co_await scene.Begin();
        plan.ArmSlow(k, delay);
        rt::Scope scope(loop);
        scope.Spawn(rt::Do([&]() -> rt::Task<void> {
          co_await plan.reached.Wait();
          co_await loop.Sleep(AtWrite::kMoment);
          scene.world.DeposeController();
          scene.world.SetFaultPlan(nullptr);
          scene.world.StartController();
          co_await loop.Sleep(seconds(60));
          scene.world.KillDeposed();
        }));
        co_await Go(scene, way);
        co_await scene.Settled();
        co_await loop.Sleep(seconds(60));
        scene.world.KillDeposed();
        const std::string phase((co_await scene.Migration())["status"]["phase"].str());
        const bool forward = way == Way::kForward && phase == "Succeeded";
        const bool back = way == Way::kAbort && (phase == "Aborted" || phase == "RolledBack");
        scene.Expect(forward || back, StrCat("ended as ", Scene::Said(co_await scene.Migration())));
        co_await scene.CheckAll();
      },
      &plan);
  crash.writes = plan.writes();
  crash.which = plan.which();
  return crash;
}

void TwoLeadersEverywhere(Way way, size_t first, size_t step) {
  size_t failed = 0;
  for (size_t k = first; failed < 5 && k < 80; k += step) {
    for (const Duration delay : {milliseconds(700), milliseconds(4'000)}) {
      const Crash crash = TwoLeadersFrom(1, way, k, delay);
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

TEST(CrashTest, ALeaderKilledAtSomeOfItsWritesIsFollowed) { CrashEverywhere(Way::kForward, 25); }

TEST(CrashSlowTest, AtEveryWriteOfAMove) { CrashEverywhere(Way::kForward, 1); }
TEST(CrashSlowTest, AtEveryWriteOfAnAbort) { CrashEverywhere(Way::kAbort, 1); }
TEST(CrashSlowTest, AtEveryWriteOfAWithdrawal) { CrashEverywhere(Way::kWithdraw, 1); }

}  // namespace
}  // namespace baton::sim
