// The operator's decisions.
#include "practice/flink_next.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr std::string_view kOperator = "kubernetes.operator.";

bool OperatorFlag(const FlinkSpec& spec, std::string_view key, bool fallback) {
  return spec.Flag(StrCat(kOperator, key), fallback);
}

bool Ended(std::string_view job) { return job == "FINISHED" || job == "FAILED" || job == "CANCELED"; }

FlinkAction Stop(StopWay way, UpgradeMode mode) { return {.step = FlinkStep::kStop, .stop = way, .mode = mode}; }

FlinkAction StopByLastState(const FlinkSpec& spec, const FlinkSpec& last, const FlinkObserved& seen) {
  const bool running = seen.job == "RUNNING";
  const bool reachable = seen.jm == "READY";
  const bool by_cancel = !seen.ha_metadata || OperatorFlag(spec, "job.upgrade.last-state.job-cancel.enabled", false);
  if (spec.flink_version != last.flink_version) {
    if (running && !spec.SavepointDir().empty()) return Stop(StopWay::kSavepoint, UpgradeMode::kSavepoint);
    if (reachable) return Stop(StopWay::kCancel, UpgradeMode::kSavepoint);
  }
  if (running) {
    const std::string_view limit = spec.Get("kubernetes.operator.job.upgrade.last-state.max.allowed.checkpoint.age");
    const std::optional<Duration> max_age = limit.empty() ? std::nullopt : ParseFlinkDuration(limit);
    if (max_age && (!seen.checkpoint_age || *seen.checkpoint_age > *max_age)) {
      return Stop(StopWay::kSavepoint, UpgradeMode::kSavepoint);
    }
    if (by_cancel) return Stop(StopWay::kCancel, UpgradeMode::kSavepoint);
    return Stop(StopWay::kDeleteOnly, UpgradeMode::kLastState);
  }
  if (reachable && by_cancel) return Stop(StopWay::kCancel, UpgradeMode::kSavepoint);
  if (seen.ha_metadata) return Stop(StopWay::kDeleteOnly, UpgradeMode::kLastState);
  if (seen.jm == "MISSING" || (seen.jm == "ERROR" && last.mode == UpgradeMode::kLastState)) {
    return {.step = FlinkStep::kError,
            .message =
                "JobManager deployment is missing and HA metadata is not available to make stateful upgrades. "
                "It is possible that the job has finished or terminally failed, or the configmaps have been "
                "deleted. Manual restore required."};
  }
  if (seen.jm_was_up) return {.step = FlinkStep::kWait};  // until it is back, or gone
  return {.step = FlinkStep::kMarkFailed};
}

// getJobUpgrade of the operator, row by row.
FlinkAction HowToStop(const FlinkSpec& spec, const FlinkSpec& last, const FlinkObserved& seen) {
  if (spec.mode == UpgradeMode::kStateless) {
    return Stop(Ended(seen.job) ? StopWay::kNone : StopWay::kStateless, UpgradeMode::kStateless);
  }
  if (seen.job == "CANCELED" || (Ended(seen.job) && (!seen.ha_metadata || seen.jm == "READY"))) {
    if (seen.snapshot_known) return Stop(StopWay::kNone, UpgradeMode::kSavepoint);
    return {.step = FlinkStep::kError,
            .message =
                "Job is in terminal state but last checkpoint is unknown, possibly due to an unrecoverable "
                "restore error. Manual restore required."};
  }
  if (seen.job == "CANCELLING") return {.step = FlinkStep::kWait};
  if (spec.mode == UpgradeMode::kSavepoint) {
    if (seen.job == "RUNNING") return Stop(StopWay::kSavepoint, UpgradeMode::kSavepoint);
    const bool fallback =
        OperatorFlag(spec, "job.upgrade.last-state-fallback.enabled", true) || spec.flink_version != last.flink_version;
    if (!fallback) return {.step = FlinkStep::kWait};
  }
  return StopByLastState(spec, last, seen);
}

FlinkAction WithoutChange(const FlinkSpec& spec, const FlinkSpec& last, const FlinkObserved& seen) {
  if (seen.past_ttl && Ended(seen.job) && seen.jm != "MISSING") return {.step = FlinkStep::kShutDown};
  if (last.suspended) return {.step = FlinkStep::kNothing};
  if (seen.jm == "MISSING" && OperatorFlag(spec, "jm-deployment-recovery.enabled", true)) {
    if (seen.ha_metadata) return {.step = FlinkStep::kRecover, .mode = UpgradeMode::kLastState};
    if (spec.mode == UpgradeMode::kStateless) return {.step = FlinkStep::kRecover, .mode = UpgradeMode::kStateless};
    return {.step = FlinkStep::kError,
            .message =
                "HA metadata is not available: cannot recover the JobManager "
                "deployment. Manual restore required."};
  }
  if (seen.job == "FAILED" && OperatorFlag(spec, "job.restart.failed", false)) {
    return {.step = FlinkStep::kRestartFailed, .mode = UpgradeMode::kSavepoint};
  }
  return {};
}

}  // namespace

namespace {

std::optional<RecordedSpec> ReadRecorded(std::string_view text) {
  const Result<Value> recorded = json::Parse(text);
  if (!recorded.ok() || !(*recorded)["spec"].is_object()) return std::nullopt;
  return RecordedSpec{.spec = FlinkSpec::From((*recorded)["spec"]),
                      .first_deployment = (*recorded)["resource_metadata"]["firstDeployment"].bool_or(false)};
}

}  // namespace

Result<OperatorVersion> ParseOperatorVersion(std::string_view text) {
  for (auto minor = static_cast<int>(OperatorVersion::kV1x10); minor <= static_cast<int>(OperatorVersion::kV1x16);
       ++minor) {
    if (text == StrCat("1.", minor)) return static_cast<OperatorVersion>(minor);
  }
  return InvalidError(StrCat("'", text, "' is no version of Flink's operator that is played here: 1.10 to 1.16"));
}

// An operator asks for the same few texts again and again: in one look, and in the next.
std::optional<RecordedSpec> RecordedIn(const Value& status) {
  const std::string_view text = status["reconciliationStatus"]["lastReconciledSpec"].str();
  if (text.empty()) return std::nullopt;
  struct Known {
    std::string text;
    std::optional<RecordedSpec> recorded;
  };
  constexpr size_t kKnownMax = 8;
  static thread_local std::deque<Known> known;  // newest first
  const auto at = std::ranges::find(known, text, &Known::text);
  if (at != known.end()) return at->recorded;
  known.push_front({.text = std::string(text), .recorded = ReadRecorded(text)});
  if (known.size() > kKnownMax) known.pop_back();
  return known.front().recorded;
}

FlinkAction FlinkNext(const FlinkSpec& spec, const Value& status, const FlinkObserved& seen, OperatorVersion version) {
  const std::optional<RecordedSpec> recorded = RecordedIn(status);
  if (!recorded) return {.step = spec.suspended ? FlinkStep::kHold : FlinkStep::kDeployFirst};
  const FlinkSpec& last = recorded->spec;
  if (seen.job == "CANCELLING") return {.step = FlinkStep::kWait};
  if (seen.savepoint_pending && !OperatorFlag(spec, "job.upgrade.ignore-pending-savepoint", false)) {
    return {.step = FlinkStep::kWait};
  }
  const bool upgrading = status["reconciliationStatus"]["state"].str() == "UPGRADING";
  const SpecDiff diff = DiffSpecs(last, spec);
  if (diff == SpecDiff::kSavepointRedeploy) {
    return {.step = FlinkStep::kRedeploy, .mode = UpgradeMode::kSavepoint};
  }
  if (last.suspended && !spec.suspended) {
    // Asking for stateless at a resume discards the state; in the middle of an upgrade, what was decided at its
    // beginning holds.
    const UpgradeMode mode = spec.mode == UpgradeMode::kStateless && !upgrading ? UpgradeMode::kStateless : last.mode;
    return {.step = FlinkStep::kRestore, .mode = mode};
  }
  if (last.suspended && upgrading) {
    // A suspend by cancelling never completes up to 1.15 (FLINK-40164).
    if (version <= OperatorVersion::kV1x15) return {};
    return {.step = FlinkStep::kRecord, .mode = last.mode};
  }
  if (diff == SpecDiff::kUpgrade && !spec.has_job) return {.step = FlinkStep::kRestore};  // a session has no state
  if (diff == SpecDiff::kUpgrade) {
    if (last.suspended) return {.step = FlinkStep::kRecord, .mode = last.mode};
    return HowToStop(spec, last, seen);
  }
  FlinkAction action = WithoutChange(spec, last, seen);
  if (action.step == FlinkStep::kNothing && diff == SpecDiff::kIgnorable) action.step = FlinkStep::kObserve;
  return action;
}

std::string LifecycleOf(const Value& status, OperatorVersion version) {
  const Value& reconciliation = status["reconciliationStatus"];
  const std::string_view error = status["error"].str();
  const std::optional<RecordedSpec> recorded = RecordedIn(status);
  if (!recorded) return error.empty() ? "CREATED" : "FAILED";
  const std::string_view state = reconciliation["state"].str();
  if (state == "UPGRADING" || state == "ROLLING_BACK") return std::string(state);
  if (recorded->spec.suspended) return "SUSPENDED";
  if (status["jobStatus"]["state"].str() == "FAILED") return "FAILED";
  const std::string_view jm = status["jobManagerDeploymentStatus"].str();
  if (version >= OperatorVersion::kV1x13 && (jm == "MISSING" || jm == "ERROR")) {
    for (const std::string_view marker :
         {"Manual restore required.", "HA metadata is not available",
          "It is possible that the job has finished or terminally failed, or the configmaps have been deleted."}) {
      if (error.find(marker) != std::string_view::npos) return "FAILED";
    }
  }
  if (state == "ROLLED_BACK") return "ROLLED_BACK";
  return reconciliation["lastReconciledSpec"] == reconciliation["lastStableSpec"] ? "STABLE" : "DEPLOYED";
}

}  // namespace baton::practice
