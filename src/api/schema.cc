// Small questions that a Schema and a FieldError answer themselves.
#include "api/schema.h"

namespace baton::api {

const Schema* Schema::Property(std::string_view key) const {
  if (const auto found = properties.find(key); found != properties.end()) return found->second.get();
  return additional_properties.get();
}

std::string_view FieldError::reason() const {
  switch (type) {
    case Type::kRequired:
      return "FieldValueRequired";
    case Type::kInvalid:
      return "FieldValueInvalid";
    case Type::kNotSupported:
      return "FieldValueNotSupported";
    case Type::kTypeInvalid:
      return "FieldValueTypeInvalid";
    case Type::kTooLong:
      return "FieldValueTooLong";
    case Type::kTooMany:
      return "FieldValueTooMany";
    case Type::kDuplicate:
      return "FieldValueDuplicate";
    case Type::kForbidden:
      return "FieldValueForbidden";
    case Type::kNotFound:
      return "FieldValueNotFound";
    case Type::kInternal:
      return "InternalError";
  }
  return "InternalError";
}

}  // namespace baton::api
