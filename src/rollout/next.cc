// The protocol. Read with next.h; facts about why each line is there: docs/ROLLOUT.md.
#include "rollout/next.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"

namespace baton::rollout {
namespace {

using Mode = SideRule::Mode;

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
std::string StateDir(const Claim& claim, int64_t seq) {
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

bool Attested(const Migration& migration, const Claim& claim, const Holder& which, const Sighting& sighting) {
  return IsVouchedFor(migration, claim, which) && !sighting.answered;
}

// What a workload calls its state while it runs is the state that it began from. A person who names that one, as its
// status shows it, would undo all that was done since.
bool Rewinds(const Writer& writer, const Claim& claim, const Attestation& word) {
  if (word.rewind || word.state_ref.empty()) return false;
  const bool granted = writer.receipt && writer.receipt->to == claim.source.cluster;
  const bool began =
      writer.stop->prior_path == word.state_ref || (granted && writer.receipt->capture == word.state_ref);
  return !GUARD("handoff.attested_state_is_no_beginning", !began);
}

// A grant on a person's word.
Writer OnTheWordOf(const Attestation& attestation, Writer granted) {
  granted.receipt->attested_by = attestation.by;
  granted.receipt->why = attestation.reason;
  return granted;
}

BindingState Locked(std::set<std::string> clusters, int64_t fence) {
  return {.clusters = std::move(clusters), .locked = true, .fence = fence};
}

// A step that every stage begins with: the override and the binding are as the stage wants them, and ours.
std::optional<Decision> Assert(Phase phase, const Writer& writer, const Observation& seen,
                               const std::set<std::string>& clusters) {
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  if (seen.override_state != wanted) return Do(phase, PutOverride{*wanted}, "setting the override of this move");
  BindingState locked = Locked(clusters, seen.fence);
  // A foreign hub may have created the target from an older list, and may remove it for one that does not have it yet.
  const Claim& claim = *writer.claim;
  if (!seen.own_hub && claim.intent == Intent::kForward && !clusters.contains(claim.target.cluster))
    locked.kept.insert(claim.target.cluster);
  if (seen.binding != locked) return Do(phase, PutBinding{locked}, "locking the binding");
  return std::nullopt;
}

// ---- Forward: Planned, Staged
// ------------------------------------------------------------------------------------------

Decision ToAbort(Phase phase, const Writer& writer, std::string why) {
  SOMETIMES("rollout.abort_decided");
  Writer next = writer;
  next.claim->intent = Intent::kAbort;
  // A source that was told to stop runs again under a new epoch; one that was not goes on under its own.
  if (writer.stop) next.seq = writer.seq + 1;
  next.claim->why = why;
  Decision decision = Do(phase, SwapWriter{next}, StrCat("aborting: ", why));
  decision.why = std::move(why);
  return decision;
}

Decision OnFailureBeforeGrant(Phase phase, const Writer& writer, const Migration& migration, const std::string& why) {
  if (!migration.hold_on_failure) return ToAbort(phase, writer, why);
  return Ask(phase, why, "onFailure is Hold: `baton abort` goes back, or remove the cause and it goes on");
}

// After this part of its time a stop that captures is no longer insisted on.
constexpr int kPatience = 8;

// A source that does not capture its state, because it does not run, is waited for for ever. Who asked for it has it
// moved from what it left; its sinks may then see again what came after that.
bool MayFallBack(const Migration& migration) {
  return migration.last_checkpoint && GUARD_STANDS("handoff.moves_from_the_last_checkpoint");
}

Decision Prepare(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const bool staging = migration.phase == Phase::kStaged;
  const Phase phase = staging ? Phase::kStaged : Phase::kPlanned;
  if (migration.abort && GUARD_STANDS("handoff.abort_in_every_phase")) return ToAbort(phase, writer, "asked for");
  const Duration deadline = staging ? migration.deadlines.stage : migration.deadlines.plan;
  const bool stays = migration.paused || !migration.approved || !migration.waiting_for_window.empty();
  // The time is for preparing. A move that was prepared and then waited for a person or a window is not late.
  const bool late = seen.in_phase >= deadline && !(staging && stays);
  const auto wait = [&](const std::string& what) {
    if (late) return OnFailureBeforeGrant(phase, writer, migration, StrCat("waited too long for ", what));
    return Wait(phase, what, deadline);
  };
  // On our own hub the target is created held once it is known to be acceptable.
  std::set<std::string> clusters = {claim.source.cluster};
  if (seen.own_hub && (seen.target_valid || seen.binding.clusters.contains(claim.target.cluster))) {
    clusters.insert(claim.target.cluster);
  }
  if (auto step = Assert(phase, writer, seen, clusters)) return *std::move(step);
  if (!seen.target_invalid.empty()) {
    return OnFailureBeforeGrant(phase, writer, migration,
                                StrCat(claim.target.cluster, " would refuse the workload: ", seen.target_invalid));
  }
  if (Attested(migration, claim, claim.source, seen.source)) {
    return Do(phase, SwapWriter{WithStop(writer, claim.source, claim.source.member_uid, {})},
              StrCat("going on without ", claim.source.cluster, ", as ", migration.attestation->by, " attested"));
  }
  if (!Answers(seen.source, claim.source)) return wait(ToAnswer(seen.source, claim.source));
  if (!seen.source.found || seen.source.uid != claim.source.member_uid) {
    return Ask(phase, StrCat("the workload in ", claim.source.cluster, " is not the one that this move began with"),
               "`baton abort`, look at what runs there, and begin again");
  }
  if (seen.source.seq != writer.seq) {
    return wait(StrCat("cluster ", claim.source.cluster, " to show epoch ", writer.seq));
  }
  if (!seen.target_valid && late) return wait(StrCat("cluster ", claim.target.cluster, " to accept the workload"));
  if (!seen.target_valid)
    return Do(phase, ValidateTarget{}, StrCat("asking ", claim.target.cluster, " whether it takes the workload"));
  if (!Answers(seen.target, claim.target)) return wait(ToAnswer(seen.target, claim.target));
  if (seen.own_hub) {
    const bool held = seen.target.found && seen.target.held && seen.target.seq == writer.seq && !seen.target.deleting;
    if (!held) return wait(StrCat("the held workload in ", claim.target.cluster));
    if (!seen.target.unprepared.empty())
      return wait(StrCat(claim.target.cluster, " to be ready for it: ", seen.target.unprepared));
  } else if (!GUARD("rollout.target_is_absent", SeenGone(seen.target, claim.target))) {
    return wait(StrCat("cluster ", claim.target.cluster, " to have nothing of the workload"));
  }
  // All is prepared.
  if (migration.paused && GUARD_STANDS("handoff.pause_is_total"))
    return {.phase = Phase::kStaged, .message = "paused; `baton resume` goes on", .waiting_for = "resume"};
  if (!migration.approved) {
    return {.phase = Phase::kStaged,
            .message = StrCat("waiting for ", migration.waiting_for_approval),
            .waiting_for = migration.waiting_for_approval};
  }
  if (!migration.waiting_for_window.empty()) {
    return {.phase = Phase::kStaged,
            .message = StrCat("all is prepared; waiting for ", migration.waiting_for_window),
            .waiting_for = migration.waiting_for_window};
  }
  if (!seen.source.runs && MayFallBack(migration) && seen.in_phase >= deadline / kPatience) {
    Writer next = WithStop(writer, claim.source, seen.source.uid, seen.source.prior_path);
    next.stop->any_way = true;
    return Do(
        Phase::kStaged, SwapWriter{next},
        StrCat("the workload in ", claim.source.cluster, " does not run: ordering a stop from its last checkpoint"));
  }
  if (!seen.source.runs) {
    Decision runs =
        wait(StrCat("the workload in ", claim.source.cluster, " to run, so that its state can be captured"));
    if (!late) runs.phase = Phase::kStaged;
    return runs;
  }
  return Do(Phase::kStaged, SwapWriter{WithStop(writer, claim.source, seen.source.uid, seen.source.prior_path)},
            StrCat("ordering the stop in ", claim.source.cluster));
}

// ---- Forward: Quiescing
// ------------------------------------------------------------------------------------------------

std::set<std::string> BothClusters(const Writer& writer, const Observation& seen) {
  const Claim& claim = *writer.claim;
  if (!seen.own_hub) return {claim.source.cluster};
  return {claim.source.cluster, claim.target.cluster};
}

// The target with the object that was created for it, where there is one already.
Holder Staged(const Claim& claim, const Observation& seen) {
  Holder target = claim.target;
  if (seen.own_hub && Answers(seen.target, claim.target) && seen.target.found) target.member_uid = seen.target.uid;
  return target;
}

// What a stop captured lies in a directory of its own. One that need not capture may have done so in the end.
bool IsOfThisStop(const Writer& writer, const std::string& capture) {
  return !writer.stop->any_way || capture.find(writer.stop->state_dir) != std::string::npos;
}

Decision Quiesce(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Phase phase = Phase::kQuiescing;
  if (migration.abort && GUARD_STANDS("handoff.abort_in_every_phase")) return ToAbort(phase, writer, "asked for");
  if (auto step = Assert(phase, writer, seen, BothClusters(writer, seen))) return *std::move(step);
  // Time is no proof: at the deadline the move goes back, it does not go on.
  const bool late = seen.in_phase >= migration.deadlines.quiesce;
  const bool proven =
      StopProven(writer, seen.source, claim.source) && GUARD("rollout.capture_is_new", !seen.source.capture.empty());
  const bool vouched = Attested(migration, claim, claim.source, seen.source);
  const bool rewinds = vouched && Rewinds(writer, claim, *migration.attestation);
  const bool attested = vouched && !rewinds;
  const bool stuck = !seen.source.stop_proven && seen.in_phase >= migration.deadlines.quiesce / kPatience;
  const bool captures_nothing = Answers(seen.source, claim.source) && (stuck || !seen.source.stop_failed.empty());
  if (captures_nothing && !writer.stop->any_way && !late && MayFallBack(migration)) {
    Writer next = writer;
    next.stop->any_way = true;
    return Do(
        phase, SwapWriter{next},
        StrCat(claim.source.cluster, " does not stop with its state captured: stopping it from its last checkpoint"));
  }
  // Granted is who answers: one that is silent, or another cluster of its name, would leave the workload without a
  // writer, and the source can still run again at once.
  const bool grantable = Answers(seen.target, claim.target);
  if ((proven && grantable) || (late && !GUARD_STANDS("handoff.no_grant_by_the_clock"))) {
    // GRANT
    return Do(phase,
              SwapWriter{WithHolder(writer, claim.source, Staged(claim, seen), seen.source.capture,
                                    IsOfThisStop(writer, seen.source.capture) ? "StopProof" : "LastCheckpoint")},
              StrCat(claim.source.cluster, " stopped and its state is captured: granting ", claim.target.cluster));
  }
  if (attested && grantable) {
    SOMETIMES("rollout.attested");
    const Writer next = OnTheWordOf(*migration.attestation, WithHolder(writer, claim.source, Staged(claim, seen),
                                                                       migration.attestation->state_ref, "Attested"));
    return Do(phase, SwapWriter{next},
              StrCat(migration.attestation->by, " attested that ", claim.source.cluster, " is stopped"));  // GRANT
  }
  if (!seen.source.stop_failed.empty() && Answers(seen.source, claim.source)) {
    return OnFailureBeforeGrant(phase, writer, migration, seen.source.stop_failed);
  }
  if (proven && (late || seen.target.answered))
    return OnFailureBeforeGrant(phase, writer, migration, Unreached(seen.target, claim.target));
  if (proven || attested) {
    SOMETIMES("rollout.target_is_silent_at_the_grant");
    const std::string what = StrCat(ToAnswer(seen.target, claim.target), "; it is granted when it does");
    // With a source that is lost there is no way back that helps.
    if (late) return Ask(phase, what, StrCat("bring cluster ", claim.target.cluster, " back, or `baton abort`"));
    return Wait(phase, what, migration.deadlines.quiesce);
  }
  if (late && GUARD_STANDS("handoff.deadline_of_the_stop")) {
    return OnFailureBeforeGrant(phase, writer, migration,
                                StrCat("the stop in ", claim.source.cluster, " was not proven in time",
                                       seen.source.stop_missing.empty() ? "" : ": ", seen.source.stop_missing));
  }
  if (rewinds) {
    return Ask(phase,
               StrCat(migration.attestation->state_ref, " is the state that ", claim.source.cluster,
                      " itself began from: what it did since would be done again, or lost"),
               "`baton attest` the newest checkpoint that it left; if there is none, the same with --rewind");
  }
  if (!Answers(seen.source, claim.source)) {
    SOMETIMES("rollout.source_is_silent");
    return Wait(phase, StrCat(ToAnswer(seen.source, claim.source), "; silence proves nothing"),
                migration.deadlines.quiesce);
  }
  const std::string missing = seen.source.stop_proven ? "it has stopped and names no state" : seen.source.stop_missing;
  return Wait(phase, StrCat("the stop proof from ", claim.source.cluster, ": ", missing), migration.deadlines.quiesce);
}

// ---- Forward: Granted, Verifying, Cleaning
// -----------------------------------------------------------------------------

Decision ToWithdraw(Phase phase, const Writer& writer, const Observation& seen, std::string why) {
  SOMETIMES("rollout.withdraw_decided");
  const Claim& claim = *writer.claim;
  const std::string& uid = seen.target.answered ? seen.target.uid : writer.holder.member_uid;
  Writer next = WithStop(writer, claim.target, uid, writer.receipt->capture);
  next.claim->intent = Intent::kWithdraw;
  // A source that ran again after its state was captured, and was stopped again, goes on from what it has now, unless
  // the target has a newer state still.
  if (StopProven(writer, seen.source, claim.source) && seen.source.capture != writer.receipt->capture)
    next.stop->capture = seen.source.capture;
  // What its operator says cannot start will make no capture; what may still start is first asked for one.
  next.stop->any_way = !seen.target.runs && !seen.target.start_failed.empty();
  next.claim->why = why;
  Decision decision = Do(phase, SwapWriter{next}, StrCat("going back: ", why));
  decision.why = std::move(why);
  return decision;
}

Decision OnFailureAfterGrant(Phase phase, const Writer& writer, const Migration& migration, const Observation& seen,
                             const std::string& why) {
  const Claim& claim = *writer.claim;
  // Going back must know which object it stops.
  if (!Answers(seen.target, claim.target)) {
    return Ask(phase, StrCat(why, ", and ", Unreached(seen.target, claim.target)),
               StrCat("nothing is done until the one that was granted answers: bring it back; if it is lost for good: "
                      "`baton attest --cluster ",
                      claim.target.cluster, "`"));
  }
  if (!migration.hold_on_failure || migration.abort) return ToWithdraw(phase, writer, seen, why);
  return Ask(phase, why, "onFailure is Hold: `baton abort` goes back, or remove the cause and it goes on");
}

// Before the start: which object it is that may run.
Decision BindTarget(Phase phase, const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  if (Answers(seen.target, claim.target) && seen.target.found && !seen.target.deleting) {
    Writer next = writer;
    next.holder.member_uid = seen.target.uid;
    return Do(phase, SwapWriter{next}, StrCat("the workload in ", claim.target.cluster, " is the one that may run"));
  }
  const BindingState both = Locked({claim.source.cluster, claim.target.cluster}, seen.fence);
  if (seen.binding != both) return Do(phase, PutBinding{both}, "locking the binding");
  const std::string what = StrCat("the held workload in ", claim.target.cluster);
  if (seen.in_phase >= migration.deadlines.start)
    return OnFailureAfterGrant(phase, writer, migration, seen, StrCat(what, " did not appear in time"));
  return Wait(phase, what, migration.deadlines.start);
}

Decision Verify(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  // Ordered before, by whichever leader: reading the proof again protects a start, not what already runs.
  const bool ordered = seen.override_state && seen.override_state->target == wanted->target;
  const Phase phase = ordered || migration.phase == Phase::kVerifying ? Phase::kVerifying : Phase::kGranted;
  if (Attested(migration, claim, claim.target, seen.target)) {
    SOMETIMES("rollout.target_is_lost");
    return ToWithdraw(phase, writer, seen,
                      StrCat(migration.attestation->by, " attested that ", claim.target.cluster, " is stopped"));
  }
  // The proof again, before anything may run: a source that came back to life keeps the target on hold.
  const bool attested = writer.receipt->how == "Attested" && !seen.source.answered;
  // Who ran in between and was stopped again has a newer state than the one that was granted.
  const bool still = (StopProven(writer, seen.source, claim.source) &&
                      GUARD("rollout.capture_is_the_granted_one", seen.source.capture == writer.receipt->capture)) ||
                     attested;
  if (!ordered && !GUARD("rollout.proof_read_again", still)) {
    SOMETIMES("rollout.proof_gone_after_grant");
    // One that came back to life is newer than what was granted: it is stopped again before it is told to go on.
    const bool stops = Answers(seen.source, claim.source) && seen.source.found && !seen.source.deleting &&
                       seen.source.uid == writer.stop->uid && !StopProven(writer, seen.source, claim.source);
    if (migration.abort && !stops) return OnFailureAfterGrant(phase, writer, migration, seen, "asked for");
    if (!Answers(seen.source, claim.source)) {
      const std::string what = StrCat("cluster ", claim.source.cluster, " to show its stop once more");
      if (seen.in_phase >= migration.deadlines.start)
        return Ask(phase, what, StrCat("bring ", claim.source.cluster, " back, or `baton abort`"));
      return Wait(phase, what, migration.deadlines.start);
    }
    if (StopProven(writer, seen.source, claim.source)) {
      return Ask(phase, StrCat("the workload in ", claim.source.cluster, " ran again after its state was captured"),
                 StrCat("`baton abort`: ", claim.source.cluster, " has the newer state"));
    }
    return Ask(phase,
               StrCat("the workload in ", claim.source.cluster, " is no longer stopped: ", seen.source.stop_missing),
               StrCat("stop it there; ", claim.target.cluster, " stays on hold until then"));
  }
  if (migration.abort) return OnFailureAfterGrant(phase, writer, migration, seen, "asked for");
  // On our own hub only the object that is on record may run: one that replaces it would start from the capture once
  // more, whatever the first one wrote.
  if (!ordered && seen.own_hub && !GUARD("rollout.start_is_for_one_object", !writer.holder.member_uid.empty())) {
    return BindTarget(phase, writer, migration, seen);
  }
  // What it starts from is brought to it first.
  if (const std::string what = NotReady(seen, seen.target, claim.target); !ordered && !what.empty()) {
    if (seen.in_phase >= migration.deadlines.start)
      return OnFailureAfterGrant(phase, writer, migration, seen, StrCat("waited too long for ", what));
    return Wait(phase, what, migration.deadlines.start);
  }
  if (auto step = Assert(phase, writer, seen, {claim.source.cluster, claim.target.cluster})) return *std::move(step);
  if (Answers(seen.target, claim.target) && seen.target.found && !writer.holder.member_uid.empty() &&
      seen.target.uid != writer.holder.member_uid) {
    return Ask(phase, StrCat("the workload in ", claim.target.cluster, " is not the one that was granted"),
               "find what the first one wrote, then `baton abort`");
  }
  if (Answers(seen.target, claim.target) && seen.target.found) {
    if (seen.target.seq == writer.seq && !seen.target.start_failed.empty()) {
      return OnFailureAfterGrant(phase, writer, migration, seen, seen.target.start_failed);
    }
    const bool proven = seen.target.seq == writer.seq && !seen.target.deleting &&
                        GUARD("rollout.start_proof", seen.target.start_proven);
    if (proven && seen.proven_for >= migration.stabilization && !migration.cleanup_approved) {
      return {.phase = phase,
              .message = StrCat(claim.target.cluster, " has proven itself; waiting for an approval of BeforeCleanup: ",
                                "`baton approve` goes on, `baton abort` goes back"),
              .waiting_for = "an approval of BeforeCleanup"};
    }
    if (proven && seen.proven_for >= migration.stabilization) {
      Writer next = writer;
      next.claim->verified = true;
      next.holder.member_uid = seen.target.uid;
      next.claim->target.member_uid = seen.target.uid;
      return Do(phase, SwapWriter{next}, StrCat(claim.target.cluster, " has proven itself"));
    }
  }
  if (seen.in_phase >= migration.deadlines.verify && GUARD_STANDS("handoff.deadline_of_the_start")) {
    const std::string why = StrCat(claim.target.cluster, " did not prove itself in time",
                                   seen.target.start_missing.empty() ? "" : ": ", seen.target.start_missing);
    // It may have, and have waited for a person since: who must approve also decides on going back.
    if (!migration.cleanup_approved && !migration.abort)
      return Ask(phase, why, "`baton abort` goes back, or remove the cause; it waits for an approval of BeforeCleanup");
    return OnFailureAfterGrant(phase, writer, migration, seen, why);
  }
  if (!Answers(seen.target, claim.target))
    return Wait(phase, ToAnswer(seen.target, claim.target), migration.deadlines.verify);
  if (seen.target.start_proven) {
    return Wait(phase,
                StrCat(claim.target.cluster, " to stay healthy for ", migration.stabilization / seconds(1), " s"),
                migration.deadlines.verify);
  }
  return Wait(phase, StrCat("the start proof from ", claim.target.cluster, ": ", seen.target.start_missing),
              migration.deadlines.verify);
}

// The source goes; then the lock; then the claim. The override is removed when the claim is gone.
Decision Clean(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Phase phase = Phase::kCleaning;
  const bool late = seen.in_phase >= migration.deadlines.clean;
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  if (seen.override_state != wanted)
    return Do(phase, PutOverride{*wanted}, "keeping the override until the source is gone");
  const BindingState only_target = Locked({claim.target.cluster}, seen.fence);
  const BindingState free{.clusters = {claim.target.cluster}, .locked = false, .fence = 0};
  // Gone counts only when the binding no longer lists it: else the pipe creates it again.
  // What stayed in a cluster that is lost goes when that comes back: the pipe keeps its order to delete.
  const bool gone = SeenGone(seen.source, claim.source) || Attested(migration, claim, claim.source, seen.source);
  // It was given back when the source was gone: a source that does not answer now is no reason to lock it again.
  const bool given_back = seen.binding == free && (gone || !Answers(seen.source, claim.source));
  if (seen.binding != only_target && !given_back)
    return Do(phase, PutBinding{only_target}, StrCat("removing the workload from ", claim.source.cluster));
  if (!gone) {
    const std::string what = StrCat("the stopped workload to be gone from ", claim.source.cluster);
    if (late)
      return Ask(phase, what,
                 StrCat("it holds no data any more: look at what keeps it in ", claim.source.cluster,
                        "; if that is lost for good: `baton attest`"));
    return Wait(phase, what, migration.deadlines.clean);
  }
  if (!seen.target_allowed) {
    if (seen.binding != only_target) return Do(phase, PutBinding{only_target}, "locking the binding again");
    return Ask(phase, StrCat("the policy no longer allows the workload in ", claim.target.cluster),
               "edit the policy, or move the workload again; until then the binding stays locked");
  }
  if (!GUARD("handoff.binding_is_given_back", seen.binding == free))
    return Do(phase, PutBinding{free}, "giving the binding back to the scheduler");
  if (!seen.binding_settled && GUARD_STANDS("handoff.binding_is_given_back")) {
    if (late)
      return Ask(phase, StrCat("the scheduler to leave the workload in ", claim.target.cluster),
                 "look at the binding's conditions");
    return Wait(phase, StrCat("the scheduler to leave the workload in ", claim.target.cluster),
                migration.deadlines.clean);
  }
  const bool runs = Answers(seen.target, claim.target) && seen.target.found && !seen.target.deleting &&
                    seen.target.uid == writer.holder.member_uid && seen.target.runs;
  if (!GUARD("rollout.target_runs_at_the_end", runs)) {
    const std::string what =
        StrCat("the workload in ", claim.target.cluster, " to run, as it did when it was verified");
    if (late) return Ask(phase, what, StrCat("look at cluster ", claim.target.cluster));
    return Wait(phase, what, migration.deadlines.clean);
  }
  return Do(phase, SwapWriter{Ended(writer, Phase::kSucceeded)}, "the move is over");
}

// ---- Abort: nothing was granted
// ----------------------------------------------------------------------------------------

Decision Abort(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Phase phase = Phase::kAborting;
  const bool late = seen.in_phase >= migration.deadlines.undo;
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  // It goes on from its own state, which only the object that this move began with has: another one would start empty.
  const bool answers = Answers(seen.source, claim.source);
  const std::string& uid = writer.stop ? writer.stop->uid : claim.source.member_uid;
  const bool same = seen.source.found && seen.source.uid == uid && !seen.source.deleting;
  if (!GUARD("rollout.resumes_the_stopped_object", !answers || same)) {
    return Ask(phase, StrCat("the workload in ", claim.source.cluster, " is not the one that this move began with"),
               StrCat("it would start empty: look at cluster ", claim.source.cluster));
  }
  const bool ordered = seen.override_state && seen.override_state->source == wanted->source;
  if (!answers && !ordered) {
    const std::string what = ToAnswer(seen.source, claim.source);
    if (late) return Ask(phase, what, StrCat("bring cluster ", claim.source.cluster, " back"));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (seen.override_state != wanted)
    return Do(phase, PutOverride{*wanted}, StrCat("letting ", claim.source.cluster, " run on"));
  const BindingState only_source = Locked({claim.source.cluster}, seen.fence);
  const BindingState free{.clusters = {claim.source.cluster}, .locked = false, .fence = 0};
  const bool runs = answers && seen.source.found && seen.source.seq == writer.seq &&
                    GUARD("rollout.source_runs_again", !writer.stop || seen.source.runs);
  const bool unlocked = seen.binding == free;
  if (!unlocked && seen.binding != only_source)
    return Do(phase, PutBinding{only_source}, StrCat("taking the workload out of ", claim.target.cluster));
  if (!runs) {
    const std::string what = StrCat("the workload in ", claim.source.cluster, " to run again");
    if (late)
      return Ask(
          phase, what,
          StrCat("look at cluster ", claim.source.cluster, ": it has its own state and needs nothing from elsewhere"));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (!SeenGone(seen.target, claim.target) && !Attested(migration, claim, claim.target, seen.target)) {
    const std::string what = StrCat("the held workload to be gone from ", claim.target.cluster);
    if (late) {
      return Ask(phase, what,
                 StrCat("bring cluster ", claim.target.cluster, " back, or delete the object there; if it is lost for ",
                        "good: `baton attest --cluster ", claim.target.cluster, "`"));
    }
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (!unlocked) return Do(phase, PutBinding{free}, "giving the binding back to the scheduler");
  Writer next = Ended(writer, Phase::kAborted);
  next.holder.member_uid = seen.source.uid;
  return Do(phase, SwapWriter{next}, "the move was aborted");
}

// ---- Withdraw: the target was granted and goes back
// --------------------------------------------------------------------

// The target's operator may have had an older order in hand, and start it after it was taken for one that never had.
// Until it is gone each look is held against what was concluded: what starts is to be stopped, and its state found.
std::optional<Decision> StartedLate(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Sighting& target = seen.target;
  if (!Answers(target, claim.target) || !GUARD_STANDS("handoff.late_start_is_noticed")) return std::nullopt;
  const bool same = target.found && target.uid == writer.stop->uid;
  const bool stays = seen.binding.clusters.contains(claim.target.cluster);  // its removal is not ordered yet
  Writer next = writer;
  // What was never deployed had no pods.
  const bool appeared = same && target.pods_run && !target.stop_proven && writer.stop->capture.empty();
  if ((same && target.runs) || appeared || (same && stays && !target.stop_proven)) {
    next.stop->proven = false;
    return Do(Phase::kWithdrawing, SwapWriter{next},
              StrCat(claim.target.cluster, " started after all: waiting for it to stop"));
  }
  const bool newer = same && target.stop_proven && target.progress == Sighting::Progress::kSome &&
                     !target.capture.empty() && target.capture != writer.stop->capture;
  if (!newer || IsVouchedFor(migration, claim, claim.target)) return std::nullopt;
  next.stop->capture = target.capture;
  return Do(Phase::kWithdrawing, SwapWriter{next},
            StrCat(claim.target.cluster, " had started after all; its state is captured"));
}

Decision StopTarget(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Phase phase = Phase::kWithdrawing;
  const bool late = seen.in_phase >= migration.deadlines.undo;
  if (!writer.stop->proven) {
    if (auto step = Assert(phase, writer, seen, {claim.source.cluster, claim.target.cluster})) return *std::move(step);
    if (Attested(migration, claim, claim.target, seen.target)) {
      const Attestation& word = *migration.attestation;
      const Writer next = OnTheWordOf(word, WithHolder(writer, claim.target, claim.source, word.state_ref, "Attested"));
      return Do(phase, SwapWriter{next},
                StrCat(word.by, " attested that ", claim.target.cluster, " is stopped"));  // GRANT
    }
    Writer next = writer;
    if (writer.stop->uid.empty() && Answers(seen.target, claim.target) && seen.target.found) {
      SOMETIMES("rollout.target_appeared_late");
      next.stop->uid = seen.target.uid;
      return Do(phase, SwapWriter{next}, StrCat("the workload appeared in ", claim.target.cluster));
    }
    // What it did is decided after it stopped, never before.
    next.stop->proven = true;
    const bool lost = Answers(seen.target, claim.target) && !seen.target.remains &&
                      (!seen.target.found || seen.target.uid != writer.stop->uid);
    if (lost && IsVouchedFor(migration, claim, claim.target)) {
      next.stop->capture = migration.attestation->state_ref;
      return Do(phase, SwapWriter{next},
                StrCat("the workload is gone from ", claim.target.cluster, "; its state is the one that ",
                       migration.attestation->by, " named"));
    }
    if (StopProven(writer, seen.target, claim.target)) {
      const bool none =
          GUARD("handoff.progress_is_judged_after_the_stop", seen.target.progress == Sighting::Progress::kNone);
      if (!none && seen.target.capture.empty()) {
        if (IsVouchedFor(migration, claim, claim.target)) {
          next.stop->capture = migration.attestation->state_ref;
          return Do(phase, SwapWriter{next},
                    StrCat(claim.target.cluster, " stopped; its state is the one that ", migration.attestation->by,
                           " named"));
        }
        return Ask(phase, StrCat(claim.target.cluster, " may have written and its state was not captured"),
                   StrCat("find its last checkpoint and `baton attest --cluster ", claim.target.cluster, "` it"));
      }
      if (!none && GUARD_STANDS("handoff.capture_is_kept")) next.stop->capture = seen.target.capture;
      return Do(phase, SwapWriter{next},
                StrCat(claim.target.cluster, " stopped", none ? " and had not progressed" : "; its state is captured"));
    }
    // One that never got to run cannot capture anything. Another way of stopping it is no other proof.
    if (!writer.stop->any_way && !late && seen.in_phase >= migration.deadlines.undo / kPatience) {
      next.stop->proven = false;
      next.stop->any_way = true;
      return Do(phase, SwapWriter{next},
                StrCat(claim.target.cluster, " does not stop with its state captured: stopping it without"));
    }
    const std::string what = StrCat("the stop proof from ", claim.target.cluster,
                                    seen.target.stop_missing.empty() ? "" : ": ", seen.target.stop_missing);
    if (late)
      return Ask(phase, what,
                 StrCat("stop the workload in ", claim.target.cluster,
                        "; nothing runs elsewhere until then; if it, or the cluster, is lost for good: `baton attest "
                        "--cluster ",
                        claim.target.cluster, "`"));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (auto step = StartedLate(writer, migration, seen)) return *std::move(step);
  // A target that may ever have been told to run is deleted, and seen gone, before another runs.
  if (auto step = Assert(phase, writer, seen, {claim.source.cluster})) return *std::move(step);
  const bool lost = Attested(migration, claim, claim.target, seen.target);
  if (!lost && !GUARD("rollout.target_seen_gone", SeenGone(seen.target, claim.target))) {
    const std::string what = StrCat("the workload to be gone from ", claim.target.cluster);
    if (late) return Ask(phase, what, StrCat("delete it there; ", claim.source.cluster, " stays on hold until then"));
    return Wait(phase, what, migration.deadlines.undo);
  }
  // GRANT
  const std::string capture = writer.stop->capture.empty() ? writer.receipt->capture : writer.stop->capture;
  const bool named = IsVouchedFor(migration, claim, claim.target) && capture == migration.attestation->state_ref;
  Writer next = WithHolder(writer, claim.target, claim.source, capture, named ? "Attested" : "StopProof");
  if (named) next = OnTheWordOf(*migration.attestation, next);
  return Do(phase, SwapWriter{next},
            StrCat(claim.target.cluster, " is gone: granting ", claim.source.cluster, " again"));
}

Decision ResumeSource(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Phase phase = Phase::kWithdrawing;
  const bool late = seen.in_phase >= migration.deadlines.undo;
  const std::optional<OverrideState> wanted = WantedOverride(writer, seen.fence);
  const bool ordered = seen.override_state && seen.override_state->source == wanted->source;
  if (const std::string what = NotReady(seen, seen.source, claim.source); !ordered && !what.empty()) {
    if (late) return Ask(phase, what, StrCat("look at cluster ", claim.source.cluster));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (seen.override_state != wanted)
    return Do(phase, PutOverride{*wanted}, StrCat("starting ", claim.source.cluster, " again"));
  const BindingState only_source = Locked({claim.source.cluster}, seen.fence);
  const BindingState free{.clusters = {claim.source.cluster}, .locked = false, .fence = 0};
  const bool runs = Answers(seen.source, claim.source) && seen.source.found && !seen.source.deleting &&
                    seen.source.seq == writer.seq && seen.source.runs;
  if (seen.binding != free && seen.binding != only_source)
    return Do(phase, PutBinding{only_source}, "locking the binding");
  if (!runs) {
    const std::string what = StrCat("the workload in ", claim.source.cluster, " to run again");
    if (late) return Ask(phase, what, StrCat("look at cluster ", claim.source.cluster));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (seen.binding != free) return Do(phase, PutBinding{free}, "giving the binding back to the scheduler");
  Writer next = Ended(writer, Phase::kRolledBack);
  next.holder.member_uid = seen.source.uid;
  return Do(phase, SwapWriter{next}, "the move was rolled back");
}

// ---- before and after the claim
// ----------------------------------------------------------------------------------------

Decision Begin(const Writer& writer, const Migration& migration, const Observation& seen) {
  if (writer.claim)
    return End(Phase::kRejected, StrCat("migration ", writer.claim->migration, " is moving this workload"));
  if (migration.abort) return End(Phase::kAborted, "aborted before it began");
  if (!seen.preflight_done) return Wait(Phase::kPending, "the checks before the move", migration.deadlines.plan);
  if (!seen.problems.empty()) {
    std::string why;
    for (const std::string& problem : seen.problems) why += (why.empty() ? "" : "; ") + problem;
    return End(Phase::kRejected, why);
  }
  Writer next = writer;
  if (!writer.exists) {
    next.exists = true;
    next.seq = 1;
    next.holder = seen.proposal->source;
  }
  if (GUARD_STANDS("handoff.stop_is_of_one_attempt")) next.stop.reset();
  next.claim = seen.proposal;
  next.claim->fence = seen.fence;
  return Do(Phase::kPending, SwapWriter{next}, "claiming the workload");
}

// The template is gone, and the pipe removes the workload everywhere. Until it has, it may still render from what it
// has cached, and only our override keeps that from running.
Decision Cancel(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const bool gone = SeenGone(seen.source, claim.source) && SeenGone(seen.target, claim.target);
  if (!GUARD("rollout.override_outlives_the_workload", gone)) {
    const std::string what = "the deleted workload to be gone from both clusters";
    if (seen.in_phase >= migration.deadlines.undo)
      return Ask(migration.phase, what,
                 StrCat("look at what keeps it in ", claim.source.cluster, " or ", claim.target.cluster));
    return Wait(migration.phase, what, migration.deadlines.undo);
  }
  return Do(migration.phase, SwapWriter{Ended(writer, Phase::kCancelled)}, "the template is gone");
}

// The claim is gone: what remains of us goes, and the end is told.
Decision Finish(const Writer& writer, const Migration& migration, const Observation& seen) {
  if (seen.override_exists) return Do(migration.phase, RemoveOverride{}, "removing the override");
  switch (writer.ended) {
    case Phase::kAborted:
      return End(writer.ended, StrCat("aborted: ", writer.holder.cluster, " has it as before"));
    case Phase::kRolledBack:
      return End(writer.ended, StrCat("rolled back: ", writer.holder.cluster, " runs again"));
    case Phase::kCancelled:
      return End(writer.ended, "cancelled: the workload was deleted");
    default:
      return End(writer.ended, StrCat("the workload runs in ", writer.holder.cluster));
  }
}

}  // namespace

std::string_view EffectName(const Effect& effect) {
  constexpr std::string_view kNames[] = {"none",        "swap-writer",    "put-override", "remove-override",
                                         "put-binding", "validate-target"};
  return kNames[effect.index()];
}

bool SeenGone(const Sighting& sighting, const Holder& meant) {
  return Answers(sighting, meant) && !sighting.found && GUARD("rollout.nothing_remains", !sighting.remains);
}

namespace {
int64_t FenceOfWhatItWrites(const Observation& seen) {
  return std::max(seen.override_state ? seen.override_state->fence : 0, seen.binding.locked ? seen.binding.fence : 0);
}
}  // namespace

int64_t NewestFence(const Writer& writer, const Observation& seen) {
  return std::max(writer.claim ? writer.claim->fence : 0, FenceOfWhatItWrites(seen));
}

std::optional<OverrideState> WantedOverride(const Writer& writer, int64_t fence) {
  if (!writer.claim) return std::nullopt;
  const Claim& claim = *writer.claim;
  OverrideState state{.fence = fence, .attempt = claim.attempt};
  const bool with_target = writer.holder.cluster == claim.target.cluster;
  state.source = {.mode = Mode::kHeld, .seq = writer.seq};
  state.target = {.mode = Mode::kHeld, .seq = writer.seq};
  switch (claim.intent) {
    case Intent::kForward:
      if (!writer.stop) {
        state.source.mode = Mode::kAsIs;
      } else {
        state.source = {.mode = Mode::kStopping,
                        .seq = writer.stop->seq,
                        .state_dir = writer.stop->state_dir,
                        .any_way = writer.stop->any_way};
        if (with_target) state.target = {.mode = Mode::kRunning, .seq = writer.seq, .ref = writer.receipt->capture};
      }
      break;
    case Intent::kAbort:
      // In two steps: first from its own state whatever the template says of upgrades, then as the template says.
      state.source.mode = writer.stop && GUARD_STANDS("handoff.abort_in_two_steps") ? Mode::kRunning : Mode::kAsIs;
      break;
    case Intent::kWithdraw:
      if (with_target) {
        state.target = {.mode = Mode::kStopping,
                        .seq = writer.stop->seq,
                        .state_dir = writer.stop->state_dir,
                        .any_way = writer.stop->any_way};
      } else {
        state.source = {.mode = Mode::kRunning, .seq = writer.seq, .ref = writer.receipt->capture};
      }
      break;
  }
  return state;
}

Decision Next(const Writer& writer, const Migration& migration, const Observation& seen) {
  const bool mine = writer.exists && writer.claim && writer.claim->migration_uid == migration.uid;
  if (!mine) {
    // A leader may have died between the end on record and its telling.
    if (writer.exists && writer.ended_uid == migration.uid && GUARD_STANDS("handoff.end_is_on_record"))
      return Finish(writer, migration, seen);
    if (migration.phase == Phase::kPending) return Begin(writer, migration, seen);
    if (IsEnd(migration.phase)) return End(migration.phase, "it has ended");  // rejected, or aborted before it began
    return Ask(migration.phase, "the record of this move (its Writer) was deleted or overwritten",
               "nothing is done until a person looked at both clusters: docs/ROLLOUT.md, 'The record is gone'");
  }
  const Claim& claim = *writer.claim;
  // The Writer may have been read before a newer leader took it over, and the rest after.
  const int64_t others = FenceOfWhatItWrites(seen);
  if (!GUARD("rollout.fence", claim.fence <= seen.fence) ||
      !GUARD("rollout.fence_of_what_it_writes", others <= seen.fence)) {
    return Wait(migration.phase, "another leader, which is newer than this one", migration.deadlines.undo);
  }
  if (claim.fence < seen.fence) {
    Writer next = writer;
    next.claim->fence = seen.fence;
    return Do(migration.phase, SwapWriter{next}, "a new leader takes over");
  }
  if (!seen.template_found) return Cancel(writer, migration, seen);
  const bool with_target = writer.holder.cluster == claim.target.cluster;
  switch (claim.intent) {
    case Intent::kForward:
      // Once verified the source goes: there is no way back any more but another move.
      if (with_target && claim.verified && !(migration.abort && !GUARD_STANDS("handoff.no_return_after_verified")))
        return Clean(writer, migration, seen);
      if (with_target) return Verify(writer, migration, seen);
      return writer.stop ? Quiesce(writer, migration, seen) : Prepare(writer, migration, seen);
    case Intent::kAbort:
      return Abort(writer, migration, seen);
    case Intent::kWithdraw:
      return with_target ? StopTarget(writer, migration, seen) : ResumeSource(writer, migration, seen);
  }
  return End(migration.phase, "");
}

}  // namespace baton::rollout
