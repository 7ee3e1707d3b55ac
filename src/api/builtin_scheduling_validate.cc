// Rules for where pods go: affinity, topology spread, gates.
#include "api/builtin_kinds.h"

namespace baton::api::builtin {
namespace {

constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int64_t kMaxWeight = 100;

void CheckWeight(Errors& errors, const std::string& field, const Value& term) {
  const int64_t weight = term["weight"].int_or(0);
  if (weight < 1 || weight > kMaxWeight) {
    errors.push_back(InvalidError(ChildPath(field, "weight"), weight, "must be in the range 1-100"));
  }
}

void CheckNodeAffinity(Errors& errors, const std::string& field, const Value& affinity) {
  const Value& required = affinity[kRequiredTerms];
  if (required.is_object() && required["nodeSelectorTerms"].empty()) {
    errors.push_back(RequiredError(ChildPath(ChildPath(field, kRequiredTerms), "nodeSelectorTerms"),
                                   "must have at least one node selector term"));
  }
  const Value& preferred = affinity[kPreferredTerms];
  for (size_t i = 0; i < preferred.size(); ++i) {
    CheckWeight(errors, IndexPath(ChildPath(field, kPreferredTerms), i), preferred[i]);
  }
}

void CheckPodTerm(Errors& errors, const std::string& field, const Value& term) {
  CheckLabelSelector(errors, ChildPath(field, "labelSelector"), term["labelSelector"]);
  CheckLabelSelector(errors, ChildPath(field, "namespaceSelector"), term["namespaceSelector"]);
  const std::string_view key = term["topologyKey"].str();
  if (key.empty()) errors.push_back(RequiredError(ChildPath(field, "topologyKey"), "can not be empty"));
  AddInvalid(errors, ChildPath(field, "topologyKey"), key, json::CheckQualifiedName(key));
}

void CheckPodAffinity(Errors& errors, const std::string& field, const Value& affinity) {
  const Value& required = affinity[kRequiredTerms];
  for (size_t i = 0; i < required.size(); ++i) {
    CheckPodTerm(errors, IndexPath(ChildPath(field, kRequiredTerms), i), required[i]);
  }
  const Value& preferred = affinity[kPreferredTerms];
  for (size_t i = 0; i < preferred.size(); ++i) {
    const std::string path = IndexPath(ChildPath(field, kPreferredTerms), i);
    CheckWeight(errors, path, preferred[i]);
    CheckPodTerm(errors, ChildPath(path, "podAffinityTerm"), preferred[i]["podAffinityTerm"]);
  }
}

void CheckSpread(Errors& errors, const std::string& field, const Value& constraint) {
  const int64_t skew = constraint["maxSkew"].int_or(0);
  if (skew <= 0) errors.push_back(InvalidError(ChildPath(field, "maxSkew"), skew, "must be greater than zero"));
  const Value& key = constraint["topologyKey"];
  if (IsUnset(key)) {
    errors.push_back(RequiredError(ChildPath(field, "topologyKey"), "can not be empty"));
  } else {
    AddInvalid(errors, ChildPath(field, "topologyKey"), key, json::CheckQualifiedName(key.str()));
  }
  const Value when = constraint["whenUnsatisfiable"].str();
  if (IsUnset(when)) {
    const Value values[] = {"DoNotSchedule", "ScheduleAnyway"};
    errors.push_back(NotSupportedError(ChildPath(field, "whenUnsatisfiable"), when, values));
  }
  CheckEnum(errors, ChildPath(field, "whenUnsatisfiable"), when, {"DoNotSchedule", "ScheduleAnyway"});
  CheckLabelSelector(errors, ChildPath(field, "labelSelector"), constraint["labelSelector"]);
}

}  // namespace

void CheckScheduling(Errors& errors, const std::string& field, const Value& spec) {
  const std::string affinity = ChildPath(field, "affinity");
  CheckNodeAffinity(errors, ChildPath(affinity, "nodeAffinity"), spec["affinity"]["nodeAffinity"]);
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    CheckPodAffinity(errors, ChildPath(affinity, kind), spec["affinity"][kind]);
  }
  const Value& ready = spec["readinessGates"];
  for (size_t i = 0; i < ready.size(); ++i) {
    const std::string path = ChildPath(IndexPath(ChildPath(field, "readinessGates"), i), "conditionType");
    AddInvalid(errors, path, ready[i]["conditionType"].str(),
               json::CheckQualifiedName(ready[i]["conditionType"].str()));
  }
  const Value& gates = spec["schedulingGates"];
  for (size_t i = 0; i < gates.size(); ++i) {
    AddInvalid(errors, IndexPath(ChildPath(field, "schedulingGates"), i), gates[i]["name"].str(),
               json::CheckQualifiedName(gates[i]["name"].str()));
  }
  const Value& spread = spec["topologySpreadConstraints"];
  for (size_t i = 0; i < spread.size(); ++i) {
    CheckSpread(errors, IndexPath(ChildPath(field, "topologySpreadConstraints"), i), spread[i]);
  }
}

}  // namespace baton::api::builtin
