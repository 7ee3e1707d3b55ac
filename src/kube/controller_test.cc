// Controller: every key ends as it should, in spite of errors, conflicts and being stopped.
#include "kube/controller.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "kube/faulty_api.h"
#include "kube/informer.h"
#include "kube/world_for_test.h"
#include "rt/scope.h"

namespace baton::kube {
namespace {

using json::Value;

TEST(ControllerTest, DoesAKeyAgainAfterAFailureAndLaterEachTime) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    std::vector<MonotonicTime> calls;
    Controller controller(loop, "test", [&](std::string) -> rt::Task<Outcome> {
      calls.push_back(loop.Now());
      co_return calls.size() < 6 ? Outcome::Retry(UnavailableError("not yet")) : Outcome::Done();
    });
    rt::Scope scope(loop);
    scope.Spawn(controller.Run());
    controller.Add("a");
    co_await loop.Sleep(minutes(1));
    EXPECT_EQ(calls.size(), 6U);
    for (size_t i = 2; i < calls.size(); ++i) EXPECT_GT(calls[i] - calls[i - 1], calls[i - 1] - calls[i - 2]);
    EXPECT_TRUE(controller.idle());
    EXPECT_EQ(controller.failures(), 5U);
  }));
}

TEST(ControllerTest, LooksAgainWhenItSaidItWould) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    int calls = 0;
    Controller controller(loop, "test", [&](std::string) -> rt::Task<Outcome> {
      ++calls;
      co_return Outcome::WaitFor(seconds(10));
    });
    rt::Scope scope(loop);
    scope.Spawn(controller.Run());
    controller.Add("a");
    co_await loop.Sleep(seconds(35));
    EXPECT_EQ(calls, 4);
  }));
}

TEST(ControllerTest, DoesNotTryAgainWhatIsTerminal) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    int calls = 0;
    Controller controller(loop, "test", [&](std::string) -> rt::Task<Outcome> {
      ++calls;
      co_return Outcome::Terminal(InvalidError("never"));
    });
    rt::Scope scope(loop);
    scope.Spawn(controller.Run());
    controller.Add("a");
    co_await loop.Sleep(hours(1));
    EXPECT_EQ(calls, 1);
    controller.Add("a");
    co_await loop.Sleep(seconds(1));
    EXPECT_EQ(calls, 2);
  }));
}

// A small real controller: each ConfigMap "x" wants a ConfigMap "copy-x" with the same value.
class Copier {
 public:
  explicit Copier(Api& api)
      : api_(api),
        informer_(api, kConfigMapsForTest),
        controller_(api.loop(), "copier", [this](std::string key) { return Copy(std::move(key)); }) {
    informer_.OnChange([this](const Value& before, const Value& now) {
      std::string key = Name::Of(now.is_null() ? before : now).Key();
      const size_t at = key.find("copy-");
      if (at != std::string::npos) key.erase(at, 5);
      controller_.Add(key);
    });
  }
  rt::Task<void> Run() {
    rt::Scope scope(api_.loop());
    scope.Spawn(informer_.Run());
    co_await informer_.WaitSynced();
    co_await controller_.Run();
  }

 private:
  rt::Task<Outcome> Copy(std::string key) {
    const Name name = Name::FromKey(key);
    const Value original = informer_.Get(key);
    const std::string copy_name = "copy-" + name.name;
    const Value copy = informer_.Get(name.ns + "/" + copy_name);
    if (original.is_null()) {
      if (copy.is_null()) co_return Outcome::Done();
      const auto gone = co_await api_.Delete(kConfigMapsForTest, {name.ns, copy_name});
      if (!gone.ok() && gone.error().kind() != ErrorKind::kNotFound) co_return Outcome::Retry(gone.error());
      co_return Outcome::Done();
    }
    if (copy.is_null()) {
      const auto made =
          co_await api_.Create(kConfigMapsForTest, ConfigMapForTest(copy_name, original["data"]["value"].str()));
      // It may be there already: then the watch tells.
      if (!made.ok() && made.error().kind() != ErrorKind::kAlreadyExists) co_return Outcome::Retry(made.error());
      co_return Outcome::Done();
    }
    if (copy["data"] == original["data"]) co_return Outcome::Done();
    Value wanted = copy;
    wanted.Set("data", original["data"]);
    const auto written = co_await api_.Update(kConfigMapsForTest, wanted);
    co_return written.ok() ? Outcome::Done() : Outcome::Retry(written.error());
  }

  Api& api_;
  Informer informer_;
  Controller controller_;
};

TEST(ControllerTest, MakesTheWorldAsItShouldBeWhateverGoesWrongAndHoweverOftenItIsKilled) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    WithServer(seed, [&](Api& api) -> rt::Task<void> {
      rt::SeededRandom random(seed);
      rt::SeededRandom chance = random.Fork();
      SeededFaults faults(chance, FaultMix::Swarm(chance));
      FaultyApi bad(api, faults);
      auto scope = std::make_unique<rt::Scope>(api.loop());
      auto copier = std::make_unique<Copier>(bad);
      scope->Spawn(copier->Run());
      for (int i = 0; i < 25; ++i) {
        const std::string name = "c" + std::to_string(random.Below(4));
        const uint64_t what = random.Below(6);
        if (what == 0) [[maybe_unused]]
          const auto gone = co_await api.Delete(kConfigMapsForTest, {"default", name});
        if (what == 1) {
          scope.reset();  // killed
          copier = std::make_unique<Copier>(bad);
          scope = std::make_unique<rt::Scope>(api.loop());
          scope->Spawn(copier->Run());
        }
        if (what > 1) {
          Value object = ConfigMapForTest(name, std::to_string(i));
          [[maybe_unused]] const auto written = co_await api.Apply(kConfigMapsForTest, object, {.force = true});
        }
        co_await api.loop().Sleep(milliseconds(random.Between(0, 3000)));
      }
      faults.Stop();
      co_await api.loop().Sleep(minutes(30));
      std::map<std::string, std::string> originals;
      std::map<std::string, std::string> copies;
      const Result<Listed> all = co_await api.ListAll(kConfigMapsForTest);
      for (const Value& object : all->items) {
        const std::string name(NameOf(object));
        const std::string value(object["data"]["value"].str());
        if (name.starts_with("copy-")) copies[name.substr(5)] = value;
        if (name.starts_with("c") && !name.starts_with("copy-")) originals[name] = value;
      }
      EXPECT_EQ(originals, copies) << "seed " << seed;
      scope.reset();
    });
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace baton::kube
