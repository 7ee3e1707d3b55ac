// The kinds of the federation (Karmada's groups), of Flink's operator, and of the rollout, as a hub serves them. Their
// fields are text (src/api/federation/*.types, in the notation of api/type_text.h), with the words that `kubectl
// explain` shows. They are custom resources everywhere, on the embedded server too:
//
//   for (const json::Value& manifest : FederationCrds()) Apply(manifest);      // `baton crds` prints them
//
// What the schemas cannot say, defaults that depend on other fields and rules between fields, is in
// api/federation_admission.h.
//
// Wire forms are Karmada's (v1.19) and Flink's, with these differences:
//   - Bindings are served as work.karmada.io/v1alpha2 only; Karmada also serves v1alpha1, which loses most fields.
//   - Cluster is a custom resource; Karmada has an API server of its own for it, with a proxy.
//   - Purge modes that Karmada had up to v1.18 (Immediately, Graciously) are accepted and rewritten.
//   - Flink's kinds keep whatever is not described.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "api/resource_type.h"
#include "json/value.h"

namespace baton::api {

// All of them, by group, version and plural. Made once, on first use; any thread may ask.
std::span<const ResourceTypePtr> FederationTypes();

// The type of that group and kind, or null. No kind is served in two versions.
ResourceTypePtr FederationType(std::string_view group, std::string_view kind);

// A CustomResourceDefinition for each, in the same order.
std::vector<json::Value> FederationCrds();

}  // namespace baton::api
