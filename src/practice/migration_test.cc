// Moving a job by hand between two practice clusters, with care and without, and what the judge says.
#include <gtest/gtest.h>

#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

Value OrdersFrom(std::string_view path) {
  Value object = FromYaml(kOrders);
  if (!path.empty()) object.Edit("spec").Edit("job").Set("initialSavepointPath", path);
  return object;
}

// Runs on blue for a while.
rt::Task<void> RunOn(PracticeWorld& world, Member& member, Value object, Duration how_long = seconds(30)) {
  co_await world.Create(member, std::move(object));
  co_await world.UntilRunning(member);
  co_await world.loop.Sleep(how_long);
}

rt::Task<std::string> Suspend(PracticeWorld& world, Member& member) {
  co_await world.Patch(member, "spec: {job: {state: suspended}}");
  co_return PathOfSavepoint(co_await world.UntilSuspended(member));
}

TEST(MigrationTest, ByHandWithCareLosesNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    InPractice(seed, [](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Member& green = *co_await world.Add("green");
      co_await RunOn(world, blue, FromYaml(kOrders));
      co_await world.Patch(blue, "spec: {job: {state: suspended}}");
      const Value stopped = co_await world.UntilSuspended(blue);
      EXPECT_EQ(stopped["status"]["jobStatus"]["state"].str(), "FINISHED");
      EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), "savepoint");
      const std::string path = PathOfSavepoint(stopped);
      EXPECT_TRUE(path.starts_with("s3://bucket/savepoints/savepoint-")) << path;
      co_await world.Create(green, OrdersFrom(path));
      const Value running = co_await world.UntilRunning(green);
      EXPECT_EQ(PathOfSavepoint(running), path);
      co_await world.loop.Sleep(seconds(30));
      const JudgeReport report = co_await world.Judged();
      EXPECT_TRUE(report.clean()) << report.Text();
      EXPECT_EQ(report.writers.size(), 2U) << report.Text();
      EXPECT_EQ(report.reprocessed, 0U) << report.Text();
      EXPECT_GT(report.out, 600U) << report.Text();
      EXPECT_LT(report.waiting, 200U) << report.Text();
    });
  }
}

TEST(MigrationTest, StartingTheTargetBeforeTheSourceHasStoppedIsSeenAsTwoWriters) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await RunOn(world, blue, FromYaml(kOrders));
    co_await RunOn(world, green, FromYaml(kOrders), seconds(10));
    co_await Suspend(world, blue);
    const JudgeReport report = co_await world.Judged();
    EXPECT_EQ(report.overlap_count, 1U) << report.Text();
    EXPECT_GT(report.duplicated, 0U) << report.Text();
    EXPECT_GT(report.reprocessed, 0U) << report.Text();
    EXPECT_EQ(report.lost, 0U) << report.Text();
    EXPECT_FALSE(report.clean());
    EXPECT_GT(report.overlaps[0].end_ms - report.overlaps[0].begin_ms, 9000);
  });
}

TEST(MigrationTest, AStalePathRewindsAndIsSeenAsDuplicates) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await RunOn(world, blue, FromYaml(kOrders));
    const std::string first = co_await Suspend(world, blue);
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(20));
    // While it runs, its status still shows the path it started from.
    EXPECT_EQ(PathOfSavepoint(co_await world.Get(blue)), first);
    co_await Suspend(world, blue);
    co_await RunOn(world, green, OrdersFrom(first));
    const JudgeReport report = co_await world.Judged();
    EXPECT_GT(report.duplicated, 300U) << report.Text();
    EXPECT_EQ(report.lost + report.overlap_count + report.wrong_state, 0U) << report.Text();
  });
}

TEST(MigrationTest, StartingWithoutStateIsSeenAsDuplicatesOrAsLoss) {
  for (const bool latest : {false, true}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Member& green = *co_await world.Add("green");
      co_await RunOn(world, blue, FromYaml(kOrders));
      co_await Suspend(world, blue);
      Value empty = FromYaml(kOrders);
      if (latest) {
        empty.Edit("metadata").Set("annotations", json::Object({{"practice.baton.io/start-from", "latest"}}));
      }
      co_await RunOn(world, green, empty);
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.duplicated > 0, !latest) << report.Text();
      EXPECT_EQ(report.lost > 0, latest) << report.Text();
      EXPECT_EQ(report.wrong_state > 0, latest) << report.Text();
      EXPECT_EQ(report.overlap_count, 0U) << report.Text();
    });
  }
}

TEST(MigrationTest, GoingBackToAnOlderStateIsSeenAsOutOfOrderAndAsAnOlderEpoch) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    Value old = FromYaml(kOrders);
    old.Edit("spec").Edit("flinkConfiguration").Set(kEpochKey, "3");
    co_await RunOn(world, blue, old);
    co_await Suspend(world, blue);
    co_await world.loop.Sleep(seconds(20));  // of records that green leaves out
    Value ahead = FromYaml(kOrders);
    ahead.Edit("spec").Edit("flinkConfiguration").Set(kEpochKey, "4");
    ahead.Edit("metadata").Set("annotations", json::Object({{"practice.baton.io/start-from", "latest"}}));
    co_await RunOn(world, green, ahead);
    co_await Suspend(world, green);
    const JudgeReport between = co_await world.Judged();
    EXPECT_EQ(between.out_of_order + between.epochs_back, 0U) << between.Text();
    EXPECT_GT(between.lost, 0U) << between.Text();
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(30));
    const JudgeReport report = co_await world.Judged();
    EXPECT_GT(report.out_of_order, 0U) << report.Text();
    EXPECT_GT(report.epochs_back, 0U) << report.Text();
    EXPECT_GT(report.duplicated, 0U) << report.Text();
    EXPECT_EQ(report.lost + report.overlap_count, 0U) << report.Text();
    EXPECT_EQ(report.epochs, (std::vector<std::string>{"3", "4"}));
  });
}

TEST(MigrationTest, AJobManagerThatIsRestartedWithoutHighAvailabilityRevivesAStoppedJob) {
  for (const bool ha : {false, true}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Member& green = *co_await world.Add("green");
      Value orders = FromYaml(kOrders);
      if (ha) {
        Value& config = orders.Edit("spec").Edit("flinkConfiguration");
        config.Set("high-availability.type", "kubernetes");
        config.Set("high-availability.storageDir", "s3://bucket/ha");
      }
      co_await RunOn(world, blue, orders);
      const std::string path = co_await Suspend(world, blue);
      EXPECT_EQ((co_await world.Get(blue))["status"]["jobManagerDeploymentStatus"].str(), "READY");
      co_await world.Create(green, OrdersFrom(path));
      co_await world.UntilRunning(green);
      EXPECT_TRUE(blue.cluster->RestartJobManager("default/orders").ok());
      co_await world.loop.Sleep(seconds(30));
      const Value revived = co_await world.Get(blue);
      EXPECT_EQ(revived["status"]["lifecycleState"].str(), "SUSPENDED");
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.overlap_count, ha ? 0U : 1U) << report.Text();
      EXPECT_EQ(report.duplicated > 0, !ha) << report.Text();
      EXPECT_EQ(report.clean(), ha) << report.Text();
    });
  }
}

TEST(MigrationTest, ALastStateSuspendLeavesNothingToTakeAlong) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    Value orders = FromYaml(kOrders);
    orders.Edit("spec").Edit("job").Set("upgradeMode", "last-state");
    orders.Edit("spec").Edit("flinkConfiguration").Set("high-availability.type", "kubernetes");
    co_await RunOn(world, blue, orders);
    const std::string path = co_await Suspend(world, blue);
    EXPECT_EQ(path, "");  // what there is of state is in this cluster only
    const Value stopped = co_await world.Get(blue);
    EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), "last-state");
    EXPECT_EQ(stopped["status"]["jobManagerDeploymentStatus"].str(), "MISSING");
    // Here it goes on, and says by which sentinel.
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    const Value again = co_await world.UntilRunning(blue);
    EXPECT_EQ(PathOfSavepoint(again), kLastStateSentinel);
    EXPECT_EQ(again["status"]["jobStatus"]["jobId"], stopped["status"]["jobStatus"]["jobId"]);
    co_await world.loop.Sleep(seconds(20));
    JudgeReport report = co_await world.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_GT(report.reprocessed, 0U) << report.Text();
    // Elsewhere the sentinel is no path.
    co_await world.Create(green, OrdersFrom(kLastStateSentinel));
    co_await world.Until(green,
                         [](const Value& object) { return object["status"]["jobStatus"]["state"].str() == "FAILED"; });
    EXPECT_NE((co_await world.Get(green))["status"]["error"].str().find("Cannot find checkpoint or savepoint"),
              std::string_view::npos);
  });
}

TEST(MigrationTest, AStateThatWasChangedBehindTheJobsBackShowsInEveryRow) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await RunOn(world, blue, FromYaml(kOrders));
    const std::string path = co_await Suspend(world, blue);
    const std::string file = *world.storage.PathOf("blue", path) + "/_metadata";
    const std::string text = *co_await world.files.ReadAll(file);
    // Damage is refused...
    EXPECT_TRUE((co_await world.files.WriteAtomically(file, text.substr(0, text.size() / 2))).ok());
    co_await world.Create(green, OrdersFrom(path));
    co_await world.Until(green,
                         [](const Value& object) { return object["status"]["jobStatus"]["state"].str() == "FAILED"; });
    EXPECT_TRUE((co_await green.api->Delete(FlinkDeployments(), {"default", "orders"})).ok());
    co_await world.Until(green, [](const Value& object) { return object.is_null(); });
    // ...and a lie is believed by the job, but not by the judge.
    JobState state = *JobState::Decode(text);
    state.states[0].count += 1;
    EXPECT_TRUE((co_await world.files.WriteAtomically(file, state.Encode())).ok());
    co_await RunOn(world, green, OrdersFrom(path));
    const JudgeReport report = co_await world.Judged();
    EXPECT_GT(report.wrong_state, 0U) << report.Text();
    EXPECT_EQ(report.lost + report.duplicated + report.overlap_count, 0U) << report.Text();
  });
}

TEST(MigrationTest, ARestartOfTheProgramGoesOnFromTheLastCheckpoints) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Member& green = *co_await world.Add("green");
    co_await RunOn(world, blue, FromYaml(kOrders));
    world.Restart();
    co_await world.loop.Sleep(seconds(30));
    const JudgeReport report = co_await world.Judged();
    EXPECT_TRUE(report.clean()) << report.Text();
    EXPECT_EQ(report.writers.size(), 2U) << report.Text();
    const std::string path = co_await Suspend(world, blue);
    world.Restart();  // a job that has ended stays so
    co_await RunOn(world, green, OrdersFrom(path));
    EXPECT_TRUE((co_await world.Judged()).clean()) << (co_await world.Judged()).Text();
  });
}

// Found by tests/e2e/up_test.py, which kills `baton up`: the rows of a stop's savepoint were shown before it was noted
// as what to go on from.
TEST(MigrationTest, RestartsOfTheProgramAtAnyMomentOfAStopLoseAndDoubleNothing) {
  constexpr uint64_t kSeeds = 120;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    InPractice(seed, [&](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Member& green = *co_await world.Add("green");
      co_await RunOn(world, green, FromYaml(kOrders), seconds(7));
      const std::string first = co_await Suspend(world, green);
      co_await RunOn(world, blue, OrdersFrom(first), seconds(7));
      co_await world.Patch(blue,
                           "spec: {job: {state: suspended}, flinkConfiguration: "
                           "{kubernetes.operator.job.upgrade.last-state-fallback.enabled: 'false'}}");
      rt::Random& chance = world.loop.random();
      co_await world.loop.Sleep(milliseconds(chance.Below(600)));
      world.Restart();
      if (chance.Below(2) == 0) {
        co_await world.loop.Sleep(milliseconds(chance.Below(9000)));
        world.Restart();
      }
      const std::string path = PathOfSavepoint(co_await world.UntilSuspended(blue));
      EXPECT_NE(path, first) << "seed " << seed;
      co_await world.Patch(
          green, "spec: {job: {state: running, savepointRedeployNonce: 1, initialSavepointPath: '" + path + "'}}");
      co_await world.UntilRunning(green);
      co_await world.loop.Sleep(seconds(10));
      const JudgeReport report = co_await world.Judged();
      EXPECT_EQ(report.lost + report.duplicated + report.wrong_state, 0U) << "seed " << seed << "\n" << report.Text();
    });
  }
}

TEST(MigrationTest, AJobThatStoppedBeforeARestartIsToldWithItsSavepointWhenTheOperatorHadNotSeenIt) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await RunOn(world, blue, FromYaml(kOrders));
    const std::string first = co_await Suspend(world, blue);
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    Job& job = *blue.cluster->job_managers().Find("default/orders")->job;
    const Result<std::string> last = co_await job.Snapshot(SnapshotKind::kStopWithSavepoint, "s3://bucket/savepoints");
    world.Restart();
    EXPECT_TRUE(last.ok() && *last != first);
    EXPECT_EQ(co_await Suspend(world, blue), last.value_or("none"));
  });
}

TEST(MigrationTest, IsTheSameToTheByteForTheSameSeed) {
  const auto sink_of = [](uint64_t seed) {
    std::string bytes;
    InPractice(seed, [&](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      Member& green = *co_await world.Add("green");
      co_await RunOn(world, blue, FromYaml(kOrders));
      const std::string path = co_await Suspend(world, blue);
      co_await RunOn(world, green, OrdersFrom(path));
      bytes = *co_await world.files.ReadAll(world.storage.SinkLog({"default", "orders"}));
    });
    return bytes;
  };
  const std::string first = sink_of(7);
  EXPECT_GT(first.size(), 1000U);
  EXPECT_EQ(first, sink_of(7));
  EXPECT_NE(first, sink_of(8));
}

}  // namespace
}  // namespace baton::practice
