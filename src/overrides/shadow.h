// Karmada's record of an applied rule, an item of the annotations policy.karmada.io/applied-overrides and
// policy.karmada.io/applied-cluster-overrides: {"policyName":...,"overriders":{...}}, byte for byte as Go prints it
// (fields in the order of the type, text safe for HTML, values that are absent as null).
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace baton::overrides {

std::string PrintShadow(std::string_view policy_name, const json::Value& overriders);

}  // namespace baton::overrides
