// Pauses of policies follow them; pauses of people stay.
#include "federation/suspension.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace baton::federation {
namespace {

using json::Value;

Value Yaml(std::string_view text) { return *json::ParseYaml(text); }

TEST(SuspensionTest, ThePolicysPauseComesChangesAndGoesWithThePolicy) {
  Value binding = Yaml("{metadata: {name: a}, spec: {clusters: []}}");
  const Value before = binding;
  TakeSuspension(binding, Value());
  EXPECT_EQ(binding, before);
  TakeSuspension(binding, Yaml("{dispatching: true}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatching: true}"));
  TakeSuspension(binding, Yaml("{dispatchingOnClusters: {clusterNames: [blue]}}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatchingOnClusters: {clusterNames: [blue]}}"));
  TakeSuspension(binding, Yaml("{}"));
  EXPECT_FALSE(binding["spec"].Has("suspension"));
  EXPECT_TRUE(binding["metadata"]["annotations"].empty());
}

TEST(SuspensionTest, APersonsPauseStaysWhateverThePolicySaysUntilItIsTakenAway) {
  Value binding = Yaml("{spec: {suspension: {dispatchingOnClusters: {clusterNames: [green]}}}}");
  const Value theirs = binding["spec"]["suspension"];
  for (const char* policy : {"null", "{dispatching: true}", "{}", "{dispatchingOnClusters: {clusterNames: [blue]}}"}) {
    TakeSuspension(binding, Yaml(policy));
    EXPECT_EQ(binding["spec"]["suspension"], theirs) << policy;
  }
  binding.Edit("spec").Erase("suspension");
  TakeSuspension(binding, Yaml("{dispatching: true}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatching: true}"));
}

TEST(SuspensionTest, APersonMayLetOneBindingThroughThatThePolicyPauses) {
  Value binding = Yaml("{spec: {}}");
  TakeSuspension(binding, Yaml("{dispatching: true}"));
  binding.Edit("spec").Edit("suspension").Set("dispatching", false);
  TakeSuspension(binding, Yaml("{dispatching: true}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatching: false}"));
  TakeSuspension(binding, Yaml("{}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatching: false}"));
}

TEST(SuspensionTest, SchedulingIsNeverThePolicys) {
  Value binding = Yaml("{spec: {suspension: {scheduling: true}}}");
  TakeSuspension(binding, Yaml("{dispatching: true}"));
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{dispatching: true, scheduling: true}"));
  TakeSuspension(binding, Value());
  EXPECT_EQ(binding["spec"]["suspension"], Yaml("{scheduling: true}"));
}

TEST(SuspensionTest, AWorkThatAPersonPausedOutlivesThePauseOfItsBinding) {
  Value work = Yaml("{spec: {suspendDispatching: true}}");
  TakeSuspensionOfBinding(work, true);
  TakeSuspensionOfBinding(work, false);
  EXPECT_TRUE(work["spec"]["suspendDispatching"].bool_or(false));
  work = Yaml("{spec: {}}");
  TakeSuspensionOfBinding(work, true);
  EXPECT_TRUE(work["spec"]["suspendDispatching"].bool_or(false));
  TakeSuspensionOfBinding(work, false);
  EXPECT_FALSE(work["spec"].Has("suspendDispatching"));
}

}  // namespace
}  // namespace baton::federation
