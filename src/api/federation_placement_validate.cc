// Rules of a placement: affinities, tolerations, spreading.
#include <array>
#include <set>
#include <string>

#include "api/federation_kinds.h"
#include "base/strings.h"
#include "json/names.h"

namespace baton::api::federation {
namespace {

using builtin::AddInvalid;
using builtin::CheckNotNegative;

void CheckSupported(Errors& errors, const std::string& field, const Value& value,
                    std::initializer_list<std::string_view> allowed) {
  for (const std::string_view one : allowed) {
    if (value.str() == one) return;
  }
  const std::vector<Value> supported(allowed.begin(), allowed.end());
  errors.push_back(NotSupportedError(field, value.str(), supported));
}

// Replicas can only flow over where the scheduler looks at what clusters have room for.
bool OverflowIsPossible(const Value& scheduling) {
  if (scheduling["replicaSchedulingType"].str() != "Divided") return false;
  const std::string_view preference = scheduling["replicaDivisionPreference"].str();
  if (preference == "Aggregated") return true;
  return preference == "Weighted" && !scheduling["weightPreference"]["dynamicWeight"].str().empty();
}

bool ChoosesNothing(const Value& affinity) {
  return affinity["labelSelector"].is_null() && affinity["fieldSelector"].is_null() &&
         affinity["clusterNames"].empty() && affinity["exclude"].empty();
}

void CheckOverflow(Errors& errors, const std::string& field, const Value& term, bool possible) {
  const Value& overflow = term["overflowAffinities"];
  if (!overflow.is_array()) return;
  const std::string path = ChildPath(field, "overflowAffinities");
  if (!possible) {
    errors.push_back(
        ForbiddenError(path, "may only be given where replicas are Divided, by Aggregated or dynamicWeight"));
  }
  if (ChoosesNothing(term)) {
    errors.push_back(ForbiddenError(path, "may only be given where the term itself chooses clusters"));
  }
  std::set<std::string_view> names = {term["affinityName"].str()};
  for (size_t i = 0; i < overflow.size(); ++i) {
    const std::string at = IndexPath(path, i);
    const Value& name = overflow[i]["affinityName"];
    AddInvalid(errors, ChildPath(at, "affinityName"), name, json::CheckQualifiedName(name.str()));
    if (!names.insert(name.str()).second) errors.push_back(DuplicateError(ChildPath(at, "affinityName"), name));
    CheckClusterAffinity(errors, at, overflow[i]);
  }
}

void CheckAffinityTerms(Errors& errors, const std::string& field, const Value& placement) {
  const Value& terms = placement["clusterAffinities"];
  const bool overflow_possible = OverflowIsPossible(placement["replicaScheduling"]);
  std::set<std::string_view> names;
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::string at = IndexPath(field, i);
    const Value& name = terms[i]["affinityName"];
    AddInvalid(errors, ChildPath(at, "affinityName"), name, json::CheckQualifiedName(name.str()));
    if (!names.insert(name.str()).second) errors.push_back(DuplicateError(ChildPath(at, "affinityName"), name));
    CheckClusterAffinity(errors, at, terms[i]);
    CheckOverflow(errors, at, terms[i], overflow_possible);
  }
}

void CheckSpreadConstraint(Errors& errors, const std::string& field, const Value& constraint) {
  if (!constraint["spreadByField"].str().empty() && !constraint["spreadByLabel"].str().empty()) {
    errors.push_back(ForbiddenError(ChildPath(field, "spreadByLabel"), "may not be given together with spreadByField"));
  }
  CheckNotNegative(errors, ChildPath(field, "minGroups"), constraint["minGroups"]);
  CheckNotNegative(errors, ChildPath(field, "maxGroups"), constraint["maxGroups"]);
  const int64_t max = constraint["maxGroups"].int_or(0);
  if (max > 0 && max < constraint["minGroups"].int_or(0)) {
    errors.push_back(InvalidError(ChildPath(field, "maxGroups"), max, "must be greater than or equal to minGroups"));
  }
}

void CheckSpreadConstraints(Errors& errors, const std::string& field, const Value& constraints) {
  std::set<std::string_view> fields;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = IndexPath(field, i);
    CheckSpreadConstraint(errors, at, constraints[i]);
    const Value& by = constraints[i]["spreadByField"];
    if (by.str().empty()) continue;
    if (!fields.insert(by.str()).second) errors.push_back(DuplicateError(ChildPath(at, "spreadByField"), by));
  }
  if (!fields.empty() && !fields.contains("cluster")) {
    errors.push_back(
        RequiredError(field, "one constraint must have spreadByField 'cluster' where another has a field"));
  }
}

void CheckWorkloadAffinity(Errors& errors, const std::string& field, const Value& affinity) {
  for (std::string_view which : {"affinity", "antiAffinity"}) {
    const Value& term = affinity[which];
    if (!term.is_object()) continue;
    const Value& key = term["groupByLabelKey"];
    AddInvalid(errors, ChildPath(ChildPath(field, which), "groupByLabelKey"), key, json::CheckQualifiedName(key.str()));
  }
  const Value& near = affinity["affinity"];
  const Value& apart = affinity["antiAffinity"];
  if (near.is_object() && apart.is_object() && near["groupByLabelKey"].str() == apart["groupByLabelKey"].str()) {
    errors.push_back(InvalidError(ChildPath(ChildPath(field, "antiAffinity"), "groupByLabelKey"),
                                  apart["groupByLabelKey"], "must not be the key of affinity"));
  }
}

// Kubernetes' newer operators compare numbers of nodes; nothing says what that means for a cluster.
void CheckTolerations(Errors& errors, const std::string& field, const Value& tolerations) {
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const Value& by = tolerations[i]["operator"];
    if (by.str() != "Lt" && by.str() != "Gt") continue;
    CheckSupported(errors, ChildPath(IndexPath(field, i), "operator"), by, {"", "Exists", "Equal"});
  }
}

}  // namespace

void CheckClusterAffinity(Errors& errors, const std::string& field, const Value& affinity) {
  const Value& expressions = affinity["fieldSelector"]["matchExpressions"];
  const std::string path = ChildPath(ChildPath(field, "fieldSelector"), "matchExpressions");
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string at = IndexPath(path, i);
    CheckSupported(errors, ChildPath(at, "key"), expressions[i]["key"], {"provider", "region", "zone"});
    CheckSupported(errors, ChildPath(at, "operator"), expressions[i]["operator"], {"In", "NotIn"});
  }
}

void CheckPlacement(Errors& errors, const std::string& field, const Value& placement) {
  if (!placement["clusterAffinity"].is_null() && !placement["clusterAffinities"].is_null()) {
    errors.push_back(
        ForbiddenError(ChildPath(field, "clusterAffinities"), "may not be given together with clusterAffinity"));
  }
  CheckClusterAffinity(errors, ChildPath(field, "clusterAffinity"), placement["clusterAffinity"]);
  CheckAffinityTerms(errors, ChildPath(field, "clusterAffinities"), placement);
  CheckSpreadConstraints(errors, ChildPath(field, "spreadConstraints"), placement["spreadConstraints"]);
  CheckWorkloadAffinity(errors, ChildPath(field, "workloadAffinity"), placement["workloadAffinity"]);
  CheckTolerations(errors, ChildPath(field, "clusterTolerations"), placement["clusterTolerations"]);
}

}  // namespace baton::api::federation
