// Reading a CRD's schema: first every keyword is read into Schema nodes, then the rules are checked on the JSON
// (api/crd_check.h), then the defaults against the schema they stand in.
#include "api/crd_schema.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "api/crd_check.h"
#include "api/field_errors.h"
#include "api/patterns.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using json::Member;
using json::Value;

struct NamedType {
  std::string_view name;
  SchemaType type;
};

constexpr NamedType kTypes[] = {
    {"array", SchemaType::kArray},   {"boolean", SchemaType::kBoolean}, {"integer", SchemaType::kInteger},
    {"number", SchemaType::kNumber}, {"object", SchemaType::kObject},   {"string", SchemaType::kString},
};

class Reader {
 public:
  struct Default {
    std::string path;
    SchemaPtr schema;
  };

  SchemaPtr Read(const Value& json, const std::string& path) {
    auto schema = std::make_shared<Schema>();
    if (!Enter(json, path)) return schema;
    ++depth_;
    ReadType(json, path, *schema);
    ReadStructure(json, path, *schema);
    ReadValueRules(json, path, *schema);
    ReadExtensions(json, path, *schema);
    ReadCombinations(json, path, *schema);
    --depth_;
    if (schema->default_value) defaults_.push_back({ChildPath(path, "default"), schema});
    return schema;
  }

  FirstErrors& errors() { return errors_; }
  bool malformed() const { return malformed_; }  // the JSON is not even a JSONSchemaProps, or too large
  const std::vector<Default>& defaults() const { return defaults_; }
  size_t cel_rules() const { return cel_rules_; }

 private:
  bool Enter(const Value& json, const std::string& path) {
    if (!json.is_object()) return Wrong(path, json, "must be an object");
    if (depth_ >= kSchemaDepthMax) {
      return Wrong(path, "", StrCat("a schema must not be nested deeper than ", kSchemaDepthMax));
    }
    if (++nodes_ > kSchemaNodesMax) {
      if (nodes_ > kSchemaNodesMax + 1) return false;
      return Wrong(path, "", StrCat("a schema must not have more than ", kSchemaNodesMax, " parts"));
    }
    if (path.size() > kSchemaPathMax) {
      return Wrong(path.substr(0, path.find('[')), "",
                   StrCat("the path to a part of the schema must not be longer than ", kSchemaPathMax, " bytes"));
    }
    return true;
  }

  bool Wrong(std::string path, const Value& value, std::string_view why) {
    malformed_ = true;
    errors_.push_back(TypeInvalidError(std::move(path), value, why));
    return false;
  }

  // ---- one keyword; null counts as absent ----

  std::string Text(const Value& json, const std::string& path, std::string_view key) {
    const Value& value = json[key];
    if (!value.is_null() && !value.is_string()) Wrong(ChildPath(path, key), value, "must be a string");
    return std::string(value.str());
  }

  bool Flag(const Value& json, const std::string& path, std::string_view key) {
    const Value& value = json[key];
    if (!value.is_null() && !value.is_bool()) Wrong(ChildPath(path, key), value, "must be a boolean");
    return value.bool_or(false);
  }

  std::optional<uint64_t> Count(const Value& json, const std::string& path, std::string_view key) {
    const Value& value = json[key];
    if (value.is_null()) return std::nullopt;
    const std::optional<uint64_t> count = value.as_uint64();
    if (!count || !value.is_int()) {
      Wrong(ChildPath(path, key), value, "must be an integer that is not negative");
      return std::nullopt;
    }
    return count;
  }

  std::optional<double> Number(const Value& json, const std::string& path, std::string_view key) {
    const Value& value = json[key];
    if (value.is_null()) return std::nullopt;
    if (!value.is_number()) Wrong(ChildPath(path, key), value, "must be a number");
    return value.number_or(0);
  }

  // The items of an array keyword.
  std::span<const Value> List(const Value& json, const std::string& path, std::string_view key) {
    const Value& value = json[key];
    if (!value.is_null() && !value.is_array()) Wrong(ChildPath(path, key), value, "must be an array");
    return value.items();
  }

  std::vector<std::string> Texts(const Value& json, const std::string& path, std::string_view key) {
    std::vector<std::string> texts;
    for (const Value& item : List(json, path, key)) {
      if (!item.is_string()) Wrong(IndexPath(ChildPath(path, key), texts.size()), item, "must be a string");
      texts.emplace_back(item.str());
    }
    return texts;
  }

  // ---- groups of keywords ----

  void ReadType(const Value& json, const std::string& path, Schema& schema) {
    schema.description = Text(json, path, "description");
    schema.format = Text(json, path, "format");
    schema.nullable = Flag(json, path, "nullable");
    for (const std::string_view unkept : {"title", "id", "$schema", "$ref"}) Text(json, path, unkept);
    const std::string type = Text(json, path, "type");
    if (!type.empty() && type != "null") {
      const auto* found = std::ranges::find(kTypes, std::string_view(type), &NamedType::name);
      if (found != std::end(kTypes)) {
        schema.type = found->type;
      } else {
        std::vector<Value> supported;
        for (const NamedType& one : kTypes) supported.emplace_back(one.name);
        errors_.push_back(NotSupportedError(ChildPath(path, "type"), type, supported));
      }
    }
    if (Flag(json, path, "x-kubernetes-int-or-string")) schema.type = SchemaType::kIntOrString;
    if (!json["default"].is_null()) schema.default_value = json["default"];
  }

  void ReadStructure(const Value& json, const std::string& path, Schema& schema) {
    const Value& properties = json["properties"];
    const std::string properties_path = ChildPath(path, "properties");
    if (!properties.is_null() && !properties.is_object()) Wrong(properties_path, properties, "must be an object");
    for (const Member& member : properties.members()) {
      schema.properties.emplace(member.key(), Read(member.value(), KeyPath(properties_path, member.key())));
    }
    const Value& additional = json["additionalProperties"];
    if (additional.is_bool()) {
      if (additional.bool_or(false)) schema.additional_properties = std::make_shared<Schema>();
    } else if (!additional.is_null()) {
      schema.additional_properties = Read(additional, ChildPath(path, "additionalProperties"));
    }
    const Value& items = json["items"];
    if (!items.is_null() && !items.is_array()) schema.items = Read(items, ChildPath(path, "items"));
    schema.required = Texts(json, path, "required");
    schema.min_properties = Count(json, path, "minProperties");
    schema.max_properties = Count(json, path, "maxProperties");
    schema.min_items = Count(json, path, "minItems");
    schema.max_items = Count(json, path, "maxItems");
    schema.unique_items = Flag(json, path, "uniqueItems");
  }

  void ReadValueRules(const Value& json, const std::string& path, Schema& schema) {
    const std::span<const Value> values = List(json, path, "enum");
    schema.enum_values.assign(values.begin(), values.end());
    schema.pattern = Text(json, path, "pattern");
    if (const auto why = schema.pattern.empty() ? std::nullopt : PatternError(schema.pattern)) {
      errors_.push_back(InvalidError(ChildPath(path, "pattern"), schema.pattern,
                                     StrCat("must be a valid regular expression, but isn't: ", *why)));
    }
    schema.min_length = Count(json, path, "minLength");
    schema.max_length = Count(json, path, "maxLength");
    schema.minimum = Number(json, path, "minimum");
    schema.maximum = Number(json, path, "maximum");
    schema.exclusive_minimum = Flag(json, path, "exclusiveMinimum");
    schema.exclusive_maximum = Flag(json, path, "exclusiveMaximum");
    schema.multiple_of = Number(json, path, "multipleOf");
    if (schema.multiple_of && *schema.multiple_of <= 0) {
      errors_.push_back(InvalidError(ChildPath(path, "multipleOf"), json["multipleOf"], "must be greater than 0"));
    }
  }

  void ReadExtensions(const Value& json, const std::string& path, Schema& schema) {
    schema.preserve_unknown_fields = Flag(json, path, "x-kubernetes-preserve-unknown-fields");
    schema.embedded_resource = Flag(json, path, "x-kubernetes-embedded-resource");
    if (Text(json, path, "x-kubernetes-map-type") == "atomic") schema.map_type = MapType::kAtomic;
    const std::string list_type = Text(json, path, "x-kubernetes-list-type");
    if (list_type == "set") schema.list_type = ListType::kSet;
    if (list_type == "map") schema.list_type = ListType::kMap;
    schema.list_map_keys = Texts(json, path, "x-kubernetes-list-map-keys");
    schema.cel_rules = List(json, path, "x-kubernetes-validations").size();
    cel_rules_ += schema.cel_rules;
  }

  void ReadCombinations(const Value& json, const std::string& path, Schema& schema) {
    const auto read = [&](std::string_view key, std::vector<SchemaPtr>& out) {
      for (const Value& one : List(json, path, key))
        out.push_back(Read(one, IndexPath(ChildPath(path, key), out.size())));
    };
    read("allOf", schema.all_of);
    read("anyOf", schema.any_of);
    read("oneOf", schema.one_of);
    if (!json["not"].is_null()) schema.negated = Read(json["not"], ChildPath(path, "not"));
  }

  FirstErrors errors_;
  std::vector<Default> defaults_;
  bool malformed_ = false;
  size_t depth_ = 0;
  size_t nodes_ = 0;
  size_t cel_rules_ = 0;
};

// A default is a value like any other: valid, and without unknown fields.
void CheckDefault(const Reader::Default& one, FirstErrors& errors) {
  const Value& value = *one.schema->default_value;
  Schema holder;  // Prune keeps apiVersion, kind and metadata at the top, so the default must not be there
  holder.type = SchemaType::kObject;
  holder.properties.emplace("default", one.schema);
  Value held = json::Object({{"default", value}});
  std::vector<std::string> unknown;
  Prune(held, holder, &unknown);
  if (!unknown.empty()) errors.push_back(InvalidError(one.path, value, "must not have unknown fields"));
  for (FieldError& error : Validate(value, *one.schema, one.path)) errors.push_back(std::move(error));
}

}  // namespace

CrdSchemaResult ReadCrdSchema(const Value& open_api_v3_schema, std::string_view path) {
  CrdSchemaResult result;
  Reader reader;
  SchemaPtr schema = reader.Read(open_api_v3_schema, std::string(path));
  FirstErrors& errors = reader.errors();
  result.cel_rules = reader.cel_rules();
  if (!reader.malformed()) {
    for (FieldError& error : CheckCrdKeywords(open_api_v3_schema, path)) errors.push_back(std::move(error));
    for (FieldError& error : CheckStructural(open_api_v3_schema, path)) {
      result.not_structural.push_back(StrCat(error.field, ": ", error.message));
      errors.push_back(std::move(error));
    }
    if (errors.empty()) {
      for (const Reader::Default& one : reader.defaults()) CheckDefault(one, errors);
    }
  }
  if (errors.empty()) result.schema = std::move(schema);
  result.errors = std::move(errors).Take();
  return result;
}

}  // namespace baton::api
