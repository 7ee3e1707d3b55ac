// Internal parts of Validate(): the errors found so far, and the two walks over the value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/field_name.h"
#include "api/schema.h"
#include "json/value.h"

namespace baton::api::validate_internal {

// Checks of one value against one schema node, in one Validate(). A schema of many alternatives and a large value could
// else be worked on for hours.
inline constexpr size_t kStepsMax = 20'000'000;

// What a walk found.
struct Found {
  std::vector<FieldError> errors;  // each once, at most kFieldErrorsMax
  size_t matches = 0;              // checks that went well: tells the nearest of several alternatives

  bool full() const { return errors.size() >= kFieldErrorsMax; }
  void Add(FieldError error);
  void Merge(Found&& other);
};

// What the keywords of JSON schema say, in the order and with the words of kube-openapi.
Found CheckKeywords(const json::Value& value, const Schema& schema, std::string_view path, const json::Value* settled);

// What Kubernetes checks after that: list types set and map, and that embedded resources say what they are.
void CheckLists(const json::Value& value, const Schema& schema, std::string_view path, Found& found,
                const json::Value* settled);

}  // namespace baton::api::validate_internal
