// What the operator does to a job that runs, driven through the API: upgrades in every mode, standalone mode, a lost
// JobManager, deletion with a savepoint (facts/flink.md 1.2, 1.5, 1.9).
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "practice/flink_operator.h"
#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

Value With(std::string_view job, std::string_view config = "{}", std::string_view mode = "native") {
  Value object = FromYaml(kOrders);
  object.Edit("spec").Set("mode", mode);
  for (const json::Member& member : FromYaml(job).members())
    object.Edit("spec").Edit("job").Set(member.key(), member.value());
  for (const json::Member& member : FromYaml(config).members())
    object.Edit("spec").Edit("flinkConfiguration").Set(member.key(), member.value());
  return object;
}

constexpr std::string_view kHa = "{high-availability.type: kubernetes, high-availability.storageDir: s3://b/ha}";

std::string_view JobId(const Value& object) { return object["status"]["jobStatus"]["jobId"].str(); }

rt::Task<Value> UntilObserved(PracticeWorld& world, Member& member, int64_t generation) {
  return world.Until(member, [=](const Value& o) {
    return o["status"]["observedGeneration"].int_or(0) == generation &&
           o["status"]["lifecycleState"].str() == "STABLE" && o["status"]["jobStatus"]["state"].str() == "RUNNING";
  });
}

// What is so for a moment only; null when it never is.
rt::Task<Value> UntilSeen(PracticeWorld& world, Member& member, std::string_view field, std::string_view wanted) {
  for (int i = 0; i < 120'000; ++i) {
    const Value now = co_await world.Get(member);
    if (now["status"][field].str() == wanted) co_return now;
    co_await world.loop.Sleep(milliseconds(1));
  }
  co_return Value();
}

TEST(FlinkUpgradeTest, AChangedSpecIsDeployedInTheWayOfItsMode) {
  for (const std::string mode : {"stateless", "savepoint", "last-state"}) {
    InPractice(1, [&](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, With(StrCat("{upgradeMode: ", mode, "}"), kHa));
      const Value before = co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(13));
      co_await world.Patch(blue, "spec: {job: {args: [other]}}");
      const Value between = co_await UntilSeen(world, blue, "lifecycleState", "UPGRADING");
      EXPECT_EQ(between["status"]["reconciliationStatus"]["state"].str(), "UPGRADING") << mode;
      const Value after = co_await UntilObserved(world, blue, 2);
      EXPECT_EQ(RecordedForTest(after)["spec"]["job"]["upgradeMode"].str(), mode);
      EXPECT_EQ(RecordedForTest(after)["spec"]["job"]["args"], json::Array({"other"})) << mode;
      EXPECT_EQ(RecordedForTest(after)["spec"]["job"]["state"].str(), "running") << mode;
      EXPECT_EQ(after["status"]["reconciliationStatus"]["state"].str(), "DEPLOYED") << mode;
      EXPECT_EQ(JobId(after) == JobId(before), mode == "last-state");
      const std::string path = PathOfSavepoint(after);
      if (mode == "stateless") EXPECT_EQ(path, "");
      if (mode == "savepoint") EXPECT_TRUE(path.starts_with("s3://bucket/savepoints/")) << path;
      if (mode == "last-state") EXPECT_EQ(path, kLastStateSentinel);
      co_await world.loop.Sleep(seconds(20));
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.writers.size(), 2U) << report.Text();
      EXPECT_EQ(report.clean(), mode != "stateless") << mode << "\n" << report.Text();
      EXPECT_EQ(report.duplicated > 0, mode == "stateless") << mode << "\n" << report.Text();
      EXPECT_EQ(report.reprocessed > 0, mode != "savepoint") << mode << "\n" << report.Text();
    });
  }
}

TEST(FlinkUpgradeTest, AnAskedRestartAndAnIgnorableKeyAreToldApart) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, With("{}"));
    const Value first = co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {flinkConfiguration: {kubernetes.operator.baton.seq: '7'}}");
    EXPECT_EQ(JobId(co_await UntilObserved(world, blue, 2)), JobId(first));
    co_await world.Patch(blue, "spec: {restartNonce: 1}");
    EXPECT_NE(JobId(co_await UntilObserved(world, blue, 3)), JobId(first));
  });
}

TEST(FlinkUpgradeTest, InStandaloneModeASuspendTakesTheJobManagerAway) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, With("{}", "{}", "standalone"));
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_EQ(stopped["status"]["jobManagerDeploymentStatus"].str(), "MISSING");
    EXPECT_TRUE(PathOfSavepoint(stopped).starts_with("s3://bucket/savepoints/"));
    EXPECT_FALSE((co_await blue.api->Get(Deployments(), {"default", "orders"})).ok());
  });
}

TEST(FlinkUpgradeTest, ALostJobManagerIsMadeAnewOnlyWhereItsStateIsKnown) {
  for (const bool ha : {true, false}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, With("{}", ha ? kHa : "{}"));
      const Value before = co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(13));
      EXPECT_TRUE((co_await blue.api->Delete(Deployments(), {"default", "orders"})).ok());
      co_await world.loop.Sleep(minutes(3));
      const Value after = co_await world.Get(blue);
      EXPECT_EQ(after["status"]["lifecycleState"].str(), ha ? "STABLE" : "FAILED") << after["status"];
      EXPECT_EQ(after["status"]["jobManagerDeploymentStatus"].str(), ha ? "READY" : "MISSING");
      EXPECT_EQ(JobId(after), JobId(before));
      EXPECT_EQ(after["status"]["error"].str().find("HA metadata is not available") != std::string_view::npos, !ha);
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.writers.size(), ha ? 2U : 1U) << report.Text();
      EXPECT_TRUE(report.clean()) << report.Text();
    });
  }
}

TEST(FlinkUpgradeTest, AFailedJobIsRestartedWhereThatIsAsked) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, With("{}", "{kubernetes.operator.job.restart.failed: 'true'}"));
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(13));
    EXPECT_TRUE(blue.cluster->FailJob("default/orders").ok());
    co_await world.loop.Sleep(minutes(3));
    co_await world.UntilRunning(blue);
    const JudgeReport report = co_await world.Judged();
    EXPECT_EQ(report.writers.size(), 2U) << report.Text();
    EXPECT_TRUE(report.clean()) << report.Text();
  });
}

TEST(FlinkUpgradeTest, ADeletionWithSavepointLeavesItsSnapshotObject) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, With("{}", "{kubernetes.operator.job.savepoint-on-deletion: 'true'}"));
    co_await world.UntilRunning(blue);
    EXPECT_TRUE((co_await blue.api->Delete(FlinkDeployments(), {"default", "orders"})).ok());
    co_await world.Until(blue, [](const Value& o) { return o.is_null(); });
    const auto snapshots = co_await blue.api->ListAll(FlinkStateSnapshots(), {.ns = "default"});
    EXPECT_EQ(snapshots->items.size(), 1U);
    if (snapshots->items.empty()) co_return;
    const std::string path(snapshots->items[0]["spec"]["savepoint"]["path"].str());
    // It is all that is left of the job, and enough to go on.
    Value again = With("{}");
    again.Edit("spec").Edit("job").Set("initialSavepointPath", path);
    co_await world.Create(blue, again);
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(12));
    const JudgeReport report = co_await world.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.reprocessed, 0U) << report.Text();
  });
}

}  // namespace
}  // namespace baton::practice
