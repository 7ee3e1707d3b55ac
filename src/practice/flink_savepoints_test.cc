// Savepoints that do not stop the job (facts/flink.md 1.1, 1.3, pitfall 16), driven through the API.
#include <gtest/gtest.h>

#include "practice/flink_operator.h"
#include "practice/world_for_test.h"

namespace baton::practice {
namespace {

Value WithConfig(std::string_view config, std::string_view job = "{}") {
  Value object = FromYaml(kOrders);
  for (const json::Member& member : FromYaml(config).members())
    object.Edit("spec").Edit("flinkConfiguration").Set(member.key(), member.value());
  for (const json::Member& member : FromYaml(job).members())
    object.Edit("spec").Edit("job").Set(member.key(), member.value());
  return object;
}

rt::Task<std::vector<Value>> Snapshots(Member& member, std::string type) {
  const auto listed =
      co_await member.api->ListAll(FlinkStateSnapshots(), {.label_selector = StrCat("snapshot.trigger-type=", type)});
  co_return listed.ok() ? listed->items : std::vector<Value>();
}

TEST(FlinkSavepointsTest, ANewNonceMakesASnapshotAndTheJobGoesOn) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, WithConfig("{}", "{savepointTriggerNonce: 1}"));
    const Value running = co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(minutes(3));
    EXPECT_TRUE((co_await Snapshots(blue, "MANUAL")).empty()) << "the nonce that it was deployed with asks for nothing";
    co_await world.Patch(blue, "spec: {job: {savepointTriggerNonce: 2}}");
    co_await world.loop.Sleep(minutes(3));
    const std::vector<Value> made = co_await Snapshots(blue, "MANUAL");
    EXPECT_EQ(made.size(), 1U);
    if (made.size() != 1) co_return;
    EXPECT_TRUE(kube::NameOf(made[0]).starts_with("orders-savepoint-manual-"));
    EXPECT_EQ(made[0]["status"]["state"].str(), "COMPLETED");
    EXPECT_TRUE(made[0]["status"]["path"].str().starts_with("s3://bucket/savepoints/savepoint-"));
    EXPECT_EQ(made[0]["metadata"]["labels"]["snapshot.type"].str(), "SAVEPOINT");
    const Value now = co_await world.UntilRunning(blue);
    EXPECT_EQ(now["status"]["jobStatus"]["jobId"], running["status"]["jobStatus"]["jobId"]);
    EXPECT_EQ(RecordedForTest(now)["spec"]["job"]["savepointTriggerNonce"].int_or(0), 2);
    EXPECT_EQ(PathOfSavepoint(now), "") << "it is no upgrade's path";
    EXPECT_TRUE((co_await world.Judged()).clean());
  });
}

TEST(FlinkSavepointsTest, TheLegacyWayTellsItInTheStatusAndDelaysASuspend) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    Value object = WithConfig("{kubernetes.operator.snapshot.resource.enabled: 'false'}");
    object.Edit("metadata").Edit("annotations").Set("practice.baton.io/state-size", "8Gi");  // takes 80 s
    co_await world.Create(blue, object);
    co_await world.UntilRunning(blue);
    co_await world.Patch(blue, "spec: {job: {savepointTriggerNonce: 7}}");
    const Value pending = co_await world.Until(
        blue, [](const Value& o) { return !o["status"]["jobStatus"]["savepointInfo"]["triggerId"].str().empty(); });
    EXPECT_EQ(pending["status"]["jobStatus"]["savepointInfo"]["triggerType"].str(), "MANUAL");
    EXPECT_EQ(pending["status"]["jobStatus"]["savepointInfo"]["triggerId"].str().size(), 32U);
    co_await world.Patch(blue, "spec: {job: {state: suspended}}");
    co_await world.loop.Sleep(seconds(30));
    EXPECT_EQ((co_await world.Get(blue))["status"]["jobStatus"]["state"].str(), "RUNNING")
        << "it waits for the savepoint";
    const Value suspended = co_await world.UntilSuspended(blue);
    const Value& info = suspended["status"]["jobStatus"]["savepointInfo"];
    EXPECT_TRUE(info["triggerId"].is_null());
    EXPECT_EQ(info["savepointHistory"].size(), 1U);
    EXPECT_EQ(info["savepointHistory"][0]["triggerNonce"].int_or(0), 7);
    EXPECT_EQ(info["savepointHistory"][0]["triggerType"].str(), "MANUAL");
    // What the suspend made is another one.
    EXPECT_NE(PathOfSavepoint(suspended), info["savepointHistory"][0]["location"].str());
    EXPECT_TRUE((co_await world.Judged()).clean());
  });
}

TEST(FlinkSavepointsTest, AFailedOneIsTold) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, WithConfig("{kubernetes.operator.snapshot.resource.enabled: 'false'}"));
    co_await world.UntilRunning(blue);
    blue.cluster->faults().fail_savepoints = 1;
    co_await world.Patch(blue, "spec: {job: {savepointTriggerNonce: 7}}");
    co_await world.loop.Sleep(minutes(3));
    const Value now = co_await world.Get(blue);
    EXPECT_TRUE(now["status"]["jobStatus"]["savepointInfo"]["lastSavepoint"].is_null());
    EXPECT_TRUE(now["status"]["jobStatus"]["savepointInfo"]["triggerId"].is_null());
    EXPECT_EQ(now["status"]["lifecycleState"].str(), "STABLE");
    const kube::Resource events{.group = "", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
    const auto listed = co_await blue.api->ListAll(events, {.ns = "default"});
    EXPECT_TRUE(listed.ok() && std::ranges::any_of(listed->items, [](const Value& event) {
                  return event["reason"].str() == "SavepointError";
                }));
  });
}

TEST(FlinkSavepointsTest, PeriodicOnesComeByThemselves) {
  InPractice(1, [](PracticeWorld& world) -> rt::Task<void> {
    Member& blue = *co_await world.Add("blue");
    co_await world.Create(blue, WithConfig("{kubernetes.operator.periodic.savepoint.interval: 2 min, "
                                           "kubernetes.operator.periodic.checkpoint.interval: 3 min}"));
    co_await world.UntilRunning(blue);
    co_await world.loop.Sleep(minutes(9));
    const std::vector<Value> made = co_await Snapshots(blue, "PERIODIC");
    size_t savepoints = 0;
    for (const Value& one : made) {
      EXPECT_EQ(one["status"]["state"].str(), "COMPLETED") << one;
      if (one["metadata"]["labels"]["snapshot.type"].str() == "SAVEPOINT") ++savepoints;
    }
    EXPECT_GE(savepoints, 3U);
    EXPECT_LE(savepoints, 4U);
    EXPECT_GE(made.size() - savepoints, 2U);
    EXPECT_TRUE((co_await world.Judged()).clean());
  });
}

}  // namespace
}  // namespace baton::practice
