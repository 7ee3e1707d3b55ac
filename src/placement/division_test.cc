#include "placement/division.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace baton::placement {
namespace {

struct Row {
  std::string name;
  Division division;
  int32_t replicas;
  std::vector<int32_t> allocatable;
  std::vector<int32_t> assigned;
  std::vector<int32_t> wanted;  // empty: they do not fit
  bool fresh = false;
  std::vector<int64_t> weights = {};
  std::vector<uint16_t> tiers = {};
};

TEST(DivisionTest, DividesAsKarmadaDoes) {
  constexpr Division kDup = Division::kDuplicated;
  constexpr Division kStatic = Division::kStaticWeight;
  constexpr Division kDyn = Division::kDynamicWeight;
  constexpr Division kAgg = Division::kAggregated;
  const std::vector<Row> rows = {
      {"everywhere all", kDup, 3, {0, 0}, {0, 0}, {3, 3}},
      {"1:2", kStatic, 9, {0, 0}, {0, 0}, {3, 6}, false, {1, 2}},
      {"1:3 approximately", kStatic, 9, {0, 0}, {0, 0}, {2, 7}, false, {1, 3}},
      {"no weight, no replicas", kStatic, 4, {0, 0, 0}, {0, 0, 0}, {2, 0, 2}, false, {1, 0, 1}},
      {"nobody has a weight: evenly", kStatic, 5, {0, 0}, {0, 0}, {3, 2}, false, {0, 0}},
      {"no list at all: evenly", kStatic, 5, {0, 0}, {0, 0}, {3, 2}},
      {"static ignores room and what is", kStatic, 4, {0, 0}, {4, 0}, {2, 2}},
      {"by room", kDyn, 12, {20, 12, 6}, {0, 0, 0}, {6, 4, 2}},
      {"by room, equal ones alike", kDyn, 12, {6, 12, 6}, {0, 0, 0}, {3, 6, 3}},
      {"too little room", kDyn, 12, {4, 4, 3}, {0, 0, 0}, {}},
      {"exactly enough room", kDyn, 11, {4, 4, 3}, {0, 0, 0}, {4, 4, 3}},
      {"growing gives only the new ones", kDyn, 12, {10, 10, 10}, {2, 4, 0}, {4, 6, 2}},
      {"growing into one cluster with room", kDyn, 8, {0, 0, 9}, {2, 4, 0}, {2, 4, 2}},
      {"growing without room for the new ones", kDyn, 8, {1, 0, 0}, {2, 4, 0}, {}},
      {"shrinking in proportion", kDyn, 6, {9, 9, 9}, {4, 8, 0}, {2, 4, 0}},
      {"shrinking needs no room", kDyn, 6, {0, 0, 0}, {4, 8, 0}, {2, 4, 0}},
      {"shrinking to nothing", kDyn, 0, {9, 9}, {4, 8}, {0, 0}},
      {"unchanged stays", kDyn, 12, {0, 99, 0}, {10, 1, 1}, {10, 1, 1}},
      {"fresh counts its own as free", kDyn, 12, {0, 12, 0}, {12, 0, 0}, {6, 6, 0}, true},
      {"the largest takes all", kAgg, 12, {6, 12, 6}, {0, 0, 0}, {0, 12, 0}},
      {"the fewest, equal ones by name", kAgg, 12, {6, 6, 6}, {0, 0, 0}, {6, 6, 0}},
      {"the fewest share by room", kAgg, 15, {12, 6, 6}, {0, 0, 0}, {10, 5, 0}},
      {"growing fills where it is first", kAgg, 10, {3, 99, 0}, {7, 0, 0}, {10, 0, 0}},
      {"growing overflows to the largest", kAgg, 12, {3, 50, 99}, {7, 0, 0}, {7, 0, 5}},
      {"aggregated without room", kAgg, 30, {3, 5, 9}, {7, 0, 0}, {}},
      {"shrinking gathers on the largest", kAgg, 5, {0, 0, 0}, {4, 8, 2}, {0, 5, 0}},
      {"fresh aggregates anew", kAgg, 12, {0, 2, 20}, {6, 6, 0}, {0, 0, 12}, true},
      {"overflow: the first tier is enough", kAgg, 5, {6, 9}, {0, 0}, {5, 0}, false, {}, {0, 1}},
      {"overflow: the rest goes to the second", kAgg, 8, {6, 9}, {0, 0}, {6, 2}, false, {}, {0, 1}},
      {"overflow: and to the third", kDyn, 18, {6, 9, 9}, {0, 0, 0}, {6, 9, 3}, false, {}, {0, 1, 2}},
      {"overflow retracts when it shrinks", kAgg, 6, {0, 7}, {6, 2}, {6, 0}, false, {}, {0, 1}},
      {"overflow expands when it grows", kAgg, 9, {0, 7}, {6, 2}, {6, 3}, false, {}, {0, 1}},
      {"overflow without room anywhere", kAgg, 99, {6, 9}, {0, 0}, {}, false, {}, {0, 1}},
  };
  for (const Row& row : rows) {
    std::vector<Candidate> candidates(row.allocatable.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].cluster = static_cast<uint32_t>(i);
      candidates[i].allocatable = row.allocatable[i];
      candidates[i].assigned = row.assigned[i];
      candidates[i].current = row.assigned[i] > 0;
      if (!row.tiers.empty()) candidates[i].tier = row.tiers[i];
    }
    DivisionInput input;
    input.division = row.division;
    input.replicas = row.replicas;
    input.fresh = row.fresh;
    input.static_weights = row.weights;
    input.overflow = !row.tiers.empty();
    const Result<std::vector<int32_t>> divided = Divide(input, candidates);
    if (row.wanted.empty()) {
      ASSERT_FALSE(divided.ok()) << row.name;
      EXPECT_NE(divided.error().message().find("are not enough to schedule"), std::string::npos) << row.name;
    } else {
      ASSERT_TRUE(divided.ok()) << row.name << divided.error().message();
      EXPECT_EQ(*divided, row.wanted) << row.name;
    }
  }
}

}  // namespace
}  // namespace baton::placement
