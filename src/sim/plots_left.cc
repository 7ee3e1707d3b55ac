// Plots of a target that wrote, and goes back: what it did is in a state that the source must go on from, or that a
// person is asked for.
#include "sim/plots_all.h"
#include "sim/stories_rare.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr Duration kMoveWithin = minutes(15);
constexpr int kForLong = 240;     // seconds: it does not prove itself before it is taken back
constexpr int kAllOfThem = 1000;  // savepoints that fail

}  // namespace

rt::Task<bool> UntilItRunsThere(Scene& scene) {
  return scene.world.Until([&scene]() -> rt::Task<bool> { co_return scene.JobRuns(scene.to); }, kMoveWithin);
}

rt::Task<void> DeleteInTarget(Scene& scene) {
  scene.deleted_in_member = true;
  scene.Tell(StrCat("cluster ", scene.to), "somebody deletes the workload there");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.to).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
}

// Somebody deletes it in its cluster, where it is made anew, on hold, and then the move is taken back: what the first
// one wrote is in no state that the second one tells of.
rt::Task<void> ReplacedTarget(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 10m}", "", kForLong);
  if (co_await UntilItRunsThere(scene)) {
    co_await scene.world.loop().Sleep(Between(course, 8'000, 30'000));
    const Value first = co_await scene.OnMember(scene.to);
    co_await DeleteInTarget(scene);
    // Mostly when the second one is there.
    const auto made_anew = [&]() -> rt::Task<bool> {
      const Value now = co_await scene.OnMember(scene.to);
      co_return !now.is_null() && kube::UidOf(now) != kube::UidOf(first);
    };
    [[maybe_unused]] const bool made = co_await scene.world.Until(made_anew, Between(course, 0, 60'000));
    co_await scene.world.loop().Sleep(Between(course, 0, 600));
  }
  co_await scene.Abort();
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(Scene::IsOver(end) || Scene::IsBlocked(end), StrCat("no end in time: ", Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);  // what comes twice shows when it is written
  co_await scene.ExpectClean();
}

// No savepoint of it can be made, so it is cancelled: now and then while its job is being restored, as its JobManager
// has just begun anew. (With an operator of 1.16: older ones do not bring such an order to its end.)
rt::Task<void> CancelledTarget(Course course, Weather& weather) {
  Scene& scene = course.scene;
  practice::PracticeCluster& cluster = scene.world.practice(scene.to);
  cluster.UpgradeOperator(practice::OperatorVersion::kV1x16);
  cluster.faults().fail_savepoints = kAllOfThem;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 10m, Aborting: 160s}", "", kForLong);
  if (co_await UntilItRunsThere(scene)) co_await scene.world.loop().Sleep(Between(course, 8'000, 30'000));
  co_await scene.Abort();
  const bool told = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return IsToBeCancelled((co_await scene.OnMember(scene.to))["spec"]); }, minutes(3));
  cluster.faults().stall_operator = Between(course, 1'000, 5'000);
  if (told && scene.JobRuns(scene.to)) {
    scene.Tell(StrCat("cluster ", scene.to), "its JobManager restarts");
    [[maybe_unused]] const auto restarted = cluster.RestartJobManager(kWorkload);
    co_await scene.world.loop().Sleep(Between(course, 500, 2'000));
    cluster.faults().slow = 20;  // what it restores takes long
  }
  co_await scene.world.loop().Sleep(Between(course, 5'000, 30'000));
  cluster.faults() = {};
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(Scene::IsOver(end) || Scene::IsBlocked(end), StrCat("no end in time: ", Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);  // what comes twice shows when it is written
  co_await scene.ExpectClean();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
