// BehaviourOf: one line for each built-in kind that has something particular.
#include "api/builtin_behaviour.h"

#include <algorithm>
#include <iterator>

#include "api/builtin_kinds.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using namespace builtin;  // NOLINT(google-build-using-namespace): the table below is all there is to this file

struct Row {
  std::string_view group;
  std::string_view kind;
  std::string_view columns;  // Columns()
  std::vector<Value> (*cells)(const Value& object, WallTime now);
  void (*default_fields)(Value& object);
  void (*prepare)(Value& object, const Value* old);
  std::vector<FieldError> (*validate)(const Value& object, const Value* old);
  std::string_view selectable;  // separated by '|'
};

constexpr std::string_view kNameAge = "Name|Age";
constexpr std::string_view kCreatedAt = "Name|Created At@";
constexpr std::string_view kReplicas = "Name|Desired#|Current#|Ready#|Age|Containers+|Images+|Selector+";
constexpr std::string_view kBinding = "Name|Role|Age|Users+|Groups+|ServiceAccounts+";
constexpr std::string_view kWebhookColumns = "Name|Webhooks#|Age";
constexpr std::string_view kPodFields =
    "spec.nodeName|spec.restartPolicy|spec.schedulerName|spec.serviceAccountName|spec.hostNetwork|status.phase|"
    "status.podIP|status.podIPs|status.nominatedNodeName";
constexpr std::string_view kEventFields =
    "involvedObject.kind|involvedObject.namespace|involvedObject.name|involvedObject.uid|involvedObject.apiVersion|"
    "involvedObject.resourceVersion|involvedObject.fieldPath|reason|reportingComponent|source|type";
constexpr std::string_view kEventColumns =
    "Last Seen|Type|Reason|Object|Subobject+|Source+|Message|First Seen+|Count+|Name+";

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kNetworking = "networking.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

// clang-format off
constexpr Row kRows[] = {
    {"", "Pod", "Name|Ready|Status|Restarts|Age|IP+|Node+|Nominated Node+|Readiness Gates+",
     PodCells, DefaultPod, PreparePod, ValidatePod, kPodFields},
    {"", "PodTemplate", "Name|Containers|Images|Pod Labels",
     PodTemplateCells, DefaultPodTemplateObject, nullptr, ValidatePodTemplateObject, ""},
    {"", "ReplicationController", kReplicas,
     ReplicationControllerCells, DefaultReplicationController, PrepareReplicationController,
     ValidateReplicationController, "status.replicas"},
    {"", "Service", "Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector+",
     ServiceCells, DefaultService, PrepareService, ValidateService, "spec.clusterIP|spec.type"},
    {"", "Endpoints", "Name|Endpoints|Age", EndpointsCells, DefaultEndpoints, nullptr, ValidateEndpoints, ""},
    {"", "ConfigMap", "Name|Data|Age", ConfigMapCells, nullptr, nullptr, ValidateConfigMap, ""},
    {"", "Secret", "Name|Type|Data|Age", SecretCells, DefaultSecret, PrepareSecret, ValidateSecret, "type"},
    {"", "Namespace", "Name|Status|Age", NamespaceCells, DefaultNamespace, PrepareNamespace, nullptr, "status.phase"},
    {"", "Node",
     "Name|Status|Roles|Age|Version|Internal-IP+|External-IP+|OS-Image+|Kernel-Version+|Container-Runtime+",
     NodeCells, DefaultNode, nullptr, ValidateNode, "spec.unschedulable"},
    {"", "PersistentVolume",
     "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode+",
     PersistentVolumeCells, DefaultPersistentVolume, PreparePersistentVolume, ValidatePersistentVolume, ""},
    {"", "PersistentVolumeClaim",
     "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode+",
     PersistentVolumeClaimCells, DefaultPersistentVolumeClaim, PreparePersistentVolumeClaim,
     ValidatePersistentVolumeClaim, ""},
    {"", "ServiceAccount", kNameAge, NameAndAgeCells, nullptr, PrepareServiceAccount, nullptr, ""},
    {"", "Event", kEventColumns, EventCells, DefaultEvent, nullptr, ValidateEvent, kEventFields},
    {"", "ResourceQuota", "Name|Request|Limit|Age",
     ResourceQuotaCells, DefaultResourceQuota, PrepareEmptyStatus, ValidateResourceQuota, ""},
    {"", "LimitRange", kCreatedAt, CreatedAtCells, DefaultLimitRange, nullptr, ValidateLimitRange, ""},

    {"apps", "Deployment", "Name|Ready|Up-to-date|Available|Age|Containers+|Images+|Selector+",
     DeploymentCells, DefaultDeployment, PrepareEmptyStatus, ValidateDeployment, ""},
    {"apps", "StatefulSet", "Name|Ready|Age|Containers+|Images+",
     StatefulSetCells, DefaultStatefulSet, PrepareStatefulSet, ValidateStatefulSet, ""},
    {"apps", "DaemonSet",
     "Name|Desired#|Current#|Ready#|Up-to-date#|Available#|Node Selector|Age|Containers+|Images+|Selector+",
     DaemonSetCells, DefaultDaemonSet, PrepareDaemonSet, ValidateDaemonSet, ""},
    {"apps", "ReplicaSet", kReplicas,
     ReplicaSetCells, DefaultReplicaSet, PrepareReplicaSet, ValidateReplicaSet, ""},
    {"apps", "ControllerRevision", "Name|Controller|Revision|Age",
     ControllerRevisionCells, nullptr, nullptr, ValidateControllerRevision, ""},
    {"batch", "Job", "Name|Status|Completions|Duration|Age|Containers+|Images+|Selector+",
     JobCells, DefaultJob, PrepareJob, ValidateJob, "status.successful"},
    {"batch", "CronJob",
     "Name|Schedule|Timezone|Suspend?|Active#|Last Schedule|Age|Containers+|Images+|Selector+",
     CronJobCells, DefaultCronJob, PrepareEmptyStatus, ValidateCronJob, ""},
    {"autoscaling", "HorizontalPodAutoscaler", "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age",
     AutoscalerCells, DefaultAutoscaler, PrepareAutoscaler, ValidateAutoscaler, ""},
    {"policy", "PodDisruptionBudget", "Name|Min Available|Max Unavailable|Allowed Disruptions#|Age",
     DisruptionBudgetCells, nullptr, PrepareDisruptionBudget, ValidateDisruptionBudget, ""},

    {kNetworking, "Ingress", "Name|Class|Hosts|Address|Ports|Age",
     IngressCells, nullptr, PrepareIngress, ValidateIngress, ""},
    {kNetworking, "IngressClass", "Name|Controller|Parameters|Age",
     IngressClassCells, DefaultIngressClass, nullptr, ValidateIngressClass, ""},
    {kNetworking, "NetworkPolicy", "Name|Pod-Selector|Age",
     NetworkPolicyCells, DefaultNetworkPolicy, nullptr, ValidateNetworkPolicy, ""},
    {"discovery.k8s.io", "EndpointSlice", "Name|AddressType|Ports|Endpoints|Age",
     EndpointSliceCells, DefaultEndpointSlice, nullptr, ValidateEndpointSlice, ""},

    {kStorage, "StorageClass", "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
     StorageClassCells, DefaultStorageClass, nullptr, ValidateStorageClass, ""},
    {kStorage, "CSIDriver",
     "Name|AttachRequired?|PodInfoOnMount?|StorageCapacity?|TokenRequests|RequiresRepublish?|Modes|Age",
     CsiDriverCells, DefaultCsiDriver, nullptr, nullptr, ""},
    {kStorage, "VolumeAttachment", "Name|Attacher!|PV|Node|Attached?|Age",
     VolumeAttachmentCells, nullptr, PrepareVolumeAttachment, nullptr, ""},

    {kRbac, "Role", kCreatedAt, CreatedAtCells, DefaultRole, nullptr, ValidateRole, ""},
    {kRbac, "ClusterRole", kCreatedAt, CreatedAtCells, DefaultRole, nullptr, ValidateClusterRole, ""},
    {kRbac, "RoleBinding", kBinding, RoleBindingCells, DefaultRoleBinding, nullptr, ValidateRoleBinding, ""},
    {kRbac, "ClusterRoleBinding", kBinding,
     RoleBindingCells, DefaultRoleBinding, nullptr, ValidateClusterRoleBinding, ""},

    {kAdmission, "ValidatingWebhookConfiguration", kWebhookColumns,
     WebhooksCells, DefaultValidatingWebhooks, nullptr, ValidateWebhooks, ""},
    {kAdmission, "MutatingWebhookConfiguration", kWebhookColumns,
     WebhooksCells, DefaultMutatingWebhooks, nullptr, ValidateWebhooks, ""},
    {"apiextensions.k8s.io", "CustomResourceDefinition", kCreatedAt,
     CreatedAtCells, DefaultCustomResourceDefinition, nullptr, nullptr, ""},

    {"coordination.k8s.io", "Lease", "Name|Holder|Age", LeaseCells, nullptr, PrepareLease, ValidateLease, ""},
    {"scheduling.k8s.io", "PriorityClass", "Name|Value#|Global-Default?|Age|PreemptionPolicy",
     PriorityClassCells, DefaultPriorityClass, nullptr, ValidatePriorityClass, ""},
    {"node.k8s.io", "RuntimeClass", "Name|Handler|Age", RuntimeClassCells, nullptr, nullptr, nullptr, ""},
};
// clang-format on

}  // namespace

BuiltinBehaviour BehaviourOf(std::string_view group, std::string_view kind) {
  const auto* row = std::ranges::find_if(kRows, [&](const Row& one) { return one.group == group && one.kind == kind; });
  if (row == std::end(kRows)) return {};
  BuiltinBehaviour behaviour{.columns = Columns(row->columns),
                             .cells = row->cells,
                             .default_fields = row->default_fields,
                             .prepare = row->prepare,
                             .validate = row->validate,
                             .selectable_fields = {}};
  if (!row->selectable.empty()) {
    for (std::string_view field : Split(row->selectable, '|')) behaviour.selectable_fields.emplace_back(field);
  }
  return behaviour;
}

}  // namespace baton::api
