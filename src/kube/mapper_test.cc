// Kinds to resources: what is known, what is asked for, what is not known.
#include "kube/mapper.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/backend_for_test.h"
#include "kube/api_for_test.h"
#include "kube/local_api.h"
#include "rt/scope.h"
#include "rt/test_support.h"
#include "rt/virtual_loop.h"
#include "rt/when.h"

namespace baton::kube {
namespace {

std::string Shown(const Result<Resource>& result) {
  return result.ok() ? StrCat(result->ToString(), " ", result->kind, result->namespaced ? " namespaced" : "")
                     : result.error().ToString();
}

ResourceInfo Info(std::string group, std::string version, std::string plural, std::string kind, bool preferred) {
  ResourceInfo info;
  info.resource = {std::move(group), std::move(version), std::move(plural), std::move(kind), true};
  info.preferred = preferred;
  return info;
}

// Answers `now` after a while.
class Served {
 public:
  explicit Served(rt::Loop& loop) : api(loop) {
    now.resources = {Info("", "v1", "pods", "Pod", true), Info("g", "v1", "things", "Thing", false),
                     Info("g", "v2", "things", "Thing", true), Info("g", "v1", "olds", "Old", false)};
    api.on_discover = [this](rt::Deadline) { return Discover(); };
  }
  rt::Task<Result<Discovered>> Discover() {
    co_await api.loop().Sleep(milliseconds(100));
    if (down) co_return UnavailableError("the connection broke");
    co_return now;
  }

  Discovered now;
  bool down = false;
  ScriptedApi api;
};

TEST(MapperTest, FindsByKindAndByPluralAndPrefersTheGroupsVersion) {
  rt::VirtualLoop loop(1);
  Served served(loop);
  Mapper mapper(served.api);
  EXPECT_EQ(Shown(loop.Run(mapper.ForKind("", "v1", "Pod"))), "pods.v1 Pod namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForKind("g", "v1", "Thing"))), "things.v1.g Thing namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForGroupKind("g", "Thing"))), "things.v2.g Thing namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForGroupKind("g", "Old"))), "olds.v1.g Old namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForResource("g", "v1", "things"))), "things.v1.g Thing namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForResource("g", "", "things"))), "things.v2.g Thing namespaced");
  EXPECT_EQ(Shown(loop.Run(mapper.ForObject(json::Object({{"apiVersion", "g/v2"}, {"kind", "Thing"}})))),
            "things.v2.g Thing namespaced");
  EXPECT_EQ(loop.Run(mapper.All())->size(), 4u);
  EXPECT_TRUE(loop.Run(mapper.Info({.group = "g", .version = "v2", .plural = "things"}))->preferred);
  EXPECT_EQ(served.api.calls, 1u);
}

TEST(MapperTest, AMissSaysWhatToDo) {
  rt::VirtualLoop loop(1);
  Served served(loop);
  Mapper mapper(served.api);
  EXPECT_EQ(Shown(loop.Run(mapper.ForKind("g", "v1", "Nope"))),
            "not_found: the server has no kind \"Nope\" in g/v1; is its CRD installed? `kubectl api-resources` shows "
            "what it has");
  EXPECT_EQ(Shown(loop.Run(mapper.ForGroupKind("h", "Nope"))),
            "not_found: the server has no kind \"Nope\" in group \"h\"; is its CRD installed? `kubectl api-resources` "
            "shows what it has");
  EXPECT_EQ(Shown(loop.Run(mapper.ForKind("g", "v3", "Thing"))),
            "not_found: the server has kind \"Thing\" not in g/v3 but in g/v2; `kubectl api-resources` shows what it "
            "has");
  EXPECT_EQ(
      Shown(loop.Run(mapper.ForResource("", "v1", "nopes"))),
      "not_found: the server has no resource \"nopes\" in v1; is its CRD installed? `kubectl api-resources` shows "
      "what it has");
  EXPECT_EQ(loop.Run(mapper.ForObject(json::Object())).error().kind(), ErrorKind::kInvalid);
}

rt::Task<void> AskInto(Mapper& mapper, std::string kind, std::vector<std::string>& answers) {
  answers.push_back(Shown(co_await mapper.ForKind("g", "v1", kind)));
}

TEST(MapperTest, MissesAskTogetherAndNotTooOften) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    rt::VirtualLoop loop(seed);
    Served served(loop);
    Mapper mapper(served.api);
    loop.Run(rt::Do([&]() -> rt::Task<void> {
      std::vector<std::string> answers;
      rt::Scope scope(loop);
      for (int i = 0; i < 10; ++i) scope.Spawn(AskInto(mapper, i % 2 == 0 ? "Thing" : "Later", answers));
      co_await scope.Join();
      EXPECT_EQ(served.api.calls, 1u);
      EXPECT_EQ(std::ranges::count(answers, "things.v1.g Thing namespaced"), 5);

      served.now.resources.push_back(Info("g", "v1", "laters", "Later", false));
      EXPECT_EQ((co_await mapper.ForKind("g", "v1", "Later")).error().kind(), ErrorKind::kNotFound);
      EXPECT_EQ(served.api.calls, 1u);
      co_await loop.Sleep(kRefreshMin);
      answers.clear();
      for (int i = 0; i < 10; ++i) scope.Spawn(AskInto(mapper, "Later", answers));
      co_await scope.Join();
      EXPECT_EQ(std::ranges::count(answers, "laters.v1.g Later namespaced"), 10);
      EXPECT_EQ(served.api.calls, 2u);
    }));
  }
}

TEST(MapperTest, InvalidateAsksAgainAlsoInTheMiddleOfAsking) {
  rt::VirtualLoop loop(1);
  Served served(loop);
  Mapper mapper(served.api);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    EXPECT_TRUE((co_await mapper.ForKind("g", "v1", "Thing")).ok());
    mapper.Invalidate();
    EXPECT_TRUE((co_await mapper.ForKind("g", "v1", "Thing")).ok());
    EXPECT_EQ(served.api.calls, 2u);

    mapper.Invalidate();
    std::vector<std::string> answers;
    rt::Scope scope(loop);
    scope.Spawn(AskInto(mapper, "Thing", answers));
    co_await loop.Sleep(milliseconds(50));
    mapper.Invalidate();
    EXPECT_TRUE((co_await mapper.ForKind("g", "v1", "Thing")).ok());
    EXPECT_EQ(served.api.calls, 4u);
    co_await scope.Join();
  }));
}

TEST(MapperTest, NotToKnowIsNotNotToHave) {
  rt::VirtualLoop loop(1);
  Served served(loop);
  Mapper mapper(served.api);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    served.down = true;
    std::vector<std::string> answers;
    rt::Scope scope(loop);
    for (int i = 0; i < 5; ++i) scope.Spawn(AskInto(mapper, "Thing", answers));
    co_await scope.Join();
    EXPECT_EQ(std::ranges::count(answers, "unavailable: asking the server what it serves: the connection broke"), 5);
    EXPECT_EQ(served.api.calls, 1u);

    // The next one asks again.
    served.down = false;
    EXPECT_TRUE((co_await mapper.ForKind("g", "v1", "Thing")).ok());

    // A group whose own server is down: what it had is still known, what is new is not.
    served.now.resources = {};
    served.now.failed_groups = {"g/v1"};
    co_await loop.Sleep(kRefreshMin);
    EXPECT_EQ(Shown(co_await mapper.ForKind("g", "v1", "Nope")),
              "unavailable: it is not known whether the server has kind \"Nope\" in g/v1: g/v1 does not answer; "
              "`kubectl get apiservices` says why");
    EXPECT_EQ((co_await mapper.ForGroupKind("g", "Nope")).error().kind(), ErrorKind::kUnavailable);
    EXPECT_EQ((co_await mapper.ForKind("h", "v1", "Nope")).error().kind(), ErrorKind::kNotFound);
    EXPECT_TRUE((co_await mapper.ForKind("g", "v1", "Thing")).ok());
    EXPECT_FALSE((co_await mapper.ForKind("g", "v2", "Thing")).ok());
  }));
}

TEST(MapperTest, ADroppedQuestionLeavesTheMapperUsable) {
  rt::VirtualLoop loop(1);
  Served served(loop);
  Mapper mapper(served.api);
  const auto dropped =
      loop.Run(rt::WithDeadline(rt::Deadline::After(loop, milliseconds(10)), "it", mapper.ForKind("g", "v1", "Thing")));
  EXPECT_EQ(dropped.error().kind(), ErrorKind::kDeadlineExceeded);
  EXPECT_TRUE(loop.Run(mapper.ForKind("g", "v1", "Thing")).ok());
}

TEST(MapperTest, MapsEverythingOfARealServer) {
  apiserver::InWorld(1, [](apiserver::World& world) -> rt::Task<void> {
    LocalApi api(world.backend);
    Mapper mapper(api);
    const auto all = co_await mapper.All();
    EXPECT_GT(all->size(), 40u);
    for (const ResourceInfo& info : *all) {
      const Resource& r = info.resource;
      EXPECT_EQ(*co_await mapper.ForKind(r.group, r.version, r.kind), r) << r.ToString();
      EXPECT_EQ(*co_await mapper.ForResource(r.group, r.version, r.plural), r) << r.ToString();
    }
    EXPECT_EQ(Shown(co_await mapper.ForGroupKind("apps", "Deployment")), "deployments.v1.apps Deployment namespaced");
  });
}

}  // namespace
}  // namespace baton::kube
