// The stories.
#include "sim/stories.h"

#include <algorithm>

#include "sim/stories_rare.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

rt::Task<void> Moves(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

rt::Task<void> SavepointNeverEnds(Scene& scene) {
  co_await scene.Begin();
  scene.world.practice(scene.from).faults().slow = 1000;
  co_await scene.Ask(", deadlines: {Quiescing: 30s}");
  co_await scene.UntilPhase("Aborting", minutes(2));
  scene.world.practice(scene.from).faults().slow = 1;
  co_await scene.Settled();
  co_await scene.ExpectPhase("Aborted");
  co_await scene.CheckAll();
}

rt::Task<void> ImageFails(Scene& scene) {
  co_await scene.Begin();
  scene.world.practice(scene.to).faults().fail_image = true;
  co_await scene.Ask(", deadlines: {Verifying: 30s}");
  co_await scene.Settled();
  co_await scene.ExpectPhase("RolledBack");
  co_await scene.CheckAll();
}

// It starts, and never gets so far that it would prove anything: nothing says that it failed either.
rt::Task<void> StartNeverEnds(Scene& scene) {
  co_await scene.Begin();
  scene.world.practice(scene.to).faults().slow = 10'000;
  co_await scene.Ask(", deadlines: {Verifying: 30s}", "", 0);
  co_await scene.UntilPhase("Withdrawing", minutes(5));
  scene.world.practice(scene.to).faults().slow = 1;
  co_await scene.Settled();
  co_await scene.ExpectPhase("RolledBack");
  co_await scene.CheckAll();
}

rt::Task<void> RunningTargetAborted(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask(", deadlines: {Verifying: 10m}");
  co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
  co_await scene.world.loop().Sleep(milliseconds(1500));
  co_await scene.Abort();
  co_await scene.Settled();
  co_await scene.ExpectPhase("RolledBack");
  co_await scene.CheckAll();
}

// Aborted while the target's operator sits on a spec that says "run".
rt::Task<void> StaleOperator(Scene& scene) {
  co_await scene.Begin();
  scene.world.practice(scene.to).faults().stall_operator = seconds(20);
  co_await scene.Ask(", deadlines: {Verifying: 10m}");
  co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        co_return (co_await scene.OnMember(scene.to))["spec"]["job"]["state"].str() == "running";
      },
      minutes(5));
  co_await scene.world.loop().Sleep(seconds(2));
  co_await scene.Abort();
  co_await scene.Settled();
  co_await scene.ExpectPhase("RolledBack");
  co_await scene.CheckAll();
}

rt::Task<void> JobFailed(Scene& scene) {
  co_await scene.Begin();
  [[maybe_unused]] const auto failed = scene.world.practice(scene.from).FailJob(kWorkload);
  co_await scene.Ask(", deadlines: {Staged: 30s, Quiescing: 30s, Aborting: 60s}");
  const Value end = co_await scene.Settled();
  scene.Expect(end["status"]["phase"].str() != "Succeeded", Scene::Said(end));
  scene.Expect((co_await scene.WhereItRuns()).find(scene.to) == std::string::npos, "the target runs");
  co_await scene.ExpectClean();
}

// The job fails after its stop was ordered and before its savepoint was made.
rt::Task<void> JobFailsWhileItStops(Scene& scene) {
  co_await scene.Begin(JobWith("last-state"));
  scene.world.practice(scene.from).faults().slow = 20;
  co_await scene.Ask(", deadlines: {Quiescing: 60s, Aborting: 60s}");
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(seconds(1));
  [[maybe_unused]] const auto failed = scene.world.practice(scene.from).FailJob(kWorkload);
  scene.world.practice(scene.from).faults().slow = 1;
  const Value end = co_await scene.Settled();
  scene.Expect(end["status"]["phase"].str() != "Succeeded", Scene::Said(end));
  co_await scene.ExpectClean();
}

rt::Task<void> DeletedByHand(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.Ended();
  co_await scene.ExpectPhase("Succeeded");
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.to).Delete(FlinkDeployments(), {"default", "orders"});
  co_await scene.world.loop().Sleep(minutes(2));
  const Value again = co_await scene.OnMember(scene.to);
  scene.Expect(again.is_null() || again["spec"]["job"]["state"].str() == "suspended",
               StrCat("it was started empty: ", again["spec"]["job"].ToString()));
  scene.Expect((co_await scene.WhereItRuns()).empty(), "it runs");
  co_await scene.ExpectClean();
}

// The source's object is made anew by somebody while it is stopped; then the move is aborted.
rt::Task<void> SourceMadeAnew(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  [[maybe_unused]] const auto gone =
      co_await scene.world.member(scene.from).Delete(FlinkDeployments(), {"default", "orders"});
  co_await scene.Abort();
  co_await scene.Settled("move", minutes(5));
  scene.Expect((co_await scene.WhereItRuns()).empty(), "it was started, and its state was another object's");
  co_await scene.ExpectClean();
}

rt::Task<void> StatelessAborted(Scene& scene, int64_t after) {
  co_await scene.Begin(JobWith("stateless"));
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.loop().Sleep(milliseconds(after));
  co_await scene.Abort();
  const Value end = co_await scene.Settled();
  scene.Expect(end["status"]["phase"].str() == "Aborted" || end["status"]["phase"].str() == "RolledBack",
               Scene::Said(end));
  co_await scene.CheckAll();
}
rt::Task<void> StatelessAborted300(Scene& scene) { return StatelessAborted(scene, 300); }
rt::Task<void> StatelessAborted1000(Scene& scene) { return StatelessAborted(scene, 1000); }

// Refused, and the member's object was never touched.
rt::Task<void> ExpectRefused(Scene& scene) {
  co_await scene.world.loop().Sleep(seconds(30));
  const Value before = (co_await scene.OnMember(scene.from))["spec"];
  co_await scene.Ask(", deadlines: {Quiescing: 60s, Verifying: 60s, Cleaning: 60s}");
  co_await scene.Settled();
  co_await scene.ExpectPhase("Rejected");
  scene.Expect((co_await scene.OnMember(scene.from))["spec"] == before, "a refused move touched the workload");
}
rt::Task<void> NoSavepointDir(Scene& scene) {
  co_await scene.Begin();
  co_await scene.PatchTemplate("{spec: {flinkConfiguration: {state.savepoints.dir: null}}}");
  co_await ExpectRefused(scene);
}
rt::Task<void> TemplateWithANonce(Scene& scene) {
  co_await scene.Begin();
  co_await scene.PatchTemplate("{spec: {job: {savepointRedeployNonce: 5}}}");
  co_await ExpectRefused(scene);
}
rt::Task<void> Preserved(Scene& scene) {
  co_await scene.Begin();
  const auto kept =
      co_await scene.world.hub().Patch(federation::kPropagationPolicies, {"default", "flink"}, kube::PatchType::kMerge,
                                       Yaml("{spec: {preserveResourcesOnDeletion: true}}"));
  scene.Expect(kept.ok(), "the policy was not taken");
  co_await ExpectRefused(scene);
}

rt::Task<void> Paused(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask(", paused: true");
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect((co_await scene.WhereItRuns()) == scene.from,
               StrCat("paused, and it runs in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.Abort();
  const Value end = co_await scene.Settled("move", minutes(5));
  scene.Expect(end["status"]["phase"].str() == "Aborted", StrCat("aborted while paused, and: ", Scene::Said(end)));
  co_await scene.CheckAll();
}

rt::Task<void> UsersPause(Scene& scene) {
  co_await scene.Begin();
  scene.paused_by_a_user = true;
  const auto paused =
      co_await scene.world.hub().Patch(federation::kResourceBindings, {"default", "orders-flinkdeployment"},
                                       kube::PatchType::kMerge, Yaml("{spec: {suspension: {scheduling: true}}}"));
  scene.Expect(paused.ok(), "the binding was not taken");
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

rt::Task<void> AbortedAndAgain(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.Abort();
  co_await scene.Settled();
  co_await scene.CheckAll();
  co_await scene.Ask("", "again");
  co_await scene.Settled("again");
  co_await scene.ExpectPhase("Succeeded", "again");
  co_await scene.CheckAll("again");
}

// The target proves itself, breaks, and comes back: its stabilization begins anew.
rt::Task<void> BreaksWhileItProves(Scene& scene) {
  constexpr int kStable = 30;
  co_await scene.Begin(JobWith("last-state"));
  co_await scene.Ask("", "", kStable);
  co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, minutes(5));
  co_await scene.world.loop().Sleep(seconds(kStable / 2));
  scene.Tell("fault", "the target's JobManager restarts");
  scene.world.practice(scene.to).faults().slow = 4;
  [[maybe_unused]] const auto restarted = scene.world.practice(scene.to).RestartJobManager(kWorkload);
  std::optional<MonotonicTime> since;
  const bool removed = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        if (!scene.JobRuns(scene.to)) since.reset();
        if (scene.JobRuns(scene.to) && !since) since = scene.world.loop().Now();
        const Value source = co_await scene.OnMember(scene.from);
        co_return source.is_null() || kube::IsDeleting(source);
      },
      minutes(10));
  scene.Expect(removed, "the source was never removed");
  const Duration stable = since ? scene.world.loop().Now() - *since : Duration{};
  scene.Expect(stable >= seconds(kStable - 1),
               StrCat("the source went when the target had run for ", stable / seconds(1), " s without a break"));
  co_await scene.Settled();
  co_await scene.CheckAll();
}

rt::Task<void> WishCountsOnce(Scene& scene) {
  co_await scene.Begin();
  co_await scene.PatchTemplate(
      StrCat("{metadata: {annotations: {", rollout::kTriggerAnnotation, ": ", scene.to, "}}}"));
  const bool came = co_await scene.world.Until([&] { return scene.RunsIn(scene.to); }, kWithin);
  scene.Expect(came, "it never came to where it was wished");
  co_await scene.world.loop().Sleep(minutes(1));
  // A person drains that cluster; the annotation stays.
  const std::string third = scene.Third();
  scene.to = third;
  co_await scene.Ask("", "drain");
  co_await scene.Settled("drain");
  co_await scene.ExpectPhase("Succeeded", "drain");
  scene.world.KillController();
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect(co_await scene.RunsIn(third),
               StrCat("drained to ", third, ", it runs in '", co_await scene.WhereItRuns(),
                      "': an old wish was fulfilled again"));
  co_await scene.ExpectClean();
}

// The very last status is not taken once, and nothing else happens to the migration afterwards.
rt::Task<void> EndNotTold(Scene& scene) {
  co_await scene.Begin();
  scene.world.hub_faults().Add(
      {.fault = kube::Fault::kErrorBefore,
       .plural = "statefulmigrations",
       .subresource = "status",
       .when = [](const kube::Call& call) { return call.body["status"]["phase"].str() == "Succeeded"; }});
  co_await scene.Ask();
  co_await scene.Settled("", minutes(10));
  scene.Expect(scene.world.hub_faults().pending() == 0, "the last status was never written");
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

// Another scheduler, when no move is under way.
rt::Task<void> BindingOverwritten(Scene& scene) {
  co_await scene.Begin();
  const auto written = co_await scene.world.hub().Patch(
      federation::kResourceBindings, {"default", "orders-flinkdeployment"}, kube::PatchType::kMerge,
      Yaml(StrCat("{spec: {clusters: [{name: ", scene.to, "}], suspension: {scheduling: true}}}")));
  scene.Expect(written.ok(), "the binding was not taken");
  co_await scene.world.loop().Sleep(minutes(2));
  scene.Expect(co_await scene.RunsIn(scene.from),
               StrCat("it ran in ", scene.from, " and now in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.ExpectClean();
}

// An old leader's write to the source, decided before the move, arrives when the source has been stopped.
rt::Task<void> LateUpdate(Scene& scene) {
  rt::VirtualLoop& loop = scene.world.loop();
  co_await scene.Begin();
  scene.world.member_faults(scene.from)
      .Add({.fault = kube::Fault::kDelay,
            .delay = seconds(45),
            .verb = kube::Verb::kUpdate,
            .plural = "flinkdeployments"});
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 2048m}}}}");
  co_await loop.Sleep(seconds(2));
  scene.world.DeposeController();
  scene.world.StartController();
  co_await loop.Sleep(seconds(5));
  co_await scene.Ask("", "", 60);
  co_await loop.Sleep(seconds(60));
  scene.world.KillDeposed();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  co_await scene.CheckAll();
}

// At the moment in which a move says that it has ended, its job runs.
rt::Task<void> ExpectRunsAtTheEnd(Scene& scene, std::string phase, std::string cluster) {
  bool runs = false;
  const bool ended = co_await scene.world.Until(
      [&]() -> rt::Task<bool> {
        const Value migration = co_await scene.Migration();
        runs = scene.JobRuns(cluster);
        co_return migration["status"]["phase"].str() == phase;
      },
      minutes(10));
  scene.Expect(!ended || runs, StrCat("it says ", phase, ", and nothing runs in ", cluster));
}

rt::Task<void> SlowWayBack(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.world.Until([&]() -> rt::Task<bool> { co_return !scene.JobRuns(scene.from); }, minutes(1));
  scene.world.practice(scene.from).faults().slow = 20;
  co_await scene.Abort();
  co_await ExpectRunsAtTheEnd(scene, "Aborted", scene.from);
}

// Another workload of the same name: the move of the first one is over, and the second runs from its own beginning.
rt::Task<void> TemplateMadeAnew(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  scene.Tell("person", "deletes the template and applies it again");
  [[maybe_unused]] const auto gone = co_await scene.world.hub().Delete(FlinkDeployments(), {"default", "orders"});
  co_await scene.world.Until([&]() -> rt::Task<bool> { co_return (co_await scene.Template()).is_null(); }, minutes(1));
  scene.Expect((co_await scene.world.Apply(FlinkDeployments(), Yaml(kJob))).ok(), "not taken");
  const Value end = co_await scene.Settled();
  scene.Expect(end["status"]["phase"].str() == "Cancelled",
               StrCat("its template is gone, and it says ", Scene::Said(end)));
}

// ---- the hub comes back from a backup ----

const std::vector<kube::Resource>& OnlyOfTheHub() {
  static const std::vector<kube::Resource> kAll = {federation::kWorks, federation::kResourceBindings, kWriters,
                                                   kMigrations, federation::kOverridePolicies};
  return kAll;
}

rt::Task<std::vector<std::vector<Value>>> BackUp(Scene& scene) {
  std::vector<std::vector<Value>> all;
  for (const kube::Resource& resource : OnlyOfTheHub()) {
    const auto listed = co_await scene.world.hub().ListAll(resource);
    all.push_back(listed.ok() ? listed->items : std::vector<Value>());
  }
  co_return all;
}

rt::Task<void> RestoreOne(Scene& scene, const kube::Resource& resource, const std::vector<Value>& backup) {
  kube::Api& hub = scene.world.hub();
  const auto now = co_await hub.ListAll(resource);
  for (const Value& object : now->items) {
    [[maybe_unused]] const auto freed = co_await hub.Patch(resource, kube::Name::Of(object), kube::PatchType::kMerge,
                                                           Yaml("{metadata: {finalizers: null}}"));
    [[maybe_unused]] const auto gone = co_await hub.Delete(resource, kube::Name::Of(object));
  }
  for (Value object : backup) {
    Value& metadata = object.Edit("metadata");
    metadata.Erase("resourceVersion");
    metadata.Erase("uid");
    const auto made = co_await hub.Create(resource, object);
    scene.Expect(made.ok(), made.ok() ? "" : StrCat("not restored: ", made.error().message()));
  }
}

// It forgets the last move: what runs goes on, and nothing is started from what the old record says.
rt::Task<void> HubRestored(Scene& scene) {
  co_await scene.Begin();
  const std::vector<std::vector<Value>> backup = co_await BackUp(scene);
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  scene.world.KillController();
  scene.Tell("person", "restores the hub from a backup that is older than the move");
  for (size_t i = 0; i < backup.size(); ++i) co_await RestoreOne(scene, OnlyOfTheHub()[i], backup[i]);
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect(co_await scene.RunsIn(scene.to),
               StrCat("it ran in ", scene.to, ", and now in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.ExpectClean();
}

// It forgets a move that came to nothing. The member has seen newer epochs than the record knows, and takes no older
// ones: what runs there goes on as it is.
rt::Task<void> HubRestoredAfterAnAbort(Scene& scene) {
  co_await scene.Begin();
  const std::vector<std::vector<Value>> backup = co_await BackUp(scene);
  co_await scene.Ask();
  co_await scene.UntilStopIsOrdered();
  co_await scene.Abort();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Aborted");
  scene.world.KillController();
  scene.Tell("person", "restores the hub from a backup that is older than the move");
  for (size_t i = 0; i < backup.size(); ++i) co_await RestoreOne(scene, OnlyOfTheHub()[i], backup[i]);
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect(co_await scene.RunsIn(scene.from),
               StrCat("it ran in ", scene.from, ", and now in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.ExpectClean();
}

rt::Task<void> WriterLost(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  scene.world.KillController();
  scene.Tell("person", "deletes the Writer");
  co_await RestoreOne(scene, kWriters, {});
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(1));
  scene.Expect((co_await scene.Writer()).is_null(),
               "a record was made up for a workload that has moved before: its epochs begin anew");
  scene.Expect(co_await scene.RunsIn(scene.to), "it does not run on");
  // A move would begin at the first epoch, which the member refuses: it is refused before anything is touched.
  scene.to = scene.from;
  co_await scene.Ask("", "back");
  const Value end = co_await scene.Settled("back", minutes(2));
  scene.Expect(end["status"]["phase"].str() == "Rejected", StrCat("without a record, and: ", Scene::Said(end)));
  co_await scene.ExpectClean();
}

// Nothing is left on the hub but what GitOps applies again: the policy, which would place it where it began, and the
// template. The members know better.
rt::Task<void> HubLost(Scene& scene) {
  co_await scene.Begin();
  co_await scene.Ask();
  co_await scene.Settled();
  co_await scene.ExpectPhase("Succeeded");
  scene.world.KillController();
  scene.Tell("person", "makes the hub anew, without any of its records");
  for (const kube::Resource& resource : OnlyOfTheHub()) co_await RestoreOne(scene, resource, {});
  const auto pinned = co_await scene.world.hub().Patch(
      federation::kPropagationPolicies, {"default", "flink"}, kube::PatchType::kMerge,
      Yaml(StrCat("{spec: {placement: {clusterAffinity: {clusterNames: [", scene.from, "]}}}}")));
  scene.Expect(pinned.ok(), "the policy was not taken");
  scene.world.StartController();
  co_await scene.world.loop().Sleep(minutes(3));
  scene.Expect((co_await scene.Writer()).is_null(), "a record was made up for a workload that runs elsewhere");
  scene.Expect(co_await scene.RunsIn(scene.to),
               StrCat("it ran in ", scene.to, ", and now in '", co_await scene.WhereItRuns(), "'"));
  co_await scene.ExpectClean();
}

rt::Task<void> SuspendedPolicy(Scene& scene) {
  co_await scene.Begin();
  const auto suspended =
      co_await scene.world.hub().Patch(federation::kPropagationPolicies, {"default", "flink"}, kube::PatchType::kMerge,
                                       Yaml("{spec: {suspension: {dispatching: true}}}"));
  scene.Expect(suspended.ok(), "the policy was not taken");
  co_await scene.world.loop().Sleep(seconds(30));
  const Value before = (co_await scene.OnMember(scene.from))["spec"];
  co_await scene.PatchTemplate("{spec: {taskManager: {resource: {memory: 2048m}}}}");
  co_await scene.world.loop().Sleep(minutes(1));
  scene.Expect((co_await scene.OnMember(scene.from))["spec"] == before, "suspended, and yet it was propagated");
}

// ---- many at once ----

Value BigDeployment(size_t number) {
  return Yaml(StrCat("{apiVersion: apps/v1, kind: Deployment, metadata: {name: big-", number,
                     ", namespace: default}, spec: {replicas: 10, selector: {matchLabels: {app: big-", number,
                     "}}, template: {metadata: {labels: {app: big-", number,
                     "}}, spec: {containers: [{name: a, image: a, resources: {requests: {cpu: \"1\"}}}]}}}}"));
}

// A burst of workloads, decided on one look at the clusters: no cluster gets more than it has room for.
rt::Task<void> Herd(Scene& scene) {
  constexpr size_t kMany = 4;
  constexpr int64_t kRoom = 16;  // cores of a practice cluster
  scene.Expect((co_await scene.world.Apply(federation::kPropagationPolicies, Yaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: big, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green, red]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}
)")))
                   .ok(),
               "the policy was not taken");
  co_await scene.world.loop().Sleep(minutes(1));  // the clusters' room is known
  for (size_t i = 0; i < kMany; ++i)
    scene.Expect(
        (co_await scene.world.Apply(kube::Resource{"apps", "v1", "deployments", "Deployment", true}, BigDeployment(i)))
            .ok(),
        "not taken");
  co_await scene.world.loop().Sleep(seconds(30));
  std::map<std::string, int64_t> given;
  const auto bindings = co_await scene.world.hub().ListAll(federation::kResourceBindings);
  for (const Value& binding : bindings->items) {
    for (const Value& cluster : binding["spec"]["clusters"].items())
      given[std::string(cluster["name"].str())] += cluster["replicas"].int_or(0);
  }
  int64_t all = 0;
  for (const auto& [cluster, replicas] : given) {
    all += replicas;
    scene.Expect(replicas <= kRoom, StrCat(cluster, " was given ", replicas, " cores' worth and has ", kRoom));
  }
  scene.Expect(all >= 30, StrCat("only ", all, " replicas were placed"));
}

constexpr NamedStory kStories[] = {
    {"moves", "a move without any trouble", Moves},
    {"savepoint-never-ends", "the source's savepoint never ends: the move goes back at its deadline",
     SavepointNeverEnds},
    {"image-fails", "the target's image is not there: the source goes on with its state", ImageFails},
    {"start-never-ends", "the target starts for ever: the move goes back at its deadline", StartNeverEnds},
    {"running-target-aborted", "a move is aborted when its target runs and has written", RunningTargetAborted, 3},
    {"stale-operator", "a move is aborted while the target's operator acts on an older spec", StaleOperator},
    {"job-failed", "the source's job has failed before the move", JobFailed, 6},
    {"job-fails-while-it-stops", "the source's job fails between the order to stop and its savepoint",
     JobFailsWhileItStops},
    {"deleted-by-hand", "the member's object is deleted by hand after a move", DeletedByHand, 8},
    {"source-made-anew", "the stopped source is deleted by hand, and the move is aborted", SourceMadeAnew},
    {"stateless-aborted-300", "a template with upgradeMode stateless, aborted while it stops", StatelessAborted300, 12},
    {"stateless-aborted-1000", "a template with upgradeMode stateless, aborted when it has stopped",
     StatelessAborted1000, 12},
    {"no-savepoint-dir", "a template without a savepoint directory is refused", NoSavepointDir},
    {"template-with-a-nonce", "a template with a savepointRedeployNonce is refused", TemplateWithANonce},
    {"preserved", "a policy that preserves what it removes is refused", Preserved},
    {"paused", "a paused move stays paused, and can be aborted", Paused},
    {"users-pause", "a user has paused the binding's scheduling before the move", UsersPause},
    {"aborted-and-again", "a move after one that was aborted", AbortedAndAgain},
    {"breaks-while-it-proves", "the target breaks and comes back during its stabilization", BreaksWhileItProves},
    {"wish-counts-once", "an annotation still names a cluster that was drained since", WishCountsOnce},
    {"end-not-told", "the last status of a move is refused once", EndNotTold},
    {"binding-overwritten", "another scheduler overwrites a binding while nothing moves", BindingOverwritten},
    {"late-update", "an old leader's write of before the move arrives when the source is stopped", LateUpdate},
    {"slow-way-back", "the source is slow to start again after an abort", SlowWayBack},
    {"template-made-anew", "the template is deleted and applied again in the middle of a move", TemplateMadeAnew},
    {"hub-restored", "the hub is restored from a backup that is older than the move", HubRestored},
    {"hub-restored-after-an-abort", "the hub is restored from a backup that is older than an aborted move",
     HubRestoredAfterAnAbort},
    {"attested-source", "the source falls silent while it stops, and a person attests its stop", AttestedSource},
    {"no-state-left", "a source that was cancelled without a state stays stopped until a person names one",
     NoStateLeft},
    {"only-the-beginning-left",
     "a source that was cancelled without a new state is not moved from the one that it began from",
     OnlyTheBeginningLeft},
    {"target-ended-while-it-is-restored", "a target that ran is stopped when its JobManager has just restarted",
     TargetEndedWhileItIsRestored},
    {"target-cancelled-while-it-is-restored", "a target that ran is cancelled when its JobManager has just restarted",
     TargetCancelledWhileItIsRestored},
    {"attested-beginning", "a person attests a silent source with the state that it began from", AttestedBeginning},
    {"contested-binding", "another scheduler writes the binding back at once, again and again", ContestedBinding},
    {"held-copy", "the hub forgets a move that has only prepared its target", HeldCopy},
    {"lying-operators", "the source is said to have stopped, and the target to run, and it is not so", LyingOperators},
    {"late-lock", "an old leader's lock of the binding comes when the move has ended", LateLock},
    {"deleted-while-its-watch-lags", "a template is deleted, and the pipe hears of it late", DeletedWhileItsWatchLags},
    {"member-restored", "a cluster that the workload has left is restored from a backup", MemberRestored},
    {"lost-target", "the target is lost for good after the grant, and a person attests it at once", LostTarget},
    {"deleted-before-it-began", "a migration is deleted before any leader has seen it", DeletedBeforeItBegan},
    {"writer-lost", "the Writer is deleted after a move", WriterLost},
    {"hub-lost", "the hub is made anew without its records, and the policy places the workload elsewhere", HubLost},
    {"suspended-policy", "a policy's dispatching is suspended, and the template edited", SuspendedPolicy},
    {"herd", "many workloads at once, decided on one look at the clusters", Herd},
};

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

std::span<const NamedStory> Stories() { return kStories; }

const NamedStory* FindStory(std::string_view name) {
  const auto* found = std::ranges::find(kStories, name, &NamedStory::name);
  return found == std::end(kStories) ? nullptr : found;
}

}  // namespace baton::sim
