// Karmada's precedence between propagation policies.
#include "federation/match.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/karmada_keys.h"
#include "api/karmada_names.h"
#include "base/strings.h"

namespace baton::federation {
namespace {

struct Ranked {
  const PropagationPolicy* policy = nullptr;
  MatchLevel level = MatchLevel::kNone;

  bool Beats(const Ranked& other) const {
    if (other.policy == nullptr) return policy != nullptr;
    if (policy->priority != other.policy->priority) return policy->priority > other.policy->priority;
    if (level != other.level) return level > other.level;
    return policy->key < other.policy->key;
  }
};

// The best policy of this namespace ("": cluster-scoped) that `eligible` accepts, and the next best.
template <class Eligible>
std::pair<Ranked, Ranked> BestOf(const PolicySet& policies, std::string_view policy_namespace, const ObjectRef& object,
                                 const Eligible& eligible) {
  Ranked best;
  Ranked next;
  policies.Candidates(policy_namespace, object, [&](const PropagationPolicy& policy) {
    if (policy.deleting || &policy == best.policy || &policy == next.policy) return;
    const Ranked one{.policy = &policy, .level = policy.Match(object)};
    if (one.level == MatchLevel::kNone || !eligible(one)) return;
    if (one.Beats(best)) {
      next = std::exchange(best, one);
    } else if (one.Beats(next)) {
      next = one;
    }
  });
  return {best, next};
}

Decision Take(Outcome outcome, const Ranked& ranked, const MatchOptions& options) {
  return {.outcome = outcome,
          .policy = ranked.policy,
          .level = ranked.level,
          .refresh_binding = !(ranked.policy->lazy && options.changed_by_federation)};
}

Decision MatchFree(const ObjectRef& object, const PolicySet& policies, const MatchOptions& options) {
  const auto any = [](const Ranked&) { return true; };
  std::pair<Ranked, Ranked> found;
  if (!object.object_namespace.empty()) found = BestOf(policies, object.object_namespace, object, any);
  if (found.first.policy == nullptr) found = BestOf(policies, "", object, any);
  if (found.first.policy == nullptr) return {.outcome = Outcome::kNoPolicy};
  Decision decision = Take(Outcome::kMatched, found.first, options);
  decision.runner_up = found.second.policy;
  return decision;
}

// The policy that takes the template from its holder, if any.
Ranked PreemptorOf(const ObjectRef& object, const PolicySet& policies, const PropagationPolicy& holder) {
  const auto named = [](const Ranked& one) { return one.policy->preempts && one.level == MatchLevel::kName; };
  const auto above = [&](const Ranked& one) { return named(one) && one.policy->priority > holder.priority; };
  if (!holder.key.cluster_scoped()) return BestOf(policies, holder.key.policy_namespace, object, above).first;
  if (!object.object_namespace.empty()) {
    const Ranked namespaced = BestOf(policies, object.object_namespace, object, named).first;
    if (namespaced.policy != nullptr) return namespaced;
  }
  return BestOf(policies, "", object, above).first;
}

Decision MatchClaimed(const ObjectRef& object, const PolicySet& policies, const Claim& claim, bool being_deleted,
                      const MatchOptions& options) {
  const PropagationPolicy* holder = policies.Find(claim.policy);
  if (holder == nullptr) return {.outcome = Outcome::kReleased, .from = claim.policy};
  if (options.preemption && !being_deleted) {
    const Ranked preemptor = PreemptorOf(object, policies, *holder);
    if (preemptor.policy != nullptr) {
      Decision decision = Take(Outcome::kPreempted, preemptor, options);
      decision.from = claim.policy;
      return decision;
    }
  }
  if (holder->deleting) return {.outcome = Outcome::kDeleting, .from = claim.policy};
  const Ranked kept{.policy = holder, .level = holder->Match(object)};
  if (kept.level == MatchLevel::kNone) return {.outcome = Outcome::kReleased, .policy = nullptr, .from = claim.policy};
  return Take(Outcome::kKept, kept, options);
}

std::string Describe(const Decision& decision) {
  return StrCat(decision.policy->key.Title(), " (priority ", decision.policy->priority, ", matches by ",
                MatchLevelName(decision.level), ")");
}

}  // namespace

Decision Match(const json::Value& object, const PolicySet& policies, const std::optional<Claim>& claim,
               const MatchOptions& options) {
  const ObjectRef ref = ObjectRef::Of(object);
  if (api::karmada::IsReservedNamespace(ref.object_namespace) ||
      !(*ref.labels)[api::karmada::kClaimedBy].str().empty()) {
    return {.outcome = Outcome::kIgnored};
  }
  if (!claim.has_value()) return MatchFree(ref, policies, options);
  return MatchClaimed(ref, policies, *claim, !object["metadata"]["deletionTimestamp"].is_null(), options);
}

std::string Explain(const Decision& decision) {
  const std::string lazy = decision.policy != nullptr && !decision.refresh_binding
                               ? "; lazy activation: its binding waits for a change of the template"
                               : "";
  switch (decision.outcome) {
    case Outcome::kIgnored:
      return "not for policies: in a reserved namespace, or claimed by another mechanism";
    case Outcome::kNoPolicy:
      return "no propagation policy matches";
    case Outcome::kMatched:
      return StrCat("matched by ", Describe(decision),
                    decision.runner_up == nullptr ? ""
                                                  : StrCat(" before ", decision.runner_up->key.Title(), " (priority ",
                                                           decision.runner_up->priority, ")"),
                    lazy);
    case Outcome::kKept:
      return StrCat("claimed by ", Describe(decision), lazy);
    case Outcome::kPreempted:
      return StrCat(Describe(decision), " preempts ", decision.from->Title(), lazy);
    case Outcome::kReleased:
      return StrCat("claimed by ", decision.from->Title(), ", which is gone or no longer selects it");
    case Outcome::kDeleting:
      return StrCat("claimed by ", decision.from->Title(), ", which is being deleted");
  }
  return "";
}

std::vector<const PropagationPolicy*> PreemptorsAfterLowering(const PolicySet& policies,
                                                              const PropagationPolicy& policy, int32_t old_priority) {
  std::vector<const PropagationPolicy*> found = policies.In(policy.key.policy_namespace);
  std::erase_if(found, [&](const PropagationPolicy* one) {
    return !one->preempts || one->priority <= policy.priority || one->priority >= old_priority;
  });
  std::ranges::sort(found, {}, [](const PropagationPolicy* one) {
    return std::tuple(-int64_t{one->priority}, std::string_view(one->key.name));
  });
  return found;
}

}  // namespace baton::federation
