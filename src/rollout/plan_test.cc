// What a move would do: decisions in a world without faults, the writes that follow from them, and past moves.
#include "rollout/plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "json/yaml.h"
#include "rollout/forecast.h"
#include "rollout/foresee.h"

namespace baton::rollout {
namespace {

using json::Value;

Value Yaml(std::string_view text) {
  Result<Value> value = json::ParseYaml(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

struct Start {
  Writer writer{.exists = true, .seq = 4, .holder = {"blue", "id-blue", "uid-blue"}};
  Migration migration{.name = "move", .uid = "UID"};
  Observation seen;
  Start() {
    seen.fence = 1;
    seen.preflight_done = true;
    seen.proposal = Claim{.migration = "move",
                          .migration_uid = "UID",
                          .source = {"blue", "id-blue", "uid-blue"},
                          .target = {"green", "id-green", ""}};
  }
};

std::string Told(const Foresight& ahead) {
  std::string told;
  for (const ForeseenStep& step : ahead.steps)
    StrAppend(told, told.empty() ? "" : " ", PhaseName(step.phase), ":", EffectName(step.effect));
  return told;
}

TEST(ForeseeTest, GoesTheWholeWayByTheDecisionsOfNext) {
  const Start start;
  const Foresight ahead = Foresee(start.writer, start.migration, start.seen);
  EXPECT_EQ(ahead.end, Phase::kSucceeded) << ahead.said;
  EXPECT_EQ(Told(ahead),
            "Pending:swap-writer Planned:put-override Planned:put-binding Planned:validate-target Planned:put-binding "
            "Planned:none Staged:swap-writer Quiescing:put-override Quiescing:none Quiescing:swap-writer "
            "Granted:put-override Verifying:none Verifying:none Verifying:swap-writer Cleaning:put-binding "
            "Cleaning:none Cleaning:put-binding Cleaning:swap-writer Cleaning:remove-override");
}

TEST(ForeseeTest, SaysWhereItWaitsForPeopleAndGoesOn) {
  Start start;
  start.migration.approved = false;
  start.migration.waiting_for_approval = "an approval of BeforeQuiesce";
  start.migration.cleanup_approved = false;
  const Foresight ahead = Foresee(start.writer, start.migration, start.seen);
  EXPECT_EQ(ahead.end, Phase::kSucceeded) << ahead.said;
  std::vector<std::string> waits;
  for (const ForeseenStep& step : ahead.steps) {
    if (step.for_people) waits.push_back(step.waits_for);
  }
  EXPECT_EQ(waits, (std::vector<std::string>{"an approval of BeforeQuiesce", "an approval of BeforeCleanup"}));
}

TEST(ForeseeTest, AMoveWithAProblemIsRejected) {
  Start start;
  start.seen.proposal.reset();
  start.seen.problems = {"it runs in blue already"};
  const Foresight ahead = Foresee(start.writer, start.migration, start.seen);
  EXPECT_EQ(ahead.end, Phase::kRejected);
  EXPECT_TRUE(ahead.steps.empty());
}

TEST(PlanTest, StepsSayWhatIsWrittenWhereInWhichOrder) {
  const Start start;
  const ProfileSet profiles;
  const Value workload = Yaml(R"({apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment,
      metadata: {name: orders, namespace: shop, uid: u1},
      spec: {flinkConfiguration: {state.savepoints.dir: "s3://state/savepoints"}, job: {upgradeMode: savepoint, state: running}}})");
  const Value binding =
      Yaml(R"({metadata: {name: orders-flinkdeployment, namespace: shop}, spec: {clusters: [{name: blue}]}})");
  MigrationSpec spec{.migration = start.migration, .kind = "FlinkDeployment", .workload = "orders"};
  const Value pinned =
      json::Object({{"source", workload["spec"]}, {"target", workload["spec"]}, {"other", workload["spec"]}});
  const Value writer_object = WriteWriter(start.writer, Value(), workload);
  const Foresight ahead = Foresee(start.writer, start.migration, start.seen);
  const Result<std::vector<PlannedStep>> steps =
      StepsOf({.spec = spec,
               .ahead = ahead,
               .writer_object = writer_object,
               .workload = workload,
               .binding = binding,
               .pinned = pinned,
               .prior = Value(),
               .profile = *profiles.ForKind("flink.apache.org/v1beta1", "FlinkDeployment")});
  ASSERT_TRUE(steps.ok()) << steps.error().message();
  std::string told;
  Value stop;
  for (const PlannedStep& step : *steps) {
    if (step.verb != "wait")
      StrAppend(told, PhaseName(step.phase), " ", step.where, " ", step.verb, " ", step.object, "\n");
    if (step.where == "blue" && step.verb == "update") stop = step.changes;
  }
  EXPECT_EQ(told, R"(Pending hub create StatefulMigration shop/move
Pending hub update Writer shop/orders-flinkdeployment
Planned hub create OverridePolicy shop/zz-baton-UID
Planned hub update ResourceBinding shop/orders-flinkdeployment
Planned green dry run FlinkDeployment shop/orders
Planned hub update ResourceBinding shop/orders-flinkdeployment
Planned green create FlinkDeployment shop/orders
Staged hub update Writer shop/orders-flinkdeployment
Quiescing hub update OverridePolicy shop/zz-baton-UID
Quiescing blue update FlinkDeployment shop/orders
Quiescing green update FlinkDeployment shop/orders
Quiescing hub update Writer shop/orders-flinkdeployment
Granted hub update OverridePolicy shop/zz-baton-UID
Granted green update FlinkDeployment shop/orders
Granted green create FlinkStateSnapshot shop/orders-baton-6
Verifying hub update Writer shop/orders-flinkdeployment
Cleaning hub update ResourceBinding shop/orders-flinkdeployment
Cleaning blue delete FlinkDeployment shop/orders
Cleaning hub update ResourceBinding shop/orders-flinkdeployment
Cleaning hub update Writer shop/orders-flinkdeployment
Cleaning hub delete OverridePolicy shop/zz-baton-UID
Cleaning green update FlinkDeployment shop/orders
Cleaning green delete FlinkStateSnapshot shop/orders-baton-6
)");
  // Which fields, as the profile sets them.
  EXPECT_NE(stop.ToString().find(R"("path":"/spec/job/state","value":"suspended")"), std::string::npos)
      << stop.ToString();
}

Value Ended(std::string_view name, std::string_view phase, std::string_view downtime, int took) {
  Value value = Yaml(StrCat("{metadata: {namespace: shop}, spec: {workload: {kind: FlinkDeployment, name: ", name,
                            "}}, status: {phase: ", phase, ", timeline: [{time: '2026-11-16T10:00:00Z'}, ",
                            "{time: '2026-11-16T10:00:", took, "Z'}]}}"));
  if (!downtime.empty()) value.Edit("status").Set("downtime", downtime);
  return value;
}

TEST(ForecastTest, IsOfThisWorkloadElseOfItsKindElseNone) {
  const std::vector<Value> record = {
      Ended("orders", "Succeeded", "4.0s", 20), Ended("orders", "Succeeded", "2.0s", 30),
      Ended("orders", "Succeeded", "9.5s", 40), Ended("orders", "RolledBack", "", 50),
      Ended("orders", "Rejected", "", 10),      Ended("sales", "Succeeded", "60.0s", 59)};
  const Forecast own = MakeForecast(record, "FlinkDeployment", "shop", "orders");
  EXPECT_EQ(own.basis, Forecast::Basis::kWorkload);
  EXPECT_EQ(own.moves, 3U);
  EXPECT_EQ(own.taken_back, 1U);
  EXPECT_EQ(own.downtime, seconds(4));
  EXPECT_EQ(own.downtime_worst, milliseconds(9500));
  EXPECT_EQ(own.whole, seconds(30));
  const Forecast like = MakeForecast(record, "FlinkDeployment", "shop", "new");
  EXPECT_EQ(like.basis, Forecast::Basis::kKind);
  EXPECT_EQ(like.moves, 4U);
  EXPECT_EQ(like.downtime_worst, seconds(60));
  const Forecast none = MakeForecast(record, "Job", "shop", "orders");
  EXPECT_EQ(none.basis, Forecast::Basis::kNone);
  EXPECT_TRUE(none.Text().starts_with("no history"));
}

TEST(ForecastTest, WhatIsNoFigureIsLeftOut) {
  Value odd = Ended("orders", "Succeeded", "soon", 10);
  EXPECT_EQ(MakeForecast({odd}, "FlinkDeployment", "shop", "orders").basis, Forecast::Basis::kNone);
  odd.Edit("status").Set("downtime", "1.0s");
  odd.Edit("status").Erase("timeline");
  EXPECT_EQ(MakeForecast({odd}, "FlinkDeployment", "shop", "orders").basis, Forecast::Basis::kNone);
  EXPECT_EQ(MakeForecast({Value(), json::Array()}, "FlinkDeployment", "shop", "orders").basis, Forecast::Basis::kNone);
}

}  // namespace
}  // namespace baton::rollout
