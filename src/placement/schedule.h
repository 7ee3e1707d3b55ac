// Schedule: which clusters a binding goes to and with how many replicas. A pure function: the same input gives the same
// answer, in whatever order clusters were listed.
//
//   auto fleet = TRY(Fleet::Make(std::move(clusters)));            // when clusters change
//   auto prepared = TRY(cache.Get(object["spec"]["placement"], fleet));
//   Binding binding = TRY(ParseBinding(object));
//   Decision decision = Schedule(binding, *prepared, estimator.For(binding, prepared->placement()));
//
// What makes it decide anew, in this order (Trigger): the placement is not the applied one; the replicas changed;
// a person asked for it; the workload is Duplicated or has no replicas, which is decided at every look; a cluster it
// runs in is being deleted or is gone. Anything else keeps what is, whatever the clusters look like by now.
//
// How: for each affinity term from the one in use on (from the first when a person asked): filter (filter.h), select
// (spread.h), divide (division.h). The first term that works is taken. It never goes back to an earlier term by itself.
//
// Where we differ from Karmada on purpose:
//  - nothing fits, and the workload runs somewhere: it stays there, and the condition says so. Karmada empties the
//    binding, and the workload is deleted everywhere (karmada#7455). The same for a workload scaled to zero: its
//    objects stay, without replicas;
//  - a suspended binding is not scheduled even when it is already in the queue;
//  - an applied placement that cannot be read counts as another one (Karmada: as the same one, for ever);
//  - a workload of several components that runs in a cluster fits there: scaling it does not move it (karmada#7895);
//  - what is random in Karmada (order of equal clusters, of filters, of merged results) goes by name. Results are
//  sorted
//    by name, so a decision that changes nothing writes nothing.
// What differs in reading a policy is in placement.h, in spreading in spread.h, in estimating in assumed.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/binding.h"
#include "placement/estimate.h"
#include "placement/filter.h"
#include "placement/prepared.h"

namespace baton::placement {

enum class Action : uint8_t {
  kSchedule,     // write `clusters`, the applied placement, the affinity name and the condition
  kKeep,         // nothing to decide: only the observed generation moves on. Of a suspended binding not even that
  kNothingFits,  // `clusters` are those of the binding, without any that is being deleted (see Options)
};

enum class Trigger : uint8_t {
  kNone,
  kPlacementChanged,
  kReplicasChanged,
  kRescheduleRequested,
  kAlwaysScheduled,
  kClusterGone,
};
std::string_view TriggerText(Trigger trigger);  // "the placement changed"

// The reasons of the condition Scheduled.
inline constexpr std::string_view kReasonSuccess = "Success";
inline constexpr std::string_view kReasonNoClusterFit = "NoClusterFit";
inline constexpr std::string_view kReasonUnschedulable = "Unschedulable";    // not enough room: try again later
inline constexpr std::string_view kReasonSchedulerError = "SchedulerError";  // a constraint cannot be met: back off
inline constexpr std::string_view kEventSucceed = "ScheduleBindingSucceed";
inline constexpr std::string_view kEventFailed = "ScheduleBindingFailed";
inline constexpr std::string_view kSuccessMessage = "Binding has been scheduled successfully.";

struct Options {
  bool propagate_empty_workloads =
      false;                             // Karmada's --enable-empty-workload-propagation: list clusters with 0 replicas
  bool empty_when_nothing_fits = false;  // as Karmada: NoClusterFit removes the workload everywhere
};

struct Decision {
  Action action = Action::kKeep;
  Trigger trigger = Trigger::kNone;
  std::string why;  // kKeep: why there is nothing to do. kSchedule: why the affinity terms before the chosen one failed

  std::vector<TargetCluster> clusters;  // what spec.clusters is to be; sorted by name when kSchedule
  bool changed = false;                 // they differ from the binding's, order aside
  std::string affinity;                 // what status.schedulerObservingAffinityName is to be

  // The condition Scheduled and the event; empty for kKeep.
  std::string_view reason;
  std::string message;
  std::string_view event_reason;
  std::string event;

  // kNothingFits: why, cluster by cluster (of the first affinity term tried), and whether time alone may help.
  std::vector<Rejection> rejections;
  bool retry = false;
};

// Why the binding must be decided anew; kNone when it must not. Does not look at suspension.
Trigger TriggerOf(const Binding& binding, const PreparedPlacement& prepared);

// `estimates` are by the number of the cluster in the prepared fleet; empty: no cluster's room is known, each counts as
// large enough.
Decision Schedule(const Binding& binding, const PreparedPlacement& prepared, std::span<const int32_t> estimates,
                  const Options& options = {});

}  // namespace baton::placement
