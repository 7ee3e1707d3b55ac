#include "federation/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/strings.h"
#include "json/yaml.h"

namespace baton::federation {
namespace {

using json::Value;

Value Yaml(std::string_view text) { return json::ParseYaml(text).value(); }

const Value& Deployment() {
  static const Value object =
      Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default, labels: {app: web}}}");
  return object;
}

constexpr std::string_view kAll = "{apiVersion: apps/v1, kind: Deployment}";
constexpr std::string_view kLabel = "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: web}}}";
constexpr std::string_view kName = "{apiVersion: apps/v1, kind: Deployment, name: web}";

// "default/a" is a PropagationPolicy, "a" a ClusterPropagationPolicy. `more` is added to the spec.
PropagationPolicy Policy(std::string_view key, std::string_view selector, std::string_view more = "") {
  const size_t slash = key.find('/');
  const bool cluster_scoped = slash == std::string_view::npos;
  const std::string metadata =
      cluster_scoped
          ? StrCat("{name: ", key, ", labels: {clusterpropagationpolicy.karmada.io/permanent-id: id-", key, "}}")
          : StrCat("{namespace: ", key.substr(0, slash), ", name: ", key.substr(slash + 1),
                   ", labels: {propagationpolicy.karmada.io/permanent-id: id-", key.substr(slash + 1), "}}");
  return CompilePropagationPolicy(
             Yaml(StrCat("{kind: ", cluster_scoped ? "ClusterPropagationPolicy" : "PropagationPolicy",
                         ", metadata: ", metadata, ", spec: {resourceSelectors: [", selector, "]",
                         more.empty() ? "" : ", ", more, "}}")))
      .value();
}

PolicySet SetOf(const std::vector<PropagationPolicy>& policies) {
  PolicySet set;
  for (const PropagationPolicy& policy : policies) set.Put(policy);
  return set;
}

std::optional<Claim> ClaimedBy(std::string_view key) {
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) return Claim{.policy = {.name = std::string(key)}, .permanent_id = "id"};
  return Claim{
      .policy = {.policy_namespace = std::string(key.substr(0, slash)), .name = std::string(key.substr(slash + 1))},
      .permanent_id = "id"};
}

std::string Winner(const Decision& decision) { return decision.policy == nullptr ? "" : decision.policy->key.name; }

TEST(MatchTest, TheBestPolicyGetsAFreeTemplate) {
  struct Row {
    std::string_view why;
    std::vector<PropagationPolicy> policies;
    std::string_view winner;
  };
  const Row rows[] = {
      {"none", {}, ""},
      {"name over label over all",
       {Policy("default/a", kAll), Policy("default/b", kLabel), Policy("default/c", kName)},
       "c"},
      {"label over all", {Policy("default/a", kAll), Policy("default/b", kLabel)}, "b"},
      {"priority over closeness", {Policy("default/a", kAll, "priority: 1"), Policy("default/b", kName)}, "a"},
      {"priority may be negative", {Policy("default/a", kName, "priority: -1"), Policy("default/b", kAll)}, "b"},
      {"equal in all: the smaller name", {Policy("default/b", kName), Policy("default/a", kName)}, "a"},
      {"names by bytes", {Policy("default/b", kAll), Policy("default/a1", kAll), Policy("default/a-", kAll)}, "a-"},
      {"namespaced before cluster-scoped, whatever the priority",
       {Policy("default/a", kAll, "priority: -5"), Policy("b", kName, "priority: 100")},
       "a"},
      {"cluster-scoped when no namespaced one matches",
       {Policy("default/a", "{apiVersion: v1, kind: Pod}"), Policy("b", kAll)},
       "b"},
      {"another namespace does not count", {Policy("other/a", kName), Policy("b", kAll)}, "b"},
      {"cluster-scoped with a namespace in the selector",
       {Policy("a", "{apiVersion: apps/v1, kind: Deployment, namespace: other}"),
        Policy("b", "{apiVersion: apps/v1, kind: Deployment, namespace: default}")},
       "b"},
      {"the best selector of a policy counts",
       {Policy("default/a", kLabel), Policy("default/b", StrCat(kAll, ", ", kName))},
       "b"},
      {"a name makes the labels not count",
       {Policy("default/a", "{apiVersion: apps/v1, kind: Deployment, name: web, labelSelector: {matchLabels: {x: z}}}"),
        Policy("default/b", kLabel)},
       "a"},
      {"an empty label selector is one by label",
       {Policy("default/b", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {}}"), Policy("default/a", kAll)},
       "b"},
      {"other version", {Policy("default/a", "{apiVersion: apps/v1beta1, kind: Deployment}")}, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    const PolicySet set = SetOf(row.policies);
    const Decision decision = Match(Deployment(), set, std::nullopt);
    EXPECT_EQ(Winner(decision), row.winner);
    EXPECT_EQ(decision.outcome, row.winner.empty() ? Outcome::kNoPolicy : Outcome::kMatched);
    EXPECT_EQ(decision.refresh_binding, !row.winner.empty());
  }
}

TEST(MatchTest, APolicyBeingDeletedMatchesNothingNew) {
  PropagationPolicy deleting = Policy("default/a", kName, "priority: 9");
  deleting.deleting = true;
  EXPECT_EQ(Winner(Match(Deployment(), SetOf({deleting, Policy("default/b", kAll)}), std::nullopt)), "b");
  const Decision claimed = Match(Deployment(), SetOf({deleting, Policy("default/b", kAll)}), ClaimedBy("default/a"));
  EXPECT_EQ(claimed.outcome, Outcome::kDeleting);
  EXPECT_EQ(claimed.policy, nullptr);
}

TEST(MatchTest, AClaimedTemplateStays) {
  const PolicySet set =
      SetOf({Policy("default/a", kAll), Policy("default/b", kName, "priority: 9"), Policy("c", kName)});
  const Decision kept = Match(Deployment(), set, ClaimedBy("default/a"));
  EXPECT_EQ(kept.outcome, Outcome::kKept);
  EXPECT_EQ(Winner(kept), "a");
  // Also with a cluster-scoped policy, although a namespaced one matches too.
  EXPECT_EQ(Winner(Match(Deployment(), set, ClaimedBy("c"))), "c");
}

TEST(MatchTest, AVoidClaimIsReleased) {
  const PolicySet set = SetOf({Policy("default/other", "{apiVersion: v1, kind: Pod}"), Policy("default/b", kAll)});
  for (const std::string_view claim : {"default/gone", "gone", "default/other"}) {
    const Decision decision = Match(Deployment(), set, ClaimedBy(claim));
    EXPECT_EQ(decision.outcome, Outcome::kReleased) << claim;
    EXPECT_EQ(decision.from, ClaimedBy(claim)->policy);
    EXPECT_EQ(decision.policy, nullptr);
  }
  EXPECT_EQ(Winner(Match(Deployment(), set, std::nullopt)), "b");
}

TEST(MatchTest, PreemptionFollowsTheRules) {
  struct Row {
    std::string_view why;
    std::vector<PropagationPolicy> policies;
    std::string_view claim, winner;
    Outcome outcome;
  };
  const std::string always = "preemption: Always";
  const Row rows[] = {
      {"higher takes from lower",
       {Policy("default/a", kName, "priority: 1"), Policy("default/b", kName, always + ", priority: 2")},
       "default/a",
       "b",
       Outcome::kPreempted},
      {"equal does not",
       {Policy("default/a", kName), Policy("default/b", kName, always)},
       "default/a",
       "a",
       Outcome::kKept},
      {"lower does not",
       {Policy("default/a", kName, "priority: 3"), Policy("default/b", kName, always + ", priority: 2")},
       "default/a",
       "a",
       Outcome::kKept},
      {"Never does not",
       {Policy("default/a", kName), Policy("default/b", kName, "preemption: Never, priority: 2")},
       "default/a",
       "a",
       Outcome::kKept},
      {"namespaced takes from cluster-scoped, whatever the priority",
       {Policy("a", kName, "priority: 9"), Policy("default/b", kName, always)},
       "a",
       "b",
       Outcome::kPreempted},
      {"cluster-scoped never takes from namespaced",
       {Policy("default/a", kName), Policy("b", kName, always + ", priority: 9")},
       "default/a",
       "a",
       Outcome::kKept},
      {"higher cluster-scoped takes from lower cluster-scoped",
       {Policy("a", kName), Policy("b", kName, always + ", priority: 1")},
       "a",
       "b",
       Outcome::kPreempted},
      {"equal cluster-scoped does not", {Policy("a", kName), Policy("b", kName, always)}, "a", "a", Outcome::kKept},
      {"only by name",
       {Policy("default/a", kName), Policy("default/b", kLabel, always + ", priority: 9")},
       "default/a",
       "a",
       Outcome::kKept},
      {"not one that is for another template",
       {Policy("default/a", kName),
        Policy("default/b", "{apiVersion: apps/v1, kind: Deployment, name: x}", always + ", priority: 9")},
       "default/a",
       "a",
       Outcome::kKept},
      {"the highest of several",
       {Policy("default/a", kName), Policy("default/b", kName, always + ", priority: 1"),
        Policy("default/c", kName, always + ", priority: 2")},
       "default/a",
       "c",
       Outcome::kPreempted},
      {"from the namespaced one it belongs to, not by a cluster-scoped one",
       {Policy("a", kName), Policy("default/b", kName, always), Policy("c", kName, always + ", priority: 9")},
       "a",
       "b",
       Outcome::kPreempted},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    const PolicySet set = SetOf(row.policies);
    const Decision decision = Match(Deployment(), set, ClaimedBy(row.claim), {.preemption = true});
    EXPECT_EQ(Winner(decision), row.winner);
    EXPECT_EQ(decision.outcome, row.outcome);
    if (row.outcome == Outcome::kPreempted) EXPECT_EQ(decision.from, ClaimedBy(row.claim)->policy);
    // The gate is off by default.
    EXPECT_EQ(Match(Deployment(), set, ClaimedBy(row.claim)).outcome, Outcome::kKept);
    // Once it has changed hands it stays.
    if (decision.policy == nullptr) continue;
    const Claim next{.policy = decision.policy->key, .permanent_id = decision.policy->permanent_id};
    EXPECT_EQ(Match(Deployment(), set, next, {.preemption = true}).outcome, Outcome::kKept);
  }
}

TEST(MatchTest, ATemplateBeingDeletedIsNotPreempted) {
  Value object = Deployment();
  object.Edit("metadata").Set("deletionTimestamp", "2026-01-01T00:00:00Z");
  const PolicySet set =
      SetOf({Policy("default/a", kName), Policy("default/b", kName, "preemption: Always, priority: 9")});
  EXPECT_EQ(Match(object, set, ClaimedBy("default/a"), {.preemption = true}).outcome, Outcome::kKept);
}

TEST(MatchTest, LoweringAPriorityAsksThoseInBetween) {
  const PolicySet set =
      SetOf({Policy("default/a", kName, "priority: 3"), Policy("default/b", kName, "preemption: Always, priority: 4"),
             Policy("default/c", kName, "preemption: Always, priority: 5"), Policy("default/d", kName, "priority: 4"),
             Policy("default/e", kName, "preemption: Always, priority: 3"),
             Policy("default/f", kName, "preemption: Always, priority: 6"),
             Policy("default/b2", kName, "preemption: Always, priority: 5"),
             Policy("other/g", kName, "preemption: Always, priority: 5")});
  std::vector<std::string> names;
  for (const PropagationPolicy* one : PreemptorsAfterLowering(set, *set.Find({"default", "a"}), 6)) {
    names.push_back(one->key.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"b2", "c", "b"}));
}

TEST(MatchTest, LazyActivationClaimsButWaitsForAUser) {
  const PolicySet lazy = SetOf({Policy("default/a", kName, "activationPreference: Lazy")});
  const PolicySet eager = SetOf({Policy("default/a", kName)});
  struct Row {
    std::string_view why;
    const PolicySet& policies;
    std::optional<Claim> claim;
    bool by_federation, refresh;
  };
  const Row rows[] = {
      {"policy first, then the template", lazy, std::nullopt, false, true},
      {"template first, then the policy", lazy, std::nullopt, true, false},
      {"a user changes the template", lazy, ClaimedBy("default/a"), false, true},
      {"the policy changes", lazy, ClaimedBy("default/a"), true, false},
      {"not lazy: the policy changes", eager, ClaimedBy("default/a"), true, true},
      {"not lazy: template first, then the policy", eager, std::nullopt, true, true},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    const Decision decision =
        Match(Deployment(), row.policies, row.claim, {.changed_by_federation = row.by_federation});
    EXPECT_EQ(Winner(decision), "a");
    EXPECT_EQ(decision.refresh_binding, row.refresh);
  }
  // With preemption: the lazy policy takes the template, its binding waits.
  const PolicySet both =
      SetOf({Policy("default/b", kName),
             Policy("default/a", kName, "activationPreference: Lazy, preemption: Always, priority: 1")});
  const Decision taken =
      Match(Deployment(), both, ClaimedBy("default/b"), {.preemption = true, .changed_by_federation = true});
  EXPECT_EQ(taken.outcome, Outcome::kPreempted);
  EXPECT_FALSE(taken.refresh_binding);
}

TEST(MatchTest, SomeTemplatesAreNotForPolicies) {
  const PolicySet set = SetOf({Policy("a", kAll)});
  Value mcs = Deployment();
  mcs.Edit("metadata").Edit("labels").Set("resourcetemplate.karmada.io/claimed-by", "multiclusterservices");
  EXPECT_EQ(Match(mcs, set, std::nullopt).outcome, Outcome::kIgnored);
  for (const std::string_view reserved : {"karmada-system", "karmada-cluster", "karmada-es-member1"}) {
    Value object = Deployment();
    object.Edit("metadata").Set("namespace", reserved);
    EXPECT_EQ(Match(object, set, std::nullopt).outcome, Outcome::kIgnored) << reserved;
  }
}

TEST(MatchTest, ClusterScopedTemplatesKnowClusterScopedPoliciesOnly) {
  const Value object = Yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}");
  EXPECT_EQ(Winner(Match(object, SetOf({Policy("default/a", kName), Policy("b", kAll)}), std::nullopt)), "b");
}

TEST(MatchTest, SaysWhy) {
  const PolicySet set =
      SetOf({Policy("default/a", kName, "priority: 2, preemption: Always"), Policy("default/b", kAll)});
  EXPECT_EQ(Explain(Match(Deployment(), set, std::nullopt)),
            "matched by PropagationPolicy default/a (priority 2, matches by name) before PropagationPolicy default/b "
            "(priority 0)");
  EXPECT_EQ(Explain(Match(Deployment(), set, ClaimedBy("default/b"))),
            "claimed by PropagationPolicy default/b (priority 0, matches by all)");
  EXPECT_EQ(Explain(Match(Deployment(), set, ClaimedBy("default/b"), {.preemption = true})),
            "PropagationPolicy default/a (priority 2, matches by name) preempts PropagationPolicy default/b");
  EXPECT_EQ(Explain(Match(Deployment(), set, ClaimedBy("gone"))),
            "claimed by ClusterPropagationPolicy gone, which is gone or no longer selects it");
  EXPECT_EQ(Explain(Match(Deployment(), {}, std::nullopt)), "no propagation policy matches");
  const PolicySet lazy = SetOf({Policy("a", kLabel, "activationPreference: Lazy")});
  EXPECT_EQ(
      Explain(Match(Deployment(), lazy, std::nullopt, {.changed_by_federation = true})),
      "matched by ClusterPropagationPolicy a (priority 0, matches by labelSelector); lazy activation: its binding "
      "waits for a change of the template");
}

// Random policies: the set's order of insertion, removals and the index do not matter, and the winner is the one that a
// plain walk over all policies finds.
TEST(MatchTest, TheOrderOfPoliciesDoesNotMatter) {
  std::mt19937 random(42);  // NOLINT: the same policies every time
  const std::string_view selectors[] = {kAll, kLabel, kName, "{apiVersion: v1, kind: Pod}",
                                        "{apiVersion: apps/v1, kind: Deployment, name: other}"};
  const std::string_view spaces[] = {"default/", "other/", ""};
  for (int round = 0; round < 300; ++round) {
    std::vector<PropagationPolicy> policies;
    const size_t count = random() % 8;
    for (size_t i = 0; i < count; ++i) {
      policies.push_back(Policy(StrCat(spaces[random() % 3], "p", i),
                                StrCat(selectors[random() % 5], ", ", selectors[random() % 5]),
                                StrCat("priority: ", random() % 3)));
      policies.back().deleting = random() % 6 == 0;
    }
    const ObjectRef ref = ObjectRef::Of(Deployment());
    const PropagationPolicy* best = nullptr;
    const auto rank = [&](const PropagationPolicy& one) {
      return std::tuple(one.key.cluster_scoped(), -one.priority, -static_cast<int>(one.Match(ref)), one.key.name);
    };
    for (const PropagationPolicy& one : policies) {
      const bool here = one.key.cluster_scoped() || one.key.policy_namespace == "default";
      if (one.deleting || !here || one.Match(ref) == MatchLevel::kNone) continue;
      if (best == nullptr || rank(one) < rank(*best)) best = &one;
    }
    const std::string expected = best == nullptr ? "" : best->key.Title();
    for (int order = 0; order < 4; ++order) {
      std::vector<PropagationPolicy> shuffled = policies;
      std::ranges::shuffle(shuffled, random);
      PolicySet set = SetOf(shuffled);
      for (const PropagationPolicy& one : shuffled) {
        if (random() % 2 == 0) continue;
        EXPECT_TRUE(set.Erase(one.key));
        set.Put(one);
      }
      const Decision decision = Match(Deployment(), set, std::nullopt);
      ASSERT_EQ(decision.policy == nullptr ? "" : decision.policy->key.Title(), expected);
    }
  }
}

}  // namespace
}  // namespace baton::federation
