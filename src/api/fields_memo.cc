// Finding what is known by where it is stored.
#include "api/fields_memo.h"

#include "api/memo_slot.h"

namespace baton::api {
namespace {

size_t SlotOf(const void* address) { return MemoSlot(address, FieldsMemo::kSlots); }

const void* AddressOf(const json::Value& fields) { return fields.members().data(); }

}  // namespace

FieldsMemo& FieldsMemo::OfThisThread() {
  static thread_local FieldsMemo memo;
  return memo;
}

const FieldSet* FieldsMemo::Read(const json::Value& fields) const {
  if (fields.empty()) return nullptr;
  const Known& known = read_.at(SlotOf(AddressOf(fields)));
  return known.fields.SharesStorageWith(fields) ? &known.set : nullptr;
}

const json::Value* FieldsMemo::Written(const FieldSet::NodePtr& set) const {
  if (set == nullptr) return nullptr;
  const Known& known = written_.at(SlotOf(set.get()));
  return known.set.root() == set ? &known.fields : nullptr;
}

size_t FieldsMemo::BytesOf(const FieldSet::NodePtr& set) const {
  if (set == nullptr) return 0;
  const Known& known = written_.at(SlotOf(set.get()));
  return known.set.root() == set ? known.bytes : 0;
}

void FieldsMemo::KeepRead(const json::Value& fields, const FieldSet::NodePtr& set) {
  if (!fields.is_object() || fields.empty()) return;
  const size_t bytes = fields.HeapBytes();
  if (bytes > kBytesMax) return;
  read_.at(SlotOf(AddressOf(fields))) = {.fields = fields, .set = FieldSet(set), .bytes = bytes};
}

void FieldsMemo::KeepWritten(const FieldSet::NodePtr& set, const json::Value& fields) {
  if (set == nullptr || fields.empty()) return;
  const size_t bytes = fields.HeapBytes();
  if (bytes > kBytesMax) return;
  written_.at(SlotOf(set.get())) = {.fields = fields, .set = FieldSet(set), .bytes = bytes};
  read_.at(SlotOf(AddressOf(fields))) = {.fields = fields, .set = FieldSet(set), .bytes = bytes};
}

}  // namespace baton::api
