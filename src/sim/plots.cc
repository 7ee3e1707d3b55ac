// Which plots there are, and the weather.
#include "sim/plots.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "rt/event.h"
#include "rt/when.h"
#include "sim/plots_all.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr uint64_t kPlotOneIn = 4;          // of all days
constexpr uint64_t kPlotSalt = 0x706c6f74;  // so that other chances stay as they are
constexpr uint64_t kFineOneIn = 3;          // of days with a plot: no other fault
constexpr uint64_t kApartOneIn = 60;
constexpr uint64_t kApartSalt = 0x61706172;
constexpr uint64_t kHubDiesOneIn = 6;
constexpr Duration kRuleWithin = minutes(5);
constexpr Duration kAnswerIn = seconds(1);
constexpr Duration kWrongClock = seconds(30);

constexpr Plot kPlots[] = {
    {"stuck-source", StuckSource, Plot::Hub::kAny, Plot::Job::kAny},
    {"unmovable", Unmovable},
    {"paused-from-the-beginning", PausedFromTheBeginning, Plot::Hub::kAny, Plot::Job::kAny},
    {"failed-before", FailedBefore},
    {"fails-while-it-stops", FailsWhileItStops, Plot::Hub::kOurs, Plot::Job::kOutlivesItsManager},
    {"manager-dies-unheard", ManagerDiesUnheard, Plot::Hub::kAny, Plot::Job::kOutlivesItsManager},
    {"resumed-by-hand", ResumedByHand, Plot::Hub::kOurs, Plot::Job::kWithState, true},
    {"deleted-while-it-stops", DeletedWhileItStops},
    {"late-write-of-an-old-leader", LateWriteOfAnOldLeader, Plot::Hub::kOurs, Plot::Job::kWithState, true},
    {"older-template", OlderTemplate, Plot::Hub::kOurs, Plot::Job::kWithState, true, true},
    {"written-to-its-successor", WrittenToItsSuccessor, Plot::Hub::kOurs, Plot::Job::kWithState, true, true},
    {"gone-before-it-was-listed", GoneBeforeItWasListed, Plot::Hub::kOurs, Plot::Job::kWithState, true, true},
    {"attested-with-its-beginning", AttestedWithItsBeginning, Plot::Hub::kOurs, Plot::Job::kWithState, false, true},
    {"stuck-target", StuckTarget, Plot::Hub::kAny, Plot::Job::kAny},
    {"kept-by-a-finalizer", KeptByAFinalizer},
    {"swapped-target", SwappedTarget},
    {"starts-late", StartsLate, Plot::Hub::kOurs, Plot::Job::kWithState, true, true},
    {"breaks-while-it-proves", BreaksWhileItProves, Plot::Hub::kAny, Plot::Job::kOutlivesItsManager},
    {"breaks-at-the-end", BreaksAtTheEnd, Plot::Hub::kOurs, Plot::Job::kOutlivesItsManager},
    {"aborted-at-the-end", AbortedAtTheEnd, Plot::Hub::kAny, Plot::Job::kAny},
    {"made-anew-after-the-grant", MadeAnewAfterTheGrant},
    {"missed-break", MissedBreak, Plot::Hub::kOurs, Plot::Job::kOutlivesItsManager, true, true},
    {"half-a-look", HalfALook, Plot::Hub::kOurs, Plot::Job::kWithState, true, true},
    {"refused-while-another-claims", RefusedWhileAnotherClaims, Plot::Hub::kOurs, Plot::Job::kAny, true, true},
    {"taken-target", TakenTarget, Plot::Hub::kOthers},
    {"emptied-beside-a-karmada", EmptiedBesideAKarmada, Plot::Hub::kOthers, Plot::Job::kWithState, false, true},
    {"eviction-under-way", EvictionUnderWay, Plot::Hub::kOthers, Plot::Job::kAny},
    {"meddled", Meddled, Plot::Hub::kAny, Plot::Job::kWithState, false, true},
    {"meddled-at-the-grant", MeddledAtTheGrant, Plot::Hub::kOurs, Plot::Job::kWithState, false, true},
    {"template-made-anew", TemplateMadeAnew, Plot::Hub::kOurs, Plot::Job::kAny},
    {"template-deleted-unheard", TemplateDeletedUnheard, Plot::Hub::kOurs, Plot::Job::kWithState, false, true},
    {"suspended-policy", SuspendedPolicy},
    {"late-lock-after-the-end", LateLockAfterTheEnd, Plot::Hub::kOurs, Plot::Job::kAny},
    {"lost-record", LostRecord},
    {"lost-records", LostRecords},
    {"record-outlives-its-workload", RecordOutlivesItsWorkload, Plot::Hub::kOurs, Plot::Job::kAny},
    {"herd", Herd, Plot::Hub::kOurs, Plot::Job::kAny, false, true},
    {"end-is-told-in-a-race", EndIsToldInARace, Plot::Hub::kAny, Plot::Job::kAny, false, true, true},
    {"refused-before-another-claims", RefusedBeforeAnotherClaims, Plot::Hub::kOurs, Plot::Job::kAny, true, true, true},
    {"replaced-target", ReplacedTarget, Plot::Hub::kOurs, Plot::Job::kWithState, false, false, true},
    {"cancelled-target", CancelledTarget, Plot::Hub::kOurs, Plot::Job::kOutlivesItsManager, false, false, true},
};

bool Fits(const Plot& plot, const Scene& scene) {
  const bool ours = scene.world.own_hub();
  const bool hub = plot.hub == Plot::Hub::kAny || (plot.hub == Plot::Hub::kOurs) == ours;
  const bool job = plot.job == Plot::Job::kAny || (plot.job == Plot::Job::kWithState && !scene.is_stateless()) ||
                   (plot.job == Plot::Job::kOutlivesItsManager && scene.outlives_its_manager());
  return hub && job;
}

}  // namespace

std::span<const Plot> Plots() { return kPlots; }

const Plot* DrawPlot(const Scene& scene, uint64_t seed, std::string_view name) {
  for (const Plot& plot : kPlots) {
    if (plot.name == name) return Fits(plot, scene) ? &plot : nullptr;
  }
  const auto draw = [&](rt::SeededRandom& random, bool apart) {
    std::vector<const Plot*> fitting;
    for (const Plot& plot : kPlots) {
      if (plot.apart == apart && Fits(plot, scene)) fitting.push_back(&plot);
    }
    return fitting.empty() ? nullptr : fitting[random.Below(fitting.size())];
  };
  rt::SeededRandom rare(seed ^ kApartSalt);
  if (rare.Below(kApartOneIn) == 0) return draw(rare, true);
  rt::SeededRandom random(seed ^ kPlotSalt);
  if (random.Below(kPlotOneIn) != 0) return nullptr;
  return draw(random, false);
}

rt::Task<void> PlayPlot(const Plot& plot, Course course) {
  const bool faults = !plot.calm && course.rare.Below(kFineOneIn) != 0;
  const bool leaders = faults && !plot.leads;
  const Duration lasts = seconds(10) + course.Rarely(110'000);
  if (leaders && course.rare.Below(3) == 0) {
    course.day.replicated = 1;
    course.scene.Expect(co_await StartReplicas(course.world), "no replica was elected");
  }
  course.scene.Tell("plot", plot.name);
  Weather weather(course, faults, leaders, lasts);
  co_await plot.play(course, weather);
  co_await weather.Calm();
}

// ---- the weather ----

void Weather::Begin() {
  course_.chance.Begin(faults_);
  rt::VirtualLoop& loop = course_.world.loop();
  const Hands& hands = course_;
  actors_ = std::make_unique<rt::Scope>(loop);
  if (leaders_ && course_.day.replicated > 0) actors_->Spawn(Replicas(hands));
  if (leaders_ && course_.day.replicated == 0 && course_.chance.OneIn(2)) actors_->Spawn(Leaders(hands));
  if (leaders_ && course_.rare.Below(kHubDiesOneIn) == 0) actors_->Spawn(HubDies(hands));
  passing_ = std::make_unique<rt::Scope>(loop);
  passing_->Spawn(Pass());
}

rt::Task<void> Weather::Pass() {
  co_await course_.world.loop().Sleep(lasts_);
  co_await Heal();
}

rt::Task<void> Weather::Calm() {
  passing_.reset();
  co_await Heal();
}

rt::Task<void> Weather::Heal() {
  if (std::exchange(over_, true)) co_return;
  course_.chance.End();
  actors_.reset();
  World& world = course_.world;
  course_.scene.Tell("world", "the faults stop");
  world.SetSlowestSync({});
  co_await world.ReviveHub();
  if (!leaders_) co_return;  // who leads is the plot's own matter
  world.KillDeposed();
  if (course_.day.replicated == 0 && !world.controller_runs()) world.StartController();
  if (course_.day.replicated > 0) HealReplicas(world);
}

// ---- what plots share ----

Duration Between(const Course& course, int64_t from_ms, int64_t to_ms) {
  return milliseconds(from_ms) + course.Rarely(to_ms - from_ms + 1);
}

std::string PhaseOf(const Value& migration) { return std::string(migration["status"]["phase"].str()); }

rt::Task<bool> UntilGranted(Scene& scene) {
  return scene.world.Until(
      [&scene]() -> rt::Task<bool> {
        co_return (co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.to;
      },
      minutes(10));
}

kube::ScriptedFaults::Rule TheGrant(const Scene& scene) {
  return {.verb = kube::Verb::kUpdate,
          .plural = kWriters.plural,
          .name = {},
          .subresource = {},
          .when = [to = scene.to](const kube::Call& call) {
            return call.body["spec"]["holder"]["cluster"].str() == to && call.body["spec"]["claim"].is_object();
          }};
}

rt::Task<bool> UntilCall(Course course, kube::ScriptedFaults& faults, kube::ScriptedFaults::Rule rule,
                         kube::Fault fault, Duration delay) {
  const auto stored = std::make_shared<rt::Event>();
  rule.fault = fault;
  rule.delay = delay;
  rule.when = [stored, when = std::move(rule.when)](const kube::Call& call) {
    const bool is = when == nullptr || when(call);
    if (is) stored->Set();
    return is;
  };
  faults.Add(std::move(rule));
  const auto wait = [](std::shared_ptr<rt::Event> event) -> rt::Task<Result<void>> {
    co_await event->Wait();
    co_return Result<void>();
  };
  const Result<void> came =
      co_await rt::WithDeadline(rt::Deadline::After(course.world.loop(), kRuleWithin), "that call", wait(stored));
  co_return came.ok();
}

rt::Task<void> LeaderDiesAt(Course course, kube::ScriptedFaults::Rule rule, Duration away) {
  World& world = course.world;
  // A leader cannot be ended from inside its own call: it does nothing more until then.
  rule.when = [&world, when = std::move(rule.when)](const kube::Call& call) {
    const bool is = when == nullptr || when(call);
    if (is) world.HangController(kRuleWithin);
    return is;
  };
  if (!co_await UntilCall(course, world.hub_faults(), std::move(rule), kube::Fault::kLateAnswer, kAnswerIn)) co_return;
  co_await world.loop().Sleep(milliseconds(20));
  world.KillController();
  co_await world.loop().Sleep(away);
  world.StartController();
}

rt::Task<Value> SettledInCalm(Course course, Weather& weather) {
  co_await weather.Calm();
  co_await course.world.Until(
      [&course]() -> rt::Task<bool> { co_return course.day.replicated > 0 || course.world.controller_runs(); },
      kRuleWithin);
  co_return co_await course.scene.Settled();
}

void ExpectEnd(Scene& scene, const Value& end, std::string_view phase, std::string_view why) {
  const std::string said = Scene::Said(end);
  const bool for_now =
      said.starts_with("Rejected") && (said.contains("is not ready") || said.contains("does not reach"));
  // Deadlines go by the leader's clock: one that is minutes off takes a move back early, or not at all when what it
  // waits for comes after all, which harms nobody.
  const bool came_in_time = phase == "Aborted" && end["status"]["phase"].str() == "Succeeded";
  const bool by_a_wrong_clock =
      scene.world.longest_skew() >= kWrongClock && (said.contains("waited too long") || came_in_time);
  scene.Expect(end["status"]["phase"].str() == phase || for_now || by_a_wrong_clock,
               StrCat(why, ", and it ended as ", said));
}

rt::Task<void> PatchIn(Scene& scene, std::string cluster, std::string patch) {
  scene.Tell(StrCat("cluster ", cluster), StrCat("somebody patches the workload there: ", patch));
  [[maybe_unused]] const auto done = co_await scene.world.member(cluster).Patch(
      FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)), kube::PatchType::kMerge, Yaml(patch));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
