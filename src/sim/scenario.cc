// Playing a story file from its first step to the checkers' last look.
#include "sim/scenario.h"

#include <algorithm>

#include "base/invariant.h"
#include "practice/kind_spec.h"
#include "rt/test_support.h"
#include "scenario/runner.h"
#include "sim/call_rules.h"
#include "sim/checkers.h"
#include "sim/stage.h"

namespace baton::sim {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): owned by rt::Do
namespace {

// Flink's operator is always there; those of the other kinds only where a story has such workloads.
bool NeedsKinds(const scenario::Scenario& scenario) {
  return scenario.practice && std::ranges::any_of(scenario.steps, [](const scenario::Step& step) {
           const bool makes = step.Is("start") || step.Is("apply") || step.Is("create");
           return makes && std::ranges::any_of(practice::KindSpecs(), [&](const practice::KindSpec& kind) {
                    return step.what["kind"].str() == kind.resource.kind;
                  });
         });
}

rt::Task<std::vector<std::string>> PlayIn(World& world, CallRules& rules, const scenario::Scenario& scenario,
                                          Story* story) {
  Checkers checkers(world, story);
  std::string wrong;
  {
    rt::Scope scope(world.loop());
    SimStage stage(world, rules, checkers, story, scenario.practice);
    for (const json::Value& cluster : scenario.clusters.items()) {
      wrong = co_await stage.Join(cluster);
      if (!wrong.empty()) co_return std::vector<std::string>{wrong};
    }
    if (scenario.practice) {
      scope.Spawn(checkers.Follow());
      world.loop().OnEveryStep([&checkers] { checkers.Look(); });
    }
    co_await world.loop().Sleep(scenario::kSettles);
    wrong = co_await scenario::Runner(stage).Run(scenario);
    if (wrong.empty()) {
      co_await stage.StopFaults();
      if (scenario.practice) co_await checkers.AtTheEnd();
    }
    world.loop().OnEveryStep(nullptr);
  }
  std::vector<std::string> problems = checkers.problems;
  if (!wrong.empty()) problems.insert(problems.begin(), wrong);
  if (wrong.empty()) {
    for (std::string& unused : rules.Unused()) problems.push_back(std::move(unused));
  }
  co_return problems;
}

}  // namespace

std::vector<std::string> PlayScenario(const scenario::Scenario& scenario, Story* story) {
  rt::VirtualLoop loop(scenario.seed);
  loop.LimitStepsPerInstant(kStepsPerInstant);
  if (story != nullptr) story->Begin(loop);
  std::vector<std::string> problems;
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    CallRules rules(loop);
    World world(loop);
    world.SetStory(story);
    world.SetFaultPlans(
        [&rules](const std::string& whom, int64_t leader) -> kube::FaultPlan& { return rules.PlanFor(whom, leader); });
    const Result<void> started =
        co_await world.Start({.clusters = {},
                              .kinds = NeedsKinds(scenario),
                              .operators = scenario.practice,
                              .claim_templates = scenario.options["claimTemplates"].bool_or(false),
                              .own_hub = !scenario.options["foreignHub"].bool_or(false)});
    INVARIANT(started.ok(), started.error().message());
    if (const json::Value& after = scenario.options["karmadaFailsOverAfter"]; !after.is_null())
      world.KarmadaFailsOver(*scenario::TimeOf(after, {}));  // Parse has looked at it
    problems = co_await PlayIn(world, rules, scenario, story);
    co_await world.Stop();
  }));
  if (story != nullptr) story->End();
  return problems;
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace baton::sim
