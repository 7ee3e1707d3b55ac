// The operator's loop and its status.
#include "practice/flink_operator.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/print.h"
#include "practice/cluster.h"
#include "rt/scope.h"

namespace baton::practice {

using json::Value;
using kube::Outcome;

namespace {

constexpr size_t kWorkers = 50;  // as the operator's reconcile.parallelism
constexpr Duration kBackoffMax = seconds(30);
constexpr int kStatusTries = 10;

// What makes the real operator look: not its own writes of the status.
bool WorthALook(const Value& before, const Value& now) {
  if (before.is_null() || now.is_null()) return true;
  return before["metadata"]["generation"] != now["metadata"]["generation"] ||
         before["metadata"]["uid"] != now["metadata"]["uid"] ||
         before["metadata"]["annotations"] != now["metadata"]["annotations"] ||
         kube::IsDeleting(before) != kube::IsDeleting(now);
}

}  // namespace

const kube::Resource& FlinkDeployments() {
  static const kube::Resource resource{.group = "flink.apache.org",
                                       .version = "v1beta1",
                                       .plural = "flinkdeployments",
                                       .kind = "FlinkDeployment",
                                       .namespaced = true};
  return resource;
}

const kube::Resource& FlinkStateSnapshots() {
  static const kube::Resource resource{.group = "flink.apache.org",
                                       .version = "v1beta1",
                                       .plural = "flinkstatesnapshots",
                                       .kind = "FlinkStateSnapshot",
                                       .namespaced = true};
  return resource;
}

FlinkOperatorOptions FlinkOperatorOptions::Faster(int times) const {
  FlinkOperatorOptions faster = *this;
  for (Duration* interval :
       {&faster.reconcile_interval, &faster.progress_interval, &faster.rest_ready_delay, &faster.work}) {
    *interval /= std::max(times, 1);
  }
  return faster;
}

FlinkOperator::FlinkOperator(kube::Api& api, Commons& commons, JobManagers& managers, std::string cluster,
                             Faults& faults, FlinkOperatorOptions options)
    : api_(api),
      commons_(commons),
      managers_(managers),
      cluster_(std::move(cluster)),
      faults_(faults),
      options_(options),
      objects_(api, FlinkDeployments()),
      deployments_(api, Deployments(), {.label_selector = "component=jobmanager"}),
      events_(api, "flink-operator"),
      controller_(api.loop(), "practice-flink-operator", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = kWorkers, .queue = {.backoff_max = kBackoffMax}}),
      trigger_scope_(api.loop()) {
  objects_.OnChange([this](const Value& before, const Value& now) {
    if (WorthALook(before, now)) controller_.Add(kube::Name::Of(now.is_null() ? before : now).Key());
  });
  deployments_.OnChange([this](const Value& before, const Value& now) {
    controller_.Add(kube::Name::Of(now.is_null() ? before : now).Key());
  });
}

rt::Task<void> FlinkOperator::Run() {
  rt::Scope scope(api_.loop());
  scope.Spawn(objects_.Run());
  scope.Spawn(deployments_.Run());
  scope.Spawn(events_.Run());
  co_await objects_.WaitSynced();
  co_await deployments_.WaitSynced();
  co_await controller_.Run();
}

rt::Task<Outcome> FlinkOperator::Reconcile(std::string key) {
  Look look;
  look.key = key;
  look.object = objects_.Get(key);
  if (look.object.is_null()) {
    cache_.erase(key);
    co_return Outcome::Done();
  }
  const kube::Name name = kube::Name::Of(look.object);
  look.workload = {name.ns, name.name};
  look.generation = look.object["metadata"]["generation"].int_or(0);
  const auto cached = cache_.find(key);
  const bool known = cached != cache_.end() && cached->second.uid == kube::UidOf(look.object);
  look.status = known ? cached->second.status : look.object["status"];
  look.spec = FlinkSpec::From(look.object["spec"]);
  co_await SetFault(look);
  co_await api_.loop().Sleep(faults_.Slowed(options_.work) + faults_.stall_operator);
  if (kube::IsDeleting(look.object)) co_return co_await CleanUp(std::move(look));
  Result<void> done = co_await EnsureFinalizer(look);
  if (done.ok()) done = co_await Work(look);
  if (!done.ok())
    Complain(look, "org.apache.flink.kubernetes.operator.exception.ReconciliationException", done.error().message());
  FinishStatus(look);
  const Result<void> written = co_await WriteStatus(look);
  if (!done.ok()) co_return Outcome::Retry(done.error());
  if (!written.ok()) co_return Outcome::Retry(written.error());
  co_return Outcome::WaitFor(NextLook(look));
}

rt::Task<void> FlinkOperator::SetFault(const Look& look) {
  const std::string_view wanted = look.object["metadata"]["annotations"]["practice.baton.io/fault"].str();
  std::string& last = faults_.by_annotation[look.key];
  if (wanted == last) co_return;
  last = wanted;
  if (wanted.empty()) co_return;
  Result<void> set;
  JobManager* manager = managers_.Find(look.key);
  if (wanted.starts_with("restart-jobmanager")) {
    set = managers_.Restart(look.key);
  } else if (wanted.starts_with("fail-job") && manager != nullptr && manager->job != nullptr) {
    manager->job->End(JobPhase::kFailed, "FAILED", "the job failed: a fault was set for it");
  } else if (wanted.starts_with("kill-operator") || wanted.starts_with("partition")) {
    set = co_await SetClusterFault(api_, std::string(wanted));
  } else {
    set = faults_.Set(wanted);
  }
  if (set.ok()) {
    events_.Normal(look.object, "PracticeFault", StrCat("A fault was set: ", wanted));
  } else {
    events_.Warning(look.object, "PracticeFault", set.error().message());
  }
}

rt::Task<Result<void>> FlinkOperator::Work(Look& look) {
  if (!look.status.is_object()) look.status = json::Object();
  if (!look.status["reconciliationStatus"].is_object()) {
    look.status.Set("reconciliationStatus", json::Object({{"state", "UPGRADING"}}));
    look.status.Set("jobManagerDeploymentStatus", "MISSING");
    look.status.Set("jobStatus", json::Object());
  }
  CO_TRY(co_await Observe(look));
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  const std::optional<std::string> wrong =
      ValidateFlink(kube::NameOf(look.object), look.spec, recorded ? std::optional(recorded->spec) : std::nullopt);
  if (wrong) {
    events_.Warning(look.object, "ValidationError", *wrong);
    Complain(look, "org.apache.flink.kubernetes.operator.exception.ValidationException", *wrong);
    if (!recorded) co_return Result<void>();
    // The old spec is gone on with, and the new generation counts as not seen.
    look.spec = recorded->spec;
    look.generation = look.status["observedGeneration"].int_or(0);
  }
  ObserveTriggers(look);
  co_await CompleteSeen(look);
  const FlinkAction action = FlinkNext(look.spec, look.status, look.seen, options_.version);
  Result<void> acted = co_await Act(look, action);
  if (acted.ok() && (action.step == FlinkStep::kNothing || action.step == FlinkStep::kObserve))
    acted = co_await TriggerSnapshots(look);
  if (acted.ok() && wrong) Complain(look, "org.apache.flink.kubernetes.operator.exception.ValidationException", *wrong);
  co_return acted;
}

void FlinkOperator::Complain(Look& look, std::string_view type, std::string_view message) {
  look.status.Set("error",
                  json::Print(json::Object({{"type", type}, {"message", message}, {"throwableList", json::Array()}})));
}

void FlinkOperator::FinishStatus(Look& look) const {
  look.status.Set("lifecycleState", LifecycleOf(look.status, options_.version));
  if (options_.version < OperatorVersion::kV1x15) return;
  const std::string_view state = look.status["jobStatus"]["state"].str();
  if (state.empty()) {
    look.status.Set("conditions", json::Array());
    return;
  }
  std::string reason(state);  // in CamelCase
  std::transform(reason.begin() + 1, reason.end(), reason.begin() + 1,
                 [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  look.status.Set("conditions", json::Array({json::Object({{"type", "Running"},
                                                           {"status", state == "RUNNING" ? "True" : "False"},
                                                           {"reason", reason},
                                                           {"message", StrCat("Job state ", state)}})}));
}

rt::Task<Result<void>> FlinkOperator::WriteStatus(Look& look) {
  if (faults_.forget_status) {
    faults_.forget_status = false;
    cache_.erase(look.key);
    look.status = json::Object();
  } else {
    cache_[look.key] = {.uid = std::string(kube::UidOf(look.object)), .status = look.status};
  }
  Value object = objects_.Get(look.key);
  for (int tries = 0; tries < kStatusTries; ++tries) {
    if (object.is_null() || kube::UidOf(object) != kube::UidOf(look.object)) co_return Result<void>();
    if (object["status"] == look.status) co_return Result<void>();
    object.Set("status", look.status);
    Result<Value> written = co_await api_.UpdateStatus(FlinkDeployments(), object);
    if (written.ok()) {
      objects_.Learn(*written);
      co_return Result<void>();
    }
    if (written.error().kind() == ErrorKind::kNotFound) co_return Result<void>();
    if (written.error().kind() != ErrorKind::kConflict) co_return written.error();
    // Whatever the object is by now: this status is put on it.
    Result<Value> live = co_await api_.Get(FlinkDeployments(), kube::Name::Of(look.object));
    if (!live.ok()) co_return live.error().kind() == ErrorKind::kNotFound ? Result<void>() : live.error();
    object = *std::move(live);
  }
  co_return ConflictError("the status could not be written: the object changes too often");
}

rt::Task<Result<void>> FlinkOperator::EnsureFinalizer(Look& look) {
  const Value& finalizers = look.object["metadata"]["finalizers"];
  for (const Value& finalizer : finalizers.items()) {
    if (finalizer.str() == kFlinkFinalizer) co_return Result<void>();
  }
  Value all = finalizers;
  all.Push(kFlinkFinalizer);
  Value metadata = json::Object({{"finalizers", all}, {"uid", kube::UidOf(look.object)}});
  Result<Value> patched = co_await api_.Patch(FlinkDeployments(), kube::Name::Of(look.object), kube::PatchType::kMerge,
                                              json::Object({{"metadata", metadata}}));
  if (!patched.ok()) co_return patched.error();
  objects_.Learn(*patched);
  co_return Result<void>();
}

rt::Task<Outcome> FlinkOperator::CleanUp(Look look) {
  bool ours = false;
  Value rest = json::Array();
  for (const Value& finalizer : look.object["metadata"]["finalizers"].items()) {
    if (finalizer.str() == kFlinkFinalizer) {
      ours = true;
    } else {
      rest.Push(finalizer);
    }
  }
  if (!ours) co_return Outcome::Done();
  events_.Normal(look.object, "Cleanup", "Cleaning up FlinkDeployment");
  if (options_.version >= OperatorVersion::kV1x11) look.status.Set("lifecycleState", "DELETING");
  (void)co_await WriteStatus(look);
  JobManager* manager = managers_.Find(look.key);
  if (look.spec.Flag("kubernetes.operator.job.savepoint-on-deletion", false) && manager != nullptr &&
      manager->job != nullptr && manager->job->phase() == JobPhase::kRunning) {
    Result<void> stopped = co_await StopWithSavepoint(look);
    if (!stopped.ok()) co_return Outcome::Retry(stopped.error());
  } else if (manager != nullptr && manager->job != nullptr) {
    manager->job->End(JobPhase::kCanceled, "CANCELED");
  }
  Result<void> gone = co_await DeleteJobManager(look, /*forget=*/true);
  if (!gone.ok()) co_return Outcome::Retry(gone.error());
  const Value patch = json::Object({{"metadata", json::Object({{"finalizers", rest}})}});
  const Result<Value> released =
      co_await api_.Patch(FlinkDeployments(), kube::Name::Of(look.object), kube::PatchType::kMerge, patch);
  if (!released.ok() && released.error().kind() != ErrorKind::kNotFound) co_return Outcome::Retry(released.error());
  cache_.erase(look.key);
  co_return Outcome::Done();
}

Duration FlinkOperator::NextLook(const Look& look) const {
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (!recorded) return options_.reconcile_interval;
  const bool upgrading = look.status["reconciliationStatus"]["state"].str() == "UPGRADING";
  if (upgrading && recorded->spec.suspended && !look.spec.suspended) return Duration{0};
  if (look.status["jobStatus"]["state"].str() == "CANCELLING") return options_.progress_interval;
  const std::string_view jm = look.status["jobManagerDeploymentStatus"].str();
  if (jm == "DEPLOYING") return options_.progress_interval;
  if (jm == "DEPLOYED_NOT_READY") return options_.rest_ready_delay;
  if (jm == "READY" && !recorded->spec.suspended && look.status["jobStatus"]["state"].str() != "RUNNING" &&
      look.status["jobStatus"]["state"].str() != "FAILED") {
    return options_.progress_interval;
  }
  return options_.reconcile_interval;
}

}  // namespace baton::practice
