// A cluster with many workloads is drained: what the control plane makes of it. Hub, members and practice operators are
// those of the simulator, in one process and in virtual time (src/sim/world.h), so that the figures are of computing
// and not of waiting; they contain the API servers' and the operators' part.
//
//   build/bench/fleet_bench [WORKLOADS [AT_ONCE]]        1000 and 100 unless told
//   build/bench/fleet_bench WORKLOADS AT_ONCE waiting    no drain: a migration for each workload, of which
//   AT_ONCE
//                                                              move and the others wait, prepared, for spec.notBefore
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "base/invariant.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "sim/world.h"

namespace baton {
namespace {

using json::Value;

constexpr Duration kPatience = minutes(24 * 60);  // in virtual time
constexpr Duration kRest = minutes(10);
constexpr Duration kIdle = minutes(1);
constexpr Duration kLookEvery = seconds(5);  // our own looks at all moves are not what is measured

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: fleet, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [blue]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  namespace: default
  annotations: {practice.baton.io/rate: "1"}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 30 s
  serviceAccount: flink
  jobManager: {resource: {memory: 1m, cpu: 0.001}}
  taskManager: {resource: {memory: 1m, cpu: 0.001}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 1, upgradeMode: savepoint, state: running}
)";

constexpr std::string_view kMove = R"(
apiVersion: rollout.karmada.io/v1alpha1
kind: StatefulMigration
metadata: {namespace: default}
spec: {workload: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}}
)";

Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  INVARIANT(value.ok(), "not YAML");
  return *std::move(value);
}

// What the controllers write to the hub, and what they read anywhere; nothing is disturbed.
class Counter final : public kube::FaultPlan {
 public:
  int64_t writes = 0;
  std::map<std::string, int64_t> by_kind;
  std::map<std::string, int64_t> reads;
  kube::FaultDecision ForCall(const kube::Call& call) override {
    if (!call.IsWrite()) ++reads[StrCat(kube::VerbName(call.verb), " ", call.resource.plural)];
    const bool of_a_member = call.resource.kind == "FlinkDeployment" && call.subresource.empty();
    if (call.IsWrite() && !of_a_member && call.resource.kind != "FlinkStateSnapshot" && call.resource.kind != "Event") {
      ++writes;
      ++by_kind[StrCat(kube::VerbName(call.verb), " ", call.resource.plural, call.subresource.empty() ? "" : "/",
                       call.subresource)];
    }
    return {};
  }
  kube::FaultDecision ForOpen(const kube::WatchCall&) override { return {}; }
  kube::FaultDecision ForChanges(const kube::WatchCall&) override { return {}; }
};

double CpuSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double ResidentMiB() {
  std::ifstream status("/proc/self/statm");
  double pages = 0;
  status >> pages >> pages;
  return pages * 4096 / (1024 * 1024);
}

class Fleet {
 public:
  Fleet(sim::World& world, Counter& counter, int workloads, int at_once)
      : world_(world), counter_(counter), workloads_(workloads), at_once_(at_once) {}

  // All run in blue, and may be elsewhere.
  rt::Task<bool> Begin() {
    Must(co_await world_.Apply(federation::kPropagationPolicies, Yaml(kPolicy)));
    for (int i = 0; i < workloads_; ++i) {
      Value job = Yaml(kJob);
      job.Edit("metadata").Set("name", StrCat("job-", i));
      Must(co_await world_.Apply(practice::FlinkDeployments(), job));
    }
    if (!co_await world_.Until([this] { return AllRunIn("blue"); }, kPatience, kLookEvery))
      co_return Fail("they never ran");
    Value policy = Yaml(kPolicy);
    policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", Yaml("[blue, green, red]"));
    Must(co_await world_.Apply(federation::kPropagationPolicies, policy));
    if (!co_await world_.Until([this] { return AllMayGo(); }, kPatience, kLookEvery)) co_return Fail("not let go");
    for (const char* cluster : {"blue", "green", "red"}) {
      const std::string most = StrCat(at_once_);
      Must(co_await world_.hub().Patch(federation::kClusters, {"", cluster}, kube::PatchType::kMerge,
                                       Yaml(StrCat("{metadata: {annotations: {", rollout::kMaxOutAnnotation, ": \"",
                                                   most, "\", ", rollout::kMaxInAnnotation, ": \"", most, "\"}}}"))));
    }
    co_return true;
  }

  rt::Task<bool> Drain() {
    // What runs costs something also while nothing moves: jobs, operators, API servers.
    const double before = CpuSeconds();
    co_await world_.loop().Sleep(kIdle);
    std::printf("at rest: %.1f ms of CPU time for a second of virtual time\n",
                (CpuSeconds() - before) * 1e3 / static_cast<double>(kIdle / seconds(1)));
    StartCounting();
    Must(co_await world_.hub().Patch(federation::kClusters, {"", "blue"}, kube::PatchType::kMerge,
                                     Yaml("{spec: {taints: [{key: rollout.karmada.io/drain, effect: NoExecute}]}}")));
    const bool drained = co_await world_.Until(
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
        [this]() -> rt::Task<bool> {
          const auto moves = co_await world_.hub().ListAll(rollout::kMigrations);
          size_t active = 0;
          for (const Value& move : moves->items) active += move["status"]["phase"].str() == "Succeeded" ? 0 : 1;
          most_ = std::max(most_, active);
          co_return (co_await world_.OnHub(rollout::kEvacuations, "blue"))["status"]["phase"].str() == "Drained";
        },
        kPatience, kLookEvery);
    if (!drained)
      co_return Fail((co_await world_.OnHub(rollout::kEvacuations, "blue"))["status"].ToString().substr(0, 500));
    Report(StrCat("drain of ", workloads_, " workloads, at most ", at_once_, " at once"), workloads_);
    const auto left = co_await world_.hub().ListAll(rollout::kMigrations);
    std::printf("  migrations tracked at the end: %zu; seen under way at once: %zu\n", left->items.size(), most_);
    co_return true;
  }

  // Many moves are prepared and wait for their time while a few run; then nothing runs.
  rt::Task<bool> Waiting() {
    StartCounting();
    for (int i = 0; i < workloads_; ++i) {
      Value move = Yaml(kMove);
      move.Edit("metadata").Set("name", StrCat("move-", i));
      move.Edit("spec").Edit("workload").Set("name", StrCat("job-", i));
      move.Edit("spec").Set("target", i % 2 == 0 ? "green" : "red");
      if (i >= at_once_) move.Edit("spec").Set("notBefore", "2099-01-01T00:00:00Z");
      Must(co_await world_.Apply(rollout::kMigrations, move));
    }
    std::map<std::string, int> phases;
    const bool settled = co_await world_.Until(
        // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
        [&]() -> rt::Task<bool> {
          phases.clear();
          const auto moves = co_await world_.hub().ListAll(rollout::kMigrations);
          for (const Value& move : moves->items) ++phases[std::string(move["status"]["phase"].str())];
          co_return phases["Succeeded"] == at_once_&& phases["Staged"] == workloads_ - at_once_;
        },
        kPatience, kLookEvery);
    if (!settled) {
      std::string all;
      for (const auto& [phase, count] : phases) StrAppend(all, phase, " ", count, "; ");
      co_return Fail(all);
    }
    Report(StrCat(workloads_, " migrations, of which ", at_once_, " move at once and the others wait"), at_once_);
    StartCounting();
    co_await world_.loop().Sleep(kRest);
    Report(StrCat("10 minutes of ", workloads_ - at_once_, " waiting migrations"), workloads_ - at_once_);
    co_return true;
  }

 private:
  void StartCounting() {
    memory_ = ResidentMiB();
    cpu_ = CpuSeconds();
    at_ = world_.loop().Now();
    counter_.writes = 0;
    counter_.by_kind.clear();
    counter_.reads.clear();
  }
  void Report(const std::string& what, int per) const {
    const double cpu = CpuSeconds() - cpu_;
    const auto virtual_seconds = static_cast<double>((world_.loop().Now() - at_) / milliseconds(1)) / 1e3;
    std::printf(
        "%s: %.1f a CPU second (%.1f ms each), hub writes of each %.1f besides events, memory %.0f MiB (%.0f before), "
        "%.0f s of virtual time, %.1f of CPU time\n",
        what.c_str(), per / cpu, cpu * 1e3 / per, static_cast<double>(counter_.writes) / per, ResidentMiB(), memory_,
        virtual_seconds, cpu);
    for (const auto* counts : {&counter_.by_kind, &counter_.reads}) {
      for (const auto& [call, count] : *counts)
        std::printf("  %-40s %6.2f\n", call.c_str(), static_cast<double>(count) / per);
    }
    std::fflush(stdout);
  }
  static void Must(const Result<Value>& done) { INVARIANT(done.ok(), done.error().message()); }
  static bool Fail(const std::string& why) {
    std::printf("fleet_bench: %s\n", why.c_str());
    return false;
  }
  rt::Task<bool> AllRunIn(std::string cluster) {
    const auto all = co_await world_.member(cluster).ListAll(practice::FlinkDeployments());
    int run = 0;
    for (const Value& one : all->items) run += one["status"]["jobStatus"]["state"].str() == "RUNNING" ? 1 : 0;
    co_return run == workloads_;
  }

  // A move is checked against the placement that the binding has.
  rt::Task<bool> AllMayGo() {
    const auto bindings = co_await world_.hub().ListAll(federation::kResourceBindings);
    int may = 0;
    for (const Value& one : bindings->items)
      may += one["spec"]["placement"]["clusterAffinity"]["clusterNames"].size() > 1 ? 1 : 0;
    co_return may == workloads_;
  }

  sim::World& world_;
  Counter& counter_;
  int workloads_;
  int at_once_;
  size_t most_ = 0;
  double memory_ = 0;
  double cpu_ = 0;
  MonotonicTime at_{};
};

int Run(int workloads, int at_once, bool waiting) {
  rt::VirtualLoop loop(1);
  Counter counter;
  bool ok = false;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    sim::World world(loop);
    world.SetFaultPlan(&counter);
    const Result<void> started = co_await world.Start({.clusters = {"blue", "green", "red"}, .operator_speed = 1});
    INVARIANT(started.ok(), started.error().message());
    Fleet fleet(world, counter, workloads, at_once);
    ok = co_await fleet.Begin();
    if (ok) ok = waiting ? co_await fleet.Waiting() : co_await fleet.Drain();
    co_await world.Stop();
  }));
  return ok ? 0 : 2;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  const bool waiting = argc > 3 && std::string_view(argv[3]) == "waiting";
  return baton::Run(argc > 1 ? std::atoi(argv[1]) : 1000, argc > 2 ? std::atoi(argv[2]) : 100, waiting);
}
