// Whose pause it is. A policy's suspension is copied to its bindings, and a binding's to its Works; people set pauses
// on a binding or on one Work too, and theirs must stay until they take them away.
//
// The rule: whatever we copied is remembered in an annotation beside it. A pause that is what we remember is the
// policy's and follows it; one that differs was set by somebody else and stays as it is, whatever the policy says,
// until it is taken away (or made what the policy says). `dispatching: false` on a binding is such a setting too: this
// one is dispatched although the policy pauses. `scheduling` is never the policy's and always stays.
#pragma once

#include <string_view>

#include "json/value.h"

namespace baton::federation {

inline constexpr std::string_view kPolicySuspension = "baton.io/policy-suspension";       // on bindings, as JSON
inline constexpr std::string_view kSuspendedByBinding = "baton.io/suspended-by-binding";  // "true" on Works

// Brings binding.spec.suspension in line with the policy's spec.suspension (null: none).
void TakeSuspension(json::Value& binding, const json::Value& from_policy);

// Brings work.spec.suspendDispatching in line with what the binding says of its cluster.
void TakeSuspensionOfBinding(json::Value& work, bool suspended);

}  // namespace baton::federation
