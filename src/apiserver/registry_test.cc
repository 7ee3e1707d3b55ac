#include "apiserver/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/builtin_types.h"
#include "apiserver/types_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ResourceTypePtr Type(std::string_view group, std::string_view version, std::string_view kind, std::string_view plural) {
  return Share(MakeType(group, version, kind, plural));
}

std::vector<std::string> Names(const std::vector<ResourceTypePtr>& types) {
  std::vector<std::string> names;
  for (const ResourceTypePtr& type : types) names.push_back(StrCat(type->ApiVersion(), " ", type->plural));
  return names;
}

TEST(RegistryTest, OrdersVersionsAsKubernetesDoes) {
  const std::vector<std::string> sorted = {"v20",      "v10",     "v2",      "v1",        "v11beta2",  "v10beta3",
                                           "v3beta10", "v3beta2", "v3beta1", "v12alpha1", "v11alpha2", "foo1",
                                           "foo10",    "v0",      "v01",     "v1beta",    "v1rc1"};
  for (size_t i = 0; i < sorted.size(); ++i) {
    for (size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(VersionPrecedes(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
    }
  }
}

TEST(RegistryTest, FindsTypesByPluralByKindAndByPreferredVersion) {
  const std::vector<ResourceTypePtr> built_in = {Type("", "v1", "Pod", "pods"),
                                                 Type("autoscaling", "v1", "HorizontalPodAutoscaler", "hpas"),
                                                 Type("autoscaling", "v2", "HorizontalPodAutoscaler", "hpas")};
  const Registry registry(built_in);
  EXPECT_EQ(registry.Find("", "v1", "pods"), built_in[0]);
  EXPECT_EQ(registry.Find("", "v1", "Pod"), nullptr);
  EXPECT_EQ(registry.Find("", "v2", "pods"), nullptr);
  EXPECT_EQ(registry.Find("apps", "v1", "pods"), nullptr);
  EXPECT_EQ(registry.FindKind("", "v1", "Pod"), built_in[0]);
  EXPECT_EQ(registry.FindKind("", "v1", "pods"), nullptr);
  EXPECT_EQ(registry.FindKind("", "v2", "Pod"), nullptr);
  EXPECT_EQ(registry.FindKind("apps", "v1", "Pod"), nullptr);
  EXPECT_EQ(registry.FindResource("autoscaling", "hpas"), built_in[2]);
  EXPECT_EQ(registry.FindResource("autoscaling", "pods"), nullptr);
  EXPECT_EQ(registry.FindResource("apps", "hpas"), nullptr);
  EXPECT_TRUE(registry.HasGroup("autoscaling"));
  EXPECT_FALSE(registry.HasGroup("apps"));
  EXPECT_TRUE(registry.HasGroupVersion("autoscaling", "v1"));
  EXPECT_FALSE(registry.HasGroupVersion("autoscaling", "v3"));
  EXPECT_FALSE(registry.HasGroupVersion("apps", "v1"));
}

TEST(RegistryTest, ListsGroupsByPriorityThenByName) {
  const std::vector<ResourceTypePtr> built_in = {
      Type("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets"),
      Type("apps", "v1", "Deployment", "deployments"), Type("events.k8s.io", "v1", "Event", "events"),
      Type("", "v1", "Pod", "pods"), Type("autoscaling", "v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers")};
  Registry registry(built_in);
  registry.SetCustom("b.zoo.io", {Type("zoo.io", "v1", "B", "bs")});
  registry.SetCustom("a.acme.io", {Type("acme.io", "v1beta1", "A", "as"), Type("acme.io", "v1", "A", "as")});
  EXPECT_THAT(registry.Groups(),
              ElementsAre("", "apps", "events.k8s.io", "autoscaling", "policy", "acme.io", "zoo.io"));
  EXPECT_THAT(registry.Versions("acme.io"), ElementsAre("v1", "v1beta1"));
  EXPECT_THAT(registry.Versions("none"), IsEmpty());
}

TEST(RegistryTest, ListsTypesByPluralAndOneForEachStoredResource) {
  api::ResourceType review = MakeType("", "v1", "Binding", "bindings");
  review.stored = false;
  const std::vector<ResourceTypePtr> built_in = {Type("", "v1", "Secret", "secrets"), Type("", "v1", "Pod", "pods"),
                                                 Share(review)};
  Registry registry(built_in);
  registry.SetCustom("a.acme.io", {Type("acme.io", "v1beta1", "A", "as"), Type("acme.io", "v1", "A", "as")});
  EXPECT_THAT(Names(registry.Types("", "v1")), ElementsAre("v1 bindings", "v1 pods", "v1 secrets"));
  EXPECT_THAT(registry.Types("", "v2"), IsEmpty());
  EXPECT_THAT(registry.Types("none", "v1"), IsEmpty());
  EXPECT_THAT(Names(registry.AllTypes()),
              ElementsAre("v1 bindings", "v1 pods", "v1 secrets", "acme.io/v1 as", "acme.io/v1beta1 as"));
  EXPECT_THAT(Names(registry.StoredResources()), ElementsAre("v1 pods", "v1 secrets", "acme.io/v1 as"));
}

TEST(RegistryTest, CountsChangesAndKeepsBuiltInTypes) {
  const std::vector<ResourceTypePtr> built_in = {Type("", "v1", "Pod", "pods")};
  Registry registry(built_in);
  const uint64_t first = registry.generation();
  registry.SetCustom("none.acme.io", {});
  EXPECT_EQ(registry.generation(), first);

  registry.SetCustom("pods.", {Type("", "v1", "Fake", "pods"), Type("acme.io", "v1", "A", "as")});
  EXPECT_EQ(registry.generation(), first + 1);
  EXPECT_EQ(registry.Find("", "v1", "pods"), built_in[0]);
  const ResourceTypePtr held = registry.Find("acme.io", "v1", "as");

  registry.SetCustom("pods.", {Type("acme.io", "v1", "A2", "as")});
  EXPECT_EQ(registry.generation(), first + 2);
  EXPECT_EQ(registry.Find("acme.io", "v1", "as")->kind, "A2");
  EXPECT_EQ(held->kind, "A");

  registry.SetCustom("pods.", {});
  EXPECT_EQ(registry.generation(), first + 3);
  EXPECT_FALSE(registry.HasGroup("acme.io"));
}

TEST(RegistryTest, BeginsWithTheBuiltInTypes) {
  const Registry registry;
  EXPECT_EQ(registry.AllTypes().size(), api::BuiltinTypes().size());
}

}  // namespace
}  // namespace baton::apiserver
