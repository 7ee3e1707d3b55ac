// The fleets, as they are read from calm worlds, and what is wished of each.
#include "sim/fleet_days.h"

#include <map>
#include <span>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "federation/revision.h"
#include "rollout/profiles.h"
#include "rt/test_support.h"
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

// They are placed in one cluster, and from then on may be in any.
rt::Task<Result<Fleet>> CopyWith(World& world, std::vector<Workload> workloads, bool blue_green) {
  const std::vector<std::string> first = {std::string(kFrom)};
  for (const Workload& workload : workloads) {
    CO_TRY(co_await world.Apply(federation::kPropagationPolicies, workload.Policy(first)));
    Value manifest = workload.Manifest();
    if (blue_green) manifest.Edit("metadata").Edit("annotations").Set(federation::kStrategy, federation::kBlueGreen);
    // Its version can be brought back only if it names one.
    if (blue_green && workload.resource.kind == "Cluster") manifest.Edit("spec").Set("imageName", "practice:0");
    CO_TRY(co_await world.Apply(workload.resource, std::move(manifest)));
    const bool runs =
        co_await world.Until([&]() -> rt::Task<bool> { co_return RunningIn(world, workload) == first; }, minutes(5));
    if (!runs) co_return InternalError(StrCat(workload.Text(), " never ran in a calm world"));
    CO_TRY(co_await world.Apply(federation::kPropagationPolicies, workload.Policy(kClusters3)));
  }
  co_await world.loop().Sleep(seconds(10));
  co_return co_await CopyFleet(world.hub(), {.cluster = first.front()});
}

Result<Fleet> FleetOf(const std::vector<Workload>& workloads, bool blue_green = false) {
  rt::VirtualLoop loop(kSeed);
  Result<Fleet> fleet = InternalError("not played");
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    const Result<void> started = co_await world.Start({.clusters = kClusters3, .kinds = true});
    if (started.ok()) {
      fleet = co_await CopyWith(world, workloads, blue_green);
    } else {
      fleet = started.error();
    }
    co_await world.Stop();
  }));
  return fleet;
}

Result<std::vector<Workload>> WorkloadsOf(std::span<const std::string_view> kinds) {
  std::vector<Workload> all;
  for (const std::string_view kind : kinds) all.push_back(TRY(Workload::Of(kind, StrCat(kKey, all.size() + 1))));
  return all;
}

bool MustBePrepared(const Workload& workload) {
  const rollout::ProfileSet profiles;
  const auto profile = profiles.ForKind(workload.resource.ApiVersion(), workload.resource.kind);
  return profile != nullptr && profile->needs_staging();
}

}  // namespace

Result<FleetDays> FleetDays::OfKinds() {
  FleetDays days;
  for (const std::string& kind : Workload::Kinds()) {
    const Workload workload = TRY(Workload::Of(kind, kKey));
    days.rows_.push_back({.name = kind,
                          .only_own_hub = MustBePrepared(workload),
                          .wish = {.to = std::string(kTo)},
                          .fleet = TRY(FleetOf({workload}))});
  }
  return days;
}

Result<FleetDays> FleetDays::OfDrains() {
  constexpr std::string_view kJobs[] = {"FlinkDeployment", "FlinkDeployment", "FlinkDeployment", "FlinkDeployment"};
  constexpr std::string_view kMixed[] = {"FlinkDeployment", "StatefulSet", "FlinkDeployment", "KafkaConnector"};
  const Fleet jobs = TRY(FleetOf(TRY(WorkloadsOf(kJobs))));
  const Fleet mixed = TRY(FleetOf(TRY(WorkloadsOf(kMixed))));
  const std::string from(kFrom);
  FleetDays days;
  days.rows_.push_back({.name = "four jobs", .wish = {.drain = from, .home = true}, .fleet = jobs});
  days.rows_.push_back(
      {.name = "four jobs, two at a time", .wish = {.drain = from, .most = 2, .home = true}, .fleet = jobs});
  days.rows_.push_back({.name = "four of three kinds, two at a time",
                        .only_own_hub = true,
                        .wish = {.drain = from, .most = 2, .home = true},
                        .fleet = mixed});
  return days;
}

Result<FleetDays> FleetDays::OfUpgrades() {
  constexpr std::string_view kTwo[] = {"FlinkDeployment", "FlinkDeployment"};
  FleetDays days;
  for (const std::string_view kind : {"FlinkDeployment", "Deployment", "StatefulSet", "KafkaConnector", "Cluster"}) {
    const Workload workload = TRY(Workload::Of(kind, kKey));
    days.rows_.push_back({.name = StrCat("new versions of a ", kind),
                          .only_own_hub = true,
                          .wish = {.upgrades = true},
                          .fleet = TRY(FleetOf({workload}, true))});
  }
  days.rows_.push_back({.name = "new versions of two jobs",
                        .only_own_hub = true,
                        .wish = {.upgrades = true},
                        .fleet = TRY(FleetOf(TRY(WorkloadsOf(kTwo)), true))});
  return days;
}

Result<FleetDays> FleetDays::OfWishes() {
  constexpr std::string_view kTwo[] = {"FlinkDeployment", "KafkaConnector"};
  FleetDays days;
  for (const std::string_view kind : {"FlinkDeployment", "Deployment", "StatefulSet"}) {
    const Workload workload = TRY(Workload::Of(kind, kKey));
    days.rows_.push_back({.name = StrCat("wishes for a ", kind),
                          .only_own_hub = true,
                          .wish = {.wishes = true},
                          .fleet = TRY(FleetOf({workload}))});
  }
  days.rows_.push_back({.name = "wishes for a job and a connector",
                        .only_own_hub = true,
                        .wish = {.wishes = true},
                        .fleet = TRY(FleetOf(TRY(WorkloadsOf(kTwo))))});
  return days;
}

RehearsalOptions FleetDays::OptionsOf(uint64_t seed, Story::Detail detail) const {
  return {.beginning = seed / row(),
          .faults = true,
          .own_hub = IsOnOwnHub(seed),
          .gitops_one_in = kGitOpsOneIn,
          .plots = true,
          .detail = detail};
}

Day FleetDays::DayOf(const Row& row, Rehearsal& played) {
  for (const auto& [name, why] : played.unsettled) played.day.problems.push_back(StrCat(name, ": ", why));
  for (std::string& problem : played.day.problems) problem = StrCat(row.name, ": ", problem);
  return std::move(played.day);
}

Day FleetDays::Play(uint64_t seed, Story::Detail detail) const {
  const Row& row = At(seed);
  Rehearsal played = Rehearse(row.fleet, row.wish, seed, OptionsOf(seed, detail));
  return DayOf(row, played);
}

void FleetDays::PlayRow(std::span<const uint64_t> seeds, const DayReport& report, const DayDone& done) const {
  std::map<std::pair<uint64_t, bool>, std::vector<uint64_t>> beginnings;
  for (const uint64_t seed : seeds) beginnings[{seed % rows_.size(), IsOnOwnHub(seed)}].push_back(seed);
  for (const auto& [which, of_one] : beginnings) {
    const Row& row = At(which.first);
    RehearseAll(
        row.fleet, row.wish, of_one, OptionsOf(of_one.front(), Story::Detail::kCounts),
        [&](Rehearsal& played) { return report(DayOf(row, played)); }, done);
  }
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
