// Finds the rules of a kind and applies them.
#include "api/federation_admission.h"

#include <array>
#include <utility>

#include "api/federation_kinds.h"
#include "base/strings.h"

namespace baton::api {
namespace {

using federation::Admitted;
using json::Value;

struct Rules {
  std::string_view group;
  std::string_view kind;
  void (*mutate)(Value& object, const Admitted& admitted);
  void (*check)(builtin::Errors& errors, const Value& object, const Admitted& admitted);
};

constexpr std::string_view kPolicy = "policy.karmada.io";
constexpr std::string_view kWork = "work.karmada.io";
constexpr std::string_view kConfig = "config.karmada.io";
constexpr std::string_view kRollout = "rollout.karmada.io";

// Kinds that are not here have a schema and no rules beyond it.
constexpr auto kRules = std::to_array<Rules>({
    {kPolicy, "PropagationPolicy", federation::MutatePropagationPolicy, federation::CheckPropagationPolicy},
    {kPolicy, "ClusterPropagationPolicy", federation::MutateClusterPropagationPolicy,
     federation::CheckClusterPropagationPolicy},
    {kPolicy, "OverridePolicy", federation::MutateOverridePolicy, federation::CheckOverridePolicy},
    {kPolicy, "ClusterOverridePolicy", nullptr, federation::CheckClusterOverridePolicy},
    {kPolicy, "ClusterTaintPolicy", nullptr, federation::CheckClusterTaintPolicy},
    {kWork, "ResourceBinding", federation::MutateResourceBinding, federation::CheckResourceBinding},
    {kWork, "ClusterResourceBinding", federation::MutateClusterResourceBinding, nullptr},
    {kWork, "Work", federation::MutateWork, federation::CheckWork},
    {"cluster.karmada.io", "Cluster", federation::MutateCluster, federation::CheckCluster},
    {kConfig, "ResourceInterpreterCustomization", nullptr, federation::CheckCustomization},
    {kConfig, "ResourceInterpreterWebhookConfiguration", nullptr, federation::CheckInterpreterWebhooks},
    {kRollout, "StatefulMigration", nullptr, federation::CheckStatefulMigration},
    {kRollout, "Writer", nullptr, federation::CheckWriter},
});

const Rules* RulesOf(const ResourceType& type) {
  for (const Rules& rules : kRules) {
    if (rules.group == type.group && rules.kind == type.kind) return &rules;
  }
  return nullptr;
}

}  // namespace

Result<Value> MutateFederation(const ResourceType& type, const Value& object, const Value& old,
                               const FederationContext& context) {
  Value changed = object;
  const Rules* rules = RulesOf(type);
  if (rules == nullptr || rules->mutate == nullptr || !object.is_object()) return changed;
  if (context.new_uid == nullptr) return InternalError(StrCat("a ", type.kind, " is admitted without a source of ids"));
  rules->mutate(changed, {old, context});
  return changed;
}

std::vector<FieldError> FederationErrors(const ResourceType& type, const Value& object, const Value& old,
                                         const FederationContext& context) {
  builtin::Errors errors;
  const Rules* rules = RulesOf(type);
  if (rules == nullptr || rules->check == nullptr) return errors;
  // What is being deleted must be able to lose its finalizers, whatever it was once allowed to say. The rollout's rules
  // keep two writers apart, to the end.
  const bool deleting = !old.is_null() && !object["metadata"]["deletionTimestamp"].is_null();
  if (deleting && rules->group != kRollout) return errors;
  rules->check(errors, object, {old, context});
  if (errors.size() > kFieldErrorsMax) errors.resize(kFieldErrorsMax);
  return errors;
}

Result<void> ValidateFederation(const ResourceType& type, const Value& object, const Value& old,
                                const FederationContext& context) {
  const std::vector<FieldError> errors = FederationErrors(type, object, old, context);
  if (errors.empty()) return {};
  constexpr int kUnprocessable = 422;
  Status status;
  status.code = kUnprocessable;
  status.reason = "Invalid";
  status.name = object["metadata"]["name"].str();
  status.group = type.group;
  status.kind = type.kind;
  std::vector<std::string> lines;
  for (const FieldError& error : errors) {
    status.causes.push_back({.reason = std::string(error.reason()), .message = error.message, .field = error.field});
    lines.push_back(StrCat(error.field, ": ", error.message));
  }
  std::string all = Join(lines, ", ");
  if (lines.size() > 1) all = StrCat("[", all, "]");
  std::string message = StrCat(type.kind, ".", type.group, " ", Quote(status.name), " is invalid: ", all);
  return Error::FromStatus(std::move(status), std::move(message));
}

std::string_view CurrentPurgeMode(std::string_view mode) {
  if (mode == "Immediately") return "Directly";
  if (mode == "Graciously") return "Gracefully";
  return mode;
}

}  // namespace baton::api
