// Text in quotes as Go's time package writes it in its errors: plainer than Go's own quoting (base/strings.h has that).
#pragma once

#include <string>
#include <string_view>

namespace baton::json {

// Quotes and backslashes are escaped; control bytes and every byte of a non-ASCII character become \xNN.
inline std::string GoTimeQuote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x80) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
  return out;
}

}  // namespace baton::json
