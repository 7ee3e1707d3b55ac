// Stories for rare places.
#include "sim/stories_rare.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture

namespace {

// The source is cut off while it stops. Gives the state that the stop left, as a person who goes there finds it.
rt::Task<std::string> CutOffWhileItStops(Scene& scene) {
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return (co_await scene.OnMember(scene.from))["spec"]["job"]["state"].str() == "suspended";
      },
      minutes(1));
  scene.world.CutOff(scene.from, Cut::kBothWays);
  std::string state;
  const bool stopped = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const Value job = (co_await scene.OnMember(scene.from))["status"]["jobStatus"];
        state = job["upgradeSavepointPath"].str();
        co_return !scene.JobRuns(scene.from) && job["state"].str() == "FINISHED" && !state.empty();
      },
      minutes(5));
  scene.Expect(stopped, "the source did not stop");
  scene.Expect((co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.from,
               StrCat(kOfTheRecord, "it was granted before anybody attested anything"));
  co_await scene.world.loop().Sleep(seconds(30));
  scene.Expect((co_await scene.WhereItRuns()).empty(), "silence was taken for a stop");
  co_return state;
}

rt::Task<void> AttestAndGoOn(Scene& scene, std::string state) {
  co_await scene.PatchMigration(
      StrCat("{spec: {attestation: {by: ann, reason: 'it is off', stateRef: '", state, "'}}}"));
  const bool runs = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
  scene.Expect(runs, "attested, and it does not run");
  scene.world.CutOff(scene.from, Cut::kNone);
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

}  // namespace

rt::Task<void> AttestedSource(Scene& scene) {
  co_await scene.Begin();
  scene.world.practice(scene.from).faults().slow = 10;  // so that it is cut off before it has stopped
  co_await scene.Ask();
  const std::string state = co_await CutOffWhileItStops(scene);
  co_await AttestAndGoOn(scene, state);
}

rt::Task<void> AttestedBeginning(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.Abort();
  co_await scene.Settled();
  co_await scene.CheckAll();
  const std::string beginning(
      (co_await scene.OnMember(scene.from))["status"]["jobStatus"]["upgradeSavepointPath"].str());
  scene.Expect(!beginning.empty(), "it runs again and names no state that it began from");
  co_await scene.world.loop().Sleep(seconds(20));
  co_await AttestTheBeginning(scene, beginning);
}

rt::Task<void> AttestTheBeginning(Scene& scene, std::string beginning) {
  scene.world.practice(scene.from).faults().slow = 10;
  scene.move = "again";
  co_await scene.Ask("", "again");
  const std::string state = co_await CutOffWhileItStops(scene);
  scene.Tell("person", "attests the state that its status showed while it ran");
  co_await scene.PatchMigration(
      StrCat("{spec: {attestation: {by: ann, reason: 'it is off', stateRef: '", beginning, "'}}}"));
  co_await scene.world.loop().Sleep(minutes(1));
  const std::string said = Scene::Said(co_await scene.Migration());
  scene.Expect((co_await scene.WhereItRuns()).empty(), StrCat("it was started from where it began: ", said));
  scene.Expect(said.contains("itself began from"), StrCat("nobody is told what is wrong with the state: ", said));
  co_await AttestAndGoOn(scene, state);
}

// It burnt before its operator acted on the order to start, and a person who knows does not wait for the deadline.
rt::Task<void> LostTarget(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  scene.world.practice(scene.to).KillOperator(hours(24));
  const bool granted = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return (co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.to; },
      minutes(5));
  scene.Expect(granted, "it was not granted");
  scene.world.CutOff(scene.to, Cut::kBothWays);
  co_await scene.world.loop().Sleep(seconds(20));
  const std::string state((co_await scene.Writer())["spec"]["receipt"]["state"].str());
  co_await scene.PatchMigration(StrCat("{spec: {attestation: {cluster: ", scene.to,
                                       ", by: ann, reason: 'it burnt down', stateRef: '", state, "'}}}"));
  co_await scene.Settled();
  co_await scene.ExpectPhase("RolledBack");
  scene.Expect(co_await scene.WhereItRuns() == scene.from, StrCat("it runs in ", co_await scene.WhereItRuns()));
  co_await scene.ExpectClean();
}

rt::Task<void> ContestedBinding(Scene& scene) {
  constexpr Duration kContest = seconds(30);
  constexpr int64_t kWritesMax = 4 * static_cast<int64_t>(rollout::kContestedWrites);  // ours, in three such times
  rt::VirtualLoop& loop = scene.world.loop();
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  const MonotonicTime until = loop.Now() + kContest;
  int64_t written_back = 0;
  while (loop.Now() < until) {
    const Value binding = co_await scene.Binding();
    if (binding["spec"]["clusters"].size() != 1 || binding["spec"]["gracefulEvictionTasks"].is_array()) {
      ++written_back;
      [[maybe_unused]] const auto written = co_await scene.world.hub().Patch(
          federation::kResourceBindings, {"default", "orders-flinkdeployment"}, kube::PatchType::kMerge,
          Yaml(StrCat("{spec: {clusters: [{name: ", scene.from, "}], gracefulEvictionTasks: null}}")));
    }
    co_await loop.Sleep(milliseconds(1));
  }
  scene.Expect(written_back <= kWritesMax, StrCat("the binding was written ", written_back, " times in half a minute"));
  const std::string said = Scene::Said(co_await scene.Migration());
  scene.Expect(said.contains("again and again"), StrCat("nobody is told of the contest: ", said));
  co_await scene.Settled();
  co_await scene.CheckAll();
}

rt::Task<void> DeletedBeforeItBegan(Scene& scene) {
  co_await scene.Begin();
  scene.world.KillController();
  Value migration = Yaml(MigrationTo(scene.to));
  migration.Edit("metadata").Set("finalizers", json::Array({"example.com/audit"}));
  const auto made = co_await scene.world.Apply(kMigrations, std::move(migration));
  scene.Expect(made.ok(), made.ok() ? "" : std::string(made.error().message()));
  scene.Tell("person", "deletes the migration, which an auditor keeps");
  [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(kMigrations, {"default", scene.move});
  scene.world.StartController();
  const bool ended = co_await scene.world.Until(
      [&]() -> rt::Task<bool> { co_return Scene::IsOver(co_await scene.Migration()); }, minutes(2));
  scene.Expect(ended, "deleted before it began, and it has not ended");
  co_await scene.ExpectPhase("Aborted");
  co_await scene.PatchMigration("{metadata: {finalizers: null}}");
  co_await scene.world.loop().Sleep(seconds(10));
  scene.Expect((co_await scene.Migration()).is_null(), "the migration is still there");
  co_await scene.ExpectRunsAlone(scene.from);
  co_await scene.ExpectNoResidue();
  co_await scene.ExpectClean();
}

// What an old leader wrote in a move comes when the move has ended: with a version that was the newest for long enough.
rt::Task<void> LateLock(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  scene.Tell("leader 1", "its lock of the binding comes late");
  const auto late = co_await scene.world.hub().Patch(
      federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)), kube::PatchType::kMerge,
      Yaml(StrCat("{metadata: {annotations: {", rollout::kFenceAnnotation,
                  ": \"1\"}}, spec: {suspension: {scheduling: ", "true}, gracefulEvictionTasks: [{fromCluster: ",
                  scene.to, ", purgeMode: Never, reason: ", rollout::kTaskReason,
                  ", producer: ", rollout::kTaskProducer, ", suppressDeletion: true}]}}")));
  scene.Expect(late.ok(), "the lock was not taken");
  co_await scene.world.loop().Sleep(seconds(10));
  co_await scene.CheckAll();
}

// Its binding goes at once, and the pipe's copy of the template is older than that.
rt::Task<void> DeletedWhileItsWatchLags(Scene& scene) {
  co_await scene.Begin();
  scene.world.hub_faults().Add({.fault = kube::Fault::kWatchDelay,
                                .delay = seconds(20),
                                .verb = std::nullopt,
                                .plural = FlinkDeployments().plural,
                                .name = {},
                                .subresource = {},
                                .when = nullptr});
  scene.Tell("person", "deletes the template");
  const auto gone = co_await scene.world.hub().Delete(FlinkDeployments(), {"default", "orders"});
  scene.Expect(gone.ok(), "it was not deleted");
  co_await scene.world.loop().Sleep(minutes(1));
  scene.Expect((co_await scene.Binding()).is_null(), "the template is gone, and its binding is not");
  for (const std::string& cluster : kClusters3)
    scene.Expect((co_await scene.OnMember(cluster)).is_null(), StrCat("the template is gone, and not from ", cluster));
  co_await scene.ExpectClean();
}

// A cluster that it has left runs what a backup has. (Its image is not there: a second writer, which nobody can
// prevent, would be all that is seen.)
rt::Task<void> RestoreMember(Scene& scene, Value before) {
  scene.world.practice(scene.from).faults().fail_image = true;  // two that write cannot be prevented, only noticed
  before = federation::Pruned(std::move(before));
  scene.Tell(StrCat("cluster ", scene.from), "is restored from a backup");
  const auto made = co_await scene.world.member(scene.from).Create(FlinkDeployments(), before);
  scene.Expect(made.ok(), made.ok() ? "" : StrCat("not restored: ", made.error().message()));
  const bool held = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const Value now = co_await scene.OnMember(scene.from);
        co_return now.is_null() || now["spec"]["job"]["state"].str() == "suspended";
      },
      minutes(1));
  scene.Expect(held, "a second writer came back, and nobody stops it");
  const bool runs =
      co_await scene.world.Until([&]() -> rt::Task<bool> { co_return scene.JobRuns(scene.to); }, minutes(1));
  scene.Expect(runs, "a second writer came back, and the first one was stopped");
}

// The hub knows nothing of the move. Whatever the members have: one job runs, from the state that it had; or none does,
// and a person is told. What docs/ROLLOUT.md says to do then puts everything right.
rt::Task<void> ExpectAfterHubRestored(Scene& scene) {
  co_await scene.world.loop().Sleep(minutes(5));
  const std::string where = co_await scene.WhereItRuns();
  const std::string told = co_await scene.WhyNotApplied();
  scene.Expect(where.empty() || where == scene.from || where == scene.to,
               StrCat("after the backup was put back it runs in '", where, "'"));
  // What stopped is left alone; what is not there any more is made anew, on hold.
  const bool forgotten = told.find("The record is gone") != std::string::npos || co_await scene.StrayIsTold();
  scene.Expect(!where.empty() || forgotten,
               StrCat("after the backup was put back it runs nowhere, and is told: '", told, "'"));
  // Else the move had not touched what runs. A held copy in the target may be left, of which the hub knows nothing.
  const std::string believed((co_await scene.Writer())["spec"]["holder"]["cluster"].str());
  scene.Expect(forgotten || where == believed, StrCat("after the backup was put back it runs in '", where,
                                                      "', the record says '", believed, "', and nobody is told"));
  if (forgotten) {
    const std::string writer = where.empty() ? co_await scene.StoppedLast() : where;
    co_await scene.TakeUpTheRecord(writer);
    co_await scene.ExpectRunsAlone(writer);
    co_await scene.world.loop().Sleep(kCommitted);
  }
  co_await scene.ExpectClean();
}

bool IsToBeCancelled(const Value& spec) {
  return spec["flinkConfiguration"]["kubernetes.operator.job.upgrade.last-state.job-cancel.enabled"].str() == "true";
}

std::string NewestStateIn(Scene& scene, const std::string& cluster) {
  const practice::JobManager* manager = scene.world.practice(cluster).job_managers().Find(kWorkload);
  if (manager == nullptr || manager->job == nullptr || !manager->job->Newest()) return {};
  return manager->job->Newest()->url;
}

rt::Task<void> NameTheStateThatIsAskedFor(Scene& scene, std::string state) {
  const Value asks = co_await scene.Migration();
  if (!Scene::IsBlocked(asks) || !asks["status"]["waitingFor"].str().starts_with(rollout::kStateToGoOnFrom)) co_return;
  scene.Tell("person", StrCat("names the state that it goes on from: ", state));
  co_await scene.PatchMigration(StrCat("{spec: {attestation: {cluster: ", scene.from,
                                       ", by: ann, reason: 'its newest checkpoint', stateRef: '", state,
                                       "', abortedAttempt: ", asks["status"]["attempt"].int_or(1), "}}}"));
  co_await scene.Settled();
  co_await scene.ExpectPhase("Aborted");
}

// An order to stop without a capture, which it gets at last, is in its operator's hand when its JobManager restarts:
// the job is cancelled while it is being restored. Gives the newest state that it had.
static rt::Task<std::string> CancelWhileItIsRestored(Scene& scene, std::string cluster) {
  practice::Faults& faults = scene.world.practice(cluster).faults();
  const auto any_way = [&]() -> rt::Task<bool> {
    co_return IsToBeCancelled((co_await scene.OnMember(cluster))["spec"]);
  };
  faults.stall_operator = seconds(3);
  scene.Expect(co_await scene.world.Until(any_way, minutes(2)), "the stop without a capture was not ordered");
  std::string newest = NewestStateIn(scene, cluster);
  scene.Tell(StrCat("cluster ", cluster), "its JobManager restarts");
  [[maybe_unused]] const auto restarted = scene.world.practice(cluster).RestartJobManager(kWorkload);
  co_await scene.world.loop().Sleep(seconds(1));
  faults.slow = 20;  // the JobManager will be up in a second, and its job is restored for long
  co_return newest;
}

static rt::Task<void> SourceCancelledWhileItIsRestored(Scene& scene) {
  practice::Faults& faults = scene.world.practice(scene.from).faults();
  faults.fail_savepoints = 100;
  co_await scene.Ask(", deadlines: {Quiescing: 60s, Aborting: 60s}, captureFallback: LastCheckpoint");
  const std::string newest = co_await CancelWhileItIsRestored(scene, scene.from);
  const Value asks = co_await scene.Settled();
  scene.Expect(!Scene::IsOver(asks), StrCat("nobody was asked what it goes on from: ", Scene::Said(asks)));
  scene.Expect(!scene.JobRuns(scene.from), "it left no state, and runs on from nothing");
  faults = {};
  co_await NameTheStateThatIsAskedFor(scene, newest);
  co_await scene.CheckAll();
}

rt::Task<void> NoStateLeft(Scene& scene) {
  co_await scene.Begin(JobWith("last-state"));
  co_await SourceCancelledWhileItIsRestored(scene);
}

// One that began from a state is said to have that one still.
rt::Task<void> OnlyTheBeginningLeft(Scene& scene) {
  co_await scene.Begin(JobWith("last-state"));
  co_await scene.Ask("", "there");
  co_await scene.Settled("there");
  co_await scene.ExpectPhase("Succeeded", "there");
  co_await scene.world.loop().Sleep(kCommitted);
  std::swap(scene.from, scene.to);
  co_await SourceCancelledWhileItIsRestored(scene);
}

// What it wrote is in no state that its operator names.
rt::Task<void> TargetEndedWhileItIsRestored(Scene& scene) {
  co_await scene.Begin(JobWith("last-state"));
  practice::Faults& faults = scene.world.practice(scene.to).faults();
  co_await scene.Ask(", deadlines: {Verifying: 10m, Aborting: 80s}", "", 60);
  scene.Expect(co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(2)), "it never ran there");
  co_await scene.world.loop().Sleep(seconds(15));
  faults.slow = 20;  // the JobManager will be up in a while, and its job is restored for long
  scene.Tell(StrCat("cluster ", scene.to), "its JobManager restarts");
  [[maybe_unused]] const auto restarted = scene.world.practice(scene.to).RestartJobManager(kWorkload);
  co_await scene.world.loop().Sleep(seconds(2));
  co_await scene.Abort();
  co_await scene.Settled();
  faults = {};
  co_await scene.CheckAll();
}

// With an operator that brings an order to cancel to its end (from 1.16 on).
rt::Task<void> TargetCancelledWhileItIsRestored(Scene& scene) {
  scene.world.practice("green").UpgradeOperator(practice::OperatorVersion::kV1x16);
  scene.world.practice("blue").UpgradeOperator(practice::OperatorVersion::kV1x16);
  co_await scene.Begin(JobWith("last-state"));
  practice::Faults& faults = scene.world.practice(scene.to).faults();
  faults.fail_savepoints = 100;
  co_await scene.Ask(", deadlines: {Verifying: 10m, Aborting: 160s}", "", 60);
  scene.Expect(co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(2)), "it never ran there");
  co_await scene.world.loop().Sleep(seconds(15));
  co_await scene.Abort();
  [[maybe_unused]] const std::string newest = co_await CancelWhileItIsRestored(scene, scene.to);
  co_await scene.world.loop().Sleep(seconds(20));
  faults = {};
  const Value asks = co_await scene.Settled();
  scene.Expect(Scene::IsBlocked(asks), StrCat("nobody was asked what it left: ", Scene::Said(asks)));
  co_await scene.CheckAll();
}

rt::Task<void> LyingOperators(Scene& scene) {
  rt::VirtualLoop& loop = scene.world.loop();
  co_await scene.Begin();
  // Told to stop it does nothing for a while, and says that it has.
  scene.world.Lie(scene.from, true);
  co_await scene.Ask();
  const auto ordered = [&]() -> rt::Task<bool> {
    co_return (co_await scene.OnMember(scene.from))["spec"]["job"]["state"].str() == "suspended";
  };
  scene.world.practice(scene.from).faults().stall_operator = minutes(1);
  scene.Expect(co_await scene.world.Until(ordered, minutes(1)), "the stop was not ordered");
  co_await loop.Sleep(seconds(20));
  scene.Expect(scene.JobRuns(scene.from), "the job was to run on: nothing is shown by this");
  scene.Expect((co_await scene.Writer())["spec"]["holder"]["cluster"].str() == scene.from,
               "an operator's word that the job had stopped was enough");
  co_await scene.ExpectPhase("Quiescing");
  scene.world.practice(scene.from).faults().stall_operator = {};
  // Told to start, likewise; without an image it never does.
  scene.world.Lie(scene.to, true);
  scene.world.practice(scene.to).faults().fail_image = true;
  scene.Expect(co_await scene.UntilPhase("Verifying", minutes(3)), "the target was not told to start");
  co_await loop.Sleep(minutes(1));
  scene.Expect(!(co_await scene.Writer())["spec"]["claim"]["verified"].bool_or(false),
               "an operator's word that the job runs was enough");
  scene.world.practice(scene.to).faults().fail_image = false;
  scene.world.Lie(scene.from, false);
  scene.world.Lie(scene.to, false);
  co_await scene.Settled();
  co_await scene.CheckAll();
}

rt::Task<void> HeldCopy(Scene& scene) {
  rt::VirtualLoop& loop = scene.world.loop();
  co_await scene.Begin();
  const std::shared_ptr<const HubDisk::Backup> backup = scene.world.BackUpHub();
  co_await scene.Ask(", paused: true");
  const auto prepared = [&]() -> rt::Task<bool> { co_return !(co_await scene.OnMember(scene.to)).is_null(); };
  scene.Expect(co_await scene.world.Until(prepared, minutes(1)), "the target was not prepared");
  // What was changed since it was made may have run, for all that the hub knows later.
  [[maybe_unused]] const auto changed =
      co_await scene.world.member(scene.to).Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge,
                                                  Yaml("{spec: {taskManager: {resource: {memory: 2048m}}}}"));
  scene.world.CrashHub(true);
  scene.world.RestoreHub(*backup);
  co_await loop.Sleep(seconds(5));
  co_await scene.world.ReviveHub();
  const auto told = [&]() -> rt::Task<bool> {
    const auto events = co_await scene.world.hub().ListAll(kube::EventsResource());
    co_return events.ok() && std::ranges::any_of(events->items, [](const Value& event) {
      return event["reason"].str() == rollout::kHeldCopyEvent;
    });
  };
  scene.Expect(co_await scene.world.Until(told, minutes(3)), "a copy is left on hold, and nobody is told");
  scene.Expect(co_await scene.RunsIn(scene.from), StrCat("it runs in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.ExpectClean();
}

rt::Task<void> MemberRestored(Scene& scene) {
  co_await scene.Begin();
  const Value before = co_await scene.OnMember(scene.from);
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await RestoreMember(scene, before);
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.from).Delete(FlinkDeployments(), {"default", "orders"});
  co_await scene.CheckAll();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
