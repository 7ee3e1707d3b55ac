// Revisions on a hub: released by the rollout's call, gone, limited.
#include "federation/revisions.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/strings.h"
#include "federation/world_for_test.h"

namespace baton::federation {
namespace {

constexpr std::string_view kKey = "default/a-configmap";

rt::Task<void> Put(FederationWorld& world, std::string value) {
  co_await world.Apply(kTestConfigMaps,
                       StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, "
                              "data: {value: '",
                              value, "'}}"));
  co_await world.Settle();
}

rt::Task<std::string> At(FederationWorld& world, std::string cluster) {
  co_return std::string((co_await world.OnMember(cluster, kTestConfigMaps, "default/a"))["data"]["value"].str());
}

rt::Task<std::vector<json::Value>> Kept(FederationWorld& world) {
  const Result<kube::Listed> all = co_await world.hub_server->api->ListAll(kControllerRevisions);
  EXPECT_TRUE(all.ok());
  co_return all.ok() ? all->items : std::vector<json::Value>();
}

rt::Task<std::string> NameWith(FederationWorld& world, std::string value) {
  for (const json::Value& one : co_await Kept(world)) {
    if (one["data"]["data"]["value"].str() == value) co_return std::string(kube::NameOf(one));
  }
  co_return "";
}

// The policy opts in for all that it claims.
rt::Task<void> Begin(FederationWorld& world) {
  co_await world.Apply(kPropagationPolicies, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default, annotations: {rollout.karmada.io/strategy: BlueGreen}}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}
)");
  co_await Put(world, "1");
}

TEST(RevisionsTest, ARevisionReachesTheClusterItIsReleasedToAlsoAnOlderOne) {
  InFederation({"blue", "green"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await Begin(world);
    co_await Put(world, "2");
    EXPECT_EQ(co_await At(world, "blue"), "1");
    EXPECT_EQ(co_await At(world, "green"), "1");
    kube::Api& hub = *world.hub_server->api;
    const std::string second = co_await NameWith(world, "2");
    const std::string first = co_await NameWith(world, "1");
    Result<void> released = co_await ReleaseRevision(hub, std::string(kKey), "green", second);
    EXPECT_TRUE(released.ok()) << released.error().message();
    co_await world.Settle();
    EXPECT_EQ(co_await At(world, "blue"), "1");
    EXPECT_EQ(co_await At(world, "green"), "2");
    released = co_await ReleaseRevision(hub, std::string(kKey), "green", first);
    EXPECT_TRUE(released.ok()) << released.error().message();
    co_await world.Settle();
    EXPECT_EQ(co_await At(world, "green"), "1");
    EXPECT_FALSE((co_await ReleaseRevision(hub, std::string(kKey), "green", "no-such")).ok());
    EXPECT_FALSE((co_await ReleaseRevision(hub, "default/other", "green", first)).ok());
  });
}

TEST(RevisionsTest, ARevisionThatIsGoneLeavesWhatRunsAndIsTold) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await Begin(world);
    co_await Put(world, "2");
    co_await world.DeleteOnHub(kControllerRevisions, StrCat("default/", co_await NameWith(world, "1")));
    co_await world.Settle(seconds(10));
    EXPECT_EQ(co_await At(world, "blue"), "1");
    const json::Value binding = co_await world.OnHub(kResourceBindings, kKey);
    const json::Value& condition = FindCondition(binding["status"], "FullyApplied");
    EXPECT_EQ(condition["status"].str(), "False");
    EXPECT_NE(condition["message"].str().find("is gone"), std::string_view::npos) << condition;
    const Result<void> released =
        co_await ReleaseRevision(*world.hub_server->api, std::string(kKey), "blue", co_await NameWith(world, "2"));
    EXPECT_TRUE(released.ok());
    co_await world.Settle();
    EXPECT_EQ(co_await At(world, "blue"), "2");
  });
}

TEST(RevisionsTest, TheHistoryIsLimitedAndNothingIsWrittenTwice) {
  InFederation({"blue"}, [](FederationWorld& world) -> rt::Task<void> {
    co_await Begin(world);
    for (int i = 2; i < 20; ++i) co_await Put(world, std::to_string(i));
    EXPECT_EQ((co_await Kept(world)).size(), kRevisionHistory + 2);  // the newest and the released
    EXPECT_EQ(co_await At(world, "blue"), "1");
    EXPECT_FALSE((co_await NameWith(world, "1")).empty());
    world.hub->writes.clear();
    world.Kill();
    world.Run();
    co_await world.Settle(minutes(1));
    int writes = 0;
    for (const auto& [what, count] : world.hub->writes) {
      if (what.find("bindings") != std::string::npos || what.find("works") != std::string::npos ||
          what.find("controllerrevisions") != std::string::npos) {
        writes += count;
      }
    }
    EXPECT_EQ(writes, 0);
    EXPECT_EQ(world.hub->conflicts, 0);
  });
}

}  // namespace
}  // namespace baton::federation
