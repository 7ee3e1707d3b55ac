// Taking away what a move has left: its probes at its end, and what comes late, of leaders that are gone.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "rollout/engine.h"

namespace baton::rollout {

using json::Value;

// The end waits until nothing of the move is left there, but not for a cluster that a person vouched is lost.
bool Engine::MustBeClean(const Look& look, std::string_view cluster) {
  if (look.writer.lost && look.writer.lost->cluster == cluster) return false;
  const std::optional<Attestation>& word = look.spec.migration.attestation;
  if (!word) return true;
  return cluster != (word->cluster.empty() ? look.object["status"]["source"].str() : std::string_view(word->cluster));
}

// A leader that has just begun may not have read its Clusters: what it does not know is not gone by that.
rt::Task<Result<std::shared_ptr<federation::Member>>> Engine::MemberToClean(std::string cluster) {
  std::shared_ptr<federation::Member> member = hub_.members().Find(cluster);
  if (member != nullptr || cluster.empty() || hub_.members().Known(cluster)) co_return member;
  const Value object = CO_TRY(co_await GetOrNull(hub_.api(), federation::kClusters, {"", cluster}));
  if (!object.is_null()) co_return UnavailableError(StrCat("cluster ", cluster, " is not known yet"));
  co_return member;
}

// Of every start of this move: a withdrawal has a later receipt than the start that was probed.
rt::Task<Result<void>> Engine::RemoveProbe(const Look& look) {
  // Its owner may have taken it out of our hands when the move had ended.
  const auto profile =
      look.profile != nullptr ? look.profile : profiles_.ForKind(look.spec.api_version, look.spec.kind);
  if (profile == nullptr) co_return Result<void>();
  Value receipts = look.writer_object["spec"]["receipts"];
  receipts.Push(look.writer_object["spec"]["receipt"]);
  for (const Value& receipt : receipts.items()) {
    if (receipt["migrationUID"].str() != look.spec.migration.uid) continue;
    const Value probe = profile->Probe(look.spec.workload, kube::NamespaceOf(look.object), receipt["seq"].int_or(0));
    if (probe.is_null()) continue;
    const std::string cluster(receipt["to"].str());
    const Result<void> gone = co_await RemoveProbeFrom(cluster, probe);
    if (!gone.ok() && MustBeClean(look, cluster)) co_return gone;
  }
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::RemoveProbeFrom(std::string cluster, Value probe) {
  const std::shared_ptr<federation::Member> member = CO_TRY(co_await MemberToClean(cluster));
  if (member == nullptr) co_return Result<void>();
  const Result<kube::Resource> resource = co_await member->mapper().ForObject(probe);
  if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) co_return Result<void>();  // nor the kind
  if (!resource.ok()) co_return resource.error();
  const Result<Value> gone = co_await member->api().Delete(*resource, kube::Name::Of(probe));
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  co_return Result<void>();
}

// What a leader that is gone had under way when the move ended may still come through: creates have no version to fail
// on. Once more, when its calls have run out.
rt::Task<kube::Outcome> Engine::SweepLate(const Value& migration) {
  const Result<void> swept = co_await RemoveLateOverride(migration);
  if (!swept.ok()) co_return kube::Outcome::Retry(swept.error());
  const WallTime now = hub_.loop().WallNow();
  const Duration since = now - PhaseSince(migration, now);
  if (since < kLateWrites) co_return kube::Outcome::WaitFor(kLateWrites - since);
  if (since > kLateWritesOver) co_return kube::Outcome::Done();  // after a restart: of old moves nothing is left
  Look look;
  look.object = migration;
  Result<MigrationSpec> spec = ReadMigration(migration, now);
  if (!spec.ok()) co_return kube::Outcome::Done();
  look.spec = *std::move(spec);
  Result<void> read = co_await LoadWriter(look);
  if (read.ok()) read = co_await ReadHub(look);
  if (!read.ok()) co_return kube::Outcome::Retry(read.error());
  co_return kube::Outcome::Of(co_await RemoveProbe(look));
}

// A create of our override has no version to fail on: it may come through after the end, from a leader that is gone.
rt::Task<Result<void>> Engine::RemoveLateOverride(const Value& migration) {
  Result<MigrationSpec> spec = ReadMigration(migration, hub_.loop().WallNow());
  if (!spec.ok()) co_return Result<void>();
  Look look;
  look.object = migration;
  look.spec = *std::move(spec);
  const std::string ns(kube::NamespaceOf(migration));
  Result<Value> late =
      co_await hub_.api().Get(federation::kOverridePolicies, {ns, OverrideName(look.spec.migration.uid)});
  if (!late.ok()) co_return late.error().kind() == ErrorKind::kNotFound ? Result<void>() : Result<void>(late.error());
  // Late is what no claim stands for.
  const Value writer =
      CO_TRY(co_await GetOrNull(hub_.api(), kWriters, {ns, WriterName(look.spec.kind, look.spec.workload)}));
  if (writer["spec"]["claim"]["migrationUID"].str() == look.spec.migration.uid)
    co_return UnavailableError("it is told as ended, and has a claim: looking again");
  SOMETIMES("rollout.late_override_removed");
  look.override_policy = *std::move(late);
  co_return co_await Remove(look);
}

// A lock of the binding that no claim stands for: of a leader that is gone, whose write came when the move had ended.
rt::Task<Result<void>> Engine::RemoveLateLock(kube::Name name) {
  const Value binding = CO_TRY(co_await GetOrNull(hub_.api(), federation::kResourceBindings, name));
  if (!binding["metadata"]["annotations"].Has(kFenceAnnotation)) co_return Result<void>();
  // After the binding: who claims the workload locks it only then.
  const Value writer = CO_TRY(co_await GetOrNull(hub_.api(), kWriters, name));
  if (writer["spec"]["claim"].is_object() || !GUARD_STANDS("handoff.late_lock_is_removed")) co_return Result<void>();
  SOMETIMES("rollout.late_lock_removed");
  BindingState free{.clusters = {}, .locked = false, .fence = 0};
  for (const Value& cluster : binding["spec"]["clusters"].items()) free.clusters.emplace(cluster["name"].str());
  Result<Value> written = co_await hub_.api().Update(federation::kResourceBindings,
                                                     WriteBinding(free, binding, Claim{}, writer["spec"]["prior"]));
  if (!written.ok()) co_return std::move(written).error();
  hub_.Learn(federation::kResourceBindings, *written);
  co_return Result<void>();
}

// One that no migration and no claim knows: of a move whose record was removed by force.
rt::Task<Result<void>> Engine::RemoveLostOverride(kube::Name name) {
  const Result<Value> policy = co_await hub_.api().Get(federation::kOverridePolicies, name);
  if (!policy.ok())
    co_return policy.error().kind() == ErrorKind::kNotFound ? Result<void>() : Result<void>(policy.error());
  const std::string uid = name.name.substr(kOverridePrefix.size());
  const Value& selector = (*policy)["spec"]["resourceSelectors"][0];
  const Value workload = json::Object(
      {{"kind", selector["kind"]}, {"metadata", json::Object({{"name", selector["name"]}, {"namespace", name.ns}})}});
  if (!MoveOf(workload, uid).empty()) co_return Result<void>();
  // It may be older than our copies: live, and the migrations, too.
  const kube::Listed all = CO_TRY(co_await hub_.api().ListAll(kMigrations, {.ns = name.ns}));
  for (const Value& migration : all.items) {
    if (kube::UidOf(migration) == uid) co_return Result<void>();
  }
  const Result<Value> writer =
      co_await hub_.api().Get(kWriters, {name.ns, WriterName(selector["kind"].str(), selector["name"].str())});
  if (!writer.ok() && writer.error().kind() != ErrorKind::kNotFound) co_return writer.error();
  if (writer.ok() && (*writer)["spec"]["claim"]["migrationUID"].str() == uid) co_return Result<void>();
  Look look;
  look.override_policy = *policy;
  co_return co_await Remove(look);
}

}  // namespace baton::rollout
