// What the operator sees when it looks: the JobManager's Deployment, and the job through its REST API.
#include <utility>

#include "base/strings.h"
#include "practice/flink_operator.h"

namespace baton::practice {

using json::Value;

namespace {

std::string Millis(WallTime time) {
  return StrCat(std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

}  // namespace

void FlinkOperator::SetJobState(Look& look, std::string_view state) {
  Value& job = look.status.Edit("jobStatus");
  if (job["state"].str() == state) return;
  const std::string before(job["state"].str_or("-"));
  job.Set("state", state);
  job.Set("updateTime", Millis(api_.loop().WallNow()));
  events_.Normal(look.object, "JobStatusChanged", StrCat("Job status changed from ", before, " to ", state));
}

rt::Task<Result<void>> FlinkOperator::Observe(Look& look) {
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (!recorded) {
    look.status.Set("jobManagerDeploymentStatus", "MISSING");
    co_return Result<void>();
  }
  Result<Value> deployment = co_await api_.Get(Deployments(), kube::Name::Of(look.object));
  if (!deployment.ok() && deployment.error().kind() != ErrorKind::kNotFound) co_return deployment.error();
  if (look.status["reconciliationStatus"]["state"].str() == "UPGRADING" && deployment.ok() &&
      (*deployment)["metadata"]["annotations"][kGenerationAnnotation].str() == StrCat(look.generation) &&
      look.status["jobStatus"]["state"].str() != "CANCELLING" && recorded->spec.suspended && !look.spec.suspended) {
    // It was deployed, and the operator died before it could say so.
    Record(look, false, recorded->spec.mode, "DEPLOYED", recorded->first_deployment);
    look.status.Set("jobManagerDeploymentStatus", "DEPLOYING");
  }
  ObserveJobManager(look, deployment.ok() ? *deployment : Value());
  if (look.status["jobManagerDeploymentStatus"].str() == "READY") ObserveJob(look);
  co_return Result<void>();
}

void FlinkOperator::ObserveJobManager(Look& look, const Value& deployment) {
  const std::string before(look.status["jobManagerDeploymentStatus"].str());
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (deployment.is_null() || kube::IsDeleting(deployment)) {
    if (before == "MISSING") return;
    look.status.Set("jobManagerDeploymentStatus", "MISSING");
    if (recorded->spec.suspended || !recorded->spec.has_job) return;
    SetJobState(look, "RECONCILING");
    events_.Warning(look.object, "Missing", "Missing JobManager deployment");
    Complain(look, "org.apache.flink.kubernetes.operator.exception.MissingJobManagerException",
             "Missing JobManager deployment");
    return;
  }
  look.seen.jm_was_up = !deployment["status"]["conditions"].items().empty();
  const std::string waiting = managers_.WaitingReason(look.key);
  if (!waiting.empty()) {
    look.status.Set("jobManagerDeploymentStatus", "ERROR");
    if (look.spec.has_job) SetJobState(look, "RECONCILING");
    Complain(look, "org.apache.flink.kubernetes.operator.exception.DeploymentFailedException",
             StrCat("[flink-main-container] ", waiting, ": the JobManager's container does not start"));
    return;
  }
  if (deployment["status"]["readyReplicas"].int_or(0) < 1 || managers_.Find(look.key) == nullptr) {
    look.status.Set("jobManagerDeploymentStatus", "DEPLOYING");
    if (before == "READY" && !recorded->spec.suspended && look.spec.has_job) SetJobState(look, "RECONCILING");
    return;
  }
  const bool was_up = before == "READY" || before == "DEPLOYED_NOT_READY";
  look.status.Set("jobManagerDeploymentStatus", was_up ? "READY" : "DEPLOYED_NOT_READY");
}

void FlinkOperator::ObserveJob(Look& look) {
  JobManager* manager = managers_.Find(look.key);
  if (manager == nullptr) return;
  const Job* job = manager->job.get();
  const std::string before(look.status["jobStatus"]["state"].str());
  if (!look.spec.has_job) {
    Value& reconciliation = look.status.Edit("reconciliationStatus");
    if (reconciliation["state"].str() == "DEPLOYED") {
      reconciliation.Set("lastStableSpec", reconciliation["lastReconciledSpec"]);
    }
    return;
  }
  if (job == nullptr) {
    if (!manager->finished_before || before == "CANCELED") return;
    if (before != "FINISHED" && !manager->finished_with.empty())
      look.status.Edit("jobStatus").Set("upgradeSavepointPath", manager->finished_with);
    SetJobState(look, "FINISHED");
    return;
  }
  const std::string_view state = JobPhaseName(job->phase());
  if (before == "CANCELLING" && !IsTerminal(job->phase())) return;
  SetJobState(look, state);
  Value& status = look.status.Edit("jobStatus");
  status.Set("jobName", look.workload.name);
  if (job->phase() == JobPhase::kRunning) status.Set("startTime", Millis(job->started()));
  if (IsTerminal(job->phase()) && before != state) {
    // Where it can be gone on from: the newest state there is.
    const std::optional<SnapshotRef> newest = job->Newest();
    if (newest) status.Set("upgradeSavepointPath", newest->url);
    if (job->phase() == JobPhase::kFailed) {
      events_.Warning(look.object, "JobException", job->error());
      Complain(look, "org.apache.flink.util.FlinkException", job->error());
    }
  }
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (before == "CANCELLING") {
    // A cancel that was asked for has come to its end: what was deployed is now suspended.
    RecordSpec(look.status, recorded->spec, true, UpgradeMode::kSavepoint, "UPGRADING", false);
    return;
  }
  const bool deployed = look.status["reconciliationStatus"]["state"].str() == "DEPLOYED";
  if (deployed && !recorded->spec.suspended &&
      (job->phase() == JobPhase::kRunning || job->phase() == JobPhase::kFinished)) {
    Value& reconciliation = look.status.Edit("reconciliationStatus");
    reconciliation.Set("lastStableSpec", reconciliation["lastReconciledSpec"]);
    if (job->phase() == JobPhase::kRunning) look.status.Erase("error");
  }
}

// The rest that decisions go by.
rt::Task<void> FlinkOperator::CompleteSeen(Look& look) {
  FlinkObserved& seen = look.seen;
  seen.jm = look.status["jobManagerDeploymentStatus"].str();
  seen.job = look.status["jobStatus"]["state"].str();
  const std::string_view path = look.status["jobStatus"]["upgradeSavepointPath"].str();
  seen.snapshot_known = !path.empty() && path != kLastStateSentinel;
  seen.savepoint_pending = !look.status["jobStatus"]["savepointInfo"]["triggerId"].str().empty();
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (recorded && recorded->spec.HighAvailability()) {
    const std::optional<JobMemory> memory = co_await managers_.Memory(look.workload);
    seen.ha_metadata = memory && !memory->finished && memory->job_id == look.status["jobStatus"]["jobId"].str();
  }
  const JobManager* manager = managers_.Find(look.key);
  if (manager != nullptr && manager->job != nullptr && manager->job->last_checkpoint()) {
    seen.checkpoint_age = api_.loop().WallNow() - manager->job->last_checkpoint()->at;
  }
  const Duration ttl = look.spec.Time("kubernetes.operator.jm-deployment.shutdown-ttl", hours(24));
  int64_t updated = 0;
  for (const char c : look.status["jobStatus"]["updateTime"].str()) {
    if (c >= '0' && c <= '9') updated = (updated * 10) + (c - '0');
  }
  seen.past_ttl = WallTime(milliseconds(updated)) + ttl <= api_.loop().WallNow();
}

}  // namespace baton::practice
