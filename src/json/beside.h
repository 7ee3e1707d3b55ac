// Two versions of a value, walked together: what one has where the other is.
//
//   Beside before(&live);                                  // null: there is none
//   for (const Member& member : next.members()) {          // keys are sorted, so each step is short
//     const Value* same = before.At(member.key());
//     if (same != nullptr && same->SharesStorageWith(member.value())) continue;  // nothing changed below
//   }
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "json/value.h"

namespace baton::json {

// The members of an object, asked for in the order of their keys.
class Beside {
 public:
  explicit Beside(const Value* object) : members_(object == nullptr ? std::span<const Member>() : object->members()) {}

  // Null when there is none. No key is smaller than the one asked for before.
  const Value* At(std::string_view key) {
    while (at_ < members_.size()) {
      const int order = members_[at_].key().compare(key);
      if (order == 0) return &members_[at_].value();
      if (order > 0) return nullptr;
      ++at_;
    }
    return nullptr;
  }

 private:
  std::span<const Member> members_;
  size_t at_ = 0;
};

inline const Value* ItemBeside(const Value* array, size_t index) {
  return array != nullptr && array->is_array() && index < array->size() ? &(*array)[index] : nullptr;
}

}  // namespace baton::json
