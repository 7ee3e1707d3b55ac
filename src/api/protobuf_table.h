// The messages of builtin/protobuf.txt: how the fields of Kubernetes' protobuf messages read as JSON. Inside only:
// callers use api/protobuf.h.
//
//   kind apps/v1 Scale autoscaling.v1.Scale       # an apiVersion (`*`: any), a kind, its message
//
//   core.v1.Volume                                # a message; its fields are indented below it:
//     1 name string keep                          # number, name in JSON, type, and how it is taken over
//     2 - core.v1.VolumeSource inline
//
// Types: string bool int32 int64 double bytes quantity int-or-string time micro-time duration json, or a message;
// []T is a list of T and {}T a map from strings to T. A field with `keep` is in the JSON when it is in the message;
// without, a zero is left out. The fields of an `inline` message are fields of the outer object.
// A word after a message's name is its form: `list` (the JSON is its one list), `or-array`, `or-bool`, `or-strings`
// (of JSON schemas: the JSON is one of its two fields).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace baton::api::protobuf {

enum class Type : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kBytes,
  kQuantity,
  kIntOrString,
  kTime,
  kMicroTime,
  kDuration,
  kJson,
  kMessage,
};

enum class Shape : uint8_t { kOne, kList, kMap };

enum class Form : uint8_t { kObject, kList, kOrArray, kOrBool, kOrStrings };

inline constexpr size_t kFieldsPerMessageMax = 64;  // the decoder keeps a bit for each

struct Message;

struct Field {
  uint32_t number = 0;
  std::string_view name;
  Type type = Type::kString;
  Shape shape = Shape::kOne;
  bool keep = false;
  bool inlined = false;
  const Message* message = nullptr;  // when the type is kMessage
};

struct Message {
  std::string_view name;
  Form form = Form::kObject;
  std::vector<Field> fields;  // by number

  const Field* Find(uint32_t number) const;  // null when there is none
};

// The message of a kind, or null. Made once, on first use; any thread may ask.
const Message* MessageOf(std::string_view api_version, std::string_view kind);

// A kind of the table; its api_version may be "*".
struct KindRow {
  std::string_view api_version;
  std::string_view kind;
  const Message* message = nullptr;
};
std::span<const KindRow> Kinds();

}  // namespace baton::api::protobuf
