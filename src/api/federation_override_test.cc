// Override policies: every rule with an object that keeps it and one that does not.
#include <gtest/gtest.h>

#include "api/federation_for_test.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: p, namespace: team}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
)";

constexpr std::string_view kClusterPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: p}
spec: {}
)";

TEST(OverridePolicyTest, SelectsInItsOwnNamespace) {
  EXPECT_EQ(Admit(FromYaml(kPolicy)).object["spec"]["resourceSelectors"][0]["namespace"].str(), "team");
  const RuleRow rows[] = {
      {"spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: team}]}",
       "spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}]}",
       "spec.resourceSelectors[0].namespace: Invalid value: \"other\": must be the policy's own namespace, \"team\""},
  };
  CheckRules(kPolicy, rows);
  EXPECT_EQ(Admit(FromYaml(kClusterPolicy)).object, FromYaml(kClusterPolicy));
}

TEST(OverridePolicyTest, KeepsEveryRuleOfItsSpec) {
  const RuleRow rows[] = {
      {"spec: {targetCluster: {clusterNames: [a]}, overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}",
       "spec: {targetCluster: {clusterNames: [a]}, overrideRules: [{overriders: {}}]}",
       "spec.targetCluster: Forbidden: may not be given together with overrideRules"},
      // As in Karmada a fieldOverrider alone does not count.
      {"spec: {overriders: {fieldOverrider: [{fieldPath: /a, json: [{subPath: /b, operator: remove}]}]}, "
       "overrideRules: [{overriders: {}}]}",
       "spec: {overriders: {argsOverrider: [{containerName: a, operator: add, value: [b]}]}, overrideRules: "
       "[{overriders: {}}]}",
       "spec.overriders: Forbidden: may not be given together with overrideRules"},
      {"spec: {targetCluster: {fieldSelector: {matchExpressions: [{key: region, operator: In}]}}}",
       "spec: {targetCluster: {fieldSelector: {matchExpressions: [{key: name, operator: In}]}}}",
       "spec.targetCluster.fieldSelector.matchExpressions[0].key: Unsupported value: \"name\": supported values: "
       "\"provider\", \"region\", \"zone\""},
      {"spec: {overrideRules: [{overriders: {}, targetCluster: {fieldSelector: {matchExpressions: [{key: zone, "
       "operator: NotIn}]}}}]}",
       "spec: {overrideRules: [{overriders: {}, targetCluster: {fieldSelector: {matchExpressions: [{key: zone, "
       "operator: Gt}]}}}]}",
       "spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions[0].operator: Unsupported value: \"Gt\": "
       "supported values: \"In\", \"NotIn\""},
      {"spec: {overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {Example.com/a: anything at "
       "all}}]}}]}",
       "spec: {overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {a/b/c: d}}]}}]}",
       "spec.overrideRules[0].overriders.annotationsOverrider[0].value: Invalid value: \"a/b/c\": a qualified name "
       "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
       "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
       "'example.com/MyName')"},
      {"spec: {overrideRules: [{overriders: {labelsOverrider: [{operator: replace, value: {a: b}}]}}]}",
       "spec: {overrideRules: [{overriders: {labelsOverrider: [{operator: replace, value: {a: not a label}}]}}]}",
       "spec.overrideRules[0].overriders.labelsOverrider[0].value: Invalid value: \"not a label\": a valid label must "
       "be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
      {"spec: {overrideRules: [{overriders: {imageOverrider: [{predicate: {path: /spec/image}, component: Tag, "
       "operator: replace, value: v2}]}}]}",
       "spec: {overrideRules: [{overriders: {imageOverrider: [{predicate: {path: spec/image}, component: Tag, "
       "operator: replace, value: v2}]}}]}",
       "spec.overrideRules[0].overriders.imageOverrider[0].predicate.path: Invalid value: \"spec/image\": the JSON "
       "pointer \"spec/image\" does not begin with '/'"},
      {"spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /data/a, json: [{subPath: /b, operator: "
       "remove}]}]}}]}",
       "spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /data/a, json: [{subPath: /b, operator: "
       "remove}], yaml: [{subPath: /b, operator: remove}]}]}}]}",
       "spec.overrideRules[0].overriders.fieldOverrider[0].yaml: Forbidden: may not be given together with json"},
      {"spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /data/a, yaml: [{subPath: '', operator: add, "
       "value: 0}]}]}}]}",
       "spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: data}]}}]}",
       "spec.overrideRules[0].overriders.fieldOverrider[0]: Required value: must have json or yaml; "
       "spec.overrideRules[0].overriders.fieldOverrider[0].fieldPath: Invalid value: \"data\": the JSON pointer "
       "\"data\" does not begin with '/'"},
      {"spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, json: [{subPath: /b, operator: replace, "
       "value: x}]}]}}]}",
       "spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, json: [{subPath: b, operator: "
       "replace}]}]}}]}",
       "spec.overrideRules[0].overriders.fieldOverrider[0].json[0].subPath: Invalid value: \"b\": the JSON pointer "
       "\"b\" does not begin with '/'; spec.overrideRules[0].overriders.fieldOverrider[0].json[0].value: Required "
       "value: to replace it"},
      {"spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, yaml: [{subPath: /b, operator: "
       "remove}]}]}}]}",
       "spec: {overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, yaml: [{subPath: /b, operator: remove, "
       "value: 1}]}]}}]}",
       "spec.overrideRules[0].overriders.fieldOverrider[0].yaml[0].value: Forbidden: may not be given for remove"},
      {"spec: {overrideRules: [{overriders: {plaintext: [{path: /a, operator: replace, value: {any: [1]}}]}}]}",
       "spec: {overrideRules: [{overriders: {plaintext: [{path: /a, operator: move}]}}]}",
       "spec.overrideRules[0].overriders.plaintext[0].operator: Unsupported value: \"move\": supported values: "
       "\"add\", \"remove\", \"replace\""},
      {"spec: {overrideRules: [{overriders: {commandOverrider: [{containerName: a, operator: remove}]}}]}",
       "spec: {overrideRules: [{targetCluster: {}}]}", "spec.overrideRules[0].overriders: Required value"},
  };
  CheckRules(kPolicy, rows);
  CheckRules(kClusterPolicy, rows);
}

TEST(OverridePolicyTest, LimitsTheSizeOfAnnotations) {
  const std::string big(300'000, 'x');
  const Value policy = json::ApplyMergePatch(
      FromYaml(kClusterPolicy),
      FromYaml(StrCat("spec: {overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {a: ", big,
                      "}}]}}]}")));
  const std::vector<std::string> errors = Admit(policy).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].find("annotationsOverrider[0].value"), std::string::npos) << errors[0];
  EXPECT_LT(errors[0].size(), 300U);
}

}  // namespace
}  // namespace baton::api
