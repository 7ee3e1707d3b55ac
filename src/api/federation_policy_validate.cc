// Rules of propagation policies and of policies that taint clusters.
#include <set>
#include <string>
#include <utility>

#include "api/federation_kinds.h"
#include "api/federation_names.h"
#include "base/strings.h"
#include "json/names.h"

namespace baton::api::federation {
namespace {

using builtin::AddInvalid;
using builtin::CheckImmutable;
using builtin::CheckNotNegative;

constexpr std::string_view kDefaultScheduler = "default-scheduler";

void CheckId(Errors& errors, const Value& object, std::string_view id, const Admitted& admitted) {
  const std::string field = KeyPath("metadata.labels", id);
  const Value& now = object["metadata"]["labels"][id];
  if (!admitted.creating() && now.str() != admitted.old["metadata"]["labels"][id].str()) {
    errors.push_back(InvalidError(field, now.str(), "field is immutable: only the system sets it, on creation"));
  } else if (now.is_null()) {
    errors.push_back(RequiredError(field, "admission sets it on creation"));
  }
}

void CheckStatePreservation(Errors& errors, const std::string& field, const Value& preservation) {
  const Value& rules = preservation["rules"];
  for (size_t i = 0; i < rules.size(); ++i) {
    const Value& label = rules[i]["aliasLabelName"];
    AddInvalid(errors, ChildPath(IndexPath(ChildPath(field, "rules"), i), "aliasLabelName"), label,
               json::CheckQualifiedName(label.str()));
  }
}

void CheckApplicationFailover(Errors& errors, const std::string& field, const Value& application) {
  CheckNotNegative(errors, ChildPath(ChildPath(field, "decisionConditions"), "tolerationSeconds"),
                   application["decisionConditions"]["tolerationSeconds"]);
  const bool graceful = CurrentPurgeMode(application["purgeMode"].str()) == "Gracefully";
  const Value& grace = application["gracePeriodSeconds"];
  const std::string path = ChildPath(field, "gracePeriodSeconds");
  if (graceful && grace.is_null()) errors.push_back(RequiredError(path, "when purgeMode is Gracefully"));
  if (!graceful && !grace.is_null()) {
    errors.push_back(ForbiddenError(path, "may only be given when purgeMode is Gracefully"));
  }
  if (grace.int_or(1) <= 0) errors.push_back(InvalidError(path, grace, "must be greater than 0"));
  CheckStatePreservation(errors, ChildPath(field, "statePreservation"), application["statePreservation"]);
}

void CheckFailover(Errors& errors, const Value& spec) {
  const Value& failover = spec["failover"];
  const std::string field = "spec.failover";
  if (failover["application"].is_object()) {
    if (!spec["propagateDeps"].bool_or(false)) {
      errors.push_back(InvalidError("spec.propagateDeps", false, "must be true where failover.application is given"));
    }
    CheckApplicationFailover(errors, ChildPath(field, "application"), failover["application"]);
  }
  CheckStatePreservation(errors, ChildPath(ChildPath(field, "cluster"), "statePreservation"),
                         failover["cluster"]["statePreservation"]);
}

// A policy that takes resources from others must say exactly which.
void CheckPreemption(Errors& errors, const Value& spec) {
  if (spec["preemption"].str() != "Always") return;
  const Value& selectors = spec["resourceSelectors"];
  for (size_t i = 0; i < selectors.size(); ++i) {
    if (!selectors[i]["name"].str().empty()) continue;
    errors.push_back(
        RequiredError(ChildPath(IndexPath("spec.resourceSelectors", i), "name"), "when preemption is Always"));
  }
}

void CheckPropagationSpec(Errors& errors, const Value& object, const Admitted& admitted) {
  const Value& spec = object["spec"];
  if (!admitted.creating()) {
    CheckImmutable(errors, "spec.schedulerName", spec["schedulerName"].str_or(kDefaultScheduler),
                   admitted.old["spec"]["schedulerName"].str_or(kDefaultScheduler));
  }
  CheckPlacement(errors, "spec.placement", spec["placement"]);
  CheckFailover(errors, spec);
  CheckPreemption(errors, spec);
  const Value& suspension = spec["suspension"];
  if (suspension["dispatching"].bool_or(false) && !suspension["dispatchingOnClusters"]["clusterNames"].empty()) {
    errors.push_back(ForbiddenError("spec.suspension.dispatchingOnClusters",
                                    "may not name clusters when dispatching is suspended on all of them"));
  }
}

}  // namespace

void CheckSelectorNamespaces(Errors& errors, const Value& object) {
  const std::string_view ns = object["metadata"]["namespace"].str();
  const Value& selectors = object["spec"]["resourceSelectors"];
  if (ns.empty()) return;
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string_view selected = selectors[i]["namespace"].str();
    if (selected == ns) continue;
    errors.push_back(InvalidError(ChildPath(IndexPath("spec.resourceSelectors", i), "namespace"), selected,
                                  StrCat("must be the policy's own namespace, ", Quote(ns))));
  }
}

void CheckPropagationPolicy(Errors& errors, const Value& object, const Admitted& admitted) {
  CheckId(errors, object, kPropagationPolicyId, admitted);
  CheckPropagationSpec(errors, object, admitted);
  CheckSelectorNamespaces(errors, object);
}

void CheckClusterPropagationPolicy(Errors& errors, const Value& object, const Admitted& admitted) {
  CheckId(errors, object, kClusterPropagationPolicyId, admitted);
  CheckPropagationSpec(errors, object, admitted);
}

void CheckClusterTaintPolicy(Errors& errors, const Value& object, const Admitted& admitted) {
  const Value& spec = object["spec"];
  for (std::string_view list : {"addOnConditions", "removeOnConditions"}) {
    const Value& conditions = spec[list];
    for (size_t i = 0; i < conditions.size(); ++i) {
      builtin::CheckEnum(errors, ChildPath(IndexPath(ChildPath("spec", list), i), "operator"),
                         conditions[i]["operator"], {"In", "NotIn"}, true);
    }
  }
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const Value& taints = spec["taints"];
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string at = IndexPath("spec.taints", i);
    const std::string_view key = taints[i]["key"].str();
    const std::string_view effect = taints[i]["effect"].str();
    if (effect == "NoExecute" && !admitted.context.allow_no_execute_taint_policy) {
      errors.push_back(
          ForbiddenError(at, "a policy may set the effect NoExecute only where the administrator allows it"));
    }
    if (!seen.emplace(key, effect).second) errors.push_back(DuplicateError(at, StrCat(key, ":", effect)));
  }
}

}  // namespace baton::api::federation
