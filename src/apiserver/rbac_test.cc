// RBAC: what rules allow, how bindings find their subjects, aggregation, and escalation.
#include "apiserver/rbac.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/strings.h"
#include "json/parse.h"

namespace baton::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Source = RbacRules::Source;

json::Value J(std::string_view text) { return json::Parse(text).value(); }

User Jane() { return {.name = "jane", .uid = "", .groups = {"devs", "system:authenticated"}, .extra = {}}; }
User Robot(std::string_view ns, std::string_view name) {
  return {.name = StrCat("system:serviceaccount:", ns, ":", name),
          .uid = "",
          .groups = {"system:serviceaccounts", StrCat("system:serviceaccounts:", ns), "system:authenticated"},
          .extra = {}};
}

json::Value ClusterRole(std::string_view rules) { return json::Object({{"rules", J(rules)}}); }
json::Value Binding(std::string_view role_kind, std::string_view role, std::string_view subjects) {
  return json::Object({{"roleRef", json::Object({{"kind", role_kind}, {"name", role}})}, {"subjects", J(subjects)}});
}

bool RuleAllows(std::string_view rule, const Attributes& attributes) {
  RbacRules rules;
  rules.Set(Source::kClusterRole, "", "r", ClusterRole(StrCat("[", rule, "]")));
  rules.Set(Source::kClusterRoleBinding, "", "b", Binding("ClusterRole", "r", R"([{"kind":"User","name":"jane"}])"));
  return rules.Authorize(Jane(), attributes).allowed;
}

TEST(RbacTest, RulesAllowWhatKubernetesSaysTheyAllow) {
  struct Row {
    std::string_view rule;
    Attributes attributes;
    bool allowed;
  };
  const Attributes get_pod = {
      .verb = "get", .group = "", .resource = "pods", .subresource = "", .ns = "blue", .name = "p", .path = ""};
  Attributes get_log = get_pod;
  get_log.subresource = "log";
  Attributes create_pod = get_pod;
  create_pod.verb = "create";
  create_pod.name = "";
  const auto path = [](std::string_view verb, std::string_view where) {
    Attributes attributes;
    attributes.verb = verb;
    attributes.path = where;
    return attributes;
  };
  const Row rows[] = {
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})", get_pod, true},
      {R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})", get_pod, true},
      {R"({"verbs":["list"],"apiGroups":[""],"resources":["pods"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":["apps"],"resources":["pods"]})", get_pod, false},
      {R"({"verbs":["get"],"resources":["pods"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pod","podss"]})", get_pod, false},
      {R"({"verbs":["GET"],"apiGroups":[""],"resources":["pods"]})", get_pod, false},
      // Subresources are resources of their own.
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})", get_log, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]})", get_log, true},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/log"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["*/log"]})", get_log, true},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["*/log"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["*/og","*/xlog","log","/log"]})", get_log, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods/*"]})", get_log, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["*"]})", get_log, true},
      // Names.
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["q","p"]})", get_pod, true},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["q"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["*"]})", get_pod, false},
      {R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":[]})", get_pod, true},
      {R"({"verbs":["create"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p"]})", create_pod, false},
      // Paths.
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz"]})", path("get", "/healthz"), true},
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz"]})", path("post", "/healthz"), false},
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz"]})", path("get", "/healthz/etcd"), false},
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz/*"]})", path("get", "/healthz/etcd"), true},
      {R"({"verbs":["get"],"nonResourceURLs":["/healthz/*"]})", path("get", "/healthz"), false},
      {R"({"verbs":["get"],"nonResourceURLs":["/heal*"]})", path("get", "/healthz"), true},
      {R"({"verbs":["get"],"nonResourceURLs":["/heal**"]})", path("get", "/healthz"), true},
      {R"({"verbs":["*"],"nonResourceURLs":["*"]})", path("delete", "/x"), true},
      {R"({"verbs":["*"],"nonResourceURLs":["*/x"]})", path("get", "/x"), false},
      {R"({"verbs":["*"],"nonResourceURLs":["*"]})", get_pod, false},
      {R"({"verbs":["*"],"apiGroups":["*"],"resources":["*"]})", path("get", "/x"), false},
      // What is not a rule allows nothing.
      {R"(null)", get_pod, false},
      {R"({"verbs":"get","apiGroups":[""],"resources":["pods"]})", get_pod, false},
      {R"({"verbs":[1,null,"get"],"apiGroups":[""],"resources":["pods"]})", get_pod, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(RuleAllows(row.rule, row.attributes), row.allowed)
        << row.rule << " " << CannotMessage(Jane(), row.attributes);
  }
}

TEST(RbacTest, BindingsNameUsersGroupsAndServiceAccounts) {
  RbacRules rules;
  rules.Set(Source::kClusterRole, "", "reader",
            ClusterRole(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"));
  rules.Set(Source::kRole, "blue", "writer",
            ClusterRole(R"([{"verbs":["update"],"apiGroups":[""],"resources":["pods"]}])"));
  rules.Set(Source::kClusterRoleBinding, "", "all",
            Binding("ClusterRole", "reader", R"([{"kind":"Group","name":"devs"}])"));
  rules.Set(Source::kRoleBinding, "blue", "local",
            Binding("Role", "writer", R"([{"kind":"Group","name":"nobody"},{"kind":"User","name":"jane"}])"));
  rules.Set(
      Source::kRoleBinding, "blue", "robots",
      Binding("ClusterRole", "reader",
              R"([{"kind":"ServiceAccount","name":"ci"},{"kind":"ServiceAccount","name":"cd","namespace":"red"}])"));
  rules.Set(
      Source::kClusterRoleBinding, "", "robot",
      Binding("ClusterRole", "reader",
              R"([{"kind":"ServiceAccount","name":"op","namespace":"red"},{"kind":"ServiceAccount","name":"no"}])"));
  const auto ask = [&](const User& user, std::string_view verb, std::string_view ns) {
    Attributes attributes;
    attributes.verb = verb;
    attributes.resource = "pods";
    attributes.ns = ns;
    return rules.Authorize(user, attributes);
  };
  struct Row {
    User user;
    std::string_view verb;
    std::string_view ns;
    bool allowed;
    std::string_view reason;
  };
  const Row rows[] = {
      {Jane(), "get", "", true, R"(RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to Group "devs")"},
      {Jane(), "get", "red", true,
       R"(RBAC: allowed by ClusterRoleBinding "all" of ClusterRole "reader" to Group "devs")"},
      {Jane(), "update", "blue", true, R"(RBAC: allowed by RoleBinding "local/blue" of Role "writer" to User "jane")"},
      {Jane(), "update", "red", false, ""},
      {Jane(), "update", "", false, ""},
      {Robot("blue", "ci"), "get", "blue", true,
       R"(RBAC: allowed by RoleBinding "robots/blue" of ClusterRole "reader" to ServiceAccount "ci/blue")"},
      {Robot("red", "ci"), "get", "blue", false, ""},
      {Robot("red", "cd"), "get", "blue", true,
       R"(RBAC: allowed by RoleBinding "robots/blue" of ClusterRole "reader" to ServiceAccount "cd/red")"},
      {Robot("red", "cd"), "get", "", false, ""},
      {Robot("red", "op"), "get", "", true,
       R"(RBAC: allowed by ClusterRoleBinding "robot" of ClusterRole "reader" to ServiceAccount "op/red")"},
      {Robot("blue", "no"), "get", "blue", false, ""},  // a cluster-wide binding has no namespace to fall back to
      {{.name = "eve", .uid = "", .groups = {}, .extra = {}}, "get", "blue", false, ""},
      {{.name = "devs", .uid = "", .groups = {}, .extra = {}}, "get", "blue", false, ""},
      {{.name = "eve", .uid = "", .groups = {"jane"}, .extra = {}}, "update", "blue", false, ""},
      {{.name = "eve", .uid = "", .groups = {"system:masters"}, .extra = {}}, "delete", "blue", true, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.user.name, " ", row.verb, " ", row.ns));
    const Decision decision = ask(row.user, row.verb, row.ns);
    EXPECT_EQ(decision.allowed, row.allowed);
    EXPECT_EQ(decision.reason, row.reason);
  }
}

TEST(RbacTest, RolesAndBindingsComeAndGo) {
  RbacRules rules;
  Attributes get;
  get.verb = "get";
  get.resource = "pods";
  get.ns = "blue";
  const json::Value role = ClusterRole(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])");
  const json::Value binding = Binding("Role", "r", R"([{"kind":"User","name":"jane"},{"kind":"User","name":"jane"}])");
  rules.Set(Source::kRoleBinding, "blue", "b", binding);
  EXPECT_EQ(rules.Authorize(Jane(), get).reason, R"(RBAC: role.rbac.authorization.k8s.io "r" not found)");
  rules.Set(Source::kRole, "blue", "r", role);
  EXPECT_TRUE(rules.Authorize(Jane(), get).allowed);
  rules.Set(Source::kRoleBinding, "blue", "b", Binding("Role", "r", R"([{"kind":"User","name":"joe"}])"));
  EXPECT_FALSE(rules.Authorize(Jane(), get).allowed);
  rules.Set(Source::kRoleBinding, "blue", "b", Binding("Role", "r", R"([{"kind":"Martian","name":"jane"}])"));
  EXPECT_FALSE(rules.Authorize(Jane(), get).allowed);
  rules.Set(Source::kRoleBinding, "blue", "b", binding);
  EXPECT_TRUE(rules.Authorize(Jane(), get).allowed);
  rules.Set(Source::kRole, "blue", "r", json::Value());
  EXPECT_FALSE(rules.Authorize(Jane(), get).allowed);
  rules.Set(Source::kRoleBinding, "blue", "b", json::Value());
  EXPECT_EQ(rules.Authorize(Jane(), get).reason, "");
  rules.Set(Source::kRoleBinding, "blue", "b", json::Value());  // again: nothing to do

  rules.Set(Source::kClusterRoleBinding, "", "x", Binding("ClusterRole", "c", R"([{"kind":"User","name":"jane"}])"));
  rules.Set(Source::kClusterRoleBinding, "", "y", Binding("Thing", "c", R"([{"kind":"User","name":"jane"}])"));
  rules.Set(Source::kClusterRoleBinding, "", "z", Binding("ClusterRole", "c", R"([{"kind":"User","name":"jane"}])"));
  EXPECT_EQ(rules.Authorize(Jane(), get).reason,
            R"(RBAC: [clusterrole.rbac.authorization.k8s.io "c" not found, unsupported role reference kind: "Thing"])");
}

json::Value Labelled(std::string_view label, std::string_view resource) {
  json::Value role = ClusterRole(StrCat(R"([{"verbs":["get"],"apiGroups":[""],"resources":[")", resource, R"("]}])"));
  role.Edit("metadata").Edit("labels").Set(label, "true");
  return role;
}

json::Value Aggregating(std::string_view own_label, std::string_view selected) {
  json::Value role = Labelled(own_label, "stale");
  role.Set("aggregationRule", J(StrCat(R"({"clusterRoleSelectors":[{"matchLabels":{")", selected, R"(":"true"}}]})")));
  return role;
}

TEST(RbacTest, AggregatingRolesAreTheUnionOfWhatTheySelect) {
  RbacRules rules;
  // top -> middle -> (leaf, and top again: a circle).
  rules.Set(Source::kClusterRole, "", "top", Aggregating("to-middle", "to-top"));
  rules.Set(Source::kClusterRole, "", "middle", Aggregating("to-top", "to-middle"));
  rules.Set(Source::kClusterRole, "", "leaf", Labelled("to-middle", "pods"));
  rules.Set(Source::kClusterRole, "", "other", Labelled("to-nothing", "secrets"));
  rules.Set(Source::kClusterRoleBinding, "", "b", Binding("ClusterRole", "top", R"([{"kind":"User","name":"jane"}])"));
  const auto may_get = [&](std::string_view resource) {
    Attributes attributes;
    attributes.verb = "get";
    attributes.resource = resource;
    return rules.Authorize(Jane(), attributes).allowed;
  };
  EXPECT_TRUE(may_get("pods"));
  EXPECT_FALSE(may_get("secrets"));
  EXPECT_FALSE(may_get("stale"));  // rules written into an aggregating role do not count
  rules.Set(Source::kClusterRole, "", "other", Labelled("to-top", "secrets"));
  EXPECT_TRUE(may_get("secrets"));
  rules.Set(Source::kClusterRole, "", "leaf", json::Value());
  EXPECT_FALSE(may_get("pods"));
  // A selector that cannot be read, or none: nothing.
  json::Value broken = Labelled("x", "pods");
  broken.Set("aggregationRule", J(R"({"clusterRoleSelectors":[{"matchLabels":{"to-top":7}},{"matchLabel":{}}]})"));
  rules.Set(Source::kClusterRole, "", "top", broken);
  EXPECT_FALSE(may_get("secrets"));
}

TEST(RbacTest, AnAggregateIsEmptyUntilItSelectsAndRolesInNamespacesNeverAggregate) {
  RbacRules rules;
  json::Value role = Aggregating("x", "y");
  rules.Set(Source::kRole, "blue", "r", role);
  rules.Set(Source::kRoleBinding, "blue", "b", Binding("Role", "r", R"([{"kind":"User","name":"jane"}])"));
  Attributes get;
  get.verb = "get";
  get.resource = "stale";
  get.ns = "blue";
  EXPECT_TRUE(rules.Authorize(Jane(), get).allowed);
}

TEST(RbacTest, ADecisionLooksOnlyAtBindingsThatNameTheUser) {
  RbacRules rules;
  rules.Set(Source::kClusterRole, "", "r", ClusterRole(R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"));
  for (int i = 0; i < 10'000; ++i) {
    rules.Set(Source::kClusterRoleBinding, "", StrCat("b", i),
              Binding("ClusterRole", "r", StrCat(R"([{"kind":"User","name":"user)", i, R"("}])")));
    rules.Set(Source::kRoleBinding, "blue", StrCat("b", i),
              Binding("ClusterRole", "r", StrCat(R"([{"kind":"Group","name":"group)", i, R"("}])")));
  }
  const User user = {.name = "user77", .uid = "", .groups = {"group5", "group6", "group999999"}, .extra = {}};
  Attributes list;
  list.verb = "list";
  list.resource = "pods";
  list.ns = "blue";
  EXPECT_FALSE(rules.Authorize(user, list).allowed);
  EXPECT_EQ(rules.bindings_examined(), 3U);
}

TEST(RbacTest, DenialsAreInKubernetesWords) {
  const Attributes base = {
      .verb = "list", .group = "", .resource = "pods", .subresource = "", .ns = "blue", .name = "", .path = ""};
  EXPECT_EQ(CannotMessage(Jane(), base),
            R"(User "jane" cannot list resource "pods" in API group "" in the namespace "blue")");
  Attributes attributes = base;
  attributes.ns = "";
  attributes.group = "apps";
  attributes.subresource = "scale";
  EXPECT_EQ(CannotMessage(Jane(), attributes),
            R"(User "jane" cannot list resource "pods/scale" in API group "apps" at the cluster scope)");
  Attributes path;
  path.verb = "get";
  path.path = "/metrics";
  EXPECT_EQ(CannotMessage(Jane(), path), R"(User "jane" cannot get path "/metrics")");
  path.path = "/<a>&";
  EXPECT_EQ(CannotMessage(Jane(), path), R"(User "jane" cannot get path "/&lt;a&gt;&amp;")");
}

TEST(RbacTest, TellsAUserTheirRules) {
  RbacRules rules;
  rules.Set(Source::kClusterRole, "", "c", ClusterRole(R"([{"verbs":["get"],"nonResourceURLs":["/healthz"]},
                            {"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p"]}])"));
  rules.Set(Source::kRole, "blue", "r", ClusterRole(R"([{"verbs":["list"],"apiGroups":["apps"],"resources":["*"]}])"));
  rules.Set(Source::kClusterRoleBinding, "", "b", Binding("ClusterRole", "c", R"([{"kind":"User","name":"jane"}])"));
  rules.Set(Source::kRoleBinding, "blue", "b", Binding("Role", "r", R"([{"kind":"User","name":"jane"}])"));
  rules.Set(Source::kRoleBinding, "blue", "gone", Binding("Role", "none", R"([{"kind":"User","name":"jane"}])"));
  EXPECT_EQ(rules.RulesFor(Jane(), "blue"),
            J(R"({"resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p"]},
                                   {"verbs":["list"],"apiGroups":["apps"],"resources":["*"]}],
                  "nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/healthz"]}],"incomplete":false,
                  "evaluationError":"role.rbac.authorization.k8s.io \"none\" not found"})"));
  EXPECT_EQ(rules.RulesFor({.name = "eve", .uid = "", .groups = {}, .extra = {}}, "blue"),
            J(R"({"resourceRules":[],"nonResourceRules":[],"incomplete":false})"));
  EXPECT_EQ(rules.RulesFor({.name = "eve", .uid = "", .groups = {"system:masters"}, .extra = {}}, "blue"),
            J(R"({"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}],
                  "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}],"incomplete":false})"));
}

std::vector<std::string> Missing(std::string_view owned, std::string_view wanted) {
  RbacRules rules;
  rules.Set(Source::kClusterRole, "", "r", ClusterRole(owned));
  rules.Set(Source::kClusterRoleBinding, "", "b", Binding("ClusterRole", "r", R"([{"kind":"User","name":"jane"}])"));
  return rules.Missing(Jane(), "", J(wanted));
}

TEST(RbacTest, NobodyGivesAwayWhatTheyDoNotHave) {
  constexpr std::string_view kPods = R"([{"verbs":["get","list"],"apiGroups":[""],"resources":["pods"]}])";
  EXPECT_THAT(Missing(kPods, kPods), IsEmpty());
  EXPECT_THAT(Missing(kPods, "[]"), IsEmpty());
  EXPECT_THAT(Missing("[]", kPods), ElementsAre(R"({APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]})"));
  EXPECT_THAT(Missing(kPods, R"([{"verbs":["get","delete"],"apiGroups":["","apps"],"resources":["pods"]}])"),
              ElementsAre(R"({APIGroups:[""], Resources:["pods"], Verbs:["delete"]})",
                          R"({APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]})"));
  EXPECT_THAT(Missing(kPods, R"([{"verbs":["*"],"apiGroups":[""],"resources":["pods"]}])"),
              ElementsAre(R"({APIGroups:[""], Resources:["pods"], Verbs:["*"]})"));
  // One of a name is covered by all; all is not covered by one of a name.
  constexpr std::string_view kNamed =
      R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p"]}])";
  EXPECT_THAT(Missing(kPods, kNamed), IsEmpty());
  EXPECT_THAT(Missing(kNamed, kNamed), IsEmpty());
  EXPECT_THAT(Missing(kNamed, R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"),
              ElementsAre(R"({APIGroups:[""], Resources:["pods"], Verbs:["get"]})"));
  EXPECT_THAT(Missing(kNamed, R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["p","q"]}])"),
              ElementsAre(R"({APIGroups:[""], Resources:["pods"], ResourceNames:["q"], Verbs:["get"]})"));
  // Subresources and stars.
  EXPECT_THAT(Missing(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*/scale"]}])",
                      R"([{"verbs":["get"],"apiGroups":["apps"],"resources":["deployments/scale","*/scale"]}])"),
              IsEmpty());
  EXPECT_THAT(Missing(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])",
                      R"([{"verbs":["get"],"apiGroups":["*"],"resources":["*","*/scale"]}])"),
              IsEmpty());
  // Paths.
  EXPECT_THAT(
      Missing(R"([{"verbs":["get"],"nonResourceURLs":["/a/*"]}])",
              R"([{"verbs":["get","post"],"nonResourceURLs":["/a/b","/a/*","/b"]}])"),
      ElementsAre(R"({NonResourceURLs:["/a/*"], Verbs:["post"]})", R"({NonResourceURLs:["/a/b"], Verbs:["post"]})",
                  R"({NonResourceURLs:["/b"], Verbs:["get"]})", R"({NonResourceURLs:["/b"], Verbs:["post"]})"));
  RbacRules none;
  EXPECT_THAT(none.Missing({.name = "root", .uid = "", .groups = {"system:masters"}, .extra = {}}, "", J(kPods)),
              IsEmpty());
}

TEST(RbacTest, ARuleSetTooLargeToCheckCountsAsMissing) {
  json::Value list;
  for (int i = 0; i < 400; ++i) list.Push(StrCat("x", i));
  const json::Value rules =
      json::Array({json::Object({{"verbs", list}, {"apiGroups", list}, {"resources", list}, {"resourceNames", list}})});
  RbacRules all;
  all.Set(Source::kClusterRole, "", "r", ClusterRole(R"([{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}])"));
  all.Set(Source::kClusterRoleBinding, "", "b", Binding("ClusterRole", "r", R"([{"kind":"User","name":"jane"}])"));
  ASSERT_EQ(all.Missing(Jane(), "", rules).size(), 1U);
  EXPECT_THAT(all.Missing(Jane(), "", rules)[0], testing::HasSubstr("too many to be checked"));
}

void Load(RbacRules& rules, const std::vector<json::Value>& policy) {
  for (const json::Value& object : policy) {
    const bool role = object["kind"].str() == "ClusterRole";
    rules.Set(role ? Source::kClusterRole : Source::kClusterRoleBinding, "", object["metadata"]["name"].str(), object);
  }
}

TEST(BootstrapPolicyTest, GivesEachRoleItsPowers) {
  RbacRules rules;
  Load(rules, BootstrapPolicy());
  for (const std::string_view role : {"view", "edit", "admin", "cluster-admin"})
    rules.Set(Source::kRoleBinding, "blue", role,
              Binding("ClusterRole", role, StrCat(R"([{"kind":"User","name":")", role, R"("}])")));
  struct Row {
    std::string_view verb;
    std::string_view group;
    std::string_view resource;
    bool view;
    bool edit;
    bool admin;
    bool cluster_admin;
  };
  constexpr Row kRows[] = {
      {"get", "", "pods", true, true, true, true},
      {"watch", "", "configmaps", true, true, true, true},
      {"get", "", "secrets", false, true, true, true},
      {"delete", "", "pods", false, true, true, true},
      {"list", "batch", "cronjobs", true, true, true, true},
      {"update", "apps", "deployments", false, true, true, true},
      {"patch", "", "resourcequotas", false, false, false, true},
      {"create", "rbac.authorization.k8s.io", "rolebindings", false, false, true, true},
      {"create", "rbac.authorization.k8s.io", "clusterroles", false, false, false, true},
      {"get", "example.com", "widgets", false, false, false, true},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(StrCat(row.verb, " ", row.resource));
    const auto may = [&](std::string_view name) {
      Attributes attributes;
      attributes.verb = row.verb;
      attributes.group = row.group;
      attributes.resource = row.resource;
      attributes.ns = "blue";
      return rules.Authorize({.name = std::string(name), .uid = "", .groups = {}, .extra = {}}, attributes).allowed;
    };
    EXPECT_EQ(may("view"), row.view);
    EXPECT_EQ(may("edit"), row.edit);
    EXPECT_EQ(may("admin"), row.admin);
    EXPECT_EQ(may("cluster-admin"), row.cluster_admin);
  }
}

TEST(BootstrapPolicyTest, LetsEverybodyFindTheirWay) {
  RbacRules rules;
  Load(rules, BootstrapPolicy());
  struct Row {
    std::string_view group;
    std::string_view path;
    bool allowed;
  };
  constexpr Row kRows[] = {{"system:unauthenticated", "/healthz", true},
                           {"system:unauthenticated", "/version", true},
                           {"system:unauthenticated", "/apis", false},
                           {"system:authenticated", "/apis/apps/v1", true},
                           {"system:authenticated", "/openapi/v3", true},
                           {"system:authenticated", "/metrics", false},
                           {"system:monitoring", "/metrics", true},
                           {"system:serviceaccounts", "/openid/v1/jwks", true},
                           {"system:unauthenticated", "/openid/v1/jwks", false}};
  for (const Row& row : kRows) {
    Attributes get;
    get.verb = "get";
    get.path = row.path;
    const User user = {.name = "x", .uid = "", .groups = {std::string(row.group)}, .extra = {}};
    EXPECT_EQ(rules.Authorize(user, get).allowed, row.allowed) << row.group << " " << row.path;
  }
  Attributes review;
  review.verb = "create";
  review.group = "authorization.k8s.io";
  review.resource = "selfsubjectaccessreviews";
  EXPECT_TRUE(rules.Authorize(Jane(), review).allowed);
}

}  // namespace
}  // namespace baton::apiserver
