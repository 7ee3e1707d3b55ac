// Moves in which something fails: images, savepoints, jobs, clusters; and what must not start afterwards.
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

TEST(FailureTest, ATargetWithoutItsImageIsTakenBackAndTheSourceGoesOnWithItsState) {
  Simulate(2, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    scene.world.practice(scene.to).faults().fail_image = true;
    co_await scene.Ask(", deadlines: {Verifying: 30s}");
    co_await scene.Settled();
    co_await scene.ExpectPhase("RolledBack");
    co_await scene.CheckAll();
  });
}

TEST(FailureTest, AnAbortOfARunningTargetTakesItsStateBack) {
  Simulate(3, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Verifying: 10m}");
    co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    co_await scene.world.loop().Sleep(milliseconds(1500));
    co_await scene.Abort();
    co_await scene.Settled();
    co_await scene.ExpectPhase("RolledBack");
    co_await scene.CheckAll();
  });
}

// As long as the hub was away the engine waited longer and longer, and then as long again: up to 16 minutes with nobody
// writing (seed 10046 of the random days).
TEST(FailureTest, AMoveGoesOnSoonAfterALongOutage) {
  Simulate(3, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.UntilStopIsOrdered();
    scene.world.hub_faults().Add({.fault = kube::Fault::kErrorBefore, .plural = "writers", .hits = 1'000'000});
    co_await scene.world.loop().Sleep(minutes(12));
    scene.world.hub_faults().Clear();
    const Value end = co_await scene.Settled("", minutes(1));
    scene.Expect(Scene::IsOver(end), StrCat("a minute later: ", Scene::Said(end)));
    co_await scene.CheckAll();
  });
}

// Twenty minutes of a look a second at a member that does not answer are for nothing (seed 65 of the random days).
TEST(FailureTest, AMemberThatIsAwayForLongIsAskedLessOftenAndTheMoveGoesOnSoonAfterIt) {
  Simulate(3, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Quiescing: 60m}");
    co_await scene.UntilStopIsOrdered();
    size_t asked = 0;
    scene.world.member_faults(scene.from)
        .Add({.fault = kube::Fault::kErrorBefore,
              .verb = kube::Verb::kGet,
              .plural = "flinkdeployments",
              .hits = 1'000'000,
              .when = [&](const kube::Call&) {
                ++asked;
                return true;
              }});
    co_await scene.world.loop().Sleep(minutes(1));
    const size_t at_first = std::exchange(asked, 0);
    co_await scene.world.loop().Sleep(minutes(18));
    asked = 0;
    co_await scene.world.loop().Sleep(minutes(1));
    const size_t at_last = asked;
    scene.Expect(at_first >= 10 && at_last >= 5 && at_last * 3 <= at_first,
                 StrCat("asked ", at_first, " times in the first minute, and ", at_last, " in the twentieth"));
    scene.world.member_faults(scene.from).Clear();
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(1));
    scene.Expect(runs, StrCat("a minute later: ", Scene::Said(co_await scene.Migration())));
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

TEST(FailureTest, ASavepointThatFailsEndsTheMoveAndNotTheJob) {
  Simulate(4, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    scene.world.practice(scene.from).faults().fail_savepoints = 1'000;
    co_await scene.Ask(", deadlines: {Quiescing: 60s}");
    const Value end = co_await scene.Settled();
    scene.Expect(end["status"]["phase"].str() == "Aborted" || Scene::IsBlocked(end), Scene::Said(end));
    co_await scene.CheckAll();
  });
}

TEST(FailureTest, ASavepointThatNeverEndsIsGivenUpAtTheDeadline) {
  Simulate(5, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    scene.world.practice(scene.from).faults().slow = 1000;
    co_await scene.Ask(", deadlines: {Quiescing: 30s}");
    co_await scene.UntilPhase("Aborting");
    scene.world.practice(scene.from).faults().slow = 1;
    co_await scene.Settled();
    co_await scene.ExpectPhase("Aborted");
    co_await scene.CheckAll();
  });
}

TEST(FailureTest, ASourceWhoseJobFailsIsNotTakenForStopped) {
  Simulate(6, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    [[maybe_unused]] const auto failed = scene.world.practice(scene.from).FailJob(kWorkload);
    co_await scene.Ask(", deadlines: {Staged: 30s, Quiescing: 30s, Aborting: 60s}");
    const Value end = co_await scene.Settled();
    scene.Expect(end["status"]["phase"].str() != "Succeeded", Scene::Said(end));
    scene.Expect((co_await scene.WhereItRuns()).find(scene.to) == std::string::npos, "the target runs");
    co_await scene.ExpectClean();
  });
}

TEST(FailureTest, ASilentSourceKeepsTheTargetOnHoldUntilAPersonAttests) {
  Simulate(7, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Quiescing: 20m}");
    // Down it goes, and then nobody hears of it any more.
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          const Value object = co_await scene.OnMember(scene.from);
          co_return object["spec"]["job"]["state"].str() == "suspended";
        },
        minutes(1));
    scene.world.member_faults(scene.from).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    co_await scene.world.loop().Sleep(minutes(5));
    const Value stuck = co_await scene.Migration();
    scene.Expect(stuck["status"]["phase"].str() == "Quiescing", Scene::Said(stuck));
    scene.Expect((co_await scene.WhereItRuns()).empty(), StrCat("it runs in ", co_await scene.WhereItRuns()));
    const std::string state((co_await scene.OnMember(scene.from))["status"]["jobStatus"]["upgradeSavepointPath"].str());
    const auto attested = co_await scene.world.hub().Patch(
        kMigrations, {"default", "move"}, kube::PatchType::kMerge,
        Yaml(StrCat("{spec: {attestation: {by: ann, reason: 'pulled the plug', stateRef: '", state, "'}}}")));
    scene.Expect(attested.ok(), attested.ok() ? "" : std::string(attested.error().message()));
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    scene.Expect(runs, StrCat("attested, and: ", Scene::Said(co_await scene.Migration())));
    // Back from the dead: it is held, and removed.
    scene.world.member_faults(scene.from).Clear();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

TEST(FailureTest, ASourceThatIsLostWhileItsMoveIsAbortedByTheClockCanBeAttested) {
  Simulate(7, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask(", deadlines: {Quiescing: 2m, Aborting: 2m}");
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          co_return (co_await scene.OnMember(scene.from))["status"]["jobStatus"]["state"].str() == "FINISHED";
        },
        minutes(5));
    scene.world.member_faults(scene.from).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    const auto attest = [&](std::string words) -> rt::Task<Value> {
      const std::string state(
          (co_await scene.OnMember(scene.from))["status"]["jobStatus"]["upgradeSavepointPath"].str());
      const auto said = co_await scene.world.hub().Patch(
          kMigrations, {"default", "move"}, kube::PatchType::kMerge,
          Yaml(StrCat("{spec: {attestation: {by: ann, reason: burnt, stateRef: '", state, "'", words, "}}}")));
      scene.Expect(said.ok(), said.ok() ? "" : std::string(said.error().message()));
      co_await scene.world.loop().Sleep(minutes(1));
      co_return co_await scene.Migration();
    };
    co_await scene.world.loop().Sleep(minutes(8));
    const Value stuck = co_await scene.Migration();
    scene.Expect(stuck["status"]["phase"].str() == "Aborting" && Scene::IsBlocked(stuck), Scene::Said(stuck));
    scene.Expect(Scene::Said(stuck).find("`baton attest move`") != std::string::npos, Scene::Said(stuck));
    const Value before = co_await attest("");
    scene.Expect(before["status"]["phase"].str() == "Aborting", "a word that is not of this abort counts");
    const Value old = co_await attest(", abortedAttempt: 1");
    scene.Expect(old["status"]["phase"].str() == "Aborting" &&
                     Scene::Said(old).find("may have run on from") != std::string::npos,
                 Scene::Said(old));
    scene.Expect((co_await scene.WhereItRuns()).empty(), StrCat("it runs in ", co_await scene.WhereItRuns()));
    co_await attest(", abortedAttempt: 1, rewind: true");
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    scene.Expect(runs, StrCat("attested, and: ", Scene::Said(co_await scene.Migration())));
    // Back from the dead: it is held, and removed.
    scene.world.member_faults(scene.from).Clear();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

// The other federation starts it again, from nothing, and nobody of ours holds it: what runs is moved as it is.
TEST(FailureTest, OnAHubOfOthersWhatWasDeletedByHandAndMadeAnewCanBeMoved) {
  const auto play = [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    [[maybe_unused]] const auto gone =
        co_await scene.world.member(scene.to).Delete(FlinkDeployments(), {"default", "orders"});
    co_await scene.world.loop().Sleep(minutes(1));
    scene.Expect(co_await scene.WhereItRuns() == scene.to, "it was not made anew");
    scene.to = scene.from;
    co_await scene.Ask("", "back");
    co_await scene.Ended("back");
    co_await scene.ExpectPhase("Succeeded", "back");
  };
  for (const std::string& problem : Play(8, play, nullptr, nullptr, nullptr, HubOf::kKarmada)) ADD_FAILURE() << problem;
}

TEST(FailureTest, AnObjectThatIsDeletedByHandIsNotStartedEmpty) {
  Simulate(8, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    co_await scene.Ask();
    co_await scene.Ended();
    co_await scene.ExpectPhase("Succeeded");
    [[maybe_unused]] const auto gone =
        co_await scene.world.member(scene.to).Delete(FlinkDeployments(), {"default", "orders"});
    co_await scene.world.loop().Sleep(minutes(2));
    const Value again = co_await scene.OnMember(scene.to);
    scene.Expect(again.is_null() || again["spec"]["job"]["state"].str() == "suspended",
                 StrCat("it was started empty: ", again["spec"]["job"].ToString()));
    scene.Expect((co_await scene.WhereItRuns()).empty(), "it runs");
    co_await scene.ExpectClean();
    const Value stray = federation::FindCondition((co_await scene.Binding())["status"], "StrayWriter");
    scene.Expect(stray["status"].str() == "True", "nobody is told of the stray");
    // As the message says.
    const auto let =
        co_await scene.world.hub().Patch(kWriters, kube::Name::FromKey(kBindingKey), kube::PatchType::kMerge,
                                         Yaml(StrCat("{spec: {holder: {memberUID: ", kube::UidOf(again), "}}}")));
    scene.Expect(let.ok(), "the Writer did not take it");
    // The Work is looked at again when anything of it changes.
    [[maybe_unused]] const auto touched =
        co_await scene.world.member(scene.to).Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge,
                                                    Yaml("{metadata: {annotations: {touched: now}}}"));
    const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    scene.Expect(runs, StrCat("a person let it run, and: ", co_await scene.Dump()));
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          const Value binding = co_await scene.Binding();
          co_return federation::FindCondition(binding["status"], "StrayWriter")["status"].str() == "False";
        },
        minutes(1));
    scene.Expect(stray["message"].str().find(kube::UidOf(again)) != std::string_view::npos,
                 stray["message"].ToString());
  });
}

TEST(FailureTest, ATemplateMadeAnewIsAnotherWorkloadAndRuns) {
  Simulate(9, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(FlinkDeployments(), {"default", "orders"});
    co_await scene.world.loop().Sleep(seconds(30));
    scene.Expect((co_await scene.world.Apply(FlinkDeployments(), Yaml(kJob))).ok(), "not taken");
    const bool runs = co_await scene.world.Until(
        [&]() -> rt::Task<bool> { co_return !(co_await scene.WhereItRuns()).empty(); }, minutes(5));
    scene.Expect(runs, StrCat("it does not run: ", co_await scene.Dump()));
  });
}

// Templates whose ordinary upgrades would lose or keep state in their own way.
class UpgradeModeTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, UpgradeModeTest, testing::Values("stateless", "last-state"),
                         [](const auto& info) { return info.param == "stateless" ? "Stateless" : "LastState"; });

TEST_P(UpgradeModeTest, AMoveKeepsTheState) {
  Simulate(11, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(JobWith(GetParam()));
    co_await scene.Ask();
    co_await scene.Settled();
    co_await scene.ExpectPhase("Succeeded");
    co_await scene.CheckAll();
  });
}

TEST_P(UpgradeModeTest, AnAbortedStopKeepsTheState) {
  for (const int64_t after : {0, 300, 1000}) {
    Simulate(12, [after](Scene& scene) -> rt::Task<void> {
      co_await scene.Begin(JobWith(GetParam()));
      co_await scene.Ask();
      co_await scene.world.Until(
          [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["stop"].is_object(); }, minutes(5));
      co_await scene.world.loop().Sleep(milliseconds(after));
      co_await scene.Abort();
      const Value end = co_await scene.Settled();
      scene.Expect(end["status"]["phase"].str() == "Aborted" || end["status"]["phase"].str() == "RolledBack",
                   Scene::Said(end));
      co_await scene.CheckAll();
    });
  }
}

TEST_P(UpgradeModeTest, AWayBackKeepsTheState) {
  Simulate(13, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin(JobWith(GetParam()));
    co_await scene.Ask();
    co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
    co_await scene.Abort();
    co_await scene.Settled();
    co_await scene.ExpectPhase("RolledBack");
    co_await scene.CheckAll();
  });
}

struct Refusal {
  const char* name;
  std::string target;
  std::string patch;  // of the template
  std::string reason;
};

TEST(RefusalTest, AMoveThatCannotBeIsRefusedWithAReasonAndWithoutAnEffect) {
  const Refusal refusals[] = {
      {"same", "FROM", "", "already"},
      {"unknown", "nowhere", "", "there is no cluster nowhere"},
      {"outside", "TO", "policy", "placement does not reach"},
      {"dir", "TO", "{spec: {flinkConfiguration: {state.savepoints.dir: null}}}", "no savepoint directory"},
      {"claim", "TO", "{spec: {flinkConfiguration: {execution.savepoint-restore-mode: CLAIM}}}", "CLAIM"},
      {"nonce", "TO", "{spec: {job: {savepointRedeployNonce: 5}}}", "savepointRedeployNonce"},
      {"unmanaged", "TO", "{metadata: {annotations: {rollout.karmada.io/managed: \"false\"}}}", "not managed"},
  };
  for (const Refusal& refusal : refusals) {
    Simulate(10, [&](Scene& scene) -> rt::Task<void> {
      co_await scene.Begin();
      if (refusal.patch == "policy") {
        Value policy = Yaml(kPolicy);
        policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", json::Array({scene.from}));
        scene.Expect((co_await scene.world.Apply(federation::kPropagationPolicies, policy)).ok(), "policy");
      } else if (!refusal.patch.empty()) {
        scene.Expect((co_await scene.world.hub().Patch(FlinkDeployments(), {"default", "orders"},
                                                       kube::PatchType::kMerge, Yaml(refusal.patch)))
                         .ok(),
                     "patch");
      }
      co_await scene.world.loop().Sleep(seconds(30));
      const Value before = (co_await scene.Binding())["spec"];
      const Value writer = (co_await scene.Writer())["spec"];
      const std::string target = refusal.target == "FROM" ? scene.from : refusal.target == "TO" ? scene.to : "nowhere";
      scene.to = target;
      co_await scene.Ask();
      const Value end = co_await scene.Settled();
      scene.Expect(end["status"]["phase"].str() == "Rejected", StrCat(refusal.name, ": ", Scene::Said(end)));
      scene.Expect(Scene::Said(end).find(refusal.reason) != std::string::npos,
                   StrCat(refusal.name, ": ", Scene::Said(end)));
      scene.Expect((co_await scene.Binding())["spec"] == before, StrCat(refusal.name, ": the binding changed"));
      // But for the note that this move was refused, so that no late claim begins it.
      Value after = (co_await scene.Writer())["spec"];
      after.Erase("refused");
      scene.Expect(after == writer, StrCat(refusal.name, ": the Writer changed"));
      scene.Expect((co_await scene.Overrides()).empty(), StrCat(refusal.name, ": an override"));
    });
  }
}

}  // namespace
}  // namespace baton::sim
