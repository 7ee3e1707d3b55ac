// Ray (ray.io/v1): RayCluster, RayJob, RayService. All three describe the same cluster: one head, groups of workers.
#include <algorithm>
#include <string>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/pod.h"
#include "interpret/thirdparty.h"
#include "json/quantity.h"

namespace baton::interpret {

namespace {

using json::Value;

Result<std::vector<Component>> ClusterComponents(const Value& cluster) {
  std::vector<Component> components;
  const Value& head = At(cluster, {"headGroupSpec", "template"});
  if (head.is_object()) components.push_back(TRY(PodComponent("ray-head", Value(), 1, head)));
  size_t number = 0;
  for (const Value& group : cluster["workerGroupSpecs"].items()) {
    ++number;
    const std::string_view name = group["groupName"].str();
    components.push_back(TRY(PodComponent(name.empty() ? StrCat("worker-", number) : std::string(name),
                                          group["replicas"], 0, group["template"])));
  }
  return components;
}

std::vector<Value> ClusterDependencies(const Value& object, const Value& cluster) {
  const std::string_view name_space = At(object, {"metadata", "namespace"}).str();
  std::vector<Value> all = PodDependencies(At(cluster, {"headGroupSpec", "template"}), name_space);
  for (const Value& group : cluster["workerGroupSpecs"].items()) {
    std::vector<Value> own = PodDependencies(group["template"], name_space);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

// Head and workers as equal replicas, each with the largest cpu and memory of all.
Result<Replicas> ServiceReplicas(const Value& object) {
  const std::vector<Component> components = TRY(ClusterComponents(At(object, {"spec", "rayClusterConfig"})));
  if (components.empty() || components.front().name != "ray-head") return Replicas{};
  Replicas replicas{0, components.front().requirements};
  for (const Component& component : components) {
    replicas.count = SaturatingAdd(replicas.count, component.replicas);
    for (const std::string_view resource : {"cpu", "memory"}) {
      const Value& own = At(component.requirements, {"resourceRequest", resource});
      const Value& largest = At(replicas.requirements, {"resourceRequest", resource});
      if (own.is_null()) continue;
      if (largest.is_null() || TRY(json::Quantity::FromJson(own)) > TRY(json::Quantity::FromJson(largest)))
        TRY(SetAt(replicas.requirements, {"resourceRequest", resource}, own));
    }
  }
  return replicas;
}

// One replica is the head; the workers are shared out over the groups in proportion to what each has now, the largest
// remainders first, so that the sum is exact.
Result<Value> ReviseService(Value object, int64_t replicas) {
  const Value& groups = At(object, {"spec", "rayClusterConfig", "workerGroupSpecs"});
  if (groups.empty()) return object;
  const auto workers = static_cast<__int128>(std::max<int64_t>(0, replicas - 1));
  std::vector<int64_t> weights;
  __int128 total = 0;
  for (const Value& group : groups.items()) {
    weights.push_back(std::max<int64_t>(0, TRY(CountAt(group, {"replicas"}))));
    total += weights.back();
  }
  if (total == 0) {
    std::ranges::fill(weights, 1);
    total = static_cast<__int128>(weights.size());
  }
  std::vector<int64_t> shares;
  std::vector<std::pair<__int128, size_t>> remainders;  // negative, so that the largest sorts first
  __int128 given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    shares.push_back(static_cast<int64_t>(workers * weights[i] / total));
    remainders.emplace_back(-(workers * weights[i] % total), i);
    given += shares.back();
  }
  std::ranges::sort(remainders);
  for (size_t i = 0; given < workers; ++i, ++given) ++shares[remainders[i].second];
  Value& list = object.Edit("spec").Edit("rayClusterConfig").Edit("workerGroupSpecs");
  for (size_t i = 0; i < shares.size(); ++i) list.Edit(i).Set("replicas", shares[i]);
  return object;
}

void AddCluster(HandlerTable& table) {
  Handlers cluster = MakeHandlers({.aggregate = {{"readyWorkerReplicas"},
                                                 {"availableWorkerReplicas"},
                                                 {"minWorkerReplicas"},
                                                 {"maxWorkerReplicas"},
                                                 {"desiredWorkerReplicas"},
                                                 {"desiredCPU", Fold::kQuantity},
                                                 {"desiredGPU", Fold::kQuantity},
                                                 {"desiredTPU", Fold::kQuantity},
                                                 {"desiredMemory", Fold::kQuantity},
                                                 {"lastUpdateTime", Fold::kLatest},
                                                 {"endpoints", Fold::kFirst},
                                                 {"head", Fold::kFirst},
                                                 {"state", Fold::kFirst},
                                                 {"stateTransitionTimes", Fold::kFirst},
                                                 {"conditions", Fold::kConditions}},
                                   .single_as_is = true});
  cluster.components = [](const Value& object) { return ClusterComponents(object["spec"]); };
  cluster.health = [](const Value& observed) -> Result<bool> {
    const Value& conditions = At(observed, {"status", "conditions"});
    return IsConditionTrue(conditions, "HeadPodReady") && IsConditionTrue(conditions, "RayClusterProvisioned") &&
           !IsConditionTrue(conditions, "RayClusterReplicaFailure");
  };
  table[{"ray.io/v1", "RayCluster"}] = std::move(cluster);
}

void AddJob(HandlerTable& table) {
  Handlers job =
      MakeHandlers({.aggregate = {{"jobDeploymentStatus",
                                   Fold::kWorst,
                                   {"Initializing", "Waiting", "Suspending", "Suspended", "Retrying", "Running",
                                    "Complete", "ValidationFailed", "Failed"}},
                                  {"jobStatus", Fold::kWorst, {"PENDING", "RUNNING", "SUCCEEDED", "STOPPED", "FAILED"}},
                                  {"reason", Fold::kLast},
                                  {"message", Fold::kLast}},
                    .single_as_is = true});
  job.components = [](const Value& object) { return ClusterComponents(At(object, {"spec", "rayClusterSpec"})); };
  job.health = [](const Value& observed) -> Result<bool> {
    const std::string_view deployment = At(observed, {"status", "jobDeploymentStatus"}).str();
    const std::string_view state = At(observed, {"status", "jobStatus"}).str();
    return (deployment == "Running" && state != "FAILED" && state != "STOPPED") ||
           (deployment == "Complete" && state == "SUCCEEDED");
  };
  job.dependencies = [](const Value& object) -> Result<std::vector<Value>> {
    std::vector<Value> all = ClusterDependencies(object, At(object, {"spec", "rayClusterSpec"}));
    std::vector<Value> own =
        PodDependencies(At(object, {"spec", "submitterPodTemplate"}), At(object, {"metadata", "namespace"}).str());
    all.insert(all.end(), own.begin(), own.end());
    return all;
  };
  table[{"ray.io/v1", "RayJob"}] = std::move(job);
}

void AddService(HandlerTable& table) {
  Handlers service = MakeHandlers({.aggregate = {{"numServeEndpoints"},
                                                 {"observedGeneration", Fold::kMax},
                                                 {"lastUpdateTime", Fold::kLatest},
                                                 {"serviceStatus", Fold::kWorst, {"Running", ""}},
                                                 {"activeServiceStatus", Fold::kFirst},
                                                 {"pendingServiceStatus", Fold::kFirst},
                                                 {"conditions", Fold::kConditions}},
                                   .single_as_is = true,
                                   .health = IsReadyFor({})});
  service.replicas = ServiceReplicas;
  service.revise = ReviseService;
  service.dependencies = [](const Value& object) -> Result<std::vector<Value>> {
    return ClusterDependencies(object, At(object, {"spec", "rayClusterConfig"}));
  };
  table[{"ray.io/v1", "RayService"}] = std::move(service);
}

}  // namespace

void AddRay(HandlerTable& table) {
  AddCluster(table);
  AddJob(table);
  AddService(table);
}

}  // namespace baton::interpret
