// Objects from clients: type checks, unknown fields, defaults.
#include "apiserver/decode.h"

#include <algorithm>
#include <utility>

#include "api/builtin_types.h"
#include "api/field_errors.h"
#include "api/schema.h"
#include "api/typed.h"
#include "apiserver/errors.h"
#include "base/base64.h"
#include "base/strings.h"
#include "json/beside.h"
#include "json/object_edits.h"
#include "json/quantity.h"
#include "json/rfc3339.h"

namespace baton::apiserver {

namespace {

using api::Schema;
using json::Value;

Error CannotHandle(const ResourceType& type, std::string_view why) {
  return BadRequest(
      StrCat(type.kind, " in version \"", type.version, "\" cannot be handled as a ", type.kind, ": ", why));
}

// metadata is typed for every kind, and what is empty there is absent.
void DropEmpty(Value& metadata) {
  std::vector<std::string> empty;
  for (const json::Member& member : metadata.members()) {
    const Value& value = member.value();
    const bool nothing =
        value.is_string() ? value.str().empty() : (value.is_array() || value.is_object()) && value.empty();
    if (nothing && member.key() != "managedFields") empty.emplace_back(member.key());  // [] resets those
  }
  for (const std::string& key : empty) metadata.Erase(key);
}

// The first byte that Go's decoder stumbles over.
std::optional<size_t> BadBase64At(std::string_view text) {
  if (Base64Decode(text).ok()) return std::nullopt;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n";
  return std::min(text.find_first_not_of(kAlphabet), text.size());
}

// Built-in objects are typed: a null is an absent field, and in a map of texts an empty one.
void DropNulls(Value& value, const Schema* schema, size_t depth) {
  if (depth == 0) return;
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_array() && !value[i].is_object()) continue;
      DropNulls(value.Edit(i), schema == nullptr ? nullptr : schema->items.get(), depth - 1);
    }
    return;
  }
  std::vector<std::string> nulls;
  for (const json::Member& member : value.members()) {
    if (member.value().is_null()) nulls.emplace_back(member.key());
  }
  const Schema* map = schema == nullptr ? nullptr : schema->additional_properties.get();
  const bool texts = map != nullptr && map->type == api::SchemaType::kString;
  if (!nulls.empty()) {
    json::ObjectEdits edits(value);  // one by one each would move the rest
    for (const std::string& key : nulls) {
      if (texts) {
        edits.Set(key, "");
      } else {
        edits.Erase(key);
      }
    }
    value = std::move(edits).Finish();
  }
  std::vector<std::string> deeper;
  for (const json::Member& member : value.members()) {
    if (member.value().is_array() || member.value().is_object()) deeper.emplace_back(member.key());
  }
  for (const std::string& key : deeper) {
    DropNulls(value.Edit(key), schema == nullptr ? nullptr : schema->Property(key), depth - 1);
  }
}

bool HasNull(const Value& value, const Value* settled) {
  if (settled != nullptr && settled->SharesStorageWith(value)) return false;
  if (value.is_null()) return true;
  for (size_t i = 0; i < (value.is_array() ? value.size() : 0); ++i) {
    if (HasNull(value[i], json::ItemBeside(settled, i))) return true;
  }
  json::Beside beside(settled);
  return std::ranges::any_of(
      value.members(), [&](const json::Member& member) { return HasNull(member.value(), beside.At(member.key())); });
}

std::string_view GoKind(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kString:
      return "string";
    case json::Kind::kBool:
      return "bool";
    case json::Kind::kArray:
      return "array";
    case json::Kind::kObject:
      return "object";
    default:
      return "number";
  }
}

// Text that must be something more: base64, a quantity. Go's words for the first that is not.
std::optional<std::string> FindBadText(const Value& value, const Schema& schema, const Value* settled) {
  if (settled != nullptr && settled->SharesStorageWith(value)) return std::nullopt;
  if (value.is_string() && schema.format == "byte") {
    if (const std::optional<size_t> at = BadBase64At(value.str())) {
      return StrCat("illegal base64 data at input byte ", *at);
    }
  }
  const bool quantity = schema.format == "quantity" || schema.name.ends_with("resource.Quantity");
  if (value.is_string() && quantity) {
    if (const Result<json::Quantity> parsed = json::Quantity::Parse(value.str()); !parsed.ok()) {
      return parsed.error().message();
    }
  }
  if (value.is_array() && schema.items != nullptr) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (auto bad = FindBadText(value[i], *schema.items, json::ItemBeside(settled, i))) return bad;
    }
  }
  json::Beside beside(settled);
  for (const json::Member& member : value.members()) {
    const Value* same = beside.At(member.key());
    if (same != nullptr && same->SharesStorageWith(member.value())) continue;
    const Schema* property = schema.Property(member.key());
    if (property == nullptr) continue;
    if (auto bad = FindBadText(member.value(), *property, same)) return bad;
  }
  return std::nullopt;
}

// The value of the wrong type, its field's path and its type, in the words of Go's decoder.
struct Mismatch {
  std::string struct_name;
  std::string path;
  std::string_view found;
  std::string wanted;
};

std::string GoType(const Schema& schema) {
  switch (schema.type) {
    case api::SchemaType::kString:
      return schema.format == "date-time" ? "v1.Time" : "string";
    case api::SchemaType::kInteger:
      return schema.format.empty() ? "int64" : schema.format;
    case api::SchemaType::kNumber:
      return "float64";
    case api::SchemaType::kBoolean:
      return "bool";
    case api::SchemaType::kArray:
      return StrCat("[]", schema.items == nullptr ? "interface {}" : GoType(*schema.items));
    case api::SchemaType::kObject:
      if (schema.additional_properties != nullptr) {
        return StrCat("map[string]", GoType(*schema.additional_properties));
      }
      return schema.name.empty() ? "map[string]interface {}"
                                 : StrCat("v1.", schema.name.substr(schema.name.rfind('.') + 1));
    default:
      return "interface {}";
  }
}

bool Fits(const Value& value, const Schema& schema) {
  switch (schema.type) {
    case api::SchemaType::kObject:
      return value.is_object();
    case api::SchemaType::kArray:
      return value.is_array();
    case api::SchemaType::kString:
      return value.is_string();
    case api::SchemaType::kInteger:
      return value.is_int();
    case api::SchemaType::kNumber:
      return value.is_number();
    case api::SchemaType::kBoolean:
      return value.is_bool();
    case api::SchemaType::kIntOrString:
      return value.is_string() || value.is_number();
    default:
      return true;
  }
}

const Value* MetadataOf(const Value* object) { return object == nullptr ? nullptr : object->Find("metadata"); }

// Where a value is; the text is made only for what is told.
struct Place {
  const Place* above = nullptr;
  std::string_view field;

  std::string Text() const {
    if (above == nullptr) return std::string(field);
    const std::string before = above->Text();
    return before.empty() ? std::string(field) : StrCat(before, ".", field);
  }
};

std::optional<Mismatch> FindMismatch(const Value& value, const Schema& schema, std::string_view owner,
                                     const Place& path, const Value* settled) {
  if (settled != nullptr && settled->SharesStorageWith(value)) return std::nullopt;
  if (value.is_null()) return std::nullopt;
  if (!Fits(value, schema)) {
    return Mismatch{
        .struct_name = std::string(owner), .path = path.Text(), .found = GoKind(value), .wanted = GoType(schema)};
  }
  if (value.is_array() && schema.items != nullptr) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (auto mismatch = FindMismatch(value[i], *schema.items, owner, path, json::ItemBeside(settled, i)))
        return mismatch;
    }
  }
  const std::string_view name =
      schema.name.empty() ? owner : std::string_view(schema.name).substr(schema.name.rfind('.') + 1);
  json::Beside beside(settled);
  for (const json::Member& member : value.members()) {
    const Value* same = beside.At(member.key());
    if (same != nullptr && same->SharesStorageWith(member.value())) continue;
    const Schema* property = schema.Property(member.key());
    if (property == nullptr) continue;
    // A map's values are told by the map's own path.
    const bool in_map = !schema.properties.contains(member.key());
    const Place place = in_map ? path : Place{.above = &path, .field = member.key()};
    if (auto mismatch = FindMismatch(member.value(), *property, name, place, same)) return mismatch;
  }
  return std::nullopt;
}

Result<void> CheckTypes(const ResourceType& type, const Value& object, const Value* settled) {
  std::optional<Mismatch> mismatch;
  if (!type.custom && type.schema != nullptr) mismatch = FindMismatch(object, *type.schema, type.kind, {}, settled);
  if (!mismatch)
    mismatch = FindMismatch(object["metadata"], *api::ObjectMetaSchema(), "ObjectMeta", {.field = "metadata"},
                            MetadataOf(settled));
  if (!mismatch) {
    for (const std::string_view field : {"creationTimestamp", "deletionTimestamp"}) {
      const std::string_view time = object["metadata"][field].str();
      if (time.empty() || json::ParseTime(time).ok()) continue;
      return CannotHandle(type, StrCat("parsing time ", Value(time).ToString(),
                                       R"( as "2006-01-02T15:04:05Z07:00": it is no time of RFC 3339)"));
    }
    const bool typed = !type.custom && type.schema != nullptr;
    if (const std::optional<std::string> bad = typed ? FindBadText(object, *type.schema, settled) : std::nullopt) {
      return CannotHandle(type, *bad);
    }
    return {};
  }
  return CannotHandle(type, StrCat("json: cannot unmarshal ", mismatch->found, " into Go struct field ",
                                   mismatch->struct_name, ".", mismatch->path, " of type ", mismatch->wanted));
}

Result<void> CheckNames(const ResourceType& type, const Value& object) {
  if (!object.is_object()) {
    return CannotHandle(type,
                        StrCat("json: cannot unmarshal ", GoKind(object), " into Go value of type v1.", type.kind));
  }
  const std::string_view kind = object["kind"].str();
  const std::string_view version = object["apiVersion"].str();
  if (type.custom && !kind.empty() && kind != type.kind) {
    return InvalidObject(type.group, kind, object["metadata"]["name"].str(),
                         {api::InvalidError("kind", kind, StrCat("must be ", type.kind))});
  }
  if (!kind.empty() && kind != type.kind) {
    return BadRequest(StrCat(kind, " in version \"", version.substr(version.rfind('/') + 1),
                             "\" cannot be handled as a ", type.kind, ": no kind \"", kind,
                             "\" is registered for the resource \"", type.GroupResource(), "\""));
  }
  if (!version.empty() && version != type.ApiVersion() && !type.custom) {
    return BadRequest(StrCat(type.kind, " in version \"", version.substr(version.rfind('/') + 1),
                             "\" cannot be handled as a ", type.kind, ": no kind \"", type.kind,
                             "\" is registered for version \"", version, "\""));
  }
  if (!version.empty() && version != type.ApiVersion()) {
    return BadRequest(StrCat("the API version in the data (", version, ") does not match the expected API version (",
                             type.ApiVersion(), ")"));
  }
  return {};
}

Result<void> TellUnknown(const ResourceType& type, const std::vector<std::string>& unknown, const WriteOptions& options,
                         std::vector<std::string>& warnings) {
  if (options.field_validation == FieldValidation::kIgnore) return {};
  std::vector<std::string> told;
  told.reserve(unknown.size() + options.duplicate_fields.size());
  for (const std::string& field : unknown) told.push_back(StrCat("unknown field \"", field, "\""));
  for (const std::string& key : options.duplicate_fields) told.push_back(StrCat("duplicate field \"", key, "\""));
  if (told.size() > api::kUnknownFieldsMax) told.resize(api::kUnknownFieldsMax);
  if (told.empty()) return {};
  if (options.field_validation == FieldValidation::kWarn) {
    warnings.insert(warnings.end(), told.begin(), told.end());
    return {};
  }
  std::string all;
  for (const std::string& one : told) StrAppend(all, all.empty() ? "" : ", ", one);
  return CannotHandle(type, StrCat("strict decoding error: ", all));
}

}  // namespace

void FillDefaults(const ResourceType& type, Value& object, const Value* settled) {
  if (type.schema != nullptr) api::ApplyDefaults(object, *type.schema, settled);
  if (type.default_fields != nullptr) type.default_fields(object);
}

Result<Value> DecodeObject(const ResourceType& type, Value object, const WriteOptions& options,
                           std::vector<std::string>& warnings, const Value* settled) {
  TRY(CheckNames(type, object));
  TRY(CheckTypes(type, object, settled));
  object.Set("apiVersion", type.ApiVersion());
  object.Set("kind", type.kind);
  if (!object["metadata"].is_object()) object.Set("metadata", json::Object());
  std::vector<std::string> unknown;
  if (type.schema != nullptr) api::Prune(object, *type.schema, &unknown, settled);
  std::vector<std::string> unknown_metadata;
  api::Prune(object.Edit("metadata"), *api::ObjectMetaSchema(), &unknown_metadata, MetadataOf(settled));
  for (const std::string& field : unknown_metadata) unknown.push_back(StrCat("metadata.", field));
  TRY(TellUnknown(type, unknown, options, warnings));
  DropEmpty(object.Edit("metadata"));
  if (type.custom ? HasNull(object["metadata"], MetadataOf(settled)) : HasNull(object, settled)) {
    constexpr size_t kDepthMax = 1000;
    DropNulls(object.Edit("metadata"), api::ObjectMetaSchema().get(), kDepthMax);
    if (!type.custom) DropNulls(object, type.schema.get(), kDepthMax);
  }
  FillDefaults(type, object, settled);
  return object;
}

bool IsSettled(const ResourceType& type, const Value& object) {
  if (type.schema == nullptr || !object["metadata"].is_object() || !CheckTypes(type, object, nullptr).ok())
    return false;
  Value same = object;
  api::Prune(same, *type.schema);
  api::Prune(same.Edit("metadata"), *api::ObjectMetaSchema());
  api::ApplyDefaults(same, *type.schema);
  if (same != object || HasNull(type.custom ? object["metadata"] : object, nullptr)) return false;
  same.Edit("metadata").Erase("managedFields");
  if (!api::CheckTyped(same, api::TypeRef::Root(*type.schema), true).ok()) return false;
  return !type.custom || api::Validate(object, *type.schema).empty();
}

}  // namespace baton::apiserver
