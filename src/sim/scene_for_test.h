// What the tests of the simulated world share: a Flink job under a policy, a move, and what must hold whenever one has
// ended, whatever happened on the way.
//
//   Simulate(seed, [](Scene& scene) -> rt::Task<void> {
//     co_await scene.Begin();
//     co_await scene.Ask();            // a migration from where it runs to another cluster
//     co_await scene.Settled();        // an end, or a person is asked
//     co_await scene.CheckAll();
//   });
//
// What is wrong is collected in Scene::problems and told at the end of Simulate, so that a run can also be judged by a
// program (sim/seeds_test.cc).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "rollout/records.h"
#include "rt/test_support.h"
#include "sim/world.h"

namespace baton::sim {

using json::Value;
using practice::FlinkDeployments;
using rollout::kMigrations;
using rollout::kWriters;

inline constexpr Duration kWithin = minutes(30);  // in which a move must end once faults have stopped
inline const std::vector<std::string> kClusters3 = {"blue", "green", "red"};
inline constexpr std::string_view kWorkload = "default/orders";
inline constexpr std::string_view kBindingKey = "default/orders-flinkdeployment";  // and the Writer's

inline Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

inline constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: flink, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green, red]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

inline constexpr std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: default
  annotations: {practice.baton.io/rate: "50"}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 2 s
  serviceAccount: flink
  jobManager: {resource: {memory: 1024m, cpu: 1}}
  taskManager: {resource: {memory: 1024m, cpu: 1}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 2, upgradeMode: savepoint, state: running}
)";

inline std::string MigrationTo(std::string_view target, std::string_view name = "move", std::string_view more = "") {
  return StrCat(
      "{apiVersion: rollout.karmada.io/v1alpha1, kind: StatefulMigration, metadata: {name: ", name,
      ", namespace: default}, spec: {workload: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, ",
      "name: orders}, target: ", target, ", stabilizationSeconds: 2", more, "}}");
}

class Scene {
 public:
  explicit Scene(World& world) : world(world) {}

  World& world;
  std::string from;  // where the job ran when the move was asked for
  std::string to;
  std::vector<std::string> problems;

  void Expect(bool holds, std::string what) {
    if (!holds) problems.push_back(std::move(what));
  }

  // ---- looking ----
  rt::Task<std::string> WhereItRuns() {
    std::string where;
    for (const std::string& cluster : kClusters3) {
      const Value object = co_await OnMember(cluster);
      if (object["status"]["jobStatus"]["state"].str() == "RUNNING") where += (where.empty() ? "" : "+") + cluster;
    }
    co_return where;
  }
  rt::Task<bool> RunsIn(std::string cluster) { co_return co_await WhereItRuns() == cluster; }
  rt::Task<Value> OnMember(std::string cluster) {
    return world.OnMember(std::move(cluster), FlinkDeployments(), std::string(kWorkload));
  }
  rt::Task<Value> Template() { return world.OnHub(FlinkDeployments(), std::string(kWorkload)); }
  rt::Task<Value> Binding() { return world.OnHub(federation::kResourceBindings, std::string(kBindingKey)); }
  rt::Task<Value> Writer() { return world.OnHub(kWriters, std::string(kBindingKey)); }
  rt::Task<Value> Migration(std::string name = "move") { return world.OnHub(kMigrations, "default/" + name); }
  rt::Task<std::vector<Value>> Overrides() {
    const auto listed = co_await world.hub().ListAll(federation::kOverridePolicies);
    co_return listed.ok() ? listed->items : std::vector<Value>();
  }

  // For messages: what the pipe has of the workload.
  rt::Task<std::string> Dump() {
    const Value binding = co_await Binding();
    std::string text = StrCat("\n  binding ", binding["metadata"]["deletionTimestamp"].ToString(), " ",
                              binding["spec"]["clusters"].ToString(), binding["spec"]["resource"].ToString(), " ",
                              binding["status"]["conditions"].ToString());
    const auto works = co_await world.hub().ListAll(federation::kWorks);
    for (const Value& work : works->items) {
      text += StrCat("\n  work ", kube::NamespaceOf(work), " ", work["metadata"]["deletionTimestamp"].ToString(), " ",
                     work["spec"]["workload"]["manifests"][0]["spec"]["job"].ToString(), " ",
                     work["status"]["conditions"].ToString());
    }
    for (const std::string& cluster : kClusters3) {
      const Value object = co_await OnMember(cluster);
      if (!object.is_null())
        text += StrCat("\n  ", cluster, " ", object["spec"].ToString(), object["status"].ToString());
    }
    co_return text + "\n  writer " + (co_await Writer())["spec"].ToString();
  }

  // ---- doing ----
  rt::Task<void> Begin(Value job = Yaml(kJob)) {
    Expect((co_await world.Apply(federation::kPropagationPolicies, Yaml(kPolicy))).ok(), "the policy was not taken");
    Expect((co_await world.Apply(FlinkDeployments(), std::move(job))).ok(), "the job was not taken");
    const bool runs =
        co_await world.Until([this]() -> rt::Task<bool> { co_return !(co_await WhereItRuns()).empty(); }, minutes(10));
    Expect(runs, "the job never ran");
    co_await world.loop().Sleep(seconds(5));
    from = co_await WhereItRuns();
    to = from == "green" ? "blue" : "green";
    template_before_ = co_await Template();
  }
  rt::Task<void> Ask(std::string more = "", std::string name = "move") {
    const auto made = co_await world.Apply(kMigrations, Yaml(MigrationTo(to, name, more)));
    Expect(made.ok(), made.ok() ? "" : std::string(made.error().message()));
  }
  rt::Task<void> Abort(std::string name = "move") {
    [[maybe_unused]] const auto asked = co_await world.hub().Patch(
        kMigrations, {"default", name}, kube::PatchType::kMerge, Yaml("{spec: {abort: true}}"));
  }
  rt::Task<bool> UntilPhase(std::string phase, Duration within = minutes(5), std::string name = "move") {
    return world.Until(
        [=, this]() -> rt::Task<bool> { co_return (co_await Migration(name))["status"]["phase"].str() == phase; },
        within);
  }
  static bool IsOver(const Value& migration) {
    const auto phase = rollout::PhaseFromName(migration["status"]["phase"].str());
    return phase && rollout::IsEnd(*phase);
  }
  static bool IsBlocked(const Value& migration) {
    return federation::FindCondition(migration["status"], "Blocked")["status"].str() == "True";
  }
  static std::string Said(const Value& migration) {
    return StrCat(migration["status"]["phase"].str(), IsBlocked(migration) ? " (blocked)" : "", ": ",
                  migration["status"]["message"].str());
  }
  // Until it ended, or has asked a person for a minute; gone counts as ended.
  rt::Task<Value> Settled(std::string name = "move", Duration within = kWithin) {
    std::optional<MonotonicTime> blocked;
    co_await world.Until(
        [&]() -> rt::Task<bool> {
          const Value now = co_await Migration(name);
          if (now.is_null() || IsOver(now)) co_return true;
          if (!IsBlocked(now)) blocked.reset();
          if (IsBlocked(now) && !blocked) blocked = world.loop().Now();
          co_return blocked&& world.loop().Now() - *blocked > minutes(1);
        },
        within);
    co_return co_await Migration(name);
  }
  rt::Task<Value> Ended(std::string name = "move") {
    co_await world.Until([&]() -> rt::Task<bool> { co_return IsOver(co_await Migration(name)); }, kWithin);
    co_return co_await Migration(name);
  }

  // ---- what must hold ----
  rt::Task<void> ExpectPhase(std::string phase, std::string name = "move") {
    const Value now = co_await Migration(name);
    Expect(now["status"]["phase"].str() == phase, StrCat("expected ", phase, ", but: ", Said(now)));
  }
  rt::Task<void> ExpectClean() {
    const Result<practice::JudgeReport> report = co_await world.Judge("default", "orders");
    Expect(report.ok(), "the judge could not read");
    if (!report.ok()) co_return;
    Expect(report->clean(), report->Text());
    Expect(report->out > 0, "nothing came out");
  }
  // Nothing of ours but the records, and the user's template as it was.
  rt::Task<void> ExpectNoResidue() {
    for (const Value& policy : co_await Overrides())
      Expect(false, StrCat("residue: OverridePolicy ", kube::NameOf(policy)));
    const Value binding = co_await Binding();
    Expect(binding["spec"]["gracefulEvictionTasks"].is_null(), "residue: eviction tasks");
    Expect(binding["spec"]["suspension"].is_null(), "residue: suspension");
    Expect(!binding["metadata"]["annotations"].Has(rollout::kFenceAnnotation), "residue: fence on the binding");
    Expect((co_await Writer())["spec"]["claim"].is_null(), "residue: claim");
    Expect((co_await Writer())["spec"]["stop"].is_null(), "residue: stop");
    const auto migrations = co_await world.hub().ListAll(kMigrations);
    for (const Value& migration : migrations->items) {
      Expect(!IsOver(migration) || migration["metadata"]["finalizers"].empty(), "residue: finalizer on the migration");
    }
    for (const std::string& cluster : kClusters3) {
      const auto snapshots = co_await world.member(cluster).ListAll(practice::FlinkStateSnapshots());
      for (const Value& snapshot : snapshots->items) {
        // The operator's own, of a stop, are kept with the savepoint that they name.
        const bool ours = kube::NameOf(snapshot).starts_with("orders-baton-");
        Expect(!ours, StrCat("residue: FlinkStateSnapshot ", kube::NameOf(snapshot), " in ", cluster));
      }
    }
    const Value now = co_await Template();
    Expect(now["spec"] == template_before_["spec"] || template_edited, "the template's spec was changed");
    Expect(now["metadata"]["annotations"] == template_before_["metadata"]["annotations"] || template_edited,
           "the template's annotations were changed");
    Expect(now["metadata"]["finalizers"] == template_before_["metadata"]["finalizers"],
           "the template's finalizers were changed");
  }
  // It runs there, alone, as the template says.
  rt::Task<void> ExpectRunsAlone(std::string cluster) {
    const bool runs = co_await world.Until([&] { return RunsIn(cluster); }, minutes(5));
    Expect(runs, StrCat("it runs in '", co_await WhereItRuns(), "' and not in ", cluster));
    for (const std::string& other : kClusters3) {
      const Value object = co_await OnMember(other);
      Expect(other == cluster || object.is_null(), StrCat("residue: the workload in ", other));
    }
    const Value object = co_await OnMember(cluster);
    Value spec = object["spec"];
    spec.Edit("flinkConfiguration").Erase("kubernetes.operator.baton.seq");
    Expect(spec == (co_await Template())["spec"],
           StrCat("the spec in ", cluster, " is not the template's: ", spec.ToString()));
    Expect((co_await Writer())["spec"]["holder"]["cluster"].str() == cluster, "the Writer names another cluster");
    Expect((co_await Writer())["spec"]["holder"]["memberUID"].str() == kube::UidOf(object), "not the Writer's object");
  }
  // Everything that follows from where the migration says it ended.
  rt::Task<void> CheckAll(std::string name = "move") {
    const Value migration = co_await Migration(name);
    const std::string phase(migration["status"]["phase"].str());
    Expect(IsOver(migration) || IsBlocked(migration), StrCat("no end in time: ", Said(migration)));
    if (phase == "Succeeded") co_await ExpectRunsAlone(to);
    if (phase == "Aborted" || phase == "RolledBack") co_await ExpectRunsAlone(from);
    co_await world.loop().Sleep(seconds(10));
    if (IsOver(migration)) co_await ExpectNoResidue();
    co_await ExpectClean();
  }

  bool template_edited = false;  // by the test itself
  Value template_before_;
};

// P1, looked at after every step of anything: the practice clusters' jobs themselves, not what anyone says of them.
class OneWriterWatch {
 public:
  OneWriterWatch(World& world, Scene& scene) : world_(world) {
    world.loop().OnEveryStep([this, &scene] {
      std::string running;
      for (const std::string& cluster : kClusters3) {
        const practice::JobManager* manager = world_.practice(cluster).job_managers().Find(kWorkload);
        if (manager == nullptr || manager->job == nullptr) continue;
        if (manager->job->phase() == practice::JobPhase::kRunning) running += (running.empty() ? "" : "+") + cluster;
      }
      if (running.find('+') == std::string::npos || told_) return;
      told_ = true;
      scene.Expect(false, StrCat("P1: two writers at once: ", running));
    });
  }
  ~OneWriterWatch() { world_.loop().OnEveryStep(nullptr); }

 private:
  World& world_;
  bool told_ = false;
};

// Runs a scene from a seed; gives what was wrong.
template <class Test>
std::vector<std::string> Play(uint64_t seed, Test test, kube::FaultPlan* plan = nullptr) {
  rt::VirtualLoop loop(seed);
  std::vector<std::string> problems;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    world.SetFaultPlan(plan);
    const Result<void> started = co_await world.Start({.clusters = kClusters3});
    EXPECT_TRUE(started.ok()) << started.error().message();
    Scene scene(world);
    {
      OneWriterWatch one_writer(world, scene);
      co_await test(scene);
    }
    problems = scene.problems;
    co_await world.Stop();
  }));
  return problems;
}

template <class Test>
void Simulate(uint64_t seed, Test test, kube::FaultPlan* plan = nullptr) {
  for (const std::string& problem : Play(seed, std::move(test), plan))
    ADD_FAILURE() << "seed " << seed << ": " << problem;
}

}  // namespace baton::sim
