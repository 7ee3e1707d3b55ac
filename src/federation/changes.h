// What a change of a template means for its binding.
//
// A change that only touches status, managedFields or resourceVersion is none. Under a policy with lazy activation a
// binding is refreshed only when a user changed the template: what else differs between two versions than labels and
// annotations whose key has ".karmada.io" in it (and the generation) is a user's doing.
#pragma once

#include "json/value.h"

namespace baton::federation {

// True when the two versions differ in anything that propagation looks at.
bool SpecificationChanged(const json::Value& before, const json::Value& after);

// True when the federation itself made all the difference: claims, for example. Two equal versions: true.
bool ChangedByFederation(const json::Value& before, const json::Value& after);

}  // namespace baton::federation
