// Whether a rehearsal has come to its end, and what must hold then.
#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/go_duration.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"
#include "sim/rehearsal_stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture, or owned by
// rt::Do
namespace {

constexpr Duration kBlockedFor = minutes(1);  // a move that asks a person for that long has ended as far as we go
constexpr Duration kStuckFor = minutes(5);    // likewise a drain

}  // namespace

rt::Task<std::vector<Value>> RehearsalStage::Moves() {
  Result<kube::Listed> listed = co_await world_.hub().ListAll(kMigrations);
  co_return listed.ok() ? std::move(listed->items) : std::vector<Value>();
}

// All that is under way has asked a person for a while.
rt::Task<bool> RehearsalStage::Held() {
  bool any = false;
  bool all = true;
  for (const Value& move : co_await Moves()) {
    if (Scene::IsOver(move)) continue;
    any = true;
    all = all && Scene::IsBlocked(move);
  }
  if (!any || !all) blocked_.reset();
  if (any && all && !blocked_) blocked_ = world_.loop().Now();
  co_return blocked_.has_value() && world_.loop().Now() - *blocked_ > kBlockedFor;
}

rt::Task<void> RehearsalStage::Ended() {
  const bool drain = !wish_.drain.empty();
  bool held = false;
  const auto over = [&]() -> rt::Task<bool> {
    held = co_await Held();
    if (held) co_return true;
    if (!drain) {
      const Value move = co_await world_.OnHub(
          kMigrations, StrCat(kube::NamespaceOf(workloads_.front()->object), "/", kRehearsedMove));
      result_.day.end = move["status"]["phase"].str();
      result_.said = move["status"]["message"].str();
      co_return Scene::IsOver(move);
    }
    const Value status = (co_await world_.OnHub(rollout::kEvacuations, wish_.drain))["status"];
    result_.day.end = status["phase"].str();
    result_.said = status["message"].str();
    // A cluster that was away may be somewhere to go again.
    if (result_.day.end != "Stuck") stuck_.reset();
    if (result_.day.end == "Stuck" && !stuck_) stuck_ = world_.loop().Now();
    co_return result_.day.end == "Drained" || (stuck_ && world_.loop().Now() - *stuck_ > kStuckFor);
  };
  const bool ended = co_await world_.Until(over, drain ? kDrainEnds : kMoveEnds);
  if (held) result_.day.end = "Held";
  Expect(ended, StrCat("no end in time: ", result_.day.end, ": ", result_.said));
  Duration longest{};
  for (const Value& move : co_await Moves()) {
    const std::string_view downtime = move["status"]["downtime"].str();
    const Result<Duration> length = json::ParseDuration(downtime);
    if (!length.ok() || *length < longest) continue;
    longest = *length;
    result_.downtime = downtime;
  }
  if (drain) StrAppend(result_.day.end, " (", co_await MovesByPhase(), ")");
}

// "1 Aborted, 3 Succeeded"
rt::Task<std::string> RehearsalStage::MovesByPhase() {
  std::map<std::string, int> phases;
  for (const Value& move : co_await Moves()) ++phases[std::string(move["status"]["phase"].str())];
  std::string moves;
  for (const auto& [phase, count] : phases) StrAppend(moves, moves.empty() ? "" : ", ", count, " ", phase);
  co_return moves;
}

rt::Task<void> RehearsalStage::CheckAll() {
  const bool held = result_.day.end.starts_with("Held");
  const std::string end = std::string(Split(result_.day.end, ' ')[0]);
  for (const FleetWorkload* one : workloads_) {
    if (!held) co_await ExpectRunsAlone(*one, end);
    co_await ExpectJudge(*one);
  }
  if (!held) co_await ExpectNothingIsLeft();
}

rt::Task<void> RehearsalStage::ExpectNothingIsLeft() {
  co_await world_.Until(
      [this]() -> rt::Task<bool> {
        co_return std::ranges::all_of(co_await Moves(), [](const Value& move) {
          return !Scene::IsOver(move) || move["metadata"]["finalizers"].empty();
        });
      },
      kube::kCallTimeout + seconds(10));
  for (const Value& move : co_await Moves()) {
    Expect(!Scene::IsOver(move) || move["metadata"]["finalizers"].empty(),
           StrCat("left: the finalizer of migration ", kube::NameOf(move)));
  }
  const Result<kube::Listed> overrides = co_await world_.hub().ListAll(federation::kOverridePolicies);
  for (const Value& policy : overrides.ok() ? overrides->items : std::vector<Value>()) {
    Expect(!kube::NameOf(policy).starts_with(rollout::OverrideName("")),
           StrCat("left: OverridePolicy ", kube::NameOf(policy)));
  }
  for (const FleetWorkload* one : workloads_) {
    // One that came late, of a leader that is gone, is taken away when it is seen.
    const auto unlocked = [&]() -> rt::Task<bool> {
      const Value binding = co_await BindingOf(*one);
      co_return binding["spec"]["gracefulEvictionTasks"].is_null() && binding["spec"]["suspension"].is_null();
    };
    Expect(co_await world_.Until(unlocked, seconds(30)), StrCat(one->Name(), ": left: the lock of its binding"));
  }
  co_await world_.loop().Sleep(kLastCalls);
  co_await checkers_.NothingIsLeft();
}

// The cluster that it left has again what it had. For a moment two may run; that is noticed, not prevented.
rt::Task<void> RehearsalStage::Restore(const FleetWorkload& workload, Value before) {
  before = federation::Pruned(std::move(before));
  ++result_.day.restores;
  story_.Tell(StrCat("cluster ", workload.cluster), "is restored from a backup");
  const auto made = co_await world_.member(workload.cluster).Create(ResourceOf(workload), before);
  Expect(made.ok(), made.ok() ? "" : StrCat("not restored: ", made.error().message()));
  const auto held = [&]() -> rt::Task<bool> {
    const auto profile = profiles_.ForKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
    const Value now = co_await world_.OnMember(workload.cluster, ResourceOf(workload), workload.Key());
    // Or it is removed: the cluster may not have told yet that it had gone before.
    co_return profile != nullptr && (now.is_null() || profile->IsHeld(now)) && !Runs(workload.cluster, workload);
  };
  Expect(co_await world_.Until(held, minutes(2)),
         StrCat(workload.Name(), ": a second writer came back, and nobody stops it"));
  Expect(co_await world_.Until([&]() -> rt::Task<bool> { co_return wish_.to.empty() || Runs(wish_.to, workload); },
                               minutes(2)),
         StrCat(workload.Name(), ": a second writer came back, and the first one was stopped"));
}

// What was moved away is moved back, one after the other, as `baton drain --return` does.
rt::Task<void> RehearsalStage::GoHome() {
  story_.Tell("person", StrCat("takes the taint off ", wish_.drain, ", and wants everything home"));
  const auto patched = [this](kube::Resource resource, std::string_view patch) -> rt::Task<void> {
    const auto taken =
        co_await world_.hub().Patch(std::move(resource), {"", wish_.drain}, kube::PatchType::kMerge, Yaml(patch));
    Expect(taken.ok(), taken.ok() ? "" : StrCat("not taken: ", taken.error().message()));
  };
  co_await patched(federation::kClusters, "{spec: {taints: null}}");
  co_await patched(rollout::kEvacuations, "{spec: {return: true}}");
  Value status;
  const bool home = co_await world_.Until(
      [&]() -> rt::Task<bool> {
        status = (co_await world_.OnHub(rollout::kEvacuations, wish_.drain))["status"];
        co_return status["phase"].str() == "Returned";
      },
      kDrainEnds);
  Expect(home, StrCat("not home in time: ", status.ToString().substr(0, kStatusShown)));
  for (const FleetWorkload* one : workloads_) {
    co_await ExpectAlone(*one, wish_.drain, "home again");
    co_await ExpectJudge(*one);
  }
  result_.day.end = StrCat("Returned after ", result_.day.end);
  co_await ExpectNothingIsLeft();
}

rt::Task<void> RehearsalStage::ExpectRunsAlone(const FleetWorkload& workload, std::string end) {
  const bool drains = !wish_.drain.empty();
  const std::string& meant = end == "Succeeded" ? wish_.to : workload.cluster;
  const std::string where = co_await ExpectAlone(workload, drains ? "" : meant, end);
  if (drains)
    Expect(end != "Drained" || where != wish_.drain, StrCat(workload.Name(), ": it runs in the drained cluster"));
}

// In one cluster, and in that one; "": in any. Gives where.
rt::Task<std::string> RehearsalStage::ExpectAlone(const FleetWorkload& workload, std::string meant, std::string end) {
  std::string where;
  const auto alone = [&]() -> rt::Task<bool> {
    where.clear();
    size_t objects = 0;
    for (const std::string& name : names_) {
      if (Runs(name, workload)) where += (where.empty() ? "" : "+") + name;
      if (!(co_await world_.OnMember(name, ResourceOf(workload), workload.Key())).is_null()) ++objects;
    }
    co_return objects == 1 && !where.empty() && where.find('+') == std::string::npos;
  };
  const bool holds = co_await world_.Until(alone, minutes(5));
  Expect(holds, StrCat(workload.Name(), ": it does not run in one cluster, alone, but in '", where, "'"));
  Expect(meant.empty() || where == meant,
         StrCat(workload.Name(), ": ", end, ", and it runs in '", where, "', not in ", meant));
  co_return where;
}

rt::Task<void> RehearsalStage::ExpectJudge(const FleetWorkload& workload) {
  std::string name(kube::NameOf(workload.object));
  if (ResourceOf(workload) != practice::FlinkDeployments())
    StrAppend(name, ".", ToLower(kube::KindOf(workload.object)));
  Result<practice::JudgeReport> report = co_await world_.Judge(std::string(kube::NamespaceOf(workload.object)), name);
  Expect(report.ok(), StrCat(workload.Name(), ": the judge could not read"));
  if (!report.ok()) co_return;
  if (!world_.own_hub()) report->epochs_back = 0;  // as in Scene::ExpectClean
  Expect(report->out > 0, StrCat(workload.Name(), ": nothing came out"));
  const auto profile = profiles_.ForKind(kube::ApiVersionOf(workload.object), kube::KindOf(workload.object));
  const bool exact = profile != nullptr && profile->guarantee() == "ExactlyOnce";
  const bool held = report->lost == 0 && report->overlap_count == 0 && report->wrong_state == 0 &&
                    report->invented == 0 && report->unreadable == 0 && report->epochs_back == 0;
  const bool well = exact ? report->clean() : held;
  Expect(well, StrCat(workload.Name(), ": ", report->Text()));
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
