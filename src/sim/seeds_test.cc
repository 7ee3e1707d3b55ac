// Random moves on bad days (sim/bad_day.h): many seeds, and that one seed is one story.
//
//   BATON_SIM_SEEDS=<from>:<count> sim_test --gtest_filter='SeedsSlowTest.*'
//
// `baton simulate` runs the same, on all cores.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <vector>

#include "sim/bad_day.h"
#include "sim/scene_for_test.h"

namespace baton::sim {
namespace {

constexpr size_t kSeedsOfOneRun = 150;
constexpr size_t kFailuresMax = 10;

TEST(SeedsTest, OneSeedIsOneStoryByteByByte) {
  for (const uint64_t seed : {3U, 11U}) {
    const Day first = PlayDay(seed, Story::Detail::kAll);
    const Day second = PlayDay(seed, Story::Detail::kAll);
    EXPECT_EQ(first.story, second.story);
    EXPECT_EQ(first.Json(), second.Json());
    EXPECT_GT(first.story.size(), 10'000U);
    EXPECT_EQ(PlayDay(seed).Json(), first.Json()) << "telling the story must not change it";
  }
  EXPECT_NE(PlayDay(3, Story::Detail::kAll).story, PlayDay(11, Story::Detail::kAll).story);
}

TEST(SeedsTest, ADayOfARowIsTheDayThatIsPlayedAlone) {
  const std::vector<uint64_t> seeds = {kSeedsOfOneBeginning + 3, kSeedsOfOneBeginning + 4, kSeedsOfOneBeginning + 9};
  std::map<uint64_t, ChildOutput> outputs;
  PlayDays(
      seeds, true, [](const Day& day) { return day.Json().ToString(); },
      [&](uint64_t seed, const ChildOutput& output) { outputs[seed] = output; });
  EXPECT_EQ(outputs.size(), 3U);
  for (const auto& [seed, output] : outputs) {
    EXPECT_EQ(output.died, "");
    EXPECT_EQ(output.text, PlayDay(seed).Json().ToString());
  }
}

TEST(SeedsTest, ADayIsReadBackAsItWas) {
  Day day{.seed = 7,
          .problems = {"a", "b"},
          .end = "Held",
          .plot = "herd",
          .events = 1,
          .calls = 2,
          .leaders = 3,
          .replicated = 1,
          .troubles = 4};
  day.faults.at(3) = 9;
  EXPECT_EQ(Day::FromJson(day.Json()).Json(), day.Json());
}

TEST(SeedsSlowTest, BadDaysEndWell) {
  uint64_t from = 1;
  size_t count = kSeedsOfOneRun;
  const char* asked = std::getenv("BATON_SIM_SEEDS");
  if (asked != nullptr) {
    char* rest = nullptr;
    from = std::strtoull(asked, &rest, 10);
    count = *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1;
  }
  const std::clock_t begun = std::clock();
  size_t failed = 0;
  size_t played = 0;
  for (uint64_t seed = from; seed < from + count && failed < kFailuresMax; ++seed) {
    ++played;
    const Day day = PlayDay(seed);
    if (day.problems.empty()) continue;
    ++failed;
    std::string all;
    for (const std::string& problem : day.problems) all += problem.substr(0, 800) + "\n";
    ADD_FAILURE() << "seed=" << seed << " replay: baton simulate --seed " << seed << "\n" << all;
  }
  const double spent = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  std::printf("%zu seeds, %zu failed, %.1f per second and core\n", played, failed,
              spent > 0 ? static_cast<double>(played) / spent : 0.0);
}

}  // namespace
}  // namespace baton::sim
