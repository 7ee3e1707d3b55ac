// The rules of metadata, which are the same for every kind: what the server sets, what a client may not change, and
// what is valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resource_type.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"
#include "rt/random.h"

namespace baton::apiserver {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

std::string TimeText(WallTime time);  // as metadata has it: whole seconds, UTC

// `prefix` and five characters that spell no words, as Kubernetes generates names; cut so that it stays a DNS label.
std::string GeneratedName(std::string_view prefix, rt::Random& random);

// A new object's metadata: uid, creationTimestamp, generation 1 where the kind counts them; what only the server sets
// is dropped first.
void InitializeMetadata(json::Value& object, const api::ResourceType& type, rt::Random& random, WallTime now);

// What an update cannot change comes from the live object: uid, creationTimestamp, deletionTimestamp, generation, ...
void KeepServerMetadata(json::Value& object, const json::Value& live);

// metadata.generation after a change from `live`: grows when anything beyond metadata (and status, where that is a
// subresource) differs.
void CountGeneration(json::Value& object, const json::Value& live, const api::ResourceType& type);

inline constexpr size_t kManagerNameMax = 128;
inline constexpr size_t kSubresourceNameMax = 256;
// A field manager's name is shown to people.
std::vector<api::FieldError> ValidateManagerName(const std::string& field, std::string_view manager);

// Names, labels, annotations, owner references, field managers, finalizers, as ValidateObjectMeta(Update) says it.
// `live` is null for a new object. `settled` (api/schema.h): its labels, annotations and managers are right.
std::vector<api::FieldError> ValidateMetadata(const json::Value& object, const json::Value* live,
                                              const api::ResourceType& type, const json::Value* settled);

bool HasFinalizers(const json::Value& object);
bool IsBeingDeleted(const json::Value& object);  // has a deletionTimestamp

}  // namespace baton::apiserver
