// Thousands of mixed requests and watches through the whole backend, on the virtual loop: what watchers saw adds up to
// what is stored, and one seed gives one history, to the byte.
#include <map>

#include "apiserver/backend_for_test.h"
#include "base/hash.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

constexpr int kClients = 8;
constexpr int kRequestsPerClient = 250;
constexpr int kWatchers = 6;
constexpr int kNames = 12;

// What one watcher believes there is, and every event it was told, as text.
struct Mirror {
  std::map<std::string, std::string> objects;  // bytes by namespace/name
  std::string history;
  Revision position;
  int relists = 0;
};

std::string KeyOf(const Value& object) {
  return StrCat(object["metadata"]["namespace"].str(), "/", object["metadata"]["name"].str());
}

void Take(World& world, Mirror& mirror, const WatchEvent& event) {
  if (event.object.bytes == nullptr) return;
  const std::string key = KeyOf(world.core.Decode(event.object.bytes));
  // Revisions never go back, and an object is added once, changed while it is there, and deleted once.
  EXPECT_GE(event.object.revision, mirror.position);
  mirror.position = event.object.revision;
  EXPECT_EQ(mirror.objects.contains(key), event.type != EventType::kAdded) << key;
  if (event.type == EventType::kDeleted) {
    mirror.objects.erase(key);
  } else {
    mirror.objects[key] = *event.object.bytes;
  }
  StrAppend(mirror.history, static_cast<int>(event.type), *event.object.bytes, "\n");
}

// List, then watch from there, again and again: connections break at random.
rt::Task<void> Watch(World& world, Selection selection, Mirror& mirror, const bool& stop) {
  rt::Loop& loop = world.core.loop();
  while (!stop) {
    const Result<Listed> listed = co_await world.core.List(world.Of("", "configmaps", ""), {.selection = selection});
    EXPECT_EQ(Outcome(listed), "OK");
    mirror.objects.clear();
    for (const Object& item : listed->items) mirror.objects[KeyOf(world.core.Decode(item.bytes))] = *item.bytes;
    mirror.position = listed->revision;
    ++mirror.relists;
    std::string from = VersionText(listed->revision);
    const int64_t reconnects = loop.random().Between(1, 5);
    for (int64_t i = 0; i < reconnects && !stop; ++i) {
      auto watcher =
          world.core.Watch(world.Of("", "configmaps", ""), {.selection = selection, .resource_version = from});
      EXPECT_EQ(Outcome(watcher), "OK");
      if (!watcher.ok()) co_return;
      const int64_t batches = loop.random().Between(1, 40);
      for (int64_t j = 0; j < batches; ++j) {
        const auto events = co_await (*watcher)->Next();
        if (!events.ok()) co_return;
        for (const WatchEvent& event : *events) Take(world, mirror, event);
      }
      from = VersionText((*watcher)->position());
    }
  }
}

// Conflicts, misses and refusals are part of the game: what counts is what watchers and the store say afterwards.
rt::Task<void> Request(World& world, rt::Random& random) {
  const std::string name = StrCat("c", random.Below(kNames));
  const std::string ns = random.Chance(0.5) ? "default" : "kube-public";
  const Target collection = world.Of("", "configmaps", ns);
  const Target one = world.Of("", "configmaps", ns, name);
  const std::string label = random.Chance(0.5) ? "blue" : "green";
  const std::string number = std::to_string(random.Below(5));
  switch (random.Below(8)) {
    case 0:
    case 1:
      (void)co_await world.Create(collection, StrCat("{metadata: {name: ", name, ", labels: {color: ", label,
                                                     "}}, data: {n: '", number, "'}}"));
      break;
    case 2:
      (void)co_await world.Patch(one, PatchType::kMerge,
                                 StrCat("{metadata: {labels: {color: ", label, "}}, data: {n: '", number, "'}}"));
      break;
    case 3:
      (void)co_await world.Patch(one, PatchType::kApply,
                                 StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: ", name,
                                        ", labels: {color: ", label, "}}, data: {a", number, ": x}}"),
                                 {.field_manager = StrCat("m", number), .force = random.Chance(0.5)});
      break;
    case 4: {
      Value object = world.Live(one);
      if (object.is_null()) break;
      co_await world.core.loop().Sleep(milliseconds(random.Below(3)));
      object.Edit("data").Set("n", number);
      (void)co_await world.Update(one, object);
      break;
    }
    case 5:
      (void)co_await world.Patch(
          one, PatchType::kMerge,
          random.Chance(0.5) ? "metadata: {finalizers: [x.io/hold]}" : "metadata: {finalizers: null}");
      break;
    case 6:
      (void)co_await world.Delete(one);
      break;
    default: {
      const Result<Listed> page = co_await world.core.List(collection, {.selection = {}, .limit = 3});
      EXPECT_EQ(Outcome(page), "OK");
    }
  }
}

struct Outcomes {
  std::string digest;  // of everything that was told and stored
  size_t stored = 0;
  size_t told = 0;
};

Outcomes RunSeed(uint64_t seed) {
  Outcomes outcomes;
  InWorld(seed, [&](World& world) -> rt::Task<void> {
    std::vector<Mirror> mirrors(kWatchers);
    std::vector<Selection> selections(kWatchers);
    for (int i = 0; i < kWatchers; ++i) {
      const char* color = i % 3 == 0 ? "" : (i % 3 == 1 ? "color=blue" : "color!=blue");
      selections[static_cast<size_t>(i)] = *ParseSelection(*world.Type("", "configmaps"), color, "");
    }
    bool stop = false;
    rt::Scope watching(world.core.loop());
    for (size_t i = 0; i < kWatchers; ++i) watching.Spawn(Watch(world, selections[i], mirrors[i], stop));
    rt::Scope working(world.core.loop());
    for (int client = 0; client < kClients; ++client) {
      working.Spawn(rt::Do([&world]() -> rt::Task<void> {
        rt::Random& random = world.core.loop().random();
        for (int i = 0; i < kRequestsPerClient; ++i) {
          co_await Request(world, random);
          co_await world.core.loop().Sleep(microseconds(random.Below(500)));
        }
      }));
    }
    co_await working.Join();
    co_await world.core.loop().Sleep(seconds(1));  // virtual: until nothing is on its way any more
    std::string all;
    for (size_t i = 0; i < kWatchers; ++i) {
      const Result<Listed> now = co_await world.core.List(world.Of("", "configmaps", ""), {.selection = selections[i]});
      std::map<std::string, std::string> stored;
      for (const Object& item : now->items) stored[KeyOf(world.core.Decode(item.bytes))] = *item.bytes;
      EXPECT_EQ(mirrors[i].objects, stored) << "watcher " << i;
      outcomes.stored += stored.size();
      outcomes.told += mirrors[i].history.size();
      StrAppend(all, mirrors[i].history, "--\n");
    }
    watching.CancelAll();
    outcomes.digest = Sha256Hex(StrCat(all, world.core.store().revision().value()));
  });
  return outcomes;
}

TEST(CoreRandomTest, WatchersSeeExactlyWhatIsStoredInManyWorlds) {
  size_t stored = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcomes outcomes = RunSeed(seed);
    EXPECT_GT(outcomes.told, 100'000U) << seed;
    stored += outcomes.stored;
  }
  EXPECT_GT(stored, 0U);
}

TEST(CoreRandomTest, OneSeedIsOneHistoryToTheByte) {
  EXPECT_EQ(RunSeed(42).digest, RunSeed(42).digest);
  EXPECT_NE(RunSeed(42).digest, RunSeed(43).digest);
}

}  // namespace
}  // namespace baton::apiserver
