// LateAdmission: what admission would have done, on a hub whose API server does not run it (any but our own, when no
// webhook stands there): policies and clusters that people wrote get their permanent ids and defaults a moment after
// they were written, instead of before. Until then they do nothing. What is wrong is not refused, as nobody can; the
// CRDs' schemas still do their part.
//
//   LateAdmission late(hub_api, &log);
//   scope.Spawn(late.Run());
//
// Where admission runs there is nothing left to do, and nothing is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "kube/api.h"
#include "kube/controller.h"
#include "kube/informer.h"

namespace baton::federation {

class LateAdmission {
 public:
  LateAdmission(kube::Api& hub, const Logger* log);
  rt::Task<void> Run();

 private:
  struct Kind {
    Kind(kube::Api& hub, kube::Resource of, const Logger* log);
    rt::Task<void> Run();
    rt::Task<kube::Outcome> Reconcile(std::string key);
    Result<json::Value> Admitted(const json::Value& object);

    kube::Api& hub;
    kube::Resource resource;
    kube::Informer objects;
    kube::Controller controller;
  };

  kube::Api& hub_;
  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace baton::federation
