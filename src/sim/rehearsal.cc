// Rehearsals: the worlds that they are played in, the wish, and seeds that go on from one beginning.
#include "sim/rehearsal.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"
#include "rt/test_support.h"
#include "sim/rehearsal_stage.h"
#include "sim/workloads.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr int kNodes = 20;
constexpr uint64_t kHomeOneIn = 3;      // of drains that may be taken back
constexpr uint64_t kRestoredOneIn = 8;  // of those that it left for good, in days with faults

}  // namespace

const kube::Resource& ResourceOf(const FleetWorkload& workload) {
  return *PlayedKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
}

RehearsalStage::RehearsalStage(World& world, const Fleet& fleet, const RehearsalWish& wish, Rehearsal& result,
                               BadCalls& chance, Story& story)
    : world_(world),
      checkers_(world, &story),
      fleet_(fleet),
      wish_(wish),
      result_(result),
      chance_(chance),
      story_(story) {
  checkers_.on_wrong = [this](const std::string& problem) { result_.day.problems.push_back(problem); };
  for (const Value& cluster : fleet.clusters) names_.emplace_back(kube::NameOf(cluster));
  for (const Value& object : fleet.objects) {
    if (kube::KindOf(object) != rollout::kProfiles.kind) continue;
    [[maybe_unused]] const Result<void> taken = profiles_.Set(object);
  }
}

bool RehearsalStage::Runs(const std::string& cluster, const FleetWorkload& workload) {
  return RunsIn(world_.practice(cluster), kube::KindOf(workload.object), workload.Key());
}

// `branches`: null: one seed, that of the result.
rt::Task<void> RehearsalStage::Play(const RehearsalOptions& options, const Branches* branches) {
  co_await Put();
  if (!world_.own_hub()) world_.StartKarmada();
  world_.StartController();
  co_await Settle();
  if (workloads_.empty() || options.only_settle) {
    result_.day.end = "NotRehearsed";
    if (branches != nullptr) TellAll(*branches);
    co_return;
  }
  Watch();
  for (const FleetWorkload* one : workloads_) {
    const Result<Workload> workload = Workload::Of(kube::KindOf(one->object), one->Key());
    if (workload.ok()) checkers_.Owns(*workload, co_await world_.OnHub(ResourceOf(*one), one->Key()));
  }
  rt::Scope following(world_.loop());
  following.Spawn(checkers_.Follow());
  world_.OnHubRestored([this] { checkers_.HubForgets(); });
  if (branches == nullptr) {
    co_await PlayOn(options);
  } else {
    co_await PlayEach(options, *branches);
  }
  world_.OnHubRestored(nullptr);
  following.CancelAll();
  world_.loop().OnEveryStep(nullptr);
}

// The copy did not come to run: that is the end of every seed.
void RehearsalStage::TellAll(const Branches& branches) {
  for (const uint64_t seed : branches.seeds) {
    result_.day.seed = seed;
    branches.done(seed, {.text = branches.report(result_), .died = {}});
  }
}

rt::Task<void> RehearsalStage::PlayEach(const RehearsalOptions& options, const Branches& branches) {
  for (const uint64_t seed : branches.seeds) {
    const Result<Branch> branch = Branch::Fork();
    if (!branch.ok()) {
      branches.done(seed, {.text = {}, .died = std::string(branch.error().message())});
    } else if (!branch->in_child()) {
      branches.done(seed, branch->output());
    } else {
      ResetProbes();
      result_.day.seed = seed;
      co_await PlayOn(options);
      branch->End(branches.report(result_));
    }
  }
}

// What follows on the beginning.
rt::Task<void> RehearsalStage::PlayOn(const RehearsalOptions& options) {
  const bool faults = options.faults;
  const uint64_t seed = result_.day.seed;
  chance_.Reseed(seed);
  world_.loop().Reseed(seed);
  const bool gitops = options.gitops_one_in > 0 && rt::SeededRandom(seed).Below(options.gitops_one_in) == 0;
  const MonotonicTime asked = world_.loop().Now();
  const FleetWorkload& first = *workloads_.front();
  const Value before = co_await world_.OnMember(first.cluster, ResourceOf(first), first.Key());
  if (wish_.upgrades) {
    co_await PlayUpgrades(options, gitops);
  } else if (wish_.wishes) {
    co_await PlayWishes(options, gitops);
  } else if (!options.plots || !co_await PlayPlot()) {
    if (faults) chance_.Begin();
    co_await Ask();
    if (faults) co_await Disturb(gitops);
    co_await Ended();
    result_.took = world_.loop().Now() - asked;
    co_await CheckAll();
  }
  if (wish_.home && result_.day.end.starts_with("Drained") && chance_.OneIn(kHomeOneIn)) co_await GoHome();
  result_.day.moves = checkers_.moves_ended();
  result_.day.outage = checkers_.longest_outage();
  checking_ = false;
  // On a hub of others nobody looks for what came back.
  const bool left =
      wish_.drain.empty() && result_.day.end == "Succeeded" && world_.own_hub() && result_.day.plot.empty();
  if (faults && left && chance_.OneIn(kRestoredOneIn)) co_await Restore(first, before);
  result_.day.writes_lost = world_.hub_disk().lost();
  result_.day.writes_kept = world_.hub_disk().kept();
  for (const std::string& problem : world_.problems()) Expect(false, problem);
  result_.day.events = world_.loop().steps();
  result_.day.calls = story_.calls();
  result_.day.faults = story_.faults();
}

void RehearsalStage::Expect(bool holds, std::string what) {
  if (holds) return;
  story_.Tell("checker", what);
  result_.day.problems.push_back(std::move(what));
}

void RehearsalStage::Watch() {
  if (workloads_.size() * names_.size() > kWritersWatchedMax) return;  // the judge counts overlaps, too
  world_.loop().OnEveryStep([this] {
    if (!checking_) return;
    bool changed = false;
    for (const FleetWorkload* one : workloads_) {
      std::string where;
      int running = 0;
      for (const std::string& name : names_) {
        if (!Runs(name, *one)) continue;
        ++running;
        where += (where.empty() ? "" : " and ") + name;
      }
      std::string& before = running_[one];
      changed = changed || before != where;
      before = where;
      if (running < 2 || !doubled_.insert(one).second) continue;
      story_.Tell("checker", StrCat("TWO WRITERS of ", one->Name(), ": ", where));
      Expect(false, StrCat(one->Name(), ": two writers at once: ", where));
    }
    if (changed) checkers_.Look();
  });
}

rt::Task<void> RehearsalStage::Ask(int64_t stabilization) {
  if (!wish_.drain.empty()) co_return co_await AskDrain();
  const FleetWorkload& one = *workloads_.front();
  story_.Tell("person", StrCat("asks for a move of ", one.Name(), " to ", wish_.to));
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  migration.Edit("metadata").Set("name", kRehearsedMove);
  migration.Edit("metadata").Set("namespace", kube::NamespaceOf(one.object));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", kube::ApiVersionOf(one.object)},
                                                                 {"kind", kube::KindOf(one.object)},
                                                                 {"name", kube::NameOf(one.object)}})},
                                      {"target", wish_.to},
                                      {"stabilizationSeconds", stabilization}}));
  const Result<Value> made = co_await world_.hub().Create(kMigrations, migration);
  Expect(made.ok(), made.ok() ? "" : StrCat("the move was not taken: ", made.error().message()));
}

// As `baton drain` does: what is to be done, then the taint.
rt::Task<void> RehearsalStage::AskDrain() {
  story_.Tell("person", StrCat("drains ", wish_.drain));
  Value spec =
      json::Object({{"cluster", wish_.drain}, {"round", int64_t{1}}, {"stabilizationSeconds", kStabilization}});
  if (wish_.most > 0) spec.Set("maxConcurrent", wish_.most);
  co_await Create(rollout::kEvacuations, json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"},
                                                       {"kind", "ClusterEvacuation"},
                                                       {"metadata", json::Object({{"name", wish_.drain}})},
                                                       {"spec", spec}}));
  // Controllers write to Clusters all the time.
  constexpr int kTries = 50;
  for (int tries = 0; tries < kTries; ++tries) {
    Value cluster = co_await world_.OnHub(federation::kClusters, wish_.drain);
    cluster.Edit("spec").Edit("taints").Push(json::Object({{"key", rollout::kDrainTaint}, {"effect", "NoExecute"}}));
    const Result<Value> written = co_await world_.hub().Update(federation::kClusters, cluster);
    if (written.ok()) co_return;
    co_await world_.loop().Sleep(milliseconds(10));
  }
  Expect(false, "the taint was not taken");
}

namespace {

uint64_t BeginningOf(uint64_t seed, const RehearsalOptions& options) {
  return options.beginning.value_or(seed / kSeedsOfOneBeginning);
}

// `result` has the seed, or gets that of each branch.
void PlayIn(const Fleet& fleet, const RehearsalWish& wish, const RehearsalOptions& options, uint64_t beginning,
            const Branches* branches, Rehearsal& result) {
  rt::VirtualLoop loop(beginning);
  loop.LimitStepsPerInstant(kStepsPerInstant);
  Story story(options.detail);
  story.Begin(loop);
  BadCalls chance(beginning);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    world.SetFaultPlan(&chance);
    world.SetKarmadaPlan(&chance);
    world.SetStory(&story);
    RehearsalStage stage(world, fleet, wish, result, chance, story);
    const bool kinds = std::ranges::any_of(
        fleet.workloads, [](const FleetWorkload& one) { return ResourceOf(one) != practice::FlinkDeployments(); });
    Result<void> started = co_await world.Start(
        {.clusters = {}, .kinds = kinds, .controllers = false, .nodes = kNodes, .own_hub = options.own_hub});
    for (const Value& cluster : fleet.clusters) {
      if (!started.ok()) break;
      Value more = cluster["metadata"];
      more.Set("spec", cluster["spec"]);
      started = co_await world.Join(std::string(kube::NameOf(cluster)), std::move(more));
    }
    if (started.ok()) {
      co_await stage.Play(options, branches);
    } else {
      result.day.problems.push_back(StrCat("the copy does not start: ", started.error().message()));
      if (branches != nullptr) stage.TellAll(*branches);
    }
    co_await world.Stop();
  }));
  story.End();
  result.day.story = story.Text();
}

}  // namespace

Rehearsal Rehearse(const Fleet& fleet, const RehearsalWish& wish, uint64_t seed, const RehearsalOptions& options) {
  Rehearsal result;
  result.day.seed = seed;
  PlayIn(fleet, wish, options, BeginningOf(seed, options), nullptr, result);
  return result;
}

void RehearseAll(const Fleet& fleet, const RehearsalWish& wish, std::span<const uint64_t> seeds,
                 const RehearsalOptions& options, const std::function<std::string(Rehearsal& played)>& report,
                 const DayDone& done) {
  if (seeds.empty()) return;
  const uint64_t beginning = BeginningOf(seeds.front(), options);
  for (const uint64_t seed : seeds) INVARIANT(BeginningOf(seed, options) == beginning, "seeds of one beginning");
  Rehearsal result;
  const Branches branches{.seeds = seeds, .report = report, .done = done};
  PlayIn(fleet, wish, options, beginning, &branches, result);
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
