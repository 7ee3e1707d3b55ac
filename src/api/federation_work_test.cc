// Bindings and Works.
#include <gtest/gtest.h>

#include "api/federation_for_test.h"
#include "api/federation_manifest.h"
#include "api/federation_names.h"

namespace baton::api {
namespace {

using json::Value;

constexpr std::string_view kBinding = R"(
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment, namespace: team}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: team}
)";

constexpr std::string_view kClusterBinding = R"(
apiVersion: work.karmada.io/v1alpha2
kind: ClusterResourceBinding
metadata: {name: web-namespace}
spec:
  resource: {apiVersion: v1, kind: Namespace, name: web}
)";

TEST(ResourceBindingTest, GetsAnIdOnCreationWhereItHasNone) {
  EXPECT_EQ(Admit(FromYaml(kBinding)).object["metadata"]["labels"], json::Object({{kResourceBindingId, kTestUid}}));
  EXPECT_EQ(Admit(FromYaml(kClusterBinding)).object["metadata"]["labels"],
            json::Object({{kClusterResourceBindingId, kTestUid}}));
  Value labelled = FromYaml(kBinding);
  labelled.Edit("metadata").Edit("labels").Set(kResourceBindingId, "mine");
  EXPECT_EQ(Admit(labelled).object["metadata"]["labels"][kResourceBindingId].str(), "mine");
  // Not on an update: there Karmada's webhook is not asked.
  EXPECT_TRUE(Admit(FromYaml(kBinding), FromYaml(kBinding)).object["metadata"]["labels"].is_null());
}

TEST(ResourceBindingTest, GetsTheNewNamesOfPurgeModes) {
  for (std::string_view base : {kBinding, kClusterBinding}) {
    const Value sent = json::ApplyMergePatch(FromYaml(base), FromYaml(R"(
spec:
  failover: {application: {decisionConditions: {}, purgeMode: Immediately}, cluster: {purgeMode: Graciously}}
  gracefulEvictionTasks:
  - {fromCluster: a, producer: p, reason: R, purgeMode: Immediately}
  - {fromCluster: b, producer: p, reason: R, purgeMode: Graciously, unknown: kept}
  - {fromCluster: c, producer: p, reason: R, purgeMode: Never}
  - {fromCluster: d, producer: p, reason: R}
)"));
    for (const Value& old : {Value(), sent}) {
      const Outcome outcome = Admit(sent, old);
      EXPECT_EQ(outcome.errors, std::vector<std::string>());
      const Value& spec = outcome.object["spec"];
      EXPECT_EQ(spec["failover"]["application"]["purgeMode"].str(), "Directly");
      EXPECT_EQ(spec["failover"]["cluster"]["purgeMode"].str(), "Gracefully");
      EXPECT_EQ(spec["gracefulEvictionTasks"][0]["purgeMode"].str(), "Directly");
      EXPECT_EQ(spec["gracefulEvictionTasks"][1]["purgeMode"].str(), "Gracefully");
      EXPECT_EQ(spec["gracefulEvictionTasks"][1]["unknown"].str(), "kept");
      EXPECT_EQ(spec["gracefulEvictionTasks"][2]["purgeMode"].str(), "Never");
      EXPECT_FALSE(spec["gracefulEvictionTasks"][3].Has("purgeMode"));
    }
  }
}

TEST(ResourceBindingTest, KeepsEveryRule) {
  const RuleRow rows[] = {
      {R"(metadata: {annotations: {resourcebinding.karmada.io/dependencies: '[{"apiVersion":"v1","kind":"Secret"}]'}})",
       R"(metadata: {annotations: {resourcebinding.karmada.io/dependencies: '{"a":1}'}})",
       "metadata.annotations[resourcebinding.karmada.io/dependencies]: Invalid value: \"{\\\"a\\\":1}\": must be a "
       "JSON "
       "list of references to objects"},
      {R"(metadata: {annotations: {resourcebinding.karmada.io/dependencies: '[]'}})",
       R"(metadata: {annotations: {resourcebinding.karmada.io/dependencies: '[{"kind":1}]'}})",
       "metadata.annotations[resourcebinding.karmada.io/dependencies]: Invalid value: \"[{\\\"kind\\\":1}]\": must be "
       "a "
       "JSON list of references to objects"},
      {"spec: {components: [{name: a, replicas: 1}, {name: b, replicas: 1}]}",
       "spec: {components: [{name: a, replicas: 1}, {name: a, replicas: 1}]}",
       "spec.components[1].name: Duplicate value: \"a\""},
      {"spec: {components: []}", "spec: {components: [{name: '', replicas: 1}]}",
       "spec.components[0].name: Required value"},
      {"spec: {gracefulEvictionTasks: [{fromCluster: a, producer: p, reason: Taint_A}]}",
       "spec: {gracefulEvictionTasks: [{fromCluster: a, producer: p, reason: no word}]}",
       "spec.gracefulEvictionTasks[0].reason: Invalid value: \"no word\": spec.gracefulEvictionTasks[0].reason in body "
       "should match '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'"},
      {"spec: {replicaRequirements: {resourceRequest: {cpu: 500m, memory: 1}}}",
       "spec: {replicaRequirements: {resourceRequest: {cpu: much}}}",
       "spec.replicaRequirements.resourceRequest.cpu: Invalid value: \"much\": "
       "spec.replicaRequirements.resourceRequest.cpu in body should match "
       "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-"
       "9]+))))?$'"},
  };
  CheckRules(kBinding, rows);
}

// ---- Work ----

constexpr std::string_view kWork = R"(
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: web, namespace: karmada-es-a}
spec:
  workload:
    manifests:
    - apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web, labels: {app: web}, annotations: {note: x}, uid: u, resourceVersion: "5", finalizers: [f]}
      spec: {replicas: 1}
      status: {replicas: 1}
)";

TEST(WorkTest, MarksItsManifestsAndTakesAwayWhatIsTheHubs) {
  const Outcome outcome = Admit(FromYaml(kWork));
  EXPECT_EQ(outcome.errors, std::vector<std::string>());
  EXPECT_EQ(outcome.object["metadata"]["labels"], json::Object({{kWorkId, kTestUid}}));
  EXPECT_EQ(outcome.object["spec"]["workload"]["manifests"][0], FromYaml(StrCat(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, work.karmada.io/permanent-id: )",
                                                                                kTestUid, R"(}
  annotations:
    note: x
    resourcetemplate.karmada.io/managed-annotations: note,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels
    resourcetemplate.karmada.io/managed-labels: app,work.karmada.io/permanent-id
spec: {replicas: 1}
)")));
  Value updated = outcome.object;
  updated.Edit("metadata").Edit("labels").Erase(kWorkId);
  EXPECT_EQ(Admit(updated, outcome.object).object["metadata"]["labels"][kWorkId].str(), kTestUid);
}

TEST(WorkTest, KeepsEveryRule) {
  const std::string labels =
      StrCat("spec.workload.manifests[0].metadata.labels: Invalid value: {\"a\":1,\"work.karmada.io/permanent-id\":\"",
             kTestUid, "\"}: must be a map of strings");
  const RuleRow rows[] = {
      {"spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}}",
       "spec: {workload: {manifests: [{metadata: {name: a}}]}}",
       "spec.workload.manifests[0].apiVersion: Required value: of every object; spec.workload.manifests[0].kind: "
       "Required value: of every object"},
      {"spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {a: b}}}]}}",
       "spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {a: 1}}}]}}", labels},
      {"spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}}",
       "spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, metadata: 5}]}}",
       "spec.workload.manifests[0].metadata: Required value: of every object"},
  };
  CheckRules(kWork, rows);
}

struct PruneRow {
  std::string_view from;
  std::string_view to;
};

TEST(ManifestTest, LosesWhatControllersOfTheHubFilledIn) {
  const PruneRow rows[] = {
      {"{kind: A, metadata: {name: a, creationTimestamp: t, deletionTimestamp: t, deletionGracePeriodSeconds: 1, "
       "generation: 1, managedFields: [], resourceVersion: '1', selfLink: s, uid: u, ownerReferences: [], finalizers: "
       "[]}, status: {}, other: 1}",
       "{kind: A, metadata: {name: a}, other: 1}"},
      {"{kind: Deployment, metadata: {annotations: {deployment.kubernetes.io/revision: '1', "
       "deployment.kubernetes.io/revision-history: '1', a: b}}}",
       "{kind: Deployment, metadata: {annotations: {a: b}}}"},
      {"{kind: Job, spec: {ttlSecondsAfterFinished: 5, selector: {matchLabels: {controller-uid: u, "
       "batch.kubernetes.io/controller-uid: u, job-name: j}}, template: {metadata: {labels: {controller-uid: u, "
       "batch.kubernetes.io/controller-uid: u, job-name: j, batch.kubernetes.io/job-name: j, a: b}}}}}",
       "{kind: Job, spec: {selector: {matchLabels: {job-name: j}}, template: {metadata: {labels: {a: b}}}}}"},
      {"{kind: Job, spec: {ttlSecondsAfterFinished: 5, manualSelector: true, selector: {matchLabels: {controller-uid: "
       "u}}}}",
       "{kind: Job, spec: {manualSelector: true, selector: {matchLabels: {controller-uid: u}}}}"},
      {"{kind: Service, spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: []}}",
       "{kind: Service, spec: {ports: []}}"},
      {"{kind: Service, spec: {clusterIP: None, clusterIPs: [None]}}",
       "{kind: Service, spec: {clusterIP: None, clusterIPs: [None]}}"},
      {"{kind: ServiceAccount, metadata: {name: a}, secrets: [{name: a-token-1}, {name: a-token-2}, {name: mine}]}",
       "{kind: ServiceAccount, metadata: {name: a}, secrets: [{name: mine}]}"},
      {"{kind: Secret, type: kubernetes.io/service-account-token, metadata: {annotations: "
       "{kubernetes.io/service-account.uid: u, kubernetes.io/service-account.name: n}}, data: {token: t}}",
       "{kind: Secret, type: kubernetes.io/service-account-token, metadata: {annotations: "
       "{kubernetes.io/service-account.name: n}}}"},
      {"{kind: Secret, type: Opaque, data: {token: t}}", "{kind: Secret, type: Opaque, data: {token: t}}"},
      {"{kind: PersistentVolumeClaim, metadata: {annotations: {volume.kubernetes.io/selected-node: node, a: b}}}",
       "{kind: PersistentVolumeClaim, metadata: {annotations: {a: b}}}"},
      {"{kind: Job, spec: 5, metadata: []}", "{kind: Job, spec: 5, metadata: []}"},
      {"7", "7"},
  };
  for (const PruneRow& row : rows) {
    Value manifest = FromYaml(row.from);
    PruneManifest(manifest);
    EXPECT_EQ(manifest, FromYaml(row.to)) << row.from;
  }
}

TEST(ManifestTest, IsMarkedTheSameTwice) {
  Value manifest = FromYaml("{kind: A, metadata: {name: a, annotations: {z: '1', a: '2'}}}");
  MarkManifest(manifest, "id");
  const Value once = manifest;
  MarkManifest(manifest, "id");
  EXPECT_EQ(manifest, once);
  EXPECT_EQ(once["metadata"]["annotations"][kManagedAnnotations].str(),
            "a,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,z");
  EXPECT_EQ(once["metadata"]["annotations"][kManagedLabels].str(), "work.karmada.io/permanent-id");
}

}  // namespace
}  // namespace baton::api
