// A bad day: one random move from one seed. Every call and watch of the controllers may fail, in a mix of its own for
// every seed; leaders die or are deposed and go on for a while; the hub dies with writes on their way to its disk;
// operators stall; people abort, delete, edit and attest; another scheduler overwrites the binding. Faults stop after
// some time, and then everything must end well.
//
//   Day day = PlayDay(seed, Story::Detail::kWrites);
//   day.problems, day.end, day.story
//
// Making a world and starting a job in it takes longer than the move. So a row of seeds has one beginning, up to where
// the move is asked for, with the chances of a seed of its own; from there on each has its own chances. PlayDays makes
// the beginning once, and plays each day in a fork of the process; PlayDay plays the same day alone.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/faulty_api.h"
#include "sim/call_book.h"
#include "sim/processes.h"
#include "sim/story.h"

namespace baton::sim {

struct Day {
  uint64_t seed = 0;
  std::vector<std::string> problems;  // empty: all went well
  std::string end;                    // the phase it ended in; "Held": a person is asked; "Gone": it was deleted
  std::string plot;                   // what it has besides faults (sim/plots.h); "": nothing
  uint64_t events = 0;                // turns of the loop
  uint64_t calls = 0;                 // of controllers to hub and members
  std::array<size_t, kube::kFaults> faults{};
  uint64_t leaders = 0;       // deaths, depositions, and troubles of replicas
  uint64_t replicated = 0;    // 1: two replicas with an election, in place of one leader
  uint64_t hub_deaths = 0;    // of the hub's process
  uint64_t hub_restores = 0;  // from a backup of before the move
  uint64_t writes_lost = 0;   // that were on their way to the hub's disk when it died
  uint64_t writes_kept = 0;   // the same; nobody was told, and they are there
  uint64_t forgotten = 0;     // statuses, by operators
  uint64_t lies = 0;          // of operators
  uint64_t drifts = 0;        // 1: replicas' clocks
  uint64_t syncs = 0;         // of a GitOps bot
  uint64_t quotas = 0;        // that were spent
  uint64_t taints = 0;        // of a person, beside a Karmada that evicts by them
  uint64_t evictions = 0;     // by that Karmada
  uint64_t restores = 0;      // of the cluster that the workload left
  uint64_t again = 0;         // moves that were asked for once more, after one that went back
  uint64_t onwards = 0;       // the same, after one that arrived, among faults
  uint64_t troubles = 0;      // in clusters
  uint64_t partitions = 0;
  uint64_t meddlings = 0;
  uint64_t newcomers = 0;  // workloads that are placed for the first time
  uint64_t moves = 0;      // that came to an end, one way or another
  Duration outage{};       // the longest time for which a workload ran nowhere
  std::string story;
  CallMatrix matrix;          // which faults met which calls; when asked for
  bool directed_hit = false;  // the one fault that was asked for met its call

  json::Value Json() const;  // all but the story and the matrix
  static Day FromJson(const json::Value& value);
};

inline constexpr uint64_t kSeedsOfOneBeginning = 64;  // those that seed / this is the same for

// `plot`: every day has that one (sim/plots.h), where it fits; "": some days have one.
Day PlayDay(uint64_t seed, Story::Detail detail = Story::Detail::kCounts, std::string_view plot = "");
// A week of such days (sim/bad_week.h), told as one: its end is that of its last move.
Day PlayWeek(uint64_t seed, Story::Detail detail = Story::Detail::kCounts);
// The same day, and one fault more, at the first call of a site that nothing else meets. Until then nothing differs: a
// day that has such a call meets it. Has a matrix.
Day PlayDirectedDay(uint64_t seed, const DirectedFault& fault, Story::Detail detail = Story::Detail::kCounts);

// Seeds of one beginning. `report` is called in the child that has played a day, `done` in this process with what it
// gave, or with how the child died.
using DayReport = std::function<std::string(const Day& day)>;
using DayDone = std::function<void(uint64_t seed, const ChildOutput& output)>;
void PlayDays(std::span<const uint64_t> seeds, bool with_matrix, const DayReport& report, const DayDone& done,
              std::string_view plot = "");
void PlayWeeks(std::span<const uint64_t> seeds, const DayReport& report, const DayDone& done);

}  // namespace baton::sim
