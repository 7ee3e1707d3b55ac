// Counts that may be percentages (maxUnavailable, minAvailable): the rules that several kinds share.
#pragma once

#include <string>

#include "api/builtin_support.h"

namespace baton::api::builtin {

// A number that is not negative, or a percentage. Absent is fine.
void CheckCountOrPercent(Errors& errors, const std::string& field, const Value& count);
void CheckAtMostAll(Errors& errors, const std::string& field, const Value& count);  // "101%" is more
bool IsZeroCount(const Value& count);                                               // 0, "0%" or absent

}  // namespace baton::api::builtin
