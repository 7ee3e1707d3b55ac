// A bad week: one job is moved again and again, from where the move before has left it to one of the other clusters,
// each time among faults that are drawn anew. What a day cannot show is what moves leave to those that come after them:
// the chain of receipts, numbers that grow, copies and Works that are on their way out, finalizers, what leaders
// remember, a cluster that was source and is target now.
//
//   co_await LiveForAWeek(scene, chance, day);
//
// All that must hold at the end of a day holds after each of its moves, and all that must hold all the time does. The
// week ends early when nothing can be moved any more: a person is asked, or the template was deleted.
//
// Flink's operator is of another version from beginning to beginning: 1.15 as in days, what is to be 1.16, 1.12.
//
// Not in it, as checks would count less from then on, or the next move could not be told apart: a hub or a cluster that
// is restored, operators that forget or lie, wishes, plots.
#pragma once

#include "rt/task.h"
#include "sim/bad_calls.h"
#include "sim/bad_day.h"
#include "sim/scene.h"

namespace baton::sim {

inline constexpr uint64_t kMovesOfAWeek = 7;

rt::Task<void> LiveForAWeek(Scene& scene, BadCalls& chance, Day& day);

}  // namespace baton::sim
