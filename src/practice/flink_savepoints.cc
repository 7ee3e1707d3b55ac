// Savepoints and checkpoints that do not stop the job: by savepointTriggerNonce and checkpointTriggerNonce, and from
// time to time. Where FlinkStateSnapshots are served and not switched off
// (kubernetes.operator.snapshot.resource.enabled), an object is made and practice/flink_snapshots.h does the work.
// Otherwise the legacy way: savepointInfo or checkpointInfo says what is under way, and nothing else is reconciled
// until it is over.
#include <chrono>
#include <utility>

#include "base/strings.h"
#include "json/parse.h"
#include "json/print.h"
#include "practice/flink_operator.h"

namespace baton::practice {

using json::Value;

namespace {

constexpr size_t kTriggerDigits = 32;
constexpr size_t kHistoryMax = 10;

// What differs between the two.
struct SnapshotNames {
  SnapshotKind kind;
  std::string_view name;     // "savepoint"
  std::string_view nonce;    // of spec.job
  std::string_view info;     // of status.jobStatus
  std::string_view last;     // of that
  std::string_view history;  // "": none is kept
  std::string_view format;
  std::string_view periodic;  // of the configuration
  std::string_view last_periodic;
  std::string_view failed;  // event
};

constexpr SnapshotNames kKinds[] = {
    {SnapshotKind::kSavepoint, "savepoint", "savepointTriggerNonce", "savepointInfo", "lastSavepoint",
     "savepointHistory", "CANONICAL", "kubernetes.operator.periodic.savepoint.interval",
     "lastPeriodicSavepointTimestamp", "SavepointError"},
    {SnapshotKind::kCheckpoint, "checkpoint", "checkpointTriggerNonce", "checkpointInfo", "lastCheckpoint", "", "FULL",
     "kubernetes.operator.periodic.checkpoint.interval", "lastPeriodicCheckpointTimestamp", "CheckpointError"}};

int64_t MillisOf(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// The nonce counts as done, whatever came of it.
void RecordNonce(Value& status, std::string_view field, const Value& nonce) {
  Value& reconciliation = status.Edit("reconciliationStatus");
  const bool stable = reconciliation["lastReconciledSpec"] == reconciliation["lastStableSpec"];
  Result<Value> recorded = json::Parse(reconciliation["lastReconciledSpec"].str());
  if (!recorded.ok() || nonce.is_null()) return;
  recorded->Edit("spec").Edit("job").Set(field, nonce);
  reconciliation.Set("lastReconciledSpec", json::Print(*recorded));
  if (stable) reconciliation.Set("lastStableSpec", reconciliation["lastReconciledSpec"]);
}

}  // namespace

// What became of the legacy triggers.
void FlinkOperator::ObserveTriggers(Look& look) {
  for (const SnapshotNames& names : kKinds) {
    Value info = look.status["jobStatus"][names.info];
    const std::string id(info["triggerId"].str());
    if (id.empty()) continue;
    const auto at = triggers_.find(id);
    if (at != triggers_.end() && !at->second->done) continue;
    // An operator that is new does not know what an earlier one asked for.
    const Result<std::string> url = at == triggers_.end()
                                        ? Result<std::string>(UnavailableError("its trigger is not known any more"))
                                        : at->second->url;
    const Value nonce = at == triggers_.end() ? look.spec.raw["job"][names.nonce] : at->second->nonce;
    if (at != triggers_.end()) triggers_.erase(at);
    const std::string type(info["triggerType"].str());
    for (const std::string_view field : {"triggerId", "triggerTimestamp", "triggerType", "formatType"})
      info.Erase(field);
    if (url.ok()) {
      Value made = json::Object(
          {{"timeStamp", MillisOf(api_.loop().WallNow())}, {"triggerType", type}, {"formatType", names.format}});
      if (names.kind == SnapshotKind::kSavepoint) made.Set("location", *url);
      if (type == "MANUAL" && !nonce.is_null()) made.Set("triggerNonce", nonce);
      info.Set(names.last, made);
      if (!names.history.empty()) {
        info.Edit(names.history).Push(made);
        while (info[names.history].size() > kHistoryMax) info.Edit(names.history).EraseAt(0);
      }
    } else {
      events_.Warning(look.object, names.failed, url.error().message());
    }
    look.status.Edit("jobStatus").Set(names.info, info);
    if (type == "MANUAL") RecordNonce(look.status, names.nonce, nonce);
  }
}

// Whether one is due, and why: "MANUAL", "PERIODIC", or "".
std::string FlinkOperator::TriggerDue(const Look& look, std::string_view nonce, std::string_view periodic,
                                      int64_t last_ms) const {
  const std::optional<RecordedSpec> recorded = RecordedIn(look.status);
  if (!recorded || recorded->spec.suspended || look.spec.suspended) return "";
  const Value& wanted = look.spec.raw["job"][nonce];
  if (!wanted.is_null() && wanted != recorded->spec.raw["job"][nonce]) return "MANUAL";
  const Duration every = look.spec.Time(periodic, Duration{0});
  if (every <= Duration{0}) return "";
  int64_t since = last_ms;
  if (since == 0) {
    for (const char c : look.status["jobStatus"]["startTime"].str()) {
      if (c >= '0' && c <= '9') since = (since * 10) + (c - '0');
    }
  }
  return WallTime(milliseconds(since)) + every <= api_.loop().WallNow() ? "PERIODIC" : "";
}

rt::Task<Result<void>> FlinkOperator::TriggerSnapshots(Look& look) {
  for (const SnapshotNames& names : kKinds) {
    JobManager* manager = managers_.Find(look.key);
    if (manager == nullptr || manager->job == nullptr || manager->job->phase() != JobPhase::kRunning) break;
    if (look.status["jobStatus"]["state"].str() != "RUNNING") break;
    const Value& info = look.status["jobStatus"][names.info];
    if (!info["triggerId"].str().empty()) continue;
    const std::string type = TriggerDue(look, names.nonce, names.periodic, info[names.last_periodic].int_or(0));
    if (type.empty()) continue;
    const std::string dir(names.kind == SnapshotKind::kSavepoint ? look.spec.SavepointDir()
                                                                 : look.spec.CheckpointDir());
    const WallTime now = api_.loop().WallNow();
    if (type == "PERIODIC") look.status.Edit("jobStatus").Edit(names.info).Set(names.last_periodic, MillisOf(now));
    if (dir.empty()) {
      events_.Warning(look.object, names.failed, StrCat("there is no directory for a ", names.name));
      RecordNonce(look.status, names.nonce, look.spec.raw["job"][names.nonce]);
      continue;
    }
    if (look.spec.Flag("kubernetes.operator.snapshot.resource.enabled", true) &&
        co_await MakeSnapshotObject(look, std::string(names.name), type)) {
      if (type == "MANUAL") RecordNonce(look.status, names.nonce, look.spec.raw["job"][names.nonce]);
      continue;
    }
    std::string id;
    for (size_t i = 0; i < kTriggerDigits; ++i) id += "0123456789abcdef"[api_.loop().random().Below(16)];
    auto trigger = std::make_shared<Trigger>();
    trigger->nonce = type == "MANUAL" ? look.spec.raw["job"][names.nonce] : Value();
    triggers_[id] = trigger;
    Value& told = look.status.Edit("jobStatus").Edit(names.info);
    told.Set("triggerId", id);
    told.Set("triggerTimestamp", MillisOf(now));
    told.Set("triggerType", type);
    told.Set("formatType", names.format);
    trigger_scope_.Spawn(Await(manager->job->Snapshot(names.kind, dir), trigger, look.key));
  }
  co_return Result<void>();
}

rt::Task<void> FlinkOperator::Await(rt::Task<Result<std::string>> made, std::shared_ptr<Trigger> trigger,
                                    std::string key) {
  trigger->url = co_await std::move(made);
  trigger->done = true;
  controller_.Add(key);
}

// False: there is no such kind here.
rt::Task<bool> FlinkOperator::MakeSnapshotObject(const Look& look, std::string name, std::string type) {
  Value spec =
      json::Object({{"jobReference", json::Object({{"kind", "FlinkDeployment"}, {"name", look.workload.name}})}});
  if (name == "savepoint") {
    const bool dispose = look.spec.Flag("kubernetes.operator.savepoint.dispose-on-delete", false);
    spec.Set("savepoint", json::Object({{"disposeOnDelete", dispose}, {"formatType", "CANONICAL"}}));
  } else {
    spec.Set("checkpoint", json::Object({{"checkpointType", "FULL"}}));
  }
  const std::string full =
      StrCat(look.workload.name, "-", name, "-", ToLower(type), "-", MillisOf(api_.loop().WallNow()));
  Value object = json::Object(
      {{"apiVersion", FlinkStateSnapshots().ApiVersion()},
       {"kind", FlinkStateSnapshots().kind},
       {"metadata", json::Object({{"name", full},
                                  {"namespace", look.workload.ns},
                                  {"labels", json::Object({{"job-reference.kind", "FlinkDeployment"},
                                                           {"job-reference.name", look.workload.name},
                                                           {"snapshot.trigger-type", type},
                                                           {"snapshot.type",
                                                            name == "savepoint" ? "SAVEPOINT" : "CHECKPOINT"}})}})},
       {"spec", spec}});
  co_return (co_await api_.Create(FlinkStateSnapshots(), std::move(object))).ok();
}

}  // namespace baton::practice
