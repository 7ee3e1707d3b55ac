#include "overrides/apply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "json/print.h"
#include "json/yaml.h"
#include "overrides/golden_for_test.h"

namespace baton::overrides {
namespace {

using json::Value;

const Value& Named(std::string_view object) { return Golden()["objects"][object]; }

Policy PolicyOf(std::string_view yaml) { return CompilePolicy(json::ParseYaml(yaml).value()).value(); }

// An OverridePolicy default/<name> with these overriders, in flow YAML, for every object and cluster.
Policy Simple(std::string_view name, std::string_view overriders) {
  return PolicyOf(StrCat("{kind: OverridePolicy, metadata: {name: ", name,
                         ", namespace: default}, spec: {overrideRules: [{overriders: ", overriders, "}]}}"));
}

Target Member() { return {.name = "member1"}; }

TEST(ApplyTest, WithoutAnOverrideItIsTheSameValue) {
  const Value& object = Named("deployment");
  const std::vector<Policy> none;
  const std::vector<Policy> elsewhere{
      PolicyOf("{kind: OverridePolicy, metadata: {name: a, namespace: other}, spec: {overrideRules: [{overriders: "
               "{labelsOverrider: [{operator: add, value: {a: b}}]}}]}}")};
  for (const std::vector<Policy>& policies : {none, elsewhere}) {
    const Applied applied = Apply(object, Member(), policies).value();
    EXPECT_TRUE(applied.object.SharesStorageWith(object));
    EXPECT_TRUE(applied.rules.empty());
    EXPECT_EQ(applied.overrides, "");
    EXPECT_EQ(applied.cluster_overrides, "");
  }
}

TEST(ApplyTest, AnOverrideThatChangesNothingIsListedButCopiesNothing) {
  const std::string_view rows[] = {
      "{labelsOverrider: [{operator: add, value: {app: web}}, {operator: remove, value: {absent: x}}]}",
      "{annotationsOverrider: [{operator: replace, value: {absent: x}}]}",
      "{imageOverrider: [{component: Tag, operator: replace, value: 'no tag'}]}",
      "{commandOverrider: [{containerName: web, operator: remove, value: [absent]}]}",
      "{argsOverrider: [{containerName: absent, operator: add, value: [x]}]}",
      "{plaintext: [{path: /spec/replicas, operator: replace, value: 2}]}",
      "{}",
  };
  for (const std::string_view overriders : rows) {
    SCOPED_TRACE(overriders);
    const std::vector<Policy> policies{Simple("p", overriders)};
    const Applied applied = Apply(Named("deployment"), Member(), policies).value();
    EXPECT_TRUE(applied.object.SharesStorageWith(Named("deployment")));
    EXPECT_EQ(applied.rules.size(), 1U);
    EXPECT_NE(applied.overrides, "");
  }
}

TEST(ApplyTest, TheInputIsNeverChanged) {
  const std::string before = json::Print(Named("deployment"));
  const std::vector<Policy> policies{
      Simple("p",
             "{imageOverrider: [{component: Registry, operator: replace, value: m.example}], labelsOverrider: "
             "[{operator: add, value: {a: b}}], plaintext: [{path: /spec/replicas, operator: replace, value: 9}]}")};
  ASSERT_TRUE(Apply(Named("deployment"), Member(), policies).ok());
  EXPECT_EQ(json::Print(Named("deployment")), before);
}

TEST(ApplyTest, AnErrorNamesPolicyRuleAndPath) {
  struct Row {
    std::string_view object, overriders, message;
  };
  const Row rows[] = {
      {"flink",
       "{plaintext: [{path: /spec/a, operator: add, value: 1}, {path: /spec/job/nope, operator: replace, value: 1}]}",
       "plaintext: operation 1 (replace /spec/job/nope): there is no member \"nope\" at /spec/job"},
      {"badimage", "{imageOverrider: [{component: Tag, operator: replace, value: v}]}",
       "imageOverrider[0]: /spec/containers/0/image: \"Not An Image\" is no image name: expected "
       "[registry[:port]/]repository[:tag][@digest]"},
      {"deployment", "{imageOverrider: [{component: Tag, operator: replace, predicate: {path: /spec/replicas}}]}",
       "imageOverrider[0]: /spec/replicas: an image must be a string, not int"},
      {"deployment", "{imageOverrider: [{component: Tag, operator: replace, predicate: {path: /spec/none}}]}",
       "imageOverrider[0]: /spec/none: there is no image"},
      {"configmap",
       "{fieldOverrider: [{fieldPath: /data/config.yaml, yaml: [{subPath: /app/nope, operator: remove}]}]}",
       "fieldOverrider[0]: /data/config.yaml: operation 0 (remove /app/nope): there is no member \"nope\" at /app"},
      {"configmap", "{fieldOverrider: [{fieldPath: /number, yaml: [{subPath: /a, operator: remove}]}]}",
       "fieldOverrider[0]: /number: must be a string with a document in it, not int"},
      {"configmap", "{fieldOverrider: [{fieldPath: /data/none, yaml: [{subPath: /a, operator: remove}]}]}",
       "fieldOverrider[0]: /data/none: there is no member \"none\" at /data"},
      {"deployment", "{plaintext: [{path: /kind, operator: remove}]}",
       "plaintext: the result is no object with a kind"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.overriders);
    const std::vector<Policy> policies{
        PolicyOf(StrCat("{kind: OverridePolicy, metadata: {name: bad, namespace: default}, spec: {overrideRules: "
                        "[{overriders: {}}, {overriders: ",
                        row.overriders, "}]}}"))};
    const Result<Applied> applied = Apply(Named(row.object), Member(), policies);
    ASSERT_FALSE(applied.ok());
    EXPECT_EQ(applied.error().message(), StrCat("OverridePolicy default/bad: spec.overrideRules[1]: ", row.message));
  }
  const std::vector<Policy> deprecated{
      PolicyOf("{kind: ClusterOverridePolicy, metadata: {name: old}, spec: {overriders: {plaintext: [{path: /nope, "
               "operator: remove}]}}}")};
  EXPECT_EQ(
      Apply(Named("namespace"), Member(), deprecated).error().message(),
      "ClusterOverridePolicy old: spec: plaintext: operation 0 (remove /nope): there is no member \"nope\" at the "
      "top of the document");
}

TEST(ApplyTest, SaysWhichRulesWereApplied) {
  const std::vector<Policy> policies{
      PolicyOf(
          "{kind: OverridePolicy, metadata: {name: op, namespace: default}, spec: {overrideRules: [{targetCluster: "
          "{clusterNames: [x]}, overriders: {}}, {overriders: {}}]}}"),
      PolicyOf("{kind: ClusterOverridePolicy, metadata: {name: cop}, spec: {overrideRules: [{overriders: {}}]}}")};
  const Applied applied = Apply(Named("deployment"), Member(), policies).value();
  ASSERT_EQ(applied.rules.size(), 2U);
  EXPECT_EQ(applied.rules[0].policy->Title(), "ClusterOverridePolicy cop");
  EXPECT_EQ(applied.rules[1].policy->Title(), "OverridePolicy default/op");
  EXPECT_EQ(applied.rules[1].rule->path, "spec.overrideRules[1]");
}

// The annotation of Karmada is JSON that Go printed: text that is safe in HTML.
TEST(ApplyTest, WritesTheAnnotationAsGoDoes) {
  const std::vector<Policy> policies{
      Simple("p", R"({plaintext: [{path: /a, operator: add, value: "<b>&"}, {path: /a, operator: remove}]})")};
  EXPECT_EQ(
      Apply(Named("flink"), Member(), policies).value().overrides,
      R"([{"policyName":"p","overriders":{"plaintext":[{"path":"/a","operator":"add","value":"\u003cb\u003e\u0026"},)"
      R"({"path":"/a","operator":"remove","value":null}]}}])");
}

TEST(ApplyTest, APolicyOfAnyPositionGivesTheSameResult) {
  std::vector<Policy> policies;
  for (const std::string_view selector :
       {"", "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}],",
        "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: web}}}],",
        "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}],"}) {
    for (const std::string_view name : {"a", "b"}) {
      for (const std::string_view kind : {"OverridePolicy", "ClusterOverridePolicy"}) {
        policies.push_back(PolicyOf(
            StrCat("{kind: ", kind, ", metadata: {name: ", name, policies.size() / 4, ", namespace: default}, spec: {",
                   selector, " overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {last: '",
                   policies.size(), "'}}], argsOverrider: [{containerName: web, operator: add, value: ['",
                   policies.size(), "']}]}}]}}")));
      }
    }
  }
  const Applied first = Apply(Named("deployment"), Member(), policies).value();
  std::mt19937 random(1);  // NOLINT: the same orders every time
  for (int i = 0; i < 50; ++i) {
    std::ranges::shuffle(policies, random);
    const Applied again = Apply(Named("deployment"), Member(), policies).value();
    ASSERT_EQ(again.object, first.object);
    ASSERT_EQ(again.overrides, first.overrides);
    ASSERT_EQ(again.cluster_overrides, first.cluster_overrides);
  }
  // By name, namespaced, and the later of two names.
  EXPECT_EQ(first.object["metadata"]["labels"]["last"].str(), "14");
}

TEST(ApplyTest, WorkIsBounded) {
  std::string containers;
  for (int i = 0; i < 2000; ++i) StrAppend(containers, i > 0 ? "," : "", R"({"name":"c","image":"a:1"})");
  std::string overriders;
  for (int i = 0; i < 1000; ++i) {
    StrAppend(overriders, i > 0 ? "," : "", R"({"component":"Tag","operator":"replace","value":"t)", i, "\"}");
  }
  const Value pod = json::ParseYaml(StrCat("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"default\"},"
                                           "\"spec\":{\"containers\":[",
                                           containers, "]}}"))
                        .value();
  const std::vector<Policy> policies{Simple("p", StrCat("{imageOverrider: [", overriders, "]}"))};
  const Result<Applied> applied = Apply(pod, Member(), policies);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().kind(), ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace baton::overrides
