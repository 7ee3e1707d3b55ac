// Whole migrations in the simulated world: production code from kubectl's apply to the judge's table.
#include <set>

#include "kube/borrowed_api.h"
#include "rollout/plan.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

TEST(MigrationTest, AJobRunsInOneClusterAndHasAWriter) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.ExpectRunsAlone(scene.from);
    co_await scene.ExpectClean();
  });
}

TEST(MigrationTest, AMoveLosesNothingDuplicatesNothingAndLeavesNothingBehind) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const Value before = co_await scene.Template();
    co_await scene.Ask();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
    const Value after = co_await scene.Template();
    EXPECT_EQ(before["metadata"]["generation"], after["metadata"]["generation"]);
  });
}

// What the controllers write on the way of a move, in the words of a plan.
class Writes final : public kube::FaultPlan {
 public:
  std::vector<std::string> hub;
  std::multiset<std::string> members;
  bool on = false;

  kube::FaultDecision ForCall(const kube::Call& call) override {
    if (!on || !call.IsWrite() || call.dry_run || !call.subresource.empty()) return {};
    const std::string& kind = call.resource.kind;
    const bool of_a_member = kind == "FlinkDeployment" || kind == "FlinkStateSnapshot";
    const std::string verb = call.verb == kube::Verb::kPatch ? "update" : std::string(kube::VerbName(call.verb));
    if (of_a_member) members.insert(StrCat(verb, " ", kind));
    // An override goes in two calls: it is deleted, and then lets go of its finalizer.
    const bool let_go =
        kind == "OverridePolicy" && verb == "update" && !hub.empty() && hub.back() == "delete OverridePolicy";
    const bool ours = kind == "Writer" || kind == "OverridePolicy" || kind == "ResourceBinding";
    // The pipe wrote its status meanwhile: the same once more.
    const bool again = kind == "ResourceBinding" && call.body["spec"] == bound_["spec"] &&
                       call.body["metadata"]["annotations"] == bound_["metadata"]["annotations"];
    if (kind == "ResourceBinding") bound_ = call.body;
    if (ours && !let_go && !again) hub.push_back(StrCat(verb, " ", kind));
    return {};
  }
  kube::FaultDecision ForOpen(const kube::WatchCall& /*call*/) override { return {}; }
  kube::FaultDecision ForChanges(const kube::WatchCall& /*call*/) override { return {}; }

 private:
  Value bound_;
};

TEST(MigrationTest, APlanSaysExactlyWhatTheMoveThenWrites) {
  Writes writes;
  const auto play = [&](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    rollout::MovePlan plan;
    {
      rollout::Planner planner(
          scene.world.hub(),
          [&](const Value& cluster, const Value&) -> Result<std::unique_ptr<kube::Api>> {
            return std::unique_ptr<kube::Api>(
                std::make_unique<kube::BorrowedApi>(scene.world.member(std::string(kube::NameOf(cluster)))));
          },
          nullptr);
      scene.Expect((co_await planner.Start()).ok(), "the planner does not start");
      const Result<rollout::MovePlan> made = co_await planner.PlanMove(Yaml(MigrationTo(scene.to)));
      scene.Expect(made.ok(), "no plan");
      if (made.ok()) plan = *made;
      const Result<rollout::MovePlan> home = co_await planner.PlanMove(Yaml(MigrationTo(scene.from)));
      scene.Expect(home.ok() && home->steps.empty() && !home->Problems().empty(), "a plan to where it is");
      const Result<rollout::ClusterPlan> drain = co_await planner.PlanDrain(scene.from, 0);
      scene.Expect(drain.ok() && drain->items.size() == 1 && drain->rounds == 1 && !drain->Refused(),
                   drain.ok() ? drain->Json().ToString() : drain.error().message());
    }
    EXPECT_EQ(plan.Problems(), std::vector<std::string>());
    EXPECT_EQ(plan.waits, std::vector<std::string>());
    EXPECT_EQ(plan.end, rollout::Phase::kSucceeded);
    EXPECT_EQ((co_await scene.world.hub().ListAll(kMigrations))->items.size(), 0U);
    std::vector<std::string> hub;
    std::multiset<std::string> members;
    for (const rollout::PlannedStep& step : plan.steps) {
      const std::string what = StrCat(step.verb, " ", Split(step.object, ' ')[0]);
      if (step.verb == "wait" || step.verb == "dry run" || what == "create StatefulMigration") continue;
      if (step.where == "hub") {
        hub.push_back(what);
      } else {
        members.insert(what);
      }
    }
    writes.on = true;
    co_await scene.Ask();
    co_await scene.Ended();
    co_await scene.world.loop().Sleep(seconds(20));
    co_await scene.ExpectPhase("Succeeded");
    EXPECT_EQ(hub, writes.hub);
    EXPECT_EQ(members, writes.members);
  };
  Simulate(1, play, &writes);
}

// Seen by the torture of the engine: the pipe deleted the running object when another scheduler overwrote a binding.
TEST(MigrationTest, ABindingThatSomebodyOverwritesDoesNotTakeTheWriterOutOfItsCluster) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const std::string elsewhere = scene.from == "blue" ? "green" : "blue";
    const auto written = co_await scene.world.hub().Patch(
        federation::kResourceBindings, {"default", "orders-flinkdeployment"}, kube::PatchType::kMerge,
        json::Object({{"spec", json::Object({{"clusters", json::Array({json::Object({{"name", elsewhere}})})},
                                             {"suspension", json::Object({{"scheduling", true}})}})}}));
    EXPECT_TRUE(written.ok());
    co_await scene.world.loop().Sleep(minutes(2));
    EXPECT_EQ(co_await scene.WhereItRuns(), scene.from);  // what was rendered elsewhere is held
    co_await scene.ExpectClean();
  });
}

}  // namespace
}  // namespace baton::sim
