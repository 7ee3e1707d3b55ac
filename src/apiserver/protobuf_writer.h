// ProtobufWriter: protobuf's wire format, field by field, and JSON as text that any YAML reader takes.
//
//   writer.Text(1, "name");
//   writer.Message(2, [&] { writer.Varint(1, 7); });
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "json/parse.h"
#include "json/value.h"

namespace baton::apiserver {

class ProtobufWriter {
 public:
  std::string Take() && { return std::move(out_); }

  void Varint(uint32_t number, uint64_t value) {
    Tag(number, WireType::kVarint);
    AppendVarint(value);
  }
  void Double(uint32_t number, double value);
  void Text(uint32_t number, std::string_view text) {
    Tag(number, WireType::kBytes);
    AppendVarint(text.size());
    out_ += text;
  }
  // A message whose insides `write` appends; nothing when it is nested deeper than json::kMaxDepth. The length goes in
  // front of the insides when it is known.
  template <class Write>
  void Message(uint32_t number, Write write) {
    if (depth_ >= json::kMaxDepth) return;
    ++depth_;
    Tag(number, WireType::kBytes);
    const size_t start = out_.size();
    write();
    std::array<char, kVarintBytes> length;
    out_.insert(start, length.data(), PutVarint(out_.size() - start, length));
    --depth_;
  }

 private:
  enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };
  static constexpr size_t kVarintBytes = 10;

  static size_t PutVarint(uint64_t value, std::span<char, kVarintBytes> out) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = static_cast<char>(value | 0x80);
    out[size++] = static_cast<char>(value);
    return size;
  }
  void AppendVarint(uint64_t value) {
    std::array<char, kVarintBytes> buffer;
    out_.append(buffer.data(), PutVarint(value, buffer));
  }
  void Tag(uint32_t number, WireType type) { AppendVarint((uint64_t{number} << 3) | static_cast<uint64_t>(type)); }

  std::string out_;
  size_t depth_ = 0;
};

// JSON in ASCII: other code points are \u escapes, and above 0xffff \U ones, which only YAML knows.
std::string AsciiJson(const json::Value& value);

}  // namespace baton::apiserver
