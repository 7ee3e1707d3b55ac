// What discovery says of built-in kinds and their schema does not: subresources beyond status and scale, verbs, and the
// version they are kept in.
#pragma once

#include "api/resource_type.h"

namespace baton::api {

// Fills in verbs, subresources and stored_as of a built-in type, found by its group and plural; leaves others alone.
// Only what Baton serves is listed: a hub runs no pods, so pods/exec and the like are not there.
void FillBuiltinDiscovery(ResourceType& type);

}  // namespace baton::api
