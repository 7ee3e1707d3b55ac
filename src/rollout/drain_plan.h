// PlanDrain: which moves of a drain begin now. A pure function of what is there: the workloads in the cluster, the
// moves that were made for them, and the limits. It remembers nothing, so that a drain survives any restart; asked
// again with what it answered carried out, it goes on from there.
//
//   DrainPlan plan = PlanDrain(workloads, moves, limits, now, choose);
//   for (const DrainStart& start : plan.starts) create the StatefulMigration start.name
//
// Workloads go in the order of their priority, then by name. At most `out` moves leave a cluster and `in` enter one at
// a time, all moves counted, whoever asked for them. A move that failed is tried again, later each time, kDrainTries
// times, and to another cluster when the policy allows one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace baton::rollout {

inline constexpr int kDrainTries = 3;                      // moves of one workload in one drain
inline constexpr Duration kDrainRetryFirst = seconds(30);  // then twice as long
inline constexpr int kMovesOutDefault = 5;                 // leaving one cluster at a time
inline constexpr int kMovesInDefault = 5;                  // entering one cluster at a time

// One workload that a drain is about.
struct DrainWorkload {
  std::string key;    // "FlinkDeployment/shop/orders"
  std::string from;   // where it is now; "": it is gone
  std::string to;     // where it must go; "": choose
  bool done = false;  // it is where the drain wants it
  int64_t priority = 0;
};

// A move that exists, of whatever workload.
struct DrainMove {
  std::string workload;
  std::string name;
  std::string from, to;
  bool of_this_drain = false;
  int number = 0;  // of this drain: which try
  bool ended = false;
  bool succeeded = false;
  std::string phase;
  std::string message;
  WallTime ended_at{};
};

struct MoveLimits {
  int out = kMovesOutDefault;
  int in = kMovesInDefault;
  std::map<std::string, int> out_of, in_to;  // of single clusters
  int Out(const std::string& cluster) const;
  int In(const std::string& cluster) const;
};

enum class DrainState : uint8_t { kWaiting, kMoving, kDone, kFailed, kStuck, kGone };
std::string_view DrainStateName(DrainState state);  // "Moving"

struct DrainItem {
  std::string key;
  DrainState state = DrainState::kWaiting;
  std::string from, to;
  std::string move;  // the newest
  std::string message;
};

struct DrainStart {
  std::string key;
  std::string from, to;
  int number = 1;
};

struct DrainPlan {
  std::vector<DrainStart> starts;
  std::vector<DrainItem> items;  // in the order in which they go
  bool finished = false;         // nothing is left to move
  bool stuck = false;            // what is left needs a person
  std::optional<WallTime> look_again;
};

// Where a workload should go, other than where it is; clusters in `full` take nobody now. An error says why nowhere.
using ChooseTarget =
    std::function<Result<std::string>(const DrainWorkload& workload, const std::set<std::string>& full)>;

DrainPlan PlanDrain(std::vector<DrainWorkload> workloads, const std::vector<DrainMove>& moves, const MoveLimits& limits,
                    WallTime now, const ChooseTarget& choose);

}  // namespace baton::rollout
