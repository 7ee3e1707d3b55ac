// Story files in the simulated world: the real API core, practice operators, the federation, the rollout and the judge,
// with the faults that the file names. What must hold in every story is checked without being asked (sim/checkers.h).
//
//   scenario::Scenario file = TRY(scenario::Scenario::Parse("a.yaml", text));
//   std::vector<std::string> problems = PlayScenario(file);         // empty: it went as told, and all held
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "sim/story.h"

namespace baton::sim {

// `story` may be null, else it is told there. With the file's own seed.
std::vector<std::string> PlayScenario(const scenario::Scenario& scenario, Story* story = nullptr);

}  // namespace baton::sim
