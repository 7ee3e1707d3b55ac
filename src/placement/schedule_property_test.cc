// What must hold for every decision, tried on random worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "placement/schedule.h"
#include "placement/world_for_test.h"

namespace baton::placement {
namespace {

constexpr int kRounds = 1500;

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    const int count = 1 + Pick(12);
    for (int i = 0; i < count; ++i) {
      ClusterText text{.name = StrCat("c", Pick(1000), "-", i)};
      if (Pick(10) > 0) text.region = StrCat("r", Pick(4));
      if (Pick(10) > 0) text.zones = {StrCat("z", Pick(5))};
      if (Pick(10) > 0) text.provider = StrCat("p", Pick(3));
      if (Pick(3) == 0) text.labels = Yaml("{gold: 'yes'}");
      if (Pick(6) == 0) text.taints = Yaml("[{key: k, effect: NoSchedule}]");
      text.deleting = Pick(12) == 0;
      text.serves = Pick(8) > 0;
      texts_.push_back(text);
    }
    fleet = MakeFleet(texts_);
    placement = RandomPlacement();
    prepared = PreparedPlacement::Make(placement, fleet).value();
    binding = Deployment(Pick(30));
    binding.uid = StrCat(Pick(1000));
    for (const Cluster& cluster : fleet->clusters()) {
      if (Pick(4) == 0) binding.clusters.push_back({cluster.name, Pick(6), {}});
      if (Pick(10) == 0) binding.evicting.push_back(cluster.name);
      estimates.push_back(Pick(15) - 1);
    }
  }

  // The same clusters in another order.
  std::shared_ptr<const Fleet> Shuffled() {
    std::ranges::shuffle(texts_, random_);
    return MakeFleet(texts_);
  }

  std::shared_ptr<const Fleet> fleet;
  json::Value placement;
  std::shared_ptr<const PreparedPlacement> prepared;
  Binding binding;
  Estimates estimates;

 private:
  int Pick(int below) { return static_cast<int>(random_() % static_cast<uint64_t>(below)); }

  json::Value RandomPlacement() {
    json::Value object = json::Object();
    if (Pick(3) == 0) object.Set("clusterAffinity", Yaml("{labelSelector: {matchLabels: {gold: 'yes'}}}"));
    if (Pick(3) == 0) object.Set("clusterTolerations", Yaml("[{key: k, operator: Exists}]"));
    for (const std::string_view field : {"cluster", "region", "zone", "provider"}) {
      if (Pick(field == "cluster" ? 2 : 5) != 0) continue;
      const int min = 1 + Pick(3);
      object.Edit("spreadConstraints")
          .Push(json::Object(
              {{"spreadByField", field}, {"minGroups", min}, {"maxGroups", Pick(4) == 0 ? 0 : min + Pick(3)}}));
    }
    const std::vector<std::string_view> strategies = {kDuplicated, kAggregated, kDynamic,
                                                      "replicaScheduling: {replicaSchedulingType: Divided}", "{}"};
    const json::Value strategy = Yaml(strategies[static_cast<size_t>(Pick(5))]);
    for (const json::Member& member : strategy.members()) object.Set(member.key(), member.value());
    return object;
  }

  std::mt19937_64 random_;
  std::vector<ClusterText> texts_;
};

int64_t Sum(const std::vector<TargetCluster>& targets) {
  int64_t sum = 0;
  for (const TargetCluster& target : targets) sum += target.replicas;
  return sum;
}

TEST(SchedulePropertyTest, TheOrderOfClustersDoesNotMatter) {
  for (int seed = 0; seed < kRounds / 3; ++seed) {
    World world(seed);
    const auto other = PreparedPlacement::Make(world.placement, world.Shuffled()).value();
    const Decision a = Schedule(world.binding, *world.prepared, world.estimates);
    const Decision b = Schedule(world.binding, *other, world.estimates);
    ASSERT_EQ(a.clusters, b.clusters) << seed;
    ASSERT_EQ(a.message, b.message) << seed;
    ASSERT_EQ(a.action, b.action) << seed;
  }
}

TEST(SchedulePropertyTest, ADecisionKeepsEveryRule) {
  int scheduled = 0;
  int refused = 0;
  for (int seed = 0; seed < kRounds; ++seed) {
    const World world(seed);
    const Decision decision = Schedule(world.binding, *world.prepared, world.estimates);
    if (decision.action != Action::kSchedule) {
      std::vector<TargetCluster> kept = world.binding.clusters;
      std::erase_if(kept, [&](const TargetCluster& target) {
        const std::optional<size_t> at = world.fleet->Find(target.name);
        return decision.action == Action::kNothingFits && at && (*world.fleet)[*at].deleting;
      });
      ASSERT_EQ(decision.clusters, kept) << "what runs is kept, but for clusters that leave, seed " << seed;
      ASSERT_FALSE(decision.message.empty());
      ++refused;
      continue;
    }
    ++scheduled;
    const Placement& placement = world.prepared->placement();
    const ClusterSet feasible = Feasible(world.binding, *world.prepared, 0);
    std::array<std::set<int32_t>, kSpreadFields> groups;
    for (const TargetCluster& target : decision.clusters) {
      const std::optional<size_t> at = world.fleet->Find(target.name);
      ASSERT_TRUE(at.has_value() && feasible.Has(*at)) << seed;
      groups[0].insert(static_cast<int32_t>(*at));
      for (const SpreadField field : {SpreadField::kRegion, SpreadField::kProvider, SpreadField::kZone}) {
        groups[static_cast<size_t>(field)].insert(GroupsOf(*world.fleet, field).of[*at]);
      }
    }
    ASSERT_EQ(groups[0].size(), decision.clusters.size()) << "no cluster twice, seed " << seed;
    ASSERT_TRUE(std::ranges::is_sorted(decision.clusters, {}, &TargetCluster::name)) << seed;
    ASSERT_EQ(decision.clusters.empty() && !world.binding.clusters.empty(), false) << "never emptied, seed " << seed;
    if (placement.divided()) {
      ASSERT_EQ(Sum(decision.clusters), world.binding.replicas) << seed;
    } else {
      for (const TargetCluster& target : decision.clusters) ASSERT_EQ(target.replicas, world.binding.replicas) << seed;
    }
    if (placement.spread_ignored()) continue;
    for (size_t field = 0; field < kSpreadFields; ++field) {
      if (!placement.spread[field].has_value()) continue;
      const auto count = static_cast<int32_t>(groups[field].size());
      if (placement.spread[field]->max_groups > 0) ASSERT_LE(count, placement.spread[field]->max_groups) << seed;
      // A division may leave a selected cluster without replicas; Duplicated uses all that were selected.
      if (!placement.divided() && world.binding.replicas > 0) {
        ASSERT_GE(count, placement.spread[field]->min_groups) << seed;
      }
    }
  }
  EXPECT_GT(scheduled, kRounds / 5);
  EXPECT_GT(refused, kRounds / 20);
}

TEST(SchedulePropertyTest, DecidingAgainChangesNothing) {
  for (int seed = 0; seed < kRounds; ++seed) {
    World world(seed);
    const Decision first = Schedule(world.binding, *world.prepared, world.estimates);
    if (first.action != Action::kSchedule) continue;
    world.binding.clusters = first.clusters;
    world.binding.applied_placement = world.prepared->text();
    const Decision second = Schedule(world.binding, *world.prepared, world.estimates);
    ASSERT_NE(second.action, Action::kNothingFits) << seed << second.message;
    ASSERT_FALSE(second.changed) << seed << ": " << first.event << " then " << second.event << " by " << world.placement
                                 << " of " << world.binding.replicas;
  }
}

// Growing takes nothing from anybody, shrinking gives nothing to anybody: for divisions by room, without spread.
TEST(SchedulePropertyTest, GrowingKeepsAndShrinkingNeverAdds) {
  std::mt19937_64 random(5);
  for (int round = 0; round < kRounds; ++round) {
    const auto fleet = Members(1 + static_cast<int>(random() % 9));
    const auto prepared = Prepare(fleet, round % 2 == 0 ? kDynamic : kAggregated);
    Estimates estimates;
    Counts current;
    for (const Cluster& cluster : fleet->clusters()) {
      estimates.push_back(static_cast<int32_t>(random() % 12));
      if (random() % 2 == 0) current[cluster.name] = static_cast<int32_t>(random() % 9);
    }
    Binding binding = Deployment(static_cast<int32_t>(random() % 60), current);
    const int64_t before = Sum(binding.clusters);
    const Decision decision = Schedule(binding, *prepared, estimates);
    if (decision.action != Action::kSchedule) continue;
    const Counts after = AsCounts(decision.clusters);
    for (const Cluster& cluster : fleet->clusters()) {
      const auto count = [&](const Counts& counts) {
        return counts.contains(cluster.name) ? counts.at(cluster.name) : 0;
      };
      if (binding.replicas >= before) ASSERT_GE(count(after), count(current)) << round;
      if (binding.replicas <= before) ASSERT_LE(count(after), count(current)) << round;
      const int32_t room = estimates[*fleet->Find(cluster.name)];
      ASSERT_LE(count(after), count(current) + room) << "never more than there is room, round " << round;
    }
  }
}

// A cluster that joins, gets room, or is tainted does not move what is divided and unchanged.
TEST(SchedulePropertyTest, NothingMovesWithoutACause) {
  for (int seed = 0; seed < kRounds; ++seed) {
    World world(seed);
    if (!world.prepared->placement().divided()) continue;
    const Decision first = Schedule(world.binding, *world.prepared, world.estimates);
    if (first.action != Action::kSchedule) continue;
    world.binding.clusters = first.clusters;
    world.binding.applied_placement = world.prepared->text();
    for (int32_t& estimate : world.estimates) estimate += 7;
    ASSERT_EQ(Schedule(world.binding, *world.prepared, world.estimates).action, Action::kKeep) << seed;
  }
}

// Scaling up a workload that is spread over clusters keeps the clusters as long as they have room.
TEST(SchedulePropertyTest, LocalityBeatsRoom) {
  std::mt19937_64 random(6);
  for (int round = 0; round < kRounds; ++round) {
    const auto fleet = Members(6);
    const auto prepared = Prepare(fleet, StrCat("{spreadConstraints: [{minGroups: 2, maxGroups: 2}], ", kDynamic, "}"));
    Estimates estimates;
    for (int i = 0; i < 6; ++i) estimates.push_back(static_cast<int32_t>(1 + random() % 50));
    const std::string one = StrCat("member", 1 + random() % 3);
    const std::string two = StrCat("member", 4 + random() % 3);
    Binding binding = Deployment(9, {{one, 3}, {two, 4}});
    const int64_t room = estimates[*fleet->Find(one)] + estimates[*fleet->Find(two)];
    const Decision decision = Schedule(binding, *prepared, estimates);
    ASSERT_EQ(decision.action, Action::kSchedule);
    if (room < 2) continue;
    const Counts after = AsCounts(decision.clusters);
    ASSERT_TRUE(after.contains(one) && after.contains(two) && after.size() == 2) << round;
  }
}

}  // namespace
}  // namespace baton::placement
