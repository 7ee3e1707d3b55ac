// From the claim to the end: prepare, stop, grant, verify, clean up. And where a move turns back.
#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "rollout/next_steps.h"

namespace baton::rollout::next_internal {

// ---- Forward: Planned, Staged
// ------------------------------------------------------------------------------------------

static Decision ToAbort(Phase phase, const Writer& writer, std::string why) {
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

static Decision OnFailureBeforeGrant(Phase phase, const Writer& writer, const Migration& migration,
                                     const std::string& why) {
  if (!migration.hold_on_failure) return ToAbort(phase, writer, why);
  return Ask(phase, why, "onFailure is Hold: `baton abort` goes back, or remove the cause and it goes on");
}

// A source that does not capture its state, because it does not run, is waited for for ever. Who asked for it has it
// moved from what it left; its sinks may then see again what came after that.
static bool MayFallBack(const Migration& migration) {
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
    if (!MayBeMadeWithout(writer, seen)) {
      const std::string what = StrCat("cluster ", claim.target.cluster, " to have nothing of the workload, and its ",
                                      "Work for ", claim.source.cluster, " to have epoch ", writer.seq);
      // With a source that is lost there is no way back that helps.
      if (late) return Ask(phase, what, StrCat("delete what is in ", claim.target.cluster, ", look at the Work"));
      return Wait(phase, what, deadline);
    }
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
  } else if (!MayBeMade(seen, claim)) {
    // By somebody else's scheduler, before our override was known there: the lock of the binding would keep it.
    if (seen.target.runs)
      return OnFailureBeforeGrant(phase, writer, migration,
                                  StrCat("somebody else started the workload in ", claim.target.cluster));
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

static std::set<std::string> BothClusters(const Writer& writer, const Observation& seen) {
  const Claim& claim = *writer.claim;
  if (!seen.own_hub) return {claim.source.cluster};
  return {claim.source.cluster, claim.target.cluster};
}

// The target with the object that was created for it, where there is one already.
static Holder Staged(const Claim& claim, const Observation& seen) {
  Holder target = claim.target;
  // One that an abort had begun to remove is followed by another.
  const bool there = Answers(seen.target, claim.target) && seen.target.found && !seen.target.deleting;
  if (seen.own_hub && there) target.member_uid = seen.target.uid;
  return target;
}

// What a stop captured lies in a directory of its own. One that need not capture may have done so in the end.
static bool IsOfThisStop(const Writer& writer, const std::string& capture) {
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

static Decision ToWithdraw(Phase phase, const Writer& writer, const Observation& seen, std::string why) {
  SOMETIMES("rollout.withdraw_decided");
  const Claim& claim = *writer.claim;
  // Which object it was that may have run. Another one in its place has nothing to tell of what that has done.
  const bool told = !seen.override_state || seen.override_state->target.mode == SideRule::Mode::kRunning;
  const bool on_record = !writer.holder.member_uid.empty() && (told || !seen.target.answered) &&
                         GUARD_STANDS("handoff.granted_object_is_asked_for");
  const std::string& uid = on_record ? writer.holder.member_uid : seen.target.uid;
  Writer next = WithStop(writer, claim.target, uid, writer.receipt->capture);
  next.claim->intent = Intent::kWithdraw;
  // A source that ran again after its state was captured, and was stopped again, goes on from what it has now, unless
  // the target has a newer state still.
  if (StopProven(writer, seen.source, claim.source) && seen.source.capture != writer.receipt->capture)
    next.stop->capture = seen.source.capture;
  // What its operator says cannot start will make no capture; what may still start is first asked for one.
  next.stop->any_way = !seen.target.runs && !seen.target.start_failed.empty();
  next.stop->unsure = next.stop->any_way && seen.target.unsure;
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
static Decision BindTarget(Phase phase, const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  if (Answers(seen.target, claim.target) && seen.target.found && !seen.target.deleting) {
    Writer next = writer;
    next.holder.member_uid = seen.target.uid;
    return Do(phase, SwapWriter{next}, StrCat("the workload in ", claim.target.cluster, " is the one that may run"));
  }
  const BindingState both = Locked({claim.source.cluster, claim.target.cluster}, claim, seen.fence);
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
  // One that came back to life is newer than what was granted: it is stopped again before it is told to go on.
  const bool stops = Answers(seen.source, claim.source) && seen.source.found && !seen.source.deleting &&
                     seen.source.uid == writer.stop->uid && !StopProven(writer, seen.source, claim.source);
  if (Attested(migration, claim, claim.target, seen.target) && (ordered || !stops)) {
    SOMETIMES("rollout.target_is_lost");
    return ToWithdraw(phase, writer, seen,
                      StrCat(migration.attestation->by, " attested that ", claim.target.cluster, " is stopped"));
  }
  // The proof again, before anything may run: a source that came back to life keeps the target on hold.
  const bool attested = writer.receipt->how == "Attested" && IsAway(seen.source, claim.source);
  // Who ran in between and was stopped again has a newer state than the one that was granted.
  const bool still = (StopProven(writer, seen.source, claim.source) &&
                      GUARD("rollout.capture_is_the_granted_one", seen.source.capture == writer.receipt->capture)) ||
                     attested;
  if (!ordered && !GUARD("rollout.proof_read_again", still)) {
    SOMETIMES("rollout.proof_gone_after_grant");
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
  const BindingState only_target = Locked({claim.target.cluster}, claim, seen.fence);
  const BindingState free{.clusters = {claim.target.cluster}, .locked = false, .fence = 0};
  // Gone counts only when the binding no longer lists it: else the pipe creates it again.
  // What stayed in a cluster that is lost goes when that comes back: the pipe keeps its order to delete.
  const bool gone = (SeenGone(seen.source, claim.source) && !seen.still_ordered) ||
                    Attested(migration, claim, claim.source, seen.source);
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

}  // namespace baton::rollout::next_internal
