// Who may hand out which rights.
#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

rt::Task<void> MakeManager(World& world) {
  // A manager of roles in the namespace default, who may also read config maps.
  world.caller.user = {.name = "root", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
  EXPECT_EQ(Outcome(co_await world.Create(world.Of(kGroup, "roles", "default"), R"(
metadata: {name: manager}
rules:
- {apiGroups: [rbac.authorization.k8s.io], resources: [roles, rolebindings], verbs: ['get', create, update, patch]}
- {apiGroups: [''], resources: [configmaps], verbs: [get]}
)")),
            "OK");
  EXPECT_EQ(Outcome(co_await world.Create(world.Of(kGroup, "rolebindings", "default"), R"(
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}
subjects: [{kind: User, name: mia, apiGroup: rbac.authorization.k8s.io}]
)")),
            "OK");
  world.caller.user = {.name = "mia", .uid = {}, .groups = {"system:authenticated"}, .extra = {}};
}

TEST(EscalationTest, RefusesRulesThatTheWriterHasNot) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    co_await MakeManager(world);
    const Target roles = world.Of(kGroup, "roles", "default");
    EXPECT_EQ(Outcome(co_await world.Create(
                  roles, "{metadata: {name: ok}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]}")),
              "OK");
    EXPECT_EQ(
        Outcome(co_await world.Create(
            roles, "{metadata: {name: more}, rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}")),
        "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"mia\" (groups=[\"system:authenticated\"]) is "
        "attempting to grant RBAC permissions not currently held:\n"
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}");
    EXPECT_NE(Outcome(co_await world.Patch(world.Of(kGroup, "roles", "default", "ok"), PatchType::kMerge,
                                           "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")),
              "OK");
  });
}

TEST(EscalationTest, RefusesBindingsToRolesWithMoreRightsAggregatedOnesToo) {
  InWorld(2, [](World& world) -> rt::Task<void> {
    co_await MakeManager(world);
    const auto binding = [](std::string_view kind, std::string_view role) {
      return "{metadata: {generateName: b-}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " +
             std::string(kind) + ", name: " + std::string(role) +
             "}, subjects: [{kind: User, name: mia, apiGroup: rbac.authorization.k8s.io}]}";
    };
    const Target bindings = world.Of(kGroup, "rolebindings", "default");
    EXPECT_EQ(Outcome(co_await world.Create(bindings, binding("Role", "manager"))), "OK");
    for (const char* role : {"cluster-admin", "admin", "edit", "view"}) {
      EXPECT_TRUE(Outcome(co_await world.Create(bindings, binding("ClusterRole", role)))
                      .find("attempting to grant RBAC permissions not currently held") != std::string::npos)
          << role;
    }
    EXPECT_EQ(Outcome(co_await world.Create(bindings, binding("ClusterRole", "nothing"))),
              R"(clusterroles.rbac.authorization.k8s.io "nothing" not found)");
  });
}

TEST(EscalationTest, ShowsTheRulesOfAggregatedRoles) {
  InWorld(3, [](World& world) -> rt::Task<void> {
    co_await MakeManager(world);
    co_await world.Until(world.Of(kGroup, "clusterroles", "", "admin"),
                         [](const json::Value& role) { return !role["rules"].empty(); });
    EXPECT_GT(world.Live(world.Of(kGroup, "clusterroles", "", "admin"))["rules"].size(), 10U);
  });
}

TEST(EscalationTest, OnlyWhoHasAllRightsMayAggregate) {
  InWorld(4, [](World& world) -> rt::Task<void> {
    const User root = {.name = "root", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
    const User mia = {.name = "mia", .uid = {}, .groups = {"system:authenticated"}, .extra = {}};
    const Target roles = world.Of(kGroup, "clusterroles", "");
    const auto role = [&](std::string_view name) { return world.Of(kGroup, "clusterroles", "", name); };
    world.caller.user = root;
    EXPECT_EQ(Outcome(co_await world.Create(roles, R"(
metadata: {name: manager}
rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get, create, update, patch]}]
)")),
              "OK");
    EXPECT_EQ(Outcome(co_await world.Create(world.Of(kGroup, "clusterrolebindings", ""), R"(
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: User, name: mia, apiGroup: rbac.authorization.k8s.io}]
)")),
              "OK");
    constexpr std::string_view kGathers =
        "{metadata: {name: gathers}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {later: 'yes'}}]}}";
    constexpr std::string_view kWhy = "must have cluster-admin privileges to use the aggregationRule";
    world.caller.user = mia;
    EXPECT_TRUE(Outcome(co_await world.Create(roles, kGathers)).ends_with(kWhy));
    EXPECT_EQ(Outcome(co_await world.Create(roles, "{metadata: {name: empty}, rules: []}")), "OK");
    EXPECT_TRUE(Outcome(co_await world.Patch(role("empty"), PatchType::kMerge,
                                             "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"))
                    .ends_with(kWhy));
    // Nor may others' rules be given to whoever aggregates them.
    EXPECT_NE(
        Outcome(co_await world.Patch(role("cluster-admin"), PatchType::kMerge,
                                     "metadata: {labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}")),
        "OK");
    world.caller.user = root;
    EXPECT_EQ(Outcome(co_await world.Create(roles, kGathers)), "OK");
    world.caller.user = mia;
    EXPECT_TRUE(
        Outcome(co_await world.Patch(role("gathers"), PatchType::kMerge, "aggregationRule: null")).ends_with(kWhy));
  });
}

TEST(EscalationTest, RolesThatAllSelectEachOtherAreWalkedOnce) {
  InWorld(5, [](World& world) -> rt::Task<void> {
    world.caller.user = {.name = "root", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
    const Target roles = world.Of(kGroup, "clusterroles", "");
    constexpr std::string_view kCircle =
        "labels: {circle: 'yes'}}, aggregationRule: {clusterRoleSelectors: [{matchLabels: {circle: 'yes'}}]}}";
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(Outcome(co_await world.Create(roles, StrCat("{metadata: {name: c", i, ", ", kCircle))), "OK");
    }
    EXPECT_EQ(Outcome(co_await world.Create(roles,
                                            "{metadata: {name: leaf, labels: {circle: 'yes'}}, rules: [{apiGroups: "
                                            "[''], resources: [pods], verbs: [get]}]}")),
              "OK");
    co_await world.Until(world.Of(kGroup, "clusterroles", "", "c39"),
                         [](const json::Value& role) { return role["rules"].size() == 1; });
    EXPECT_EQ(world.Live(world.Of(kGroup, "clusterroles", "", "c39"))["rules"][0]["resources"][0].str(), "pods");
  });
}

}  // namespace
}  // namespace baton::apiserver
