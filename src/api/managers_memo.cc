// Finding managers by where their written form is stored.
#include "api/managers_memo.h"

#include <utility>

#include "api/fields_memo.h"

namespace baton::api {
namespace {

size_t SlotOf(const json::Value& list) {
  const auto address = reinterpret_cast<uintptr_t>(list.items().data());
  return ((address >> 4) * 0x9E3779B97F4A7C15U >> 32) % ManagersMemo::kSlots;
}

}  // namespace

ManagersMemo& ManagersMemo::OfThisThread() {
  static thread_local ManagersMemo memo;
  return memo;
}

const Managers* ManagersMemo::Find(const json::Value& managed_fields) const {
  if (managed_fields.empty()) return nullptr;
  const Known& known = known_.at(SlotOf(managed_fields));
  return known.list.SharesStorageWith(managed_fields) ? &known.managers : nullptr;
}

void ManagersMemo::Keep(const json::Value& managed_fields, Managers managers) {
  size_t bytes = 0;
  for (const auto& [id, entry] : managers) {
    const size_t of_entry = FieldsMemo::OfThisThread().BytesOf(entry.fields.root());
    if (of_entry == 0) return;  // larger than that one remembers
    bytes += of_entry;
  }
  if (bytes > kFieldsBytesMax) return;
  known_.at(SlotOf(managed_fields)) = {.list = managed_fields, .managers = std::move(managers)};
}

}  // namespace baton::api
