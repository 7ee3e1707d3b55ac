#include "api/protobuf_wire.h"

#include <string>
#include <vector>

#include "api/protobuf.h"
#include "base/strings.h"

namespace baton::api::protobuf {
namespace {

constexpr uint32_t kFieldNumberMax = (uint32_t{1} << 29) - 1;
constexpr unsigned kVarintBits = 7;      // of each byte
constexpr unsigned kLastVarintBit = 63;  // where the tenth byte's bits begin: only one of them is left
constexpr unsigned kWireTypeBits = 3;

}  // namespace

Error WireError(const Where& where, const char* at, std::string_view reason) {
  std::string place;
  if (!where.message.empty()) {
    place = StrCat(" (", where.message, where.field.empty() ? "" : ".", where.field, ")");
  }
  return InvalidError(StrCat("protobuf, byte ", at - where.body, place, ": ", reason));
}

Result<uint64_t> WireReader::Varint() {
  const char* const begin = rest_.data();
  uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastVarintBit; shift += kVarintBits) {
    if (rest_.empty()) return WireError(where_, begin, "the number is cut off");
    const auto byte = static_cast<uint8_t>(rest_.front());
    if (shift == kLastVarintBit && byte > 1) break;
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return WireError(where_, begin, "the number has more than 64 bits");
}

Result<uint64_t> WireReader::Fixed(size_t size) {
  if (rest_.size() < size) return WireError(where_, rest_.data(), "the number is cut off");
  uint64_t value = 0;
  for (size_t i = size; i > 0; --i) value = value << 8 | static_cast<uint8_t>(rest_[i - 1]);
  rest_.remove_prefix(size);
  return value;
}

Result<Record> WireReader::NextPart() {
  Record record{.at = rest_.data()};
  const uint64_t tag = TRY(Varint());
  const uint64_t number = tag >> kWireTypeBits;
  if (number == 0 || number > kFieldNumberMax) {
    return WireError(where_, record.at, StrCat(number, " is no field number"));
  }
  record.number = static_cast<uint32_t>(number);
  record.type = static_cast<WireType>(tag & ((1U << kWireTypeBits) - 1));
  switch (record.type) {
    case WireType::kVarint:
      record.integer = TRY(Varint());
      return record;
    case WireType::kFixed64:
      record.integer = TRY(Fixed(sizeof(uint64_t)));
      return record;
    case WireType::kFixed32:
      record.integer = TRY(Fixed(sizeof(uint32_t)));
      return record;
    case WireType::kBytes: {
      const uint64_t size = TRY(Varint());
      if (size > rest_.size()) {
        return WireError(where_, record.at,
                         StrCat("a field of ", size, " bytes, where only ", rest_.size(), " are left"));
      }
      record.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return record;
    }
    case WireType::kGroup:
    case WireType::kGroupEnd:
      return record;
  }
  return WireError(where_, record.at, StrCat(tag & ((1U << kWireTypeBits) - 1), " is no wire type"));
}

Result<void> WireReader::SkipGroup(const Record& begin) {
  std::vector<uint32_t> open = {begin.number};
  while (!open.empty()) {
    if (AtEnd()) return WireError(where_, begin.at, "the group does not end");
    const Record part = TRY(NextPart());
    if (part.type == WireType::kGroup) {
      if (open.size() == kProtobufDepthMax) return WireError(where_, part.at, "groups nest too deep");
      open.push_back(part.number);
    } else if (part.type == WireType::kGroupEnd) {
      if (part.number != open.back()) return WireError(where_, part.at, "the end of a group that is not open");
      open.pop_back();
    }
  }
  return {};
}

Result<Record> WireReader::Next() {
  Record record = TRY(NextPart());
  if (record.type == WireType::kGroupEnd) return WireError(where_, record.at, "the end of a group that is not open");
  if (record.type == WireType::kGroup) TRY(SkipGroup(record));
  return record;
}

}  // namespace baton::api::protobuf
