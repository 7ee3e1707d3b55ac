// Deployment, ReplicaSet, StatefulSet, DaemonSet.
#include <algorithm>
#include <array>

#include "base/strings.h"
#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/pod.h"
#include "interpret/status.h"

namespace baton::interpret {

namespace {

using json::Value;

constexpr std::array<CountField, 5> kDeploymentCounts = {
    {{"replicas"}, {"readyReplicas"}, {"updatedReplicas"}, {"availableReplicas"}, {"unavailableReplicas"}}};
constexpr std::array<CountField, 3> kReplicaSetCounts = {
    {{"replicas", true}, {"readyReplicas"}, {"availableReplicas"}}};
constexpr std::array<CountField, 5> kStatefulSetCounts = {
    {{"replicas", true}, {"readyReplicas"}, {"currentReplicas"}, {"updatedReplicas"}, {"availableReplicas", true}}};
constexpr std::array<CountField, 7> kDaemonSetCounts = {{{"currentNumberScheduled", true},
                                                         {"desiredNumberScheduled", true},
                                                         {"numberMisscheduled", true},
                                                         {"numberReady", true},
                                                         {"numberAvailable"},
                                                         {"numberUnavailable"},
                                                         {"updatedNumberScheduled"}}};

Result<Replicas> SpecReplicas(const Value& object) {
  return Replicas{TRY(CountAt(object, {"spec", "replicas"})), TRY(PodRequirements(At(object, {"spec", "template"})))};
}

Result<Value> ReviseReplicas(Value object, int64_t replicas) {
  return ReviseSpecField(std::move(object), "replicas", replicas);
}

// The autoscaler of the member owns the number when the user says so.
Result<Value> RetainReplicas(Value desired, const Value& observed) {
  if (At(desired, {"metadata", "labels", kRetainReplicasLabel}).str() != "true") return desired;
  const std::optional<int64_t> replicas = TRY(IntAt(observed, {"spec", "replicas"}));
  if (!replicas) return InvalidError("spec.replicas: the member's object has none to retain");
  TRY(SetAt(desired, {"spec", "replicas"}, *replicas));
  return desired;
}

// Counts with zeros left out, except those that Kubernetes always writes.
Result<Value> ReflectCounts(const Value& object, std::span<const CountField> fields) {
  const Value status = TRY(StatusOf(object));
  if (status.is_null()) return Value();
  Value reflected = json::Object();
  for (const CountField& field : fields) {
    const int64_t count = TRY(CountAt(status, {field.name}));
    if (field.always || count != 0) reflected.Set(field.name, count);
  }
  SetOrErase(reflected, "observedGeneration", TRY(CountAt(status, {"observedGeneration"})));
  TRY(AddGenerations(object, reflected));
  return reflected.empty() ? Value() : reflected;
}

Result<bool> IsObserved(const Value& object) {
  return TRY(CountAt(object, {"status", "observedGeneration"})) == TRY(CountAt(object, {"metadata", "generation"}));
}

Result<bool> IsRolledOut(const Value& object) {
  const std::optional<int64_t> replicas = TRY(IntAt(object, {"spec", "replicas"}));
  const int64_t updated = TRY(CountAt(object, {"status", "updatedReplicas"}));
  const int64_t available = TRY(CountAt(object, {"status", "availableReplicas"}));
  return TRY(IsObserved(object)) && (!replicas || updated >= *replicas) && available >= updated;
}

Result<bool> IsReplicaSetHealthy(const Value& object) {
  const std::optional<int64_t> replicas = TRY(IntAt(object, {"spec", "replicas"}));
  const int64_t available = TRY(CountAt(object, {"status", "availableReplicas"}));
  return TRY(IsObserved(object)) && (!replicas || available >= *replicas);
}

Result<bool> IsDaemonSetHealthy(const Value& object) {
  const int64_t updated = TRY(CountAt(object, {"status", "updatedNumberScheduled"}));
  return TRY(IsObserved(object)) && updated >= TRY(CountAt(object, {"status", "desiredNumberScheduled"})) &&
         TRY(CountAt(object, {"status", "numberAvailable"})) >= updated;
}

// Claims that the set makes from its own templates are no dependencies.
Result<std::vector<Value>> StatefulSetDependencies(const Value& object) {
  std::vector<Value> references = TRY(TemplateDependencies(object));
  const Value& templates = At(object, {"spec", "volumeClaimTemplates"});
  std::erase_if(references, [&](const Value& reference) {
    return reference["kind"].str() == "PersistentVolumeClaim" &&
           std::ranges::any_of(templates.items(), [&](const Value& claim) {
             return At(claim, {"metadata", "name"}) == reference["name"];
           });
  });
  return references;
}

Handlers Workload(std::span<const CountField> counts) {
  Handlers handlers;
  handlers.replicas = SpecReplicas;
  handlers.revise = ReviseReplicas;
  handlers.reflect = [counts](const Value& object) { return ReflectCounts(object, counts); };
  handlers.aggregate = [counts](Value object, const Items& items, WallTime /*now*/) {
    return SumStatuses(std::move(object), items, counts, true);
  };
  handlers.health = IsRolledOut;
  handlers.dependencies = TemplateDependencies;
  return handlers;
}

}  // namespace

void AddNativeWorkloads(HandlerTable& table) {
  Handlers deployment = Workload(kDeploymentCounts);
  deployment.retain = RetainReplicas;
  table[{"apps/v1", "Deployment"}] = std::move(deployment);

  Handlers replica_set = Workload(kReplicaSetCounts);
  replica_set.health = IsReplicaSetHealthy;
  table[{"apps/v1", "ReplicaSet"}] = std::move(replica_set);

  // Unlike Karmada's, whose reflected status forgets observedGeneration, so that the template's never advances.
  Handlers stateful_set = Workload(kStatefulSetCounts);
  stateful_set.dependencies = StatefulSetDependencies;
  table[{"apps/v1", "StatefulSet"}] = std::move(stateful_set);

  Handlers daemon_set = Workload(kDaemonSetCounts);
  daemon_set.replicas = nullptr;
  daemon_set.revise = nullptr;
  daemon_set.health = IsDaemonSetHealthy;
  table[{"apps/v1", "DaemonSet"}] = std::move(daemon_set);
}

}  // namespace baton::interpret
