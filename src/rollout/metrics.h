// What dashboards and alerts read of moves. One for a process: a leader that comes back counts on.
#pragma once

#include <string_view>

#include "base/metrics.h"

namespace baton::rollout {

struct RolloutMetrics {
  explicit RolloutMetrics(MetricRegistry& registry)
      : ended(registry.AddCounters("baton_migrations_total", "Moves that ended, by how.", {"result"})),
        phase_seconds(registry.AddHistograms("baton_migration_phase_seconds", "How long a move was in a phase.",
                                             {"phase"}, kRolloutSeconds)),
        no_writer_seconds(registry.AddHistogram("baton_migration_no_writer_seconds",
                                                "From the order to stop to the first sight of the target running.",
                                                kRolloutSeconds)),
        waits(registry.AddCounters("baton_migration_waits_total",
                                   "Looks at a move that could only wait, by phase and whether a person is needed.",
                                   {"phase", "blocked"})) {
    for (const std::string_view result : {"Succeeded", "Aborted", "RolledBack", "Rejected", "Cancelled"})
      ended.With({result});
  }

  Family<Counter> ended;
  Family<Histogram> phase_seconds;
  Histogram no_writer_seconds;
  Family<Counter> waits;
};

}  // namespace baton::rollout
