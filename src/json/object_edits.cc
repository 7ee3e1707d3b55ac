// ObjectEdits: few edits go through Value's own, many through one merge of two sorted lists.
#include "json/object_edits.h"

#include <utility>

#include "json/builder.h"

namespace baton::json {
namespace {

constexpr size_t kFewEdits = 8;  // up to here editing in place is cheaper than building anew

}  // namespace

ObjectEdits::ObjectEdits(Value object) : base_(object.is_object() ? std::move(object) : Object()) {}

const Value* ObjectEdits::Find(std::string_view key) const {
  if (const auto edit = edits_.find(key); edit != edits_.end()) {
    return edit->second ? &*edit->second : nullptr;
  }
  return base_.Find(key);
}

void ObjectEdits::Set(std::string_view key, Value value) {
  if (const Value* found = Find(key); found != nullptr && found->SharesStorageWith(value)) return;
  edits_.insert_or_assign(key, std::move(value));
}

void ObjectEdits::Erase(std::string_view key) {
  if (base_.Has(key)) {
    edits_.insert_or_assign(key, std::nullopt);
  } else {
    edits_.erase(key);
  }
}

Value ObjectEdits::Finish() && {
  if (edits_.size() > kFewEdits) return Rebuild();
  for (auto& [key, value] : edits_) {
    if (value) {
      base_.Set(key, *std::move(value));
    } else {
      base_.Erase(key);
    }
  }
  return std::move(base_);
}

Value ObjectEdits::Rebuild() const {
  ObjectBuilder builder;
  auto edit = edits_.begin();
  const auto add_edits_before = [&](std::string_view key, bool all) {
    for (; edit != edits_.end() && (all || edit->first < key); ++edit) {
      if (edit->second) builder.Add(edit->first, *edit->second);
    }
  };
  for (const Member& member : base_.members()) {
    add_edits_before(member.key(), false);
    if (edit == edits_.end() || edit->first != member.key()) builder.Add(member.shared_key(), member.value());
  }
  add_edits_before({}, true);
  return std::move(builder).Build();
}

}  // namespace baton::json
