// Federation: the whole pipe, from templates and policies to the members and back, on any hub.
//
//   Federation federation(hub_api, interpreter, connect, {.gate = &gate});
//   scope.Spawn(federation.Run());
#pragma once

#include <set>
#include <string>

#include "federation/aggregate.h"
#include "federation/clusters.h"
#include "federation/dependencies.h"
#include "federation/detect.h"
#include "federation/evictions.h"
#include "federation/execute.h"
#include "federation/hub.h"
#include "federation/namespaces.h"
#include "federation/rebalancer.h"
#include "federation/render.h"
#include "federation/revisions.h"
#include "federation/schedule.h"
#include "federation/taint_policies.h"

namespace baton::federation {

class Federation {
 public:
  Federation(kube::Api& api, interpret::Interpreter& interpreter, Connect connect, HubOptions options);

  // Until it is dropped.
  rt::Task<void> Run();
  // In place of Run(), where another federation is at work: only the copies of the hub's objects are kept, and nothing
  // is written. schedule() and render() may be asked what they would do.
  rt::Task<void> RunCopies();
  // Until the copies are complete.
  rt::Task<void> WaitSynced();
  // Nothing is due or being worked on in any controller: for tests. What waits for a time or an event does not count.
  bool idle();

  Hub& hub() { return hub_; }
  ScheduleController& schedule() { return schedule_; }
  RenderController& render() { return render_; }
  const Revisions& revisions() const { return revisions_; }

 private:
  Hub hub_;
  ScheduleController schedule_;
  DetectController detect_;
  Revisions revisions_;
  RenderController render_;
  ExecuteController execute_;
  AggregateController aggregate_;
  ClusterController clusters_;
  NamespaceController namespaces_;
  DependencyController dependencies_;
  EvictionController evictions_;
  RebalancerController rebalancer_;
  TaintPolicyController taint_policies_;
};

// Installs the federation's and rollout's CRDs where they are not there yet, and brings old ones up to date.
// `group`: of that API group only.
rt::Task<Result<void>> InstallCrds(kube::Api& api, std::string group = "");

}  // namespace baton::federation
