// Finding managers by where their written form is stored.
#include "api/managers_memo.h"

#include <utility>

#include "api/fields_memo.h"
#include "api/memo_slot.h"

namespace baton::api {
namespace {

size_t SlotOf(const json::Value& list) { return MemoSlot(list.items().data(), ManagersMemo::kSlots); }

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
    bytes += of_entry + id.size() + entry.manager.size() + entry.api_version.size() + entry.subresource.size();
  }
  if (bytes > kBytesMax) return;
  known_.at(SlotOf(managed_fields)) = {.list = managed_fields, .managers = std::move(managers)};
}

}  // namespace baton::api
