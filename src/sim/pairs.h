// Pairs: two disturbances in one move, each at an exact write of the leader: it dies before the write, or after it is
// done and before its answer, or it becomes slow, loses its lease and goes on beside the new one. (To die after the
// answer is to die before the next write: in between nothing is written.) All pairs can be tried.
//
// Singles: one disturbance. These also have the death of the hub while the write is on its way to its disk, which has
// it afterwards or has not: with the controllers, which are in the same process, or without. And the hub's disk as it
// was before the move, put back in the middle of it: whatever members have then, there is one writer and nothing lost.
//
//   RunSingles(2, print);                                                 // all, on two cores
//   RunPairs({.slice = night % 6, .slices = 6, .jobs = 2}, print);        // a sixth of all, another one every night
//   PlayPairsOf(Way::kForward, {Blow::kDiesAfter, 12});                   // one first with every second one
//   PlayPair(TRY(PairName::Parse("forward:after-12:before-3")), &story);  // one pair, told
//
// The world is made once for each first disturbance; a fork of the process goes on from each second one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/story.h"
#include "sim/trials.h"

namespace baton::sim {

enum class Blow : uint8_t {
  kDiesBefore,
  kDiesAfter,
  kDeposedSoon,
  kDeposedLate,
  kAllDieLost,  // hub and controllers, and the hub's disk does not have the write
  kAllDieKept,  // and it has
  kHubDiesLost,
  kHubDiesKept,
  kHubRestored,  // all die, and the hub comes back from a backup that is older than the move
};
inline constexpr size_t kBlows = 9;
inline constexpr size_t kBlowsOfPairs = 4;  // the first four
std::string_view BlowName(Blow blow);

struct BlowAt {
  Blow blow = Blow::kDiesBefore;
  size_t write = 0;  // of the leader that there is, from 1; of the second blow: since the first

  friend bool operator==(const BlowAt&, const BlowAt&) = default;
};

struct PairName {
  Way way = Way::kForward;
  BlowAt first;
  std::optional<BlowAt> second;  // none: the first alone

  std::string Text() const;  // "forward:before-12:deposed-3", as --pair takes it
  static Result<PairName> Parse(std::string_view text);
};

struct PairResult {
  std::string name;
  std::string where;  // the writes, in words
  std::vector<std::string> problems;
  bool missed = false;  // the move has no such write
};

// How many writes the leader makes when nothing is amiss.
size_t WritesOf(Way way);

// The first blow alone, and with every second one.
std::vector<PairResult> PlayPairsOf(Way way, BlowAt first);
PairResult PlayPair(const PairName& name, Story* story = nullptr);

struct SinglesPlayed {
  size_t played = 0;
  size_t failed = 0;
};
Result<SinglesPlayed> RunSingles(size_t jobs, const std::function<void(const PairResult& result)>& on_failure);

struct PairsOptions {
  uint64_t seed = 1;     // which one of the slice comes first: what a budget cuts off is another every time
  Duration budget = {};  // real time after which no further first blow is begun; zero: all
  // The first blows have one fixed order; a slice has each `slices`th of them. All slices together are all pairs.
  size_t slice = 0;
  size_t slices = 1;
  size_t jobs = 1;
};
struct PairsPlayed {
  size_t firsts = 0;     // first blows that were tried with every second one
  size_t firsts_of = 0;  // that are in the slice
  size_t firsts_all = 0;
  size_t pairs = 0;
  size_t failed = 0;
};
Result<PairsPlayed> RunPairs(const PairsOptions& options,
                             const std::function<void(const PairResult& result)>& on_failure);

}  // namespace baton::sim
