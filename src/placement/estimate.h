// Estimates: how many more replicas each cluster can take, from its resourceSummary.
//
//   Estimator estimator(fleet, &assumed);                        // a new one per fleet
//   const Estimates& estimates = estimator.For(binding, prepared->placement());
//
// A cluster takes as many replicas as the scarcest of: free pods, and for each resource that a replica asks for what is
// left (allocatable - allocated - allocating) divided by the request. A cluster without a summary takes none, and one
// that does not list a requested resource takes none. When the cluster models its nodes (spec.resourceModels and the
// counts in its status), replicas must also fit on single nodes: each node of a grade is counted with that grade's
// minimum and 110 pods. A workload with several components that must run in one cluster is counted in whole sets, by
// the summary alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "placement/binding.h"
#include "placement/fleet.h"
#include "placement/prepared.h"
#include "placement/resources.h"

namespace baton::placement {

class Assumed;

inline constexpr int32_t kUnknownEstimate = -1;  // no estimator answered: counts as "enough"

// Available replicas (or sets) by the cluster's number in the fleet.
using Estimates = std::vector<int32_t>;

// What is taken of a cluster beside what its status says.
struct Load {
  int64_t pods = 0;
  std::vector<Amount> amounts;  // sorted by name
  struct Shape {
    Request request;
    int64_t replicas = 0;
  };
  std::vector<Shape> shapes;  // the same, replica by replica

  void Add(const Request& request, int64_t replicas);  // replicas may be negative: takes it back
  bool empty() const { return pods == 0; }
};

// One cluster. `request` null: the workload has no requirements, only pods count. `load` null: none.
int32_t EstimateReplicas(const Capacity& capacity, const Request* request, const Load* load = nullptr);
int32_t EstimateSets(const Capacity& capacity, std::span<const Component> components, const Load* load = nullptr);

// The smaller of the two for each cluster, for more than one estimator. An unknown does not count.
void Merge(Estimates& into, std::span<const int32_t> other);

// Counted in sets: several components that run as one, placed in exactly one cluster.
bool CountsInSets(const Binding& binding, const Placement& placement);

// Remembers its answers by request, and of what is assumed looks only at the clusters that changed since: a burst of
// bindings costs little more than the decisions themselves. Not thread-safe.
class Estimator {
 public:
  static constexpr size_t kMaxRemembered = 1024;  // requests; then it starts anew

  // `assumed` may be null; it must outlive the estimator.
  explicit Estimator(std::shared_ptr<const Fleet> fleet, const Assumed* assumed = nullptr)
      : fleet_(std::move(fleet)), assumed_(assumed) {}

  // What Schedule() takes; valid until the next call. Empty when there is nothing to count.
  const Estimates& For(const Binding& binding, const Placement& placement);

 private:
  struct Known {
    Estimates estimates;
    uint64_t version = 0;  // of assumed_, when they were brought up to date
  };
  static bool Less(const Request& a, const Request& b);

  const Estimates& Replicas(const Request* request);
  const Estimates& Sets(const Binding& binding);

  std::shared_ptr<const Fleet> fleet_;
  const Assumed* assumed_;
  std::map<Request, Known, bool (*)(const Request&, const Request&)> by_request_{&Less};
  Known by_pods_;  // of a workload without requirements
  Estimates sets_;
  Estimates nothing_;
};

}  // namespace baton::placement
