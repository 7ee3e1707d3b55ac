// One field of several members' statuses made one (the Fold of thirdparty.h).
#pragma once

#include <span>

#include "base/result.h"
#include "interpret/status.h"
#include "interpret/thirdparty.h"
#include "json/value.h"

namespace baton::interpret {

// Null when no member has the field, but 0 for a sum. Error: a field of the wrong type, with the cluster's name.
Result<json::Value> FoldField(const FieldFold& field, std::span<const MemberStatus> members);

}  // namespace baton::interpret
