// Trials: one move, disturbed at one exact place. All places can be tried one after the other.
//
//   Trial trial = CrashAt(seed, Way::kForward, 17, AtWrite::Side::kAfter);   // the leader dies after its 17th write
//   trial.problems          // what was wrong; empty: nothing
//   trial.writes            // how many writes the controllers made: the last k that is worth trying
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/at_write.h"
#include "sim/scene.h"

namespace baton::sim {

struct Trial {
  size_t writes = 0;
  std::string which;  // the k-th, in words
  std::vector<std::string> problems;
};

// Where the move is to end: at its target; back, because it is aborted while the source stops; back, because the target
// cannot start.
enum class Way : uint8_t { kForward, kAbort, kWithdraw };

// Asks for the move, and for what turns it around.
rt::Task<void> AskFor(Scene& scene, Way way);
rt::Task<void> ExpectEndOf(Scene& scene, Way way);

// The leader dies at its k-th write, and another follows it. k = 0: nobody dies.
Trial CrashAt(uint64_t seed, Way way, size_t k, AtWrite::Side side, Story* story = nullptr, HubOf hub = HubOf::kBaton);

// From its k-th write on a leader is slow and has lost its lease; it does not know, and goes on beside the new one.
Trial TwoLeadersFrom(uint64_t seed, Way way, size_t k, Duration delay, Story* story = nullptr,
                     HubOf hub = HubOf::kBaton);

// The move is asked for by an annotation of the template, and the leader dies at its k-th write.
Trial WishAt(uint64_t seed, size_t k, AtWrite::Side side, Story* story = nullptr);

// People and other controllers meddle.
inline constexpr Duration kPersonThinks = seconds(20);  // before what was done is undone
struct Meddling {
  const char* name;
  rt::Task<void> (*meddle)(Scene& scene);
  std::vector<std::string> ends;  // that are right then; "": the migration is gone
  bool ours_only = false;         // what the hub of another federation does not stand: docs/ROLLOUT.md tells of it
  bool may_ask = false;           // that a person is asked is right, too
  rt::Task<void> (*undo)(Scene& scene) = nullptr;  // who did it takes it back after a while
};
std::span<const Meddling> Meddlings();
// Somebody deleted it in its cluster: it runs all the same, or a person is told that what is there now is held (true).
rt::Task<bool> IsHeldAsStray(Scene& scene);
// When the template was deleted: nothing of it is left in any cluster, nor of a move.
rt::Task<void> ExpectGoneWithItsTemplate(Scene& scene);
// What must hold when a move that was meddled with has come to that end.
rt::Task<void> ExpectAfterMeddling(Scene& scene, const Value& end);
Trial MeddleAt(uint64_t seed, const Meddling& one, size_t k, Story* story = nullptr, HubOf hub = HubOf::kBaton);

}  // namespace baton::sim
