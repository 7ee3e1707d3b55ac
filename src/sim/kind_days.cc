// The fleets of single workloads, and a move of each.
#include "sim/kind_days.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/profiles.h"
#include "rt/test_support.h"
#include "sim/rehearsal.h"
#include "sim/scene.h"
#include "sim/workloads.h"
#include "sim/world.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr std::string_view kFrom = "blue";
constexpr std::string_view kTo = "green";
constexpr std::string_view kKey = "default/w";
constexpr uint64_t kSeed = 1;

// It is placed in one cluster, and from then on may be in any.
rt::Task<Result<Fleet>> CopyWith(World& world, Workload workload) {
  const std::vector<std::string> first = {std::string(kFrom)};
  CO_TRY(co_await world.Apply(federation::kPropagationPolicies, workload.Policy(first)));
  CO_TRY(co_await world.Apply(workload.resource, workload.Manifest()));
  const bool runs =
      co_await world.Until([&]() -> rt::Task<bool> { co_return RunningIn(world, workload) == first; }, minutes(5));
  if (!runs) co_return InternalError(StrCat(workload.Text(), " never ran in a calm world"));
  CO_TRY(co_await world.Apply(federation::kPropagationPolicies, workload.Policy(kClusters3)));
  co_await world.loop().Sleep(seconds(10));
  co_return co_await CopyFleet(world.hub(),
                               {.kind = workload.resource.kind, .ns = workload.name.ns, .name = workload.name.name});
}

Result<Fleet> FleetOf(const Workload& workload) {
  rt::VirtualLoop loop(kSeed);
  Result<Fleet> fleet = InternalError("not played");
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    const Result<void> started = co_await world.Start({.clusters = kClusters3, .kinds = true});
    if (started.ok()) {
      fleet = co_await CopyWith(world, workload);
    } else {
      fleet = started.error();
    }
    co_await world.Stop();
  }));
  return fleet;
}

}  // namespace

Result<KindDays> KindDays::Make() {
  KindDays days;
  const rollout::ProfileSet profiles;
  for (const std::string& kind : Workload::Kinds()) {
    const Workload workload = TRY(Workload::Of(kind, kKey));
    const auto profile = profiles.ForKind(workload.resource.ApiVersion(), kind);
    days.fleets_.push_back({.kind = kind,
                            .only_own_hub = profile != nullptr && profile->needs_staging(),
                            .fleet = TRY(FleetOf(workload))});
  }
  return days;
}

Day KindDays::Play(uint64_t seed, Story::Detail detail) const {
  const KindFleet& one = fleets_[seed % fleets_.size()];
  Rehearsal played =
      Rehearse(one.fleet, {.to = std::string(kTo)}, seed,
               {.faults = true, .own_hub = IsOnOwnHub(seed), .gitops = HasGitOps(seed), .detail = detail});
  for (const auto& [name, why] : played.unsettled) played.day.problems.push_back(StrCat(name, ": ", why));
  for (std::string& problem : played.day.problems) problem = StrCat(one.kind, ": ", problem);
  return std::move(played.day);
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
