// clusters: members join, are looked after, and leave.
//
// Each member is asked every kHeartbeat whether it answers (a live read of its kube-system namespace, whose UID is the
// cluster's id). Ready changes when the answer has been the same for a threshold, so that a blip moves nothing; the
// first answer counts at once. While it answers, its version, its kinds and its resources are kept in the status. What
// is not known any more says since when (the condition's lastTransitionTime); nothing is guessed.
//
// A cluster that answers with another id than it joined with is another one (rebuilt, or a mistaken address): it is
// not ready (reason ClusterReplaced), and nothing is written or deleted there.
//
// A Cluster that is deleted leaves: what was placed there goes elsewhere or nowhere as its placement says, its Works
// are removed and with them its objects, and then it is gone. One that does not answer is left with what it has, and
// the bindings say so (condition LeftBehind). A workload with one writer keeps it (condition Leaving: False) until it
// was moved away, or until kLeaveByForce is on the Cluster.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "federation/hub.h"
#include "kube/controller.h"
#include "kube/informer.h"

namespace baton::federation {

inline constexpr Duration kHeartbeat = seconds(10);
inline constexpr Duration kReadyThreshold = seconds(30);
inline constexpr Duration kHeartbeatTimeout = seconds(5);
inline constexpr Duration kDiscoverEvery = seconds(60);  // a safety net: a member's new CRDs are noticed at once

// An annotation of Clusters, "true": it leaves though workloads that have one writer are there.
inline constexpr std::string_view kLeaveByForce = "baton.io/leave-by-force";

class ClusterController {
 public:
  explicit ClusterController(Hub& hub);
  ~ClusterController();
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  struct State;  // of one member

  rt::Task<kube::Outcome> Reconcile(std::string name);
  rt::Task<kube::Outcome> Leave(const std::string& name, json::Value cluster);
  rt::Task<Result<std::string>> InTheWay(const std::string& name, const json::Value& cluster);
  rt::Task<Result<void>> RemoveWorks(const std::string& name, const json::Value& cluster);
  rt::Task<Result<void>> TellLeftBehind(const std::string& name, const json::Value& cluster, const json::Value& work);
  rt::Task<Result<void>> TakeOutOfBindings(const std::string& name);
  rt::Task<Result<json::Value>> Prepare(const std::string& name, const json::Value& cluster);
  rt::Task<void> Look(const std::string& name, State& state);
  void FillStatus(const State& state, const std::string& closed, json::Value& status) const;
  void FillTaints(const json::Value& status, json::Value& cluster) const;
  json::Value Secret(const json::Value& cluster) const;

  Hub& hub_;
  kube::Informer secrets_;
  std::map<std::string, std::shared_ptr<State>, std::less<>> states_;  // held by whoever looks
  kube::Controller controller_;
};

}  // namespace baton::federation
