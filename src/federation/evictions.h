// evictions: the end of graceful eviction tasks that others made (the taint manager, application failover, people).
//
// A task goes, and with it the workload in the cluster it was evicted from, when it was confirmed (suppressDeletion:
// false), when the workload is healthy in all the clusters it was given instead, or when its time is over. It stays
// with suppressDeletion: true. Tasks of producer "baton" are the rollout engine's and are not looked at.
//
// Other than in Karmada: no cluster is not "healthy everywhere": as long as there is nowhere else, the old one stays,
// also beyond its time; and a workload that must have one writer is never taken away by a clock.
#pragma once

#include <optional>
#include <string>

#include "federation/hub.h"
#include "kube/controller.h"

namespace baton::federation {

inline constexpr Duration kEvictionTimeout = minutes(10);  // of tasks that name no gracePeriodSeconds

struct EvictionDecision {
  json::Value tasks;             // what is left of them
  std::optional<Duration> wait;  // look again then
};
// Pure: what becomes of the tasks of a binding now. `by_clock`: whether time may end a task.
EvictionDecision TrimTasks(const json::Value& binding, bool by_clock, WallTime now);

class EvictionController {
 public:
  explicit EvictionController(Hub& hub);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);

  Hub& hub_;
  kube::Controller controller_;
};

}  // namespace baton::federation
