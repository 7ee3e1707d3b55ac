// The containers that image, command and args overriders change: those of the pod inside the kinds Karmada knows, told
// by their kind alone. Init containers are not among them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/pointer.h"
#include "json/value.h"

namespace baton::overrides {

// Where the object's containers are: null for a kind without. Lives forever.
const json::Pointer* ContainersOf(const json::Value& object);

// The list there; empty when absent or null, an error when it is no list of objects.
Result<std::span<const json::Value>> ReadContainers(const json::Value& object, const json::Pointer& path);

}  // namespace baton::overrides
