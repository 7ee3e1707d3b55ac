// The authorizer on a store that changes.
#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

TEST(AuthorizerTest, ARightThatWasTakenAwayIsGoneHoweverMuchElseChanged) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    world.caller.user.groups = {std::string(kMastersGroup)};
    EXPECT_EQ(Outcome(co_await world.Create(world.Of(kGroup, "clusterrolebindings", ""), R"(
metadata: {name: mia-views}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, name: mia, apiGroup: rbac.authorization.k8s.io}]
)")),
              "OK");
    const User mia{.name = "mia", .uid = {}, .groups = {}, .extra = {}};
    const Attributes look{.verb = "get", .resource = "configmaps", .ns = "default", .name = "a"};
    EXPECT_TRUE(world.backend.authorizer().Authorize(mia, look).allowed);
    constexpr int kChanges = 2500;  // more than a watch hands out at once
    const Target other = world.Of(kGroup, "clusterroles", "", "edit");
    for (int i = 0; i < kChanges; ++i) {
      const auto touched = co_await world.core.Modify(other, [i](const json::Value& live) {
        json::Value next = live;
        next.Edit("metadata").Edit("annotations").Set("count", StrCat(i));
        return std::optional(next);
      });
      EXPECT_EQ(Outcome(touched), "OK");
    }
    store::Transaction gone;
    gone.Delete("/rbac.authorization.k8s.io/clusterrolebindings/mia-views");
    EXPECT_TRUE((co_await world.core.store().Commit(std::move(gone))).ok());
    EXPECT_FALSE(world.backend.authorizer().Authorize(mia, look).allowed);
  });
}

}  // namespace
}  // namespace baton::apiserver
