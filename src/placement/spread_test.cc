#include "placement/spread.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

struct Room {
  int32_t available;
  bool current = false;
};

std::vector<Candidate> CandidatesOf(const std::vector<Room>& rooms) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < rooms.size(); ++i) {
    Candidate candidate;
    candidate.cluster = static_cast<uint32_t>(i);
    candidate.allocatable = rooms[i].available;
    candidate.current = rooms[i].current;
    candidate.rank = Rank(candidate);
    candidates.push_back(candidate);
  }
  return candidates;
}

struct Selection {
  std::vector<std::string> names;
  std::string error;
};

Selection Select(const std::shared_ptr<const Fleet>& fleet, std::string_view placement, int32_t replicas,
                 const std::vector<Room>& rooms) {
  const auto prepared = Prepare(fleet, placement);
  std::vector<Candidate> candidates = CandidatesOf(rooms);
  SpreadInput input;
  input.prepared = prepared.get();
  input.replicas = input.needed = replicas;
  input.ignore_capacity = !prepared->placement().divided();
  Selection selection;
  if (const Result<void> result = SelectBySpread(input, candidates); !result.ok()) {
    selection.error = result.error().message();
    return selection;
  }
  for (const Candidate& candidate : candidates) selection.names.push_back((*fleet)[candidate.cluster].name);
  return selection;
}

using Names = std::vector<std::string>;

TEST(SpreadTest, TheBestClustersByLocalityThenRoomThenName) {
  const auto fleet = Members(4);
  struct Row {
    std::string_view constraint;
    std::vector<Room> rooms;
    Names wanted;
  };
  const std::vector<Row> rows = {
      {"{maxGroups: 2}", {{5}, {9}, {7}, {9}}, {"member2", "member4"}},
      {"{maxGroups: 1}", {{5}, {9}, {7, true}, {9}}, {"member3"}},
      {"{maxGroups: 1}", {{5}, {5}, {5}, {5}}, {"member1"}},
      {"{maxGroups: 9}", {{5}, {5}, {5}, {5}}, {"member1", "member2", "member3", "member4"}},
      {"{minGroups: 4, maxGroups: 4}", {{0}, {0}, {0}, {0}}, {"member1", "member2", "member3", "member4"}},
      // karmada: without maxGroups no cluster is selected. Here there is no limit.
      {"{spreadByField: cluster}", {{5}, {5}, {5}, {5}}, {"member1", "member2", "member3", "member4"}},
  };
  for (const Row& row : rows) {
    const Selection selection = Select(fleet, StrCat("spreadConstraints: [", row.constraint, "]"), 6, row.rooms);
    EXPECT_EQ(selection.names, row.wanted) << row.constraint << selection.error;
  }
}

TEST(SpreadTest, DividedExchangesForLargerUntilItFits) {
  const auto fleet = Members(3);
  const std::string placement = StrCat("{spreadConstraints: [{maxGroups: 2}], ", kAggregated, "}");
  // Karmada's own example: scores 60, 50, 40 (here: two current ones), room 40, 30, 60, needed 80.
  EXPECT_EQ(Select(fleet, placement, 80, {{40, true}, {30, true}, {60}}).names, (Names{"member1", "member3"}));
  EXPECT_EQ(Select(fleet, placement, 70, {{40, true}, {30, true}, {60}}).names, (Names{"member1", "member2"}));
  EXPECT_EQ(Select(fleet, placement, 101, {{40, true}, {30, true}, {60}}).error,
            "no enough resource when selecting 2 clusters (101 needed, 100 available)");
  EXPECT_EQ(Select(fleet, "spreadConstraints: [{maxGroups: 2}]", 101, {{40}, {30}, {60}}).names.size(), 2U)
      << "Duplicated does not look at room";
}

TEST(SpreadTest, TooFewClustersIsAnError) {
  EXPECT_EQ(Select(Members(2), "spreadConstraints: [{minGroups: 3, maxGroups: 3}]", 1, {{1}, {1}}).error,
            "the number of feasible clusters is less than spreadConstraint.MinGroups (2 of 3)");
  EXPECT_EQ(Select(Members(2), "spreadConstraints: [{spreadByLabel: rack}]", 1, {{1}, {1}}).error,
            "just support cluster and region spread constraint: spreadByLabel is not implemented");
}

std::shared_ptr<const Fleet> Regions() {  // r1: 1 2, r2: 3 4 5, r3: 6
  std::vector<ClusterText> texts;
  const std::vector<std::string> regions = {"r1", "r1", "r2", "r2", "r2", "r3"};
  const std::vector<std::string> zones = {"z1", "z2", "z1", "z2", "z3", "z1"};
  for (size_t i = 0; i < regions.size(); ++i) {
    texts.push_back({.name = StrCat("member", i + 1), .region = regions[i], .zones = {zones[i]}, .provider = "p"});
  }
  return MakeFleet(texts);
}

TEST(SpreadTest, OneClusterOfEachRegionThenTheBestOfTheRest) {
  struct Row {
    std::string_view region, cluster;
    std::vector<Room> rooms;
    Names wanted;
  };
  const std::vector<Row> rows = {
      // All regions are worth the same (each takes half of 10); r1 and r2 by name.
      {"minGroups: 2, maxGroups: 2", "maxGroups: 2", {{5}, {6}, {5}, {5}, {7}, {9}}, {"member2", "member5"}},
      {"minGroups: 2, maxGroups: 2", "maxGroups: 3", {{5}, {6}, {5}, {6}, {7}, {9}}, {"member2", "member4", "member5"}},
      // r3 cannot take its half.
      {"minGroups: 2, maxGroups: 2", "maxGroups: 2", {{5}, {1}, {5}, {1}, {1}, {4}}, {"member1", "member3"}},
      // Where it runs counts before room.
      {"minGroups: 1, maxGroups: 1", "maxGroups: 1", {{50}, {50}, {50}, {50}, {50}, {50, true}}, {"member6"}},
      // Three clusters are needed: only r2 has them.
      {"minGroups: 1, maxGroups: 1",
       "minGroups: 3, maxGroups: 3",
       {{9}, {9}, {9}, {9}, {9}, {99}},
       {"member3", "member4", "member5"}},
  };
  for (const Row& row : rows) {
    const Selection selection = Select(
        Regions(),
        StrCat("{spreadConstraints: [{spreadByField: region, ", row.region, "}, {", row.cluster, "}], ", kDynamic, "}"),
        10, row.rooms);
    EXPECT_EQ(selection.names, row.wanted) << row.region << row.cluster << selection.error;
  }
}

TEST(SpreadTest, ClusterLimitsTheRegionsToo) {  // Karmada would use three clusters here
  const std::vector<Room> rooms(6, Room{9});
  const Selection selection =
      Select(Regions(),
             "spreadConstraints: [{spreadByField: region, minGroups: 1, maxGroups: 3}, {maxGroups: 2, minGroups: 2}]",
             3, rooms);
  EXPECT_EQ(selection.names.size(), 2U);
  EXPECT_NE(Select(Regions(),
                   "spreadConstraints: [{spreadByField: region, minGroups: 3, maxGroups: 3}, {maxGroups: 2}]", 3, rooms)
                .error,
            "");
  EXPECT_EQ(Select(Regions(),
                   "spreadConstraints: [{spreadByField: region, minGroups: 4, maxGroups: 4}, {maxGroups: 9}]", 3, rooms)
                .error,
            "the number of feasible region is less than spreadConstraint.MinGroups (3 of 4)");
}

TEST(SpreadTest, ZonesAndProvidersAreGroupsToo) {
  const std::vector<Room> rooms(6, Room{9});
  EXPECT_EQ(Select(Regions(), "spreadConstraints: [{spreadByField: zone, minGroups: 3, maxGroups: 3}, {maxGroups: 3}]",
                   3, rooms)
                .names,
            (Names{"member1", "member2", "member5"}));
  // The region chooses; the zone constraint is checked.
  const Selection selection = Select(Regions(),
                                     "spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 2}, "
                                     "{spreadByField: zone, minGroups: 3, maxGroups: 3}, {maxGroups: 2}]",
                                     3, rooms);
  EXPECT_NE(selection.error.find("the zone spread constraint wants 3 to 3"), std::string::npos) << selection.error;
  EXPECT_EQ(Select(Regions(), "spreadConstraints: [{spreadByField: provider, maxGroups: 1}, {maxGroups: 4}]", 3, rooms)
                .names.size(),
            4U);
}

TEST(SpreadTest, AGroupIsScoredByRoomThenLocality) {
  const auto prepared = Prepare(Members(5), "{}");
  const auto divided =
      Prepare(Members(5), StrCat("{spreadConstraints: [{minGroups: 1, maxGroups: 5}], ", kDynamic, "}"));
  struct Row {
    const PreparedPlacement* prepared;
    int32_t replicas, min_groups;
    std::vector<Room> rooms;
    int64_t wanted;
  };
  const std::vector<Row> rows = {
      // the examples in Karmada's source
      {prepared.get(), 50, 1, {{60, true}, {70, true}, {40, true}, {30, true}, {10, true}}, 2100},
      {prepared.get(), 50, 1, {{60}, {60}, {60}, {60}}, 4000},
      {prepared.get(), 50, 1, {{100}, {100}, {10}, {10}}, 2000},
      {prepared.get(), 50, 1, {{1}}, 0},
      {divided.get(), 100, 2, {{10, true}, {10, true}, {10, true}, {10, true}, {5, true}}, 45100},
      {divided.get(), 100, 2, {{40}, {30}, {10}, {10}}, 50000},
      {divided.get(), 100, 2, {{40, true}, {40, true}, {10, true}, {10, true}, {5, true}}, 50100},
      {divided.get(), 100, 2, {{100}, {100}, {10}, {10}}, 50000},
  };
  for (const Row& row : rows) {
    SpreadInput input;
    input.prepared = row.prepared;
    input.replicas = row.replicas;
    std::vector<Candidate> group = CandidatesOf(row.rooms);
    EXPECT_EQ(GroupScore(input, row.min_groups, group), row.wanted);
  }
}

}  // namespace
}  // namespace baton::placement
