// Job and CronJob.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/pod.h"
#include "interpret/status.h"
#include "json/rfc3339.h"

namespace baton::interpret {

namespace {

using json::Value;

Result<Replicas> JobReplicas(const Value& object) {
  const int64_t parallelism = TRY(CountAt(object, {"spec", "parallelism"}));
  const int64_t completions = TRY(IntAt(object, {"spec", "completions"})).value_or(parallelism);
  return Replicas{std::min(parallelism, completions), TRY(PodRequirements(At(object, {"spec", "template"})))};
}

Result<Value> ReviseParallelism(Value object, int64_t replicas) {
  return ReviseSpecField(std::move(object), "parallelism", replicas);
}

// The member's API server makes the selector and the labels it selects; both are immutable.
Result<Value> RetainSelector(Value desired, const Value& observed) {
  const Value& selector = At(observed, {"spec", "selector", "matchLabels"});
  if (selector.is_object()) TRY(SetAt(desired, {"spec", "selector", "matchLabels"}, selector));
  const Value& labels = At(observed, {"spec", "template", "metadata", "labels"});
  if (labels.is_object()) TRY(SetAt(desired, {"spec", "template", "metadata", "labels"}, labels));
  return desired;
}

Result<Value> ReflectJob(const Value& object) {
  constexpr std::array<std::string_view, 6> kFields = {"active",     "succeeded", "failed",
                                                       "conditions", "startTime", "completionTime"};
  return ReflectFields(object, kFields);
}

// Complete or Failed when the condition of that type is true, else "".
std::string_view FinishedAs(const Value& status) {
  for (const Value& condition : status["conditions"].items()) {
    const std::string_view type = condition["type"].str();
    if ((type == "Complete" || type == "Failed") && condition["status"].str() == "True") return type;
  }
  return "";
}

Value JobCondition(std::string_view type, std::string_view reason, std::string_view message, WallTime now) {
  const std::string time = json::FormatTime(now);
  return json::Object({{"type", type},
                       {"status", "True"},
                       {"lastProbeTime", time},
                       {"lastTransitionTime", time},
                       {"reason", reason},
                       {"message", message}});
}

// The earlier (or later) of two times, either of which may be absent; `kept` stays when they are equal.
Result<void> Keep(Value& kept, const Value& candidate, bool later) {
  if (candidate.is_null()) return {};
  if (kept.is_null()) {
    TRY(json::ParseTime(candidate.str()));
    kept = candidate;
    return {};
  }
  const WallTime a = TRY(json::ParseTime(kept.str()));
  const WallTime b = TRY(json::ParseTime(candidate.str()));
  if (later ? b > a : b < a) kept = candidate;
  return {};
}

struct JobTotals {
  int64_t active = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  size_t complete = 0;
  size_t criteria_met = 0;
  size_t started = 0;
  size_t completed = 0;
  Value start_time;
  Value completion_time;
  std::vector<std::string> failed_in;
};

Result<JobTotals> TotalsOf(std::span<const MemberStatus> members) {
  JobTotals totals;
  for (const MemberStatus& member : members) {
    if (member.status == nullptr) continue;
    const Value& status = *member.status;
    totals.active = SaturatingAdd(totals.active, TRY(CountAt(status, {"active"})));
    totals.succeeded = SaturatingAdd(totals.succeeded, TRY(CountAt(status, {"succeeded"})));
    totals.failed = SaturatingAdd(totals.failed, TRY(CountAt(status, {"failed"})));
    const std::string_view finished = FinishedAs(status);
    if (finished == "Complete") ++totals.complete;
    if (finished == "Failed") totals.failed_in.emplace_back(member.cluster);
    if (IsConditionTrue(status["conditions"], "SuccessCriteriaMet")) ++totals.criteria_met;
    if (!status["startTime"].is_null()) ++totals.started;
    if (!status["completionTime"].is_null()) ++totals.completed;
    TRY(Keep(totals.start_time, status["startTime"], false).Context(StrCat("startTime of ", member.cluster)));
    TRY(Keep(totals.completion_time, status["completionTime"], true)
            .Context(StrCat("completionTime of ", member.cluster)));
  }
  return totals;
}

// A finished Job stays as it is: late or odd reports do not bring it back to life.
Result<Value> AggregateJob(Value object, const Items& items, WallTime now) {
  const Value old_status = TRY(StatusOf(object));
  if (!FinishedAs(old_status).empty()) return object;
  const std::vector<MemberStatus> members = TRY(MemberStatuses(items));
  const JobTotals totals = TRY(TotalsOf(members));

  Value conditions = json::Array();
  if (!totals.failed_in.empty())
    conditions.Push(JobCondition("Failed", "JobFailed",
                                 StrCat("Job executed failed in member clusters ", Join(totals.failed_in, ",")), now));
  if (!members.empty() && totals.complete == members.size()) {
    conditions.Push(JobCondition("Complete", "Completed", "Job completed", now));
    if (totals.criteria_met == members.size())
      conditions.Push(JobCondition("SuccessCriteriaMet", "CompletionsReached",
                                   "All member clusters have met success criteria", now));
  }
  Value status = json::Object();
  SetOrErase(status, "active", totals.active);
  SetOrErase(status, "succeeded", totals.succeeded);
  SetOrErase(status, "failed", totals.failed);
  if (!conditions.empty()) status.Set("conditions", std::move(conditions));
  if (!old_status["startTime"].is_null()) {
    status.Set("startTime", old_status["startTime"]);
  } else if (!members.empty() && totals.started == members.size()) {
    status.Set("startTime", totals.start_time);
  }
  if (!totals.completion_time.is_null() && totals.completed == members.size())
    status.Set("completionTime", totals.completion_time);
  object.Set("status", std::move(status));
  return object;
}

Result<Value> AggregateCronJob(Value object, const Items& items, WallTime /*now*/) {
  Value status = TRY(StatusOf(object));
  Value active = json::Array();
  Value scheduled;
  Value succeeded;
  for (const MemberStatus& member : TRY(MemberStatuses(items))) {
    if (member.status == nullptr) continue;
    for (const Value& job : (*member.status)["active"].items()) active.Push(job);
    TRY(Keep(scheduled, (*member.status)["lastScheduleTime"], true).Context("lastScheduleTime"));
    TRY(Keep(succeeded, (*member.status)["lastSuccessfulTime"], true).Context("lastSuccessfulTime"));
  }
  const auto set = [&status](std::string_view key, Value value) {
    if (value.is_null() || (value.is_array() && value.empty())) {
      if (status.is_object()) status.Erase(key);
    } else {
      status.Set(key, std::move(value));
    }
  };
  set("active", std::move(active));
  set("lastScheduleTime", std::move(scheduled));
  set("lastSuccessfulTime", std::move(succeeded));
  object.Set("status", status.is_null() ? json::Object() : std::move(status));
  return object;
}

Result<std::vector<Value>> CronJobDependencies(const Value& object) {
  return PodDependencies(At(object, {"spec", "jobTemplate", "spec", "template"}),
                         At(object, {"metadata", "namespace"}).str());
}

}  // namespace

void AddNativeBatch(HandlerTable& table) {
  Handlers job;
  job.replicas = JobReplicas;
  job.revise = ReviseParallelism;
  job.retain = RetainSelector;
  job.reflect = ReflectJob;
  job.aggregate = AggregateJob;
  job.dependencies = TemplateDependencies;
  table[{"batch/v1", "Job"}] = std::move(job);

  Handlers cron_job;
  cron_job.reflect = ReflectWhole;
  cron_job.aggregate = AggregateCronJob;
  cron_job.dependencies = CronJobDependencies;
  table[{"batch/v1", "CronJob"}] = std::move(cron_job);
}

}  // namespace baton::interpret
