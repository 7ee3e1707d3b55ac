// Fleet days: random days with faults, as bad days (sim/bad_day.h), of more than one Flink job. Each is a rehearsal
// (sim/rehearsal.h) on one of a few small fleets:
//
//   OfKinds   a move of a workload of each kind that practice clusters play and a built-in profile moves: a database, a
//             StatefulSet with volumes, connectors, jobs
//   OfDrains  a cluster with several workloads is emptied, a few moves at a time, and now and then they are brought
//             home again
//   OfWishes  policies want workloads in other clusters, again and again
//   OfUpgrades  workloads that opted in to blue-green get new versions, which start in another cluster or not at all
//
//   const FleetDays days = TRY(FleetDays::OfKinds());   // takes a moment: the fleets are read from calm worlds
//   Day day = days.Play(seed);                          // the seed says which fleet
//
// Seeds of one row that have the same fleet have one beginning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/bad_day.h"
#include "sim/fleet.h"
#include "sim/rehearsal.h"

namespace baton::sim {

class FleetDays {
 public:
  static Result<FleetDays> OfKinds();
  static Result<FleetDays> OfDrains();
  static Result<FleetDays> OfUpgrades();
  static Result<FleetDays> OfWishes();

  const std::string& NameOf(uint64_t seed) const { return At(seed).name; }
  Day Play(uint64_t seed, Story::Detail detail = Story::Detail::kCounts) const;

  // For a swarm (sim/swarm.h): seeds of one row, each in a fork of the process.
  uint64_t row() const { return rows_.size() * kSeedsOfAFleet; }
  void PlayRow(std::span<const uint64_t> seeds, const DayReport& report, const DayDone& done) const;

 private:
  static constexpr uint64_t kSeedsOfAFleet = 32;  // in a row
  static constexpr uint64_t kForeignOneIn = 4;
  static constexpr uint64_t kGitOpsOneIn = 5;
  struct Row {
    std::string name;
    bool only_own_hub = false;  // what it has must be prepared in its target before it starts
    RehearsalWish wish;
    Fleet fleet;
  };

  const Row& At(uint64_t seed) const { return rows_[seed % rows_.size()]; }
  // Every fourth day of a fleet is beside another federation, where it can be moved.
  bool IsOnOwnHub(uint64_t seed) const {
    return At(seed).only_own_hub || seed / rows_.size() % kForeignOneIn != kForeignOneIn - 1;
  }
  RehearsalOptions OptionsOf(uint64_t seed, Story::Detail detail) const;
  static Day DayOf(const Row& row, Rehearsal& played);

  std::vector<Row> rows_;
};

}  // namespace baton::sim
