// The scene: its manifests, its steps, and what must hold.
#include "sim/scene.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "base/invariant.h"
#include "json/yaml.h"
#include "rt/test_support.h"
#include "sim/checkers.h"
#include "sim/workloads.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): each is awaited by the frame that it captures, or
// owned by rt::Do

const std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: flink, namespace: default}
spec:
  resourceSelectors: [{apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green, red]}
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]
)";

const std::string_view kJob = R"(
apiVersion: flink.apache.org/v1beta1
kind: FlinkDeployment
metadata:
  name: orders
  namespace: default
  annotations: {practice.baton.io/rate: "10"}
spec:
  image: flink:1.20
  flinkVersion: v1_20
  flinkConfiguration:
    state.savepoints.dir: s3://state/savepoints
    state.checkpoints.dir: s3://state/checkpoints
    execution.checkpointing.interval: 4 s
  serviceAccount: flink
  jobManager: {resource: {memory: 1024m, cpu: 1}}
  taskManager: {resource: {memory: 1024m, cpu: 1}}
  job: {jarURI: "local:///opt/orders.jar", parallelism: 2, upgradeMode: savepoint, state: running}
)";

Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  INVARIANT(value.ok(), StrCat("not YAML: ", text));
  return *value;
}

Value JobWith(std::string_view mode) {
  Value job = Yaml(kJob);
  job.Edit("spec").Edit("job").Set("upgradeMode", mode);
  if (mode == "last-state") {
    job.Edit("spec").Edit("flinkConfiguration").Set("high-availability.type", "kubernetes");
    job.Edit("spec").Edit("flinkConfiguration").Set("high-availability.storageDir", "s3://state/ha");
  }
  return job;
}

std::string MigrationTo(std::string_view target, std::string_view name, std::string_view more, int stabilization) {
  return StrCat(
      "{apiVersion: rollout.karmada.io/v1alpha1, kind: StatefulMigration, metadata: {name: ", name,
      ", namespace: default}, spec: {workload: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, ",
      "name: orders}, target: ", target, ", stabilizationSeconds: ", stabilization, more, "}}");
}

// ---- looking ----

rt::Task<std::string> Scene::WhereItRuns() {
  std::string where;
  for (const std::string& cluster : kClusters3) {
    const Value object = co_await OnMember(cluster);
    if (object["status"]["jobStatus"]["state"].str() == "RUNNING") where += (where.empty() ? "" : "+") + cluster;
  }
  co_return where;
}
bool Scene::JobRuns(const std::string& cluster) {
  const practice::JobManager* manager = world.practice(cluster).job_managers().Find(kWorkload);
  return manager != nullptr && manager->job != nullptr && manager->job->phase() == practice::JobPhase::kRunning;
}
std::string Scene::Third() const {
  for (const std::string& cluster : kClusters3) {
    if (cluster != from && cluster != to) return cluster;
  }
  return {};
}
rt::Task<bool> Scene::RunsIn(std::string cluster) { co_return co_await WhereItRuns() == cluster; }
rt::Task<Value> Scene::OnMember(std::string cluster) {
  return world.OnMember(std::move(cluster), FlinkDeployments(), std::string(kWorkload));
}
rt::Task<Value> Scene::Template() { return world.OnHub(FlinkDeployments(), std::string(kWorkload)); }
rt::Task<Value> Scene::Binding() { return world.OnHub(federation::kResourceBindings, std::string(kBindingKey)); }
rt::Task<Value> Scene::Writer() { return world.OnHub(kWriters, std::string(kBindingKey)); }
rt::Task<Value> Scene::Migration(std::string name) {
  return world.OnHub(kMigrations, StrCat("default/", name.empty() ? move : name));
}
rt::Task<std::vector<Value>> Scene::Overrides() {
  const auto listed = co_await world.hub().ListAll(federation::kOverridePolicies);
  co_return listed.ok() ? listed->items : std::vector<Value>();
}

rt::Task<std::string> Scene::WhyNotApplied() {
  const auto works = co_await world.hub().ListAll(federation::kWorks);
  for (const Value& work : works->items) {
    const Value& applied = federation::FindCondition(work["status"], "Applied");
    if (applied["status"].str() == "False") co_return std::string(applied["message"].str());
  }
  co_return std::string();
}

rt::Task<bool> Scene::StrayIsTold() {
  const auto works = co_await world.hub().ListAll(federation::kWorks);
  co_return std::ranges::any_of(works->items, [](const Value& work) {
    return federation::FindCondition(work["status"], federation::kStrayWriter)["status"].str() == "True";
  });
}

// For messages: what the pipe has of the workload.
rt::Task<std::string> Scene::Dump() {
  const Value binding = co_await Binding();
  std::string text = StrCat("\n  binding ", binding["metadata"]["deletionTimestamp"].ToString(), " ",
                            binding["spec"]["clusters"].ToString(), binding["spec"]["resource"].ToString(), " ",
                            binding["status"]["conditions"].ToString());
  const auto works = co_await world.hub().ListAll(federation::kWorks);
  for (const Value& work : works->items) {
    text += StrCat("\n  work ", kube::NamespaceOf(work), " ", work["metadata"]["deletionTimestamp"].ToString(), " ",
                   work["spec"]["workload"]["manifests"][0]["spec"]["job"].ToString(), " ",
                   work["status"]["conditions"].ToString());
  }
  for (const std::string& cluster : kClusters3) {
    const Value object = co_await OnMember(cluster);
    if (!object.is_null()) text += StrCat("\n  ", cluster, " ", object["spec"].ToString(), object["status"].ToString());
  }
  co_return text + "\n  writer " + (co_await Writer())["spec"].ToString();
}

// ---- doing ----
rt::Task<void> Scene::Begin() { return Begin(Yaml(kJob)); }

rt::Task<void> Scene::Begin(Value with) {
  job = std::move(with);
  Expect((co_await world.Apply(federation::kPropagationPolicies, Yaml(kPolicy))).ok(), "the policy was not taken");
  Expect((co_await world.Apply(FlinkDeployments(), job)).ok(), "the job was not taken");
  const bool runs =
      co_await world.Until([this]() -> rt::Task<bool> { co_return !(co_await WhereItRuns()).empty(); }, minutes(10));
  Expect(runs, "the job never ran");
  co_await world.loop().Sleep(seconds(5));
  from = co_await WhereItRuns();
  to = from == "green" ? "blue" : "green";
  template_before_ = co_await Template();
  OwnsTemplate(template_before_);
}
void Scene::OwnsTemplate(const Value& object) {
  const Result<Workload> workload = Workload::Of("FlinkDeployment", kWorkload);
  INVARIANT(workload.ok(), workload.error().message());
  if (checkers != nullptr) checkers->Owns(*workload, object);
}
rt::Task<void> Scene::Ask(std::string more, std::string name, int stabilization) {
  if (name.empty()) name = move;
  Tell("person", StrCat("asks for move ", name, " from ", from, " to ", to));
  const auto made = co_await world.Apply(kMigrations, Yaml(MigrationTo(to, name, more, stabilization)));
  Expect(made.ok(), made.ok() ? "" : std::string(made.error().message()));
}
rt::Task<void> Scene::Abort(std::string name) { co_await PatchMigration("{spec: {abort: true}}", std::move(name)); }

rt::Task<void> Scene::PatchMigration(std::string patch, std::string name) {
  if (name.empty()) name = move;
  Tell("person", StrCat("patches move ", name, ": ", patch));
  [[maybe_unused]] const auto asked =
      co_await world.hub().Patch(kMigrations, {"default", name}, kube::PatchType::kMerge, Yaml(patch));
}

rt::Task<void> Scene::PatchTemplate(std::string patch) {
  Tell("person", StrCat("patches the template: ", patch));
  template_edited = true;
  const auto edited =
      co_await world.hub().Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge, Yaml(patch));
  Expect(edited.ok(), edited.ok() ? "" : StrCat("the template's patch was not taken: ", edited.error().message()));
}
rt::Task<void> Scene::DeleteTemplate() {
  Tell("person", "deletes the template");
  OwnsTemplate(Value());
  [[maybe_unused]] const auto gone =
      co_await world.hub().Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
}
// The number that it was told last.
static int64_t NumberOf(const Value& object) {
  const std::string number(object["spec"]["flinkConfiguration"]["kubernetes.operator.baton.seq"].str());
  return std::strtoll(number.c_str(), nullptr, 10);
}

// The number of the stop that this state was captured by, which its directory is named with:
// .../<migration>-<attempt>-<number>/savepoint-...; 0: it is of no stop of ours.
static int64_t StopOf(std::string_view path) {
  const std::string_view directory = path.substr(0, path.rfind('/'));
  const size_t dash = directory.rfind('-');
  int64_t number = 0;
  if (dash == std::string_view::npos) return 0;
  std::from_chars(directory.data() + dash + 1, directory.data() + directory.size(), number);
  return number;
}

rt::Task<std::string> Scene::StoppedLast() {
  std::string last = from;
  int64_t highest = -1;
  for (const std::string& each : kClusters3) {
    const Value object = co_await OnMember(each);
    const Value& status = object["status"]["jobStatus"];
    const std::string_view state = status["upgradeSavepointPath"].str();
    if (world.practice(each).faults().fail_image) continue;  // it never ran there, and cannot
    if (status["state"].str() != "FINISHED" || state.empty() || StopOf(state) <= highest) continue;
    highest = StopOf(state);
    last = each;
  }
  co_return last;
}

rt::Task<void> Scene::TakeUpTheRecord(std::string cluster) {
  int64_t highest = 0;
  for (const std::string& each : kClusters3) highest = std::max(highest, NumberOf(co_await OnMember(each)));
  const Value there = co_await OnMember(cluster);
  const Value home = co_await world.OnHub(federation::kClusters, cluster);
  Tell("person", StrCat("has looked at all clusters: ", cluster, " is the writer, with number ", highest + 1));
  const auto taken = [&](const auto& result) {
    Expect(result.ok(), result.ok() ? "" : StrCat("what the record should say: ", result.error().message()));
  };
  if (checkers != nullptr) checkers->PersonSaysWhoWrites();
  // It would be started empty.
  if (is_stateless()) co_await PatchTemplate("{spec: {job: {upgradeMode: savepoint}}}");
  taken(co_await world.hub().Patch(
      kWriters, kube::Name::FromKey(std::string(kBindingKey)), kube::PatchType::kMerge,
      Yaml(StrCat("{spec: {seq: ", highest + 1, ", holder: {cluster: ", cluster,
                  ", clusterID: ", home["spec"]["id"].str(), ", memberUID: ", kube::UidOf(there), "}}}"))));
  taken(co_await world.hub().Patch(federation::kResourceBindings, kube::Name::FromKey(std::string(kBindingKey)),
                                   kube::PatchType::kMerge,
                                   Yaml(StrCat("{spec: {clusters: [{name: ", cluster, "}]}}"))));
  for (const std::string& each : kClusters3) {
    if (each == cluster || (co_await OnMember(each)).is_null()) continue;
    [[maybe_unused]] const auto gone =
        co_await world.member(each).Delete(FlinkDeployments(), kube::Name::FromKey(std::string(kWorkload)));
  }
}
rt::Task<bool> Scene::UntilPhase(std::string phase, Duration within, std::string name) {
  return world.Until(
      [=, this]() -> rt::Task<bool> { co_return (co_await Migration(name))["status"]["phase"].str() == phase; },
      within);
}
rt::Task<void> Scene::UntilStopIsOrdered() {
  co_await world.Until([this]() -> rt::Task<bool> { co_return (co_await Writer())["spec"]["stop"].is_object(); },
                       minutes(5));
}

rt::Task<void> Scene::UntilAllReady() {
  co_await world.Until(
      [this]() -> rt::Task<bool> {
        for (const std::string& name : kClusters3) {
          const Value cluster = co_await world.OnHub(federation::kClusters, name);
          const bool ready = federation::FindCondition(cluster["status"], "Ready")["status"].str() == "True";
          if (!ready || !cluster["spec"]["taints"].empty()) co_return false;
        }
        co_return true;
      },
      minutes(5));
}

bool Scene::IsOver(const Value& migration) {
  const auto phase = rollout::PhaseFromName(migration["status"]["phase"].str());
  return phase && rollout::IsEnd(*phase);
}
bool Scene::IsBlocked(const Value& migration) {
  return federation::FindCondition(migration["status"], "Blocked")["status"].str() == "True";
}
std::string Scene::Said(const Value& migration) {
  return StrCat(migration["status"]["phase"].str(), IsBlocked(migration) ? " (blocked)" : "", ": ",
                migration["status"]["message"].str());
}
// Until it ended, or has asked a person for a minute; gone counts as ended.
rt::Task<Value> Scene::Settled(std::string name, Duration within) {
  std::optional<MonotonicTime> blocked;
  co_await world.Until(
      [&]() -> rt::Task<bool> {
        const Value now = co_await Migration(name);
        // One that is over and was deleted in that very moment is about to go.
        if (now.is_null() || (IsOver(now) && !kube::IsDeleting(now))) co_return true;
        if (!IsBlocked(now)) blocked.reset();
        if (IsBlocked(now) && !blocked) blocked = world.loop().Now();
        co_return blocked&& world.loop().Now() - *blocked > minutes(1);
      },
      within, milliseconds(500));
  co_return co_await Migration(name);
}
rt::Task<Value> Scene::Ended(std::string name) {
  co_await world.Until([&]() -> rt::Task<bool> { co_return IsOver(co_await Migration(name)); }, kWithin);
  co_return co_await Migration(name);
}

// ---- what must hold ----
rt::Task<void> Scene::ExpectPhase(std::string phase, std::string name) {
  const Value now = co_await Migration(name);
  Expect(now["status"]["phase"].str() == phase, StrCat("expected ", phase, ", but: ", Said(now)));
}
rt::Task<void> Scene::ExpectClean() {
  Result<practice::JudgeReport> report = co_await world.Judge("default", "orders");
  Expect(report.ok(), "the judge could not read");
  if (!report.ok()) co_return;
  // On a hub of others nothing stamps a workload that does not move: what runs after a move has no epoch.
  if (!world.own_hub()) report->epochs_back = 0;
  // An operator that knows of no deployment makes one: the job begins again where its spec says, and records come
  // twice.
  if (operator_forgot || operator_lied) report->duplicated = report->out_of_order = 0;
  Expect(report->clean(), report->Text());
  Expect(report->out > 0, "nothing came out");
}
rt::Task<bool> Scene::NothingMoves() {
  const auto migrations = co_await world.hub().ListAll(kMigrations);
  co_return migrations.ok() && std::ranges::all_of(migrations->items, [](const Value& one) { return IsOver(one); });
}

rt::Task<std::string> Scene::ProbeThatIsLeft() {
  for (const std::string& cluster : kClusters3) {
    const auto snapshots = co_await world.member(cluster).ListAll(practice::FlinkStateSnapshots());
    for (const Value& snapshot : snapshots->items) {
      // The operator's own, of a stop, are kept with the savepoint that they name.
      const bool ours = kube::NameOf(snapshot).starts_with("orders-baton-");
      if (ours) co_return StrCat(kube::NameOf(snapshot), " in ", cluster);
    }
  }
  co_return "";
}

// Nothing of ours but the records, and the user's template as it was.
rt::Task<void> Scene::ExpectNoResidue() {
  // What its policy wants after a move may be another one.
  co_await world.Until([this] { return NothingMoves(); }, kWithin);
  for (const Value& policy : co_await Overrides())
    Expect(false, StrCat("residue: OverridePolicy ", kube::NameOf(policy)));
  const Value binding = co_await Binding();
  Expect(binding["spec"]["gracefulEvictionTasks"].is_null(), "residue: eviction tasks");
  if (paused_by_a_user) {
    Expect(binding["spec"]["suspension"]["scheduling"].bool_or(false), "the user's own pause is gone");
  } else {
    Expect(binding["spec"]["suspension"].is_null(), "residue: suspension");
  }
  Expect(!binding["metadata"]["annotations"].Has(rollout::kFenceAnnotation), "residue: fence on the binding");
  // An old leader that wakes up may have claimed it for a move that is gone: that is taken back.
  co_await world.Until([&]() -> rt::Task<bool> { co_return (co_await Writer())["spec"]["claim"].is_null(); },
                       minutes(1));
  Expect((co_await Writer())["spec"]["claim"].is_null(), StrCat(kOfTheRecord, "residue: claim"));
  Expect((co_await Writer())["spec"]["stop"].is_null(), StrCat(kOfTheRecord, "residue: stop"));
  const auto migrations = co_await world.hub().ListAll(kMigrations);
  for (const Value& migration : migrations->items) {
    Expect(!IsOver(migration) || migration["metadata"]["finalizers"].empty(), "residue: finalizer on the migration");
  }
  // One that an older leader made after the end is found when the move is looked at once more.
  std::string probe;
  co_await world.Until(
      [&]() -> rt::Task<bool> {
        probe = co_await ProbeThatIsLeft();
        co_return probe.empty();
      },
      minutes(1));
  Expect(probe.empty(), StrCat("residue: FlinkStateSnapshot ", probe));
  const Value now = co_await Template();
  Expect(now["spec"] == template_before_["spec"] || template_edited, "the template's spec was changed");
  Expect(now["metadata"]["annotations"] == template_before_["metadata"]["annotations"] || template_edited,
         "the template's annotations were changed");
  Expect(now["metadata"]["finalizers"] == template_before_["metadata"]["finalizers"],
         "the template's finalizers were changed");
}
rt::Task<Value> Scene::SpecIn(std::string cluster) {
  Value spec = (co_await OnMember(std::move(cluster)))["spec"];
  spec.Edit("flinkConfiguration").Erase("kubernetes.operator.baton.seq");
  co_return spec;
}
// It runs there, alone, as the template says.
rt::Task<void> Scene::ExpectRunsAlone(std::string cluster) {
  const bool runs = co_await world.Until([&] { return RunsIn(cluster); }, minutes(5));
  const Value status = (co_await OnMember(cluster))["status"];
  // An operator that forgot what it knew of a job while its template was edited stops it and asks a person to start it.
  if (!runs && operator_forgot && !status["error"].str().empty()) co_return;
  Expect(runs, StrCat("it runs in '", co_await WhereItRuns(), "' and not in ", cluster, ", where its status is ",
                      status.ToString()));
  // What renders its last spec may stand in a call that was under way when the faults stopped.
  co_await world.Until([&]() -> rt::Task<bool> { co_return co_await SpecIn(cluster) == (co_await Template())["spec"]; },
                       kube::kCallTimeout + seconds(10));
  // A write that was under way when the faults stopped may take until its own deadline; the last render comes after it.
  // So may a held copy in the source, which an old leader deleted and the new one put back, not knowing of it.
  for (const std::string& other : kClusters3) {
    if (other == cluster) continue;
    const bool gone = co_await world.Until([&]() -> rt::Task<bool> { co_return (co_await OnMember(other)).is_null(); },
                                           kube::kCallTimeout + seconds(10));
    Expect(gone, StrCat("residue: the workload in ", other));
  }
  const bool as_told = co_await world.Until(
      [&]() -> rt::Task<bool> { co_return co_await SpecIn(cluster) == (co_await Template())["spec"]; },
      kube::kCallTimeout + seconds(10));
  Expect(as_told, StrCat("the spec in ", cluster, " is not the template's: ", (co_await SpecIn(cluster)).ToString()));
  const Value object = co_await OnMember(cluster);
  Expect((co_await Writer())["spec"]["holder"]["cluster"].str() == cluster, StrCat(kOfTheRecord, "another cluster"));
  Expect((co_await Writer())["spec"]["holder"]["memberUID"].str() == kube::UidOf(object),
         StrCat(kOfTheRecord, "another object"));
}
// Everything that follows from where the migration says it ended.
rt::Task<void> Scene::CheckAll(std::string name) {
  const Value migration = co_await Migration(name);
  const std::string phase(migration["status"]["phase"].str());
  Expect(IsOver(migration) || IsBlocked(migration), StrCat("no end in time: ", Said(migration)));
  if (phase == "Succeeded") co_await ExpectRunsAlone(to);
  const bool back = phase == "Aborted" || phase == "RolledBack" || phase == "Rejected" || phase == "Cancelled";
  if (back) co_await ExpectRunsAlone(from);
  if (!IsOver(migration)) Expect(!migration["status"]["message"].str().empty(), "a person is asked, and not told why");
  co_await world.loop().Sleep(kCommitted);
  // A call that was under way when the faults stopped may take until its own deadline, and taking the finalizer away is
  // the last one of a move.
  co_await world.Until(
      [this]() -> rt::Task<bool> {
        const auto migrations = co_await world.hub().ListAll(kMigrations);
        co_return std::ranges::all_of(
            migrations->items, [](const Value& one) { return !IsOver(one) || one["metadata"]["finalizers"].empty(); });
      },
      kube::kCallTimeout + seconds(10));
  if (IsOver(migration)) co_await ExpectNoResidue();
  co_await ExpectClean();
}

namespace {

// P1, looked at after every step of anything: the practice clusters' jobs themselves, not what anyone says of them.
class OneWriterWatch {
 public:
  OneWriterWatch(World& world, Scene& scene) : world_(world), scene_(scene) {
    for (const std::string& cluster : kClusters3) managers_.push_back(&world.practice(cluster).job_managers());
    world.loop().OnEveryStep([this] {
      uint64_t changes = 1;
      for (const practice::JobManagers* managers : managers_) changes += managers->changes();
      if (changes != changes_) {
        Look();
        scene_.checkers->Look();
      }
      changes_ = changes;
    });
  }
  OneWriterWatch(const OneWriterWatch&) = delete;
  OneWriterWatch& operator=(const OneWriterWatch&) = delete;
  ~OneWriterWatch() { world_.loop().OnEveryStep(nullptr); }

 private:
  void Look() {
    unsigned running = 0;
    for (size_t i = 0; i < kClusters3.size(); ++i) running |= (scene_.JobRuns(kClusters3[i]) ? 1U : 0U) << i;
    if (running == running_) return;
    for (size_t i = 0; i < kClusters3.size(); ++i) {
      const unsigned bit = 1U << i;
      if ((running & bit) != (running_ & bit))
        scene_.Tell(StrCat("cluster ", kClusters3[i]), (running & bit) != 0 ? "its job runs" : "its job stopped");
    }
    running_ = running;
    if (std::popcount(running) < 2 || told_) return;
    told_ = true;
    std::string where;
    for (size_t i = 0; i < kClusters3.size(); ++i) {
      if ((running & (1U << i)) != 0) where += (where.empty() ? "" : " and ") + kClusters3[i];
    }
    scene_.Tell("checker", StrCat("TWO WRITERS: ", where));
    scene_.Expect(false, StrCat("P1: two writers at once: ", where));
  }

  World& world_;
  Scene& scene_;
  std::vector<const practice::JobManagers*> managers_;
  uint64_t changes_ = 0;  // of jobs that have been looked at
  unsigned running_ = 0;
  bool told_ = false;
};

}  // namespace

std::vector<std::string> Play(uint64_t seed, const ScenePlay& play, kube::FaultPlan* plan, Story* story, CallBook* book,
                              HubOf hub, practice::OperatorVersion flink) {
  rt::VirtualLoop loop(seed);
  loop.LimitStepsPerInstant(kStepsPerInstant);
  if (story != nullptr) story->Begin(loop);
  std::vector<std::string> problems;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    World world(loop);
    world.SetFaultPlan(plan);
    if (hub == HubOf::kFailingKarmada) world.SetKarmadaPlan(plan);
    world.SetStory(story);
    world.SetBook(book);
    const Result<void> started =
        co_await world.Start({.clusters = kClusters3, .own_hub = hub == HubOf::kBaton, .flink = flink});
    INVARIANT(started.ok(), started.error().message());
    Scene scene(world, story);
    Checkers checkers(world, nullptr);
    checkers.on_wrong = [&scene](const std::string& problem) { scene.Expect(false, problem); };
    scene.checkers = &checkers;
    world.OnHubRestored([&checkers] { checkers.HubForgets(); });
    {
      rt::Scope following(loop);
      following.Spawn(checkers.Follow());
      OneWriterWatch one_writer(world, scene);
      co_await play(scene);
    }
    world.OnHubRestored(nullptr);
    problems = scene.problems;
    for (const std::string& problem : problems) scene.Tell("checker", problem);
    co_await world.Stop();
  }));
  if (story != nullptr) story->End();
  return problems;
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
