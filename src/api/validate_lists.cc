// What Kubernetes checks of a valid object besides the keywords: items of a set and keys of a map are unique, and an
// embedded resource has an apiVersion and a kind.
#include <algorithm>
#include <map>
#include <optional>
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
  ListChecker(std::string_view path, Comparison& comparison, Found& found)
      : path_(path), comparison_(comparison), found_(found) {}

  void Check(const Part& part, const Schema& schema, const FieldName& name, bool root) {
    if (part.settled != nullptr && part.settled->SharesStorageWith(part.value)) return;
    if (found_.full() || depth_ >= json::kMaxDepth) return;
    ++depth_;
    if (part.value.is_object()) CheckObject(part, schema, name, root);
    if (part.value.is_array()) CheckArray(part, schema, name);
    --depth_;
  }

 private:
  std::string Field(const FieldName& name) const {
    const std::string text = name.Text();
    if (text.empty()) return std::string(path_);
    return text.front() == '[' ? std::string(path_) + text : ChildPath(path_, text);
  }

  void CheckObject(const Part& part, const Schema& schema, const FieldName& name, bool root) {
    const Value& object = part.value;
    if (schema.embedded_resource && !root) {
      for (const std::string_view key : {"apiVersion", "kind"}) {
        if (!object[key].str().empty()) continue;
        const Value* old = part.before == nullptr ? nullptr : part.before->Find(key);
        found_.Add(RequiredError(Field(FieldName(name, FieldName::Step::kField, key)), "must not be empty"),
                   object.Has(key) && comparison_.Same(object[key], old));
      }
    }
    json::Beside settled(part.settled);
    json::Beside before(part.before);
    for (const Member& member : object.members()) {
      const Part child{member.value(), settled.At(member.key()), before.At(member.key())};
      if (child.settled != nullptr && child.settled->SharesStorageWith(member.value())) continue;
      const auto property = schema.properties.find(member.key());
      if (property != schema.properties.end()) {
        Check(child, *property->second, FieldName(name, FieldName::Step::kField, member.key()), false);
      } else if (schema.additional_properties != nullptr) {
        Check(child, *schema.additional_properties, FieldName(name, FieldName::Step::kBraceKey, member.key()), false);
      }
    }
  }

  void CheckArray(const Part& part, const Schema& schema, const FieldName& name) {
    const Value& array = part.value;
    if (schema.list_type == ListType::kSet) CheckUnique(array.items(), part, name);
    if (schema.list_type == ListType::kMap) CheckKeys(part, schema, name);
    if (schema.items == nullptr) return;
    for (size_t i = 0; i < array.size(); ++i) {
      Check({array[i], json::ItemBeside(part.settled, i), json::ItemBeside(part.before, i)}, *schema.items,
            FieldName(name, i), false);
    }
  }

  // Of several equal values the second one is reported. It is about the list: an item that was there may have become a
  // duplicate by what another one is now.
  void CheckUnique(std::span<const Value> values, const Part& list, const FieldName& name) {
    std::map<Value, size_t, LessValue> times;
    std::optional<bool> same;
    for (size_t i = 0; i < values.size(); ++i) {
      if (++times[values[i]] != 2) continue;
      if (!same) same = comparison_.Same(list.value, list.before);
      found_.Add(DuplicateError(Field(FieldName(name, i)), values[i]), *same);
    }
  }

  void CheckKeys(const Part& list, const Schema& schema, const FieldName& name) {
    const Value& array = list.value;
    std::vector<Value> keys;
    for (size_t i = 0; i < array.size(); ++i) {
      const Value& item = array[i];
      if (!item.is_object() && !item.is_null()) {
        found_.Add(InvalidError(Field(FieldName(name, i)), item, "must be an object for an array of list-type map"),
                   comparison_.Same(array, list.before));
        return;
      }
      json::ObjectBuilder key;
      for (const std::string& field : schema.list_map_keys) {
        if (const Value* part = item.Find(field)) key.Add(field, *part);
      }
      keys.push_back(std::move(key).Build());
    }
    CheckUnique(keys, list, name);
  }

  std::string_view path_;
  Comparison& comparison_;
  Found& found_;
  size_t depth_ = 0;
};

}  // namespace

void CheckLists(const Part& part, const Schema& schema, std::string_view path, Comparison& comparison, Found& found) {
  ListChecker(path, comparison, found).Check(part, schema, FieldName(), true);
}

}  // namespace baton::api::validate_internal
