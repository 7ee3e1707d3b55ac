// JobManager Deployments: made and removed.
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"
#include "json/print.h"
#include "json/quantity.h"
#include "practice/flink_operator.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr size_t kJobIdDigits = 32;
constexpr Duration kLookAgain = milliseconds(100);  // while pods go
constexpr std::string_view kPrefix = "practice.baton.io/";

double NumberIn(std::string_view text, double fallback) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : fallback;
}

// What a person wrote beside the workload: practice.baton.io/<name>.
class Wishes {
 public:
  explicit Wishes(const Value& object) : annotations_(object["metadata"]["annotations"]) {}
  std::string_view Text(std::string_view name) const { return annotations_[StrCat(kPrefix, name)].str(); }
  double Number(std::string_view name, double fallback) const { return NumberIn(Text(name), fallback); }
  uint64_t Bytes(std::string_view name, uint64_t fallback) const {
    const Result<json::Quantity> quantity = json::Quantity::Parse(Text(name));
    const int64_t bytes = quantity.ok() ? quantity->Value().value_or(int64_t{-1}) : -1;
    return bytes < 0 ? fallback : static_cast<uint64_t>(bytes);
  }
  Duration Time(std::string_view name, Duration fallback) const {
    return Text(name).empty() ? fallback : ParseFlinkDuration(Text(name)).value_or(fallback);
  }

 private:
  const Value& annotations_;
};

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
  config.start_latest = wishes.Text("start-from") == "latest";
  config.checkpoint_dir = look.spec.CheckpointDir();
  config.savepoint_dir = look.spec.SavepointDir();
  config.high_availability = look.spec.HighAvailability();
  config.exactly_once = wishes.Text("sink") != "at-least-once";
  config.checkpoint_every = look.spec.Time("execution.checkpointing.interval", config.checkpoint_every);
  config.start_time = wishes.Time("start-time", config.start_time);
  config.stop_time = wishes.Time("stop-time", config.stop_time);
  config.state_bytes = wishes.Bytes("state-size", config.state_bytes);
  config.bytes_per_second = std::max<uint64_t>(1, wishes.Bytes("state-speed", config.bytes_per_second));
  config.source.partitions = static_cast<uint32_t>(
      std::clamp(wishes.Number("partitions", config.source.partitions), 1.0, double{kPartitionsMax}));
  config.source.keys =
      static_cast<uint32_t>(std::clamp(wishes.Number("keys", config.source.keys), 1.0, double{kKeysMax}));
  config.source.rate = wishes.Number("rate", config.source.rate);
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
