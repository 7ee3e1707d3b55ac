// Pauses of policies, of people, and which is which.
#include "federation/suspension.h"

#include <utility>

namespace baton::federation {
namespace {

// What of a suspension pauses dispatching; null when nothing does.
json::Value DispatchingPart(json::Value suspension) {
  if (!suspension.is_object()) return {};
  suspension.Erase("scheduling");
  return suspension.empty() ? json::Value() : suspension;
}

}  // namespace

void TakeSuspension(json::Value& binding, const json::Value& from_policy) {
  const json::Value there = DispatchingPart(binding["spec"]["suspension"]);
  const json::Value wanted = DispatchingPart(from_policy);
  const std::string_view remembered = binding["metadata"]["annotations"][kPolicySuspension].str();
  const bool theirs = !there.is_null() && there.ToString() != remembered && there != wanted;
  if (theirs) return;
  json::Value suspension = wanted;
  const json::Value& scheduling = binding["spec"]["suspension"]["scheduling"];
  if (!scheduling.is_null()) suspension.Set("scheduling", scheduling);
  if (suspension.is_null()) {
    if (binding["spec"].Has("suspension")) binding.Edit("spec").Erase("suspension");
  } else {
    binding.Edit("spec").Set("suspension", std::move(suspension));
  }
  if (!wanted.is_null()) {
    binding.Edit("metadata").Edit("annotations").Set(kPolicySuspension, wanted.ToString());
  } else if (!remembered.empty()) {
    binding.Edit("metadata").Edit("annotations").Erase(kPolicySuspension);
  }
}

void TakeSuspensionOfBinding(json::Value& work, bool suspended) {
  const bool there = work["spec"]["suspendDispatching"].bool_or(false);
  const bool ours = work["metadata"]["annotations"][kSuspendedByBinding].str() == "true";
  if (there && !ours) return;  // a person's: it pauses whether we would or not
  if (suspended) {
    work.Edit("spec").Set("suspendDispatching", true);
    work.Edit("metadata").Edit("annotations").Set(kSuspendedByBinding, "true");
    return;
  }
  if (!ours) return;
  work.Edit("spec").Erase("suspendDispatching");
  work.Edit("metadata").Edit("annotations").Erase(kSuspendedByBinding);
}

}  // namespace baton::federation
