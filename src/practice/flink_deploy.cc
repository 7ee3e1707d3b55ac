// JobManager Deployments: made and removed.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/print.h"
#include "practice/flink_operator.h"
#include "practice/wishes.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr size_t kJobIdDigits = 32;
constexpr Duration kLookAgain = milliseconds(100);  // while pods go

}  // namespace

std::string FlinkOperator::NewJobId(const Look& look) {
  if (!look.spec.has_job) return "";
  const std::string_view fixed = look.spec.Get("$internal.pipeline.job-id");
  if (!fixed.empty()) return std::string(fixed);
  std::string id;
  for (size_t i = 0; i < kJobIdDigits; ++i) id += "0123456789abcdef"[api_.loop().random().Below(16)];
  return id;
}

JobConfig FlinkOperator::ConfigFor(const Look& look, std::string restore_from, std::string job_id) const {
  const Wishes wishes(look.object);
  JobConfig config;
  config.cluster = cluster_;
  config.workload = look.workload;
  config.job_id = std::move(job_id);
  config.epoch = look.spec.Get(kEpochKey).empty() ? "0" : std::string(look.spec.Get(kEpochKey));
  config.restore_from = std::move(restore_from);
  wishes.Fill(config);
  config.checkpoint_dir = look.spec.CheckpointDir();
  config.savepoint_dir = look.spec.SavepointDir();
  config.high_availability = look.spec.HighAvailability();
  config.checkpoint_every = look.spec.Time("execution.checkpointing.interval", config.checkpoint_every);
  const int64_t parallelism = std::max<int64_t>(1, look.spec.raw["job"]["parallelism"].int_or(1));
  const auto slots = static_cast<int64_t>(std::max(1.0, NumberIn(look.spec.Get("taskmanager.numberOfTaskSlots"), 1)));
  const int64_t replicas = look.spec.raw["taskManager"]["replicas"].int_or((parallelism + slots - 1) / slots);
  config.task_managers = static_cast<int>(std::clamp<int64_t>(replicas, 0, 100));
  return config;
}

Value FlinkOperator::DeploymentFor(const Look& look, const JobConfig& config) const {
  const Value labels =
      json::Object({{"app", look.workload.name},
                    {"component", "jobmanager"},
                    {"type", look.spec.native ? "flink-native-kubernetes" : "flink-standalone-kubernetes"}});
  const Value& image = look.spec.raw["image"];
  const Value container = json::Object({{"name", "flink-main-container"},
                                        {"image", image.is_string() && !image.str().empty() ? image : Value("flink")}});
  Value annotations = json::Object({{kGenerationAnnotation, StrCat(look.generation)}});
  annotations.Set(kJobAnnotation, json::Print(config.ToJson()));
  return json::Object(
      {{"apiVersion", "apps/v1"},
       {"kind", "Deployment"},
       {"metadata",
        json::Object({{"name", look.workload.name},
                      {"namespace", look.workload.ns},
                      {"labels", labels},
                      {"annotations", annotations},
                      {"ownerReferences", json::Array({json::Object({{"apiVersion", "flink.apache.org/v1beta1"},
                                                                     {"kind", "FlinkDeployment"},
                                                                     {"name", look.workload.name},
                                                                     {"uid", kube::UidOf(look.object)},
                                                                     {"blockOwnerDeletion", true},
                                                                     {"controller", false}})})}})},
       {"spec", json::Object({{"replicas", 1},
                              {"selector", json::Object({{"matchLabels", labels}})},
                              {"template",
                               json::Object({{"metadata", json::Object({{"labels", labels}})},
                                             {"spec", json::Object({{"containers", json::Array({container})}})}})}})}});
}

rt::Task<Result<void>> FlinkOperator::Deploy(Look& look, std::string restore_from, std::string job_id,
                                             bool last_state) {
  CO_TRY(co_await DeleteJobManager(look, /*forget=*/!last_state));
  const JobConfig config = ConfigFor(look, std::move(restore_from), std::move(job_id));
  Result<Value> made = co_await api_.Create(Deployments(), DeploymentFor(look, config));
  if (!made.ok()) {
    events_.Warning(look.object, "ClusterDeploymentException", made.error().message());
    co_return made.error().Context("creating the JobManager's Deployment");
  }
  events_.Normal(look.object, "Submit", "Starting deployment");
  look.status.Set("jobManagerDeploymentStatus", "DEPLOYING");
  look.status.Set("clusterInfo", json::Object({{"flink-version", look.spec.flink_version},
                                               {"flink-revision", "practice"},
                                               {"state-size", StrCat(config.state_bytes)}}));
  if (!look.spec.has_job) co_return Result<void>();
  // The log of records runs whether anybody reads it or not.
  commons_.SourceOf(look.workload, config.source);
  events_.Normal(look.object, "PracticeJob",
                 StrCat("This is a practice cluster: in place of ", look.spec.raw["job"]["jarURI"].str_or("the jar"),
                        " runs the practice job"));
  Value& job = look.status.Edit("jobStatus");
  job.Set("jobId", config.job_id);
  job.Set("jobName", look.workload.name);
  SetJobState(look, "RECONCILING");
  look.status.Set("taskManager",
                  json::Object({{"labelSelector", StrCat("component=taskmanager,app=", look.workload.name)},
                                {"replicas", config.task_managers}}));
  co_return Result<void>();
}

// Returns when its pods are gone, and with them the process.
rt::Task<Result<void>> FlinkOperator::DeleteJobManager(Look& look, bool forget) {
  const auto gone = co_await api_.Delete(Deployments(), kube::Name{look.workload.ns, look.workload.name},
                                         {.propagation = kube::Propagation::kBackground});
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  const rt::Deadline deadline = rt::Deadline::After(api_.loop(), options_.cleanup_timeout);
  while (managers_.Find(look.key) != nullptr || managers_.HasPods(look.key)) {
    if (deadline.Passed(api_.loop())) co_return UnavailableError("the JobManager's pods do not go");
    co_await api_.loop().Sleep(kLookAgain);
  }
  if (forget) co_await managers_.Forget(look.workload);
  look.status.Set("jobManagerDeploymentStatus", "MISSING");
  co_return Result<void>();
}

}  // namespace baton::practice
