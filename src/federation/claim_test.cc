#include "federation/claim.h"

#include <gtest/gtest.h>

#include <string_view>

#include "json/yaml.h"

namespace baton::federation {
namespace {

json::Value Yaml(std::string_view text) { return json::ParseYaml(text).value(); }

const json::Value& Free() {
  static const json::Value object = Yaml("{kind: Pod, metadata: {name: p, labels: {app: x}}}");
  return object;
}

PropagationPolicy Namespaced() {
  PropagationPolicy policy;
  policy.key = {.policy_namespace = "default", .name = "a"};
  policy.permanent_id = "id-a";
  return policy;
}

PropagationPolicy ClusterScoped() {
  PropagationPolicy policy;
  policy.key = {.name = "b"};
  policy.permanent_id = "id-b";
  return policy;
}

TEST(ClaimTest, IsWrittenAndReadBack) {
  EXPECT_EQ(ClaimOf(Free()), std::nullopt);
  for (const PropagationPolicy& policy : {Namespaced(), ClusterScoped()}) {
    const json::Value claimed = WithClaim(Free(), policy);
    EXPECT_EQ(ClaimOf(claimed), (Claim{.policy = policy.key, .permanent_id = policy.permanent_id}));
    EXPECT_TRUE(WithClaim(claimed, policy).SharesStorageWith(claimed));
    EXPECT_EQ(WithoutClaims(claimed), Free());
  }
  EXPECT_TRUE(WithoutClaims(Free()).SharesStorageWith(Free()));
}

TEST(ClaimTest, HasKarmadasMarks) {
  EXPECT_EQ(WithClaim(Free(), Namespaced())["metadata"],
            Yaml("{name: p, labels: {app: x, propagationpolicy.karmada.io/permanent-id: id-a}, annotations: "
                 "{propagationpolicy.karmada.io/name: a, propagationpolicy.karmada.io/namespace: default}}"));
  EXPECT_EQ(WithClaim(Free(), ClusterScoped())["metadata"],
            Yaml("{name: p, labels: {app: x, clusterpropagationpolicy.karmada.io/permanent-id: id-b}, annotations: "
                 "{clusterpropagationpolicy.karmada.io/name: b}}"));
}

TEST(ClaimTest, ANamespacedPolicyTakesTheOthersMarksAway) {
  EXPECT_EQ(WithClaim(WithClaim(Free(), ClusterScoped()), Namespaced()), WithClaim(Free(), Namespaced()));
}

TEST(ClaimTest, CountsOnlyWhole) {
  for (const std::string_view key : {"name", "namespace"}) {
    json::Value object = WithClaim(Free(), Namespaced());
    object.Edit("metadata").Edit("annotations").Erase(std::string("propagationpolicy.karmada.io/").append(key));
    EXPECT_EQ(ClaimOf(object), std::nullopt) << key;
  }
  json::Value object = WithClaim(Free(), ClusterScoped());
  object.Edit("metadata").Edit("labels").Set("clusterpropagationpolicy.karmada.io/permanent-id", "");
  EXPECT_EQ(ClaimOf(object), std::nullopt);
}

TEST(ClaimTest, APolicyThatWasMadeAnewClaimsAnew) {
  PropagationPolicy again = Namespaced();
  again.permanent_id = "id-2";
  EXPECT_EQ(ClaimOf(WithClaim(WithClaim(Free(), Namespaced()), again))->permanent_id, "id-2");
}

}  // namespace
}  // namespace baton::federation
