// Label selectors in: the string form, token by token as Kubernetes reads it, and the object form of metav1.
#include <optional>
#include <utility>

#include "base/strings.h"
#include "json/characters.h"
#include "json/selector.h"
#include "json/selector_internal.h"

namespace baton::json {

using selector_internal::Shown;

namespace {

enum class Token : uint8_t {
  kEnd,
  kWord,
  kIn,
  kNotIn,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kNot,
  kComma,
  kOpen,
  kClose,
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token token() const { return token_; }                 // the current one
  std::string_view literal() const { return literal_; }  // its text
  bool is_word() const {  // `in` and `notin` are words too, except in the place of an operator
    return token_ == Token::kWord || token_ == Token::kIn || token_ == Token::kNotIn;
  }

  void Advance() {
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    const size_t begin = at_;
    token_ = Scan();
    literal_ = text_.substr(begin, at_ - begin);
  }

 private:
  Token Scan() {
    if (at_ == text_.size()) return Token::kEnd;
    const bool equals_next = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
    switch (text_[at_]) {
      case '=':
        return Take(equals_next ? 2 : 1, equals_next ? Token::kDoubleEquals : Token::kEquals);
      case '!':
        return Take(equals_next ? 2 : 1, equals_next ? Token::kNotEquals : Token::kNot);
      case '(':
        return Take(1, Token::kOpen);
      case ')':
        return Take(1, Token::kClose);
      case ',':
        return Take(1, Token::kComma);
      case '>':
        return Take(1, Token::kGreater);
      case '<':
        return Take(1, Token::kLess);
      default: {
        const size_t end = std::min(text_.find_first_of("=!(),>< \t\r\n", at_), text_.size());
        const std::string_view word = text_.substr(at_, end - at_);
        return Take(word.size(), word == "in" ? Token::kIn : word == "notin" ? Token::kNotIn : Token::kWord);
      }
    }
  }
  Token Take(size_t bytes, Token token) {
    at_ += bytes;
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
  Token token_ = Token::kEnd;
  std::string_view literal_;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { lexer_.Advance(); }

  Result<std::vector<LabelRequirement>> Parse() {
    std::vector<LabelRequirement> requirements;
    if (lexer_.token() == Token::kEnd) return requirements;
    if (!BeginsRequirement()) return Found("!, identifier, or 'end of string'");
    while (true) {
      if (requirements.size() == kMaxSelectorRequirements)
        return TooLargeError(StrCat("a label selector may have ", kMaxSelectorRequirements, " requirements"));
      requirements.push_back(TRY(Requirement().Context("unable to parse requirement")));
      if (lexer_.token() == Token::kEnd) return requirements;
      if (lexer_.token() != Token::kComma) return Found("',' or 'end of string'");
      lexer_.Advance();
      if (!BeginsRequirement()) return Found("identifier after ','");
    }
  }

 private:
  bool BeginsRequirement() const { return lexer_.is_word() || lexer_.token() == Token::kNot; }

  Result<LabelRequirement> Requirement() {
    const bool negated = lexer_.token() == Token::kNot;
    if (negated) lexer_.Advance();
    if (!lexer_.is_word()) return Found("identifier");
    const std::string_view key = lexer_.literal();
    lexer_.Advance();
    if (const std::string fault = selector_internal::LabelKeyFault(key); !fault.empty())
      return InvalidError(StrCat("<nil>: Invalid value: ", Quote(Shown(key)), ": ", fault));
    if (negated) return LabelRequirement::Make(key, LabelOperator::kDoesNotExist, {});
    if (lexer_.token() == Token::kEnd || lexer_.token() == Token::kComma)
      return LabelRequirement::Make(key, LabelOperator::kExists, {});
    const std::optional<LabelOperator> op = Operator();
    if (!op) return Found("in, notin, =, ==, !=, gt, lt");
    lexer_.Advance();
    const bool is_set = *op == LabelOperator::kIn || *op == LabelOperator::kNotIn;
    return LabelRequirement::Make(key, *op, TRY(is_set ? Set() : Single()));
  }

  std::optional<LabelOperator> Operator() const {
    switch (lexer_.token()) {
      case Token::kIn:
        return LabelOperator::kIn;
      case Token::kNotIn:
        return LabelOperator::kNotIn;
      case Token::kEquals:
        return LabelOperator::kEquals;
      case Token::kDoubleEquals:
        return LabelOperator::kDoubleEquals;
      case Token::kNotEquals:
        return LabelOperator::kNotEquals;
      case Token::kGreater:
        return LabelOperator::kGreaterThan;
      case Token::kLess:
        return LabelOperator::kLessThan;
      default:
        return std::nullopt;
    }
  }

  Result<std::vector<std::string>> Single() {
    std::vector<std::string> values(1);
    if (lexer_.token() == Token::kEnd || lexer_.token() == Token::kComma) return values;
    if (!lexer_.is_word()) return Found("identifier");
    values[0] = lexer_.literal();
    lexer_.Advance();
    return values;
  }

  // "(a,b)". A value may be empty: "()", "(,)" and "(a,,b)" hold the empty string.
  Result<std::vector<std::string>> Set() {
    if (lexer_.token() != Token::kOpen)
      return InvalidError(StrCat("found '", Shown(lexer_.literal()), "' expected: '('"));
    lexer_.Advance();
    if (!lexer_.is_word() && lexer_.token() != Token::kComma && lexer_.token() != Token::kClose)
      return Found("',', ')' or identifier");
    std::vector<std::string> values;
    while (lexer_.token() != Token::kClose || values.empty()) {
      if (lexer_.is_word()) {
        values.emplace_back(lexer_.literal());
        lexer_.Advance();
        if (lexer_.token() != Token::kComma && lexer_.token() != Token::kClose) return Found("',' or ')'");
      } else if (lexer_.token() == Token::kComma) {
        TRY(EmptyValues(values));
      } else if (lexer_.token() == Token::kClose) {
        values.emplace_back();
      } else {
        return Found("',', or identifier");
      }
    }
    lexer_.Advance();
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    return values;
  }

  // One comma, or two with nothing between. Kubernetes takes commas in pairs, so ",,)" is an error and ",,,)" is not.
  Result<void> EmptyValues(std::vector<std::string>& values) {
    if (values.empty()) values.emplace_back();
    lexer_.Advance();
    if (lexer_.token() == Token::kClose) {
      values.emplace_back();
    } else if (lexer_.token() == Token::kComma) {
      values.emplace_back();
      lexer_.Advance();
      if (lexer_.token() == Token::kClose) return Found("',', or identifier");
    }
    return {};
  }

  Error Found(std::string_view expected) const {
    return InvalidError(StrCat("found '", Shown(lexer_.literal()), "', expected: ", expected));
  }

  Lexer lexer_;
};

}  // namespace

namespace selector_internal {

Result<void> CheckText(std::string_view text) {
  if (text.size() > kMaxSelectorBytes)
    return TooLargeError(StrCat("a selector may have ", kMaxSelectorBytes, " bytes, and this has ", text.size()));
  if (!text_internal::IsUtf8(text)) return InvalidError("a selector must be UTF-8");
  if (text.contains('\0')) return InvalidError("a selector must not contain a NUL byte");
  return {};
}

std::string Shown(std::string_view text) {
  constexpr size_t kShownBytesMax = 300;  // more than any valid label key
  if (text.size() <= kShownBytesMax) return std::string(text);
  size_t shown = kShownBytesMax;
  while ((static_cast<unsigned char>(text[shown]) & 0xc0) == 0x80) --shown;  // not within a character
  return StrCat(text.substr(0, shown), "...");
}

}  // namespace selector_internal

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  TRY(selector_internal::CheckText(text));
  return FromRequirements(TRY(Parser(text).Parse()));
}

namespace {

Error WrongKind(std::string_view where, std::string_view wanted, const Value& value) {
  return InvalidError(StrCat("label selector: ", where, " must be ", wanted, ", not ", KindName(value.kind())));
}

// A string, or "" for null, as Go decodes it.
Result<std::string> TextOf(const Value& value, std::string_view where) {
  if (!value.is_string() && !value.is_null()) return WrongKind(where, "a string", value);
  return std::string(value.str());
}

Result<void> RefuseOtherFields(const Value& object, std::string_view where,
                               std::initializer_list<std::string_view> known) {
  for (const Member& member : object.members()) {
    if (std::ranges::find(known, member.key()) == known.end())
      return InvalidError(StrCat("label selector: ", where, "unknown field ", Quote(Shown(member.key()))));
  }
  return {};
}

Result<LabelRequirement> RequirementFrom(const Value& expression, std::string_view where) {
  if (!expression.is_object()) return WrongKind(where, "an object", expression);
  TRY(RefuseOtherFields(expression, StrCat(where, ": "), {"key", "operator", "values"}));
  const std::string name = TRY(TextOf(expression["operator"], StrCat(where, ".operator")));
  LabelOperator op = LabelOperator::kIn;
  if (name == "NotIn")
    op = LabelOperator::kNotIn;
  else if (name == "Exists")
    op = LabelOperator::kExists;
  else if (name == "DoesNotExist")
    op = LabelOperator::kDoesNotExist;
  else if (name != "In")
    return InvalidError(
        StrCat("label selector: ", where, ": ", Quote(Shown(name)), " is not a valid label selector operator"));
  const Value& list = expression["values"];
  if (!list.is_array() && !list.is_null()) return WrongKind(StrCat(where, ".values"), "an array", list);
  std::vector<std::string> values;
  for (const Value& value : list.items()) values.push_back(TRY(TextOf(value, StrCat(where, ".values"))));
  const std::string key = TRY(TextOf(expression["key"], StrCat(where, ".key")));
  return LabelRequirement::Make(key, op, std::move(values)).Context(StrCat("label selector: ", where));
}

}  // namespace

Result<LabelSelector> LabelSelector::FromObject(const Value& object) {
  if (object.is_null()) return Nothing();
  if (!object.is_object()) return WrongKind("it", "an object", object);
  TRY(RefuseOtherFields(object, "", {"matchLabels", "matchExpressions"}));
  const Value& labels = object["matchLabels"];
  const Value& expressions = object["matchExpressions"];
  if (!labels.is_object() && !labels.is_null()) return WrongKind("matchLabels", "an object", labels);
  if (!expressions.is_array() && !expressions.is_null()) return WrongKind("matchExpressions", "an array", expressions);
  if (labels.size() + expressions.size() > kMaxSelectorRequirements)
    return TooLargeError(StrCat("a label selector may have ", kMaxSelectorRequirements, " requirements"));
  std::vector<LabelRequirement> requirements;
  for (const Member& label : labels.members()) {
    std::string value = TRY(TextOf(label.value(), StrCat("matchLabels[", Quote(Shown(label.key())), "]")));
    requirements.push_back(TRY(LabelRequirement::Make(label.key(), LabelOperator::kEquals, {std::move(value)})
                                   .Context("label selector: matchLabels")));
  }
  for (size_t i = 0; i < expressions.size(); ++i)
    requirements.push_back(TRY(RequirementFrom(expressions[i], StrCat("matchExpressions[", i, "]"))));
  return FromRequirements(std::move(requirements));
}

}  // namespace baton::json
