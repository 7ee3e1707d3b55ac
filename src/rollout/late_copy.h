// Late copies: what a leader that is none any more makes in a cluster, with a create that was under way while its move
// went back. Such a copy is on hold, never ran, and is in the way of the next move there.
//
// Removing what only looks like one could lose data: an object that somebody restored from a backup, for the volumes
// that come with it, is on hold and of an older number, too. So it counts only when nobody but us can have made it.
#pragma once

#include <cstdint>

#include "interpret/profile.h"
#include "json/value.h"

namespace baton::rollout {

// Whether `object`, read live, is one that never ran: its spec holds it and has not changed since it was made
// (generation 1), by a write of ours (our fields have been there since its creation; a backup has none, or older ones),
// of a number that a Writer with `seq` has passed. Whether a Work is about it the caller asks.
bool NeverRan(const interpret::Profile& profile, const json::Value& object, int64_t seq);

}  // namespace baton::rollout
