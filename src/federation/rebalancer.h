// rebalancer: a WorkloadRebalancer has workloads scheduled anew, once: it stamps their bindings, and says of each
// whether that was done. With ttlSecondsAfterFinished it goes by itself when that time is over.
#pragma once

#include <string>

#include "api/types/apps_v1alpha1.h"
#include "federation/hub.h"
#include "kube/controller.h"

namespace baton::federation {

class RebalancerController {
 public:
  explicit RebalancerController(Hub& hub);
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string name);
  rt::Task<Result<bool>> Trigger(const api::apps_v1alpha1::ObjectReference& workload);  // false: it has no binding
  rt::Task<kube::Outcome> Expire(const api::apps_v1alpha1::WorkloadRebalancer& rebalancer);

  Hub& hub_;
  kube::Informer rebalancers_;
  kube::Controller controller_;
};

}  // namespace baton::federation
