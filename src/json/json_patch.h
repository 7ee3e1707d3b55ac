// JSON Patch (RFC 6902): a list of operations, applied in order, all or none.
//
//   Value patch = TRY(Parse(R"([{"op":"test","path":"/spec/replicas","value":1},
//                               {"op":"replace","path":"/spec/replicas","value":3}])"));
//   Value changed = TRY(ApplyJsonPatch(deployment, patch));        // deployment is as it was
//
// The RFC is kept to the letter: `remove` and `replace` need an existing value, indices have no sign and no leading
// zeros, `test` compares numbers by value (1 equals 1.0), unknown members of an operation are ignored, and `move` and
// `copy` never share what is later edited. What no operation names is shared with the input, not copied.
//
// Errors name the operation: "operation 2 (replace /spec/foo): there is no member "foo" at /spec". They carry the
// Status that kube-apiserver would answer with: 400 when the patch is no list of objects, 413 when a limit is passed,
// 422 when an operation is wrong or does not apply; IsTestFailure() tells a failed `test` from the rest of these.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "json/value.h"

namespace baton::json {

inline constexpr size_t kMaxPatchOperations = 10000;  // in one patch, as in kube-apiserver
// Items and members that the operations of one patch shift, all together: some tenths of a second. Each `add`, `remove`
// or `move` shifts what is behind its place in a list or an object.
inline constexpr size_t kMaxPatchShifts = size_t{1} << 28;
inline constexpr size_t kMaxPatchCopyBytes = size_t{3} << 20;  // all `copy` operations of one patch together, likewise

Result<Value> ApplyJsonPatch(const Value& document, const Value& patch);

// True for the error of a `test` operation that found another value, or none.
bool IsTestFailure(const Error& error);

}  // namespace baton::json
