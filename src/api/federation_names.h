// Labels, annotations and finalizers of the federation that more than one place must spell alike.
#pragma once

#include <string_view>

namespace baton::api {

inline constexpr std::string_view kPropagationPolicyId = "propagationpolicy.karmada.io/permanent-id";
inline constexpr std::string_view kClusterPropagationPolicyId = "clusterpropagationpolicy.karmada.io/permanent-id";
inline constexpr std::string_view kResourceBindingId = "resourcebinding.karmada.io/permanent-id";
inline constexpr std::string_view kClusterResourceBindingId = "clusterresourcebinding.karmada.io/permanent-id";
inline constexpr std::string_view kWorkId = "work.karmada.io/permanent-id";

inline constexpr std::string_view kManagedAnnotations = "resourcetemplate.karmada.io/managed-annotations";
inline constexpr std::string_view kManagedLabels = "resourcetemplate.karmada.io/managed-labels";
inline constexpr std::string_view kDependenciesAnnotation = "resourcebinding.karmada.io/dependencies";

inline constexpr std::string_view kPropagationPolicyFinalizer = "karmada.io/propagation-policy-controller";
inline constexpr std::string_view kClusterPropagationPolicyFinalizer =
    "karmada.io/cluster-propagation-policy-controller";

}  // namespace baton::api
