// Follow: a migration as it goes, for people who wait: what it does, what it waits for and how long, who may write now,
// and how to undo it. On a terminal the last line is alive; in a pipe every news is one plain line.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "kube/api.h"
#include "rt/real_loop.h"

namespace baton::cli {

// Exit codes of `baton migrate --wait`, `baton undo --wait`; 1 and 2 are errors and usage.
inline constexpr int kMoveTakenBack = 3;  // Aborted, RolledBack, Cancelled
inline constexpr int kMoveRejected = 4;
inline constexpr int kMoveBlocked = 5;   // at the timeout it waits for a person
inline constexpr int kMoveTimedOut = 6;  // at the timeout it is still under way; it goes on
inline constexpr Duration kFollowTimeout = minutes(10);

// The exit code of a migration that has ended; nothing: it has not.
std::optional<int> EndCode(const json::Value& migration);

// Until it has ended or the time is over: the exit code.
rt::Task<Result<int>> Follow(rt::RealLoop& loop, kube::Api& api, kube::Name name, Duration timeout);

}  // namespace baton::cli
