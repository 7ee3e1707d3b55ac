// Builders for arrays and objects of unknown size: append in any order, then take the finished Value. What parsers use;
// for a few known fields json::Object({...}) and Value::Set read better.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace baton::json {

class ArrayBuilder {
 public:
  void Reserve(size_t count) { items_.reserve(count); }
  void Add(Value value) { items_.push_back(std::move(value)); }
  size_t size() const { return items_.size(); }
  Value Build() &&;

  // An array of these values, which are moved from.
  static Value FromRange(std::span<Value> items);

 private:
  std::vector<Value> items_;
};

class ObjectBuilder {
 public:
  void Add(std::string_view key, Value value) { members_.emplace_back(Key(key), std::move(value)); }
  void Add(Key key, Value value) { members_.emplace_back(std::move(key), std::move(value)); }
  size_t size() const { return members_.size(); }

  // Sorts; of a key added twice the last value stays.
  Value Build() &&;

  // An object of these members, which are moved from and reordered. Keys that came more than once are added to
  // `duplicates`, each once, when that is given.
  static Value FromRange(std::span<Member> members, std::vector<std::string>* duplicates = nullptr);

 private:
  static void SortByKey(std::span<Member> members);

  std::vector<Member> members_;
};

}  // namespace baton::json
