// AskForMove: how controllers ask for moves of their own accord. A wish has a mark; it is asked for once, and again
// only when the move that it led to succeeded and the wish came back. One that failed stays failed until the mark is
// another; one that was refused, which touched nothing, is asked for a few times more, later each time, as what was
// against it may pass (a cluster that was not ready). And MakeOnce, by which every move that Baton asks for itself is
// made.
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
  kRefusedLately,  // to be asked for again in a while
  kNoRoom,         // as many moves as may leave or enter at a time are under way
};

inline constexpr int kRefusalsMax = 6;                 // of one wish; then it has failed
inline constexpr Duration kRefusedFirst = minutes(1);  // until it is asked for again; twice as long each time
inline constexpr int kNamesMax = 20;                   // tries to find a name that is free

// Makes the migration, which has its name and in `annotation` a mark. A second try finds the move that the first one
// made: one of that name, that mark and that workload. A name that is another's gets a number. Gives whether it was
// there before. Both outlive the task.
rt::Task<Result<bool>> MakeOnce(federation::Hub& hub, kube::Informer& migrations, json::Value migration,
                                std::string annotation);

// All outlive the task.
rt::Task<Result<Asked>> AskForMove(federation::Hub& hub, kube::Informer& migrations, WantedMove wanted,
                                   const MoveLimits& limits);

}  // namespace baton::rollout
