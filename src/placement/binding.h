// Binding: what scheduling needs of a ResourceBinding or ClusterResourceBinding (work.karmada.io/v1alpha2), read once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "placement/resources.h"

namespace baton::placement {

inline constexpr size_t kMaxBindingItems = 100'000;  // clusters, eviction tasks or components of one binding
inline constexpr std::string_view kAppliedPlacementAnnotation = "policy.karmada.io/applied-placement";

// One of several pod templates of a workload, as a FlinkDeployment has them.
struct Component {
  std::string name;
  int32_t replicas = 0;
  Request request;

  friend bool operator==(const Component&, const Component&) = default;
};

struct TargetComponent {
  std::string name;
  int32_t replicas = 0;

  friend bool operator==(const TargetComponent&, const TargetComponent&) = default;
};

// One of spec.clusters.
struct TargetCluster {
  std::string name;
  int32_t replicas = 0;
  std::vector<TargetComponent> components;

  friend bool operator==(const TargetCluster&, const TargetCluster&) = default;
};

// Where the other workloads of the binding's groups run (placement.workloadAffinity). The caller looks them up, its own
// latest decisions included.
struct Peers {
  std::vector<std::vector<std::string>> together;  // the clusters of each binding of the affinity group
  std::vector<std::string> apart;                  // all clusters of the bindings of the anti-affinity group
};

struct Binding {
  std::string api_version;  // of the template
  std::string kind;
  std::string
      uid;  // of the template: breaks ties in a division, so that the odd replica is not always the first cluster's

  int32_t replicas = 0;
  bool has_requirements = false;  // spec.replicaRequirements is there, be it empty
  Request request;
  std::vector<Component> components;

  std::vector<TargetCluster> clusters;  // where it is now
  std::vector<std::string> evicting;    // fromCluster of gracefulEvictionTasks: barred, whatever else holds
  std::optional<WallTime> reschedule_triggered_at;
  bool suspended = false;      // suspension.scheduling
  bool has_placement = false;  // without one it is a dependency that follows others

  std::string observed_affinity;  // status.schedulerObservingAffinityName
  std::optional<WallTime> last_scheduled;
  std::string applied_placement;  // the annotation's text
  bool deleting = false;
  Peers peers;  // not read from the object

  // Has replicas or may have them; everything else (a ConfigMap, a Service) goes to every selected cluster.
  bool IsWorkload() const { return replicas > 0 || has_requirements || !components.empty(); }
  // A person asked for a fresh decision (WorkloadRebalancer) since the last one. Before the first one: no.
  bool RescheduleRequired() const {
    return reschedule_triggered_at.has_value() && last_scheduled.has_value() &&
           *reschedule_triggered_at > *last_scheduled;
  }
  const TargetCluster* FindTarget(std::string_view cluster) const;
};

// Errors name the field. A time that Go writes for "none" (year 1) is none.
Result<Binding> ParseBinding(const json::Value& object);

// spec.clusters, as Karmada writes it: replicas and components only when there are some.
json::Value TargetsToJson(const std::vector<TargetCluster>& clusters);

}  // namespace baton::placement
