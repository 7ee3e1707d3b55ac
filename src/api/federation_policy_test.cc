// Propagation policies and taint policies: what they get, and every rule with an object that keeps it and one that does
// not.
#include <gtest/gtest.h>

#include "api/federation_for_test.h"
#include "api/federation_names.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: team}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
)";

constexpr std::string_view kClusterPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: p}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
)";

Value Spec(std::string_view patch, std::string_view base = kPolicy) {
  const Outcome outcome = Admit(json::ApplyMergePatch(FromYaml(base), FromYaml(patch)));
  EXPECT_EQ(Join(outcome.errors, "; "), "") << patch;
  return outcome.object["spec"];
}

TEST(PropagationPolicyTest, GetsTheDefaultsOfItsSchema) {
  const Value spec = Spec("{}");
  EXPECT_EQ(spec, FromYaml(R"(
resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: team}]
conflictResolution: Abort
preemption: Never
priority: 0
schedulerName: default-scheduler
)"));
}

struct MutationRow {
  std::string_view patch;
  std::string_view path;  // below spec, by slashes
  std::string_view value;
};

const Value& Below(const Value& value, std::string_view path) {
  const Value* at = &value;
  for (const std::string_view key : Split(path, '/')) {
    const bool index = !key.empty() && key.find_first_not_of("0123456789") == std::string_view::npos;
    at = index ? &(*at)[static_cast<size_t>(key[0] - '0')] : &(*at)[key];
  }
  return *at;
}

TEST(PropagationPolicyTest, GetsWhatDependsOnOtherFields) {
  const MutationRow rows[] = {
      {"spec: {placement: {spreadConstraints: [{maxGroups: 1}]}}", "placement/spreadConstraints/0/spreadByField",
       "cluster"},
      {"spec: {placement: {spreadConstraints: [{spreadByLabel: a, maxGroups: 1}]}}",
       "placement/spreadConstraints/0/spreadByField", "null"},
      {"spec: {placement: {spreadConstraints: [{maxGroups: 1, minGroups: 0}]}}",
       "placement/spreadConstraints/0/minGroups", "1"},
      {"spec: {placement: {spreadConstraints: [{maxGroups: 3, minGroups: 2}]}}",
       "placement/spreadConstraints/0/minGroups", "2"},
      {"spec: {placement: {replicaScheduling: {}}}", "placement/replicaScheduling/replicaDivisionPreference",
       "Weighted"},
      {"spec: {placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: "
       "Aggregated}}}",
       "placement/replicaScheduling/replicaDivisionPreference", "Aggregated"},
      {"spec: {placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}}",
       "placement/replicaScheduling/replicaDivisionPreference", "null"},
      {"spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}]}",
       "propagateDeps", "true"},
      {"spec: {resourceSelectors: [{apiVersion: other/v1, kind: ServiceImport}]}", "propagateDeps", "null"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}}}}",
       "failover/application/gracePeriodSeconds", "600"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 5}}}",
       "failover/application/gracePeriodSeconds", "5"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Never}}}",
       "failover/application/gracePeriodSeconds", "null"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}}}}",
       "failover/application/decisionConditions/tolerationSeconds", "300"},
      // Old names of purge modes.
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Immediately}}}",
       "failover/application/purgeMode", "Directly"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Graciously}}}",
       "failover/application/purgeMode", "Gracefully"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Graciously}}}",
       "failover/application/gracePeriodSeconds", "600"},
      {"spec: {failover: {cluster: {purgeMode: Immediately}}}", "failover/cluster/purgeMode", "Directly"},
      {"spec: {failover: {cluster: {purgeMode: Graciously}}}", "failover/cluster/purgeMode", "Gracefully"},
      {"spec: {failover: {cluster: {}}}", "failover/cluster/purgeMode", "Gracefully"},
  };
  for (const MutationRow& row : rows) {
    for (std::string_view base : {kPolicy, kClusterPolicy}) {
      EXPECT_EQ(Below(Spec(row.patch, base), row.path), FromYaml(row.value)) << row.patch << " " << row.path;
    }
  }
}

TEST(PropagationPolicyTest, GetsAnIdOfItsOwnAndAFinalizerOnCreation) {
  const Value policy =
      Admit(json::ApplyMergePatch(FromYaml(kPolicy), FromYaml("metadata: {labels: {a: b, "
                                                              "propagationpolicy.karmada.io/permanent-id: copied}, "
                                                              "finalizers: [mine]}")))
          .object;
  EXPECT_EQ(policy["metadata"]["labels"], json::Object({{"a", "b"}, {kPropagationPolicyId, kTestUid}}));
  EXPECT_EQ(policy["metadata"]["finalizers"], json::Array({"mine", kPropagationPolicyFinalizer}));
  const Value cluster_policy = Admit(FromYaml(kClusterPolicy)).object;
  EXPECT_EQ(cluster_policy["metadata"]["labels"], json::Object({{kClusterPropagationPolicyId, kTestUid}}));
  EXPECT_EQ(cluster_policy["metadata"]["finalizers"], json::Array({kClusterPropagationPolicyFinalizer}));
  EXPECT_TRUE(cluster_policy["spec"]["resourceSelectors"][0]["namespace"].is_null());
}

TEST(PropagationPolicyTest, KeepsEveryRuleOfItsSpec) {
  const RuleRow rows[] = {
      {"spec: {placement: {clusterAffinity: {clusterNames: [a]}}}",
       "spec: {placement: {clusterAffinity: {}, clusterAffinities: [{affinityName: a}]}}",
       "spec.placement.clusterAffinities: Forbidden: may not be given together with clusterAffinity"},
      {"spec: {placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: In, values: "
       "[a]}]}}}}",
       "spec: {placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: rack, operator: In}]}}}}",
       "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key: Unsupported value: \"rack\": supported "
       "values: \"provider\", \"region\", \"zone\""},
      {"spec: {placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: NotIn}]}}}}",
       "spec: {placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: Exists}]}}}}",
       "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator: Unsupported value: \"Exists\": "
       "supported values: \"In\", \"NotIn\""},
      {"spec: {placement: {clusterAffinities: [{affinityName: a}, {affinityName: b}]}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a}, {affinityName: a}]}}",
       "spec.placement.clusterAffinities[1].affinityName: Duplicate value: \"a\""},
      {"spec: {placement: {clusterAffinities: [{affinityName: example.com/a_1}]}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a b}]}}",
       "spec.placement.clusterAffinities[0].affinityName: Invalid value: \"a b\": name part must consist of "
       "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
       "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"spec: {placement: {clusterAffinities: [{affinityName: a, fieldSelector: {matchExpressions: [{key: zone, "
       "operator: In}]}}]}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a, fieldSelector: {matchExpressions: [{key: x, operator: "
       "In}]}}]}}",
       "spec.placement.clusterAffinities[0].fieldSelector.matchExpressions[0].key: Unsupported value: \"x\": supported "
       "values: \"provider\", \"region\", \"zone\""},
      // Overflow.
      {"spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "b}]}], replicaScheduling: {replicaDivisionPreference: Aggregated}}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "b}]}], replicaScheduling: {replicaDivisionPreference: Weighted}}}",
       "spec.placement.clusterAffinities[0].overflowAffinities: Forbidden: may only be given where replicas are "
       "Divided, by Aggregated or dynamicWeight"},
      {"spec: {placement: {clusterAffinities: [{affinityName: a, exclude: [x], overflowAffinities: []}], "
       "replicaScheduling: {weightPreference: {dynamicWeight: AvailableReplicas}}}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a, overflowAffinities: []}], replicaScheduling: "
       "{weightPreference: {dynamicWeight: AvailableReplicas}}}}",
       "spec.placement.clusterAffinities[0].overflowAffinities: Forbidden: may only be given where the term itself "
       "chooses clusters"},
      {"spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "b}, {affinityName: c}]}], replicaScheduling: {replicaDivisionPreference: Aggregated}}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "b}, {affinityName: a}]}], replicaScheduling: {replicaDivisionPreference: Aggregated}}}",
       "spec.placement.clusterAffinities[0].overflowAffinities[1].affinityName: Duplicate value: \"a\""},
      {"spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "b, fieldSelector: {matchExpressions: [{key: zone, operator: In}]}}]}], replicaScheduling: "
       "{replicaDivisionPreference: Aggregated}}}",
       "spec: {placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: "
       "[{affinityName: "
       "_, fieldSelector: {matchExpressions: [{key: x, operator: In}]}}]}], replicaScheduling: "
       "{replicaDivisionPreference: Aggregated}}}",
       "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName: Invalid value: \"_\": name part must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
       "(e.g. "
       "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'); "
       "spec.placement.clusterAffinities[0].overflowAffinities[0].fieldSelector.matchExpressions[0].key: Unsupported "
       "value: \"x\": supported values: \"provider\", \"region\", \"zone\""},
      // Spreading.
      {"spec: {placement: {spreadConstraints: [{spreadByLabel: a, maxGroups: 1}]}}",
       "spec: {placement: {spreadConstraints: [{spreadByField: cluster, spreadByLabel: a, maxGroups: 1}]}}",
       "spec.placement.spreadConstraints[0].spreadByLabel: Forbidden: may not be given together with spreadByField"},
      {"spec: {placement: {spreadConstraints: [{maxGroups: 0, minGroups: 0}]}}",
       "spec: {placement: {spreadConstraints: [{maxGroups: -1, minGroups: -2}]}}",
       "spec.placement.spreadConstraints[0].minGroups: Invalid value: -2: must be greater than or equal to 0; "
       "spec.placement.spreadConstraints[0].maxGroups: Invalid value: -1: must be greater than or equal to 0"},
      {"spec: {placement: {spreadConstraints: [{maxGroups: 2, minGroups: 2}]}}",
       "spec: {placement: {spreadConstraints: [{maxGroups: 1, minGroups: 2}]}}",
       "spec.placement.spreadConstraints[0].maxGroups: Invalid value: 1: must be greater than or equal to minGroups"},
      {"spec: {placement: {spreadConstraints: [{spreadByField: region}, {spreadByField: cluster}]}}",
       "spec: {placement: {spreadConstraints: [{spreadByField: cluster}, {spreadByField: cluster}]}}",
       "spec.placement.spreadConstraints[1].spreadByField: Duplicate value: \"cluster\""},
      {"spec: {placement: {spreadConstraints: [{spreadByLabel: a}]}}",
       "spec: {placement: {spreadConstraints: [{spreadByField: region}]}}",
       "spec.placement.spreadConstraints: Required value: one constraint must have spreadByField 'cluster' where "
       "another has a field"},
      // Workload affinity.
      {"spec: {placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: b}}}}",
       "spec: {placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: a}}}}",
       "spec.placement.workloadAffinity.antiAffinity.groupByLabelKey: Invalid value: \"a\": must not be the key of "
       "affinity"},
      {"spec: {placement: {workloadAffinity: {affinity: {groupByLabelKey: example.com/group}}}}",
       "spec: {placement: {workloadAffinity: {affinity: {groupByLabelKey: a/b/c}}}}",
       "spec.placement.workloadAffinity.affinity.groupByLabelKey: Invalid value: \"a/b/c\": a qualified name must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
       "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
       "'example.com/MyName')"},
      {"spec: {placement: {clusterTolerations: [{key: a, operator: Exists}, {key: b, value: c}]}}",
       "spec: {placement: {clusterTolerations: [{key: a, operator: Exists}, {key: b, operator: Gt, value: \"1\"}]}}",
       "spec.placement.clusterTolerations[1].operator: Unsupported value: \"Gt\": supported values: \"\", \"Exists\", "
       "\"Equal\""},
      // Failover.
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}}}}",
       "spec: {failover: {application: {decisionConditions: {}}}}",
       "spec.propagateDeps: Invalid value: false: must be true where failover.application is given"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: 0}}}}",
       "spec: {propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: -1}}}}",
       "spec.failover.application.decisionConditions.tolerationSeconds: Invalid value: -1: must be greater than or "
       "equal to 0"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 1}}}",
       "spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Immediately, "
       "gracePeriodSeconds: 1}}}",
       "spec.failover.application.gracePeriodSeconds: Forbidden: may only be given when purgeMode is Gracefully"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 1}}}",
       "spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 0}}}",
       "spec.failover.application.gracePeriodSeconds: Invalid value: 0: must be greater than 0"},
      {"spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, statePreservation: {rules: "
       "[{aliasLabelName: example.com/a, jsonPath: '{.a}'}]}}}}",
       "spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, statePreservation: {rules: "
       "[{aliasLabelName: '', jsonPath: '{.a}'}]}}}}",
       "spec.failover.application.statePreservation.rules[0].aliasLabelName: Invalid value: \"\": name part must be "
       "non-empty; "
       "spec.failover.application.statePreservation.rules[0].aliasLabelName: Invalid value: \"\": name part must "
       "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
       "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
      {"spec: {failover: {cluster: {statePreservation: {rules: [{aliasLabelName: a, jsonPath: x}]}}}}",
       "spec: {failover: {cluster: {statePreservation: {rules: [{aliasLabelName: /a, jsonPath: x}]}}}}",
       "spec.failover.cluster.statePreservation.rules[0].aliasLabelName: Invalid value: \"/a\": prefix part must be "
       "non-empty"},
      {"spec: {failover: {cluster: {purgeMode: Directly}}}", "spec: {failover: {cluster: {purgeMode: Never}}}",
       "spec.failover.cluster.purgeMode: Unsupported value: \"Never\": supported values: \"Directly\", \"Gracefully\", "
       "\"Immediately\", \"Graciously\""},
      // The rest.
      {"spec: {preemption: Always}", "spec: {preemption: Always, resourceSelectors: [{apiVersion: v1, kind: Secret}]}",
       "spec.resourceSelectors[0].name: Required value: when preemption is Always"},
      {"spec: {suspension: {dispatching: false, dispatchingOnClusters: {clusterNames: [a]}}}",
       "spec: {suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [a]}}}",
       "spec.suspension.dispatchingOnClusters: Forbidden: may not name clusters when dispatching is suspended on all "
       "of them"},
      {"spec: {schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: a}}",
       "spec: {schedulePriority: {priorityClassSource: PodPriorityClass, priorityClassName: a}}",
       "spec.schedulePriority.priorityClassSource: Unsupported value: \"PodPriorityClass\": supported values: "
       "\"KubePriorityClass\""},
  };
  CheckRules(kPolicy, rows);
  CheckRules(kClusterPolicy, rows);
}

TEST(PropagationPolicyTest, SelectsInItsOwnNamespaceOnly) {
  const RuleRow rows[] = {
      {"spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: team}]}",
       "spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}]}",
       "spec.resourceSelectors[0].namespace: Invalid value: \"other\": must be the policy's own namespace, \"team\""},
      {"spec: {priority: 5}", "spec: {resourceSelectors: []}",
       "spec.resourceSelectors: Invalid value: 0: spec.resourceSelectors in body should have at least 1 items"},
  };
  CheckRules(kPolicy, rows);
  const RuleRow everywhere[] = {
      {"spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}]}",
       "spec: {resourceSelectors: null}", "spec.resourceSelectors: Required value"},
  };
  CheckRules(kClusterPolicy, everywhere);
}

TEST(PropagationPolicyTest, KeepsItsIdAndItsScheduler) {
  const RuleRow rows[] = {
      {"spec: {priority: 7}", "metadata: {labels: {propagationpolicy.karmada.io/permanent-id: other}}",
       "metadata.labels[propagationpolicy.karmada.io/permanent-id]: Invalid value: \"other\": field is immutable: only "
       "the system sets it, on creation"},
      {"metadata: {labels: {a: b}}", "metadata: {labels: null}",
       "metadata.labels[propagationpolicy.karmada.io/permanent-id]: Invalid value: \"\": field is immutable: only the "
       "system sets it, on creation"},
      {"spec: {schedulerName: default-scheduler}", "spec: {schedulerName: mine}",
       "spec.schedulerName: Invalid value: \"mine\": field is immutable"},
  };
  CheckUpdateRules(kPolicy, rows);
}

// What was never mutated: a server whose mutating webhook was not there.
TEST(PropagationPolicyTest, NeedsWhatMutationGives) {
  constexpr std::string_view kGraceful =
      "spec: {propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Graciously}}}";
  const Value policy = json::ApplyMergePatch(FromYaml(kPolicy), FromYaml(kGraceful));
  EXPECT_EQ(
      Lines(FederationErrors(*TypeOf(policy), policy, {}, TestContext())),
      (std::vector<std::string>{
          "metadata.labels[propagationpolicy.karmada.io/permanent-id]: Required value: admission sets it on creation",
          "spec.failover.application.gracePeriodSeconds: Required value: when purgeMode is Gracefully",
          "spec.resourceSelectors[0].namespace: Invalid value: \"\": must be the policy's own namespace, \"team\""}));
  const Value everywhere = FromYaml(kClusterPolicy);
  EXPECT_EQ(
      Lines(FederationErrors(*TypeOf(everywhere), everywhere, {}, TestContext())),
      (std::vector<std::string>{"metadata.labels[clusterpropagationpolicy.karmada.io/permanent-id]: Required value: "
                                "admission sets it on creation"}));
}

TEST(PropagationPolicyTest, CanLoseItsFinalizersWhenItIsDeleted) {
  const Value old = Admit(FromYaml(kPolicy)).object;
  const Value wrong = json::ApplyMergePatch(old, FromYaml("spec: {preemption: Always, resourceSelectors: [{apiVersion: "
                                                          "v1, kind: Secret, namespace: team}]}"));
  EXPECT_NE(Admit(wrong, old).errors, std::vector<std::string>());
  const Value going = json::ApplyMergePatch(wrong, FromYaml("metadata: {deletionTimestamp: '2024-01-01T00:00:00Z'}"));
  EXPECT_EQ(Admit(going, going).errors, std::vector<std::string>());
}

TEST(ClusterTaintPolicyTest, KeepsEveryRule) {
  constexpr std::string_view kTaints = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: p}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  taints: [{key: a, effect: NoSchedule}]
)";
  const RuleRow rows[] = {
      {"spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]}",
       "spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule, value: x}]}",
       "spec.taints[1]: Duplicate value: \"a:NoSchedule\""},
      {"spec: {taints: [{key: a, effect: NoSchedule}]}", "spec: {taints: [{key: a, effect: NoExecute}]}",
       "spec.taints[0]: Forbidden: a policy may set the effect NoExecute only where the administrator allows it"},
      {"spec: {removeOnConditions: [{conditionType: Ready, operator: In, statusValues: [\"True\"]}]}",
       "spec: {removeOnConditions: [{conditionType: Ready, operator: Equal, statusValues: [\"True\"]}]}",
       "spec.removeOnConditions[0].operator: Unsupported value: \"Equal\": supported values: \"In\", \"NotIn\""},
      {"spec: {targetClusters: {clusterNames: [a]}}", "spec: {taints: []}",
       "spec.taints: Invalid value: 0: spec.taints in body should have at least 1 items"},
  };
  CheckRules(kTaints, rows);
  FederationContext allowing = TestContext();
  allowing.allow_no_execute_taint_policy = true;
  const Value executing =
      json::ApplyMergePatch(FromYaml(kTaints), FromYaml("spec: {taints: [{key: a, effect: NoExecute}]}"));
  EXPECT_EQ(Admit(executing, {}, allowing).errors, std::vector<std::string>());
}

}  // namespace
}  // namespace baton::api
