// The world in which everything works.
#include "rollout/foresee.h"

#include <utility>

namespace baton::rollout {
namespace {

using Mode = SideRule::Mode;

constexpr std::string_view kStopComes = "it is stopped, nothing of it is left, and its state is captured";
constexpr std::string_view kStartComes = "it runs, from that state, and has made a checkpoint where its kind can";

// What a cluster does with what the hub has for it by now.
void Follow(Sighting& there, const Holder& meant, bool listed, const SideRule& rule) {
  there.answered = true;
  there.cluster_id = meant.cluster_id;
  if (!listed) {
    there = {.answered = true, .cluster_id = meant.cluster_id};
    return;
  }
  if (!there.found) there.uid = kUidToCome;
  there.found = true;
  there.seq = rule.seq;
  there.held = rule.mode == Mode::kHeld || rule.mode == Mode::kStopping;
  there.runs = !there.held;
  there.stop_proven = rule.mode == Mode::kStopping;
  there.capture = there.stop_proven ? std::string(kStateToCome) : std::string();
  there.stop_missing = there.stop_proven ? std::string() : std::string(kStopComes);
  there.start_proven = there.runs;
  there.start_missing = there.start_proven ? std::string() : std::string(kStartComes);
}

// Everybody does what was asked for. False: nothing changes any more.
bool LetTimePass(const Writer& writer, Migration& migration, Observation& seen) {
  const Claim& claim = *writer.claim;
  const OverrideState rules = seen.override_state.value_or(OverrideState{});
  const bool was_proven = seen.target.start_proven;
  const auto told = [](const Sighting& one) {
    return std::pair(one.found, std::pair(one.seq, std::pair(one.stop_proven, one.start_proven)));
  };
  const auto before = std::pair(told(seen.source), told(seen.target));
  Follow(seen.source, claim.source, seen.binding.clusters.contains(claim.source.cluster), rules.source);
  Follow(seen.target, claim.target, seen.binding.clusters.contains(claim.target.cluster), rules.target);
  if (before != std::pair(told(seen.source), told(seen.target))) return true;
  if (!migration.approved || migration.paused || !migration.waiting_for_window.empty()) {
    migration.approved = true;
    migration.paused = false;
    migration.waiting_for_window.clear();
    return true;
  }
  if (was_proven && seen.proven_for < migration.stabilization) {
    seen.proven_for = migration.stabilization;
    return true;
  }
  if (!migration.cleanup_approved) {
    migration.cleanup_approved = true;
    return true;
  }
  return false;
}

}  // namespace

Foresight Foresee(Writer writer, Migration migration, Observation seen) {
  Foresight ahead;
  if (seen.proposal) {
    const Holder& source = seen.proposal->source;
    seen.source = {.answered = true, .cluster_id = source.cluster_id, .found = true, .uid = source.member_uid};
    seen.source.seq = writer.exists ? writer.seq : -1;
    seen.source.runs = true;
    seen.target = {.answered = true, .cluster_id = seen.proposal->target.cluster_id};
    seen.binding = {.clusters = {source.cluster}};
  }
  // That a refusal is written down first is no step of a move.
  if (migration.abort || !seen.problems.empty()) writer.refused_uid = migration.uid;
  seen.source.stop_missing = kStopComes;
  seen.target.start_missing = kStartComes;
  while (ahead.steps.size() < kForeseenMax) {
    const Decision decision = Next(writer, migration, seen);
    ahead.end = decision.phase;
    ahead.said = decision.message;
    migration.phase = decision.phase;
    if (IsEnd(decision.phase)) break;
    ahead.steps.push_back({.phase = decision.phase,
                           .effect = decision.effect,
                           .message = decision.message,
                           .waits_for = decision.waiting_for,
                           .for_people = std::holds_alternative<NoEffect>(decision.effect) && !decision.deadline,
                           .writer = writer});
    if (const auto* swap = std::get_if<SwapWriter>(&decision.effect)) {
      writer = swap->writer;
    } else if (const auto* put = std::get_if<PutOverride>(&decision.effect)) {
      seen.override_state = put->state;
      seen.override_exists = true;
    } else if (std::holds_alternative<RemoveOverride>(decision.effect)) {
      seen.override_state.reset();
      seen.override_exists = false;
    } else if (const auto* bind = std::get_if<PutBinding>(&decision.effect)) {
      seen.binding = bind->state;
    } else if (std::holds_alternative<ValidateTarget>(decision.effect)) {
      seen.target_valid = true;
    } else if (decision.blocked || !writer.claim || !LetTimePass(writer, migration, seen)) {
      break;
    }
  }
  return ahead;
}

}  // namespace baton::rollout
