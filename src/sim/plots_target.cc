// Plots of the target, and of leaders.
#include "sim/plots_all.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr double kForEver = 10'000;  // times slower
constexpr Duration kMoveWithin = minutes(15);
constexpr int kStable = 30;                   // seconds
constexpr uint64_t kUnseenOneIn = 2;          // of the days in which it breaks while it proves itself
constexpr uint64_t kUnseenSalt = 0x756e7365;  // so that other chances stay as they are

// That phase or a later one of the way there; or it has turned back, or ended.
rt::Task<bool> UntilPhaseOrTurn(Scene& scene, std::string phase) {
  std::string now;
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const Value migration = co_await scene.Migration();
        now = PhaseOf(migration);
        co_return now == phase || Scene::IsOver(migration) || now == "Aborting" || now == "Withdrawing";
      },
      kMoveWithin);
  co_return now == phase;
}

void Restart(Scene& scene, double slow) {
  scene.Tell(StrCat("cluster ", scene.to), "its JobManager restarts");
  scene.world.practice(scene.to).faults().slow = slow;
  [[maybe_unused]] const auto restarted = scene.world.practice(scene.to).RestartJobManager(kWorkload);
}

}  // namespace

// It starts for ever, and never proves anything. The move goes back at its deadline, and the source runs on.
rt::Task<void> StuckTarget(Course course, Weather& weather) {
  Scene& scene = course.scene;
  scene.world.practice(scene.to).faults().slow = kForEver;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 30s}", "", course.rare.Below(2) == 0 ? 0 : 2);
  co_await UntilPhaseOrTurn(scene, "Withdrawing");
  scene.world.practice(scene.to).faults().slow = 1;
  const Value end = co_await SettledInCalm(course, weather);
  // It came up after all, when it was being deleted already: what it did then nobody saw.
  if (Scene::IsBlocked(end) && Scene::Said(end).contains("deleted there before its stop was seen")) {
    co_await scene.world.loop().Sleep(kCommitted);
    co_return co_await scene.ExpectClean();
  }
  ExpectEnd(scene, end, "RolledBack", "its target never ran");
  co_await scene.CheckAll();
}

// Its operator may act on the target's object for as long as that is there: the source stays on hold.
rt::Task<void> KeptByAFinalizer(Course course, Weather& weather) {
  Scene& scene = course.scene;
  scene.world.practice(scene.to).faults().slow = kForEver;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 45s}");
  if (co_await UntilPhaseOrTurn(scene, "Verifying")) {
    co_await PatchIn(scene, scene.to,
                     "{metadata: {finalizers: [flinkdeployments.flink.apache.org/finalizer, example.com/keep]}}");
    co_await UntilPhaseOrTurn(scene, "Withdrawing");
    scene.world.practice(scene.to).faults().slow = 1;
    co_await scene.world.Until(
        [&]() -> rt::Task<bool> {
          const Value now = co_await scene.OnMember(scene.to);
          co_return now.is_null() || kube::IsDeleting(now);
        },
        kMoveWithin);
    co_await scene.world.loop().Sleep(Between(course, 10'000, 60'000));
    const Value kept = co_await scene.OnMember(scene.to);
    scene.Expect(kept.is_null() || !scene.JobRuns(scene.from),
                 "the source runs, and the target that was told to is still there");
    if (!kept.is_null()) co_await PatchIn(scene, scene.to, "{metadata: {finalizers: []}}");
  }
  scene.world.practice(scene.to).faults().slow = 1;
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "RolledBack", "its target never ran");
  co_await scene.CheckAll();
}

// Who answers under the target's name is another cluster: nothing is granted to it, and the source runs on.
rt::Task<void> SwappedTarget(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(Between(course, 0, 500));
  const bool swaps = (co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.from;
  if (swaps) scene.Expect((co_await scene.world.Replace(scene.to)).ok(), "it could not be swapped");
  Value end = co_await SettledInCalm(course, weather);
  if (!swaps) co_return co_await scene.CheckAll();
  // A look at it may have been answered just before, and the source's part of it come late: then it was granted to what
  // is not there any more, and a person says so.
  const Value spec = (co_await scene.Writer())["spec"];
  if (Scene::IsBlocked(end) && spec["holder"]["cluster"].str() == scene.to) {
    scene.Tell("person", StrCat("attests that ", scene.to, " is lost"));
    co_await scene.PatchMigration(StrCat("{spec: {attestation: {cluster: ", scene.to,
                                         ", by: ann, reason: 'another one ", "has its name', stateRef: '",
                                         spec["receipt"]["state"].str(), "'}}}"));
    end = co_await scene.Settled();
  }
  const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.from); }, minutes(5));
  scene.Expect(runs, StrCat("its target was swapped, and it runs in '", co_await scene.WhereItRuns(), "', told as ",
                            Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// Its operator has an older order in hand when the move is taken back, and acts on it then.
rt::Task<void> StartsLate(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const Duration stalls = Between(course, 3'000, 6'000);
  scene.world.practice(scene.to).faults().stall_operator = stalls;
  weather.Begin();
  rt::Scope scope(scene.world.loop());
  co_await scene.Ask(", deadlines: {Verifying: 10m}");
  const bool told = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return (co_await scene.OnMember(scene.to))["spec"]["job"]["state"].str() == "running";
      },
      kMoveWithin, milliseconds(50));
  if (told && course.rare.Below(2) == 0) {
    scope.Spawn(LeaderDiesAt(course,
                             {.verb = kube::Verb::kDelete,
                              .plural = federation::kWorks.plural,
                              .name = {},
                              .subresource = {},
                              .when = nullptr},
                             Between(course, 30'000, 60'000)));
  }
  co_await scene.world.loop().Sleep(Between(course, 0, stalls / milliseconds(1)));
  co_await scene.Abort();
  // It then runs for long enough to write.
  scene.world.practice(scene.to).faults().stall_operator = Between(course, 3'000, 15'000);
  co_await scene.world.loop().Sleep(seconds(30));
  scene.world.practice(scene.to).faults().stall_operator = {};
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// When it has proven itself, and while neither its operator is there to tell of it nor the leader to look.
static rt::Task<void> RestartUnseen(Course course) {
  World& world = course.scene.world;
  co_await world.loop().Sleep(Between(course, 14'000, 20'000));
  world.practice(course.scene.to).KillOperator(minutes(2));
  world.HangController(Between(course, 10'000, 15'000));
  co_await world.loop().Sleep(seconds(1));
  Restart(course.scene, 2);
}

// It proves itself, breaks, and comes back: its stabilization begins anew. (The checkers look at it.)
rt::Task<void> BreaksWhileItProves(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask("", "", kStable);
  const bool unseen = rt::SeededRandom(course.day.seed ^ kUnseenSalt).Below(kUnseenOneIn) == 0;
  if (co_await UntilItRunsThere(scene)) {
    if (unseen) {
      co_await RestartUnseen(course);
    } else {
      co_await scene.world.loop().Sleep(Between(course, 5'000, 25'000));
      Restart(scene, static_cast<double>(2 + course.rare.Below(4)));
    }
  }
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// It breaks while the source is being removed; success is told when it runs again. (The checkers look at it.)
rt::Task<void> BreaksAtTheEnd(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  if (co_await UntilPhaseOrTurn(scene, "Verifying")) {
    scene.world.practice(scene.from).faults().stall_operator = Between(course, 5'000, 20'000);
    if (co_await UntilPhaseOrTurn(scene, "Cleaning")) {
      co_await scene.world.loop().Sleep(Between(course, 0, 2'000));
      Restart(scene, static_cast<double>(15 + course.rare.Below(11)));
    }
  }
  co_await scene.world.loop().Sleep(seconds(25));
  scene.world.practice(scene.to).faults().slow = 1;
  scene.world.practice(scene.from).faults().stall_operator = {};
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// When it is verified there is no way back: somebody aborts while the source goes, and the move ends where it was
// going.
rt::Task<void> AbortedAtTheEnd(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  bool aborted = false;
  if (co_await UntilPhaseOrTurn(scene, "Verifying")) {
    scene.world.practice(scene.from).faults().stall_operator = Between(course, 5'000, 20'000);
    aborted = co_await UntilPhaseOrTurn(scene, "Cleaning");
    co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
    if (aborted) co_await scene.Abort();
  }
  const Value end = co_await SettledInCalm(course, weather);
  scene.world.practice(scene.from).faults().stall_operator = {};
  scene.Expect(!aborted || PhaseOf(end) == "Succeeded",
               StrCat("aborted when it was verified, it ended as ", Scene::Said(end)));
  co_await scene.CheckAll();
}

// Its object is not there when it is granted. It is made then, runs, and is deleted: another one does not start.
rt::Task<void> MadeAnewAfterTheGrant(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 10m}", "", 240);
  if (co_await UntilPhaseOrTurn(scene, "Quiescing")) {
    scene.world.SpendQuota(scene.to, FlinkDeployments().plural);
    co_await DeleteInTarget(scene);
  }
  const bool granted = co_await UntilGranted(scene);
  scene.world.SpendQuota(scene.to, "");
  if (granted && co_await UntilItRunsThere(scene)) {
    co_await scene.world.loop().Sleep(Between(course, 3'000, 15'000));
    co_await DeleteInTarget(scene);
    co_await scene.world.loop().Sleep(minutes(1));
  }
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(Scene::IsOver(end) || Scene::IsBlocked(end), StrCat("no end in time: ", Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// A leader hangs while the target breaks. The next one takes the record over, and dies at once; when the first goes on,
// it must not finish by what it saw before. (The checkers look at how long the target ran.)
rt::Task<void> MissedBreak(Course course, Weather& weather) {
  Scene& scene = course.scene;
  World& world = scene.world;
  weather.Begin();
  co_await scene.Ask("", "", kStable);
  if (!co_await UntilItRunsThere(scene)) co_return scene.Expect(false, "it never ran in its target");
  co_await world.loop().Sleep(Between(course, 5'000, 15'000));
  const auto takes_over = [fence = world.leader()](const kube::Call& call) {
    return call.body["spec"]["claim"]["fence"].int_or(0) > fence;
  };
  world.DeposeController({}, Between(course, 15'000, 35'000));
  world.StartController();
  Restart(scene, 4);
  co_await LeaderDiesAt(
      course,
      {.verb = kube::Verb::kUpdate, .plural = kWriters.plural, .name = {}, .subresource = {}, .when = takes_over},
      seconds(60));
  world.KillDeposed();
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// An old leader has read the record before, and our override after, a newer one took over.
rt::Task<void> HalfALook(Course course, Weather& weather) {
  Scene& scene = course.scene;
  World& world = scene.world;
  const Duration late = Between(course, 15'000, 40'000);
  weather.Begin();
  co_await scene.Ask(", paused: true", "", 60);
  co_await UntilPhaseOrTurn(scene, "Staged");
  world.hub_faults().Add({.fault = kube::Fault::kDelay,
                          .delay = late,
                          .verb = kube::Verb::kGet,
                          .plural = federation::kOverridePolicies.plural,
                          .name = {},
                          .subresource = {},
                          .when = nullptr});
  co_await scene.PatchMigration("{spec: {stabilizationSeconds: 59}}");
  co_await world.loop().Sleep(seconds(2));
  world.DeposeController();
  world.StartController();
  co_await scene.PatchMigration("{spec: {paused: false}}");
  co_await world.loop().Sleep(late - Between(course, 1'000, 6'000));
  world.KillController();
  co_await world.loop().Sleep(seconds(30));
  world.StartController();
  co_await world.loop().Sleep(seconds(20));
  world.KillDeposed();
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// A leader's claim stands on its way; the next one refuses the move, as a policy has changed. What was told stays true.
rt::Task<void> RefusedWhileAnotherClaims(Course course, Weather& weather) {
  Scene& scene = course.scene;
  World& world = scene.world;
  const auto claims = [](const kube::Call& call) { return call.body["spec"]["claim"]["intent"].str() == "Forward"; };
  world.hub_faults().Add({.fault = kube::Fault::kDelay,
                          .delay = Between(course, 5'000, 25'000),
                          .verb = kube::Verb::kUpdate,
                          .plural = kWriters.plural,
                          .name = {},
                          .subresource = {},
                          .when = claims});
  weather.Begin();
  co_await scene.Ask();
  co_await world.Until([&]() -> rt::Task<bool> { co_return world.hub_faults().pending() == 0; }, minutes(1),
                       milliseconds(10));
  world.DeposeController();
  [[maybe_unused]] const auto narrowed = co_await world.hub().Patch(
      federation::kPropagationPolicies, kube::Name::Of(Yaml(kPolicy)), kube::PatchType::kMerge,
      Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", scene.from, "]}}}}")));
  world.StartController();
  co_await world.loop().Sleep(seconds(40));
  world.KillDeposed();
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// Beside another federation: what is in the target's cluster already would be taken over as it is.
rt::Task<void> TakenTarget(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask(", paused: true");
  co_await UntilPhaseOrTurn(scene, "Staged");
  Value held = scene.job;
  held.Edit("spec").Edit("job").Set("state", "suspended");
  scene.Tell(StrCat("cluster ", scene.to), "somebody puts a workload of that name there");
  const auto made = co_await scene.world.member(scene.to).Create(FlinkDeployments(), held);
  scene.Expect(made.ok(), "it was not taken");
  co_await scene.PatchMigration("{spec: {paused: false}}");
  co_await scene.world.loop().Sleep(Between(course, 30'000, 90'000));
  scene.Expect(scene.JobRuns(scene.from), "it was stopped, and its target's cluster has something of it");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.to).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Succeeded", "its target is empty again");
  co_await scene.CheckAll();
}

// Beside another federation: somebody empties our override when the target runs. The source stays stopped.
rt::Task<void> EmptiedBesideAKarmada(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask("", "", kStable);
  co_await UntilItRunsThere(scene);
  co_await scene.world.loop().Sleep(Between(course, 0, 15'000));
  for (const Meddling& one : Meddlings()) {
    if (std::string_view(one.name) == "EmptyOverride") co_await one.meddle(scene);
  }
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Succeeded", "its override was emptied");
  co_await scene.CheckAll();
}

// Beside another federation: others are evicting it from the target's cluster. The move is refused, and goes when they
// are not.
rt::Task<void> EvictionUnderWay(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const auto tasks = [&](std::string list) -> rt::Task<void> {
    const auto patched = co_await scene.world.hub().Patch(
        federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)), kube::PatchType::kMerge,
        Yaml(StrCat("{spec: {gracefulEvictionTasks: ", list, "}}")));
    scene.Expect(patched.ok(), "the binding was not taken");
  };
  co_await tasks(StrCat("[{fromCluster: ", scene.to, ", purgeMode: Gracefully, reason: TaintUntolerated, ",
                        "producer: TaintManager, suppressDeletion: true}]"));
  weather.Begin();
  co_await scene.Ask();
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Rejected", "others are evicting it");
  scene.Expect(co_await scene.RunsIn(scene.from), StrCat("it runs in '", co_await scene.WhereItRuns(), "'"));
  co_await tasks("null");
  co_await scene.UntilAllReady();
  scene.move = "again";
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
