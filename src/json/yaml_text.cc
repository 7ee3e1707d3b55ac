// Strings of YAML: which style fits, and how each style is written and folded.
#include "json/yaml_text.h"

#include <algorithm>
#include <array>

#include "json/yaml_scalar.h"
#include "json/yaml_utf8.h"

namespace baton::json {
namespace {

constexpr size_t kFoldColumn = 80;       // a space right of it becomes a line break
constexpr size_t kSimpleKeyBytes = 128;  // longer keys are printed as "? key"
constexpr std::string_view kBlockIndentHint = "2";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// What a pass over the characters found.
struct Shape {
  bool block_indicator = false;  // not plain outside of [] and {}
  bool flow_indicator = false;   // not plain inside
  bool special = false;          // needs escapes
  bool line_breaks = false;
  bool edge_blank = false;  // a space or line break at the beginning or the end
  bool ends_with_space = false;
  bool space_before_break = false;
  bool space_after_break = false;
};

// ASCII that never matters behind the first character.
constexpr std::array<bool, 256> kOrdinary = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0x21; c < 0x7F; ++c) table[c] = !std::string_view("#,:?[]{}").contains(static_cast<char>(c));
  return table;
}();

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Characters that stand for themselves. kubectl escapes everything above FFFF; U+2028 and U+2029, which YAML 1.1 takes
// for line breaks and 1.2 does not, are escaped by us so that both read the same.
constexpr bool IsPrintable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c <= 0x7E;
  return c >= 0xA0 && c <= 0xFFFD && c != 0xFEFF && c != 0x2028 && c != 0x2029;
}

void FindIndicators(std::string_view text, size_t at, Shape& shape) {
  const char c = text[at];
  const bool blank_follows = at + 1 >= text.size() || IsBlank(text[at + 1]);
  if (at == 0) {
    if (std::string_view("#,[]{}&*!|>'\"%@`").contains(c) || (c == '-' && blank_follows)) {
      shape.flow_indicator = shape.block_indicator = true;
    } else if (c == '?' || c == ':') {
      shape.flow_indicator = true;
      if (blank_follows) shape.block_indicator = true;
    }
    return;
  }
  if (std::string_view(",?[]{}:").contains(c)) shape.flow_indicator = true;
  if (c == ':' && blank_follows) shape.block_indicator = true;
  if (c == '#' && (IsBlank(text[at - 1]) || text[at - 1] == '\n')) shape.flow_indicator = shape.block_indicator = true;
}

Shape Analyze(std::string_view text) {
  Shape shape;
  if (text.starts_with("---") || text.starts_with("...")) shape.flow_indicator = shape.block_indicator = true;
  char previous = '\0';
  for (size_t i = 0; i < text.size();) {
    if (i > 0 && kOrdinary[static_cast<unsigned char>(text[i])]) {
      previous = text[i++];
      continue;
    }
    const Utf8Char c = DecodeUtf8(text, i);
    if (c.code == '\n') {
      shape.line_breaks = true;
      if (previous == ' ') shape.space_before_break = true;
    } else if (c.width == 0 || !IsPrintable(c.code)) {
      shape.special = true;
    } else if (c.code == ' ') {
      if (previous == '\n') shape.space_after_break = true;
    } else if (c.width == 1) {
      FindIndicators(text, i, shape);
    }
    previous = text[i];
    i += std::max<size_t>(c.width, 1);
  }
  if (text.empty()) return shape;
  shape.ends_with_space = text.back() == ' ';
  shape.edge_blank = text.front() == ' ' || text.front() == '\n' || shape.ends_with_space || text.back() == '\n';
  return shape;
}

bool Fits(std::string_view text, const Shape& shape, YamlStyle style, const YamlPlace& place) {
  switch (style) {
    case YamlStyle::kPlain:
      return !text.empty() && !shape.edge_blank && !shape.special && !shape.line_breaks &&
             !(place.in_flow ? shape.flow_indicator : shape.block_indicator);
    case YamlStyle::kSingleQuoted:
      return !shape.special && !shape.line_breaks;
    case YamlStyle::kLiteral:
      return shape.line_breaks && !shape.special && !shape.space_before_break && !shape.ends_with_space &&
             !place.simple_key && !place.in_flow;
    case YamlStyle::kDoubleQuoted:
      return true;
  }
  return false;
}

// `<<` as a key would be a merge.
bool IsWord(std::string_view text, const YamlPlace& place) {
  return !PlainMeansString(text) || (place.simple_key && text == "<<");
}

// Writes with a count of columns, which decides where lines are folded.
class TextWriter {
 public:
  TextWriter(std::string& out, const YamlPlace& place) : out_(out), place_(place) {
    const size_t line = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
    column_ = static_cast<size_t>(std::count_if(out.begin() + static_cast<std::ptrdiff_t>(line), out.end(),
                                                [](char c) { return !IsUtf8Continuation(c); }));
  }

  void Plain(std::string_view text) { Folded(text, false); }

  void SingleQuoted(std::string_view text) {
    Put("'");
    Folded(text, true);
    Put("'");
  }

  void DoubleQuoted(std::string_view text) {
    Put("\"");
    bool after_space = false;
    for (size_t i = 0; i < text.size();) {
      const Utf8Char c = DecodeUtf8(text, i);
      const bool space = c.code == ' ';
      if (space && MayFold() && !after_space && i > 0 && i + 1 < text.size()) {
        NewLine();
        if (text[i + 1] == ' ') Put("\\");
      } else if (c.width == 0) {
        Put(kReplacement);
      } else if (!IsPrintable(c.code) || c.code == '"' || c.code == '\\') {
        Escape(c.code);
      } else {
        Put(text.substr(i, c.width));
      }
      after_space = space;
      i += std::max<size_t>(c.width, 1);
    }
    Put("\"");
  }

  void Literal(std::string_view text) {
    out_ += '|';
    if (text[0] == ' ' || text[0] == '\n') out_ += kBlockIndentHint;
    if (!text.ends_with('\n')) out_ += '-';
    if (text == "\n" || text.ends_with("\n\n")) out_ += '+';
    out_ += '\n';
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      if (end > 0) out_.append(place_.indent, ' ').append(text.substr(0, end));
      out_ += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  bool MayFold() const { return column_ > kFoldColumn && !place_.simple_key && !place_.in_flow; }

  // Plain or single quoted: one space between two words may become a line break.
  void Folded(std::string_view text, bool quoted) {
    bool after_space = false;
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ' && MayFold() && !after_space && i > 0 && i + 1 < text.size() && text[i + 1] != ' ') {
        NewLine();
      } else if (c == '\'' && quoted) {
        Put("''");
      } else {
        out_ += c;
        if (!IsUtf8Continuation(c)) ++column_;
      }
      after_space = c == ' ';
    }
  }

  void NewLine() {
    out_ += '\n';
    out_.append(place_.indent, ' ');
    column_ = place_.indent;
  }

  // One character, or ASCII.
  void Put(std::string_view text) {
    out_ += text;
    column_ += IsUtf8Continuation(text.back()) ? 1 : text.size();
  }

  void Escape(char32_t c) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    constexpr std::string_view kNamed = "\0\a\b\t\n\v\f\r\x1b\"\\";
    constexpr std::string_view kNames = "0abtnvfre\"\\";
    static_assert(kNames.size() == 11);
    Put("\\");
    const size_t named =
        c < 0x80 ? std::string_view(kNamed.data(), kNames.size()).find(static_cast<char>(c)) : std::string_view::npos;
    if (named != std::string_view::npos) return Put(kNames.substr(named, 1));
    if (c == 0x85) return Put("N");
    if (c == 0x2028) return Put("L");
    if (c == 0x2029) return Put("P");
    const int digits = c <= 0xFF ? 2 : c <= 0xFFFF ? 4 : 8;
    Put(digits == 2 ? "x" : digits == 4 ? "u" : "U");
    for (int i = digits - 1; i >= 0; --i) Put(kHex.substr((c >> (4 * i)) & 15, 1));
  }

  std::string& out_;
  const YamlPlace& place_;
  size_t column_;
};

}  // namespace

bool IsSimpleYamlKey(std::string_view text) {
  return text.size() <= kSimpleKeyBytes && !text.contains('\n') && !text.contains('\r') && !text.contains("\xC2\x85") &&
         !text.contains("\xE2\x80\xA8") && !text.contains("\xE2\x80\xA9");
}

YamlStyle ChooseYamlStyle(std::string_view text, const YamlPlace& place) {
  const Shape shape = Analyze(text);
  if (shape.line_breaks) {
    return Fits(text, shape, YamlStyle::kLiteral, place) ? YamlStyle::kLiteral : YamlStyle::kDoubleQuoted;
  }
  if (IsWord(text, place)) return YamlStyle::kDoubleQuoted;
  if (Fits(text, shape, YamlStyle::kPlain, place)) return YamlStyle::kPlain;
  return Fits(text, shape, YamlStyle::kSingleQuoted, place) ? YamlStyle::kSingleQuoted : YamlStyle::kDoubleQuoted;
}

bool YamlStyleFits(std::string_view text, YamlStyle style, const YamlPlace& place) {
  return Fits(text, Analyze(text), style, place) && (style != YamlStyle::kPlain || !IsWord(text, place));
}

void AppendYamlText(std::string& out, std::string_view text, YamlStyle style, const YamlPlace& place) {
  if (style == YamlStyle::kPlain && !text.contains(' ')) {
    out += text;
    return;
  }
  TextWriter writer(out, place);
  switch (style) {
    case YamlStyle::kPlain:
      return writer.Plain(text);
    case YamlStyle::kSingleQuoted:
      return writer.SingleQuoted(text);
    case YamlStyle::kDoubleQuoted:
      return writer.DoubleQuoted(text);
    case YamlStyle::kLiteral:
      return writer.Literal(text);
  }
}

}  // namespace baton::json
