// Runs every file of tests/scenarios, and shows that a mistake in one is told with its place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "federation/scenario_for_test.h"

namespace baton::federation {
namespace {

using scenario::Scenario;

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
      {"[1]", "a.yaml: line 1, column 1: this is no story"},
      {"title: a\nclusters: blue\n", "a.yaml: line 2, column 1: clusters is a list"},
      {"title: a\noptions: [foreignHub]\n", "a.yaml: line 2, column 1: options has names and values"},
      {"title: a\noptions:\n  foreign: true\n", "a.yaml: line 3, column 3: there is no option 'foreign'"},
      {"title: a\noptions: {foreignHub: yes please}\n", "a.yaml: line 2, column 11: foreignHub is true or false"},
      {"title: a\noptions: {karmadaFailsOverAfter: 2s}\n",
       "a.yaml: line 2, column 11: only with foreignHub: true is there a Karmada"},
      {"title: a\noptions: {foreignHub: true, karmadaFailsOverAfter: soon}\n",
       "a.yaml: line 2, column 29: \"soon\" is no time"},
      {"title: a\nclusters: [blue, 7]\n", "a.yaml: line 2, column 18: a cluster is a name"},
      {"title: a\npractice: 1\n", "a.yaml: line 2, column 1: practice is true or false"},
      {"title: a\nseed: -1\n", "a.yaml: line 2, column 1: seed is a whole number"},
      {"title: a\nstory: [when]\n", "a.yaml: line 2, column 9: a part has when, then and why"},
      {"title: a\nstory:\n  - when: {wait: 1s}\n", "a.yaml: line 3, column 5: a list of steps is wanted here"},
      {"title: a\nstory:\n  - then:\n      - expect: {kind: A, nam: b}\n",
       "a.yaml: line 4, column 27: \"nam\" is not known in expect: it has kind, name, apiVersion"},
      {"title: a\nstory:\n  - when:\n      - {migrate: {kind: Job, name: a}, to: b}\n",
       "a.yaml: line 4, column 10: migrate needs workloads that process: put \"practice: true\" at the top"},
  };
  for (const auto& row : kRows) {
    const Result<Scenario> scenario = Scenario::Parse("a.yaml", row.text);
    ASSERT_FALSE(scenario.ok()) << row.text;
    EXPECT_TRUE(scenario.error().message().starts_with(row.error)) << scenario.error().message();
  }
}

TEST(ScenarioFileTest, AWordThatIsAlsoAStepGoesWithItsStep) {
  const Result<Scenario> scenario = Scenario::Parse("a.yaml", R"(title: a
practice: true
story:
  - then:
      - {receipts: {kind: Job, name: a}, count: 2}
)");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  EXPECT_TRUE(scenario->steps[0].Is("receipts"));
  EXPECT_EQ(scenario->steps[0].Text(), "receipts Job/a, count: 2");
}

TEST(ScenarioFileTest, WhatIsNoTimeIsTold) {
  const Result<Scenario> scenario = Scenario::Parse("a.yaml", "title: a\nstory:\n  - when:\n      - wait: soon\n");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message();
  const std::vector<std::string> failures = RunScenario(*scenario);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0], "a.yaml: line 4, column 9: \"soon\" is no time: write it as 10s, 500ms or 2m");
}

TEST(ScenarioFileTest, WordsThatThisStageDoesNotKnowAreNotPassedOver) {
  for (const auto& [words, error] :
       {std::pair("fault: silence", "in which cluster?"), std::pair("fault: silence, in: hub", "in which cluster?"),
        std::pair("fault: silence, in: blue, at: 3", "\"at\" goes with fault only where"),
        std::pair("fault: fail-image, in: blue", "no fault is called fail-image"),
        std::pair("silent: red", "there is no cluster \"red\""),
        std::pair("apply: {kind: ConfigMap, metadata: 3}", "apply failed: "),
        std::pair("expect: {kind: ConfigMap, name: a}, in: [blue]", "there is no cluster [\"blue\"]"),
        std::pair("join: 7", "what joins is a name"), std::pair("wait: 1000h", "1000h is no time of a story"),
        std::pair("wait: -1s", "-1s is no time of a story")}) {
    const Result<Scenario> scenario =
        Scenario::Parse("a.yaml", StrCat("title: a\nclusters: [blue]\nstory:\n  - when:\n      - {", words, "}\n"));
    ASSERT_TRUE(scenario.ok()) << scenario.error().message();
    const std::vector<std::string> failures = RunScenario(*scenario);
    ASSERT_EQ(failures.size(), 1U) << words;
    EXPECT_TRUE(failures[0].starts_with(StrCat("a.yaml: line 5, column 9: ", error))) << failures[0];
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
