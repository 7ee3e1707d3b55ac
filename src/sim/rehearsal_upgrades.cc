// New versions in a rehearsal: workloads that opted in to blue-green (rollout/upgrade.h) get new versions again and
// again while things go wrong, and once more when all is well. What must hold, seen from outside: what has ever run has
// one version for as long as it is there, so that nothing is changed in place; afterwards each workload runs its newest
// version, or a move that was to bring it says that it failed.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "federation/revision.h"
#include "json/json_patch.h"
#include "json/pointer.h"
#include "rollout/ask.h"
#include "rollout/upgrade.h"
#include "sim/rehearsal_stage.h"
#include "sim/workloads.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr uint64_t kEditsMax = 3;                   // after the first one, while things go wrong
constexpr int64_t kNextEditMs = 60'000;             // at most
constexpr uint64_t kBackOneIn = 4;                  // such edits that bring the version before
constexpr uint64_t kLabelOneIn = 4;                 // or change a label, which is released in place
constexpr uint64_t kWithinOneIn = 2;                // such edits that come while a move is under way
constexpr uint64_t kLastOneIn = 2;                  // days that end with one more, when all is well
constexpr Duration kLastWithin = minutes(15);       // that one
constexpr Duration kReleasedWithin = minutes(2);    // a label; a record of a cluster that was left
constexpr Duration kWatchAgain = milliseconds(10);  // the cluster ended it
constexpr std::string_view kLabel = "version-team";

// Where a template names the version of what it runs.
json::Pointer VersionAt(std::string_view kind) {
  if (kind == "FlinkDeployment") return {"spec", "image"};
  if (kind == "KafkaConnector") return {"spec", "class"};
  if (kind == "Cluster") return {"spec", "imageName"};
  return {"spec", "template", "spec", "containers", "0", "image"};
}

std::string VersionOf(const Value& object) {
  const Value* version = json::Find(object, VersionAt(kube::KindOf(object)));
  return version == nullptr ? "" : std::string(version->str());
}

std::string LabelOf(const Value& object) { return std::string(object["metadata"]["labels"][kLabel].str()); }

bool IsOf(const Value& move, const FleetWorkload& workload) {
  const Value& of = move["spec"]["workload"];
  return of["kind"].str() == kube::KindOf(workload.object) && of["name"].str() == kube::NameOf(workload.object) &&
         kube::NamespaceOf(move) == kube::NamespaceOf(workload.object);
}

}  // namespace

const Value& RehearsalStage::TemplateOf(const FleetWorkload& workload) const {
  const auto edited = templates_.find(&workload);
  return edited == templates_.end() ? workload.object : edited->second;
}

// What is in git is changed first, so that a bot which applies it does not bring back what was before.
rt::Task<void> RehearsalStage::Edit(const FleetWorkload& workload, std::string patch) {
  const Value operations = Yaml(patch);
  const Result<Value> edited = json::ApplyJsonPatch(TemplateOf(workload), operations);
  Expect(edited.ok(), edited.ok() ? "" : edited.error().message());
  if (!edited.ok()) co_return;
  templates_[&workload] = *edited;
  story_.Tell("person", StrCat("edits ", workload.Name(), ": ", operations.ToString()));
  const Result<Value> taken = co_await world_.hub().Patch(ResourceOf(workload), kube::Name::FromKey(workload.Key()),
                                                          kube::PatchType::kJson, operations);
  Expect(taken.ok(), taken.ok() ? "" : StrCat("the edit was not taken: ", taken.error().message()));
  const Result<Workload> owned = Workload::Of(kube::KindOf(workload.object), workload.Key());
  if (taken.ok() && owned.ok()) checkers_.Owns(*owned, *taken);
}

rt::Task<void> RehearsalStage::NewVersion(const FleetWorkload& workload, bool back) {
  const std::string at = VersionAt(kube::KindOf(workload.object)).ToString();
  const std::string next = back ? versions_before_[&workload] : StrCat("practice:", ++versions_);
  versions_before_[&workload] = VersionOf(TemplateOf(workload));
  return Edit(workload, StrCat("[{op: add, path: ", at, ", value: '", next, "'}]"));
}

// The next move then follows on this one at once, while what that leaves is still on its way out.
rt::Task<void> RehearsalStage::UntilOneVerifies() {
  [[maybe_unused]] const bool verifies = co_await world_.Until(
      [this]() -> rt::Task<bool> {
        co_return std::ranges::any_of(co_await Moves(),
                                      [](const Value& move) { return move["status"]["phase"].str() == "Verifying"; });
      },
      kDrainEnds);
}

rt::Task<void> RehearsalStage::Edits() {
  const uint64_t edits = chance_.Below(kEditsMax + 1);
  for (uint64_t i = 0; i < edits; ++i) {
    if (chance_.OneIn(kWithinOneIn)) {
      co_await UntilOneVerifies();
    } else {
      co_await chance_.Moment(world_.loop(), kNextEditMs);
    }
    const FleetWorkload& one = *workloads_[chance_.Below(workloads_.size())];
    ++result_.day.meddlings;
    if (chance_.OneIn(kLabelOneIn)) {
      // The labels may not be there: then they are made, and there are no others.
      const bool none = !TemplateOf(one)["metadata"]["labels"].is_object();
      co_await Edit(one, StrCat("[", none ? "{op: add, path: /metadata/labels, value: {}}, " : "",
                                "{op: add, path: /metadata/labels/", kLabel, ", value: t", i, "}]"));
    } else {
      const bool back = versions_before_.contains(&one) && chance_.OneIn(kBackOneIn);
      co_await NewVersion(one, back);
    }
  }
}

// One that is under way when the time has come.
rt::Task<void> RehearsalStage::AbortsOne() {
  co_await chance_.Moment(world_.loop(), kNextEditMs);
  for (const Value& move : co_await Moves()) {
    if (Scene::IsOver(move)) continue;
    ++result_.day.meddlings;
    story_.Tell("person", StrCat("aborts ", kube::NameOf(move)));
    [[maybe_unused]] const auto asked = co_await world_.hub().Patch(
        kMigrations, kube::Name::Of(move), kube::PatchType::kMerge, Yaml("{spec: {abort: true}}"));
    co_return;
  }
}

// What has run as one version is never anything else: neither changed in place, nor started again as another one.
void RehearsalStage::VersionSeen(const std::string& cluster, const Value& object) {
  const auto profile = profiles_.ForKind(kube::ApiVersionOf(object), kube::KindOf(object));
  if (profile == nullptr || profile->IsHeld(object)) return;
  const std::string version = VersionOf(object);
  const auto [at, first] = ran_as_.try_emplace(std::string(kube::UidOf(object)), version);
  if (first || at->second == version) return;
  const std::string before = std::exchange(at->second, version);
  Expect(false, StrCat(kube::NameOf(object), " in ", cluster, " was changed in place, from ", before, " to ", version));
}

rt::Task<void> RehearsalStage::FollowVersions(std::string cluster, kube::Resource resource) {
  std::string version;
  while (true) {
    auto watch = co_await world_.member(cluster).OpenWatch({.resource = resource, .resource_version = version},
                                                           rt::Deadline::After(world_.loop(), kube::kCallTimeout));
    if (!watch.ok()) version.clear();
    while (watch.ok()) {
      const auto changes = co_await (*watch)->Next();
      if (!changes.ok()) break;
      for (const kube::Change& change : *changes) {
        version = kube::VersionOf(change.object);
        const bool is = change.type == kube::ChangeType::kAdded || change.type == kube::ChangeType::kModified;
        if (is) VersionSeen(cluster, change.object);
      }
    }
    co_await world_.loop().Sleep(kWatchAgain);
  }
}

rt::Task<void> RehearsalStage::FollowUpgrades() {
  rt::Scope scope(world_.loop());
  std::vector<std::string> followed;
  for (const FleetWorkload* one : workloads_) {
    const kube::Resource& resource = ResourceOf(*one);
    if (std::ranges::find(followed, resource.plural) != followed.end()) continue;
    followed.push_back(resource.plural);
    for (const std::string& name : names_) scope.Spawn(FollowVersions(name, resource));
  }
  co_await scope.Join();
}

// In the cluster where it runs; "": it runs in none, or in several.
std::string RehearsalStage::WhereItRuns(const FleetWorkload& workload) {
  std::string where;
  for (const std::string& name : names_) {
    if (!Runs(name, workload)) continue;
    if (!where.empty()) return "";
    where = name;
  }
  return where;
}

// It runs its newest version, or the move that was to bring it has failed: it is not tried again before the next edit.
rt::Task<bool> RehearsalStage::IsUpgraded(const FleetWorkload& workload, bool& newest) {
  const Value now = co_await world_.OnHub(ResourceOf(workload), workload.Key());
  const std::string where = WhereItRuns(workload);
  if (where.empty()) co_return false;
  const Value there = co_await world_.OnMember(where, ResourceOf(workload), workload.Key());
  newest = VersionOf(there) == VersionOf(now);
  bool failed = false;
  int refused = 0;
  const std::string generation = StrCat("@", now["metadata"]["generation"].int_or(0));
  for (const Value& move : co_await Moves()) {
    if (!IsOf(move, workload)) continue;
    if (!Scene::IsOver(move)) co_return false;
    const bool of_this = move["metadata"]["annotations"][rollout::kUpgradeMark].str().ends_with(generation);
    const std::string_view phase = move["status"]["phase"].str();
    if (of_this && phase == "Rejected") ++refused;
    failed = failed || (of_this && phase != "Succeeded" && phase != "Rejected") || refused >= rollout::kRefusalsMax;
  }
  co_return newest || failed;
}

rt::Task<void> RehearsalStage::UpgradesEnded() {
  bool held = false;
  bool all_newest = false;
  std::string waits;
  const auto over = [&]() -> rt::Task<bool> {
    held = co_await Held();
    if (held) co_return true;
    all_newest = true;
    waits.clear();
    for (const FleetWorkload* one : workloads_) {
      bool newest = false;
      if (!co_await IsUpgraded(*one, newest)) StrAppend(waits, " ", one->Name());
      all_newest = all_newest && newest;
    }
    co_return waits.empty();
  };
  const bool ended = co_await world_.Until(over, kDrainEnds);
  const std::string moves = co_await MovesByPhase();
  result_.day.end = StrCat(held ? "Held" : all_newest ? "Upgraded" : "Kept", " (", moves, ")");
  Expect(ended, StrCat("neither upgraded nor told as failed:", waits, " (", moves, ")"));
}

// Its records tell of the cluster where it runs alone, and what is passed through has arrived there.
rt::Task<void> RehearsalStage::ExpectUpgraded(const FleetWorkload& workload) {
  const std::string where = co_await ExpectAlone(workload, "", result_.day.end);
  std::string wrong;
  const auto released = [&]() -> rt::Task<bool> {
    wrong.clear();
    for (const std::string& cluster : federation::ClustersWithRelease(co_await BindingOf(workload))) {
      if (cluster != where) StrAppend(wrong, " a release is recorded for ", cluster);
    }
    const Value now = co_await world_.OnHub(ResourceOf(workload), workload.Key());
    const Value there = co_await world_.OnMember(where, ResourceOf(workload), workload.Key());
    const bool newest = VersionOf(there) == VersionOf(now);
    if (newest && LabelOf(there) != LabelOf(now)) StrAppend(wrong, " its label is ", LabelOf(there));
    co_return wrong.empty();
  };
  Expect(where.empty() || co_await world_.Until(released, kReleasedWithin), StrCat(workload.Name(), ":", wrong));
}

// When all is well a new version arrives, whatever came before it.
rt::Task<void> RehearsalStage::LastUpgrade() {
  const FleetWorkload& one = *workloads_.front();
  const std::string before = WhereItRuns(one);
  co_await NewVersion(one, false);
  const auto arrived = [&]() -> rt::Task<bool> {
    bool newest = false;
    co_return co_await IsUpgraded(one, newest) && newest;
  };
  Expect(co_await world_.Until(arrived, kLastWithin), StrCat(one.Name(), ": the last version did not arrive"));
  Expect(WhereItRuns(one) != before, StrCat(one.Name(), ": the last version came in place"));
  co_await ExpectUpgraded(one);
  co_await ExpectJudge(one);
  co_await ExpectNothingIsLeft();
}

// An edit may have been cut off when the faults stopped, and a bot that had read what is in git before one may have
// brought that back. From here on nobody edits it but for the last upgrade.
rt::Task<void> RehearsalStage::SettleTemplate(const FleetWorkload& workload, bool gitops) {
  if (gitops) {
    const auto applied = co_await world_.hub().Apply(ResourceOf(workload), TemplateOf(workload),
                                                     {.field_manager = "gitops", .force = true});
    Expect(applied.ok(), applied.ok() ? "" : StrCat("what is in git was not taken: ", applied.error().message()));
  }
  const Value now = co_await world_.OnHub(ResourceOf(workload), workload.Key());
  templates_[&workload] = now;
  const Result<Workload> owned = Workload::Of(kube::KindOf(workload.object), workload.Key());
  if (owned.ok()) checkers_.Owns(*owned, now);
}

rt::Task<void> RehearsalStage::PlayUpgrades(const RehearsalOptions& options, bool gitops) {
  rt::Scope following(world_.loop());
  following.Spawn(FollowUpgrades());
  if (options.faults) chance_.Begin();
  co_await NewVersion(*workloads_.front(), false);
  if (options.faults) co_await Disturb(gitops);
  for (const FleetWorkload* one : workloads_) co_await SettleTemplate(*one, gitops);
  co_await UpgradesEnded();
  const bool held = result_.day.end.starts_with("Held");
  if (!held) co_await ExpectNothingMoves();
  for (const FleetWorkload* one : workloads_) {
    if (!held) co_await ExpectUpgraded(*one);
    co_await ExpectJudge(*one);
  }
  if (!held) co_await ExpectNothingIsLeft();
  if (!held && chance_.OneIn(kLastOneIn)) co_await LastUpgrade();
  following.CancelAll();
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
