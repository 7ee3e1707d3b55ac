// Upgrade: a changed spec of a managed workload that opted in to blue-green (rollout.karmada.io/strategy: BlueGreen, on
// the template or its policy) starts as a new revision in another cluster, from the state that the running one
// captures. The pipe keeps the old revision where it runs (federation/revision.h); a move takes the workload, and the
// new revision with it, to another cluster. When that fails the source goes on with the old one, and the failed one is
// not tried again until the template changes.
//
// A change of nothing but labels, annotations and what the profile passes through is released in place.
#pragma once

#include <string>

#include "federation/federation.h"
#include "kube/controller.h"
#include "rollout/engine.h"
#include "rollout/evacuate.h"
#include "rollout/profiles.h"

namespace baton::rollout {

inline constexpr std::string_view kUpgradeMark = "rollout.karmada.io/upgrade";  // on a migration: which revision

// Whether two revisions differ in nothing that needs a move.
bool PassesThrough(const json::Value& from, const json::Value& to, const std::vector<std::string>& pass_through);

class Upgrade {
 public:
  // All outlive this.
  Upgrade(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options = {});
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);

  federation::Hub& hub_;
  federation::Federation& federation_;
  Engine& engine_;
  ProfileSet& profiles_;
  EvacuateOptions options_;
  kube::Controller controller_;
};

}  // namespace baton::rollout
