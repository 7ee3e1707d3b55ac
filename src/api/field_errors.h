// FieldErrors with the wording of Kubernetes' field package (v1.32). One function for each kind of error.
//
//   TooManyError("spec.list", 4, 3).message       // "Too many: 4: must have at most 3 items"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "json/value.h"

namespace baton::api {

// What is shown of a bad value and of a path, and how many unknown fields Prune() (api/schema.h) tells. The rest is
// left out: there may be one for every few bytes of a request, each as large as the request.
inline constexpr size_t kShownValueBytesMax = 4096;
inline constexpr size_t kShownPathBytesMax = 1024;
inline constexpr size_t kUnknownFieldsMax = 32;

// `detail` may be empty.
FieldError RequiredError(std::string field, std::string_view detail);
FieldError ForbiddenError(std::string field, std::string_view detail);
FieldError InvalidError(std::string field, const json::Value& value, std::string_view detail);
FieldError TypeInvalidError(std::string field, const json::Value& value, std::string_view detail);
FieldError NotSupportedError(std::string field, const json::Value& value, std::span<const json::Value> supported);
FieldError TooLongError(std::string field, uint64_t max_length);
FieldError TooManyError(std::string field, uint64_t actual, uint64_t max);
FieldError DuplicateError(std::string field, const json::Value& value);
FieldError NotFoundError(std::string field, const json::Value& value);
FieldError InternalFieldError(std::string field, std::string_view detail);

// "spec.a", "spec[a]", "spec[0]": the children of a field's place. The empty path is the top.
std::string ChildPath(std::string_view path, std::string_view name);
std::string KeyPath(std::string_view path, std::string_view key);
std::string IndexPath(std::string_view path, size_t index);

}  // namespace baton::api
