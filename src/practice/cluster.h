// PracticeCluster: one member cluster to learn and test with: a couple of nodes, JobManagers that really process
// records, and a simulated Flink operator, all behind nothing but a kube::Api.
//
//   Storage storage(files);
//   Commons commons(loop, storage);                       // shared by all clusters
//   PracticeCluster blue(api_of_blue, commons, "blue");
//   scope.Spawn(blue.Run());
//
// The API must serve flinkdeployments.flink.apache.org; flinkstatesnapshots are used where they are served. With
// options.kinds the other kinds of src/practice/kinds have their operators, too, and claims their volumes
// (InstallPracticeKinds).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/api.h"
#include "practice/commons.h"
#include "practice/faults.h"
#include "practice/flink_operator.h"
#include "practice/flink_snapshots.h"
#include "practice/job_manager.h"
#include "practice/kind_operator.h"
#include "practice/operator_api.h"
#include "practice/volumes.h"
#include "rt/event.h"

namespace baton::practice {

struct PracticeClusterOptions {
  int nodes = 2;
  std::string node_cpu = "8";
  std::string node_memory = "32Gi";
  FlinkOperatorOptions flink;
  JobManagers::Options job_managers;
  // The way between hub and this cluster is cut, or open again: the fault `partition`. Null: that fault is unknown
  // here.
  std::function<void(bool cut)> on_partition;
  bool kinds = false;  // not only Flink: all of src/practice/kinds
  KindOperatorOptions kind;
  Volumes::Options volumes;
};

class PracticeCluster {
 public:
  // Both outlive this.
  PracticeCluster(kube::Api& api, Commons& commons, std::string name, PracticeClusterOptions options = {});

  // Until dropped. Jobs that ran when the program ended go on from their last checkpoint (practice/job_manager.h).
  rt::Task<void> Run();

  const std::string& name() const { return name_; }
  JobManagers& job_managers() { return managers_; }
  // The process of a workload of another kind: "Deployment", "ns/name"; null when there is none.
  Job* Process(std::string_view kind, std::string_view key);

  // ---- faults ----
  Faults& faults() { return faults_; }
  // The operator dies at once, wherever it is, and comes again after a while. Jobs go on.
  void KillOperator(Duration down_for);
  // Flink's operator ends, and another version of it begins at once.
  void UpgradeOperator(OperatorVersion version);
  // `workload` is "ns/name". The JobManager's process ends and starts again.
  Result<void> RestartJobManager(std::string_view workload) { return managers_.Restart(workload); }
  Result<void> FailJob(std::string_view workload);
  // By name, as `baton practice fault` gives it: "kill-operator=5", "partition", or what practice::Faults knows.
  Result<void> SetFault(std::string_view text);

 private:
  rt::Task<void> OperatorLives();
  rt::Task<void> KindsLive();
  rt::Task<void> MakeNodes();
  rt::Task<void> TakeFaults();

  OperatorApi api_;
  Commons& commons_;
  std::string name_;
  PracticeClusterOptions options_;
  Faults faults_;
  JobManagers managers_;
  std::map<std::string, KindLives, std::less<>> lives_;  // by kind
  rt::Event kill_;
  rt::Event kill_kinds_;
  Duration down_for_{};
};

// Sets a fault of the cluster behind that API, wherever its PracticeCluster runs: by the ConfigMap.
rt::Task<Result<void>> SetClusterFault(kube::Api& api, std::string fault);

// The kinds of Flink's operator, which a real cluster has from that operator.
rt::Task<Result<void>> InstallFlinkKinds(kube::Api& api);
// Those of all operators that a practice cluster plays, and of its storage.
rt::Task<Result<void>> InstallPracticeKinds(kube::Api& api);

}  // namespace baton::practice
