// INVARIANT(condition, message): what must hold, checked in every build.
//
// A broken invariant means that memory or logic may be wrong, so the process stops at once with file, line, condition
// and message: everything durable is enough to go on from (promise P6). Bad input, failing peers and full disks are
// never invariants; they are Errors.
#pragma once

#include <source_location>
#include <string_view>

namespace baton {

[[noreturn]] void InvariantBroken(std::string_view condition, std::string_view message,
                                  std::source_location where = std::source_location::current());

}  // namespace baton

// The message is evaluated only when the condition is false.
#define INVARIANT(condition, message)                  \
  do {                                                 \
    if (!(condition)) [[unlikely]] {                   \
      ::baton::InvariantBroken(#condition, (message)); \
    }                                                  \
  } while (false)
