// Pod.
#include <set>

#include "interpret/fields.h"
#include "interpret/native.h"
#include "interpret/pod.h"
#include "interpret/status.h"

namespace baton::interpret {

namespace {

using json::Value;

Result<Replicas> PodReplicas(const Value& object) { return Replicas{1, TRY(PodRequirements(object))}; }

// A member's value, or its absence.
void CopyField(Value& to, const Value& from, std::string_view key) {
  if (const Value* value = from.Find(key); value != nullptr && !value->is_null()) {
    to.Set(key, *value);
  } else {
    to.Erase(key);
  }
}

void RetainMounts(Value& desired_spec, const Value& observed_spec, std::string_view list) {
  if (!desired_spec[list].is_array()) return;
  Value& containers = desired_spec.Edit(list);
  for (const Value& observed : observed_spec[list].items()) {
    for (size_t i = 0; i < containers.size(); ++i) {
      if (!containers[i].is_object() || containers[i]["name"] != observed["name"]) continue;
      CopyField(containers.Edit(i), observed, "volumeMounts");
      break;
    }
  }
}

// What the member's scheduler and admission set, none of which an update may change.
Result<Value> RetainPod(Value desired, const Value& observed) {
  const Value& spec = observed["spec"];
  if (!spec.is_object() || !desired["spec"].is_object()) return desired;
  Value& desired_spec = desired.Edit("spec");
  CopyField(desired_spec, spec, "nodeName");
  CopyField(desired_spec, spec, "serviceAccountName");
  CopyField(desired_spec, spec, "volumes");
  RetainMounts(desired_spec, spec, "containers");
  RetainMounts(desired_spec, spec, "initContainers");
  return desired;
}

// The form that Karmada gives: readiness and state, and the required fields empty.
Value ContainerStatus(const Value& status) {
  return json::Object({{"name", ""},
                       {"image", ""},
                       {"imageID", ""},
                       {"restartCount", 0},
                       {"lastState", json::Object()},
                       {"ready", status["ready"].bool_or(false)},
                       {"state", status["state"].is_object() ? status["state"] : json::Object()}});
}

Result<Value> AggregatePod(Value object, const Items& items, WallTime /*now*/) {
  if (items.is_null()) return object;
  std::set<std::string, std::less<>> phases;
  Value containers = json::Array();
  Value init_containers = json::Array();
  for (const MemberStatus& member : TRY(MemberStatuses(items))) {
    if (member.status == nullptr) {
      phases.emplace("Pending");
      continue;
    }
    phases.emplace((*member.status)["phase"].str());
    for (const Value& one : (*member.status)["containerStatuses"].items()) containers.Push(ContainerStatus(one));
    for (const Value& one : (*member.status)["initContainerStatuses"].items())
      init_containers.Push(ContainerStatus(one));
  }
  Value status = json::Object();
  for (const std::string_view phase : {"Failed", "Pending", "Running", "Succeeded"}) {  // the worst wins
    if (!phases.contains(phase)) continue;
    status.Set("phase", phase);
    break;
  }
  if (!containers.empty()) status.Set("containerStatuses", std::move(containers));
  if (!init_containers.empty()) status.Set("initContainerStatuses", std::move(init_containers));
  object.Set("status", std::move(status));
  return object;
}

Result<bool> IsPodHealthy(const Value& object) {
  const std::string_view phase = TRY(StringAt(object, {"status", "phase"}));
  return phase == "Succeeded" || (phase == "Running" && IsConditionTrue(At(object, {"status", "conditions"}), "Ready"));
}

Result<std::vector<Value>> OwnDependencies(const Value& object) {
  return PodDependencies(object, At(object, {"metadata", "namespace"}).str());
}

}  // namespace

void AddNativePods(HandlerTable& table) {
  Handlers pod;
  pod.replicas = PodReplicas;
  pod.retain = RetainPod;
  pod.reflect = ReflectWhole;
  pod.aggregate = AggregatePod;
  pod.health = IsPodHealthy;
  pod.dependencies = OwnDependencies;
  table[{"v1", "Pod"}] = std::move(pod);
}

}  // namespace baton::interpret
