// Kubernetes JSONPath in: the grammar of kubectl, read exactly as kubectl reads it.
//
// Brackets and filters are cut out of the text first and their inside is parsed as an action of its own; that is why a
// filter cannot hold a filter and why ']' ends a bracket even in quotes. Error columns are those of the whole text.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "json/characters.h"
#include "json/jsonpath.h"
#include "json/jsonpath_ast.h"

namespace baton::json {
namespace jsonpath_internal {
namespace {

using text_internal::Character;
using text_internal::CharacterAt;
using text_internal::DescribeCharacter;
using text_internal::GoUnquote;
using text_internal::IsUtf8;
using text_internal::kEnd;

constexpr size_t kShownBytesMax = 200;  // of an expression in an error message

bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }

// Letters outside ASCII are told from symbols by Unicode's tables in kubectl; here every such character is a letter.
// A symbol in the place of a word is an error there and an unknown word, so an error on evaluation, here.
bool IsWordCharacter(char32_t c) {
  return c == '_' || IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0x80 && c != kEnd);
}

bool EndsWord(char32_t c) {
  return c == kEnd || (c < 0x80 && std::string_view(" \t\r\n.,[]$@{}").contains(static_cast<char>(c)));
}

std::optional<int64_t> ReadInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Value> ReadNumber(std::string_view text) {
  if (const std::optional<int64_t> value = ReadInt(text)) return Value(*value);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range && text.find_first_of("123456789") > text.find('.')) {
    value = text.starts_with('-') ? -0.0 : 0.0;  // too small, which is zero in Go; too large is an error
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return Value(value);
}

// The three parts of a filter around its operator, or nothing when there is none (a filter on existence).
struct Comparison {
  std::string_view left;
  std::string_view op;
  std::string_view right;
};

std::optional<Comparison> SplitComparison(std::string_view text) {
  constexpr std::string_view kOperators = "!<>=";
  const size_t begin = text.find_first_of(kOperators);
  if (begin == 0 || begin == std::string_view::npos) return std::nullopt;
  size_t end = std::min(text.find_first_not_of(kOperators, begin), text.size());
  if (end == text.size()) --end;  // something must stay for the right side
  if (end == begin) return std::nullopt;
  return Comparison{text.substr(0, begin), text.substr(begin, end - begin), text.substr(end)};
}

class Parser {
 public:
  // `base` is where `input` begins in `source`; it may be negative because of braces that we added.
  Parser(std::string_view source, std::string_view input, ptrdiff_t base, size_t nesting)
      : source_(source), input_(input), base_(base), nesting_(nesting) {}

  Result<NodeList> Parse() {
    if (nesting_ > kMaxJsonPathNesting)
      return TooLargeError(About(source_, StrCat("filters nested deeper than ", kMaxJsonPathNesting)));
    while (at_ < input_.size()) {
      const size_t brace = std::min(input_.find('{', at_), input_.size());
      if (brace > at_) AddText(nodes_, input_.substr(at_, brace - at_));
      at_ = brace;
      if (at_ == input_.size()) break;
      ++at_;
      Node action{.kind = NodeKind::kAction};
      TRY(Action(action.lists.emplace_back()));
      nodes_.push_back(std::move(action));
    }
    return std::move(nodes_);
  }

 private:
  Result<void> Action(NodeList& steps) {
    while (true) {
      const std::string_view rest = input_.substr(at_);
      if (rest.starts_with('}')) {
        ++at_;
        return {};
      }
      if (rest.starts_with("[?(")) {
        TRY(Filter(steps));
      } else if (rest.starts_with("..")) {
        TRY(Recursive(steps));
      } else {
        TRY(Step(steps));
      }
    }
  }

  Result<void> Step(NodeList& steps) {
    const size_t begin = at_;
    const char32_t c = Next();
    switch (c) {
      case kEnd:
      case '\r':
      case '\n':
        return Fail(begin, "unclosed action: '}' is missing");
      case ' ':
      case '@':
      case '$':
        return {};
      case '[':
        return Bracket(steps);
      case '"':
      case '\'':
        return Quoted(steps, c);
      case '.':
        return Field(steps);
      default:
        at_ = begin;
        if (c == '+' || c == '-' || IsDigit(c)) return Number(steps);
        if (IsWordCharacter(c)) return Word(steps);
        return Fail(begin, StrCat("unrecognized character in action: ", DescribeCharacter(c)));
    }
  }

  Result<void> Word(NodeList& steps) {
    const size_t begin = at_;
    while (!EndsWord(Peek())) Next();
    const std::string_view word = Since(begin);
    if (word == "true" || word == "false") {
      steps.push_back({.kind = NodeKind::kLiteral, .literal = word == "true"});
    } else {
      steps.push_back({.kind = NodeKind::kIdentifier, .name = std::string(word)});
    }
    return {};
  }

  Result<void> Recursive(NodeList& steps) {
    if (!steps.empty() && steps.back().kind == NodeKind::kRecursive)
      return Fail(at_, "invalid multiple recursive descent");
    at_ += 2;
    steps.push_back({.kind = NodeKind::kRecursive});
    return IsWordCharacter(Peek()) ? Field(steps) : Result<void>();
  }

  Result<void> Number(NodeList& steps) {
    const size_t begin = at_;
    if (Peek() == '+' || Peek() == '-') Next();
    while (Peek() == '.' || IsDigit(Peek())) Next();
    const std::optional<Value> number = ReadNumber(Since(begin));
    if (!number) return Fail(begin, StrCat("cannot parse number ", Since(begin)));
    steps.push_back({.kind = NodeKind::kLiteral, .literal = *number});
    return {};
  }

  Result<void> Field(NodeList& steps) {
    const size_t begin = at_;
    while (!EndsWord(Peek())) {
      if (Next() == '\\') Next();
    }
    if (Since(begin) == "*") {
      steps.push_back({.kind = NodeKind::kWildcard});
      return {};
    }
    std::string name(Since(begin));
    std::erase(name, '\\');
    steps.push_back({.kind = NodeKind::kField, .name = std::move(name)});
    return {};
  }

  Result<void> Quoted(NodeList& steps, char32_t quote) {
    const size_t begin = at_ - 1;
    while (true) {
      const char32_t c = Next();
      if (c == kEnd || c == '\n') return Fail(begin, "unterminated quoted string");
      if (c == quote && input_[at_ - 2] != '\\') break;
    }
    const std::optional<std::string> text = GoUnquote(Since(begin));
    if (!text) return Fail(begin, StrCat("unquote string ", Since(begin), " error invalid syntax"));
    if (!IsUtf8(*text)) return Fail(begin, StrCat("the string ", Since(begin), " is not UTF-8"));
    AddText(steps, *text);
    return {};
  }

  Result<void> Bracket(NodeList& steps) {
    const size_t begin = at_;
    while (true) {
      const char32_t c = Next();
      if (c == kEnd || c == '\n') return Fail(begin - 1, "unterminated array: ']' is missing");
      if (c == ']') break;
    }
    const std::string_view text = input_.substr(begin, at_ - 1 - begin);
    if (text.contains(',')) return Union(steps, begin, text);
    if (text.size() >= 2 && text.starts_with('\'') && text.find('\'', 1) == text.size() - 1) {
      NodeList inside = TRY(ParseInside(".", text.substr(1, text.size() - 2), begin + 1, ""));
      std::ranges::move(inside, std::back_inserter(steps));
      return {};
    }
    return Slice(steps, begin, text == "*" ? ":" : text);
  }

  Result<void> Union(NodeList& steps, size_t begin, std::string_view text) {
    Node node{.kind = NodeKind::kUnion};
    while (true) {
      const size_t comma = std::min(text.find(','), text.size());
      std::string_view part = text.substr(0, comma);
      const size_t blanks = std::min(part.find_first_not_of(' '), part.size());
      part = part.substr(blanks, part.find_last_not_of(' ') + 1 - blanks);
      node.lists.push_back(TRY(ParseInside("[", part, begin + blanks, "]")));
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
      begin += comma + 1;
    }
    steps.push_back(std::move(node));
    return {};
  }

  Result<void> Slice(NodeList& steps, size_t begin, std::string_view text) {
    const auto is_index = [](std::string_view part) {
      if (part.starts_with('-')) part.remove_prefix(1);
      return part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const std::vector<std::string_view> parts = Split(text, ':');
    if (parts.size() > 3 || !std::ranges::all_of(parts, is_index)) {
      return Fail(begin, StrCat("invalid array index ", text,
                                text.starts_with('"') ? " (a name in brackets stands in single quotes)" : ""));
    }
    Node node{.kind = NodeKind::kSlice};
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty()) continue;
      const std::optional<int64_t> value = ReadInt(parts[i]);
      if (!value) return Fail(begin, StrCat("array index ", parts[i], " is not a number"));
      node.slice[i] = {.value = *value, .known = true};
    }
    if (parts.size() == 1) {  // the last index of all wraps around, harmlessly: it is out of bounds either way
      const auto next = static_cast<int64_t>(static_cast<uint64_t>(node.slice[0].value) + 1);
      node.slice[1] = {.value = next, .known = true, .derived = true};
    }
    steps.push_back(std::move(node));
    return {};
  }

  Result<void> Filter(NodeList& steps) {
    const size_t open = at_;
    at_ += 3;
    const size_t begin = at_;
    TRY(SkipFilter(open));
    const std::string_view text = input_.substr(begin, at_ - 2 - begin);
    Node node{.kind = NodeKind::kFilter};
    if (const std::optional<Comparison> parts = SplitComparison(text)) {
      node.name = parts->op;
      node.lists.push_back(TRY(ParseInside("", parts->left, begin, "")));
      node.lists.push_back(TRY(ParseInside("", parts->right, begin + parts->left.size() + parts->op.size(), "")));
    } else {
      node.lists.push_back(TRY(ParseInside("", text, begin, "")));
    }
    steps.push_back(std::move(node));
    return {};
  }

  // To behind the ")]" that ends a filter. Parentheses in the first quoted string do not count; in others they do.
  Result<void> SkipFilter(size_t open) {
    char32_t pair = kEnd;
    bool closed = true;
    while (true) {
      const char32_t c = Next();
      if (c == kEnd || c == '\n') return Fail(open, "unterminated filter: ')]' is missing");
      if (c == ')' && closed) break;
      if (c != '"' && c != '\'') continue;
      if (pair == kEnd) {
        pair = c;
        closed = false;
      } else if (c == pair && input_[at_ - 2] != '\\') {
        closed = true;
      }
    }
    const size_t after = at_;
    return Next() == ']' ? Result<void>() : Fail(after, "unclosed array expect ]");
  }

  // The steps of `inside`, which stands at `offset` of our input, put between `before` and `after`.
  Result<NodeList> ParseInside(std::string_view before, std::string_view inside, size_t offset,
                               std::string_view after) {
    const std::string text = StrCat("{", before, inside, after, "}");
    const ptrdiff_t base = base_ + static_cast<ptrdiff_t>(offset) - 1 - static_cast<ptrdiff_t>(before.size());
    NodeList nodes = TRY(Parser(source_, text, base, nesting_ + 1).Parse());
    return std::move(nodes.front().lists.front());
  }

  static void AddText(NodeList& nodes, std::string_view text) {
    nodes.push_back({.kind = NodeKind::kText, .literal = text});
  }

  char32_t Next() {
    const Character character = CharacterAt(input_, at_);
    at_ += character.width;
    return character.code;
  }
  char32_t Peek() const { return CharacterAt(input_, at_).code; }
  std::string_view Since(size_t begin) const { return input_.substr(begin, at_ - begin); }

  Error Fail(size_t at, std::string_view what) const {
    const ptrdiff_t offset = base_ + static_cast<ptrdiff_t>(at);
    const ptrdiff_t column = std::clamp(offset, ptrdiff_t{0}, static_cast<ptrdiff_t>(source_.size())) + 1;
    return InvalidError(About(source_, StrCat("column ", column, ": ", what)));
  }

  std::string_view source_;
  std::string_view input_;
  ptrdiff_t base_;
  size_t nesting_;
  size_t at_ = 0;
  NodeList nodes_;
};

}  // namespace

std::string About(std::string_view source, std::string_view what) {
  if (source.size() <= kShownBytesMax) return StrCat("JSONPath ", Quote(source), ": ", what);
  size_t shown = kShownBytesMax;
  while ((static_cast<unsigned char>(source[shown]) & 0xc0) == 0x80) --shown;  // not within a character
  return StrCat("JSONPath ", Quote(source.substr(0, shown)), "...: ", what);
}

}  // namespace jsonpath_internal

using jsonpath_internal::About;
using jsonpath_internal::Template;

Result<JsonPath> JsonPath::ParseAs(std::string_view source, std::string_view text, ptrdiff_t base) {
  jsonpath_internal::NodeList nodes = TRY(jsonpath_internal::Parser(source, text, base, 0).Parse());
  return JsonPath(std::make_shared<const Template>(std::string(source), std::move(nodes)));
}

Result<void> JsonPath::Check(std::string_view text) {
  if (text.size() > kMaxJsonPathBytes) {
    return TooLargeError(StrCat("a JSONPath may have ", kMaxJsonPathBytes, " bytes, and this has ", text.size()));
  }
  if (!text_internal::IsUtf8(text)) return InvalidError("a JSONPath must be UTF-8");
  return {};
}

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  TRY(Check(text));
  return ParseAs(text, text, 0);
}

Result<JsonPath> JsonPath::ParseRelaxed(std::string_view text) {
  TRY(Check(text));
  if (text.empty()) return ParseAs(text, text, 0);
  std::string_view inside = text;
  if (inside.size() >= 2 && inside.starts_with('{') && inside.ends_with('}')) {
    inside.remove_prefix(1);
    inside.remove_suffix(1);
  }
  if (inside.empty() || inside.find_first_of("{}") != std::string_view::npos) {
    return InvalidError(About(text,
                              "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' "
                              "or '{.name1.name2}'"));
  }
  if (inside.size() > 1 && inside.starts_with('.')) inside.remove_prefix(1);
  return ParseAs(text, StrCat("{.", inside, "}"), inside.data() - text.data() - 2);
}

const std::string& JsonPath::source() const { return parsed_->source; }

}  // namespace baton::json
