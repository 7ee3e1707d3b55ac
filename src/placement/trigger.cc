// What makes the scheduler decide anew, and what does not.
#include <algorithm>

#include "json/parse.h"
#include "placement/schedule.h"

namespace baton::placement {

namespace {

bool AppliedPlacementDiffers(const Binding& binding, const PreparedPlacement& prepared) {
  if (binding.applied_placement == prepared.text()) return false;  // as we wrote it ourselves
  const Result<json::Value> text = json::Parse(binding.applied_placement);
  if (!text.ok()) return true;
  const Result<Placement> applied = CompilePlacement(*text);
  return !applied.ok() || PlacementChanged(prepared.placement(), *applied, binding.observed_affinity);
}

bool ReplicasChanged(const Binding& binding, const Placement& placement) {
  if (!placement.has_replica_scheduling) return false;
  if (!binding.components.empty() && binding.clusters.empty()) return true;
  if (!placement.divided()) {
    return std::ranges::any_of(binding.clusters,
                               [&](const TargetCluster& target) { return target.replicas != binding.replicas; });
  }
  int64_t sum = 0;
  for (const TargetCluster& target : binding.clusters) sum += target.replicas;
  return sum != binding.replicas;
}

bool ClusterGone(const Binding& binding, const Fleet& fleet) {
  return std::ranges::any_of(binding.clusters, [&](const TargetCluster& target) {
    const std::optional<size_t> at = fleet.Find(target.name);
    return !at.has_value() || fleet[*at].deleting;
  });
}

}  // namespace

std::string_view TriggerText(Trigger trigger) {
  switch (trigger) {
    case Trigger::kNone:
      return "nothing that matters to scheduling changed";
    case Trigger::kPlacementChanged:
      return "the placement changed";
    case Trigger::kReplicasChanged:
      return "the number of replicas changed";
    case Trigger::kRescheduleRequested:
      return "rescheduling was requested";
    case Trigger::kAlwaysScheduled:
      return "what is not divided is decided at every look";
    case Trigger::kClusterGone:
      return "a cluster it runs in is being deleted or is gone";
  }
  return "";
}

Trigger TriggerOf(const Binding& binding, const PreparedPlacement& prepared) {
  const Placement& placement = prepared.placement();
  if (AppliedPlacementDiffers(binding, prepared)) return Trigger::kPlacementChanged;
  if (ReplicasChanged(binding, placement)) return Trigger::kReplicasChanged;
  if (binding.RescheduleRequired()) return Trigger::kRescheduleRequested;
  if (!binding.IsWorkload() || !placement.divided()) return Trigger::kAlwaysScheduled;
  if (ClusterGone(binding, prepared.fleet())) return Trigger::kClusterGone;
  return Trigger::kNone;
}

}  // namespace baton::placement
