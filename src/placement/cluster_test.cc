#include "placement/cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/fleet.h"
#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

TEST(ClusterTest, ReadsWhatSchedulingNeeds) {
  const Cluster cluster = ParseCluster(Yaml(R"(
metadata: {name: blue, labels: {tier: gold}}
spec:
  provider: acme
  region: eu
  zones: [z2, z1, z2]
  taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]
status:
  apiEnablements: [{groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}]}]
  conditions: [{type: Ready, status: "True"}, {type: CompleteAPIEnablements, status: "False"}]
  resourceSummary:
    allocatable: {cpu: "4", memory: 8Gi, pods: "110"}
    allocated: {cpu: 1500m, memory: 9Gi, pods: "10"}
    allocating: {cpu: "0.5", pods: "5"}
)"))
                              .value();
  EXPECT_EQ(cluster.name, "blue");
  EXPECT_EQ(cluster.zones, (std::vector<std::string>{"z1", "z2"}));
  EXPECT_EQ(cluster.taints.at(0).ToString(), "a=b:NoSchedule");
  EXPECT_EQ(cluster.taints.at(1).ToString(), "c:NoExecute");
  EXPECT_EQ(cluster.apis, (std::vector<std::string>{"apps/v1 Deployment"}));
  EXPECT_TRUE(cluster.ready);
  EXPECT_FALSE(cluster.apis_complete);
  EXPECT_FALSE(cluster.deleting);
  EXPECT_EQ(cluster.capacity.pods, 95);
  EXPECT_EQ(FindAmount(cluster.capacity.available, "cpu")->value, 2000);
  EXPECT_EQ(FindAmount(cluster.capacity.available, "memory")->value, -(int64_t{1} << 30));
}

TEST(ClusterTest, ANewClusterHasNothing) {
  const Cluster cluster = ParseCluster(Yaml("metadata: {name: new}")).value();
  EXPECT_FALSE(cluster.capacity.known);
  EXPECT_TRUE(cluster.apis.empty());
}

TEST(ClusterTest, TheOldZoneCounts) {
  EXPECT_EQ(ParseCluster(Yaml("{metadata: {name: a}, spec: {zone: z}}")).value().zones,
            (std::vector<std::string>{"z"}));
}

TEST(ClusterTest, RefusesWhatItCannotRead) {
  const std::vector<std::string_view> bad = {
      "{}",
      "{metadata: {name: 3}}",
      "{metadata: {name: a}, spec: {region: 3}}",
      "{metadata: {name: a}, spec: {zones: eu}}",
      "{metadata: {name: a}, spec: {taints: {}}}",
      "{metadata: {name: a}, status: {resourceSummary: {allocatable: {cpu: many}}}}",
  };
  for (const std::string_view text : bad) EXPECT_FALSE(ParseCluster(Yaml(text)).ok()) << text;
}

TEST(FleetTest, SortsByNameAndIndexes) {
  const auto fleet =
      MakeFleet({{.name = "b", .region = "eu", .zones = {"y", "x"}},
                 {.name = "a", .serves = false},
                 {.name = "c", .region = "us", .taints = Yaml("[{key: k, effect: NoSchedule}]"), .deleting = true}});
  EXPECT_EQ((*fleet)[0].name, "a");
  EXPECT_EQ(fleet->Find("c"), 2U);
  EXPECT_FALSE(fleet->Find("d").has_value());
  EXPECT_EQ(fleet->Serving("apps/v1", "Deployment").Count(), 2U);
  EXPECT_EQ(fleet->Serving("apps/v1", "StatefulSet").Count(), 0U);
  EXPECT_TRUE(fleet->deleting().Has(2));
  EXPECT_EQ(fleet->regions().names, (std::vector<std::string>{"eu", "us"}));
  EXPECT_EQ(fleet->regions().of, (std::vector<int32_t>{Fleet::kNoGroup, 0, 1}));
  EXPECT_EQ(fleet->zones().names, (std::vector<std::string>{"x"}));
  EXPECT_EQ(fleet->taints().size(), 1U);
}

TEST(FleetTest, RefusesTwoOfOneName) {
  std::vector<Cluster> clusters(2);
  clusters[0].name = clusters[1].name = "same";
  EXPECT_FALSE(Fleet::Make(clusters).ok());
  EXPECT_EQ(Fleet::Make({}).value()->size(), 0U);
}

TEST(ClusterSetTest, AFullSetHasNoClusterTooMany) {
  for (const size_t size : {0, 1, 63, 64, 65, 128}) {
    const ClusterSet set(size, true);
    EXPECT_EQ(set.Count(), size);
    size_t seen = 0;
    set.ForEach([&](size_t cluster) { EXPECT_EQ(cluster, seen++); });
    EXPECT_EQ(seen, size);
  }
}

}  // namespace
}  // namespace baton::placement
