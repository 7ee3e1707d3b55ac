// What a day has, and its parts.
#include "sim/day_plan.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "sim/stories_rare.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

// Of what few days have.
constexpr uint64_t kHubDiesOneIn = 10;
constexpr uint64_t kGitOpsOneIn = 5;
constexpr uint64_t kForgetsOneIn = 12;
constexpr uint64_t kClocksOneIn = 3;  // of those with replicas
constexpr uint64_t kQuotaOneIn = 10;
constexpr uint64_t kEvictsOneIn = 2;               // of those beside another federation
constexpr uint64_t kHubRestoredOneIn = 12;         // of those on a hub of ours
constexpr uint64_t kHubRestoredSalt = 0x72657374;  // so that other chances stay as they are
constexpr uint64_t kPausedOneIn = 12;
constexpr uint64_t kLiesOneIn = 8;
constexpr uint64_t kLiesSalt = 0x6c696573;

constexpr Duration kPolicyGoes = minutes(2);  // with a leader that begins first

// People who do two things on one day abort what they paused, or pause it.
constexpr std::string_view kSecondMeddlings[] = {"Abort", "Pause"};

std::vector<size_t> DrawMeddlings(const Scene& scene, BadCalls& chance, bool restored) {
  if (!chance.OneIn(2)) return {};
  size_t which = chance.OneIn(2) ? 0 : chance.Below(Meddlings().size());  // aborts are the most common
  const bool twice = chance.OneIn(4);
  const size_t second = MeddlingCalled(kSecondMeddlings[chance.Below(std::size(kSecondMeddlings))]);
  if (!scene.world.own_hub() && Meddlings()[which].ours_only) which = 0;
  // Its operator lets a job without state begin anew with every new spec.
  if (scene.is_stateless() && which == MeddlingCalled("EditTemplate")) which = 0;
  if (restored && which != 0) return {};
  if (!twice || restored || second == which) return {which};
  return {which, second};
}

// One that was on its way when its person left may still come.
rt::Task<void> TaintsGo(World& world) {
  co_await world.loop().Sleep(seconds(1));
  for (const std::string& cluster : kClusters3) {
    [[maybe_unused]] const auto clean = co_await world.hub().Patch(
        federation::kClusters, {"", cluster}, kube::PatchType::kMerge, Yaml("{spec: {taints: null}}"));
  }
}

}  // namespace

size_t MeddlingCalled(std::string_view name) {
  const auto all = Meddlings();
  return static_cast<size_t>(std::ranges::find(all, name, &Meddling::name) - all.begin());
}

DayPlan DrawDay(const Scene& scene, BadCalls& chance, rt::SeededRandom& rare, uint64_t seed) {
  DayPlan course;
  const bool ours = scene.world.own_hub();
  course.restored = ours && rt::SeededRandom(seed ^ kHubRestoredSalt).Below(kHubRestoredOneIn) == 0;
  course.two = chance.OneIn(3);
  course.leaders_change = chance.OneIn(2);
  course.image_fails = chance.OneIn(8);
  course.troubles = chance.OneIn(2);
  course.wishes = chance.OneIn(8) && !course.restored;
  course.cuts = chance.OneIn(4) && !course.restored;
  course.meddlings = DrawMeddlings(scene, chance, course.restored);
  course.meddles_within_ms = chance.OneIn(4) ? 2'000 : 60'000;
  course.newcomer = chance.OneIn(6) && !course.image_fails && !course.restored;  // it may be placed there too
  course.lingers = chance.OneIn(4);
  course.lasts = seconds(static_cast<int64_t>(10 + chance.Below(110)));
  const bool hurries = chance.OneIn(4);
  const bool falls_back = chance.OneIn(4) && !course.restored;  // the stop need not capture, when it takes long
  course.deadlines = hurries      ? ", deadlines: {Verifying: 30s, Quiescing: 30s}"
                     : falls_back ? ", deadlines: {Verifying: 3m, Quiescing: 2m}, captureFallback: LastCheckpoint"
                                  : ", deadlines: {Verifying: 3m}";
  if (chance.OneIn(4)) course.stabilization = 20;
  // Who deletes the binding takes the pause with it.
  const bool unbound = std::ranges::count(course.meddlings, MeddlingCalled("DeleteBinding")) > 0;
  course.paused = rare.Below(kPausedOneIn) == 0 && ours && !course.restored && !unbound;
  return course;
}

rt::Task<void> UserPauses(Scene& scene) {
  scene.Tell("person", "pauses the scheduling of the binding");
  scene.paused_by_a_user = true;
  const auto paused =
      co_await scene.world.hub().Patch(federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)),
                                       kube::PatchType::kMerge, Yaml("{spec: {suspension: {scheduling: true}}}"));
  scene.Expect(paused.ok(), "the user's pause was not taken");
}

void SpawnActors(rt::Scope& scope, const DayPlan& drawn, const Course& course,
                 const std::shared_ptr<const HubDisk::Backup>& backup) {
  const Hands& hands = course;
  BadCalls& chance = course.chance;
  rt::SeededRandom& rare = course.rare;
  Scene& scene = course.scene;
  const bool ours = scene.world.own_hub();
  if (rare.Below(kHubDiesOneIn) == 0 && !drawn.restored) scope.Spawn(HubDies(hands));
  // One who says that a job without state runs again, when it does not, has it started from nothing.
  rt::SeededRandom lies(course.day.seed ^ kLiesSalt);
  if (lies.Below(kLiesOneIn) == 0 && !scene.is_stateless() && drawn.operators_err) scope.Spawn(Lies(course, lies));
  if (drawn.restored) scope.Spawn(HubIsRestored(hands, backup));
  if (rare.Below(kGitOpsOneIn) == 0) scope.Spawn(GitOps(course));
  if (rare.Below(kForgetsOneIn) == 0 && !drawn.restored && drawn.operators_err) scope.Spawn(Forgets(course));
  if (drawn.two && rare.Below(kClocksOneIn) == 0) scope.Spawn(Clocks(hands));
  if (rare.Below(kQuotaOneIn) == 0) scope.Spawn(QuotaIsSpent(hands, scene.to, FlinkDeployments().plural));
  if (!ours && rare.Below(kEvictsOneIn) == 0) scope.Spawn(KarmadaEvicts(course));
  if (!ours && chance.OneIn(3)) scope.Spawn(KarmadaDies(hands));
  if (drawn.two) scope.Spawn(Replicas(hands));
  if (!drawn.two && drawn.leaders_change) scope.Spawn(Leaders(hands));
  if (drawn.troubles) scope.Spawn(Troubles(course));
  if (drawn.newcomer) scope.Spawn(Newcomer(course, chance.UpTo(10'000)));
  if (drawn.cuts) scope.Spawn(Partitions(course));
  for (const size_t which : drawn.meddlings) scope.Spawn(Meddler(course, drawn.meddles_within_ms, which));
}

// Mostly not for long after the end of the move, when little is left that could go wrong.
rt::Task<void> WhileFaultsLast(const DayPlan& drawn, const Course& course) {
  rt::VirtualLoop& loop = course.world.loop();
  const MonotonicTime until = loop.Now() + drawn.lasts;
  while (loop.Now() < until) {
    co_await loop.Sleep(std::min<Duration>(seconds(1), until - loop.Now()));
    if (!drawn.lingers && Scene::IsOver(co_await course.scene.Migration())) break;
  }
  if (loop.Now() < until) co_await loop.Sleep(course.chance.UpTo(10'000));
}

namespace {

// Its deletion may have been under way when it was applied again, and have taken that with it: its owner sees to it.
rt::Task<void> PolicyIsThere(Scene& scene) {
  const std::string key = kube::Name::Of(Yaml(kPolicy)).Key();
  Value policy;
  const bool decided = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        policy = co_await scene.world.OnHub(federation::kPropagationPolicies, key);
        co_return !kube::IsDeleting(policy);
      },
      kPolicyGoes);
  scene.Expect(decided, "a policy that was deleted does not go");
  if (!decided || !policy.is_null()) co_return;
  scene.Tell("person", "applies the policy once more");
  const auto applied = co_await scene.world.Apply(federation::kPropagationPolicies, Yaml(kPolicy));
  scene.Expect(applied.ok(), "the policy was not taken");
}

}  // namespace

rt::Task<void> FaultsStop(Scene& scene, const DayPlan& drawn, Day& day) {
  scene.Tell("world", "the faults stop");
  for (const std::string& cluster : kClusters3) {
    if (day.lies > 0) scene.world.Lie(cluster, false);
  }
  scene.world.SetSlowestSync({});
  co_await scene.world.ReviveHub();
  scene.world.KarmadaFailsOver(std::nullopt);
  day.evictions = scene.world.evictions();
  for (const std::string& cluster : kClusters3) {
    scene.world.SpendQuota(cluster, "");
    practice::Faults& faults = scene.world.practice(cluster).faults();
    faults = {.fail_image = faults.fail_image};
    scene.world.CutOff(cluster, Cut::kNone);
  }
  for (const size_t which : drawn.meddlings) {
    if (day.meddlings > 0 && Meddlings()[which].undo != nullptr) co_await Meddlings()[which].undo(scene);
  }
  if (day.taints > 0) co_await TaintsGo(scene.world);
  scene.world.KillDeposed();
  if (!drawn.two && !scene.world.controller_runs()) scene.world.StartController();
  if (drawn.two) HealReplicas(scene.world);
  if (std::ranges::count(drawn.meddlings, MeddlingCalled("DeletePolicy")) > 0) co_await PolicyIsThere(scene);
}

rt::Task<void> ExpectAfter(Scene& scene, const Value& end, const Day& day) {
  const bool deleted = (co_await scene.Template()).is_null();
  const bool held = scene.deleted_in_member && !deleted && !Scene::IsBlocked(end) && co_await IsHeldAsStray(scene);
  if (held) co_return co_await scene.ExpectClean();
  if (!end.is_null() && !deleted) co_return co_await scene.CheckAll();
  if (end.is_null() && !deleted) {
    // An operator that forgot its status, or a JobManager that died, starts it again.
    const bool restarts = day.forgotten + day.troubles > 0;
    std::string where;
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          where = co_await scene.WhereItRuns();
          co_return where == scene.from || where == scene.to;
        },
        restarts ? minutes(5) : Duration{});
    scene.Expect(where == scene.from || where == scene.to, StrCat("it runs in '", where, "'"));
    if (!where.empty()) co_await scene.ExpectRunsAlone(where);
    co_await scene.ExpectNoResidue();
    co_await scene.world.loop().Sleep(kCommitted);
  }
  if (deleted) {
    scene.Expect(end.is_null() || Scene::IsOver(end), StrCat("the template is gone, and its move: ", Scene::Said(end)));
    co_await ExpectGoneWithItsTemplate(scene);
    scene.Expect(std::ranges::none_of(kClusters3, [&](const std::string& one) { return scene.JobRuns(one); }),
                 "the template is gone, and its job runs");
  }
  co_await scene.ExpectClean();
}

rt::Task<void> ExpectNewcomerRuns(Scene& scene) {
  std::string where;
  const auto runs = [&]() -> rt::Task<bool> {
    where.clear();
    for (const std::string& cluster : kClusters3) {
      const Value object = co_await scene.world.OnMember(cluster, FlinkDeployments(), StrCat("default/", kNewcomer));
      if (object["status"]["jobStatus"]["state"].str() == "RUNNING")
        StrAppend(where, where.empty() ? "" : "+", cluster);
    }
    co_return std::ranges::find(kClusters3, where) != kClusters3.end();
  };
  const bool ran = co_await scene.world.Until(runs, minutes(10));
  scene.Expect(ran, StrCat("the other job runs in '", where, "'"));
  Result<practice::JudgeReport> report = co_await scene.world.Judge("default", std::string(kNewcomer));
  if (report.ok() && scene.operator_forgot) report->duplicated = report->out_of_order = 0;  // as in ExpectClean
  scene.Expect(report.ok() && report->clean(), report.ok() ? report->Text() : "the judge could not read the other job");
}

std::string EndOf(const Value& migration) {
  if (migration.is_null()) return "Gone";
  if (Scene::IsOver(migration)) return std::string(migration["status"]["phase"].str());
  return "Held";
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
