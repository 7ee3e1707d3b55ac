// What happens on a bad day.
#include "sim/bad_day.h"

#include <algorithm>

#include "base/invariant.h"
#include "base/probe.h"
#include "rt/test_support.h"
#include "sim/actors.h"
#include "sim/bad_calls.h"
#include "sim/checkers.h"
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
constexpr uint64_t kLiesOneIn = 8;
constexpr uint64_t kLiesSalt = 0x6c696573;

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

rt::Task<void> Live(Scene& scene, BadCalls& chance, Day& day) {
  rt::VirtualLoop& loop = scene.world.loop();
  rt::SeededRandom backups(day.seed ^ kHubRestoredSalt);
  const bool two = chance.OneIn(3);
  // What people did to the hub meanwhile would be gone, too: such a day has none of it, but for who aborts.
  const bool restored = scene.world.own_hub() && backups.Below(kHubRestoredOneIn) == 0;
  const bool leaders_change = chance.OneIn(2);
  const bool image_fails = chance.OneIn(8);
  const bool troubles = chance.OneIn(2);
  const bool wishes = chance.OneIn(8) && !restored;
  const bool cuts = chance.OneIn(4) && !restored;
  bool meddles = chance.OneIn(2);
  size_t which = chance.OneIn(2) ? 0 : chance.Below(Meddlings().size());  // aborts are the most common
  if (!scene.world.own_hub() && Meddlings()[which].ours_only) which = 0;
  if (restored && which != 0) meddles = false;
  const Duration after = chance.UpTo(chance.OneIn(4) ? 2'000 : 60'000);
  const bool newcomer = chance.OneIn(6) && !image_fails && !restored;  // it may be placed there too
  const bool lingers = chance.OneIn(4);
  const auto lasts = seconds(static_cast<int64_t>(10 + chance.Below(110)));
  const bool falls_back = chance.OneIn(4) && !restored;  // the stop need not capture, when it takes long
  if (image_fails) scene.world.practice(scene.to).faults().fail_image = true;
  day.replicated = two ? 1 : 0;
  if (two) scene.Expect(co_await StartReplicas(scene.world), "no replica was elected");
  const Value before = co_await scene.OnMember(scene.from);
  const std::shared_ptr<const HubDisk::Backup> backup = restored ? scene.world.BackUpHub() : nullptr;
  chance.Begin();
  if (wishes) {
    co_await Wish(scene);
  } else {
    co_await scene.Ask(falls_back ? ", deadlines: {Verifying: 3m, Quiescing: 2m}, captureFallback: LastCheckpoint"
                                  : ", deadlines: {Verifying: 3m}");
  }
  rt::SeededRandom rare(~day.seed);
  const Course course{scene, chance, rare, day};
  const Hands hands{.world = scene.world, .chance = chance, .rare = rare, .day = day};
  {
    rt::Scope scope(loop);
    if (rare.Below(kHubDiesOneIn) == 0 && !restored) scope.Spawn(HubDies(hands));
    if (rt::SeededRandom lies(day.seed ^ kLiesSalt); lies.Below(kLiesOneIn) == 0) scope.Spawn(Lies(course, lies));
    if (restored) scope.Spawn(HubIsRestored(hands, backup, milliseconds(static_cast<int64_t>(backups.Below(60'000)))));
    if (rare.Below(kGitOpsOneIn) == 0) scope.Spawn(GitOps(course));
    if (rare.Below(kForgetsOneIn) == 0 && !restored) scope.Spawn(Forgets(course));
    if (two && rare.Below(kClocksOneIn) == 0) scope.Spawn(Clocks(hands));
    if (rare.Below(kQuotaOneIn) == 0) scope.Spawn(QuotaIsSpent(hands, scene.to, FlinkDeployments().plural));
    if (!scene.world.own_hub() && rare.Below(kEvictsOneIn) == 0) scope.Spawn(KarmadaEvicts(course));
    if (!scene.world.own_hub() && chance.OneIn(3)) scope.Spawn(KarmadaDies(hands));
    if (two) scope.Spawn(Replicas(hands));
    if (!two && leaders_change) scope.Spawn(Leaders(hands));
    if (troubles) scope.Spawn(Troubles(course));
    if (newcomer) scope.Spawn(Newcomer(course, chance.UpTo(10'000)));
    if (cuts) scope.Spawn(Partitions(course, chance.UpTo(30'000)));
    if (meddles) scope.Spawn(Meddler(course, after, which));
    // Mostly not for long after the end of the move, when little is left that could go wrong.
    const MonotonicTime until = loop.Now() + lasts;
    while (loop.Now() < until) {
      co_await loop.Sleep(std::min<Duration>(seconds(1), until - loop.Now()));
      if (!lingers && Scene::IsOver(co_await scene.Migration())) break;
    }
    if (loop.Now() < until) co_await loop.Sleep(chance.UpTo(10'000));
    chance.End();
  }
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
    if (day.taints > 0) {
      [[maybe_unused]] const auto clean = co_await scene.world.hub().Patch(
          federation::kClusters, {"", cluster}, kube::PatchType::kMerge, Yaml("{spec: {taints: null}}"));
    }
    practice::Faults& faults = scene.world.practice(cluster).faults();
    faults = {.fail_image = faults.fail_image};
    scene.world.CutOff(cluster, Cut::kNone);
  }
  // Who was about to take back what they did, does.
  if (day.meddlings > 0 && Meddlings()[which].undo != nullptr) co_await Meddlings()[which].undo(scene);
  scene.world.KillDeposed();
  if (!two && !scene.world.controller_runs()) scene.world.StartController();
  if (two) HealReplicas(scene.world);
  // A wish may not have become a move yet.
  if (wishes) {
    const bool came = co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          co_return !(co_await scene.Migration()).is_null() || (co_await scene.Template()).is_null();
        },
        minutes(2));
    scene.Expect(came || meddles, "a move was wished for, and never came");
  }
  if (day.hub_restores > 0) {
    day.end = "Forgotten";
    co_return co_await ExpectAfterHubRestored(scene);
  }
  const Value end = co_await scene.Settled();
  day.end = EndOf(end);
  scene.Tell("move", Scene::Said(end));
  co_await ExpectAfter(scene, end, day);
  if (day.newcomers > 0) co_await ExpectNewcomerRuns(scene);
  const bool left = day.end == "Succeeded" && scene.world.own_hub() && !scene.deleted_in_member &&
                    !(co_await scene.Template()).is_null();
  if (left && rare.Below(kRestoredOneIn) == 0) {
    ++day.restores;
    co_await RestoreMember(scene, before);
  }
}

}  // namespace

namespace {

// What follows on the beginning.
rt::Task<void> PlayOn(Scene& scene, BadCalls& chance, const Story& story, CallBook* book, Day& day) {
  chance.Reseed(day.seed);
  scene.world.loop().Reseed(day.seed);
  if (book != nullptr) book->Begin();
  co_await Live(scene, chance, day);
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

Day PlayAlone(uint64_t seed, CallBook* book, Story::Detail detail) {
  Day day{.seed = seed};
  Story story(detail);
  BadCalls chance(seed);
  Play(
      BeginningOf(seed),
      [&](Scene& scene) -> rt::Task<void> {
        co_await scene.Begin();
        co_await PlayOn(scene, chance, story, book, day);
      },
      &chance, &story, book, HubIn(seed));
  day.story = story.Text();
  return day;
}

}  // namespace

Day PlayDay(uint64_t seed, Story::Detail detail) { return PlayAlone(seed, nullptr, detail); }

Day PlayDirectedDay(uint64_t seed, const DirectedFault& fault, Story::Detail detail) {
  CallBook book;
  book.Direct(fault);
  Day day = PlayAlone(seed, &book, detail);
  day.directed_hit = !book.direct_pending();
  return day;
}

void PlayDays(uint64_t from, uint64_t count, bool with_matrix, const DayReport& report, const DayDone& done) {
  INVARIANT(count == 0 || BeginningOf(from) == BeginningOf(from + count - 1), "days of one beginning");
  Story story(Story::Detail::kCounts);
  BadCalls chance(from);
  CallBook book;
  Play(
      BeginningOf(from),
      [&](Scene& scene) -> rt::Task<void> {
        co_await scene.Begin();
        for (uint64_t seed = from; seed < from + count; ++seed) {
          const Result<Branch> branch = Branch::Fork();
          if (!branch.ok()) {
            done(seed, {.text = {}, .died = std::string(branch.error().message())});
          } else if (!branch->in_child()) {
            done(seed, branch->output());
          } else {
            ResetProbes();
            Day day{.seed = seed};
            co_await PlayOn(scene, chance, story, with_matrix ? &book : nullptr, day);
            branch->End(report(day));
          }
        }
      },
      &chance, &story, with_matrix ? &book : nullptr, HubIn(from));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

json::Value Day::Json() const {
  Value wrong = json::Array();
  for (const std::string& problem : problems) wrong.Push(problem);
  Value hits = json::Array();
  for (const size_t count : faults) hits.Push(static_cast<int64_t>(count));
  return json::Object({{"seed", static_cast<int64_t>(seed)},
                       {"problems", wrong},
                       {"end", end},
                       {"events", static_cast<int64_t>(events)},
                       {"calls", static_cast<int64_t>(calls)},
                       {"faults", hits},
                       {"leaders", static_cast<int64_t>(leaders)},
                       {"replicated", static_cast<int64_t>(replicated)},
                       {"hubDeaths", static_cast<int64_t>(hub_deaths)},
                       {"hubRestores", static_cast<int64_t>(hub_restores)},
                       {"writesLost", static_cast<int64_t>(writes_lost)},
                       {"writesKept", static_cast<int64_t>(writes_kept)},
                       {"forgotten", static_cast<int64_t>(forgotten)},
                       {"lies", static_cast<int64_t>(lies)},
                       {"drifts", static_cast<int64_t>(drifts)},
                       {"syncs", static_cast<int64_t>(syncs)},
                       {"quotas", static_cast<int64_t>(quotas)},
                       {"taints", static_cast<int64_t>(taints)},
                       {"evictions", static_cast<int64_t>(evictions)},
                       {"restores", static_cast<int64_t>(restores)},
                       {"troubles", static_cast<int64_t>(troubles)},
                       {"partitions", static_cast<int64_t>(partitions)},
                       {"meddlings", static_cast<int64_t>(meddlings)},
                       {"newcomers", static_cast<int64_t>(newcomers)},
                       {"moves", static_cast<int64_t>(moves)},
                       {"outageMs", outage / milliseconds(1)},
                       {"directedHit", directed_hit}});
}

Day Day::FromJson(const Value& value) {
  const auto number = [&](std::string_view field) { return static_cast<uint64_t>(value[field].int_or(0)); };
  Day day{.seed = number("seed"),
          .end = std::string(value["end"].str()),
          .events = number("events"),
          .calls = number("calls"),
          .leaders = number("leaders"),
          .replicated = number("replicated"),
          .hub_deaths = number("hubDeaths"),
          .hub_restores = number("hubRestores"),
          .writes_lost = number("writesLost"),
          .writes_kept = number("writesKept"),
          .forgotten = number("forgotten"),
          .lies = number("lies"),
          .drifts = number("drifts"),
          .syncs = number("syncs"),
          .quotas = number("quotas"),
          .taints = number("taints"),
          .evictions = number("evictions"),
          .restores = number("restores"),
          .troubles = number("troubles"),
          .partitions = number("partitions"),
          .meddlings = number("meddlings"),
          .newcomers = number("newcomers"),
          .moves = number("moves"),
          .outage = milliseconds(value["outageMs"].int_or(0)),
          .directed_hit = value["directedHit"].bool_or(false)};
  for (const Value& problem : value["problems"].items()) day.problems.emplace_back(problem.str());
  for (size_t i = 0; i < day.faults.size() && i < value["faults"].size(); ++i)
    day.faults.at(i) = static_cast<size_t>(value["faults"][i].int_or(0));
  return day;
}

}  // namespace baton::sim
