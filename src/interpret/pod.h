// What a pod template needs to run: resources and nodes for the scheduler, objects for the dependencies distributor.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::interpret {

// The ReplicaRequirements of one pod: {nodeClaim, resourceRequest, priorityClassName}, or null when it needs nothing. A
// container's limit stands for a request that is missing; init containers run before the others, so of theirs the
// largest counts. Error: a quantity that is none.
Result<json::Value> PodRequirements(const json::Value& pod_template);

// The ConfigMaps, Secrets, ServiceAccount (unless "default") and PersistentVolumeClaims that the pod names, as
// DependentObjectReferences; each once, in this order of kinds, sorted by name.
std::vector<json::Value> PodDependencies(const json::Value& pod_template, std::string_view name_space);

json::Value Reference(std::string_view api_version, std::string_view kind, std::string_view name_space,
                      std::string_view name);

}  // namespace baton::interpret
