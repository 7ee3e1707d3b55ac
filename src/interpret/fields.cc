// Field access with errors that name the field.
#include "interpret/fields.h"

#include <string>

#include "base/strings.h"

namespace baton::interpret {

namespace {

using json::Value;

std::string Dotted(PathSpan path) {
  std::string text;
  for (const std::string_view part : path) StrAppend(text, text.empty() ? "" : ".", part);
  return text;
}

Error WrongType(PathSpan path, std::string_view wanted, const Value& found) {
  return InvalidError(StrCat(Dotted(path), ": expected ", wanted, ", and it is ", json::KindName(found.kind())));
}

}  // namespace

const Value& At(const Value& object, PathSpan path) {
  const Value* at = &object;
  for (const std::string_view key : path) at = &(*at)[key];
  return *at;
}

Result<std::optional<int64_t>> IntAt(const Value& object, PathSpan path) {
  const Value& value = At(object, path);
  if (value.is_null()) return std::optional<int64_t>();
  if (!value.is_int()) return WrongType(path, "an integer", value);
  return std::optional<int64_t>(value.int_or(0));
}

Result<int64_t> CountAt(const Value& object, Path path) { return TRY(IntAt(object, path)).value_or(0); }

Result<std::string_view> StringAt(const Value& object, Path path) {
  const Value& value = At(object, path);
  if (value.is_null()) return std::string_view();
  if (!value.is_string()) return WrongType(PathSpan(path.begin(), path.size()), "a string", value);
  return value.str();
}

Result<void> SetAt(Value& object, PathSpan path, Value value) {
  Value* at = &object;
  for (size_t i = 0; i < path.size(); ++i) {
    if (!at->is_object() && !at->is_null()) return WrongType(path.first(i), "an object", *at);
    at = &at->Edit(path[i]);
  }
  *at = std::move(value);
  return {};
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

void SetOrErase(Value& object, std::string_view key, int64_t number) {
  if (number != 0) {
    object.Set(key, number);
  } else {
    object.Erase(key);
  }
}

const Value& ConditionOf(const Value& conditions, std::string_view type) {
  static const Value kNone;
  for (const Value& condition : conditions.items()) {
    if (condition["type"].str() == type) return condition;
  }
  return kNone;
}

bool IsConditionTrue(const Value& conditions, std::string_view type) {
  return ConditionOf(conditions, type)["status"].str() == "True";
}

}  // namespace baton::interpret
