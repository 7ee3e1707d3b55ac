// detect: which policy a template belongs to, and the binding that says so. The claim lives on the binding; the
// template is not written (HubOptions::claim_templates adds Karmada's marks for tools that look for them).
//
// Every kind that a policy selects is watched from then on, kinds that are installed later included. A binding is
// written once: with its schedule already decided (ScheduleController::Decide). When the template goes, so does the
// binding; when the policy goes, the binding stays, free.
#pragma once

#include <map>
#include <set>
#include <string>

#include "federation/hub.h"
#include "federation/schedule.h"
#include "kube/controller.h"

namespace baton::federation {

class DetectController {
 public:
  DetectController(Hub& hub, ScheduleController& schedule);
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<kube::Outcome> Release(const std::string& binding_key, json::Value binding, json::Value object);
  rt::Task<Result<void>> MarkTemplate(json::Value marked);
  rt::Task<kube::Outcome> TemplateGone(const TemplateKey& key);
  rt::Task<Result<bool>> IsThere(const TemplateKey& key, std::string uid);
  rt::Task<Result<json::Value>> Desired(json::Value object, json::Value policy, PropagationPolicy compiled,
                                        json::Value current);
  rt::Task<Result<json::Value>> WithClustersOfWorks(std::string binding_key, json::Value binding, json::Value object);
  json::Value SpecFromPolicy(const json::Value& object, const json::Value& policy, const json::Value& current);
  const json::Value& PriorityClassOf(const json::Value& policy) const;
  const json::Value& PolicyObject(const PolicyKey& key) const;
  void PolicyChanged(const json::Value& before, const json::Value& now);
  void WatchKindsOf(const json::Value& policy);
  void QueueSelected(const json::Value& policy);
  rt::Task<void> WatchKinds();
  rt::Task<kube::Outcome> ReconcilePolicy(std::string key);

  Hub& hub_;
  ScheduleController& schedule_;
  std::set<std::pair<std::string, std::string>> wanted_kinds_;  // apiVersion, kind: not watched yet
  std::set<std::string> changed_by_federation_;                 // templates that a policy made us look at
  std::set<std::string> lost_bindings_;                         // templates that we know, and whose binding is gone
  rt::Event kinds_wanted_;
  kube::Controller controller_;
  kube::Controller policies_;
};

}  // namespace baton::federation
