// Faults: what goes wrong in one practice cluster, by command (`baton practice fault`) or from a scenario. Each is a
// plain switch that the part concerned asks for; those that happen once are taken by the first one they hit.
//
//   fail-next-savepoint   the next savepoint fails after its time; the job goes on
//   fail-image            JobManager pods wait with ImagePullBackOff while it is set
//   slow=<factor>         starting, stopping and savepoints take that many times as long; `slow` alone is slow=5
//   stall-operator=<s>    between reading an object and acting on it the operator waits: a stale spec in flight
//   forget-status         the operator's next write of a status is lost, and the status it had is wiped
//
// The ConfigMap kube-system/practice-faults of the cluster sets one of these whenever it changes (practice/cluster.h).
// An annotation practice.baton.io/fault of a FlinkDeployment sets one of these in its cluster when it changes; it also
// knows restart-jobmanager and fail-job, which then happen to that workload. What it says of the whole cluster
// (kill-operator, partition) it says by that ConfigMap.
//
// Others are calls of PracticeCluster: KillOperator, RestartJobManager, FailJob. A partition is between hub and member
// and is not felt here, which is the point: who runs both is told by PracticeClusterOptions::on_partition.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace baton::practice {

// In kube-system: its data.fault is set whenever the map changes (`baton practice fault`).
inline constexpr std::string_view kFaultsConfigMap = "practice-faults";

struct Faults {
  int fail_savepoints = 0;
  bool fail_image = false;
  double slow = 1;
  Duration stall_operator{0};
  bool forget_status = false;
  std::map<std::string, std::string, std::less<>> by_annotation;  // workload: the last one that was set by it

  // "slow=3", "fail-image", "fail-image=off". kInvalid: no such fault, or no such value.
  Result<void> Set(std::string_view text);
  Duration Slowed(Duration duration) const {
    return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * slow));
  }
  bool TakeSavepointFailure() {
    if (fail_savepoints <= 0) return false;
    --fail_savepoints;
    return true;
  }
};

// kill-operator=<seconds>, or kill-operator alone, which is 10: for how long it is away. kInvalid: no such fault, or no
// such value.
Result<Duration> ParseKillOperator(std::string_view text);

// Whether this is the name of a fault of a whole cluster: one of the above, or partition.
Result<void> CheckClusterFault(std::string_view text);

}  // namespace baton::practice
