// Match: which propagation policy a template belongs to, and why.
//
//   Decision decision = Match(deployment, policies, ClaimOf(deployment));
//   if (decision.policy != nullptr) Apply(WithClaim(deployment, *decision.policy), decision.refresh_binding);
//   Log(Explain(decision));
//
// Karmada's precedence. A claimed template stays with its policy: better policies that come later do not get it unless
// they preempt. One that is not claimed gets the best PropagationPolicy of its namespace, or else the best
// ClusterPropagationPolicy; any of the former beats any of the latter, whatever the priorities. "Best": the higher
// priority; then the closer match (name over labelSelector over all); then the smaller name. Policies that are being
// deleted match nothing new.
//
// Preemption (a policy with `preemption: Always` whose selector names the template): a PropagationPolicy takes from a
// PropagationPolicy of strictly lower priority and from any ClusterPropagationPolicy; a ClusterPropagationPolicy takes
// only from a ClusterPropagationPolicy of strictly lower priority. Karmada does this when the preempting policy
// changes; here it follows from what is there, so that no event can be missed, and the end is the same.
//
// Lazy activation: under such a policy a template is claimed at once, but its binding is refreshed only when a user
// changes the template (see changes.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "federation/claim.h"
#include "federation/propagation_policy.h"
#include "json/value.h"

namespace baton::federation {

struct MatchOptions {
  bool preemption = false;  // Karmada's feature gate PropagationPolicyPreemption, off by default

  // What made us look was the federation (a policy's change, a claim), not a user's change of the template.
  bool changed_by_federation = false;
};

enum class Outcome : uint8_t {
  kIgnored,    // not for policies: in a reserved namespace, or claimed by another mechanism (label claimed-by)
  kNoPolicy,   // no policy matches: wait for one
  kMatched,    // was free and now belongs to `policy`
  kKept,       // belongs to `policy` by its claim
  kPreempted,  // `policy` takes it from its claim
  kReleased,   // the claim is void (its policy is gone, or no longer selects the template): take the marks off binding
               // and template; then match again
  kDeleting,   // the claim's policy is being deleted: wait until its marks are gone
};

struct Decision {
  Outcome outcome;
  const PropagationPolicy* policy = nullptr;  // with kMatched, kKept, kPreempted; points into the PolicySet
  MatchLevel level = MatchLevel::kNone;       // how closely it matches
  bool refresh_binding = false;               // false under lazy activation, when the federation made the change

  const PropagationPolicy* runner_up = nullptr;  // with kMatched: the next best of the same kind of policy, if any
  std::optional<PolicyKey> from;                 // with kPreempted, kReleased, kDeleting: the claim's policy
};

// `claim` is the template's own, ClaimOf(object), or what it will be.
Decision Match(const json::Value& object, const PolicySet& policies, const std::optional<Claim>& claim,
               const MatchOptions& options = {});

// One sentence for a person: what was decided and why.
std::string Explain(const Decision& decision);

// Policies that may preempt after this one's priority fell from `old_priority`: those of its kind and namespace that
// preempt, with a priority strictly between; the highest first, so that no template changes hands twice.
std::vector<const PropagationPolicy*> PreemptorsAfterLowering(const PolicySet& policies,
                                                              const PropagationPolicy& policy, int32_t old_priority);

}  // namespace baton::federation
