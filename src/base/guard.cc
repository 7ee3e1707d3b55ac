// The table of guards: the records that the linker collected. Empty in a normal build.
#include "base/guard.h"

#if defined(BATON_GUARD_SWITCHES) && BATON_GUARD_SWITCHES

#include <algorithm>
#include <span>
#include <tuple>

#include "base/strings.h"

namespace baton {

namespace guard_internal {
// Both ends of the section, under the linker's names; null when the program has no guard.
[[gnu::weak, gnu::visibility("hidden")]] extern Guard records_begin[] asm("__start_baton_guards");
[[gnu::weak, gnu::visibility("hidden")]] extern Guard records_end[] asm("__stop_baton_guards");
}  // namespace guard_internal

namespace {

std::span<guard_internal::Guard> Records() { return {guard_internal::records_begin, guard_internal::records_end}; }

auto Place(const GuardCount& guard) { return std::tuple(guard.name, guard.file, guard.line); }

}  // namespace

std::vector<GuardCount> ListGuards() {
  std::vector<GuardCount> records;
  for (const guard_internal::Guard& guard : Records()) {
    records.push_back({guard.name, guard.file, guard.line, guard.removed.load(std::memory_order_relaxed),
                       guard.passes.load(std::memory_order_relaxed), guard.decided.load(std::memory_order_relaxed),
                       guard.mattered.load(std::memory_order_relaxed)});
  }
  std::ranges::sort(records, {}, Place);
  std::vector<GuardCount> guards;
  for (const GuardCount& record : records) {
    if (!guards.empty() && Place(guards.back()) == Place(record)) {
      guards.back().passes += record.passes;  // another instance of the same template
      guards.back().decided += record.decided;
      guards.back().mattered += record.mattered;
    } else {
      guards.push_back(record);
    }
  }
  return guards;
}

Result<void> RemoveGuard(std::string_view name) {
  bool found = false;
  for (guard_internal::Guard& guard : Records()) {
    if (name != guard.name) continue;
    guard.removed.store(true, std::memory_order_relaxed);
    found = true;
  }
  if (!found) return NotFoundError(StrCat("no guard ", Quote(name), " is built into this program"));
  return {};
}

void RestoreGuards() {
  for (guard_internal::Guard& guard : Records()) {
    guard.removed.store(false, std::memory_order_relaxed);
    guard.passes.store(0, std::memory_order_relaxed);
    guard.decided.store(0, std::memory_order_relaxed);
    guard.mattered.store(0, std::memory_order_relaxed);
  }
}

}  // namespace baton

#endif
