// The patch strategies of Kubernetes' built-in kinds, as of version 1.32.
//
// Facts come from the x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key of its published API description.
// Left out is what cannot matter: types without such fields, and types that stand only inside lists that are replaced
// whole (container statuses, volumeClaimTemplates, versions of a CustomResourceDefinition).
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "base/strings.h"
#include "json/patch_schema.h"

namespace baton::json {
namespace {

constexpr std::string_view kTypes = R"(
ObjectMeta
  finalizers                 merge
  ownerReferences            merge(uid)

# ---- objects by what they have beside metadata ----
Plain
  metadata                   ObjectMeta
WithConditions
  metadata                   ObjectMeta
  status                     Conditions
Conditions
  conditions                 merge(type)
Workload                     # ReplicaSet, DaemonSet, StatefulSet, Job, ReplicationController
  metadata                   ObjectMeta
  spec                       PodTemplateHolder
  status                     Conditions
PodTemplateHolder
  template                   PodTemplateSpec

# ---- core ----
PodTemplate
  metadata                   ObjectMeta
  template                   PodTemplateSpec
PodTemplateSpec
  metadata                   ObjectMeta
  spec                       PodSpec
Pod
  metadata                   ObjectMeta
  spec                       PodSpec
  status                     PodStatus
PodSpec
  containers                 merge(name)             Container
  ephemeralContainers        merge(name)             Container
  hostAliases                merge(ip)
  imagePullSecrets           merge(name)
  initContainers             merge(name)             Container
  resourceClaims             merge(name),retainKeys
  schedulingGates            merge(name)
  topologySpreadConstraints  merge(topologyKey)
  volumes                    merge(name),retainKeys  Volume
Container
  env                        merge(name)
  ports                      merge(containerPort)
  volumeDevices              merge(devicePath)
  volumeMounts               merge(mountPath)
Volume
  ephemeral                  EphemeralVolume
EphemeralVolume
  volumeClaimTemplate        Plain
PodStatus
  conditions                 merge(type)
  hostIPs                    merge(ip)
  podIPs                     merge(ip)
  resourceClaimStatuses      merge(name),retainKeys
ComponentStatus
  conditions                 merge(type)
  metadata                   ObjectMeta
Node
  metadata                   ObjectMeta
  spec                       NodeSpec
  status                     NodeStatus
NodeSpec
  podCIDRs                   merge
NodeStatus
  addresses                  merge(type)
  conditions                 merge(type)
Service
  metadata                   ObjectMeta
  spec                       ServiceSpec
  status                     Conditions
ServiceSpec
  ports                      merge(port)
ServiceAccount
  metadata                   ObjectMeta
  secrets                    merge(name)

# ---- apps, batch, policy, storage, resource ----
Deployment
  metadata                   ObjectMeta
  spec                       DeploymentSpec
  status                     Conditions
DeploymentSpec
  strategy                   retainKeys
  template                   PodTemplateSpec
CronJob
  metadata                   ObjectMeta
  spec                       CronJobSpec
CronJobSpec
  jobTemplate                JobTemplate
JobTemplate
  metadata                   ObjectMeta
  spec                       PodTemplateHolder
PodDisruptionBudget
  metadata                   ObjectMeta
  spec                       PodDisruptionBudgetSpec
  status                     Conditions
PodDisruptionBudgetSpec
  selector                   replace
CSINode
  metadata                   ObjectMeta
  spec                       CSINodeSpec
CSINodeSpec
  drivers                    merge(name)
ResourceClaim
  metadata                   ObjectMeta
  status                     ResourceClaimStatus
ResourceClaimStatus
  reservedFor                merge(uid)
ResourceClaimTemplate
  metadata                   ObjectMeta
  spec                       Plain

# ---- admissionregistration ----
WebhookConfiguration
  metadata                   ObjectMeta
  webhooks                   merge(name)             Webhook
Webhook
  matchConditions            merge(name)
AdmissionPolicy
  metadata                   ObjectMeta
  spec                       AdmissionPolicySpec
AdmissionPolicySpec
  matchConditions            merge(name)
  variables                  merge(name)
MutatingAdmissionPolicy
  metadata                   ObjectMeta
  spec                       Webhook
)";

// Kinds of one API version that share a type.
struct Kinds {
  std::string_view api_version;
  std::string_view type;
  std::string_view kinds;  // separated by spaces
};

constexpr auto kKinds = std::to_array<Kinds>({
    {"v1", "Plain", "Binding ConfigMap Endpoints Event LimitRange PersistentVolume ResourceQuota Secret"},
    {"v1", "WithConditions", "Namespace PersistentVolumeClaim"},
    {"v1", "Workload", "ReplicationController"},
    {"v1", "Pod", "Pod"},
    {"v1", "PodTemplate", "PodTemplate"},
    {"v1", "ComponentStatus", "ComponentStatus"},
    {"v1", "Node", "Node"},
    {"v1", "Service", "Service"},
    {"v1", "ServiceAccount", "ServiceAccount"},
    {"admissionregistration.k8s.io/v1", "WebhookConfiguration",
     "MutatingWebhookConfiguration ValidatingWebhookConfiguration"},
    {"admissionregistration.k8s.io/v1", "AdmissionPolicy", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1", "Plain", "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1alpha1", "Plain", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io/v1beta1", "AdmissionPolicy", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io/v1beta1", "Plain", "ValidatingAdmissionPolicyBinding"},
    {"apiextensions.k8s.io/v1", "Plain", "CustomResourceDefinition"},
    {"apiregistration.k8s.io/v1", "WithConditions", "APIService"},
    {"apps/v1", "Plain", "ControllerRevision"},
    {"apps/v1", "Deployment", "Deployment"},
    {"apps/v1", "Workload", "DaemonSet ReplicaSet StatefulSet"},
    {"authentication.k8s.io/v1", "Plain", "SelfSubjectReview TokenRequest TokenReview"},
    {"authentication.k8s.io/v1beta1", "Plain", "SelfSubjectReview"},
    {"authorization.k8s.io/v1", "Plain",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"},
    {"autoscaling/v1", "Plain", "HorizontalPodAutoscaler Scale"},
    {"autoscaling/v2", "WithConditions", "HorizontalPodAutoscaler"},
    {"batch/v1", "CronJob", "CronJob"},
    {"batch/v1", "Workload", "Job"},
    {"certificates.k8s.io/v1", "Plain", "CertificateSigningRequest"},
    {"certificates.k8s.io/v1alpha1", "Plain", "ClusterTrustBundle"},
    {"coordination.k8s.io/v1", "Plain", "Lease"},
    {"coordination.k8s.io/v1alpha2", "Plain", "LeaseCandidate"},
    {"discovery.k8s.io/v1", "Plain", "EndpointSlice"},
    {"events.k8s.io/v1", "Plain", "Event"},
    {"flowcontrol.apiserver.k8s.io/v1", "WithConditions", "FlowSchema PriorityLevelConfiguration"},
    {"internal.apiserver.k8s.io/v1alpha1", "Plain", "StorageVersion"},
    {"networking.k8s.io/v1", "Plain", "Ingress IngressClass NetworkPolicy"},
    {"networking.k8s.io/v1beta1", "Plain", "IPAddress"},
    {"networking.k8s.io/v1beta1", "WithConditions", "ServiceCIDR"},
    {"node.k8s.io/v1", "Plain", "RuntimeClass"},
    {"policy/v1", "Plain", "Eviction"},
    {"policy/v1", "PodDisruptionBudget", "PodDisruptionBudget"},
    {"rbac.authorization.k8s.io/v1", "Plain", "ClusterRole ClusterRoleBinding Role RoleBinding"},
    {"resource.k8s.io/v1alpha3", "Plain", "DeviceClass ResourceSlice"},
    {"resource.k8s.io/v1alpha3", "ResourceClaim", "ResourceClaim"},
    {"resource.k8s.io/v1alpha3", "ResourceClaimTemplate", "ResourceClaimTemplate"},
    {"resource.k8s.io/v1beta1", "Plain", "DeviceClass ResourceSlice"},
    {"resource.k8s.io/v1beta1", "ResourceClaim", "ResourceClaim"},
    {"resource.k8s.io/v1beta1", "ResourceClaimTemplate", "ResourceClaimTemplate"},
    {"scheduling.k8s.io/v1", "Plain", "PriorityClass"},
    {"storage.k8s.io/v1", "CSINode", "CSINode"},
    {"storage.k8s.io/v1", "Plain", "CSIDriver CSIStorageCapacity StorageClass VolumeAttachment"},
    {"storage.k8s.io/v1alpha1", "Plain", "VolumeAttributesClass"},
    {"storage.k8s.io/v1beta1", "Plain", "VolumeAttributesClass"},
    {"storagemigration.k8s.io/v1alpha1", "WithConditions", "StorageVersionMigration"},
});

const PatchSchemas& BuiltIn() {
  static const PatchSchemas* const schemas = [] {
    Result<PatchSchemas> parsed = PatchSchemas::Parse(kTypes);
    INVARIANT(parsed.ok(), parsed.error().ToString());
    for (const Kinds& row : kKinds) INVARIANT(parsed->Find(row.type) != nullptr, row.type);
    return new PatchSchemas(*std::move(parsed));
  }();
  return *schemas;
}

}  // namespace

const PatchSchema* KubernetesPatchSchema(std::string_view api_version, std::string_view kind) {
  for (const Kinds& row : kKinds) {
    if (row.api_version != api_version) continue;
    const std::vector<std::string_view> kinds = Split(row.kinds, ' ');
    if (std::ranges::find(kinds, kind) != kinds.end()) return BuiltIn().Find(row.type);
  }
  return nullptr;
}

}  // namespace baton::json
