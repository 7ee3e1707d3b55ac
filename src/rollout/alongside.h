// Alongside: what the rollout needs of a hub whose federation is somebody else's (a Karmada): copies to look at, ways
// to the members, and a Writer for every workload that it can move. Nothing of the other federation's is written here:
// no binding, Work, policy, Cluster or template. What it is given is a customization for each kind that can be moved,
// where it has none of its own: the second fence (interpret/retain_fence.h). The engine beside it
// (EngineOptions::own_hub = false) writes to bindings and overrides while it moves something, and only then.
//
//   Alongside beside(federation, gate, profiles);
//   scope.Spawn(alongside.Run());            // in place of federation.Run()
//
// A Writer is made when a workload is seen to run in the one cluster of its binding, as the gate makes it on our own
// hub (gate.h).
#pragma once

#include <set>
#include <string>

#include "federation/doors.h"
#include "federation/federation.h"
#include "kube/controller.h"
#include "rollout/gate.h"
#include "rollout/profiles.h"

namespace baton::rollout {

class Alongside {
 public:
  // All outlive this.
  Alongside(federation::Federation& federation, Gate& gate, ProfileSet& profiles, const Logger* log);
  rt::Task<void> Run();

 private:
  rt::Task<kube::Outcome> Reconcile(std::string key);
  rt::Task<Result<void>> Fence(const interpret::Profile& profile, const json::Value& binding);

  federation::Federation& federation_;
  federation::Hub& hub_;
  Gate& gate_;
  ProfileSet& profiles_;
  federation::Doors doors_;
  std::set<std::string, std::less<>> unfenced_;  // kinds of which it was told that they cannot have one
  kube::Controller controller_;
};

}  // namespace baton::rollout
