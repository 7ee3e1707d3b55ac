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
#include "sim/bad_week.h"
#include "sim/checkers.h"
#include "sim/day_plan.h"
#include "sim/plots.h"
#include "sim/scene.h"
#include "sim/stories_rare.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr uint64_t kAgainOneIn = 3;     // of those that went back
constexpr uint64_t kRestoredOneIn = 8;  // of those that it left for good
constexpr uint64_t kOnwardsOneIn = 2;   // of those that arrived
constexpr uint64_t kOnwardsSalt = 0x6f6e7764;
constexpr uint64_t kAbortsOneIn = 4;  // of those

// By an annotation of the template, which a controller makes a migration of.
rt::Task<void> Wish(Scene& scene) {
  scene.move = StrCat("orders-to-", scene.to, "-t1");
  co_await scene.PatchTemplate(
      StrCat("{metadata: {annotations: {", rollout::kTriggerAnnotation, ": ", scene.to, "}}}"));
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
  const DayPlan drawn = DrawDay(scene, chance, rare, day.seed);
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

// What follows on the beginning: a day, with that plot if one is named, or a week.
struct Then {
  std::string_view plot;
  bool week = false;
};

rt::Task<void> PlayOn(Scene& scene, BadCalls& chance, const Story& story, CallBook* book, Day& day, Then then) {
  chance.Reseed(day.seed);
  scene.world.loop().Reseed(day.seed);
  if (book != nullptr) book->Begin();
  if (then.week) {
    co_await LiveForAWeek(scene, chance, day);
  } else {
    co_await Live(scene, chance, day, then.plot);
  }
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

constexpr uint64_t kModes = 3;

uint64_t BeginningOf(uint64_t seed) { return seed / kSeedsOfOneBeginning; }

// Every fifth beginning is beside another federation.
HubOf HubIn(uint64_t seed) { return BeginningOf(seed) % 5 == 4 ? HubOf::kFailingKarmada : HubOf::kBaton; }

// Days have the newest version of Flink's operator that is released; weeks have what users run, and what is to come.
practice::OperatorVersion VersionIn(uint64_t seed, Then then) {
  using practice::OperatorVersion;
  constexpr OperatorVersion kVersions[] = {OperatorVersion::kV1x15, OperatorVersion::kV1x16, OperatorVersion::kV1x12};
  return then.week ? kVersions[BeginningOf(seed) / kModes % std::size(kVersions)] : OperatorVersion::kV1x15;
}

// How its owner wants the job to be upgraded: which is what others do to it, and what a move must not leave to chance.
rt::Task<void> Begin(Scene& scene, uint64_t seed) {
  constexpr std::string_view kNames[kModes] = {"savepoint", "last-state", "stateless"};
  return scene.Begin(JobWith(kNames[BeginningOf(seed) % kModes]));
}

Day PlayAlone(uint64_t seed, CallBook* book, Story::Detail detail, Then then) {
  Day day{.seed = seed};
  Story story(detail);
  BadCalls chance(seed);
  Play(
      BeginningOf(seed),
      [&](Scene& scene) -> rt::Task<void> {
        co_await Begin(scene, seed);
        co_await PlayOn(scene, chance, story, book, day, then);
      },
      &chance, &story, book, HubIn(seed), VersionIn(seed, then));
  day.story = story.Text();
  return day;
}

void PlayInForks(std::span<const uint64_t> seeds, bool with_matrix, const DayReport& report, const DayDone& done,
                 Then then) {
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
            co_await PlayOn(scene, chance, story, with_matrix ? &book : nullptr, day, then);
            branch->End(report(day));
          }
        }
      },
      &chance, &story, with_matrix ? &book : nullptr, HubIn(from), VersionIn(from, then));
}

}  // namespace

Day PlayDay(uint64_t seed, Story::Detail detail, std::string_view plot) {
  return PlayAlone(seed, nullptr, detail, {.plot = plot});
}

Day PlayWeek(uint64_t seed, Story::Detail detail) { return PlayAlone(seed, nullptr, detail, {.week = true}); }

Day PlayDirectedDay(uint64_t seed, const DirectedFault& fault, Story::Detail detail) {
  CallBook book;
  book.Direct(fault);
  Day day = PlayAlone(seed, &book, detail, {});
  day.directed_hit = !book.direct_pending();
  return day;
}

void PlayDays(std::span<const uint64_t> seeds, bool with_matrix, const DayReport& report, const DayDone& done,
              std::string_view plot) {
  PlayInForks(seeds, with_matrix, report, done, {.plot = plot});
}

void PlayWeeks(std::span<const uint64_t> seeds, const DayReport& report, const DayDone& done) {
  PlayInForks(seeds, false, report, done, {.week = true});
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
