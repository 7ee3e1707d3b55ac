// What people do to a move that is under way: approve, wait for a time, and remove its record by force.
#include "json/rfc3339.h"
#include "sim/checkers.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

// As `kubectl patch --type=merge -p '{"metadata":{"finalizers":null}}'` and a deletion do.
rt::Task<void> RemoveByForce(Scene& scene) {
  [[maybe_unused]] const auto asked = co_await scene.world.hub().Delete(kMigrations, {"default", "move"});
  [[maybe_unused]] const auto freed = co_await scene.world.hub().Patch(
      kMigrations, {"default", "move"}, kube::PatchType::kMerge, Yaml("{metadata: {finalizers: null}}"));
  const Value gone = co_await scene.Migration();
  scene.Expect(gone.is_null(), "the migration is still there");
}

rt::Task<bool> UntilNoClaim(Scene& scene) {
  return scene.world.Until(
      [&scene]() -> rt::Task<bool> {
        const Value writer = co_await scene.Writer();
        co_return writer["spec"]["claim"].is_null() && (co_await scene.Overrides()).empty();
      },
      minutes(30));
}

TEST(SteeringTest, AMoveWhoseRecordIsRemovedByForceBeforeTheGrantIsTakenBack) {
  Simulate(31, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
    co_await RemoveByForce(scene);
    scene.Expect(co_await UntilNoClaim(scene), StrCat("the claim stays: ", co_await scene.Dump()));
    co_await scene.ExpectRunsAlone(scene.from);
    co_await scene.ExpectNoResidue();
    co_await scene.ExpectClean();
  });
}

TEST(SteeringTest, AMoveWhoseRecordIsRemovedByForceAfterTheGrantComesToAnEnd) {
  Simulate(32, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", approvals: [BeforeCleanup]");
    co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    co_await RemoveByForce(scene);
    scene.Expect(co_await UntilNoClaim(scene), StrCat("the claim stays: ", co_await scene.Dump()));
    co_await scene.ExpectRunsAlone(scene.from);
    co_await scene.ExpectNoResidue();
    co_await scene.ExpectClean();
  });
}

// As a leader does that had not seen the claim of another one.
TEST(SteeringTest, AMoveThatIsToldAsRefusedThoughItHasBegunIsTakenBack) {
  Simulate(34, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
    Value move = co_await scene.Migration();
    scene.checkers->MeddlesWithStatuses();
    move.Edit("status").Set("phase", "Rejected");
    scene.Expect((co_await scene.world.hub().UpdateStatus(kMigrations, move)).ok(), "not told");
    scene.Expect(co_await UntilNoClaim(scene), StrCat("the claim stays: ", co_await scene.Dump()));
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Migration())["status"]["phase"].str() == "Aborted"; },
        minutes(5));
    co_await scene.ExpectPhase("Aborted");
    co_await scene.ExpectRunsAlone(scene.from);
    co_await scene.ExpectNoResidue();
    co_await scene.ExpectClean();
  });
}

TEST(SteeringTest, UntilTheCleanupIsApprovedTheWayBackIsOpen) {
  for (const bool approve : {true, false}) {
    Simulate(33, [approve](Scene& scene) -> rt::Task<void> {
      co_await scene.Begin();
      co_await scene.Ask(", approvals: [BeforeCleanup]");
      const bool waits = co_await scene.world.Until(
          [&]() -> rt::Task<bool> {
            const Value now = co_await scene.Migration();
            co_return now["status"]["waitingFor"].str() == "an approval of BeforeCleanup";
          },
          minutes(10));
      scene.Expect(waits, Scene::Said(co_await scene.Migration()));
      // For longer than any deadline.
      co_await scene.world.loop().Sleep(minutes(20));
      const Value still = co_await scene.Migration();
      scene.Expect(still["status"]["phase"].str() == "Verifying", Scene::Said(still));
      scene.Expect(co_await scene.RunsIn(scene.to), "it does not run");
      if (approve) {
        [[maybe_unused]] const auto said = co_await scene.world.hub().Patch(
            kMigrations, {"default", "move"}, kube::PatchType::kMerge,
            Yaml("{metadata: {annotations: {rollout.karmada.io/approve: BeforeCleanup}}}"));
      } else {
        co_await scene.Abort();
      }
      co_await scene.Settled();
      co_await scene.ExpectPhase(approve ? "Succeeded" : "RolledBack");
      co_await scene.CheckAll();
    });
  }
}

TEST(SteeringTest, OutsideItsWindowAMoveIsPreparedAndWaits) {
  Simulate(34, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const WallTime opens = scene.world.loop().WallNow() + minutes(25);
    co_await scene.Ask(StrCat(", notBefore: '", json::FormatTime(opens), "'"));
    co_await scene.world.loop().Sleep(minutes(20));
    const Value waits = co_await scene.Migration();
    scene.Expect(waits["status"]["phase"].str() == "Staged" && !Scene::IsBlocked(waits), Scene::Said(waits));
    scene.Expect(waits["status"]["message"].str().find("notBefore") != std::string_view::npos, Scene::Said(waits));
    scene.Expect(co_await scene.RunsIn(scene.from), "the source does not run");
    co_await scene.world.Until([&]() -> rt::Task<bool> { co_return Scene::IsOver(co_await scene.Migration()); },
                               hours(2));
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

}  // namespace
}  // namespace baton::sim
