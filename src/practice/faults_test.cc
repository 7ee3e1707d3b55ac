// What goes wrong in a practice cluster, and what it leads to.
#include "practice/faults.h"

#include <gtest/gtest.h>

#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

std::string_view JobState(const Value& object) { return object["status"]["jobStatus"]["state"].str(); }

TEST(FaultsTest, AreSetByName) {
  Faults faults;
  for (const char* text : {"fail-next-savepoint", "fail-image", "forget-status", "slow=2.5", "stall-operator=3"}) {
    EXPECT_TRUE(faults.Set(text).ok()) << text;
  }
  EXPECT_EQ(faults.Slowed(seconds(2)), seconds(5));
  EXPECT_EQ(faults.stall_operator, seconds(3));
  EXPECT_TRUE(faults.TakeSavepointFailure());
  EXPECT_FALSE(faults.TakeSavepointFailure());
  EXPECT_TRUE(faults.Set("fail-image=off").ok());
  EXPECT_FALSE(faults.fail_image);
  EXPECT_TRUE(faults.Set("slow").ok());
  EXPECT_EQ(faults.slow, 5);
  EXPECT_TRUE(faults.Set("slow=off").ok());
  EXPECT_TRUE(faults.Set("stall-operator=off").ok());
  EXPECT_EQ(faults.Slowed(seconds(2)) + faults.stall_operator, seconds(2));
  for (const char* text :
       {"", "slow=", "slow=0", "slow=nan", "slow=1e9", "stall-operator", "stall-operator=-1", "explode"}) {
    EXPECT_EQ(faults.Set(text).error().kind(), ErrorKind::kInvalid) << text;
  }
}

Value WithFault(std::string_view fault) {
  return json::Object(
      {{"metadata", json::Object({{"annotations", json::Object({{"practice.baton.io/fault", fault}})}})}});
}

// Each fault as an annotation of the job, and what it leads to.
TEST(FaultsTest, EachCanBeSetByAnAnnotation) {
  for (const std::string fault : {"fail-next-savepoint", "fail-image", "slow", "forget-status", "kill-operator=30",
                                  "restart-jobmanager", "fail-job", "partition", "partition=off"}) {
    InPractice(1, [&](PracticeWorld& world) -> rt::Task<void> {
      std::vector<bool> cut;
      world.options.on_partition = [&](bool is) { cut.push_back(is); };
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, FromYaml(kOrders));
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(12));
      EXPECT_TRUE((co_await blue.api->Patch(FlinkDeployments(), {"default", "orders"}, kube::PatchType::kMerge,
                                            WithFault(fault)))
                      .ok());
      co_await world.loop.Sleep(seconds(2));
      Faults& faults = blue.cluster->faults();
      if (fault == "fail-next-savepoint") EXPECT_EQ(faults.fail_savepoints, 1);
      if (fault == "fail-image") EXPECT_TRUE(faults.fail_image);
      if (fault == "slow") EXPECT_EQ(faults.slow, 5);
      if (fault.starts_with("partition")) EXPECT_EQ(cut, std::vector<bool>{fault == "partition"});
      if (fault == "kill-operator=30") {
        co_await world.Patch(blue, "spec: {job: {state: suspended}}");
        co_await world.loop.Sleep(seconds(20));
        EXPECT_EQ(JobState(co_await world.Get(blue)), "RUNNING") << "there is nobody who would stop it";
        co_await world.UntilSuspended(blue);
      }
      if (fault == "fail-job") EXPECT_EQ(JobState(co_await world.Get(blue)), "FAILED");
      co_await world.loop.Sleep(minutes(2));
      const JudgeReport report = co_await world.Judged();
      const bool again = fault == "restart-jobmanager" || fault == "forget-status";
      EXPECT_EQ(report.writers.size(), again ? 2U : 1U) << fault << "\n" << report.Text();
    });
  }
}

// By the way of `baton practice fault`; what is no fault is refused before it is written.
TEST(FaultsTest, TheCommandsWaySetsThemToo) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.loop.Sleep(seconds(2));
    for (const char* text : {"", "explode", "kill-operator=", "kill-operator=x", "kill-operator=-1", "kill-operatorx",
                             "kill-operator=3601", "partition=maybe"}) {
      EXPECT_EQ((co_await SetClusterFault(*blue.api, text)).error().kind(), ErrorKind::kInvalid) << text;
    }
    EXPECT_TRUE((co_await SetClusterFault(*blue.api, "slow=3")).ok());
    co_await world.loop.Sleep(seconds(2));
    EXPECT_EQ(blue.cluster->faults().slow, 3);
    EXPECT_EQ(ParseKillOperator("kill-operator").value(), seconds(10));
    EXPECT_EQ(ParseKillOperator("kill-operator=7").value(), seconds(7));
  });
}

TEST(FaultsTest, AFailedSavepointLeavesTheJobRunningAndIsTriedAgain) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.UntilRunning(blue);
    EXPECT_TRUE(blue.cluster->faults().Set("fail-next-savepoint").ok());
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value failed = co_await world.Until(blue, [](const Value& o) { return o["status"].Has("error"); });
    EXPECT_NE(failed["status"]["error"].str().find("the savepoint failed"), std::string_view::npos);
    EXPECT_EQ(JobState(failed), "RUNNING");
    EXPECT_EQ(failed["status"]["observedGeneration"].int_or(0), 1);
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_FALSE(stopped["status"].Has("error"));
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(10));
    const JudgeReport report = co_await world.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.reprocessed, 0U) << report.Text();
  });
}

TEST(FaultsTest, ASavepointThatTakesTooLongIsFoundLater) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Value orders = FromYaml(kOrders);
    orders.Edit("spec").Edit("flinkConfiguration").Set("execution.checkpointing.timeout", "20 s");
    orders.Edit("metadata")
        .Set("annotations",
             json::Object({{"practice.baton.io/state-size", "3Gi"}, {"practice.baton.io/state-speed", "100Mi"}}));
    co_await world.Create(blue, orders);
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value late = co_await world.Until(blue, [](const Value& o) { return o["status"].Has("error"); });
    EXPECT_NE(late["status"]["error"].str().find("Timed out stopping the job"), std::string_view::npos);
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_TRUE(PathOfSavepoint(stopped).starts_with("s3://bucket/savepoints/")) << PathOfSavepoint(stopped);
    const auto snapshots = co_await blue.api->ListAll(FlinkStateSnapshots(), {.ns = "default"});
    EXPECT_EQ(snapshots->items.size(), 0U);  // nobody saw it made
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(minutes(1));
    const JudgeReport report = co_await world.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
  });
}

TEST(FaultsTest, AMissingImageIsAnErrorUntilItIsThere) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    EXPECT_TRUE(blue.cluster->faults().Set("fail-image").ok());
    co_await world.Create(blue, FromYaml(kOrders));
    const Value error = co_await world.Until(
        blue, [](const Value& o) { return o["status"]["jobManagerDeploymentStatus"].str() == "ERROR"; });
    EXPECT_NE(error["status"]["error"].str().find("ImagePullBackOff"), std::string_view::npos);
    EXPECT_EQ(JobState(error), "RECONCILING");
    EXPECT_EQ(error["status"]["lifecycleState"].str(), "DEPLOYED");
    EXPECT_TRUE(blue.cluster->faults().Set("fail-image=off").ok());
    const Value running = co_await world.UntilRunning(blue);
    EXPECT_FALSE(running["status"].Has("error"));
  });
}

TEST(FaultsTest, JobsGoOnWithoutTheirOperatorAndItFindsThemAgain) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.UntilRunning(blue);
    const uint64_t before = (co_await world.Judged()).out;
    blue.cluster->KillOperator(minutes(3));
    co_await world.loop.Sleep(seconds(1));
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    co_await world.loop.Sleep(minutes(2));
    EXPECT_EQ(JobState(co_await world.Get(blue)), "RUNNING");
    EXPECT_GT((co_await world.Judged()).out, before + 1000);
    co_await world.UntilSuspended(blue);
    EXPECT_TRUE((co_await world.Judged()).clean());
  });
}

TEST(FaultsTest, AnOperatorKilledAtAnyMomentLosesNothing) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    InPractice(seed, [&](PracticeWorld& world) -> rt::Task<void> {
      world.options.flink = world.options.flink.Faster(10);
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, FromYaml(kOrders));
      rt::SeededRandom random(seed);
      const auto kill_soon = [&]() -> rt::Task<void> {
        co_await world.loop.Sleep(Duration(random.Between(Duration{0}, seconds(2))));
        blue.cluster->KillOperator(milliseconds(200));
      };
      rt::Scope scope(world.loop);
      scope.Spawn(kill_soon());
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(7));
      co_await world.Patch(blue, "spec: {job: {state: suspended}}");
      scope.Spawn(kill_soon());
      const Value stopped = co_await world.UntilSuspended(blue);
      EXPECT_FALSE(PathOfSavepoint(stopped).empty()) << "seed " << seed << " " << stopped["status"];
      scope.Spawn(kill_soon());
      co_await world.Patch(blue, "spec: {job: {state: running}}");
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(7));
      const JudgeReport report = co_await world.Judged();
      EXPECT_TRUE(report.clean()) << "seed " << seed << "\n" << report.Text();
    });
  }
}

TEST(FaultsTest, AStalledOperatorDeploysWhatItReadAndPutsItsStatusOnWhateverIsThere) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    EXPECT_TRUE(blue.cluster->faults().Set("stall-operator=20").ok());
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.loop.Sleep(seconds(5));
    // Withdrawn before anybody has seen it start: a look now would say that it never did.
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value looks_held = co_await world.Get(blue);
    EXPECT_FALSE(looks_held["status"]["reconciliationStatus"].Has("lastReconciledSpec"));
    EXPECT_FALSE((co_await blue.api->Get(Deployments(), {"default", "orders"})).ok());
    co_await world.loop.Sleep(seconds(20));
    const Value deployed = co_await world.Get(blue);
    EXPECT_TRUE((co_await blue.api->Get(Deployments(), {"default", "orders"})).ok());
    EXPECT_EQ(deployed["metadata"]["generation"].int_or(0), 2);
    EXPECT_EQ(RecordedForTest(deployed)["spec"]["job"]["state"].str(), "running");
    EXPECT_GE((co_await world.Judged()).writers.size(), 1U);
  });
}

TEST(FaultsTest, AForgottenStatusMakesTheOperatorBeginAnew) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(12));
    EXPECT_TRUE(blue.cluster->faults().Set("forget-status").ok());
    co_await world.loop.Sleep(minutes(2));
    co_await world.UntilRunning(blue);
    const JudgeReport report = co_await world.Judged();
    EXPECT_EQ(report.writers.size(), 2U) << report.Text();
    EXPECT_GT(report.duplicated, 0U) << report.Text();  // from the first record on: that is what forgetting costs
  });
}

TEST(FaultsTest, ADeletedPodRestartsItsJobFromTheLastCheckpointOnlyWithHighAvailability) {
  for (const bool ha : {true, false}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Value orders = FromYaml(kOrders);
      if (ha) orders.Edit("spec").Edit("flinkConfiguration").Set("high-availability.type", "kubernetes");
      co_await world.Create(blue, orders);
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(13));
      const auto pods = co_await blue.api->ListAll(Pods(), {.ns = "default", .label_selector = "component=jobmanager"});
      EXPECT_EQ(pods->items.size(), 1U);
      const auto deleted = co_await blue.api->Delete(Pods(), kube::Name::Of(pods->items[0]));
      EXPECT_TRUE(deleted.ok());
      co_await world.loop.Sleep(seconds(30));
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.writers.size(), 2U) << report.Text();
      EXPECT_EQ(report.duplicated > 0, !ha) << report.Text();
      EXPECT_GT(report.reprocessed, 0U) << report.Text();
      EXPECT_EQ(report.overlap_count + report.lost, 0U) << report.Text();
    });
  }
}

// The cluster's own way to its API has a bad day; then all goes well again, and nothing was lost.
TEST(FaultsTest, AnApiThatFailsDelaysAndLosesNothing) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    InPractice(seed, [&](PracticeWorld& world) -> rt::Task<void> {
      world.options.flink = world.options.flink.Faster(10);
      rt::SeededRandom random(seed);
      kube::SeededFaults plan(random, kube::FaultMix::Swarm(random));
      world.members.push_back(co_await Member::Start(world.loop, *world.commons, "blue", world.options, &plan));
      Member& blue = *world.members.back();
      co_await world.Create(blue, FromYaml(kOrders));
      co_await world.Until(blue, [](const Value& o) { return JobState(o) == "RUNNING"; }, hours(1));
      co_await world.loop.Sleep(seconds(10));
      co_await world.Patch(blue, "spec: {job: {state: suspended}}");
      co_await world.loop.Sleep(seconds(20));
      plan.Stop();
      co_await world.UntilSuspended(blue);
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.lost + report.overlap_count + report.wrong_state, 0U) << "seed " << seed << "\n"
                                                                             << report.Text();
      EXPECT_TRUE(report.writers.size() > 1 || report.clean()) << "seed " << seed << "\n" << report.Text();
    });
  }
}

TEST(FaultsTest, AnAnnotationSetsThemOnce) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "metadata: {annotations: {practice.baton.io/fault: fail-job}}");
    co_await world.Until(blue, [](const Value& o) { return JobState(o) == "FAILED"; });
    co_await world.Patch(blue, "metadata: {annotations: {practice.baton.io/fault: slow=2}}");
    co_await world.loop.Sleep(seconds(1));
    EXPECT_EQ(blue.cluster->faults().slow, 2);
    co_await world.Patch(blue, "metadata: {annotations: {practice.baton.io/fault: nonsense}}");
    co_await world.loop.Sleep(seconds(1));
    EXPECT_EQ(blue.cluster->faults().slow, 2);
  });
}

TEST(FaultsTest, ASnapshotOnDemandDoesNotStopTheJobAndCommitsNothing) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    const auto snapshot = [](std::string_view name, std::string_view what) {
      Value object =
          FromYaml(StrCat("{apiVersion: flink.apache.org/v1beta1, kind: FlinkStateSnapshot, "
                          "metadata: {namespace: default}, spec: {jobReference: "
                          "{kind: FlinkDeployment, name: orders}, ",
                          what, "}}"));
      object.Edit("metadata").Set("name", name);
      return object;
    };
    const auto ended = [&](std::string name) -> rt::Task<Value> {
      for (int i = 0; i < 1000; ++i) {
        const auto got = co_await blue.api->Get(FlinkStateSnapshots(), {"default", name});
        const std::string_view state = (*got)["status"]["state"].str();
        if (state == "COMPLETED" || state == "FAILED" || state == "ABANDONED") co_return *got;
        co_await world.loop.Sleep(milliseconds(50));
      }
      co_return Value();
    };
    EXPECT_TRUE(
        (co_await blue.api->Create(FlinkStateSnapshots(), snapshot("early", "savepoint: {path: 's3://b/x'}"))).ok());
    EXPECT_EQ((co_await ended("early"))["status"]["state"].str(), "ABANDONED");
    co_await world.Create(blue, FromYaml(kOrders));
    co_await world.UntilRunning(blue);
    EXPECT_TRUE(
        (co_await blue.api->Create(FlinkStateSnapshots(), snapshot("one", "savepoint: {path: 's3://b/x'}"))).ok());
    const Value one = co_await ended("one");
    EXPECT_EQ(one["status"]["state"].str(), "COMPLETED");
    EXPECT_TRUE(one["status"]["path"].str().starts_with("s3://b/x/savepoint-")) << one;
    EXPECT_TRUE((co_await blue.api->Create(FlinkStateSnapshots(), snapshot("two", "checkpoint: {}"))).ok());
    const Value two = co_await ended("two");
    EXPECT_NE(two["status"]["path"].str().find("/chk-"), std::string_view::npos) << two;
    EXPECT_TRUE(blue.cluster->faults().Set("fail-next-savepoint").ok());
    EXPECT_TRUE((co_await blue.api->Create(FlinkStateSnapshots(),
                                           snapshot("three", "backoffLimit: 0, savepoint: {path: 's3://b/x'}")))
                    .ok());
    EXPECT_EQ((co_await ended("three"))["status"]["state"].str(), "FAILED");
    EXPECT_EQ(JobState(co_await world.Get(blue)), "RUNNING");
    co_await world.loop.Sleep(seconds(20));
    EXPECT_TRUE((co_await world.Judged()).clean());
  });
}

}  // namespace
}  // namespace baton::practice
