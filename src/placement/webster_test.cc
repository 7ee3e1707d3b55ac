#include "placement/webster.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

namespace baton::placement {
namespace {

// One seat at a time, as the definition says.
std::vector<int32_t> BySeat(const std::vector<int64_t>& weights, int32_t seats, bool descending) {
  std::vector<int32_t> result(weights.size());
  for (int32_t given = 0; given < seats; ++given) {
    size_t best = weights.size();
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0) continue;
      if (best == weights.size()) {
        best = i;
        continue;
      }
      const int64_t left = weights[i] * (2 * result[best] + 1);
      const int64_t right = weights[best] * (2 * result[i] + 1);
      if (left > right || (left == right && (result[i] < result[best] || (result[i] == result[best] && descending)))) {
        best = i;
      }
    }
    if (best == weights.size()) break;
    ++result[best];
  }
  return result;
}

TEST(WebsterTest, DividesAsKarmadaDoes) {
  struct Row {
    std::vector<int64_t> weights;
    int32_t seats;
    std::vector<int32_t> wanted;
  };
  const std::vector<Row> rows = {
      {{1, 2}, 9, {3, 6}},         {{1, 3}, 9, {2, 7}},        {{20, 12, 6}, 12, {6, 4, 2}},
      {{6, 12, 6}, 12, {3, 6, 3}}, {{1, 1, 1}, 10, {4, 3, 3}}, {{1, 1, 1}, 2, {1, 1, 0}},
      {{1, 0, 1}, 3, {2, 0, 1}},   {{0, 0}, 5, {0, 0}},        {{7}, 5, {5}},
      {{3, 1}, 0, {0, 0}},         {{3, 1}, -4, {0, 0}},       {{}, 3, {}},
  };
  for (const Row& row : rows) EXPECT_EQ(Webster(row.weights, row.seats, false), row.wanted) << row.seats;
}

TEST(WebsterTest, GivesATieToTheLastNameWhenDescending) {
  EXPECT_EQ(Webster(std::vector<int64_t>{1, 1, 1}, 10, true), (std::vector<int32_t>{3, 3, 4}));
  EXPECT_EQ(Webster(std::vector<int64_t>{1, 1}, 1, true), (std::vector<int32_t>{0, 1}));
}

TEST(WebsterTest, GivesATieToTheOneWithFewerSeats) {
  // The second seat: 3 / 3 against 1 / 1.
  EXPECT_EQ(Webster(std::vector<int64_t>{3, 1}, 2, false), (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(Webster(std::vector<int64_t>{1, 3}, 2, true), (std::vector<int32_t>{1, 1}));
}

TEST(WebsterTest, TiesFollowTheUid) {
  EXPECT_FALSE(TiesDescending(""));
  // FNV-1a-32 of "a" is 0xe40c292c (even), of "b" 0xe70c2de5 (odd).
  EXPECT_FALSE(TiesDescending("a"));
  EXPECT_TRUE(TiesDescending("b"));
}

TEST(WebsterTest, IsTheSameAsSeatBySeat) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> weights(1 + random() % 40);
    const int64_t largest = round % 3 == 0 ? 3 : round % 3 == 1 ? 40 : 100'000;
    for (int64_t& weight : weights) weight = static_cast<int64_t>(random() % (largest + 1));
    const auto seats = static_cast<int32_t>(random() % 300);
    const bool descending = random() % 2 == 0;
    ASSERT_EQ(Webster(weights, seats, descending), BySeat(weights, seats, descending)) << round;
  }
}

TEST(WebsterTest, NeverGivesMoreThanTheWeightWhenThereIsEnough) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int64_t> weights(1 + random() % 20);
    for (int64_t& weight : weights) weight = static_cast<int64_t>(random() % 30);
    const int64_t sum = std::reduce(weights.begin(), weights.end());
    const auto seats = static_cast<int32_t>(random() % (sum + 1));
    const std::vector<int32_t> result = Webster(weights, seats, false);
    EXPECT_EQ(std::reduce(result.begin(), result.end()), seats);
    for (size_t i = 0; i < weights.size(); ++i) EXPECT_LE(result[i], weights[i]);
  }
}

TEST(WebsterTest, DividesTheLargestNumbersExactlyAndAtOnce) {
  const std::vector<int64_t> weights(1000, kMaxWeight * 4);
  const std::vector<int32_t> result = Webster(weights, INT32_MAX, false);
  EXPECT_EQ(std::accumulate(result.begin(), result.end(), int64_t{0}), INT32_MAX);
  EXPECT_EQ(result[0], INT32_MAX / 1000 + 1);
  EXPECT_EQ(result[999], INT32_MAX / 1000);
}

}  // namespace
}  // namespace baton::placement
