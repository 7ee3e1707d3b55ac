// The labels, annotations, finalizers and fixed names of Karmada's API. They are part of the wire format: member
// objects and bindings carry them, and a hub that takes over from Karmada (or hands back) must read and write the same
// ones.
//
// "template" is the object a user wrote on the hub; "member object" is its copy in a cluster; "manifest" is that copy
// inside a Work; PP, CPP, RB, CRB are (Cluster)PropagationPolicy and (Cluster)ResourceBinding. Names of constants say
// what the key means; a comment says where it stands and who writes it.
#pragma once

#include <string_view>

namespace baton::api::karmada {

// ---- fixed names ----
inline constexpr std::string_view kSystemNamespace = "karmada-system";     // Karmada's own components
inline constexpr std::string_view kClusterNamespace = "karmada-cluster";   // credentials of member clusters
inline constexpr std::string_view kExecutionPrefix = "karmada-es-";        // + cluster name: the namespace of its Works
inline constexpr std::string_view kImpersonator = "karmada-impersonator";  // service account on a member
inline constexpr std::string_view kDefaultScheduler = "default-scheduler";  // spec.schedulerName when not given

// ---- permanent ids: a uuid given once, so that a name that is used again is another object ----
inline constexpr std::string_view kPropagationPolicyId =
    "propagationpolicy.karmada.io/permanent-id";  // label: PP (admission); claimed template and RB (detector)
inline constexpr std::string_view kClusterPropagationPolicyId =
    "clusterpropagationpolicy.karmada.io/permanent-id";  // label: CPP (admission); claimed template, RB, CRB (detector)
inline constexpr std::string_view kResourceBindingId =
    "resourcebinding.karmada.io/permanent-id";  // label: RB (admission); Work and member object (binding controller)
inline constexpr std::string_view kClusterResourceBindingId =
    "clusterresourcebinding.karmada.io/permanent-id";  // label: CRB (admission); Work and member object
inline constexpr std::string_view kWorkId =
    "work.karmada.io/permanent-id";  // label: Work (admission) and member object
inline constexpr std::string_view kMultiClusterServiceId =
    "multiclusterservice.karmada.io/permanent-id";  // label: MultiClusterService and its Works

// ---- claims: which policy a template belongs to (detector; also on its binding) ----
inline constexpr std::string_view kPropagationPolicyNamespace = "propagationpolicy.karmada.io/namespace";  // annotation
inline constexpr std::string_view kPropagationPolicyName = "propagationpolicy.karmada.io/name";            // annotation
inline constexpr std::string_view kClusterPropagationPolicyName =
    "clusterpropagationpolicy.karmada.io/name";  // annotation
inline constexpr std::string_view kClaimedBy =
    "resourcetemplate.karmada.io/claimed-by";  // label: owned by another mechanism; policies leave the template alone

// ---- other labels ----
inline constexpr std::string_view kManaged = "karmada.io/managed";  // "true" on member objects (binding controller)
inline constexpr std::string_view kSystem = "karmada.io/system";    // "true" on objects and namespaces of the system
inline constexpr std::string_view kTrue = "true";                   // the value of these two
inline constexpr std::string_view kDependedByPrefix =
    "resourcebinding.karmada.io/depended-by-";  // + hash: attached RB; the value is the owner's permanent id
inline constexpr std::string_view kBindingManagedBy =
    "binding.karmada.io/managed-by";  // RB that no policy made; the scheduler accepts it
inline constexpr std::string_view kRetainReplicas =
    "resourcetemplate.karmada.io/retain-replicas";  // "true" on a template: members keep their own replicas
inline constexpr std::string_view kDeletionProtected =
    "resourcetemplate.karmada.io/deletion-protected";  // on anything: deletion is refused when kAlways
inline constexpr std::string_view kAlways = "Always";
inline constexpr std::string_view kSkipAutoPropagation =
    "namespace.karmada.io/skip-auto-propagation";  // "true" on a Namespace: it is not copied to members (user)
inline constexpr std::string_view kEndpointSliceNamespace = "endpointslice.karmada.io/namespace";  // Works of a service
inline constexpr std::string_view kEndpointSliceName = "endpointslice.karmada.io/name";            // likewise
inline constexpr std::string_view kEndpointSliceManagedBy = "endpointslice.karmada.io/managed-by";  // likewise
inline constexpr std::string_view kMultiClusterServiceNamespace =
    "multiclusterservice.karmada.io/namespace";  // Works of a MultiClusterService, and its annotation
inline constexpr std::string_view kMultiClusterServiceName = "multiclusterservice.karmada.io/name";  // likewise
inline constexpr std::string_view kQuotaNamespace =
    "federatedresourcequota.karmada.io/namespace";  // Works of a FederatedResourceQuota
inline constexpr std::string_view kQuotaName = "federatedresourcequota.karmada.io/name";  // likewise
inline constexpr std::string_view kInstruction =
    "propagation.karmada.io/instruction";  // historic: suppressed Works until v1.14; now spec.suspendDispatching

// ---- other annotations ----
inline constexpr std::string_view kAppliedPlacement =
    "policy.karmada.io/applied-placement";  // RB, CRB: the placement that the scheduler used, as JSON
inline constexpr std::string_view kAppliedOverrides =
    "policy.karmada.io/applied-overrides";  // Work: rules of OverridePolicies, as JSON (binding controller)
inline constexpr std::string_view kAppliedClusterOverrides =
    "policy.karmada.io/applied-cluster-overrides";  // Work: rules of ClusterOverridePolicies
inline constexpr std::string_view kResourceBindingNamespace =
    "resourcebinding.karmada.io/namespace";  // Work, manifest (binding controller)
inline constexpr std::string_view kResourceBindingName = "resourcebinding.karmada.io/name";                // likewise
inline constexpr std::string_view kClusterResourceBindingName = "clusterresourcebinding.karmada.io/name";  // likewise
inline constexpr std::string_view kDependencies =
    "resourcebinding.karmada.io/dependencies";  // RB: what it depends on, as JSON (dependencies distributor)
inline constexpr std::string_view kWorkNamespace = "work.karmada.io/namespace";  // manifest: for status collection
inline constexpr std::string_view kWorkName = "work.karmada.io/name";            // likewise
inline constexpr std::string_view kConflictResolution =
    "work.karmada.io/conflict-resolution";  // template (user), Work, manifest: "overwrite" or "abort"
inline constexpr std::string_view kTemplateUid = "resourcetemplate.karmada.io/uid";                // manifest
inline constexpr std::string_view kTemplateGeneration = "resourcetemplate.karmada.io/generation";  // manifest
inline constexpr std::string_view kManagedLabels =
    "resourcetemplate.karmada.io/managed-labels";  // manifest: its label keys, sorted, with commas; what goes is
                                                   // deleted
inline constexpr std::string_view kManagedAnnotations =
    "resourcetemplate.karmada.io/managed-annotations";  // likewise for annotations
inline constexpr std::string_view kCachedFromCluster =
    "resource.karmada.io/cached-from-cluster";  // answers of the search proxy
inline constexpr std::string_view kQueryFromCluster = "resource.karmada.io/query-from-cluster";      // metrics adapter
inline constexpr std::string_view kProvisionCluster = "endpointslice.karmada.io/provision-cluster";  // Work

// ---- finalizers ----
inline constexpr std::string_view kPropagationPolicyFinalizer = "karmada.io/propagation-policy-controller";  // PP
inline constexpr std::string_view kClusterPropagationPolicyFinalizer =
    "karmada.io/cluster-propagation-policy-controller";                                 // CPP
inline constexpr std::string_view kBindingFinalizer = "karmada.io/binding-controller";  // RB, until its Works are gone
inline constexpr std::string_view kClusterBindingFinalizer = "karmada.io/cluster-resource-binding-controller";  // CRB
inline constexpr std::string_view kDependenciesFinalizer =
    "karmada.io/binding-dependencies-distributor";                                          // RB with propagateDeps
inline constexpr std::string_view kExecutionFinalizer = "karmada.io/execution-controller";  // Work
inline constexpr std::string_view kClusterFinalizer = "karmada.io/cluster-controller";      // Cluster
inline constexpr std::string_view kEndpointSliceFinalizer = "karmada.io/endpointslice-controller";  // Work
inline constexpr std::string_view kMultiClusterServiceFinalizer = "karmada.io/multiclusterservice-controller";
inline constexpr std::string_view kEndpointSliceCollectFinalizer = "karmada.io/mcs-endpointslice-collect-controller";
inline constexpr std::string_view kEndpointSliceDispatchFinalizer = "karmada.io/mcs-endpointslice-dispatch-controller";

}  // namespace baton::api::karmada
