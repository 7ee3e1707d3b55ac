// Rules for the keywords of a CRD's schema, as the validation of CustomResourceDefinitions has them.
#include "api/crd_check.h"

#include <set>
#include <utility>

#include "api/field_errors.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

// What is forbidden here because of where we are.
struct Place {
  bool inside_meta = false;                // in the schema of apiVersion, kind or metadata
  std::string no_default = std::string();  // why there must be no default; empty: there may be
};

class KeywordChecker {
 public:
  explicit KeywordChecker(FirstErrors& errors) : errors_(errors) {}

  void Check(const Value& schema, const std::string& path, const Place& place, bool root) {
    CheckSupported(schema, path, place);
    CheckAdditional(schema, path, place);
    const bool resource = root || schema["x-kubernetes-embedded-resource"].bool_or(false);
    for (const Member& member : schema["properties"].members()) {
      const std::string_view key = member.key();
      Place below = place;
      if (resource && (key == "metadata" || key == "apiVersion" || key == "kind")) {
        below.inside_meta = true;
        if (root) below.no_default = StrCat("in top-level ", key);
      }
      Check(member.value(), KeyPath(ChildPath(path, "properties"), key), below, false);
    }
    if (schema.Has("not")) Check(schema["not"], ChildPath(path, "not"), place, false);
    for (const std::string_view many : {"allOf", "oneOf", "anyOf"}) {
      const Value& list = schema[many];
      for (size_t i = 0; i < list.size(); ++i) Check(list[i], IndexPath(ChildPath(path, many), i), place, false);
    }
    if (schema["items"].is_object()) Check(schema["items"], ChildPath(path, "items"), place, false);
    CheckMapType(schema, path);
    CheckListType(schema, path);
    CheckListMapKeys(schema, path);
  }

 private:
  void Forbid(const std::string& path, std::string_view key, std::string_view why) {
    errors_.push_back(ForbiddenError(ChildPath(path, key), why));
  }

  void CheckSupported(const Value& schema, const std::string& path, const Place& place) {
    if (schema.Has("default") && !schema["default"].is_null() && !place.no_default.empty()) {
      Forbid(path, "default", StrCat("must not be set ", place.no_default));
    }
    for (const std::string_view key :
         {"id", "$schema", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"}) {
      const Value& value = schema[key];
      const bool set = value.is_string() ? !value.str().empty() : value.is_bool() || !value.empty();
      const std::string_view shown = key == "$schema" ? "schema" : key;
      if (set) Forbid(path, key, StrCat(shown, " is not supported"));
    }
    if (schema["type"].str() == "null") {
      Forbid(path, "type", "type cannot be set to null, use nullable as an alternative");
    }
    if (schema["items"].is_array()) Forbid(path, "items", "items must be a schema object and not an array");
    if (place.inside_meta && schema["x-kubernetes-embedded-resource"].bool_or(false)) {
      Forbid(path, "x-kubernetes-embedded-resource", "must not be used inside of resource meta");
    }
    if (schema["uniqueItems"].bool_or(false)) {
      Forbid(path, "uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
    }
    const Value* preserve = schema.Find("x-kubernetes-preserve-unknown-fields");
    if (preserve != nullptr && preserve->is_bool() && !preserve->bool_or(true)) {
      errors_.push_back(InvalidError(ChildPath(path, "x-kubernetes-preserve-unknown-fields"), *preserve,
                                     "must be true or undefined"));
    }
  }

  void CheckAdditional(const Value& schema, const std::string& path, const Place& place) {
    const Value& additional = schema["additionalProperties"];
    if (additional.is_null()) return;
    if (!schema["properties"].empty() && !additional.bool_or(false)) {
      Forbid(path, "additionalProperties", "additionalProperties and properties are mutual exclusive");
    }
    if (!additional.is_object()) return;
    Place below = place;
    if (place.inside_meta) below.no_default = "inside additionalProperties applying to object metadata";
    Check(additional, ChildPath(path, "additionalProperties"), below, false);
  }

  // `type` must be this when `extension` is there.
  bool CheckTypeIs(const Value& schema, const std::string& path, std::string_view type, std::string_view extension) {
    const Value& actual = schema["type"];
    if (actual.str() == type) return true;
    const std::string why = StrCat("must be ", type, " if ", extension, " is specified");
    errors_.push_back(actual.str().empty() ? RequiredError(ChildPath(path, "type"), why)
                                           : InvalidError(ChildPath(path, "type"), actual, why));
    return false;
  }

  void CheckMapType(const Value& schema, const std::string& path) {
    constexpr std::string_view kKey = "x-kubernetes-map-type";
    const Value& map_type = schema[kKey];
    if (map_type.is_null()) return;
    CheckTypeIs(schema, path, "object", kKey);
    if (map_type.str() == "atomic" || map_type.str() == "granular") return;
    const Value supported[] = {"atomic", "granular"};
    errors_.push_back(NotSupportedError(ChildPath(path, kKey), map_type, supported));
  }

  void CheckListType(const Value& schema, const std::string& path) {
    constexpr std::string_view kKey = "x-kubernetes-list-type";
    const Value& list_type = schema[kKey];
    if (list_type.is_null()) return;
    if (CheckTypeIs(schema, path, "array", kKey) && list_type.str() == "set") CheckSetItems(schema["items"], path);
    if (list_type.str() == "atomic" || list_type.str() == "set" || list_type.str() == "map") return;
    const Value supported[] = {"atomic", "set", "map"};
    errors_.push_back(NotSupportedError(ChildPath(path, kKey), list_type, supported));
  }

  void CheckSetItems(const Value& items, const std::string& path) {
    constexpr std::string_view kWhy = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const std::string_view type = items["type"].str();
    const std::string_view key = type == "array" ? "x-kubernetes-list-type" : "x-kubernetes-map-type";
    const Value& kind = items[key];
    const bool wrong =
        type == "array" ? !kind.is_null() && kind.str() != "atomic" : type == "object" && kind.str() != "atomic";
    if (wrong) errors_.push_back(InvalidError(ChildPath(ChildPath(path, "items"), key), kind, kWhy));
  }

  void CheckListMapKeys(const Value& schema, const std::string& path) {
    const std::string keys_path = ChildPath(path, "x-kubernetes-list-map-keys");
    const Value& keys = schema["x-kubernetes-list-map-keys"];
    const Value& list_type = schema["x-kubernetes-list-type"];
    if (list_type.str() != "map") {
      if (keys.empty()) return;
      constexpr std::string_view kWhy = "must be map if x-kubernetes-list-map-keys is non-empty";
      const std::string at = ChildPath(path, "x-kubernetes-list-type");
      errors_.push_back(list_type.is_null() ? RequiredError(at, kWhy) : InvalidError(at, list_type, kWhy));
      return;
    }
    if (keys.empty()) {
      errors_.push_back(RequiredError(keys_path, "must not be empty if x-kubernetes-list-type is map"));
    }
    const Value& items = schema["items"];
    const std::string items_path = ChildPath(path, "items");
    if (items.is_null()) {
      errors_.push_back(RequiredError(items_path, "must have a schema if x-kubernetes-list-type is map"));
      return;
    }
    if (items["type"].str() != "object") {
      errors_.push_back(InvalidError(ChildPath(items_path, "type"), items["type"].str(),
                                     "must be object if parent array's x-kubernetes-list-type is map"));
      return;
    }
    std::set<std::string_view> seen;
    for (const Value& key : keys.items()) CheckListMapKey(key, keys, items, path, seen.insert(key.str()).second);
  }

  void CheckListMapKey(const Value& key, const Value& keys, const Value& items, const std::string& path, bool first) {
    const std::string keys_path = ChildPath(path, "x-kubernetes-list-map-keys");
    const Value* property = items["properties"].Find(key.str());
    if (!first) errors_.push_back(InvalidError(keys_path, keys, "must not contain duplicate entries"));
    if (property == nullptr) {
      errors_.push_back(InvalidError(keys_path, keys, "entries must all be names of item properties"));
      return;
    }
    const std::string_view type = (*property)["type"].str();
    const std::string at = KeyPath(ChildPath(ChildPath(path, "items"), "properties"), key.str());
    if (type == "array" || type == "object") {
      errors_.push_back(InvalidError(ChildPath(at, "type"), items["type"].str(),
                                     "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if ((*property)["nullable"].bool_or(false)) {
      errors_.push_back(ForbiddenError(ChildPath(at, "nullable"),
                                       "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
    }
    bool required = false;
    for (const Value& name : items["required"].items()) required = required || name == key;
    if (!required && !property->Has("default")) {
      errors_.push_back(RequiredError(
          ChildPath(at, "default"),
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
    }
  }

  FirstErrors& errors_;
};

}  // namespace

std::vector<FieldError> CheckCrdKeywords(const Value& schema, std::string_view path) {
  FirstErrors errors;
  KeywordChecker(errors).Check(schema, std::string(path), Place(), true);
  return std::move(errors).Take();
}

}  // namespace baton::api
