// The command line of the simulator.
#include "cli/simulate_command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <thread>

#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/rehearse_command.h"
#include "scenario/scenario.h"
#include "sim/bad_day.h"
#include "sim/scenario.h"
#include "sim/swarm.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "simulate";
constexpr uint64_t kJobsMax = 256;
constexpr uint64_t kSeedsMax = 1'000'000'000;
constexpr size_t kProblemMax = 600;  // characters of a problem that are printed

constexpr const char* kHelp =
    "Usage: baton simulate [--seeds N] [--seed S] [--trace] [-j N] [--probes]\n"
    "       baton simulate --scenario FILE [--trace]\n"
    "       baton simulate migrate KIND/NAME --to CLUSTER --from-hub   (on a copy of your own fleet: -h tells more)\n"
    "       baton simulate drain CLUSTER --from-hub\n"
    "\n"
    "Plays random moves of a workload in a simulated world: a hub, three clusters, the controllers that this program\n"
    "runs, all in one thread and virtual time. Calls fail, are lost, late or doubled, leaders die or go on beside a "
    "new\n"
    "one, operators stall, people abort and delete. Then the faults stop, and the move must have come to an end, with\n"
    "one writer at all times, no record lost or doubled, and nothing left behind.\n"
    "\n"
    "One seed is one run, whenever and wherever it is played.\n"
    "\n"
    "With --scenario the story of a file is played in that world instead (tests/scenarios/README.md has the "
    "language).\n"
    "\n"
    "Examples:\n"
    "  baton simulate --seeds 10000\n"
    "  baton simulate --seed 4711 --trace\n"
    "  baton simulate drain member1 --from-hub --seeds 100\n"
    "  baton simulate --scenario tests/scenarios/moves/crash_at_the_grant.yaml\n"
    "\n"
    "  --seeds N   how many seeds are played (1000; with --seed alone: that one)\n"
    "  --seed S    the first seed (1); alone, its story is told\n"
    "  --trace     with a single seed: every call, not only what changes something\n"
    "  -j N        processes at a time (all cores)\n"
    "  --scenario FILE  plays that story, and tells it; also what must hold in every story is checked\n"
    "  --probes    also lists the marked special cases of the engine, and fails when one was never reached\n"
    "\n"
    "Exit code: 0 when every seed ended well, 1 when one did not (each is printed with the command that plays it), or\n"
    "when the story did not go as the file tells it.\n";

Result<uint64_t> Number(const Flags& flags, std::string_view name, uint64_t fallback, uint64_t least, uint64_t most) {
  if (!flags.Has(name)) return fallback;
  const std::string text = flags.Get(name);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return InvalidError(StrCat(name, " is a number from ", least, " to ", most, ", and not '", text, "'"));
  return number;
}

void PrintFailure(const sim::Day& day) {
  std::printf("seed=%llu FAILED  replay: baton simulate --seed %llu\n", static_cast<unsigned long long>(day.seed),
              static_cast<unsigned long long>(day.seed));
  for (const std::string& problem : day.problems) std::printf("  %s\n", problem.substr(0, kProblemMax).c_str());
  std::fflush(stdout);
}

int PlayOne(uint64_t seed, bool trace) {
  const sim::Day day = sim::PlayDay(seed, trace ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites);
  std::fwrite(day.story.data(), 1, day.story.size(), stdout);
  std::printf("seed=%llu: %s; %llu events, %llu calls\n", static_cast<unsigned long long>(seed), day.end.c_str(),
              static_cast<unsigned long long>(day.events), static_cast<unsigned long long>(day.calls));
  if (day.problems.empty()) return 0;
  PrintFailure(day);
  return kFailed;
}

int PlayFile(const std::string& path, bool trace) {
  const Result<std::string> text = ReadTextFile(path);
  if (!text.ok()) return Failure(kName, text.error());
  const Result<scenario::Scenario> file = scenario::Scenario::Parse(path, *text);
  if (!file.ok()) return Failure(kName, file.error());
  sim::Story story(trace ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites);
  const std::vector<std::string> problems = sim::PlayScenario(*file, &story);
  std::fwrite(story.Text().data(), 1, story.Text().size(), stdout);
  std::printf("%s\n", file->title.c_str());
  for (const std::string& problem : problems) std::printf("  FAILED: %s\n", problem.c_str());
  if (problems.empty()) std::printf("  holds\n");
  return problems.empty() ? 0 : kFailed;
}

int PlayMany(const sim::SwarmOptions& options, bool probes) {
  const Result<sim::Swarm> swarm = sim::RunSwarm(options, PrintFailure);
  if (!swarm.ok()) return Failure(kName, swarm.error());
  std::printf("%s", swarm->Text().c_str());
  bool well = swarm->failed == 0;
  if (probes) {
    for (const auto& [name, hits] : swarm->probes)
      std::printf("%10llu %s\n", static_cast<unsigned long long>(hits), name.c_str());
    for (const std::string& name : swarm->NeverHit()) std::printf("never reached: %s\n", name.c_str());
    well = well && swarm->NeverHit().empty();
  }
  return well ? 0 : kFailed;
}

}  // namespace

int SimulateCommand(std::span<const std::string_view> arguments) {
  if (IsRehearsal(arguments)) return RehearseCommand(arguments);
  if (AsksForHelp(arguments)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Flags flags(
      {{"--seeds", "N"}, {"--seed", "S"}, {"--trace"}, {"--jobs", "N", "-j"}, {"--probes"}, {"--scenario", "FILE"}});
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed.ok()) return UsageError(kName, parsed.error());
  if (flags.Has("--scenario")) {
    if (flags.Has("--seeds") || flags.Has("--seed") || flags.Has("--probes") || flags.Has("--jobs"))
      return UsageError(kName, InvalidError("--scenario plays one file: only --trace goes with it"));
    return PlayFile(flags.Get("--scenario"), flags.Has("--trace"));
  }
  const Result<uint64_t> seed = Number(flags, "--seed", 1, 0, INT64_MAX - kSeedsMax);
  if (!seed.ok()) return UsageError(kName, seed.error());
  const bool single = flags.Has("--seed") && !flags.Has("--seeds");
  if (flags.Has("--trace") && !single)
    return UsageError(kName, InvalidError("--trace is for a single seed: give --seed alone"));
  if (single) return PlayOne(*seed, flags.Has("--trace"));
  const Result<uint64_t> seeds = Number(flags, "--seeds", 1000, 1, kSeedsMax);
  if (!seeds.ok()) return UsageError(kName, seeds.error());
  const Result<uint64_t> jobs = Number(flags, "--jobs", std::max(1U, std::thread::hardware_concurrency()), 1, kJobsMax);
  if (!jobs.ok()) return UsageError(kName, jobs.error());
  return PlayMany({.from = *seed, .count = *seeds, .jobs = static_cast<size_t>(*jobs)}, flags.Has("--probes"));
}

}  // namespace baton::cli
