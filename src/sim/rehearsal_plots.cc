// Plots of other kinds (sim/plots.h): what people do by hand to a Deployment or a Job in its cluster, and an old leader
// late, when a move is under way. Never may two of it run.
#include <vector>

#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/records.h"
#include "sim/rehearsal_stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr uint64_t kPlotOneIn = 3;          // of the days of kinds that have one
constexpr uint64_t kPlotSalt = 0x706c6f74;  // so that other chances stay as they are
constexpr int64_t kStable = 60;             // seconds
constexpr Duration kMoveWithin = minutes(15);
constexpr size_t kRefusalsMax = 10;

kube::ScriptedFaults::Rule Update(const std::string& plural, kube::Fault fault, Duration delay, size_t hits,
                                  std::function<bool(const kube::Call& call)> when = nullptr) {
  return {.fault = fault,
          .delay = delay,
          .verb = kube::Verb::kUpdate,
          .plural = plural,
          .name = {},
          .subresource = {},
          .hits = hits,
          .when = std::move(when)};
}

}  // namespace

rt::Task<bool> RehearsalStage::PlayPlot() {
  const std::string_view kind = kube::KindOf(workloads_.front()->object);
  rt::SeededRandom random(result_.day.seed ^ kPlotSalt);
  const bool plays = wish_.drain.empty() && world_.own_hub() && (kind == "Deployment" || kind == "Job") &&
                     random.Below(kPlotOneIn) == 0;
  if (!plays) co_return false;
  if (kind == "Job") {
    result_.day.plot = "resumed-while-it-stops";
    co_await ResumedWhileItStops(random);
  } else if (random.Below(2) == 0) {
    result_.day.plot = "scaled-down-by-hand";
    co_await ScaledDownByHand(random);
  } else {
    result_.day.plot = "deleted-and-applied-again";
    co_await DeletedAndAppliedAgain(random);
  }
  co_return true;
}

rt::Task<bool> RehearsalStage::UntilPhase(std::string phase) {
  const std::string key = StrCat(kube::NamespaceOf(workloads_.front()->object), "/", kRehearsedMove);
  return world_.Until(
      [this, key, phase]() -> rt::Task<bool> {
        co_return (co_await world_.OnHub(kMigrations, key))["status"]["phase"].str() == phase;
      },
      kMoveWithin);
}

rt::Task<void> RehearsalStage::PatchInSource(std::string patch) {
  const FleetWorkload& one = *workloads_.front();
  story_.Tell(StrCat("cluster ", one.cluster), StrCat("somebody patches the workload there: ", patch));
  [[maybe_unused]] const auto patched =
      co_await world_.member(one.cluster)
          .Patch(ResourceOf(one), kube::Name::FromKey(one.Key()), kube::PatchType::kMerge, Yaml(patch));
}

// What was not stopped by this move's own number may be started again by a write from before it.
rt::Task<void> RehearsalStage::ScaledDownByHand(rt::SeededRandom& random) {
  const FleetWorkload& one = *workloads_.front();
  rt::VirtualLoop& loop = world_.loop();
  const auto between = [&](uint64_t from, uint64_t to) {
    return milliseconds(static_cast<int64_t>(from + random.Below(to - from + 1)));
  };
  kube::ScriptedFaults& faults = world_.member_faults(one.cluster);
  const std::string plural = ResourceOf(one).plural;
  faults.Add(Update(plural, kube::Fault::kDelay, between(12'000, 25'000), 1));
  [[maybe_unused]] const auto edited =
      co_await world_.hub().Patch(ResourceOf(one), kube::Name::FromKey(one.Key()), kube::PatchType::kMerge,
                                  Yaml("{spec: {template: {metadata: {annotations: {a: b}}}}}"));
  co_await loop.Sleep(between(1'000, 3'000));
  world_.DeposeController();
  world_.StartController();
  co_await loop.Sleep(between(0, 5'000));
  faults.Add(Update(plural, kube::Fault::kServerError, {}, SIZE_MAX,
                    [](const kube::Call& call) { return call.body["spec"]["replicas"].int_or(1) == 0; }));
  co_await Ask(kStable);
  co_await UntilPhase("Quiescing");
  co_await loop.Sleep(between(0, 2'000));
  co_await PatchInSource("{spec: {replicas: 0}}");
  co_await loop.Sleep(seconds(30));
  faults.Clear();
  co_await loop.Sleep(seconds(20));
  world_.KillDeposed();
  co_await Ended();
  co_await ExpectJudge(one);
}

// Its controller does not act for a while, and its last status is no proof of a stop.
rt::Task<void> RehearsalStage::ResumedWhileItStops(rt::SeededRandom& random) {
  const FleetWorkload& one = *workloads_.front();
  const std::string to = wish_.to;
  kube::ScriptedFaults& faults = world_.member_faults(one.cluster);
  // What a person lets run after the grant, when every order to stop is refused as well, nobody prevents.
  const auto refuse_the_grant = [&](size_t times) {
    world_.hub_faults().Clear();
    world_.hub_faults().Add(Update(kWriters.plural, kube::Fault::kServerError, {}, times, [to](const kube::Call& call) {
      return call.body["spec"]["holder"]["cluster"].str() == to;
    }));
  };
  refuse_the_grant(SIZE_MAX);
  co_await Ask(kStable);
  co_await world_.Until(
      [&]() -> rt::Task<bool> {
        const Value job = co_await world_.OnMember(one.cluster, ResourceOf(one), one.Key());
        co_return job["spec"]["suspend"].bool_or(false) && job["status"]["active"].int_or(1) == 0 &&
            job["status"]["terminating"].int_or(0) == 0;
      },
      kMoveWithin);
  faults.Add(Update(ResourceOf(one).plural, kube::Fault::kServerError, {}, SIZE_MAX,
                    [](const kube::Call& call) { return call.body["spec"]["suspend"].bool_or(false); }));
  world_.practice(one.cluster).KillOperator(seconds(static_cast<int64_t>(20 + random.Below(20))));
  co_await PatchInSource("{spec: {suspend: false}}");
  refuse_the_grant(1 + random.Below(kRefusalsMax));
  co_await world_.loop().Sleep(seconds(45));
  faults.Clear();
  co_await Ended();
  co_await ExpectJudge(one);
}

// What is applied again starts when the last process of the earlier one is gone, which its cluster is slow to end.
rt::Task<void> RehearsalStage::DeletedAndAppliedAgain(rt::SeededRandom& random) {
  const FleetWorkload& one = *workloads_.front();
  const kube::Name name = kube::Name::FromKey(one.Key());
  rt::VirtualLoop& loop = world_.loop();
  const auto between = [&](uint64_t from, uint64_t to) {
    return milliseconds(static_cast<int64_t>(from + random.Below(to - from + 1)));
  };
  co_await Ask(kStable);
  co_await UntilPhase("Verifying");
  co_await loop.Sleep(between(5'000, 15'000));
  world_.practice(wish_.to).KillOperator(between(30'000, 50'000));
  story_.Tell("person", "deletes the template, and applies it again, for the cluster that it came from");
  const auto policies = co_await world_.hub().ListAll(federation::kPropagationPolicies);
  for (const Value& policy : policies.ok() ? policies->items : std::vector<Value>()) {
    [[maybe_unused]] const auto pinned = co_await world_.hub().Patch(
        federation::kPropagationPolicies, kube::Name::Of(policy), kube::PatchType::kMerge,
        Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", one.cluster, "]}}}}")));
  }
  const Result<Workload> workload = Workload::Of(kube::KindOf(one.object), one.Key());
  if (workload.ok()) checkers_.Owns(*workload, Value());
  [[maybe_unused]] const auto gone = co_await world_.hub().Delete(ResourceOf(one), name);
  co_await world_.Until(
      [&]() -> rt::Task<bool> { co_return (co_await world_.OnHub(ResourceOf(one), one.Key())).is_null(); }, minutes(2));
  const auto made = co_await world_.hub().Create(ResourceOf(one), one.object);
  Expect(made.ok(), made.ok() ? "" : StrCat("not taken: ", made.error().message()));
  co_await loop.Sleep(minutes(2));
  co_await ExpectJudge(one);
  result_.day.end = "AppliedAgain";
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
