// dependencies: what a workload needs (ConfigMaps, Secrets, claims, service accounts, Services: whatever the
// interpreter says) goes where it goes, when its policy says propagateDeps.
//
// A dependency has a binding of its own, attached: no placement, but requiredBy, with a copy of the clusters of each
// binding that needs it. A dependency that a policy propagates too keeps that placement, and serves both. As long as a
// cluster is being left (an eviction task that keeps the workload there), its dependencies stay there as well.
// What a revision needs that is still released somewhere stays too.
// Dependencies are found in the namespace of who needs them, by name or by labels, also those that come later.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "federation/hub.h"
#include "federation/revisions.h"
#include "kube/controller.h"

namespace baton::federation {

class DependencyController {
 public:
  DependencyController(Hub& hub, const Revisions& revisions);
  rt::Task<void> Run() { return controller_.Run(); }
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Mark(const std::string& key, const json::Value& binding, const json::Value& dependencies);
  rt::Task<Result<void>> Unmark(const std::string& key, const json::Value& binding);
  rt::Task<Result<void>> Attach(const json::Value& owner, const json::Value& dependency);
  rt::Task<Result<void>> Detach(const std::string& owner_key, const std::string& binding_key);
  // The templates that are meant and there; false: a kind is not watched yet.
  rt::Task<bool> Find(const std::string& key, const std::vector<json::Value>& references,
                      std::vector<json::Value>& found);
  rt::Task<Result<std::vector<json::Value>>> ReferencesOf(json::Value binding, json::Value object,
                                                          bool& complete) const;
  void Unifies(json::Value& attached);
  void TemplateChanged(const json::Value& object);
  void ForgetAsked(const std::string& owner);

  Hub& hub_;
  const Revisions& revisions_;
  // Who asked for a template: by "apiVersion|kind|namespace/name", and with an empty name for those that ask by labels.
  std::map<std::string, std::set<std::string>, std::less<>> asked_;
  std::map<std::string, std::set<std::string>> asks_;  // the other way round: by who asked
  kube::Controller controller_;
};

}  // namespace baton::federation
