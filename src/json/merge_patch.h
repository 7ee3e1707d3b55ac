// JSON Merge Patch (RFC 7386): a patch that looks like the document. Members of the patch are set, null removes, and
// arrays are replaced whole.
//
//   Value patch = TRY(Parse(R"({"spec":{"replicas":3,"paused":null}})"));
//   Value changed = ApplyMergePatch(deployment, patch);
//   MakeMergePatch(deployment, changed);                           // the patch again (or a smaller one)
//
// There are no errors: every value is a patch for every value. What the patch does not change is shared, not copied.
#pragma once

#include "json/value.h"

namespace baton::json {

// A patch that is no object replaces the target. Nulls inside objects of the patch never reach the result; nulls inside
// its arrays do.
Value ApplyMergePatch(Value target, const Value& patch);

// The smallest patch with ApplyMergePatch(from, patch) == to; {} when they are equal objects. A merge patch cannot say
// that a member is null: such members of `to` come out absent, unless they are inside an array or equal in `from`.
Value MakeMergePatch(const Value& from, const Value& to);

}  // namespace baton::json
