// Scalars, places and errors of conversion.
#include "api/conversion.h"

#include <cmath>
#include <utility>

#include "base/strings.h"

namespace baton::api {
namespace {

constexpr size_t kShownBytes = 60;  // of a value that is refused

std::string Shown(const json::Value& value) {
  if (value.is_object() || value.is_array()) return StrCat("an ", json::KindName(value.kind()));
  std::string text = value.ToString();
  if (text.size() <= kShownBytes) return text;
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole characters
  text.resize(end);
  return text + "...";
}

}  // namespace

std::string Place::ToString() const {
  if (step == Step::kTop) return {};
  std::string text = parent->ToString();
  switch (step) {
    case Step::kTop:
      break;
    case Step::kField:
      StrAppend(text, text.empty() ? "" : ".", key);
      break;
    case Step::kItem:
      StrAppend(text, "[", index, "]");
      break;
    case Step::kEntry:
      StrAppend(text, "[", key, "]");
      break;
  }
  return text;
}

void Refuse(const json::Value& value, std::string_view what, const Place& at, FirstError& error) {
  if (error) return;
  const std::string where = at.ToString();
  error = InvalidError(StrCat(where, where.empty() ? "" : ": ", Shown(value), " is not ", what));
}

void ReadValue(const json::Value& value, std::string& into, const Place& at, FirstError& error) {
  if (!value.is_string()) return Refuse(value, "a string", at, error);
  into = value.str();
}

void ReadValue(const json::Value& value, int64_t& into, const Place& at, FirstError& error) {
  if (!value.is_int()) return Refuse(value, "an integer", at, error);
  into = value.int_or(0);
}

void ReadValue(const json::Value& value, int32_t& into, const Place& at, FirstError& error) {
  if (!value.is_int()) return Refuse(value, "an integer", at, error);
  if (!std::in_range<int32_t>(value.int_or(0))) return Refuse(value, "an integer of 32 bits", at, error);
  into = static_cast<int32_t>(value.int_or(0));
}

void ReadValue(const json::Value& value, double& into, const Place& at, FirstError& error) {
  if (!value.is_number()) return Refuse(value, "a number", at, error);
  into = value.number_or(0);
}

void ReadValue(const json::Value& value, bool& into, const Place& at, FirstError& error) {
  if (!value.is_bool()) return Refuse(value, "true or false", at, error);
  into = value.bool_or(false);
}

// 1 was read as 1.0 and is 1 again, unless somebody changed it.
json::Value WriteValue(double value, const json::Value& before) {
  if (before.is_number() && before.number_or(0) == value) return before;
  return std::isfinite(value) ? json::Value(value) : json::Value();  // JSON has no other numbers
}

const json::Value* FieldReader::Find(std::string_view name, bool required) {
  if (error_) return nullptr;
  const json::Value* value = object_.Find(name);
  if (value != nullptr && !value->is_null()) return value;
  if (required) error_ = InvalidError(StrCat(Below(name).ToString(), ": is required"));
  return nullptr;
}

void FieldReader::Anything(std::string_view name, std::optional<json::Value>& into) {
  if (error_) return;
  if (const json::Value* value = object_.Find(name)) into = *value;
}

void FieldReader::OfKind(std::string_view api_version, std::string_view kind) {
  const json::Value& own_version = object_["apiVersion"];
  const json::Value& own_kind = object_["kind"];
  if (error_ || (own_version.str_or(own_version.is_null() ? api_version : "") == api_version &&
                 own_kind.str_or(own_kind.is_null() ? kind : "") == kind)) {
    return;
  }
  error_ = InvalidError(StrCat("the object is of kind ", Shown(own_kind), " of ", Shown(own_version), ", not of ",
                               Quote(kind), " of ", Quote(api_version)));
}

void FieldWriter::OfKind(std::string_view api_version, std::string_view kind) {
  Set("apiVersion", api_version);
  Set("kind", kind);
}

void FieldWriter::Anything(std::string_view name, const std::optional<json::Value>& value) {
  if (value) return Set(name, *value);
  object_.Erase(name);
}

bool FieldWriter::SaysNothing(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return true;
    case json::Kind::kBool:
      return !value.bool_or(false);
    case json::Kind::kInt:
      return value.int_or(0) == 0;
    case json::Kind::kUint:
      return false;
    case json::Kind::kDouble:
      return value.number_or(0) == 0;
    case json::Kind::kString:
      return value.str().empty();
    case json::Kind::kArray:
    case json::Kind::kObject:
      return value.empty();
  }
  return false;
}

void FieldWriter::Set(std::string_view name, json::Value now) {
  const json::Value* before = object_.Find(name);
  if (before == nullptr || !(*before == now)) object_.Set(name, std::move(now));
}

}  // namespace baton::api
