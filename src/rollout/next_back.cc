// The ways back: Abort, when nothing was granted, and Withdraw, when the target was.
#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/probe.h"
#include "base/strings.h"
#include "rollout/next_steps.h"

namespace baton::rollout::next_internal {

// ---- Abort: nothing was granted
// ----------------------------------------------------------------------------------------

// What a person can do when the source is lost while the move goes back.
static std::string IfLost(const Migration& migration, const Claim& claim) {
  const std::string attest = StrCat("`baton attest ", migration.name, "`, and ", claim.target.cluster,
                                    " goes on from the state that you name");
  if (!migration.abort) return StrCat("; if it is lost for good: ", attest);
  return StrCat("; if it is lost for good, take the abort back (kubectl patch statefulmigration ", migration.name,
                " --type=merge -p '{\"spec\":{\"abort\":false}}'), then ", attest);
}

// A source that is lost while the move goes back: with a person's word of this very abort the move goes forward again,
// as a new attempt with a stop of its own, which outranks the order to run on. An earlier word does not count, for the
// source may have run on since; nor does this one any more once the source has answered.
static std::optional<Decision> ForwardAgain(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const bool given =
      IsVouchedFor(migration, claim, claim.source) && migration.attestation->aborted_attempt == claim.attempt;
  if (!given || migration.abort) return std::nullopt;
  const Attestation& word = *migration.attestation;
  Writer next = writer;
  next.claim->attempt = claim.attempt + 1;
  if (Answers(seen.source, claim.source)) {
    return Do(Phase::kAborting, SwapWriter{next},
              StrCat(claim.source.cluster, " answers: what ", word.by, " attested of it does not count any more"));
  }
  if (!IsAway(seen.source, claim.source)) return std::nullopt;
  if (!seen.target_invalid.empty()) {
    return Ask(Phase::kAborting, StrCat(claim.target.cluster, " would refuse the workload: ", seen.target_invalid),
               StrCat("remove the cause, or bring cluster ", claim.source.cluster, " back"));
  }
  if (!MayBeMadeWithout(writer, seen)) {
    return Ask(Phase::kAborting,
               StrCat("cluster ", claim.target.cluster, " to have nothing of the workload, and its Work for ",
                      claim.source.cluster, " to have epoch ", writer.seq),
               StrCat("bring it back, or delete what is in it, then the move goes on without ", claim.source.cluster));
  }
  next.claim->intent = Intent::kForward;
  next.claim->why.clear();
  const std::string& uid = writer.stop ? writer.stop->uid : claim.source.member_uid;
  next = WithStop(next, claim.source, uid, writer.stop ? writer.stop->prior_path : std::string());
  if (Rewinds(next, *next.claim, word)) {
    return Ask(Phase::kAborting,
               StrCat(word.state_ref, " is a state that ", claim.source.cluster,
                      " itself began from, or may have run on from: what it did since would be done again, or lost"),
               StrCat("`baton attest ", migration.name,
                      "` the newest checkpoint that it left; if there is none, the same with --rewind"));
  }
  Decision decision = Do(Phase::kAborting, SwapWriter{next},
                         StrCat("going on without ", claim.source.cluster, ", as ", word.by, " attested"));
  decision.why = StrCat(word.by, " attested that ", claim.source.cluster, " is stopped: ", word.reason);
  return decision;
}

// As a person said. Then the attempt is another one, so that this word does not count again.
static Decision GoesOnFromWhatIsNamed(const Writer& writer, const Migration& migration, const std::string& what,
                                      const std::string& attest) {
  const Claim& claim = *writer.claim;
  const Attestation& word = *migration.attestation;
  if (Rewinds(writer, claim, word)) {
    return Ask(Phase::kAborting, what,
               StrCat(word.state_ref, " is where it began: ", attest, ", or the same with --rewind"));
  }
  Writer next = writer;
  next.stop->capture = word.state_ref;
  next.claim->attempt = claim.attempt + 1;
  Decision decision = Do(Phase::kAborting, SwapWriter{next},
                         StrCat(claim.source.cluster, " goes on from ", word.state_ref, ", as ", word.by, " said"));
  decision.why = StrCat(word.by, " named the state that ", claim.source.cluster, " goes on from: ", word.reason);
  return decision;
}

// A source that was stopped and left no state would run on from nothing, and do everything again. It stays stopped
// until a person has named the state that it goes on from. While it is being ended, or may be, it does not show yet
// what it leaves.
//
// So an order to stop that needs no capture is not simply followed by one to run on: an operator that has the first one
// in hand would cancel the job and find the second one done. On a hub of others it may not even have come to the
// cluster: there it is taken back first, with the epoch that it will run on with, and seen there.
static std::optional<Decision> GoesOnFromNothing(const Writer& writer, const Migration& migration,
                                                 const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Sighting& source = seen.source;
  const bool told = seen.override_state && seen.override_state->source.mode == SideRule::Mode::kRunning;
  if (!writer.stop || !writer.stop->capture.empty() || told || !Answers(source, claim.source)) return std::nullopt;
  if (!source.found || source.uid != writer.stop->uid || source.deleting) return std::nullopt;
  const bool taken_back = seen.own_hub || !writer.stop->any_way || (source.held && source.seq == writer.seq);
  const bool settles = GUARD("handoff.abort_has_a_state", !source.ending) && taken_back;
  const bool may_end = source.in_hand && seen.in_phase < migration.deadlines.undo / kPatience;
  if (settles && !may_end && GUARD("handoff.abort_has_a_state", source.state_lost.empty())) return std::nullopt;
  const Phase phase = Phase::kAborting;
  // As it was when its stop was ordered, whoever takes our override away meanwhile, and whoever leads.
  Writer stopping = writer;
  stopping.claim->intent = Intent::kForward;
  std::optional<OverrideState> stopped = WantedOverride(stopping, seen.fence);
  if (!seen.own_hub && writer.stop->any_way) stopped->source.seq = writer.seq, stopped->source.any_way = false;
  if (seen.override_state != stopped)
    return Do(phase, PutOverride{*stopped}, StrCat("keeping it stopped in ", claim.source.cluster));
  const bool given = IsVouchedFor(migration, claim, claim.source) && !migration.attestation->state_ref.empty() &&
                     migration.attestation->aborted_attempt == claim.attempt;
  const std::string attest = StrCat("`baton attest ", migration.name, " --cluster ", claim.source.cluster,
                                    "` its newest checkpoint or savepoint");
  if ((!settles || may_end) && !given) {
    const std::string what = StrCat("the workload in ", claim.source.cluster, " to have ended, or to run on");
    if (seen.in_phase < migration.deadlines.undo) return Wait(phase, what, migration.deadlines.undo);
    return Ask(phase, what, StrCat("look at cluster ", claim.source.cluster, " and its operator, or ", attest));
  }
  const std::string what = StrCat(kStateToGoOnFrom, " in ", claim.source.cluster, ": ", source.state_lost);
  if (!given) return Ask(phase, what, StrCat("find and ", attest));
  return GoesOnFromWhatIsNamed(writer, migration, what, attest);
}

Decision Abort(const Writer& writer, const Migration& migration, const Observation& seen) {
  if (auto step = GoesOnFromNothing(writer, migration, seen)) return *std::move(step);
  if (auto step = ForwardAgain(writer, migration, seen)) return *std::move(step);
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
    if (late)
      return Ask(phase, what, StrCat("bring cluster ", claim.source.cluster, " back", IfLost(migration, claim)));
    return Wait(phase, what, migration.deadlines.undo);
  }
  if (seen.override_state != wanted)
    return Do(phase, PutOverride{*wanted}, StrCat("letting ", claim.source.cluster, " run on"));
  const BindingState only_source = Locked({claim.source.cluster}, claim, seen.fence);
  const BindingState free{.clusters = {claim.source.cluster}, .locked = false, .fence = 0};
  const bool runs = answers && seen.source.found && seen.source.seq == writer.seq &&
                    GUARD("rollout.source_runs_again", !writer.stop || seen.source.runs);
  const bool unlocked = seen.binding == free;
  if (!unlocked && seen.binding != only_source)
    return Do(phase, PutBinding{only_source}, StrCat("taking the workload out of ", claim.target.cluster));
  if (!runs) {
    const std::string what = StrCat("the workload in ", claim.source.cluster, " to run again");
    if (late) {
      return Ask(
          phase, what,
          StrCat("look at cluster ", claim.source.cluster, ": it has its own state and needs nothing from elsewhere",
                 answers ? std::string() : IfLost(migration, claim)));
    }
    return Wait(phase, what, migration.deadlines.undo);
  }
  const bool gone = SeenGone(seen.target, claim.target) && !seen.still_ordered;
  if (!gone && !Attested(migration, claim, claim.target, seen.target)) {
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
static std::optional<Decision> StartedLate(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  const Sighting& target = seen.target;
  if (!Answers(target, claim.target) || !GUARD_STANDS("handoff.late_start_is_noticed")) return std::nullopt;
  // It may be gone again by now: then its state is asked for.
  if (target.started_unseen && writer.stop->capture.empty()) {
    Writer doubted = writer;
    doubted.stop->proven = false;
    return Do(Phase::kWithdrawing, SwapWriter{doubted},
              StrCat(claim.target.cluster, " started after all, while nobody looked: waiting for it to stop"));
  }
  const bool same = target.found && target.uid == writer.stop->uid;
  const bool stays = seen.binding.clusters.contains(claim.target.cluster);  // its removal is not ordered yet
  Writer next = writer;
  // What was never deployed had no pods.
  const bool appeared = same && target.pods_run && !target.stop_proven && writer.stop->capture.empty();
  // What it was taken for it no longer says of itself.
  const bool doubtful = same && !target.deleting && writer.stop->capture.empty() &&
                        !(target.stop_proven && target.progress == Sighting::Progress::kNone);
  const bool captured = target.stop_proven && !target.capture.empty();
  if ((same && target.runs) || appeared || (same && stays && !target.stop_proven) || (doubtful && !captured)) {
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

// The state that a person named for a lost target, when the source was seen to have a newer one of its own than the one
// that was granted (ToWithdraw): it ran again in between. Who named it may not have known of that, and which of the two
// is newer nobody but a person can say. What lies in the directory of this stop is the target's own.
static bool NamesAnotherThanTheSources(const Writer& writer, const Migration& migration) {
  const Stop& stop = *writer.stop;
  const bool of_the_source = !stop.capture.empty() && stop.capture.find(stop.state_dir) == std::string::npos;
  const Attestation& word = *migration.attestation;
  return of_the_source && word.state_ref != stop.capture && !word.rewind;
}

// A step that rests on the state that a person named.
static Decision OnTheStateNamed(const Writer& writer, const Migration& migration, Writer next, std::string message) {
  const Claim& claim = *writer.claim;
  if (!NamesAnotherThanTheSources(writer, migration))
    return Do(Phase::kWithdrawing, SwapWriter{std::move(next)}, std::move(message));
  SOMETIMES("rollout.source_is_newer_than_the_word");
  return Ask(Phase::kWithdrawing,
             StrCat("the workload in ", claim.source.cluster, " ran again after its state was captured, and left ",
                    writer.stop->capture, "; ", migration.attestation->by, " named ", migration.attestation->state_ref),
             StrCat("`baton attest --cluster ", claim.target.cluster,
                    "` the newer one of the two; if it is the one that was named, the same with --rewind"));
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
      return OnTheStateNamed(writer, migration, next,
                             StrCat(word.by, " attested that ", claim.target.cluster, " is stopped"));  // GRANT
    }
    Writer next = writer;
    if (writer.stop->uid.empty() && Answers(seen.target, claim.target) && seen.target.found) {
      SOMETIMES("rollout.target_appeared_late");
      next.stop->uid = seen.target.uid;
      return Do(phase, SwapWriter{next}, StrCat("the workload appeared in ", claim.target.cluster));
    }
    const bool same = Answers(seen.target, claim.target) && seen.target.found && seen.target.uid == writer.stop->uid;
    // What it did is decided after it stopped, never before.
    next.stop->proven = true;
    const bool lost = Answers(seen.target, claim.target) && !seen.target.remains &&
                      (!seen.target.found || seen.target.uid != writer.stop->uid);
    if (lost && IsVouchedFor(migration, claim, claim.target)) {
      next.stop->capture = migration.attestation->state_ref;
      return OnTheStateNamed(writer, migration, next,
                             StrCat("the workload is gone from ", claim.target.cluster, "; its state is the one that ",
                                    migration.attestation->by, " named"));
    }
    if (StopProven(writer, seen.target, claim.target)) {
      const bool none =
          GUARD("handoff.progress_is_judged_after_the_stop", seen.target.progress == Sighting::Progress::kNone) &&
          GUARD("handoff.unsure_is_not_none", !writer.stop->unsure);
      if (!none && seen.target.capture.empty()) {
        if (IsVouchedFor(migration, claim, claim.target)) {
          next.stop->capture = migration.attestation->state_ref;
          return OnTheStateNamed(writer, migration, next,
                                 StrCat(claim.target.cluster, " stopped; its state is the one that ",
                                        migration.attestation->by, " named"));
        }
        return Ask(phase, StrCat(claim.target.cluster, " may have written and its state was not captured"),
                   StrCat("find its last checkpoint and `baton attest --cluster ", claim.target.cluster, "` it"));
      }
      if (!none && GUARD_STANDS("handoff.capture_is_kept")) next.stop->capture = seen.target.capture;
      return Do(phase, SwapWriter{next},
                StrCat(claim.target.cluster, " stopped", none ? " and had not progressed" : "; its state is captured"));
    }
    // What it had done shows no more: it was deleted before its stop was proven.
    if (lost && !writer.stop->uid.empty()) {
      return Ask(phase,
                 StrCat("the state that the workload in ", claim.target.cluster,
                        " left: it was deleted there before its stop was seen"),
                 StrCat("find its newest checkpoint or savepoint and `baton attest ", migration.name, " --cluster ",
                        claim.target.cluster, "` it; if it never ran, that is ",
                        writer.receipt ? writer.receipt->capture : std::string("what it was to start from")));
    }
    // Once it has ended, nothing shows any more that it was like that.
    if (writer.stop->any_way && !writer.stop->unsure && same && seen.target.unsure) {
      next.stop->proven = false;
      next.stop->unsure = true;
      return Do(phase, SwapWriter{next},
                StrCat("what ", claim.target.cluster, " leaves may be older than what it did last"));
    }
    // One that never got to run cannot capture anything. Another way of stopping it is no other proof.
    if (!writer.stop->any_way && !late && seen.in_phase >= migration.deadlines.undo / kPatience) {
      next.stop->proven = false;
      next.stop->any_way = true;
      next.stop->unsure = same && seen.target.unsure;
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
  const bool gone = SeenGone(seen.target, claim.target) && !seen.still_ordered;
  if (!lost && !GUARD("rollout.target_seen_gone", gone)) {
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
  const BindingState only_source = Locked({claim.source.cluster}, claim, seen.fence);
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

}  // namespace baton::rollout::next_internal
