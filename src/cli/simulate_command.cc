// The command line of the simulator.
#include "cli/simulate_command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "base/strings.h"
#include "cli/files.h"
#include "cli/flags.h"
#include "cli/rehearse_command.h"
#include "scenario/scenario.h"
#include "sim/bad_day.h"
#include "sim/fleet_days.h"
#include "sim/heap.h"
#include "sim/pairs.h"
#include "sim/plots.h"
#include "sim/scenario.h"
#include "sim/swarm.h"

namespace baton::cli {
namespace {

constexpr const char* kName = "simulate";
constexpr uint64_t kJobsMax = 256;
constexpr uint64_t kSeedsMax = 1'000'000'000;
constexpr size_t kProblemMax = 600;  // characters of a problem that are printed

constexpr std::string_view kNotWithAFile[] = {"--seeds",    "--seed",   "--probes", "--jobs",    "--matrix", "--at",
                                              "--fault",    "--pairs",  "--pair",   "--singles", "--kinds",  "--drains",
                                              "--upgrades", "--wishes", "--weeks",  "--for",     "--slice"};

constexpr const char* kHelp =
    "Usage: baton simulate [--seeds N] [--seed S] [--trace] [-j N] [--probes] [--matrix]\n"
    "       baton simulate --plot NAME [--seeds N] [--seed S] [--trace] [-j N]\n"
    "       baton simulate --seed S --at SITE --fault KIND [--trace]\n"
    "       baton simulate --weeks|--kinds|--drains|--upgrades|--wishes [--seeds N] [--seed S] [--trace] [-j N]\n"
    "       baton simulate --singles [-j N]\n"
    "       baton simulate --pairs [--slice I/N] [--for TIME] [-j N]\n"
    "       baton simulate --pair NAME [--trace]\n"
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
    "  --probes    also lists the marked special cases of the engine; from 2000 seeds on it fails when one was never\n"
    "              reached\n"
    "  --matrix    also shows which faults met which calls of the controllers; where one that can be did not, a day "
    "with\n"
    "              that fault at such a call is played; fails for a cell that stays empty\n"
    "  --at SITE --fault KIND  with a single seed: that fault too, at the first such call that nothing else meets\n"
    "              ('hub update writers', conflict: as in the rows and columns of --matrix)\n"
    "  --plot NAME every day has that plot, where it fits: what people and clusters do besides faults; 'list' names "
    "them\n"
    "  --weeks     each seed moves one job seven times in a row, each time among faults that are drawn anew\n"
    "  --kinds     days of other kinds: each seed moves a workload of one of them, a database, a StatefulSet, a job\n"
    "  --drains    days of drains: each seed empties a cluster of several workloads, and some bring them home again\n"
    "  --upgrades  days of new versions: workloads that opted in to blue-green are edited again and again\n"
    "  --wishes    days of policies that want workloads in other clusters, again and again\n"
    "  --singles   in place of random days: a move in which the leader dies, or loses its lease and goes on, or the "
    "hub "
    "dies,\n"
    "              at every one of its writes\n"
    "  --pairs     in place of random days: a move in which the leader dies, or loses its lease and goes on, at every "
    "two\n"
    "              of its writes\n"
    "  --slice I/N with --pairs: the I-th (from 0) of N parts of about the same size, which are all pairs together\n"
    "  --for TIME  begin nothing new after that time (15m), even if not all has been played; with --pairs the seed "
    "says\n"
    "              which ones come first\n"
    "  --pair NAME plays one of either, and tells it\n"
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

void PrintFailureOf(const sim::Day& day, const std::string& more) {
  std::printf("seed=%llu FAILED  replay: baton simulate --seed %llu%s\n", static_cast<unsigned long long>(day.seed),
              static_cast<unsigned long long>(day.seed), more.c_str());
  for (const std::string& problem : day.problems) std::printf("  %s\n", problem.substr(0, kProblemMax).c_str());
  std::fflush(stdout);
}

void PrintFailure(const sim::Day& day) { PrintFailureOf(day, ""); }

std::string ReplayOf(const sim::DirectedFault& fault) {
  return StrCat(" --at '", fault.site, "' --fault ", kube::FaultName(fault.fault));
}

int PlayOne(uint64_t seed, bool trace, const std::optional<sim::DirectedFault>& fault) {
  const sim::Story::Detail detail = trace ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites;
  const sim::Day day = fault ? sim::PlayDirectedDay(seed, *fault, detail) : sim::PlayDay(seed, detail);
  std::fwrite(day.story.data(), 1, day.story.size(), stdout);
  std::printf("seed=%llu: %s; %llu events, %llu calls\n", static_cast<unsigned long long>(seed), day.end.c_str(),
              static_cast<unsigned long long>(day.events), static_cast<unsigned long long>(day.calls));
  if (fault && !day.directed_hit) std::printf("this seed has no such call that nothing else meets\n");
  if (day.problems.empty()) return 0;
  PrintFailureOf(day, fault ? ReplayOf(*fault) : std::string());
  return kFailed;
}

// Days that have one plot.
int PlayPlots(const Flags& flags, uint64_t seed, uint64_t seeds, size_t jobs, bool single) {
  const std::string plot = flags.Get("--plot");
  std::string names;
  bool known = false;
  for (const sim::Plot& one : sim::Plots()) {
    StrAppend(names, one.name, "\n");
    known = known || plot == one.name;
  }
  if (plot == "list") {
    std::fputs(names.c_str(), stdout);
    return 0;
  }
  for (const std::string_view other :
       {"--probes", "--matrix", "--at", "--fault", "--kinds", "--drains", "--upgrades", "--wishes", "--weeks"}) {
    if (flags.Has(other)) return UsageError(kName, InvalidError(StrCat(other, " does not go with --plot")));
  }
  if (!known) return UsageError(kName, InvalidError(StrCat("no plot is called '", plot, "': --plot list names them")));
  const std::string more = StrCat(" --plot ", plot);
  if (single) {
    const sim::Day day =
        sim::PlayDay(seed, flags.Has("--trace") ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites, plot);
    std::fwrite(day.story.data(), 1, day.story.size(), stdout);
    std::printf("seed=%llu: %s%s\n", static_cast<unsigned long long>(seed), day.end.c_str(),
                day.plot == plot ? "" : "; it does not fit the job or the hub of this seed");
    if (!day.problems.empty()) PrintFailureOf(day, more);
    return day.problems.empty() ? 0 : kFailed;
  }
  sim::SwarmOptions options{.from = seed, .count = seeds, .jobs = jobs};
  options.play = [&plot](std::span<const uint64_t> row, const sim::DayReport& report, const sim::DayDone& done) {
    sim::PlayDays(row, false, report, done, plot);
  };
  const Result<sim::Swarm> swarm = sim::RunSwarm(options, [&](const sim::Day& day) { PrintFailureOf(day, more); });
  if (!swarm.ok()) return Failure(kName, swarm.error());
  std::printf("%s", swarm->Text().c_str());
  return swarm->failed == 0 ? 0 : kFailed;
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

// Whether no cell is empty that could be filled.
bool FillAndPrint(sim::Swarm& swarm, const sim::SwarmOptions& options) {
  const size_t empty = sim::EmptyCells(swarm.matrix).size();
  const auto failure = [](const sim::Day& day, const sim::DirectedFault& fault) {
    PrintFailureOf(day, ReplayOf(fault));
  };
  const Result<uint64_t> played = sim::FillMatrix(swarm, options, failure);
  if (!played.ok()) return Failure(kName, played.error()) == 0;
  std::printf("%s", sim::MatrixText(swarm.matrix).c_str());
  const std::vector<sim::DirectedFault> left = sim::EmptyCells(swarm.matrix);
  for (const sim::DirectedFault& cell : left)
    std::printf("never tried: %s at '%s'\n", std::string(kube::FaultName(cell.fault)).c_str(), cell.site.c_str());
  std::printf(
      "matrix: %zu call sites; the seeds left %zu cells empty, %llu days with a fault at a chosen call left %zu\n",
      swarm.matrix.size(), empty, static_cast<unsigned long long>(*played), left.size());
  return left.empty();
}

bool PrintProbes(sim::Swarm& swarm, size_t jobs) {
  const auto hit = [&] {
    return std::ranges::count_if(swarm.probes, [](const auto& probe) { return probe.second > 0; });
  };
  const auto by_seeds = hit();
  const bool enough = swarm.seeds >= sim::kSeedsForAllProbes;
  if (enough) {
    const Result<void> reached = sim::ReachRest(swarm, jobs);
    if (!reached.ok()) return Failure(kName, reached.error()) == 0;
  }
  for (const auto& [name, hits] : swarm.probes)
    std::printf("%10llu %s\n", static_cast<unsigned long long>(hits), name.c_str());
  const std::vector<std::string> never = swarm.NeverHit();
  for (const std::string& name : never) std::printf("never reached: %s\n", name.c_str());
  std::printf("probes: %zu of %zu hit by the seeds, %zu with the scenes made for single ones, %zu never\n",
              static_cast<size_t>(by_seeds), swarm.probes.size(), static_cast<size_t>(hit()), never.size());
  if (!enough && !never.empty())
    std::printf("with fewer than %llu seeds that is no failure\n",
                static_cast<unsigned long long>(sim::kSeedsForAllProbes));
  return never.empty() || !enough;
}

int PlayMany(const sim::SwarmOptions& options, bool probes) {
  Result<sim::Swarm> swarm = sim::RunSwarm(options, PrintFailure);
  if (!swarm.ok()) return Failure(kName, swarm.error());
  std::printf("%s", swarm->Text().c_str());
  std::fflush(stdout);
  bool well = true;
  if (options.matrix) well = FillAndPrint(*swarm, options) && well;
  if (probes) well = PrintProbes(*swarm, options.jobs) && well;
  return well && swarm->failed == 0 ? 0 : kFailed;
}

Result<std::optional<sim::DirectedFault>> Directed(const Flags& flags, bool single) {
  if (!flags.Has("--at") && !flags.Has("--fault")) return std::optional<sim::DirectedFault>();
  if (!flags.Has("--at") || !flags.Has("--fault") || !single)
    return InvalidError("--at and --fault go together, with a single seed: give --seed alone");
  const std::optional<kube::Fault> fault = kube::FaultFromName(flags.Get("--fault"));
  if (!fault || *fault == kube::Fault::kNone)
    return InvalidError(StrCat("no fault is called '", flags.Get("--fault"), "': the columns of --matrix are"));
  const std::string_view never = sim::WhyNever(sim::ShapeOf(flags.Get("--at")), *fault);
  if (!never.empty())
    return InvalidError(StrCat(flags.Get("--fault"), " cannot be at '", flags.Get("--at"), "': ", never));
  return std::optional(sim::DirectedFault{flags.Get("--at"), *fault});
}

void PrintPair(const sim::PairResult& result) {
  std::printf("pair=%s FAILED (%s)  replay: baton simulate --pair %s\n", result.name.c_str(), result.where.c_str(),
              result.name.c_str());
  for (const std::string& problem : result.problems) std::printf("  %s\n", problem.substr(0, kProblemMax).c_str());
  std::fflush(stdout);
}

int PlayOnePair(const std::string& text, bool trace) {
  const Result<sim::PairName> name = sim::PairName::Parse(text);
  if (!name.ok()) return UsageError(kName, name.error());
  sim::Story story(trace ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites);
  const sim::PairResult result = sim::PlayPair(*name, &story);
  std::fwrite(story.Text().data(), 1, story.Text().size(), stdout);
  if (!result.problems.empty()) PrintPair(result);
  return result.problems.empty() ? 0 : kFailed;
}

// Days that are not those of one move: how one is played and told, and a row of them.
struct OtherDays {
  std::string flag;
  std::function<sim::Day(uint64_t seed, sim::Story::Detail detail)> play;
  std::function<std::string(uint64_t seed)> name;  // what such a seed moves
  sim::SwarmOptions::PlayRow play_row;
  uint64_t row;
};

Result<OtherDays> OtherDaysOf(const std::string& flag) {
  if (flag == "--weeks")
    return OtherDays{.flag = flag,
                     .play = sim::PlayWeek,
                     .name = [](uint64_t) { return std::string("a week of moves"); },
                     .play_row = sim::PlayWeeks,
                     .row = sim::kSeedsOfOneBeginning};
  const auto days = std::make_shared<sim::FleetDays>(TRY(flag == "--kinds"    ? sim::FleetDays::OfKinds()
                                                         : flag == "--drains" ? sim::FleetDays::OfDrains()
                                                         : flag == "--wishes" ? sim::FleetDays::OfWishes()
                                                                              : sim::FleetDays::OfUpgrades()));
  return OtherDays{.flag = flag,
                   .play = [days](uint64_t seed, sim::Story::Detail detail) { return days->Play(seed, detail); },
                   .name = [days](uint64_t seed) { return days->NameOf(seed); },
                   .play_row = [days](std::span<const uint64_t> row, const sim::DayReport& report,
                                      const sim::DayDone& done) { days->PlayRow(row, report, done); },
                   .row = days->row()};
}

int PlayOther(const std::string& flag, const Flags& flags, uint64_t seed, size_t jobs) {
  for (const std::string_view other :
       {"--probes", "--matrix", "--at", "--fault", "--kinds", "--drains", "--upgrades", "--wishes", "--weeks"}) {
    if (flags.Has(other) && other != flag)
      return UsageError(kName, InvalidError(StrCat(other, " does not go with ", flag)));
  }
  const bool single = flags.Has("--seed") && !flags.Has("--seeds");
  if (flags.Has("--trace") && !single)
    return UsageError(kName, InvalidError("--trace is for a single seed: give --seed alone"));
  const Result<uint64_t> seeds = Number(flags, "--seeds", 1000, 1, kSeedsMax);
  if (!seeds.ok()) return UsageError(kName, seeds.error());
  const Result<Duration> budget = flags.GetDuration("--for", {});
  if (!budget.ok()) return UsageError(kName, budget.error());
  const Result<OtherDays> days = OtherDaysOf(flag);
  if (!days.ok()) return Failure(kName, days.error());
  const auto failed = [&](const sim::Day& day) { PrintFailureOf(day, " " + flag); };
  if (single) {
    const sim::Day day =
        days->play(seed, flags.Has("--trace") ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites);
    std::fwrite(day.story.data(), 1, day.story.size(), stdout);
    std::printf("seed=%llu: %s, %s\n", static_cast<unsigned long long>(seed), days->name(seed).c_str(),
                day.end.c_str());
    if (!day.problems.empty()) failed(day);
    return day.problems.empty() ? 0 : kFailed;
  }
  const sim::SwarmOptions options{
      .from = seed, .count = *seeds, .budget = *budget, .jobs = jobs, .row = days->row, .play = days->play_row};
  const Result<sim::Swarm> swarm = sim::RunSwarm(options, failed);
  if (!swarm.ok()) return Failure(kName, swarm.error());
  std::printf("%s", swarm->Text().c_str());
  return swarm->failed == 0 ? 0 : kFailed;
}

// "3/12"
Result<void> ReadSlice(const Flags& flags, sim::PairsOptions& options) {
  if (!flags.Has("--slice")) return {};
  const std::string text = flags.Get("--slice");
  const char* const end = text.data() + text.size();
  const auto [slash, wrong] = std::from_chars(text.data(), end, options.slice);
  const bool has_slash = wrong == std::errc() && slash != end && *slash == '/';
  const auto [last, wrong_too] = std::from_chars(has_slash ? slash + 1 : end, end, options.slices);
  if (!has_slash || wrong_too != std::errc() || last != end || options.slice >= options.slices)
    return InvalidError(StrCat("--slice is like 3/12, from 0/12 to 11/12, and not '", text, "'"));
  return {};
}

int Pairs(const Flags& flags, uint64_t seed, size_t jobs) {
  for (const std::string_view other : {"--seeds", "--probes", "--matrix", "--at", "--fault"}) {
    if (flags.Has(other))
      return UsageError(kName, InvalidError(StrCat(other, " is for random days, and not for pairs")));
  }
  if (flags.Has("--pair")) return PlayOnePair(flags.Get("--pair"), flags.Has("--trace"));
  if (flags.Has("--singles")) {
    const Result<sim::SinglesPlayed> played = sim::RunSingles(jobs, PrintPair);
    if (!played.ok()) return Failure(kName, played.error());
    std::printf("singles: %zu played, %zu failed\n", played->played, played->failed);
    return played->failed == 0 ? 0 : kFailed;
  }
  const Result<Duration> budget = flags.GetDuration("--for", {});
  if (!budget.ok()) return UsageError(kName, budget.error());
  sim::PairsOptions options{.seed = seed, .budget = *budget, .jobs = jobs};
  const Result<void> slice = ReadSlice(flags, options);
  if (!slice.ok()) return UsageError(kName, slice.error());
  const Result<sim::PairsPlayed> played = sim::RunPairs(options, PrintPair);
  if (!played.ok()) return Failure(kName, played.error());
  std::printf(
      "pairs: %zu played, %zu failed; %zu of %zu first blows of this slice, each with every second one; %zu in all\n",
      played->pairs, played->failed, played->firsts, played->firsts_of, played->firsts_all);
  return played->failed == 0 ? 0 : kFailed;
}

}  // namespace

int SimulateCommand(std::span<const std::string_view> arguments) {
  sim::UseSimulationHeap();
  if (IsRehearsal(arguments)) return RehearseCommand(arguments);
  if (AsksForHelp(arguments)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Flags flags({{"--seeds", "N"},   {"--seed", "S"},   {"--trace"},        {"--jobs", "N", "-j"},
               {"--probes"},       {"--matrix"},      {"--at", "SITE"},   {"--fault", "KIND"},
               {"--plot", "NAME"}, {"--kinds"},       {"--drains"},       {"--upgrades"},
               {"--wishes"},       {"--weeks"},       {"--singles"},      {"--pairs"},
               {"--pair", "NAME"}, {"--for", "TIME"}, {"--slice", "I/N"}, {"--scenario", "FILE"}});
  const Result<void> parsed = flags.Parse(arguments);
  if (!parsed.ok()) return UsageError(kName, parsed.error());
  if (flags.Has("--scenario")) {
    const auto given = [&](std::string_view name) { return flags.Has(name); };
    if (std::ranges::any_of(kNotWithAFile, given))
      return UsageError(kName, InvalidError("--scenario plays one file: only --trace goes with it"));
    return PlayFile(flags.Get("--scenario"), flags.Has("--trace"));
  }
  const Result<uint64_t> seed = Number(flags, "--seed", 1, 0, INT64_MAX - kSeedsMax);
  if (!seed.ok()) return UsageError(kName, seed.error());
  const Result<uint64_t> jobs = Number(flags, "--jobs", std::max(1U, std::thread::hardware_concurrency()), 1, kJobsMax);
  if (!jobs.ok()) return UsageError(kName, jobs.error());
  if (flags.Has("--pair") || flags.Has("--pairs") || flags.Has("--singles"))
    return Pairs(flags, *seed, static_cast<size_t>(*jobs));
  for (const char* other : {"--kinds", "--drains", "--upgrades", "--wishes", "--weeks"}) {
    if (flags.Has(other)) return PlayOther(other, flags, *seed, static_cast<size_t>(*jobs));
  }
  const bool single = flags.Has("--seed") && !flags.Has("--seeds");
  if (flags.Has("--trace") && !single)
    return UsageError(kName, InvalidError("--trace is for a single seed: give --seed alone"));
  const Result<std::optional<sim::DirectedFault>> directed = Directed(flags, single);
  if (!directed.ok()) return UsageError(kName, directed.error());
  const Result<uint64_t> seeds = Number(flags, "--seeds", 1000, 1, kSeedsMax);
  if (!seeds.ok()) return UsageError(kName, seeds.error());
  if (flags.Has("--plot")) return PlayPlots(flags, *seed, *seeds, static_cast<size_t>(*jobs), single);
  if (single) return PlayOne(*seed, flags.Has("--trace"), *directed);
  const Result<Duration> budget = flags.GetDuration("--for", {});
  if (!budget.ok()) return UsageError(kName, budget.error());
  const bool matrix = flags.Has("--matrix");
  return PlayMany(
      {.from = *seed, .count = *seeds, .budget = *budget, .jobs = static_cast<size_t>(*jobs), .matrix = matrix},
      flags.Has("--probes"));
}

}  // namespace baton::cli
