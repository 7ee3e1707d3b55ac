// The hub's process dies and begins again: what was acknowledged is there, what was on its way is there or not, and
// whoever calls is told, or waits.
#include "sim/hub_process.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "json/yaml.h"
#include "rt/test_support.h"

namespace baton::sim {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines): awaited by the frame that they capture

using json::Value;

const kube::Resource kConfigMaps = {.group = "", .version = "v1", .plural = "configmaps", .kind = "ConfigMap"};

Value ConfigMap(const std::string& name, const std::string& text = "1") {
  return json::Object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", json::Object({{"name", name}, {"namespace", "default"}})},
                       {"data", json::Object({{"text", text}})}});
}

void Nothing(apiserver::Backend& /*backend*/) {}

void With(uint64_t seed, const std::function<rt::Task<void>(rt::VirtualLoop& loop, HubProcess& hub)>& play) {
  rt::VirtualLoop loop(seed);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    HubProcess hub(loop);
    EXPECT_TRUE((co_await hub.Start(Nothing)).ok());
    co_await loop.Sleep(seconds(1));  // its own controllers write, too
    co_await play(loop, hub);
    co_await hub.Stop();
  }));
}

TEST(HubProcessTest, WhatWasAcknowledgedIsThereAfterADeathWithItsVersion) {
  With(1, [](rt::VirtualLoop&, HubProcess& hub) -> rt::Task<void> {
    const Result<Value> made = co_await hub.api().Create(kConfigMaps, ConfigMap("a"));
    EXPECT_TRUE(made.ok());
    hub.Crash();
    EXPECT_FALSE(hub.up());
    EXPECT_TRUE((co_await hub.Start(Nothing)).ok());
    const Result<Value> found = co_await hub.api().Get(kConfigMaps, {"default", "a"});
    EXPECT_TRUE(found.ok());
    if (found.ok() && made.ok()) EXPECT_EQ(*found, *made);
    const Result<Value> next = co_await hub.api().Create(kConfigMaps, ConfigMap("b"));
    EXPECT_TRUE(next.ok());
  });
}

TEST(HubProcessTest, AWriteOnItsWayIsThereOrNotAsItIsHeldAndItsWriterIsToldNeither) {
  for (const bool keeps : {true, false}) {
    With(1, [&](rt::VirtualLoop& loop, HubProcess& hub) -> rt::Task<void> {
      rt::Scope scope(loop);
      std::optional<Result<Value>> answer;
      hub.disk().Hold(keeps);
      scope.Spawn(rt::Do([&]() -> rt::Task<void> { answer = co_await hub.api().Create(kConfigMaps, ConfigMap("a")); }));
      co_await hub.disk().WriteUnderWay();
      EXPECT_FALSE(answer.has_value());
      EXPECT_FALSE((co_await hub.api().Get(kConfigMaps, {"default", "a"})).ok()) << "what is not on disk is not seen";
      hub.Crash();
      co_await loop.Sleep(milliseconds(1));
      EXPECT_TRUE(answer.has_value() && !answer->ok() && answer->error().kind() == ErrorKind::kUnavailable);
      EXPECT_TRUE((co_await hub.Start(Nothing)).ok());
      EXPECT_EQ((co_await hub.api().Get(kConfigMaps, {"default", "a"})).ok(), keeps);
      EXPECT_EQ(hub.disk().kept(), keeps ? 1U : 0U);
      EXPECT_EQ(hub.disk().lost(), keeps ? 0U : 1U);
    });
  }
}

TEST(HubProcessTest, TheSeedSaysWhatBecomesOfAWriteThatASlowDiskHas) {
  std::set<bool> seen;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    With(seed, [&](rt::VirtualLoop& loop, HubProcess& hub) -> rt::Task<void> {
      rt::Scope scope(loop);
      hub.disk().SetSlowestSync(seconds(5));
      scope.Spawn(rt::Do([&]() -> rt::Task<void> {
        [[maybe_unused]] const auto made = co_await hub.api().Create(kConfigMaps, ConfigMap("a"));
      }));
      co_await hub.disk().WriteUnderWay();
      hub.Crash();
      hub.disk().SetSlowestSync({});
      EXPECT_TRUE((co_await hub.Start(Nothing)).ok());
      seen.insert((co_await hub.api().Get(kConfigMaps, {"default", "a"})).ok());
    });
  }
  EXPECT_EQ(seen.size(), 2U);
}

TEST(HubProcessTest, ProgramsAreRefusedAndTheirWatchesEndWhilePeopleWait) {
  With(1, [](rt::VirtualLoop& loop, HubProcess& hub) -> rt::Task<void> {
    auto watch = co_await hub.api().OpenWatch({.resource = kConfigMaps}, rt::Deadline::Never());
    EXPECT_TRUE(watch.ok());
    rt::Scope scope(loop);
    bool ended = false;
    bool seen = false;
    scope.Spawn(rt::Do([&]() -> rt::Task<void> {
      while ((co_await (*watch)->Next()).ok()) {
      }
      ended = true;
    }));
    EXPECT_TRUE((co_await hub.api().Create(kConfigMaps, ConfigMap("a"))).ok());
    hub.Crash();
    scope.Spawn(
        rt::Do([&]() -> rt::Task<void> { seen = (co_await hub.patient().Get(kConfigMaps, {"default", "a"})).ok(); }));
    co_await loop.Sleep(seconds(1));
    EXPECT_TRUE(ended);
    EXPECT_FALSE(seen);
    const Result<Value> refused = co_await hub.api().Get(kConfigMaps, {"default", "a"});
    EXPECT_TRUE(!refused.ok() && refused.error().kind() == ErrorKind::kUnavailable);
    EXPECT_TRUE((co_await hub.Start(Nothing)).ok());
    co_await loop.Sleep(milliseconds(1));
    EXPECT_TRUE(seen);
  });
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace baton::sim
