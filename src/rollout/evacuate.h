// Evacuate: empties a cluster of the workloads that must have one writer, by moves (ClusterEvacuation; `baton drain`).
//
// A NoExecute taint on a Cluster makes an evacuation of its own, named after the cluster; a person makes one with
// `baton drain`, which also sets the taint, so that nothing new comes. As long as the evacuation is there and the taint
// stands, every managed workload in the cluster is moved to where its policy allows it, a few at a time (drain_plan.h).
// Workloads that are not managed go the ordinary way: the scheduler sees the taint.
//
// When the taint is taken away no further move is begun; those under way end. With spec.return what was moved away by
// this evacuation is moved home, by the same rules. A taint that comes after that empties the cluster again.
//
// Nothing is moved into a cluster that is drained itself, though its policy may tolerate that: it would be moved to and
// fro. What has no other place waits.
//
// A cluster that does not answer is not drained: a stop must be proven by it. The status says so.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "federation/federation.h"
#include "kube/controller.h"
#include "kube/informer.h"
#include "rollout/drain_plan.h"
#include "rollout/engine.h"
#include "rollout/profiles.h"

namespace baton::rollout {

inline const kube::Resource kEvacuations{.group = "rollout.karmada.io",
                                         .version = "v1alpha1",
                                         .plural = "clusterevacuations",
                                         .kind = "ClusterEvacuation",
                                         .namespaced = false};
inline constexpr std::string_view kDrainTaint = "rollout.karmada.io/drain";
inline constexpr std::string_view kDrainLabel = "rollout.karmada.io/evacuation";       // on migrations: whose
inline constexpr std::string_view kDrainMark = "rollout.karmada.io/evacuation-round";  // which time it was asked for
inline constexpr std::string_view kDrainNumber = "rollout.karmada.io/evacuation-try";  // which try of this workload
inline constexpr std::string_view kMaxOutAnnotation = "rollout.karmada.io/max-moves-out";  // on Clusters
inline constexpr std::string_view kMaxInAnnotation = "rollout.karmada.io/max-moves-in";
inline constexpr std::string_view kPriorityAnnotation =
    "rollout.karmada.io/priority";  // on templates: higher goes first

struct EvacuateOptions {
  int moves_out = kMovesOutDefault;
  int moves_in = kMovesInDefault;
  // False: beside another federation, whose own eviction by taints would be raced. Only the taint of `baton drain`
  // begins an evacuation there.
  bool own_hub = true;
};

std::string BindingKeyOf(const std::string& key);  // of a DrainWorkload's key
bool IsReady(const json::Value& cluster);
// The limits as the clusters' annotations have them.
MoveLimits LimitsOf(const kube::Informer& clusters, const EvacuateOptions& options);
// All moves, as a plan sees them; `mark` tells those of one drain.
std::vector<DrainMove> MovesOf(const kube::Informer& migrations, const std::string& mark);
// Whether a person or a policy wants the cluster empty; taints that Baton sets because it does not answer do not count.
bool WantsEmpty(const json::Value& cluster);
bool HasDrainTaint(const json::Value& cluster);
// Whether its taints alone are a wish to drain it: beside another federation only the taint of `baton drain` is.
bool AsksForDrain(const json::Value& cluster, bool own_hub);
// The clusters of which that holds.
std::set<std::string> DrainedClusters(const kube::Informer& clusters, bool own_hub);
// Why no drain of that cluster (null: there is none) can begin; "": one can.
std::string WhyNotDrained(const std::string& name, const json::Value& cluster);
// Those that are in the cluster, and those that this evacuation has already had to do with.
std::vector<DrainWorkload> WorkloadsOf(const federation::Hub& hub, const ProfileSet& profiles,
                                       const json::Value& evacuation);
// Where the policy sends it if it can be neither where it is nor in those that are full, nor in those that are drained.
Result<std::string> ChooseElsewhere(federation::Federation& federation, const DrainWorkload& workload,
                                    const std::set<std::string>& full, const std::set<std::string>& drained);

class Evacuate {
 public:
  // All outlive this.
  Evacuate(federation::Federation& federation, Engine& engine, ProfileSet& profiles, EvacuateOptions options = {});
  rt::Task<void> Run();
  kube::Controller& controller() { return controller_; }

 private:
  rt::Task<kube::Outcome> Reconcile(std::string name);
  rt::Task<Result<void>> FollowTaint(std::string cluster);
  rt::Task<Result<void>> DrainAnew(json::Value evacuation);
  rt::Task<Result<void>> Start(const json::Value& evacuation, const DrainStart& start);
  rt::Task<Result<void>> Tell(const json::Value& evacuation, json::Value status);
  std::set<std::string> Drained() const;
  bool TemplatesKnownIn(const std::string& cluster) const;
  json::Value Status(const json::Value& evacuation, const DrainPlan& plan, std::string why_not) const;

  federation::Hub& hub_;
  federation::Federation& federation_;
  Engine& engine_;
  ProfileSet& profiles_;
  EvacuateOptions options_;
  kube::Informer evacuations_;
  MonotonicTime begun_{};
  kube::Controller controller_;
  kube::Controller taints_;
};

}  // namespace baton::rollout
