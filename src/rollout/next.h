// Next: the whole protocol of a handoff as one pure function: from the durable record, the wish, and what was seen just
// now, to the one thing to do next. A controller (rollout/engine.h) calls it until it says that there is nothing to do.
//
//   Pending -> Planned -> Staged -> Quiescing -> Granted -> Verifying -> Cleaning -> Succeeded
//      |          |          |          |            |          |
//      v          +----------+----------+            +----------+--> Withdrawing -> RolledBack (source runs again)
//   Rejected           Aborting -> Aborted (source as before, nothing was granted)
//
// What is durable decides: where a migration stands follows from Writer alone (claim, intent, stop, holder), never from
// the migration's own status. So a new leader, or this one after a crash, goes on from the same place.
//
//   claim.intent  holder   stop     means
//   Forward       source   none     Planned, Staged
//   Forward       source   there    Quiescing
//   Forward       target   there    Granted, Verifying; with claim.verified: Cleaning
//   Abort         source   any      Aborting; when the source is lost meanwhile, on a person's word: Forward again,
//                                   with the next attempt and a stop of its own (Quiescing)
//   Withdraw      target   there    Withdrawing: stopping and removing the target
//   Withdraw      source   there    Withdrawing: the source may run again
//   no claim of ours, our end on record: what remains of us is removed, and the end is told
//
// Rules that hold everywhere:
// - At most one effect. Effects are idempotent, and each is a compare-and-swap on what it was decided on. A conflict
//   means: look again, decide again.
// - The holder changes in two places, marked GRANT below, on a proof that is in the same Observation.
// - Nothing is concluded from silence, from time, or from an empty list.
// - A new leader first makes the Writer, the override and the binding its own (fence), so that what an old leader still
//   has under way fails on the version.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "rollout/state.h"

namespace baton::rollout {

// ---- effects
// ---------------------------------------------------------------------------------------------------------

struct NoEffect {};
// Writer becomes this, if it still has the version it was decided on.
struct SwapWriter {
  Writer writer;
};
// Our override says this.
struct PutOverride {
  OverrideState state;
};
struct RemoveOverride {};
// The binding has these clusters and is locked or not.
struct PutBinding {
  BindingState state;
};
// Asks the target's API server whether it would take the object.
struct ValidateTarget {};

using Effect = std::variant<NoEffect, SwapWriter, PutOverride, RemoveOverride, PutBinding, ValidateTarget>;
std::string_view EffectName(const Effect& effect);

struct Decision {
  Phase phase = Phase::kPending;
  Effect effect;
  std::string message;      // a sentence for people: what is done or waited for
  std::string waiting_for;  // "" when it is not waiting; else one line: what, and of whom
  bool blocked = false;     // needs a person: the message says who must do what
  // When a deadline of this phase runs out, from its beginning; nothing: it waits for a person, or has ended.
  std::optional<Duration> deadline;
  // With the step that turns a move back, or ends it on a person's word: the reason, which its status keeps.
  std::string why;
};

inline constexpr size_t kRefusedWhyMax = 1024;  // bytes that the Writer keeps of why a move was refused
// What an abort waits for begins so when the source was stopped and left no state: a person has to name one.
inline constexpr std::string_view kStateToGoOnFrom = "a state to go on from";

Decision Next(const Writer& writer, const Migration& migration, const Observation& seen);

// Of the leaders that have written what a move goes by.
int64_t NewestFence(const Writer& writer, const Observation& seen);

// What our override says in each state of the Writer; what rendering and RunGate follow. Nothing when there is no
// claim.
std::optional<OverrideState> WantedOverride(const Writer& writer, int64_t fence);
// Whether a claim has what its stage rests on, the stop and the receipt. One that a person wrote, or a hub that was
// restored in the middle of it and mended, may not: nothing is decided by it then, and nothing written.
bool IsWhole(const Writer& writer);

// Whether the target, as it is seen, was removed for certain: its cluster answered, is the one that was meant, and has
// nothing left of it.
bool SeenGone(const Sighting& sighting, const Holder& meant);

}  // namespace baton::rollout
