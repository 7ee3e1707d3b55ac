// Names of directives, and taking them out of values.
#include "json/strategic_directives.h"

#include <utility>

#include "json/builder.h"
#include "json/object_edits.h"
#include "json/parse.h"
#include "json/strategic_errors.h"

namespace baton::json::strategic {
namespace {

bool IsDirective(std::string_view key) {
  return key == kPatch || key == kRetainKeys || FieldOf(key, kDeleteFromPrimitiveList) ||
         FieldOf(key, kSetElementOrder);
}

Result<Value> CleanArray(const Value& array, Marked marked, size_t depth) {
  ArrayBuilder builder;
  bool changed = false;
  for (const Value& item : array.items()) {
    std::optional<Value> clean = TRY(WithoutDirectives(item, marked, depth + 1));
    changed = changed || !clean || !clean->SharesStorageWith(item);
    if (clean) builder.Add(*std::move(clean));
  }
  return changed ? std::move(builder).Build() : array;
}

}  // namespace

std::optional<std::string_view> FieldOf(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix) || key.size() == prefix.size() || key[prefix.size()] != '/') return std::nullopt;
  return key.substr(prefix.size() + 1);
}

Result<std::optional<Value>> WithoutDirectives(const Value& patch, Marked marked, size_t depth) {
  if (!patch.is_array() && !patch.is_object()) return std::optional<Value>(patch);
  if (depth > kMaxDepth) return TooDeep();
  if (patch.is_array()) return std::optional<Value>(TRY(CleanArray(patch, marked, depth)));
  if (marked == Marked::kDrop && patch.Has(kPatch)) return std::optional<Value>();
  ObjectEdits edits(patch);
  for (const Member& member : patch.members()) {
    if (member.value().is_null() || IsDirective(member.key())) {
      edits.Erase(member.key());
      continue;
    }
    std::optional<Value> clean = TRY(WithoutDirectives(member.value(), marked, depth + 1));
    if (clean) {
      edits.Set(member.key(), *std::move(clean));
    } else {
      edits.Erase(member.key());
    }
  }
  return std::optional<Value>(std::move(edits).Finish());
}

}  // namespace baton::json::strategic
