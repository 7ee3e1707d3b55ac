// Days of other kinds: a random move with faults, as a bad day (sim/bad_day.h), of a workload of each kind that
// practice clusters play and a built-in profile moves: a database, a StatefulSet with volumes, connectors, jobs. Each
// is a rehearsal (sim/rehearsal.h) on a small fleet that has one such workload.
//
//   const KindDays days = TRY(KindDays::Make());    // takes a moment: the fleets are read from calm worlds
//   Day day = days.Play(seed);                      // the seed says which kind
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "rt/random.h"
#include "sim/bad_day.h"
#include "sim/fleet.h"

namespace baton::sim {

class KindDays {
 public:
  static Result<KindDays> Make();

  const std::string& KindOf(uint64_t seed) const { return fleets_[seed % fleets_.size()].kind; }
  // Every fourth day of a kind is beside another federation, where such a kind can be moved.
  bool IsOnOwnHub(uint64_t seed) const {
    return fleets_[seed % fleets_.size()].only_own_hub || seed / fleets_.size() % kForeignOneIn != kForeignOneIn - 1;
  }
  static bool HasGitOps(uint64_t seed) { return rt::SeededRandom(seed).Below(kGitOpsOneIn) == 0; }
  Day Play(uint64_t seed, Story::Detail detail = Story::Detail::kCounts) const;

 private:
  static constexpr uint64_t kForeignOneIn = 4;
  static constexpr uint64_t kGitOpsOneIn = 5;
  struct KindFleet {
    std::string kind;
    bool only_own_hub = false;  // it must be prepared in its target before it starts
    Fleet fleet;
  };
  std::vector<KindFleet> fleets_;
};

}  // namespace baton::sim
