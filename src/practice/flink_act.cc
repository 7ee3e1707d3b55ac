// What the operator does, once it is decided.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/print.h"
#include "practice/flink_operator.h"
#include "rt/when.h"

namespace baton::practice {

using json::Value;

namespace {

std::string Millis(WallTime time) {
  return StrCat(std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

constexpr Duration kCheckpointTimeout = minutes(10);  // Flink's execution.checkpointing.timeout

}  // namespace

void FlinkOperator::RecordSpec(Value& status, const FlinkSpec& spec, bool suspended, UpgradeMode mode,
                               std::string_view state, bool first) {
  Value recorded = spec.raw;
  if (spec.has_job) {
    recorded.Edit("job").Set("state", suspended ? "suspended" : "running");
    recorded.Edit("job").Set("upgradeMode", UpgradeModeName(mode));
  }
  Value& reconciliation = status.Edit("reconciliationStatus");
  reconciliation.Set("state", state);
  reconciliation.Set(
      "lastReconciledSpec",
      json::Print(json::Object({{"spec", recorded},
                                {"resource_metadata", json::Object({{"apiVersion", "flink.apache.org/v1beta1"},
                                                                    {"firstDeployment", first}})}})));
}

void FlinkOperator::Record(Look& look, bool suspended, UpgradeMode mode, std::string_view state, bool first) const {
  RecordSpec(look.status, look.spec, suspended, mode, state, first);
  look.status.Edit("reconciliationStatus")
      .Set("reconciliationTimestamp",
           std::chrono::duration_cast<std::chrono::milliseconds>(api_.loop().WallNow().time_since_epoch()).count());
  look.status.Set("observedGeneration", look.generation);
}

void FlinkOperator::MarkSuspended(Look& look, UpgradeMode mode) const {
  Record(look, true, mode, "DEPLOYED");
  Value& reconciliation = look.status.Edit("reconciliationStatus");
  reconciliation.Set("lastStableSpec", reconciliation["lastReconciledSpec"]);
  look.status.Erase("error");
  look.status.Set("taskManager", json::Object({{"labelSelector", ""}, {"replicas", 0}}));
}

rt::Task<Result<void>> FlinkOperator::Act(Look& look, FlinkAction action) {
  switch (action.step) {
    case FlinkStep::kNothing:
    case FlinkStep::kObserve:
      if (look.status["reconciliationStatus"]["state"].str() == "DEPLOYED") {
        look.status.Set("observedGeneration", look.generation);
      }
      break;
    case FlinkStep::kHold:
      look.status.Erase("error");
      break;
    case FlinkStep::kWait:
      break;
    case FlinkStep::kDeployFirst:
      co_return co_await DeployFirst(look);
    case FlinkStep::kRecord:
      MarkSuspended(look, action.mode);
      break;
    case FlinkStep::kStop:
      co_return co_await StopJob(look, action);
    case FlinkStep::kRestore:
      co_return co_await Restore(look, action.mode);
    case FlinkStep::kRedeploy:
      co_return co_await Redeploy(look);
    case FlinkStep::kMarkFailed:
      CO_TRY(co_await DeleteJobManager(look, /*forget=*/true));
      SetJobState(look, "FAILED");
      break;
    case FlinkStep::kShutDown:
      look.status.Set("observedGeneration", look.generation);
      co_return co_await DeleteJobManager(look, /*forget=*/true);
    case FlinkStep::kRecover:
      events_.Normal(look.object, "RecoverDeployment", "Recovering lost deployment");
      co_return co_await Restore(look, action.mode);
    case FlinkStep::kRestartFailed:
      events_.Normal(look.object, "RestartUnhealthyJob", "Restarting failed job");
      CO_TRY(co_await DeleteJobManager(look, /*forget=*/false));
      co_return co_await Restore(look, action.mode);
    case FlinkStep::kError:
      events_.Warning(look.object, "UpgradeFailed", action.message);
      Complain(look, "org.apache.flink.kubernetes.operator.exception.UpgradeFailureException", action.message);
      break;
  }
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkOperator::DeployFirst(Look& look) {
  const std::string from = look.spec.initial_savepoint;
  const UpgradeMode mode = from.empty() ? UpgradeMode::kStateless : UpgradeMode::kSavepoint;
  const Value before = look.status;
  if (!from.empty()) look.status.Edit("jobStatus").Set("upgradeSavepointPath", from);
  // Said before it is done, so that a next life knows that it may have been.
  Record(look, true, mode, "UPGRADING", true);
  FinishStatus(look);
  CO_TRY(co_await WriteStatus(look));
  const Result<void> deployed = co_await Deploy(look, from, NewJobId(look));
  if (!deployed.ok()) {
    look.status = before;  // the initial path is used again
    co_return deployed;
  }
  Record(look, false, mode, "DEPLOYED", true);
  look.status.Erase("error");
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkOperator::Restore(Look& look, UpgradeMode mode) {
  std::string from;
  std::string job_id;
  if (mode == UpgradeMode::kSavepoint) {
    from = look.status["jobStatus"]["upgradeSavepointPath"].str();
  } else if (mode == UpgradeMode::kLastState) {
    const std::optional<JobMemory> memory = co_await managers_.Memory(look.workload);
    if (!memory || memory->finished) {
      const std::string message =
          "HA metadata not available to restore from last state. It is possible that the job has finished or "
          "terminally failed, or the configmaps have been deleted. Manual restore required.";
      events_.Warning(look.object, "UpgradeFailed", message);
      Complain(look, "org.apache.flink.kubernetes.operator.exception.UpgradeFailureException", message);
      co_return Result<void>();
    }
    job_id = look.status["jobStatus"]["jobId"].str();
    if (!memory->checkpoint.empty()) {
      from = kLastStateSentinel;
      look.status.Edit("jobStatus").Set("upgradeSavepointPath", from);
    }
  }
  if (job_id.empty()) job_id = NewJobId(look);
  Record(look, true, mode, "UPGRADING");
  FinishStatus(look);
  CO_TRY(co_await WriteStatus(look));
  CO_TRY(co_await Deploy(look, from, job_id, mode == UpgradeMode::kLastState));
  Record(look, false, mode, "DEPLOYED");
  look.status.Erase("error");
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkOperator::Redeploy(Look& look) {
  const std::string from = look.spec.initial_savepoint;
  events_.Normal(look.object, "SpecChanged", "SAVEPOINT_REDEPLOY change(s) detected");
  const JobManager* manager = managers_.Find(look.key);
  if (manager != nullptr && manager->job != nullptr) manager->job->End(JobPhase::kCanceled, "CANCELED");
  CO_TRY(co_await DeleteJobManager(look, /*forget=*/true));
  look.status.Edit("jobStatus").Set("upgradeSavepointPath", from);
  if (look.spec.suspended) {
    look.status.Edit("jobStatus").Set("state", "FINISHED");
    MarkSuspended(look, UpgradeMode::kSavepoint);
    co_return Result<void>();
  }
  CO_TRY(co_await Deploy(look, from, NewJobId(look)));
  Record(look, false, UpgradeMode::kSavepoint, "DEPLOYED");
  Value& reconciliation = look.status.Edit("reconciliationStatus");
  reconciliation.Set("lastStableSpec", reconciliation["lastReconciledSpec"]);
  look.status.Erase("error");
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkOperator::StopJob(Look& look, FlinkAction action) {
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  events_.Normal(look.object, look.spec.suspended ? "Suspended" : "SpecChanged",
                 look.spec.suspended ? "Suspending existing deployment." : "UPGRADE change(s) detected");
  const JobManager* manager = managers_.Find(look.key);
  Job* job = manager == nullptr ? nullptr : manager->job.get();
  switch (action.stop) {
    case StopWay::kNone:
      break;
    case StopWay::kStateless:
      if (job != nullptr) job->End(JobPhase::kCanceled, "CANCELED");
      CO_TRY(co_await DeleteJobManager(look, /*forget=*/true));
      break;
    case StopWay::kSavepoint:
      CO_TRY(co_await StopWithSavepoint(look));
      if (!look.spec.native) CO_TRY(co_await DeleteJobManager(look, /*forget=*/true));
      break;
    case StopWay::kCancel:
      if (job != nullptr) job->End(JobPhase::kCanceled, "CANCELED");
      SetJobState(look, "CANCELLING");
      look.status.Edit("reconciliationStatus").Set("state", "UPGRADING");
      co_return Result<void>();
    case StopWay::kDeleteOnly:
      CO_TRY(co_await DeleteJobManager(look, /*forget=*/false));
      break;
  }
  look.status.Edit("jobStatus").Set("state", "FINISHED");
  if (look.spec.suspended) {
    MarkSuspended(look, action.mode);
  } else {
    RecordSpec(look.status, recorded->spec, true, action.mode, "UPGRADING", false);
  }
  co_return Result<void>();
}

rt::Task<Result<void>> FlinkOperator::StopWithSavepoint(Look& look) {
  JobManager* manager = managers_.Find(look.key);
  if (manager == nullptr || manager->job == nullptr) {
    co_return UnavailableError("the JobManager does not answer: the job cannot be stopped with a savepoint");
  }
  // Also bounds the wait of this worker, which is blocked until then, as the real one's thread is.
  const Duration timeout = look.spec.Time("execution.checkpointing.timeout", kCheckpointTimeout);
  const Result<std::string> url = co_await rt::WithDeadline(
      rt::Deadline::After(api_.loop(), timeout), "the savepoint",
      manager->job->Snapshot(SnapshotKind::kStopWithSavepoint, std::string(look.spec.SavepointDir())));
  if (!url.ok()) {
    const bool late = url.error().kind() == ErrorKind::kDeadlineExceeded;
    const std::string message =
        late ? StrCat("Timed out stopping the job ", look.status["jobStatus"]["jobId"].str(),
                      " with savepoint, consider increasing the timeout via execution.checkpointing.timeout")
             : url.error().message();
    events_.Warning(look.object, "SavepointError", message);
    co_return UnavailableError(message);
  }
  look.status.Edit("jobStatus").Set("upgradeSavepointPath", *url);
  co_return co_await RecordSnapshot(look, *url);
}

// The FlinkStateSnapshot of an upgrade, where its CRD is installed; and what older readers look at.
rt::Task<Result<void>> FlinkOperator::RecordSnapshot(Look& look, std::string url) {
  const WallTime now = api_.loop().WallNow();
  bool made = false;
  if (look.spec.Flag("kubernetes.operator.snapshot.resource.enabled", true)) {
    const std::string name = StrCat(look.workload.name, "-savepoint-upgrade-", Millis(now));
    Value snapshot = json::Object(
        {{"apiVersion", FlinkStateSnapshots().ApiVersion()},
         {"kind", FlinkStateSnapshots().kind},
         {"metadata", json::Object({{"name", name},
                                    {"namespace", look.workload.ns},
                                    {"labels", json::Object({{"job-reference.kind", "FlinkDeployment"},
                                                             {"job-reference.name", look.workload.name},
                                                             {"snapshot.trigger-type", "UPGRADE"},
                                                             {"snapshot.type", "SAVEPOINT"}})}})},
         {"spec",
          json::Object({{"jobReference", json::Object({{"kind", "FlinkDeployment"}, {"name", look.workload.name}})},
                        {"savepoint", json::Object({{"path", url},
                                                    {"alreadyExists", true},
                                                    {"disposeOnDelete", false},
                                                    {"formatType", "CANONICAL"}})}})}});
    // The state is safe whether this works or not: without the CRD there is none.
    made = (co_await api_.Create(FlinkStateSnapshots(), std::move(snapshot))).ok();
  }
  if (options_.version == OperatorVersion::kV1x12 || (options_.version >= OperatorVersion::kV1x13 && !made)) {
    look.status.Edit("jobStatus")
        .Edit("savepointInfo")
        .Set("lastSavepoint",
             json::Object(
                 {{"location", url},
                  {"timeStamp", std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count()},
                  {"triggerType", "UPGRADE"},
                  {"formatType", "CANONICAL"}}));
  }
  co_return Result<void>();
}

}  // namespace baton::practice
