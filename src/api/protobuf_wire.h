// Protobuf's wire format: the fields of one message, one after the other. Inside only: callers use api/protobuf.h.
//
//   WireReader reader(bytes, where);
//   while (!reader.AtEnd()) Use(TRY(reader.Next()));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace baton::api::protobuf {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kGroupEnd = 4, kFixed32 = 5 };

// What an error is about. The texts must outlive it.
struct Where {
  const char* body = nullptr;  // the byte that counts as byte 0
  std::string_view message;    // "core.v1.Container"
  std::string_view field;      // "image", or ""
};

// kInvalid: "protobuf, byte 31 (core.v1.Container.image): reason". `at` lies in the body.
Error WireError(const Where& where, const char* at, std::string_view reason);

// One field as it stands there.
struct Record {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t integer = 0;    // of a kVarint, kFixed64 or kFixed32
  std::string_view bytes;  // of a kBytes; of a kGroup nothing
  const char* at = nullptr;
};

class WireReader {
 public:
  WireReader(std::string_view bytes, Where where) : rest_(bytes), where_(where) {}

  bool AtEnd() const { return rest_.empty(); }

  // The next field. A group comes as one record, without what is in it: Kubernetes has none, so it is never known.
  Result<Record> Next();

  // A number alone, as in packed lists.
  Result<uint64_t> Varint();
  Result<uint64_t> Fixed(size_t size);  // little endian

  const char* position() const { return rest_.data(); }

 private:
  Result<Record> NextPart();  // a group's begin and end are parts of their own
  Result<void> SkipGroup(const Record& begin);

  std::string_view rest_;
  Where where_;
};

}  // namespace baton::api::protobuf
