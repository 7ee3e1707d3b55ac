// JSON text out: one pass over the value into one growing buffer.
#include "json/print.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace baton::json {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr size_t kNumberBytesMax = 32;  // the longest int64, uint64 or shortest double
constexpr size_t kEscapedByteMax = 6;   // \u001f
constexpr size_t kFirstBufferBytes = 512;

// What to write for a byte inside a string: 0 as it is, 'u' as \u00XX, else a backslash and that letter.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (size_t c = 0; c < 0x20; ++c) table[c] = 'u';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table['"'] = '"';
  table['\\'] = '\\';
  return table;
}();

// True when one of the eight bytes is below 0x20, a quote or a backslash (may also be true for bytes above 0x7f: the
// caller looks closer then).
constexpr bool MayNeedEscape(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  constexpr uint64_t kHighs = 0x8080808080808080ULL;
  const uint64_t quote = word ^ (kOnes * '"');
  const uint64_t backslash = word ^ (kOnes * '\\');
  const uint64_t low = word - kOnes * 0x20;
  return (((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) | (low & ~word)) & kHighs;
}

// Length of the leading part of `text` that needs no escapes.
size_t PlainPrefix(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (MayNeedEscape(word)) break;
  }
  while (i < text.size() && kEscapes[static_cast<unsigned char>(text[i])] == 0) ++i;
  return i;
}

// As Go prints a float64 (plain digits between 1e-6 and 1e21, an exponent outside), but never without a point or an
// exponent. The digits are the fewest that read back the same.
char* WriteDouble(char* out, double value) {
  constexpr int kFirstExponent = 21;
  constexpr int kLastExponent = -6;
  std::array<char, kNumberBytesMax> scientific;  // "-d.ddde-ddd"
  char* end =
      std::to_chars(scientific.data(), scientific.data() + scientific.size(), value, std::chars_format::scientific).ptr;
  const char* e = std::find(scientific.data(), end, 'e');
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  if (value != 0 && (exponent < kLastExponent || exponent >= kFirstExponent)) {
    out = std::copy(const_cast<const char*>(scientific.data()), e, out);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    return std::to_chars(out, out + 4, std::abs(exponent)).ptr;
  }
  std::array<char, kNumberBytesMax> digits;
  size_t count = 0;
  for (const char* p = scientific.data(); p != e; ++p) {
    if (*p >= '0') digits[count++] = *p;
  }
  if (scientific[0] == '-') *out++ = '-';
  if (exponent < 0) {
    *out++ = '0';
    *out++ = '.';
    out = std::fill_n(out, -exponent - 1, '0');
    return std::copy_n(digits.data(), count, out);
  }
  const size_t whole = static_cast<size_t>(exponent) + 1;
  out = std::copy_n(digits.data(), std::min(count, whole), out);
  if (count <= whole) {
    out = std::fill_n(out, whole - count, '0');
    *out++ = '.';
    *out++ = '0';
    return out;
  }
  *out++ = '.';
  return std::copy_n(digits.data() + whole, count - whole, out);
}

}  // namespace

// Writes one value into a string through raw pointers; the string's size is set once at the end.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out), begin_(out.size()) {
    Grow(std::max(kFirstBufferBytes, out.capacity() - out.size()));
  }

  void Finish() { out_.resize(static_cast<size_t>(at_ - out_.data())); }

  void Compact(const Value& value, size_t depth = 1) {
    switch (value.tag_) {
      case Value::Tag::kArray: {
        deepest_ = std::max(deepest_, depth);
        Put('[');
        bool first = true;
        for (const Value& item : value.items()) {
          if (!std::exchange(first, false)) Put(',');
          Compact(item, depth + 1);
        }
        return Put(']');
      }
      case Value::Tag::kObject: {
        deepest_ = std::max(deepest_, depth);
        Put('{');
        bool first = true;
        for (const Member& member : value.members()) {
          WriteKey(member.shared_key(), !std::exchange(first, false));
          Compact(member.value(), depth + 1);
        }
        return Put('}');
      }
      default:
        return Scalar(value);
    }
  }

  size_t deepest() const { return deepest_; }  // of what Compact() has printed

  void Pretty(const Value& value, int indent, int depth) {
    if (value.empty()) return Compact(value);
    const bool is_array = value.is_array();
    Put(is_array ? '[' : '{');
    bool first = true;
    for (const Value& item : value.items()) {
      NewLine(!std::exchange(first, false), indent * (depth + 1));
      Pretty(item, indent, depth + 1);
    }
    for (const Member& member : value.members()) {
      NewLine(!std::exchange(first, false), indent * (depth + 1));
      WriteKey(member.shared_key(), false);
      Put(' ');
      Pretty(member.value(), indent, depth + 1);
    }
    NewLine(false, indent * depth);
    Put(is_array ? ']' : '}');
  }

  void Quoted(std::string_view text) {
    Room(text.size() + 2);
    *at_++ = '"';
    while (true) {
      const size_t plain = PlainPrefix(text);
      Room(plain + kEscapedByteMax + 1);
      std::memcpy(at_, text.data(), plain);
      at_ += plain;
      if (plain == text.size()) break;
      Escape(static_cast<unsigned char>(text[plain]));
      text.remove_prefix(plain + 1);
    }
    *at_++ = '"';
  }

 private:
  void Scalar(const Value& value) {
    Room(kNumberBytesMax);
    switch (value.tag_) {
      case Value::Tag::kNull:
        return Literal("null");
      case Value::Tag::kBool:
        return Literal(value.bool_or(false) ? "true" : "false");
      case Value::Tag::kInt:
        at_ = std::to_chars(at_, end_, static_cast<int64_t>(value.word())).ptr;
        return;
      case Value::Tag::kUint:
        at_ = std::to_chars(at_, end_, value.word()).ptr;
        return;
      case Value::Tag::kDouble:
        at_ = WriteDouble(at_, std::bit_cast<double>(value.word()));
        return;
      default:
        return Quoted(value.str());
    }
  }

  void WriteKey(const Key& key, bool comma) {
    const std::string_view text = key.text();
    Room(text.size() + 4);
    if (comma) *at_++ = ',';
    if (key.plain()) {
      *at_++ = '"';
      std::memcpy(at_, text.data(), text.size());
      at_ += text.size();
      *at_++ = '"';
    } else {
      Quoted(text);
    }
    Put(':');
  }

  void Escape(unsigned char byte) {
    *at_++ = '\\';
    *at_++ = kEscapes[byte];
    if (kEscapes[byte] != 'u') return;
    *at_++ = '0';
    *at_++ = '0';
    *at_++ = kHex[byte >> 4];
    *at_++ = kHex[byte & 15];
  }

  void NewLine(bool comma, int spaces) {
    Room(static_cast<size_t>(spaces) + 2);
    if (comma) *at_++ = ',';
    *at_++ = '\n';
    std::memset(at_, ' ', static_cast<size_t>(spaces));
    at_ += spaces;
  }

  void Literal(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

  void Put(char c) {
    Room(1);
    *at_++ = c;
  }

  void Room(size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes) [[unlikely]]
      Grow(bytes);
  }

  void Grow(size_t bytes) {
    const size_t used = at_ == nullptr ? begin_ : static_cast<size_t>(at_ - out_.data());
    out_.resize_and_overwrite(std::max(used + bytes, out_.size() * 2), [](char*, size_t size) { return size; });
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  size_t begin_;
  size_t deepest_ = 0;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

std::string Print(const Value& value) {
  std::string out;
  Append(out, value);
  return out;
}

size_t Append(std::string& out, const Value& value) {
  Printer printer(out);
  printer.Compact(value);
  printer.Finish();
  return printer.deepest();
}

std::string PrintPretty(const Value& value, int indent) {
  std::string out;
  Printer printer(out);
  printer.Pretty(value, indent, 0);
  printer.Finish();
  return out;
}

std::string PrintDouble(double value) {
  std::array<char, kNumberBytesMax + 2> buffer;
  return {buffer.data(), WriteDouble(buffer.data(), value)};
}

void AppendQuoted(std::string& out, std::string_view text) {
  Printer printer(out);
  printer.Quoted(text);
  printer.Finish();
}

bool NeedsNoEscapes(std::string_view text) { return PlainPrefix(text) == text.size(); }

}  // namespace baton::json
