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

// Compact text of the parts that are compared with what was before. What is beyond counts as changed.
inline constexpr size_t kComparedBytesMax = size_t{64} << 20;

// What a walk found.
struct Found {
  struct Finding {
    FieldError error;
    bool unchanged = false;  // the part that it is about is as it was before
  };
  std::vector<Finding> findings;  // each once, at most kFieldErrorsMax
  size_t matches = 0;             // checks that went well: tells the nearest of several alternatives
  bool forgives = false;          // findings about what is unchanged are dropped at once, and fill nothing

  bool full() const { return findings.size() >= kFieldErrorsMax; }
  void Add(FieldError error, bool unchanged = false);
  void Merge(Found&& other);
};

// Whether parts of a value are what they were before, in one Validate().
class Comparison {
 public:
  // `before`: what stood at the same place; null: nothing did.
  bool Same(const json::Value& value, const json::Value* before);

 private:
  size_t bytes_left_ = kComparedBytesMax;
};

// A value, and what stands at its place in what is settled and in what was before; null where nothing does.
struct Part {
  const json::Value& value;
  const json::Value* settled = nullptr;
  const json::Value* before = nullptr;
};

// What the keywords of JSON schema say, in the order and with the words of kube-openapi.
void CheckKeywords(const Part& part, const Schema& schema, std::string_view path, Comparison& comparison, Found& found);

// What Kubernetes checks after that: list types set and map, and that embedded resources say what they are.
void CheckLists(const Part& part, const Schema& schema, std::string_view path, Comparison& comparison, Found& found);

}  // namespace baton::api::validate_internal
