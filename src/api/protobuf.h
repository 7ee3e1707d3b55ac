// Objects in Kubernetes' protobuf encoding, as JSON. kubectl and Go clients send built-in kinds this way
// (Content-Type: application/vnd.kubernetes.protobuf); what they are answered is JSON.
//
//   if (IsProtobuf(body)) object = TRY(DecodeProtobuf(body));     // {"apiVersion": "v1", "kind": "Pod", ...}
//
// A body is four bytes of magic and a runtime.Unknown: apiVersion and kind, and the object's message as bytes. The JSON
// is what Go prints for the same object: the names and inlined structs of JSON; quantities (canonical), times,
// durations and int-or-strings in their JSON forms; bytes in base64; raw JSON as what it says. A zero that Go's JSON
// leaves out is left out; one that it always prints is there when it is in the message, "status": {} for example.
// One difference: a required list or pointer that is not set is absent, where Go prints null.
//
// Known are the built-in kinds (api/builtin_types.h), the bodies of their subresources (Scale, Eviction, Binding,
// TokenRequest), Status, and in any version the options (DeleteOptions, ...). The messages: builtin/protobuf.txt.
//
// Fields of unknown numbers are skipped, as protobuf wants it. Stricter than protobuf: text must be UTF-8, numbers
// finite, times within WallTime, and a field that is no list stands there once (encoders never repeat one).
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "json/parse.h"
#include "json/value.h"

namespace baton::api {

// Limits of one body: the same as for JSON text.
inline constexpr size_t kProtobufBytesMax = json::kMaxTextBytes;
inline constexpr size_t kProtobufDepthMax = json::kMaxDepth;    // of messages, lists and maps in each other
inline constexpr size_t kProtobufValuesMax = json::kMaxValues;  // of the JSON; raw JSON inside has as many once more

// Whether the body begins with the magic of Kubernetes' protobuf, which no JSON or YAML begins with.
bool IsProtobuf(std::string_view body);

// Errors (kInvalid) name the byte and the reason:
// "protobuf, byte 31 (core.v1.Container.image): the text is not UTF-8".
Result<json::Value> DecodeProtobuf(std::string_view body);

}  // namespace baton::api
