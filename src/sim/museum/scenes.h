// Scenes by name, so that a table can say what finds a mutant and anybody can play it again:
//
//   story savepoint-never-ends        one of sim/stories.h
//   crash forward after 17            the leader dies after its 17th write (forward, abort, withdraw; before, after)
//   leaders forward 12 700            from write 12 on an old leader goes on beside the new one, 700 ms late
//   blow forward hub-restored 16      one of sim/pairs.h, alone, at write 16
//   wish before 9                     a move that an annotation asks for; the leader dies at write 9
//   meddle Abort 44                   one of sim/trials.h, at write 44
//   file guards/late_write            tests/scenarios/guards/late_write.yaml
//   model foreign                     every interleaving of the protocol's small model (rollout/testing/model.h; own,
//                                     foreign)
//   seed 123                          a bad day, as `baton simulate --seed 123`
//   plot starts-late 123              the same, with that plot (`--plot starts-late`)
//   kinds 12, drains 3, upgrades 5    likewise, as `baton simulate --kinds --seed 12`, `--drains`, `--upgrades`
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/swarm.h"

namespace baton::sim {

struct Played {
  std::vector<std::string> problems;
  bool past_the_end = false;  // there is no such write: later ones need not be tried
};

// Random days of one kind, which a hunt goes through (sim/museum/hunt.h).
struct DayKind {
  std::string name;      // of its scenes: "seed"
  uint64_t percent = 0;  // of the seeds of a hunt
  uint64_t row = 1;      // days of one seed / row may be played together
  SwarmOptions::PlayRow play;
  std::function<Day(uint64_t seed, Story::Detail detail)> play_one;
};
const std::vector<DayKind>& DayKinds();

Result<Played> PlayScene(std::string_view name);
// Who did what in a random day, and what was wrong with it. kInvalid: it is none.
Result<std::string> TellDay(std::string_view name);

// The scene, and all that differ from it only in the place of the disturbance, it first. A code change moves writes;
// what was found at one of them is then found at another.
std::vector<std::string> Family(std::string_view name);

// One of every kind, coarsely: for a search.
std::vector<std::string> AllScenes(size_t seeds);

// What was seen from outside; "": nothing. Not what is only said of our own record.
std::string FirstFromOutside(const std::vector<std::string>& problems);

}  // namespace baton::sim
