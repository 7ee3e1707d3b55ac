// The operator's status contract (facts/flink.md 1.5 to 1.10), driven through the API and read field by field.
#include "practice/flink_operator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

// "a/b/c" of a status, as text; "-" when absent.
std::string At(const Value& object, std::string_view path) {
  const Value* at = &object["status"];
  for (const std::string_view name : Split(path, '/')) at = &(*at)[name];
  if (at->is_null()) return "-";
  return at->is_string() ? std::string(at->str()) : at->ToString();
}

rt::Task<bool> HasDeployment(Member& member) {
  co_return (co_await member.api->Get(Deployments(), {"default", "orders"})).ok();
}

rt::Task<size_t> PodCount(Member& member) {
  const auto pods = co_await member.api->ListAll(Pods(), {.ns = "default"});
  co_return pods.ok() ? pods->items.size() : 999;
}

Value Orders(std::string_view job = "{}", std::string_view config = "{}") {
  Value object = FromYaml(kOrders);
  for (const json::Member& member : FromYaml(job).members()) {
    object.Edit("spec").Edit("job").Set(member.key(), member.value());
  }
  for (const json::Member& member : FromYaml(config).members()) {
    object.Edit("spec").Edit("flinkConfiguration").Set(member.key(), member.value());
  }
  return object;
}

constexpr std::string_view kHa = "{high-availability.type: kubernetes, high-availability.storageDir: s3://b/ha}";

TEST(FlinkOperatorTest, AHeldTargetIsCreatedAndNothingElse) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders("{state: suspended}"));
    const Value held = co_await world.Until(blue, [](const Value& o) { return o["status"].is_object(); });
    EXPECT_EQ(At(held, "lifecycleState"), "CREATED");
    EXPECT_EQ(At(held, "jobManagerDeploymentStatus"), "MISSING");
    EXPECT_EQ(At(held, "jobStatus/state"), "-");
    EXPECT_EQ(At(held, "reconciliationStatus/lastReconciledSpec"), "-");
    EXPECT_EQ(At(held, "reconciliationStatus/state"), "UPGRADING");
    EXPECT_EQ(At(held, "observedGeneration"), "-");
    EXPECT_EQ(At(held, "conditions"), "[]");
    EXPECT_EQ(At(held, "error"), "-");
    co_await world.loop.Sleep(minutes(5));
    EXPECT_FALSE(co_await HasDeployment(blue));
    // One patch with path and run flag starts it from that path; what is in it by then counts.
    co_await world.Patch(blue, "spec: {job: {state: running, initialSavepointPath: 's3://bucket/nowhere'}}");
    const Value failed =
        co_await world.Until(blue, [](const Value& o) { return o["status"]["jobStatus"]["state"].str() == "FAILED"; });
    EXPECT_EQ(At(failed, "lifecycleState"), "FAILED");
    EXPECT_EQ(At(failed, "jobStatus/upgradeSavepointPath"), "s3://bucket/nowhere");
    EXPECT_EQ(RecordedForTest(failed)["spec"]["job"]["upgradeMode"].str(), "savepoint");
    EXPECT_TRUE(RecordedForTest(failed)["resource_metadata"]["firstDeployment"].bool_or(false));
  });
}

TEST(FlinkOperatorTest, AFirstDeploymentGoesThroughItsStates) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    std::vector<std::string> jm;
    Value object;
    for (int i = 0; i < 600 && At(object, "lifecycleState") != "STABLE"; ++i) {
      co_await world.loop.Sleep(milliseconds(100));
      object = co_await world.Get(blue);
      if (jm.empty() || jm.back() != At(object, "jobManagerDeploymentStatus")) {
        jm.push_back(At(object, "jobManagerDeploymentStatus"));
      }
    }
    EXPECT_EQ(Join(jm, " "), "DEPLOYING DEPLOYED_NOT_READY READY");
    EXPECT_EQ(At(object, "jobStatus/state"), "RUNNING");  // seen together with STABLE: there is no soak time
    EXPECT_EQ(At(object, "reconciliationStatus/state"), "DEPLOYED");
    EXPECT_EQ(At(object, "observedGeneration"), "1");
    EXPECT_EQ(At(object, "jobStatus/upgradeSavepointPath"), "-");
    EXPECT_EQ(At(object, "jobStatus/jobId").size(), 32U);
    EXPECT_EQ(At(object, "taskManager/replicas"), "1");
    EXPECT_EQ(At(object, "conditions"),
              R"([{"message":"Job state RUNNING","reason":"Running","status":"True","type":"Running"}])");
    EXPECT_EQ(RecordedForTest(object)["spec"]["job"]["state"].str(), "running");
    EXPECT_EQ(co_await PodCount(blue), 2U);
    const auto deployment = co_await blue.api->Get(Deployments(), {"default", "orders"});
    EXPECT_EQ((*deployment)["metadata"]["annotations"][kGenerationAnnotation].str(), "1");
    const auto nodes = co_await blue.api->ListAll(Nodes());
    EXPECT_EQ(nodes->items.size(), 2U);
    EXPECT_EQ(nodes->items[0]["status"]["allocatable"]["memory"].str(), "32Gi");
  });
}

TEST(FlinkOperatorTest, ASuspendWithSavepointLeavesTheJobManagerUntilItsTimeToLive) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_EQ(At(stopped, "jobStatus/state"), "FINISHED");
    EXPECT_EQ(At(stopped, "reconciliationStatus/state"), "DEPLOYED");
    EXPECT_EQ(At(stopped, "observedGeneration"), "2");
    EXPECT_EQ(At(stopped, "jobManagerDeploymentStatus"), "READY");
    EXPECT_EQ(At(stopped, "taskManager"), R"({"labelSelector":"","replicas":0})");
    EXPECT_EQ(At(stopped, "reconciliationStatus/lastStableSpec"),
              At(stopped, "reconciliationStatus/lastReconciledSpec"));
    const auto snapshots = co_await blue.api->ListAll(FlinkStateSnapshots(), {.ns = "default"});
    EXPECT_EQ(snapshots->items.size(), 1U);
    EXPECT_EQ(snapshots->items[0]["spec"]["savepoint"]["path"].str(), PathOfSavepoint(stopped));
    EXPECT_TRUE(snapshots->items[0]["spec"]["savepoint"]["alreadyExists"].bool_or(false));
    EXPECT_EQ(snapshots->items[0]["metadata"]["labels"]["snapshot.trigger-type"].str(), "UPGRADE");
    co_await world.loop.Sleep(minutes(10));
    EXPECT_TRUE(co_await HasDeployment(blue));
    EXPECT_EQ(co_await PodCount(blue), 1U);  // TaskManagers go by themselves
    // An ignorable key makes it look at once; a time to live of nothing removes the JobManager then.
    co_await world.Patch(blue, "spec: {flinkConfiguration: {kubernetes.operator.jm-deployment.shutdown-ttl: 0 s}}");
    const Value gone = co_await world.Until(
        blue, [](const Value& o) { return At(o, "jobManagerDeploymentStatus") == "MISSING"; }, seconds(5));
    EXPECT_EQ(At(gone, "observedGeneration"), "3");
    EXPECT_EQ(At(gone, "lifecycleState"), "SUSPENDED");
    EXPECT_EQ(PathOfSavepoint(gone), PathOfSavepoint(stopped));
    EXPECT_EQ(co_await PodCount(blue), 0U);
    // Ignorable differences are not recorded.
    EXPECT_FALSE(
        RecordedForTest(gone)["spec"]["flinkConfiguration"].Has("kubernetes.operator.jm-deployment.shutdown-ttl"));
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    const Value again = co_await world.UntilRunning(blue);
    EXPECT_NE(At(again, "jobStatus/jobId"), At(stopped, "jobStatus/jobId"));
    EXPECT_EQ(PathOfSavepoint(again), PathOfSavepoint(stopped));
  });
}

TEST(FlinkOperatorTest, ATimeToLiveInTheSuspendRemovesTheJobManagerWithinAnInterval) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue,
                         "spec: {job: {state: suspended}, flinkConfiguration: "
                         "{kubernetes.operator.jm-deployment.shutdown-ttl: 0 s}}");
    co_await world.UntilSuspended(blue);
    const Value gone = co_await world.Until(
        blue, [](const Value& o) { return At(o, "jobManagerDeploymentStatus") == "MISSING"; }, seconds(70));
    EXPECT_EQ(At(gone, "jobStatus/state"), "FINISHED");
    EXPECT_EQ(co_await PodCount(blue), 0U);
  });
}

TEST(FlinkOperatorTest, AStatelessSuspendKeepsAStalePath) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const std::string path = PathOfSavepoint(co_await world.UntilSuspended(blue));
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {state: suspended, upgradeMode: stateless}}");
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_EQ(PathOfSavepoint(stopped), path);  // it looks like a capture, and is none
    EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), "stateless");
    EXPECT_EQ(At(stopped, "jobManagerDeploymentStatus"), "MISSING");
  });
}

TEST(FlinkOperatorTest, ASuspendOfAJobThatDoesNotRunFallsBackOrWaits) {
  for (const bool fallback : {true, false}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, Orders("{}", kHa));
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(10));
      EXPECT_TRUE(blue.cluster->RestartJobManager("default/orders").ok());
      co_await world.Until(blue, [](const Value& o) { return At(o, "jobStatus/state") == "RECONCILING"; });
      co_await world.Patch(blue, StrCat("spec: {job: {state: suspended}, flinkConfiguration: "
                                        "{kubernetes.operator.job.upgrade.last-state-fallback.enabled: '",
                                        fallback, "'}}"));
      const Value stopped = co_await world.UntilSuspended(blue);
      EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), fallback ? "last-state" : "savepoint");
      EXPECT_EQ(PathOfSavepoint(stopped).starts_with("s3://bucket/savepoints/"), !fallback);
    });
  }
}

TEST(FlinkOperatorTest, ACancelledSuspendHangsUpTo115) {
  for (const OperatorVersion version : {OperatorVersion::kV1x15, OperatorVersion::kV1x16}) {
    InPractice(1, [=](PracticeWorld& world) -> rt::Task<void> {
      world.options.flink.version = version;
      Member& blue = *co_await world.Add("blue");
      co_await world.Create(blue, Orders("{upgradeMode: last-state}"));
      co_await world.UntilRunning(blue);
      co_await world.loop.Sleep(seconds(12));
      co_await world.Patch(blue, "spec: {job: {state: suspended}}");
      co_await world.Until(blue, [](const Value& o) { return At(o, "jobStatus/state") == "CANCELED"; });
      co_await world.loop.Sleep(minutes(5));
      const Value stopped = co_await world.Get(blue);
      const bool fixed = version == OperatorVersion::kV1x16;
      EXPECT_EQ(At(stopped, "lifecycleState"), fixed ? "SUSPENDED" : "UPGRADING");
      EXPECT_EQ(At(stopped, "observedGeneration"), fixed ? "2" : "1");
      EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["state"].str(), "suspended");
      EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), "savepoint");
      EXPECT_NE(PathOfSavepoint(stopped).find("/chk-"), std::string::npos);  // a checkpoint: older than the stop
    });
  }
}

TEST(FlinkOperatorTest, AFailedJobIsSuspendedWithItsLastCheckpoint) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(12));
    EXPECT_TRUE(blue.cluster->FailJob("default/orders").ok());
    const Value failed =
        co_await world.Until(blue, [](const Value& o) { return At(o, "jobStatus/state") == "FAILED"; });
    EXPECT_EQ(At(failed, "lifecycleState"), "FAILED");
    EXPECT_NE(PathOfSavepoint(failed).find("/chk-"), std::string::npos);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const Value stopped = co_await world.UntilSuspended(blue);
    EXPECT_EQ(RecordedForTest(stopped)["spec"]["job"]["upgradeMode"].str(), "savepoint");
    EXPECT_EQ(PathOfSavepoint(stopped), PathOfSavepoint(failed));
    EXPECT_EQ(At(stopped, "jobStatus/state"), "FINISHED");
  });
}

TEST(FlinkOperatorTest, APathIsReadOnlyAtTheFirstDeploymentUnlessANonceChanges) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(seconds(10));
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    const std::string path = PathOfSavepoint(co_await world.UntilSuspended(blue));
    co_await world.Patch(blue, "spec: {job: {state: running}}");
    const std::string job = At(co_await world.UntilRunning(blue), "jobStatus/jobId");
    co_await world.Patch(blue, StrCat("spec: {job: {initialSavepointPath: '", path, "x'}}"));
    co_await world.loop.Sleep(minutes(2));
    const Value same = co_await world.Get(blue);
    EXPECT_EQ(At(same, "jobStatus/jobId"), job);
    EXPECT_EQ(At(same, "observedGeneration"), StrCat(same["metadata"]["generation"].int_or(0)));
    co_await world.Patch(blue, StrCat("spec: {job: {initialSavepointPath: '", path, "', savepointRedeployNonce: 1}}"));
    const Value redeployed = co_await world.Until(
        blue, [&](const Value& o) { return At(o, "jobStatus/jobId") != job && At(o, "jobStatus/state") == "RUNNING"; });
    EXPECT_EQ(PathOfSavepoint(redeployed), path);
    EXPECT_EQ(At(redeployed, "lifecycleState"), "STABLE");
    EXPECT_GT((co_await world.Judged()).reprocessed, 0U);  // a rewind, as asked for
    // And held: the path is recorded, and a plain resume goes from there.
    co_await world.Patch(blue, "spec: {job: {state: suspended, savepointRedeployNonce: 2}}");
    const Value held = co_await world.UntilSuspended(blue);
    EXPECT_EQ(PathOfSavepoint(held), path);
    EXPECT_EQ(At(held, "jobManagerDeploymentStatus"), "MISSING");
  });
}

TEST(FlinkOperatorTest, AnInvalidSpecIsToldAndTheOldOneGoneOnWith) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Value wrong = Orders("{state: suspended}");
    wrong.Edit("spec").Edit("flinkConfiguration").Erase("execution.checkpointing.savepoint-dir");
    co_await world.Create(blue, wrong);
    const Value refused = co_await world.Until(blue, [](const Value& o) { return At(o, "error") != "-"; });
    EXPECT_EQ(At(refused, "lifecycleState"), "FAILED");  // found while it is still held
    EXPECT_NE(At(refused, "error").find("Job could not be upgraded with savepoint"), std::string::npos);
    co_await world.Patch(blue,
                         "spec: {job: {state: running}, flinkConfiguration: "
                         "{execution.checkpointing.savepoint-dir: 's3://bucket/savepoints'}}");
    const Value running = co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {flinkVersion: v9_9, job: {state: suspended}}");
    co_await world.loop.Sleep(minutes(2));
    const Value kept = co_await world.Get(blue);
    EXPECT_EQ(At(kept, "jobStatus/state"), "RUNNING");
    EXPECT_EQ(At(kept, "lifecycleState"), "STABLE");
    EXPECT_EQ(At(kept, "observedGeneration"), At(running, "observedGeneration"));
    EXPECT_NE(At(kept, "error").find("v9_9"), std::string::npos);
  });
}

TEST(FlinkOperatorTest, ASessionClusterIsAJobManagerThatRunsNothing) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Value session = FromYaml(kOrders);
    session.Edit("spec").Erase("job");
    co_await world.Create(blue, session);
    const auto stable = [](const Value& o) {
      return At(o, "lifecycleState") == "STABLE" && o["status"]["observedGeneration"] == o["metadata"]["generation"];
    };
    const Value first = co_await world.Until(blue, stable);
    EXPECT_EQ(At(first, "jobManagerDeploymentStatus"), "READY");
    EXPECT_EQ(At(first, "jobStatus/state"), "-");
    EXPECT_EQ(co_await PodCount(blue), 1U);
    co_await world.Patch(blue, "spec: {flinkConfiguration: {a: b}}");
    const Value second = co_await world.Until(blue, stable);
    EXPECT_EQ(At(second, "observedGeneration"), "2");
    co_await world.Patch(blue, "spec: {job: {}}");
    co_await world.loop.Sleep(minutes(2));
    EXPECT_NE(At(co_await world.Get(blue), "error").find("Cannot switch from session"), std::string::npos);
  });
}

// The status as the versions of the operator tell it: facts/flink.md 1.4.
TEST(FlinkOperatorTest, EachVersionTellsWhatItTells) {
  for (auto minor = static_cast<int>(OperatorVersion::kV1x10); minor <= static_cast<int>(OperatorVersion::kV1x16);
       ++minor) {
    for (const bool snapshot_objects : {true, false}) {
      InPractice(1, [&](PracticeWorld& world) -> rt::Task<void> {
        const std::string what = StrCat("1.", minor, snapshot_objects ? "" : " without snapshot objects");
        world.options.flink.version = static_cast<OperatorVersion>(minor);
        Member& blue = *co_await world.Add("blue");
        co_await world.Create(
            blue, Orders("{}", StrCat("{kubernetes.operator.snapshot.resource.enabled: '", snapshot_objects, "'}")));
        const Value running = co_await world.UntilRunning(blue);
        EXPECT_EQ(At(running, "conditions") != "-", minor >= 15) << what;
        co_await world.Patch(blue, "spec: {job: {state: suspended}}");
        const Value stopped = co_await world.UntilSuspended(blue);
        EXPECT_TRUE(PathOfSavepoint(stopped).starts_with("s3://bucket/savepoints/")) << what;
        const bool also_in_info = minor == 12 || (minor >= 13 && !snapshot_objects);
        EXPECT_EQ(At(stopped, "jobStatus/savepointInfo/lastSavepoint/location"),
                  also_in_info ? PathOfSavepoint(stopped) : "-")
            << what;
        EXPECT_EQ(At(stopped, "jobStatus/savepointInfo/lastSavepoint/triggerType"), also_in_info ? "UPGRADE" : "-")
            << what;
        const auto snapshots = co_await blue.api->ListAll(FlinkStateSnapshots(), {.ns = "default"});
        EXPECT_EQ(snapshots->items.size(), snapshot_objects ? 1U : 0U) << what;
        co_await world.Patch(blue, "spec: {job: {state: running}}");
        co_await world.UntilRunning(blue);
        bool deleting = false;
        EXPECT_TRUE((co_await blue.api->Delete(FlinkDeployments(), {"default", "orders"})).ok());
        for (Value left = co_await world.Get(blue); !left.is_null(); left = co_await world.Get(blue)) {
          deleting |= At(left, "lifecycleState") == "DELETING";
          co_await world.loop.Sleep(milliseconds(1));
        }
        EXPECT_EQ(deleting, minor >= 11) << what;
      });
    }
  }
}

// The wishes of a person, as annotations; and that the jar is not what runs is told in an event.
TEST(FlinkOperatorTest, AnnotationsSayWhatThePracticeJobDoes) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Value orders = Orders();
    orders.Edit("metadata")
        .Set("annotations", FromYaml("{practice.baton.io/rate: '50', practice.baton.io/keys: '3', "
                                     "practice.baton.io/partitions: '5', practice.baton.io/start-time: 40 s, "
                                     "practice.baton.io/stop-time: 30 s, practice.baton.io/sink: at-least-once}"));
    const MonotonicTime created = world.loop.Now();
    co_await world.Create(blue, orders);
    co_await world.UntilRunning(blue);
    EXPECT_GT(world.loop.Now() - created, seconds(40));
    co_await world.loop.Sleep(seconds(22));
    const std::string source = *co_await world.files.ReadAll(world.storage.SourceLog({"default", "orders"}));
    EXPECT_TRUE(source.starts_with("practice-source 1 5 3\n")) << source.substr(0, 100);
    const uint64_t in = (co_await world.Judged()).in;
    co_await world.loop.Sleep(seconds(20));
    EXPECT_NEAR(static_cast<double>((co_await world.Judged()).in - in), 1000, 60);
    // A sink that is not exactly-once has its rows at once, and again those since the last checkpoint.
    EXPECT_TRUE(blue.cluster->RestartJobManager("default/orders").ok());
    co_await world.loop.Sleep(minutes(2));
    EXPECT_GT((co_await world.Judged()).duplicated, 0U);
    co_await world.UntilRunning(blue);
    const MonotonicTime asked = world.loop.Now();
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    co_await world.UntilSuspended(blue);
    EXPECT_GT(world.loop.Now() - asked, seconds(30));
    const kube::Resource events{.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
    const auto told = co_await blue.api->ListAll(events, {.ns = "default"});
    EXPECT_TRUE(std::ranges::any_of(told->items, [](const Value& event) {
      return event["reason"].str() == "PracticeJob" &&
             event["message"].str().find("in place of local:///opt/orders.jar runs the practice job") !=
                 std::string_view::npos;
    }));
  });
}

TEST(FlinkOperatorTest, DeletionTakesEverythingButTheSavepoints) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, Orders());
    co_await world.UntilRunning(blue);
    EXPECT_TRUE((co_await blue.api->Delete(FlinkDeployments(), {"default", "orders"})).ok());
    co_await world.Until(blue, [](const Value& o) { return o.is_null(); });
    EXPECT_FALSE(co_await HasDeployment(blue));
    EXPECT_EQ(co_await PodCount(blue), 0U);
    EXPECT_EQ(blue.cluster->job_managers().Find("default/orders"), nullptr);
    const JudgeReport report = co_await world.Judged();
    EXPECT_EQ(report.writers.at(0).end, "CANCELED") << report.Text();
  });
}

}  // namespace
}  // namespace baton::practice
