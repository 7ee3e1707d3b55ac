// AskForMove: how controllers ask for moves of their own accord. A wish has a mark; it is asked for once, and again
// only when the move that it led to succeeded and the wish came back. One that failed stays failed until the mark is
// another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "federation/hub.h"
#include "kube/informer.h"
#include "rollout/drain_plan.h"

namespace baton::rollout {

struct WantedMove {
  const json::Value& binding;
  std::string from, to;
  std::string_view annotation;  // on the migration: carries the mark
  std::string mark;
  std::string name;  // of the migration, but for a number at its end
};

enum class Asked : uint8_t {
  kBegun,
  kMovesAlready,  // by whoever's wish; its end wakes
  kFailedBefore,
  kNoRoom,  // as many moves as may leave or enter at a time are under way
};

// All outlive the task.
rt::Task<Result<Asked>> AskForMove(federation::Hub& hub, kube::Informer& migrations, WantedMove wanted,
                                   const MoveLimits& limits);

}  // namespace baton::rollout
