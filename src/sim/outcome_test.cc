// Rows of the outcome table of docs/ROLLOUT.md that nothing else stages.
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

rt::Task<void> UntilStopOrdered(Scene& scene) {
  co_await scene.world.Until(
      [&scene]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
}

TEST(OutcomeTest, APolicyThatIsDeletedDoesNotStopAMove) {
  Simulate(51, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await UntilStopOrdered(scene);
    [[maybe_unused]] const auto gone =
        co_await scene.world.hub().Delete(federation::kPropagationPolicies, {"default", "flink"});
    const Value end = co_await scene.Settled();
    scene.Expect(Scene::IsOver(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, ARecordThatIsDeletedByForceStopsEverythingAndAsksAPerson) {
  Simulate(52, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await UntilStopOrdered(scene);
    const kube::Name name = kube::Name::FromKey(kBindingKey);
    [[maybe_unused]] const auto freed = co_await scene.world.hub().Patch(kWriters, name, kube::PatchType::kMerge,
                                                                         Yaml("{metadata: {finalizers: null}}"));
    [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(kWriters, name);
    const Value end = co_await scene.Settled();
    scene.Expect(Scene::IsBlocked(end), Scene::Said(end));
    scene.Expect(Scene::Said(end).find("The record is gone") != std::string::npos, Scene::Said(end));
    scene.Expect((co_await scene.WhereItRuns()).find(scene.to) == std::string::npos, "the target runs");
    co_await scene.ExpectClean();
  });
}

TEST(OutcomeTest, ANumberCannotBeMadeSmaller) {
  Simulate(53, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.Ended();
    const auto edited = co_await scene.world.hub().Patch(kWriters, kube::Name::FromKey(kBindingKey),
                                                         kube::PatchType::kMerge, Yaml("{spec: {seq: 1}}"));
    scene.Expect(!edited.ok(), "it was taken");
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, ATargetThatFallsSilentAfterTheGrantIsWaitedForAndThenAPersonIsAsked) {
  Simulate(54, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Verifying: 2m}");
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.to; },
        minutes(5));
    scene.world.member_faults(scene.to).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    const Value stuck = co_await scene.Settled();
    scene.Expect(Scene::IsBlocked(stuck), Scene::Said(stuck));
    scene.Expect((co_await scene.WhereItRuns()).find(scene.from) == std::string::npos, "the source runs");
    scene.world.member_faults(scene.to).Clear();
    const Value end = co_await scene.Ended();
    scene.Expect(Scene::IsOver(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, WhenBothClustersFallSilentNothingRunsTwiceAndItEndsWhenTheyAreBack) {
  Simulate(55, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await UntilStopOrdered(scene);
    for (const std::string& cluster : {scene.from, scene.to})
      scene.world.member_faults(cluster).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    co_await scene.world.loop().Sleep(minutes(30));
    for (const std::string& cluster : {scene.from, scene.to}) scene.world.member_faults(cluster).Clear();
    const Value end = co_await scene.Ended();
    scene.Expect(Scene::IsOver(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, AMemberThatLosesTheTargetsObjectAfterTheGrantAsksAPerson) {
  Simulate(56, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", approvals: [BeforeCleanup]");
    co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    [[maybe_unused]] const auto gone =
        co_await scene.world.member(scene.to).Delete(FlinkDeployments(), {"default", "orders"});
    const Value stuck = co_await scene.Settled();
    scene.Expect(Scene::IsBlocked(stuck), Scene::Said(stuck));
    scene.Expect((co_await scene.WhereItRuns()).empty(), StrCat("it runs in ", co_await scene.WhereItRuns()));
    co_await scene.ExpectClean();
  });
}

}  // namespace
}  // namespace baton::sim
