// Copying a fleet, playing it, and telling what came of it.
#include "cli/rehearse_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/strings.h"
#include "cli/client.h"
#include "cli/files.h"
#include "json/parse.h"
#include "kube/read_only_api.h"
#include "rollout/forecast.h"
#include "sim/rehearsal.h"
#include "sim/swarm.h"

namespace baton::cli {
namespace {

using json::Value;

constexpr const char* kName = "simulate";
constexpr int64_t kSeedsDefault = 20;
constexpr int64_t kSeedsMax = 1'000'000;
constexpr int64_t kJobsMax = 256;
constexpr int64_t kCalmSeed = 1;
constexpr size_t kProblemMax = 600;  // characters of a problem that are printed
constexpr size_t kHashShown = 8;

constexpr const char* kHelp =
    "Usage: baton simulate migrate KIND/NAME --to CLUSTER --from-hub [--seeds N] [OPTIONS]\n"
    "       baton simulate drain CLUSTER --from-hub [--max N] [--seeds N] [OPTIONS]\n"
    "\n"
    "Rehearses a move or a drain on a copy of the hub: its clusters (names, labels, taints), policies, overrides and\n"
    "profiles, and the workloads that would move, each where it is now, with practice clusters and jobs in place of "
    "the\n"
    "real ones, in one process and virtual time. The hub is only read. First without faults; then from seeds with\n"
    "failing calls, dying leaders, operators in trouble and clusters that are cut off. At every step and at the end "
    "it\n"
    "is looked at from outside: one writer, no record lost or doubled, everything runs, nothing is left behind.\n"
    "What cannot be copied is told.\n"
    "\n"
    "Examples:\n"
    "  baton simulate migrate flinkdeployment/orders -n prod --to member2 --from-hub\n"
    "  baton simulate drain member1 --from-hub --seeds 100\n"
    "  baton simulate drain member1 --from fleet.json --seed 17      # one seed again, and its story\n"
    "\n"
    "Exit code: 0 when every seed ended well, 1 when one did not (each is printed with the command that plays it), 4\n"
    "when it does not go well without any fault.\n"
    "\n"
    "  --from-hub             copy the hub that the options below name\n"
    "  --from FILE            a copy that was saved before\n"
    "  --save FILE            keep the copy; without it one is kept in the temporary directory when a seed fails\n"
    "  --to CLUSTER           migrate: where to\n"
    "  --max N                drain: moves at a time\n"
    "  --seeds N              how many seeds are played (20; with --seed alone: that one)\n"
    "  --seed S               the first seed (1); alone, its story is told\n"
    "  --trace                with a single seed: every call, not only what changes something\n"
    "  -j N                   processes at a time (all cores)\n";

// ---- the copy
// ----------------------------------------------------------------------------------------------------------

struct Asked {
  sim::RehearsalWish wish;
  sim::Fleet fleet;
  std::string what;  // "migrate flinkdeployment/orders -n prod --to member2"
  std::string from;  // where the copy is: a file; "": nowhere
};

rt::Task<Result<int>> ReadHub(Client& client, const Flags& flags, bool drain, sim::Fleet& fleet, std::string& context) {
  kube::ReadOnlyApi hub(client.api());
  context = client.context();
  sim::FleetQuestion question;
  if (drain) {
    question.cluster = flags.positional()[0];
  } else {
    const WorkloadArgument workload = CO_TRY(co_await FindWorkload(hub, flags.positional()[0]));
    question.kind = workload.kind;
    question.ns = client.ns();
    question.name = workload.name;
  }
  fleet = CO_TRY(co_await sim::CopyFleet(hub, question));
  co_return 0;
}

Result<sim::Fleet> ReadFile(const std::string& path) {
  const std::string text = TRY(ReadTextFile(path));
  Result<Value> value = json::Parse(text);
  if (!value.ok()) return value.error().Context(path);
  Result<sim::Fleet> fleet = sim::Fleet::FromJson(*value);
  if (!fleet.ok()) return fleet.error().Context(path);
  return fleet;
}

// A copy that was saved may be of something else.
Result<void> Fits(const sim::Fleet& fleet, const Flags& flags, bool drain) {
  const std::string asked = flags.positional()[0];
  const auto is_meant = [&](const Value& cluster) { return kube::NameOf(cluster) == asked; };
  if (drain && std::ranges::none_of(fleet.clusters, is_meant))
    return NotFoundError(StrCat("the copy has no cluster '", asked, "'"));
  const auto elsewhere = [&](const sim::FleetWorkload& one) { return drain && one.cluster != asked; };
  if (std::ranges::any_of(fleet.workloads, elsewhere))
    return InvalidError(StrCat("the copy is not of a drain of ", asked));
  if (drain || fleet.workloads.empty()) return {};
  if (fleet.workloads.size() > 1 || kube::NameOf(fleet.workloads[0].object) != asked.substr(asked.find('/') + 1))
    return InvalidError(StrCat("the copy is not of a move of ", asked));
  return {};
}

Result<void> Check(const Flags& flags, bool drain) {
  TRY(flags.Only(drain ? "a cluster's name" : "KIND/NAME, what is to be moved,"));
  if (!drain && flags.positional()[0].find('/') == std::string::npos)
    return InvalidError(StrCat("'", flags.positional()[0], "' is not KIND/NAME, for example flinkdeployment/orders"));
  if (!drain) TRY(flags.Required("--to"));
  if (drain && flags.Has("--to")) return InvalidError("--to is for `simulate migrate`");
  if (!drain && flags.Has("--max")) return InvalidError("--max is for `simulate drain`");
  if (flags.Has("--from-hub") == flags.Has("--from"))
    return InvalidError("what is copied? --from-hub, or --from FILE for a copy that was saved");
  TRY(flags.GetInt("--max", 0, 0, 1000));
  TRY(flags.GetInt("--seeds", kSeedsDefault, 1, kSeedsMax));
  TRY(flags.GetInt("--seed", 1, 0, INT64_MAX - kSeedsMax));
  TRY(flags.GetInt("--jobs", 1, 1, kJobsMax));
  if (flags.Has("--trace") && (!flags.Has("--seed") || flags.Has("--seeds")))
    return InvalidError("--trace is for a single seed: give --seed alone");
  return {};
}

// ---- telling
// -----------------------------------------------------------------------------------------------------------

void TellCopy(const sim::Fleet& fleet, const std::string& whence) {
  std::printf("A copy of %s: %zu clusters, %zu policies and profiles, %zu workloads.\n", whence.c_str(),
              fleet.clusters.size(), fleet.objects.size(), fleet.workloads.size());
  for (const std::string& text : fleet.left) std::printf("  not copied: %s\n", text.c_str());
}

void TellProblems(const sim::Day& day) {
  for (const std::string& problem : day.problems) std::printf("  %s\n", problem.substr(0, kProblemMax).c_str());
}

// Kept where the replay finds it.
void Keep(Asked& asked) {
  if (!asked.from.empty()) return;
  const std::string text = asked.fleet.Json().ToString();
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return;
  const std::string path = (folder / StrCat("baton-fleet-", Sha256Hex(text).substr(0, kHashShown), ".json")).string();
  if (WriteSecretFile(path, text).ok()) asked.from = path;
}

std::string Again(Asked& asked) {
  Keep(asked);
  return StrCat("baton simulate ", asked.what, " ",
                asked.from.empty() ? std::string("--from-hub") : StrCat("--from ", asked.from));
}

void TellFailure(Asked& asked, const sim::Day& day) {
  const auto seed = static_cast<unsigned long long>(day.seed);
  std::printf("seed=%llu FAILED  replay: %s --seed %llu\n", seed, Again(asked).c_str(), seed);
  TellProblems(day);
  std::fflush(stdout);
}

constexpr int kNotEvenCalm = 4;

// What does not run in the copy is taken out of it. False: nothing is left.
bool Settle(Asked& asked) {
  const sim::Rehearsal settled = sim::Rehearse(asked.fleet, asked.wish, kCalmSeed, {.only_settle = true});
  for (const std::string& text : settled.refused) std::printf("  not copied: %s\n", text.c_str());
  for (const auto& [name, why] : settled.unsettled) std::printf("  not rehearsed: %s: %s\n", name.c_str(), why.c_str());
  std::erase_if(asked.fleet.workloads,
                [&](const sim::FleetWorkload& one) { return settled.unsettled.contains(one.Name()); });
  if (asked.fleet.workloads.empty()) std::printf("Nothing is left to rehearse.\n");
  std::fflush(stdout);
  return !asked.fleet.workloads.empty();
}

// Without faults: what does not even go well then is no matter of luck. Gives the exit code, or nothing: go on.
std::optional<int> PlayCalm(Asked& asked) {
  const sim::Rehearsal calm = sim::Rehearse(asked.fleet, asked.wish, kCalmSeed, {});
  std::printf("Without faults: %s: %s; %s of virtual time%s%s.\n", calm.day.end.c_str(), calm.said.c_str(),
              rollout::Spoken(calm.took).c_str(), calm.downtime.empty() ? "" : ", nobody wrote for at most ",
              calm.downtime.c_str());
  const bool well = calm.day.end.starts_with("Succeeded") || calm.day.end.starts_with("Drained");
  if (!calm.day.problems.empty()) {
    std::printf("FAILED  replay: %s --seeds 1\n", Again(asked).c_str());
    TellProblems(calm.day);
    return kNotEvenCalm;
  }
  if (!well) {
    std::printf("It does not go well without any fault: no seeds are played.\n");
    return kNotEvenCalm;
  }
  std::fflush(stdout);
  return std::nullopt;
}

int PlayOne(Asked& asked, uint64_t seed, bool trace) {
  const sim::Rehearsal one =
      sim::Rehearse(asked.fleet, asked.wish, seed,
                    {.faults = true, .detail = trace ? sim::Story::Detail::kAll : sim::Story::Detail::kWrites});
  std::fwrite(one.day.story.data(), 1, one.day.story.size(), stdout);
  std::printf("seed=%llu: %s: %s; %llu events, %llu calls\n", static_cast<unsigned long long>(seed),
              one.day.end.c_str(), one.said.c_str(), static_cast<unsigned long long>(one.day.events),
              static_cast<unsigned long long>(one.day.calls));
  if (one.day.problems.empty()) return 0;
  TellFailure(asked, one.day);
  return kFailed;
}

int PlayMany(Asked& asked, uint64_t from, uint64_t count, size_t jobs) {
  sim::SwarmOptions options{.from = from, .count = count, .jobs = jobs};
  options.play = [&](std::span<const uint64_t> seeds, const sim::DayReport& report, const sim::DayDone& done) {
    sim::RehearseAll(
        asked.fleet, asked.wish, seeds, {.faults = true},
        [&](const sim::Rehearsal& played) { return report(played.day); }, done);
  };
  const Result<sim::Swarm> swarm = sim::RunSwarm(options, [&asked](const sim::Day& day) { TellFailure(asked, day); });
  if (!swarm.ok()) return Failure(kName, swarm.error());
  std::printf("With faults: %s", swarm->Text().c_str());
  if (swarm->failed > 0) return kFailed;
  std::printf(
      "Kept at every seed: one writer at all times, no record lost, everything runs afterwards, nothing left.\n");
  return 0;
}

int Play(Asked& asked, const Flags& flags) {
  if (!Settle(asked)) return kNotEvenCalm;
  const auto seed = static_cast<uint64_t>(flags.GetInt("--seed", 1, 0, INT64_MAX - kSeedsMax).value_or(1));
  if (flags.Has("--seed") && !flags.Has("--seeds")) return PlayOne(asked, seed, flags.Has("--trace"));
  if (const std::optional<int> code = PlayCalm(asked)) return *code;
  const int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  return PlayMany(asked, seed, static_cast<uint64_t>(flags.GetInt("--seeds", kSeedsDefault, 1, kSeedsMax).value_or(1)),
                  static_cast<size_t>(flags.GetInt("--jobs", cores, 1, kJobsMax).value_or(1)));
}

}  // namespace

bool IsRehearsal(std::span<const std::string_view> arguments) {
  return !arguments.empty() && (arguments[0] == "migrate" || arguments[0] == "drain");
}

int RehearseCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(StrCat(kHelp, kClientHelp).c_str(), stdout) >= 0 ? 0 : kFailed;
  const bool drain = arguments[0] == "drain";
  Flags flags(ClientFlags({{"--from-hub"},
                           {"--from", "FILE"},
                           {"--save", "FILE"},
                           {"--to", "CLUSTER"},
                           {"--max", "N"},
                           {"--seeds", "N"},
                           {"--seed", "S"},
                           {"--trace"},
                           {"--jobs", "N", "-j"}}),
              1);
  if (const Result<void> parsed = flags.Parse(arguments.subspan(1)); !parsed.ok())
    return UsageError(kName, parsed.error());
  if (const Result<void> checked = Check(flags, drain); !checked.ok()) return UsageError(kName, checked.error());
  Asked asked;
  asked.what = StrCat(arguments[0], " ", flags.positional()[0]);
  if (flags.Has("--namespace")) StrAppend(asked.what, " -n ", flags.Get("--namespace"));
  if (drain) {
    asked.wish.drain = flags.positional()[0];
    asked.wish.most = flags.GetInt("--max", 0, 0, 1000).value_or(0);
    if (asked.wish.most > 0) StrAppend(asked.what, " --max ", asked.wish.most);
  } else {
    asked.wish.to = flags.Get("--to");
    StrAppend(asked.what, " --to ", asked.wish.to);
  }
  std::string whence = flags.Get("--from");
  if (flags.Has("--from")) {
    Result<sim::Fleet> fleet = ReadFile(whence);
    if (!fleet.ok()) return Failure(kName, fleet.error());
    if (const Result<void> fits = Fits(*fleet, flags, drain); !fits.ok()) return Failure(kName, fits.error());
    asked.fleet = *std::move(fleet);
    asked.from = whence;
  } else {
    std::string context;
    // The loop and its threads are gone afterwards: seeds are played in forks of this process.
    const int code = RunClient(kName, flags, [&](rt::RealLoop&, Client& client) {
      return ReadHub(client, flags, drain, asked.fleet, context);
    });
    if (code != 0) return code;
    whence = StrCat("hub ", context);
  }
  if (flags.Has("--save")) {
    const Result<void> saved = WriteSecretFile(flags.Get("--save"), asked.fleet.Json().ToString());
    if (!saved.ok()) return Failure(kName, saved.error());
    asked.from = flags.Get("--save");
  }
  TellCopy(asked.fleet, whence);
  if (asked.fleet.workloads.empty()) {
    std::printf("There is nothing to rehearse: no managed workload that practice clusters play%s.\n",
                drain ? StrCat(" is in ", asked.wish.drain).c_str() : " has that name");
    return drain ? 0 : kFailed;
  }
  return Play(asked, flags);
}

}  // namespace baton::cli
