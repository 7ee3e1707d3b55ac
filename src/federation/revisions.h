// Revisions: keeps the ControllerRevisions of templates that opted in (revision.h), and says what each cluster renders.
// Not a controller of its own: render asks before it writes Works.
//
// The rollout releases a revision to a cluster with ReleaseRevision(): one compare-and-swap on the binding, after which
// render does the rest. Until then a cluster that has a Work keeps the revision it has, whatever becomes of the
// template.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "federation/hub.h"
#include "federation/revision.h"
#include "kube/informer.h"

namespace baton::federation {

class Revisions {
 public:
  explicit Revisions(Hub& hub);
  rt::Task<void> Run() { return informer_.Run(); }
  rt::Task<void> WaitSynced() { return informer_.WaitSynced(); }
  // A revision of that binding came, changed or went.
  void OnChange(std::function<void(const std::string& binding)> handler) { on_change_ = std::move(handler); }

  struct Plan {
    json::Value binding;                         // with its releases, as written
    json::Value newest;                          // what a cluster gets that is not among these
    std::map<std::string, json::Value> at;       // the template for each cluster
    std::map<std::string, std::string> unknown;  // clusters whose revision is not there: why
    const json::Value& For(const std::string& cluster) const;
  };
  // Keeps the template's revision, releases it to targets that have none, and forgets clusters that are neither among
  // the targets nor in `occupied`. Costs nothing for a template that did not opt in.
  rt::Task<Result<Plan>> Prepare(const std::string& key, json::Value binding, const json::Value& object,
                                 const std::vector<std::string>& targets, const std::vector<std::string>& occupied);

  // ---- for the rollout ----
  const json::Value& PolicyOf(const json::Value& binding) const;  // the one that claims its template; null: none
  // The ControllerRevision of the template as it is now; null: it did not opt in, or it is not kept yet.
  const json::Value& Newest(const json::Value& binding, const json::Value& object) const;
  // Whether this template's versions are kept at all: it opted in, by itself or by its policy.
  bool Keeps(const json::Value& binding, const json::Value& object) const;
  // The one that is released to that cluster; null: none, or it is gone.
  const json::Value& Released(const json::Value& binding, std::string_view cluster) const;
  // The template as it is released to that cluster; as it is now where nothing is recorded.
  Result<json::Value> TemplateIn(const json::Value& binding, const json::Value& object, std::string_view cluster) const;

  // The templates as released somewhere: for what they need. `complete` becomes false when one is not known.
  std::vector<json::Value> ReleasedTemplates(const json::Value& binding, const json::Value& object,
                                             bool& complete) const;

 private:
  const json::Value& Find(const json::Value& binding, std::string_view name) const;
  std::vector<json::Value> Of(const json::Value& binding) const;
  rt::Task<Result<json::Value>> Keep(const json::Value& binding, const json::Value& object);
  rt::Task<Result<void>> Forget(const json::Value& binding, std::string_view newest, bool all);
  rt::Task<Result<json::Value>> Write(const std::string& key, const json::Value& before, json::Value binding);

  Hub& hub_;
  kube::Informer informer_;
  std::function<void(const std::string& binding)> on_change_;
};

// Releases the revision to that cluster: its Work is rendered from it from now on. `revision` is a ControllerRevision
// of that binding's template, an older one too. Conflict: the binding changed meanwhile, decide again.
rt::Task<Result<void>> ReleaseRevision(kube::Api& hub, std::string binding_key, std::string cluster,
                                       std::string revision);

}  // namespace baton::federation
