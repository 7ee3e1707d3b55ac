// Derived names: see karmada_names.h. Tested against Karmada's own functions.
#include "api/karmada_names.h"

#include <algorithm>

#include "api/karmada_keys.h"
#include "base/hash.h"
#include "base/strings.h"

namespace baton::api::karmada {
namespace {

std::string WithoutColons(std::string_view name) {
  std::string changed(name);
  std::ranges::replace(changed, ':', '.');
  return changed;
}

std::string ShortHash(std::string_view text) { return SafeEncode(StrCat(Fnv1a32(text))); }

}  // namespace

std::string ExecutionNamespace(std::string_view cluster) { return StrCat(kExecutionPrefix, cluster); }

std::optional<std::string_view> ClusterOfExecutionNamespace(std::string_view name) {
  if (!name.starts_with(kExecutionPrefix)) return std::nullopt;
  return name.substr(kExecutionPrefix.size());
}

std::string BindingName(std::string_view kind, std::string_view name) {
  return ToLower(StrCat(WithoutColons(name), "-", kind));
}

std::string WorkName(std::string_view kind, std::string_view object_namespace, std::string_view name) {
  const std::string lower = ToLower(WithoutColons(name));
  const std::string hashed = ToLower(StrCat(object_namespace, object_namespace.empty() ? "" : "-", lower, "-", kind));
  return StrCat(lower, "-", ShortHash(hashed));
}

std::string BindingReferenceKey(std::string_view binding_namespace, std::string_view binding_name) {
  return ShortHash(StrCat(binding_namespace, binding_namespace.empty() ? "" : "/", binding_name));
}

std::string DependedByLabel(std::string_view binding_namespace, std::string_view binding_name) {
  return StrCat(kDependedByPrefix, BindingReferenceKey(binding_namespace, binding_name));
}

std::string PromotedPolicyName(std::string_view object_namespace, std::string_view name, std::string_view gvk) {
  return ToLower(StrCat(WithoutColons(name), "-", ShortHash(StrCat(object_namespace, gvk))));
}

std::string MemberServiceAccount(std::string_view cluster) { return StrCat("karmada-", cluster); }
std::string MemberRole(std::string_view service_account) {
  return StrCat("karmada-controller-manager:", service_account);
}
std::string ImpersonationSecret(std::string_view cluster) { return StrCat(cluster, "-impersonator"); }
std::string EstimatorService(std::string_view cluster) { return StrCat("karmada-scheduler-estimator-", cluster); }
std::string ImportedEndpointSlice(std::string_view cluster, std::string_view name) {
  return StrCat("imported-", cluster, "-", name);
}
std::string DerivedService(std::string_view name) { return StrCat("derived-", name); }

bool IsReservedNamespace(std::string_view name) {
  return name == kSystemNamespace || name == kClusterNamespace || name.starts_with(kExecutionPrefix);
}

}  // namespace baton::api::karmada
