#include "api/protobuf_scalar.h"

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/protobuf.h"
#include "base/base64.h"
#include "base/strings.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/go_duration.h"
#include "json/parse.h"
#include "json/quantity.h"
#include "json/rfc3339.h"

namespace baton::api::protobuf {
namespace {

using json::Value;

constexpr int64_t kTimeSecondsMax = 9'223'372'035;  // either way: what a WallTime holds, whatever the nanoseconds
constexpr double kIntegerMax = 0x1p63;              // Go prints whole doubles below this as integers

// intstr.Type
constexpr uint64_t kIsInt = 0;
constexpr uint64_t kIsString = 1;

// The fields of a small message by number; the last of each counts.
constexpr size_t kPartsMax = 3;
using Parts = std::array<std::optional<Record>, kPartsMax + 1>;

Error WrongType(const Record& record, const Where& where) {
  return WireError(where, record.at, StrCat("wire type ", static_cast<int>(record.type), " does not fit the field"));
}

Result<Parts> ReadParts(const Record& record, const Where& where) {
  if (record.type != WireType::kBytes) return WrongType(record, where);
  Parts parts;
  WireReader reader(record.bytes, where);
  while (!reader.AtEnd()) {
    const Record part = TRY(reader.Next());
    if (part.number <= kPartsMax) parts[part.number] = part;
  }
  return parts;
}

Result<uint64_t> IntegerOf(const std::optional<Record>& part, const Where& where) {
  if (!part) return uint64_t{0};
  if (part->type != WireType::kVarint) return WrongType(*part, where);
  return part->integer;
}

Result<std::string_view> BytesOf(const std::optional<Record>& part, const Where& where) {
  if (!part) return std::string_view();
  if (part->type != WireType::kBytes) return WrongType(*part, where);
  return part->bytes;
}

Result<Value> TextJson(std::string_view text, const char* at, const Where& where) {
  if (!IsUtf8(text)) return WireError(where, at, "the text is not UTF-8");
  return Value(text);
}

// As Go prints it: 1.0 is 1.
Result<Value> DoubleJson(uint64_t bits, const char* at, const Where& where) {
  const auto number = std::bit_cast<double>(bits);
  if (!std::isfinite(number)) return WireError(where, at, "JSON has no such number");
  if (number == std::trunc(number) && std::abs(number) < kIntegerMax) return Value(static_cast<int64_t>(number));
  return Value(number);
}

Result<Value> QuantityJson(const Record& record, const Where& where) {
  const Parts parts = TRY(ReadParts(record, where));
  if (!parts[1]) return json::Quantity().ToJson();
  const Result<json::Quantity> quantity = json::Quantity::Parse(TRY(BytesOf(parts[1], where)));
  if (!quantity.ok()) return WireError(where, record.at, quantity.error().message());
  return quantity->ToJson();
}

Result<Value> IntOrStringJson(const Record& record, const Where& where) {
  const Parts parts = TRY(ReadParts(record, where));
  const uint64_t type = TRY(IntegerOf(parts[1], where));
  if (type == kIsInt) return Value(static_cast<int32_t>(TRY(IntegerOf(parts[2], where))));
  if (type == kIsString) return TextJson(TRY(BytesOf(parts[3], where)), record.at, where);
  return WireError(where, record.at, StrCat("an int-or-string of type ", type));
}

// A time that is not set has no bytes, and is null in JSON.
Result<Value> TimeJson(const Record& record, const Where& where, bool micro) {
  const Parts parts = TRY(ReadParts(record, where));
  if (record.bytes.empty()) return Value();
  const auto seconds = static_cast<int64_t>(TRY(IntegerOf(parts[1], where)));
  if (seconds > kTimeSecondsMax || seconds < -kTimeSecondsMax) {
    return WireError(where, record.at, StrCat(seconds, " seconds since 1970 are not between the years 1678 and 2262"));
  }
  const WallTime time{std::chrono::seconds(seconds)};
  if (!micro) return Value(json::FormatTime(time));
  const auto nanos = static_cast<int32_t>(TRY(IntegerOf(parts[2], where)));
  if (nanos < 0 || nanos >= 1'000'000'000)
    return WireError(where, record.at, StrCat(nanos, " nanoseconds of a second"));
  return Value(json::FormatMicroTime(time + std::chrono::nanoseconds(nanos)));
}

Result<Value> DurationJson(const Record& record, const Where& where) {
  const Parts parts = TRY(ReadParts(record, where));
  return Value(json::FormatDuration(Duration(static_cast<int64_t>(TRY(IntegerOf(parts[1], where))))));
}

Result<Value> RawJson(const Record& record, const Where& where, size_t depth) {
  const Parts parts = TRY(ReadParts(record, where));
  const std::string_view text = TRY(BytesOf(parts[1], where));
  if (text.empty()) return Value();
  Result<Value> parsed = json::Parse(text, {.max_depth = kProtobufDepthMax - depth});
  if (!parsed.ok()) return WireError(where, record.at, StrCat("the JSON in it: ", parsed.error().message()));
  return parsed;
}

}  // namespace

Result<Value> ScalarJson(Type type, const Record& record, const Where& where, size_t depth) {
  WireType expected = WireType::kBytes;
  if (type == Type::kBool || type == Type::kInt32 || type == Type::kInt64) expected = WireType::kVarint;
  if (type == Type::kDouble) expected = WireType::kFixed64;
  if (record.type != expected) return WrongType(record, where);
  switch (type) {
    case Type::kString:
      return TextJson(record.bytes, record.at, where);
    case Type::kBool:
      return Value(record.integer != 0);
    case Type::kInt32:
      return Value(static_cast<int32_t>(record.integer));
    case Type::kInt64:
      return Value(static_cast<int64_t>(record.integer));
    case Type::kDouble:
      return DoubleJson(record.integer, record.at, where);
    case Type::kBytes:
      return Value(Base64Encode(record.bytes));
    case Type::kQuantity:
      return QuantityJson(record, where);
    case Type::kIntOrString:
      return IntOrStringJson(record, where);
    case Type::kTime:
    case Type::kMicroTime:
      return TimeJson(record, where, type == Type::kMicroTime);
    case Type::kDuration:
      return DurationJson(record, where);
    case Type::kJson:
      return RawJson(record, where, depth);
    case Type::kMessage:
      break;
  }
  return InternalError("a message is no scalar");
}

bool IsPackable(Type type) {
  return type == Type::kBool || type == Type::kInt32 || type == Type::kInt64 || type == Type::kDouble;
}

Result<Value> PackedJson(Type type, WireReader& reader, const Where& where) {
  Record record{.at = reader.position()};
  if (type == Type::kDouble) {
    record.type = WireType::kFixed64;
    record.integer = TRY(reader.Fixed(sizeof(double)));
  } else {
    record.integer = TRY(reader.Varint());
  }
  return ScalarJson(type, record, where, 0);
}

Value ZeroJson(Type type) {
  switch (type) {
    case Type::kString:
    case Type::kBytes:
      return "";
    case Type::kBool:
      return false;
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kIntOrString:
      return 0;
    case Type::kQuantity:
      return "0";
    case Type::kDuration:
      return "0s";
    case Type::kTime:
    case Type::kMicroTime:
    case Type::kJson:
      return {};
    case Type::kMessage:
      return json::Object();
  }
  return {};
}

}  // namespace baton::api::protobuf
