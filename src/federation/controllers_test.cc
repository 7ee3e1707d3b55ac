// Eviction tasks, taints by conditions, one-writer workloads and credentials, beside what the scenario files tell.
#include <gtest/gtest.h>

#include "api/karmada_names.h"
#include "federation/evictions.h"
#include "federation/taint_policies.h"
#include "federation/world_for_test.h"
#include "json/rfc3339.h"

namespace baton::federation {
namespace {

using json::Value;

Value Yaml(std::string_view text) { return FederationWorld::Yaml(text); }
WallTime At(std::string_view text) { return *json::ParseTime(text); }

TEST(EvictionTest, TasksEndByHealthByTimeAndByConfirmationAndNotOtherwise) {
  const struct {
    const char* what;
    const char* clusters;
    const char* health;
    const char* task;
    bool by_clock;
    size_t left;
  } kRows[] = {
      {"healthy elsewhere", "[{name: green}]", "Healthy", "{}", true, 0},
      {"not healthy yet", "[{name: green}]", "Unhealthy", "{}", true, 1},
      {"nowhere is not everywhere", "[]", "Healthy", "{}", true, 1},
      {"time is over", "[{name: green}]", "Unhealthy", "{gracePeriodSeconds: 60}", true, 0},
      {"time is over, but there is no other", "[]", "Unhealthy", "{gracePeriodSeconds: 60}", true, 1},
      {"one writer: no clock", "[{name: green}]", "Unhealthy", "{gracePeriodSeconds: 60}", false, 1},
      {"confirmed", "[{name: green}]", "Unhealthy", "{suppressDeletion: false}", true, 0},
      {"kept", "[{name: green}]", "Healthy", "{suppressDeletion: true}", true, 1},
      {"ours", "[{name: green}]", "Healthy", "{producer: baton}", true, 1},
  };
  for (const auto& row : kRows) {
    Value task = Yaml("{fromCluster: blue, producer: TaintManager, creationTimestamp: '2026-01-01T00:00:00Z'}");
    const Value more = Yaml(row.task);
    for (const json::Member& member : more.members()) task.Set(member.key(), member.value());
    const Value binding = json::Object(
        {{"metadata", json::Object({{"generation", 3}})},
         {"spec", json::Object({{"clusters", Yaml(row.clusters)}, {"gracefulEvictionTasks", json::Array({task})}})},
         {"status", json::Object({{"schedulerObservedGeneration", 3},
                                  {"aggregatedStatus", json::Array({json::Object(
                                                           {{"clusterName", "green"}, {"health", row.health}})})}})}});
    EXPECT_EQ(TrimTasks(binding, row.by_clock, At("2026-01-01T00:02:00Z")).tasks.size(), row.left) << row.what;
  }
}

TEST(EvictionTest, AStatusOfBeforeTheLastDecisionIsNoProofOfHealth) {
  const Value binding = Yaml(R"(
metadata: {generation: 4}
spec: {clusters: [{name: green}], gracefulEvictionTasks: [{fromCluster: blue, producer: x, creationTimestamp: "2026-01-01T00:00:00Z"}]}
status: {schedulerObservedGeneration: 3, aggregatedStatus: [{clusterName: green, health: Healthy}]}
)");
  const EvictionDecision decision = TrimTasks(binding, true, At("2026-01-01T00:02:00Z"));
  EXPECT_EQ(decision.tasks.size(), 1U);
  EXPECT_EQ(decision.wait, Duration(minutes(8)));
}

TEST(TaintPolicyTest, TaintsAreAddedAndRemovedInTheOrderOfThePolicies) {
  const Value cluster = Yaml(R"(
metadata: {name: blue}
spec: {taints: [{key: mine, effect: NoSchedule}]}
status: {conditions: [{type: Ready, status: "False"}]}
)");
  const Value add = Yaml(R"(
metadata: {name: a, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False"]}], taints: [{key: t, effect: NoExecute}]}
)");
  const Value remove = Yaml(R"(
metadata: {name: b, creationTimestamp: "2026-01-02T00:00:00Z"}
spec: {removeOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}], taints: [{key: t, effect: NoExecute}]}
)");
  Value absent = add;
  absent.Edit("spec").Set("addOnConditions", Yaml("[{conditionType: Other, operator: NotIn, statusValues: ['True']}]"));
  Value others = add;
  others.Edit("spec").Set("targetClusters", Yaml("{clusterNames: [green]}"));
  const WallTime now = At("2026-01-03T00:00:00Z");
  const Value added = TaintsAfter(cluster, {add}, now);
  EXPECT_EQ(added,
            Yaml("[{key: mine, effect: NoSchedule}, {key: t, effect: NoExecute, timeAdded: '2026-01-03T00:00:00Z'}]"));
  EXPECT_EQ(TaintsAfter(cluster, {remove, add}, now), cluster["spec"]["taints"]);
  EXPECT_EQ(TaintsAfter(cluster, {absent}, now), cluster["spec"]["taints"]);
  EXPECT_EQ(TaintsAfter(cluster, {others}, now), cluster["spec"]["taints"]);
}

// Every Deployment must have one writer.
class TestGate final : public RunGate {
 public:
  rt::Task<Result<bool>> MayRemove(std::string cluster, json::Value) override { co_return cluster != writer; }
  rt::Task<Result<std::string>> WhyNotYet(std::string, json::Value) override { co_return std::string(); }
  rt::Task<Result<bool>> MayLeave(std::string, json::Value) override { co_return may_leave; }
  rt::Task<Result<std::vector<std::string>>> MovesOf(std::string) override { co_return std::vector<std::string>(); }
  bool may_leave = true;
  std::string writer;  // the cluster of
  rt::Task<Result<Admitted>> Admit(std::string, Value manifest, Value) override {
    if (!fails.empty()) co_return UnavailableError(fails);
    co_return Admitted{.manifest = std::move(manifest), .stray = stray};
  }
  std::string stray;  // what is there is another object than the one on record
  std::string fails;  // nothing can be said, and why
  int64_t EpochOf(const Value&) const override { return -1; }
  bool Manages(const Value& object) const override { return kube::KindOf(object) == "Deployment"; }
};

TEST(ControllersTest, AClusterDoesNotLeaveWithTheOneWriterInItUnlessAPersonSaysSo) {
  rt::VirtualLoop loop(1);
  TestGate gate;
  gate.may_leave = false;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    co_await world.Start({"blue", "green"}, {.gate = &gate});
    co_await world.Apply(kPropagationPolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {clusterNames: [blue]}}}
)");
    co_await world.Apply(kTestDeployments, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
)");
    co_await world.Settle();
    co_await world.DeleteOnHub(kClusters, "blue");
    co_await world.Settle(minutes(2));
    const Value waits = co_await world.OnHub(kClusters, "blue");
    EXPECT_EQ(FindCondition(waits["status"], "Leaving")["reason"].str(), "WriterPresent") << waits["status"];
    EXPECT_FALSE((co_await world.OnMember("blue", kTestDeployments, "default/web")).is_null());
    const Value binding = co_await world.OnHub(kResourceBindings, "default/web-deployment");
    EXPECT_EQ(binding["spec"]["clusters"][0]["name"].str(), "blue");
    const auto marked =
        co_await world.hub_server->api->Patch(kClusters, {"", "blue"}, kube::PatchType::kMerge,
                                              Yaml("{metadata: {annotations: {baton.io/leave-by-force: 'true'}}}"), {});
    EXPECT_TRUE(marked.ok());
    co_await world.Settle(minutes(1));
    EXPECT_TRUE((co_await world.OnHub(kClusters, "blue")).is_null());
    EXPECT_TRUE((co_await world.OnMember("blue", kTestDeployments, "default/web")).is_null());
    co_await world.Stop();
  }));
}

TEST(ControllersTest, ABindingThatIsMadeAnewNamesTheWritersClusterAndNotThatOfALateWork) {
  rt::VirtualLoop loop(1);
  TestGate gate;
  gate.writer = "blue";
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    co_await world.Start({"blue", "green"}, {.gate = &gate});
    Value policy = Yaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {clusterNames: [blue]}}}
)");
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Apply(kTestDeployments, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
)");
    co_await world.Settle();
    policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", Yaml("[blue, green]"));
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Settle();
    const std::string name = api::karmada::WorkName("Deployment", "default", "web");
    Value late = co_await world.OnHub(kWorks, StrCat("karmada-es-blue/", name));
    late.Edit("metadata").Set("namespace", "karmada-es-green");
    for (const std::string_view own : {"uid", "resourceVersion", "creationTimestamp", "generation"})
      late.Edit("metadata").Erase(own);
    late.Erase("status");
    co_await world.DeleteOnHub(kResourceBindings, "default/web-deployment");
    while (!(co_await world.OnHub(kResourceBindings, "default/web-deployment")).is_null())
      co_await loop.Sleep(milliseconds(1));
    const auto made = co_await world.hub_server->api->Create(kWorks, late);
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    co_await world.Settle(minutes(2));
    const Value binding = co_await world.OnHub(kResourceBindings, "default/web-deployment");
    EXPECT_EQ(binding["spec"]["clusters"], Yaml("[{name: blue}]")) << binding["spec"];
    EXPECT_FALSE((co_await world.OnMember("blue", kTestDeployments, "default/web")).is_null());
    EXPECT_TRUE((co_await world.OnMember("green", kTestDeployments, "default/web")).is_null());
    co_await world.Stop();
  }));
}

TEST(ControllersTest, AStrayIsToldUntilItIsSeenThatItIsNone) {
  rt::VirtualLoop loop(1);
  TestGate gate;
  gate.writer = "blue";
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    co_await world.Start({"blue"}, {.gate = &gate});
    co_await world.Apply(kPropagationPolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {clusterNames: [blue]}}}
)");
    const auto rendered_again = [&](int replicas) -> rt::Task<std::string> {
      co_await world.Apply(
          kTestDeployments,
          StrCat(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: )",
                 replicas, ", selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: ",
                 "{containers: [{name: c, image: i}]}}}"));
      co_await world.Settle();
      const std::string name = api::karmada::WorkName("Deployment", "default", "web");
      const Value work = co_await world.OnHub(kWorks, StrCat("karmada-es-blue/", name));
      co_return std::string(FindCondition(work["status"], kStrayWriter)["status"].str());
    };
    EXPECT_EQ(co_await rendered_again(1), "");
    gate.stray = "it was made anew";
    EXPECT_EQ(co_await rendered_again(2), "True");
    gate.fails = "the hub does not answer";
    EXPECT_EQ(co_await rendered_again(3), "True");
    gate.stray.clear();
    EXPECT_EQ(co_await rendered_again(4), "True");
    gate.fails.clear();
    EXPECT_EQ(co_await rendered_again(5), "False");
    co_await world.Stop();
  }));
}

TEST(ControllersTest, AOneWriterWorkloadIsNotMovedTheWishIsRecorded) {
  rt::VirtualLoop loop(1);
  TestGate gate;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    FederationWorld world(loop);
    co_await world.Start({"blue", "green"}, {.gate = &gate});
    Value policy = Yaml(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {clusterNames: [blue]}}}
)");
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Apply(kTestDeployments, R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}
)");
    co_await world.Settle();
    for (const char* names : {"[green]", "[blue, green]"}) {
      policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", Yaml(names));
      co_await world.ApplyValue(kPropagationPolicies, policy);
      co_await world.Settle(seconds(30));
      EXPECT_FALSE((co_await world.OnMember("blue", kTestDeployments, "default/web")).is_null()) << names;
      EXPECT_TRUE((co_await world.OnMember("green", kTestDeployments, "default/web")).is_null()) << names;
      const Value binding = co_await world.OnHub(kResourceBindings, "default/web-deployment");
      EXPECT_EQ(FindCondition(binding["status"], "MigrationWanted")["status"].str(), "True") << binding["status"];
    }
    policy.Edit("spec").Edit("placement").Edit("clusterAffinity").Set("clusterNames", Yaml("[blue]"));
    co_await world.ApplyValue(kPropagationPolicies, policy);
    co_await world.Settle(seconds(30));
    const Value binding = co_await world.OnHub(kResourceBindings, "default/web-deployment");
    EXPECT_EQ(FindCondition(binding["status"], "MigrationWanted")["status"].str(), "False") << binding["status"];
    co_await world.Stop();
  }));
}

TEST(ControllersTest, RotatedCredentialsArePickedUp) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    const auto secret = [&](std::string_view token) -> rt::Task<void> {
      co_await world.ApplyValue(
          kSecrets, json::Object({{"apiVersion", "v1"},
                                  {"kind", "Secret"},
                                  {"metadata", json::Object({{"name", "green"}, {"namespace", "karmada-cluster"}})},
                                  {"data", json::Object({{"token", token}})}}));
    };
    world.tokens["green"] = "b2xk";
    co_await secret("b2xk");
    co_await world.AddServer("green");
    co_await world.Join("green", "{spec: {secretRef: {namespace: karmada-cluster, name: green}}}");
    co_await world.Settle();
    Value cluster = co_await world.OnHub(kClusters, "green");
    EXPECT_EQ(FindCondition(cluster["status"], "Ready")["status"].str(), "True") << cluster["status"];
    world.tokens["green"] = "bmV3";
    co_await secret("d3Jvbmc=");
    co_await world.Settle();
    cluster = co_await world.OnHub(kClusters, "green");
    EXPECT_EQ(FindCondition(cluster["status"], "Ready")["status"].str(), "False") << cluster["status"];
    co_await secret("bmV3");
    co_await world.Settle();
    cluster = co_await world.OnHub(kClusters, "green");
    EXPECT_EQ(FindCondition(cluster["status"], "Ready")["status"].str(), "True") << cluster["status"];
  });
}

}  // namespace
}  // namespace baton::federation
