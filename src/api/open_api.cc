// Rendering of schemas: OpenAPI v2, OpenAPI v3, and the openAPIV3Schema of a CRD.
#include <cmath>
#include <utility>

#include "api/crd_schema.h"
#include "api/render.h"
#include "api/schema.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::api {
namespace {

using json::Object;
using json::ObjectBuilder;
using json::Value;

constexpr double kMaxWhole = 9007199254740991.0;  // 2^53 - 1

Value Number(double number) {
  if (std::trunc(number) == number && std::abs(number) <= kMaxWhole) return static_cast<int64_t>(number);
  return number;
}

Value Strings(const std::vector<std::string>& strings) {
  json::ArrayBuilder out;
  for (const std::string& one : strings) out.Add(one);
  return std::move(out).Build();
}

std::string_view TypeName(SchemaType type) {
  switch (type) {
    case SchemaType::kObject:
      return "object";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kString:
      return "string";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kAny:
    case SchemaType::kIntOrString:
      return "";
  }
  return "";
}

class Renderer {
 public:
  Renderer(Dialect dialect, std::map<std::string, SchemaPtr>* referenced)
      : dialect_(dialect), referenced_(referenced) {}

  Value Render(const Schema& schema) {
    if (depth_ >= kSchemaDepthMax || ++nodes_ > kSchemaNodesMax) {
      return Object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
    }
    ++depth_;
    ObjectBuilder out;
    if (!schema.description.empty()) out.Add("description", schema.description);
    if (dialect_ == Dialect::kOpenApi2 && schema.nullable) {
      AddExtensions(schema, out);  // a null would be refused by any type
    } else {
      AddType(schema, out);
      AddStructure(schema, out);
      AddBounds(schema, out);
      AddTexts(schema, out);
      if (dialect_ != Dialect::kOpenApi2) AddCombinations(schema, out);
      AddExtensions(schema, out);
    }
    --depth_;
    return std::move(out).Build();
  }

 private:
  Value RenderBelow(const SchemaPtr& schema) {
    if (schema->name.empty() || referenced_ == nullptr) return Render(*schema);
    if (dialect_ == Dialect::kOpenApi2 && schema->nullable) return Render(*schema);
    const bool v3 = dialect_ == Dialect::kOpenApi3;
    const SchemaPtr& named = schema->use_of != nullptr ? schema->use_of : schema;
    referenced_->emplace(named->name, named);
    Value reference = Object({{"$ref", StrCat(v3 ? "#/components/schemas/" : "#/definitions/", named->name)}});
    if (schema->use_of == nullptr) return reference;
    Value out = v3 ? Object({{"allOf", json::Array({reference})}}) : reference;  // v3 has nothing beside a $ref
    if (schema->description != named->description) out.Set("description", schema->description);
    if (v3 && schema->nullable) out.Set("nullable", true);
    if (v3 && schema->default_value) out.Set("default", *schema->default_value);
    if (schema->map_type != named->map_type) {
      out.Set("x-kubernetes-map-type", schema->map_type == MapType::kAtomic ? "atomic" : "granular");
    }
    if (const std::string strategy = PatchStrategy(*schema); !strategy.empty()) {
      out.Set("x-kubernetes-patch-strategy", strategy);
    }
    return out;
  }

  static std::string PatchStrategy(const Schema& schema) {
    if (schema.patch_replace) return "replace";
    if (!schema.patch_retain_keys) return schema.patch_merge ? "merge" : "";
    return schema.patch_merge ? "merge,retainKeys" : "retainKeys";
  }

  // Built-in types show quantities and ports as strings with alternatives; CRDs have an extension for them.
  void AddType(const Schema& schema, ObjectBuilder& out) const {
    const bool v3 = dialect_ == Dialect::kOpenApi3;
    if (schema.nullable) out.Add("nullable", true);
    if (schema.type != SchemaType::kIntOrString) {
      if (const std::string_view type = TypeName(schema.type); !type.empty()) out.Add("type", type);
      if (!schema.format.empty()) out.Add("format", schema.format);
      return;
    }
    const bool built_in = dialect_ != Dialect::kCrd && !schema.name.empty() && schema.one_of.empty();
    if (!built_in) {
      if (!schema.format.empty()) out.Add("format", schema.format);
      out.Add("x-kubernetes-int-or-string", true);
      return;
    }
    const bool quantity = schema.format == "quantity";
    if (!quantity) out.Add("format", "int-or-string");
    if (!v3) {
      out.Add("type", "string");
      return;
    }
    out.Add("oneOf", quantity ? json::Array({Object({{"type", "string"}}), Object({{"type", "number"}})})
                              : json::Array({Object({{"type", "integer"}}), Object({{"type", "string"}})}));
  }

  void AddStructure(const Schema& schema, ObjectBuilder& out) {
    if (!schema.required.empty()) out.Add("required", Strings(schema.required));
    // Clients of v2 refuse unknown fields wherever they know one.
    if (dialect_ == Dialect::kOpenApi2 && schema.preserve_unknown_fields) return;
    if (!schema.properties.empty()) {
      ObjectBuilder properties;
      for (const auto& [key, property] : schema.properties) properties.Add(key, RenderBelow(property));
      out.Add("properties", std::move(properties).Build());
    }
    if (schema.additional_properties != nullptr) {
      Value inner = RenderBelow(schema.additional_properties);
      out.Add("additionalProperties", inner.empty() ? Value(true) : std::move(inner));
    }
    if (schema.items != nullptr) out.Add("items", RenderBelow(schema.items));
  }

  static void AddBounds(const Schema& schema, ObjectBuilder& out) {
    const auto add = [&](std::string_view key, const std::optional<uint64_t>& count) {
      if (count) out.Add(key, *count);
    };
    add("minProperties", schema.min_properties);
    add("maxProperties", schema.max_properties);
    add("minItems", schema.min_items);
    add("maxItems", schema.max_items);
    add("minLength", schema.min_length);
    add("maxLength", schema.max_length);
    if (schema.unique_items) out.Add("uniqueItems", true);
    if (schema.minimum) out.Add("minimum", Number(*schema.minimum));
    if (schema.maximum) out.Add("maximum", Number(*schema.maximum));
    if (schema.exclusive_minimum) out.Add("exclusiveMinimum", true);
    if (schema.exclusive_maximum) out.Add("exclusiveMaximum", true);
    if (schema.multiple_of) out.Add("multipleOf", Number(*schema.multiple_of));
  }

  static void AddTexts(const Schema& schema, ObjectBuilder& out) {
    if (!schema.pattern.empty()) out.Add("pattern", schema.pattern);
    if (!schema.enum_values.empty()) {
      json::ArrayBuilder values;
      for (const Value& one : schema.enum_values) values.Add(one);
      out.Add("enum", std::move(values).Build());
    }
    if (schema.default_value) out.Add("default", *schema.default_value);
  }

  void AddCombinations(const Schema& schema, ObjectBuilder& out) {
    const auto add = [&](std::string_view key, const std::vector<SchemaPtr>& schemas) {
      if (schemas.empty()) return;
      json::ArrayBuilder rendered;
      for (const SchemaPtr& one : schemas) rendered.Add(RenderBelow(one));
      out.Add(key, std::move(rendered).Build());
    };
    add("allOf", schema.all_of);
    add("anyOf", schema.any_of);
    add("oneOf", schema.one_of);
    if (schema.negated != nullptr) out.Add("not", RenderBelow(schema.negated));
  }

  void AddExtensions(const Schema& schema, ObjectBuilder& out) const {
    if (schema.preserve_unknown_fields) out.Add("x-kubernetes-preserve-unknown-fields", true);
    if (schema.embedded_resource) out.Add("x-kubernetes-embedded-resource", true);
    if (schema.map_type == MapType::kAtomic) out.Add("x-kubernetes-map-type", "atomic");
    if (schema.list_type == ListType::kSet) out.Add("x-kubernetes-list-type", "set");
    if (schema.list_type == ListType::kMap) {
      out.Add("x-kubernetes-list-type", "map");
      out.Add("x-kubernetes-list-map-keys", Strings(schema.list_map_keys));
    }
    if (dialect_ == Dialect::kCrd) return;
    if (const std::string strategy = PatchStrategy(schema); !strategy.empty()) {
      out.Add("x-kubernetes-patch-strategy", strategy);
    }
    if (!schema.patch_merge_key.empty()) out.Add("x-kubernetes-patch-merge-key", schema.patch_merge_key);
  }

  Dialect dialect_;
  std::map<std::string, SchemaPtr>* referenced_;
  size_t depth_ = 0;
  size_t nodes_ = 0;
};

}  // namespace

Value RenderSchema(const Schema& schema, Dialect dialect, std::map<std::string, SchemaPtr>* referenced) {
  return Renderer(dialect, referenced).Render(schema);
}

Value ToOpenApi(const Schema& schema, bool v3, std::map<std::string, SchemaPtr>* referenced) {
  return RenderSchema(schema, v3 ? Dialect::kOpenApi3 : Dialect::kOpenApi2, referenced);
}

Value ToCrdSchema(const Schema& schema) { return RenderSchema(schema, Dialect::kCrd, nullptr); }

}  // namespace baton::api
