// What happens on a bad day.
#include "sim/bad_day.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "base/invariant.h"
#include "base/probe.h"
#include "rt/test_support.h"
#include "sim/actors.h"
#include "sim/bad_calls.h"
#include "sim/checkers.h"
#include "sim/plots.h"
#include "sim/scene.h"
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
constexpr uint64_t kRestoredOneIn = 8;             // of those that it left for good
constexpr uint64_t kHubRestoredOneIn = 12;         // of those on a hub of ours
constexpr uint64_t kHubRestoredSalt = 0x72657374;  // so that other chances stay as they are
constexpr uint64_t kPausedOneIn = 12;
constexpr uint64_t kAgainOneIn = 3;  // of those that went back
constexpr uint64_t kLiesOneIn = 8;
constexpr uint64_t kLiesSalt = 0x6c696573;
constexpr uint64_t kOnwardsOneIn = 2;  // of those that arrived
constexpr uint64_t kOnwardsSalt = 0x6f6e7764;
constexpr uint64_t kAbortsOneIn = 4;  // of those

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

// By an annotation of the template, which a controller makes a migration of.
rt::Task<void> Wish(Scene& scene) {
  scene.move = StrCat("orders-to-", scene.to, "-t1");
  co_await scene.PatchTemplate(
      StrCat("{metadata: {annotations: {", rollout::kTriggerAnnotation, ": ", scene.to, "}}}"));
}

std::string EndOf(const Value& migration) {
  if (migration.is_null()) return "Gone";
  if (Scene::IsOver(migration)) return std::string(migration["status"]["phase"].str());
  return "Held";
}

// What a day has, drawn before it begins.
struct DayPlan {
  bool two = false;       // replicas
  bool restored = false;  // the hub, from a backup; what people did to it meanwhile would be gone, too, so nobody does
  bool leaders_change = false;
  bool image_fails = false;
  bool troubles = false;
  bool wishes = false;
  bool cuts = false;
  bool newcomer = false;
  bool lingers = false;
  bool paused = false;  // the binding's scheduling, by a user, before the move
  std::vector<size_t> meddlings;
  int64_t meddles_within_ms = 0;
  Duration lasts{};
  std::string deadlines;
  int stabilization = 2;
};

// People who do two things on one day abort what they paused, or pause it.
constexpr std::string_view kSecondMeddlings[] = {"Abort", "Pause"};

size_t MeddlingCalled(std::string_view name) {
  const auto all = Meddlings();
  return static_cast<size_t>(std::ranges::find(all, name, &Meddling::name) - all.begin());
}

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

DayPlan Draw(const Scene& scene, BadCalls& chance, rt::SeededRandom& rare, uint64_t seed) {
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
  if (lies.Below(kLiesOneIn) == 0 && !scene.is_stateless()) scope.Spawn(Lies(course, lies));
  if (drawn.restored) scope.Spawn(HubIsRestored(hands, backup));
  if (rare.Below(kGitOpsOneIn) == 0) scope.Spawn(GitOps(course));
  if (rare.Below(kForgetsOneIn) == 0 && !drawn.restored) scope.Spawn(Forgets(course));
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

// One that was on its way when its person left may still come.
rt::Task<void> TaintsGo(World& world) {
  co_await world.loop().Sleep(seconds(1));
  for (const std::string& cluster : kClusters3) {
    [[maybe_unused]] const auto clean = co_await world.hub().Patch(
        federation::kClusters, {"", cluster}, kube::PatchType::kMerge, Yaml("{spec: {taints: null}}"));
  }
}

// Everything is put right that was done to hub, clusters and controllers, and people take back what they wanted to.
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
}

// A wish may not have become a move yet.
rt::Task<void> ExpectWishToCome(Scene& scene, const DayPlan& drawn) {
  const bool came = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return !(co_await scene.Migration()).is_null() || (co_await scene.Template()).is_null();
      },
      minutes(2));
  scene.Expect(came || !drawn.meddlings.empty(), "a move was wished for, and never came");
}

// What went back is asked for again, when all is well: nothing that the first try left is in its way.
rt::Task<void> AskAgain(Scene& scene, const DayPlan& drawn, Day& day) {
  const std::string first = std::exchange(scene.move, "again");
  co_await scene.UntilAllReady();
  ++day.again;
  co_await scene.Ask(", deadlines: {Verifying: 3m}");
  const Value end = co_await scene.Settled();
  const std::string wanted = drawn.image_fails ? "RolledBack" : "Succeeded";
  scene.Expect(end["status"]["phase"].str() == wanted,
               StrCat("asked for again after ", first, " went back: ", Scene::Said(end)));
  co_await scene.CheckAll();
}

// What has arrived is moved on, home or to the third cluster, among faults again: what the first move has left, or has
// on its way yet, meets the second one. With one leader or the replicas as before, who have their troubles.
rt::Task<void> MoveOn(Scene& scene, DayPlan drawn, const Course& course) {
  rt::SeededRandom onwards(course.day.seed ^ kOnwardsSalt);
  if (onwards.Below(kOnwardsOneIn) != 0) co_return;
  const std::string home = scene.from;
  const std::string third = scene.Third();
  scene.from = scene.to;
  scene.to = onwards.Below(2) == 0 ? home : third;
  scene.move = "onwards";
  drawn.meddlings.clear();
  if (onwards.Below(kAbortsOneIn) == 0) drawn.meddlings.push_back(MeddlingCalled("Abort"));
  ++course.day.onwards;
  co_await scene.UntilAllReady();
  course.chance.Begin();
  co_await scene.Ask(drawn.deadlines, "", drawn.stabilization);
  {
    rt::Scope scope(scene.world.loop());
    const Hands& hands = course;
    if (drawn.two) scope.Spawn(Replicas(hands));
    if (!drawn.two && drawn.leaders_change) scope.Spawn(Leaders(hands));
    if (drawn.troubles) scope.Spawn(Troubles(course));
    for (const size_t which : drawn.meddlings) scope.Spawn(Meddler(course, drawn.meddles_within_ms, which));
    co_await WhileFaultsLast(drawn, course);
    course.chance.End();
  }
  co_await FaultsStop(scene, drawn, course.day);
  const Value end = co_await scene.Settled();
  scene.Tell("move", StrCat("onwards: ", Scene::Said(end)));
  co_await ExpectAfter(scene, end, course.day);
}

rt::Task<void> Live(Scene& scene, BadCalls& chance, Day& day, std::string_view name) {
  rt::VirtualLoop& loop = scene.world.loop();
  rt::SeededRandom rare(~day.seed);
  if (const Plot* plot = DrawPlot(scene, day.seed, name)) {
    day.plot = plot->name;
    co_await PlayPlot(*plot, Course(scene, chance, rare, day));
    day.end = EndOf(co_await scene.Migration());
    co_return;
  }
  const DayPlan drawn = Draw(scene, chance, rare, day.seed);
  if (drawn.image_fails) scene.world.practice(scene.to).faults().fail_image = true;
  if (drawn.paused) co_await UserPauses(scene);
  day.replicated = drawn.two ? 1 : 0;
  if (drawn.two) scene.Expect(co_await StartReplicas(scene.world), "no replica was elected");
  const Value before = co_await scene.OnMember(scene.from);
  const std::shared_ptr<const HubDisk::Backup> backup = drawn.restored ? scene.world.BackUpHub() : nullptr;
  chance.Begin();
  if (drawn.wishes) {
    co_await Wish(scene);
  } else {
    co_await scene.Ask(drawn.deadlines, "", drawn.stabilization);
  }
  const Course course{scene, chance, rare, day};
  {
    rt::Scope scope(loop);
    SpawnActors(scope, drawn, course, backup);
    co_await WhileFaultsLast(drawn, course);
    chance.End();
  }
  co_await FaultsStop(scene, drawn, day);
  if (drawn.wishes) co_await ExpectWishToCome(scene, drawn);
  if (day.hub_restores > 0) {
    day.end = "Forgotten";
    co_return co_await ExpectAfterHubRestored(scene);
  }
  const Value end = co_await scene.Settled();
  day.end = EndOf(end);
  scene.Tell("move", Scene::Said(end));
  co_await ExpectAfter(scene, end, day);
  if (day.newcomers > 0) co_await ExpectNewcomerRuns(scene);
  if (scene.deleted_in_member || (co_await scene.Template()).is_null()) co_return;
  const bool back = day.end == "Aborted" || day.end == "RolledBack";
  if (back && day.forgotten == 0 && rare.Below(kAgainOneIn) == 0) co_await AskAgain(scene, drawn, day);
  if (day.end == "Succeeded" && scene.world.own_hub() && rare.Below(kRestoredOneIn) == 0) {
    ++day.restores;
    co_return co_await RestoreMember(scene, before);
  }
  if (day.end == "Succeeded" && !drawn.image_fails) co_await MoveOn(scene, drawn, course);
}

}  // namespace

namespace {

// What follows on the beginning.
rt::Task<void> PlayOn(Scene& scene, BadCalls& chance, const Story& story, CallBook* book, Day& day,
                      std::string_view plot) {
  chance.Reseed(day.seed);
  scene.world.loop().Reseed(day.seed);
  if (book != nullptr) book->Begin();
  co_await Live(scene, chance, day, plot);
  for (const std::string& problem : scene.world.problems()) scene.Expect(false, problem);
  day.problems = scene.problems;
  day.events = scene.world.loop().steps();
  day.calls = story.calls();
  day.faults = story.faults();
  day.writes_lost = scene.world.hub_disk().lost();
  day.writes_kept = scene.world.hub_disk().kept();
  day.moves = scene.checkers->moves_ended();
  day.outage = scene.checkers->longest_outage();
  if (book != nullptr) day.matrix = book->matrix();
}

uint64_t BeginningOf(uint64_t seed) { return seed / kSeedsOfOneBeginning; }

// Every fifth beginning is beside another federation.
HubOf HubIn(uint64_t seed) { return BeginningOf(seed) % 5 == 4 ? HubOf::kFailingKarmada : HubOf::kBaton; }

// How its owner wants the job to be upgraded: which is what others do to it, and what a move must not leave to chance.
rt::Task<void> Begin(Scene& scene, uint64_t seed) {
  constexpr std::string_view kModes[] = {"savepoint", "last-state", "stateless"};
  return scene.Begin(JobWith(kModes[BeginningOf(seed) % std::size(kModes)]));
}

Day PlayAlone(uint64_t seed, CallBook* book, Story::Detail detail, std::string_view plot = "") {
  Day day{.seed = seed};
  Story story(detail);
  BadCalls chance(seed);
  Play(
      BeginningOf(seed),
      [&](Scene& scene) -> rt::Task<void> {
        co_await Begin(scene, seed);
        co_await PlayOn(scene, chance, story, book, day, plot);
      },
      &chance, &story, book, HubIn(seed));
  day.story = story.Text();
  return day;
}

}  // namespace

Day PlayDay(uint64_t seed, Story::Detail detail, std::string_view plot) {
  return PlayAlone(seed, nullptr, detail, plot);
}

Day PlayDirectedDay(uint64_t seed, const DirectedFault& fault, Story::Detail detail) {
  CallBook book;
  book.Direct(fault);
  Day day = PlayAlone(seed, &book, detail);
  day.directed_hit = !book.direct_pending();
  return day;
}

void PlayDays(std::span<const uint64_t> seeds, bool with_matrix, const DayReport& report, const DayDone& done,
              std::string_view plot) {
  if (seeds.empty()) return;
  const uint64_t from = seeds.front();
  for (const uint64_t seed : seeds) INVARIANT(BeginningOf(seed) == BeginningOf(from), "days of one beginning");
  Story story(Story::Detail::kCounts);
  BadCalls chance(from);
  CallBook book;
  Play(
      BeginningOf(from),
      [&](Scene& scene) -> rt::Task<void> {
        co_await Begin(scene, from);
        for (const uint64_t seed : seeds) {
          const Result<Branch> branch = Branch::Fork();
          if (!branch.ok()) {
            done(seed, {.text = {}, .died = std::string(branch.error().message())});
          } else if (!branch->in_child()) {
            done(seed, branch->output());
          } else {
            ResetProbes();
            Day day{.seed = seed};
            co_await PlayOn(scene, chance, story, with_matrix ? &book : nullptr, day, plot);
            branch->End(report(day));
          }
        }
      },
      &chance, &story, with_matrix ? &book : nullptr, HubIn(from));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
