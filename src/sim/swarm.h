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
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/bad_day.h"

namespace baton::sim {

struct SwarmOptions {
  uint64_t from = 1;
  uint64_t count = 1000;
  size_t jobs = 1;
  size_t failures_max = 10;                          // then no new seeds are begun
  std::function<Day(uint64_t seed)> play = nullptr;  // what a seed is; null: a bad day
};

struct Swarm {
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t events = 0;
  uint64_t calls = 0;
  uint64_t leaders = 0;
  uint64_t replicated = 0;
  uint64_t troubles = 0;
  uint64_t partitions = 0;
  uint64_t meddlings = 0;
  std::array<uint64_t, kube::kFaults> faults{};
  std::map<std::string, uint64_t> ends;    // phase: how often
  std::map<std::string, uint64_t> probes;  // name: hits; all that the program has
  double cpu_seconds = 0;

  std::string Text() const;
  std::vector<std::string> NeverHit() const;  // probes, but for those that random days need not reach
};

Result<Swarm> RunSwarm(const SwarmOptions& options, const std::function<void(const Day& day)>& on_failure);

}  // namespace baton::sim
