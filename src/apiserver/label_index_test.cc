#include "apiserver/label_index.h"

#include <algorithm>
#include <set>

#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

Selection Of(const World& world, std::string_view labels, std::string_view fields = {}) {
  Result<Selection> selection = ParseSelection(*world.Type("", "configmaps"), labels, fields);
  EXPECT_EQ(Outcome(selection), "OK");
  return *selection;
}

std::string NamesOf(World& world, const std::vector<Object>& items) {
  std::string names;
  for (const Object& item : items) {
    const Value object = world.core.Decode(item.bytes);
    StrAppend(names, object["metadata"]["namespace"].str(), "/", object["metadata"]["name"].str(), "@",
              item.revision.value(), " ");
  }
  return names;
}

// What a list by label must give: everything, looked through.
rt::Task<std::string> LookedThrough(World& world, std::string ns, Selection selection) {
  const Result<Listed> all = co_await world.core.List(world.Of("", "configmaps", ns), {});
  std::vector<Object> chosen;
  for (const Object& item : all->items) {
    if (Selects(selection, world.core.Decode(item.bytes))) chosen.push_back(item);
  }
  co_return NamesOf(world, chosen);
}

rt::Task<void> Change(World& world, int step) {
  rt::Loop& loop = world.core.loop();
  const auto pick = [&loop](int below) { return loop.random().Between(0, below - 1); };
  const Target target = world.Of("", "configmaps", pick(2) == 0 ? "default" : "kube-system", StrCat("m", pick(20)));
  const std::string labels =
      pick(4) == 0 ? std::string() : StrCat("labels: {app: a", pick(3), ", tier: t", pick(2), "}, ");
  if (pick(3) == 0) {
    (void)co_await world.Delete(target);
  } else if (world.Live(target).is_null()) {
    (void)co_await world.Create(target, StrCat("{metadata: {", labels, "name: ", target.name, "}}"));
  } else {
    Value next = world.Live(target);
    next.Edit("metadata").Erase("labels");
    const Value wanted = FromYaml(StrCat("{", labels, "x: 1}"));
    if (wanted.Has("labels")) next.Edit("metadata").Set("labels", wanted["labels"]);
    next.Set("data", json::Object({{"step", StrCat(step)}}));
    (void)co_await world.Update(target, next);
  }
}

TEST(LabelIndexTest, AListByLabelIsWhatLookingThroughAllGives) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    InWorld(seed, [&](World& world) -> rt::Task<void> {
      const char* const selectors[] = {"app=a0",         "app=a1,tier=t0",     "app in (a2)", "tier=t1,app!=a0",
                                       "app=a0,app!=a0", "app=a1,app in (a2)", "app=none",    "app in (a0,a1)"};
      for (int step = 0; step < 300; ++step) {
        co_await Change(world, step);
        // Now and then the past is forgotten, so that it must begin anew.
        if (step % 37 == 0) EXPECT_TRUE((co_await world.core.store().Compact(world.core.store().revision())).ok());
        const std::string ns = step % 3 == 0 ? "" : (step % 3 == 1 ? "default" : "kube-system");
        const Selection selection =
            Of(world, selectors[step % std::size(selectors)], step % 11 == 0 ? "metadata.name=m3" : "");
        const Result<Listed> listed = co_await world.core.List(
            world.Of("", "configmaps", ns), {.selection = selection, .limit = step % 2 == 0 ? 0U : 500U});
        EXPECT_EQ(Outcome(listed), "OK");
        EXPECT_EQ(NamesOf(world, listed->items), co_await LookedThrough(world, ns, selection)) << seed << " " << step;
        EXPECT_EQ(listed->revision, world.core.store().revision());
      }
    });
  }
}

TEST(LabelIndexTest, PagesGoOnAsWithoutIt) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    for (int i = 0; i < 10; ++i) {
      const std::string name = StrCat("m", i);
      (void)co_await world.Create(world.ConfigMap(name), StrCat("{metadata: {labels: {app: a}, name: ", name, "}}"));
    }
    for (int round = 0; round < 8; ++round) {
      std::set<std::string> seen;
      ListOptions options{.selection = Of(world, "app=a"), .limit = 3};
      do {
        const Result<Listed> page = co_await world.core.List(world.Of("", "configmaps", "default"), options);
        EXPECT_LE(page->items.size(), 3U);
        for (const Object& item : page->items) seen.insert(NamesOf(world, {item}));
        options.continue_token = page->continue_token;
      } while (!options.continue_token.empty());
      EXPECT_EQ(seen.size(), 10U);
    }
  });
}

TEST(LabelIndexTest, IndexesWhatIsAskedForAgainAndReadsNothingElse) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    for (int i = 0; i < 10; ++i) {
      const std::string name = StrCat("m", i);
      (void)co_await world.Create(world.ConfigMap(name),
                                  StrCat("{metadata: {labels: {app: a", i, "}, name: ", name, "}}"));
    }
    size_t decoded = 0;
    LabelIndex index(world.core.store(), [&](const Bytes& bytes) {
      ++decoded;
      return world.core.Decode(bytes);
    });
    const std::string all = StoragePrefix(*world.Type("", "configmaps"), "");
    const Selection selection = Of(world, "app=a7");
    for (size_t i = 0; i < LabelIndex::kUsesBeforeIndexed; ++i) {
      EXPECT_FALSE(index.Find(all, all, selection.labels).has_value());
    }
    EXPECT_EQ(decoded, 0U);
    EXPECT_EQ(index.Find(all, all, selection.labels)->size(), 1U);
    const size_t once = decoded;
    EXPECT_GE(once, 10U);
    EXPECT_EQ(index.Find(all, StrCat(all, "default/"), selection.labels)->size(), 1U);
    EXPECT_EQ(index.Find(all, StrCat(all, "elsewhere/"), selection.labels)->size(), 0U);
    EXPECT_EQ(decoded, once);  // nothing was written
    (void)co_await world.Create(world.ConfigMap("again"), "{metadata: {labels: {app: a7}, name: again}}");
    EXPECT_EQ(index.Find(all, all, selection.labels)->size(), 2U);
    EXPECT_EQ(decoded, once + 1);
    // Others push it out, and it is then no longer known.
    for (size_t i = 0; i < LabelIndex::kLabelsMax; ++i) {
      (void)index.Find(all, all, Of(world, StrCat("other", i, "=1")).labels);
    }
    EXPECT_FALSE(index.Find(all, all, selection.labels).has_value());
  });
}

}  // namespace
}  // namespace baton::apiserver
