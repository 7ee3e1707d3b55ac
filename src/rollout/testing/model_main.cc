// Runs the exhaustive check by hand: rollout_model_run [own|foreign] [faults] [guard]
// With three faults it has no bound but the memory: about 10 GB and as many minutes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/guard.h"
#include "rollout/testing/model.h"

namespace {
constexpr uint64_t kStatesMax = 400'000'000;
}  // namespace

int main(int argc, char** argv) {
  using baton::rollout::model::Explore;
  baton::rollout::model::ModelOptions options;
  options.own_hub = argc < 2 || std::string(argv[1]) == "own";
  if (argc > 2) options.faults = std::atoi(argv[2]);
  if (options.faults > 2) options.max_states = kStatesMax;
  if (argc > 3 && !baton::RemoveGuard(argv[3])) {
    std::fprintf(stderr, "no such guard\n");
    return 2;
  }
  const auto result = Explore(options);
  for (const std::string& line : result.story) std::printf("  %s\n", line.c_str());
  const std::string how = result.broken.empty() ? (result.complete ? "" : "not all of them: ") : result.broken + "; ";
  std::printf("%s%llu states, %llu steps, depth %d\n", how.c_str(), static_cast<unsigned long long>(result.states),
              static_cast<unsigned long long>(result.steps), result.depth);
  return result.broken.empty() ? 0 : 1;
}
