// What a write does to an object besides what the client asked for: the rules of main resources and of their status,
// and validation. Pure.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/registry.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "rt/random.h"

namespace baton::apiserver {

// A decoded object as it is stored first: server metadata, no status where that is a subresource.
void PrepareForCreate(const ResourceType& type, json::Value& object, rt::Random& random, WallTime now);

// `object` (what the client wants it to be) as it may replace `live` through the main resource ("") or "status".
void PrepareForUpdate(const ResourceType& type, std::string_view subresource, json::Value& object,
                      const json::Value& live);

// What a typed object of a built-in kind is before anything is set: the structs that are always there. Who creates an
// object owns what differs from this.
json::Value ZeroObject(const ResourceType& type);

// Everything that is wrong with it, as one Status 422; live is null for a new object.
Result<void> ValidateObject(const ResourceType& type, const json::Value& object, const json::Value* live,
                            const json::Value* settled = nullptr);  // as for DecodeObject

// The two differ in nothing but the times of managedFields.
bool SameButForTimes(const json::Value& a, const json::Value& b);

}  // namespace baton::apiserver
