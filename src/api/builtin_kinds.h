// The functions behind BehaviourOf(), by group of kinds. Inside only: callers use api/builtin_behaviour.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/builtin_support.h"

namespace baton::api::builtin {

// ---- defaults: builtin_pod_defaults.cc, builtin_volume_defaults.cc, builtin_workload_defaults.cc, ... ----
void DefaultPodSpec(Value& spec);
void DefaultPodTemplate(Value& owner, std::string_view key = "template");
void DefaultVolume(Value& volume);
void DefaultClaimSpec(Value& claim);
// Quantities of a resource list: canonical, in whole thousandths (finer is rounded up).
void DefaultResourceList(Value& owner, std::string_view key);

void DefaultPod(Value& object);
void DefaultPodTemplateObject(Value& object);
void DefaultDeployment(Value& object);
void DefaultStatefulSet(Value& object);
void DefaultDaemonSet(Value& object);
void DefaultReplicaSet(Value& object);
void DefaultReplicationController(Value& object);
void DefaultJob(Value& object);
void DefaultCronJob(Value& object);
void DefaultService(Value& object);
void DefaultEndpoints(Value& object);
void DefaultEndpointSlice(Value& object);
void DefaultNetworkPolicy(Value& object);
void DefaultIngressClass(Value& object);
void DefaultSecret(Value& object);
void DefaultPersistentVolume(Value& object);
void DefaultPersistentVolumeClaim(Value& object);
void DefaultNamespace(Value& object);
void DefaultNode(Value& object);
void DefaultLimitRange(Value& object);
void DefaultResourceQuota(Value& object);
void DefaultEvent(Value& object);
void DefaultAutoscaler(Value& object);
void DefaultStorageClass(Value& object);
void DefaultCsiDriver(Value& object);
void DefaultRole(Value& object);
void DefaultRoleBinding(Value& object);
void DefaultValidatingWebhooks(Value& object);
void DefaultMutatingWebhooks(Value& object);
void DefaultPriorityClass(Value& object);
void DefaultCustomResourceDefinition(Value& object);

// ---- prepare: builtin_prepare.cc ----
void PreparePod(Value& object, const Value* old);
void PrepareNamespace(Value& object, const Value* old);
void PreparePersistentVolume(Value& object, const Value* old);
void PreparePersistentVolumeClaim(Value& object, const Value* old);
void PrepareService(Value& object, const Value* old);
void PrepareReplicationController(Value& object, const Value* old);
void PrepareReplicaSet(Value& object, const Value* old);
void PrepareStatefulSet(Value& object, const Value* old);
void PrepareDaemonSet(Value& object, const Value* old);
void PrepareJob(Value& object, const Value* old);
void PrepareServiceAccount(Value& object, const Value* old);
void PrepareVolumeAttachment(Value& object, const Value* old);
void PrepareLease(Value& object, const Value* old);
void PrepareIngress(Value& object, const Value* old);
void PrepareDisruptionBudget(Value& object, const Value* old);
void PrepareAutoscaler(Value& object, const Value* old);
void PrepareSecret(Value& object, const Value* old);
void PrepareEmptyStatus(Value& object, const Value* old);  // Deployment, CronJob, ResourceQuota

// ---- validate ----
void CheckPodSpec(Errors& errors, const std::string& field, const Value& spec);
// metadata and spec of a template.
void CheckPodTemplate(Errors& errors, const std::string& field, const Value& template_object);
void CheckContainers(Errors& errors, const std::string& field, const Value& spec);
void CheckVolumes(Errors& errors, const std::string& field, const Value& volumes);
void CheckContainerResources(Errors& errors, const std::string& field, const Value& resources);
void CheckClaimSpec(Errors& errors, const std::string& field, const Value& spec);
bool IsIpAddress(std::string_view text);
void CheckIp(Errors& errors, const std::string& field, const Value& ip);
// Also none that only this host or network knows.
void CheckEndpointIp(Errors& errors, const std::string& field, const Value& ip);
void CheckNoBackstep(Errors& errors, const std::string& field, std::string_view path);  // no ".." in it
// Where pods go: affinity and topology spread. builtin_scheduling_validate.cc
void CheckScheduling(Errors& errors, const std::string& field, const Value& spec);
void CheckTemplateMetadata(Errors& errors, const std::string& field, const Value& metadata);
void CheckJobSpec(Errors& errors, const std::string& field, const Value& spec);

Errors ValidatePod(const Value& object, const Value* old);
Errors ValidatePodTemplateObject(const Value& object, const Value* old);
Errors ValidateDeployment(const Value& object, const Value* old);
Errors ValidateReplicaSet(const Value& object, const Value* old);
Errors ValidateReplicationController(const Value& object, const Value* old);
Errors ValidateStatefulSet(const Value& object, const Value* old);
Errors ValidateDaemonSet(const Value& object, const Value* old);
Errors ValidateControllerRevision(const Value& object, const Value* old);
Errors ValidateJob(const Value& object, const Value* old);
Errors ValidateCronJob(const Value& object, const Value* old);
Errors ValidateAutoscaler(const Value& object, const Value* old);
Errors ValidateDisruptionBudget(const Value& object, const Value* old);
Errors ValidateConfigMap(const Value& object, const Value* old);
Errors ValidateSecret(const Value& object, const Value* old);
Errors ValidateService(const Value& object, const Value* old);
Errors ValidateEndpoints(const Value& object, const Value* old);
Errors ValidateEndpointSlice(const Value& object, const Value* old);
Errors ValidateIngress(const Value& object, const Value* old);
Errors ValidateIngressClass(const Value& object, const Value* old);
Errors ValidateNetworkPolicy(const Value& object, const Value* old);
Errors ValidatePersistentVolume(const Value& object, const Value* old);
Errors ValidatePersistentVolumeClaim(const Value& object, const Value* old);
Errors ValidateStorageClass(const Value& object, const Value* old);
Errors ValidateNode(const Value& object, const Value* old);
Errors ValidateResourceQuota(const Value& object, const Value* old);
Errors ValidateLimitRange(const Value& object, const Value* old);
Errors ValidateLease(const Value& object, const Value* old);
Errors ValidateEvent(const Value& object, const Value* old);
Errors ValidatePriorityClass(const Value& object, const Value* old);
Errors ValidateRole(const Value& object, const Value* old);
Errors ValidateClusterRole(const Value& object, const Value* old);
Errors ValidateRoleBinding(const Value& object, const Value* old);
Errors ValidateClusterRoleBinding(const Value& object, const Value* old);
Errors ValidateWebhooks(const Value& object, const Value* old);

// ---- cells: builtin_pod_cells.cc, builtin_workload_cells.cc, builtin_core_cells.cc ----
using Cells = std::vector<Value>;
Cells PodCells(const Value& object, WallTime now);
Cells PodTemplateCells(const Value& object, WallTime now);
Cells DeploymentCells(const Value& object, WallTime now);
Cells StatefulSetCells(const Value& object, WallTime now);
Cells DaemonSetCells(const Value& object, WallTime now);
Cells ReplicaSetCells(const Value& object, WallTime now);
Cells ReplicationControllerCells(const Value& object, WallTime now);
Cells JobCells(const Value& object, WallTime now);
Cells CronJobCells(const Value& object, WallTime now);
Cells ControllerRevisionCells(const Value& object, WallTime now);
Cells AutoscalerCells(const Value& object, WallTime now);
Cells DisruptionBudgetCells(const Value& object, WallTime now);
Cells ServiceCells(const Value& object, WallTime now);
Cells IngressCells(const Value& object, WallTime now);
Cells IngressClassCells(const Value& object, WallTime now);
Cells NetworkPolicyCells(const Value& object, WallTime now);
Cells EndpointsCells(const Value& object, WallTime now);
Cells EndpointSliceCells(const Value& object, WallTime now);
Cells ConfigMapCells(const Value& object, WallTime now);
Cells SecretCells(const Value& object, WallTime now);
Cells NamespaceCells(const Value& object, WallTime now);
Cells NodeCells(const Value& object, WallTime now);
Cells PersistentVolumeCells(const Value& object, WallTime now);
Cells PersistentVolumeClaimCells(const Value& object, WallTime now);
Cells StorageClassCells(const Value& object, WallTime now);
Cells CsiDriverCells(const Value& object, WallTime now);
Cells VolumeAttachmentCells(const Value& object, WallTime now);
Cells EventCells(const Value& object, WallTime now);
Cells ResourceQuotaCells(const Value& object, WallTime now);
Cells RoleBindingCells(const Value& object, WallTime now);
Cells LeaseCells(const Value& object, WallTime now);
Cells WebhooksCells(const Value& object, WallTime now);
Cells PriorityClassCells(const Value& object, WallTime now);
Cells RuntimeClassCells(const Value& object, WallTime now);
Cells CreatedAtCells(const Value& object, WallTime now);  // name, and when it was created
Cells NameAndAgeCells(const Value& object, WallTime now);

}  // namespace baton::api::builtin
