#include "placement/filter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

std::vector<std::string> Names(const Fleet& fleet, const ClusterSet& set) {
  std::vector<std::string> names;
  set.ForEach([&](size_t cluster) { names.push_back(fleet[cluster].name); });
  return names;
}

std::shared_ptr<const Fleet> Mixed() {
  return MakeFleet({
      {.name = "plain"},
      {.name = "other", .labels = Yaml("{kind: other}")},
      {.name = "noapi", .serves = false},
      {.name = "tainted",
       .taints = Yaml("[{key: soft, effect: PreferNoSchedule}, {key: k, value: v, effect: NoSchedule}]")},
      {.name = "soft", .taints = Yaml("[{key: soft, effect: PreferNoSchedule}]")},
      {.name = "evicting"},
      {.name = "leaving", .deleting = true},
  });
}

TEST(FilterTest, EveryReasonHasItsWords) {
  const auto fleet = Mixed();
  const auto prepared =
      Prepare(fleet, "clusterAffinity: {labelSelector: {matchExpressions: [{key: kind, operator: DoesNotExist}]}}");
  Binding binding = Deployment(1);
  binding.evicting = {"evicting", "unknown"};
  EXPECT_EQ(Names(*fleet, Feasible(binding, *prepared, 0)), (std::vector<std::string>{"plain", "soft"}));
  const std::vector<Rejection> rejections = Explain(binding, *prepared, 0);
  const std::vector<Rejection> wanted = {
      {"evicting", "cluster(s) is in the process of eviction"},
      {"leaving", "cluster(s) are being deleted"},
      {"noapi", "cluster(s) did not have the API resource"},
      {"other", "cluster(s) did not match the placement cluster affinity constraint"},
      {"tainted", "cluster(s) had untolerated taint {k=v:NoSchedule}"},
  };
  EXPECT_EQ(rejections, wanted);
}

TEST(FilterTest, WhatRunsIsNotJudgedByApiAndTaintsAgain) {
  const auto fleet = Mixed();
  const auto prepared = Prepare(fleet, "clusterAffinity: {clusterNames: [noapi, tainted, evicting, leaving]}");
  Binding binding = Deployment(1, {{"noapi", 1}, {"tainted", 1}, {"other", 1}, {"leaving", 1}, {"evicting", 1}});
  binding.evicting = {"evicting"};
  // But affinity, eviction and the deletion of a cluster count for it too.
  EXPECT_EQ(Names(*fleet, Feasible(binding, *prepared, 0)), (std::vector<std::string>{"noapi", "tainted"}));
}

TEST(FilterTest, SpreadDemandsTheProperty) {
  const auto fleet = MakeFleet({{.name = "all", .region = "r", .zones = {"z"}, .provider = "p"},
                                {.name = "noregion", .zones = {"z"}, .provider = "p"},
                                {.name = "nozone", .region = "r", .provider = "p"},
                                {.name = "noprovider", .region = "r", .zones = {"z"}}});
  const auto prepared = Prepare(fleet,
                                "spreadConstraints: [{spreadByField: region, maxGroups: 1}, {spreadByField: zone, "
                                "maxGroups: 1}, {spreadByField: provider, maxGroups: 1}, {maxGroups: 1}]");
  EXPECT_EQ(Names(*fleet, Feasible(Deployment(1), *prepared, 0)), (std::vector<std::string>{"all"}));
  EXPECT_EQ(Summarize(Explain(Deployment(1), *prepared, 0), 4),
            "0/4 clusters are available: 1 cluster(s) did not have provider property, 1 cluster(s) did not have region "
            "property, 1 cluster(s) did not have zones property.");
}

TEST(FilterTest, OverflowIsForWorkloadsOnly) {
  const auto fleet = Members(2);
  const auto prepared =
      Prepare(fleet, StrCat("{clusterAffinities: [{affinityName: a, clusterNames: [member1], overflowAffinities: "
                            "[{affinityName: b, clusterNames: [member2]}]}], ",
                            kAggregated, "}"));
  EXPECT_EQ(Feasible(Deployment(1), *prepared, 0).Count(), 2U);
  Binding config = Deployment(0);
  config.has_requirements = false;
  EXPECT_EQ(Feasible(config, *prepared, 0).Count(), 1U);
}

// 34. M Workload affinity/anti-affinity four cases.
TEST(FilterTest, PeersKeepTogetherOrApart) {
  const auto fleet = Members(3);
  const auto prepared = Prepare(fleet, "{}");
  struct Row {
    Peers peers;
    Counts current;
    std::vector<std::string> wanted;
  };
  const std::vector<Row> rows = {
      {{{{"member1"}, {}, {"member1", "member2"}}, {}}, {}, {"member1"}},
      {{{{}}, {}}, {}, {"member1", "member2", "member3"}},  // the first of its group
      {{{}, {"member1", "member3"}}, {}, {"member2"}},
      {{{{"member1"}}, {"member2"}}, {{"member2", 1}}, {"member1", "member2"}},  // where it runs it stays
  };
  for (const Row& row : rows) {
    Binding binding = Deployment(1, row.current);
    binding.peers = row.peers;
    EXPECT_EQ(Names(*fleet, Feasible(binding, *prepared, 0)), row.wanted);
    EXPECT_EQ(Explain(binding, *prepared, 0).size(), 3 - row.wanted.size());
  }
}

TEST(FilterTest, ExplainsExactlyWhatDoesNotFit) {
  const auto fleet = Mixed();
  for (const std::string_view placement : {"{}", "{clusterAffinity: {exclude: [plain]}}",
                                           "{spreadConstraints: "
                                           "[{spreadByField: zone, maxGroups: 1}]}"}) {
    const auto prepared = Prepare(fleet, placement);
    for (const char* kind : {"Deployment", "Other"}) {
      Binding binding = Deployment(1, {{"tainted", 1}});
      binding.kind = kind;
      ClusterSet rest = fleet->all();
      for (const Rejection& rejection : Explain(binding, *prepared, 0)) rest.Remove(*fleet->Find(rejection.cluster));
      EXPECT_EQ(rest, Feasible(binding, *prepared, 0)) << placement;
    }
  }
}

TEST(FilterTest, NoClusterAtAll) { EXPECT_EQ(Summarize({}, 0), "0/0 clusters are available: no cluster exists."); }

}  // namespace
}  // namespace baton::placement
