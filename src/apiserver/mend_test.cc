// Stores that an older version wrote: they start, and what could not be read can be read, changed and deleted.
#include "apiserver/mend.h"

#include <gmock/gmock.h>

#include "apiserver/backend_for_test.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace baton::apiserver {
namespace {

using json::Value;

constexpr std::string_view kKey = "/core/configmaps/default/old";

std::string ConfigMapText(std::string_view name, std::string_view manager, std::string_view fields = "{}") {
  return StrCat(R"({"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{)",
                R"("creationTimestamp":"2030-01-01T00:00:00Z","managedFields":[{"fieldsV1":)", fields,
                R"(,"manager":")", manager, R"("}],"name":")", name,
                R"(","namespace":"default","resourceVersion":"1","uid":"u"}})");
}

rt::Task<void> Put(store::Store& store, std::string_view key, std::string text) {
  EXPECT_TRUE((co_await store.Commit(store::Transaction().Put(std::string(key), std::move(text)))).ok());
}

// Runs `test` on a store that `fill` has filled as an older version would have.
template <class Fill, class Test>
void OnOldStore(Fill fill, Test test) {
  rt::VirtualLoop loop(1);
  loop.Run(rt::Do([&]() -> rt::Task<void> {
    auto store = co_await store::Store::Open(loop, store::MakeMemoryEngine());
    co_await fill(**store);
    co_await test(loop, **store);
    co_await (*store)->Close();
  }));
}

std::string Deep(size_t levels) {
  std::string text;
  for (size_t i = 0; i < levels; ++i) text += R"({"a":)";
  return text + "1" + std::string(levels, '}');
}

TEST(MendTest, AStoreWithBadTextStartsAndWhatWasBadIsAnOrdinaryObject) {
  OnOldStore([](store::Store& store) { return Put(store, kKey, ConfigMapText("old", "curl\xff\xfe")); },
             [](rt::Loop& loop, store::Store& store) -> rt::Task<void> {
               auto backend = co_await Backend::Start(loop, store);
               EXPECT_EQ(Outcome(backend), "OK");
               if (!backend.ok()) co_return;
               EXPECT_EQ((*backend)->mended().size(), 1U);
               EXPECT_EQ((*backend)->mended().front().key, kKey);
               EXPECT_EQ((*backend)->mended().front().what, "bytes that are not UTF-8 became U+FFFD");
               World world(**backend);
               const auto listed = co_await world.core.List(world.ConfigMap(), {});
               EXPECT_EQ(listed->items.size(), 1U);
               EXPECT_TRUE(IsUtf8(*listed->items.front().bytes));
               const Value live = world.Live(world.ConfigMap("old"));
               EXPECT_EQ(live["metadata"]["managedFields"][0]["manager"].str(), "curl\xef\xbf\xbd\xef\xbf\xbd");
               EXPECT_EQ(live["metadata"]["resourceVersion"].str(), VersionText(listed->items.front().revision));
               EXPECT_EQ(live["data"]["a"].str(), "1");
               EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("old"), PatchType::kMerge, "data: {b: '2'}")),
                         "OK");
               EXPECT_EQ(Outcome(co_await world.Delete(world.ConfigMap("old"))), "OK");
             });
}

TEST(MendTest, VersionsFromBeforeCannotBeAskedFor) {
  const auto fill = [](store::Store& store) -> rt::Task<void> {
    co_await Put(store, kKey, ConfigMapText("old", "x\xff"));
    co_await Put(store, kKey, ConfigMapText("old", "fine"));
  };
  OnOldStore(fill, [](rt::Loop&, store::Store& store) -> rt::Task<void> {
    const auto mended = co_await MendStored(store);
    EXPECT_EQ(Outcome(mended), "OK");
    EXPECT_EQ(mended->size(), 0U) << "what is stored now is well";
    EXPECT_EQ(store.OpenWatch("", Revision(1)).error().kind(), ErrorKind::kGone);
  });
}

TEST(MendTest, AStoreThatIsWellIsLeftAlone) {
  const auto fill = [](store::Store& store) -> rt::Task<void> {
    co_await Put(store, kKey, ConfigMapText("old", "jos\xc3\xa9"));
    co_await Put(store, kKey, ConfigMapText("old", "x", Deep(800)));
    const std::string wide = StrCat(
        "[{}", std::string(3000, ' '),
        [] {
          std::string more;
          for (int i = 0; i < 2000; ++i) more += ",{}";
          return more;
        }(),
        "]");
    co_await Put(store, kKey, ConfigMapText("old", "x", StrCat(R"({"a":)", wide, "}")));
  };
  OnOldStore(fill, [](rt::Loop&, store::Store& store) -> rt::Task<void> {
    EXPECT_EQ((co_await MendStored(store)).value().size(), 0U);
    EXPECT_EQ(store.revision(), Revision(3));
    EXPECT_EQ(store.compacted(), Revision(0));
  });
}

TEST(MendTest, ManagedFieldsThatAreTooDeepGo) {
  OnOldStore([](store::Store& store) { return Put(store, kKey, ConfigMapText("old", "x", Deep(1100))); },
             [](rt::Loop& loop, store::Store& store) -> rt::Task<void> {
               auto backend = co_await Backend::Start(loop, store);
               EXPECT_EQ(Outcome(backend), "OK");
               if (!backend.ok()) co_return;
               World world(**backend);
               EXPECT_EQ((*backend)->mended().front().what, "managedFields, nested too deep, are gone");
               EXPECT_FALSE(world.Live(world.ConfigMap("old"))["metadata"].Has("managedFields"));
               EXPECT_EQ(world.Live(world.ConfigMap("old"))["data"]["a"].str(), "1");
             });
}

TEST(MendTest, WhatNobodyWroteIsToldAndNothingIsChanged) {
  const auto fill = [](store::Store& store) -> rt::Task<void> {
    co_await Put(store, kKey, ConfigMapText("old", "x\xff"));
    co_await Put(store, "/core/configmaps/default/torn", "{\"metadata\":\xff");
  };
  OnOldStore(fill, [](rt::Loop&, store::Store& store) -> rt::Task<void> {
    const auto mended = co_await MendStored(store);
    EXPECT_EQ(mended.error().kind(), ErrorKind::kCorrupt);
    EXPECT_THAT(mended.error().message(),
                testing::AllOf(testing::HasSubstr("'/core/configmaps/default/torn' cannot be read: line 1"),
                               testing::HasSubstr("baton restore")));
    EXPECT_EQ(store.revision(), Revision(2));
  });
}

TEST(MendTest, ManyAreMended) {
  constexpr int kMany = 250;
  const auto fill = [](store::Store& store) -> rt::Task<void> {
    for (int i = 0; i < kMany; ++i) {
      co_await Put(store, StrCat("/core/configmaps/default/m", i), ConfigMapText(StrCat("m", i), "x\xff"));
    }
  };
  OnOldStore(fill, [](rt::Loop&, store::Store& store) -> rt::Task<void> {
    EXPECT_EQ((co_await MendStored(store)).value().size(), size_t{kMany});
    EXPECT_EQ(store.revision(), Revision(kMany + 3));
    for (const store::Entry& entry : store.List("")->entries) EXPECT_TRUE(IsUtf8(*entry.value));
    EXPECT_EQ((co_await MendStored(store)).value().size(), 0U);
  });
}

}  // namespace
}  // namespace baton::apiserver
