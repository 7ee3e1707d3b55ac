// Filters: which clusters may take the workload, and why the others may not.
//
// A cluster must match the affinity term, serve the template's API, have no taint that is not tolerated, have the
// properties that the spread constraints ask for, and not be in the middle of an eviction. Clusters that already run
// the workload are not judged by API, taints and workload affinity again: a CRD that vanishes for a moment or a new
// taint must not delete what runs (taints have eviction for that). A cluster that is being deleted takes nothing.
// Karmada runs its filters in random order; ours is fixed, so the reason given for a cluster is always the same one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "placement/binding.h"
#include "placement/cluster_set.h"
#include "placement/prepared.h"

namespace baton::placement {

// Why one cluster was left out. The words are Karmada's where it has them.
struct Rejection {
  std::string cluster;
  std::string reason;  // "cluster(s) had untolerated taint {k=v:NoSchedule}"

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

// The clusters that fit for term number `term` of the placement.
ClusterSet Feasible(const Binding& binding, const PreparedPlacement& prepared, size_t term);

// Every cluster that does not fit, by name, with its first reason.
std::vector<Rejection> Explain(const Binding& binding, const PreparedPlacement& prepared, size_t term);

// "0/5 clusters are available: 2 cluster(s) did not have the API resource, 3 cluster(s) had untolerated taint {...}."
std::string Summarize(std::span<const Rejection> rejections, size_t all_clusters);

}  // namespace baton::placement
