// The rules for a CRD's schema that are checked on its JSON. Internal to ReadCrdSchema, which has made sure before that
// every keyword has a value of the right kind and that the schema is not too deep.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema.h"
#include "json/value.h"

namespace baton::api {

// The first kFieldErrorsMax errors; a hostile schema may have millions.
class FirstErrors {
 public:
  void push_back(FieldError error) {
    if (errors_.size() < kFieldErrorsMax) errors_.push_back(std::move(error));
  }
  std::vector<FieldError> Take() && { return std::move(errors_); }
  bool empty() const { return errors_.empty(); }

 private:
  std::vector<FieldError> errors_;
};

// Keywords that are not supported, list and map types, where defaults may stand.
std::vector<FieldError> CheckCrdKeywords(const json::Value& schema, std::string_view path);

// What makes the schema not structural, sorted.
std::vector<FieldError> CheckStructural(const json::Value& schema, std::string_view path);

}  // namespace baton::api
