// Deletion: preconditions, finalizers, owners, namespaces.
#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

rt::Task<std::string> MakeOwned(World& world, std::string name, std::string owner, bool blocks) {
  const Value made = world.Live(world.ConfigMap(owner));
  const std::string yaml = "metadata: {name: " + name +
                           ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: " + owner +
                           ", uid: " + std::string(made["metadata"]["uid"].str()) +
                           ", blockOwnerDeletion: " + (blocks ? "true" : "false") + "}]}";
  co_return Outcome(co_await world.Create(world.ConfigMap(), yaml));
}

TEST(CoreDeleteTest, WaitsForFinalizersAndGoesWithTheLastOne) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a, finalizers: [x.io/a, x.io/b]}")),
              "OK");
    const auto deleted = co_await world.Delete(world.ConfigMap("a"));
    EXPECT_FALSE(deleted->gone);
    EXPECT_EQ(deleted->value["metadata"]["deletionTimestamp"].str(), "2030-01-01T00:00:00Z");
    EXPECT_TRUE(Outcome(co_await world.Patch(world.ConfigMap("a"), PatchType::kMerge,
                                             "metadata: {finalizers: [x.io/a, x.io/b, x.io/c]}"))
                    .find("no new finalizers can be added if the object is being deleted") != std::string::npos);
    EXPECT_EQ(
        Outcome(co_await world.Patch(world.ConfigMap("a"), PatchType::kMerge, "metadata: {finalizers: [x.io/a]}")),
        "OK");
    EXPECT_FALSE(world.Live(world.ConfigMap("a")).is_null());
    const auto last = co_await world.Patch(world.ConfigMap("a"), PatchType::kMerge, "metadata: {finalizers: null}");
    EXPECT_TRUE(last->deleted);
    EXPECT_TRUE(world.Live(world.ConfigMap("a")).is_null());
    EXPECT_EQ(Outcome(co_await world.Delete(world.ConfigMap("a"))), R"(configmaps "a" not found)");
  });
}

TEST(CoreDeleteTest, ChecksPreconditions) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")), "OK");
    EXPECT_TRUE(Outcome(co_await world.Delete(world.ConfigMap("a"), {.uid = "other"}))
                    .find("does not match the UID in record") != std::string::npos);
    EXPECT_TRUE(Outcome(co_await world.Delete(world.ConfigMap("a"), {.resource_version = "1"}))
                    .find("the ResourceVersion in the precondition (1)") != std::string::npos);
    EXPECT_FALSE(world.Live(world.ConfigMap("a")).is_null());
  });
}

TEST(CoreDeleteTest, RemovesDependentsInTheBackground) {
  InWorld(3, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: owner}")), "OK");
    EXPECT_EQ(co_await MakeOwned(world, "child", "owner", true), "OK");
    EXPECT_EQ(co_await MakeOwned(world, "grandchild", "child", true), "OK");
    EXPECT_TRUE((co_await world.Delete(world.ConfigMap("owner")))->gone);
    co_await world.Until(world.ConfigMap("grandchild"), [](const Value& live) { return live.is_null(); });
    EXPECT_TRUE(world.Live(world.ConfigMap("child")).is_null());
  });
}

TEST(CoreDeleteTest, RemovesDependentsFirstInTheForeground) {
  InWorld(4, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: owner}")), "OK");
    EXPECT_EQ(co_await MakeOwned(world, "child", "owner", true), "OK");
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("child"), PatchType::kMerge,
                                           "metadata: {finalizers: [x.io/hold]}")),
              "OK");
    const auto deleted = co_await world.Delete(world.ConfigMap("owner"), {.propagation = Propagation::kForeground});
    EXPECT_FALSE(deleted->gone);
    co_await world.Until(world.ConfigMap("child"),
                         [](const Value& live) { return !live["metadata"]["deletionTimestamp"].str().empty(); });
    EXPECT_FALSE(world.Live(world.ConfigMap("owner")).is_null());  // held by its child's finalizer
    EXPECT_EQ(
        Outcome(co_await world.Patch(world.ConfigMap("child"), PatchType::kMerge, "metadata: {finalizers: null}")),
        "OK");
    co_await world.Until(world.ConfigMap("owner"), [](const Value& live) { return live.is_null(); });
  });
}

// Found by kubectl: the collector looked at its memory of a child that it had just freed, and deleted it.
TEST(CoreDeleteTest, LeavesOrphansAloneInEveryOrderOfEvents) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    InWorld(seed, [](World& world) -> rt::Task<void> {
      EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: owner}")), "OK");
      EXPECT_EQ(co_await MakeOwned(world, "child", "owner", true), "OK");
      EXPECT_FALSE((co_await world.Delete(world.ConfigMap("owner"), {.propagation = Propagation::kOrphan}))->gone);
      co_await world.Until(world.ConfigMap("owner"), [](const Value& live) { return live.is_null(); });
      co_await world.core.loop().Sleep(seconds(1));  // virtual: until everybody has seen everything
      const Value child = world.Live(world.ConfigMap("child"));
      EXPECT_FALSE(child.is_null());
      EXPECT_TRUE(child["metadata"]["ownerReferences"].is_null());
    });
  }
}

TEST(CoreDeleteTest, KeepsADependentThatHasAnotherOwner) {
  InWorld(6, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: one}")), "OK");
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: two}")), "OK");
    EXPECT_EQ(co_await MakeOwned(world, "child", "one", true), "OK");
    const std::string uid(world.Live(world.ConfigMap("two"))["metadata"]["uid"].str());
    const std::string patch = R"([{"op":"add","path":"/metadata/ownerReferences/-","value":)"
                              R"({"apiVersion":"v1","kind":"ConfigMap","name":"two","uid":")" +
                              uid + R"("}}])";
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("child"), PatchType::kJson, patch)), "OK");
    EXPECT_TRUE((co_await world.Delete(world.ConfigMap("one")))->gone);
    co_await world.Until(world.ConfigMap("child"),
                         [](const Value& live) { return live["metadata"]["ownerReferences"].size() == 1; });
    EXPECT_EQ(world.Live(world.ConfigMap("child"))["metadata"]["ownerReferences"][0]["name"].str(), "two");
  });
}

TEST(NamespaceTest, TakesItsContentWithItAndLetsNothingNewIn) {
  InWorld(8, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "namespaces", ""), "metadata: {name: blue}")), "OK");
    const Target in_blue = world.Of("", "configmaps", "blue");
    for (const char* name : {"a", "b", "c"}) {
      EXPECT_EQ(Outcome(co_await world.Create(in_blue, std::string("metadata: {name: ") + name + "}")), "OK");
    }
    EXPECT_EQ(Outcome(co_await world.Patch(world.Of("", "configmaps", "blue", "c"), PatchType::kMerge,
                                           "metadata: {finalizers: [x.io/hold]}")),
              "OK");
    const auto deleted = co_await world.Delete(world.Of("", "namespaces", "", "blue"));
    EXPECT_FALSE(deleted->gone);
    EXPECT_EQ(deleted->value["status"]["phase"].str(), "Terminating");
    co_await world.Until(world.Of("", "configmaps", "blue", "a"), [](const Value& live) { return live.is_null(); });
    EXPECT_EQ(Outcome(co_await world.Create(in_blue, "metadata: {name: late}")),
              R"(configmaps "late" is forbidden: unable to create new content in namespace blue because it is being )"
              "terminated");
    EXPECT_EQ(Outcome(co_await world.Patch(world.Of("", "configmaps", "blue", "c"), PatchType::kMerge,
                                           "metadata: {finalizers: null}")),
              "OK");
    co_await world.Until(world.Of("", "namespaces", "", "blue"), [](const Value& live) { return live.is_null(); });
  });
}

TEST(NamespaceTest, KeepsTheOnesThatTheServerNeeds) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    EXPECT_EQ(Outcome(co_await world.Delete(world.Of("", "namespaces", "", "default"))),
              R"(namespaces "default" is forbidden: this namespace may not be deleted)");
  });
}

// Counts deletions, and refuses them as told.
class Deletions final : public AdmissionPlugin {
 public:
  struct Seen {
    size_t asked = 0;
    bool refuse = false;
  };
  explicit Deletions(Seen& seen) : seen_(seen) {}
  rt::Task<Result<void>> Validate(const AdmissionRequest& request) override {
    if (request.operation != Operation::kDelete || request.type->plural != "configmaps") co_return Result<void>();
    ++seen_.asked;
    if (seen_.refuse) co_return UnavailableError("not now");
    co_return Result<void>();
  }

 private:
  Seen& seen_;
};

// A namespace `blue` with so many config maps that a finalizer holds.
rt::Task<void> MakeHeldContent(World& world, int count) {
  EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "namespaces", ""), "metadata: {name: blue}")), "OK");
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "configmaps", "blue"),
                                            StrCat("metadata: {name: c", i, ", finalizers: [x.io/hold]}"))),
              "OK");
  }
}

std::string ConditionOf(const Value& live, std::string_view type) {
  for (const Value& condition : live["status"]["conditions"].items()) {
    if (condition["type"].str() == type) return std::string(condition["message"].str());
  }
  return "-";
}

TEST(NamespaceTest, ItsContentIsSweptOnceHoweverItGoes) {
  Deletions::Seen seen;
  InWorld(1, [&seen](World& world) -> rt::Task<void> {
    constexpr int kCount = 100;
    world.core.AddAdmission(std::make_unique<Deletions>(seen));
    co_await MakeHeldContent(world, kCount);
    const Target blue = world.Of("", "namespaces", "", "blue");
    EXPECT_EQ(Outcome(co_await world.Delete(blue)), "OK");
    const auto told = [](int left) {
      return [left](const Value& live) {
        return ConditionOf(live, "NamespaceContentRemaining") ==
               StrCat("Some resources are remaining: configmaps. has ", left, " resource instances");
      };
    };
    co_await world.Until(blue, told(kCount));
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), StrCat("metadata: {name: other", i, "}"))), "OK");
    }
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(Outcome(co_await world.Patch(world.Of("", "configmaps", "blue", StrCat("c", i)), PatchType::kMerge,
                                             "metadata: {finalizers: null}")),
                "OK");
      if (i == kCount / 2) {
        co_await world.Until(blue, told(kCount - i - 1));
        EXPECT_EQ(ConditionOf(world.Live(blue), "NamespaceFinalizersRemaining"),
                  StrCat("Some content in the namespace has finalizers remaining: x.io/hold in ", kCount - i - 1,
                         " resource instances"));
      }
    }
    co_await world.Until(blue, [](const Value& live) { return live.is_null(); });
    EXPECT_EQ(seen.asked, size_t{kCount}) << "once for each, and not again with every change";
  });
}

TEST(NamespaceTest, WhatWasRefusedIsTriedAgainWithoutAnotherChange) {
  Deletions::Seen seen;
  InWorld(2, [&seen](World& world) -> rt::Task<void> {
    world.core.AddAdmission(std::make_unique<Deletions>(seen));
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "namespaces", ""), "metadata: {name: blue}")), "OK");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "configmaps", "blue"), "metadata: {name: a}")), "OK");
    seen.refuse = true;
    const Target blue = world.Of("", "namespaces", "", "blue");
    EXPECT_EQ(Outcome(co_await world.Delete(blue)), "OK");
    co_await world.core.loop().Sleep(minutes(1));
    EXPECT_FALSE(world.Live(blue).is_null());
    EXPECT_GT(seen.asked, 5U);
    EXPECT_LT(seen.asked, 20U);
    seen.refuse = false;
    co_await world.core.loop().Sleep(minutes(1));
    EXPECT_TRUE(world.Live(blue).is_null());
  });
}

TEST(NamespaceTest, WhatCameInLateGoesToo) {
  InWorld(3, [](World& world) -> rt::Task<void> {
    co_await MakeHeldContent(world, 1);
    const Target blue = world.Of("", "namespaces", "", "blue");
    EXPECT_EQ(Outcome(co_await world.Delete(blue)), "OK");
    co_await world.Until(blue, [](const Value& live) { return ConditionOf(live, "NamespaceContentRemaining") != "-"; });
    // As one that was admitted before the namespace was on its way out.
    Value late = world.Live(world.Of("", "configmaps", "blue", "c0"));
    late.Edit("metadata").Set("name", "late");
    for (const char* field : {"finalizers", "deletionTimestamp"}) late.Edit("metadata").Erase(field);
    store::Transaction put;
    put.Put("/core/configmaps/blue/late", late.ToString());
    EXPECT_TRUE((co_await world.core.store().Commit(std::move(put))).ok());
    co_await world.Until(world.Of("", "configmaps", "blue", "late"), [](const Value& live) { return live.is_null(); });
    EXPECT_EQ(Outcome(co_await world.Patch(world.Of("", "configmaps", "blue", "c0"), PatchType::kMerge,
                                           "metadata: {finalizers: null}")),
              "OK");
    co_await world.Until(blue, [](const Value& live) { return live.is_null(); });
  });
}

}  // namespace
}  // namespace baton::apiserver
