#include "placement/group_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace baton::placement {
namespace {

using Names = std::vector<uint32_t>;

// Karmada's rule by its definition: every combination that is complete, the best of them, then its shortest complete
// beginning.
Names ByDefinition(std::vector<Group> groups, int32_t min, int32_t max, int32_t target) {
  std::ranges::sort(groups, [](const Group& a, const Group& b) {
    return std::tie(a.clusters, b.score, a.name) < std::tie(b.clusters, a.score, b.name);
  });
  struct Path {
    std::vector<Group> groups;
    int64_t score = 0;
    int64_t clusters = 0;
    size_t id = 0;
  };
  std::vector<Path> paths;
  std::vector<Group> chosen;
  const auto walk = [&](auto& self, size_t begin) -> void {
    Path path;
    path.groups = chosen;
    for (const Group& group : chosen) {
      path.score += group.score;
      path.clusters += group.clusters;
    }
    const auto length = static_cast<int32_t>(chosen.size());
    if (path.clusters >= target && length >= min && length <= max) {
      std::ranges::sort(path.groups, [](const Group& a, const Group& b) {
        return std::tie(b.score, a.name) < std::tie(a.score, b.name);
      });
      path.id = paths.size();
      paths.push_back(path);
      return;
    }
    if (length >= max) return;
    for (size_t i = begin; i < groups.size(); ++i) {
      chosen.push_back(groups[i]);
      self(self, i + 1);
      chosen.pop_back();
    }
  };
  walk(walk, 0);
  if (paths.empty()) return {};
  std::ranges::sort(paths, [](const Path& a, const Path& b) {
    return std::tie(b.score, b.clusters, a.id) < std::tie(a.score, a.clusters, b.id);
  });
  const auto names = [](const Path& path) {
    Names list;
    for (const Group& group : path.groups) list.push_back(group.name);
    return list;
  };
  Names best = names(paths[0]);
  for (const Path& path : paths) {
    const Names other = names(path);
    if (other.size() < best.size() && std::equal(other.begin(), other.end(), best.begin())) best = other;
  }
  return best;
}

TEST(GroupChoiceTest, ChoosesByScoreWithinTheLimits) {
  struct Row {
    std::vector<Group> groups;
    int32_t min, max, target;
    Names wanted;
  };
  const std::vector<Row> rows = {
      {{{0, 1, 10}, {1, 1, 30}, {2, 1, 20}}, 2, 2, 1, {1, 2}},
      {{{0, 1, 10}, {1, 1, 10}, {2, 1, 10}}, 2, 2, 1, {0, 1}},  // ties by name
      {{{0, 5, 1}, {1, 1, 30}, {2, 1, 20}}, 1, 2, 5, {1, 0}},   // target: 5 clusters
      {{{0, 2, 1}, {1, 1, 30}, {2, 1, 20}}, 1, 2, 5, {}},       // not reachable
      {{{0, 1, 10}}, 2, 3, 1, {}},                              // too few groups
      {{{0, 3, 10}, {1, 3, 5}}, 1, 2, 3, {0}},                  // one is enough
  };
  for (const Row& row : rows) EXPECT_EQ(ChooseGroups(row.groups, row.min, row.max, row.target), row.wanted);
}

TEST(GroupChoiceTest, IsTheSameAsTryingAllCombinations) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Group> groups(1 + random() % 8);
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i] = {static_cast<uint32_t>(i), static_cast<int32_t>(1 + random() % 5),
                   static_cast<int64_t>(random() % 6)};
    }
    const auto min = static_cast<int32_t>(1 + random() % 3);
    const auto max = static_cast<int32_t>(min + random() % 4);
    const auto target = static_cast<int32_t>(random() % 12);
    ASSERT_EQ(ChooseGroups(groups, min, max, target), ByDefinition(groups, min, max, target)) << round;
  }
}

TEST(GroupChoiceTest, ManyGroupsEndInTimeAndHoldTheLimits) {
  std::mt19937_64 random(4);
  std::vector<Group> groups(2000);
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i] = {static_cast<uint32_t>(i), static_cast<int32_t>(1 + random() % 3), static_cast<int64_t>(random() % 9)};
  }
  const Names chosen = ChooseGroups(groups, 20, 500, 900);
  EXPECT_GE(chosen.size(), 20U);
  EXPECT_LE(chosen.size(), 500U);
  EXPECT_EQ(std::set<uint32_t>(chosen.begin(), chosen.end()).size(), chosen.size());
  int64_t clusters = 0;
  for (const uint32_t name : chosen) clusters += groups[name].clusters;
  EXPECT_GE(clusters, 900);
  EXPECT_TRUE(ChooseGroups(groups, 20, 500, 100'000).empty());
}

}  // namespace
}  // namespace baton::placement
