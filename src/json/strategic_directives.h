// The directives of a strategic merge patch: their names, and values freed of them. For json/strategic_merge.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::json::strategic {

inline constexpr std::string_view kPatch = "$patch";
inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";
inline constexpr std::string_view kSetElementOrder = "$setElementOrder";

inline constexpr std::string_view kDelete = "delete";  // values of $patch
inline constexpr std::string_view kReplace = "replace";
inline constexpr std::string_view kMerge = "merge";

// The field of "$setElementOrder/field"; nothing when the key is not exactly the prefix, a slash and a rest.
std::optional<std::string_view> FieldOf(std::string_view key, std::string_view prefix);

// A part of a patch as it goes into a result where there is nothing to merge it with: without directives, and without
// nulls inside objects. What to do with objects that are marked by $patch is the difference:
enum class Marked {
  kKeep,  // only the mark goes: replaced lists and maps, new items of a list
  kDrop,  // the object goes with it: members that are new
};

// Nothing when the value itself is marked and dropped. Shares storage when there is nothing to take away.
Result<std::optional<Value>> WithoutDirectives(const Value& patch, Marked marked, size_t depth);

}  // namespace baton::json::strategic
