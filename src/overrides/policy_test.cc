#include "overrides/policy.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/strings.h"
#include "json/yaml.h"

namespace baton::overrides {
namespace {

Result<Policy> Compiled(std::string_view yaml) { return CompilePolicy(json::ParseYaml(yaml).value()); }

TEST(PolicyTest, ErrorsNamePolicyAndField) {
  struct Row {
    std::string_view spec, message;
  };
  const Row rows[] = {
      {"{resourceSelectors: 5}", "spec: resourceSelectors must be a list, not int"},
      {"{resourceSelectors: [{kind: Pod}]}", "spec: resourceSelectors[0]: apiVersion is missing"},
      {"{resourceSelectors: [{apiVersion: v1, kind: Pod, labelSelector: {matchLabels: {'a b': c}}}]}",
       "spec: resourceSelectors[0]: labelSelector: "},
      {"{overrideRules: [{overriders: {imageOverrider: [{component: Host, operator: add}]}}]}",
       "spec.overrideRules[0]: overriders: imageOverrider[0]: component must be Registry, Repository or Tag, not "
       "\"Host\""},
      {"{overrideRules: [{overriders: {imageOverrider: [{component: Tag, operator: set}]}}]}",
       "spec.overrideRules[0]: overriders: imageOverrider[0]: operator must be add, remove or replace, not \"set\""},
      {"{overrideRules: [{overriders: {imageOverrider: [{component: Tag, operator: add, predicate: {path: a}}]}}]}",
       "spec.overrideRules[0]: overriders: imageOverrider[0]: predicate.path: "},
      {"{overrideRules: [{overriders: {commandOverrider: [{containerName: a, operator: replace}]}}]}",
       "spec.overrideRules[0]: overriders: commandOverrider[0]: operator must be add or remove, not \"replace\""},
      {"{overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {a: 1}}]}}]}",
       "spec.overrideRules[0]: overriders: labelsOverrider[0]: value of \"a\" must be a string, not int"},
      {"{overrideRules: [{overriders: {plaintext: [{path: a, operator: add}]}}]}",
       "spec.overrideRules[0]: overriders: plaintext[0]: path: "},
      {"{overrideRules: [{overriders: {fieldOverrider: [{yaml: []}]}}]}",
       "spec.overrideRules[0]: overriders: fieldOverrider[0]: fieldPath is missing"},
      {"{overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, yaml: [{subPath: /a, operator: add}]}]}}]}",
       "spec.overrideRules[0]: overriders: fieldOverrider[0]: yaml[0]: value is missing, which add needs"},
      {"{overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, yaml: [{subPath: /a, operator: remove}], json: "
       "[{subPath: /a, operator: remove}]}]}}]}",
       "spec.overrideRules[0]: overriders: fieldOverrider[0]: json and yaml exclude each other"},
      {"{overrideRules: [{overriders: {}, targetCluster: {fieldSelector: {matchExpressions: [{key: zone, operator: "
       "Gt}]}}}]}",
       "spec.overrideRules[0]: targetCluster: fieldSelector: matchExpressions[0]: operator must be In or NotIn, not "
       "\"Gt\""},
      {"{overrideRules: [{overriders: {}, targetCluster: {clusterNames: [1]}}]}",
       "spec.overrideRules[0]: targetCluster: clusterNames must be a list of strings, and has an item of type int"},
      {"{overrideRules: [5]}", "spec.overrideRules[0]: a rule must be an object"},
      {"{overriders: 5}", "spec: overriders: overriders must be an object"},
      {"5", "spec must be an object, not int"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.spec);
    const Result<Policy> policy =
        Compiled(StrCat("{kind: OverridePolicy, metadata: {name: x, namespace: default}, spec: ", row.spec, "}"));
    ASSERT_FALSE(policy.ok());
    EXPECT_TRUE(policy.error().message().starts_with(StrCat("OverridePolicy default/x: ", row.message)))
        << policy.error().message();
  }
}

TEST(PolicyTest, NeedsAKindANameAndItsNamespace) {
  EXPECT_EQ(Compiled("{kind: Pod}").error().message(),
            "expected an OverridePolicy or a ClusterOverridePolicy, not kind \"Pod\"");
  EXPECT_EQ(Compiled("{kind: OverridePolicy, metadata: {namespace: a}}").error().message(),
            "OverridePolicy: metadata: name is missing");
  EXPECT_EQ(Compiled("{kind: OverridePolicy, metadata: {name: a}}").error().message(),
            "OverridePolicy: metadata: namespace is missing");
  EXPECT_TRUE(Compiled("{kind: ClusterOverridePolicy, metadata: {name: a}}").ok());
}

TEST(PolicyTest, LimitsTheOverridersOfARule) {
  std::string items;
  for (size_t i = 0; i <= kMaxOverriders; ++i) StrAppend(items, "{path: /a, operator: remove},");
  const Result<Policy> policy = Compiled(
      StrCat("{kind: ClusterOverridePolicy, metadata: {name: a}, spec: {overrideRules: [{overriders: {plaintext: [",
             items, "]}}]}}"));
  ASSERT_FALSE(policy.ok());
  EXPECT_EQ(policy.error().kind(), ErrorKind::kTooLarge);
}

TEST(PolicyTest, AClusterKnowsItsDeprecatedZone) {
  EXPECT_EQ(Target::FromCluster(json::ParseYaml("{spec: {zone: a}}").value()).zones, std::vector<std::string>{"a"});
  EXPECT_EQ(Target::FromCluster(json::ParseYaml("{spec: {zone: a, zones: [b]}}").value()).zones,
            std::vector<std::string>{"b"});
}

}  // namespace
}  // namespace baton::overrides
