// What all stages of the protocol say, and how they look.
#include "rollout/next_steps.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"

namespace baton::rollout::next_internal {

// ---- saying what to do
// -------------------------------------------------------------------------------------------------

Decision Do(Phase phase, Effect effect, std::string message) {
  return {.phase = phase, .effect = std::move(effect), .message = std::move(message)};
}

Decision Wait(Phase phase, std::string waiting_for, Duration deadline) {
  return {.phase = phase,
          .effect = NoEffect{},
          .message = StrCat("waiting for ", waiting_for),
          .waiting_for = waiting_for,
          .deadline = deadline};
}

Decision Ask(Phase phase, std::string what, std::string who) {
  return {
      .phase = phase, .effect = NoEffect{}, .message = StrCat(what, "; ", who), .waiting_for = what, .blocked = true};
}

Decision End(Phase phase, std::string message) { return {.phase = phase, .message = std::move(message)}; }

// ---- the Writer's changes
// ----------------------------------------------------------------------------------------------

// The state directory of one stop: no other stop ever has the same.
static std::string StateDir(const Claim& claim, int64_t seq) {
  return StrCat(claim.migration_uid, "-", claim.attempt, "-", seq);
}

Writer WithStop(const Writer& writer, const Holder& whom, const std::string& uid, const std::string& prior_path) {
  Writer next = writer;
  next.seq = writer.seq + 1;
  next.stop = Stop{.seq = next.seq,
                   .cluster = whom.cluster,
                   .uid = uid,
                   .prior_path = prior_path,
                   .state_dir = StateDir(*writer.claim, next.seq)};
  return next;
}

Writer WithHolder(const Writer& writer, const Holder& from, const Holder& to, const std::string& capture,
                  std::string how) {
  Writer next = writer;
  next.seq = writer.seq + 1;
  next.holder = to;
  next.receipt = Receipt{.seq = next.seq,
                         .migration_uid = writer.claim->migration_uid,
                         .attempt = writer.claim->attempt,
                         .from = from.cluster,
                         .from_id = from.cluster_id,
                         .from_uid = writer.stop ? writer.stop->uid : std::string(),
                         .to = to.cluster,
                         .to_id = to.cluster_id,
                         .capture = capture,
                         .how = std::move(how),
                         .previous = writer.receipt ? writer.receipt->hash : std::string()};
  return next;
}

Writer Ended(const Writer& writer, Phase end) {
  Writer next = writer;
  next.ended_uid = writer.claim->migration_uid;
  next.ended = end;
  next.claim.reset();
  if (GUARD_STANDS("handoff.stop_is_of_one_attempt")) next.stop.reset();
  return next;
}

// ---- looking
// -----------------------------------------------------------------------------------------------------------

bool Answers(const Sighting& sighting, const Holder& meant) {
  return sighting.answered && GUARD("rollout.same_cluster", sighting.cluster_id == meant.cluster_id);
}

// Why what is seen there says nothing.
std::string Unreached(const Sighting& sighting, const Holder& meant) {
  if (!sighting.answered) return StrCat("cluster ", meant.cluster, " does not answer");
  return StrCat("cluster ", meant.cluster, " is another one than the one that joined");
}

// What is waited for then.
std::string ToAnswer(const Sighting& sighting, const Holder& meant) {
  if (!sighting.answered) return StrCat("cluster ", meant.cluster, " to answer");
  return StrCat("the cluster ", meant.cluster, " that joined: another one answers under its name");
}

// Why it must not be told to start there yet; "": it may be. What it starts from is brought to it while it is held, and
// only an answer says that it is there: a start without it would be one from nothing.
std::string NotReady(const Observation& seen, const Sighting& there, const Holder& meant) {
  const bool looked_at = Answers(there, meant) && there.found;
  if (looked_at && !there.unprepared.empty()) return StrCat(meant.cluster, " to be ready for it: ", there.unprepared);
  if (!seen.prepares || GUARD("handoff.ready_before_it_starts", looked_at && there.held && !there.deleting)) return {};
  if (!Answers(there, meant)) return ToAnswer(there, meant);
  return StrCat("the held workload in ", meant.cluster);
}

bool MayBeMade(const Observation& seen, const Claim& claim) {
  return seen.own_hub || GUARD("rollout.target_is_absent", SeenGone(seen.target, claim.target));
}

bool MayBeMadeWithout(const Writer& writer, const Observation& seen) {
  return MayBeMade(seen, *writer.claim) && (seen.own_hub || writer.stop || seen.source_rendered);
}

// The stop of `meant`, proven by this very look.
bool StopProven(const Writer& writer, const Sighting& sighting, const Holder& meant) {
  return Answers(sighting, meant) && sighting.found && GUARD("rollout.same_object", sighting.uid == writer.stop->uid) &&
         GUARD("rollout.not_deleting", !sighting.deleting) && GUARD("rollout.spec_is_held", sighting.held) &&
         GUARD("rollout.epoch_of_this_stop", sighting.seq == writer.stop->seq) &&
         GUARD("rollout.stop_proof", sighting.stop_proven);
}

// A person named this cluster as the one that has stopped for good.
bool IsVouchedFor(const Migration& migration, const Claim& claim, const Holder& which) {
  if (!migration.attestation) return false;
  const std::string& named = migration.attestation->cluster;
  return which.cluster == (named.empty() ? claim.source.cluster : named);
}

// What another cluster says that has its name is nothing of this one.
bool IsAway(const Sighting& sighting, const Holder& meant) {
  return sighting.answered ? !Answers(sighting, meant) : !sighting.answers_partly;
}

bool Attested(const Migration& migration, const Claim& claim, const Holder& which, const Sighting& sighting) {
  return IsVouchedFor(migration, claim, which) && IsAway(sighting, which);
}

// What a workload calls its state while it runs is the state that it began from. A person who names that one, as its
// status shows it, would undo all that was done since. So is what an earlier stop of this move captured, once an abort
// has let it run on from there.
bool Rewinds(const Writer& writer, const Claim& claim, const Attestation& word) {
  if (word.rewind || word.state_ref.empty()) return false;
  const bool granted = writer.receipt && writer.receipt->to == claim.source.cluster;
  const bool began =
      writer.stop->prior_path == word.state_ref || (granted && writer.receipt->capture == word.state_ref);
  const bool ran_on = claim.attempt > 1 && word.state_ref.find(claim.migration_uid) != std::string::npos &&
                      word.state_ref.find(writer.stop->state_dir) == std::string::npos;
  if (ran_on) return true;
  return !GUARD("handoff.attested_state_is_no_beginning", !began);
}

// A grant on a person's word.
Writer OnTheWordOf(const Attestation& attestation, Writer granted) {
  granted.receipt->attested_by = attestation.by;
  granted.receipt->why = attestation.reason;
  return granted;
}

BindingState Locked(std::set<std::string> clusters, const Claim& claim, int64_t fence) {
  return {.clusters = std::move(clusters), .locked = true, .fence = fence, .attempt = claim.attempt};
}

// A step that every stage begins with: the override and the binding are as the stage wants them, and ours.
std::optional<Decision> Assert(Phase phase, const Writer& writer, const Observation& seen,
                               const std::set<std::string>& clusters) {
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  if (seen.override_state != wanted) return Do(phase, PutOverride{*wanted}, "setting the override of this move");
  const Claim& claim = *writer.claim;
  BindingState locked = Locked(clusters, claim, seen.fence);
  // A foreign hub may have created the target from an older list, and may remove it for one that does not have it yet.
  if (!seen.own_hub && claim.intent == Intent::kForward && !clusters.contains(claim.target.cluster))
    locked.kept.insert(claim.target.cluster);
  if (seen.binding != locked) return Do(phase, PutBinding{locked}, "locking the binding");
  return std::nullopt;
}

}  // namespace baton::rollout::next_internal
