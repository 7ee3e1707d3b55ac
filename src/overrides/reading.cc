// Reading policies: typed members with errors that name them.
#include "overrides/reading.h"

#include "base/strings.h"

namespace baton::overrides {

std::string_view OperatorName(Operator op) {
  switch (op) {
    case Operator::kAdd:
      return "add";
    case Operator::kRemove:
      return "remove";
    case Operator::kReplace:
      return "replace";
  }
  return "";
}

Result<Operator> ReadOperator(const json::Value& item) {
  const std::string_view text = TRY(ReadString(item, "operator"));
  for (const Operator op : {Operator::kAdd, Operator::kRemove, Operator::kReplace}) {
    if (text == OperatorName(op)) return op;
  }
  return InvalidError(StrCat("operator must be add, remove or replace, not ", Quote(text)));
}

Result<std::string_view> ReadString(const json::Value& parent, std::string_view key) {
  const json::Value& value = parent[key];
  if (value.is_null() || value.is_string()) return value.str();
  return InvalidError(StrCat(key, " must be a string, not ", json::KindName(value.kind())));
}

Result<std::string_view> ReadRequiredString(const json::Value& parent, std::string_view key) {
  const std::string_view text = TRY(ReadString(parent, key));
  if (text.empty()) return InvalidError(StrCat(key, " is missing"));
  return text;
}

Result<std::span<const json::Value>> ReadList(const json::Value& parent, std::string_view key) {
  const json::Value& value = parent[key];
  if (value.is_null() || value.is_array()) return value.items();
  return InvalidError(StrCat(key, " must be a list, not ", json::KindName(value.kind())));
}

Result<std::vector<std::string>> ReadStrings(const json::Value& parent, std::string_view key) {
  std::vector<std::string> strings;
  for (const json::Value& item : TRY(ReadList(parent, key))) {
    if (!item.is_string()) {
      return InvalidError(StrCat(key, " must be a list of strings, and has an item of type ", KindName(item.kind())));
    }
    strings.emplace_back(item.str());
  }
  return strings;
}

Result<const json::Value*> ReadObject(const json::Value& parent, std::string_view key) {
  const json::Value& value = parent[key];
  if (value.is_null() || value.is_object()) return &value;
  return InvalidError(StrCat(key, " must be an object, not ", json::KindName(value.kind())));
}

std::string IndexedName(std::string_view key, size_t index) { return StrCat(key, "[", index, "]"); }

}  // namespace baton::overrides
