// namespaces: every namespace of the hub is in every member, so that what is propagated finds its place. Not the
// system's own, not `default` (each cluster has one), not those with the label that says so.
#pragma once

#include <string>

#include "federation/hub.h"
#include "kube/controller.h"

namespace baton::federation {

class NamespaceController {
 public:
  explicit NamespaceController(Hub& hub);
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string name);
  void WorkChanged(const json::Value& before, const json::Value& now);
  rt::Task<Result<void>> Put(const json::Value& object, const std::string& cluster);

  Hub& hub_;
  kube::Informer namespaces_;
  kube::Controller controller_;
};

}  // namespace baton::federation
