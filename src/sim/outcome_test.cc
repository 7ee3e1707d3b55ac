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

// What the pipe did with it meanwhile was not ours, so its records are not judged here.
TEST(OutcomeTest, AWorkloadThatIsGivenBackElsewhereIsTakenUpThereOnlyWhenNothingIsLeftWhereItWas) {
  for (const bool silent : {false, true}) {
    Simulate(62, [silent](Scene& scene) -> rt::Task<void> {
      co_await scene.Begin();
      co_await scene.PatchTemplate("{metadata: {annotations: {rollout.karmada.io/managed: \"false\"}}}");
      co_await scene.world.loop().Sleep(seconds(20));
      const auto placed = co_await scene.world.hub().Patch(
          federation::kPropagationPolicies, {"default", "flink"}, kube::PatchType::kMerge,
          Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", scene.to, "]}}}}")));
      scene.Expect(placed.ok(), "no policy");
      scene.Expect(co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5)), "it was not placed");
      co_await scene.world.loop().Sleep(seconds(30));
      if (silent) scene.world.member_faults(scene.from).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
      co_await scene.PatchTemplate("{metadata: {annotations: {rollout.karmada.io/managed: null}}}");
      co_await scene.world.loop().Sleep(minutes(1));
      scene.Expect(co_await scene.WhereItRuns() == scene.to, StrCat("it runs in ", co_await scene.WhereItRuns()));
      const std::string holder((co_await scene.Writer())["spec"]["holder"]["cluster"].str());
      scene.Expect(holder == (silent ? scene.from : scene.to), StrCat("the Writer says ", holder));
      if (silent) {
        const std::string told = co_await scene.WhyNotApplied();
        scene.Expect(told.find(StrCat(scene.from, " does not answer")) != std::string::npos, StrCat("told: ", told));
        scene.world.member_faults(scene.from).Clear();
        co_await scene.world.loop().Sleep(minutes(3));
      }
      const Value spec = (co_await scene.Writer())["spec"];
      scene.Expect(spec["holder"]["cluster"].str() == scene.to && spec["seq"].int_or(0) == 2, spec.ToString());
      scene.Expect(spec["receipt"]["how"].str() == "OptedIn", spec["receipt"].ToString());
      scene.Expect(co_await scene.WhereItRuns() == scene.to, StrCat("it runs in ", co_await scene.WhereItRuns()));
      // It is guarded there now: what is made anew is not started empty.
      [[maybe_unused]] const auto gone =
          co_await scene.world.member(scene.to).Delete(FlinkDeployments(), {"default", "orders"});
      co_await scene.world.loop().Sleep(minutes(2));
      scene.Expect((co_await scene.WhereItRuns()).empty(), "it was started empty");
      scene.Expect(co_await scene.StrayIsTold(), "nobody is told");
    });
  }
}

// What has never run anywhere, as far as the hub knows, may run where the hub cannot look.
TEST(OutcomeTest, AFirstPlacementWaitsForAClusterThatDoesNotAnswerOrForAPersonsWord) {
  for (const bool word : {false, true}) {
    Simulate(61, [word](Scene& scene) -> rt::Task<void> {
      // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
      const auto runs = [&scene]() -> rt::Task<bool> { co_return !(co_await scene.WhereItRuns()).empty(); };
      scene.world.member_faults("green").Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
      Value policy = Yaml(kPolicy);
      policy.Edit("spec").Edit("placement").Set("clusterAffinity", Yaml("{clusterNames: [blue]}"));
      scene.Expect((co_await scene.world.Apply(federation::kPropagationPolicies, policy)).ok(), "no policy");
      scene.Expect((co_await scene.world.Apply(FlinkDeployments(), Yaml(kJob))).ok(), "no job");
      scene.Expect(!co_await scene.world.Until(runs, minutes(3)), "it runs, and green was not asked");
      if (word) {
        const auto said = co_await scene.world.hub().Patch(
            federation::kClusters, {"", "green"}, kube::PatchType::kMerge,
            Yaml("{metadata: {annotations: {rollout.karmada.io/nothing-runs-here: \"true\"}}}"));
        scene.Expect(said.ok(), "the word was not taken");
      } else {
        scene.world.member_faults("green").Clear();
      }
      scene.Expect(co_await scene.world.Until(runs, minutes(10)), "it does not run");
      co_await scene.world.loop().Sleep(minutes(1));
      co_await scene.ExpectClean();
    });
  }
}

// Whoever waits for an answer keeps what gives it.
TEST(OutcomeTest, NewCredentialsOfAClusterDuringAMoveDoNotDisturbIt) {
  Simulate(63, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await UntilStopOrdered(scene);
    for (const std::string& cluster : {scene.from, scene.to}) {
      scene.world.member_faults(cluster).Add({.fault = kube::Fault::kSilence, .hits = 20});
      co_await scene.world.loop().Sleep(seconds(2));  // calls to it wait for its answer now
      const auto moved = co_await scene.world.hub().Patch(federation::kClusters, {"", cluster}, kube::PatchType::kMerge,
                                                          Yaml("{spec: {apiEndpoint: \"https://elsewhere\"}}"));
      scene.Expect(moved.ok(), "the new address was not taken");
    }
    const Value end = co_await scene.Ended();
    scene.Expect(Scene::IsOver(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, AClusterThatIsRemovedByForceWhileItsAnswerIsWaitedForDisturbsNobody) {
  Simulate(64, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const std::string other = scene.from == "red" || scene.to == "red" ? "blue" : "red";
    scene.world.member_faults(other).Add({.fault = kube::Fault::kSilence, .hits = 1'000});
    co_await scene.world.loop().Sleep(seconds(31));  // a heartbeat is under way
    const auto freed = co_await scene.world.hub().Patch(federation::kClusters, {"", other}, kube::PatchType::kMerge,
                                                        Yaml("{metadata: {finalizers: null}}"));
    const auto gone = co_await scene.world.hub().Delete(federation::kClusters, {"", other});
    scene.Expect(freed.ok() && gone.ok(), "it was not removed");
    co_await scene.world.loop().Sleep(minutes(1));
    co_await scene.Ask();
    const Value end = co_await scene.Ended();
    scene.Expect(Scene::IsOver(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, AClusterCannotLeaveInTheMiddleOfAMove) {
  for (const bool target : {false, true}) {
    Simulate(62, [target](Scene& scene) -> rt::Task<void> {
      co_await scene.Begin();
      co_await scene.Ask();
      co_await UntilStopOrdered(scene);
      const std::string leaves = target ? scene.to : scene.from;
      const auto asked = co_await scene.world.hub().Delete(federation::kClusters, {"", leaves});
      scene.Expect(asked.ok(), "the deletion was not taken");
      const Value end = co_await scene.Ended();
      scene.Expect(Scene::IsOver(end), Scene::Said(end));
      co_await scene.ExpectClean();
    });
  }
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

rt::Task<std::string> HolderOf(Scene& scene) {
  co_return std::string((co_await scene.Writer())["spec"]["holder"]["cluster"].str());
}

TEST(OutcomeTest, ATargetThatIsSilentWhenTheStopIsProvenIsNotGrantedUntilItAnswers) {
  Simulate(56, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await UntilStopOrdered(scene);
    scene.world.member_faults(scene.to).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    co_await scene.world.loop().Sleep(minutes(2));
    const Value waits = co_await scene.Migration();
    scene.Expect(Scene::Said(waits).find("it is granted when it does") != std::string::npos, Scene::Said(waits));
    scene.Expect(co_await HolderOf(scene) == scene.from, "it was granted");
    scene.world.member_faults(scene.to).Clear();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

TEST(OutcomeTest, ATargetThatStaysSilentWhenTheStopIsProvenCostsTheMoveAndTheSourceRunsOn) {
  Simulate(57, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Quiescing: 1m}");
    co_await UntilStopOrdered(scene);
    scene.world.member_faults(scene.to).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    co_await scene.world.Until([&]() -> rt::Task<bool> { co_return !co_await scene.RunsIn(scene.from); }, minutes(1));
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.from); }, minutes(5));
    scene.Expect(runs, StrCat("the source does not run again: ", Scene::Said(co_await scene.Migration())));
    scene.world.member_faults(scene.to).Clear();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Aborted");
    co_await scene.CheckAll();
  });
}

// What a person may know: it burnt before its operator acted on the order to start.
TEST(OutcomeTest, ATargetThatIsLostForGoodAfterTheGrantIsVouchedForAndTheSourceGoesOn) {
  Simulate(58, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Verifying: 2m}");
    co_await UntilStopOrdered(scene);
    scene.world.practice(scene.to).KillOperator(hours(24));
    co_await scene.world.Until([&]() -> rt::Task<bool> { co_return co_await HolderOf(scene) == scene.to; }, minutes(5));
    scene.world.member_faults(scene.to).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    const Value stuck = co_await scene.Settled();
    scene.Expect(Scene::IsBlocked(stuck), Scene::Said(stuck));
    scene.Expect(Scene::Said(stuck).find("baton attest --cluster") != std::string::npos, Scene::Said(stuck));
    const Value writer = co_await scene.Writer();
    const std::string state(writer["spec"]["receipt"]["state"].str());
    scene.Expect(!state.empty(), writer.ToString());
    co_await scene.PatchMigration(StrCat("{spec: {attestation: {cluster: ", scene.to,
                                         ", by: ann, reason: 'it burnt down', stateRef: '", state, "'}}}"));
    co_await scene.Ended();
    co_await scene.ExpectPhase("RolledBack");
    scene.Expect(co_await scene.WhereItRuns() == scene.from, StrCat("it runs in ", co_await scene.WhereItRuns()));
    co_await scene.ExpectClean();
    const Value receipt = (co_await scene.Writer())["spec"]["receipt"];
    scene.Expect(receipt["how"].str() == "Attested" && receipt["attestedBy"].str() == "ann", receipt.ToString());
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
