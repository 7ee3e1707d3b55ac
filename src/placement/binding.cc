// Reading a binding.
#include "placement/binding.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "json/builder.h"
#include "json/rfc3339.h"

namespace baton::placement {

namespace {

using json::Value;

Result<void> CheckList(const Value& value, std::string_view where) {
  if (!value.is_null() && !value.is_array()) return InvalidError(StrCat(where, " must be a list"));
  if (value.size() > kMaxBindingItems) {
    return TooLargeError(StrCat(where, " has ", value.size(), " items; at most ", kMaxBindingItems));
  }
  return {};
}

Result<std::string> Text(const Value& value, std::string_view where) {
  if (!value.is_null() && !value.is_string()) return InvalidError(StrCat(where, " must be a string"));
  return std::string(value.str());
}

Result<int32_t> Replicas(const Value& value, std::string_view where) {
  if (value.is_null()) return 0;
  const int64_t number = value.int_or(-1);
  if (number < 0 || number > std::numeric_limits<int32_t>::max()) {
    return InvalidError(StrCat(where, " must be a whole number from 0 to 2147483647"));
  }
  return static_cast<int32_t>(number);
}

Result<std::optional<WallTime>> Time(const Value& value, std::string_view where) {
  const std::string text = TRY(Text(value, where));
  if (text.empty()) return std::optional<WallTime>();
  Result<WallTime> time = json::ParseTime(text);
  if (!time.ok() && time.error().kind() == ErrorKind::kTooLarge) return std::optional<WallTime>();
  return std::optional<WallTime>(TRY(std::move(time).Context(where)));
}

Result<TargetCluster> ParseTarget(const Value& item) {
  TargetCluster target;
  target.name = TRY(Text(item["name"], "spec.clusters[].name"));
  target.replicas = TRY(Replicas(item["replicas"], "spec.clusters[].replicas"));
  TRY(CheckList(item["components"], "spec.clusters[].components"));
  for (const Value& component : item["components"].items()) {
    target.components.push_back({TRY(Text(component["name"], "spec.clusters[].components[].name")),
                                 TRY(Replicas(component["replicas"], "spec.clusters[].components[].replicas"))});
  }
  return target;
}

Result<Component> ParseComponent(const Value& item) {
  Component component;
  component.name = TRY(Text(item["name"], "spec.components[].name"));
  component.replicas = TRY(Replicas(item["replicas"], "spec.components[].replicas"));
  component.request = TRY(ParseRequest(item["replicaRequirements"]["resourceRequest"],
                                       "spec.components[].replicaRequirements.resourceRequest"));
  return component;
}

Result<void> ParseSpec(const Value& spec, Binding& binding) {
  const Value& resource = spec["resource"];
  binding.api_version = TRY(Text(resource["apiVersion"], "spec.resource.apiVersion"));
  binding.kind = TRY(Text(resource["kind"], "spec.resource.kind"));
  binding.uid = TRY(Text(resource["uid"], "spec.resource.uid"));
  binding.replicas = TRY(Replicas(spec["replicas"], "spec.replicas"));
  const Value& requirements = spec["replicaRequirements"];
  binding.has_requirements = !requirements.is_null();
  binding.request = TRY(ParseRequest(requirements["resourceRequest"], "spec.replicaRequirements.resourceRequest"));
  TRY(CheckList(spec["components"], "spec.components"));
  for (const Value& item : spec["components"].items()) binding.components.push_back(TRY(ParseComponent(item)));
  TRY(CheckList(spec["clusters"], "spec.clusters"));
  for (const Value& item : spec["clusters"].items()) binding.clusters.push_back(TRY(ParseTarget(item)));
  TRY(CheckList(spec["gracefulEvictionTasks"], "spec.gracefulEvictionTasks"));
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    binding.evicting.push_back(TRY(Text(task["fromCluster"], "spec.gracefulEvictionTasks[].fromCluster")));
  }
  binding.reschedule_triggered_at = TRY(Time(spec["rescheduleTriggeredAt"], "spec.rescheduleTriggeredAt"));
  binding.suspended = spec["suspension"]["scheduling"].bool_or(false);
  binding.has_placement = spec["placement"].is_object();
  return {};
}

}  // namespace

const TargetCluster* Binding::FindTarget(std::string_view cluster) const {
  for (const TargetCluster& target : clusters) {
    if (target.name == cluster) return &target;
  }
  return nullptr;
}

Result<Binding> ParseBinding(const Value& object) {
  Binding binding;
  TRY(ParseSpec(object["spec"], binding));
  const Value& metadata = object["metadata"];
  const Value& status = object["status"];
  binding.deleting = !metadata["deletionTimestamp"].is_null();
  binding.applied_placement =
      TRY(Text(metadata["annotations"][kAppliedPlacementAnnotation], "the annotation applied-placement"));
  binding.observed_affinity =
      TRY(Text(status["schedulerObservingAffinityName"], "status.schedulerObservingAffinityName"));
  binding.last_scheduled = TRY(Time(status["lastScheduledTime"], "status.lastScheduledTime"));
  return binding;
}

Value TargetsToJson(const std::vector<TargetCluster>& clusters) {
  json::ArrayBuilder list;
  for (const TargetCluster& target : clusters) {
    Value item = json::Object({{"name", target.name}});
    if (target.replicas != 0) item.Set("replicas", target.replicas);
    if (!target.components.empty()) {
      json::ArrayBuilder components;
      for (const TargetComponent& component : target.components) {
        components.Add(json::Object({{"name", component.name}, {"replicas", component.replicas}}));
      }
      item.Set("components", std::move(components).Build());
    }
    list.Add(std::move(item));
  }
  return std::move(list).Build();
}

}  // namespace baton::placement
