// Runs every file of tests/scenarios, and shows that a mistake in one is told with its place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "federation/scenario_for_test.h"

namespace baton::federation {
namespace {

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BATON_SOURCE_DIR "/tests/scenarios")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string TextOf(const std::string& name) {
  std::ifstream file(std::string(BATON_SOURCE_DIR "/tests/scenarios/") + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class ScenarioTest : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, GoesAsTold) {
  const Result<Scenario> scenario = Scenario::Parse(GetParam(), TextOf(GetParam()));
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  for (const std::string& failure : RunScenario(*scenario)) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, testing::ValuesIn(Files()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.size() - 5);
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(ScenarioFileTest, AMistakeIsToldWithItsPlace) {
  const struct {
    std::string_view text;
    std::string_view error;
  } kRows[] = {
      {"title: [", "a.yaml: line 2, column 1: "},
      {"title: a\nsorty: []\n", "a.yaml: line 2, column 1: \"sorty\" is not known here"},
      {"title: a\nstory:\n  - when:\n      - aply: {}\n", "a.yaml: line 4, column 9: no step is known by these words"},
      {"title: a\nstory:\n  - when:\n      - wait: 1s\n        in: x\n",
       "a.yaml: line 5, column 9: \"in\" does not go with wait"},
      {"title: a\nstory:\n  - then:\n      - wait: 1s\n", "a.yaml: line 4, column 9: then has only expectations"},
      {"title: a\n", "a.yaml: line 1, column 1: there is no story"},
  };
  for (const auto& row : kRows) {
    const Result<Scenario> scenario = Scenario::Parse("a.yaml", row.text);
    ASSERT_FALSE(scenario.ok()) << row.text;
    EXPECT_TRUE(scenario.error().message().starts_with(row.error)) << scenario.error().message();
  }
}

TEST(ScenarioFileTest, AStoryThatDoesNotHoldFailsAndSaysWhere) {
  const Result<Scenario> scenario = Scenario::Parse("a.yaml", R"(title: a
clusters: [blue]
story:
  - when:
      - apply: {kind: ConfigMap, metadata: {name: a}}
    then:
      - expect: {kind: ConfigMap, name: a}
        in: blue
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  const std::vector<std::string> failures = RunScenario(*scenario);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_TRUE(failures[0].starts_with("a.yaml: line 7, column 9: ")) << failures[0];
}

}  // namespace
}  // namespace baton::federation
