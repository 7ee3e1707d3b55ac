// What policies get on their way in.
#include <algorithm>

#include "api/federation_kinds.h"
#include "api/federation_names.h"

namespace baton::api::federation {

using builtin::DefaultNumber;
using builtin::DefaultText;
using builtin::DefaultTo;
using builtin::EditEach;
using builtin::EditObject;
using builtin::EditObjectIfThere;
using builtin::IsUnset;

namespace {

constexpr int64_t kDefaultGraceSeconds = 600;
constexpr std::string_view kServiceImport = "ServiceImport";
constexpr std::string_view kServiceImportApi = "multicluster.x-k8s.io/v1alpha1";

// Purely the name of a cluster's group, when no other way to make groups was said.
void DefaultSpreadConstraints(Value& placement) {
  EditEach(placement, "spreadConstraints", [](Value& constraint) {
    if (IsUnset(constraint["spreadByField"]) && IsUnset(constraint["spreadByLabel"])) {
      constraint.Set("spreadByField", "cluster");
    }
    DefaultNumber(constraint, "minGroups", 1);
  });
}

void DefaultPlacement(Value& placement) {
  DefaultSpreadConstraints(placement);
  Value* scheduling = EditObjectIfThere(placement, "replicaScheduling");
  if (scheduling != nullptr && (*scheduling)["replicaSchedulingType"].str() == "Divided") {
    DefaultText(*scheduling, "replicaDivisionPreference", "Weighted");
  }
}

// A ServiceImport is of no use without the Service and the EndpointSlices that belong to it.
bool SelectsServiceImports(const Value& selectors) {
  return std::ranges::any_of(selectors.items(), [](const Value& selector) {
    return selector["kind"].str() == kServiceImport && selector["apiVersion"].str() == kServiceImportApi;
  });
}

void MutatePropagationSpec(Value& object) {
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr) return;
  if (Value* placement = EditObjectIfThere(*spec, "placement")) DefaultPlacement(*placement);
  if (SelectsServiceImports((*spec)["resourceSelectors"])) spec->Set("propagateDeps", true);
  RenamePurgeModes(*spec);
  Value* failover = EditObjectIfThere(*spec, "failover");
  Value* application = failover == nullptr ? nullptr : EditObjectIfThere(*failover, "application");
  if (application != nullptr && (*application)["purgeMode"].str() == "Gracefully") {
    DefaultTo(*application, "gracePeriodSeconds", kDefaultGraceSeconds);
  }
}

// The id is the system's: whatever the user has set (by copying a policy, most likely) is replaced.
void BeginPolicy(Value& object, std::string_view id, std::string_view finalizer, const Admitted& admitted) {
  if (!admitted.creating()) return;
  SetLabel(object, id, admitted.context.new_uid());
  AddFinalizer(object, finalizer);
}

}  // namespace

void SetLabel(Value& object, std::string_view key, std::string_view value) {
  Value* metadata = EditObject(object, "metadata");
  Value* labels = metadata == nullptr ? nullptr : EditObject(*metadata, "labels");
  if (labels != nullptr) labels->Set(key, value);
}

void SetMissingId(Value& object, std::string_view key, const Admitted& admitted) {
  if (IsUnset(object["metadata"]["labels"][key])) SetLabel(object, key, admitted.context.new_uid());
}

void AddFinalizer(Value& object, std::string_view finalizer) {
  Value* metadata = EditObject(object, "metadata");
  if (metadata == nullptr) return;
  const Value& finalizers = (*metadata)["finalizers"];
  if (!finalizers.is_null() && !finalizers.is_array()) return;
  const bool there = std::ranges::any_of(finalizers.items(), [&](const Value& one) { return one.str() == finalizer; });
  if (!there) metadata->Edit("finalizers").Push(finalizer);
}

void FillSelectorNamespaces(Value& object) {
  const std::string ns(object["metadata"]["namespace"].str());
  Value* spec = EditObjectIfThere(object, "spec");
  if (spec == nullptr || ns.empty()) return;
  EditEach(*spec, "resourceSelectors", [&](Value& selector) { DefaultText(selector, "namespace", ns); });
}

void RenamePurgeModes(Value& spec) {
  for (std::string_view cause : {"application", "cluster"}) {
    const Value& mode = spec["failover"][cause]["purgeMode"];
    const std::string_view current = CurrentPurgeMode(mode.str());
    if (mode.str() != current) spec.Edit("failover").Edit(cause).Set("purgeMode", current);
  }
}

void MutatePropagationPolicy(Value& object, const Admitted& admitted) {
  FillSelectorNamespaces(object);
  MutatePropagationSpec(object);
  BeginPolicy(object, kPropagationPolicyId, kPropagationPolicyFinalizer, admitted);
}

void MutateClusterPropagationPolicy(Value& object, const Admitted& admitted) {
  MutatePropagationSpec(object);
  BeginPolicy(object, kClusterPropagationPolicyId, kClusterPropagationPolicyFinalizer, admitted);
}

void MutateOverridePolicy(Value& object, const Admitted& /*admitted*/) { FillSelectorNamespaces(object); }

}  // namespace baton::api::federation
