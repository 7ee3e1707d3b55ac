// Whole migrations in the simulated world: production code from kubectl's apply to the judge's table.
#include <gtest/gtest.h>

#include "federation/resources.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "rollout/records.h"
#include "rt/test_support.h"
#include "sim/world.h"

namespace baton::sim {
namespace {

using json::Value;
using practice::FlinkDeployments;
using rollout::kMigrations;
using rollout::kWriters;

Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: flink, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green, red]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: default
  annotations: {practice.baton.io/rate: "200"}
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

std::string MigrationTo(std::string_view target, std::string_view name = "move", std::string_view more = "") {
  return "{apiVersion: rollout.karmada.io/v1alpha1, kind: StatefulMigration, metadata: {name: " + std::string(name) +
         ", namespace: default}, spec: {workload: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: "
         "orders}, target: " +
         std::string(target) + ", stabilizationSeconds: 2" + std::string(more) + "}}";
}

class Scene {
 public:
  explicit Scene(World& world) : world(world) {}

  rt::Task<std::string> WhereItRuns() {
    std::string where;
    for (const char* cluster : {"blue", "green", "red"}) {
      const Value object = co_await world.OnMember(cluster, FlinkDeployments(), "default/orders");
      if (object["status"]["jobStatus"]["state"].str() == "RUNNING")
        where += (where.empty() ? "" : "+") + std::string(cluster);
    }
    co_return where;
  }
  rt::Task<bool> RunsSomewhere() { co_return !(co_await WhereItRuns()).empty(); }

  rt::Task<void> Begin() {
    EXPECT_TRUE((co_await world.Apply(federation::kPropagationPolicies, Yaml(kPolicy))).ok());
    EXPECT_TRUE((co_await world.Apply(FlinkDeployments(), Yaml(kJob))).ok());
    const bool runs = co_await world.Until([this] { return RunsSomewhere(); }, minutes(2));
    EXPECT_TRUE(runs) << "the job never ran";
    co_await world.loop().Sleep(seconds(10));
  }

  rt::Task<Value> Migrate(std::string target, std::string name, std::string more = "") {
    const auto made = co_await world.Apply(kMigrations, Yaml(MigrationTo(target, name, more)));
    EXPECT_TRUE(made.ok()) << made.error().message();
    co_return co_await Ended(name);
  }
  rt::Task<Value> Ended(std::string name) {
    co_await world.Until(
        [&]() -> rt::Task<bool> {
          const Value now = co_await world.OnHub(kMigrations, "default/" + name);
          const auto phase = rollout::PhaseFromName(now["status"]["phase"].str());
          co_return phase&& rollout::IsEnd(*phase);
        },
        minutes(30));
    co_return co_await world.OnHub(kMigrations, "default/" + name);
  }
  rt::Task<void> ExpectClean() {
    co_await world.loop().Sleep(seconds(10));
    const Result<practice::JudgeReport> report = co_await world.Judge("default", "orders");
    EXPECT_TRUE(report.ok()) << report.error().message();
    if (report.ok()) {
      EXPECT_TRUE(report->clean()) << report->Text();
      EXPECT_GT(report->out, 0U) << report->Text();
    }
  }
  // No residue: nothing of ours but the records.
  rt::Task<void> ExpectNoResidue() {
    const auto overrides = co_await world.hub().ListAll(federation::kOverridePolicies);
    EXPECT_EQ(overrides->items.size(), 0U);
    const Value binding = co_await world.OnHub(federation::kResourceBindings, "default/orders-flinkdeployment");
    EXPECT_TRUE(binding["spec"]["gracefulEvictionTasks"].is_null()) << binding["spec"];
    EXPECT_TRUE(binding["spec"]["suspension"].is_null()) << binding["spec"];
    const Value writer = co_await world.OnHub(kWriters, "default/orders-flinkdeployment");
    EXPECT_TRUE(writer["spec"]["claim"].is_null()) << writer;
  }

  World& world;
};

template <class Test>
void Simulate(uint64_t seed, Test test) {
  rt::VirtualLoop loop(seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    const Result<void> started = co_await world.Start({.clusters = {"blue", "green", "red"}});
    EXPECT_TRUE(started.ok()) << started.error().message();
    Scene scene(world);
    co_await test(scene);
    co_await world.Stop();
  }));
}

TEST(MigrationTest, AJobRunsInOneClusterAndHasAWriter) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const Value writer = co_await scene.world.OnHub(kWriters, "default/orders-flinkdeployment");
    EXPECT_EQ(writer["spec"]["holder"]["cluster"].str(), co_await scene.WhereItRuns()) << writer;
    EXPECT_FALSE(writer["spec"]["holder"]["memberUID"].str().empty()) << writer;
    co_await scene.ExpectClean();
  });
}

TEST(MigrationTest, AMoveLosesNothingDuplicatesNothingAndLeavesNothingBehind) {
  Simulate(1, [](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    const std::string from = co_await scene.WhereItRuns();
    const std::string to = from == "blue" ? "green" : "blue";
    const Value before = co_await scene.world.OnHub(FlinkDeployments(), "default/orders");
    const Value migration = co_await scene.Migrate(to, "move");
    EXPECT_EQ(migration["status"]["phase"].str(), "Succeeded") << migration["status"];
    EXPECT_EQ(co_await scene.WhereItRuns(), to);
    co_await scene.ExpectClean();
    co_await scene.ExpectNoResidue();
    const Value after = co_await scene.world.OnHub(FlinkDeployments(), "default/orders");
    EXPECT_EQ(before["spec"], after["spec"]);
    EXPECT_EQ(before["metadata"]["generation"], after["metadata"]["generation"]);
  });
}

}  // namespace
}  // namespace baton::sim
