// Looking: everything that Next decides on, read live.
#include <algorithm>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "federation/resources.h"
#include "json/rfc3339.h"
#include "placement/prepared.h"
#include "rollout/engine.h"
#include "rollout/preflight.h"
#include "rollout/question.h"
#include "rollout/restarts.h"
#include "rt/when.h"

namespace baton::rollout {
namespace {

using json::Value;

Sighting::Progress ProgressOf(const std::string& text) {
  return text == "none" ? Sighting::Progress::kNone
                        : (text == "some" ? Sighting::Progress::kSome : Sighting::Progress::kUnknown);
}

bool MayMoveFromCheckpoint(const interpret::Profile& profile, const Value& pinned) {
  return profile.has_last_checkpoint() && !profile.IsHeld(json::Object({{"spec", pinned["source"]}})) &&
         !profile.IsHeld(json::Object({{"spec", pinned["target"]}}));
}

// More of the same.
void AddRelated(Value& related, const Value& more) {
  for (const std::string_view list : {"remains", "kept"}) {
    for (const Value& one : more[list].items()) related.Edit(list).Push(one);
  }
}

}  // namespace

// The Writer first: whatever is read after it is at least as new.
rt::Task<Result<void>> Engine::LoadWriter(Look& look, Value writer) {
  const kube::Name name{std::string(kube::NamespaceOf(look.object)), WriterName(look.spec.kind, look.spec.workload)};
  // One that was read ahead may be another workload's: the migration was made anew.
  const bool given = !writer.is_null() && kube::NameOf(writer) == name.name;
  look.writer_object = given ? std::move(writer) : CO_TRY(co_await GetOrNull(hub_.api(), kWriters, name));
  look.writer = ReadWriter(look.writer_object);
  co_return Result<void>();
}

rt::Task<Result<void>> Engine::ReadHubAs(HubPart& part, Look& look, HubCopies copies) {
  Result<void> read = co_await ReadHub(look, std::move(copies));
  // Before the members' objects: one that is seen gone then is not made any more.
  if (read.ok() && (look.spec.migration.attestation || !look.seen.template_found)) read = co_await SeeWorks(look);
  if (read.ok() && options_.own_hub) read = co_await SeeWhatIsOrdered(look);
  part.ok = read.ok();
  part.read.Set();
  co_return read;
}

namespace {

rt::Task<Result<Value>> Given(Value value) { co_return value; }

}  // namespace

rt::Task<Result<void>> Engine::ReadHub(Look& look, HubCopies copies) {
  const std::string ns(kube::NamespaceOf(look.object));
  const Result<kube::Resource> resource = co_await hub_.ResourceOf(look.spec.api_version, look.spec.kind);
  if (!resource.ok() && resource.error().kind() != ErrorKind::kNotFound) co_return resource.error();
  const auto read = [&](std::optional<Value>& copy, const kube::Resource& of, std::string name) {
    look.borrowed = look.borrowed || copy;
    return copy ? Given(*std::move(copy)) : GetOrNull(hub_.api(), of, {ns, std::move(name)});
  };
  std::vector<rt::Task<Result<Value>>> parts;
  parts.push_back(read(copies.binding, federation::kResourceBindings,
                       api::karmada::BindingName(look.spec.kind, look.spec.workload)));
  parts.push_back(read(copies.override_policy, federation::kOverridePolicies, OverrideName(look.spec.migration.uid)));
  if (resource.ok()) parts.push_back(read(copies.workload, *resource, look.spec.workload));
  std::vector<Result<Value>> all = co_await rt::WhenAll(std::move(parts));
  look.binding = CO_TRY(std::move(all[0]));
  look.override_policy = CO_TRY(std::move(all[1]));
  if (resource.ok()) look.workload = CO_TRY(std::move(all[2]));
  const bool same = !look.workload.is_null() && !kube::IsDeleting(look.workload) &&
                    (look.writer_object.is_null() || look.writer_object["spec"]["workload"]["uid"].str().empty() ||
                     GUARD("handoff.same_template",
                           look.writer_object["spec"]["workload"]["uid"].str() == kube::UidOf(look.workload)));
  look.seen.template_found = same;
  // A move that has begun goes on to its end whatever happens to the template: it is gone, or opted out meanwhile.
  const bool mine = look.writer.claim && look.writer.claim->migration_uid == look.spec.migration.uid;
  look.profile = mine || look.workload.is_null() ? profiles_.ForKind(look.spec.api_version, look.spec.kind)
                                                 : profiles_.Managing(look.workload);
  if (mine && look.workload.is_null()) {
    look.workload = json::Object({{"apiVersion", look.spec.api_version}, {"kind", look.spec.kind}});
    look.workload.Edit("metadata").Set("name", look.spec.workload);
    look.workload.Edit("metadata").Set("namespace", ns);
  }
  co_return Result<void>();
}

// Whether the phase that was told last is of the stage that the Writer says. Right after a swap it is that of the stage
// before, and how long that one took must not count as lateness of this one.
static bool IsOfStage(const Writer& writer, Phase told) {
  const Claim& claim = *writer.claim;
  if (claim.intent == Intent::kAbort) return told == Phase::kAborting;
  if (claim.intent == Intent::kWithdraw) return told == Phase::kWithdrawing;
  if (writer.holder.cluster != claim.target.cluster) return (told == Phase::kQuiescing) == writer.stop.has_value();
  if (claim.verified) return told == Phase::kCleaning;
  return told == Phase::kGranted || told == Phase::kVerifying;
}

// Most looks find it as the one before did: reading it means making it anew, to see whether it says exactly that.
std::optional<OverrideState> Engine::OverrideStateOf(const Look& look) {
  const auto remembered = memory_.find(look.spec.migration.uid);
  const auto read = [&] {
    return ReadOverride(look.override_policy, *look.writer.claim, look.workload, Pinned(look), *look.profile);
  };
  if (remembered == memory_.end()) return read();
  auto& known = remembered->second.override_read;
  const bool same = known.profile == look.profile && known.policy.SharesStorageWith(look.override_policy) &&
                    known.writer.SharesStorageWith(look.writer_object) &&
                    known.workload.SharesStorageWith(look.workload);
  if (!same) {
    known = {.policy = look.override_policy,
             .writer = look.writer_object,
             .workload = look.workload,
             .profile = look.profile,
             .state = read()};
  }
  return known.state;
}

rt::Task<Result<Engine::Look>> Engine::Observe(const Value& object, Value writer, HubCopies copies) {
  Look look;
  look.object = object;
  look.spec = CO_TRY(ReadMigration(object, hub_.loop().WallNow()));
  CO_TRY(co_await LoadWriter(look, std::move(writer)));
  Observation& seen = look.seen;
  const bool mine = look.writer.claim && look.writer.claim->migration_uid == look.spec.migration.uid;
  if (mine) look.profile = profiles_.ForKind(look.spec.api_version, look.spec.kind);
  if (mine && look.profile != nullptr) {
    const Claim& claim = *look.writer.claim;
    HubPart hub;
    auto [read, source, target] =
        co_await rt::WhenAll(ReadHubAs(hub, look, std::move(copies)), See(look, claim.source, false, hub),
                             See(look, claim.target, true, hub));
    CO_TRY(std::move(read));
    seen.source = std::move(source);
    seen.target = std::move(target);
    // A side that is slow or silent is waited for: what has stopped in the other one meanwhile would count as running,
    // when the move is to end, or the source is to go, because it runs there.
    const bool forward = claim.intent == Intent::kForward;
    Sighting& runs = forward ? seen.target : seen.source;
    const bool is_old = runs.runs && hub_.loop().Now() - runs.at > kAroundMax;
    if (is_old && (!forward || look.writer.holder.cluster == claim.target.cluster)) {
      SOMETIMES("rollout.what_runs_is_seen_again");
      runs = co_await See(look, forward ? claim.target : claim.source, forward, hub);
    }
  } else {
    CO_TRY(co_await ReadHub(look));
  }
  seen.fence = Fence();
  seen.own_hub = options_.own_hub;
  seen.in_phase = TimeInPhase(object, look.spec.migration, hub_.loop().WallNow());
  seen.override_exists = !look.override_policy.is_null();
  seen.binding_found = !look.binding.is_null();
  if (!mine) {
    const bool begins =
        look.writer.ended_uid != look.spec.migration.uid && look.spec.migration.phase == Phase::kPending;
    if (begins && !look.writer.claim) CO_TRY(co_await Check(look));
    if (!look.spec.unreadable.empty()) seen.problems.push_back(look.spec.unreadable);
    co_return look;
  }
  const Claim& claim = *look.writer.claim;
  // Somebody was told that it has ended (refused, say): it does not go on then, it goes back.
  if (IsEnd(look.spec.migration.phase)) look.spec.migration.abort = true;
  if (seen.template_found && !IsOfStage(look.writer, look.spec.migration.phase)) seen.in_phase = {};
  const Memory& known = memory_[look.spec.migration.uid];
  if (known.valid_for_attempt == claim.attempt) {
    seen.target_valid = known.target_valid.value_or(false);
    seen.target_invalid = known.target_invalid;
  }
  seen.kind_known = look.profile != nullptr;
  if (look.profile == nullptr || !IsWhole(look.writer)) co_return look;
  seen.prepares = look.profile->prepares();
  // It may have been asked for after the checks before the move, which refuse it where the kind has none, and where its
  // owner has put it on hold.
  if (look.spec.migration.last_checkpoint && !MayMoveFromCheckpoint(*look.profile, PinnedOf(look.writer_object)))
    look.spec.migration.last_checkpoint = false;
  seen.override_fence = FenceOfOverride(look.override_policy);
  seen.override_state = OverrideStateOf(look);
  seen.binding = ReadBinding(look.binding, claim);
  const Value& status = look.binding["status"];
  // What a user has paused the scheduler does not look at, and does not change either.
  seen.binding_settled =
      look.binding["spec"]["suspension"]["scheduling"].bool_or(false) ||
      status["schedulerObservedGeneration"].int_or(0) == look.binding["metadata"]["generation"].int_or(0);
  // What stays managed is never moved by the scheduler alone: what its policy wants then is another move.
  const bool stays_managed = options_.own_hub && profiles_.Asked(look.workload) != nullptr;
  seen.target_allowed = stays_managed || !claim.verified || look.workload.is_null() || look.binding.is_null() ||
                        federation_.schedule().Keeps(look.binding, claim.target.cluster);
  // The migration may have been removed while we looked: then nothing is remembered of it.
  const auto remembered = memory_.find(look.spec.migration.uid);
  Memory forgotten;
  Memory& memory = remembered == memory_.end() ? forgotten : remembered->second;
  if (look.writer.stop && seen.target.answered) {
    const std::string& uid = look.writer.stop->uid;
    if (seen.target.found) {
      memory.late_start.Looked(seen.target.uid, seen.target.at);
    } else {
      seen.target.started_unseen = memory.late_start.WentUnseen(uid, seen.target.at);
    }
  }
  if (seen.target.start_proven && seen.target.seq == look.writer.seq) {
    const bool same_processes = !HasRestarted(memory.restarts, seen.target.restarts);
    const bool broken = !GUARD("handoff.restart_is_a_break", same_processes);
    if (broken && memory.proven_since) {
      SOMETIMES("rollout.restarted_between_two_looks");
      memory.proven_since.reset();
    }
    // What ended is held against the looks from before it until it has begun again: the time begins only then. A
    // container that was like that from the beginning does not hold the move up.
    if (!(broken && seen.target.restarting)) {
      memory.restarts = seen.target.restarts;
      if (!memory.proven_since) memory.proven_since = seen.target.at;
      seen.proven_for = seen.target.at - *memory.proven_since;
    }
  } else if (GUARD_STANDS("handoff.start_proof_without_a_break")) {
    if (memory.proven_since) SOMETIMES("rollout.start_proof_was_broken");
    memory.proven_since.reset();
  }
  co_return look;
}

rt::Task<Result<Value>> Engine::SeeRelated(federation::Member& member, const Look& look, RelatedPart part) {
  // The template may be gone, or its selector another one by now: what was pinned is what runs.
  const Value pinned = json::Object({{"spec", PinnedOf(look.writer_object)["source"]}});
  return RelatedIn(member, *look.profile, std::string(kube::NamespaceOf(look.object)), look.spec.workload, pinned,
                   part);
}

// What may be asked for before the object is, and the probe, if there is to be one.
rt::Task<Result<Value>> Engine::SeeFirst(federation::Member& member, const Look& look, bool probe, int64_t seq) {
  if (!probe) co_return co_await SeeRelated(member, look, RelatedPart::kAllButLast);
  const Value wanted = look.profile->Probe(look.spec.workload, kube::NamespaceOf(look.object), seq);
  auto [found, probed] =
      co_await rt::WhenAll(SeeRelated(member, look, RelatedPart::kAllButLast), SeeProbe(member, wanted));
  Value related = CO_TRY(std::move(found));
  const std::optional<Value> made = CO_TRY(std::move(probed));
  if (!made) related.Set("probeUnavailable", true);
  if (made && !made->is_null()) related.Set("probe", *made);
  co_return related;
}

// Null: it is not there. None: there can be none.
rt::Task<Result<std::optional<Value>>> Engine::SeeProbe(federation::Member& member, Value wanted) {
  if (wanted.is_null()) co_return std::optional<Value>();
  Result<kube::Resource> resource = co_await member.mapper().ForObject(wanted);
  if (!resource.ok() && resource.error().kind() == ErrorKind::kNotFound) co_return std::optional<Value>();
  if (!resource.ok()) co_return resource.error();
  co_return std::optional<Value>(CO_TRY(co_await GetOrNull(member.api(), *resource, kube::Name::Of(wanted))));
}

// While it stops, and while it is held before a start: what its profile wants beside it is made, and asked for.
rt::Task<Result<void>> Engine::SeeBeside(federation::Member& member, const Look& look, const Value& object,
                                         const Value& related, const interpret::Question& question,
                                         Sighting& sighting) {
  if (!sighting.held || sighting.deleting) co_return Result<void>();
  const Writer& writer = look.writer;
  const bool stopping = question.stop_seq >= 0 && question.start_seq < 0 && !sighting.stop_proven &&
                        sighting.seq == question.stop_seq && sighting.uid == writer.stop->uid;
  const bool starting = question.start_seq >= 0 && !question.ref.empty();
  if (look.profile->HasBeside() && (stopping || starting)) {
    const Result<void> made = co_await MakeBeside(member, look, object, related, question);
    if (!made.ok()) {
      sighting.stop_missing = made.error().message();
      sighting.unprepared = made.error().message();
      co_return Result<void>();
    }
  }
  if (!stopping) sighting.unprepared = CO_TRY(look.profile->Prepared(object, related, question));
  co_return Result<void>();
}

// A create that comes late has no version to fail on: it may arrive when another leader has ended the move.
rt::Task<Result<void>> Engine::TakeBackLateProbe(federation::Member& member, const Look& look, int64_t seq) {
  const std::string writer_name = WriterName(look.spec.kind, look.spec.workload);
  const Value now =
      CO_TRY(co_await GetOrNull(hub_.api(), kWriters, {std::string(kube::NamespaceOf(look.object)), writer_name}));
  if (now["spec"]["claim"]["migrationUID"].str() == look.spec.migration.uid) co_return Result<void>();
  SOMETIMES("rollout.late_probe_taken_back");
  const Value probe = look.profile->Probe(look.spec.workload, kube::NamespaceOf(look.object), seq);
  const kube::Resource resource = CO_TRY(co_await member.mapper().ForObject(probe));
  const Result<Value> gone = co_await member.api().Delete(resource, kube::Name::Of(probe));
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return gone.error();
  co_return Result<void>();
}

// It would be waited for in vain. The next look makes another one.
rt::Task<Result<void>> Engine::RemoveSpentProbe(federation::Member& member, const Value& probe) {
  const kube::Resource resource = CO_TRY(co_await member.mapper().ForObject(probe));
  const kube::DeleteOptions this_one{.uid = std::string(kube::UidOf(probe))};
  const Result<Value> gone = co_await member.api().Delete(resource, kube::Name::Of(probe), this_one);
  if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound && gone.error().kind() != ErrorKind::kConflict)
    co_return gone.error();
  co_return Result<void>();
}

Result<bool> Engine::Unheard(const federation::Member& member, const kube::Resource& resource, const Look& look,
                             const Value& object, const Value& related, const interpret::Question& question,
                             const Sighting& sighting) {
  const kube::Informer* told = member.Find(resource);
  const kube::Name name = kube::Name::Of(look.workload);
  if (told == nullptr || told->trouble() || told->Get(name.Key()).is_null() != object.is_null()) return true;
  if (object.is_null()) return sighting.remains;
  if (look.profile->HasBeside() || !related["kept"].empty() || sighting.deleting) return true;
  const bool stops = question.stop_seq >= 0 && !sighting.stop_proven;
  const bool starts = question.start_seq >= 0 && !sighting.start_proven;
  if (!stops && !starts) return false;
  // Were there nothing beside it, and no probe to wait for: is it then the object that is waited for?
  const Value alone = json::Object({{"remains", json::Array()}, {"kept", json::Array()}, {"probeUnavailable", true}});
  const interpret::Judgement judgement = TRY(look.profile->Judge(object, alone, question));
  return (stops && judgement.stop_proven) || (starts && judgement.start_proven);
}

// The next look at a move that waits, if nothing wakes it before: soon while something is waited for that nothing tells
// of, else seldom, and always when a time of its own has come.
Duration Engine::UntilNextLook(const Look& look, const Decision& decision) const {
  const Migration& migration = look.spec.migration;
  const Observation& seen = look.seen;
  const bool mine = look.writer.claim && look.writer.claim->migration_uid == migration.uid;
  const bool heard = !seen.source.unheard && !seen.target.unheard && !migrations_.trouble();
  if (!mine || NewestFence(look.writer, seen) > seen.fence) return kLookAgain;
  Duration wait = decision.deadline ? kLookSeldom : kLookRarely;
  if (!heard) wait = std::clamp<Duration>(seen.in_phase / kWaitParts, kLookAgain, kLookSeldom);
  const auto at_most = [&](Duration until) { wait = std::min(wait, std::max<Duration>(until, milliseconds(1))); };
  if (decision.deadline && *decision.deadline > seen.in_phase) at_most(*decision.deadline - seen.in_phase);
  // That it holds without a break is what is proven now, and a break may show in its pods alone.
  if (seen.target.start_proven && migration.stabilization > seen.proven_for)
    at_most(std::min(kLookAgain, migration.stabilization - seen.proven_for));
  if (!migration.waiting_for_window.empty()) {
    const WallTime now = hub_.loop().WallNow();
    at_most(minutes(1) - now.time_since_epoch() % minutes(1));  // windows open at full minutes
    const Result<WallTime> not_before = json::ParseTime(look.object["spec"]["notBefore"].str());
    if (not_before.ok() && *not_before > now) at_most(*not_before - now);
  }
  return wait;
}

rt::Task<Sighting> Engine::See(const Look& look, const Holder& meant, bool is_target, HubPart& hub) {
  Sighting sighting;
  const std::shared_ptr<federation::Member> member = hub_.members().Find(meant.cluster);
  const auto is_ready = [&] {
    const Value cluster = hub_.clusters().Get(meant.cluster);
    return federation::FindCondition(cluster["status"], "Ready")["status"].str() == "True";
  };
  sighting.answers_partly = is_ready();  // while a leader begins, it does not reach all members yet
  if (member == nullptr) co_return sighting;
  bool heard = false;
  const interpret::Question question = QuestionFor(look.writer_object, look.writer, *look.profile, is_target);
  const kube::Name name{std::string(kube::NamespaceOf(look.object)), look.spec.workload};
  const bool probe = is_target && question.start_seq >= 0 && !look.borrowed;  // nothing is ordered to start yet
  std::optional<kube::Resource> resource;
  Value related;
  bool probed = false;
  // Whose cluster it is, and related things, first; the object last, when the hub has been read too: what it says is
  // then at least as new as all of them. The last of the related things is asked for with it: neither order is better
  // for a workload that is there. Of one that is not, see below.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto see_home = [&]() -> rt::Task<Result<Value>> {
    Result<Value> home = co_await GetOrNull(member->api(), federation::kNamespaces, {"", "kube-system"});
    heard = heard || home.ok();
    co_return home;
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto look_around = [&]() -> rt::Task<Result<void>> {
    const kube::GroupVersion version = kube::ParseApiVersion(look.spec.api_version);
    resource = CO_TRY(co_await member->mapper().ForKind(version.group, version.version, look.spec.kind));
    std::vector<rt::Task<Result<Value>>> first;
    first.push_back(see_home());
    first.push_back(SeeFirst(*member, look, probe, question.start_seq));
    std::vector<Result<Value>> around = co_await rt::WhenAll(std::move(first));
    const Value home = CO_TRY(std::move(around[0]));
    sighting.cluster_id = kube::UidOf(home);
    related = CO_TRY(std::move(around[1]));
    co_return Result<void>();
  };
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited in this frame, which keeps it
  const auto look_there = [&]() -> rt::Task<Result<void>> {
    auto [there, last] =
        co_await rt::WhenAll(GetOrNull(member->api(), *resource, name), SeeRelated(*member, look, RelatedPart::kLast));
    const Value object = CO_TRY(std::move(there));
    AddRelated(related, CO_TRY(std::move(last)));
    // Nothing may be left of it: what it had made up to its end is found only after that.
    if (object.is_null() && related["remains"].empty())
      related = CO_TRY(co_await SeeRelated(*member, look, RelatedPart::kAll));
    sighting.remains = !related["remains"].empty();
    if (is_target) {
      sighting.restarts = RestartsOf(related["remains"]);
      sighting.restarting = IsBetweenLives(related["remains"]);
    }
    sighting.pods_run = std::ranges::any_of(related["remains"].items(),
                                            [](const Value& one) { return one["status"]["phase"].str() == "Running"; });
    sighting.found = !object.is_null();
    if (!sighting.found) {
      sighting.unheard = CO_TRY(Unheard(*member, *resource, look, object, related, question, sighting));
      co_return Result<void>();
    }
    sighting.uid = kube::UidOf(object);
    sighting.deleting = kube::IsDeleting(object);
    sighting.seq = look.profile->EpochOf(object);
    const interpret::Judgement judgement = CO_TRY(look.profile->Judge(object, related, question));
    sighting.held = judgement.held;
    sighting.runs = judgement.runs;
    sighting.prior_path = judgement.prior_path;
    sighting.stop_proven = judgement.stop_proven;
    sighting.capture = judgement.capture;
    sighting.stop_missing = judgement.stop_missing;
    sighting.stop_failed = judgement.stop_failed;
    sighting.state_lost = judgement.state_lost;
    sighting.ending = judgement.ending;
    sighting.in_hand = judgement.in_hand;
    sighting.unsure = judgement.unsure;
    sighting.start_proven = judgement.start_proven;
    sighting.start_missing = judgement.start_missing;
    sighting.start_failed = judgement.start_failed;
    sighting.progress = ProgressOf(judgement.progress);
    const auto memory = memory_.find(look.spec.migration.uid);
    const bool goes_back = is_target && look.writer.claim->intent == Intent::kWithdraw;
    const bool none = judgement.stop_proven && sighting.progress == Sighting::Progress::kNone;
    if (memory != memory_.end() && goes_back && none)
      memory->second.late_start.Judged(meant.cluster, object, look.profile, question);
    CO_TRY(co_await SeeBeside(*member, look, object, related, question, sighting));
    sighting.unheard = CO_TRY(Unheard(*member, *resource, look, object, related, question, sighting));
    const bool may_probe = probe && judgement.runs && sighting.seq == look.writer.seq;
    if (may_probe && judgement.probe_spent) {
      const Result<void> removed = co_await RemoveSpentProbe(*member, related["probe"]);
      if (!removed.ok()) sighting.start_missing = removed.error().message();  // the cluster answers all the same
    }
    if (may_probe && !related.Has("probe") && !related["probeUnavailable"].bool_or(false)) {
      const Value wanted = look.profile->Probe(look.spec.workload, name.ns, question.start_seq);
      const kube::Resource probes = CO_TRY(co_await member->mapper().ForObject(wanted));
      probed = true;
      const Result<Value> made = co_await member->api().Create(probes, wanted);
      if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists)
        sighting.start_missing = made.error().message();
    }
    co_return Result<void>();
  };
  const auto in_time = [&](rt::Task<Result<void>> part) {
    return rt::WithDeadline(rt::Deadline::After(hub_.loop(), kSightTimeout), "the member's answer", std::move(part));
  };
  const MonotonicTime begun = hub_.loop().Now();
  Result<void> seen = co_await in_time(look_around());
  co_await hub.read.Wait();  // however long that takes: it is not the member who is late then
  if (seen.ok() && !hub.ok) seen = UnavailableError("the hub did not answer");
  // Whose cluster it is and what is beside the object must be of about the same time as the object.
  const bool old = hub_.loop().Now() - begun > kAroundMax;
  if (seen.ok() && old) seen = co_await in_time(look_around());
  if (seen.ok()) seen = co_await in_time(look_there());
  // A person's word is weighed against one call more: what failed may not have asked the cluster anything.
  if (!seen.ok() && !heard && look.spec.migration.attestation) {
    [[maybe_unused]] const Result<Value> home =
        co_await rt::WithDeadline(rt::Deadline::After(hub_.loop(), kSightTimeout), "the member's answer", see_home());
  }
  sighting.at = hub_.loop().Now();
  sighting.answered = seen.ok();
  sighting.answers_partly = heard || is_ready();
  if (probed) {
    const Result<void> wanted = co_await TakeBackLateProbe(*member, look, question.start_seq);
    if (!wanted.ok()) sighting.start_missing = wanted.error().message();
  }
  if (!seen.ok()) sighting.stop_missing = seen.error().message();
  co_return sighting;
}

// What the pipe has made of binding, template and override: it writes Works whether or not their cluster answers.
rt::Task<Result<void>> Engine::SeeWorks(Look& look) {
  const Claim& claim = *look.writer.claim;
  const std::string name = api::karmada::WorkName(look.spec.kind, kube::NamespaceOf(look.object), look.spec.workload);
  const auto work_in = [&](const std::string& cluster) {
    return GetOrNull(hub_.api(), federation::kWorks, {api::karmada::ExecutionNamespace(cluster), name});
  };
  auto [in_source, in_target] = co_await rt::WhenAll(work_in(claim.source.cluster), work_in(claim.target.cluster));
  const Value source = CO_TRY(std::move(in_source));
  const Value target = CO_TRY(std::move(in_target));
  const auto goes = [](const Value& object) { return object.is_null() || kube::IsDeleting(object); };
  // What is of a template that was made anew under that name came after the removal of the earlier one's, and is made
  // when this move has ended.
  const Value& moved = look.writer_object["spec"]["workload"]["uid"];
  const auto is_later = [&](const Value& uid) {
    return !moved.str().empty() && !uid.str().empty() && uid.str() != moved.str();
  };
  const auto work_goes = [&](const Value& work) {
    const Value& rendered = work["spec"]["workload"]["manifests"][0];
    return goes(work) || is_later(rendered["metadata"]["annotations"][api::karmada::kTemplateUid]);
  };
  const bool binding_goes = goes(look.binding) || is_later(look.binding["spec"]["resource"]["uid"]);
  look.seen.removal_ordered = binding_goes && work_goes(source) && work_goes(target);
  const Value& manifest = source["spec"]["workload"]["manifests"][0];
  look.seen.source_rendered =
      !goes(source) && manifest.is_object() && look.profile->EpochOf(manifest) == look.writer.seq;
  co_return Result<void>();
}

// Whether the pipe still has something to make of what is to go.
rt::Task<Result<void>> Engine::SeeWhatIsOrdered(Look& look) {
  const Claim& claim = *look.writer.claim;
  const bool goes_back = claim.intent != Intent::kForward;
  if (!goes_back && !claim.verified) co_return Result<void>();
  const std::string& cluster = (goes_back ? claim.target : claim.source).cluster;
  const std::string name = api::karmada::WorkName(look.spec.kind, kube::NamespaceOf(look.object), look.spec.workload);
  const Value work =
      CO_TRY(co_await GetOrNull(hub_.api(), federation::kWorks, {api::karmada::ExecutionNamespace(cluster), name}));
  look.seen.still_ordered = !work.is_null();
  co_return Result<void>();
}

// The checks before a move: no side effects, and every reason at once.
rt::Task<Result<void>> Engine::Check(Look& look) {
  Observation& seen = look.seen;
  const Result<WallTime> asked = json::ParseTime(look.object["metadata"]["creationTimestamp"].str());
  const Duration since = asked.ok() ? hub_.loop().WallNow() - *asked : Duration::max();
  const bool young = since < look.spec.migration.deadlines.plan;
  Preflight found = CO_TRY(co_await CheckBefore(federation_, profiles_,
                                                {.spec = look.spec,
                                                 .writer = look.writer,
                                                 .workload = look.workload,
                                                 .binding = look.binding,
                                                 .profile = look.profile,
                                                 .own_hub = options_.own_hub,
                                                 .fence = seen.fence,
                                                 .patient = young,
                                                 .fresh = since < kPolicyArrives}));
  seen.preflight_done = true;
  seen.problems = found.Problems();
  seen.proposal = std::move(found.proposal);
  look.pinned = std::move(found.pinned);
  look.prior = std::move(found.prior);
  co_return Result<void>();
}

}  // namespace baton::rollout
