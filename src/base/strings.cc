// Small string helpers.
#include "base/strings.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace baton {
namespace strings_internal {

void AppendPieces(std::string& out, std::initializer_list<std::string_view> pieces) {
  size_t size = out.size();
  for (std::string_view piece : pieces) size += piece.size();
  if (size <= out.capacity()) {
    for (std::string_view piece : pieces) out.append(piece);
    return;
  }
  // Into new memory, because a piece may lie in the old one.
  std::string grown;
  grown.reserve(std::max(size, out.capacity() * 2));
  grown.append(out);
  for (std::string_view piece : pieces) grown.append(piece);
  out = std::move(grown);
}

// Made in one go: most of all texts begin here.
std::string CatPieces(std::initializer_list<std::string_view> pieces) {
  size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  std::string out;
  out.resize_and_overwrite(size, [&](char* at, size_t) {
    for (const std::string_view piece : pieces) at += piece.copy(at, piece.size());
    return size;
  });
  return out;
}

}  // namespace strings_internal

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string> pieces, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) out.append(separator);
    out.append(pieces[i]);
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string ToLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string Quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view kShortLetter = "abtnvfr\"\\";
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Step step = DecodeUtf8(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (const size_t at = kShort.find(text.front()); at != std::string_view::npos) {
      out += '\\';
      out += kShortLetter[at];
    } else if (!step.valid || byte < 0x20 || byte == 0x7f) {
      StrAppend(out, "\\x", kHex[byte >> 4], kHex[byte & 15]);
    } else if (step.code_point >= 0x80 && step.code_point < 0xa0) {
      StrAppend(out, "\\u00", kHex[step.code_point >> 4], kHex[step.code_point & 15]);
    } else {
      out.append(text.substr(0, step.size));
    }
    text.remove_prefix(step.size);
  }
  out += '"';
  return out;
}

std::string HexEncode(std::span<const std::byte> bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out += kHex[std::to_integer<unsigned>(b) >> 4];
    out += kHex[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

}  // namespace baton
