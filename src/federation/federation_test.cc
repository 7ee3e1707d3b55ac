// The whole pipe on a hub and members in memory: what users of Karmada expect, and what it costs.
#include "federation/federation.h"

#include <gtest/gtest.h>

#include "federation/world_for_test.h"

namespace baton::federation {
namespace {

using json::Value;

constexpr std::string_view kPolicy = R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: configs, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {spread: "yes"}}}]
  placement: {clusterAffinity: {clusterNames: [blue, green]}}
)";

std::string ConfigMap(std::string_view name, std::string_view value) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + std::string(name) +
         ", namespace: default, labels: {spread: 'yes'}}, data: {value: '" + std::string(value) + "'}}";
}

TEST(FederationTest, ClustersBecomeReadyAndSayWhatTheyServe) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    const Value cluster = co_await world.OnHub(kClusters, "blue");
    EXPECT_EQ(FindCondition(cluster["status"], "Ready")["status"].str(), "True") << cluster;
    EXPECT_FALSE(cluster["spec"]["id"].str().empty());
    EXPECT_GT(cluster["status"]["apiEnablements"].size(), 5U);
    EXPECT_FALSE((co_await world.OnHub(kNamespaces, "karmada-es-blue")).is_null());
  });
}

TEST(FederationTest, ATemplateReachesItsClustersAndItsStatusComesBack) {
  InFederation({"blue", "green", "red"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "1"));
    co_await world.Settle();
    for (const char* cluster : {"blue", "green"}) {
      const Value object = co_await world.OnMember(cluster, kTestConfigMaps, "default/a");
      EXPECT_EQ(object["data"]["value"].str(), "1") << cluster;
      EXPECT_EQ(object["metadata"]["labels"]["karmada.io/managed"].str(), "true");
    }
    EXPECT_TRUE((co_await world.OnMember("red", kTestConfigMaps, "default/a")).is_null());
    const Value binding = co_await world.OnHub(kResourceBindings, "default/a-configmap");
    EXPECT_EQ(FindCondition(binding["status"], "Scheduled")["status"].str(), "True") << binding;
    EXPECT_EQ(FindCondition(binding["status"], "FullyApplied")["status"].str(), "True") << binding;
    EXPECT_EQ(binding["status"]["aggregatedStatus"].size(), 2U);
    // A change reaches them; a removed key goes; deletion removes everything.
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "2"));
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "2");
    co_await world.DeleteOnHub(kTestConfigMaps, "default/a");
    co_await world.Settle();
    EXPECT_TRUE((co_await world.OnMember("blue", kTestConfigMaps, "default/a")).is_null());
    EXPECT_TRUE((co_await world.OnHub(kResourceBindings, "default/a-configmap")).is_null());
  });
}

TEST(FederationTest, ATemplateCostsFewWritesAndNoConflicts) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Settle(seconds(20));
    world.hub->writes.clear();
    constexpr int kTemplates = 50;
    for (int i = 0; i < kTemplates; ++i) co_await world.Apply(kTestConfigMaps, ConfigMap("c" + std::to_string(i), "1"));
    co_await world.Settle(seconds(20));
    EXPECT_LE(world.hub->Writes(), 7 * kTemplates);
    EXPECT_EQ(world.hub->conflicts, 0);
    EXPECT_EQ(world.hub->refusals, std::vector<std::string>());
    for (const auto& [what, count] : world.hub->writes) EXPECT_LE(count, 2 * kTemplates) << what;
  });
}

TEST(FederationTest, AStatusIsNotWrittenEarlyBecauseWeAreBehindOurselves) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Settle(seconds(20));
    world.hub->writes.clear();
    world.hub->takes = milliseconds(400);  // as a kube-apiserver with all of a burst at once
    world.members["blue"]->takes = world.members["green"]->takes = seconds(5);
    constexpr int kTemplates = 120;
    for (int i = 0; i < kTemplates; ++i) co_await world.Apply(kTestConfigMaps, ConfigMap("c" + std::to_string(i), "1"));
    co_await world.Settle(minutes(4));
    EXPECT_EQ(world.hub->conflicts, 0);
    EXPECT_EQ(world.hub->writes["update works/status"], 2 * kTemplates);
    EXPECT_LE(world.hub->writes["update resourcebindings/status"], kTemplates * 5 / 4);
    const Value binding = co_await world.OnHub(kResourceBindings, "default/c119-configmap");
    EXPECT_EQ(FindCondition(binding["status"], "FullyApplied")["status"].str(), "True") << binding;
  });
}

TEST(FederationTest, ARestartWritesNothing) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    for (int i = 0; i < 10; ++i) co_await world.Apply(kTestConfigMaps, ConfigMap("c" + std::to_string(i), "1"));
    co_await world.Settle(seconds(60));
    world.Kill();
    world.hub->writes.clear();
    for (auto& [name, member] : world.members) member->writes.clear();
    world.Run();
    co_await world.Settle(seconds(60));
    EXPECT_EQ(world.hub->writes, (std::map<std::string, int>())) << "needless writes after a restart";
    for (auto& [name, member] : world.members) EXPECT_EQ(member->Writes(), 0) << name;
  });
}

TEST(FederationTest, WhatOthersDeleteInAMemberComesBack) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "1"));
    co_await world.Settle();
    const auto gone = co_await world.member_servers["blue"]->api->Delete(kTestConfigMaps, {"default", "a"});
    EXPECT_TRUE(gone.ok());
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "1");
  });
}

TEST(FederationTest, WhatIsThereAlreadyIsLeftAloneUnlessThePolicySaysOverwrite) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    const auto made = co_await world.member_servers["blue"]->api->Create(
        kTestConfigMaps, FederationWorld::Yaml(ConfigMap("a", "theirs")));
    EXPECT_TRUE(made.ok());
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "ours"));
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "theirs");
    EXPECT_EQ((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["value"].str(), "ours");
    const Value binding = co_await world.OnHub(kResourceBindings, "default/a-configmap");
    EXPECT_EQ(FindCondition(binding["status"], "FullyApplied")["status"].str(), "False");
    EXPECT_NE(binding.ToString().find("already exists in cluster blue"), std::string::npos) << binding;
    Value policy = FederationWorld::Yaml(kPolicy);
    policy.Edit("spec").Set("conflictResolution", "Overwrite");
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Settle(minutes(1));
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "ours");
  });
}

TEST(FederationTest, ASuspensionIsTotalAndGoesAgain) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "1"));
    co_await world.Settle();
    Value policy = FederationWorld::Yaml(kPolicy);
    policy.Edit("spec").Edit("suspension").Edit("dispatchingOnClusters").Set("clusterNames", json::Array({"blue"}));
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Settle();
    world.members["blue"]->writes.clear();
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "2"));
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "1");
    EXPECT_EQ((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["value"].str(), "2");
    EXPECT_EQ(world.members["blue"]->Writes(), 0);
    bool told = false;
    world.federation->hub().works().ForEach([&](std::string_view, const Value& work) {
      told = told || FindCondition(work["status"], "Dispatching")["status"].str() == "False";
    });
    EXPECT_TRUE(told);
    co_await world.ApplyValue(kPropagationPolicies, FederationWorld::Yaml(kPolicy));
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "2");
  });
}

TEST(FederationTest, AnOverrideChangesOneClusterAndAFailingOneIsTold) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "1"));
    co_await world.Apply(kOverridePolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: colour, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: a}]
  overrideRules:
    - targetCluster: {clusterNames: [green]}
      overriders: {plaintext: [{path: /data/colour, operator: add, value: green}]}
)");
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["colour"].str(), "green");
    EXPECT_TRUE((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["colour"].is_null());
    co_await world.Apply(kOverridePolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: colour, namespace: default}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: a}]
  overrideRules:
    - targetCluster: {clusterNames: [green]}
      overriders: {plaintext: [{path: /data/absent, operator: remove}]}
)");
    co_await world.Settle();
    const Value binding = co_await world.OnHub(kResourceBindings, "default/a-configmap");
    EXPECT_NE(FindCondition(binding["status"], "FullyApplied")["message"].str().find("colour"), std::string_view::npos)
        << binding["status"];
    EXPECT_EQ((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["colour"].str(), "green");
    co_await world.DeleteOnHub(kOverridePolicies, "default/colour");
    co_await world.Settle();
    EXPECT_TRUE((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["colour"].is_null());
  });
}

// As another leader does for a moment, which has not reached the cluster yet (seed 1771 of the simulator, once).
TEST(FederationTest, ATaintThatSomebodySetsAgainAndAgainIsTakenOffOnceASecond) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Settle();
    int set = 0;
    const MonotonicTime until = world.loop.Now() + seconds(4);
    while (world.loop.Now() < until) {
      Value cluster = co_await world.OnHub(kClusters, "blue");
      if (cluster["spec"]["taints"].empty()) {
        ++set;
        cluster.Edit("spec").Set(
            "taints", json::Array({json::Object({{"key", "cluster.karmada.io/not-ready"}, {"effect", "NoSchedule"}})}));
        EXPECT_TRUE((co_await world.hub->Update(kClusters, cluster)).ok());
      }
      co_await world.loop.Sleep(milliseconds(1));
    }
    EXPECT_GE(set, 3);
    EXPECT_LE(set, 5);
  });
}

TEST(FederationTest, ReplicasAreDividedAndTheTemplatesStatusIsTheSum) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement:
    clusterAffinity: {clusterNames: [blue, green]}
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - {targetCluster: {clusterNames: [blue]}, weight: 2}
          - {targetCluster: {clusterNames: [green]}, weight: 1}
)");
    co_await world.Apply(kTestDeployments, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
)");
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnMember("blue", kTestDeployments, "default/web"))["spec"]["replicas"].int_or(0), 2);
    EXPECT_EQ((co_await world.OnMember("green", kTestDeployments, "default/web"))["spec"]["replicas"].int_or(0), 1);
    for (const char* cluster : {"blue", "green"}) {
      Value object = co_await world.OnMember(cluster, kTestDeployments, "default/web");
      object.Set("status", json::Object({{"replicas", object["spec"]["replicas"]},
                                         {"readyReplicas", object["spec"]["replicas"]},
                                         {"availableReplicas", object["spec"]["replicas"]},
                                         {"updatedReplicas", object["spec"]["replicas"]},
                                         {"observedGeneration", object["metadata"]["generation"]}}));
      EXPECT_TRUE((co_await world.member_servers[cluster]->api->UpdateStatus(kTestDeployments, object)).ok());
    }
    co_await world.Settle();
    const Value object = co_await world.OnHub(kTestDeployments, "default/web");
    EXPECT_EQ(object["status"]["readyReplicas"].int_or(0), 3) << object["status"];
    // Another leader tells something else each time we have put it right: the two take turns, but not without a pause.
    world.hub->writes.clear();
    constexpr int kSeconds = 10;
    const MonotonicTime until = world.loop.Now() + seconds(kSeconds);
    while (world.loop.Now() < until) {
      Value other = co_await world.OnHub(kTestDeployments, "default/web");
      if (other["status"]["readyReplicas"].int_or(0) == 3) {
        other.Edit("status").Set("readyReplicas", 2);
        EXPECT_TRUE((co_await world.hub_server->api->UpdateStatus(kTestDeployments, other)).ok());
      }
      co_await world.loop.Sleep(milliseconds(1));
    }
    EXPECT_LE(world.hub->writes["update deployments/status"], kSeconds + 1);
    co_await world.Settle();
    EXPECT_EQ((co_await world.OnHub(kTestDeployments, "default/web"))["status"]["readyReplicas"].int_or(0), 3);
  });
}

TEST(FederationTest, StatusesInARowAreToldAsOneAndADifferenceIsPutRightAtOnce) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [blue]}}
)");
    co_await world.Apply(kTestDeployments, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 9
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
)");
    co_await world.Settle();
    world.hub->writes.clear();
    kube::Api& blue = *world.member_servers["blue"]->api;
    for (int ready = 1; ready <= 9; ++ready) {
      Value object = co_await world.OnMember("blue", kTestDeployments, "default/web");
      object.Set("status", json::Object({{"replicas", 9}, {"readyReplicas", ready}, {"observedGeneration", 1}}));
      EXPECT_TRUE((co_await blue.UpdateStatus(kTestDeployments, object)).ok());
      co_await world.loop.Sleep(milliseconds(10));
    }
    EXPECT_EQ(world.hub->writes["update works/status"], 0) << "they wait for each other";
    co_await world.Settle(milliseconds(500));
    EXPECT_EQ(world.hub->writes["update works/status"], 1);
    EXPECT_EQ(world.hub->writes["update deployments/status"], 1);
    const Value told = co_await world.OnHub(kTestDeployments, "default/web");
    EXPECT_EQ(told["status"]["readyReplicas"].int_or(0), 9) << told["status"];
    Value object = co_await world.OnMember("blue", kTestDeployments, "default/web");
    object.Edit("spec").Set("replicas", 1);
    EXPECT_TRUE((co_await blue.Update(kTestDeployments, object)).ok());
    co_await world.Settle(milliseconds(20));
    object = co_await world.OnMember("blue", kTestDeployments, "default/web");
    EXPECT_EQ(object["spec"]["replicas"].int_or(0), 9) << "what somebody changed does not wait";
  });
}

TEST(FederationTest, AClusterThatDoesNotAnswerHoldsUpNobodyElseAndIsCaughtUpLater) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await world.Apply(kPropagationPolicies, kPolicy);
    world.faults["blue"].Add({.fault = kube::Fault::kSilence, .hits = 1'000'000});
    co_await world.Apply(kTestConfigMaps, ConfigMap("a", "1"));
    co_await world.Settle(minutes(2));
    EXPECT_EQ((co_await world.OnMember("green", kTestConfigMaps, "default/a"))["data"]["value"].str(), "1");
    EXPECT_TRUE((co_await world.OnMember("blue", kTestConfigMaps, "default/a")).is_null());
    const Value cluster = co_await world.OnHub(kClusters, "blue");
    EXPECT_EQ(FindCondition(cluster["status"], "Ready")["status"].str(), "False");
    world.faults["blue"].Clear();
    co_await world.Settle(minutes(3));
    EXPECT_EQ((co_await world.OnMember("blue", kTestConfigMaps, "default/a"))["data"]["value"].str(), "1");
    EXPECT_EQ(FindCondition((co_await world.OnHub(kClusters, "blue"))["status"], "Ready")["status"].str(), "True");
  });
}

}  // namespace
}  // namespace baton::federation
