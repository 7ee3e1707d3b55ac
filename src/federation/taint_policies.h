// taint policies: a ClusterTaintPolicy taints the clusters whose conditions say so, and takes the taints away when they
// say otherwise. As in Karmada: policies count in the order of their creation, each adds and then removes, and nothing
// is withdrawn because a cluster or a policy does not match any more.
#pragma once

#include <string>

#include "federation/hub.h"
#include "kube/controller.h"

namespace baton::federation {

// The cluster's taints after all policies; pure. `policies` in any order.
json::Value TaintsAfter(const json::Value& cluster, std::vector<json::Value> policies, WallTime now);

class TaintPolicyController {
 public:
  explicit TaintPolicyController(Hub& hub);
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string cluster);

  Hub& hub_;
  kube::Informer policies_;
  kube::Controller controller_;
};

}  // namespace baton::federation
