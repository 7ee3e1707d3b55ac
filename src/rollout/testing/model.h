// The exhaustive check of a handoff: every interleaving of a small world (model_world.h) with up to `faults` faults,
// with the real Next deciding.
//
//   ModelResult result = Explore({.own_hub = true, .faults = 2});
//   result.broken.empty()      // or: which promise, and the story of how, shortest first
//
// Checked in every state and step:
//   P1  never two jobs that run
//   P2  a job starts from the newest committed state
//   P3  when faults stop, it reaches an end, or a decision that names who must act
//   P4  nothing of ours is left at an end
//   P5  an end says what is true; the phase never goes back
//   P6  what an old leader writes never replaces what a newer one wrote
//   P7  no grant while the old holder's job runs, unless a person vouched for it
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::rollout::model {

struct ModelOptions {
  bool own_hub = true;
  int faults = 2;
  uint32_t only = ~0U;  // those that may happen (FaultBit): more of a few kinds than of all kinds can be gone through
  uint64_t max_states = 50'000'000;
};

struct ModelResult {
  uint64_t states = 0;
  uint64_t steps = 0;
  uint64_t questions = 0;  // different ones that Next was asked
  int depth = 0;           // of the longest shortest way to a state
  bool complete = false;   // every state within the bounds was seen
  std::string broken;      // the promise, and what happened; "": none
  std::vector<std::string> story;
};

ModelResult Explore(const ModelOptions& options);

}  // namespace baton::rollout::model
