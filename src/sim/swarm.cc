// Dealing seeds out to processes, and adding up.
#include "sim/swarm.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/probe.h"
#include "base/strings.h"
#include "json/parse.h"
#include "sim/processes.h"
#include "sim/reach.h"

namespace baton::sim {
namespace {

using json::Value;

constexpr size_t kSeedsOfASite = 3;  // that are kept for a site
constexpr size_t kFillRounds = 3;    // directed days have calls of their own, which others have to fill

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Of this process and its children that have ended.
double CpuSeconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (::getrusage(who, &used) == 0) sum += Seconds(used.ru_utime) + Seconds(used.ru_stime);
  }
  return sum;
}

std::string ProbesLine(double cpu_seconds) {
  Value probes = json::Object({});
  for (const ProbeCount& probe : ListProbes()) {
    const std::string name(probe.name);
    probes.Set(name, probes[name].int_or(0) + static_cast<int64_t>(probe.hits));
  }
  const auto cpu = static_cast<int64_t>(cpu_seconds * 1e6);
  return json::Object({{"probes", probes}, {"cpuMicroseconds", cpu}}).ToString() + "\n";
}

std::string SitesLine(const Day& day) {
  if (day.matrix.empty()) return {};
  return json::Object({{"seed", static_cast<int64_t>(day.seed)}, {"sites", MatrixJson(day.matrix)}}).ToString() + "\n";
}

// In a child: one line for each seed, and lines for the probes.
std::string PlayRow(uint64_t from, uint64_t count, const SwarmOptions& options) {
  ResetProbes();
  const double begun = CpuSeconds();
  std::string text;
  const auto report = [&](const Day& day) {
    return StrCat(day.Json().ToString(), "\n", SitesLine(day), ProbesLine(0));
  };
  const auto done = [&](uint64_t seed, const ChildOutput& output) {
    text += output.text;
    if (output.died.empty()) return;
    text += Day{.seed = seed, .problems = {StrCat("the program ended by ", output.died)}}.Json().ToString() + "\n";
  };
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), from);
  if (options.play != nullptr) {
    options.play(seeds, report, done);
  } else {
    PlayDays(seeds, options.matrix, report, done);
  }
  return text + ProbesLine(CpuSeconds() - begun);
}

void AddDay(Swarm& swarm, const Day& day, const std::function<void(const Day& day)>& on_failure) {
  ++swarm.seeds;
  swarm.events += day.events;
  swarm.calls += day.calls;
  swarm.leaders += day.leaders;
  swarm.replicated += day.replicated;
  swarm.hub_deaths += day.hub_deaths;
  swarm.hub_restores += day.hub_restores;
  swarm.writes_lost += day.writes_lost;
  swarm.writes_kept += day.writes_kept;
  swarm.forgotten += day.forgotten;
  swarm.lies += day.lies;
  swarm.drifts += day.drifts;
  swarm.syncs += day.syncs;
  swarm.quotas += day.quotas;
  swarm.taints += day.taints;
  swarm.evictions += day.evictions;
  swarm.restores += day.restores;
  swarm.again += day.again;
  swarm.onwards += day.onwards;
  swarm.troubles += day.troubles;
  swarm.partitions += day.partitions;
  swarm.meddlings += day.meddlings;
  swarm.newcomers += day.newcomers;
  swarm.moves += day.moves;
  if (!day.plot.empty()) ++swarm.plots[day.plot];
  swarm.outages.push_back(day.outage);
  for (size_t i = 0; i < day.faults.size(); ++i) swarm.faults.at(i) += day.faults.at(i);
  ++swarm.ends[day.end.empty() ? "Failed" : day.end];
  if (day.problems.empty()) return;
  ++swarm.failed;
  on_failure(day);
}

void AddSites(Swarm& swarm, uint64_t seed, const CallMatrix& matrix) {
  AddTo(swarm.matrix, matrix);
  for (const auto& [site, counts] : matrix) {
    std::vector<uint64_t>& seeds = swarm.seeds_of_site[site];
    if (seeds.size() < kSeedsOfASite && counts.at(0) > 0) seeds.push_back(seed);
  }
}

void AddLines(Swarm& swarm, std::string_view text, const std::function<void(const Day& day)>& on_failure) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const Result<Value> line = json::Parse(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.ok()) continue;
    if (line->Has("sites")) {
      AddSites(swarm, static_cast<uint64_t>((*line)["seed"].int_or(0)), MatrixFromJson((*line)["sites"]));
      continue;
    }
    if (!line->Has("probes")) {
      AddDay(swarm, Day::FromJson(*line), on_failure);
      continue;
    }
    swarm.cpu_seconds += static_cast<double>((*line)["cpuMicroseconds"].int_or(0)) / 1e6;
    for (const json::Member& probe : (*line)["probes"].members())
      swarm.probes[std::string(probe.key())] += static_cast<uint64_t>(probe.value().int_or(0));
  }
}

}  // namespace

Result<Swarm> RunSwarm(const SwarmOptions& options, const std::function<void(const Day& day)>& on_failure) {
  Swarm swarm;
  struct Row {
    uint64_t from;
    uint64_t count;
  };
  std::vector<Row> rows;
  const uint64_t each = std::clamp<uint64_t>(options.count / options.jobs, 1, options.row);
  for (uint64_t at = options.from; at < options.from + options.count; at += rows.back().count) {
    const uint64_t of_row = options.row - at % options.row;
    rows.push_back({at, std::min({each, of_row, options.from + options.count - at})});
  }
  const auto begun = std::chrono::steady_clock::now();
  // Each seed has a process of its own. One whose row's process died is played again, alone.
  const auto more = [&](uint64_t id) -> Processes::Work {
    const bool late = options.budget > Duration{} && std::chrono::steady_clock::now() - begun > options.budget;
    if (id >= rows.size() || late || swarm.failed >= options.failures_max) return nullptr;
    return [&options, row = rows[id]] { return PlayRow(row.from, row.count, options); };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) {
    const Row row = rows[id];
    if (output.died.empty()) {
      AddLines(swarm, output.text, on_failure);
    } else if (row.count == 1) {
      AddDay(swarm, {.seed = row.from, .problems = {StrCat("the program ended by ", output.died)}}, on_failure);
    } else {
      for (uint64_t i = 0; i < row.count; ++i) rows.push_back({row.from + i, 1});
    }
  };
  Processes processes(options.jobs);
  TRY(processes.RunAll(more, done));
  return swarm;
}

Result<uint64_t> FillMatrix(Swarm& swarm, const SwarmOptions& options, const DirectedFailure& on_failure) {
  uint64_t played = 0;
  uint64_t failed = 0;
  for (size_t round = 0; round < kFillRounds; ++round) {
    const std::vector<DirectedFault> empty = EmptyCells(swarm.matrix);
    const auto seed_of = [&](uint64_t id) {
      const std::vector<uint64_t>& seeds = swarm.seeds_of_site[empty[id].site];
      return seeds.empty() ? UINT64_MAX : seeds[std::min(round, seeds.size() - 1)];
    };
    std::vector<uint64_t> seeds;
    seeds.reserve(empty.size());
    for (uint64_t id = 0; id < empty.size(); ++id) seeds.push_back(seed_of(id));
    const auto more = [&](uint64_t id) -> Processes::Work {
      if (id >= empty.size() || failed >= options.failures_max) return nullptr;
      return [&, id]() -> std::string {
        ResetProbes();
        const double begun = CpuSeconds();
        if (seeds[id] == UINT64_MAX) return {};
        const Day day = PlayDirectedDay(seeds[id], empty[id]);
        return StrCat(day.Json().ToString(), "\n", SitesLine(day), ProbesLine(CpuSeconds() - begun));
      };
    };
    const auto done = [&](uint64_t id, const ChildOutput& output) {
      ++played;
      const auto failure = [&](const Day& day) {
        ++failed;
        on_failure(day, empty[id]);
      };
      if (output.died.empty()) return AddLines(swarm, output.text, failure);
      AddDay(swarm, {.seed = seeds[id], .problems = {StrCat("the program ended by ", output.died)}}, failure);
    };
    Processes processes(options.jobs);
    TRY(processes.RunAll(more, done));
  }
  return played;
}

std::string Swarm::Text() const {
  char number[64];
  std::string text = StrCat(seeds, " seeds, ", failed, " failed; ", events, " events, ", calls, " calls");
  const auto rate = [&](uint64_t count) { return cpu_seconds > 0 ? static_cast<double>(count) / cpu_seconds : 0.0; };
  std::snprintf(number, sizeof number, "%.1f", rate(seeds));
  StrAppend(text, "; ", number, " seeds per second and core\nmoves ended:");
  for (const auto& [end, count] : ends) StrAppend(text, "  ", end, " ", count);
  std::snprintf(number, sizeof number, "%.1f", rate(moves));
  StrAppend(text, "\nwhole moves: ", moves, ", ", number, " per second and core\nfaults:");
  for (size_t i = 1; i < faults.size(); ++i) {
    if (faults.at(i) > 0) StrAppend(text, "  ", kube::FaultName(static_cast<kube::Fault>(i)), " ", faults.at(i));
  }
  StrAppend(text, "\nwith two replicas ", replicated, "  troubles of leaders ", leaders, "  deaths of the hub ",
            hub_deaths, " (unanswered writes lost ", writes_lost, ", kept ", writes_kept, ")  hubs restored ",
            hub_restores);
  StrAppend(text, "\ntroubles in clusters ", troubles, "  statuses forgotten ", forgotten, "  lies ", lies,
            "  partitions ", partitions, "  drifting clocks ", drifts, "  meddlings ", meddlings, "  GitOps syncs ",
            syncs, "  newcomers ", newcomers, "\nspent quotas ", quotas, "  clusters restored ", restores,
            "  asked for again ", again, "  moved on ", onwards, "  taints ", taints, "  evictions of a Karmada ",
            evictions);
  if (!plots.empty()) StrAppend(text, "\nplots:");
  for (const auto& [plot, count] : plots) StrAppend(text, "  ", plot, " ", count);
  std::vector<Duration> sorted = outages;
  std::ranges::sort(sorted);
  if (!sorted.empty()) {
    StrAppend(text, "\nthe longest that a workload ran nowhere: ", sorted[sorted.size() / 2] / milliseconds(1),
              " ms in the median day, ", sorted.back() / seconds(1), " s in the worst");
  }
  const auto hit =
      static_cast<size_t>(std::ranges::count_if(probes, [](const auto& probe) { return probe.second > 0; }));
  StrAppend(text, "\nprobes hit: ", hit, " of ", probes.size(), "\n");
  return text;
}

std::vector<std::string> Swarm::NeverHit() const {
  std::vector<std::string> never;
  for (const auto& [name, hits] : probes) {
    if (hits == 0 && WhyNotReached(name).empty()) never.push_back(name);
  }
  return never;
}

Result<void> ReachRest(Swarm& swarm, size_t jobs) {
  std::vector<std::string> rest;
  for (const std::string& name : swarm.NeverHit()) {
    if (HasReach(name)) rest.push_back(name);
  }
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id >= rest.size()) return nullptr;
    return [name = rest[id]] { return StrCat(PlayReach(name)); };
  };
  const auto done = [&](uint64_t id, const ChildOutput& output) {
    uint64_t hits = 0;
    std::from_chars(output.text.data(), output.text.data() + output.text.size(), hits);
    swarm.probes[rest[id]] += hits;
  };
  Processes processes(jobs);
  return processes.RunAll(more, done);
}

}  // namespace baton::sim
