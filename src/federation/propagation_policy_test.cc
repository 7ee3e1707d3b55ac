#include "federation/propagation_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/strings.h"
#include "json/yaml.h"

namespace baton::federation {
namespace {

Result<PropagationPolicy> Compiled(std::string_view yaml) {
  return CompilePropagationPolicy(json::ParseYaml(yaml).value());
}

TEST(PropagationPolicyTest, ReadsWhatMatchingNeeds) {
  const PropagationPolicy policy =
      Compiled(
          "{kind: PropagationPolicy, metadata: {name: a, namespace: ns, deletionTimestamp: x, labels: "
          "{propagationpolicy.karmada.io/permanent-id: id}}, spec: {priority: -3, preemption: Always, "
          "activationPreference: Lazy, dependentOverrides: [o], resourceSelectors: [{apiVersion: v1, kind: Pod}]}}")
          .value();
  EXPECT_EQ(policy.key, (PolicyKey{.policy_namespace = "ns", .name = "a"}));
  EXPECT_EQ(policy.permanent_id, "id");
  EXPECT_EQ(policy.priority, -3);
  EXPECT_TRUE(policy.preempts && policy.lazy && policy.deleting);
  EXPECT_EQ(policy.dependent_overrides, std::vector<std::string>{"o"});
  EXPECT_EQ(policy.selectors.size(), 1U);
}

TEST(PropagationPolicyTest, ErrorsNameThePolicy) {
  EXPECT_EQ(Compiled("{kind: Pod}").error().message(),
            "expected a PropagationPolicy or a ClusterPropagationPolicy, not kind \"Pod\"");
  EXPECT_EQ(Compiled("{kind: PropagationPolicy, metadata: {name: a}}").error().message(),
            "PropagationPolicy: metadata.namespace is missing");
  EXPECT_EQ(Compiled("{kind: ClusterPropagationPolicy}").error().message(),
            "ClusterPropagationPolicy: metadata.name is missing");
  EXPECT_EQ(
      Compiled("{kind: ClusterPropagationPolicy, metadata: {name: a}, spec: {resourceSelectors: [{apiVersion: v1}]}}")
          .error()
          .message(),
      "ClusterPropagationPolicy a: spec: resourceSelectors[0]: kind is missing");
  EXPECT_EQ(
      Compiled("{kind: ClusterPropagationPolicy, metadata: {name: a}, spec: {priority: 3000000000}}").error().message(),
      "ClusterPropagationPolicy a: spec: priority must be a 32-bit integer");
}

TEST(PolicySetTest, PutsReplacesAndErases) {
  PolicySet set;
  const auto policy = [](std::string_view kind) {
    return Compiled(
               StrCat("{kind: ClusterPropagationPolicy, metadata: {name: a}, spec: {resourceSelectors: [{apiVersion: "
                      "v1, kind: ",
                      kind, "}, {apiVersion: v1, kind: ", kind, "}]}}"))
        .value();
  };
  const auto candidates = [&](std::string_view kind) {
    const json::Value labels;
    size_t count = 0;
    set.Candidates("", ObjectRef{.api_version = "v1", .kind = kind, .name = "x", .labels = &labels},
                   [&](const PropagationPolicy&) { ++count; });
    return count;
  };
  set.Put(policy("Pod"));
  EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(candidates("Pod"), 1U);
  set.Put(policy("Secret"));
  EXPECT_EQ(set.size(), 1U);
  EXPECT_EQ(candidates("Pod"), 0U);
  EXPECT_EQ(candidates("Secret"), 1U);
  EXPECT_NE(set.Find({.name = "a"}), nullptr);
  EXPECT_EQ(set.Find({.policy_namespace = "ns", .name = "a"}), nullptr);
  EXPECT_TRUE(set.Erase({.name = "a"}));
  EXPECT_FALSE(set.Erase({.name = "a"}));
  EXPECT_EQ(candidates("Secret"), 0U);
}

// A template looks at the policies that name it and at those without a name, not at the other thousands.
TEST(PolicySetTest, ComparesWithFew) {
  PolicySet set;
  for (int i = 0; i < 5000; ++i) {
    set.Put(Compiled(StrCat("{kind: PropagationPolicy, metadata: {name: p", i, ", namespace: n", i % 10,
                            "}, spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: d", i, "}]}}"))
                .value());
  }
  const json::Value labels;
  size_t compared = 0;
  set.Candidates(
      "n3",
      ObjectRef{
          .api_version = "apps/v1", .kind = "Deployment", .object_namespace = "n3", .name = "d13", .labels = &labels},
      [&](const PropagationPolicy&) { ++compared; });
  EXPECT_EQ(compared, 1U);
}

}  // namespace
}  // namespace baton::federation
