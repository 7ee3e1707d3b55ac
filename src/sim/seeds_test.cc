// Random moves on bad days: every call and watch of the controllers may fail, in a mix of its own for every seed;
// leaders die or are deposed and go on for a while; people abort. Faults stop after some time, and then everything must
// end well.
//
//   BATON_SIM_SEEDS=<from>:<count> sim_test --gtest_filter='SeedsSlowTest.*'
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sim/bad_day_for_test.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

constexpr size_t kSeedsOfOneRun = 150;
constexpr size_t kFailuresMax = 10;

rt::Task<void> Leaders(Scene& scene, BadDay& day) {
  rt::VirtualLoop& loop = scene.world.loop();
  while (true) {
    co_await loop.Sleep(milliseconds(static_cast<int64_t>(day.random().Below(40'000))));
    if (day.random().Below(2) == 0) {
      scene.world.KillController();
    } else {
      scene.world.DeposeController();
    }
    co_await loop.Sleep(milliseconds(static_cast<int64_t>(day.random().Below(10'000))));
    scene.world.StartController();
    co_await loop.Sleep(milliseconds(static_cast<int64_t>(day.random().Below(20'000))));
    scene.world.KillDeposed();
  }
}

// What goes wrong in the clusters themselves.
rt::Task<void> Troubles(Scene& scene, BadDay& day) {
  while (true) {
    co_await scene.world.loop().Sleep(milliseconds(static_cast<int64_t>(day.random().Below(15'000))));
    practice::PracticeCluster& cluster = scene.world.practice(kClusters3[day.random().Below(kClusters3.size())]);
    switch (day.random().Below(4)) {
      case 0:
        cluster.KillOperator(milliseconds(static_cast<int64_t>(day.random().Below(10'000))));
        break;
      case 1:
        cluster.faults().stall_operator = milliseconds(static_cast<int64_t>(day.random().Below(5'000)));
        break;
      case 2:
        cluster.faults().slow = 1 + static_cast<double>(day.random().Below(5));
        break;
      default:
        cluster.faults().fail_savepoints = 1;
        break;
    }
  }
}

std::vector<std::string> PlaySeed(uint64_t seed) {
  BadDay day(seed);
  return Play(
      seed,
      [&](Scene& scene) -> rt::Task<void> {
        rt::VirtualLoop& loop = scene.world.loop();
        const bool leaders_change = day.random().Below(2) == 0;
        const bool image_fails = day.random().Below(8) == 0;
        const bool troubles = day.random().Below(2) == 0;
        const bool aborts = day.random().Below(4) == 0;
        const auto after = milliseconds(static_cast<int64_t>(day.random().Below(60'000)));
        const auto lasts = seconds(static_cast<int64_t>(10 + day.random().Below(110)));
        co_await scene.Begin();
        if (image_fails) scene.world.practice(scene.to).faults().fail_image = true;
        day.Begin();
        co_await scene.Ask(", deadlines: {Verifying: 3m}");
        {
          rt::Scope scope(loop);
          if (leaders_change) scope.Spawn(Leaders(scene, day));
          if (troubles) scope.Spawn(Troubles(scene, day));
          if (aborts) {
            scope.Spawn(rt::Do([&]() -> rt::Task<void> {
              co_await loop.Sleep(after);
              co_await scene.Abort();
            }));
          }
          co_await loop.Sleep(lasts);
          day.End();
        }
        for (const std::string& cluster : kClusters3) {
          practice::Faults& faults = scene.world.practice(cluster).faults();
          faults = {.fail_image = faults.fail_image};
        }
        scene.world.KillDeposed();
        if (!scene.world.controller_runs()) scene.world.StartController();
        co_await scene.Settled();
        co_await scene.CheckAll();
      },
      &day);
}

TEST(SeedsSlowTest, BadDaysEndWell) {
  uint64_t from = 1;
  size_t count = kSeedsOfOneRun;
  const char* asked = std::getenv("BATON_SIM_SEEDS");
  if (asked != nullptr) {
    char* rest = nullptr;
    from = std::strtoull(asked, &rest, 10);
    count = *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1;
  }
  const std::clock_t begun = std::clock();
  size_t failed = 0;
  size_t played = 0;
  for (uint64_t seed = from; seed < from + count && failed < kFailuresMax; ++seed) {
    ++played;
    const std::vector<std::string> problems = PlaySeed(seed);
    if (problems.empty()) continue;
    ++failed;
    std::string all;
    for (const std::string& problem : problems) all += problem.substr(0, 800) + "\n";
    ADD_FAILURE() << "seed=" << seed << " replay: BATON_SIM_SEEDS=" << seed
                  << ":1 sim_test --gtest_filter='SeedsSlowTest.*'\n"
                  << all;
  }
  const double spent = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  std::printf("%zu seeds, %zu failed, %.1f per second and core\n", played, failed,
              spent > 0 ? static_cast<double>(played) / spent : 0.0);
}

}  // namespace
}  // namespace baton::sim
