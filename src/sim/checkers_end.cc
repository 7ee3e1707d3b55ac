// What must hold when a story is over and its faults have stopped.
#include <algorithm>

#include "base/strings.h"
#include "federation/resources.h"
#include "interpret/profile.h"
#include "practice/volumes.h"
#include "rollout/records.h"
#include "sim/checkers.h"
#include "sim/scene.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr std::string_view kFlinkNumber = "kubernetes.operator.baton.seq";  // stays when a move is over
constexpr Duration kComesBack = minutes(5);                                 // a process whose operator was just let go

bool Waits(const Value& migration) {
  return Scene::IsOver(migration) || Scene::IsBlocked(migration) || migration["spec"]["paused"].bool_or(false) ||
         migration["status"]["waitingFor"].str().find("approv") != std::string_view::npos ||
         migration["status"]["waitingFor"].str().find("notBefore") != std::string_view::npos ||
         migration["status"]["waitingFor"].str().find("cutover window") != std::string_view::npos;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) StrAppend(text, text.empty() ? "" : " and ", word);
  return text;
}

}  // namespace

rt::Task<void> Checkers::AtTheEnd() {
  co_await UntilAllEnded();
  co_await world_.loop().Sleep(kLastCalls);
  for (const Owned& owned : owned_) {
    co_await CheckRuns(owned);
    co_await CheckJudge(owned);
  }
  const auto moves = co_await world_.hub().ListAll(kMigrations);
  const bool all_over = moves.ok() && std::ranges::all_of(moves->items, Scene::IsOver);
  if (all_over) co_await NothingIsLeft();
}

rt::Task<void> Checkers::NothingIsLeft() {
  co_await CheckNoResidueOnHub();
  for (const Owned& owned : owned_) co_await CheckNoResidueOf(owned);
  for (const std::string& cluster : world_.members()) co_await CheckNoResidueIn(cluster);
}

// L1.
rt::Task<void> Checkers::UntilAllEnded() {
  std::string waiting;
  const bool ended = co_await world_.Until(
      [&]() -> rt::Task<bool> {
        waiting.clear();
        const auto moves = co_await world_.hub().ListAll(kMigrations);
        if (!moves.ok()) co_return false;
        for (const Value& move : moves->items) {
          if (!Waits(move)) StrAppend(waiting, " ", kube::NameOf(move), " (", Scene::Said(move), ")");
        }
        co_return waiting.empty();
      },
      kWithin);
  if (!ended) Wrong("L1", StrCat("half an hour after the last fault these have not ended:", waiting));
}

// Whether somebody is told why it does not run.
rt::Task<bool> Checkers::IsExplained(const Owned& owned, Told least) {
  const auto moves = co_await world_.hub().ListAll(kMigrations, {.ns = owned.workload.name.ns});
  for (const Value& move : moves.ok() ? moves->items : std::vector<Value>()) {
    const Value& of = move["spec"]["workload"];
    const bool its = of["kind"].str() == owned.workload.resource.kind && of["name"].str() == owned.workload.name.name;
    if (its && Scene::IsBlocked(move)) co_return true;
    if (its && least == Told::kWaits && !Scene::IsOver(move) && !move["status"]["waitingFor"].str().empty())
      co_return true;
  }
  const Value binding = co_await world_.OnHub(federation::kResourceBindings,
                                              StrCat(owned.workload.name.ns, "/", owned.workload.BindingName()));
  if (federation::FindCondition(binding["status"], "StrayWriter")["status"].str() == "True") co_return true;
  // What its cluster did not take, and why: as after a hub was restored.
  for (const Value& item : binding["status"]["aggregatedStatus"].items()) {
    if (least == Told::kWaits && !item["applied"].bool_or(true) && !item["appliedMessage"].str().empty())
      co_return true;
  }
  // It failed by itself: its own operator says so.
  for (const std::string& cluster : world_.members()) {
    const practice::Job* job = ProcessOf(world_.practice(cluster), owned.workload.resource.kind, owned.key);
    if (job != nullptr && job->phase() == practice::JobPhase::kFailed) co_return true;
    const Value object = co_await world_.OnMember(cluster, owned.workload.resource, owned.key);
    if (least == Told::kWaits && !object["status"]["error"].str().empty()) co_return true;
  }
  co_return false;
}

// I3.
rt::Task<void> Checkers::CheckRuns(const Owned& owned) {
  if (!IsMeantToRun(owned)) co_return;
  const auto one = [&]() -> rt::Task<bool> { co_return RunningIn(world_, owned.workload).size() == 1; };
  // A process that is being started again by its own operator is none for a moment.
  if (co_await one() || co_await IsExplained(owned, Told::kAsks) || co_await world_.Until(one, kComesBack)) co_return;
  const std::vector<std::string> where = RunningIn(world_, owned.workload);
  Wrong("I3", StrCat(owned.workload.Text(),
                     where.empty() ? " runs nowhere, and no status says why" : StrCat(" runs in ", Joined(where))));
}

// I1 as the sink saw it, and I2.
rt::Task<void> Checkers::CheckJudge(const Owned& owned) {
  if (!owned.ran) co_return;
  const Result<practice::JudgeReport> report =
      co_await world_.Judge(owned.workload.name.ns, owned.workload.JudgeName());
  if (!report.ok()) {
    Wrong("I2", StrCat("the judge could not read ", owned.workload.Text(), ": ", report.error().message()));
    co_return;
  }
  if (report->overlap_count > 0)
    Wrong("I1", StrCat("two writers of ", owned.workload.Text(), " in its sink:\n", report->Text()));
  const bool held = report->lost == 0 && report->wrong_state == 0 && report->invented == 0 && report->unreadable == 0 &&
                    report->epochs_back == 0;
  const bool once = report->duplicated == 0 && report->out_of_order == 0;
  if (!held || (owned.workload.ExactlyOnce() && !once))
    Wrong("I2", StrCat("records of ", owned.workload.Text(), ":\n", report->Text()));
  if (report->out == 0) Wrong("I2", StrCat("nothing came out of ", owned.workload.Text()));
}

// I4.
rt::Task<void> Checkers::CheckNoResidueOnHub() {
  const auto overrides = co_await world_.hub().ListAll(federation::kOverridePolicies);
  for (const Value& policy : overrides.ok() ? overrides->items : std::vector<Value>()) {
    if (policy["metadata"]["annotations"].Has(rollout::kStateAnnotation) ||
        kube::NameOf(policy).starts_with(rollout::OverrideName("")))
      Wrong("I4", StrCat("residue: OverridePolicy ", kube::NameOf(policy)));
  }
  const auto migrations = co_await world_.hub().ListAll(kMigrations);
  for (const Value& migration : migrations.ok() ? migrations->items : std::vector<Value>()) {
    if (!migration["metadata"]["finalizers"].empty())
      Wrong("I4", StrCat("residue: a finalizer on migration ", kube::NameOf(migration)));
  }
  const auto writers = co_await world_.hub().ListAll(kWriters);
  for (const Value& writer : writers.ok() ? writers->items : std::vector<Value>()) {
    for (const std::string_view field : {"claim", "stop"}) {
      if (!writer["spec"][field].is_null())
        Wrong("I4", StrCat("residue: ", field, " in Writer ", kube::NameOf(writer)));
    }
  }
}

rt::Task<void> Checkers::CheckNoResidueOf(const Owned& owned) {
  if (owned.object.is_null()) co_return;
  const Workload& workload = owned.workload;
  const std::string text = workload.Text();
  const Value now = co_await world_.OnHub(workload.resource, owned.key);
  for (const auto& [field, was, is] :
       {std::tuple("spec", owned.object["spec"], now["spec"]),
        std::tuple("annotations", owned.object["metadata"]["annotations"], now["metadata"]["annotations"]),
        std::tuple("finalizers", owned.object["metadata"]["finalizers"], now["metadata"]["finalizers"])}) {
    if (was != is)
      Wrong("I4", StrCat("the ", field, " of template ", text, " are not as their owner wrote them: ", is.ToString()));
  }
  const Value binding =
      co_await world_.OnHub(federation::kResourceBindings, StrCat(workload.name.ns, "/", workload.BindingName()));
  if (!meddles_) {
    if (!binding["spec"]["suspension"].is_null())
      Wrong("I4", StrCat("residue: the binding of ", text, " is suspended"));
    if (!binding["spec"]["gracefulEvictionTasks"].is_null())
      Wrong("I4", StrCat("residue: eviction tasks on the binding of ", text));
  }
  if (binding["metadata"]["annotations"].Has(rollout::kFenceAnnotation))
    Wrong("I4", StrCat("residue: a fence on the binding of ", text));
  const std::vector<std::string> where = RunningIn(world_, workload);
  if (where.size() != 1) co_return;
  Value spec = (co_await world_.OnMember(where[0], workload.resource, owned.key))["spec"];
  if (!spec["flinkConfiguration"].is_null()) spec.Edit("flinkConfiguration").Erase(kFlinkNumber);
  // A Job's selector and labels are its cluster's own; a new version may have failed, and the old one goes on.
  const bool as_template = workload.resource.kind != "Job" && !meddles_ &&
                           owned.object["metadata"]["annotations"]["rollout.karmada.io/strategy"].is_null();
  if (as_template && spec != now["spec"])
    Wrong("I4", StrCat("the spec of ", text, " in ", where[0], " is not the template's: ", spec.ToString()));
  for (const std::string& cluster : world_.members()) {
    const Value object = co_await world_.OnMember(cluster, workload.resource, owned.key);
    if (cluster != where[0] && !object.is_null()) Wrong("I4", StrCat("residue: ", text, " in ", cluster));
  }
}

rt::Task<void> Checkers::CheckNoResidueIn(std::string cluster) {
  static const kube::Resource kConfigMaps{.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};
  for (const kube::Resource& resource :
       {practice::VolumeSnapshots(), practice::VolumeSnapshotContents(), kConfigMaps}) {
    const auto beside =
        co_await world_.member(cluster).ListAll(resource, {.label_selector = std::string(interpret::kBesideLabel)});
    for (const Value& object : beside.ok() ? beside->items : std::vector<Value>())
      Wrong("I4", StrCat("residue: ", resource.kind, " ", kube::NameOf(object), " in ", cluster));
  }
  const auto snapshots = co_await world_.member(cluster).ListAll(practice::FlinkStateSnapshots());
  for (const Value& snapshot : snapshots.ok() ? snapshots->items : std::vector<Value>()) {
    // The operator's own, of a stop, are kept with the savepoint that they name.
    if (kube::NameOf(snapshot).find("-baton-") != std::string_view::npos)
      Wrong("I4", StrCat("residue: FlinkStateSnapshot ", kube::NameOf(snapshot), " in ", cluster));
  }
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
