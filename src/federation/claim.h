// The claim: labels and annotations by which a template (and its binding) says which policy it belongs to.
//
//   std::optional<Claim> claim = ClaimOf(template);
//   json::Value claimed = WithClaim(template, policy);         // marks of the other kind of policy go
//   json::Value released = WithoutClaims(template);
#pragma once

#include <optional>
#include <string>

#include "federation/propagation_policy.h"
#include "json/value.h"

namespace baton::federation {

struct Claim {
  PolicyKey policy;
  std::string permanent_id;  // of the policy when it claimed

  friend bool operator==(const Claim&, const Claim&) = default;
};

// A claim is whole or none: namespace, name and permanent id of a PropagationPolicy, or else name and permanent id of a
// ClusterPropagationPolicy. Of both, the namespaced one counts.
std::optional<Claim> ClaimOf(const json::Value& object);

// The object as this policy claims it. A PropagationPolicy takes the marks of a ClusterPropagationPolicy away; the
// other way round never happens to a claimed object. The same value when it is claimed so already.
json::Value WithClaim(json::Value object, const PropagationPolicy& policy);

// The object without any marks; the same value when it has none.
json::Value WithoutClaims(json::Value object);

}  // namespace baton::federation
