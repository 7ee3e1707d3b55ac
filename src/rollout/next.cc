// The protocol: which stage a move is in, and who is asked. Read with next.h; facts about why each line is there:
// docs/ROLLOUT.md.
#include "rollout/next.h"

#include <algorithm>
#include <utility>

#include "base/guard.h"
#include "base/invariant.h"
#include "base/probe.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "rollout/next_steps.h"

namespace baton::rollout {

using next_internal::Abort;
using next_internal::Answers;
using next_internal::Ask;
using next_internal::Attested;
using next_internal::Clean;
using next_internal::Do;
using next_internal::End;
using next_internal::Ended;
using next_internal::IsAway;
using next_internal::IsVouchedFor;
using next_internal::Prepare;
using next_internal::Quiesce;
using next_internal::ResumeSource;
using next_internal::StopTarget;
using next_internal::Unreached;
using next_internal::Verify;
using next_internal::Wait;

namespace {

using Mode = SideRule::Mode;

// ---- before and after the claim
// ----------------------------------------------------------------------------------------

// It ends without having begun. That is on record before it is told: another leader may have decided to claim, and be
// late with it; then it loses on the version, and what was told stays true.
Decision Refuse(const Writer& writer, const Migration& migration, Phase end, const std::string& why) {
  const bool on_record = !writer.exists || writer.refused_uid == migration.uid;
  if (GUARD("handoff.refusal_is_on_record", on_record)) return End(end, why);
  Writer next = writer;
  next.refused_uid = migration.uid;
  next.refused = end;
  next.refused_why = Utf8Prefix(why, kRefusedWhyMax);
  return Do(Phase::kPending, SwapWriter{next}, StrCat("refusing it: ", why));
}

Decision Begin(const Writer& writer, const Migration& migration, const Observation& seen) {
  if (writer.claim)
    return End(Phase::kRejected, StrCat("migration ", writer.claim->migration, " is moving this workload"));
  if (migration.abort) return Refuse(writer, migration, Phase::kAborted, "aborted before it began");
  if (!seen.preflight_done) return Wait(Phase::kPending, "the checks before the move", migration.deadlines.plan);
  if (!seen.problems.empty()) {
    std::string why;
    for (const std::string& problem : seen.problems) why += (why.empty() ? "" : "; ") + problem;
    return Refuse(writer, migration, Phase::kRejected, why);
  }
  // Another leader has refused it, and may have told so since we read the migration.
  if (!GUARD("handoff.refused_is_not_claimed", writer.refused_uid != migration.uid)) {
    const std::string& why = writer.refused_why;
    return End(writer.refused, StrCat(why.empty() ? "the checks before the move found something against it" : why,
                                      " (it ended so, whatever is found now: ask for it again)"));
  }
  Writer next = writer;
  if (!writer.exists) {
    next.exists = true;
    next.seq = 1;
    next.holder = seen.proposal->source;
  }
  if (GUARD_STANDS("handoff.stop_is_of_one_attempt")) next.stop.reset();
  next.lost.reset();
  next.claim = seen.proposal;
  next.claim->fence = seen.fence;
  return Do(Phase::kPending, SwapWriter{next}, "claiming the workload");
}

std::string WordOf(const Migration& migration, const Holder& lost) {
  const Attestation& word = *migration.attestation;
  return StrCat(word.by, " attested that ", lost.cluster, " is stopped: ", word.reason);
}

// A person's word for a cluster that does not answer, given now or on record; "": none.
std::string GivenUp(const Writer& writer, const Migration& migration, const Holder& side, const Sighting& sighting) {
  if (Attested(migration, *writer.claim, side, sighting)) return WordOf(migration, side);
  return writer.lost && writer.lost->cluster == side.cluster && IsAway(sighting, side) ? writer.lost->word
                                                                                       : std::string();
}

// What one side of a move whose template is gone has left, and what a person can do about it; "": nothing is there.
// What is in a cluster that is lost goes when that comes back: the pipe keeps its order to delete.
std::string StillThere(const Writer& writer, const Migration& migration, const Holder& side, const Sighting& sighting) {
  if (SeenGone(sighting, side) || !GivenUp(writer, migration, side, sighting).empty()) return {};
  if (Answers(sighting, side)) return StrCat("look at what keeps it in ", side.cluster);
  return StrCat(Unreached(sighting, side), ": bring it back; if it is lost for good: `baton attest ", migration.name,
                " --cluster ", side.cluster, "`");
}

// With both clusters lost there are two words to give, and an attestation has room for one: the first is kept. Only for
// a move whose template is gone: nothing is started any more on either word.
std::optional<Decision> KeepTheFirstWord(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  if (writer.lost || !IsAway(seen.source, claim.source) || !IsAway(seen.target, claim.target)) return std::nullopt;
  for (const Holder* side : {&claim.source, &claim.target}) {
    if (!IsVouchedFor(migration, claim, *side)) continue;
    SOMETIMES("rollout.both_clusters_are_lost");
    Writer next = writer;
    next.lost = LostCluster{.cluster = side->cluster, .word = WordOf(migration, *side)};
    return Do(migration.phase, SwapWriter{next}, next.lost->word);
  }
  return std::nullopt;
}

// The template is gone, and the pipe removes the workload everywhere. Until it has, it may still render from what it
// has cached, and only our override keeps that from running. In a cluster that a person vouches for nothing runs.
Decision Cancel(const Writer& writer, const Migration& migration, const Observation& seen) {
  const Claim& claim = *writer.claim;
  std::string left;
  // That it is gone says nothing while it can still be made: it may have gone by somebody else's doing, or not have
  // been made yet, and the pipe not have heard of the deletion.
  if (!seen.removal_ordered) left = "look at why the workload's binding and Works are not being deleted";
  for (const std::string& one : {StillThere(writer, migration, claim.source, seen.source),
                                 StillThere(writer, migration, claim.target, seen.target)}) {
    StrAppend(left, left.empty() || one.empty() ? "" : "; ", one);
  }
  if (!GUARD("rollout.override_outlives_the_workload", left.empty())) {
    if (auto step = KeepTheFirstWord(writer, migration, seen)) return *std::move(step);
    const std::string what = "the deleted workload to be gone from both clusters";
    if (seen.in_phase < migration.deadlines.undo) return Wait(migration.phase, what, migration.deadlines.undo);
    return Ask(migration.phase, what, left);
  }
  Decision decision = Do(migration.phase, SwapWriter{Ended(writer, Phase::kCancelled)}, "the template is gone");
  for (const std::string& word :
       {GivenUp(writer, migration, claim.source, seen.source), GivenUp(writer, migration, claim.target, seen.target)}) {
    StrAppend(decision.why, decision.why.empty() || word.empty() ? "" : "; ", word);
  }
  return decision;
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
// Also where somebody has changed it since: who wrote it last of us is told by it all the same.
int64_t FenceOfWhatItWrites(const Observation& seen) { return std::max(seen.override_fence, seen.binding.fence); }
}  // namespace

int64_t NewestFence(const Writer& writer, const Observation& seen) {
  return std::max(writer.claim ? writer.claim->fence : 0, FenceOfWhatItWrites(seen));
}

bool IsWhole(const Writer& writer) {
  if (!writer.claim) return true;
  const bool with_target = writer.holder.cluster == writer.claim->target.cluster;
  switch (writer.claim->intent) {
    case Intent::kForward:
      return !with_target || (writer.stop && writer.receipt);
    case Intent::kAbort:
      return true;
    case Intent::kWithdraw:
      return with_target ? writer.stop.has_value() : writer.receipt.has_value();
  }
  return false;
}

std::optional<OverrideState> WantedOverride(const Writer& writer, int64_t fence) {
  if (!writer.claim) return std::nullopt;
  INVARIANT(IsWhole(writer), "who asks has looked whether the claim is whole");
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
      // Its own is what its operator recorded; when that is lost, the one that a person named.
      if (state.source.mode == Mode::kRunning) state.source.ref = writer.stop->capture;
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
  if (!IsWhole(writer)) {
    return Ask(
        migration.phase, "the record of this move (its Writer) lacks the stop or the receipt that it rests on",
        "a person looks at both clusters, says in the Writer who writes, and removes its claim: docs/ROLLOUT.md, "
        "'The record is gone'");
  }
  if (!seen.kind_known) {
    return Ask(migration.phase, "the MigrationProfile of its kind",
               "it was deleted, or does not compile: apply it again as it was; until then nothing is done");
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
