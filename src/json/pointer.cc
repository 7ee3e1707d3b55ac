// JSON Pointer: text to tokens and back; finding, and editing along one path.
#include "json/pointer.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/strings.h"

namespace baton::json {
namespace {

const Value* Step(const Value& value, std::string_view token) {
  if (value.is_object()) return value.Find(token);
  const std::optional<size_t> index = value.is_array() ? ParseArrayIndex(token) : std::nullopt;
  return index && *index < value.size() ? &value.items()[*index] : nullptr;
}

// "/spec", "the top of the document"
std::string Where(std::span<const std::string> tokens) {
  if (tokens.empty()) return "the top of the document";
  std::string text;
  for (const std::string& token : tokens) AppendPointerToken(text, token);
  return text;
}

// Why there is nothing at `token` in the value that `above` leads to.
Error Missing(const Value& parent, std::span<const std::string> above, std::string_view token) {
  const std::string where = Where(above);
  if (parent.is_object()) return NotFoundError(StrCat("there is no member ", Quote(token), " at ", where));
  if (!parent.is_array()) {
    return NotFoundError(StrCat("there is nothing under ", where, ": it is of kind ", KindName(parent.kind())));
  }
  if (token == "-") return NotFoundError(StrCat("\"-\" is the place after the last item at ", where));
  if (!ParseArrayIndex(token)) {
    return NotFoundError(StrCat(Quote(token), " is no array index (a number without leading zeros) at ", where));
  }
  return NotFoundError(StrCat("index ", token, " is past the end of the array at ", where, ", which has ",
                              parent.size(), parent.size() == 1 ? " item" : " items"));
}

Result<const Value*> Walk(const Value& document, std::span<const std::string> tokens) {
  const Value* at = &document;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Value* next = Step(*at, tokens[i]);
    if (next == nullptr) return Missing(*at, tokens.first(i), tokens[i]);
    at = next;
  }
  return at;
}

// Only for tokens that Walk() accepts: makes the path ours, and nothing beside it.
Value& EditPath(Value& document, std::span<const std::string> tokens) {
  Value* at = &document;
  for (const std::string& token : tokens) {
    at = at->is_array() ? &at->Edit(*ParseArrayIndex(token)) : &at->Edit(token);
  }
  return *at;
}

std::span<const std::string> ParentTokens(const Pointer& pointer) { return pointer.tokens().first(pointer.size() - 1); }

// What the pointer's last token is looked for in; null when there is nothing.
const Value* FindParent(const Value& document, const Pointer& pointer) {
  if (pointer.empty()) return nullptr;
  const Value* at = &document;
  for (const std::string& token : ParentTokens(pointer)) {
    at = Step(*at, token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

// Items or members of `parent` from that place on.
size_t From(const Value& parent, std::string_view token) {
  if (parent.is_object()) {
    const std::span<const Member> members = parent.members();
    return static_cast<size_t>(members.end() - std::ranges::lower_bound(members, token, {}, &Member::key));
  }
  const std::optional<size_t> index = ParseArrayIndex(token);
  return parent.is_array() && index && *index < parent.size() ? parent.size() - *index : 0;
}

}  // namespace

Result<Pointer> Pointer::Parse(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') {
    return InvalidError(StrCat("the JSON pointer ", Quote(text), " does not begin with '/'"));
  }
  for (const std::string_view escaped : Split(text.substr(1), '/')) {
    std::string& token = pointer.tokens_.emplace_back();
    token.reserve(escaped.size());
    for (size_t i = 0; i < escaped.size(); ++i) {
      if (escaped[i] != '~') {
        token.push_back(escaped[i]);
        continue;
      }
      const char code = ++i < escaped.size() ? escaped[i] : '\0';
      if (code != '0' && code != '1') {
        return InvalidError(StrCat("the JSON pointer ", Quote(text), " has a '~' that is neither ~0 nor ~1"));
      }
      token.push_back(code == '0' ? '~' : '/');
    }
  }
  return pointer;
}

std::string Pointer::ToString() const {
  std::string text;
  for (const std::string& token : tokens_) AppendPointerToken(text, token);
  return text;
}

Pointer Pointer::Child(std::string_view token) const {
  Pointer child = *this;
  child.Append(token);
  return child;
}

Pointer Pointer::Child(size_t index) const { return Child(StrCat(index)); }

Pointer Pointer::Parent() const {
  Pointer parent = *this;
  if (!parent.tokens_.empty()) parent.tokens_.pop_back();
  return parent;
}

bool Pointer::IsPrefixOf(const Pointer& other) const {
  return size() <= other.size() && std::equal(tokens_.begin(), tokens_.end(), other.tokens_.begin());
}

void AppendPointerToken(std::string& text, std::string_view token) {
  text.push_back('/');
  for (const char c : token) {
    if (c == '~') {
      text.append("~0");
    } else if (c == '/') {
      text.append("~1");
    } else {
      text.push_back(c);
    }
  }
}

std::optional<size_t> ParseArrayIndex(std::string_view token) {
  if (token.empty() || token.front() < '0' || token.front() > '9') return std::nullopt;
  if (token.front() == '0' && token.size() > 1) return std::nullopt;
  size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

const Value* Find(const Value& document, const Pointer& pointer) {
  const Value* at = &document;
  for (const std::string& token : pointer.tokens()) {
    at = Step(*at, token);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<const Value*> FindOrExplain(const Value& document, const Pointer& pointer) {
  return Walk(document, pointer.tokens());
}

size_t ShiftedByAdd(const Value& document, const Pointer& pointer) {
  const Value* parent = FindParent(document, pointer);
  if (parent == nullptr || (parent->is_object() && parent->Has(pointer.back()))) return 0;
  return From(*parent, pointer.back());
}

size_t ShiftedByRemove(const Value& document, const Pointer& pointer) {
  const Value* parent = FindParent(document, pointer);
  if (parent == nullptr || Step(*parent, pointer.back()) == nullptr) return 0;
  return From(*parent, pointer.back()) - 1;
}

Result<void> AddAt(Value& document, const Pointer& pointer, Value value) {
  if (pointer.empty()) {
    document = std::move(value);
    return {};
  }
  const std::span<const std::string> above = ParentTokens(pointer);
  const Value* parent = TRY(Walk(document, above));
  if (parent->is_object()) {
    EditPath(document, above).Set(pointer.back(), std::move(value));
    return {};
  }
  const std::optional<size_t> index = pointer.back() == "-" ? parent->size() : ParseArrayIndex(pointer.back());
  if (!parent->is_array() || !index || *index > parent->size()) return Missing(*parent, above, pointer.back());
  EditPath(document, above).Insert(*index, std::move(value));
  return {};
}

Result<void> ReplaceAt(Value& document, const Pointer& pointer, Value value) {
  TRY(Walk(document, pointer.tokens()));
  EditPath(document, pointer.tokens()) = std::move(value);
  return {};
}

Result<Value> RemoveAt(Value& document, const Pointer& pointer) {
  if (pointer.empty()) return InvalidError("the whole document cannot be removed");
  Value removed = *TRY(Walk(document, pointer.tokens()));
  Value& parent = EditPath(document, ParentTokens(pointer));
  if (parent.is_array()) {
    parent.EraseAt(*ParseArrayIndex(pointer.back()));
  } else {
    parent.Erase(pointer.back());
  }
  return removed;
}

}  // namespace baton::json
