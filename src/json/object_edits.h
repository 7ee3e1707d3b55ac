// ObjectEdits: many changes of one object, made at once.
//
// Setting members one by one in a sorted object moves the rest of it each time, which a hostile patch with many members
// turns into minutes. Edits are collected here instead and merged in one pass; an object without a change keeps its
// storage. For the patch functions of this module.
//
//   ObjectEdits edits(object);
//   edits.Set("a", 1);
//   edits.Erase("b");
//   Value changed = std::move(edits).Finish();
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "json/value.h"

namespace baton::json {

class ObjectEdits {
 public:
  // What is no object counts as {}.
  explicit ObjectEdits(Value object);

  const Value& base() const { return base_; }

  // The member as it stands now, edits included; null pointer when absent. Lives until the next edit of that key.
  const Value* Find(std::string_view key) const;

  // Keys must outlive this object. Setting what is there already, and erasing what is not, is no edit.
  void Set(std::string_view key, Value value);
  void Erase(std::string_view key);

  Value Finish() &&;

 private:
  Value Rebuild() const;

  Value base_;
  std::map<std::string_view, std::optional<Value>> edits_;  // nothing: erased
};

}  // namespace baton::json
