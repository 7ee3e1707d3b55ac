// What a profile is asked of one side of a move: by the engine, which decides on the answer, and by the gate, which
// looks whether an answer still holds.
#pragma once

#include "interpret/profile.h"
#include "json/value.h"
#include "rollout/state.h"

namespace baton::rollout {

// The writer has a claim, and is what the object says.
interpret::Question QuestionFor(const json::Value& writer_object, const Writer& writer,
                                const interpret::Profile& profile, bool is_target);

}  // namespace baton::rollout
