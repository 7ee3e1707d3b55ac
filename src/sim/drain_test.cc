// Whole clusters: drained, brought home, and workloads that their policy wants elsewhere.
#include "rollout/evacuate.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

using rollout::kEvacuations;

std::string JobName(int number) { return StrCat("orders", number == 0 ? "" : StrCat("-", number)); }

Value JobNumber(int number) {
  Value job = Yaml(kJob);
  job.Edit("metadata").Set("name", JobName(number));
  return job;
}

// Several jobs, as many as the world has, in whatever clusters.
class Fleet {
 public:
  Fleet(Scene& scene, int jobs) : scene_(scene), jobs_(jobs) {}

  rt::Task<void> Begin(std::string_view policy = kPolicy) {
    scene_.Expect((co_await scene_.world.Apply(federation::kPropagationPolicies, Yaml(policy))).ok(), "the policy");
    for (int i = 0; i < jobs_; ++i)
      scene_.Expect((co_await scene_.world.Apply(FlinkDeployments(), JobNumber(i))).ok(), "a job was not taken");
    const bool run = co_await scene_.world.Until(
        [this]() -> rt::Task<bool> {
          for (int i = 0; i < jobs_; ++i) {
            if ((co_await Where(i)).empty()) co_return false;
          }
          co_return true;
        },
        minutes(10));
    scene_.Expect(run, "the jobs never ran");
    co_await scene_.world.loop().Sleep(seconds(5));
  }
  rt::Task<std::string> Where(int number) {
    std::string where;
    for (const std::string& cluster : kClusters3) {
      const Value object = co_await scene_.world.OnMember(cluster, FlinkDeployments(), "default/" + JobName(number));
      if (object["status"]["jobStatus"]["state"].str() == "RUNNING") where += (where.empty() ? "" : "+") + cluster;
    }
    co_return where;
  }
  rt::Task<int> CountIn(std::string cluster) {
    int count = 0;
    for (int i = 0; i < jobs_; ++i) count += (co_await Where(i)) == cluster ? 1 : 0;
    co_return count;
  }
  rt::Task<void> Taint(std::string cluster, bool on) {
    const std::string taints = on ? "[{key: rollout.karmada.io/drain, effect: NoExecute}]" : "[]";
    const auto done = co_await scene_.world.hub().Patch(federation::kClusters, {"", cluster}, kube::PatchType::kMerge,
                                                        Yaml(StrCat("{spec: {taints: ", taints, "}}")));
    scene_.Expect(done.ok(), "the taint was not taken");
  }
  rt::Task<bool> UntilPhase(std::string cluster, std::string phase, Duration within = minutes(30)) {
    co_return co_await scene_.world.Until(
        [=, this]() -> rt::Task<bool> {
          co_return (co_await scene_.world.OnHub(kEvacuations, cluster))["status"]["phase"].str() == phase;
        },
        within);
  }
  rt::Task<void> ExpectAllClean() {
    for (int i = 0; i < jobs_; ++i) {
      const Result<practice::JudgeReport> report = co_await scene_.world.Judge("default", JobName(i));
      scene_.Expect(report.ok() && report->clean(),
                    StrCat(JobName(i), ": ", report.ok() ? report->Text() : "not judged"));
      scene_.Expect((co_await Where(i)).find('+') == std::string::npos && !(co_await Where(i)).empty(),
                    StrCat(JobName(i), " runs in '", co_await Where(i), "'"));
    }
  }

 private:
  Scene& scene_;
  int jobs_;
};

// Of all moves at every look.
rt::Task<int> MostAtOnce(Scene& scene, std::function<rt::Task<bool>()> until) {
  int most = 0;
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const auto moves = co_await scene.world.hub().ListAll(kMigrations);
        int active = 0;
        for (const Value& move : moves->items) active += Scene::IsOver(move) ? 0 : 1;
        most = std::max(most, active);
        co_return co_await until();
      },
      minutes(60));
  co_return most;
}

TEST(DrainTest, ATaintedClusterIsEmptiedAFewAtATimeAndGetsItAllBack) {
  Simulate(21, [](Scene& scene) -> rt::Task<void> {
    constexpr int kJobs = 7;
    Fleet fleet(scene, kJobs);
    co_await fleet.Begin();
    std::string full = "blue";
    for (const std::string& cluster : kClusters3) {
      if (co_await fleet.CountIn(cluster) > co_await fleet.CountIn(full)) full = cluster;
    }
    const int here = co_await fleet.CountIn(full);
    [[maybe_unused]] const auto limited =
        co_await scene.world.hub().Patch(federation::kClusters, {"", full}, kube::PatchType::kMerge,
                                         Yaml("{metadata: {annotations: {rollout.karmada.io/max-moves-out: '2', "
                                              "rollout.karmada.io/max-moves-in: '2'}}}"));
    co_await fleet.Taint(full, true);
    const int most = co_await MostAtOnce(scene, [&]() -> rt::Task<bool> {
      co_return (co_await scene.world.OnHub(kEvacuations, full))["status"]["phase"].str() == "Drained";
    });
    const Value drained = co_await scene.world.OnHub(kEvacuations, full);
    scene.Expect(drained["status"]["phase"].str() == "Drained", drained["status"].ToString());
    scene.Expect(drained["status"]["done"].int_or(0) == here, StrCat("of ", here, ": ", drained["status"].ToString()));
    scene.Expect(most == std::min(2, here), StrCat(most, " moves at once"));
    scene.Expect(co_await fleet.CountIn(full) == 0, "not empty");
    co_await fleet.ExpectAllClean();
    // And home again.
    co_await fleet.Taint(full, false);
    const auto home = co_await scene.world.hub().Patch(kEvacuations, {"", full}, kube::PatchType::kMerge,
                                                       Yaml("{spec: {return: true}}"));
    scene.Expect(home.ok(), "return was not taken");
    const bool back = co_await fleet.UntilPhase(full, "Returned");
    scene.Expect(back, (co_await scene.world.OnHub(kEvacuations, full))["status"].ToString());
    scene.Expect(co_await fleet.CountIn(full) == here, "not all are home");
    co_await fleet.ExpectAllClean();
  });
}

// A maintenance day: one cluster has them all, calls to the others fail and hang now and then, templates are edited
// meanwhile, and nothing is lost.
TEST(DrainTest, ThirtyWorkloadsLeaveAClusterUnderLoadAndEveryRecordIsThere) {
  Simulate(26, [](Scene& scene) -> rt::Task<void> {
    constexpr int kJobs = 30;
    Fleet fleet(scene, kJobs);
    Value policy = Yaml(kPolicy);
    policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", Yaml("[blue]"));
    co_await fleet.Begin(policy.ToString());
    scene.Expect(co_await fleet.CountIn("blue") == kJobs, "not all are in blue");
    scene.Expect((co_await scene.world.Apply(federation::kPropagationPolicies, Yaml(kPolicy))).ok(), "the policy");
    for (const std::string& cluster : kClusters3) {
      scene.world.member_faults(cluster).Add({.fault = kube::Fault::kServerError, .skip = 20, .hits = 40});
      scene.world.member_faults(cluster).Add({.fault = kube::Fault::kAnswerLost, .skip = 90, .hits = 20});
      scene.world.member_faults(cluster).Add({.fault = kube::Fault::kSilence, .skip = 200, .hits = 5});
    }
    co_await fleet.Taint("blue", true);
    co_await scene.world.loop().Sleep(seconds(20));
    for (int i = 0; i < kJobs; i += 5) {
      const auto edited =
          co_await scene.world.hub().Patch(FlinkDeployments(), {"default", JobName(i)}, kube::PatchType::kMerge,
                                           Yaml("{spec: {taskManager: {resource: {memory: 2048m}}}}"));
      scene.Expect(edited.ok(), "the edit was not taken");
    }
    const bool drained = co_await fleet.UntilPhase("blue", "Drained", minutes(240));
    scene.Expect(drained, (co_await scene.world.OnHub(kEvacuations, "blue"))["status"].ToString());
    scene.Expect(co_await fleet.CountIn("blue") == 0, "not empty");
    co_await scene.world.loop().Sleep(minutes(1));
    co_await fleet.ExpectAllClean();
    for (int i = 0; i < kJobs; i += 5) {
      const Value object =
          co_await scene.world.OnMember(co_await fleet.Where(i), FlinkDeployments(), "default/" + JobName(i));
      scene.Expect(object["spec"]["taskManager"]["resource"]["memory"].str() == "2048m", "an edit was lost");
    }
  });
}

TEST(DrainTest, OneThatFailsIsTriedAgainAndThenAPersonIsAsked) {
  Simulate(22, [](Scene& scene) -> rt::Task<void> {
    Fleet fleet(scene, 1);
    co_await fleet.Begin();
    const std::string from = co_await fleet.Where(0);
    // Nothing it is moved to can ever start.
    for (const std::string& cluster : kClusters3) {
      if (cluster != from) scene.world.practice(cluster).faults().fail_image = true;
    }
    co_await fleet.Taint(from, true);
    const bool stuck = co_await fleet.UntilPhase(from, "Stuck", minutes(120));
    const Value status = (co_await scene.world.OnHub(kEvacuations, from))["status"];
    scene.Expect(stuck, status.ToString());
    scene.Expect(status["items"][0]["state"].str() == "Stuck", status.ToString());
    const auto moves = co_await scene.world.hub().ListAll(kMigrations);
    scene.Expect(moves->items.size() == 3, StrCat(moves->items.size(), " tries"));
    scene.Expect(co_await fleet.Where(0) == from, "it does not run where it was");
    co_await fleet.ExpectAllClean();
  });
}

TEST(DrainTest, AClusterThatDoesNotAnswerIsNotDrained) {
  Simulate(23, [](Scene& scene) -> rt::Task<void> {
    Fleet fleet(scene, 1);
    co_await fleet.Begin();
    const std::string from = co_await fleet.Where(0);
    scene.world.member_faults(from).Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    const bool away = co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          const Value cluster = co_await scene.world.OnHub(federation::kClusters, from);
          co_return federation::FindCondition(cluster["status"], "Ready")["status"].str() != "True";
        },
        minutes(10));
    scene.Expect(away, "it was never noticed");
    co_await fleet.Taint(from, true);
    co_await scene.world.loop().Sleep(minutes(5));
    const Value status = (co_await scene.world.OnHub(kEvacuations, from))["status"];
    scene.Expect(status["phase"].str() == "Waiting", status.ToString());
    const auto moves = co_await scene.world.hub().ListAll(kMigrations);
    scene.Expect(moves->items.empty(), "a move was begun");
    scene.world.member_faults(from).Clear();
    const bool drained = co_await fleet.UntilPhase(from, "Drained");
    scene.Expect(drained, (co_await scene.world.OnHub(kEvacuations, from))["status"].ToString());
    co_await fleet.ExpectAllClean();
  });
}

TEST(DrainTest, WhatItsPolicyWantsElsewhereIsMoved) {
  Simulate(24, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const std::string other = scene.to;
    const auto edited = co_await scene.world.hub().Patch(
        federation::kPropagationPolicies, {"default", "flink"}, kube::PatchType::kMerge,
        Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", other, "]}}}}")));
    scene.Expect(edited.ok(), "the policy was not taken");
    const bool moved = co_await scene.world.Until([&] { return scene.RunsIn(other); }, minutes(15));
    scene.Expect(moved, co_await scene.Dump());
    const auto moves = co_await scene.world.hub().ListAll(kMigrations);
    scene.Expect(moves->items.size() == 1, StrCat(moves->items.size(), " moves"));
    co_await scene.Ended(std::string(moves->items.empty() ? "" : kube::NameOf(moves->items[0])));
    co_await scene.ExpectRunsAlone(other);
    co_await scene.ExpectClean();
  });
}

}  // namespace
}  // namespace baton::sim
