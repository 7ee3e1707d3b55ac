#include "api/karmada_names.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "api/karmada_keys.h"
#include "json/names.h"
#include "json/parse.h"

namespace baton::api::karmada {
namespace {

// Made by Karmada's own functions (tests/golden/overrides).
TEST(KarmadaNamesTest, AreThoseOfKarmada) {
  std::ifstream file(BATON_SOURCE_DIR "/tests/golden/overrides.json");
  std::stringstream text;
  text << file.rdbuf();
  const json::Value golden = json::Parse(text.str()).value();
  for (const json::Value& row : golden["names"].items()) {
    const std::string_view kind = row["kind"].str();
    const std::string_view space = row["namespace"].str();
    const std::string_view name = row["name"].str();
    SCOPED_TRACE(row);
    EXPECT_EQ(BindingName(kind, name), row["binding"].str());
    EXPECT_EQ(WorkName(kind, space, name), row["work"].str());
    EXPECT_EQ(BindingReferenceKey(space, name), row["referenceKey"].str());
    EXPECT_EQ(PromotedPolicyName(space, name, kind), row["policy"].str());
  }
  EXPECT_GT(golden["names"].size(), 15U);
}

TEST(KarmadaNamesTest, WorksAreNamedByHash) {
  EXPECT_EQ(WorkName("Deployment", "default", "nginx"), "nginx-687f7fb96f");
  EXPECT_EQ(WorkName("Service", "default", "nginx"), "nginx-64b7849b5");
  EXPECT_EQ(WorkName("FlinkDeployment", "test", "foo"), "foo-68b6456b8");
  EXPECT_EQ(PromotedPolicyName("ns-foo", "foo", "rand"), "foo-b4978784");
}

TEST(KarmadaNamesTest, BindingsAreNamedByNameAndKind) {
  EXPECT_EQ(BindingName("Pods", "pod"), "pod-pods");
  EXPECT_EQ(BindingName("pods", "Pod"), "pod-pods");
  EXPECT_EQ(BindingName("Role", "system:controller:tom"), "system.controller.tom-role");
  EXPECT_EQ(BindingName("ClusterRole", "system::tom"), "system..tom-clusterrole");
  EXPECT_EQ(BindingName("RoleBinding", "system::tt:tom"), "system..tt.tom-rolebinding");
}

TEST(KarmadaNamesTest, NamespaceAndNameOfABindingDoNotRunIntoEachOther) {
  EXPECT_NE(BindingReferenceKey("a", "b-c"), BindingReferenceKey("a-b", "c"));
  EXPECT_NE(BindingReferenceKey("", "c"), BindingReferenceKey("a", "c"));
  EXPECT_EQ(DependedByLabel("a", "b"), "resourcebinding.karmada.io/depended-by-" + BindingReferenceKey("a", "b"));
  EXPECT_TRUE(json::CheckQualifiedName(DependedByLabel("namespace", "name")).empty());
}

TEST(KarmadaNamesTest, ExecutionNamespacesGoBothWays) {
  EXPECT_EQ(ExecutionNamespace("member-cluster-normal"), "karmada-es-member-cluster-normal");
  EXPECT_EQ(ClusterOfExecutionNamespace("karmada-es-member-cluster-normal"), "member-cluster-normal");
  EXPECT_EQ(ClusterOfExecutionNamespace("invalid"), std::nullopt);
  EXPECT_EQ(ClusterOfExecutionNamespace(""), std::nullopt);
}

TEST(KarmadaNamesTest, HelpersHaveFixedShapes) {
  EXPECT_EQ(MemberServiceAccount("cluster1"), "karmada-cluster1");
  EXPECT_EQ(MemberRole("account"), "karmada-controller-manager:account");
  EXPECT_EQ(ImpersonationSecret("clusterA"), "clusterA-impersonator");
  EXPECT_EQ(EstimatorService("cluster"), "karmada-scheduler-estimator-cluster");
  EXPECT_EQ(ImportedEndpointSlice("cluster", "endpoint"), "imported-cluster-endpoint");
  EXPECT_EQ(DerivedService("service"), "derived-service");
}

TEST(KarmadaNamesTest, KarmadasOwnNamespacesAreReserved) {
  for (const std::string_view name : {"karmada-system", "karmada-cluster", "karmada-es-", "karmada-es-member1"}) {
    EXPECT_TRUE(IsReservedNamespace(name)) << name;
  }
  for (const std::string_view name : {"default", "karmada", "karmada-systems", "kube-system", ""}) {
    EXPECT_FALSE(IsReservedNamespace(name)) << name;
  }
}

TEST(KarmadaKeysTest, AreValidAndDifferent) {
  std::set<std::string_view> seen;
  for (const std::string_view key : {kPropagationPolicyId,
                                     kClusterPropagationPolicyId,
                                     kResourceBindingId,
                                     kClusterResourceBindingId,
                                     kWorkId,
                                     kMultiClusterServiceId,
                                     kPropagationPolicyNamespace,
                                     kPropagationPolicyName,
                                     kClusterPropagationPolicyName,
                                     kClaimedBy,
                                     kManaged,
                                     kSystem,
                                     kBindingManagedBy,
                                     kRetainReplicas,
                                     kDeletionProtected,
                                     kSkipAutoPropagation,
                                     kEndpointSliceNamespace,
                                     kEndpointSliceName,
                                     kEndpointSliceManagedBy,
                                     kMultiClusterServiceNamespace,
                                     kMultiClusterServiceName,
                                     kQuotaNamespace,
                                     kQuotaName,
                                     kInstruction,
                                     kAppliedPlacement,
                                     kAppliedOverrides,
                                     kAppliedClusterOverrides,
                                     kResourceBindingNamespace,
                                     kResourceBindingName,
                                     kClusterResourceBindingName,
                                     kDependencies,
                                     kWorkNamespace,
                                     kWorkName,
                                     kConflictResolution,
                                     kTemplateUid,
                                     kTemplateGeneration,
                                     kManagedLabels,
                                     kManagedAnnotations,
                                     kCachedFromCluster,
                                     kQueryFromCluster,
                                     kProvisionCluster,
                                     kPropagationPolicyFinalizer,
                                     kClusterPropagationPolicyFinalizer,
                                     kBindingFinalizer,
                                     kClusterBindingFinalizer,
                                     kDependenciesFinalizer,
                                     kExecutionFinalizer,
                                     kClusterFinalizer,
                                     kEndpointSliceFinalizer,
                                     kMultiClusterServiceFinalizer,
                                     kEndpointSliceCollectFinalizer,
                                     kEndpointSliceDispatchFinalizer}) {
    EXPECT_TRUE(json::CheckQualifiedName(key).empty()) << key;
    EXPECT_TRUE(seen.insert(key).second) << key;
    EXPECT_NE(key.find("karmada.io/"), std::string_view::npos) << key;
  }
}

}  // namespace
}  // namespace baton::api::karmada
