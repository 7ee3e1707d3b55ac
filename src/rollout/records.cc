// Values of the handoff as objects, and back.
#include "rollout/records.h"

#include <algorithm>
#include <utility>

#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/strings.h"
#include "json/go_duration.h"
#include "json/parse.h"
#include "json/rfc3339.h"
#include "rollout/windows.h"

namespace baton::rollout {
namespace {

using json::Value;

Value HolderJson(const Holder& holder) {
  Value value = json::Object({{"cluster", holder.cluster}, {"clusterID", holder.cluster_id}});
  if (!holder.member_uid.empty()) value.Set("memberUID", holder.member_uid);
  return value;
}

Holder ReadHolder(const Value& value) {
  return {.cluster = std::string(value["cluster"].str()),
          .cluster_id = std::string(value["clusterID"].str()),
          .member_uid = std::string(value["memberUID"].str())};
}

Intent ReadIntent(std::string_view name) {
  return name == "Abort" ? Intent::kAbort : (name == "Withdraw" ? Intent::kWithdraw : Intent::kForward);
}

Value ReceiptJson(const Receipt& receipt) {
  Value value = json::Object({{"seq", receipt.seq},
                              {"migrationUID", receipt.migration_uid},
                              {"attempt", receipt.attempt},
                              {"from", receipt.from},
                              {"fromID", receipt.from_id},
                              {"fromUID", receipt.from_uid},
                              {"to", receipt.to},
                              {"toID", receipt.to_id},
                              {"state", receipt.capture},
                              {"how", receipt.how},
                              {"previousHash", receipt.previous}});
  if (!receipt.attested_by.empty()) value.Set("attestedBy", receipt.attested_by);
  if (!receipt.why.empty()) value.Set("reason", receipt.why);
  if (!receipt.at.empty()) value.Set("time", receipt.at);
  if (!receipt.hash.empty()) value.Set("hash", receipt.hash);
  return value;
}

Receipt ReadReceipt(const Value& value) {
  const auto text = [&](std::string_view field) { return std::string(value[field].str()); };
  return {.seq = value["seq"].int_or(0),
          .migration_uid = text("migrationUID"),
          .attempt = value["attempt"].int_or(0),
          .from = text("from"),
          .from_id = text("fromID"),
          .from_uid = text("fromUID"),
          .to = text("to"),
          .to_id = text("toID"),
          .capture = text("state"),
          .how = text("how"),
          .attested_by = text("attestedBy"),
          .why = text("reason"),
          .at = text("time"),
          .previous = text("previousHash"),
          .hash = text("hash")};
}

Value ClaimJson(const Claim& claim) {
  Value value = json::Object({{"migration", claim.migration},
                              {"migrationUID", claim.migration_uid},
                              {"attempt", claim.attempt},
                              {"intent", IntentName(claim.intent)},
                              {"fence", claim.fence},
                              {"source", HolderJson(claim.source)},
                              {"target", HolderJson(claim.target)},
                              {"verified", claim.verified}});
  if (!claim.why.empty()) value.Set("reason", claim.why);
  return value;
}

Claim ReadClaim(const Value& value) {
  return {.migration = std::string(value["migration"].str()),
          .migration_uid = std::string(value["migrationUID"].str()),
          .attempt = value["attempt"].int_or(1),
          .intent = ReadIntent(value["intent"].str()),
          .fence = value["fence"].int_or(0),
          .source = ReadHolder(value["source"]),
          .target = ReadHolder(value["target"]),
          .verified = value["verified"].bool_or(false),
          .why = std::string(value["reason"].str())};
}

Value StopJson(const Stop& stop) {
  return json::Object({{"seq", stop.seq},
                       {"cluster", stop.cluster},
                       {"sourceUID", stop.uid},
                       {"priorPath", stop.prior_path},
                       {"stateDir", stop.state_dir},
                       {"proven", stop.proven},
                       {"state", stop.capture},
                       {"anyWay", stop.any_way},
                       {"unsure", stop.unsure}});
}

Stop ReadStop(const Value& value) {
  return {.seq = value["seq"].int_or(0),
          .cluster = std::string(value["cluster"].str()),
          .uid = std::string(value["sourceUID"].str()),
          .prior_path = std::string(value["priorPath"].str()),
          .state_dir = std::string(value["stateDir"].str()),
          .proven = value["proven"].bool_or(false),
          .capture = std::string(value["state"].str()),
          .any_way = value["anyWay"].bool_or(false),
          .unsure = value["unsure"].bool_or(false)};
}

}  // namespace

std::string WriterName(std::string_view kind, std::string_view name) { return api::karmada::BindingName(kind, name); }

Writer ReadWriter(const Value& object) {
  Writer writer;
  if (object.is_null()) return writer;
  const Value& spec = object["spec"];
  writer.exists = true;
  writer.version = kube::VersionOf(object);
  writer.seq = spec["seq"].int_or(0);
  writer.holder = ReadHolder(spec["holder"]);
  if (spec["claim"].is_object()) writer.claim = ReadClaim(spec["claim"]);
  if (spec["stop"].is_object()) writer.stop = ReadStop(spec["stop"]);
  if (spec["receipt"].is_object()) writer.receipt = ReadReceipt(spec["receipt"]);
  writer.ended_uid = spec["ended"]["migrationUID"].str();
  writer.ended = PhaseFromName(spec["ended"]["phase"].str()).value_or(Phase::kPending);
  writer.refused_uid = spec["refused"]["migrationUID"].str();
  writer.refused = spec["refused"]["phase"].str() == PhaseName(Phase::kAborted) ? Phase::kAborted : Phase::kRejected;
  writer.refused_why = spec["refused"]["why"].str();
  if (const Value& lost = spec["lost"]; lost.is_object())
    writer.lost = LostCluster{.cluster = std::string(lost["cluster"].str()), .word = std::string(lost["word"].str())};
  return writer;
}

Value WriteWriter(const Writer& writer, const Value& current, const Value& workload) {
  Value object = current;
  if (object.is_null()) {
    object = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "Writer"}});
    Value& metadata = object.Edit("metadata");
    metadata.Set("name", WriterName(kube::KindOf(workload), kube::NameOf(workload)));
    metadata.Set("namespace", kube::NamespaceOf(workload));
    metadata.Set("finalizers", json::Array({kFinalizer}));
    object.Edit("spec").Set("workload", json::Object({{"apiVersion", kube::ApiVersionOf(workload)},
                                                      {"kind", kube::KindOf(workload)},
                                                      {"name", kube::NameOf(workload)},
                                                      {"uid", kube::UidOf(workload)}}));
  }
  Value& spec = object.Edit("spec");
  spec.Set("seq", writer.seq);
  spec.Set("holder", HolderJson(writer.holder));
  const auto put = [&](std::string_view field, bool there, Value value) {
    if (there) {
      spec.Set(field, std::move(value));
    } else {
      spec.Erase(field);
    }
  };
  put("claim", writer.claim.has_value(), writer.claim ? ClaimJson(*writer.claim) : Value());
  put("stop", writer.stop.has_value(), writer.stop ? StopJson(*writer.stop) : Value());
  put("receipt", writer.receipt.has_value(), writer.receipt ? ReceiptJson(*writer.receipt) : Value());
  put("ended", !writer.ended_uid.empty(),
      json::Object({{"migrationUID", writer.ended_uid}, {"phase", PhaseName(writer.ended)}}));
  put("refused", !writer.refused_uid.empty(),
      json::Object(
          {{"migrationUID", writer.refused_uid}, {"phase", PhaseName(writer.refused)}, {"why", writer.refused_why}}));
  put("lost", writer.lost.has_value(),
      writer.lost ? json::Object({{"cluster", writer.lost->cluster}, {"word", writer.lost->word}}) : Value());
  if (!writer.claim) spec.Erase("pinned");  // prior stays: a lock that comes late is undone by it
  return object;
}

std::string ReceiptHash(const Value& receipt) {
  Value hashed = receipt;
  hashed.Erase("hash");
  return Sha256Hex(hashed.ToString());
}

void SealReceipt(Value& object, const Writer& before, const Writer& next, WallTime now) {
  if (!next.receipt || (before.receipt && before.receipt->seq == next.receipt->seq)) return;
  Value& spec = object.Edit("spec");
  Value receipt = spec["receipt"];
  receipt.Set("time", json::FormatMicroTime(now));
  receipt.Set("hash", ReceiptHash(receipt));
  spec.Set("receipt", receipt);
  if (!before.receipt) return;
  Value& ring = spec.Edit("receipts");
  ring.Push(ReceiptJson(*before.receipt));
  while (ring.size() > kReceiptsKept) ring.EraseAt(0);
}

const Value& PinnedOf(const Value& writer_object) { return writer_object["spec"]["pinned"]; }

// By `baton approve`, or by annotation.
static void ReadApprovals(const Value& object, Migration& migration) {
  const Value& spec = object["spec"];
  const std::string_view annotated = object["metadata"]["annotations"][kApproveAnnotation].str();
  const auto approved = [&](std::string_view gate) {
    return std::ranges::any_of(spec["approved"].items(), [&](const Value& one) { return one.str() == gate; }) ||
           std::ranges::any_of(Split(annotated, ','), [&](std::string_view one) { return one == gate; });
  };
  for (const Value& gate : spec["approvals"].items()) {
    if (approved(gate.str())) continue;
    if (gate.str() == "BeforeCleanup") {
      migration.cleanup_approved = false;
    } else if (gate.str() == "BeforeQuiesce") {
      migration.approved = false;
      migration.waiting_for_approval = "an approval of BeforeQuiesce: `baton approve`";
    }
  }
}

Result<MigrationSpec> ReadMigration(const Value& object, WallTime now) {
  MigrationSpec read;
  const Value& spec = object["spec"];
  Migration& migration = read.migration;
  migration.name = kube::NameOf(object);
  migration.uid = kube::UidOf(object);
  migration.phase = PhaseFromName(object["status"]["phase"].str()).value_or(Phase::kPending);
  migration.abort = spec["abort"].bool_or(false) || kube::IsDeleting(object);
  migration.paused = spec["paused"].bool_or(false);
  migration.hold_on_failure = spec["onFailure"].str() == "Hold";
  migration.last_checkpoint = spec["captureFallback"].str() == "LastCheckpoint";
  migration.stabilization = seconds(spec["stabilizationSeconds"].int_or(10));
  const Value& attested = spec["attestation"];
  if (attested.is_object()) {
    migration.attestation = Attestation{.cluster = std::string(attested["cluster"].str()),
                                        .by = std::string(attested["by"].str()),
                                        .reason = std::string(attested["reason"].str()),
                                        .state_ref = std::string(attested["stateRef"].str()),
                                        .rewind = attested["rewind"].bool_or(false),
                                        .aborted_attempt = attested["abortedAttempt"].int_or(0)};
  }
  ReadApprovals(object, migration);
  // A window that nobody can read does not open.
  Result<std::string> window = WaitingForWindow(spec, now);
  migration.waiting_for_window =
      window.ok() ? *std::move(window) : StrCat("a time that can be read: ", window.error().message());
  const auto deadline = [&](std::string_view name, Duration& into) {
    const std::string_view text = spec["deadlines"][name].str();
    if (text.empty()) return;
    const Result<Duration> length = json::ParseDuration(text);
    if (length.ok()) {
      into = *length;
    } else {
      StrAppend(read.unreadable, read.unreadable.empty() ? "" : "; ", "spec.deadlines.", name, ": ",
                length.error().message());
    }
  };
  deadline("Planned", migration.deadlines.plan);
  deadline("Staged", migration.deadlines.stage);
  deadline("Quiescing", migration.deadlines.quiesce);
  deadline("Verifying", migration.deadlines.verify);
  deadline("Cleaning", migration.deadlines.clean);
  deadline("Aborting", migration.deadlines.undo);
  read.api_version = spec["workload"]["apiVersion"].str();
  read.kind = spec["workload"]["kind"].str();
  read.workload = spec["workload"]["name"].str();
  read.source = spec["source"].str();
  read.target = spec["target"].str();
  read.profile = spec["profile"].str();
  return read;
}

std::string OverrideName(const std::string& migration_uid) { return StrCat(kOverridePrefix, migration_uid); }

namespace {

constexpr char kAttemptMark = '/';  // behind the fence, before the attempt when it is not the first

// A hub of others may evict what is unhealthy, as a workload that starts is, though its scheduling is suspended: it
// spares a cluster that has an eviction task. A target that is removed has none: with a task that removes, the pipe
// renders nothing for the other cluster before that Work is gone, and the source would wait for a target that is lost.
bool TargetNeedsTask(const BindingState& state, const std::string& target) {
  if (state.clusters.contains(target)) return GUARD_STANDS("handoff.starting_target_is_not_evicted");
  return state.kept.contains(target);
}

}  // namespace

BindingState ReadBinding(const Value& binding, const Claim& claim) {
  BindingState state;
  for (const Value& cluster : binding["spec"]["clusters"].items()) state.clusters.emplace(cluster["name"].str());
  bool source_task = false;
  bool target_task = false;
  bool removes_first = false;
  for (const Value& task : binding["spec"]["gracefulEvictionTasks"].items()) {
    if (task["producer"].str() != kTaskProducer) continue;
    const std::string from(task["fromCluster"].str());
    if (task["purgeMode"].str() == "Never" && !state.clusters.contains(from)) state.kept.insert(from);
    source_task = source_task || task["fromCluster"].str() == claim.source.cluster;
    target_task = target_task || task["fromCluster"].str() == claim.target.cluster;
    removes_first = removes_first || (from == claim.target.cluster && task["purgeMode"].str() == "Directly");
  }
  const bool suspended = binding["spec"]["suspension"]["scheduling"].bool_or(false);
  state.locked =
      suspended && source_task && !removes_first && (target_task || !TargetNeedsTask(state, claim.target.cluster));
  const std::string fence(binding["metadata"]["annotations"][kFenceAnnotation].str());
  char* rest = nullptr;
  if (!fence.empty()) state.fence = std::strtoll(fence.c_str(), &rest, 10);
  if (rest != nullptr && *rest == kAttemptMark) state.attempt = std::strtoll(rest + 1, nullptr, 10);
  return state;
}

Value WriteBinding(const BindingState& state, Value binding, const Claim& claim, const Value& prior) {
  Value clusters = json::Array();
  for (const std::string& name : state.clusters) {
    Value entry = json::Object({{"name", name}});
    // The numbers that the scheduler had given stay with the workload, wherever it goes.
    if (prior["replicas"].is_int()) entry.Set("replicas", prior["replicas"]);
    clusters.Push(entry);
  }
  // Before the reference into it: a field that is added may move the others.
  Value& annotations = binding.Edit("metadata").Edit("annotations");
  if (state.locked) {
    annotations.Set(kFenceAnnotation,
                    state.attempt > 1 ? StrCat(state.fence, "/", state.attempt) : std::to_string(state.fence));
  } else {
    annotations.Erase(kFenceAnnotation);
  }
  Value& spec = binding.Edit("spec");
  spec.Set("clusters", clusters);
  Value tasks = json::Array();
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    if (task["producer"].str() != kTaskProducer) tasks.Push(task);
  }
  if (state.locked) {
    for (const std::string* cluster : {&claim.source.cluster, &claim.target.cluster}) {
      if (cluster == &claim.target.cluster && !TargetNeedsTask(state, *cluster)) continue;
      tasks.Push(json::Object(
          {{"fromCluster", *cluster},
           {"purgeMode", state.clusters.contains(*cluster) || state.kept.contains(*cluster) ? "Never" : "Directly"},
           {"reason", kTaskReason},
           {"message", StrCat("held by migration ", claim.migration)},
           {"producer", kTaskProducer},
           {"suppressDeletion", true}}));
    }
    spec.Edit("suspension").Set("scheduling", true);
  } else {
    // As the user had it.
    const Value& before = prior["scheduling"];
    if (before.is_bool() && GUARD_STANDS("handoff.prior_intent_is_restored")) {
      spec.Edit("suspension").Set("scheduling", before);
    } else if (spec["suspension"].is_object()) {
      spec.Edit("suspension").Erase("scheduling");
      if (spec["suspension"].empty()) spec.Erase("suspension");
    }
  }
  if (tasks.empty()) {
    spec.Erase("gracefulEvictionTasks");
  } else {
    spec.Set("gracefulEvictionTasks", tasks);
  }
  return binding;
}

}  // namespace baton::rollout
