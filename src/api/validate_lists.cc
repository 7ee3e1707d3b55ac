// What Kubernetes checks of a valid object besides the keywords: items of a set and keys of a map are unique, and an
// embedded resource has an apiVersion and a kind.
#include <algorithm>
#include <map>
#include <span>

#include "api/field_errors.h"
#include "api/validate.h"
#include "json/beside.h"
#include "json/builder.h"
#include "json/parse.h"

namespace baton::api::validate_internal {
namespace {

using json::Member;
using json::Value;

struct LessValue {
  bool operator()(const Value& a, const Value& b) const { return Value::Compare(a, b) < 0; }
};

class ListChecker {
 public:
  ListChecker(std::string_view path, Found& found) : path_(path), found_(found) {}

  void Check(const Value& value, const Schema& schema, const FieldName& name, bool root, const Value* settled) {
    if (settled != nullptr && settled->SharesStorageWith(value)) return;
    if (found_.full() || depth_ >= json::kMaxDepth) return;
    ++depth_;
    if (value.is_object()) CheckObject(value, schema, name, root, settled);
    if (value.is_array()) CheckArray(value, schema, name, settled);
    --depth_;
  }

 private:
  std::string Field(const FieldName& name) const {
    const std::string text = name.Text();
    if (text.empty()) return std::string(path_);
    return text.front() == '[' ? std::string(path_) + text : ChildPath(path_, text);
  }

  void CheckObject(const Value& object, const Schema& schema, const FieldName& name, bool root, const Value* settled) {
    if (schema.embedded_resource && !root) {
      for (const std::string_view key : {"apiVersion", "kind"}) {
        if (!object[key].str().empty()) continue;
        found_.Add(RequiredError(Field(FieldName(name, FieldName::Step::kField, key)), "must not be empty"));
      }
    }
    json::Beside beside(settled);
    for (const Member& member : object.members()) {
      const Value* same = beside.At(member.key());
      if (same != nullptr && same->SharesStorageWith(member.value())) continue;
      const auto property = schema.properties.find(member.key());
      if (property != schema.properties.end()) {
        Check(member.value(), *property->second, FieldName(name, FieldName::Step::kField, member.key()), false, same);
      } else if (schema.additional_properties != nullptr) {
        Check(member.value(), *schema.additional_properties, FieldName(name, FieldName::Step::kBraceKey, member.key()),
              false, same);
      }
    }
  }

  void CheckArray(const Value& array, const Schema& schema, const FieldName& name, const Value* settled) {
    if (schema.list_type == ListType::kSet) CheckUnique(array.items(), name);
    if (schema.list_type == ListType::kMap) CheckKeys(array, schema, name);
    if (schema.items == nullptr) return;
    for (size_t i = 0; i < array.size(); ++i)
      Check(array[i], *schema.items, FieldName(name, i), false, json::ItemBeside(settled, i));
  }

  // Of several equal values the second one is reported.
  void CheckUnique(std::span<const Value> values, const FieldName& name) {
    std::map<Value, size_t, LessValue> times;
    for (size_t i = 0; i < values.size(); ++i) {
      if (++times[values[i]] == 2) found_.Add(DuplicateError(Field(FieldName(name, i)), values[i]));
    }
  }

  void CheckKeys(const Value& array, const Schema& schema, const FieldName& name) {
    std::vector<Value> keys;
    for (size_t i = 0; i < array.size(); ++i) {
      const Value& item = array[i];
      if (!item.is_object() && !item.is_null()) {
        found_.Add(InvalidError(Field(FieldName(name, i)), item, "must be an object for an array of list-type map"));
        return;
      }
      json::ObjectBuilder key;
      for (const std::string& field : schema.list_map_keys) {
        if (const Value* part = item.Find(field)) key.Add(field, *part);
      }
      keys.push_back(std::move(key).Build());
    }
    CheckUnique(keys, name);
  }

  std::string_view path_;
  Found& found_;
  size_t depth_ = 0;
};

}  // namespace

void CheckLists(const Value& value, const Schema& schema, std::string_view path, Found& found, const Value* settled) {
  ListChecker(path, found).Check(value, schema, FieldName(), true, settled);
}

}  // namespace baton::api::validate_internal
