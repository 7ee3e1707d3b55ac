// Small string helpers: StrCat builds a string from pieces in one allocation.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

namespace strings_internal {

// One argument of StrCat as text; numbers are printed into the piece's own buffer.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor)
  Piece(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  Piece(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  Piece(std::nullptr_t) = delete;
  // Only a bool itself: any pointer would convert to one and print as "true".
  template <std::same_as<bool> B>
  Piece(B value) : text_(value ? "true" : "false") {}  // NOLINT(google-explicit-constructor)
  Piece(char c) {                                      // NOLINT(google-explicit-constructor)
    buffer_[0] = c;
    text_ = {buffer_.data(), 1};
  }
  template <class N>
    requires((std::integral<N> && sizeof(N) <= 8 && !std::same_as<N, bool>) || std::same_as<N, double> ||
             std::same_as<N, float>)
  Piece(N number)  // NOLINT(google-explicit-constructor)
  {
    text_ = {buffer_.data(), std::to_chars(buffer_.data(), buffer_.data() + buffer_.size(), number).ptr};
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::array<char, 32> buffer_;  // the longest number is a double: -2.2250738585072014e-308 has 24
  std::string_view text_;
};

std::string CatPieces(std::initializer_list<std::string_view> pieces);
void AppendPieces(std::string& out, std::initializer_list<std::string_view> pieces);

}  // namespace strings_internal

// StrCat("step ", 3, " of ", total)
template <class... Args>
std::string StrCat(const Args&... args) {
  return strings_internal::CatPieces({strings_internal::Piece(args).text()...});
}

// The pieces may lie in out itself: StrAppend(s, ",", s).
template <class... Args>
void StrAppend(std::string& out, const Args&... args) {
  strings_internal::AppendPieces(out, {strings_internal::Piece(args).text()...});
}

// Pieces between separators; empty pieces are kept. Split("", ',') is one empty piece.
std::vector<std::string_view> Split(std::string_view text, char separator);

std::string Join(std::span<const std::string> pieces, std::string_view separator);

// Without leading and trailing ASCII white space.
std::string_view Trim(std::string_view text);

// ASCII only, as Go's strings.ToLower for the names Kubernetes allows.
std::string ToLower(std::string_view text);

// A quoted string as Go's %q prints it and Kubernetes uses in its messages: "a\"b\n". Bytes that are not UTF-8 become
// \xff. Of what Go takes for unprintable, only control characters are escaped; other non-ASCII text is kept.
std::string Quote(std::string_view text);

// Lower-case hexadecimal.
std::string HexEncode(std::span<const std::byte> bytes);

}  // namespace baton
