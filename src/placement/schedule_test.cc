// Scenarios of the whole decision. Numbers are those of the scenario list that mirrors Karmada's end-to-end tests.
#include "placement/schedule.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

// The binding after the decision was written.
Binding After(Binding binding, const Decision& decision, const PreparedPlacement& prepared) {
  binding.clusters = decision.clusters;
  binding.observed_affinity = decision.affinity;
  binding.applied_placement = prepared.text();
  return binding;
}

Binding Placed(int32_t replicas, const Counts& current, const PreparedPlacement& prepared) {
  Binding binding = Deployment(replicas, current);
  binding.applied_placement = prepared.text();
  return binding;
}

TEST(ScheduleTest, S25DuplicatedAndItsReplicaChange) {
  const auto fleet = Members(2);
  const auto prepared = Prepare(fleet, kDuplicated);
  const Binding first = Deployment(3);
  const Decision decision = Schedule(first, *prepared, {});
  EXPECT_EQ(decision.action, Action::kSchedule);
  EXPECT_EQ(decision.trigger, Trigger::kPlacementChanged);
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 3}, {"member2", 3}}));
  EXPECT_TRUE(decision.changed);
  EXPECT_EQ(decision.reason, "Success");
  EXPECT_EQ(decision.message, "Binding has been scheduled successfully.");
  EXPECT_EQ(decision.event, "Binding has been scheduled successfully. Result {member1:3, member2:3}");
  Binding scaled = After(first, decision, *prepared);
  EXPECT_EQ(Schedule(scaled, *prepared, {}).trigger, Trigger::kAlwaysScheduled);
  EXPECT_FALSE(Schedule(scaled, *prepared, {}).changed) << "nothing to write";
  scaled.replicas = 5;
  EXPECT_EQ(Schedule(scaled, *prepared, {}).trigger, Trigger::kReplicasChanged);
  EXPECT_EQ(AsCounts(Schedule(scaled, *prepared, {}).clusters), (Counts{{"member1", 5}, {"member2", 5}}));
}

TEST(ScheduleTest, S26DividedByStaticWeights) {
  const auto fleet = Members(3);
  const auto weighted =
      Prepare(fleet,
              "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, "
              "weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: "
              "1}, {targetCluster: {clusterNames: [member2]}, weight: 2}]}}");
  EXPECT_EQ(AsCounts(Schedule(Deployment(9), *weighted, {}).clusters), (Counts{{"member1", 3}, {"member2", 6}}));
  const auto even = Prepare(fleet, "replicaScheduling: {replicaSchedulingType: Divided}");
  EXPECT_EQ(AsCounts(Schedule(Deployment(9), *even, {}).clusters),
            (Counts{{"member1", 3}, {"member2", 3}, {"member3", 3}}));
  Binding scaled = Placed(9, {{"member1", 3}, {"member2", 6}}, *weighted);
  EXPECT_EQ(Schedule(scaled, *weighted, {}).action, Action::kKeep);
  scaled.replicas = 3;
  EXPECT_EQ(AsCounts(Schedule(scaled, *weighted, {}).clusters), (Counts{{"member1", 1}, {"member2", 2}}));
  scaled.replicas = 1;
  EXPECT_EQ(AsCounts(Schedule(scaled, *weighted, {}).clusters), (Counts{{"member2", 1}})) << "zero is left out";
}

TEST(ScheduleTest, S28LabelAndGroupConstraints) {
  const auto fleet = MakeFleet({{.name = "member1", .region = "east", .labels = Yaml("{group: a}")},
                                {.name = "member2", .region = "east", .labels = Yaml("{group: a}")},
                                {.name = "member3", .region = "west", .labels = Yaml("{group: b}")}});
  const auto labels = Prepare(fleet,
                              "{clusterAffinity: {labelSelector: {matchLabels: {group: a}}}, spreadConstraints: "
                              "[{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}");
  EXPECT_EQ(AsCounts(Schedule(Deployment(2), *labels, {}).clusters), (Counts{{"member1", 2}}));
  const auto regions = Prepare(fleet,
                               "spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 2}, "
                               "{spreadByField: cluster, minGroups: 2, maxGroups: 2}]");
  EXPECT_EQ(AsCounts(Schedule(Deployment(2), *regions, {}).clusters), (Counts{{"member1", 2}, {"member3", 2}}));
}

TEST(ScheduleTest, S29TaintsAndTolerations) {
  const auto fleet = MakeFleet({{.name = "member1", .taints = Yaml("[{key: k, value: v, effect: NoSchedule}]")},
                                {.name = "member2", .taints = Yaml("[{key: k, value: other, effect: NoExecute}]")}});
  const auto none = Prepare(fleet, "{}");
  const Decision refused = Schedule(Deployment(1), *none, {});
  EXPECT_EQ(refused.action, Action::kNothingFits);
  EXPECT_EQ(refused.reason, "NoClusterFit");
  EXPECT_EQ(refused.message,
            "0/2 clusters are available: 1 cluster(s) had untolerated taint {k=other:NoExecute}, 1 cluster(s) had "
            "untolerated taint {k=v:NoSchedule}.");
  EXPECT_EQ(refused.event_reason, "ScheduleBindingFailed");
  EXPECT_FALSE(refused.retry);
  EXPECT_EQ(refused.rejections.size(), 2U);
  const auto one = Prepare(fleet, "clusterTolerations: [{key: k, value: v}]");
  EXPECT_EQ(AsCounts(Schedule(Deployment(1), *one, {}).clusters), (Counts{{"member1", 1}}));
}

TEST(ScheduleTest, S30JoinUnjoinAndLabelChange) {
  const auto duplicated_two = Prepare(Members(2), kDuplicated);
  const auto duplicated_three = Prepare(Members(3), kDuplicated);
  const Binding everywhere = Placed(2, {{"member1", 2}, {"member2", 2}}, *duplicated_two);
  EXPECT_EQ(Schedule(everywhere, *duplicated_three, {}).clusters.size(), 3U)
      << "Duplicated follows a cluster that joins";
  const auto divided_two = Prepare(Members(2), kAggregated);
  const auto divided_three = Prepare(Members(3), kAggregated);
  const Binding divided = Placed(4, {{"member1", 2}, {"member2", 2}}, *divided_two);
  EXPECT_EQ(Schedule(divided, *divided_three, {}).action, Action::kKeep) << "Divided does not";
  // A cluster leaves: first it is being deleted, then it is gone.
  const auto leaving = Prepare(MakeFleet({{.name = "member1"}, {.name = "member2", .deleting = true}}), kAggregated);
  for (const auto& prepared : {leaving, Prepare(Members(1), kAggregated)}) {
    const Decision decision = Schedule(divided, *prepared, Rooms(prepared->fleet(), {{"member1", 10}}));
    EXPECT_EQ(decision.trigger, Trigger::kClusterGone);
    EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 4}}));
  }
  constexpr std::string_view kGold = "clusterAffinity: {labelSelector: {matchLabels: {tier: gold}}}";
  const auto relabelled =
      Prepare(MakeFleet({{.name = "member1"}, {.name = "member2", .labels = Yaml("{tier: gold}")}}), kGold);
  EXPECT_EQ(AsCounts(Schedule(Placed(2, {{"member1", 2}}, *relabelled), *relabelled, {}).clusters),
            (Counts{{"member2", 2}}));
}

TEST(ScheduleTest, NothingStaysInAClusterThatLeavesThoughNoOtherFits) {
  struct Row {
    Counts before;
    Counts after;
    std::string_view says;
  };
  const auto fleet = MakeFleet(
      {{.name = "member1", .deleting = true}, {.name = "member2", .taints = Yaml("[{key: k, effect: NoSchedule}]")}});
  const auto prepared = Prepare(fleet, "clusterAffinity: {clusterNames: [member1]}");
  for (const Row& row : {Row{{{"member1", 2}}, {}, "nowhere now: member1 left"},
                         Row{{{"member1", 2}, {"member2", 2}}, {{"member2", 2}}, "stays where it is: member2"},
                         Row{{{"member2", 2}}, {{"member2", 2}}, "stays where it is: member2"}}) {
    Binding binding = Deployment(2);
    for (const auto& [name, replicas] : row.before) binding.clusters.push_back({.name = name, .replicas = replicas});
    const Decision decision = Schedule(binding, *prepared, {});
    EXPECT_EQ(decision.action, Action::kNothingFits);
    EXPECT_EQ(AsCounts(decision.clusters), row.after);
    EXPECT_EQ(decision.changed, row.before != row.after);
    EXPECT_NE(decision.message.find(row.says), std::string::npos) << decision.message;
  }
}

constexpr std::string_view kTerms =
    "clusterAffinities: [{affinityName: first, clusterNames: [member1]}, {affinityName: second, clusterNames: "
    "[member2]}, "
    "{affinityName: third, clusterNames: [member3]}]";

TEST(ScheduleTest, S31FallsToTheNextTermAndDoesNotComeBack) {
  const auto fleet = MakeFleet({{.name = "member1", .taints = Yaml("[{key: k, effect: NoSchedule}]")},
                                {.name = "member2"},
                                {.name = "member3"}});
  const auto prepared = Prepare(fleet, kTerms);
  const Binding binding = Deployment(2);
  const Decision fallen = Schedule(binding, *prepared, {});
  EXPECT_EQ(fallen.affinity, "second");
  EXPECT_EQ(AsCounts(fallen.clusters), (Counts{{"member2", 2}}));
  EXPECT_NE(fallen.why.find("Affinity \"first\" did not work: 0/3 clusters"), std::string::npos) << fallen.why;
  // The first is free again: it stays where it is.
  const auto healed = Prepare(Members(3), kTerms);
  Binding placed = After(binding, fallen, *healed);
  EXPECT_EQ(Schedule(placed, *healed, {}).affinity, "second");
  // Until a person asks.
  placed.last_scheduled = WallTime(seconds(100));
  placed.reschedule_triggered_at = WallTime(seconds(200));
  const Decision back = Schedule(placed, *healed, {});
  EXPECT_EQ(back.affinity, "first");
  EXPECT_EQ(AsCounts(back.clusters), (Counts{{"member1", 2}}));
}

TEST(ScheduleTest, S31AnEvictedClusterIsNotChosenAgain) {
  const auto prepared = Prepare(Members(3), kTerms);
  Binding binding = Placed(2, {}, *prepared);
  binding.observed_affinity = "first";
  binding.evicting = {"member1"};
  const Decision decision = Schedule(binding, *prepared, {});
  EXPECT_EQ(decision.affinity, "second");
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member2", 2}}));
}

TEST(ScheduleTest, S31SwitchesBetweenSingularAndPlural) {
  const auto fleet = Members(3);
  const auto plural = Prepare(fleet, kTerms);
  const auto singular = Prepare(fleet, "clusterAffinity: {clusterNames: [member3]}");
  Binding binding = After(Deployment(1), Schedule(Deployment(1), *plural, {}), *plural);
  const Decision decision = Schedule(binding, *singular, {});
  EXPECT_EQ(decision.trigger, Trigger::kPlacementChanged);
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member3", 1}}));
  EXPECT_EQ(decision.affinity, "");
  const Decision again = Schedule(After(binding, decision, *singular), *plural, {});
  EXPECT_EQ(again.affinity, "first");
}

TEST(ScheduleTest, S31OverflowExpandsAndRetracts) {
  const auto fleet = Members(2);
  const auto prepared =
      Prepare(fleet, StrCat("{clusterAffinities: [{affinityName: home, clusterNames: [member1], overflowAffinities: "
                            "[{affinityName: cloud, clusterNames: [member2]}]}], ",
                            kAggregated, "}"));
  Binding binding = Deployment(5);
  Decision decision = Schedule(binding, *prepared, Rooms(*fleet, {{"member1", 6}, {"member2", 50}}));
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 5}}));
  binding = After(binding, decision, *prepared);
  binding.replicas = 9;
  decision = Schedule(binding, *prepared, Rooms(*fleet, {{"member1", 1}, {"member2", 50}}));
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 6}, {"member2", 3}}));
  binding = After(binding, decision, *prepared);
  binding.replicas = 4;
  decision = Schedule(binding, *prepared, Rooms(*fleet, {{"member1", 0}, {"member2", 47}}));
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 4}}));
}

TEST(ScheduleTest, S32RebalancingDividesAnew) {
  const auto fleet = Members(2);
  for (const std::string_view policy : {kDynamic, kAggregated}) {
    const auto prepared = Prepare(fleet, policy);
    Binding binding = Placed(10, {{"member1", 10}}, *prepared);
    const Estimates rooms = Rooms(*fleet, {{"member1", 0}, {"member2", 90}});
    EXPECT_EQ(Schedule(binding, *prepared, rooms).action, Action::kKeep);
    binding.reschedule_triggered_at = WallTime(seconds(200));
    EXPECT_EQ(Schedule(binding, *prepared, rooms).action, Action::kKeep) << "never scheduled: the first is not over";
    binding.last_scheduled = WallTime(seconds(200));
    EXPECT_EQ(Schedule(binding, *prepared, rooms).action, Action::kKeep) << "not later than the last one";
    binding.last_scheduled = WallTime(seconds(199));
    const Decision decision = Schedule(binding, *prepared, rooms);
    EXPECT_EQ(decision.trigger, Trigger::kRescheduleRequested);
    EXPECT_EQ(AsCounts(decision.clusters),
              policy == kDynamic ? (Counts{{"member1", 1}, {"member2", 9}}) : (Counts{{"member2", 10}}));
  }
}

Binding FlinkJob(const Counts& current = {}) {
  Binding binding = Deployment(0, current);
  binding.has_requirements = false;
  binding.components = {{"jobmanager", 1, {{"cpu", 1000}}}, {"taskmanager", 2, {{"cpu", 2000}}}};
  return binding;
}

TEST(ScheduleTest, S35ComponentsGoToOneClusterAsAWhole) {
  const auto fleet = Members(3);
  const auto prepared =
      Prepare(fleet, StrCat("{spreadConstraints: [{minGroups: 1, maxGroups: 1}], ", kAggregated, "}"));
  const Decision decision =
      Schedule(FlinkJob(), *prepared, Rooms(*fleet, {{"member1", 0}, {"member2", 3}, {"member3", 1}}));
  ASSERT_EQ(decision.clusters.size(), 1U);
  EXPECT_EQ(decision.clusters[0], (TargetCluster{"member2", 0, {{"jobmanager", 1}, {"taskmanager", 2}}}));
  // karmada#7895: it fills its cluster, so the estimate says there is no room for it. It stays all the same.
  Binding running = FlinkJob({{"member3", 0}});
  const Decision stays = Schedule(running, *prepared, Rooms(*fleet, {{"member2", 9}}));
  ASSERT_EQ(stays.clusters.size(), 1U);
  EXPECT_EQ(stays.clusters[0].name, "member3");
  const Decision full = Schedule(FlinkJob(), *prepared, Rooms(*fleet, {}));
  EXPECT_EQ(full.action, Action::kNothingFits);
  EXPECT_EQ(full.reason, kReasonSchedulerError);
}

TEST(ScheduleTest, S40SuspensionHoldsEverything) {
  const auto prepared = Prepare(Members(2), kDuplicated);
  Binding binding = Deployment(3, {{"member1", 1}, {"elsewhere", 1}});
  binding.suspended = true;
  binding.reschedule_triggered_at = WallTime(seconds(2));
  binding.last_scheduled = WallTime(seconds(1));
  const Decision decision = Schedule(binding, *prepared, {});
  EXPECT_EQ(decision.action, Action::kKeep);
  EXPECT_EQ(decision.clusters, binding.clusters);
  EXPECT_NE(decision.why.find("suspended"), std::string::npos);
  binding.suspended = false;
  EXPECT_EQ(Schedule(binding, *prepared, {}).action, Action::kSchedule);
}

TEST(ScheduleTest, S52NothingFitsKeepsWhatRuns) {  // karmada#7455
  const auto prepared = Prepare(Members(2), "clusterAffinity: {clusterNames: [nowhere]}");
  const Binding running = Deployment(2, {{"member1", 2}, {"member2", 2}});
  const Decision decision = Schedule(running, *prepared, {});
  EXPECT_EQ(decision.action, Action::kNothingFits);
  EXPECT_EQ(decision.clusters, running.clusters);
  EXPECT_FALSE(decision.changed);
  EXPECT_EQ(decision.reason, "NoClusterFit");
  EXPECT_EQ(decision.message,
            "0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint. The "
            "workload stays where it is: member1, member2.");
  Options karmada;
  karmada.empty_when_nothing_fits = true;
  const Decision emptied = Schedule(running, *prepared, {}, karmada);
  EXPECT_TRUE(emptied.clusters.empty());
  EXPECT_TRUE(emptied.changed);
}

TEST(ScheduleTest, TooLittleRoomKeepsWhatRunsAndTriesAgain) {
  const auto fleet = Members(2);
  const auto prepared = Prepare(fleet, kDynamic);
  const Binding binding = Placed(20, {{"member1", 4}}, *prepared);
  const Decision decision = Schedule(binding, *prepared, Rooms(*fleet, {{"member1", 3}, {"member2", 4}}));
  EXPECT_EQ(decision.action, Action::kNothingFits);
  EXPECT_EQ(decision.reason, "Unschedulable");
  EXPECT_TRUE(decision.retry);
  EXPECT_EQ(decision.clusters, binding.clusters);
  EXPECT_EQ(decision.message,
            "failed to assign replicas: Clusters available replicas 7 are not enough to schedule. The workload stays "
            "where it is: member1.");
}

TEST(ScheduleTest, EveryTermThatFailedIsNamed) {
  const auto prepared = Prepare(Members(1), StrCat("{clusterAffinities: [{affinityName: a, clusterNames: [member1]}, "
                                                   "{affinityName: b, clusterNames: [gone]}], ",
                                                   kDynamic, "}"));
  const Decision decision = Schedule(Deployment(5), *prepared, Rooms(prepared->fleet(), {{"member1", 2}}));
  EXPECT_EQ(decision.reason, "Unschedulable") << "the first term's";
  EXPECT_EQ(decision.affinity, "");
  EXPECT_NE(decision.message.find("Affinity \"b\": 0/1 clusters are available"), std::string::npos) << decision.message;
}

TEST(ScheduleTest, ScaledToZeroKeepsItsObjects) {
  const auto fleet = Members(3);
  for (const std::string_view policy : {kDynamic, kAggregated, kDuplicated}) {
    const auto prepared = Prepare(fleet, policy);
    const Decision decision = Schedule(Placed(0, {{"member1", 3}, {"member3", 3}}, *prepared), *prepared, {});
    EXPECT_EQ(decision.action, Action::kSchedule);
    EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 0}, {"member3", 0}})) << policy;
  }
  const auto prepared = Prepare(fleet, kDynamic);
  EXPECT_TRUE(Schedule(Deployment(0), *prepared, {}).clusters.empty()) << "what never ran goes nowhere";
  Options options;
  options.propagate_empty_workloads = true;
  EXPECT_EQ(Schedule(Deployment(0), *prepared, {}, options).clusters.size(), 3U);
}

TEST(ScheduleTest, WhatHasNoReplicasGoesToEveryCluster) {
  const auto prepared = Prepare(Members(2), StrCat("{spreadConstraints: [{maxGroups: 1}], ", kAggregated, "}"));
  Binding config = Deployment(0);
  config.has_requirements = false;
  const Decision decision = Schedule(config, *prepared, {});
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 0}}));
  EXPECT_EQ(TargetsToJson(decision.clusters), Yaml("[{name: member1}]"));
}

TEST(ScheduleTest, TheTrapOfEmptyReplicaScheduling) {
  // The spread constraint does not act, as in Karmada; the compiled placement warns.
  const auto prepared = Prepare(Members(3), "{spreadConstraints: [{maxGroups: 1}], replicaScheduling: {}}");
  EXPECT_EQ(Schedule(Deployment(3), *prepared, {}).clusters.size(), 3U);
  EXPECT_FALSE(prepared->placement().warnings.empty());
}

TEST(ScheduleTest, AnAppliedPlacementIsComparedByMeaning) {
  const auto prepared =
      Prepare(Members(2), StrCat("{clusterAffinity: {clusterNames: [member1, member2]}, ", kAggregated, "}"));
  Binding binding = Deployment(2, {{"member1", 2}});
  // As Go writes it: another order of keys.
  binding.applied_placement =
      R"({"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Aggregated"},)"
      R"("clusterAffinity":{"clusterNames":["member2","member1"]}})";
  EXPECT_EQ(TriggerOf(binding, *prepared), Trigger::kNone);
  for (const std::string_view text : {"", "{", "[]", R"({"clusterAffinity":{"clusterNames":["member1"]}})"}) {
    binding.applied_placement = text;
    EXPECT_EQ(TriggerOf(binding, *prepared), Trigger::kPlacementChanged) << text;
  }
}

TEST(ScheduleTest, ReplicaChangesAreSeenAsKarmadaSeesThem) {
  const auto fleet = Members(2);
  struct Row {
    std::string_view policy;
    int32_t replicas;
    Counts current;
    Trigger wanted;
  };
  const std::vector<Row> rows = {
      {"{}", 3, {{"member1", 1}}, Trigger::kAlwaysScheduled},  // no strategy: not a replica change
      {kDuplicated, 3, {{"member1", 3}, {"member2", 2}}, Trigger::kReplicasChanged},
      {kDuplicated, 3, {{"member1", 3}}, Trigger::kAlwaysScheduled},
      {kDynamic, 3, {{"member1", 1}, {"member2", 2}}, Trigger::kNone},
      {kDynamic, 3, {{"member1", 1}}, Trigger::kReplicasChanged},
      {kDynamic, 3, {}, Trigger::kReplicasChanged},
  };
  for (const Row& row : rows) {
    const auto prepared = Prepare(fleet, row.policy);
    EXPECT_EQ(TriggerOf(Placed(row.replicas, row.current, *prepared), *prepared), row.wanted) << row.policy;
  }
}

TEST(ScheduleTest, WhatIsNotForTheSchedulerIsKept) {
  const auto prepared = Prepare(Members(1), "{}");
  Binding binding = Deployment(1);
  binding.has_placement = false;
  EXPECT_EQ(Schedule(binding, *prepared, {}).action, Action::kKeep);
  binding = Deployment(1);
  binding.deleting = true;
  EXPECT_EQ(Schedule(binding, *prepared, {}).action, Action::kKeep);
}

TEST(ScheduleTest, NoClustersAtAll) {
  const auto prepared = Prepare(Members(0), "{}");
  EXPECT_EQ(Schedule(Deployment(1), *prepared, {}).message, "0/0 clusters are available: no cluster exists.");
}

// The policies of the documents that this product grew from.
TEST(ScheduleTest, ThePoliciesOfTheSeeds) {
  const auto fleet = MakeFleet({{.name = "cluster-blue"},
                                {.name = "cluster-green"},
                                {.name = "member1"},
                                {.name = "member2"},
                                {.name = "spaas-kaas-pw-dev02"},
                                {.name = "spaas-kaas-tt-dev02"}});
  // Application failover: one of two clusters; after the failure of the first the other one.
  const auto nginx = Prepare(fleet,
                             "{clusterAffinity: {clusterNames: [member1, member2]}, spreadConstraints: "
                             "[{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}");
  Binding binding = Deployment(2);
  const Decision decision = Schedule(binding, *nginx, {});
  EXPECT_EQ(AsCounts(decision.clusters), (Counts{{"member1", 2}}));
  binding = After(binding, decision, *nginx);
  binding.clusters.clear();
  binding.evicting = {"member1"};
  EXPECT_EQ(AsCounts(Schedule(binding, *nginx, {}).clusters), (Counts{{"member2", 2}}));
  // Both are out: it stays nowhere, and the second task does not bring it back to the first.
  binding.evicting = {"member1", "member2"};
  EXPECT_EQ(Schedule(binding, *nginx, {}).action, Action::kNothingFits);
  // A single named cluster; and the blue-green one.
  const auto single = Prepare(fleet, "clusterAffinity: {clusterNames: [member1]}");
  EXPECT_EQ(AsCounts(Schedule(Deployment(1), *single, {}).clusters), (Counts{{"member1", 1}}));
  const auto green = Prepare(fleet, "clusterAffinity: {clusterNames: [cluster-green]}");
  EXPECT_EQ(AsCounts(Schedule(Deployment(3), *green, {}).clusters), (Counts{{"cluster-green", 3}}));
  // A migration's dual list is cut back to one cluster as soon as it is not suspended: the one by name, both run it.
  const auto flink = Prepare(fleet,
                             "{clusterAffinity: {clusterNames: [spaas-kaas-tt-dev02, spaas-kaas-pw-dev02]}, "
                             "spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}");
  Binding dual = Placed(1, {{"spaas-kaas-tt-dev02", 1}, {"spaas-kaas-pw-dev02", 1}}, *flink);
  EXPECT_EQ(Schedule(dual, *flink, {}).clusters.size(), 1U);
  dual.suspended = true;
  EXPECT_EQ(Schedule(dual, *flink, {}).clusters.size(), 2U);
}

TEST(BindingTest, ReadsAndRefuses) {
  const Binding binding = ParseBinding(Yaml(R"(
metadata: {annotations: {policy.karmada.io/applied-placement: '{}'}}
spec:
  resource: {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, uid: u}
  replicas: 3
  replicaRequirements: {resourceRequest: {cpu: 500m}}
  components: [{name: jm, replicas: 1, replicaRequirements: {resourceRequest: {memory: 1Gi}}}]
  clusters: [{name: a, replicas: 2, components: [{name: jm, replicas: 1}]}]
  gracefulEvictionTasks: [{fromCluster: b}]
  rescheduleTriggeredAt: "2026-01-02T00:00:00Z"
  suspension: {scheduling: true}
  placement: {}
status: {schedulerObservingAffinityName: first, lastScheduledTime: "2026-01-01T00:00:00Z"}
)"))
                              .value();
  EXPECT_EQ(binding.kind, "FlinkDeployment");
  EXPECT_TRUE(binding.RescheduleRequired());
  EXPECT_TRUE(binding.suspended && binding.has_placement && binding.has_requirements);
  EXPECT_EQ(binding.request, (Request{{"cpu", 500}}));
  EXPECT_EQ(binding.evicting, (std::vector<std::string>{"b"}));
  EXPECT_EQ(TargetsToJson(binding.clusters), Yaml("[{name: a, replicas: 2, components: [{name: jm, replicas: 1}]}]"));
  EXPECT_FALSE(ParseBinding(Yaml("spec: {rescheduleTriggeredAt: '0001-01-01T00:00:00Z'}"))->reschedule_triggered_at);
  for (const std::string_view bad : {"spec: {replicas: -1}", "spec: {replicas: 3000000000}", "spec: {clusters: {}}",
                                     "spec: {rescheduleTriggeredAt: today}", "status: {lastScheduledTime: 3}"}) {
    EXPECT_FALSE(ParseBinding(Yaml(bad)).ok()) << bad;
  }
}

}  // namespace
}  // namespace baton::placement
