// A new version of a job that opted in to blue-green: started elsewhere from the state of the old one, or not at all.
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

Value BlueGreenJob() {
  Value job = Yaml(kJob);
  job.Edit("metadata").Edit("annotations").Set("rollout.karmada.io/strategy", "BlueGreen");
  return job;
}

rt::Task<void> Edit(Scene& scene, std::string patch) {
  scene.template_edited = true;
  const auto done =
      co_await scene.world.hub().Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge, Yaml(patch));
  scene.Expect(done.ok(), "the edit was not taken");
}

rt::Task<std::vector<Value>> Moves(Scene& scene) {
  const auto listed = co_await scene.world.hub().ListAll(kMigrations);
  co_return listed->items;
}

rt::Task<bool> UntilAllEnded(Scene& scene, size_t count) {
  return scene.world.Until(
      [&scene, count]() -> rt::Task<bool> {
        const std::vector<Value> moves = co_await Moves(scene);
        co_return moves.size() >=
            count&& std::ranges::all_of(moves, [](const Value& move) { return Scene::IsOver(move); });
      },
      minutes(60));
}

rt::Task<void> ExpectRunsImage(Scene& scene, std::string cluster, std::string image) {
  scene.Expect(co_await scene.WhereItRuns() == cluster,
               StrCat("it runs in '", co_await scene.WhereItRuns(), "', not ", cluster));
  const Value object = co_await scene.OnMember(cluster);
  scene.Expect(object["spec"]["image"].str() == image,
               StrCat("in ", cluster, " it has ", object["spec"]["image"].ToString()));
}

TEST(UpgradeTest, ANewRevisionStartsElsewhereFromTheStateOfTheOldOne) {
  Simulate(41, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(BlueGreenJob());
    co_await Edit(scene, "{spec: {image: 'flink:1.21'}}");
    scene.Expect(co_await UntilAllEnded(scene, 1), "no end");
    const std::vector<Value> moves = co_await Moves(scene);
    scene.Expect(moves.size() == 1 && moves[0]["status"]["phase"].str() == "Succeeded",
                 moves.empty() ? "no move" : Scene::Said(moves[0]));
    co_await scene.world.loop().Sleep(minutes(2));
    const std::string now = co_await scene.WhereItRuns();
    scene.Expect(now != scene.from, "it was changed in place");
    co_await ExpectRunsImage(scene, now, "flink:1.21");
    scene.Expect((co_await Moves(scene)).size() == 1, "it moved twice");
    co_await scene.ExpectNoResidue();
    co_await scene.ExpectClean();
  });
}

TEST(UpgradeTest, ARevisionThatFailsLeavesTheOldOneRunningAndIsNotTriedAgain) {
  Simulate(42, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(BlueGreenJob());
    for (const std::string& cluster : kClusters3) {
      if (cluster != scene.from) scene.world.practice(cluster).faults().fail_image = true;
    }
    co_await Edit(scene, "{spec: {image: 'flink:1.21'}}");
    scene.Expect(co_await UntilAllEnded(scene, 1), "no end");
    co_await scene.world.loop().Sleep(minutes(30));
    const std::vector<Value> moves = co_await Moves(scene);
    scene.Expect(moves.size() == 1 && moves[0]["status"]["phase"].str() == "RolledBack",
                 StrCat(moves.size(), " moves, ", moves.empty() ? "" : Scene::Said(moves[0])));
    co_await ExpectRunsImage(scene, scene.from, "flink:1.20");
    co_await scene.ExpectNoResidue();
    co_await scene.ExpectClean();
    // The cause is gone, and a newer version comes.
    for (const std::string& cluster : kClusters3) scene.world.practice(cluster).faults().fail_image = false;
    co_await Edit(scene, "{spec: {image: 'flink:1.22'}}");
    scene.Expect(co_await UntilAllEnded(scene, 2), "no end of the second");
    co_await scene.world.loop().Sleep(minutes(1));
    const std::string now = co_await scene.WhereItRuns();
    scene.Expect(now != scene.from, "the second did not move");
    co_await ExpectRunsImage(scene, now, "flink:1.22");
    co_await scene.ExpectClean();
  });
}

TEST(UpgradeTest, AnEditInTheMiddleOfAMoveIsTheNextUpgrade) {
  Simulate(43, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(BlueGreenJob());
    co_await Edit(scene, "{spec: {image: 'flink:1.21'}}");
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["claim"].is_object(); }, minutes(5));
    co_await Edit(scene, "{spec: {image: 'flink:1.22'}}");
    scene.Expect(co_await UntilAllEnded(scene, 2), "no end");
    co_await scene.world.loop().Sleep(minutes(1));
    for (const Value& move : co_await Moves(scene))
      scene.Expect(move["status"]["phase"].str() == "Succeeded", Scene::Said(move));
    co_await ExpectRunsImage(scene, co_await scene.WhereItRuns(), "flink:1.22");
    co_await scene.ExpectClean();
  });
}

TEST(UpgradeTest, ALabelIsChangedInPlace) {
  Simulate(44, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(BlueGreenJob());
    co_await Edit(scene, "{metadata: {labels: {team: shop}}}");
    const bool there = co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          co_return (co_await scene.OnMember(scene.from))["metadata"]["labels"]["team"].str() == "shop";
        },
        minutes(5));
    scene.Expect(there, "the label did not arrive");
    scene.Expect((co_await Moves(scene)).empty(), "it moved");
    co_await ExpectRunsImage(scene, scene.from, "flink:1.20");
    co_await scene.ExpectClean();
  });
}

}  // namespace
}  // namespace baton::sim
