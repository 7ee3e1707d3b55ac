// Events: written as kubectl reads them, counted instead of repeated, limited.
#include "kube/events.h"

#include <gtest/gtest.h>

#include "kube/world_for_test.h"
#include "rt/scope.h"

namespace baton::kube {
namespace {

using json::Value;

rt::Task<std::vector<Value>> EventsOf(Api& api) {
  Result<Listed> listed = co_await api.ListAll(EventsResource());
  EXPECT_TRUE(listed.ok());
  co_return listed.ok() ? std::move(listed->items) : std::vector<Value>();
}

TEST(EventsTest, AreWrittenAboutTheObjectAndCountedWhenTheyRepeat) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    const Value about = co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "1")));
    EventRecorder events(api, "baton-test", "me");
    rt::Scope scope(api.loop());
    scope.Spawn(events.Run());
    for (int i = 0; i < 3; ++i) events.Normal(about, "Granted", "the writer is now in green");
    events.Warning(about, "Failed", "no");
    co_await api.loop().Sleep(seconds(1));
    const std::vector<Value> all = co_await EventsOf(api);
    EXPECT_EQ(all.size(), 2U);
    for (const Value& event : all) {
      EXPECT_EQ(event["involvedObject"]["uid"], about["metadata"]["uid"]);
      EXPECT_EQ(event["involvedObject"]["kind"].str(), "ConfigMap");
      EXPECT_EQ(event["source"]["component"].str(), "baton-test");
      EXPECT_EQ(event["count"].int_or(0), event["reason"].str() == "Granted" ? 3 : 1);
    }
  });
}

TEST(EventsTest, OfOneObjectAreLimitedAndComeAgainLater) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    const Value about = co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "1")));
    EventRecorder events(api, "baton-test");
    rt::Scope scope(api.loop());
    scope.Spawn(events.Run());
    for (int i = 0; i < 100; ++i) events.Normal(about, "Loop", std::to_string(i));
    co_await api.loop().Sleep(seconds(1));
    EXPECT_EQ((co_await EventsOf(api)).size(), 25U);
    EXPECT_EQ(events.dropped(), 75U);
    co_await api.loop().Sleep(seconds(301));
    events.Normal(about, "Loop", "again");
    co_await api.loop().Sleep(seconds(1));
    EXPECT_EQ((co_await EventsOf(api)).size(), 26U);
  });
}

}  // namespace
}  // namespace baton::kube
