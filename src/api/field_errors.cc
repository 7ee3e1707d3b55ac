// FieldErrors: the words, and how a bad value is shown in them.
#include "api/field_errors.h"

#include <utility>

#include "base/strings.h"
#include "base/utf8.h"
#include "json/go_text.h"

namespace baton::api {
namespace {

constexpr size_t kBuiltPathBytesMax = 8192;
constexpr std::string_view kNoPath = "<nil>";  // what Kubernetes prints for the top itself

// Strings are quoted, null is the quoted word, everything else is as in JSON (doubles as fmt prints them).
std::string Shown(const json::Value& value) {
  if (value.is_null()) return "\"null\"";
  if (value.is_string()) return Quote(Utf8Prefix(value.str(), kShownValueBytesMax));
  if (value.kind() == json::Kind::kDouble) return json::GoPlainDouble(value.number_or(0));
  std::string text;
  if (!json::AppendGoJson(text, value).ok()) return "(a value that is nested too deep to be shown)";
  return text;
}

std::string Cut(std::string text, size_t bytes_max) {
  if (text.size() > bytes_max) text = StrCat(Utf8Prefix(text, bytes_max), "...");
  return text;
}

std::string ShowValue(const json::Value& value) { return Cut(Shown(value), kShownValueBytesMax); }

FieldError Make(FieldError::Type type, std::string field, std::string message, std::string_view detail) {
  if (!detail.empty()) StrAppend(message, ": ", detail);
  return {.type = type,
          .field = field.empty() ? std::string(kNoPath) : Cut(std::move(field), kShownPathBytesMax),
          .message = std::move(message)};
}

}  // namespace

FieldError RequiredError(std::string field, std::string_view detail) {
  return Make(FieldError::Type::kRequired, std::move(field), "Required value", detail);
}

FieldError ForbiddenError(std::string field, std::string_view detail) {
  return Make(FieldError::Type::kForbidden, std::move(field), "Forbidden", detail);
}

FieldError InvalidError(std::string field, const json::Value& value, std::string_view detail) {
  return Make(FieldError::Type::kInvalid, std::move(field), StrCat("Invalid value: ", ShowValue(value)), detail);
}

FieldError TypeInvalidError(std::string field, const json::Value& value, std::string_view detail) {
  return Make(FieldError::Type::kTypeInvalid, std::move(field), StrCat("Invalid value: ", ShowValue(value)), detail);
}

FieldError NotSupportedError(std::string field, const json::Value& value, std::span<const json::Value> supported) {
  std::string detail;
  for (const json::Value& one : supported) {
    std::string text(one.str());
    if (!one.is_string() && !json::AppendGoJson(text, one).ok()) text = "(nested too deep)";
    StrAppend(detail, detail.empty() ? "supported values: " : ", ", Quote(text));
  }
  return Make(FieldError::Type::kNotSupported, std::move(field), StrCat("Unsupported value: ", ShowValue(value)),
              detail);
}

FieldError TooLongError(std::string field, uint64_t max_length) {
  return Make(FieldError::Type::kTooLong, std::move(field), "Too long",
              StrCat("may not be more than ", max_length, max_length == 1 ? " byte" : " bytes"));
}

FieldError TooManyError(std::string field, uint64_t actual, uint64_t max) {
  return Make(FieldError::Type::kTooMany, std::move(field), StrCat("Too many: ", actual),
              StrCat("must have at most ", max, max == 1 ? " item" : " items"));
}

FieldError DuplicateError(std::string field, const json::Value& value) {
  return Make(FieldError::Type::kDuplicate, std::move(field), StrCat("Duplicate value: ", ShowValue(value)), "");
}

FieldError NotFoundError(std::string field, const json::Value& value) {
  return Make(FieldError::Type::kNotFound, std::move(field), StrCat("Not found: ", ShowValue(value)), "");
}

FieldError InternalFieldError(std::string field, std::string_view detail) {
  return Make(FieldError::Type::kInternal, std::move(field), "Internal error", detail);
}

// What is found below a path must not cost the path's length again; a little over what any limit looks at is enough.
std::string ChildPath(std::string_view path, std::string_view name) {
  path = Utf8Prefix(path, kBuiltPathBytesMax);
  name = Utf8Prefix(name, kBuiltPathBytesMax);
  return path.empty() ? std::string(name) : StrCat(path, ".", name);
}

std::string KeyPath(std::string_view path, std::string_view key) {
  return StrCat(Utf8Prefix(path, kBuiltPathBytesMax), "[", Utf8Prefix(key, kBuiltPathBytesMax), "]");
}

std::string IndexPath(std::string_view path, size_t index) {
  return StrCat(Utf8Prefix(path, kBuiltPathBytesMax), "[", index, "]");
}

}  // namespace baton::api
