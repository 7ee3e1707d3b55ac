// Names that Karmada derives: of bindings, Works, namespaces and helpers. They must come out the same, because objects
// that are there already are found by them.
//
//   BindingName("Deployment", "nginx");                    // "nginx-deployment", in the template's namespace
//   WorkName("Deployment", "default", "nginx");            // "nginx-687f7fb96f"
//   ExecutionNamespace("member1");                         // "karmada-es-member1"
//
// A ':' in a name (Roles have them) becomes a '.', and upper case becomes lower case. There is no length guard, as in
// Karmada: what is too long the API refuses. Two names that differ in these ways only share a binding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton::api::karmada {

std::string ExecutionNamespace(std::string_view cluster);

// The cluster whose execution namespace this is; nothing when it is none.
std::optional<std::string_view> ClusterOfExecutionNamespace(std::string_view name);

std::string BindingName(std::string_view kind, std::string_view name);

// `object_namespace` is "" for cluster-scoped templates.
std::string WorkName(std::string_view kind, std::string_view object_namespace, std::string_view name);

// The hash that names a binding in label keys; a CRB has no namespace.
std::string BindingReferenceKey(std::string_view binding_namespace, std::string_view binding_name);

// kDependedByPrefix and that hash.
std::string DependedByLabel(std::string_view binding_namespace, std::string_view binding_name);

// The policy that promoting a member's object makes. `gvk` is "<group>/<version>, Kind=<kind>" as Go prints it.
std::string PromotedPolicyName(std::string_view object_namespace, std::string_view name, std::string_view gvk);

std::string MemberServiceAccount(std::string_view cluster);  // "karmada-<cluster>"
std::string MemberRole(std::string_view service_account);    // "karmada-controller-manager:<service account>"
std::string ImpersonationSecret(std::string_view cluster);   // "<cluster>-impersonator"
std::string EstimatorService(std::string_view cluster);      // "karmada-scheduler-estimator-<cluster>"
std::string ImportedEndpointSlice(std::string_view cluster, std::string_view name);  // "imported-<cluster>-<name>"
std::string DerivedService(std::string_view name);                                   // "derived-<name>"

// Karmada's own namespaces, from which nothing is propagated.
bool IsReservedNamespace(std::string_view name);

}  // namespace baton::api::karmada
