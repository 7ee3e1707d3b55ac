// Foresee: a whole move as it would go if nothing went wrong: the decisions of Next itself (rollout/next.h), in a world
// in which every write works, every cluster answers, and everybody does what they are asked for. Pure.
//
//   Foresight ahead = Foresee(writer, migration, seen);      // seen: as preflight found it, with a proposal
//   for (const ForeseenStep& step : ahead.steps) ...         // in the order in which they would happen
#pragma once

#include <string>
#include <vector>

#include "rollout/next.h"
#include "rollout/state.h"

namespace baton::rollout {

inline constexpr size_t kForeseenMax = 128;  // steps; a move has about twenty

// What the source's captured state is called here: nobody knows its name before it is captured.
inline constexpr std::string_view kStateToCome = "(the state that is captured)";
inline constexpr std::string_view kUidToCome = "(uid)";  // of what is not there yet

struct ForeseenStep {
  Phase phase = Phase::kPending;
  Effect effect;        // NoEffect: it waits
  std::string message;  // as the status would say it
  std::string waits_for;
  bool for_people = false;  // it waits for an approval, a window or a resume
  Writer writer;            // as it is before this step
};

struct Foresight {
  std::vector<ForeseenStep> steps;
  Phase end = Phase::kPending;
  std::string said;  // the last message
};

Foresight Foresee(Writer writer, Migration migration, Observation seen);

}  // namespace baton::rollout
