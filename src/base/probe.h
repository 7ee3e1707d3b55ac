// SOMETIMES("module.what_happened"): a place that must be reached sometimes.
//
// A test that never reaches the interesting case proves nothing. A probe marks such a case in the code; after its runs
// the simulator lists all probes and fails for those that were never hit.
//
//   if (lost_the_race) {
//     SOMETIMES("rollout.grant_lost_the_race");
//     return Wait(...);
//   }
//   for (const ProbeCount& probe : ListProbes()) if (probe.hits == 0) Report(probe);
//
// All probes of the program are listed from its start, hit or not, before main() too: each place is a constant record
// in a section of the object file, and the linker lays the section's records side by side. There is no code to run
// first.
//
// A hit is a plain load, add and store (about 1 ns), not an atomic addition. Of hits in several threads at once some
// may not be counted, but a probe that was hit never shows zero; in one thread the count is exact.
//
// Limits:
// - The name is a string literal of [a-z0-9_.], at most kMaxProbeName long; anything else does not compile.
// - What is not in the program is not listed: a template never instantiated, an inline function never used, an object
//   file of a static library that nothing needs.
// - All instances of one place in a template count as one probe. The same name at two places is two probes.
// - ELF only, and one program: a shared library would have a table of its own.
// - Not for code that runs at compile time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace baton {

inline constexpr size_t kMaxProbeName = 80;

// One probe; the texts live as long as the program.
struct ProbeCount {
  std::string_view name;
  std::string_view file;  // as the compiler was given it, relative to the source tree
  uint32_t line;
  uint64_t hits;
};

// All probes, sorted by name, file and line.
std::vector<ProbeCount> ListProbes();

// Sets all counts to zero. Hits by other threads meanwhile may survive.
void ResetProbes();

namespace probe_internal {

// Size and alignment are equal, so that the records of all object files form one array without gaps.
struct alignas(32) Probe {
  const char* name;
  const char* file;
  std::atomic<uint64_t> hits;
  uint32_t line;

  void Hit() { hits.store(hits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};
static_assert(sizeof(Probe) == 32);

consteval bool IsPlaceName(std::string_view name) {
  if (name.empty() || name.size() > kMaxProbeName) return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) return false;
  }
  return true;
}

}  // namespace probe_internal
}  // namespace baton

// A statement. `"" name` compiles for literals only.
#define SOMETIMES(name)                                                                                             \
  do {                                                                                                              \
    static_assert(::baton::probe_internal::IsPlaceName("" name), "a probe is named like \"module.what_happened\""); \
    [[gnu::used, gnu::section("baton_probes")]] static constinit ::baton::probe_internal::Probe baton_probe_{       \
        "" name, __FILE__, 0, __LINE__};                                                                            \
    baton_probe_.Hit();                                                                                             \
  } while (false)
