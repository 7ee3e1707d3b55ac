// Path elements: their order, their fieldsV1 spelling and their text for people.
#include <charconv>
#include <cmath>

#include "api/field_set.h"
#include "base/strings.h"
#include "json/go_text.h"

namespace baton::api {
namespace {

using json::Kind;
using json::Value;

// The place of a kind in Kubernetes' order of values; all numbers share one.
int Rank(const Value& value) {
  switch (value.kind()) {
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return 0;
    case Kind::kString:
      return 1;
    case Kind::kBool:
      return 2;
    case Kind::kArray:
      return 3;
    case Kind::kObject:
      return 4;
    case Kind::kNull:
      return 5;
  }
  return 5;
}

std::strong_ordering CompareNumbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.int_or(0) <=> b.int_or(0);
  // A long double holds every int64, uint64 and double exactly, so that the order is transitive.
  const auto exact = [](const Value& v) -> long double {
    if (v.is_int()) return static_cast<long double>(v.int_or(0));
    if (v.kind() == Kind::kUint) return static_cast<long double>(v.as_uint64().value_or(0));
    return v.number_or(0);
  };
  const long double x = exact(a);
  const long double y = exact(b);
  if (x < y) return std::strong_ordering::less;
  return x > y ? std::strong_ordering::greater : std::strong_ordering::equal;
}

// Go's jsoniter as Kubernetes sets it up writes the same text as json.Marshal. A value deeper than a document may be
// cannot come here: elements are made from parts of measured documents.
std::string GoJson(const Value& value) {
  std::string text;
  const Result<void> written = json::AppendGoJson(text, value);
  return written.ok() ? text : std::string("null");
}

std::string GoText(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kString:
      return Quote(value.str());
    case Kind::kUint:
    case Kind::kDouble:
      return json::GoPlainDouble(value.number_or(0));
    default:
      return GoJson(value);
  }
}

}  // namespace

std::strong_ordering CompareFieldValues(const Value& a, const Value& b) {
  if (const auto order = Rank(a) <=> Rank(b); order != 0) return order;
  switch (Rank(a)) {
    case 0:
      return CompareNumbers(a, b);
    case 3: {
      const auto x = a.items();
      const auto y = b.items();
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (const auto order = CompareFieldValues(x[i], y[i]); order != 0) return order;
      }
      return x.size() <=> y.size();
    }
    case 4: {
      const auto x = a.members();
      const auto y = b.members();
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (const auto order = x[i].key() <=> y[i].key(); order != 0) return order;
        if (const auto order = CompareFieldValues(x[i].value(), y[i].value()); order != 0) return order;
      }
      return x.size() <=> y.size();
    }
    default:
      return Value::Compare(a, b);
  }
}

std::strong_ordering operator<=>(const PathElement& a, const PathElement& b) {
  if (a.kind != b.kind) return a.kind <=> b.kind;
  switch (a.kind) {
    case PathElement::Kind::kField:
      return a.field <=> b.field;
    case PathElement::Kind::kKey:
    case PathElement::Kind::kValue:
      return CompareFieldValues(a.value, b.value);
    case PathElement::Kind::kIndex:
      return a.index <=> b.index;
  }
  return std::strong_ordering::equal;
}

PathElement PathElement::Field(std::string_view name) {
  return {.kind = Kind::kField, .field = std::string(name), .value = {}, .index = 0};
}
PathElement PathElement::Key(Value fields) {
  return {.kind = Kind::kKey, .field = {}, .value = std::move(fields), .index = 0};
}
PathElement PathElement::OfValue(Value value) {
  return {.kind = Kind::kValue, .field = {}, .value = std::move(value), .index = 0};
}
PathElement PathElement::Index(int64_t index) {
  return {.kind = Kind::kIndex, .field = {}, .value = {}, .index = index};
}

std::string PathElement::ToFieldsV1() const {
  switch (kind) {
    case Kind::kField:
      return StrCat("f:", field);
    case Kind::kKey:
      return StrCat("k:", GoJson(value));
    case Kind::kValue:
      return StrCat("v:", GoJson(value));
    case Kind::kIndex:
      return StrCat("i:", index);
  }
  return {};
}

Result<PathElement> PathElement::FromFieldsV1(std::string_view text) {
  if (text.size() < 2) return InvalidError(StrCat("a field path element has a kind and a colon, not ", Quote(text)));
  if (text[1] != ':') return InvalidError(StrCat("missing colon: ", Quote(text)));
  const std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f':
      return Field(rest);
    case 'k':
    case 'v': {
      if (rest.size() > kElementTextBytesMax) return TooLargeError("a field path element of more than a megabyte");
      Value value = TRY(json::Parse(rest).Context(StrCat("field path element ", Quote(text))));
      if (text[0] == 'v') return OfValue(std::move(value));
      if (!value.is_object()) return InvalidError(StrCat("a list key is an object: ", Quote(text)));
      return Key(std::move(value));
    }
    case 'i': {
      int64_t index = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
      if (error != std::errc() || end != rest.data() + rest.size()) {
        return InvalidError(StrCat("an index is a number: ", Quote(text)));
      }
      return Index(index);
    }
    default:
      return UnsupportedError(StrCat("unknown kind of field path element: ", Quote(text)));
  }
}

std::string PathElement::ToText() const {
  switch (kind) {
    case Kind::kField:
      return StrCat(".", field);
    case Kind::kKey: {
      std::string text = "[";
      for (const json::Member& member : value.members()) {
        StrAppend(text, text.size() > 1 ? "," : "", member.key(), "=", GoText(member.value()));
      }
      return text + "]";
    }
    case Kind::kValue:
      return StrCat("[=", GoText(value), "]");
    case Kind::kIndex:
      return StrCat("[", index, "]");
  }
  return {};
}

std::string PathText(const FieldPath& path) {
  std::string text;
  for (const PathElement& element : path) text += element.ToText();
  return text;
}

}  // namespace baton::api
