// FlinkNext: what the Flink operator does next, as a pure function of the spec it read, the status it keeps and what it
// observed. Acting is in practice/flink_operator.h. The rules are those of facts/flink.md 1.5 to 1.9, traps included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "practice/flink_spec.h"

namespace baton::practice {

// Operator versions whose behaviour differs; 1.16 stands for main after August 2026.
enum class OperatorVersion : uint8_t { kV1x10 = 10, kV1x11, kV1x12, kV1x13, kV1x14, kV1x15, kV1x16 };
Result<OperatorVersion> ParseOperatorVersion(std::string_view text);  // "1.12"

struct FlinkObserved {
  std::string jm = "MISSING";   // jobManagerDeploymentStatus
  bool jm_was_up = false;       // it has been available before: it is restarting, and not one that never started
  std::string job;              // jobStatus.state; "" when there is none
  bool ha_metadata = false;     // what a last-state restore would need is there
  bool snapshot_known = false;  // upgradeSavepointPath names a state
  std::optional<Duration> checkpoint_age;
  bool savepoint_pending = false;  // a manual one is under way
  bool past_ttl = false;           // jm-deployment.shutdown-ttl after updateTime has passed
};

enum class FlinkStep : uint8_t {
  kNothing,
  kHold,         // never deployed and to be suspended: nothing is recorded
  kWait,         // something is under way
  kDeployFirst,  // from initialSavepointPath, if that is set
  kObserve,      // only ignorable differences: observedGeneration alone
  kRecord,       // suspended already: the new spec is recorded
  kStop,         // by `stop`, recorded as `mode`; the job is started anew later unless it is to be suspended
  kRestore,      // from what was recorded
  kRedeploy,     // from initialSavepointPath: savepointRedeployNonce has changed
  kMarkFailed,   // its JobManager never started: removed, and decided again
  kShutDown,     // the JobManager of an ended job
  kRecover,      // a lost JobManager
  kRestartFailed,
  kError,  // told, and not gone on from
};

enum class StopWay : uint8_t {
  kNone,        // it has ended already
  kStateless,   // cancelled; JobManager and its memory are deleted
  kSavepoint,   // stopped with a savepoint
  kCancel,      // cancelled, which takes its time; its last checkpoint is its state
  kDeleteOnly,  // the JobManager is deleted; its memory stays: last-state
};

struct FlinkAction {
  FlinkStep step = FlinkStep::kNothing;
  StopWay stop = StopWay::kNone;
  UpgradeMode mode = UpgradeMode::kStateless;  // to be recorded, or restored by
  std::string message;                         // of kError

  friend bool operator==(const FlinkAction&, const FlinkAction&) = default;
};

// What lastReconciledSpec says, if it is there.
struct RecordedSpec {
  FlinkSpec spec;
  bool first_deployment = false;
};
std::optional<RecordedSpec> RecordedIn(const json::Value& status);

FlinkAction FlinkNext(const FlinkSpec& spec, const json::Value& status, const FlinkObserved& seen,
                      OperatorVersion version);

// lifecycleState, derived from the rest of the status.
std::string LifecycleOf(const json::Value& status, OperatorVersion version);

}  // namespace baton::practice
