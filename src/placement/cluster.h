// Cluster: what scheduling needs of a Cluster object (cluster.karmada.io/v1alpha1), read once.
//
//   Cluster blue = TRY(ParseCluster(object));
//
// Reading is generous: a field that is absent is empty, because a cluster that has just joined has no status yet. A
// field of the wrong type is an error that names it, because guessing would place workloads wrongly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "placement/resources.h"

namespace baton::placement {

inline constexpr size_t kMaxTaints = 256;        // of one cluster
inline constexpr size_t kMaxZones = 256;         // of one cluster
inline constexpr size_t kMaxApiKinds = 10'000;   // of one cluster
inline constexpr size_t kMaxNodeGrades = 256;    // of one cluster
inline constexpr int64_t kMaxPodsPerNode = 110;  // what Kubernetes recommends and Karmada counts for a modelled node

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute

  // "key=value:effect", "key:effect" or "key", as Kubernetes prints a taint.
  std::string ToString() const;
  friend bool operator==(const Taint&, const Taint&) = default;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

// Nodes of one grade of spec.resourceModels: how many there are and what each has at least.
struct NodeGrade {
  int64_t count = 0;
  std::vector<Amount> minimum;  // sorted by name

  friend bool operator==(const NodeGrade&, const NodeGrade&) = default;
};

// What is left in the cluster: allocatable - allocated - allocating of status.resourceSummary.
struct Capacity {
  bool known = false;             // there is a summary at all; a cluster without one takes no replicas
  int64_t pods = 0;               // never below 0
  std::vector<Amount> available;  // sorted by name; below 0 when over-committed
  std::vector<NodeGrade> grades;  // empty: no model, the summary counts alone

  friend bool operator==(const Capacity&, const Capacity&) = default;
};

struct Cluster {
  std::string name;
  json::Value labels;  // an object of strings, or null
  std::vector<Taint> taints;
  std::string provider;
  std::string region;
  std::vector<std::string> zones;  // spec.zones, or the deprecated spec.zone; sorted
  std::vector<std::string> apis;   // ApiKey() of each kind the cluster serves; sorted
  bool apis_complete = false;      // condition CompleteAPIEnablements: what is not listed is not there
  Capacity capacity;
  bool deleting = false;
  bool ready = false;  // condition Ready; scheduling goes by taints, not by this (as Karmada)
};

// One kind of one group version, as the key of Cluster::apis.
std::string ApiKey(std::string_view api_version, std::string_view kind);

Result<Cluster> ParseCluster(const json::Value& object);

}  // namespace baton::placement
