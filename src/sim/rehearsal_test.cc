// Copies of hubs, and moves rehearsed on them.
#include "sim/rehearsal.h"

#include "kube/read_only_api.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

// Of a simulated hub with one job; where it is and where it may go.
Fleet CopyOfAScene(std::string& from, std::string& to, const FleetQuestion& question) {
  Fleet fleet;
  Simulate(31, [&](Scene& scene) -> rt::Task<void> {
    co_await scene.Begin();
    from = scene.from;
    to = scene.to;
    const auto labelled = co_await scene.world.hub().Patch(
        federation::kClusters, {"", scene.Third()}, kube::PatchType::kMerge,
        Yaml("{metadata: {labels: {tier: gold}}, spec: {taints: [{key: odd, effect: NoSchedule}]}}"));
    scene.Expect(labelled.ok(), labelled.ok() ? "" : labelled.error().message());
    kube::ReadOnlyApi hub(scene.world.hub());
    FleetQuestion asked = question;
    if (asked.kind.empty()) asked.cluster = scene.from;
    const Result<Fleet> copied = co_await CopyFleet(hub, asked);
    scene.Expect(copied.ok(), copied.ok() ? "" : copied.error().message());
    if (copied.ok()) fleet = *copied;
  });
  return fleet;
}

TEST(RehearsalTest, AMoveOnACopyBeginsWhereTheHubHasItAndEndsWell) {
  std::string from;
  std::string to;
  const Fleet fleet = CopyOfAScene(from, to, {.kind = "FlinkDeployment", .ns = "default", .name = "orders"});
  ASSERT_EQ(fleet.workloads.size(), 1U);
  EXPECT_EQ(fleet.workloads[0].cluster, from);
  EXPECT_EQ(fleet.clusters.size(), 3U);
  const Rehearsal calm = Rehearse(fleet, {.to = to}, 1, {});
  EXPECT_TRUE(calm.unsettled.empty());
  EXPECT_EQ(calm.refused, std::vector<std::string>());
  EXPECT_EQ(calm.day.problems, std::vector<std::string>());
  EXPECT_EQ(calm.day.end, "Succeeded") << calm.said;
  EXPECT_NE(calm.downtime, "");
  // The same from the document, and the same every time.
  const Result<Fleet> read = Fleet::FromJson(fleet.Json());
  ASSERT_TRUE(read.ok()) << read.error().message();
  const RehearsalOptions told{.faults = true, .detail = Story::Detail::kWrites};
  const Rehearsal once = Rehearse(fleet, {.to = to}, 3, told);
  const Rehearsal again = Rehearse(*read, {.to = to}, 3, told);
  EXPECT_EQ(once.day.problems, std::vector<std::string>()) << once.day.story;
  EXPECT_EQ(once.day.story, again.day.story);
  // What cannot be says so.
  const Rehearsal home = Rehearse(fleet, {.to = from}, 1, {});
  EXPECT_EQ(home.day.end, "Rejected");
  EXPECT_EQ(home.day.problems, std::vector<std::string>());
}

TEST(RehearsalTest, ADrainOnACopyIsOfWhatRunsInIt) {
  std::string from;
  std::string to;
  Fleet fleet = CopyOfAScene(from, to, {});
  ASSERT_EQ(fleet.workloads.size(), 1U);
  FleetWorkload broken = fleet.workloads[0];
  broken.object.Edit("metadata").Set("name", "broken");
  broken.object.Edit("spec").Edit("job").Set("state", "suspended");
  broken.binding.Edit("metadata").Set("name", "broken-flinkdeployment");
  broken.binding.Edit("spec").Edit("resource").Set("name", "broken");
  fleet.workloads.push_back(broken);
  const Rehearsal settled = Rehearse(fleet, {.drain = from}, 1, {.only_settle = true});
  ASSERT_EQ(settled.unsettled.size(), 1U);
  EXPECT_EQ(settled.unsettled.begin()->first, broken.Name());
  EXPECT_TRUE(settled.unsettled.begin()->second.starts_with("it does not run in "));
  fleet.workloads.pop_back();
  const Rehearsal calm = Rehearse(fleet, {.drain = from}, 1, {});
  EXPECT_EQ(calm.day.problems, std::vector<std::string>());
  EXPECT_EQ(calm.day.end, "Drained (1 Succeeded)") << calm.said;
  const Rehearsal bad = Rehearse(fleet, {.drain = from, .most = 1}, 2, {.faults = true});
  EXPECT_EQ(bad.day.problems, std::vector<std::string>());
}

TEST(FleetTest, ACopyHasWhatPlacementLooksAtAndNothingOfHowClustersAreReached) {
  std::string from;
  std::string to;
  const Fleet fleet = CopyOfAScene(from, to, {});
  for (const Value& cluster : fleet.clusters) {
    const bool marked = kube::NameOf(cluster) != from && kube::NameOf(cluster) != to;
    EXPECT_EQ(cluster["metadata"]["labels"]["tier"].str(), marked ? "gold" : "");
    EXPECT_EQ(cluster["spec"]["taints"].size(), marked ? 1U : 0U);
    EXPECT_TRUE(cluster["spec"]["secretRef"].is_null());
    EXPECT_TRUE(cluster["status"].is_null());
  }
  EXPECT_EQ(fleet.objects.size(), 1U);
  EXPECT_GE(fleet.left.size(), 2U);
}

TEST(FleetTest, WhatIsNoCopyIsRefused) {
  for (const char* text :
       {"[]", "{}", "{batonFleetCopy: 2}", "{batonFleetCopy: 1, clusters: [{}]}",
        "{batonFleetCopy: 1, workloads: [{object: {kind: Pod}}]}",
        "{batonFleetCopy: 1, clusters: [{metadata: {name: a}}], workloads: [{cluster: b, object: {kind: "
        "FlinkDeployment, apiVersion: flink.apache.org/v1beta1, metadata: {name: x, namespace: y}}}]}"}) {
    EXPECT_FALSE(Fleet::FromJson(Yaml(text)).ok()) << text;
  }
}

}  // namespace
}  // namespace baton::sim
