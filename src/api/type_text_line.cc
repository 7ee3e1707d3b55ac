// Words of type text: white space ends them, but not inside quotes, brackets and parentheses.
#include "api/type_text_line.h"

#include "base/strings.h"
#include "json/parse.h"

namespace baton::api {
namespace {

constexpr size_t kQuotedInErrors = 40;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool Opens(char c) { return c == '[' || c == '{' || c == '('; }
bool Closes(char c) { return c == ']' || c == '}' || c == ')'; }

}  // namespace

bool TypeLine::AtEnd() { return Peek() == 0; }

char TypeLine::Peek() {
  size_t spaces = 0;
  while (spaces < rest_.size() && IsSpace(rest_[spaces])) ++spaces;
  rest_.remove_prefix(spaces);
  if (rest_.starts_with('#')) rest_ = {};
  return rest_.empty() ? '\0' : rest_.front();
}

bool TypeLine::Take(char c) {
  if (Peek() != c || c == 0) return false;
  rest_.remove_prefix(1);
  return true;
}

Result<size_t> TypeLine::QuotedEnd(size_t at) const {
  for (size_t i = at + 1; i < rest_.size(); ++i) {
    if (rest_[i] == '\\') {
      ++i;
    } else if (rest_[i] == '"') {
      return i + 1;
    }
  }
  return Wrong(StrCat("a quote is not closed: ", rest_.substr(at, kQuotedInErrors)));
}

Result<std::string_view> TypeLine::Word() {
  Peek();
  size_t depth = 0;
  size_t end = 0;
  while (end < rest_.size()) {
    const char c = rest_[end];
    if (c == '"') {
      end = TRY(QuotedEnd(end));
      continue;
    }
    if (depth == 0 && (IsSpace(c) || Closes(c))) break;
    if (Opens(c)) ++depth;
    if (Closes(c)) --depth;
    ++end;
  }
  if (depth > 0) return Wrong(StrCat("a bracket is not closed: ", rest_.substr(0, kQuotedInErrors)));
  const std::string_view word = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return word;
}

Result<std::string> TypeLine::Quoted() {
  Peek();
  const size_t end = TRY(QuotedEnd(0));
  Result<json::Value> value = json::Parse(rest_.substr(0, end));
  if (!value.ok()) return Wrong(StrCat("not a JSON string: ", rest_.substr(0, kQuotedInErrors)));
  rest_.remove_prefix(end);
  return std::string(value->str());
}

Error TypeLine::Wrong(std::string_view what) const {
  return InvalidError(StrCat(file_, ", line ", number_, ": ", what));
}

}  // namespace baton::api
