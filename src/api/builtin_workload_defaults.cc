// Defaults of what makes pods: apps/v1, batch/v1, replication controllers and autoscaling/v2.
#include <limits>

#include "api/builtin_kinds.h"

namespace baton::api::builtin {
namespace {

constexpr int64_t kRevisionHistory = 10;
constexpr int64_t kProgressDeadlineSeconds = 600;
constexpr int64_t kBackoffLimit = 6;
constexpr int64_t kScalingPeriodSeconds = 15;
constexpr int64_t kScaleUpPods = 4;
constexpr int64_t kCpuUtilization = 80;

void DefaultJobSpec(Value& spec) {
  if (spec["parallelism"].is_null()) {
    DefaultTo(spec, "completions", 1);  // only where both are absent
    if (spec["completions"].is_null()) spec.Erase("completions");
  }
  DefaultTo(spec, "parallelism", 1);
  const bool per_index = !spec["backoffLimitPerIndex"].is_null();
  DefaultTo(spec, "backoffLimit", per_index ? int64_t{std::numeric_limits<int32_t>::max()} : kBackoffLimit);
  DefaultTo(spec, "completionMode", "NonIndexed");
  DefaultTo(spec, "suspend", false);
  DefaultTo(spec, "podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  DefaultTo(spec, "manualSelector", false);
}

void DefaultFailurePolicy(Value& spec) {
  Value* policy = EditObjectIfThere(spec, "podFailurePolicy");
  if (policy == nullptr) return;
  EditEach(*policy, "rules", [](Value& rule) {
    EditEach(rule, "onPodConditions", [](Value& pattern) { DefaultText(pattern, "status", "True"); });
  });
}

void DefaultScalingRules(Value& behaviour, std::string_view direction, Value policies, bool stabilized) {
  Value* rules = EditObject(behaviour, direction);
  if (rules == nullptr) return;
  if (stabilized) DefaultTo(*rules, "stabilizationWindowSeconds", 0);
  DefaultTo(*rules, "selectPolicy", "Max");
  DefaultTo(*rules, "policies", std::move(policies));
}

Value ScalingPolicy(std::string_view type, int64_t value) {
  return json::Object({{"type", type}, {"value", value}, {"periodSeconds", kScalingPeriodSeconds}});
}

}  // namespace

void DefaultDeployment(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "replicas", 1);
  DefaultTo(*spec, "revisionHistoryLimit", kRevisionHistory);
  DefaultTo(*spec, "progressDeadlineSeconds", kProgressDeadlineSeconds);
  if (Value* strategy = EditObject(*spec, "strategy")) {
    DefaultText(*strategy, "type", "RollingUpdate");
    if ((*strategy)["type"].str() == "RollingUpdate") {
      if (Value* rolling = EditObject(*strategy, "rollingUpdate")) {
        DefaultTo(*rolling, "maxUnavailable", "25%");
        DefaultTo(*rolling, "maxSurge", "25%");
      }
    }
  }
  DefaultPodTemplate(*spec);
}

void DefaultDaemonSet(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "revisionHistoryLimit", kRevisionHistory);
  if (Value* strategy = EditObject(*spec, "updateStrategy")) {
    DefaultText(*strategy, "type", "RollingUpdate");
    if ((*strategy)["type"].str() == "RollingUpdate") {
      if (Value* rolling = EditObject(*strategy, "rollingUpdate")) {
        DefaultTo(*rolling, "maxUnavailable", 1);
        DefaultTo(*rolling, "maxSurge", 0);
      }
    }
  }
  DefaultPodTemplate(*spec);
}

void DefaultStatefulSet(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultText(*spec, "podManagementPolicy", "OrderedReady");
  DefaultTo(*spec, "replicas", 1);
  DefaultTo(*spec, "revisionHistoryLimit", kRevisionHistory);
  DefaultTo(*spec, "serviceName", "");
  if (Value* strategy = EditObject(*spec, "updateStrategy")) {
    if (IsUnset((*strategy)["type"])) {
      strategy->Set("type", "RollingUpdate");
      DefaultTo(*strategy, "rollingUpdate", json::Object());
    }
    Value* rolling = EditObjectIfThere(*strategy, "rollingUpdate");
    if (rolling != nullptr && (*strategy)["type"].str() == "RollingUpdate") {
      DefaultTo(*rolling, "partition", 0);
    }
  }
  if (Value* retention = EditObject(*spec, "persistentVolumeClaimRetentionPolicy")) {
    DefaultText(*retention, "whenDeleted", "Retain");
    DefaultText(*retention, "whenScaled", "Retain");
  }
  EditEach(*spec, "volumeClaimTemplates", [](Value& claim) {
    claim.Set("apiVersion", "v1");
    claim.Set("kind", "PersistentVolumeClaim");
    DefaultTo(claim, "metadata", json::Object());
    DefaultPersistentVolumeClaim(claim);
  });
  DefaultPodTemplate(*spec);
}

void DefaultReplicaSet(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "replicas", 1);
  DefaultPodTemplate(*spec);
}

void DefaultReplicationController(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "replicas", 1);
  if ((*spec)["template"].is_object()) DefaultPodTemplate(*spec);
  const Value labels = (*spec)["template"]["metadata"]["labels"];
  if (!labels.is_object() || labels.empty()) return;
  if ((*spec)["selector"].empty()) spec->Set("selector", labels);
  Value* metadata = EditObject(object, "metadata");
  if (metadata != nullptr && (*metadata)["labels"].empty()) metadata->Set("labels", labels);
}

void DefaultJob(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultJobSpec(*spec);
  DefaultFailurePolicy(*spec);
  DefaultPodTemplate(*spec);
}

void DefaultCronJob(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultText(*spec, "concurrencyPolicy", "Allow");
  DefaultTo(*spec, "suspend", false);
  DefaultTo(*spec, "successfulJobsHistoryLimit", 3);
  DefaultTo(*spec, "failedJobsHistoryLimit", 1);
  // The job template itself gets no defaults of a Job: the Job that is made from it will.
  Value* job = EditObject(*spec, "jobTemplate");
  if (job == nullptr) return;
  DefaultTo(*job, "metadata", json::Object());
  if (Value* job_spec = EditObject(*job, "spec")) {
    DefaultFailurePolicy(*job_spec);
    DefaultPodTemplate(*job_spec);
  }
}

void DefaultAutoscaler(Value& object) {
  Value* spec = EditObject(object, "spec");
  if (spec == nullptr) return;
  DefaultTo(*spec, "minReplicas", 1);
  if ((*spec)["metrics"].is_null() || ((*spec)["metrics"].is_array() && (*spec)["metrics"].empty())) {
    Value target = json::Object({{"type", "Utilization"}, {"averageUtilization", kCpuUtilization}});
    Value metric = json::Object(
        {{"type", "Resource"}, {"resource", json::Object({{"name", "cpu"}, {"target", std::move(target)}})}});
    spec->Set("metrics", json::Array({std::move(metric)}));
  }
  if (Value* behaviour = EditObjectIfThere(*spec, "behavior")) {
    DefaultScalingRules(*behaviour, "scaleUp",
                        json::Array({ScalingPolicy("Pods", kScaleUpPods), ScalingPolicy("Percent", 100)}), true);
    DefaultScalingRules(*behaviour, "scaleDown", json::Array({ScalingPolicy("Percent", 100)}), false);
  }
}

}  // namespace baton::api::builtin
