// ManagersMemo: metadata.managedFields that were written lately, with the managers that they are: the next write of the
// object starts from them. Internal to api; one for each thread.
//
// As in api/fields_memo.h only storage is compared, and what is remembered is kept. Only what EncodeManagers() made is
// in it: well-formed, with at least one manager, and read as what it was written from.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "api/managers.h"
#include "json/value.h"

namespace baton::api {

class ManagersMemo {
 public:
  static constexpr size_t kSlots = 256;
  static constexpr size_t kBytesMax = size_t{64} << 10;  // of one object's list and its names; more is not remembered

  static ManagersMemo& OfThisThread();

  const Managers* Find(const json::Value& managed_fields) const;  // null: not known
  void Keep(const json::Value& managed_fields, Managers managers);

 private:
  struct Known {
    json::Value list;
    Managers managers;
  };
  std::array<Known, kSlots> known_;
};

}  // namespace baton::api
