// The kinds that the federation's controllers read and write.
#pragma once

#include "kube/api.h"

namespace baton::federation {

inline const kube::Resource kNamespaces{
    .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
inline const kube::Resource kSecrets{.group = "", .version = "v1", .plural = "secrets", .kind = "Secret"};
inline const kube::Resource kNodes{
    .group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false};
inline const kube::Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod"};
inline const kube::Resource kControllerRevisions{
    .group = "apps", .version = "v1", .plural = "controllerrevisions", .kind = "ControllerRevision"};
inline const kube::Resource kPropagationPolicies{
    .group = "policy.karmada.io", .version = "v1alpha1", .plural = "propagationpolicies", .kind = "PropagationPolicy"};
inline const kube::Resource kClusterPropagationPolicies{.group = "policy.karmada.io",
                                                        .version = "v1alpha1",
                                                        .plural = "clusterpropagationpolicies",
                                                        .kind = "ClusterPropagationPolicy",
                                                        .namespaced = false};
inline const kube::Resource kOverridePolicies{
    .group = "policy.karmada.io", .version = "v1alpha1", .plural = "overridepolicies", .kind = "OverridePolicy"};
inline const kube::Resource kClusterOverridePolicies{.group = "policy.karmada.io",
                                                     .version = "v1alpha1",
                                                     .plural = "clusteroverridepolicies",
                                                     .kind = "ClusterOverridePolicy",
                                                     .namespaced = false};
inline const kube::Resource kClusterTaintPolicies{.group = "policy.karmada.io",
                                                  .version = "v1alpha1",
                                                  .plural = "clustertaintpolicies",
                                                  .kind = "ClusterTaintPolicy",
                                                  .namespaced = false};
inline const kube::Resource kResourceBindings{
    .group = "work.karmada.io", .version = "v1alpha2", .plural = "resourcebindings", .kind = "ResourceBinding"};
inline const kube::Resource kClusterResourceBindings{.group = "work.karmada.io",
                                                     .version = "v1alpha2",
                                                     .plural = "clusterresourcebindings",
                                                     .kind = "ClusterResourceBinding",
                                                     .namespaced = false};
inline const kube::Resource kWorks{
    .group = "work.karmada.io", .version = "v1alpha1", .plural = "works", .kind = "Work"};
inline const kube::Resource kClusters{
    .group = "cluster.karmada.io", .version = "v1alpha1", .plural = "clusters", .kind = "Cluster", .namespaced = false};
inline const kube::Resource kCustomizations{.group = "config.karmada.io",
                                            .version = "v1alpha1",
                                            .plural = "resourceinterpretercustomizations",
                                            .kind = "ResourceInterpreterCustomization",
                                            .namespaced = false};
inline const kube::Resource kInterpreterWebhooks{.group = "config.karmada.io",
                                                 .version = "v1alpha1",
                                                 .plural = "resourceinterpreterwebhookconfigurations",
                                                 .kind = "ResourceInterpreterWebhookConfiguration",
                                                 .namespaced = false};
inline const kube::Resource kRebalancers{.group = "apps.karmada.io",
                                         .version = "v1alpha1",
                                         .plural = "workloadrebalancers",
                                         .kind = "WorkloadRebalancer",
                                         .namespaced = false};

// A binding's key: "namespace/name" is a ResourceBinding, "name" a ClusterResourceBinding.
inline const kube::Resource& BindingResource(std::string_view key) {
  return key.find('/') == std::string_view::npos ? kClusterResourceBindings : kResourceBindings;
}

}  // namespace baton::federation
