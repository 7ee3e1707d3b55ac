// Strategic merge patch: maps here, lists in MergeList and below. The recursion is as deep as the patch, at most
// kMaxDepth.
#include "json/strategic_merge.h"

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "json/builder.h"
#include "json/object_edits.h"
#include "json/parse.h"
#include "json/strategic_directives.h"
#include "json/strategic_errors.h"
#include "json/strategic_order.h"

namespace baton::json {
namespace strategic {
namespace {

// How one list is merged.
struct ListRule {
  bool merge = false;
  std::string_view merge_key;
  const PatchSchema* item = nullptr;
};

ListRule RuleOf(const PatchField* field) {
  if (field == nullptr) return {};
  return {.merge = field->merge, .merge_key = field->merge_key, .item = field->type};
}

const PatchField* FieldIn(const PatchSchema* schema, std::string_view name) {
  return schema != nullptr ? schema->Find(name) : nullptr;
}

struct MergedList {
  std::vector<Value> items;
  // The live list as $setElementOrder sees it. Kubernetes merges in place, so deleted items are gone from it, and of
  // the added items as many are in it as there were deleted ones, in the places that became free at the end.
  std::vector<Value> live;
};

std::vector<Value> ToVector(const Value& array) { return {array.items().begin(), array.items().end()}; }

Value ToArray(std::vector<Value> items) { return ArrayBuilder::FromRange(items); }

// The type that all items have.
Result<GoType> ItemType(const Value& original, const Value& patch) {
  std::optional<GoType> type;
  for (const Value* list : {&original, &patch}) {
    for (const Value& item : list->items()) {
      const GoType own = GoTypeOf(item);
      if (!type && own == GoType::kList) return DoesNotFit("lists of lists are not supported");
      if (own == GoType::kNil || (type && *type != own)) return MixedTypes(original.items(), patch.items());
      type = own;
    }
  }
  if (!type) return DoesNotFit("no elements in any of the given slices");
  return *type;
}

Result<Value> MergeObject(const Value& original, const Value& patch, const PatchSchema* schema, size_t depth);

Result<Value> Replacement(const Value& patch, size_t depth) {
  return TRY(WithoutDirectives(patch, Marked::kKeep, depth)).value();
}

// ---- lists ----

// Items of a patch's list, told apart by their $patch.
struct PatchItems {
  std::vector<Value> plain;
  std::set<Value, ValueLess> deleted;  // merge keys
  bool replace = false;
};

Result<PatchItems> SortOut(const Value& patch, std::string_view merge_key) {
  PatchItems sorted;
  for (const Value& item : patch.items()) {
    const Value* directive = item.Find(kPatch);
    if (directive == nullptr) {
      sorted.plain.push_back(item);
    } else if (directive->str() == kDelete) {
      if (!item.Has(merge_key)) return NoMergeKey(item, merge_key);
      sorted.deleted.insert(item[merge_key]);
    } else if (directive->str() == kReplace) {
      sorted.replace = true;
    } else if (directive->str() == kMerge) {
      return DoesNotFit("merging lists cannot yet be specified in the patch");
    } else {
      return UnknownDirective(*directive, item);
    }
  }
  return sorted;
}

// `patch` says what to merge; what it deletes is already gone from `items`. The first `free_places` new items join
// `live` too.
Result<void> MergeItems(MergedList& list, const PatchItems& patch, const ListRule& rule, size_t free_places,
                        size_t depth) {
  Positions positions(list.items, rule.merge_key);
  for (const Value& item : patch.plain) {
    if (!item.Has(rule.merge_key)) return NoMergeKey(item, rule.merge_key);
    const Value& key = item[rule.merge_key];
    if (const int64_t at = positions.Find(key); at != Positions::kNone) {
      Value& merged = list.items[static_cast<size_t>(at)];
      merged = TRY(MergeObject(merged, item, rule.item, depth + 1));
      continue;
    }
    positions.Add(key, static_cast<int64_t>(list.items.size()));
    list.items.push_back(TRY(Replacement(item, depth + 1)));
    if (free_places > 0) {
      --free_places;
      list.live.push_back(item);
    }
  }
  return {};
}

Result<MergedList> MergeListOfObjects(const Value& original, const Value& patch, const ListRule& rule, size_t depth) {
  if (rule.merge_key.empty()) return DoesNotFit("cannot merge lists without merge key for struct");
  PatchItems sorted = TRY(SortOut(patch, rule.merge_key));
  MergedList list;
  for (const Value& item : original.items()) {
    const Value* key = item.Find(rule.merge_key);
    if (key == nullptr || !sorted.deleted.contains(*key)) list.items.push_back(item);
  }
  list.live = list.items;
  if (sorted.replace) {
    for (Value& item : sorted.plain) item = TRY(Replacement(item, depth + 1));
    list.items = TRY(OrderItems(sorted.plain, {}, sorted.plain, rule.merge_key));
    return list;
  }
  const std::vector<Value> live = list.items;
  TRY(MergeItems(list, sorted, rule, original.size() - live.size(), depth));
  list.items = TRY(OrderItems(list.items, sorted.plain, live, rule.merge_key));
  return list;
}

Result<MergedList> MergeListOfScalars(const Value& original, const Value& patch, const ListRule& rule) {
  MergedList list{.items = {}, .live = ToVector(original)};
  std::set<Value, ValueLess> seen;
  for (const Value* part : {&original, &patch}) {
    for (const Value& item : part->items()) {
      if (seen.insert(item).second) list.items.push_back(item);
    }
  }
  list.items = TRY(OrderItems(list.items, patch.items(), original.items(), rule.merge_key));
  return list;
}

Value DeleteScalars(const Value& original, const Value& patch) {
  const std::set<Value, ValueLess> deleted(patch.items().begin(), patch.items().end());
  std::vector<Value> kept;
  for (const Value& item : original.items()) {
    if (!deleted.contains(item)) kept.push_back(item);
  }
  return kept.size() == original.size() ? original : ToArray(std::move(kept));
}

Result<MergedList> MergeList(const Value& original, const Value& patch, const ListRule& rule, size_t depth) {
  if (original.empty() && patch.empty()) return MergedList{};
  const GoType type = TRY(ItemType(original, patch));
  return type == GoType::kMap ? MergeListOfObjects(original, patch, rule, depth)
                              : MergeListOfScalars(original, patch, rule);
}

// ---- $retainKeys and $setElementOrder ----

Result<void> RetainKeys(ObjectEdits& result, const Value& patch) {
  const Value* directive = patch.Find(kRetainKeys);
  if (directive == nullptr) return {};
  if (!directive->is_array()) return BadRetainKeysDirective();
  std::set<std::string_view> retained;
  for (const Value& key : directive->items()) {
    if (key.is_string()) retained.insert(key.str());
  }
  for (const Member& member : patch.members()) {
    if (member.value().is_null() || member.key() == kRetainKeys || member.key().starts_with(kDeleteFromPrimitiveList) ||
        member.key().starts_with(kSetElementOrder)) {
      continue;
    }
    if (!retained.contains(member.key())) return BadRetainKeysDirective();
  }
  for (const Member& member : result.base().members()) {
    if (!retained.contains(member.key())) result.Erase(member.key());
  }
  return {};
}

// The patch's items must stand in the order that the directive gives. Items with a mark are left aside, but Kubernetes
// accepts those that do not delete only while the directive's list is not used up.
Result<void> CheckOrder(const Value& patch_list, const Value& order, std::string_view merge_key) {
  if (order.empty() || patch_list.empty()) return {};
  const auto mismatch = [&] {
    return DoesNotFit(StrCat("The order in patch list:\n", GoText(patch_list), "\n doesn't match ", kSetElementOrder,
                             " list:\n", GoText(order), "\n"));
  };
  size_t at = 0;
  for (const Value& item : patch_list.items()) {
    if (!merge_key.empty() && !item.is_object()) return ExpectedMap(item);
    if (!merge_key.empty() && item[kPatch].str() == kDelete) continue;
    if (at == order.size()) return mismatch();
    if (item.Has(kPatch)) continue;
    TRY(CheckMergeKeys({&item, 1}, merge_key));
    while (true) {
      if (at == order.size()) return mismatch();
      const Value& wanted = order[at++];
      TRY(CheckMergeKeys({&wanted, 1}, merge_key));
      if (KeyOf(item, merge_key) == KeyOf(wanted, merge_key)) break;
    }
  }
  return {};
}

// Merges the list `name` in the order that the patch gives. `patch_list` is null when the patch has only the order.
Result<void> MergeInOrder(ObjectEdits& result, std::string_view name, const Value* patch_list, const Value& order,
                          const PatchField* field, size_t depth) {
  const Value* original = result.Find(name);
  if (original != nullptr && !original->is_array()) return ExpectedList(*original);
  if (patch_list != nullptr && !patch_list->is_array()) return ExpectedList(*patch_list);
  const ListRule rule = RuleOf(field);
  if (patch_list != nullptr) TRY(CheckOrder(*patch_list, order, rule.merge_key));
  if (original == nullptr && patch_list == nullptr) return {};

  MergedList list;
  if (original != nullptr) list.live = ToVector(*original);
  if (patch_list == nullptr) {
    list.items = list.live;
  } else if (original == nullptr) {
    list.items = ToVector(TRY(WithoutDirectives(*patch_list, Marked::kDrop, depth + 1)).value());
  } else if (rule.merge) {
    list = TRY(MergeList(*original, *patch_list, rule, depth));
  } else {
    list.items = ToVector(TRY(Replacement(*patch_list, depth + 1)));
  }
  TRY(CheckMergeKeys(list.items, rule.merge_key));
  TRY(ItemType(original != nullptr ? *original : Array(), patch_list != nullptr ? *patch_list : Array()));
  const Value ordered = ToArray(TRY(OrderItems(list.items, order.items(), list.live, rule.merge_key)));
  if (original == nullptr || ordered != *original) result.Set(name, ordered);
  return {};
}

// Lists that are dealt with here are added to `done`.
Result<void> ApplyElementOrders(ObjectEdits& result, const Value& patch, const PatchSchema* schema,
                                std::set<std::string_view>& done, size_t depth) {
  for (const Member& member : patch.members()) {
    if (!member.key().starts_with(kSetElementOrder)) continue;
    if (!member.value().is_array()) return ExpectedList(member.value());
    const std::optional<std::string_view> name = FieldOf(member.key(), kSetElementOrder);
    if (!name) return BadElementOrderDirective();
    const Value* list = patch.Find(*name);
    TRY(MergeInOrder(result, *name, list, member.value(), FieldIn(schema, *name), depth));
    done.insert(member.key());
    done.insert(*name);
  }
  return {};
}

// ---- maps ----

Result<Value> MergeLists(const Value& original, const Value& patch, const PatchField* field, bool deleting,
                         size_t depth) {
  const ListRule rule = RuleOf(field);
  if (!rule.merge && !deleting) return Replacement(patch, depth);
  if (original.empty() && patch.empty()) return original;
  if (deleting && TRY(ItemType(original, patch)) != GoType::kMap) return DeleteScalars(original, patch);
  const Value merged = ToArray(TRY(MergeList(original, patch, rule, depth)).items);
  return merged == original ? original : merged;
}

Result<void> MergeMember(ObjectEdits& result, const Member& member, const PatchSchema* schema, size_t depth) {
  const Value& patch = member.value();
  std::string_view name = member.key();
  const bool deleting = name.starts_with(kDeleteFromPrimitiveList);
  if (deleting) {
    const std::optional<std::string_view> field = FieldOf(name, kDeleteFromPrimitiveList);
    if (!field) return BadPrimitiveListDirective();
    if (!field->empty()) name = *field;
  }
  if (patch.is_null()) {
    result.Erase(name);
    return {};
  }
  const Value* found = result.Find(name);
  if (found == nullptr || GoTypeOf(*found) != GoTypeOf(patch)) {
    if (deleting) return {};
    std::optional<Value> fresh = TRY(WithoutDirectives(patch, Marked::kDrop, depth + 1));
    if (fresh) {
      result.Set(name, *std::move(fresh));
    } else {
      result.Erase(name);
    }
    return {};
  }
  const PatchField* field = FieldIn(schema, name);
  if (patch.is_array()) {
    result.Set(name, TRY(MergeLists(*found, patch, field, deleting, depth + 1)));
  } else if (!patch.is_object()) {
    if (*found != patch) result.Set(name, patch);
  } else if (field != nullptr && field->replace) {
    result.Set(name, TRY(Replacement(patch, depth + 1)));
  } else {
    result.Set(name, TRY(MergeObject(*found, patch, field != nullptr ? field->type : nullptr, depth + 1)));
  }
  return {};
}

Result<Value> MergeObject(const Value& original, const Value& patch, const PatchSchema* schema, size_t depth) {
  if (depth > kMaxDepth) return TooDeep();
  if (const Value* directive = patch.Find(kPatch)) {
    if (directive->str() == kReplace) return Replacement(patch, depth);
    if (directive->str() == kDelete) return Object();
    return UnknownDirective(*directive, patch);
  }
  ObjectEdits result(original);
  TRY(RetainKeys(result, patch));
  std::set<std::string_view> done = {kRetainKeys};
  TRY(ApplyElementOrders(result, patch, schema, done, depth));
  for (const Member& member : patch.members()) {
    if (!done.contains(member.key())) TRY(MergeMember(result, member, schema, depth));
  }
  return std::move(result).Finish();
}

}  // namespace
}  // namespace strategic

Result<Value> ApplyStrategicMergePatch(const Value& document, const Value& patch, const PatchSchema* schema) {
  if (!document.is_object()) return strategic::BadDocument("the object to be patched is no object");
  if (!patch.is_object()) return strategic::BadDocument("a strategic merge patch is an object");
  return strategic::MergeObject(document, patch, schema, 0);
}

}  // namespace baton::json
