// CreationMemo: TrackUpdate() for objects that are created, without its work where an object has the shape of an
// earlier one. Most creations are of a shape that came before: another name, other texts and numbers, the same fields.
// What a creation owns depends on the fields alone, so it is remembered by them. The result is TrackUpdate's, always.
//
//   Value stored = TRY(memo.Track(zero, object, type.schema, manager));
//
// The shape of an object is its fields and the kinds of their values; but lists, and what is there before the creation,
// count with their values.
#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "api/field_set.h"
#include "api/managed_fields.h"
#include "api/schema.h"
#include "base/result.h"
#include "json/value.h"

namespace baton::api {

inline constexpr size_t kShapesRemembered = 64;
inline constexpr size_t kShapeBytesMax = size_t{16} << 10;  // of one that is remembered

class CreationMemo {
 public:
  // TrackUpdate(before, next, *schema, manager); `before` has no uid: it is null, or what is there before a creation.
  Result<json::Value> Track(const json::Value& before, json::Value next, const SchemaPtr& schema,
                            const FieldManager& manager);

  size_t hits() const { return hits_; }

 private:
  struct Shape {
    SchemaPtr schema;  // kept, so that its address names nothing else
    std::string api_version;
    std::string subresource;
    FieldSet reset_fields;
    json::Value before;
    json::Value object;  // texts left out
    json::Value entry;   // of managedFields
  };
  void Remember(Shape shape);

  std::list<Shape> newest_first_;
  size_t hits_ = 0;
};

}  // namespace baton::api
