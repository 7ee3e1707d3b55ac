// FieldsMemo: fieldsV1 that were read or written lately, with the sets that they are. An object's managers are read and
// written with every write to it, and most of them are as they were. Internal to api; one for each thread.
//
// Only the storage of a value or a set is compared, so asking is cheap; what is remembered is kept, so that its address
// names nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "api/field_set.h"
#include "json/value.h"

namespace baton::api {

class FieldsMemo {
 public:
  static constexpr size_t kSlots = 256;
  static constexpr size_t kBytesMax = size_t{64} << 10;  // of one fieldsV1; what is larger is not remembered

  static FieldsMemo& OfThisThread();

  const FieldSet* Read(const json::Value& fields) const;           // null: not known
  size_t BytesOf(const FieldSet::NodePtr& set) const;              // of what it is written as; 0: not known
  const json::Value* Written(const FieldSet::NodePtr& set) const;  // null: not known
  void KeepRead(const json::Value& fields, const FieldSet::NodePtr& set);
  // What the set is written as; it is read as that set, too.
  void KeepWritten(const FieldSet::NodePtr& set, const json::Value& fields);

 private:
  struct Known {
    json::Value fields;
    FieldSet set;
    size_t bytes = 0;
  };
  std::array<Known, kSlots> read_;
  std::array<Known, kSlots> written_;
};

}  // namespace baton::api
