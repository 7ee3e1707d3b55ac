// The table of probes: the records that the linker collected.
#include "base/probe.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace baton {

namespace probe_internal {
// Both ends of the section, under the linker's names; null when the program has no probe.
[[gnu::weak, gnu::visibility("hidden")]] extern Probe records_begin[] asm("__start_baton_probes");
[[gnu::weak, gnu::visibility("hidden")]] extern Probe records_end[] asm("__stop_baton_probes");
}  // namespace probe_internal

namespace {

std::span<probe_internal::Probe> Records() { return {probe_internal::records_begin, probe_internal::records_end}; }

auto Place(const ProbeCount& probe) { return std::tuple(probe.name, probe.file, probe.line); }

}  // namespace

std::vector<ProbeCount> ListProbes() {
  std::vector<ProbeCount> records;
  for (const probe_internal::Probe& probe : Records()) {
    records.push_back({probe.name, probe.file, probe.line, probe.hits.load(std::memory_order_relaxed)});
  }
  std::ranges::sort(records, {}, Place);
  std::vector<ProbeCount> probes;
  for (const ProbeCount& record : records) {
    if (!probes.empty() && Place(probes.back()) == Place(record)) {
      probes.back().hits += record.hits;  // another instance of the same template
    } else {
      probes.push_back(record);
    }
  }
  return probes;
}

void ResetProbes() {
  for (probe_internal::Probe& probe : Records()) probe.hits.store(0, std::memory_order_relaxed);
}

}  // namespace baton
