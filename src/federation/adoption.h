// Adoption: from an object that runs in a member to the template and the policy that take it over, as pure functions.
//
//   Value object = TRY(TemplateOf(live));           // on the hub: what the member has, without what is the member's
//   own Value policy = AdoptionPolicy("shop", "shop", "blue", {object});
//
// The policy takes over what is there (conflictResolution: Overwrite) and gives it back as it is when the templates are
// deleted (preserveResourcesOnDeletion), so that going back is deleting templates. kAdoptedFrom marks it as made here:
// only such a policy can be rolled back by `baton adopt --rollback`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace baton::federation {

inline constexpr std::string_view kAdoptedFrom = "baton.io/adopted-from";  // annotation of policies: the cluster

// Why the object cannot be adopted is the error: it is managed by a hub already, made by another object, or on its way
// out.
Result<json::Value> TemplateOf(const json::Value& live);

// `ns` "": a ClusterPropagationPolicy.
json::Value AdoptionPolicy(std::string_view ns, std::string_view name, std::string_view cluster,
                           const std::vector<json::Value>& templates);

// Why this policy cannot be rolled back; ok when it can.
Result<void> CheckRollback(const json::Value& policy);

}  // namespace baton::federation
