// The Writer, the migration and our override as API objects: reading and writing the values of rollout/state.h.
//
// A Writer's name follows from the workload, so that there is one. Fields that we do not know are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "interpret/profile.h"
#include "json/value.h"
#include "kube/api.h"
#include "rollout/next.h"
#include "rollout/state.h"

namespace baton::rollout {

inline const kube::Resource kWriters{
    .group = "rollout.karmada.io", .version = "v1alpha1", .plural = "writers", .kind = "Writer"};
inline const kube::Resource kMigrations{
    .group = "rollout.karmada.io", .version = "v1alpha1", .plural = "statefulmigrations", .kind = "StatefulMigration"};
inline const kube::Resource kProfiles{.group = "rollout.karmada.io",
                                      .version = "v1alpha1",
                                      .plural = "migrationprofiles",
                                      .kind = "MigrationProfile",
                                      .namespaced = false};

inline constexpr std::string_view kFinalizer = "rollout.karmada.io/guard";        // on Writers, migrations, overrides
inline constexpr std::string_view kStateAnnotation = "rollout.karmada.io/state";  // on our override: what it says
inline constexpr std::string_view kFenceAnnotation = "rollout.karmada.io/fence";  // on a locked binding
inline constexpr std::string_view kManagedAnnotation = "rollout.karmada.io/managed";  // "true", "false": opt in or out
inline constexpr std::string_view kTriggerAnnotation = "karmada.io/migration-target";
inline constexpr std::string_view kApproveAnnotation = "rollout.karmada.io/approve";  // "BeforeQuiesce,BeforeCleanup"
inline constexpr std::string_view kTaskProducer = "baton";
inline constexpr std::string_view kTaskReason = "StatefulMigration";
// Beside the newest one, as many as Kubernetes keeps revisions. A grant writes them all, in the window in which nobody
// writes: a real kube-apiserver takes 0.2 ms for each, and a busy one many times that.
inline constexpr size_t kReceiptsKept = 10;
inline constexpr size_t kTimelineMax = 64;

// "web-flinkdeployment": as bindings are named.
std::string WriterName(std::string_view kind, std::string_view name);

// ---- Writer ----
Writer ReadWriter(const json::Value& object);  // null: exists is false
// `current` with what `writer` says; a null one is made for that workload (a template).
json::Value WriteWriter(const Writer& writer, const json::Value& current, const json::Value& workload);
// Fills in when and the hash of a receipt that `next` has and `before` has not, and keeps the one before in the ring.
void SealReceipt(json::Value& object, const Writer& before, const Writer& next, WallTime now);
std::string ReceiptHash(const json::Value& receipt);

// The specs as they were rendered when the move began: what the override pins. {source, target, other}
const json::Value& PinnedOf(const json::Value& writer_object);

// ---- migration ----
struct MigrationSpec {
  Migration migration;
  std::string api_version, kind, workload;  // of the workload; its namespace is the migration's
  std::string source, target;
  std::string profile;
  std::string unreadable;  // what is wrong with its deadlines; they are as if they were not there
};
// `now`: for spec.notBefore and the windows.
Result<MigrationSpec> ReadMigration(const json::Value& object, WallTime now);

struct Projection {
  const Decision& decision;
  const Writer& writer;
  std::string source;
  std::string target;
  std::string guarantee;
  bool target_runs = false;  // it was granted, and was just seen to run
};
// The status that says this; the same value when nothing changed.
json::Value ProjectStatus(const json::Value& object, const Projection& projection, WallTime now);
// Since when the status is in its phase.
WallTime PhaseSince(const json::Value& object, WallTime now);
// How long it has been in its phase, as far as deadlines are about that: the time in which it was ready and stood by
// for a person or a window (condition StandBy) does not count. Whoever leads when that ends has the time of the phase.
Duration TimeInPhase(const json::Value& object, const Migration& migration, WallTime now);

// ---- override ----
// Sorts behind every name that people use.
inline constexpr std::string_view kOverridePrefix = "zz-baton-";  // then the migration's uid
std::string OverrideName(const std::string& migration_uid);
// The whole OverridePolicy: rule 0 holds everywhere, then one rule for the source and one for the target.
Result<json::Value> MakeOverride(const OverrideState& state, const Claim& claim, const json::Value& workload,
                                 const json::Value& pinned, const interpret::Profile& profile);
// Of the leader that wrote it last, whatever somebody did to its rules since; 0: it does not say.
int64_t FenceOfOverride(const json::Value& object);
// What it says, if it says exactly that.
std::optional<OverrideState> ReadOverride(const json::Value& object, const Claim& claim, const json::Value& workload,
                                          const json::Value& pinned, const interpret::Profile& profile);

// ---- binding ----
BindingState ReadBinding(const json::Value& binding, const Claim& claim);
json::Value WriteBinding(const BindingState& state, json::Value binding, const Claim& claim, const json::Value& prior);

}  // namespace baton::rollout
