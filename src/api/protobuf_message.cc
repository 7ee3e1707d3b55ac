// Walks messages by the table. Recursion is bounded by kProtobufDepthMax, work and memory by the bytes that are there:
// no field is looked at twice, and lists and maps are gathered before they are built.
#include "api/protobuf_message.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/protobuf.h"
#include "api/protobuf_scalar.h"
#include "api/protobuf_wire.h"
#include "base/strings.h"
#include "json/value.h"

namespace baton::api::protobuf {
namespace {

using json::Value;

// A map's entries are messages of a key and a value.
constexpr uint32_t kEntryKey = 1;
constexpr uint32_t kEntryValue = 2;

// What JSON leaves out of fields without `keep`.
bool IsZero(const Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return true;
    case json::Kind::kBool:
      return !value.bool_or(true);
    case json::Kind::kInt:
      return value.int_or(1) == 0;
    case json::Kind::kString:
      return value.str().empty();
    default:
      return (value.is_object() || value.is_array()) && value.empty();
  }
}

// The JSON of a message that is not an object there, from the object of its fields.
Value InForm(Form form, Value object) {
  const auto first_of = [&object](std::string_view first, std::string_view second) {
    return object.Has(first) ? object[first] : object[second];
  };
  switch (form) {
    case Form::kObject:
      return object;
    case Form::kList:
      return object.Has("items") ? object["items"] : json::Array();
    case Form::kOrArray:
      return first_of("jSONSchemas", "schema");
    case Form::kOrBool:
      return object.Has("schema") ? object["schema"] : Value(object["allows"].bool_or(false));
    case Form::kOrStrings:
      return first_of("property", "schema");
  }
  return object;
}

// The items or members of one field, which come one by one and with other fields in between.
struct Gathered {
  const Field* field = nullptr;
  json::ArrayBuilder items;
  json::ObjectBuilder members;
};

class Decoder {
 public:
  explicit Decoder(std::string_view body) : body_(body.data()) {}

  Result<void> Fields(const Message& message, std::string_view bytes, size_t depth, json::ObjectBuilder& out);

 private:
  Where At(const Message& message, const Field& field) const {
    return {.body = body_, .message = message.name, .field = field.name};
  }
  Result<void> Count(const Where& where, const Record& record);
  Result<Value> One(const Field& field, const Record& record, const Where& where, size_t depth);
  Result<void> TakeOne(const Message& message, const Field& field, const Record& record, size_t depth,
                       json::ObjectBuilder& out);
  Result<void> AddItems(const Record& record, const Where& where, size_t depth, Gathered& into);
  Result<void> AddEntry(const Record& record, const Where& where, size_t depth, Gathered& into);

  const char* body_;
  size_t values_ = 0;
};

Result<void> Decoder::Count(const Where& where, const Record& record) {
  if (++values_ <= kProtobufValuesMax) return {};
  return WireError(where, record.at, StrCat("more than ", kProtobufValuesMax, " values"));
}

// A single value, or an item, or the value of an entry.
Result<Value> Decoder::One(const Field& field, const Record& record, const Where& where, size_t depth) {
  TRY(Count(where, record));
  if (field.type != Type::kMessage) return ScalarJson(field.type, record, where, depth);
  if (record.type != WireType::kBytes) return WireError(where, record.at, "a message was expected");
  json::ObjectBuilder members;
  TRY(Fields(*field.message, record.bytes, depth + 1, members));
  return InForm(field.message->form, std::move(members).Build());
}

Result<void> Decoder::TakeOne(const Message& message, const Field& field, const Record& record, size_t depth,
                              json::ObjectBuilder& out) {
  const Where where = At(message, field);
  if (field.inlined) {
    if (record.type != WireType::kBytes) return WireError(where, record.at, "a message was expected");
    return Fields(*field.message, record.bytes, depth + 1, out);
  }
  Value value = TRY(One(field, record, where, depth));
  if (field.keep || !IsZero(value)) out.Add(field.name, std::move(value));
  return {};
}

Result<void> Decoder::AddItems(const Record& record, const Where& where, size_t depth, Gathered& into) {
  const Type type = into.field->type;
  if (record.type != WireType::kBytes || !IsPackable(type)) {
    into.items.Add(TRY(One(*into.field, record, where, depth)));
    return {};
  }
  WireReader reader(record.bytes, where);
  while (!reader.AtEnd()) {
    TRY(Count(where, record));
    into.items.Add(TRY(PackedJson(type, reader, where)));
  }
  return {};
}

// A key or a value that is not there is the empty one.
Result<void> Decoder::AddEntry(const Record& record, const Where& where, size_t depth, Gathered& into) {
  if (record.type != WireType::kBytes) return WireError(where, record.at, "an entry of a map was expected");
  Value key = "";
  std::optional<Value> value;
  WireReader reader(record.bytes, where);
  while (!reader.AtEnd()) {
    const Record part = TRY(reader.Next());
    if (part.number == kEntryKey) {
      key = TRY(ScalarJson(Type::kString, part, where, depth));
    } else if (part.number == kEntryValue) {
      if (value) return WireError(where, part.at, "the entry of a map has two values");
      value = TRY(One(*into.field, part, where, depth));
    }
  }
  if (!value) {
    TRY(Count(where, record));
    const Field& field = *into.field;
    value = field.type == Type::kMessage ? InForm(field.message->form, json::Object()) : ZeroJson(field.type);
  }
  into.members.Add(key.str(), *std::move(value));
  return {};
}

Result<void> Decoder::Fields(const Message& message, std::string_view bytes, size_t depth, json::ObjectBuilder& out) {
  const Where whole{.body = body_, .message = message.name};
  if (depth > kProtobufDepthMax) return WireError(whole, bytes.data(), "messages nest too deep");
  uint64_t seen = 0;  // of the single fields
  std::vector<Gathered> gathered;
  WireReader reader(bytes, whole);
  while (!reader.AtEnd()) {
    const Record record = TRY(reader.Next());
    const Field* const field = message.Find(record.number);
    if (field == nullptr) continue;
    if (field->shape == Shape::kOne) {
      const uint64_t bit = uint64_t{1} << (field - message.fields.data());
      if ((seen & bit) != 0) return WireError(At(message, *field), record.at, "the field is given twice");
      seen |= bit;
      TRY(TakeOne(message, *field, record, depth, out));
      continue;
    }
    auto into = std::ranges::find(gathered, field, &Gathered::field);
    if (into == gathered.end()) into = gathered.insert(into, Gathered{.field = field, .items = {}, .members = {}});
    const Where where = At(message, *field);
    TRY(field->shape == Shape::kList ? AddItems(record, where, depth + 1, *into)
                                     : AddEntry(record, where, depth + 1, *into));
  }
  for (Gathered& one : gathered) {
    const bool list = one.field->shape == Shape::kList;
    if (list && one.items.size() == 0) continue;  // packed, and empty
    out.Add(one.field->name, list ? std::move(one.items).Build() : std::move(one.members).Build());
  }
  return {};
}

}  // namespace

Result<void> AddMessageFields(std::string_view body, const Message& message, std::string_view bytes,
                              json::ObjectBuilder& out) {
  return Decoder(body).Fields(message, bytes, 1, out);
}

}  // namespace baton::api::protobuf
