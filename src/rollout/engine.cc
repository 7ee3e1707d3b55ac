// The loop of looking, deciding, doing and telling.
#include "rollout/engine.h"

#include <algorithm>
#include <utility>

#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "rollout/preflight.h"
#include "rt/when.h"

namespace baton::rollout {

using json::Value;

namespace {

constexpr std::string_view kOverrideKey = "override:";  // before the key of an override of ours, in the queue
constexpr std::string_view kLockKey = "lock:";          // before the key of a binding that is locked for no move

std::string WorkloadIndex(std::string_view kind, std::string_view ns, std::string_view name) {
  return StrCat(kind, "/", ns, "/", name);
}

std::string WorkloadIndex(const Value& workload) {
  return WorkloadIndex(kube::KindOf(workload), kube::NamespaceOf(workload), kube::NameOf(workload));
}

// Whether nothing but the status differs.
bool OnlyToldOn(const Value& before, const Value& now) {
  if (before.is_null() || now.is_null() || before["spec"] != now["spec"]) return false;
  const Value& was = before["metadata"];
  const Value& is = now["metadata"];
  return was["uid"] == is["uid"] && was["generation"] == is["generation"] && was["annotations"] == is["annotations"] &&
         was["labels"] == is["labels"] && was["deletionTimestamp"] == is["deletionTimestamp"];
}

}  // namespace

Engine::Engine(federation::Federation& federation, ProfileSet& profiles, EngineOptions options)
    : hub_(federation.hub()),
      federation_(federation),
      profiles_(profiles),
      options_(std::move(options)),
      migrations_(hub_.api(), kMigrations),
      profile_objects_(hub_.api(), kProfiles),
      writers_(hub_.api(), kWriters),
      controller_(hub_.loop(), "rollout", [this](std::string key) { return Reconcile(std::move(key)); },
                  {.workers = 32, .queue = {.backoff_max = kRetryMax}, .log = options_.log}) {
  migrations_.AddIndex("workload", [](const Value& migration) {
    const Value& workload = migration["spec"]["workload"];
    return std::vector<std::string>{
        WorkloadIndex(workload["kind"].str(), kube::NamespaceOf(migration), workload["name"].str())};
  });
  migrations_.OnChange([this](const Value& before, const Value& now) {
    const Value& migration = now.is_null() ? before : now;
    if (now.is_null()) memory_.erase(std::string(kube::UidOf(before)));
    const bool only_status = !before.is_null() && !now.is_null() && before["spec"] == now["spec"] &&
                             kube::IsDeleting(before) == kube::IsDeleting(now);
    if (!only_status) controller_.Add(kube::Name::Of(migration).Key());
  });
  writers_.AddIndex("claimant", [](const Value& writer) {
    const Value& claim = writer["spec"]["claim"];
    if (!claim.is_object()) return std::vector<std::string>();
    return std::vector<std::string>{StrCat(kube::NamespaceOf(writer), "/", claim["migration"].str())};
  });
  writers_.OnChange([this](const Value& before, const Value& now) {
    profiles_.WriterChanged(before, now);
    if (migrations_.synced()) LookIntoClaim(now);
    // The lock may have come after its move had looked at the binding for the last time.
    if (before["spec"]["claim"].is_object() && !now.is_null()) NoticeLateLock(kube::Name::Of(now).Key());
  });
  profile_objects_.OnChange([this](const Value& before, const Value& now) {
    if (now.is_null()) {
      profiles_.Remove(kube::NameOf(before));
      return;
    }
    const Result<void> taken = profiles_.Set(now);
    if (!taken.ok()) hub_.events().Warning(now, "ProfileIgnored", taken.error().message());
  });
  hub_.OnMemberObject([this](const std::string& cluster, const Value& before, const Value& now) {
    if (!now.is_null()) SeenInCopy(cluster, now);
    Wake(now.is_null() ? before : now);
  });
  // What is only told on from the members has woken us when it was seen there.
  hub_.OnTemplate([this](const Value& before, const Value& now) {
    if (!OnlyToldOn(before, now)) Wake(now.is_null() ? before : now);
  });
  hub_.OnBinding([this](const Value& before, const Value& now) {
    const std::string key = kube::Name::Of(now).Key();  // and the Writer's
    NoticeLateLock(key);
    constexpr std::string_view kSettled = "schedulerObservedGeneration";
    if (OnlyToldOn(before, now) && before["status"][kSettled] == now["status"][kSettled]) return;
    const Value& resource = (now.is_null() ? before : now)["spec"]["resource"];
    Wake(
        json::Object({{"kind", resource["kind"]},
                      {"metadata", json::Object({{"name", resource["name"]}, {"namespace", resource["namespace"]}})}}));
  });
  // What is gone from its cluster is gone for good when its Work is.
  hub_.works().OnChange([this](const Value& before, const Value& now) {
    if (now.is_null()) Wake(before["spec"]["workload"]["manifests"][0]);
  });
  hub_.overrides().OnChange([this](const Value& before, const Value& now) {
    const Value& policy = now.is_null() ? before : now;
    if (!kube::NameOf(policy).starts_with(kOverridePrefix)) return;
    const std::string_view uid = kube::NameOf(policy).substr(kOverridePrefix.size());
    const auto known = memory_.find(uid);
    if (known != memory_.end() && !now.is_null() && known->second.ordered == kube::VersionOf(now)) return;  // we did it
    const Value& selector = policy["spec"]["resourceSelectors"][0];
    const Value workload = json::Object(
        {{"kind", selector["kind"]},
         {"metadata", json::Object({{"name", selector["name"]}, {"namespace", kube::NamespaceOf(policy)}})}});
    Wake(workload);
    if (now.is_null()) return;
    // Whose it is looks at it though it has ended: it may have come late. One of nobody is looked into.
    const std::string owner = MoveOf(workload, uid);
    controller_.Add(owner.empty() ? StrCat(kOverrideKey, kube::Name::Of(policy).Key()) : owner);
  });
}

// Which moves that is of is not known by its names alone: a few moves go back at a time.
void Engine::SeenInCopy(const std::string& cluster, const Value& object) {
  for (auto& [uid, memory] : memory_) memory.late_start.Take(cluster, object);
}

std::vector<std::string> Engine::MovesOf(std::string_view kind, std::string_view ns, std::string_view name) const {
  return migrations_.KeysByIndex("workload", WorkloadIndex(kind, ns, name));
}

std::string Engine::MoveOf(const Value& workload, std::string_view uid) const {
  for (const std::string& key : migrations_.KeysByIndex("workload", WorkloadIndex(workload))) {
    if (kube::UidOf(migrations_.Get(key)) == uid) return key;
  }
  return {};
}

// By our copy of the Writers, which may be old.
bool Engine::HasClaim(const std::string& key, std::string_view uid) const {
  return std::ranges::any_of(writers_.ByIndex("claimant", key),
                             [&](const Value& writer) { return writer["spec"]["claim"]["migrationUID"].str() == uid; });
}

// Those that move this workload.
void Engine::Wake(const Value& workload) {
  if (migrations_.size() == 0) return;
  for (const std::string& key : migrations_.KeysByIndex("workload", WorkloadIndex(workload))) {
    const std::optional<Phase> phase = PhaseFromName(migrations_.Get(key)["status"]["phase"].str());
    if (!phase || !IsEnd(*phase)) controller_.Add(key);
  }
}

// A claim of a move that is gone, or has ended, is somebody's who did not come to its end.
void Engine::LookIntoClaim(const Value& writer) {
  const Value& claim = writer["spec"]["claim"];
  if (!claim.is_object()) return;
  const std::string key = StrCat(kube::NamespaceOf(writer), "/", claim["migration"].str());
  const Value& migration = migrations_.Get(key);
  const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
  if (migration.is_null() || (phase && IsEnd(*phase))) controller_.Add(key);
}

rt::Task<void> Engine::UntilManagedIsKnown() {
  co_await profile_objects_.WaitSynced();
  co_await writers_.WaitSynced();
}

rt::Task<void> Engine::Run() {
  rt::Scope scope(hub_.loop());
  scope.Spawn(profile_objects_.Run());
  scope.Spawn(writers_.Run());
  co_await UntilManagedIsKnown();
  co_await hub_.WaitSynced();
  scope.Spawn(migrations_.Run());
  co_await migrations_.WaitSynced();
  writers_.ForEach([this](std::string_view, const Value& writer) { LookIntoClaim(writer); });
  co_await controller_.Run();
}

// The finalizer is there for as long as the migration is not over: deleting one that runs is an abort. Gives the object
// as it is then; null: it is gone.
rt::Task<Result<Value>> Engine::Finalize(const std::string& key) {
  Result<Value> object = co_await hub_.api().Get(kMigrations, kube::Name::FromKey(key));
  if (!object.ok() && object.error().kind() == ErrorKind::kNotFound) co_return Value();
  if (!object.ok()) co_return object;
  const std::optional<Phase> phase = PhaseFromName((*object)["status"]["phase"].str());
  const bool over = phase && IsEnd(*phase);
  bool has = false;
  Value finalizers = json::Array();  // others' stay
  for (const Value& one : (*object)["metadata"]["finalizers"].items()) {
    if (one.str() == kFinalizer) has = true;
    if (one.str() != kFinalizer) finalizers.Push(one);
  }
  if (has != over || !GUARD_STANDS("handoff.deleting_is_aborting")) co_return object;
  if (!over && kube::IsDeleting(*object)) {
    SOMETIMES("rollout.deleted_before_its_finalizer");
    co_return object;  // a server takes no new finalizer then
  }
  if (!over) finalizers.Push(kFinalizer);
  Value next = *object;
  next.Edit("metadata").Set("finalizers", finalizers);
  Result<Value> written = co_await hub_.api().Update(kMigrations, next);
  if (!written.ok() && written.error().kind() == ErrorKind::kNotFound) co_return Value();
  co_return written;
}

// By compare-and-swap on the object that was decided on: an older leader never tells over a newer one.
rt::Task<Result<void>> Engine::Tell(const Value& before, const Value& now, const Decision& decision,
                                    const Value& workload) {
  if (before["status"] == now["status"]) co_return Result<void>();
  // What is told follows what is done; nobody waits for it as long as for what matters.
  const Result<Value> written = co_await rt::WithDeadline(
      rt::Deadline::After(hub_.loop(), kTellTimeout), "the hub's answer", hub_.api().UpdateStatus(kMigrations, now));
  if (!written.ok()) co_return written.error();
  Count(before, now, decision);
  if (before["status"]["phase"] == now["status"]["phase"]) co_return Result<void>();
  const auto timeline = now["status"]["timeline"].items();
  const std::string message(timeline.empty() ? decision.message : timeline.back()["message"].str());  // with its why
  const std::string story = StrCat("StatefulMigration ", kube::NameOf(now), ": ", message);
  const bool bad = decision.blocked || decision.phase == Phase::kAborting || decision.phase == Phase::kWithdrawing ||
                   decision.phase == Phase::kRejected;
  if (options_.log != nullptr) {
    options_.log->Info("migration", {{"namespace", kube::NamespaceOf(now)},
                                     {"name", kube::NameOf(now)},
                                     {"phase", PhaseName(decision.phase)},
                                     {"writer", now["status"]["writer"].str()},
                                     {"message", message}});
  }
  if (bad) {
    hub_.events().Warning(*written, PhaseName(decision.phase), message);
    if (!kube::UidOf(workload).empty()) hub_.events().Warning(workload, PhaseName(decision.phase), story);
  } else {
    hub_.events().Normal(*written, PhaseName(decision.phase), message);
    if (!kube::UidOf(workload).empty()) hub_.events().Normal(workload, PhaseName(decision.phase), story);
  }
  co_return Result<void>();
}

// What was told just now; the phases that were passed on the way count, too.
void Engine::Count(const Value& before, const Value& now, const Decision& decision) const {
  if (options_.metrics == nullptr) return;
  const RolloutMetrics& metrics = *options_.metrics;
  const auto timeline = now["status"]["timeline"].items();
  for (size_t i = before["status"]["timeline"].size(); i < timeline.size(); ++i) {
    if (i == 0) continue;
    const Result<WallTime> from = json::ParseTime(timeline[i - 1]["time"].str());
    const Result<WallTime> to = json::ParseTime(timeline[i]["time"].str());
    if (!from.ok() || !to.ok()) continue;
    metrics.phase_seconds.With({timeline[i - 1]["phase"].str()})
        .Observe(std::chrono::duration<double>(*to - *from).count());
  }
  const Result<WallTime> started = json::ParseTime(now["status"]["startedAt"].str());
  if (before["status"]["startedAt"].is_null() && started.ok()) {
    for (const Value& entry : timeline) {
      const Result<WallTime> stopped = json::ParseTime(entry["time"].str());
      if (entry["phase"].str() == "Quiescing" && stopped.ok())
        metrics.no_writer_seconds.Observe(std::chrono::duration<double>(*started - *stopped).count());
    }
  }
  if (!decision.waiting_for.empty())
    metrics.waits.With({PhaseName(decision.phase), decision.blocked ? "true" : "false"}).Add();
  if (IsEnd(decision.phase)) metrics.ended.With({PhaseName(decision.phase)}).Add();
}

// A claim whose migration was removed by force, its finalizer taken away: nobody may be left to end the move. It is
// taken back as if that had been asked for, or finished when the target has proven itself.
rt::Task<std::optional<kube::Outcome>> Engine::TakeBackOrphans(const std::string& key, std::string_view uid) {
  for (const std::string& name : writers_.KeysByIndex("claimant", key)) {
    const Value writer = writers_.Get(name);
    const Value& claim = writer["spec"]["claim"];
    if (claim["migrationUID"].str() == uid) continue;
    // The copy may be older than the claim. What is gone from the hub itself never comes back with that uid.
    const Result<Value> live = co_await hub_.api().Get(kMigrations, kube::Name::FromKey(key));
    if (!live.ok() && live.error().kind() != ErrorKind::kNotFound) co_return kube::Outcome::Retry(live.error());
    if (live.ok() && kube::UidOf(*live) == claim["migrationUID"].str()) continue;
    const Value& workload = writer["spec"]["workload"];
    Value object = json::Object({{"apiVersion", "rollout.karmada.io/v1alpha1"}, {"kind", "StatefulMigration"}});
    object.Edit("metadata").Set("name", claim["migration"]);
    object.Edit("metadata").Set("namespace", kube::NamespaceOf(writer));
    object.Edit("metadata").Set("uid", claim["migrationUID"]);
    object.Edit("spec").Set("workload", workload);
    object.Edit("spec").Set("target", ReadWriter(writer).claim->target.cluster);
    object.Edit("spec").Set("abort", true);
    object.Edit("status").Set("phase", "Planned");
    hub_.events().Warning(writer, "MigrationRemoved",
                          StrCat("StatefulMigration ", claim["migration"].str(),
                                 " was removed while it was under way: the move is taken back"));
    co_return co_await Drive(std::move(object), true);
  }
  co_return std::nullopt;
}

// A lock of nobody; or its claim has not come to us yet. By our copies: whether somebody should look.
void Engine::NoticeLateLock(const std::string& key) {
  const bool locked = hub_.Binding(key)["metadata"]["annotations"].Has(kFenceAnnotation);
  if (locked && !writers_.Get(key)["spec"]["claim"].is_object())
    controller_.AddAfter(StrCat(kLockKey, key), kLookAgain);
}

rt::Task<kube::Outcome> Engine::Reconcile(std::string key) {
  if (key.starts_with(kOverrideKey)) {
    co_return kube::Outcome::Of(co_await RemoveLostOverride(kube::Name::FromKey(key.substr(kOverrideKey.size()))));
  }
  if (key.starts_with(kLockKey))
    co_return kube::Outcome::Of(co_await RemoveLateLock(kube::Name::FromKey(key.substr(kLockKey.size()))));
  Result<Value> object = Value();
  Value writer;
  std::optional<Look> ahead;
  if (const Value& copy = migrations_.Get(key); !copy.is_null())
    std::tie(object, writer, ahead) = co_await rt::WhenAll(Finalize(key), WriterOf(copy), LookAhead(copy));
  if (!object.ok()) co_return kube::Outcome::Retry(object.error());
  if (std::optional<kube::Outcome> orphan = co_await TakeBackOrphans(key, kube::UidOf(*object))) co_return *orphan;
  if (object->is_null()) co_return kube::Outcome::Done();
  // The Writer decides where a move stands. One that was told as refused by a leader that had not seen its claim yet
  // has begun all the same, and must be taken back.
  const std::optional<Phase> phase = PhaseFromName((*object)["status"]["phase"].str());
  if (phase && IsEnd(*phase) && !HasClaim(key, kube::UidOf(*object))) co_return co_await SweepLate(*object);
  ahead = StillHolds(std::move(ahead), *object, writer);
  co_return co_await Drive(*std::move(object), false, std::move(writer), std::move(ahead));
}

// Ahead of the first look, while the migration itself is read: its copy is enough to know which one. What cannot be
// read now is read by the look, which says why.
rt::Task<Value> Engine::WriterOf(Value migration) {
  const std::optional<Phase> phase = PhaseFromName(migration["status"]["phase"].str());
  const Result<MigrationSpec> spec = ReadMigration(migration, hub_.loop().WallNow());
  if (!spec.ok() || !phase || IsEnd(*phase)) co_return Value();
  const kube::Name name{std::string(kube::NamespaceOf(migration)), WriterName(spec->kind, spec->workload)};
  Result<Value> writer = co_await hub_.api().Get(kWriters, name);
  co_return writer.ok() ? *std::move(writer) : Value();
}

// One look, one decision, one effect, until there is nothing to do but wait. `stands_in`: the object is not on the hub,
// so nothing is told. `writer`: as it was just read, or as we swapped it in the step before; null: it is read. `first`:
// the first look, when it was made already, ahead.
rt::Task<kube::Outcome> Engine::Drive(Value object, bool stands_in, Value writer, std::optional<Look> first) {
  Value current = object;
  HubCopies borrowed;  // of the look before
  for (size_t steps = 0; steps < kStepsMax; ++steps) {
    Value known = std::exchange(writer, Value());
    const bool ahead = first.has_value();
    Result<Look> look = first ? Result<Look>(*std::exchange(first, std::nullopt))
                              : co_await Observe(current, known, std::exchange(borrowed, {}));
    if (!look.ok()) co_return kube::Outcome::Retry(look.error());
    Decision decision = Next(look->writer, look->spec.migration, look->seen);
    const bool grants = IsGrant(decision, *look);
    // Two effects may follow on a look for which the hub was not read anew: each is a compare-and-swap on what was
    // decided on, the grant on the Writer, and the order to start, when the proof was read again, on the override.
    if (look->borrowed && !(ahead ? grants : std::holds_alternative<PutOverride>(decision.effect))) {
      SOMETIMES("rollout.borrowed_look_was_not_enough");
      continue;
    }
    if (const int64_t newest = NewestFence(look->writer, look->seen); newest > look->seen.fence) {
      SOMETIMES("rollout.outranked");
      if (options_.outranked) options_.outranked(newest);
    }
    current.Set("status", Projected(current, *look, decision));
    if (const Duration rest = RestBefore(*look, decision.effect); rest > Duration{}) {
      SOMETIMES("rollout.contested");
      decision = Decision{.phase = decision.phase,
                          .message = StrCat("somebody else writes its binding or override back again and again (their "
                                            "managedFields tell who); the next try has time; then: ",
                                            decision.message),
                          .waiting_for = "others to leave its binding and override alone"};
      current.Set("status", Projected(current, *look, decision));
      if (!stands_in) {
        [[maybe_unused]] const Result<void> told = co_await Tell(object, current, decision, look->workload);
      }
      co_return kube::Outcome::WaitFor(rest);
    }
    if (!std::holds_alternative<NoEffect>(decision.effect)) {
      const Result<void> done = co_await Perform(*look, decision.effect);
      if (!done.ok() && done.error().kind() == ErrorKind::kConflict) {
        SOMETIMES("rollout.conflict_decided_again");
        continue;
      }
      if (!done.ok()) {
        SOMETIMES("rollout.effect_failed");
        if (!stands_in) {
          [[maybe_unused]] const Result<void> told = co_await Tell(object, current, decision, look->workload);
        }
        co_return kube::Outcome::Retry(done.error().Context(decision.message));
      }
      if (std::holds_alternative<SwapWriter>(decision.effect)) writer = look->writer_object;
      if (grants && options_.own_hub) borrowed = {look->binding, look->override_policy, look->workload};
      std::optional<Decision> rest = WaitsAfter(*look, decision.effect);
      if (!rest) continue;
      decision = *std::move(rest);
      // Until the order to start has gone through the pipe nobody writes: telling can wait, and so can the next look.
      if (decision.phase == Phase::kVerifying) co_await hub_.loop().Sleep(kStartGoesFirst);
      current.Set("status", Projected(current, *look, decision));
    }
    if (IsEnd(decision.phase)) {
      Result<void> clean = co_await RemoveProbe(*look);
      if (clean.ok()) clean = co_await RemoveBeside(*look);
      if (!clean.ok()) co_return kube::Outcome::Retry(clean.error());
    }
    if (!stands_in) {
      const Result<void> told = co_await Tell(object, current, decision, look->workload);
      if (!told.ok() && GUARD_STANDS("handoff.status_is_told_again")) co_return kube::Outcome::Retry(told.error());
    }
    // What is waited for may come without a word.
    if (!IsEnd(decision.phase) && !GUARD_STANDS("handoff.looks_again")) co_return kube::Outcome::Done();
    if (!IsEnd(decision.phase)) co_return kube::Outcome::WaitFor(UntilNextLook(*look, decision));
    if (stands_in) co_return kube::Outcome::Done();
    const Result<Value> finalized = co_await Finalize(kube::Name::Of(object).Key());
    co_return finalized.ok() ? kube::Outcome::WaitFor(kLateWrites) : kube::Outcome::Retry(finalized.error());
  }
  co_return kube::Outcome::WaitFor(kLookAgain);
}

// Two that write back what the other wrote, each at once, would do nothing else any more.
Duration Engine::RestBefore(const Look& look, const Effect& effect) {
  if (!std::holds_alternative<PutBinding>(effect) && !std::holds_alternative<PutOverride>(effect)) return {};
  std::deque<MonotonicTime>& wrote = memory_[look.spec.migration.uid].wrote;
  const MonotonicTime now = hub_.loop().Now();
  while (!wrote.empty() && now - wrote.front() >= kContestedWithin) wrote.pop_front();
  if (wrote.size() >= kContestedWrites) return wrote.front() + kContestedWithin - now;
  wrote.push_back(now);
  return {};
}

// An order to the pipe shows in the members only when they have carried it out, and they tell: when nothing but that is
// waited for, looking at once would show nothing new, and take from the pipe the time that the workload stands still.
std::optional<Decision> Engine::WaitsAfter(Look& look, const Effect& effect) {
  const auto* ordered = std::get_if<PutOverride>(&effect);
  if (ordered == nullptr) return std::nullopt;
  look.seen.override_state = ordered->state;
  look.seen.override_exists = true;
  Decision next = Next(look.writer, look.spec.migration, look.seen);
  const bool waits = std::holds_alternative<NoEffect>(next.effect) && !next.blocked && !IsEnd(next.phase);
  return waits ? std::optional(std::move(next)) : std::nullopt;
}

Value Engine::Projected(const Value& current, const Look& look, const Decision& decision) const {
  const Writer& writer = look.writer;
  std::string source(current["status"]["source"].str());
  if (source.empty() && writer.claim) source = writer.claim->source.cluster;
  if (source.empty() && look.seen.proposal) source = look.seen.proposal->source.cluster;
  if (source.empty()) source = look.spec.source;
  std::string target = look.spec.target;
  if (target.empty() && writer.claim) target = writer.claim->target.cluster;
  if (target.empty()) target = current["status"]["target"].str();
  return ProjectStatus(current,
                       {.decision = decision,
                        .writer = writer,
                        .source = source,
                        .target = target,
                        .guarantee = look.profile == nullptr ? "" : look.profile->guarantee(),
                        .target_runs = writer.claim && writer.holder.cluster == writer.claim->target.cluster &&
                                       look.seen.target.runs && look.seen.target.seq == writer.seq},
                       hub_.loop().WallNow());
}

rt::Task<Result<void>> Engine::Perform(Look& look, const Effect& effect) {
  if (const auto* swap = std::get_if<SwapWriter>(&effect)) co_return co_await Swap(look, swap->writer);
  if (const auto* put = std::get_if<PutOverride>(&effect)) co_return co_await Put(look, put->state);
  if (std::holds_alternative<RemoveOverride>(effect)) co_return co_await Remove(look);
  if (const auto* bind = std::get_if<PutBinding>(&effect)) co_return co_await Bind(look, bind->state);
  if (std::holds_alternative<ValidateTarget>(effect)) co_return co_await Validate(look);
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::Swap(Look& look, const Writer& next) {
  Value object = WriteWriter(next, look.writer_object, look.workload);
  if (next.claim && (!look.writer.claim || look.writer.claim->migration_uid != next.claim->migration_uid)) {
    object.Edit("spec").Set("pinned", look.pinned);
    object.Edit("spec").Set("prior", look.prior);
  }
  SealReceipt(object, look.writer, next, hub_.loop().WallNow());
  Result<Value> written = InternalError("not written");
  if (look.writer_object.is_null()) {
    written = co_await hub_.api().Create(kWriters, object);
  } else {
    written = co_await hub_.api().Update(kWriters, object);  // carries the version that it was decided on
  }
  if (!written.ok()) {
    SOMETIMES("rollout.writer_not_swapped");
    const bool lost = written.error().kind() == ErrorKind::kAlreadyExists;
    co_return lost ? ConflictError("another was faster") : std::move(written).error();
  }
  look.writer_object = *std::move(written);
  co_return Result<void>();
}

// The specs that the move began with: what is edited meanwhile comes after it.
Value Engine::Pinned(const Look& look) {
  if (GUARD_STANDS("handoff.spec_is_pinned")) return PinnedOf(look.writer_object);
  const Value& spec = look.workload["spec"];
  return json::Object({{"source", spec}, {"target", spec}, {"other", spec}});
}

// What carries no leader's number (it is not there, not locked, or somebody wiped it out) does not tell that a newer
// leader has come, done its work and ended the move while this look hung between the Writer and the rest; and a version
// that was read after all that does not fail. The Writer tells: nobody writes anything before that. If it still stands
// after the rest was read, whoever comes changes the version that was read.
rt::Task<Result<void>> Engine::WriterStands(const Look& look) {
  const Value now = CO_TRY(co_await GetOrNull(hub_.api(), kWriters, kube::Name::Of(look.writer_object)));
  if (kube::VersionOf(now) != kube::VersionOf(look.writer_object))
    co_return ConflictError("the Writer was changed meanwhile");
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::Put(Look& look, const OverrideState& state) {
  if (look.seen.override_fence == 0) CO_TRY(co_await WriterStands(look));
  Value wanted = CO_TRY(MakeOverride(state, *look.writer.claim, look.workload, Pinned(look), *look.profile));
  Result<Value> written = InternalError("not written");
  if (look.override_policy.is_null()) {
    written = co_await hub_.api().Create(federation::kOverridePolicies, wanted);
    if (!written.ok() && written.error().kind() == ErrorKind::kAlreadyExists)
      co_return ConflictError("another was faster");
  } else {
    wanted.Edit("metadata").Set("resourceVersion", kube::VersionOf(look.override_policy));
    wanted.Edit("metadata").Set("uid", kube::UidOf(look.override_policy));
    written = co_await hub_.api().Update(federation::kOverridePolicies, wanted);
  }
  if (!written.ok()) co_return std::move(written).error();
  memory_[look.spec.migration.uid].ordered = kube::VersionOf(*written);
  hub_.Learn(federation::kOverridePolicies, *written);
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::Remove(Look& look) {
  Value free = look.override_policy;
  if (!kube::IsDeleting(free)) {
    const Result<Value> gone = co_await hub_.api().Delete(
        federation::kOverridePolicies, kube::Name::Of(free),
        {.uid = std::string(kube::UidOf(free)), .resource_version = std::string(kube::VersionOf(free))});
    if (!gone.ok()) co_return gone.error();
    Result<Value> live = co_await hub_.api().Get(federation::kOverridePolicies, kube::Name::Of(free));
    if (!live.ok()) co_return live.error().kind() == ErrorKind::kNotFound ? Result<void>() : Result<void>(live.error());
    free = *std::move(live);
  }
  free.Edit("metadata").Set("finalizers", json::Array());
  const Result<Value> written = co_await hub_.api().Update(federation::kOverridePolicies, free);
  if (!written.ok() && written.error().kind() != ErrorKind::kNotFound) co_return written.error();
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::Bind(Look& look, const BindingState& state) {
  if (look.binding.is_null()) co_return UnavailableError("the workload's binding is gone; it is made anew");
  if (look.seen.binding.fence == 0) CO_TRY(co_await WriterStands(look));
  const bool over = !state.locked && look.writer.holder.cluster == look.writer.claim->target.cluster;
  Value current = look.binding;
  if (options_.own_hub && over) {
    current = CO_TRY(
        co_await federation_.schedule().SettleIn(kube::Name::Of(current).Key(), current, look.writer.holder.cluster));
  }
  Value next = WriteBinding(state, current, *look.writer.claim, look.writer_object["spec"]["prior"]);
  // The target keeps the revision that this move is about, whatever the template has become meanwhile, and whatever is
  // still recorded of an earlier stay there.
  const std::string& target = look.writer.claim->target.cluster;
  const std::string revision(PinnedOf(look.writer_object)["revision"].str());
  const std::optional<federation::Release> released = federation::ReleasedTo(next, target);
  const bool has_it = released && GUARD("handoff.releases_what_it_moves", released->revision == revision);
  if (!revision.empty() && state.clusters.contains(target) && !has_it) {
    const Result<Value> kept = co_await hub_.api().Get(federation::kControllerRevisions,
                                                       {std::string(kube::NamespaceOf(look.binding)), revision});
    if (!kept.ok() && kept.error().kind() != ErrorKind::kNotFound) co_return kept.error();
    if (kept.ok()) next = federation::WithRelease(std::move(next), target, *kept);
  }
  Result<Value> written = co_await hub_.api().Update(federation::kResourceBindings, next);
  if (!written.ok()) co_return std::move(written).error();
  hub_.Learn(federation::kResourceBindings, *written);
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::Validate(Look& look) {
  const Claim& claim = *look.writer.claim;
  const std::shared_ptr<federation::Member> member = hub_.members().Find(claim.target.cluster);
  if (member == nullptr) co_return UnavailableError(hub_.members().WhyNot(claim.target.cluster));
  std::string refused = CO_TRY(co_await WouldTake(*member, look.workload, PinnedOf(look.writer_object)["target"],
                                                  *look.profile, claim, look.writer.seq));
  Memory& memory = memory_[look.spec.migration.uid];
  memory.valid_for_attempt = claim.attempt;
  memory.target_valid = refused.empty();
  memory.target_invalid = std::move(refused);
  co_return Result<void>();
}

}  // namespace baton::rollout
