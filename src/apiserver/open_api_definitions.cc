// Definitions: each schema rendered once, and then what it refers to, until nothing is missing.
#include "apiserver/open_api_definitions.h"

#include <algorithm>
#include <utility>

#include "api/builtin_types.h"
#include "base/strings.h"
#include "json/builder.h"

namespace baton::apiserver {

using api::ResourceType;
using api::SchemaPtr;
using json::Object;
using json::Value;

namespace {

constexpr std::string_view kKindExtension = "x-kubernetes-group-version-kind";
constexpr std::string_view kApiVersionText = "The group and version that the object is written in.";
constexpr std::string_view kKindText = "What the object is. It never changes.";

Value Text(std::string_view description) { return Object({{"type", "string"}, {"description", description}}); }

Value AnyObject() { return Object({{"type", "object"}}); }

}  // namespace

std::string ReversedGroup(std::string_view group) {
  std::vector<std::string_view> parts = Split(group.empty() ? "core" : group, '.');
  std::string out;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) StrAppend(out, out.empty() ? "" : ".", *part);
  return out;
}

Value OpenApiDefinitions::Reference(std::string_view name) const {
  return Object({{"$ref", StrCat(v3_ ? "#/components/schemas/" : "#/definitions/", name)}});
}

// A reference with words of its own; v3 has nothing beside a $ref.
Value OpenApiDefinitions::Described(std::string_view name, std::string_view text) const {
  Value out = Reference(name);
  if (v3_) out = Object({{"allOf", json::Array({std::move(out)})}});
  out.Set("description", text);
  return out;
}

std::string OpenApiDefinitions::NewName(std::string name) const {
  while (definitions_.contains(name)) name += '_';
  return name;
}

void OpenApiDefinitions::SayKind(const std::string& name, std::string_view group, std::string_view version,
                                 std::string_view kind) {
  Value said = Object({{"group", group}, {"version", version}, {"kind", kind}});
  std::vector<Value>& kinds = definitions_[name].kinds;
  if (std::ranges::find(kinds, said) == kinds.end()) kinds.push_back(std::move(said));
}

void OpenApiDefinitions::AddBelow(std::map<std::string, SchemaPtr> referenced) {
  std::vector<SchemaPtr> open;
  const auto take = [&](const std::map<std::string, SchemaPtr>& found) {
    for (const auto& [name, schema] : found) {
      if (definitions_.try_emplace(name).second) open.push_back(schema);
    }
  };
  take(referenced);
  while (!open.empty()) {
    const SchemaPtr schema = std::move(open.back());
    open.pop_back();
    referenced.clear();
    definitions_[schema->name].schema = api::ToOpenApi(*schema, v3_, &referenced);
    take(referenced);
  }
}

std::string OpenApiDefinitions::AddNamed(std::string_view name) {
  if (definitions_.contains(name)) return std::string(name);
  SchemaPtr schema = api::BuiltinSchema(name);
  if (schema == nullptr && name == StrCat(kMetaTypes, "ObjectMeta")) schema = api::ObjectMetaSchema();
  Definition& definition = definitions_[std::string(name)];
  if (schema == nullptr) {
    definition.schema = AnyObject();
  } else {
    std::map<std::string, SchemaPtr> referenced;
    definition.schema = api::ToOpenApi(*schema, v3_, &referenced);
    AddBelow(std::move(referenced));
  }
  return std::string(name);
}

std::string OpenApiDefinitions::AddKind(std::string_view group, std::string_view version, std::string_view kind) {
  const std::string_view package = group.empty() ? "core" : group.substr(0, group.find('.'));
  std::string name = AddNamed(StrCat("io.k8s.api.", package, ".", version, ".", kind));
  SayKind(name, group, version, kind);
  return name;
}

std::string OpenApiDefinitions::AddMeta(std::string_view kind, std::string_view group, std::string_view version) {
  std::string name = AddNamed(StrCat(kMetaTypes, kind));
  SayKind(name, group, version, kind);
  return name;
}

// apiVersion, kind and metadata are the server's to say, whatever the CustomResourceDefinition says of them.
Value OpenApiDefinitions::RenderCustom(const ResourceType& type) {
  // Clients of v2 refuse unknown fields wherever they know one.
  if (type.schema == nullptr || (!v3_ && type.schema->preserve_unknown_fields)) {
    Value out = AnyObject();
    out.Set("x-kubernetes-preserve-unknown-fields", true);
    return out;
  }
  std::map<std::string, SchemaPtr> referenced;
  Value out = api::ToOpenApi(*type.schema, v3_, &referenced);
  AddBelow(std::move(referenced));
  Value properties = out.Take("properties");
  properties.Set("apiVersion", Text(kApiVersionText));
  properties.Set("kind", Text(kKindText));
  properties.Set("metadata", Described(AddNamed(StrCat(kMetaTypes, "ObjectMeta")),
                                       "What every object has: its name, its labels and who owns it."));
  out.Set("properties", std::move(properties));
  out.Set("type", "object");
  return out;
}

std::string OpenApiDefinitions::Add(const ResourceType& type) {
  std::string& name = names_[&type];
  if (!name.empty()) return name;
  const bool named = !type.custom && type.schema != nullptr && !type.schema->name.empty();
  if (named) {
    name = type.schema->name;
    AddBelow({{name, type.schema}});
  } else {
    name = NewName(StrCat(ReversedGroup(type.group), ".", type.version, ".", type.kind));
    definitions_[name];  // the name is taken from here on
    Value schema = RenderCustom(type);
    definitions_[name].schema = std::move(schema);
  }
  SayKind(name, type.group, type.version, type.kind);
  return name;
}

std::string OpenApiDefinitions::AddList(const ResourceType& type) {
  const std::string item = Add(type);
  std::string name = StrCat(item.substr(0, item.rfind('.') + 1), type.list_kind);
  if (const auto found = definitions_.find(name); found != definitions_.end()) return name;
  const std::string list_meta = AddNamed(StrCat(kMetaTypes, "ListMeta"));
  Value items = Object({{"type", "array"}, {"items", Reference(item)}, {"description", "The objects."}});
  definitions_[name].schema = Object(
      {{"type", "object"},
       {"description", StrCat("A list of objects of kind ", type.kind, ".")},
       {"required", json::Array({"items"})},
       {"properties", Object({{"apiVersion", Text(kApiVersionText)},
                              {"kind", Text(kKindText)},
                              {"metadata", Described(list_meta, "The version of the list, and where it goes on.")},
                              {"items", std::move(items)}})}});
  SayKind(name, type.group, type.version, type.list_kind);
  return name;
}

Value OpenApiDefinitions::Build() && {
  json::ObjectBuilder out;
  for (auto& [name, definition] : definitions_) {
    if (!definition.kinds.empty()) {
      definition.schema.Set(kKindExtension, json::ArrayBuilder::FromRange(definition.kinds));
    }
    out.Add(name, std::move(definition.schema));
  }
  return std::move(out).Build();
}

}  // namespace baton::apiserver
