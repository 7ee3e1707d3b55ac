// Two control planes of one hub, with the election of the product: whatever happens to the one that leads, the other
// goes on, never both, and the move comes to a good end.
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

constexpr Duration kTakeOver = seconds(30);

// A move that two replicas look after, up to where its source is told to stop.
rt::Task<void> BeginWithTwo(Scene& scene, int stabilization = 2) {
  co_await scene.Begin();
  scene.world.KillController();
  scene.world.StartReplica(0);
  scene.world.StartReplica(1);
  co_await scene.world.Until([&]() -> rt::Task<bool> { co_return scene.world.LeadingReplica().has_value(); },
                             kTakeOver);
  co_await scene.Ask("", "", stabilization);
  co_await scene.UntilStopIsOrdered();
}

rt::Task<void> ExpectOtherLeads(Scene& scene, size_t before) {
  const bool other = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return scene.world.LeadingReplica() == 1 - before; }, kTakeOver);
  scene.Expect(other, "the other replica did not take over");
}

rt::Task<void> ExpectGoodEnd(Scene& scene) {
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
  for (const std::string& problem : scene.world.problems()) scene.Expect(false, problem);
}

TEST(ReplicasTest, WhenTheLeaderIsKilledTheOtherEndsTheMove) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await BeginWithTwo(scene);
    const size_t leading = scene.world.LeadingReplica().value_or(0);
    scene.world.KillReplica(leading);
    co_await ExpectOtherLeads(scene, leading);
    co_await ExpectGoodEnd(scene);
  });
}

TEST(ReplicasTest, ALeaderThatWasPausedFindsAnotherInItsPlaceAndHarmsNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Simulate(seed, [](Scene& scene) -> rt::Task<void> {
      co_await BeginWithTwo(scene);
      const size_t leading = scene.world.LeadingReplica().value_or(0);
      scene.world.PauseReplica(leading);
      co_await ExpectOtherLeads(scene, leading);
      co_await scene.world.loop().Sleep(seconds(2));
      scene.world.ResumeReplica(leading);
      co_await scene.world.loop().Sleep(milliseconds(1));
      scene.Expect(!scene.world.replica(leading)->leads, "it still leads");
      co_await ExpectGoodEnd(scene);
    });
  }
}

TEST(ReplicasTest, ALeaderThatCannotRenewItsLeaseStopsBeforeTheOtherStarts) {
  Simulate(2, [](Scene& scene) -> rt::Task<void> {
    co_await BeginWithTwo(scene);
    const size_t leading = scene.world.LeadingReplica().value_or(0);
    scene.world.CutLease(leading, true);
    co_await ExpectOtherLeads(scene, leading);
    scene.world.CutLease(leading, false);
    co_await ExpectGoodEnd(scene);
  });
}

TEST(ReplicasTest, WrongClocksDoNotMatter) {
  Simulate(3, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    scene.world.KillController();
    for (const size_t which : {0U, 1U}) {
      scene.world.StartReplica(which);
      scene.world.SkewReplica(which, which == 0 ? minutes(-7) : minutes(9));
    }
    co_await scene.Ask();
    co_await scene.UntilStopIsOrdered();
    const size_t leading = scene.world.LeadingReplica().value_or(0);
    scene.world.KillReplica(leading);
    co_await ExpectOtherLeads(scene, leading);
    co_await scene.Settled();
    scene.Expect(Scene::IsOver(co_await scene.Migration()), "no end");
    co_await scene.CheckAll();
  });
}

// A lease that a person deleted begins to count anew; what leaders have written by then must not stop the next one.
TEST(ReplicasTest, ADeletedLeaseDoesNotStopTheMove) {
  Simulate(4, [](Scene& scene) -> rt::Task<void> {
    co_await BeginWithTwo(scene, 120);
    for (int changes = 0; changes < 2; ++changes) {  // so that the fence is not the first any more
      const size_t leading = scene.world.LeadingReplica().value_or(0);
      scene.world.KillReplica(leading);
      co_await ExpectOtherLeads(scene, leading);
      scene.world.StartReplica(leading);
    }
    const auto gone = co_await scene.world.hub().Delete(kube::Leases(), {"kube-system", "baton-controllers"});
    scene.Expect(gone.ok(), "the lease was not deleted");
    scene.world.LeaseDeleted();  // until the old leader notices, another may lead, too: the fence tells them apart
    scene.Expect(!Scene::IsOver(co_await scene.Migration()), "the move ended too early for this test");
    co_await ExpectGoodEnd(scene);
  });
}

}  // namespace
}  // namespace baton::sim
