#include "placement/placement.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

Placement Compile(std::string_view yaml) { return CompilePlacement(Yaml(yaml)).value(); }

TEST(PlacementTest, NoWishIsAllClustersDuplicated) {
  for (const json::Value& value : {json::Value(), json::Object()}) {
    const Placement placement = CompilePlacement(value).value();
    ASSERT_EQ(placement.terms.size(), 1U);
    EXPECT_TRUE(placement.terms[0].affinity.MatchesEverything());
    EXPECT_FALSE(placement.has_affinities);
    EXPECT_EQ(placement.division, Division::kDuplicated);
    EXPECT_FALSE(placement.has_spread());
  }
}

TEST(PlacementTest, FillsInWhatTheWebhookWould) {
  struct Row {
    std::string_view yaml;
    Division division;
  };
  const std::vector<Row> rows = {
      {"replicaScheduling: {}", Division::kStaticWeight},
      {"replicaScheduling: {replicaSchedulingType: Divided}", Division::kStaticWeight},
      {"replicaScheduling: {replicaSchedulingType: Duplicated}", Division::kDuplicated},
      {kAggregated, Division::kAggregated},
      {kDynamic, Division::kDynamicWeight},
      {"replicaScheduling: {replicaSchedulingType: Duplicated, weightPreference: {dynamicWeight: AvailableReplicas}}",
       Division::kDuplicated},
  };
  for (const Row& row : rows) EXPECT_EQ(Compile(row.yaml).division, row.division) << row.yaml;
  const Placement spread = Compile("spreadConstraints: [{maxGroups: 3}]");
  EXPECT_EQ(spread.Spread(SpreadField::kCluster), (SpreadConstraint{1, 3}));
}

TEST(PlacementTest, RefusesWhatIsWrongAndNamesIt) {
  struct Row {
    std::string_view yaml;
    std::string_view part;
  };
  const std::vector<Row> rows = {
      {"[]", "placement must be an object"},
      {"clusterAffinity: 3", "clusterAffinity must be an object"},
      {"{clusterAffinity: {}, clusterAffinities: [{affinityName: a}]}", "cannot co-exist with clusterAffinity"},
      {"clusterAffinities: [{clusterNames: [a]}]", "clusterAffinities[0].affinityName is missing"},
      {"clusterAffinities: [{affinityName: a}, {affinityName: a}]", "two terms called \"a\""},
      {"clusterAffinity: {clusterNames: [1]}", "clusterAffinity.clusterNames must be a list of strings"},
      {"clusterAffinity: {labelSelector: {matchLabels: {'-': x}}}", "clusterAffinity.labelSelector"},
      {"clusterAffinity: {fieldSelector: {matchExpressions: [{key: city, operator: In}]}}", "provider, region or zone"},
      {"clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: Exists}]}}", "must be In or NotIn"},
      {"clusterTolerations: [{operator: Gt}]", "must be Equal or Exists"},
      {"spreadConstraints: [{spreadByField: rack}]", "must be cluster, region, zone or provider"},
      {"spreadConstraints: [{spreadByField: zone, spreadByLabel: x}]", "should not co-exist"},
      {"spreadConstraints: [{minGroups: 3, maxGroups: 2}]", "maxGroups 2 is lower than minGroups 3"},
      {"spreadConstraints: [{minGroups: -1}]", "minGroups must be"},
      {"spreadConstraints: [{maxGroups: 1}, {spreadByField: cluster}]", "multiple cluster spread constraints"},
      {"replicaScheduling: {replicaSchedulingType: Both}", "must be Duplicated or Divided"},
      {"replicaScheduling: {replicaDivisionPreference: Even}", "must be Aggregated or Weighted"},
      {"replicaScheduling: {weightPreference: {dynamicWeight: Load}}", "must be AvailableReplicas"},
      {"replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {}, weight: -1}]}}", "weight"},
      {"clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b}]}]",
       "dynamic weight or aggregated"},
      {"workloadAffinity: {affinity: {groupByLabelKey: k}, antiAffinity: {groupByLabelKey: k}}",
       "different label keys"},
  };
  for (const Row& row : rows) {
    const Result<Placement> placement = CompilePlacement(Yaml(row.yaml));
    ASSERT_FALSE(placement.ok()) << row.yaml;
    EXPECT_NE(placement.error().message().find(row.part), std::string::npos) << placement.error().message();
  }
}

TEST(PlacementTest, OverflowNeedsAnAffinityToOverflowFrom) {
  const std::string text =
      StrCat("{clusterAffinities: [{affinityName: a, overflowAffinities: [{affinityName: b}]}], ", kAggregated, "}");
  EXPECT_FALSE(CompilePlacement(Yaml(text)).ok());
}

TEST(PlacementTest, WarnsOfTheTraps) {
  EXPECT_EQ(Compile("spreadConstraints: [{spreadByField: cluster}]").warnings.size(), 1U);
  // karmada: `replicaScheduling: {}` quietly defeats maxGroups.
  EXPECT_EQ(Compile("{spreadConstraints: [{maxGroups: 1}], replicaScheduling: {}}").warnings.size(), 1U);
  EXPECT_TRUE(Compile("{spreadConstraints: [{maxGroups: 1}]}").warnings.empty());
}

TEST(PlacementTest, SpreadIsIgnoredWithStaticWeightsOnly) {
  struct Row {
    std::string_view replicas;
    bool ignored;
  };
  const std::vector<Row> rows = {
      {"{}", true},
      {"{weightPreference: {}}", false},
      {"{weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [a]}, weight: 1}]}}", true},
      {"{weightPreference: {dynamicWeight: AvailableReplicas}}", false},
      {"{replicaDivisionPreference: Aggregated}", false},
      {"{replicaSchedulingType: Duplicated}", false},
  };
  for (const Row& row : rows) {
    const std::string text = StrCat("{spreadConstraints: [{maxGroups: 1}], replicaScheduling: ", row.replicas, "}");
    EXPECT_EQ(Compile(text).spread_ignored(), row.ignored) << row.replicas;
  }
}

TEST(PlacementTest, TolerationsAreThoseOfKubernetes) {
  struct Row {
    std::string_view toleration;
    bool tolerated;  // of key=value:NoExecute
  };
  const std::vector<Row> rows = {
      {"{key: key, value: value, effect: NoExecute}", true},
      {"{key: key, value: value}", true},
      {"{key: key, operator: Equal, value: other}", false},
      {"{key: key, operator: Exists}", true},
      {"{key: key, operator: Exists, effect: NoSchedule}", false},
      {"{operator: Exists}", true},
      {"{operator: Exists, effect: NoExecute}", true},
      {"{key: other, operator: Exists}", false},
      {"{key: key}", false},
  };
  const Taint taint{"key", "value", "NoExecute"};
  for (const Row& row : rows) {
    const Placement placement = Compile(StrCat("clusterTolerations: [", row.toleration, "]"));
    EXPECT_EQ(placement.tolerations.at(0).Tolerates(taint), row.tolerated) << row.toleration;
  }
}

TEST(PlacementTest, AnAffinityIsAnAndOfItsParts) {
  const Cluster cluster = ParseCluster(ClusterText{.name = "blue",
                                                   .region = "eu",
                                                   .zones = {"eu-1", "eu-2"},
                                                   .provider = "acme",
                                                   .labels = Yaml("{tier: gold}")}
                                           .Object())
                              .value();
  struct Row {
    std::string_view affinity;
    bool matches;
  };
  const std::vector<Row> rows = {
      {"{}", true},
      {"{clusterNames: []}", true},
      {"{clusterNames: [red, blue]}", true},
      {"{clusterNames: [red]}", false},
      {"{clusterNames: [blue], exclude: [blue]}", false},
      {"{exclude: [red]}", true},
      {"{labelSelector: {matchLabels: {tier: gold}}}", true},
      {"{labelSelector: {matchLabels: {tier: gold}}, clusterNames: [red]}", false},
      {"{labelSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [gold]}]}}", false},
      {"{fieldSelector: {matchExpressions: [{key: region, operator: In, values: [us, eu]}]}}", true},
      {"{fieldSelector: {matchExpressions: [{key: region, operator: NotIn, values: [us]}]}}", true},
      {"{fieldSelector: {matchExpressions: [{key: provider, operator: In, values: [other]}]}}", false},
      {"{fieldSelector: {matchExpressions: [{key: zone, operator: In, values: [eu-2, eu-9]}]}}", true},
      {"{fieldSelector: {matchExpressions: [{key: zone, operator: NotIn, values: [eu-2]}]}}", false},
      {"{fieldSelector: {matchExpressions: [{key: zone, operator: NotIn, values: [eu-9]}]}}", true},
      {"{fieldSelector: {matchExpressions: [{key: zone, operator: In, values: []}]}}", false},
  };
  for (const Row& row : rows) {
    const Placement placement = Compile(StrCat("clusterAffinity: ", row.affinity));
    EXPECT_EQ(placement.terms[0].affinity.Matches(cluster), row.matches) << row.affinity;
  }
}

TEST(PlacementTest, OnlyChangesOfMeaningCount) {
  struct Row {
    std::string_view now, then, observed;
    bool changed;
  };
  const std::vector<Row> rows = {
      {"{}", "{}", "", false},
      {"{clusterAffinity: {clusterNames: [a, b]}}", "{clusterAffinity: {clusterNames: [b, a], exclude: []}}", "",
       false},
      {"{clusterAffinity: {clusterNames: [a]}}", "{clusterAffinity: {clusterNames: [b]}}", "", true},
      {"{clusterTolerations: [{key: a}]}", "{}", "", true},
      {"{spreadConstraints: [{maxGroups: 1}]}",
       "{spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}", "", false},
      {"{spreadConstraints: [{maxGroups: 1}]}", "{spreadConstraints: [{maxGroups: 2}]}", "", true},
      {"{replicaScheduling: {}}", "{}", "", true},
      {"{replicaScheduling: {}}", "{replicaScheduling: {replicaSchedulingType: Divided}}", "", false},
      // Of clusterAffinities only the term in use counts.
      {"{clusterAffinities: [{affinityName: p, clusterNames: [a]}, {affinityName: q, clusterNames: [b]}]}",
       "{clusterAffinities: [{affinityName: p, clusterNames: [a]}, {affinityName: q, clusterNames: [c]}]}", "p", false},
      {"{clusterAffinities: [{affinityName: p, clusterNames: [a]}, {affinityName: q, clusterNames: [b]}]}",
       "{clusterAffinities: [{affinityName: p, clusterNames: [a]}, {affinityName: q, clusterNames: [c]}]}", "q", true},
      {"{clusterAffinities: [{affinityName: p, clusterNames: [a]}]}",
       "{clusterAffinities: [{affinityName: q, clusterNames: [a]}]}", "q", true},
      {"{clusterAffinities: [{affinityName: p, clusterNames: [a]}]}",
       "{clusterAffinities: [{affinityName: p, clusterNames: [b]}]}", "", true},
      {"{clusterAffinities: [{affinityName: p, clusterNames: [a]}]}", "{clusterAffinity: {clusterNames: [a]}}", "",
       true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(PlacementChanged(Compile(row.now), Compile(row.then), row.observed), row.changed) << row.now << row.then;
  }
}

TEST(PlacementTest, TheCacheKnowsAPlacementByItsValue) {
  PlacementCache cache;
  const auto fleet = Members(3);
  const auto first = cache.Get(Yaml("clusterAffinity: {clusterNames: [member1]}"), fleet).value();
  EXPECT_EQ(cache.Get(Yaml("clusterAffinity: {clusterNames: [member1]}"), fleet).value(), first);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(first->terms()[0].any.Count(), 1U);
  EXPECT_FALSE(cache.Get(Yaml("clusterAffinity: 1"), fleet).ok());
  EXPECT_NE(cache.Get(Yaml("clusterAffinity: {clusterNames: [member1]}"), Members(3)).value(), first);
}

}  // namespace
}  // namespace baton::placement
