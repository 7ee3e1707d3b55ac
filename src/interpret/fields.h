// Reading fields of objects that nobody validated: absent is one thing, a wrong type is an error that names the field.
//
//   std::optional<int64_t> replicas = TRY(IntAt(object, {"spec", "replicas"}));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace baton::interpret {

using Path = std::initializer_list<std::string_view>;
using PathSpan = std::span<const std::string_view>;

// The value there, or the shared null.
const json::Value& At(const json::Value& object, PathSpan path);
inline const json::Value& At(const json::Value& object, Path path) {
  return At(object, PathSpan(path.begin(), path.size()));
}

// Absent and null are nothing; anything but an integer (a string, an object) is an error.
Result<std::optional<int64_t>> IntAt(const json::Value& object, PathSpan path);
inline Result<std::optional<int64_t>> IntAt(const json::Value& object, Path path) {
  return IntAt(object, PathSpan(path.begin(), path.size()));
}
// The same as a count: 0 when absent.
Result<int64_t> CountAt(const json::Value& object, Path path);

// Absent and null are "".
Result<std::string_view> StringAt(const json::Value& object, Path path);

// Sets a value at a path, making objects on the way. Error: what is on the way is no object.
Result<void> SetAt(json::Value& object, PathSpan path, json::Value value);
inline Result<void> SetAt(json::Value& object, Path path, json::Value value) {
  return SetAt(object, PathSpan(path.begin(), path.size()), std::move(value));
}

// a + b, or the nearest end of int64.
int64_t SaturatingAdd(int64_t a, int64_t b);

// As Go prints a struct with `omitempty`: a member that is zero, "" or empty is left out.
void SetOrErase(json::Value& object, std::string_view key, int64_t number);

// The condition of this type in a list of conditions, or the shared null.
const json::Value& ConditionOf(const json::Value& conditions, std::string_view type);
bool IsConditionTrue(const json::Value& conditions, std::string_view type);

}  // namespace baton::interpret
