// Swarm: many bad days, on several cores, and what came of them.
//
//   Swarm swarm = TRY(RunSwarm({.from = 1, .count = 10'000, .jobs = 2}, on_failure));
//   puts(swarm.Text().c_str());
//
// Each process plays a row of seeds that have one beginning (sim/bad_day.h), each in a fork of its own; a seed that
// ends its process (a broken invariant) is a failure like others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/bad_day.h"

namespace baton::sim {

inline constexpr uint64_t kSeedsForAllProbes = 2000;  // so many reach every probe that random days can

struct SwarmOptions {
  uint64_t from = 1;
  uint64_t count = 1000;
  Duration budget = {};  // real time after which no row of seeds is begun; zero: all
  size_t jobs = 1;
  size_t failures_max = 10;             // then no new seeds are begun
  bool matrix = false;                  // count which faults met which calls
  uint64_t row = kSeedsOfOneBeginning;  // seeds that are played by one process: those of one seed / row
  // Plays seeds of one row, each in a process of its own; null: bad days.
  using PlayRow = std::function<void(std::span<const uint64_t> seeds, const DayReport& report, const DayDone& done)>;
  PlayRow play = nullptr;
};

struct Swarm {
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t events = 0;
  uint64_t calls = 0;
  uint64_t leaders = 0;
  uint64_t replicated = 0;
  uint64_t hub_deaths = 0;
  uint64_t hub_restores = 0;
  uint64_t writes_lost = 0;
  uint64_t writes_kept = 0;
  uint64_t forgotten = 0;
  uint64_t lies = 0;
  uint64_t drifts = 0;
  uint64_t syncs = 0;
  uint64_t quotas = 0;
  uint64_t taints = 0;
  uint64_t evictions = 0;
  uint64_t restores = 0;
  uint64_t again = 0;
  uint64_t onwards = 0;
  uint64_t troubles = 0;
  uint64_t partitions = 0;
  uint64_t meddlings = 0;
  uint64_t newcomers = 0;
  uint64_t moves = 0;
  std::map<std::string, uint64_t> plots;  // how often each
  std::vector<Duration> outages;          // the longest of each day
  std::array<uint64_t, kube::kFaults> faults{};
  std::map<std::string, uint64_t> ends;                        // phase: how often
  std::map<std::string, uint64_t> probes;                      // name: hits; all that the program has
  CallMatrix matrix;                                           // when asked for
  std::map<std::string, std::vector<uint64_t>> seeds_of_site;  // some that have such a call with nothing amiss
  double cpu_seconds = 0;

  std::string Text() const;
  std::vector<std::string> NeverHit() const;  // probes, but for those that nothing in this program reaches
};

Result<Swarm> RunSwarm(const SwarmOptions& options, const std::function<void(const Day& day)>& on_failure);

// Probes that the seeds have not hit are reached by scenes that are made for them (sim/reach.h).
Result<void> ReachRest(Swarm& swarm, size_t jobs);

// The cells of the swarm's matrix that are empty and can be filled, are: each is a day that has such a call, with that
// fault at it. `on_failure` has the fault too. Gives how many days were played; what is empty then could not be tried.
using DirectedFailure = std::function<void(const Day& day, const DirectedFault& fault)>;
Result<uint64_t> FillMatrix(Swarm& swarm, const SwarmOptions& options, const DirectedFailure& on_failure);

}  // namespace baton::sim
