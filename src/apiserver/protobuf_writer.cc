// The parts of the protobuf writer that need not be inline.
#include "apiserver/protobuf_writer.h"

#include <bit>
#include <cstring>

#include "json/print.h"

namespace baton::apiserver {

void ProtobufWriter::Double(uint32_t number, double value) {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  Tag(number, WireType::kFixed64);
  out_.append(bytes.data(), bytes.size());
}

namespace {

// The text of a code point as a YAML (and, below 0x10000, JSON) escape.
void AppendEscape(std::string& out, uint32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const bool wide = code > 0xffff;
  out += wide ? "\\U" : "\\u";
  for (int shift = wide ? 28 : 12; shift >= 0; shift -= 4) out.push_back(kDigits[(code >> shift) & 15]);
}

}  // namespace

// JSON text is ASCII but for the insides of strings, which are valid UTF-8.
std::string AsciiJson(const json::Value& value) {
  const std::string text = json::Print(value);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x7f) {
      out.push_back(text[i++]);
      continue;
    }
    const size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (size_t j = 1; j < length && i + j < text.size(); ++j) {
      code = (code << 6) | (static_cast<unsigned char>(text[i + j]) & 0x3fU);
    }
    AppendEscape(out, code);
    i += length;
  }
  return out;
}

}  // namespace baton::apiserver
