// What the schemas of the federation's kinds (api/federation_types.h) cannot say: defaults that depend on other fields,
// labels and finalizers that every object of a kind gets, and rules between fields. They are those of Karmada's
// webhooks (v1.19) and, for Cluster, of its own API server. All are pure, so that they serve as admission of the
// embedded server and as an admission webhook of another one.
//
//   json::Value policy = TRY(MutateFederation(*type, sent, json::Value(), context));     // after the schema's defaults
//   TRY(ValidateFederation(*type, policy, json::Value(), context));                      // after the schema's rules
//
// Mutation changes only what a rule names: every other field stays, known or not. It does not trust the shape of an
// object (admission comes before the schema's validation); what has the wrong shape is left for the schema to report.
// Mutating twice gives what mutating once gave, but for the fresh id of a policy on creation.
//
// Not for status and other subresources, which have no such rules, and not for deletions.
//
// Where we differ from Karmada: the purge modes Immediately and Graciously become Directly and Gracefully; what is
// being deleted is not checked (but for the rollout's kinds), so that it can always lose its finalizers; errors name
// the exact field. Not here: federated quotas. Deletion protection, which is for any kind, is in
// federation/admission.h.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/resource_type.h"
#include "api/schema.h"
#include "base/result.h"
#include "base/time.h"
#include "json/value.h"

namespace baton::api {

// What the rules need to know beyond the object.
struct FederationContext {
  std::function<std::string()> new_uid;  // a fresh UUID, for labels that must be unique; needed to mutate
  WallTime now;                          // for taints that say when they were added

  // Feature gates and flags, as in Karmada.
  bool default_resource_models = true;         // gate CustomizedClusterResourceModeling
  bool allow_no_execute_taint_policy = false;  // --allow-no-execute-taint-policy

  // A ResourceInterpreterCustomization's neighbours (itself may be among them), and what says whether a script can be
  // read. Null: scripts are not looked at.
  std::span<const json::Value> customizations;
  std::function<Result<void>(std::string_view script)> check_script;
};

// The object as it is to be stored. `old` is null on creation. An object of any other kind comes back as it is.
// Error (kInternal): the context has no new_uid.
Result<json::Value> MutateFederation(const ResourceType& type, const json::Value& object, const json::Value& old,
                                     const FederationContext& context);

// Every violation, up to kFieldErrorsMax, in a stable order.
std::vector<FieldError> FederationErrors(const ResourceType& type, const json::Value& object, const json::Value& old,
                                         const FederationContext& context);

// The same as one error: 422 Invalid with a cause for each.
Result<void> ValidateFederation(const ResourceType& type, const json::Value& object, const json::Value& old,
                                const FederationContext& context);

// "Directly" for "Immediately", "Gracefully" for "Graciously", all else as it is.
std::string_view CurrentPurgeMode(std::string_view mode);

}  // namespace baton::api
