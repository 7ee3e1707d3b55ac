// Asking for a move, once.
#include "rollout/ask.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "json/rfc3339.h"
#include "rollout/records.h"

namespace baton::rollout {

using json::Value;

rt::Task<Result<bool>> MakeOnce(federation::Hub& hub, kube::Informer& migrations, Value migration,
                                std::string annotation) {
  const std::string name(kube::NameOf(migration));
  const std::string mark(migration["metadata"]["annotations"][annotation].str());
  for (int tries = 1; tries <= kNamesMax; ++tries) {
    if (tries > 1) migration.Edit("metadata").Set("name", StrCat(name, "-", tries));
    const Result<Value> made = co_await hub.api().Create(kMigrations, migration);
    if (made.ok()) {
      migrations.Learn(*made);
      co_return false;
    }
    if (made.error().kind() != ErrorKind::kAlreadyExists) co_return made.error();
    // Ours, from before a crash; or another workload's of that name, or a person's.
    const Result<Value> there = co_await hub.api().Get(kMigrations, kube::Name::Of(migration));
    if (!there.ok()) co_return there.error();
    const Value& workload = (*there)["spec"]["workload"];
    const Value& wanted = migration["spec"]["workload"];
    if ((*there)["metadata"]["annotations"][annotation].str() == mark && workload["kind"] == wanted["kind"] &&
        workload["name"] == wanted["name"]) {
      migrations.Learn(*there);
      co_return true;
    }
  }
  co_return ConflictError(StrCat("StatefulMigrations ", name, " to ", name, "-", kNamesMax,
                                 " are all there, and are others': delete those that have ended"));
}

rt::Task<Result<Asked>> AskForMove(federation::Hub& hub, kube::Informer& migrations, WantedMove wanted,
                                   const MoveLimits& limits) {
  const Value& reference = wanted.binding["spec"]["resource"];
  const std::string ns(kube::NamespaceOf(wanted.binding));
  int before = 0;
  int refused = 0;
  WallTime refused_at{};  // the last one, as it was asked for
  bool failed = false;
  bool moves = false;
  int out = 0;
  int in = 0;
  migrations.ForEach([&](std::string_view, const Value& migration) {
    const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
    const bool ended = phase && IsEnd(*phase);
    const Value& workload = migration["spec"]["workload"];
    const bool same = workload["name"] == reference["name"] && workload["kind"] == reference["kind"] &&
                      kube::NamespaceOf(migration) == ns;
    if (same && !ended) moves = true;
    std::string_view from = migration["status"]["source"].str();
    if (from.empty()) from = migration["spec"]["source"].str();
    if (!ended && from == wanted.from) ++out;
    if (!ended && migration["spec"]["target"].str() == wanted.to) ++in;
    if (!same || migration["metadata"]["annotations"][wanted.annotation].str() != wanted.mark) return;
    ++before;
    if (phase == Phase::kRejected) {
      ++refused;
      const Result<WallTime> at = json::ParseTime(migration["metadata"]["creationTimestamp"].str());
      if (at.ok()) refused_at = std::max(refused_at, *at);
    }
    failed = failed || (ended && phase != Phase::kSucceeded && phase != Phase::kRejected);
  });
  if (moves) co_return Asked::kMovesAlready;
  if (failed || refused >= kRefusalsMax) co_return Asked::kFailedBefore;
  if (refused > 0 && hub.loop().WallNow() < refused_at + kRefusedFirst * (1 << (refused - 1)))
    co_return Asked::kRefusedLately;
  if (out >= limits.Out(wanted.from) || in >= limits.In(wanted.to)) co_return Asked::kNoRoom;
  Value migration = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
  Value& metadata = migration.Edit("metadata");
  metadata.Set("name", StrCat(wanted.name, "-", before + 1));
  metadata.Set("namespace", ns);
  metadata.Set("annotations", json::Object({{wanted.annotation, wanted.mark}}));
  migration.Set("spec", json::Object({{"workload", json::Object({{"apiVersion", reference["apiVersion"]},
                                                                 {"kind", reference["kind"]},
                                                                 {"name", reference["name"]}})},
                                      {"source", wanted.from},
                                      {"target", wanted.to}}));
  CO_TRY(co_await MakeOnce(hub, migrations, std::move(migration), std::string(wanted.annotation)));
  co_return Asked::kBegun;
}

}  // namespace baton::rollout
