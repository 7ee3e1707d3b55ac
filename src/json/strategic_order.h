// The order of a merged list: Kubernetes' rule, item by item. For json/strategic_merge.cc.
//
// The items that the patch names come in the patch's order, the others in the live list's order. Both sequences are
// then woven into one: an item of the live list goes before the next item of the patch only when both were in the live
// list and it stood in front there. So an item that is new with the patch comes before all live items that are left.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::json::strategic {

struct ValueLess {
  bool operator()(const Value& a, const Value& b) const { return Value::Compare(a, b) < 0; }
};

// What identifies an item of a merged list: the value of its merge key, or (empty merge key) the item itself.
const Value& KeyOf(const Value& item, std::string_view merge_key);

// Where each key stands first in a list.
class Positions {
 public:
  Positions(std::span<const Value> list, std::string_view merge_key);

  static constexpr int64_t kNone = -1;
  int64_t Find(const Value& key) const;
  void Add(const Value& key, int64_t position) { positions_.try_emplace(key, position); }

 private:
  std::map<Value, int64_t, ValueLess> positions_;
};

// Every item of the three lists must be an object that has the merge key, when there is one.
Result<void> CheckMergeKeys(std::span<const Value> list, std::string_view merge_key);

// `items` in their final order. `patch_order` names the items whose order the patch decides, `live_order` is the list
// as it was.
Result<std::vector<Value>> OrderItems(std::span<const Value> items, std::span<const Value> patch_order,
                                      std::span<const Value> live_order, std::string_view merge_key);

}  // namespace baton::json::strategic
