// An OpenAPI v2 document as gnostic's protobuf (openapi.v2.Document).
//
// The messages are tables: which member of the JSON is which field. A member that no table knows is dropped; those that
// begin with "x-" go to vendor_extension. gnostic keeps free values (extensions, defaults, enums) as YAML text; ours is
// JSON, which YAML contains, in ASCII, which no YAML reader refuses.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/open_api_document.h"
#include "apiserver/protobuf_writer.h"

namespace baton::apiserver {
namespace {

using json::Value;

class Encoder;
using EncodeFn = void (Encoder::*)(const Value& value);

enum class Form : uint8_t {
  kText,
  kTexts,
  kFlag,
  kDouble,
  kInt,
  kAny,
  kAnys,
  kMessage,   // one
  kMessages,  // an array of them
};

struct Field {
  std::string_view key;
  uint32_t number;
  Form form;
  EncodeFn message = nullptr;
};

bool IsExtension(std::string_view key) { return key.starts_with("x-"); }

class Encoder : public ProtobufWriter {
 public:
  void Document(const Value& value);

 private:
  // ---- values ----
  // proto3: what is zero is not written.
  void Fields(const Value& value, std::span<const Field> fields, uint32_t extensions);
  void One(const Field& field, const Value& value);
  void Any(uint32_t number, const Value& value) {
    Message(number, [&] { Text(2, AsciiJson(value)); });
  }
  void Extensions(uint32_t number, const Value& value);
  // NamedX {name = 1, value = 2} for each member that is not an extension.
  void Named(uint32_t number, const Value& value, EncodeFn message);

  // ---- messages with tables ----
  void Info(const Value& value);
  void PathItem(const Value& value);
  void Operation(const Value& value);
  void BodyParameter(const Value& value);
  void QueryParameter(const Value& value);
  void PathParameter(const Value& value);  // a header's is the same
  void PrimitivesItems(const Value& value);
  void Response(const Value& value);
  void Schema(const Value& value);
  void ApiKeySecurity(const Value& value);
  void Reference(const Value& value);

  // ---- messages of a shape of their own ----
  void Paths(const Value& value);
  void Definitions(const Value& value) { Named(1, value, &Encoder::Schema); }
  void ParameterDefinitions(const Value& value) { Named(1, value, &Encoder::Parameter); }
  void SecurityDefinitions(const Value& value) { Named(1, value, &Encoder::SecurityDefinition); }
  void SecurityDefinition(const Value& value);
  void SecurityRequirement(const Value& value) { Named(1, value, &Encoder::TextArray); }
  void TextArray(const Value& value);
  void ParametersItem(const Value& value);
  void Parameter(const Value& value);
  void Responses(const Value& value);
  void ResponseValue(const Value& value);
  void SchemaItem(const Value& value);
  void AdditionalProperties(const Value& value);
  void Type(const Value& value);
  void Items(const Value& value);
};

void Encoder::One(const Field& field, const Value& value) {
  switch (field.form) {
    case Form::kText:
      if (!value.str().empty()) Text(field.number, value.str());
      return;
    case Form::kTexts:
      for (const Value& one : value.items()) Text(field.number, one.str());
      return;
    case Form::kFlag:
      if (value.bool_or(false)) Varint(field.number, 1);
      return;
    case Form::kDouble:
      if (value.number_or(0) != 0) Double(field.number, value.number_or(0));
      return;
    case Form::kInt:
      if (value.int_or(0) != 0) Varint(field.number, static_cast<uint64_t>(value.int_or(0)));
      return;
    case Form::kAny:
      Any(field.number, value);
      return;
    case Form::kAnys:
      for (const Value& one : value.items()) Any(field.number, one);
      return;
    case Form::kMessage:
      Message(field.number, [&] { (this->*field.message)(value); });
      return;
    case Form::kMessages:
      for (const Value& one : value.items()) Message(field.number, [&] { (this->*field.message)(one); });
      return;
  }
}

void Encoder::Fields(const Value& value, std::span<const Field> fields, uint32_t extensions) {
  for (const Field& field : fields) {
    if (const Value* member = value.Find(field.key)) One(field, *member);
  }
  if (extensions != 0) Extensions(extensions, value);
}

void Encoder::Extensions(uint32_t number, const Value& value) {
  for (const json::Member& member : value.members()) {
    if (!IsExtension(member.key())) continue;
    Message(number, [&] {
      Text(1, member.key());
      Any(2, member.value());
    });
  }
}

void Encoder::Named(uint32_t number, const Value& value, EncodeFn message) {
  for (const json::Member& member : value.members()) {
    if (IsExtension(member.key()) && message != &Encoder::Schema) continue;  // a property may be called so
    Message(number, [&] {
      if (!member.key().empty()) Text(1, member.key());
      Message(2, [&] { (this->*message)(member.value()); });
    });
  }
}

void Encoder::Document(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"swagger", 1, Form::kText},
      {"info", 2, Form::kMessage, &Encoder::Info},
      {"host", 3, Form::kText},
      {"basePath", 4, Form::kText},
      {"schemes", 5, Form::kTexts},
      {"consumes", 6, Form::kTexts},
      {"produces", 7, Form::kTexts},
      {"paths", 8, Form::kMessage, &Encoder::Paths},
      {"definitions", 9, Form::kMessage, &Encoder::Definitions},
      {"parameters", 10, Form::kMessage, &Encoder::ParameterDefinitions},
      {"security", 12, Form::kMessages, &Encoder::SecurityRequirement},
      {"securityDefinitions", 13, Form::kMessage, &Encoder::SecurityDefinitions},
  });
  Fields(value, kFields, 16);
}

void Encoder::Info(const Value& value) {
  static constexpr auto kFields =
      std::to_array<Field>({{"title", 1, Form::kText}, {"version", 2, Form::kText}, {"description", 3, Form::kText}});
  Fields(value, kFields, 7);
}

void Encoder::Paths(const Value& value) {
  Extensions(1, value);
  Named(2, value, &Encoder::PathItem);
}

void Encoder::PathItem(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"$ref", 1, Form::kText},
      {"get", 2, Form::kMessage, &Encoder::Operation},
      {"put", 3, Form::kMessage, &Encoder::Operation},
      {"post", 4, Form::kMessage, &Encoder::Operation},
      {"delete", 5, Form::kMessage, &Encoder::Operation},
      {"options", 6, Form::kMessage, &Encoder::Operation},
      {"head", 7, Form::kMessage, &Encoder::Operation},
      {"patch", 8, Form::kMessage, &Encoder::Operation},
      {"parameters", 9, Form::kMessages, &Encoder::ParametersItem},
  });
  Fields(value, kFields, 10);
}

void Encoder::Operation(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"tags", 1, Form::kTexts},
      {"summary", 2, Form::kText},
      {"description", 3, Form::kText},
      {"operationId", 5, Form::kText},
      {"produces", 6, Form::kTexts},
      {"consumes", 7, Form::kTexts},
      {"parameters", 8, Form::kMessages, &Encoder::ParametersItem},
      {"responses", 9, Form::kMessage, &Encoder::Responses},
      {"schemes", 10, Form::kTexts},
      {"deprecated", 11, Form::kFlag},
      {"security", 12, Form::kMessages, &Encoder::SecurityRequirement},
  });
  Fields(value, kFields, 13);
}

void Encoder::ParametersItem(const Value& value) {
  const bool reference = value.Has("$ref");
  Message(reference ? 2 : 1, [&] { reference ? Reference(value) : Parameter(value); });
}

void Encoder::Reference(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({{"$ref", 1, Form::kText}, {"description", 2, Form::kText}});
  Fields(value, kFields, 0);
}

void Encoder::Parameter(const Value& value) {
  const std::string_view in = value["in"].str();
  if (in == "body") {
    Message(1, [&] { BodyParameter(value); });
    return;
  }
  Message(2, [&] {
    if (in == "query" || in == "formData") {
      Message(in == "query" ? 3 : 2, [&] { QueryParameter(value); });
    } else {
      Message(in == "path" ? 4 : 1, [&] { PathParameter(value); });
    }
  });
}

void Encoder::BodyParameter(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"description", 1, Form::kText},
      {"name", 2, Form::kText},
      {"in", 3, Form::kText},
      {"required", 4, Form::kFlag},
      {"schema", 5, Form::kMessage, &Encoder::Schema},
  });
  Fields(value, kFields, 6);
}

void Encoder::QueryParameter(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"required", 1, Form::kFlag},
      {"in", 2, Form::kText},
      {"description", 3, Form::kText},
      {"name", 4, Form::kText},
      {"allowEmptyValue", 5, Form::kFlag},
      {"type", 6, Form::kText},
      {"format", 7, Form::kText},
      {"items", 8, Form::kMessage, &Encoder::PrimitivesItems},
      {"collectionFormat", 9, Form::kText},
      {"default", 10, Form::kAny},
      {"pattern", 17, Form::kText},
      {"uniqueItems", 20, Form::kFlag},
      {"enum", 21, Form::kAnys},
  });
  Fields(value, kFields, 23);
}

void Encoder::PathParameter(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"required", 1, Form::kFlag},
      {"in", 2, Form::kText},
      {"description", 3, Form::kText},
      {"name", 4, Form::kText},
      {"type", 5, Form::kText},
      {"format", 6, Form::kText},
      {"items", 7, Form::kMessage, &Encoder::PrimitivesItems},
      {"collectionFormat", 8, Form::kText},
      {"default", 9, Form::kAny},
      {"pattern", 16, Form::kText},
      {"uniqueItems", 19, Form::kFlag},
      {"enum", 20, Form::kAnys},
  });
  Fields(value, kFields, 22);
}

void Encoder::PrimitivesItems(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"type", 1, Form::kText},
      {"format", 2, Form::kText},
      {"items", 3, Form::kMessage, &Encoder::PrimitivesItems},
      {"collectionFormat", 4, Form::kText},
      {"default", 5, Form::kAny},
      {"enum", 16, Form::kAnys},
  });
  Fields(value, kFields, 18);
}

void Encoder::Responses(const Value& value) {
  Named(1, value, &Encoder::ResponseValue);
  Extensions(2, value);
}

void Encoder::ResponseValue(const Value& value) {
  const bool reference = value.Has("$ref");
  Message(reference ? 2 : 1, [&] { reference ? Reference(value) : Response(value); });
}

void Encoder::Response(const Value& value) {
  static constexpr auto kFields =
      std::to_array<Field>({{"description", 1, Form::kText}, {"schema", 2, Form::kMessage, &Encoder::SchemaItem}});
  Fields(value, kFields, 5);
}

void Encoder::SchemaItem(const Value& value) {
  Message(1, [&] { Schema(value); });
}

void Encoder::Schema(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>({
      {"$ref", 1, Form::kText},
      {"format", 2, Form::kText},
      {"title", 3, Form::kText},
      {"description", 4, Form::kText},
      {"default", 5, Form::kAny},
      {"multipleOf", 6, Form::kDouble},
      {"maximum", 7, Form::kDouble},
      {"exclusiveMaximum", 8, Form::kFlag},
      {"minimum", 9, Form::kDouble},
      {"exclusiveMinimum", 10, Form::kFlag},
      {"maxLength", 11, Form::kInt},
      {"minLength", 12, Form::kInt},
      {"pattern", 13, Form::kText},
      {"maxItems", 14, Form::kInt},
      {"minItems", 15, Form::kInt},
      {"uniqueItems", 16, Form::kFlag},
      {"maxProperties", 17, Form::kInt},
      {"minProperties", 18, Form::kInt},
      {"required", 19, Form::kTexts},
      {"enum", 20, Form::kAnys},
      {"additionalProperties", 21, Form::kMessage, &Encoder::AdditionalProperties},
      {"type", 22, Form::kMessage, &Encoder::Type},
      {"items", 23, Form::kMessage, &Encoder::Items},
      {"allOf", 24, Form::kMessages, &Encoder::Schema},
      {"properties", 25, Form::kMessage, &Encoder::Definitions},  // Properties has the same form
      {"discriminator", 26, Form::kText},
      {"readOnly", 27, Form::kFlag},
      {"example", 30, Form::kAny},
  });
  Fields(value, kFields, 31);
}

void Encoder::AdditionalProperties(const Value& value) {
  if (value.is_object()) {
    Message(1, [&] { Schema(value); });
    return;
  }
  Varint(2, value.bool_or(false) ? 1 : 0);  // of a oneof: written also when false
}

void Encoder::Type(const Value& value) {
  if (value.is_string()) Text(1, value.str());
  TextArray(value);
}

void Encoder::TextArray(const Value& value) {
  for (const Value& one : value.items()) Text(1, one.str());
}

void Encoder::Items(const Value& value) {
  if (value.is_object()) Message(1, [&] { Schema(value); });
  for (const Value& one : value.items()) Message(1, [&] { Schema(one); });
}

void Encoder::SecurityDefinition(const Value& value) {
  if (value["type"].str() == "apiKey") Message(2, [&] { ApiKeySecurity(value); });
}

void Encoder::ApiKeySecurity(const Value& value) {
  static constexpr auto kFields = std::to_array<Field>(
      {{"type", 1, Form::kText}, {"name", 2, Form::kText}, {"in", 3, Form::kText}, {"description", 4, Form::kText}});
  Fields(value, kFields, 5);
}

}  // namespace

std::string OpenApiV2Protobuf(const Value& document) {
  Encoder encoder;
  encoder.Document(document);
  return std::move(encoder).Take();
}

}  // namespace baton::apiserver
