// What of a member's object becomes a template, and what is refused.
#include "federation/adoption.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::federation {
namespace {

json::Value Yaml(std::string_view text) {
  Result<json::Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : json::Value();
}

TEST(AdoptionTest, ATemplateIsTheObjectWithoutWhatIsTheMembersOwn) {
  struct Row {
    std::string_view live;
    std::string_view object;
  };
  for (const Row& row : {
           Row{R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u, resourceVersion: "4", generation: 2, creationTimestamp: "2026-01-01T00:00:00Z",
           managedFields: [{}], labels: {app: web}, finalizers: [x],
           annotations: {deployment.kubernetes.io/revision: "1", kubectl.kubernetes.io/last-applied-configuration: "{}", note: mine}}
spec: {replicas: 2}
status: {replicas: 2}
)",
               R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app: web}, annotations: {note: mine}}
spec: {replicas: 2}
)"},
           Row{"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: 10.0.0.1, clusterIPs: "
               "[10.0.0.1], "
               "ports: [{port: 80, nodePort: 30080}]}}",
               "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80, nodePort: 30080}]}}"},
           Row{"{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None}}",
               "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None}}"},
           Row{"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, ownerReferences: [{kind: App, name: a, uid: u}], "
               "annotations: {kubectl.kubernetes.io/last-applied-configuration: x}}, data: {a: b}}",
               "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}"},
       }) {
    const Result<json::Value> object = TemplateOf(Yaml(row.live));
    ASSERT_TRUE(object.ok()) << object.error().message();
    EXPECT_EQ(*object, Yaml(row.object));
  }
}

TEST(AdoptionTest, WhatCannotBeAdoptedSaysWhy) {
  struct Row {
    std::string_view live;
    std::string_view why;
  };
  for (const Row& row :
       {Row{"{}", "not an object"}, Row{"[]", "not an object"},
        Row{"{kind: Pod, metadata: {name: a, deletionTimestamp: x}}", "being deleted"},
        Row{"{kind: Pod, metadata: {name: a, labels: {karmada.io/managed: 'true'}}}", "managed by a hub already"},
        Row{"{kind: Pod, metadata: {name: a, ownerReferences: [{kind: ReplicaSet, name: r, controller: true}]}}",
            "made by ReplicaSet r"}}) {
    const Result<json::Value> object = TemplateOf(Yaml(row.live));
    ASSERT_FALSE(object.ok()) << row.live;
    EXPECT_NE(object.error().message().find(row.why), std::string::npos) << object.error().message();
  }
}

TEST(AdoptionTest, ThePolicyTakesOverAndGivesBack) {
  const std::vector<json::Value> templates = {
      Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}")};
  const json::Value policy = AdoptionPolicy("shop", "p", "blue", templates);
  EXPECT_EQ(policy, Yaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop, annotations: {baton.io/adopted-from: blue}}
spec:
  conflictResolution: Overwrite
  preserveResourcesOnDeletion: true
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}]
  placement: {clusterAffinity: {clusterNames: [blue]}}
)"));
  EXPECT_TRUE(CheckRollback(policy).ok());
  json::Value other = policy;
  other.Edit("spec").Set("preserveResourcesOnDeletion", false);
  EXPECT_FALSE(CheckRollback(other).ok());
  other = policy;
  other.Edit("metadata").Erase("annotations");
  EXPECT_FALSE(CheckRollback(other).ok());
  other = policy;
  other.Edit("spec").Edit("resourceSelectors").Push(Yaml("{apiVersion: v1, kind: ConfigMap}"));
  EXPECT_FALSE(CheckRollback(other).ok());
  EXPECT_EQ(AdoptionPolicy("", "p", "blue", templates)["kind"].str(), "ClusterPropagationPolicy");
}

}  // namespace
}  // namespace baton::federation
