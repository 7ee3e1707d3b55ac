// What people do: start workloads, ask for moves and steer them, drain clusters. Each writes what the command of the
// same name writes.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "federation/resources.h"
#include "json/merge_patch.h"
#include "json/rfc3339.h"
#include "rollout/evacuate.h"
#include "rollout/records.h"
#include "sim/scene.h"
#include "sim/stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture
namespace {

constexpr Duration kStartsWithin = minutes(5);
constexpr Duration kWorksFor = seconds(10);  // some records are behind it when the story begins
constexpr int kTriesMax = 10;                // of an update that others got ahead of
constexpr std::string_view kMove = "move";   // the name of a move that has none

}  // namespace

rt::Task<std::string> SimStage::Other(const Step& step) {
  const std::string_view verb = step.verb->name;
  if (verb == "start") co_return co_await Start(step);
  if (verb == "migrate") co_return co_await Migrate(step);
  if (verb == "abort" || verb == "pause" || verb == "resume" || verb == "approve") co_return co_await Steer(step);
  if (verb == "drain" || verb == "uncordon" || verb == "undrain") co_return co_await Drain(step);
  if (verb == "crash") co_return Crash(step);
  if (verb == "leader") co_return ChangeLeader(step);
  if (verb == "restore") co_return Restore(step);
  if (verb == "backup") {
    backup_ = world_.BackUpHub();
    co_return "";
  }
  if (verb == "until") co_return co_await UntilPhase(step);
  co_return co_await Expectation(step);
}

// A workload of that kind and a policy for it; it begins in the cluster that is named, and may then go to the others.
rt::Task<std::string> SimStage::Start(const Step& step) {
  const Result<Workload> workload = Workload::Of(step.what["kind"].str(), step.what["name"].str());
  if (!workload.ok()) co_return workload.error().message();
  Value object = workload->Manifest();
  if (!step.whole["spec"].is_null()) object.Set("spec", json::ApplyMergePatch(object["spec"], step.whole["spec"]));
  for (const json::Member& one : step.whole["annotations"].members())
    object.Edit("metadata").Edit("annotations").Set(one.key(), one.value());
  std::vector<std::string> all;
  for (const Value& cluster : step.whole["clusters"].items()) all.emplace_back(cluster.str());
  if (all.empty()) all = world_.members();
  const std::vector<std::string> first =
      step.whole["in"].is_null() ? all : std::vector<std::string>{std::string(step.whole["in"].str())};
  const auto placed = co_await world_.Apply(federation::kPropagationPolicies, workload->Policy(first));
  if (!placed.ok()) co_return StrCat("its policy was refused: ", placed.error().message());
  const Result<Value> made = co_await world_.Apply(workload->resource, object);
  if (!made.ok()) co_return StrCat("it was refused: ", made.error().message());
  Wrote("hub", workload->resource, workload->name, *made);
  const bool runs = co_await world_.Until([&]() -> rt::Task<bool> { co_return !RunningIn(world_, *workload).empty(); },
                                          kStartsWithin);
  if (!runs) co_return StrCat(workload->Text(), " never ran");
  co_await world_.loop().Sleep(kWorksFor);
  const auto widened = co_await world_.Apply(federation::kPropagationPolicies, workload->Policy(all));
  co_return widened.ok() ? "" : widened.error().message();
}

rt::Task<std::string> SimStage::Migrate(const Step& step) {
  const Result<Workload> workload = Workload::Of(step.what["kind"].str(), step.what["name"].str());
  if (!workload.ok()) co_return workload.error().message();
  Value spec = json::Object({{"workload", json::Object({{"apiVersion", workload->resource.ApiVersion()},
                                                        {"kind", workload->resource.kind},
                                                        {"name", workload->name.name}})}});
  if (!step.whole["to"].is_null()) spec.Set("target", step.whole["to"]);
  for (const json::Member& one : step.whole["with"].members()) spec.Set(one.key(), one.value());
  const auto made = co_await world_.Apply(
      kMigrations,
      json::Object(
          {{"apiVersion", kMigrations.ApiVersion()},
           {"kind", kMigrations.kind},
           {"metadata", json::Object({{"name", step.whole["as"].str_or(kMove)}, {"namespace", workload->name.ns}})},
           {"spec", spec}}));
  const Value& refused = step.whole["refused"];
  if (refused.is_null()) co_return made.ok() ? "" : StrCat("it was refused: ", made.error().message());
  if (made.ok()) co_return "it was to be refused, and was not";
  const bool meant = made.error().message().find(refused.str()) != std::string::npos;
  co_return meant ? "" : StrCat("refused for another reason: ", made.error().message());
}

rt::Task<std::string> SimStage::Steer(const Step& step) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Result<Value> move = co_await MoveOf(step.what);
    if (!move.ok()) co_return move.error().message();
    Value next = *move;
    Value& spec = next.Edit("spec");
    if (step.Is("abort")) spec.Set("abort", true);
    if (step.Is("pause") || step.Is("resume")) spec.Set("paused", step.Is("pause"));
    if (step.Is("approve")) {
      Value gate = step.whole["step"];
      for (const Value& one : spec["approvals"].items()) {
        const auto given = spec["approved"].items();
        if (gate.is_null() && std::ranges::find(given, one) == given.end()) gate = one;
      }
      if (gate.is_null()) co_return "it waits for no approval";
      spec.Edit("approved").Push(gate);
      spec.Edit("approvedBy")
          .Push(json::Object({{"gate", gate},
                              {"by", step.whole["by"].str_or("ann")},
                              {"at", json::FormatTime(world_.loop().WallNow())}}));
    }
    const Result<Value> written = co_await world_.hub().Update(kMigrations, next);
    if (written.ok()) co_return "";
    if (written.error().kind() != ErrorKind::kConflict) co_return written.error().message();
  }
  co_return "others were ahead of this all the time";
}

// ---- drains ----

rt::Task<std::string> SimStage::Drain(const Step& step) {
  const std::string cluster(step.what.str());
  if (!world_.has_member(cluster)) co_return StrCat("there is no cluster ", step.what.ToString());
  const Value& most = step.whole["max"];
  if (!most.is_null() && most.int_or(0) < 1) co_return "max is a number from 1 on";
  Result<void> done;
  if (step.Is("drain")) {
    done = co_await Evacuate(cluster, false, most);
    // Last: the taint makes an evacuation where there is none.
    if (done.ok()) done = co_await Taint(cluster, true);
  } else {
    done = co_await Taint(cluster, false);
    if (done.ok() && step.Is("undrain")) done = co_await Evacuate(cluster, true, most);
  }
  co_return done.ok() ? "" : done.error().message();
}

rt::Task<Result<void>> SimStage::Taint(std::string cluster, bool tainted) {
  const Value cluster_now = CO_TRY(co_await world_.hub().Get(federation::kClusters, {"", cluster}));
  Value taints = json::Array();
  for (const Value& taint : cluster_now["spec"]["taints"].items()) {
    if (taint["key"].str() != rollout::kDrainTaint) taints.Push(taint);
  }
  if (tainted) taints.Push(json::Object({{"key", rollout::kDrainTaint}, {"effect", "NoExecute"}}));
  CO_TRY(co_await world_.hub().Patch(federation::kClusters, {"", cluster}, kube::PatchType::kMerge,
                                     json::Object({{"spec", json::Object({{"taints", taints}})}})));
  co_return Result<void>();
}

rt::Task<Result<void>> SimStage::Evacuate(std::string cluster, bool home, Value most) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Result<Value> there = co_await world_.hub().Get(rollout::kEvacuations, {"", cluster});
    const bool none = !there.ok() && there.error().kind() == ErrorKind::kNotFound;
    if (!there.ok() && !none) co_return there.error();
    if (none && home) co_return NotFoundError(StrCat("nothing was drained from ", cluster));
    Value next = none ? json::Object({{"apiVersion", rollout::kEvacuations.ApiVersion()},
                                      {"kind", rollout::kEvacuations.kind},
                                      {"metadata", json::Object({{"name", cluster}})},
                                      {"spec", json::Object({{"cluster", cluster}})}})
                      : *there;
    Value& spec = next.Edit("spec");
    if (home) spec.Set("return", true);
    if (!home) spec.Erase("return");
    spec.Set("round", spec["round"].int_or(0) + 1);
    if (!most.is_null()) spec.Set("maxConcurrent", most);
    const Result<Value> written = none ? co_await world_.hub().Create(rollout::kEvacuations, next)
                                       : co_await world_.hub().Update(rollout::kEvacuations, next);
    if (written.ok()) co_return Result<void>();
    const bool again =
        written.error().kind() == ErrorKind::kConflict || written.error().kind() == ErrorKind::kAlreadyExists;
    if (!again) co_return written.error();
  }
  co_return ConflictError("others were ahead of this all the time");
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
