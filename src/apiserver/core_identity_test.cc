// What an object is, and what the server says about it, is nobody else's to change.
#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

using json::Value;

// A mutating plugin that sets one field of metadata.
class Meddler final : public AdmissionPlugin {
 public:
  explicit Meddler(std::pair<std::string, Value>& change) : change_(change) {}
  rt::Task<Result<void>> Mutate(AdmissionRequest& request) override {
    if (!change_.first.empty() && request.type->plural == "configmaps") {
      request.object.Edit("metadata").Set(change_.first, change_.second);
    }
    co_return Result<void>();
  }

 private:
  std::pair<std::string, Value>& change_;
};

TEST(CoreIdentityTest, PluginsChangeNothingThatIsTheServers) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    std::pair<std::string, Value> change;
    world.core.AddAdmission(std::make_unique<Meddler>(change));
    constexpr std::string_view kPatch = "data: {k: v}";
    for (const char* field : {"uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"}) {
      change = {field, "2031-01-01T00:00:00Z"};
      const Target target = world.ConfigMap(ToLower(field));
      const auto made = co_await world.Create(world.ConfigMap(), StrCat("metadata: {name: ", target.name, "}"));
      EXPECT_EQ(Outcome(made), "OK") << field;
      const Value live = world.Live(target);
      EXPECT_NE(live["metadata"][field].str(), "2031-01-01T00:00:00Z");
      EXPECT_EQ(Outcome(co_await world.Patch(target, PatchType::kMerge, kPatch)), "OK") << field;
      EXPECT_EQ(world.Live(target)["data"]["k"].str(), "v");
      if (std::string_view(field) == "resourceVersion") continue;
      EXPECT_EQ(world.Live(target)["metadata"][field], live["metadata"][field]) << field;
    }
    change = {"name", "other"};
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")),
              "the name of the object (other) does not match the name on the URL (a)");
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("uid"), PatchType::kMerge, "data: {k: w}")),
              "the name of the object (other) does not match the name on the URL (uid)");
    change = {"namespace", "kube-system"};
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("uid"), PatchType::kMerge, "data: {k: w}")),
              "the namespace of the provided object does not match the namespace sent on the request");
    change = {"labels", "text"};
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("uid"), PatchType::kMerge, "data: {k: w}")),
              "Internal error occurred: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot "
              "unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string");
    change = {"labels", json::Object({{"a", "b"}})};
    EXPECT_EQ(Outcome(co_await world.Patch(world.ConfigMap("uid"), PatchType::kMerge, "data: {k: w}")), "OK");
    EXPECT_EQ(world.Live(world.ConfigMap("uid"))["metadata"]["labels"]["a"].str(), "b");
  });
}

TEST(CoreIdentityTest, CollectionsAreDeletedByTheirKeys) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    const Target elsewhere = world.Of("", "configmaps", "kube-system", "b");
    EXPECT_EQ(Outcome(co_await world.Create(world.ConfigMap(), "metadata: {name: a}")), "OK");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "configmaps", "kube-system"), "metadata: {name: b}")), "OK");
    // As if one said that it were the other.
    const auto lied = co_await world.core.Modify(world.ConfigMap("a"), [](const Value& live) {
      Value next = live;
      next.Edit("metadata").Set("namespace", "kube-system");
      next.Edit("metadata").Set("name", "b");
      return std::optional(next);
    });
    EXPECT_EQ(Outcome(lied), "OK");
    EXPECT_EQ(Outcome(co_await world.core.DeleteCollection(world.ConfigMap(), {}, {}, world.caller)), "OK");
    EXPECT_TRUE(world.Live(world.ConfigMap("a")).is_null());
    EXPECT_FALSE(world.Live(elsewhere).is_null());
    // Cluster-wide kinds have no namespace in their keys.
    EXPECT_EQ(Outcome(co_await world.Create(world.Of("", "nodes", ""), "metadata: {name: n1}")), "OK");
    EXPECT_EQ(Outcome(co_await world.core.DeleteCollection(world.Of("", "nodes", ""), {}, {}, world.caller)), "OK");
    EXPECT_TRUE(world.Live(world.Of("", "nodes", "", "n1")).is_null());
  });
}

}  // namespace
}  // namespace baton::apiserver
