// UUID text from bytes, and the check of its form.
#include "base/uuid.h"

#include <string>

#include "base/strings.h"

namespace baton {
namespace {

constexpr size_t kTextSize = 36;
constexpr std::array<size_t, 4> kDashes = {8, 13, 18, 23};

constexpr bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

Uid UuidFromRandomBytes(std::array<std::byte, 16> bytes) {
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // version 4
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // variant 10
  std::string text = HexEncode(bytes);
  for (const size_t at : kDashes) text.insert(at, 1, '-');
  return Uid(std::move(text));
}

bool IsUuid(std::string_view text) {
  if (text.size() != kTextSize) return false;
  size_t next_dash = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = next_dash < kDashes.size() && i == kDashes[next_dash];
    if (dash) ++next_dash;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return false;
  }
  return true;
}

}  // namespace baton
