// The hunt: which random days (`baton simulate`) find the loss of each guard.
//
// Without a guard a day goes as with it, for as long as the guard decides nothing. So all days are played once with all
// guards in, which tells what decided in which of them; and without a guard only those days are played in which it
// did, in their order, until one goes wrong.
//
//   HuntAll(Exhibits(), {.jobs = 2, .seeds = 10'000}, [](const Hunted& hunted) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/museum/exhibits.h"

namespace baton::sim {

struct HuntOptions {
  size_t jobs = 1;
  uint64_t seeds = 10'000;  // of all kinds of days together
  // A day that goes wrong with all guards in, and shows nothing.
  std::function<void(const std::string& what)> on_wrong = nullptr;
};

struct Hunted {
  const Exhibit* exhibit = nullptr;
  std::string scene;     // that finds it, as sim/museum/scenes.h has it: "seed 17"; "": none does
  std::string problem;   // that was seen
  bool alone = true;     // without the guard that stands behind it being taken away, too
  uint64_t decided = 0;  // days in which the guard decided something
  uint64_t played = 0;   // of these, without it
};

// In the order in which they are done.
Result<void> HuntAll(const std::vector<const Exhibit*>& exhibits, const HuntOptions& options,
                     const std::function<void(const Hunted& hunted)>& on_hunted);

}  // namespace baton::sim
