// The parts of the protocol that rollout/next.h is made of. Internal to it: next.cc has the beginning, the end and who
// is asked, next_forward.cc the way from the claim to the end, next_back.cc the ways back, next_steps.cc what all of
// them say.
//
// Everything here is pure, and each function that gives a Decision is told the whole state: the record (Writer, with a
// claim of this migration), the wish, and what was seen.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "rollout/next.h"
#include "rollout/state.h"

namespace baton::rollout::next_internal {

inline constexpr int kPatience = 8;  // after this part of its time a stop that captures is no longer insisted on

// ---- saying what to do ----
Decision Do(Phase phase, Effect effect, std::string message);
Decision Wait(Phase phase, std::string waiting_for, Duration deadline);
Decision Ask(Phase phase, std::string what, std::string who);  // a person
Decision End(Phase phase, std::string message);

// ---- the Writer's changes ----
Writer WithStop(const Writer& writer, const Holder& whom, const std::string& uid, const std::string& prior_path);
Writer WithHolder(const Writer& writer, const Holder& from, const Holder& to, const std::string& capture,
                  std::string how);
Writer Ended(const Writer& writer, Phase end);
// A grant on a person's word.
Writer OnTheWordOf(const Attestation& attestation, Writer granted);

// ---- looking ----
bool Answers(const Sighting& sighting, const Holder& meant);
// Why what is seen there says nothing, and what is waited for then.
std::string Unreached(const Sighting& sighting, const Holder& meant);
std::string ToAnswer(const Sighting& sighting, const Holder& meant);
// Why it must not be told to start there yet; "": it may be.
std::string NotReady(const Observation& seen, const Sighting& there, const Holder& meant);
// A hub of others makes the target by what it knows: so there is nothing there of an earlier stay, which it would
// start.
bool MayBeMade(const Observation& seen, const Claim& claim);
// The same when the source is lost before it was stopped, and so cannot show that that hub knows our override.
bool MayBeMadeWithout(const Writer& writer, const Observation& seen);
// The stop of `meant`, proven by this very look.
bool StopProven(const Writer& writer, const Sighting& sighting, const Holder& meant);
// A person named this cluster as the one that has stopped for good; Attested: and it is away.
bool IsVouchedFor(const Migration& migration, const Claim& claim, const Holder& which);
// Nothing of it answered, and the hub has noticed that; or another cluster answers under its name.
bool IsAway(const Sighting& sighting, const Holder& meant);
bool Attested(const Migration& migration, const Claim& claim, const Holder& which, const Sighting& sighting);
// The person named the state that the workload began from.
bool Rewinds(const Writer& writer, const Claim& claim, const Attestation& word);

// ---- override and binding ----
BindingState Locked(std::set<std::string> clusters, const Claim& claim, int64_t fence);
// The step that every stage begins with: the override and the binding are as the stage wants them, and ours.
std::optional<Decision> Assert(Phase phase, const Writer& writer, const Observation& seen,
                               const std::set<std::string>& clusters);

// ---- the stages ----
Decision Prepare(const Writer& writer, const Migration& migration, const Observation& seen);  // Planned, Staged
Decision Quiesce(const Writer& writer, const Migration& migration, const Observation& seen);
Decision Verify(const Writer& writer, const Migration& migration, const Observation& seen);  // and Granted
Decision Clean(const Writer& writer, const Migration& migration, const Observation& seen);

Decision Abort(const Writer& writer, const Migration& migration, const Observation& seen);
Decision StopTarget(const Writer& writer, const Migration& migration, const Observation& seen);
Decision ResumeSource(const Writer& writer, const Migration& migration, const Observation& seen);

}  // namespace baton::rollout::next_internal
