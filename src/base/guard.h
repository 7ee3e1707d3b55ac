// GUARD("module.what_it_checks", condition): a check that carries a promise, removable by name in the simulator's
// build.
//
//   if (!GUARD("rollout.proof_is_live", evidence.live)) return Wait("the proof is stale");
//
// In a normal build GUARD(name, condition) is (condition): no switch, no name, no code.
//
// In a build with BATON_GUARD_SWITCHES (CMake option; on in the asan preset) a test can take one guard away and must
// then see a promise broken. That shows both that the guard is needed and that the tests would notice its loss:
//
//   TRY(RemoveGuard("rollout.proof_is_live"));     // from now on it holds whatever the condition says
//   ... run the scenario ...
//   ListGuards();                                  // how often its removal mattered
//   RestoreGuards();
//
// A guard that is an action and not a check is asked for by name: GUARD_STANDS("module.what_it_does") is true, and
// false only where that guard is removed.
//
//   if (GUARD_STANDS("handoff.capture_is_kept")) next.stop->capture = seen.capture;
//
// The condition is evaluated in both cases, exactly once. Guards are listed from the start of the program, passed or
// not, in the same way and with the same limits as probes (base/probe.h).
#pragma once

#if defined(BATON_GUARD_SWITCHES) && BATON_GUARD_SWITCHES

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/probe.h"
#include "base/result.h"

namespace baton {

// One place with a guard; the texts live as long as the program.
struct GuardCount {
  std::string_view name;
  std::string_view file;
  uint32_t line;
  bool removed;
  uint64_t passes;    // evaluations since the last RestoreGuards()
  uint64_t decided;   // of these, how often the condition was false: where it never was, nothing differs without it
  uint64_t mattered;  // of these, how often the guard was removed
};

// All guards, sorted by name, file and line.
std::vector<GuardCount> ListGuards();

// Removes the guard at every place that has this name. kNotFound when there is none.
Result<void> RemoveGuard(std::string_view name);

// Puts all guards back and sets their counts to zero.
void RestoreGuards();

namespace guard_internal {

// Size and alignment are equal, so that the records of all object files form one array without gaps.
struct alignas(64) Guard {
  const char* name;
  const char* file;
  uint32_t line;
  std::atomic<bool> removed;
  std::atomic<uint64_t> passes;
  std::atomic<uint64_t> decided;
  std::atomic<uint64_t> mattered;

  bool Holds(bool condition) {
    passes.fetch_add(1, std::memory_order_relaxed);
    if (condition) return true;
    decided.fetch_add(1, std::memory_order_relaxed);
    if (!removed.load(std::memory_order_relaxed)) return false;
    mattered.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
};
static_assert(sizeof(Guard) == 64);

}  // namespace guard_internal
}  // namespace baton

// An expression, inside a function. Each record has a name of its own, so that guards nest.
#define GUARD(name, ...) BATON_GUARD_(name, BATON_GUARD_NAME_(__COUNTER__), __VA_ARGS__)
#define BATON_GUARD_NAME_(number) BATON_GUARD_JOIN_(baton_guard_, number)
#define BATON_GUARD_JOIN_(a, b) a##b
#define BATON_GUARD_(name, record, ...)                                                                              \
  ({                                                                                                                 \
    static_assert(::baton::probe_internal::IsPlaceName("" name), "a guard is named like \"module.what_it_checks\""); \
    [[gnu::used, gnu::section("baton_guards")]] static constinit ::baton::guard_internal::Guard record{              \
        "" name, __FILE__, __LINE__, false, 0, 0, 0};                                                                \
    record.Holds(static_cast<bool>(__VA_ARGS__));                                                                    \
  })

#define GUARD_STANDS(name) (!GUARD(name, false))

#else

#define GUARD(name, ...) (__VA_ARGS__)
#define GUARD_STANDS(name) (true)

#endif
