// JSON Merge Patch: recursive walks, as deep as the patch is.
#include "json/merge_patch.h"

#include <cstddef>
#include <utility>

#include "base/invariant.h"
#include "json/object_edits.h"
#include "json/parse.h"

namespace baton::json {
namespace {

// Values come from parsers and from patches that keep to kMaxDepth; a deeper one could not be freed either.
void CheckDepth(size_t depth) { INVARIANT(depth <= kMaxDepth, "a merge patch nested deeper than kMaxDepth"); }

// What a patch makes of nothing: itself, without the nulls in its objects.
Value WithoutNulls(const Value& patch, size_t depth) {
  if (!patch.is_object()) return patch;
  CheckDepth(depth);
  ObjectEdits edits(patch);
  for (const Member& member : patch.members()) {
    if (member.value().is_null()) {
      edits.Erase(member.key());
    } else {
      edits.Set(member.key(), WithoutNulls(member.value(), depth + 1));
    }
  }
  return std::move(edits).Finish();
}

Value Merge(const Value& target, const Value& patch, size_t depth) {
  if (!target.is_object() || !patch.is_object()) return target == patch ? target : WithoutNulls(patch, depth);
  CheckDepth(depth);
  ObjectEdits edits(target);
  for (const Member& member : patch.members()) {
    if (member.value().is_null()) {
      edits.Erase(member.key());
    } else {
      edits.Set(member.key(), Merge(target[member.key()], member.value(), depth + 1));
    }
  }
  return std::move(edits).Finish();
}

Value Difference(const Value& from, const Value& to, size_t depth) {
  if (!from.is_object() || !to.is_object()) return to;
  CheckDepth(depth);
  ObjectEdits patch{Value()};
  for (const Member& member : from.members()) {
    if (!to.Has(member.key())) patch.Set(member.key(), nullptr);
  }
  for (const Member& member : to.members()) {
    const Value* old = from.Find(member.key());
    if (old != nullptr && old->is_object() && member.value().is_object()) {
      Value inner = Difference(*old, member.value(), depth + 1);
      if (!inner.empty()) patch.Set(member.key(), std::move(inner));
    } else if (old == nullptr ? !member.value().is_null() : *old != member.value()) {
      patch.Set(member.key(), member.value());
    }
  }
  return std::move(patch).Finish();
}

}  // namespace

Value ApplyMergePatch(Value target, const Value& patch) { return Merge(target, patch, 0); }

Value MakeMergePatch(const Value& from, const Value& to) { return Difference(from, to, 0); }

}  // namespace baton::json
