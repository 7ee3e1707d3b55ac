// A check of types that may refer to each other in cycles. Internal to api/type_text.
#pragma once

#include <map>
#include <string>

#include "api/schema.h"
#include "base/result.h"

namespace baton::api {

using NamedTypes = std::map<std::string, Schema*, std::less<>>;  // by full name

// An error when a type gets itself by default, directly or by way of others: it would be filled in for ever.
Result<void> CheckThatDefaultsEnd(const NamedTypes& types);

}  // namespace baton::api
