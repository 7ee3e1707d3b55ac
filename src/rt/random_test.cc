// Random numbers: the published sequence, no bias, and bounds.
#include "rt/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/uuid.h"

namespace baton::rt {
namespace {

// A source that gives chosen words, to reach the rare paths.
class Scripted final : public Random {
 public:
  explicit Scripted(std::vector<uint64_t> words) : words_(std::move(words)) {}
  uint64_t Next() override { return words_.at(used_++); }
  size_t used() const { return used_; }

 private:
  std::vector<uint64_t> words_;
  size_t used_ = 0;
};

TEST(RandomTest, TheSeededGeneratorIsXoshiro256StarStarSeededBySplitmix64) {
  struct Row {
    uint64_t seed;
    std::array<uint64_t, 4> first;
    uint64_t ten_thousandth;
  };
  // From an implementation of the published algorithm in another language, itself checked against a vector of a third.
  const Row rows[] = {
      {0, {0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c}, 0x7e42e7ea9c94ebf3},
      {1, {0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7}, 0x514707b3ed7f8777},
      {1234, {0x0bab45d9a0e3ae53, 0xd7c640660c19433e, 0xb0dedaa0d09a6691, 0xdec9f41b58ec86eb}, 0x24bf30513671af9e},
      {std::numeric_limits<uint64_t>::max(),
       {0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f},
       0xd9a54629b3ebb532},
  };
  for (const Row& row : rows) {
    SeededRandom random(row.seed);
    for (const uint64_t expected : row.first) EXPECT_EQ(random.Next(), expected) << "seed " << row.seed;
    for (int n = 4; n < 9999; ++n) random.Next();
    EXPECT_EQ(random.Next(), row.ten_thousandth) << "seed " << row.seed;
  }
}

TEST(RandomTest, AForkHasItsOwnNumbersAndDoesNotDisturbTheOthers) {
  SeededRandom a(5);
  SeededRandom b(5);
  SeededRandom fork = a.Fork();
  EXPECT_EQ(b.Next(), SeededRandom(5).Next());  // a fork costs one number
  for (int n = 0; n < 100; ++n) fork.Next();
  for (int n = 0; n < 100; ++n) EXPECT_EQ(a.Next(), b.Next());
}

TEST(RandomTest, BelowRedoesExactlyTheWordsThatWouldBias) {
  // 2^64 mod 3 = 1, so one word is too many for a bound of 3: the one whose low product half is below 1, word 0.
  Scripted three({0, 5});
  EXPECT_EQ(three.Below(3), 0);
  EXPECT_EQ(three.used(), 2);

  // With 2^63 + 1 nearly half of all words must be redone: those whose low half is below 2^63 - 1.
  const uint64_t bound = (uint64_t{1} << 63) + 1;
  const uint64_t threshold = (0 - bound) % bound;
  EXPECT_EQ(threshold, (uint64_t{1} << 63) - 1);
  int redone = 0;
  SeededRandom seeded(3);
  for (int n = 0; n < 10'000; ++n) {
    const uint64_t word = seeded.Next();
    Scripted script({word, 1});  // 1 * bound = bound: never redone
    const uint64_t result = script.Below(bound);
    const bool biased = word * bound < threshold;
    EXPECT_EQ(script.used(), biased ? 2 : 1);
    if (!biased) EXPECT_EQ(result, static_cast<uint64_t>((static_cast<unsigned __int128>(word) * bound) >> 64));
    redone += biased ? 1 : 0;
  }
  EXPECT_NEAR(redone, 5000, 300);

  Scripted power({0, 0, ~uint64_t{0}});  // powers of two have no bias
  EXPECT_EQ(power.Below(1), 0);
  EXPECT_EQ(power.Below(uint64_t{1} << 40), 0);
  EXPECT_EQ(power.Below(uint64_t{1} << 40), (uint64_t{1} << 40) - 1);
  EXPECT_EQ(power.used(), 3);
}

TEST(RandomTest, BelowIsUniform) {
  // Chi-square over small bounds; fixed seeds, so this cannot fail by chance.
  for (const uint64_t bound : {2, 3, 5, 6, 10, 100}) {
    SeededRandom random(bound);
    std::vector<int> counts(bound);
    const int draws = 1000 * static_cast<int>(bound);
    for (int n = 0; n < draws; ++n) ++counts[random.Below(bound)];
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
    const auto freedom = static_cast<double>(bound - 1);
    EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom)) << "bound " << bound;
  }
}

TEST(RandomTest, BelowHasNoModuloBias) {
  // 3/4 of 2^64: a remainder would put half of all draws, not a third, below 2^62.
  const uint64_t bound = uint64_t{3} << 62;
  SeededRandom random(8);
  int low = 0;
  for (int n = 0; n < 30'000; ++n) low += random.Below(bound) < (uint64_t{1} << 62) ? 1 : 0;
  EXPECT_NEAR(low, 10'000, 300);
}

TEST(RandomTest, BetweenReachesBothEndsOfEveryRange) {
  SeededRandom random(1);
  std::set<int64_t> seen;
  for (int n = 0; n < 1000; ++n) seen.insert(random.Between(-2, 2));
  EXPECT_EQ(seen, (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(random.Between(int64_t{7}, int64_t{7}), 7);

  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Scripted ends({0, ~uint64_t{0}, 0});
  EXPECT_EQ(ends.Between(kLeast, kMost), kLeast);  // all 2^64: the word itself
  EXPECT_EQ(ends.Between(kLeast, kMost), kMost);
  EXPECT_EQ(ends.Between(kMost, kMost), kMost);
  for (int n = 0; n < 100; ++n) {
    const Duration delay = random.Between(Duration(seconds(1)), Duration(seconds(2)));
    EXPECT_GE(delay, seconds(1));
    EXPECT_LE(delay, seconds(2));
  }
}

TEST(RandomTest, UnitIsInTheHalfOpenRangeAndUniform) {
  Scripted ends({0, ~uint64_t{0}, ~uint64_t{0}});
  EXPECT_EQ(ends.Unit(), 0.0);
  EXPECT_LT(ends.Unit(), 1.0);
  EXPECT_TRUE(ends.Chance(1.0));

  SeededRandom random(2);
  double sum = 0;
  int chances = 0;
  for (int n = 0; n < 100'000; ++n) {
    sum += random.Unit();
    chances += random.Chance(0.25) ? 1 : 0;
    EXPECT_FALSE(random.Chance(0.0));
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
  EXPECT_NEAR(chances, 25'000, 600);
}

TEST(RandomTest, FillWritesEveryByteInTheSameOrderEverywhere) {
  for (const size_t size : {0, 1, 7, 8, 9, 33}) {
    Scripted words({0x0807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, 0x201f1e1d1c1b1a19, 0x21});
    std::vector<std::byte> bytes(size + 1, std::byte{0xee});
    words.Fill(std::span(bytes).first(size));
    for (size_t n = 0; n < size; ++n) EXPECT_EQ(bytes[n], std::byte(n + 1)) << "of " << size;
    EXPECT_EQ(bytes[size], std::byte{0xee});
    EXPECT_EQ(words.used(), (size + 7) / 8);
  }
}

TEST(RandomTest, NewUidIsAFreshUuidAndTheSameForTheSameSeed) {
  SeededRandom a(1);
  SeededRandom b(1);
  const Uid first = a.NewUid();
  EXPECT_EQ(first, b.NewUid());
  EXPECT_NE(first, a.NewUid());
  EXPECT_TRUE(IsUuid(first.str()));
  SystemRandom system;
  EXPECT_NE(system.NewUid(), system.NewUid());
}

TEST(RandomTest, TheSystemsGeneratorGoesOnAfterItsBufferIsUsedUp) {
  SystemRandom random;
  SystemRandom other;
  std::set<uint64_t> seen;
  for (int n = 0; n < 1000; ++n) {
    seen.insert(random.Next());
    seen.insert(other.Next());
  }
  EXPECT_EQ(seen.size(), 2000);  // 64 bits: the same twice does not happen
}

TEST(RandomDeathTest, AnEmptyRangeEndsTheProcess) {
  SeededRandom random(1);
  EXPECT_DEATH((void)random.Below(0), "Below.0. has no answer");
  EXPECT_DEATH((void)random.Between(int64_t{2}, int64_t{1}), "an empty range");
}

}  // namespace
}  // namespace baton::rt
