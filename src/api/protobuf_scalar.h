// Single values of Kubernetes' protobuf as JSON: numbers, text, and the small messages that JSON has another form for.
// Inside only: callers use api/protobuf.h.
#pragma once

#include <cstddef>

#include "api/protobuf_table.h"
#include "api/protobuf_wire.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api::protobuf {

// Any type but kMessage. `depth`: how deep in the object it stands, which raw JSON is counted on from.
Result<json::Value> ScalarJson(Type type, const Record& record, const Where& where, size_t depth);

// Whether lists of the type may come packed: several numbers as the bytes of one field.
bool IsPackable(Type type);

// The next number of a packed list.
Result<json::Value> PackedJson(Type type, WireReader& reader, const Where& where);

// What a map has for a key that came without a value.
json::Value ZeroJson(Type type);

}  // namespace baton::api::protobuf
