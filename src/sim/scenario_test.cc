// Plays every story of tests/scenarios/moves, and those of tests/scenarios/not_holding, of which each must fail for the
// reason that its first line names.
#include "sim/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/strings.h"

namespace baton::sim {
namespace {

std::vector<std::string> Files(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_SOURCE_DIR "/tests/scenarios/" + folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(StrCat(folder, "/", entry.path().filename().string()));
  }
  std::ranges::sort(names);
  return names;
}

std::string TextOf(const std::string& name) {
  std::ifstream file(std::string(BATON_SOURCE_DIR "/tests/scenarios/") + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.find('/') + 1);
  name.resize(name.size() - 5);
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

class MoveScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(MoveScenarioTest, GoesAsTold) {
  const Result<scenario::Scenario> file = scenario::Scenario::Parse(GetParam(), TextOf(GetParam()));
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_TRUE(file->practice) << "without \"practice: true\" it belongs to federation_test";
  for (const std::string& problem : PlayScenario(*file)) ADD_FAILURE() << problem;
}

INSTANTIATE_TEST_SUITE_P(Files, MoveScenarioTest, testing::ValuesIn(Files("moves")), TestName);
// With all guards in; the museum plays them without.
INSTANTIATE_TEST_SUITE_P(Guards, MoveScenarioTest, testing::ValuesIn(Files("guards")), TestName);

// Stories about the federation alone hold here, too, beside the rollout's controllers and its gate.
class FederationStoryTest : public testing::TestWithParam<std::string> {};

TEST_P(FederationStoryTest, HoldsInTheSimulator) {
  const Result<scenario::Scenario> file = scenario::Scenario::Parse(GetParam(), TextOf(GetParam()));
  ASSERT_TRUE(file.ok()) << file.error().message();
  for (const std::string& problem : PlayScenario(*file)) ADD_FAILURE() << problem;
}

INSTANTIATE_TEST_SUITE_P(Files, FederationStoryTest, testing::ValuesIn(Files(".")), TestName);

// "# fails: I1: two writers"
class NotHoldingTest : public testing::TestWithParam<std::string> {};

TEST_P(NotHoldingTest, Fails) {
  const std::string text = TextOf(GetParam());
  constexpr std::string_view kMark = "# fails: ";
  ASSERT_TRUE(text.starts_with(kMark)) << "the first line says why it fails";
  const std::string why = text.substr(kMark.size(), text.find('\n') - kMark.size());
  const Result<scenario::Scenario> file = scenario::Scenario::Parse(GetParam(), text);
  ASSERT_TRUE(file.ok()) << file.error().message();
  const std::vector<std::string> problems = PlayScenario(*file);
  EXPECT_TRUE(std::ranges::any_of(problems, [&](const std::string& one) { return one.find(why) != std::string::npos; }))
      << "nothing says: " << why << "\n"
      << (problems.empty() ? "it held" : problems[0]);
}

INSTANTIATE_TEST_SUITE_P(Files, NotHoldingTest, testing::ValuesIn(Files("not_holding")), TestName);

TEST(MoveScenarioTest, IsTheSameStoryEveryTime) {
  const std::string name = "moves/crash_at_the_grant.yaml";
  const Result<scenario::Scenario> file = scenario::Scenario::Parse(name, TextOf(name));
  ASSERT_TRUE(file.ok()) << file.error().message();
  std::string told[2];
  for (std::string& one : told) {
    Story story(Story::Detail::kAll);
    EXPECT_TRUE(PlayScenario(*file, &story).empty());
    one = story.Text();
  }
  EXPECT_TRUE(told[0] == told[1]);
  EXPECT_NE(told[0].find("the leader dies at update writers orders-flinkdeployment"), std::string::npos);
}

}  // namespace
}  // namespace baton::sim
