// How long nobody writes, and which part of that is ours: moves of a practice job back and forth between two clusters
// on the embedded hub, durable, over HTTPS. Two figures for each move:
//
//   ours    from the last change in the source that makes the stop proof true to the change in the target that lets it
//           run, as the two API servers commit them
//   window  from the end of one writer to the beginning of the next, from the ledger that the jobs themselves write:
//   the
//           operator's part (stopping, pods, starting) included
//
//   build/bench/handoff_bench [MOVES] [DIR]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/stack.h"
#include "federation/resources.h"
#include "json/yaml.h"
#include "practice/flink_operator.h"
#include "practice/judge.h"
#include "rollout/records.h"
#include "rt/when.h"

namespace baton {
namespace {

using json::Value;

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: streaming, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [practice-1, practice-2]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

constexpr std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: default
  annotations:
    practice.baton.io/rate: "1000"
    practice.baton.io/start-time: 1ms
    practice.baton.io/stop-time: 1ms
spec:
  image: flink:1.20
  flinkVersion: v1_20
  serviceAccount: flink
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 200 ms
  jobManager: {resource: {memory: 1024m, cpu: 1}}
  taskManager: {resource: {memory: 1024m, cpu: 1}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 1, upgradeMode: savepoint, state: running}
)";

constexpr double kGoalMs = 25;  // embedded; p99

// What one member's objects did, with the time at which its server committed it.
struct Seen {
  MonotonicTime last_change{};  // of the workload, its Deployment or its pods
  MonotonicTime told_to_run{};  // the workload's spec says running
};

class Bench {
 public:
  Bench(rt::RealLoop& loop, cli::Stack& stack) : loop_(loop), stack_(stack), scope_(loop) {}
  bool reached() const { return reached_; }

  rt::Task<Result<void>> Run(int moves) {
    CO_TRY(co_await Apply(federation::kPropagationPolicies, kPolicy));
    CO_TRY(co_await Apply(practice::FlinkDeployments(), kJob));
    for (const char* cluster : {"practice-1", "practice-2"}) {
      for (const kube::Resource& resource :
           {practice::FlinkDeployments(),
            kube::Resource{.group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"},
            federation::kPods}) {
        scope_.Spawn(Follow(cluster, resource));
      }
    }
    co_await loop_.Sleep(seconds(4));
    std::string where = "practice-1";
    {
      const Result<Value> writer = co_await stack_.hub().Get(rollout::kWriters, {"default", "orders-flinkdeployment"});
      if (!writer.ok()) co_return writer.error();
      where = (*writer)["spec"]["holder"]["cluster"].str();
    }
    for (int i = 0; i < moves; ++i) {
      const std::string to = where == "practice-1" ? "practice-2" : "practice-1";
      CO_TRY(co_await Move(StrCat("move-", i), where, to));
      where = to;
    }
    co_return co_await Report();
  }

 private:
  static std::string StrCat(std::string_view a, int b) { return std::string(a) + std::to_string(b); }

  rt::Task<void> Follow(std::string cluster, kube::Resource resource) {
    auto watch =
        co_await stack_.member(cluster).OpenWatch({.resource = resource, .ns = "default"}, rt::Deadline::Never());
    while (watch.ok()) {
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok()) co_return;
      Seen& seen = seen_[cluster];
      for (const kube::Change& change : *changes) {
        if (change.type == kube::ChangeType::kBookmark) continue;
        seen.last_change = loop_.Now();
        const bool runs = resource.plural == "flinkdeployments" && change.type != kube::ChangeType::kDeleted &&
                          change.object["spec"]["job"]["state"].str() == "running";
        if (runs && seen.told_to_run == MonotonicTime{}) {
          seen.told_to_run = loop_.Now();
          proven_ = seen_[source_].last_change;
        }
      }
    }
  }

  rt::Task<Result<void>> Apply(kube::Resource resource, std::string_view yaml) {
    Value object = CO_TRY(json::ParseYaml(yaml));
    CO_TRY(co_await stack_.hub().Apply(std::move(resource), std::move(object), {.field_manager = "bench"}));
    co_return Result<void>();
  }

  rt::Task<Result<void>> Move(std::string name, std::string from, std::string to) {
    source_ = from;
    seen_[to] = {};
    Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
    migration.Edit("metadata").Set("name", name);
    migration.Edit("metadata").Set("namespace", "default");
    migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", "flink.apache.org/v1beta1"},
                                                                   {"kind", "FlinkDeployment"},
                                                                   {"name", "orders"}})},
                                        {"target", to},
                                        {"stabilizationSeconds", 0}}));
    CO_TRY(co_await stack_.hub().Create(rollout::kMigrations, migration));
    auto watch = CO_TRY(co_await stack_.hub().OpenWatch(
        {.resource = rollout::kMigrations, .ns = "default", .field_selector = "metadata.name=" + name},
        rt::Deadline::Never()));
    while (true) {
      for (const kube::Change& change : CO_TRY(co_await watch->Next())) {
        const auto phase = rollout::PhaseFromName(change.object["status"]["phase"].str());
        if (!phase || !rollout::IsEnd(*phase)) continue;
        if (*phase != rollout::Phase::kSucceeded) {
          co_return InternalError(std::string(change.object["status"]["message"].str()));
        }
        ours_.push_back(static_cast<double>((seen_[to].told_to_run - proven_).count()) / 1e6);
        co_return Result<void>();
      }
    }
  }

  // The time that 99 in 100 need.
  static double Print(const char* what, std::vector<double> values) {
    std::ranges::sort(values);
    if (values.empty()) return 0;
    const auto at = [&](double part) {
      return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
    };
    std::printf("%-8s p50 %8.1f ms   p99 %8.1f ms   max %8.1f ms   (%zu moves)\n", what, at(0.5), at(0.99),
                values.back(), values.size());
    return at(0.99);
  }

  rt::Task<Result<void>> Report() {
    const practice::JudgeReport report = CO_TRY(co_await practice::Judge(stack_.files(), "", "default", "orders"));
    std::vector<double> windows;
    for (size_t i = 1; i < report.writers.size(); ++i) {
      windows.push_back(static_cast<double>(report.writers[i].begin_ms - report.writers[i - 1].end_ms));
    }
    reached_ = Print("ours", ours_) < kGoalMs;
    std::printf("  goal: p99 of ours under %.0f ms %s\n", kGoalMs, reached_ ? "reached" : "MISSED");
    Print("window", windows);
    std::printf("judge: %s\n", report.clean() ? "lost 0, duplicated 0, overlapping writers 0" : report.Text().c_str());
    if (!report.clean()) co_return InternalError("the judge objects");
    co_return Result<void>();
  }

  rt::RealLoop& loop_;
  cli::Stack& stack_;
  std::map<std::string, Seen> seen_;
  std::string source_;
  MonotonicTime proven_{};
  std::vector<double> ours_;
  bool reached_ = false;
  rt::Scope scope_;
};

rt::Task<Result<bool>> Main(rt::RealLoop& loop, int moves, std::string directory) {
  cli::StackOptions options;
  options.data_dir = directory;
  options.practice_clusters = {"practice-1", "practice-2"};
  options.operator_speed = 500;
  options.practice.job_managers.pod_start = milliseconds(1);
  auto stack = CO_TRY(co_await cli::Stack::Start(loop, options));
  Result<void> done;
  bool reached = false;
  {
    Bench bench(loop, *stack);
    done = co_await bench.Run(moves);
    reached = bench.reached();
  }
  co_await stack->Stop(rt::Deadline::After(loop, seconds(10)));
  if (!done.ok()) co_return done.error();
  co_return reached;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  const int moves = argc > 1 ? std::atoi(argv[1]) : 50;
  const baton::Result<std::string> made =
      argc > 2 ? baton::Result<std::string>(argv[2]) : baton::cli::MakeTemporaryDirectory("baton-handoff");
  if (!made.ok()) return 2;
  const std::string& directory = *made;
  baton::rt::RealLoop loop;
  const baton::Result<bool> done = loop.Run(baton::Main(loop, moves, directory));
  if (argc <= 2) std::filesystem::remove_all(directory);
  if (!done.ok()) {
    std::fprintf(stderr, "handoff_bench: %s\n", done.error().message().c_str());
    return 2;
  }
  return *done ? 0 : 1;
}
