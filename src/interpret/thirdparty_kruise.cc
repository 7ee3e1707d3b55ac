// OpenKruise (apps.kruise.io).
#include <array>

#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/thirdparty.h"

namespace baton::interpret {

namespace {

using json::Value;

Result<bool> IsDaemonSetReady(const Value& observed) {
  const Value& status = observed["status"];
  if (!status.is_object()) return false;
  const int64_t updated = TRY(CountAt(status, {"updatedNumberScheduled"}));
  return TRY(CountAt(status, {"observedGeneration"})) == TRY(CountAt(observed, {"metadata", "generation"})) &&
         updated >= TRY(CountAt(status, {"desiredNumberScheduled"})) &&
         TRY(CountAt(status, {"numberAvailable"})) >= updated;
}

Result<bool> IsBroadcastHealthy(const Value& observed) {
  const Value& status = observed["status"];
  const int64_t done = SaturatingAdd(TRY(CountAt(status, {"succeeded"})), TRY(CountAt(status, {"active"})));
  return TRY(CountAt(status, {"desired"})) != 0 && TRY(CountAt(status, {"failed"})) == 0 && done > 0;
}

Result<bool> IsSidecarSetHealthy(const Value& observed) {
  const Value& status = observed["status"];
  if (!status.is_object()) return false;
  const int64_t matched = TRY(CountAt(status, {"matchedPods"}));
  return matched == 0 || TRY(CountAt(status, {"updatedPods"})) == matched;
}

// A UnitedDeployment holds one of four workload templates; the pod template is inside.
const Value& UnitedPods(const Value& object) {
  static constexpr std::array<std::string_view, 4> kTemplates = {"statefulSetTemplate", "advancedStatefulSetTemplate",
                                                                 "cloneSetTemplate", "deploymentTemplate"};
  for (const std::string_view name : kTemplates) {
    const Value& pods = At(object, {"spec", "template", name, "spec", "template"});
    if (!pods.is_null()) return pods;
  }
  return At(object, {"spec", "template"});
}

void AddWorkloads(HandlerTable& table) {
  table[{"apps.kruise.io/v1alpha1", "CloneSet"}] =
      MakeHandlers({.replicas = "spec.replicas",
                    .revise = true,
                    .pods = {"spec.template"},
                    .reflect = {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
                                "updatedReadyReplicas", "expectedUpdatedReplicas", "updateRevision", "currentRevision",
                                "labelSelector", "observedGeneration"},
                    .aggregate = {{"replicas"},
                                  {"updatedReplicas"},
                                  {"readyReplicas"},
                                  {"availableReplicas"},
                                  {"updatedReadyReplicas"},
                                  {"expectedUpdatedReplicas"},
                                  {"updateRevision", Fold::kLast},
                                  {"currentRevision", Fold::kLast},
                                  {"labelSelector", Fold::kLast}},
                    .generations = true,
                    .health = IsRolledOutWorkload});
  table[{"apps.kruise.io/v1beta1", "StatefulSet"}] =
      MakeHandlers({.replicas = "spec.replicas",
                    .revise = true,
                    .pods = {"spec.template"},
                    .reflect = {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                                "updatedReadyReplicas", "updateRevision", "currentRevision", "observedGeneration"},
                    .aggregate = {{"replicas"},
                                  {"readyReplicas"},
                                  {"currentReplicas"},
                                  {"updatedReplicas"},
                                  {"availableReplicas"},
                                  {"updatedReadyReplicas"},
                                  {"updateRevision", Fold::kLast},
                                  {"currentRevision", Fold::kLast}},
                    .generations = true,
                    .health = IsRolledOutWorkload});
  table[{"apps.kruise.io/v1alpha1", "DaemonSet"}] =
      MakeHandlers({.pods = {"spec.template"},
                    .reflect = {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady",
                                "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "daemonSetHash",
                                "observedGeneration"},
                    .aggregate = {{"currentNumberScheduled"},
                                  {"numberMisscheduled"},
                                  {"desiredNumberScheduled"},
                                  {"numberReady"},
                                  {"updatedNumberScheduled"},
                                  {"numberAvailable"},
                                  {"numberUnavailable"},
                                  {"daemonSetHash", Fold::kLast}},
                    .generations = true,
                    .health = IsDaemonSetReady});
}

void AddUnitedDeployment(HandlerTable& table) {
  Handlers handlers = MakeHandlers({.replicas = "spec.replicas",
                                    .revise = true,
                                    .reflect = {"replicas", "readyReplicas", "updatedReplicas", "availableReplicas",
                                                "unavailableReplicas", "conditions", "observedGeneration"},
                                    .aggregate = {{"replicas"},
                                                  {"readyReplicas"},
                                                  {"updatedReplicas"},
                                                  {"availableReplicas"},
                                                  {"unavailableReplicas"},
                                                  {"conditions", Fold::kConditions}},
                                    .generations = true,
                                    .health = IsRolledOutWorkload});
  handlers.replicas = [](const Value& object) -> Result<Replicas> {
    return Replicas{TRY(CountAt(object, {"spec", "replicas"})), TRY(PodRequirements(UnitedPods(object)))};
  };
  handlers.dependencies = [](const Value& object) -> Result<std::vector<Value>> {
    return PodDependencies(UnitedPods(object), At(object, {"metadata", "namespace"}).str());
  };
  table[{"apps.kruise.io/v1alpha1", "UnitedDeployment"}] = std::move(handlers);
}

void AddTheRest(HandlerTable& table) {
  table[{"apps.kruise.io/v1alpha1", "BroadcastJob"}] = MakeHandlers(
      {.replicas = "spec.parallelism",
       .default_replicas = 1,
       .revise = true,
       .pods = {"spec.template"},
       .retain = {"spec.template.metadata.labels"},
       .reflect = {"conditions", "startTime", "completionTime", "active", "succeeded", "failed", "desired", "phase"},
       .aggregate = {{"active"},
                     {"succeeded"},
                     {"failed"},
                     {"desired"},
                     {"phase", Fold::kWorst, {"completed", "paused", "running", "failed"}},
                     {"conditions", Fold::kJobConditions, {"Complete"}}},
       .health = IsBroadcastHealthy});

  Handlers sidecar_set = MakeHandlers({.reflect = {"matchedPods", "updatedPods", "readyPods"},
                                       .aggregate = {{"matchedPods"}, {"updatedPods"}, {"readyPods"}},
                                       .health = IsSidecarSetHealthy});
  sidecar_set.replicas = [](const Value& /*object*/) -> Result<Replicas> { return Replicas{}; };  // it runs no pods
  sidecar_set.retain = [](Value desired, const Value& /*observed*/) -> Result<Value> { return desired; };
  sidecar_set.dependencies = [](const Value& object) -> Result<std::vector<Value>> {
    return PodDependencies(object,
                           At(object, {"metadata", "namespace"}).str());  // its spec names containers as a pod's
  };
  table[{"apps.kruise.io/v1alpha1", "SidecarSet"}] = std::move(sidecar_set);

  table[{"apps.kruise.io/v1alpha1", "AdvancedCronJob"}] = MakeHandlers(
      {.pods = {"spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template"},
       .aggregate = {{"active", Fold::kConcat}, {"type", Fold::kLast}, {"lastScheduleTime", Fold::kLatest}}});
}

}  // namespace

void AddKruise(HandlerTable& table) {
  AddWorkloads(table);
  AddUnitedDeployment(table);
  AddTheRest(table);
}

}  // namespace baton::interpret
