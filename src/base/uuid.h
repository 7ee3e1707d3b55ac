// UUIDs as Kubernetes gives them to objects: "3f2a9c1e-7b64-4d18-9e0f-5a6b7c8d9e0f".
//
// The randomness comes in from the caller (rt's random source; in the simulator a seeded one), so that a run can be
// repeated with the same uids.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/ids.h"

namespace baton {

// The version 4 UUID of RFC 4122 that these bytes make: 122 of their bits are used, version and variant are set.
Uid UuidFromRandomBytes(std::array<std::byte, 16> bytes);

// Whether the text has the form 8-4-4-4-12 in hexadecimal digits of either case; any version and variant.
bool IsUuid(std::string_view text);

}  // namespace baton
