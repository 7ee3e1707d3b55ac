// Plots of the source, and of what was before the move.
#include "sim/plots_all.h"
#include "sim/stories_rare.h"
#include "sim/trials.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr int kForEver = 1000;  // times, or times slower
constexpr Duration kMoveWithin = minutes(15);

rt::Task<void> UntilItTurns(Scene& scene) {
  co_await scene.world.Until(
      [&scene]() -> rt::Task<bool> {
        const Value now = co_await scene.Migration();
        co_return Scene::IsOver(now) || PhaseOf(now) == "Aborting" || PhaseOf(now) == "Withdrawing";
      },
      kMoveWithin, seconds(1));
}

kube::ScriptedFaults::Rule UpdateOfTheJob(kube::Fault fault, Duration delay = {}, size_t hits = 1) {
  return {.fault = fault,
          .delay = delay,
          .verb = kube::Verb::kUpdate,
          .plural = FlinkDeployments().plural,
          .name = {},
          .subresource = {},
          .hits = hits,
          .when = nullptr};
}

// A leader's write to the source stands on its way for that time, and another one leads.
rt::Task<void> WriteStandsWhileAnotherLeads(Course course, Duration late) {
  Scene& scene = course.scene;
  scene.world.member_faults(scene.from).Add(UpdateOfTheJob(kube::Fault::kDelay, late));
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 2048m}}}}");
  co_await scene.world.loop().Sleep(Between(course, 500, 2'500));
  scene.world.DeposeController();
  scene.world.StartController();
}

rt::Task<std::string> MemoryIn(Scene& scene, std::string cluster) {
  co_return std::string((co_await scene.OnMember(cluster))["spec"]["taskManager"]["resource"]["memory"].str());
}

}  // namespace

// Its savepoint never ends. The move goes back at its deadline.
rt::Task<void> StuckSource(Course course, Weather& weather) {
  Scene& scene = course.scene;
  scene.world.practice(scene.from).faults().slow = kForEver;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Quiescing: 30s}");
  co_await UntilItTurns(scene);
  scene.world.practice(scene.from).faults().slow = 1;
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Aborted", "its source never stopped");
  co_await scene.CheckAll();
}

// What cannot be moved is refused before anything is touched.
rt::Task<void> Unmovable(Course course, Weather& weather) {
  Scene& scene = course.scene;
  switch (course.rare.Below(3)) {
    case 0:
      co_await scene.PatchTemplate("{spec: {flinkConfiguration: {state.savepoints.dir: null}}}");
      break;
    case 1:
      co_await scene.PatchTemplate("{spec: {job: {savepointRedeployNonce: 5}}}");
      break;
    default:
      [[maybe_unused]] const auto kept = co_await scene.world.hub().Patch(
          federation::kPropagationPolicies, kube::Name::Of(Yaml(kPolicy)), kube::PatchType::kMerge,
          Yaml("{spec: {preserveResourcesOnDeletion: true}}"));
      break;
  }
  co_await scene.world.loop().Sleep(seconds(30));
  const Value before = (co_await scene.OnMember(scene.from))["spec"];
  weather.Begin();
  co_await scene.Ask(", deadlines: {Quiescing: 60s, Verifying: 60s, Cleaning: 60s}");
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(PhaseOf(end) == "Rejected", StrCat("it cannot be moved, and ended as ", Scene::Said(end)));
  scene.Expect((co_await scene.OnMember(scene.from))["spec"] == before, "a refused move touched the workload");
}

rt::Task<void> PausedFromTheBeginning(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask(", paused: true");
  co_await scene.world.loop().Sleep(Between(course, 60'000, 180'000));
  scene.Expect(scene.JobRuns(scene.from) && !scene.JobRuns(scene.to), "paused, and it does not run where it was");
  const bool aborts = course.rare.Below(2) == 0;
  if (aborts) {
    co_await scene.Abort();
  } else {
    co_await scene.PatchMigration("{spec: {paused: false}}");
  }
  const Value end = co_await SettledInCalm(course, weather);
  const std::string meant = aborts ? "Aborted" : "Succeeded";
  ExpectEnd(scene, end, meant, aborts ? "aborted while it was paused" : "resumed when it was paused");
  co_await scene.CheckAll();
}

// Its owner allows that it is moved from its last checkpoint.
rt::Task<void> FailedBefore(Course course, Weather& weather) {
  Scene& scene = course.scene;
  co_await scene.world.loop().Sleep(Between(course, 10'000, 30'000));
  scene.Tell(StrCat("cluster ", scene.from), "the job fails");
  [[maybe_unused]] const auto failed = scene.world.practice(scene.from).FailJob(kWorkload);
  co_await scene.world.loop().Sleep(Between(course, 0, 10'000));
  weather.Begin();
  co_await scene.Ask(", captureFallback: LastCheckpoint");
  const Value end = co_await SettledInCalm(course, weather);
  ExpectEnd(scene, end, "Succeeded", "from its last checkpoint");
  co_await scene.CheckAll();
}

// Between the order to stop and its savepoint. What it has then is not what it had done.
rt::Task<void> FailsWhileItStops(Course course, Weather& weather) {
  Scene& scene = course.scene;
  scene.world.practice(scene.from).faults().slow = 20;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Quiescing: 60s, Aborting: 60s}");
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
  scene.Tell(StrCat("cluster ", scene.from), "the job fails");
  [[maybe_unused]] const auto failed = scene.world.practice(scene.from).FailJob(kWorkload);
  scene.world.practice(scene.from).faults().slow = 1;
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(Scene::IsOver(end) || Scene::IsBlocked(end), StrCat("no end in time: ", Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// The operator has looked at a JobManager that answered, and has the order to stop in hand, when that one dies. Where
// the move may go without a capture, the job may be cancelled while it is being restored, and leave no state.
rt::Task<void> ManagerDiesUnheard(Course course, Weather& weather) {
  Scene& scene = course.scene;
  practice::Faults& faults = scene.world.practice(scene.from).faults();
  const bool falls_back = course.rare.Below(2) == 0;
  if (falls_back) faults.fail_savepoints = kForEver;
  faults.stall_operator = Between(course, 2'000, 6'000);
  weather.Begin();
  co_await scene.Ask(
      StrCat(", deadlines: {Quiescing: 60s, Aborting: 60s}", falls_back ? ", captureFallback: LastCheckpoint" : ""));
  const bool told = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const Value spec = (co_await scene.OnMember(scene.from))["spec"];
        co_return spec["job"]["state"].str() == "suspended" && (!falls_back || IsToBeCancelled(spec));
      },
      kMoveWithin);
  co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
  const std::string newest = NewestStateIn(scene, scene.from);
  if (told && scene.JobRuns(scene.from)) {
    scene.Tell(StrCat("cluster ", scene.from), "its JobManager restarts");
    [[maybe_unused]] const auto restarted = scene.world.practice(scene.from).RestartJobManager(kWorkload);
    co_await scene.world.loop().Sleep(Between(course, 0, 2'000));
    if (falls_back) faults.slow = 20;  // what it restores takes long
  }
  co_await scene.world.loop().Sleep(Between(course, 0, 10'000));
  faults = {};
  co_await SettledInCalm(course, weather);
  co_await NameTheStateThatIsAskedFor(scene, newest);
  co_await scene.CheckAll();
}

// Somebody lets the source run when its state was granted on, and may stop it again.
rt::Task<void> ResumedByHand(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  rt::Scope scope(scene.world.loop());
  scope.Spawn(LeaderDiesAt(course, TheGrant(scene), Between(course, 15'000, 60'000)));
  co_await scene.Ask();
  if (co_await UntilGranted(scene)) {
    co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
    co_await PatchIn(scene, scene.from, "{spec: {job: {state: running}}}");
    if (course.rare.Below(2) == 0) {
      co_await scene.world.loop().Sleep(Between(course, 5'000, 15'000));
      co_await PatchIn(scene, scene.from, "{spec: {job: {state: suspended}}}");
    }
  }
  Value end = co_await SettledInCalm(course, weather);
  if (Scene::IsBlocked(end)) {
    co_await scene.Abort();
    end = co_await scene.Settled();
  }
  co_await scene.CheckAll();
}

// What is made anew in its place has no state: it is not started, whatever the move comes to.
rt::Task<void> DeletedWhileItStops(Course course, Weather& weather) {
  Scene& scene = course.scene;
  const bool slow = course.rare.Below(2) == 0;
  if (slow) scene.world.practice(scene.from).faults().slow = 20;
  weather.Begin();
  co_await scene.Ask(", deadlines: {Quiescing: 2m, Aborting: 1m}");
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(Between(course, 0, 2'000));
  scene.deleted_in_member = true;
  scene.Tell(StrCat("cluster ", scene.from), "somebody deletes the workload there");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.from).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  if (course.rare.Below(2) == 0) co_await scene.Abort();
  co_await scene.world.loop().Sleep(Between(course, 5'000, 15'000));
  scene.world.practice(scene.from).faults().slow = 1;
  const Value end = co_await SettledInCalm(course, weather);
  scene.Expect(Scene::IsOver(end) || Scene::IsBlocked(end), StrCat("no end in time: ", Scene::Said(end)));
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// It was decided before the move, and arrives when the source has been stopped.
rt::Task<void> LateWriteOfAnOldLeader(Course course, Weather& weather) {
  Scene& scene = course.scene;
  co_await WriteStandsWhileAnotherLeads(course, Between(course, 8'000, 40'000));
  co_await scene.world.loop().Sleep(Between(course, 0, 5'000));
  weather.Begin();
  co_await scene.Ask("", "", 60);
  co_await scene.world.loop().Sleep(seconds(60));
  scene.world.KillDeposed();
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
}

// An older template's write arrives when the newer one is there, and what the second leader writes then does not.
rt::Task<void> OlderTemplate(Course course, Weather& /*weather*/) {
  Scene& scene = course.scene;
  const std::string newer = "4096m";
  const std::string at = scene.from;
  co_await WriteStandsWhileAnotherLeads(course, Between(course, 10'000, 25'000));
  co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
  co_await scene.PatchTemplate(StrCat("{spec: {taskManager: {resource: {memory: ", newer, "}}}}"));
  const bool came = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return co_await MemoryIn(scene, at) == newer; }, minutes(1));
  scene.Expect(came, "the newer template never came");
  kube::ScriptedFaults::Rule refused = UpdateOfTheJob(kube::Fault::kServerError, {}, SIZE_MAX);
  refused.when = [newer](const kube::Call& call) {
    return call.body["spec"]["taskManager"]["resource"]["memory"].str() == newer;
  };
  scene.world.member_faults(at).Add(std::move(refused));
  co_await scene.PatchTemplate("{metadata: {annotations: {note: kept}}}");
  co_await scene.world.loop().Sleep(seconds(30));
  scene.Expect(co_await MemoryIn(scene, at) == newer, "an older template was written over a newer one");
  scene.world.member_faults(at).Clear();
  scene.world.KillDeposed();
  co_await scene.ExpectRunsAlone(at);
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// It was admitted for an object that was deleted meanwhile, and arrives when another one is in its place, on hold.
rt::Task<void> WrittenToItsSuccessor(Course course, Weather& /*weather*/) {
  Scene& scene = course.scene;
  const std::string at = scene.from;
  co_await WriteStandsWhileAnotherLeads(course, Between(course, 12'000, 25'000));
  co_await scene.world.loop().Sleep(Between(course, 0, 3'000));
  scene.deleted_in_member = true;
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(at).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  const auto held = [&]() -> rt::Task<bool> {
    co_return (co_await scene.OnMember(at))["spec"]["job"]["state"].str() == "suspended";
  };
  scene.Expect(co_await scene.world.Until(held, minutes(2)), "what was made anew is not on hold");
  kube::ScriptedFaults::Rule refused = UpdateOfTheJob(kube::Fault::kServerError, {}, SIZE_MAX);
  refused.when = [](const kube::Call& call) { return call.body["spec"]["job"]["state"].str() == "suspended"; };
  scene.world.member_faults(at).Add(std::move(refused));
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 4096m}}}}");
  co_await scene.world.loop().Sleep(seconds(40));
  scene.Expect(!scene.JobRuns(at), "it was started without its state");
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// A new leader has seen it live; it goes before that leader has listed what the cluster has.
rt::Task<void> GoneBeforeItWasListed(Course course, Weather& /*weather*/) {
  Scene& scene = course.scene;
  const std::string at = scene.from;
  scene.world.practice(at).KillOperator(Between(course, 3'000, 8'000));
  scene.deleted_in_member = true;
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(at).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  scene.world.member_faults(at).Add({.fault = kube::Fault::kSilenceAfter,
                                     .verb = kube::Verb::kList,
                                     .plural = FlinkDeployments().plural,
                                     .name = {},
                                     .subresource = {},
                                     .when = nullptr});
  scene.world.KillController();
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(2));
  scene.Expect(co_await IsHeldAsStray(scene), "somebody deleted it in its cluster, and nobody is told");
  co_await scene.world.loop().Sleep(kCommitted);
  co_await scene.ExpectClean();
}

// A person names the state that the status of a running job shows: the one that it began from.
rt::Task<void> AttestedWithItsBeginning(Course course, Weather& weather) {
  Scene& scene = course.scene;
  weather.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(Between(course, 0, 1'000));
  co_await scene.Abort();
  co_await SettledInCalm(course, weather);
  co_await scene.CheckAll();
  const Value status = (co_await scene.OnMember(scene.from))["status"]["jobStatus"];
  const std::string beginning(status["upgradeSavepointPath"].str());
  if (beginning.empty() || !co_await scene.RunsIn(scene.from)) co_return;
  co_await scene.world.loop().Sleep(Between(course, 5'000, 30'000));
  co_await AttestTheBeginning(scene, beginning);
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
