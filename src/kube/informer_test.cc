// Informer: equal to the server's list in the end, every difference told once, whatever goes wrong on the way.
#include "kube/informer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kube/faulty_api.h"
#include "kube/world_for_test.h"
#include "rt/scope.h"
#include "store/store.h"

namespace baton::kube {
namespace {

using json::Value;

// A copy kept by the handler's calls alone: whatever is lost or told twice shows in it.
class Mirror {
 public:
  Informer::Handler Handler() {
    return [this](const Value& before, const Value& now) { Take(before, now); };
  }
  const std::map<std::string, Value>& objects() const { return objects_; }

 private:
  void Take(const Value& before, const Value& now) {
    const std::string key = Name::Of(before.is_null() ? now : before).Key();
    const auto at = objects_.find(key);
    if (before.is_null()) {
      EXPECT_EQ(at, objects_.end()) << key << " came twice";
    } else {
      ASSERT_NE(at, objects_.end()) << key << " changed and was not there";
      EXPECT_EQ(at->second, before) << key << ": a change was not told";
    }
    if (now.is_null()) {
      objects_.erase(key);
    } else {
      objects_[key] = now;
    }
  }
  std::map<std::string, Value> objects_;
};

Value WithoutManagedFields(Value object) {
  object.Edit("metadata").Erase("managedFields");
  return object;
}

// Random creates, changes and deletes of a few names.
rt::Task<void> Change(Api& api, rt::SeededRandom random, int steps) {
  for (int i = 0; i < steps; ++i) {
    const std::string name = "c" + std::to_string(random.Below(8));
    const uint64_t what = random.Below(4);
    if (what == 0) {
      [[maybe_unused]] const auto gone = co_await api.Delete(kConfigMapsForTest, {"default", name});
    } else if (what == 1) {
      [[maybe_unused]] const auto made =
          co_await api.Create(kConfigMapsForTest, ConfigMapForTest(name, std::to_string(i)));
    } else {
      [[maybe_unused]] const auto changed =
          co_await api.Patch(kConfigMapsForTest, {"default", name}, PatchType::kMerge,
                             json::Object({{"data", json::Object({{"value", std::to_string(i)}})}}));
    }
    co_await api.loop().Sleep(milliseconds(random.Between(0, 2000)));
  }
}

rt::Task<void> ExpectEqualToList(Api& api, const Informer& informer, const Mirror& mirror, uint64_t seed) {
  const Result<Listed> listed = co_await api.ListAll(kConfigMapsForTest);
  EXPECT_TRUE(listed.ok());
  if (!listed.ok()) co_return;
  std::map<std::string, Value> wanted;
  for (const Value& object : listed->items) wanted[Name::Of(object).Key()] = WithoutManagedFields(object);
  EXPECT_EQ(wanted, mirror.objects()) << "seed " << seed;
  EXPECT_EQ(wanted.size(), informer.size()) << "seed " << seed;
  informer.ForEach([&](std::string_view key, const Value& object) {
    EXPECT_EQ(wanted[std::string(key)], object) << "seed " << seed;
  });
}

TEST(InformerTest, TellsWhatWasThereAndWhatComes) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("old", "1")));
    Informer informer(api, kConfigMapsForTest);
    Informer whole(api, kConfigMapsForTest, {.keep_managed_fields = true});
    Mirror mirror;
    informer.OnChange(mirror.Handler());
    rt::Scope scope(api.loop());
    scope.Spawn(informer.Run());
    scope.Spawn(whole.Run());
    EXPECT_FALSE(informer.synced());
    co_await informer.WaitSynced();
    co_await whole.WaitSynced();
    EXPECT_EQ(informer.Get("default/old")["data"]["value"].str(), "1");
    EXPECT_FALSE(informer.Get("default/old")["metadata"].Has("managedFields"));
    EXPECT_TRUE(whole.Get("default/old")["metadata"].Has("managedFields"));
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("new", "2")));
    co_await Must(api.Delete(kConfigMapsForTest, {"default", "old"}));
    co_await api.loop().Sleep(seconds(1));
    EXPECT_TRUE(informer.Get("default/old").is_null());
    EXPECT_EQ(informer.Get("default/new")["data"]["value"].str(), "2");
    EXPECT_EQ(informer.lists(), 1U);
    co_await ExpectEqualToList(api, informer, mirror, 1);
  });
}

TEST(InformerTest, FindsByIndexAsObjectsChange) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    Informer informer(api, kConfigMapsForTest);
    informer.AddIndex("value", [](const Value& object) {
      return std::vector<std::string>{std::string(object["data"]["value"].str())};
    });
    rt::Scope scope(api.loop());
    scope.Spawn(informer.Run());
    co_await informer.WaitSynced();
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "red")));
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("b", "red")));
    co_await api.loop().Sleep(seconds(1));
    EXPECT_EQ(informer.KeysByIndex("value", "red"), (std::vector<std::string>{"default/a", "default/b"}));
    co_await Must(api.Patch(kConfigMapsForTest, {"default", "a"}, PatchType::kMerge, FromYaml("data: {value: blue}")));
    co_await Must(api.Delete(kConfigMapsForTest, {"default", "b"}));
    co_await api.loop().Sleep(seconds(1));
    EXPECT_EQ(informer.KeysByIndex("value", "red"), std::vector<std::string>());
    EXPECT_EQ(informer.ByIndex("value", "blue").size(), 1U);
  });
}

TEST(InformerTest, EndsEqualToTheServerWhateverGoesWrong) {
  size_t relisted = 0;
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    WithServer(seed, [&](Api& api) -> rt::Task<void> {
      rt::SeededRandom random(seed);
      rt::SeededRandom chance = random.Fork();
      SeededFaults faults(chance, FaultMix::Swarm(chance));
      FaultyApi bad(api, faults);
      Informer informer(bad, kConfigMapsForTest);
      Mirror mirror;
      informer.OnChange(mirror.Handler());
      rt::Scope scope(api.loop());
      scope.Spawn(informer.Run());
      co_await Change(api, random.Fork(), 40);
      faults.Stop();
      co_await informer.WaitSynced();
      co_await api.loop().Sleep(minutes(2));
      co_await ExpectEqualToList(api, informer, mirror, seed);
      EXPECT_FALSE(informer.trouble().has_value()) << "seed " << seed;
      relisted += informer.lists() > 1 ? 1 : 0;
    });
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(relisted, 50U) << "the faults no longer make it list again: the test shows nothing";
}

TEST(InformerTest, TellsAnObjectThatWasMadeAnewInAGapAsGoneAndCome) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "1")));
    ScriptedFaults faults;
    FaultyApi bad(api, faults);
    Informer informer(bad, kConfigMapsForTest);
    std::vector<std::string> told;
    informer.OnChange([&](const Value& before, const Value& now) {
      told.push_back(std::string(before.is_null() ? "came " : "went ") +
                     std::string((before.is_null() ? now : before)["data"]["value"].str()));
      EXPECT_TRUE(before.is_null() || now.is_null());
    });
    rt::Scope scope(api.loop());
    scope.Spawn(informer.Run());
    co_await informer.WaitSynced();
    faults.Add({.fault = Fault::kWatchExpired, .plural = "configmaps"});
    faults.Add({.fault = Fault::kErrorBefore, .plural = "configmaps", .hits = 3});
    co_await Must(api.Delete(kConfigMapsForTest, {"default", "a"}));
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "2")));
    co_await api.loop().Sleep(minutes(1));
    EXPECT_EQ(told, (std::vector<std::string>{"came 1", "went 1", "came 2"}));
    EXPECT_EQ(informer.lists(), 2U);
  });
}

// One address, behind which another server may stand.
class SwitchedApi final : public Api {
 public:
  explicit SwitchedApi(Api& first) : now(&first) {}

  rt::Loop& loop() override { return now->loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override {
    return now->Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override {
    return now->OpenWatch(std::move(call), deadline);
  }
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override { return now->Discover(deadline); }

  Api* now;
};

// Restored from a backup: it counts lower than what the informer has seen, some objects are older, some are gone.
TEST(InformerTest, FollowsAServerThatWentBackInTime) {
  WithServer(1, [](Api& first) -> rt::Task<void> {
    auto store = co_await store::Store::Open(first.loop(), store::MakeMemoryEngine());
    auto backend = co_await apiserver::Backend::Start(first.loop(), **store);
    {
      LocalApi restored(**backend);
      co_await Must(restored.Create(kConfigMapsForTest, ConfigMapForTest("a", "old")));
      for (int i = 0; i < 300; ++i) {
        co_await Must(first.Apply(kConfigMapsForTest, ConfigMapForTest("a", std::to_string(i))));
      }
      co_await Must(first.Create(kConfigMapsForTest, ConfigMapForTest("gone", "1")));
      SwitchedApi address(first);
      ScriptedFaults faults;
      FaultyApi api(address, faults);
      Informer informer(api, kConfigMapsForTest);
      Mirror mirror;
      informer.OnChange(mirror.Handler());
      rt::Scope scope(first.loop());
      scope.Spawn(informer.Run());
      co_await informer.WaitSynced();
      co_await first.loop().Sleep(seconds(1));
      EXPECT_EQ(informer.size(), 2U);
      const std::string before(VersionOf(informer.Get("default/a")));
      address.now = &restored;
      faults.Add({.fault = Fault::kWatchCut, .plural = "configmaps"});
      co_await Must(first.Apply(kConfigMapsForTest, ConfigMapForTest("a", "never seen")));  // ends the old watch
      co_await first.loop().Sleep(minutes(2));
      EXPECT_EQ(informer.Get("default/a")["data"]["value"].str(), "old");
      EXPECT_LT(std::stoul(std::string(VersionOf(informer.Get("default/a")))), std::stoul(before));
      co_await Must(restored.Apply(kConfigMapsForTest, ConfigMapForTest("a", "new"), {.force = true}));
      co_await Must(restored.Create(kConfigMapsForTest, ConfigMapForTest("b", "1")));
      co_await first.loop().Sleep(seconds(1));
      EXPECT_EQ(informer.Get("default/a")["data"]["value"].str(), "new");
      EXPECT_EQ(informer.lists(), 2U);
      co_await ExpectEqualToList(restored, informer, mirror, 1);
    }
    backend->reset();
    co_await (*store)->Close();
  });
}

// A server that is too busy to serve watches: it ends each after the first changes that it sent.
class BusyApi final : public Api {
 public:
  explicit BusyApi(Api& below) : below_(below) {}

  rt::Loop& loop() override { return below_.loop(); }
  rt::Task<Result<Answer>> Do(CallBox call, rt::Deadline deadline) override {
    return below_.Do(std::move(call), deadline);
  }
  rt::Task<Result<std::unique_ptr<Watch>>> OpenWatch(WatchCall call, rt::Deadline deadline) override {
    Result<std::unique_ptr<Watch>> opened = co_await below_.OpenWatch(std::move(call), deadline);
    if (!opened.ok()) co_return opened;
    co_return std::unique_ptr<Watch>(std::make_unique<ShortWatch>(*std::move(opened)));
  }
  rt::Task<Result<Discovered>> Discover(rt::Deadline deadline) override { return below_.Discover(deadline); }

 private:
  class ShortWatch final : public Watch {
   public:
    explicit ShortWatch(std::unique_ptr<Watch> below) : below_(std::move(below)) {}
    rt::Task<Result<std::vector<struct Change>>> Next() override {
      if (std::exchange(told_, true)) co_return UnavailableError("ended by the server");
      co_return co_await below_->Next();
    }

   private:
    std::unique_ptr<Watch> below_;
    bool told_ = false;
  };
  Api& below_;
};

// kube-apiserver does so when most happens: a growing pause would then stop everything for seconds.
TEST(InformerTest, OpensAWatchAgainSoonWhenTheLastOneBroughtSomething) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "0")));
    BusyApi busy(api);
    Informer informer(busy, kConfigMapsForTest);
    rt::Scope scope(api.loop());
    scope.Spawn(informer.Run());
    co_await informer.WaitSynced();
    for (int i = 1; i <= 50; ++i) {
      co_await Must(api.Apply(kConfigMapsForTest, ConfigMapForTest("a", std::to_string(i)), {.force = true}));
      co_await api.loop().Sleep(2 * kInformerRetryFirst);
      EXPECT_EQ(informer.Get("default/a")["data"]["value"].str(), std::to_string(i));
    }
    EXPECT_EQ(informer.lists(), 1U);
  });
}

TEST(InformerTest, LearnsWhatWasWrittenAndIsNotToldItAgain) {
  WithServer(1, [](Api& api) -> rt::Task<void> {
    co_await Must(api.Create(kConfigMapsForTest, ConfigMapForTest("a", "1")));
    Informer informer(api, kConfigMapsForTest);
    Mirror mirror;
    size_t told = 0;
    informer.OnChange(mirror.Handler());
    informer.OnChange([&](const Value&, const Value&) { ++told; });
    rt::Scope scope(api.loop());
    scope.Spawn(informer.Run());
    co_await informer.WaitSynced();
    const Result<Value> written =
        co_await api.Patch(kConfigMapsForTest, {"default", "a"}, PatchType::kMerge, FromYaml("data: {value: '2'}"));
    informer.Learn(*written);
    EXPECT_EQ(informer.Get("default/a")["data"]["value"].str(), "2");
    co_await api.loop().Sleep(seconds(1));
    EXPECT_EQ(told, 2U);
    co_await ExpectEqualToList(api, informer, mirror, 1);
  });
}

}  // namespace
}  // namespace baton::kube
