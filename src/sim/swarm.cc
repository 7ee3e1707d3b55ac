// Dealing seeds out to processes, and adding up.
#include "sim/swarm.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/probe.h"
#include "base/strings.h"
#include "json/parse.h"
#include "sim/processes.h"

namespace baton::sim {
namespace {

using json::Value;

// Not of the engine, or not to be reached by random days: what reaches them instead.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"federation.late_create_taken_back", "TwoLeadersSlowTest"},
    {"federation.older_epoch_refused", "TwoLeadersSlowTest"},
    {"log.line_truncated", "base_test"},
    {"rollout.deleted_before_its_finalizer", "DisturbSlowTest"},
    {"rollout.gate_holds_another_object", "StoriesTest, deleted-by-hand"},
    {"rollout.late_override_removed", "TwoLeadersSlowTest"},
    {"rollout.late_probe_taken_back", "TwoLeadersTest"},
    {"rollout.target_appeared_late", "rollout_model_test: foreign hubs only"},
};

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

// In a child: one line for each seed, and lines for the probes.
std::string PlayRow(uint64_t from, uint64_t count, const std::function<Day(uint64_t seed)>& play) {
  ResetProbes();
  const double begun = CpuSeconds();
  std::string text;
  if (play != nullptr) {
    for (uint64_t seed = from; seed < from + count; ++seed) text += play(seed).Json().ToString() + "\n";
    return text + ProbesLine(CpuSeconds() - begun);
  }
  PlayDays(
      from, count, [&](const Day& day) { return StrCat(day.Json().ToString(), "\n", ProbesLine(0)); },
      [&](uint64_t seed, const ChildOutput& output) {
        text += output.text;
        if (output.died.empty()) return;
        text += Day{.seed = seed, .problems = {StrCat("the program ended by ", output.died)}}.Json().ToString() + "\n";
      });
  return text + ProbesLine(CpuSeconds() - begun);
}

void AddDay(Swarm& swarm, const Day& day, const std::function<void(const Day& day)>& on_failure) {
  ++swarm.seeds;
  swarm.events += day.events;
  swarm.calls += day.calls;
  swarm.leaders += day.leaders;
  swarm.replicated += day.replicated;
  swarm.troubles += day.troubles;
  swarm.partitions += day.partitions;
  swarm.meddlings += day.meddlings;
  for (size_t i = 0; i < day.faults.size(); ++i) swarm.faults.at(i) += day.faults.at(i);
  ++swarm.ends[day.end.empty() ? "Failed" : day.end];
  if (day.problems.empty()) return;
  ++swarm.failed;
  on_failure(day);
}

void AddLines(Swarm& swarm, std::string_view text, const std::function<void(const Day& day)>& on_failure) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const Result<Value> line = json::Parse(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.ok()) continue;
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
  const uint64_t each = std::clamp<uint64_t>(options.count / options.jobs, 1, kSeedsOfOneBeginning);
  for (uint64_t at = options.from; at < options.from + options.count; at += rows.back().count) {
    const uint64_t of_beginning = kSeedsOfOneBeginning - at % kSeedsOfOneBeginning;
    rows.push_back({at, std::min({each, of_beginning, options.from + options.count - at})});
  }
  // Each seed has a process of its own. One whose row's process died is played again, alone.
  const auto more = [&](uint64_t id) -> Processes::Work {
    if (id >= rows.size() || swarm.failed >= options.failures_max) return nullptr;
    return [&options, row = rows[id]] { return PlayRow(row.from, row.count, options.play); };
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

std::string Swarm::Text() const {
  char number[64];
  std::string text = StrCat(seeds, " seeds, ", failed, " failed; ", events, " events, ", calls, " calls");
  std::snprintf(number, sizeof number, "%.1f", cpu_seconds > 0 ? static_cast<double>(seeds) / cpu_seconds : 0.0);
  StrAppend(text, "; ", number, " seeds per second and core\nmoves ended:");
  for (const auto& [end, count] : ends) StrAppend(text, "  ", end, " ", count);
  StrAppend(text, "\nfaults:");
  for (size_t i = 1; i < faults.size(); ++i) {
    if (faults.at(i) > 0) StrAppend(text, "  ", kube::FaultName(static_cast<kube::Fault>(i)), " ", faults.at(i));
  }
  StrAppend(text, "\nwith two replicas ", replicated, "  troubles of leaders ", leaders, "  troubles in clusters ",
            troubles, "  partitions ", partitions, "  meddlings ", meddlings);
  const auto hit =
      static_cast<size_t>(std::ranges::count_if(probes, [](const auto& probe) { return probe.second > 0; }));
  StrAppend(text, "\nprobes hit: ", hit, " of ", probes.size(), "\n");
  return text;
}

std::vector<std::string> Swarm::NeverHit() const {
  std::vector<std::string> never;
  for (const auto& [name, hits] : probes) {
    const bool elsewhere = std::ranges::any_of(kElsewhere, [&](const auto& one) { return one.first == name; });
    if (hits == 0 && !elsewhere) never.push_back(name);
  }
  return never;
}

}  // namespace baton::sim
