// A practice cluster's parts, run together.
#include "practice/cluster.h"

#include <utility>

#include "base/strings.h"
#include "rt/scope.h"

namespace baton::practice {

namespace {
constexpr Duration kNodeRetry = seconds(1);
}  // namespace

PracticeCluster::PracticeCluster(kube::Api& api, Commons& commons, std::string name, PracticeClusterOptions options)
    : api_(api),
      commons_(commons),
      name_(std::move(name)),
      options_(std::move(options)),
      managers_(api, commons, name_, faults_, options_.job_managers) {}

rt::Task<void> PracticeCluster::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(MakeNodes());
  scope.Spawn(managers_.Run());
  scope.Spawn(OperatorLives());
  co_await scope.Join();
}

rt::Task<void> PracticeCluster::OperatorLives() {
  while (true) {
    {
      FlinkOperator flink(api_, commons_, managers_, name_, faults_, options_.flink);
      FlinkSnapshots snapshots(api_, managers_, options_.flink);
      rt::Scope life(api_.loop());
      life.Spawn(flink.Run());
      life.Spawn(snapshots.Run());
      co_await kill_.Wait();
      kill_.Reset();
    }
    co_await api_.loop().Sleep(down_for_);
  }
}

void PracticeCluster::KillOperator(Duration down_for) {
  down_for_ = down_for;
  kill_.Set();
}

Result<void> PracticeCluster::FailJob(std::string_view workload) {
  JobManager* manager = managers_.Find(workload);
  if (manager == nullptr || manager->job == nullptr || IsTerminal(manager->job->phase())) {
    return NotFoundError(StrCat("no job runs for '", workload, "'"));
  }
  manager->job->End(JobPhase::kFailed, "FAILED", "the job failed: a fault was set for it");
  return {};
}

rt::Task<void> PracticeCluster::MakeNodes() {
  for (int i = 1; i <= options_.nodes; ++i) {
    const json::Value capacity = json::Object({{"cpu", options_.node_cpu},
                                               {"memory", options_.node_memory},
                                               {"pods", "110"},
                                               {"ephemeral-storage", "100Gi"}});
    json::Value node = json::Object(
        {{"apiVersion", "v1"},
         {"kind", "Node"},
         {"metadata", json::Object({{"name", StrCat(name_, "-node-", i)},
                                    {"labels", json::Object({{"kubernetes.io/os", "linux"},
                                                             {"practice.baton.io/cluster", name_}})}})},
         {"status",
          json::Object({{"capacity", capacity},
                        {"allocatable", capacity},
                        {"conditions", json::Array({json::Object(
                                           {{"type", "Ready"}, {"status", "True"}, {"reason", "PracticeNode"}})})}})}});
    while (true) {
      const json::Value status = node["status"];
      Result<json::Value> made = co_await api_.Create(Nodes(), node);
      if (made.ok()) {
        made->Set("status", status);
        made = co_await api_.UpdateStatus(Nodes(), *made);
      }
      if (made.ok() || made.error().kind() == ErrorKind::kAlreadyExists) break;
      co_await api_.loop().Sleep(kNodeRetry);
    }
  }
}

}  // namespace baton::practice
