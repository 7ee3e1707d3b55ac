// Rehearsal: a move or a drain, played on a copy of somebody's fleet (fleet.h) with practice clusters in place of the
// real ones, once without faults and then from seeds with every fault of a bad day (bad_day.h); of people who
// meddle it has those who abort.
//
//   const Rehearsal calm = Rehearse(fleet, {.to = "member2"}, 1, {});
//   calm.day.problems, calm.day.end
//
// What does not run in the copy (an image that practice clusters cannot pull, say) is in the way of a drain: it is
// found with only_settle, and taken out of the fleet before it is moved.
//
// What must hold is looked at from outside: never two that run, no record lost (and none doubled where the profile
// promises it), an end in time, and afterwards each workload runs in one cluster, alone, with nothing of the move left.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/bad_day.h"
#include "sim/fleet.h"

namespace baton::sim {

inline constexpr Duration kRehearsalSettles = minutes(10);  // until everything runs where it is on the hub
inline constexpr Duration kMoveEnds = minutes(30);          // once faults have stopped
inline constexpr Duration kDrainEnds = hours(3);            // likewise: three tries of each, a few at a time
inline constexpr size_t kWritersWatchedMax = 64;  // workloads times clusters that are looked at after every step

struct RehearsalWish {
  std::string to;         // a move of the fleet's first workload
  std::string drain;      // or the cluster that is emptied
  int64_t most = 0;       // moves at a time; 0: as the fleet says
  bool home = false;      // of a drain: in every third play everything is brought home afterwards
  bool upgrades = false;  // or new versions of what opted in to blue-green
  bool wishes = false;    // or policies that want the workloads elsewhere
};

struct RehearsalOptions {
  std::optional<uint64_t> beginning;  // the seed of all that comes before the wish; nothing: of a row of seeds, below
  bool faults = false;
  bool only_settle = false;    // nothing is moved: which of them run in the copy?
  bool own_hub = true;         // false: another federation places and carries (sim/world.h)
  uint64_t gitops_one_in = 0;  // such days with faults have a bot that applies the workloads again and again; 0: none
  bool plots = false;          // some days with faults have people who act by hand, in their place
  Story::Detail detail = Story::Detail::kCounts;
};

struct Rehearsal {
  Day day;
  std::map<std::string, std::string> unsettled;  // by FleetWorkload::Name(): why; they never ran in the copy
  std::vector<std::string> refused;              // objects that the copy's hub did not take, and why
  std::string said;                              // what the move or the drain said at its end
  std::string downtime;                          // the longest that a move tells; "": none does
  Duration took{};                               // virtual time, from the wish to its end
};

// Making a world, and starting the copy in it, takes longer than a move. As with bad days (bad_day.h), seeds that
// seed / kSeedsOfOneBeginning is the same for have one beginning, up to where the wish is told, unless one is given.
Rehearsal Rehearse(const Fleet& fleet, const RehearsalWish& wish, uint64_t seed, const RehearsalOptions& options);

// Seeds of one beginning, which is made once; each goes on from there in a fork of the process. `report` is called in
// the child that has played a seed, `done` in this process with what it gave, or with how the child died.
void RehearseAll(const Fleet& fleet, const RehearsalWish& wish, std::span<const uint64_t> seeds,
                 const RehearsalOptions& options, const std::function<std::string(Rehearsal& played)>& report,
                 const DayDone& done);

}  // namespace baton::sim
