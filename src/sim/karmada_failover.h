// SIMULATED: the two controllers of Karmada that take a cluster out of a binding though its scheduling is suspended, as
// facts/karmada.md has them (3.9, 3.10) and as they were tried on a real one (5.8). Our own pipe, which stands in for
// the rest of a Karmada, has neither.
//
//   application failover   a cluster that is Unhealthy in the binding's status for `tolerates` is evicted, but not one
//                          that has an eviction task already
//   NoExecute taints       a cluster with such a taint is evicted, task or not; looked at again and again
//
// Evicting is one update: the cluster goes from spec.clusters, and a task that removes it directly is added where there
// is none. What was seen when is kept in memory and lost with the process.
//
// Only bindings that are suspended, so those in the hands of a move: what a Karmada does with others is its users'
// wish, not ours to judge.
#pragma once

#include <map>
#include <string>

#include "json/value.h"
#include "kube/api.h"
#include "rt/task.h"

namespace baton::sim {

class KarmadaFailover {
 public:
  // The hub and the count outlive this.
  KarmadaFailover(kube::Api& hub, Duration tolerates, uint64_t& evictions)
      : hub_(hub), tolerates_(tolerates), evictions_(evictions) {}

  // Until it is dropped.
  rt::Task<void> Run();

 private:
  rt::Task<void> Look();
  rt::Task<void> LookAt(json::Value binding, const json::Value& clusters);
  bool IsOverdue(const json::Value& binding, const std::string& cluster);
  bool IsTainted(const json::Value& binding, const std::string& cluster, const json::Value& clusters);
  rt::Task<void> Evict(json::Value binding, std::string cluster, std::string reason, std::string producer);

  kube::Api& hub_;
  Duration tolerates_;
  uint64_t& evictions_;
  // By binding and cluster.
  std::map<std::string, MonotonicTime> unhealthy_since_;
  std::map<std::string, MonotonicTime> tainted_until_;  // when the taint is looked at again
};

}  // namespace baton::sim
