// The decision: terms in order, each filtered, selected and divided.
#include "placement/schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "placement/candidate.h"
#include "placement/division.h"
#include "placement/spread.h"
#include "placement/webster.h"

namespace baton::placement {

namespace {

constexpr size_t kMaxNamesInMessage = 10;

struct Failure {
  std::string_view reason;
  std::string message;
  std::vector<Rejection> rejections;
};

class Scheduling {
 public:
  Scheduling(const Binding& binding, const PreparedPlacement& prepared, std::span<const int32_t> estimates,
             const Options& options)
      : binding_(binding), prepared_(prepared), estimates_(estimates), options_(options) {}

  Decision Run(Trigger trigger);

 private:
  // The targets for one term, or why there are none.
  bool Attempt(size_t term, std::vector<TargetCluster>& targets, Failure& failure) const;
  std::vector<Candidate> Candidates(const ClusterSet& feasible, size_t term) const;
  int32_t Allocatable(size_t cluster) const;
  Result<std::vector<TargetCluster>> Assign(std::span<const Candidate> selected, size_t term) const;
  std::vector<TargetCluster> WithoutReplicas(std::span<const Candidate> selected) const;
  void KeepScaledToZero(std::span<const Candidate> selected, std::vector<TargetCluster>& targets) const;
  size_t FirstTerm() const;

  Decision Succeeded(size_t term, std::vector<TargetCluster> targets) const;
  Decision Failed(std::vector<Failure> failures) const;
  bool Differs(const std::vector<TargetCluster>& targets) const;

  const Binding& binding_;
  const PreparedPlacement& prepared_;
  std::span<const int32_t> estimates_;
  const Options& options_;
};

std::string NamesOf(const std::vector<TargetCluster>& clusters) {
  std::string names;
  for (size_t i = 0; i < clusters.size() && i < kMaxNamesInMessage; ++i) {
    StrAppend(names, i == 0 ? "" : ", ", clusters[i].name);
  }
  if (clusters.size() > kMaxNamesInMessage) StrAppend(names, " and ", clusters.size() - kMaxNamesInMessage, " more");
  return names;
}

Decision Scheduling::Run(Trigger trigger) {
  std::vector<Failure> failures;
  for (size_t term = FirstTerm(); term < prepared_.terms().size(); ++term) {
    std::vector<TargetCluster> targets;
    Failure failure;
    if (Attempt(term, targets, failure)) {
      Decision decision = Succeeded(term, std::move(targets));
      decision.trigger = trigger;
      for (size_t i = 0; i < failures.size(); ++i) {
        StrAppend(decision.why, i == 0 ? "" : " ", "Affinity ",
                  Quote(prepared_.placement().terms[term - failures.size() + i].name),
                  " did not work: ", failures[i].message);
      }
      return decision;
    }
    failures.push_back(std::move(failure));
  }
  Decision decision = Failed(std::move(failures));
  decision.trigger = trigger;
  return decision;
}

size_t Scheduling::FirstTerm() const {
  const Placement& placement = prepared_.placement();
  if (!placement.has_affinities || binding_.RescheduleRequired()) return 0;
  const auto at = std::ranges::find(placement.terms, binding_.observed_affinity, &AffinityTerm::name);
  return at == placement.terms.end() ? 0 : static_cast<size_t>(at - placement.terms.begin());
}

bool Scheduling::Attempt(size_t term, std::vector<TargetCluster>& targets, Failure& failure) const {
  const ClusterSet feasible = Feasible(binding_, prepared_, term);
  if (feasible.Empty()) {
    failure.reason = kReasonNoClusterFit;
    failure.rejections = Explain(binding_, prepared_, term);
    failure.message = Summarize(failure.rejections, prepared_.fleet().size());
    return false;
  }
  std::vector<Candidate> candidates = Candidates(feasible, term);
  const Placement& placement = prepared_.placement();
  SpreadInput spread;
  spread.prepared = &prepared_;
  spread.replicas = binding_.replicas;
  spread.needed = CountsInSets(binding_, placement) ? 1 : binding_.replicas;
  spread.ignore_capacity = !placement.divided();
  spread.fresh = binding_.RescheduleRequired();
  if (Result<void> selected = SelectBySpread(spread, candidates); !selected.ok()) {
    failure.reason = kReasonSchedulerError;
    failure.message = StrCat("failed to select clusters: ", selected.error().message());
    failure.rejections = Explain(binding_, prepared_, term);
    return false;
  }
  Result<std::vector<TargetCluster>> assigned = Assign(candidates, term);
  if (!assigned.ok()) {
    failure.reason = kReasonUnschedulable;
    failure.message = StrCat("failed to assign replicas: ", assigned.error().message());
    return false;
  }
  targets = *std::move(assigned);
  return true;
}

// What the cluster takes in addition. Nothing to count: more than enough. Not known: just enough.
int32_t Scheduling::Allocatable(size_t cluster) const {
  constexpr int32_t kPlenty = std::numeric_limits<int32_t>::max();
  if (binding_.replicas == 0 && binding_.components.empty()) return kPlenty;
  const int32_t estimate = cluster < estimates_.size() ? estimates_[cluster] : kUnknownEstimate;
  if (estimate >= 0 && estimate != kPlenty) return estimate;
  return CountsInSets(binding_, prepared_.placement()) ? 1 : binding_.replicas;
}

std::vector<Candidate> Scheduling::Candidates(const ClusterSet& feasible, size_t term) const {
  constexpr int32_t kNotCurrent = -1;
  std::vector<int32_t> assigned;
  if (!binding_.clusters.empty()) {
    const bool sets = CountsInSets(binding_, prepared_.placement());
    assigned.resize(prepared_.fleet().size(), kNotCurrent);
    for (const TargetCluster& target : binding_.clusters) {
      const std::optional<size_t> at = prepared_.fleet().Find(target.name);
      if (at.has_value() && assigned[*at] == kNotCurrent) assigned[*at] = sets ? 1 : target.replicas;
    }
  }
  const std::span<const ClusterSet> tiers = prepared_.terms()[term].tiers;
  std::vector<Candidate> candidates;
  candidates.reserve(feasible.Count());
  feasible.ForEach([&](size_t cluster) {
    Candidate candidate;
    candidate.cluster = static_cast<uint32_t>(cluster);
    candidate.allocatable = Allocatable(cluster);
    if (!assigned.empty() && assigned[cluster] != kNotCurrent) {
      candidate.current = true;
      candidate.assigned = assigned[cluster];
    }
    if (tiers.size() > 1) {
      while (!tiers[candidate.tier].Has(cluster)) ++candidate.tier;  // feasible ones are in one of them
    }
    candidate.rank = Rank(candidate);
    candidates.push_back(candidate);
  });
  return candidates;
}

std::vector<TargetCluster> Scheduling::WithoutReplicas(std::span<const Candidate> selected) const {
  std::vector<TargetComponent> components;
  if (binding_.components.size() > 1 && CountsInSets(binding_, prepared_.placement())) {
    for (const Component& component : binding_.components) components.push_back({component.name, component.replicas});
  }
  std::vector<TargetCluster> targets;
  targets.reserve(selected.size());
  for (const Candidate& candidate : selected) {
    targets.push_back({prepared_.fleet()[candidate.cluster].name, 0, components});
  }
  return targets;
}

Result<std::vector<TargetCluster>> Scheduling::Assign(std::span<const Candidate> selected, size_t term) const {
  if ((binding_.replicas == 0 && !binding_.has_requirements) || binding_.components.size() > 1) {
    return WithoutReplicas(selected);
  }
  DivisionInput input;
  input.division = prepared_.placement().division;
  input.replicas = binding_.replicas;
  input.fresh = binding_.RescheduleRequired();
  input.ties_descending = TiesDescending(binding_.uid);
  input.overflow = prepared_.terms()[term].tiers.size() > 1;
  input.static_weights = prepared_.static_weights();
  const std::vector<int32_t> counts = TRY(Divide(input, selected));
  std::vector<TargetCluster> targets;
  for (size_t i = 0; i < selected.size(); ++i) {
    if (counts[i] == 0 && !options_.propagate_empty_workloads) continue;
    targets.push_back({prepared_.fleet()[selected[i].cluster].name, counts[i], {}});
  }
  if (targets.empty()) KeepScaledToZero(selected, targets);
  return targets;
}

// All replicas are gone but the workload is not: its objects stay where they are, or where they may be now.
void Scheduling::KeepScaledToZero(std::span<const Candidate> selected, std::vector<TargetCluster>& targets) const {
  if (binding_.clusters.empty()) return;
  const bool any_current = std::ranges::any_of(selected, &Candidate::current);
  for (const Candidate& candidate : selected) {
    if (candidate.current || !any_current) targets.push_back({prepared_.fleet()[candidate.cluster].name, 0, {}});
  }
}

bool Scheduling::Differs(const std::vector<TargetCluster>& targets) const {
  std::vector<TargetCluster> now = binding_.clusters;
  std::ranges::sort(now, {}, &TargetCluster::name);
  return now != targets;
}

Decision Scheduling::Succeeded(size_t term, std::vector<TargetCluster> targets) const {
  Decision decision;
  decision.action = Action::kSchedule;
  decision.changed = Differs(targets);
  decision.affinity = prepared_.placement().has_affinities ? prepared_.placement().terms[term].name : "";
  decision.reason = kReasonSuccess;
  decision.message = kSuccessMessage;
  decision.event_reason = kEventSucceed;
  std::string list;
  for (const TargetCluster& target : targets) {
    StrAppend(list, list.empty() ? "" : ", ", target.name, ":", target.replicas);
  }
  decision.event = StrCat(kSuccessMessage, " Result {", list, "}");
  decision.clusters = std::move(targets);
  return decision;
}

// The first term's failure is what the condition says, as in Karmada; those of the others follow.
Decision Scheduling::Failed(std::vector<Failure> failures) const {
  const Placement& placement = prepared_.placement();
  Failure& first = failures.front();
  Decision decision;
  decision.action = Action::kNothingFits;
  decision.clusters = binding_.clusters;
  decision.affinity = binding_.observed_affinity;
  decision.reason = first.reason;
  decision.retry = first.reason != kReasonNoClusterFit;
  decision.message = first.message;
  if (placement.has_affinities) {
    const size_t skipped = placement.terms.size() - failures.size();
    for (size_t i = 1; i < failures.size(); ++i) {
      StrAppend(decision.message, " Affinity ", Quote(placement.terms[skipped + i].name), ": ", failures[i].message);
    }
  }
  if (options_.empty_when_nothing_fits && first.reason == kReasonNoClusterFit) {
    decision.clusters.clear();
    decision.changed = !binding_.clusters.empty();
  } else if (!binding_.clusters.empty()) {
    // Nothing stays in a cluster that leaves.
    const Fleet& fleet = prepared_.fleet();
    const auto leaves = [&](const TargetCluster& target) {
      const std::optional<size_t> at = fleet.Find(target.name);
      return at.has_value() && fleet[*at].deleting;
    };
    std::erase_if(decision.clusters, leaves);
    decision.changed = decision.clusters.size() != binding_.clusters.size();
    if (decision.clusters.empty()) {
      StrAppend(decision.message, " The workload is nowhere now: ", NamesOf(binding_.clusters), " left.");
    } else {
      StrAppend(decision.message, " The workload stays where it is: ", NamesOf(decision.clusters), ".");
    }
  }
  decision.rejections = std::move(first.rejections);
  decision.event_reason = kEventFailed;
  decision.event = decision.message;
  return decision;
}

Decision Keep(const Binding& binding, std::string why) {
  Decision decision;
  decision.why = std::move(why);
  decision.clusters = binding.clusters;
  decision.affinity = binding.observed_affinity;
  return decision;
}

}  // namespace

Decision Schedule(const Binding& binding, const PreparedPlacement& prepared, std::span<const int32_t> estimates,
                  const Options& options) {
  if (binding.deleting) return Keep(binding, "the binding is being deleted");
  if (!binding.has_placement)
    return Keep(binding, "the binding has no placement: it follows the workload that needs it");
  if (binding.suspended) return Keep(binding, "scheduling is suspended (spec.suspension.scheduling)");
  const Trigger trigger = TriggerOf(binding, prepared);
  if (trigger == Trigger::kNone) return Keep(binding, std::string(TriggerText(trigger)));
  return Scheduling(binding, prepared, estimates, options).Run(trigger);
}

}  // namespace baton::placement
