// The rules of each of the federation's kinds, by name; api/federation_admission.cc is the table that finds them.
// Internal.
#pragma once

#include <string>
#include <string_view>

#include "api/builtin_support.h"
#include "api/federation_admission.h"

namespace baton::api::federation {

using builtin::Errors;
using json::Value;

// What a rule sees. `old` is null on creation.
struct Admitted {
  const Value& old;
  const FederationContext& context;

  bool creating() const { return old.is_null(); }
};

void MutatePropagationPolicy(Value& object, const Admitted& admitted);
void MutateClusterPropagationPolicy(Value& object, const Admitted& admitted);
void MutateOverridePolicy(Value& object, const Admitted& admitted);
void MutateResourceBinding(Value& object, const Admitted& admitted);
void MutateClusterResourceBinding(Value& object, const Admitted& admitted);
void MutateWork(Value& object, const Admitted& admitted);
void MutateCluster(Value& object, const Admitted& admitted);

void CheckPropagationPolicy(Errors& errors, const Value& object, const Admitted& admitted);
void CheckClusterPropagationPolicy(Errors& errors, const Value& object, const Admitted& admitted);
void CheckOverridePolicy(Errors& errors, const Value& object, const Admitted& admitted);
void CheckClusterOverridePolicy(Errors& errors, const Value& object, const Admitted& admitted);
void CheckClusterTaintPolicy(Errors& errors, const Value& object, const Admitted& admitted);
void CheckResourceBinding(Errors& errors, const Value& object, const Admitted& admitted);
void CheckWork(Errors& errors, const Value& object, const Admitted& admitted);
void CheckCluster(Errors& errors, const Value& object, const Admitted& admitted);
void CheckCustomization(Errors& errors, const Value& object, const Admitted& admitted);
void CheckInterpreterWebhooks(Errors& errors, const Value& object, const Admitted& admitted);
void CheckStatefulMigration(Errors& errors, const Value& object, const Admitted& admitted);
void CheckWriter(Errors& errors, const Value& object, const Admitted& admitted);

// ---- what several of them share ----

// metadata.labels[key] = value.
void SetLabel(Value& object, std::string_view key, std::string_view value);
// The same with a fresh id, where there is none or an empty one.
void SetMissingId(Value& object, std::string_view key, const Admitted& admitted);
void AddFinalizer(Value& object, std::string_view finalizer);

// spec.resourceSelectors[*].namespace, where it is empty, becomes the object's own.
void FillSelectorNamespaces(Value& object);
void CheckSelectorNamespaces(Errors& errors, const Value& object);

// The purge modes below spec.failover.
void RenamePurgeModes(Value& spec);

// A field that holds a ClusterAffinity, or null.
void CheckClusterAffinity(Errors& errors, const std::string& field, const Value& affinity);
void CheckPlacement(Errors& errors, const std::string& field, const Value& placement);

}  // namespace baton::api::federation
