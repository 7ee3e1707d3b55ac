// Diffs: the JSON Patch (RFC 6902) that leads from one document to another.
//
//   Value patch = MakeJsonPatch(before, after);      // ApplyJsonPatch(before, patch) is exactly `after`; [] when equal
//
// Patches are small and say what a person would say: a changed scalar is one `replace`, an item put into an array is
// one `add` (arrays are aligned by their longest common subsequence, then objects in them by their name or another
// usual key). Where the operations inside an array would be longer than the array itself, it is replaced whole. An
// object is so replaced only when nothing of it stays: an unchanged member is never mentioned, so that a patch that is
// sent to a live object does not undo what others changed beside it.
#pragma once

#include <cstddef>

#include "json/value.h"

namespace baton::json {

// Work spent on aligning the arrays of one diff, in pairs of items. When it is used up the remaining arrays are
// compared position by position: still exact, only longer.
inline constexpr size_t kMaxAlignedPairs = size_t{1} << 21;

Value MakeJsonPatch(const Value& from, const Value& to);

// What `kubectl apply` does to a kind without patch schema, as a JSON Patch against `current`. `original` is the
// configuration as applied last time (null: never), `modified` the configuration now, `current` the live object.
// Members that were in `original` and are not in `modified` are removed, members of `modified` are set (null removes),
// every other member of `current` stays. Arrays are atomic: replaced whole, or not at all.
Value MakeThreeWayJsonPatch(const Value& original, const Value& modified, const Value& current);

}  // namespace baton::json
